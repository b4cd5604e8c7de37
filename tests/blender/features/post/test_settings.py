# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a post: they follow renames, tell old bakes, are flipped, limited and drawn."""

import math
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from post_rigs import robot_arm
from rigs import edit, evaluated_tip, override_from, stored_settings

from ik2d_addon.bake import bake, check
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale
from ik2d_addon.features.post.settings import draw_post
from ik2d_addon.features.setup.chain_operators import chains_at
from ik2d_addon.features.setup.limits import take_limits
from ik2d_addon.features.setup.solver import solver_of
from ik2d_addon.features.setup.straight_limb import shown_straight, straight_in_words
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import problem_of, read_chain
from ik2d_addon.rig.chain.fingerprint import fingerprint


def arm(locked=True):
    """Add the robot arm as the active object; return it with its chain."""
    armature, chain = robot_arm(locked=locked)
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_end = 24
    bpy.context.view_layer.update()
    return armature, chain


def rename(armature, **names):
    """Rename bones, then let Blender update."""
    for old, new in names.items():
        armature.data.bones[old].name = new
    bpy.context.view_layer.update()


# --- Renames -----------------------------------------------------------------


def test_a_renamed_post_stays_the_post():
    armature, chain = arm()
    rename(armature, base="turntable")
    assert chain.post == "turntable" and read_chain(armature, chain).post.bone == "turntable"
    armature.data.bones["turntable"].name = "house"  # by a script, before a bake
    assert bake(armature, frame_start=1, frame_end=3).all_reached and chain.post == "house"


def test_names_that_are_swapped_are_followed():
    armature, chain = arm()
    rename(armature, base="x", upper="base", x="upper")
    assert chain.post == "upper" and [joint.name for joint in chain.joints] == ["base", "lower"]
    assert read_chain(armature, chain).bones_from_post == ("upper", "base", "lower")


def test_a_post_that_is_the_chains_own_first_bone_follows_too():
    armature, chain = arm()
    chain.bone_count = 3
    assert read_chain(armature, chain).bones == ("upper", "lower")
    rename(armature, base="house")
    assert (chain.post, chain.joints[0].name) == ("house", "house")


def test_undo_and_redo_of_a_rename_are_followed():
    armature, chain = arm()
    bpy.ops.ed.undo_push(message="before")
    rename(armature, base="house")
    bpy.ops.ed.undo_push(message="renamed")
    name = armature.name
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].ik2d.chains[0].post == "base"
    bpy.ops.ed.redo()
    assert bpy.data.objects[name].ik2d.chains[0].post == "house"


def test_an_override_follows_a_post_that_its_library_renamed(tmp_path):
    armature, chain = arm()
    library, shot, name = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend"), armature.name
    target = chain.target.name
    bpy.ops.wm.save_as_mainfile(filepath=library)
    override_from(library, name, target)
    bpy.data.objects[name].ik2d.chains[0].post_side = 'NEGATIVE'
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=library)
    bpy.data.objects[name].data.bones["base"].name = "house"
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.open_mainfile(filepath=shot)
    armature = bpy.data.objects[name]
    chain = armature.ik2d.chains[0]
    assert armature.override_library is not None and chain.post_side == 'NEGATIVE'
    assert chain.post == "house" and check(armature) == []


def test_the_chain_is_shown_by_a_click_on_its_post():
    armature, chain = arm()
    assert chains_at(armature, "base") == [chain]


# --- Old bakes and readings --------------------------------------------------


def baked_arm():
    """Return the robot arm, baked on all frames, with its chain."""
    armature, chain = arm()
    bpy.ops.ik2d.bake()
    assert stale(armature) == ""
    return armature, chain


def stale(armature):
    """Return the causes for which a bake is out of date, in words."""
    bpy.context.view_layer.update()
    return bake_is_stale(armature, bpy.context.scene)


def add_parent(bones):
    """Put a bone above the post."""
    floor = bones.new("floor")
    floor.head, floor.tail = (0, 0, -0.5), (0, 0, 0)
    bones["base"].parent = floor


def put_between(bones):
    """Put a bone between the post and the chain."""
    ring = bones.new("ring")
    ring.head, ring.tail, ring.parent = (0, 0, 0.3), (0, 0, 0.4), bones["base"]
    bones["upper"].parent = ring


