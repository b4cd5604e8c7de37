# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures that are baked together know nothing of one another, and are baked apart where they must."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip

from ik2d_addon.bake import BakeOptions, arithmetic, bake, bake_steps
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation import versions

ARM = {"b0": ((0, 0, 0), (0.2, 0, 1), "", 0.0), "b1": ((0.2, 0, 1), (0, 0, 2), "b0", 0.0)}
BESIDE = {
    "body": ((3, 0, -1), (3, 0, 0), "", 0.0),
    "d0": ((3, 0, 0), (3.2, 0, 1), "body", 0.0),
    "d1": ((3.2, 0, 1), (3, 0, 2), "d0", 0.0),
}


def arm(name, x=0.0):
    """Add an arm of two bones in the plane y = 0, with its root at x."""
    armature = add_armature(ARM, name)
    armature.location.x = x
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    return armature


def followed(armature, places, **settings):
    """Give an arm a chain with a target that is at places relative to it; return the chain."""
    x = armature.location.x
    keys = {frame: (x + place[0], *place[1:]) for frame, place in places.items()}
    return add_chain(armature, "b1", add_target(keys, f"{armature.name}'s"), **settings)


PATH = {1: (1.0, 0.0, 1.0), 12: (-1.0, 0.0, 1.0)}


def keys_of(armature):
    """Return the values of the keys of each channel."""
    return {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in versions.existing_fcurves(armature)
    }


def forget(*armatures):
    """Take all keys and poses away."""
    for armature in armatures:
        armature.animation_data_clear()
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
    bpy.context.view_layer.update()


def keyed_at(armature, frame):
    """Key the rotations of an arm's bones at a frame."""
    for name in ("b0", "b1"):
        bone = armature.pose.bones[name]
        bone.rotation_quaternion = (1.0, 0.0, 0.2, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def worst(armature):
    """Return how far the furthest evaluated tip of an armature is from its target on any frame."""
    found = []
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        for chain in armature.ik2d.chains:
            place = evaluated_place(chain.target, chain.subtarget)
            found.append((evaluated_tip(armature, chain.tip) - place).length)
    return max(found)


def test_keys_after_the_range_of_one_armature_change_no_other():
    """A single bone's plane is that of its target's path on the frames alone."""
    first, second = arm("A"), arm("B", 6.0)
    target = add_target({1: (1, 0.3, 0.8), 12: (-1, 0.1, 0.5), 30: (0, 2, 0.3)})
    add_chain(first, "b0", target, 1)
    followed(second, PATH, solver='CCD', start_from='PREVIOUS')
    keyed_at(second, 30)
    bake([first, second])
    together = keys_of(first)
    forget(first)
    bake(first)
    assert keys_of(first) == together


def test_the_number_of_frames_that_another_armature_needs_changes_nothing():
    first, second = arm("A"), arm("B", 7.0)
    for frame, angle in ((1, 0.1), (40, 0.5)):
        first.rotation_euler = (angle, 0.2, 0.3)
        first.keyframe_insert("rotation_euler", frame=frame)
    followed(first, {1: (1.123, 0, 1), 20: (0.3, 0.1, 1.7), 52: (-1, 0, 1)})
    followed(second, {1: (1, 0, 1), 52: (-1, 0, 1)}, solver='CCD', start_from='PREVIOUS')
    keyed_at(second, 60)
    bpy.context.scene.frame_end = 52
    bake([first, second])
    together = keys_of(first)
    bake(first)
    assert keys_of(first) == together


def test_settings_that_a_driver_reads_from_another_armature_wait_for_its_bake():
    first, second = arm("A", 5.0), arm("B")
    chain = followed(first, PATH)
    followed(second, PATH)
    second["near"] = 0.0  # driven by a bone that B's bake turns
    driver = second.driver_add('["near"]').driver
    driver.type = 'SUM'
    variable = driver.variables.new()
    variable.type = 'TRANSFORMS'
    variable.targets[0].id, variable.targets[0].bone_target = second, "b1"
    variable.targets[0].transform_type = 'LOC_X'
    driver = first.driver_add(chain.path_from_id("influence")).driver
    driver.type = 'SUM'
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = second, '["near"]'
    bpy.context.view_layer.update()
    bake([second, first])
    together = keys_of(first)
    bake(first)
    assert keys_of(first) == together


def test_a_chain_reports_the_same_times_whoever_its_armature_hangs_on():
    first, second = arm("A"), arm("B", 6.0)
    followed(first, PATH)
    followed(second, {1: (1, 0, 1), 5: (0.3, 0, 0.4), 12: (-1, 0, 1)})
    first.parent = second
    bpy.context.view_layer.update()
    together = bake([first, second]).by_armature[0].to_dict()
    forget(first, second)
    assert bake(first).to_dict() == together


def test_circles_are_told_of_one_armature_at_a_time():
    for name in ("A", "B"):
        armature = add_armature({**ARM, **BESIDE}, name)
        add_chain(armature, "b1", armature, subtarget="d1", name=f"{name} one")
        add_chain(armature, "d1", armature, subtarget="b1", name=f"{name} two")
    with pytest.raises(IK2DError) as told:
        bake([bpy.data.objects["A"], bpy.data.objects["B"]])
    assert "B one" not in str(told.value)


@pytest.mark.parametrize("hidden", [False, True])
def test_every_chain_of_a_hidden_armature_is_sampled(hidden):
    armature = add_armature({**ARM, **BESIDE}, "Hidden")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame in (1, 12):
        body.rotation_euler = (0.02 * frame, 0.03 * frame, 0.0)
        body.keyframe_insert("rotation_euler", frame=frame)
    followed(armature, PATH)
    add_chain(armature, "d1", add_target({1: (4, 0, 1), 12: (2, 0, 1)}))
    armature.hide_viewport = hidden
    bpy.context.view_layer.update()
    report = bake(armature)
    armature.hide_viewport = False
    assert report.max_error == pytest.approx(worst(armature), abs=1e-4)


def test_a_look_at_the_worst_time_of_each_armature_confirms_it(monkeypatch):
    first, second = arm("A"), arm("B", 5.0)
    followed(first, {1: (1, 0.4, 1), 12: (-1, 0.4, 1)})  # misses by more
    followed(second, PATH)
    tips_of = arithmetic.tips_of

    def one_wrong(chains):
        tips = yield from tips_of(chains)
        tips = [own.copy() for own in tips]
        for own, chain in zip(tips, chains, strict=True):
            if chain.to_world[0, 0, 3] > 2.0:
                own[4] += 0.05
        return tips

    monkeypatch.setattr(arithmetic, "tips_of", one_wrong)
    report = bake([first, second]).by_armature[1]
    assert report.max_error < 1e-3


@pytest.mark.parametrize("verify", ['SAMPLE', 'NONE'])
def test_progress_never_falls_but_where_playing_back_begins(verify):
    armatures = [arm("A"), arm("B", 5.0)]
    for armature in armatures:
        followed(armature, PATH)
    told = list(bake_steps(armatures, options=BakeOptions(verify=verify)))
    assert told[-1] == (12, 12) and {total for _, total in told} == {12}
    falls = np.flatnonzero(np.diff([done for done, _ in told]) < 0)
    assert len(falls) <= (verify != 'NONE')
