# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains: what they show on a frame is what a bake keys there, however one gets to it."""

from inspect import get_annotations
from math import radians
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Euler
from rigs import (
    add_armature,
    add_chain,
    add_target,
    animation_of,
    evaluated_place,
    evaluated_tip,
    leg_with_target,
)

from ik2d_addon.bake import bake, solve
from ik2d_addon.features.baking.live import draw_before_render
from ik2d_addon.features.overlay.target_path import find_path
from ik2d_addon.live import handlers
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain import fingerprint
from ik2d_addon.ui.settings.chain import IK2D_PG_chain
from ik2d_addon.ui.settings.joint import IK2D_PG_joint

FRAMES = range(1, 41)
# The same answers, as a part of the reach.
SAME = 1e-6


def add_arm(bones: int, bend: float = 0.25) -> bpy.types.Object:
    """Add a chain of so many bones in the plane y = 0, each bent from the one before; 3 units long in all."""
    joints, heading = [np.zeros(3)], 0.4
    for _ in range(bones):
        joints.append(joints[-1] + 3.0 / bones * np.array((np.sin(heading), 0.0, np.cos(heading))))
        heading += bend
    names = [f"b{i}" for i in range(bones)]
    return add_armature(
        {name: (joints[i], joints[i + 1], names[i - 1] if i else "", 0.3 * i) for i, name in enumerate(names)}
    )


def arm_with_target(bones: int, bend: float = 0.25, middle: float = 1.4, **settings):
    """Add such an arm, and a target that goes round in its plane, within its reach."""
    armature = add_arm(bones, bend)
    places = {
        frame: (middle + 0.9 * np.cos(frame / 6.0), 0.0, 1.0 + 0.9 * np.sin(frame / 6.0))
        for frame in range(1, 41, 3)
    }
    target = add_target(places)
    return armature, target, add_chain(armature, f"b{bones - 1}", target, bones, **settings)


def joints(armature: bpy.types.Object, graph=None) -> np.ndarray:
    """Return the heads and tails of all bones as Blender evaluates them (2 n, 3), in the world."""
    shown = armature.evaluated_get(graph or bpy.context.evaluated_depsgraph_get())
    points = [point for bone in shown.pose.bones for point in (bone.head, bone.tail)]
    return np.array([shown.matrix_world @ point for point in points])