OF_SETTINGS = {
    "side": lambda rig, chain: setattr(chain, "post_side", 'NEGATIVE'),
    "axis": lambda rig, chain: setattr(chain, "post_axis", 'AUTO'),
    "limits": lambda rig, chain: setattr(chain, "use_post_limit", True),
    "reach over": lambda rig, chain: setattr(chain, "post_reach_over", True),
    "parent": lambda rig, chain: edit(rig, add_parent),
    "between": lambda rig, chain: edit(rig, put_between),
    "another plane": lambda rig, chain: setattr(chain, "plane", 'AUTO'),
}
OF_POST = {
    "another post": lambda rig, chain: setattr(chain, "post", "upper"),
    "rest": lambda rig, chain: edit(rig, lambda bones: setattr(bones["base"], "head", (0.1, 0, 0))),
    "roll": lambda rig, chain: edit(rig, lambda bones: setattr(bones["base"], "roll", 1.0)),
    "lock": lambda rig, chain: setattr(rig.pose.bones["base"], "lock_rotation", (False, False, True)),
    "IK lock": lambda rig, chain: setattr(rig.pose.bones["base"], "lock_ik_x", False),
    "mode": lambda rig, chain: setattr(rig.pose.bones["base"], "rotation_mode", 'ZXY'),
    "constraint": lambda rig, chain: rig.pose.bones["base"].constraints.new('CHILD_OF'),
    "of the first bone": lambda rig, chain: rig.pose.bones["upper"].constraints.new('LIMIT_SCALE'),
}


@pytest.mark.parametrize("change", [*OF_SETTINGS, *OF_POST])
def test_a_bake_is_old_and_a_reading_is_dropped_after_a_change_of_what_the_post_turns_by(change):
    armature, chain = baked_arm()
    before = fingerprint(armature, chain)
    {**OF_SETTINGS, **OF_POST}[change](armature, chain)
    expected = "the settings" if change in OF_SETTINGS else "the post"
    assert stale(armature) == ("the keys" if change == "another post" else expected)
    assert fingerprint(armature, chain) != before


def test_names_and_edit_mode_leave_a_bake_as_it_is():
    armature, chain = baked_arm()
    rename(armature, base="house", upper="boom")
    assert chain.post == "house" and stale(armature) == ""
    edit(armature, lambda bones: None)
    assert stale(armature) == ""


def test_a_key_of_the_post_that_is_moved_by_hand_is_told():
    armature, _chain = baked_arm()
    curves = existing_fcurves(armature)
    curve = next(curve for curve in curves if curve.data_path.startswith('pose.bones["base"]'))
    curve.keyframe_points[3].co[1] += 0.1
    curve.update()
    assert stale(armature) == "the keys"


def test_of_a_first_bone_that_only_turns_the_result_is_kept_and_the_solver_is_that_of_the_others():
    armature, chain = arm()
    chain.bone_count = 3
    bpy.ops.ik2d.bake()
    assert chain.bake_reached and chain.last_bake and stale(armature) == ""
    assert solver_of(chain) == read_chain(armature, chain).settings.solver == 'TWO_BONE'


# --- Buttons -----------------------------------------------------------------


def base_angle(armature):
    """Return the base's turn as Blender evaluates it, in radians."""
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["base"]
    turned = armature.data.bones["base"].matrix_local.inverted() @ shown.matrix
    return turned.to_euler('YXZ').y


def test_flip_post_turns_it_half_round_in_one_step_and_back(capfd):
    armature, chain = arm(locked=False)
    assert bake(armature, frame_start=1, frame_end=1).all_reached
    bpy.context.scene.frame_set(1)
    before, tip = base_angle(armature), evaluated_tip(armature, "lower")
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.ik2d.flip_post() == {'FINISHED'}
    assert (chain.post_side, chain.bend) == ('NEGATIVE', 'POSITIVE')
    assert "'arm' reaches to the other side of its post" in capfd.readouterr().out
    assert bake(armature, frame_start=1, frame_end=1).all_reached
    bpy.context.scene.frame_set(1)
    turned = (base_angle(armature) - before) % (2.0 * math.pi)
    assert turned == pytest.approx(math.pi, abs=1e-4)
    assert (evaluated_tip(armature, "lower") - tip).length < 1e-5
    assert bpy.ops.ik2d.flip_post(chain="arm") == {'FINISHED'}
    assert chain.post_side == 'POSITIVE'
    chain.plane = 'AUTO'
    with pytest.raises(RuntimeError, match="turns about no post"):
        bpy.ops.ik2d.flip_post()


def straight_arm():
    """Return the robot arm without locks and with straight bones that lean, and its chain."""
    armature, chain = arm(locked=False)

    def straighten(bones):
        for bone, (head, tail) in {
            "upper": ((0, 0, 0.3), (0.3, 0, 1.3)),
            "lower": ((0.3, 0, 1.3), (0.6, 0, 2.3)),
        }.items():
            bones[bone].head, bones[bone].tail = head, tail

    edit(armature, straighten)
    return armature, chain


def test_turn_plane_turns_the_normal_of_a_straight_arm_about_it_and_the_post_stays():
    armature, chain = straight_arm()
    assert shown_straight(chain)
    assert straight_in_words(chain) == "Straight limb: bends in a plane that turns with its post"
    before = read_chain(armature, chain).plane.normal
    assert abs(before[1]) == pytest.approx(1.0)  # it holds the post's axis
    assert bpy.ops.ik2d.turn_plane(angle=0.3) == {'FINISHED'}
    assert (chain.plane, chain.post) == ('POST', "base")
    after, line = read_chain(armature, chain).plane.normal, np.array((0.3, 0.0, 1.0))
    assert after @ before == pytest.approx(math.cos(0.3)) and after @ line == pytest.approx(0.0, abs=1e-6)
    chain.plane = 'POST'  # chosen anew it is kept: a person's own
    assert np.allclose(read_chain(armature, chain).plane.normal, after)


