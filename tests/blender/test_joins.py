# SPDX-License-Identifier: GPL-3.0-or-later
"""A part of the range joins the keys around it, and Solve shows what Bake keys."""

import math
from pathlib import Path

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.rig.animation.versions import existing_fcurves

TENTACLE = Path(__file__).resolve().parent.parent.parent / "sample_scenes" / "03_tentacle.blend"


def tentacle():
    """Open the sample and return its armature and its chain."""
    bpy.ops.wm.open_mainfile(filepath=str(TENTACLE))
    armature = next(ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE')
    chain = armature.ik2d.chains[0]
    chain.solver = 'CCD'  # the one whose frames know of the ones before
    return armature, chain


def add_tentacle(frames: int = 80, bones: int = 6, aside: float = 0.0, **settings):
    """Add a chain of some bones whose target wanders within reach, about a place so far aside (in bones)."""
    names = [f"bone.{i}" for i in range(bones)]
    armature = add_armature(
        {
            name: ((0, 0.02 * i * i, i), (0, 0.02 * (i + 1) ** 2, i + 1), names[i - 1] if i else "", 0.0)
            for i, name in enumerate(names)
        }
    )
    keys = {
        frame: (
            0,
            bones * (aside + 0.6 * (1.0 - aside) * math.sin(frame / 13.0)),
            bones * (0.45 + 0.25 * math.cos(frame / 9.0)),
        )
        for frame in range(1, frames + 1, 8)
    }
    target = add_target(keys)
    chain = add_chain(armature, names[-1], target, bones, solver='CCD', **settings)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return armature, chain


def pose(armature, frame: float | None = None) -> list:
    """Return the rotation of each bone, relative to its parent, as Blender evaluates it."""
    if frame is not None:
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [
        (bone.parent.matrix.inverted() @ bone.matrix if bone.parent else bone.matrix).to_quaternion()
        for bone in evaluated.pose.bones
    ]


def apart(one: list, other: list) -> float:
    """Return by how many degrees the bone turns that turns most."""
    turns = [a.rotation_difference(b) for a, b in zip(one, other, strict=True)]
    return max(math.degrees(2.0 * math.atan2(math.hypot(*turn[1:]), abs(turn.w))) for turn in turns)


def step(armature, frame: int) -> float:
    """Return by how many degrees a bone turns from one frame to the next."""
    return apart(pose(armature, frame), pose(armature, frame + 1))


def move_target_keys(target, first: int, last: int, by: float) -> None:
    """Move the keys within some frames a little."""
    for curve in existing_fcurves(target):
        if curve.data_path == "location":
            for key in curve.keyframe_points:
                if first <= key.co[0] <= last:
                    key.co[1] += by * (1.0 + curve.array_index)
            curve.update()


# --- A part of the range -----------------------------------------------------


@pytest.mark.slow
def test_a_part_that_is_baked_again_joins_what_stands_around_it():
    armature, _ = tentacle()
    bake(armature)
    before = [pose(armature, frame) for frame in range(45, 76)]
    report = bake(armature, frame_start=50, frame_end=70)
    assert report.all_reached and not report.warnings
    assert step(armature, 49) <= 4.0
    assert step(armature, 70) <= 4.0
    after = [pose(armature, frame) for frame in range(45, 76)]
    assert max(map(apart, before, after)) <= 0.1  # nothing has changed, so nothing does


@pytest.mark.slow
def test_keys_after_it_on_a_frame_that_cannot_be_solved_are_not_led_to():
    armature, chain = tentacle()
    bake(armature)
    move_target_keys(chain.target, 52, 68, 0.05)
    for frame, size in ((70, 1.0), (71, 0.0), (72, 1.0)):
        armature.scale = (size, size, size)
        armature.keyframe_insert("scale", frame=frame)
    report = bake(armature, frame_start=50, frame_end=70)
    assert report.all_reached


@pytest.mark.slow
@pytest.mark.parametrize("by", (0.05, -0.15))
def test_a_part_joins_also_where_the_target_has_moved_meanwhile(by):
    armature, chain = tentacle()
    bake(armature)
    move_target_keys(chain.target, 52, 68, by)
    report = bake(armature, frame_start=50, frame_end=70)
    assert report.all_reached and not report.warnings
    assert step(armature, 49) <= 8.0
    assert step(armature, 70) <= 8.0
    assert max(step(armature, frame) for frame in range(50, 70)) <= 15.0


@pytest.mark.slow
def test_a_range_after_a_baked_one_goes_on_from_it():
    armature, _ = add_tentacle()
    bake(armature, frame_start=1, frame_end=80)
    whole = [pose(armature, frame) for frame in range(1, 81)]
    armature.animation_data_clear()
    bake(armature, frame_start=1, frame_end=40)
    bake(armature, frame_start=41, frame_end=80)
    assert max(map(apart, whole, (pose(armature, frame) for frame in range(1, 81)))) <= 0.1


@pytest.mark.slow
def test_a_range_before_another_is_led_to_it():
    armature, _ = add_tentacle(aside=0.6)  # where both bend to one side
    bake(armature, frame_start=1, frame_end=40)
    by_itself = pose(armature, 40)
    armature.animation_data_clear()
    bake(armature, frame_start=41, frame_end=80)
    assert apart(by_itself, pose(armature, 41)) > 5.0
    bake(armature, frame_start=1, frame_end=40)
    # About as fast as the other range goes on, which begins at Even's pose and falls behind it a little.
    assert step(armature, 40) <= 1.5 * step(armature, 41)


@pytest.mark.slow
def test_baking_a_part_twice_changes_nothing():
    armature, chain = tentacle()
    bake(armature)
    move_target_keys(chain.target, 52, 68, 0.1)
    bake(armature, frame_start=50, frame_end=70)
    once = [pose(armature, frame) for frame in range(45, 76)]
    bake(armature, frame_start=50, frame_end=70)
    assert max(map(apart, once, (pose(armature, frame) for frame in range(45, 76)))) <= 0.1


def test_keys_a_while_before_the_range_are_where_it_starts_from():
    armature, _ = add_tentacle()
    bones = armature.pose.bones
    for bone in bones:
        bone.rotation_mode = 'XYZ'
        bone.rotation_euler = (-0.5, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=1)
    bake(armature, frame_start=30, frame_end=60)
    other_side = pose(armature, 30)
    armature.animation_data_clear()
    bake(armature, frame_start=30, frame_end=60)
    assert apart(other_side, pose(armature, 30)) > 10.0


@pytest.mark.parametrize(("frame", "first", "last", "word"), [(20, 21, 40, "before"), (41, 21, 40, "after")])
def test_a_jump_that_remains_is_named_with_its_frame_and_its_size(frame, first, last, word):
    """Two limited bones cannot be led to a pose that the target forbids."""
    armature, chain = add_tentacle(bones=2)
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
        bone.rotation_euler = (2.5, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    report = bake(armature, frame_start=first, frame_end=last)
    (warning,) = [text for text in report.warnings if "does not join" in text]
    assert f"frame {first if frame < first else last} " in warning and f"{word} it" in warning
    told = float(warning.partition("turns by ")[2].partition(" degrees")[0])
    between = (frame, first) if frame < first else (last, frame)
    assert told == pytest.approx(apart(*(pose(armature, f) for f in between)), abs=1.0)
    assert told > 30.0


def test_solvers_without_memory_are_not_led():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=40)
    whole = [pose(armature, frame) for frame in range(1, 41)]
    for bone in armature.pose.bones[1:]:
        bone.rotation_quaternion = (0.7, 0.7, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=9)
        bone.keyframe_insert("rotation_quaternion", frame=21)
    report = bake(armature, frame_start=10, frame_end=20)
    assert not [text for text in report.warnings if "join" in text]
    assert max(map(apart, whole[9:20], (pose(armature, frame) for frame in range(10, 21)))) <= EXACT


@pytest.mark.parametrize("mode", ['XYZ', 'AXIS_ANGLE', 'QUATERNION'])
@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_the_number_of_turns_goes_on_too(solver, mode):
    """Else a bone spins round between the last key before the range and the first one in it."""
    armature, _ = add_tentacle(bones=2)
    chain = armature.ik2d.chains[0]
    chain.solver, chain.plane = solver, 'X'
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    for curve in existing_fcurves(chain.target):
        curve.keyframe_points.clear()
        for frame in range(1, 81):
            angle = 0.25 * frame
            place = (0.0, -1.4 * math.sin(angle), 1.4 * math.cos(angle))
            curve.keyframe_points.insert(frame, place[curve.array_index]).interpolation = 'LINEAR'
    bake(armature, frame_start=1, frame_end=80)
    bake(armature, frame_start=50, frame_end=60)
    for frame in (49, 60):
        between = [pose(armature, frame + part / 5.0) for part in range(6)]
        assert max(map(apart, between, between[1:])) <= 30.0


def test_keys_are_found_in_the_time_that_the_scene_is_remapped_to():
    armature, _ = add_tentacle()
    bpy.context.scene.render.frame_map_new = 200
    bake(armature, frame_start=1, frame_end=80)
    before = [pose(armature, frame) for frame in range(40, 66)]
    report = bake(armature, frame_start=45, frame_end=60)
    assert not report.warnings
    assert max(map(apart, before, (pose(armature, frame) for frame in range(40, 66)))) <= 0.1


# --- Solve -------------------------------------------------------------------


def solved_and_baked(armature, frames, **options) -> float:
    """Return by how many degrees Solve's poses differ from the baked ones, at most."""
    solved = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        solve(armature)
        solved[frame] = pose(armature)
    settings = armature.ik2d
    span = (settings.frame_start, settings.frame_end) if settings.use_custom_range else (None, None)
    bake(armature, None, *span, settings.frame_step if settings.use_custom_range else 1, **options)
    return max(apart(solved[frame], pose(armature, frame)) for frame in frames)


EXACT = math.degrees(5e-6)  # with what 32-bit matrices leave


def turns_of(armature) -> np.ndarray:
    """Return the turn of each bone about X (radians) as its channels hold it."""
    return np.array(
        [2.0 * math.atan2(b.rotation_quaternion.x, b.rotation_quaternion.w) for b in armature.pose.bones]
    )


@pytest.mark.slow
@pytest.mark.parametrize("limited", (False, True))
def test_solve_is_what_bake_keys(limited):
    armature, chain = add_tentacle(plane='X')
    if limited:
        for joint in chain.joints:
            joint.use_limit, joint.limit_min, joint.limit_max = True, -0.9, 0.9
    solved = {}
    for frame in (1, 2, 17, 50, 80):
        bpy.context.scene.frame_set(frame)
        solve(armature)
        solved[frame] = turns_of(armature)
    bake(armature)
    for frame, turns in solved.items():
        bpy.context.scene.frame_set(frame)
        assert np.abs(turns - turns_of(armature)).max() <= 1e-6, frame


@pytest.mark.slow
def test_solve_is_what_bake_keys_on_a_part_that_joins_others():
    armature, chain = add_tentacle()
    bake(armature)
    move_target_keys(chain.target, 34, 48, 0.3)
    settings = armature.ik2d
    settings.use_custom_range, settings.frame_start, settings.frame_end = True, 30, 50
    assert solved_and_baked(armature, (30, 31, 44, 50)) <= EXACT


@pytest.mark.slow
def test_solve_follows_the_options_that_the_bake_would_have():
    armature, _ = add_tentacle()
    settings = armature.ik2d
    settings.use_custom_range, settings.frame_start, settings.frame_end, settings.frame_step = True, 5, 71, 3
    assert solved_and_baked(armature, (5, 26, 71)) <= EXACT
    settings.frame_step, settings.on_target_keys = 1, True
    armature.animation_data_clear()
    assert solved_and_baked(armature, (25, 33), options=BakeOptions(on_target_keys=True)) <= EXACT


def test_solve_after_a_bake_is_the_baked_pose():
    armature, _ = add_tentacle()
    bake(armature)
    for frame in (10, 60):
        baked = pose(armature, frame)
        solve(armature)
        assert apart(baked, pose(armature)) <= EXACT


def test_solve_takes_the_target_where_it_has_been_moved_by_hand():
    armature, chain = add_tentacle()
    scene = bpy.context.scene
    scene.frame_set(40)
    solve(armature)
    before = pose(armature)
    chain.target.location.y += 0.1
    report = solve(armature)
    assert report.all_reached
    tip = armature.matrix_world @ armature.pose.bones[chain.tip].tail
    assert (tip - chain.target.matrix_world.translation).length <= 1e-4
    assert 0.01 < apart(before, pose(armature)) <= 15.0


def test_outside_the_range_solve_starts_from_what_stands_there():
    armature, chain = add_tentacle()
    bpy.context.scene.frame_set(90)
    solve(armature)
    once = pose(armature)
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (math.cos(0.3), -math.sin(0.3), 0.0, 0.0)
    report = solve(armature)
    assert report.all_reached and not report.warnings
    assert apart(once, pose(armature)) > 5.0
    again = pose(armature)
    solve(armature)
    assert apart(again, pose(armature)) <= 0.1


def test_solve_starts_from_what_stands_there_where_the_scene_would_be_stepped_through():
    armature, _ = add_tentacle()
    bpy.context.scene.frame_set(60)
    solve(armature)
    followed = pose(armature)
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    seen = []
    bpy.app.handlers.frame_change_post.append(lambda scene, *_: seen.append(scene.frame_current))
    try:
        assert solve(armature).all_reached
    finally:
        bpy.app.handlers.frame_change_post.pop()
    assert not seen
    assert apart(followed, pose(armature)) > 0.5


@pytest.mark.parametrize("mode", ['XYZ', 'ZXY'])
def test_slanted_euler_angles_go_on_from_the_key_before(mode):
    """About an axis that is none of the bone's own, all three angles move, and each has many names."""
    armature, target = leg_with_target()
    target.animation_data_clear()
    for frame in range(1, 61):
        turn = 0.35 * frame  # three times round the root
        target.location = (0.0, 0.8 * math.sin(turn), 2.0 - 0.8 * math.cos(turn))
        target.keyframe_insert("location", frame=frame)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    bake(armature, frame_start=1, frame_end=60)
    bake(armature, frame_start=41, frame_end=60)
    for curve in existing_fcurves(armature):
        values = np.array([curve.evaluate(frame) for frame in range(38, 46)])
        assert np.abs(np.diff(values)).max() < 2.0, (curve.data_path, curve.array_index, values)
