# SPDX-License-Identifier: GPL-3.0-or-later
"""Results say when they no longer hold, and belong to the rig that was solved or baked, to no copy of it."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_target, leg_with_target

from ik2d_addon.features.baking import staleness
from ik2d_addon.features.baking.results import bake_is_stale, has_results, solve_is_stale
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain import fingerprint


def baked_leg():
    """Return an active leg that is baked from 1 to 40."""
    armature, _target = leg_with_target()
    bpy.context.scene.frame_end = 40
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    bpy.ops.ik2d.bake()
    return armature


def stale(armature):
    """Return what has changed since the bake."""
    return bake_is_stale(armature, bpy.context.scene)


def move_a_key(ob, row=0):
    """Move one key by hand."""
    curve = next(iter(existing_fcurves(ob)))
    curve.keyframe_points[row].co[1] += 0.1
    curve.update()


OPTIONS = "the frame range or the options"
CHANGES = {
    "bend": ("the settings", lambda rig: setattr(rig.ik2d.chains[0], "bend", 'NEGATIVE')),
    "softness": ("the settings", lambda rig: setattr(rig.ik2d.chains[0], "softness", 0.1)),
    "a limit": ("the settings", lambda rig: setattr(rig.ik2d.chains[0].joints[1], "use_limit", True)),
    "bones": ("the settings", lambda rig: setattr(rig.ik2d.chains[0], "bone_count", 3)),
    "target": ("the settings", lambda rig: setattr(rig.ik2d.chains[0], "target", add_target({}, "Else"))),
    "its keys": ("the target", lambda rig: move_a_key(rig.ik2d.chains[0].target)),
    "its place": ("the target", lambda rig: setattr(rig.ik2d.chains[0].target, "scale", (2, 2, 2))),
    "a baked key": ("the keys", lambda rig: move_a_key(rig, 20)),
    "no action": ("the action", lambda rig: setattr(rig.animation_data, "action", None)),
    "the scene's end": (
        "the frame range or the options",
        lambda _: setattr(bpy.context.scene, "frame_end", 9),
    ),
    "own range": (OPTIONS, lambda rig: setattr(rig.ik2d, "use_custom_range", True)),
    "reduce": (OPTIONS, lambda rig: setattr(rig.ik2d, "use_reduce", True)),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_bake_is_stale_after_a_change_and_fresh_after_the_next_bake(change):
    armature = baked_leg()
    assert stale(armature) == ""
    expected, make = CHANGES[change]
    make(armature)
    assert stale(armature) == expected
    if change != "target":  # the new one is out of reach, which is another matter
        bpy.ops.ik2d.bake()
        assert stale(armature) == ""


def test_what_says_nothing_of_the_result_leaves_it_fresh(tmp_path):
    armature = baked_leg()
    settings, chain = armature.ik2d, armature.ik2d.chains[0]
    chain.name, chain.active_joint, settings.active_index = "Leg", 1, 3
    bpy.context.scene.frame_set(17)
    armature.name = "Body"
    armature.data.bones["shin"].name = "calf"
    bpy.context.view_layer.update()
    assert chain.tip == "calf" and stale(armature) == ""
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Body"]
    assert has_results(armature) and stale(armature) == ""


def test_a_keyed_setting_is_not_a_changed_one():
    armature, _target = leg_with_target()
    chain = armature.ik2d.chains[0]
    for frame, softness in ((1, 0.0), (40, 0.2)):
        chain.softness = softness
        chain.keyframe_insert("softness", frame=frame)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.bake(frame_start=1, frame_end=40)
    bpy.context.scene.frame_set(20)
    assert stale(armature) == ""


def move_pole(armature):
    """Move the pole's armature."""
    armature.ik2d.chains[0].pole.location[0] += 0.2


CHANGES_OF_POLE = {
    "its place": ("the pole", move_pole),
    "its bone's keys": ("the pole", lambda rig: move_a_key(rig.ik2d.chains[0].pole)),
    "another bone": ("the settings", lambda rig: setattr(rig.ik2d.chains[0], "pole_subtarget", "other")),
    "its angle": ("the settings", lambda rig: setattr(rig.ik2d.chains[0], "pole_angle", 0.5)),
    "ease flips": (OPTIONS, lambda rig: setattr(rig.ik2d, "ease_flips", True)),
}