def test_the_limits_of_the_post_are_the_tightest_of_blenders_and_locks_are_none():
    armature, chain = arm()
    base = armature.pose.bones["base"]
    chain.use_post_limit = True
    take_limits(armature, chain)
    assert not chain.use_post_limit  # IK locks on the other axes
    base.use_ik_limit_y, base.ik_min_y, base.ik_max_y = True, -2.0, 1.0
    limit = base.constraints.new('LIMIT_ROTATION')
    limit.owner_space, limit.use_limit_y, limit.min_y, limit.max_y = 'LOCAL', True, -1.0, 3.0
    elsewhere = base.constraints.new('LIMIT_ROTATION')
    elsewhere.use_limit_y, elsewhere.min_y, elsewhere.max_y = True, -0.1, 0.1
    base.lock_ik_y = True
    take_limits(armature, chain)
    assert (chain.use_post_limit, chain.post_limit_min, chain.post_limit_max) == (True, -1.0, 1.0)
    assert "Left out 'base'" in chain.left_out
    limit.mute = True
    assert bpy.ops.ik2d.limits_from_bones() == {'FINISHED'}
    assert (chain.post_limit_min, chain.post_limit_max) == (-2.0, 1.0)


def test_copied_limits_are_said_in_degrees(capfd):
    armature, chain = arm()
    base = armature.pose.bones["base"]
    base.use_ik_limit_y, base.ik_min_y, base.ik_max_y = True, -math.pi / 2, math.pi
    assert bpy.ops.ik2d.limits_from_bones() == {'FINISHED'}
    assert "'arm' are limited; its post turns from -90 to 180 degrees" in capfd.readouterr().out


# --- Damaged files -----------------------------------------------------------


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("post_axis", 99, "its setting Post Axis has an unknown value"),
        ("post_side", -3, "its setting Post Side has an unknown value"),
        ("post_limit_min", math.nan, "its setting Min holds nan radians, which is not an angle"),
        ("post_limit_max", 1e30, "its setting Max holds 1e+30 radians, which is not an angle"),
    ],
)
def test_a_damaged_setting_is_a_sentence_where_it_counts(name, value, words):
    armature, chain = arm()
    chain.use_post_limit, chain.post_side, chain.post_limit_min, chain.post_limit_max = (
        True,
        'NEGATIVE',
        -1,
        1,
    )
    stored_settings(armature)["chains"][0][name] = value
    told = f"Chain 'arm', its post: {words}; set it again"
    with pytest.raises(IK2DError) as refused:
        read_chain(armature, chain)
    assert str(refused.value) == told == problem_of(armature, chain)
    chain.plane = 'AUTO'
    read_chain(armature, chain)
    if "limit" in name:
        chain.plane, chain.use_post_limit = 'POST', False
        read_chain(armature, chain)


def test_a_damaged_normal_of_a_straight_arm_is_as_none():
    armature, chain = straight_arm()
    normal = read_chain(armature, chain).plane.normal
    chain.plane_normal = (0.0, 0.0, 1.0)
    stored_settings(armature)["chains"][0]["plane_normal"] = [math.nan] * 3
    assert np.allclose(read_chain(armature, chain).plane.normal, normal)


# --- The panel ---------------------------------------------------------------


class Rows:
    """A layout that notes the properties and operators that are drawn in it."""

    def __init__(self):
        self.drawn = []

    def row(self, **_):
        """Return itself, as `column` does."""
        return self

    column = row

    def label(self, **_):
        """Draw a label."""

    def prop(self, _owner, name, **_):
        """Note a property."""
        self.drawn.append(name)

    def prop_search(self, _owner, name, *_, **__):
        """Note a property."""
        self.drawn.append(name)

    def operator(self, name, **_):
        """Note an operator; return its properties."""
        self.drawn.append(name)
        return SimpleNamespace()


def test_the_panel_shows_the_post_of_a_plane_that_turns_about_one_and_its_limits_where_it_has_them():
    _armature, chain = arm()
    shown = ["post", "post_axis", "post_side", "ik2d.flip_post", "use_post_limit"]
    for settings, names in (
        ({"plane": 'AUTO'}, []),
        ({"plane": 'POST'}, shown),
        ({"use_post_limit": True}, [*shown, "post_limit_min", "post_limit_max", "post_reach_over"]),
    ):
        for name, value in settings.items():
            setattr(chain, name, value)
        rows = Rows()
        draw_post(rows, bpy.context, chain)
        assert rows.drawn == names


def test_flip_post_is_an_operator_of_that_name():
    """So that the redo panel and the search say what it does."""
    assert bpy.ops.ik2d.flip_post.get_rna_type().name == "Flip Post"
