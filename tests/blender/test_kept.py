# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers about results are kept until an edit: never longer, and not made again without one."""

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_target, leg_with_target

from ik2d_addon.features.baking import results
from ik2d_addon.features.baking.results import bake_is_stale, solve_is_stale
from ik2d_addon.features.baking.staleness import AnimatedPaths, bake_fingerprint
from ik2d_addon.features.native import make_native
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.fingerprint import settings_of
from ik2d_addon.ui import kept


@pytest.fixture
def armature():
    """An active leg, baked from 1 to 40, with a target that hangs on another object."""
    armature, target = leg_with_target()
    target.parent = add_target({}, "Parent")
    bpy.context.scene.frame_end = 40
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    bpy.ops.ik2d.bake()
    bpy.context.view_layer.update()
    return armature


@pytest.fixture
def made(monkeypatch):
    """The fingerprints that were made, as names of chains."""
    made = []
    for name in ("bake_fingerprint", "solve_fingerprint"):
        work = getattr(results, name)

        def counted(chain, *arguments, work=work):
            made.append(chain.name)
            return work(chain, *arguments)

        monkeypatch.setattr(results, name, counted)
    return made


def stale(armature):
    """Return the first change since the bake, in words; "" for none."""
    return bake_is_stale(armature, bpy.context.scene)


def curve_of(ob, row=0):
    """Return an F-Curve of an object."""
    return list(existing_fcurves(ob))[row]


def target_of(rig):
    """Return the target of a rig's first chain."""
    return rig.ik2d.chains[0].target


def write_keys(curve):
    """Write keys in bulk; Blender 4.2 plays and tags them only once the curve is updated."""
    values = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", values)
    values[1] += 0.1
    curve.keyframe_points.foreach_set("co", values)
    if bpy.app.version < (4, 5):
        curve.update()