def poses(armature: bpy.types.Object, frames=FRAMES) -> dict:
    """Return the joints on each of the frames."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame // 1), subframe=float(frame % 1))
        found[frame] = joints(armature)
    return found


def tips(found: dict) -> dict:
    """Return of poses the tail of the last bone alone."""
    return {frame: points[-1:] for frame, points in found.items()}


def far(one: dict, other: dict) -> float:
    """Return the furthest that a joint of poses is from that of others."""
    return max(float(np.abs(one[frame] - other[frame]).max()) for frame in one)


def missed(armature, chain) -> float:
    """Return how far the evaluated tip is from the evaluated target."""
    return float((evaluated_tip(armature, chain.tip) - evaluated_place(chain.target, chain.subtarget)).length)


def update() -> None:
    bpy.context.view_layer.update()


# --- The same as a bake --------------------------------------------------------


def limited(chain) -> None:
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, radians(-50), radians(60)


def weighted(chain) -> None:
    for i, joint in enumerate(chain.joints):
        joint.weight = (1.0, 0.2, 0.6, 0.0)[i % 4]


def keyed_bend(chain) -> None:
    for frame, side in ((1, 'POSITIVE'), (17, 'NEGATIVE'), (30, 'POSITIVE')):
        chain.bend = side
        chain.keyframe_insert("bend", frame=frame)


def keyed_softness(chain) -> None:
    for frame, softness in ((1, 0.0), (20, 0.3), (40, 0.05)):
        chain.softness = softness
        chain.keyframe_insert("softness", frame=frame)


def half_influence(chain) -> None:
    chain.influence = 0.4


def influence_over_keys(chain) -> None:
    chain.influence = 0.7
    bone = chain.id_data.pose.bones[0]
    for frame, turn in ((1, 0.1), (40, 0.8)):
        bone.rotation_quaternion = Euler((turn, 0.0, 0.0)).to_quaternion()
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def hinges_askew(chain) -> None:
    for bone in chain.id_data.pose.bones:
        bone.rotation_mode = 'XYZ'
        bone.lock_rotation = (False, True, True)
    for i, bone in enumerate(chain.id_data.data.bones):
        assert bone.name == f"b{i}"


def eulers(chain) -> None:
    for bone in chain.id_data.pose.bones:
        bone.rotation_mode = 'ZXY'


def axis_angles(chain) -> None:
    for bone in chain.id_data.pose.bones:
        bone.rotation_mode = 'AXIS_ANGLE'


def one_held(chain) -> None:
    bone = chain.id_data.pose.bones[1]
    bone.rotation_quaternion = Euler((0.2, 0.0, 0.1)).to_quaternion()
    bone.lock_rotation = (True, True, True)


def loose_bones(chain) -> None:
    data = chain.id_data.data
    data.bones[2].inherit_scale = 'NONE'
    data.bones[1].use_inherit_rotation = False


def moving_armature(chain) -> None:
    armature = chain.id_data
    armature.scale = (1.5, 1.5, 1.5)
    for frame in (1, 40):
        armature.location = (0.01 * frame, 0.2, 0.0)
        armature.rotation_euler = (0.0, 0.01 * frame, 0.3)
        armature.keyframe_insert("location", frame=frame)
        armature.keyframe_insert("rotation_euler", frame=frame)


def scaled_bone(chain) -> None:
    bone = chain.id_data.pose.bones[0]
    for frame, scale in ((1, 1.0), (40, 1.3)):
        bone.scale = (scale, scale, scale)
        bone.keyframe_insert("scale", frame=frame)


def root_counts(chain) -> None:
    chain.root_turns_freely = False


def from_rest(chain) -> None:
    chain.solver, chain.start_from = 'CCD', 'REST'


def limited_from_rest(chain) -> None:
    from_rest(chain)
    limited(chain)


def stretched(chain) -> None:
    for bone in chain.id_data.data.bones:
        bone.inherit_scale = 'ALIGNED'
    chain.stretch, chain.compress = 1.6, 0.7


def last_stretched(chain) -> None:
    stretched(chain)
    chain.stretch_bones = 'LAST'


def sliding(chain) -> None:
    armature = chain.id_data
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in armature.data.edit_bones:
        bone.use_connect = False
    bpy.ops.object.mode_set(mode='OBJECT')
    joint = chain.joints[1]
    joint.use_slide, joint.slide_min, joint.slide_max = True, -0.2, 0.8


def last_sliding(chain) -> None:
    sliding(chain)
    chain.joints[1].use_slide = False
    joint = chain.joints[-1]
    joint.use_slide, joint.slide_max = True, 0.7


KINDS = [
    stretched,
    last_stretched,
    sliding,
    last_sliding,
    None,
    limited,
    weighted,
    keyed_bend,
    keyed_softness,
    half_influence,
    influence_over_keys,
    hinges_askew,
    eulers,
    axis_angles,
    one_held,
    loose_bones,
    moving_armature,
    scaled_bone,
    root_counts,
    from_rest,
    limited_from_rest,
]


@pytest.mark.slow
@pytest.mark.parametrize("bones", [2, 4])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__ if kind else "plain")
def test_live_shows_what_a_bake_keys_on_every_frame(bones, kind):
    if bones == 2 and kind in (loose_bones, root_counts):
        pytest.skip("for more bones")
    armature, _, chain = arm_with_target(bones, middle=2.0)  # out of reach on some frames
    if kind:
        kind(chain)
    chain.live = True
    shown = poses(armature)
    assert chain.live and not RIGS.failures and not RIGS.problems
    bake(armature)
    assert not chain.live
    baked = poses(armature)
    assert far(tips(shown), tips(baked)) <= 3.0 * SAME
    # A chain that stretches to its target lies on a line: joints move by the root of what the tip does.
    assert far(shown, baked) <= (1e-3 if kind in (stretched, last_stretched) else 3.0 * SAME)


@pytest.mark.slow
@pytest.mark.parametrize("bones", [1, 3, 10, 20])
def test_live_shows_what_a_bake_keys_for_any_number_of_bones(bones):
    armature, _, chain = arm_with_target(bones, bend=1.2 / bones, middle=2.0)
    chain.live = True
    shown = poses(armature)
    bake(armature)
    assert far(shown, poses(armature)) <= 3.0 * SAME


def test_a_straight_chain_bends_in_the_plane_of_its_target():
    armature, target, chain = arm_with_target(3, bend=0.0)
    armature.rotation_euler = (0.0, 0.0, 0.0)
    chain.live = True
    shown = poses(armature)
    bake(armature)
    assert far(shown, poses(armature)) <= 3.0 * SAME


def test_live_shows_what_solve_poses():
    armature, target, chain = arm_with_target(5)
    bpy.context.scene.frame_set(9)
    solve(armature)
    solved = joints(armature)
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    chain.live = True
    update()
    assert np.abs(joints(armature) - solved).max() <= 3.0 * SAME


# --- It follows ---------------------------------------------------------------


def test_the_tip_follows_a_target_that_is_moved_by_hand():
    armature, target = leg_with_target()
    target.animation_data_clear()
    chain = armature.ik2d.chains[0]
    chain.live = True
    for place in ((0.0, -0.5, 0.7), (0.0, 0.4, 0.9), (0.0, 0.1, 0.4)):
        target.location = place
        update()
        assert missed(armature, chain) < SAME
    assert animation_of(armature) == {}  # nothing is keyed


def test_the_tip_follows_a_bone_of_its_own_armature_and_one_of_another():
    armature = add_armature(
        {
            "upper": ((0, 0, 2.0), (0, -0.1, 1.0), "", 0.4),
            "lower": ((0, -0.1, 1.0), (0, 0, 0.1), "upper", -0.2),
            "foot": ((0, 0.3, 0.4), (0, 0.3, 0.8), "", 0.0),
        }
    )
    other = add_armature({"aim": ((0, 0.1, 0), (0, 0.1, 1), "", 0.0)}, "Other")
    chain = add_chain(armature, "lower", armature, subtarget="foot", live=True)
    armature.pose.bones["foot"].location = (0.0, 0.1, -0.3)
    update()
    assert missed(armature, chain) < SAME
    chain.target, chain.subtarget = other, "aim"
    other.location = (0.0, -0.3, 0.6)
    update()
    assert missed(armature, chain) < SAME


def test_a_frame_shows_the_same_however_one_gets_to_it():
    armature, _, chain = arm_with_target(6, softness=0.1)
    keyed_bend(chain)
    chain.live = True
    there = poses(armature)
    order = np.random.default_rng(3).permutation(list(FRAMES)).tolist()
    back = poses(armature, order)
    assert far(there, back) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [stretched, sliding, last_sliding])
def test_bones_that_change_their_length_are_no_different(kind):
    armature, _, chain = arm_with_target(4, middle=2.0)
    kind(chain)
    chain.live = True
    there = poses(armature)
    order = np.random.default_rng(4).permutation(list(FRAMES)).tolist()
    assert far(there, poses(armature, order)) <= SAME
    assert len(existing_fcurves(armature)) == 0


def test_subframes_out_of_order_are_as_exact():
    armature, _, chain = arm_with_target(2)
    chain.live = True
    for frame, subframe in ((12, 0.0), (11, 0.75), (12, 0.25), (12, 0.0), (3, 0.5)):
        bpy.context.scene.frame_set(frame, subframe=subframe)
        assert missed(armature, chain) < 3.0 * SAME


def test_keys_of_the_bones_are_untouched_and_give_way():
    armature, _, chain = arm_with_target(3)
    for frame in (1, 40):
        armature.pose.bones[0].rotation_quaternion = (1.0, 0.01 * frame, 0.0, 0.0)
        armature.pose.bones[0].keyframe_insert("rotation_quaternion", frame=frame)
    before = animation_of(armature)
    keyed = poses(armature)
    chain.live = True
    shown = poses(armature)
    assert animation_of(armature) == before
    assert far(keyed, shown) > 0.1
    assert missed(armature, chain) < 3.0 * SAME
    chain.live = False
    bpy.context.scene.frame_set(1)
    first = np.array(armature.pose.bones[0].rotation_quaternion)
    assert first == pytest.approx((1.0, 0.01, 0.0, 0.0))


def test_two_view_layers_show_the_same():
    armature, _, chain = arm_with_target(3)
    armature.pose.bones[0].keyframe_insert("rotation_quaternion", frame=1)
    other = bpy.context.scene.view_layers.new("Second")
    chain.live = True
    bpy.context.scene.frame_set(8)
    graphs = [layer.depsgraph for layer in (bpy.context.view_layer, other)]
    one, two = (joints(armature, graph) for graph in graphs)
    assert np.abs(one - two).max() == 0.0 and missed(armature, chain) < 3.0 * SAME


def test_what_is_not_live_or_not_enabled_stands_still():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    for chain.live, chain.enabled in ((False, True), (True, False)):
        bpy.context.scene.frame_set(20)
        assert all(bone.rotation_quaternion.angle == 0.0 for bone in armature.pose.bones)
        assert chain.live_status == ""


def test_what_carries_the_chain_at_first_may_let_it_go():
    armature, _, chain = arm_with_target(2)
    constraint = armature.pose.bones["b0"].constraints.new('COPY_LOCATION')
    constraint.target = add_target({1: (0.5, 0.0, 0.3)}, "Holder")
    for frame, influence in ((1, 1.0), (5, 1.0), (6, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    chain.live = True
    for frame in (3, 8, 4, 9):
        bpy.context.scene.frame_set(frame)
        assert missed(armature, chain) <= 3.0 * SAME


@pytest.mark.parametrize("where", ["object", "collection"])
def test_a_disabled_target_is_followed_by_its_own_curves(where):
    armature, target, chain = arm_with_target(2)
    chain.live = True
    expected = poses(armature)
    if where == "object":
        target.hide_viewport = True
    else:
        bpy.context.scene.collection.objects.unlink(target)
        collection = bpy.data.collections.new("Targets")
        bpy.context.scene.collection.children.link(collection)
        collection.objects.link(target)
        bpy.context.view_layer.layer_collection.children["Targets"].exclude = True
    assert far(poses(armature), expected) < SAME
    chain.live = False
    bpy.context.scene.frame_set(1)
    chain.live = True
    target.animation_data_clear()
    target.location = (2.0, 0.0, 1.0)
    bpy.context.scene.frame_set(2)
    tip = np.array(evaluated_tip(armature, "b1"))
    assert tip == pytest.approx((2.0, 0.0, 1.0), abs=1e-5)


def test_a_disabled_target_that_hangs_on_more_is_told():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    target.parent = add_target({}, "Above")
    target.hide_viewport = True
    chain.live = True
    update()
    assert "disabled in viewports" in chain.live_status and "enable it there" in chain.live_status


# --- Chains that hang on others ------------------------------------------------


def test_chains_that_hang_on_others_are_solved_after_these():
    armature = add_arm(4)
    target = add_target({1: (1.0, 0, 0.9), 40: (0.6, 0, 1.3)}, "First")
    far_target = add_target({1: (2.4, 0, 0.6), 40: (1.6, 0, 0.2)}, "Second")
    last = add_chain(armature, "b3", far_target, 2, live=True, name="last")
    first = add_chain(armature, "b1", target, 2, live=True, name="first")
    for frame in (1, 13, 27, 40):
        bpy.context.scene.frame_set(frame)
        assert missed(armature, first) < 3.0 * SAME and missed(armature, last) < 3.0 * SAME
    for ob in (target, far_target):
        ob.animation_data_clear()
    target.location, far_target.location = (0.8, 0.0, 1.0), (1.8, 0.0, 0.4)
    update()
    assert missed(armature, first) < 3.0 * SAME and missed(armature, last) < 3.0 * SAME


def test_a_chain_may_follow_the_tip_of_a_live_one_in_another_armature():
    leader, _, _ = arm_with_target(3, live=True)
    follower = add_arm(2)
    follower.name = "A first in the list"
    child = add_target({}, "Child")
    child.parent, child.parent_type, child.parent_bone = leader, 'BONE', "b2"
    chain = add_chain(follower, "b1", child, 2, live=True)
    for frame in (3, 11, 25):
        bpy.context.scene.frame_set(frame)
        status = chain.live_status
        assert missed(follower, chain) < 3.0 * SAME or "Target too" in status


def test_chains_in_a_circle_say_so_and_stand_still():
    one, two = add_arm(2), add_arm(2)
    targets = []
    for i, (own, other) in enumerate(((one, two), (two, one))):
        child = add_target({}, f"Child {i}")
        child.parent, child.parent_type, child.parent_bone = other, 'BONE', "b1"
        targets.append(add_chain(own, "b1", child, 2, live=True))
    bpy.context.scene.frame_set(3)
    assert all("in a circle" in chain.live_status for chain in targets)


def test_of_chains_that_share_a_bone_the_first_is_live():
    armature, target, chain = arm_with_target(3, live=True)
    other = add_chain(armature, "b2", target, 1, name="other", live=True)
    bpy.context.scene.frame_set(9)
    assert missed(armature, chain) < 3.0 * SAME
    assert "share the bone 'b2'" in other.live_status


def test_a_straight_chain_follows_a_target_out_of_its_plane_as_solve_does():
    armature, target, chain = arm_with_target(4, bend=0.0, live=True)
    target.animation_data_clear()
    for place in ((1.2, 0.9, 1.1), (0.7, -1.1, 1.4), (1.6, 0.4, 0.9)):
        target.location = place
        update()
        shown = joints(armature)
        assert missed(armature, chain) < 3.0 * SAME
        solve(armature)
        assert np.abs(joints(armature) - shown).max() <= 3.0 * SAME


# --- What changes meanwhile ----------------------------------------------------


@pytest.mark.parametrize("at_once", [True, False])
def test_settings_count_at_once(at_once):
    armature, target, chain = arm_with_target(4)
    chain.live = True
    bpy.context.scene.frame_set(9)

    def change(**settings) -> float:
        before = joints(armature)
        for name, value in settings.items():
            setattr(chain, name, value)
        if at_once:
            update()
        else:
            bpy.context.scene.frame_set(9)
        return float(np.abs(joints(armature) - before).max())

    assert change(bend='NEGATIVE') > 0.1
    assert change(bone_count=3) > 0.01
    assert change(bone_count=4, tip="b3") > 0.01
    assert change(solver='CCD', start_from='REST') > 1e-3
    joint = chain.joints[1]
    joint.limit_min, joint.limit_max = -0.1, 0.1
    before = joints(armature)
    joint.use_limit = True
    update() if at_once else bpy.context.scene.frame_set(9)
    assert np.abs(joints(armature) - before).max() > 1e-3
    assert not RIGS.problems and not RIGS.failures


def test_every_setting_tells_live_chains_that_it_changed():
    for group in (IK2D_PG_chain, IK2D_PG_joint):
        annotations = {name: made for cls in group.__mro__ for name, made in get_annotations(cls).items()}
        annotations |= {name: made for name, made in vars(group).items() if hasattr(made, "keywords")}  # hung
        settings = {name for name, _ in fingerprint.names_of(group)}
        settings |= {"live", "enabled", "tip", "target", "subtarget"} & set(annotations)
        for name in settings:
            assert "update" in annotations[name].keywords, name


def test_changes_of_the_rest_pose_count():
    armature, target, chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.context.scene.frame_set(10)
    armature.data.edit_bones["b2"].tail.x += 0.6
    bpy.ops.object.mode_set(mode='POSE')
    for frame in (9, 10, 14):
        bpy.context.scene.frame_set(frame)
        assert missed(armature, chain) < 3.0 * SAME


def test_a_rotation_mode_that_changes_is_heeded():
    armature, _, chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    for mode in ('XYZ', 'AXIS_ANGLE', 'QUATERNION'):
        armature.pose.bones["b1"].rotation_mode = mode
        bpy.context.scene.frame_set(12)
        assert missed(armature, chain) < 3.0 * SAME


def test_bones_and_objects_may_be_renamed():
    armature, target, chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    armature.name, target.name = "Other", "Aim"
    armature.data.bones["b1"].name = "middle"
    armature.data.bones["b2"].name = "end"
    update()
    bpy.context.scene.frame_set(12)
    assert chain.tip == "end" and missed(armature, chain) < 3.0 * SAME


def test_a_renamed_chain_goes_on():
    armature, target, chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    chain.name = "Leg"
    bpy.context.scene.frame_set(12)
    assert missed(armature, chain) < 3.0 * SAME and chain.live_status == "On its target"


def test_chains_may_change_places():
    armature, target, chain = arm_with_target(4, live=True)
    add_chain(armature, "b0", target, 1, name="second", enabled=False)
    bpy.context.scene.frame_set(9)
    chain.softness = 0.4
    armature.ik2d.chains.move(0, 1)
    armature.ik2d.chains[0].softness = 0.0
    bpy.context.scene.frame_set(12)
    expected = joints(armature)
    RIGS.drop()
    bpy.context.scene.frame_set(3)
    bpy.context.scene.frame_set(12)
    assert np.abs(joints(armature) - expected).max() == 0.0


def test_a_copy_of_a_live_rig_is_live():
    armature, target, chain = arm_with_target(2, live=True)
    bpy.context.scene.frame_set(5)
    copy = armature.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.scene.frame_set(9)
    assert missed(copy, copy.ik2d.chains[0]) < 3.0 * SAME


# --- What goes away ------------------------------------------------------------


def test_a_deleted_target_is_told_and_the_pose_stays():
    armature, target, chain = arm_with_target(2, live=True)
    bpy.context.scene.frame_set(9)
    before = joints(armature)
    bpy.data.objects.remove(target)
    bpy.context.scene.frame_set(12)
    assert np.abs(joints(armature) - before).max() == 0.0
    assert "has no target" in chain.live_status
    chain.target = add_target({1: (2.0, 0.0, 1.0)}, "New")
    update()
    assert missed(armature, chain) < 3.0 * SAME and chain.live_status == "On its target"


def test_a_deleted_armature_is_forgotten():
    armature, target, _ = arm_with_target(2, live=True)
    bpy.context.scene.frame_set(9)
    bpy.data.objects.remove(armature)
    bpy.context.scene.frame_set(12)
    update()
    assert not RIGS.chains and not RIGS.failures


def test_a_removed_chain_is_forgotten():
    armature, target, _ = arm_with_target(2, live=True)
    bpy.context.scene.frame_set(9)
    armature.ik2d.chains.remove(0)
    bpy.context.scene.frame_set(12)
    assert not RIGS.chains and not RIGS.failures


def test_a_deleted_bone_is_told():
    armature, _, chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones.remove(armature.data.edit_bones["b2"])
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.scene.frame_set(12)
    assert "has no bone 'b2'" in chain.live_status and chain.live


def test_undo_and_redo_leave_it_live():
    armature, target, chain = arm_with_target(3, live=True)
    target.animation_data_clear()
    bpy.ops.ed.undo_push(message="First")
    target.location = (1.9, 0.0, 1.2)
    update()
    bpy.ops.ed.undo_push(message="Moved")
    bpy.ops.ed.undo()
    for step in (lambda: None, bpy.ops.ed.redo, bpy.ops.ed.undo):
        step()
        armature, target = bpy.data.objects["Rig"], bpy.data.objects["Target"]
        target.location.z += 0.1
        update()
        assert missed(armature, armature.ik2d.chains[0]) < 3.0 * SAME


def test_a_file_is_live_as_soon_as_it_is_loaded(tmp_path):
    armature, target, _ = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    expected = joints(armature)
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_set(3)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Rig"]
    bpy.context.scene.frame_set(20)
    bpy.context.scene.frame_set(9)
    assert np.abs(joints(armature) - expected).max() == 0.0


def test_without_the_add_on_nothing_follows_and_other_handlers_stay():
    armature, target, chain = arm_with_target(2, live=True)
    called = []

    def other(scene, graph):
        called.append(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(other)
    try:
        bpy.context.scene.frame_set(9)
        handlers.unregister()
        try:
            before = joints(armature)
            bpy.context.scene.frame_set(12)
            assert np.abs(joints(armature) - before).max() == 0.0
            names = [function.__module__ for function in bpy.app.handlers.frame_change_post]
            assert "ik2d_addon.live.handlers" not in names
        finally:
            handlers.register()
        bpy.context.scene.frame_set(14)
        assert missed(armature, chain) < 3.0 * SAME
        assert called == [9, 12, 14]
    finally:
        bpy.app.handlers.frame_change_post.remove(other)


# --- Several scenes -------------------------------------------------------------


def test_scenes_that_do_not_hold_the_armature_leave_it_alone():
    armature, target, chain = arm_with_target(2, live=True)
    bpy.context.scene.frame_set(9)
    before = joints(armature)
    other = bpy.data.scenes.new("Other")
    other.frame_set(20)
    assert np.abs(joints(armature) - before).max() == 0.0


def test_of_two_scenes_that_hold_it_the_armature_follows_in_the_one_that_is_shown():
    armature, target, chain = arm_with_target(2, live=True)
    first, second = bpy.context.scene, bpy.data.scenes.new("Second")
    second.collection.objects.link(armature)
    second.collection.objects.link(target)
    first.frame_set(9)
    in_first = joints(armature)
    second.frame_set(20)
    layer = second.view_layers[0]
    in_second = joints(armature, layer.depsgraph)
    assert np.abs(in_first - in_second).max() > 0.1
    for _ in range(4):  # the other does not pose it anew because this one did
        first.view_layers[0].update()
        layer.update()
        assert np.abs(joints(armature) - in_first).max() < SAME


# --- What is wrong ---------------------------------------------------------------


def test_a_chain_that_goes_on_from_the_frame_before_is_followed_by_each_frame_alone_at_first():
    armature, _, chain = arm_with_target(3, solver='CCD', live=True)
    bpy.context.scene.frame_set(9)
    assert missed(armature, chain) < 3.0 * SAME and chain.live_status == "On its target"
    alone = joints(armature)
    bpy.context.scene.frame_set(20)
    bpy.context.scene.frame_set(9)
    assert np.abs(joints(armature) - alone).max() <= SAME and not RIGS.problems


def test_a_chain_with_a_problem_leaves_the_pose_as_it_is():
    armature, target, chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    before = joints(armature)
    chain.solver = 'TWO_BONE'
    bpy.context.scene.frame_set(12)
    assert np.abs(joints(armature) - before).max() == 0.0
    assert "has 3 bones" in chain.live_status and chain.live


def test_a_target_nowhere_is_told_and_found_again():
    armature, target, chain = arm_with_target(2, live=True)
    target.animation_data_clear()
    target.location.x = float("nan")
    update()
    assert "no finite position" in chain.live_status and chain.live
    target.location = (2.0, 0.0, 1.0)
    update()
    assert chain.live_status == "On its target" and missed(armature, chain) < 3.0 * SAME


def test_a_failure_turns_its_chain_off_once_and_others_go_on(monkeypatch, capfd):
    armature, target, chain = arm_with_target(4)
    chain.bone_count, chain.live = 1, True
    good = add_chain(armature, "b1", target, 2, name="good", live=True)
    bpy.context.scene.frame_set(9)
    from ik2d_addon.live.chain import LiveChain

    real = LiveChain.follow

    def failing(self, scene, graph):
        if self.name == "b3":
            raise ZeroDivisionError("by mistake")
        return real(self, scene, graph)

    monkeypatch.setattr(LiveChain, "follow", failing)
    for frame in (10, 11, 12):
        bpy.context.scene.frame_set(frame)
    assert not chain.live and "turned off on frame 10" in chain.live_status
    assert "ZeroDivisionError: by mistake" in chain.live_status
    assert good.live and "Traceback" not in "".join(capfd.readouterr())
    monkeypatch.undo()
    chain.live = True
    bpy.context.scene.frame_set(13)
    assert chain.live and "turned off" not in chain.live_status


def test_what_it_reached_is_told():
    armature, target, chain = arm_with_target(2, live=True)
    target.animation_data_clear()
    for place, said in (
        ((2.0, 0.0, 1.0), "On its target"),
        ((0.0, 0.0, 5.0), "2 m off its target: out of reach"),
        ((2.0, 0.5, 1.0), "50 cm off its target: off the plane"),
    ):
        target.location = place
        update()
        assert chain.live_status == said


# --- Bakes ------------------------------------------------------------------------


def test_a_bake_turns_live_off_and_one_step_of_undo_brings_it_back():
    armature, _, chain = arm_with_target(2, live=True)
    other = add_chain(armature, "b0", None, 1, name="other", live=True, enabled=False)
    bpy.ops.ed.undo_push(message="Live")
    with bpy.context.temp_override(active_object=armature, object=armature):
        assert bpy.ops.ik2d.bake('EXEC_DEFAULT', True, frame_start=1, frame_end=40) == {'FINISHED'}
    assert not chain.live and other.live
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert armature.ik2d.chains[0].live and animation_of(armature) == {}


def test_a_bake_that_fails_leaves_it_live():
    armature, target, chain = arm_with_target(2, live=True)
    target.location.x = float("nan")
    target.keyframe_insert("location", frame=20)
    with pytest.raises(Exception, match="no finite position"):
        bake(armature)
    assert chain.live


@pytest.mark.slow
def test_live_changes_nothing_of_a_bake():
    keys = []
    for live in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, _, chain = arm_with_target(4, live=live)
        bpy.context.scene.frame_set(7)
        bake(armature)
        keys.append(animation_of(armature))
    assert keys[0] == keys[1]


@pytest.mark.parametrize("live", [False, True])
def test_the_render_menu_asks_to_lock_the_interface_where_chains_are_live(live):
    arm_with_target(4, live=live)
    labels = []
    layout = SimpleNamespace(separator=lambda: None, label=lambda text, **_: labels.append(text))
    draw_before_render(SimpleNamespace(layout=layout), bpy.context)
    assert labels == ["Live chains: turn on Lock Interface"] * live
    bpy.context.scene.render.use_lock_interface = True
    draw_before_render(SimpleNamespace(layout=layout), bpy.context)
    assert len(labels) == live


@pytest.mark.slow
@pytest.mark.parametrize("by_frame", [False, True])
def test_hiding_a_rig_whose_chains_hang_on_one_another_does_not_end_blender(by_frame):
    armature = add_arm(4)
    add_chain(armature, "b3", add_target({1: (1.0, 0.0, 2.0)}, "Second"), 2, live=True)
    add_chain(armature, "b1", add_target({1: (0.4, 0.0, 1.2)}, "First"), 2, live=True)
    update()
    for number in range(30):
        armature.hide_viewport = number % 3 == 0
        bpy.data.objects["First"].location.x = 0.4 + 0.01 * number
        bpy.data.objects["Second"].location.x = 1.0 + 0.01 * number
        if by_frame:
            bpy.context.scene.frame_set(number)
        update()
        armature.update_tag()
        update()
    for chain in armature.ik2d.chains:
        assert missed(armature, chain) < 1e-5 * 3.0


def test_a_chain_that_is_turning_over_does_not_say_that_it_is_on_its_target():
    armature, _target, chain = arm_with_target(3, live=True)
    chain.turn_over = 0.5
    update()
    assert missed(armature, chain) > 0.01 * 3.0
    assert chain.live_status.endswith("off its target: turning over"), chain.live_status


def test_after_loading_a_live_chain_follows_its_target_to_its_keys(tmp_path):
    armature, target, _chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9, subframe=0.5)
    expected = joints(armature)
    target.location = (0.3, 0.0, 1.1)  # without a key: loading puts the target back on its keys
    update()
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    assert bpy.context.scene.frame_current_final == 9.5
    assert np.abs(joints(armature) - expected).max() < SAME * 3.0


def test_a_live_chain_keeps_still_while_its_targets_path_is_worked_out():
    armature, target, chain = arm_with_target(3, live=True)
    bpy.context.scene.frame_set(9)
    target.location = (0.3, 0.0, 1.1)
    update()
    before = joints(armature)
    find_path(armature, chain, bpy.context.scene)
    assert np.abs(joints(armature) - before).max() < SAME * 3.0
    armature.update_tag()
    update()
    assert missed(armature, chain) < 1e-5 * 3.0