@pytest.mark.parametrize("change", CHANGES_OF_POLE)
def test_a_bake_towards_a_pole_is_stale_after_a_change_of_the_pole_but_not_of_its_bones_name(change):
    armature = baked_leg()
    bones = {"knee": ((0, -2, 1), (0, -2, 1.3), "", 0.0), "other": ((0.5, -2, 1), (0.5, -2, 1.3), "", 0.0)}
    controls = add_armature(bones, "Controls")
    knee = controls.pose.bones["knee"]
    for frame, place in ((1, (0, 0, 0)), (40, (0.7, 0, 0))):
        knee.location = place
        knee.keyframe_insert("location", frame=frame)
    chain = armature.ik2d.chains[0]
    chain.plane, chain.pole, chain.pole_subtarget = 'POLE', controls, "knee"
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    bpy.ops.ik2d.bake()
    bpy.ops.ik2d.solve()
    assert stale(armature) == ""
    controls.data.bones["knee"].name = "front"
    bpy.context.view_layer.update()
    assert chain.pole_subtarget == "front" and stale(armature) == ""
    expected, make = CHANGES_OF_POLE[change]
    make(armature)
    bpy.context.view_layer.update()
    assert stale(armature) == expected
    if change == "its place":
        assert solve_is_stale(armature, bpy.context.scene) == "the pole"
    bpy.ops.ik2d.bake()
    assert stale(armature) == ""


def test_a_stale_chain_is_named_where_there_are_several():
    armature = baked_leg()
    add_chain(armature, "body", add_target({1: (0, 0.3, 2.5)}, "Head"), bone_count=1)
    bpy.ops.ik2d.bake()
    armature.ik2d.chains["body"].softness = 0.1
    assert stale(armature) == "the settings of 'body'"


def test_marks_that_were_made_in_another_way_tell_nothing():
    armature = baked_leg()
    chain = armature.ik2d.chains[0]
    chain.bake_mark = " ".join(chain.bake_mark.split()[1:])
    move_a_key(armature, 20)
    assert chain.bake_mark.startswith("settings:") and stale(armature) == ""


LATER = {
    "chain": lambda rig: rig.ik2d.chains[0],
    "joint": lambda rig: rig.ik2d.chains[0].joints[1],
    "foot": lambda rig: rig.ik2d.chains[0].foot,
    "rig": lambda rig: rig.ik2d,
}
PROPERTIES = {
    "number": (bpy.props.FloatProperty(default=0.3), 0.5),
    "switch": (bpy.props.BoolProperty(default=True), False),
    "vector": (bpy.props.FloatVectorProperty(default=(0.1, 0.2, 0.3)), (0.1, 0.2, 0.4)),
    "choice": (bpy.props.EnumProperty(items=[('A', "A", ""), ('B', "B", "")], default='B'), 'A'),
}


def forget_names():
    """Have the names and defaults of settings looked up again."""
    fingerprint.names_of.cache_clear()
    staleness._in_order.cache_clear()


@pytest.mark.parametrize("whose", LATER)
@pytest.mark.parametrize("kind", PROPERTIES)
def test_a_setting_of_a_later_version_counts_only_off_its_default(whose, kind):
    armature, (made, other) = baked_leg(), PROPERTIES[kind]
    if whose == "foot":
        armature.ik2d.chains[0].foot.is_added = True
        chain = armature.ik2d.chains[0]
        chain.bake_mark = staleness.bake_fingerprint(chain, staleness.AnimatedPaths.of(armature))
    group = LATER[whose](armature)
    type(group).came_later = made
    forget_names()
    try:
        armature.ik2d.chains[0].tolerance += 0.0  # so that it is looked at again
        assert bake_is_stale(armature, bpy.context.scene) == ""
        group.came_later = other
        armature.update_tag()
        bpy.context.view_layer.update()
        assert bake_is_stale(armature, bpy.context.scene) == (OPTIONS if whose == "rig" else "the settings")
    finally:
        del type(group).came_later
        forget_names()