EDITS = {
    "a setting": lambda rig: setattr(rig.ik2d.chains[0], "bend", 'NEGATIVE'),
    "a joint": lambda rig: setattr(rig.ik2d.chains[0].joints[1], "use_limit", True),
    "another target": lambda rig: setattr(rig.ik2d.chains[0], "target", add_target({}, "Else")),
    "no target": lambda rig: bpy.data.objects.remove(target_of(rig)),
    "the target's scale": lambda rig: setattr(target_of(rig), "scale", (2, 2, 2)),
    "its parent's place": lambda rig: setattr(target_of(rig).parent, "location", (0, 1, 0)),
    "its parent": lambda rig: setattr(target_of(rig), "parent", None),
    "a key of the target": lambda rig: curve_of(target_of(rig)).keyframe_points[0].co.__setitem__(1, 0.5),
    "a new key of its parent": lambda rig: target_of(rig).parent.keyframe_insert("location", frame=3),
    "a key by hand": lambda rig: curve_of(rig).keyframe_points[5].co.__setitem__(1, 0.5),
    "keys in bulk": lambda rig: write_keys(curve_of(rig)),
    "a key more": lambda rig: curve_of(rig).keyframe_points.insert(3.5, 0.2),
    "a key less": lambda rig: curve_of(rig).keyframe_points.remove(curve_of(rig).keyframe_points[3]),
    "a muted curve": lambda rig: setattr(curve_of(rig), "mute", True),
    "no action": lambda rig: setattr(rig.animation_data, "action", None),
    "its action removed": lambda rig: bpy.data.actions.remove(rig.animation_data.action),
    "no animation": lambda rig: rig.animation_data_clear(),
    "a target without animation": lambda rig: target_of(rig).animation_data_clear(),
    "the scene's end": lambda _: setattr(bpy.context.scene, "frame_end", 9),
    "an option": lambda rig: setattr(rig.ik2d, "use_reduce", True),
}
WAYS = {
    "at once": lambda: None,
    "evaluated": lambda: bpy.context.view_layer.update(),
    "on another frame": lambda: bpy.context.scene.frame_set(7),
    "evaluated, on another frame": lambda: (bpy.context.view_layer.update(), bpy.context.scene.frame_set(7)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("edit", EDITS)
def test_no_edit_leaves_a_result_fresh(edit, way, armature, made):
    assert stale(armature) == stale(armature) == "" and len(made) == 1  # the second one was kept
    EDITS[edit](armature)
    WAYS[way]()
    assert stale(armature) != ""
    bpy.context.view_layer.update()
    assert stale(armature) == stale(armature) != ""


EDITS_OF_POLES = {
    "another pole": lambda chain: setattr(chain, "pole", add_target({}, "Else")),
    "no pole": lambda chain: bpy.data.objects.remove(chain.pole),
    "the pole's scale": lambda chain: setattr(chain.pole, "scale", (2, 2, 2)),
    "its parent's place": lambda chain: setattr(chain.pole.parent, "location", (0, 1, 0)),
    "a key of the pole": lambda chain: curve_of(chain.pole).keyframe_points[0].co.__setitem__(1, 0.5),
    "another plane": lambda chain: setattr(chain, "plane", 'SWING'),
}


@pytest.mark.parametrize("edit", EDITS_OF_POLES)
def test_no_edit_of_a_pole_leaves_a_result_fresh(edit, armature, made):
    chain = armature.ik2d.chains[0]
    chain.pole = add_target({1: (0, -2, 1), 40: (1, -2, 1)}, "Pole")
    chain.pole.parent, chain.plane = add_target({}, "Pole's Parent"), 'POLE'
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.bake()
    bpy.context.view_layer.update()
    assert stale(armature) == ""
    EDITS_OF_POLES[edit](chain)
    assert stale(armature) != ""
    bpy.context.view_layer.update()
    assert stale(armature) != ""


def other_value(group, name):
    """Return another value of a property."""
    kind, value = group.bl_rna.properties[name], getattr(group, name)
    if kind.type == 'ENUM':
        return next(item.identifier for item in kind.enum_items if item.identifier != value)
    if getattr(kind, "is_array", False):
        return [part + 1.0 for part in value]
    return {'BOOLEAN': lambda: not value, 'STRING': lambda: "x", 'INT': lambda: value + 1}.get(
        kind.type, lambda: 0.5 * value + 0.25
    )()


def test_each_setting_that_fingerprints_read_is_tagged(armature):
    """A property without an `update` is not."""
    layer, chain = bpy.context.view_layer, armature.ik2d.chains[0]
    for group in (chain, chain.joints[0]):
        for name, _ in settings_of(group):
            layer.update()
            setattr(group, name, other_value(group, name))
            assert layer.depsgraph.id_type_updated('OBJECT'), name


HIDING = {
    "hidden": lambda ob: setattr(ob, "hide_viewport", True),
    "hidden in the view layer": lambda ob: ob.hide_set(True),
    "in no scene": lambda ob: bpy.context.scene.collection.objects.unlink(ob),
    "in a hidden collection": lambda ob: exclude(ob),
}


def exclude(ob):
    """Move an object to a collection that the view layer leaves out."""
    scene, own = bpy.context.scene, bpy.data.collections.new("Own")
    scene.collection.children.link(own)
    own.objects.link(ob)
    scene.collection.objects.unlink(ob)
    bpy.context.view_layer.layer_collection.children["Own"].exclude = True


OF_THE_TARGET = [name for name in EDITS if "target" in name or "parent" in name]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("edit", OF_THE_TARGET)
@pytest.mark.parametrize("hide", HIDING)
def test_edits_of_a_target_that_is_not_shown_are_seen_too(hide, edit, way, armature, made):
    for ob in (target_of(armature), target_of(armature).parent):
        HIDING[hide](ob)
    other, chain = add_target({}, "Other"), armature.ik2d.chains[0]
    chain.bake_mark = results.bake_fingerprint(chain, AnimatedPaths.of(armature))
    bpy.context.view_layer.update()
    made.clear()
    assert stale(armature) == stale(armature) == "" and len(made) == 1
    bpy.context.view_layer.update()
    EDITS[edit](armature)
    other.location.x += 1.0
    WAYS[way]()
    assert stale(armature) != ""


def test_without_an_edit_of_theirs_fingerprints_are_made_once(armature, made):
    other = add_target({1: (0, 0, 0), 9: (1, 0, 0)}, "Other")
    bpy.context.view_layer.update()
    assert stale(armature) == "" and len(made) == 1
    for frame in (3, 7, 12):
        bpy.context.scene.frame_set(frame)
        other.scale.x += 1.0
        bpy.context.view_layer.update()
        assert stale(armature) == ""
    assert len(made) == 1
    armature.pose.bones["shin"].location.x = 0.1
    bpy.context.view_layer.update()
    assert stale(armature) == "" and len(made) == 2


def test_chains_that_come_and_go_are_seen(armature):
    add_chain(armature, "body", add_target({1: (0, 0.3, 2.5)}, "Head"), bone_count=1)
    bpy.ops.ik2d.bake()
    armature.ik2d.chains["body"].softness = 0.1
    bpy.context.view_layer.update()
    assert stale(armature) == "the settings of 'body'"
    armature.ik2d.chains.remove(1)
    assert stale(armature) == ""
    armature.ik2d.chains[0].bake_mark = ""
    bpy.context.view_layer.update()
    armature.ik2d.chains[0].softness = 0.1
    assert stale(armature) == ""


def test_a_native_chain_s_controls_are_seen(armature):
    chain = armature.ik2d.chains[0]
    controls = make_native(armature, chain).controls
    chain.bake_mark = bake_fingerprint(chain, AnimatedPaths.of(armature))
    bpy.context.view_layer.update()
    assert stale(armature) == stale(armature) == ""
    controls["softness"] = 0.25  # of which Blender tells nothing
    assert stale(armature) == "the settings"


def test_a_solve_is_asked_for_again_on_each_frame_and_after_each_move(armature, made):
    bpy.context.scene.frame_set(3)
    bpy.ops.ik2d.solve()
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    made.clear()
    assert solve_is_stale(armature, scene) == solve_is_stale(armature, scene) == "" and len(made) == 1
    armature.pose.bones["shin"].rotation_quaternion = (0.9, 0.1, 0, 0)
    bpy.context.view_layer.update()
    assert solve_is_stale(armature, scene) == "the pose"
    scene.frame_set(4)
    assert solve_is_stale(armature, scene) == "the frame"
    scene.frame_set(3)  # back to the keyed pose
    assert solve_is_stale(armature, scene) == ""


def test_undo_and_redo_are_edits(armature):
    bpy.ops.ed.undo_push(message="before")
    assert stale(armature) == ""
    armature.ik2d.chains[0].bend = 'NEGATIVE'
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="after")
    assert stale(armature) == "the settings"
    bpy.ops.ed.undo()
    assert stale(bpy.data.objects["Rig"]) == ""
    bpy.ops.ed.redo()
    assert stale(bpy.data.objects["Rig"]) == "the settings"


def test_another_file_is_an_edit(armature, tmp_path):
    fresh, changed = (str(tmp_path / name) for name in ("fresh.blend", "changed.blend"))
    bpy.ops.wm.save_as_mainfile(filepath=fresh)
    armature.ik2d.chains[0].bend = 'NEGATIVE'
    bpy.ops.wm.save_as_mainfile(filepath=changed)
    for path, words in ((fresh, ""), (changed, "the settings"), (fresh, "")):
        bpy.ops.wm.open_mainfile(filepath=path)
        bpy.context.view_layer.update()
        assert stale(bpy.data.objects["Rig"]) == stale(bpy.data.objects["Rig"]) == words


def test_nothing_is_kept_while_blender_does_not_tell_of_edits(armature, made):
    bpy.app.handlers.depsgraph_update_post.remove(kept._updated)
    try:
        stale(armature), stale(armature)
    finally:
        bpy.app.handlers.depsgraph_update_post.append(kept._updated)
    assert len(made) == 2