def test_settings_have_the_fingerprints_that_1_0_0_gave_them():
    armature, _target = leg_with_target()
    chain, scene = armature.ik2d.chains[0], bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 40
    chain.softness, armature.ik2d.use_reduce = 0.25, True
    chain.joints[1].use_limit, chain.joints[1].limit_max = True, 1.0
    for is_added, settings in ((False, "d7422dceb310"), (True, "a5a4c9fb2081")):
        chain.foot.is_added = is_added
        found = staleness.bake_fingerprint(chain, staleness.AnimatedPaths.of(armature))
        assert found.split()[:2] == ["4", f"settings:{settings}"]
    assert staleness.options_fingerprint(armature.ik2d, scene) == "4 options:4dda82891824"


def test_what_animates_a_rig_is_looked_up_once_for_all_of_its_chains(monkeypatch):
    armature = baked_leg()
    for _ in range(5):
        add_chain(armature, "shin", bpy.data.objects["Target"])
    for chain in armature.ik2d.chains:
        chain.bake_mark = chain.solve_mark = armature.ik2d.chains[0].bake_mark
    asked = []

    def counted(ob):
        asked.append(ob)
        return existing_fcurves(ob)

    monkeypatch.setattr(staleness, "existing_fcurves", counted)
    stale(armature), solve_is_stale(armature, bpy.context.scene)
    assert asked.count(armature) == 2


def test_a_solve_and_a_bake_have_results_of_their_own():
    armature = baked_leg()
    bpy.context.scene.frame_set(3)
    bpy.ops.ik2d.solve()
    settings = armature.ik2d
    assert settings.last_solve.startswith("Posed 1 frame") and settings.last_bake.startswith("Baked 40")
    assert solve_is_stale(armature, bpy.context.scene) == stale(armature) == ""
    bpy.context.scene.frame_set(4)
    assert solve_is_stale(armature, bpy.context.scene) == "the frame" and stale(armature) == ""


def move_target(armature):
    """Put the target elsewhere."""
    armature.ik2d.chains[0].target.location.y += 0.2


def turn_a_bone(armature):
    """Turn a bone by hand."""
    armature.pose.bones["shin"].rotation_quaternion = (0.9, 0.1, 0, 0)


@pytest.mark.parametrize("change, word", [(move_target, "the target"), (turn_a_bone, "the pose")])
def test_a_solve_is_stale_when_what_it_made_is_changed(change, word):
    armature, target = leg_with_target()
    target.animation_data_clear()
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    bpy.ops.ik2d.solve()
    bpy.context.view_layer.update()
    assert solve_is_stale(armature, bpy.context.scene) == ""
    change(armature)
    bpy.context.view_layer.update()
    assert solve_is_stale(armature, bpy.context.scene) == word


@pytest.mark.parametrize("how", ["duplicate", "copy"])
def test_a_copy_inherits_no_results(how, tmp_path):
    armature = baked_leg()
    if how == "copy":
        copy = armature.copy()
        bpy.context.scene.collection.objects.link(copy)
    else:
        bpy.ops.object.select_all(action='DESELECT')
        armature.select_set(True)
        bpy.ops.object.duplicate()
        copy = bpy.context.object
    assert copy != armature and copy.ik2d.chains[0].tip == "shin"
    assert has_results(armature) and not has_results(copy)
    bpy.context.view_layer.objects.active = copy
    assert not bpy.ops.ik2d.mark_frames.poll()
    name, path = copy.name, str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert has_results(bpy.data.objects["Rig"])
    assert not has_results(bpy.data.objects[name]) and not bpy.data.objects[name].ik2d.last_bake


def test_undo_of_a_bake_takes_its_result_along_and_redo_brings_it_back():
    armature, _target = leg_with_target()
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ik2d.bake('EXEC_DEFAULT', True, frame_start=1, frame_end=40)
    bpy.ops.ed.undo()
    assert not has_results(bpy.data.objects["Rig"]) or not bpy.data.objects["Rig"].ik2d.last_bake
    bpy.ops.ed.redo()
    armature = bpy.data.objects["Rig"]
    assert has_results(armature) and armature.ik2d.last_bake and stale(armature) == ""
