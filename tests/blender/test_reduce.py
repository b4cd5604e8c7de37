# SPDX-License-Identifier: GPL-3.0-or-later
"""Sparse bakes: few keys within a bound, keys on the target's own frames, one curve for each bone."""

import math
import random
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest
from check_samples import SAMPLES
from mathutils import Euler, Matrix, Quaternion, Vector
from rigs import (
    add_armature,
    add_chain,
    add_target,
    animation_of,
    but_jumps,
    evaluated_place,
    evaluated_tip,
    leg_with_target,
)

from ik2d_addon.bake import BakeOptions, BakeReport, bake, bake_steps
from ik2d_addon.bake.keys import cubics
from ik2d_addon.cli.program import run
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation import key_columns
from ik2d_addon.rig.animation.bone_channels import matrices
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.checks.bones import chain_bones

MODES = ['QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE']
PLAYED_BACK = 1e-5  # of reach: what Blender's 32-bit floats allow, with room


def show(time: float) -> None:
    """Go to a time that need not be a whole frame."""
    bpy.context.scene.frame_set(math.floor(time), subframe=time % 1)


def halves(first: int, last: int) -> list[float]:
    """Return all frames from the first to the last, and the times half-way between."""
    return [half / 2 for half in range(2 * first, 2 * last + 1)]


def errors(armature, chain, times, lengths: list[float] | None = None) -> Iterator[float]:
    """Yield how far Blender's tip is from the nearest place to the target that the bones can reach."""
    bones = [bone.name for bone in chain_bones(armature, chain.tip, chain.bone_count)]
    for time in times:
        show(time)
        goal, tip = evaluated_place(chain.target, chain.subtarget), evaluated_tip(armature, chain.tip)
        if lengths:
            evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
            root = evaluated.matrix_world @ evaluated.pose.bones[bones[0]].head
            inner = max(0.0, 2 * max(lengths) - sum(lengths))
            distance = (goal - root).length
            goal = root + (goal - root) * (min(max(distance, inner), sum(lengths)) / distance)
        yield (tip - goal).length


def key_frames(armature, bone: str) -> dict[tuple[str, int], list[float]]:
    """Return the frames of the rotation keys of a bone, curve by curve."""
    start = f"{armature.pose.bones[bone].path_from_id()}.rotation_"
    return {
        (curve.data_path[len(start) :], curve.array_index): [key.co.x for key in curve.keyframe_points]
        for curve in existing_fcurves(armature)
        if curve.data_path.startswith(start)
    }


def add_straight_leg(**settings):
    """Add a leg whose bones bend about their own X axes, and a target that swings within reach."""
    armature = add_armature(
        {
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "", 0.0),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", 0.0),
        }
    )
    target = add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)})
    add_chain(armature, "shin", target, **settings)
    return armature, target


def reduced(armature, part: float = 1e-3, **options) -> tuple[BakeReport, float]:
    """Bake frames 1 to 40 with a bound that is a part of the leg's reach; return the report and the bound."""
    bound = part * 1.91
    settings = BakeOptions(reduce=bound, verify='ALL', **options)
    return bake(armature, frame_start=1, frame_end=40, options=settings), bound


def longest(bone, chain) -> float:
    """Return how long a bone of a chain may get."""
    joint = chain.joints[bone.name]
    return bone.length + (joint.slide_max if joint.use_slide else 0.0)


# The beetle's feet stop and start every few frames, and the body sways on all of them.
@pytest.mark.slow
@pytest.mark.parametrize(
    "path, fewer",
    [(path, {"07_native": 3, "08_cutout": 2, "09_thrower": 4}.get(path.stem, 5)) for path in SAMPLES],
    ids=[path.stem for path in SAMPLES],
)
def test_samples_take_several_times_fewer_keys_within_a_thousandth_of_reach(path: Path, fewer: int):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    for armature in [ob for ob in scene.objects if ob.type == 'ARMATURE' and ob.ik2d.chains]:
        lengths = {
            chain.name: [longest(bone, chain) for bone in chain_bones(armature, chain.tip, chain.bone_count)]
            for chain in armature.ik2d.chains
        }
        bound = 1e-3 * min(map(sum, lengths.values()))
        report = bake(armature, options=BakeOptions(reduce=bound, verify='ALL'))
        assert not [note for note in but_jumps(report.warnings) if "made by hand" not in note]
        for chain, told in zip(armature.ik2d.chains, report.chains, strict=True):
            curves = [frames for bone in told.bones for frames in key_frames(armature, bone).values()]
            (turned,) = {len(frames) for frames in curves}
            assert fewer * turned <= len(told.frames) == scene.frame_end - scene.frame_start + 1
            assert (
                told.played.keys == turned or told.joints.stretch is not None
            )  # scales have keys of their own
            assert 2 * told.played.keys < len(told.frames)
            if told.blended.any():  # bones that keys turn too are where these have them
                continue
            times = halves(scene.frame_start, scene.frame_end)
            if chain.foot.is_added:  # its target is not the tip's
                half_way = told.played.between_times % 1 == 0.5
                assert max(told.played.on_frames.max(), told.played.between[half_way].max()) <= bound
                continue
            worst = max(errors(armature, chain, times, lengths[chain.name]))
            assert worst <= bound + PLAYED_BACK * sum(lengths[chain.name])


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
@pytest.mark.parametrize("mode", MODES)
def test_the_bound_holds_in_every_rotation_mode_also_of_rolled_bones(mode, solver):
    armature, _ = leg_with_target(solver=solver)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    report, bound = reduced(armature)
    assert max(errors(armature, armature.ik2d.chains[0], halves(1, 40))) <= bound + PLAYED_BACK * 1.91
    assert report.chains[0].played.keys < 40 / (2 if mode in ('QUATERNION', 'AXIS_ANGLE') else 1)
    assert not report.warnings
    assert {bone.rotation_mode for bone in armature.pose.bones} == {mode}


@pytest.mark.slow
def test_a_looser_bound_takes_fewer_keys():
    armature, _ = leg_with_target()
    counts = [reduced(armature, part)[0].chains[0].played.keys for part in (1e-5, 1e-4, 1e-3, 1e-2)]
    assert counts == sorted(set(counts), reverse=True)
    assert counts[-1] >= 2


def test_a_target_at_rest_takes_two_keys():
    armature, target = leg_with_target()
    target.animation_data_clear()
    report, _ = reduced(armature)
    assert report.chains[0].played.keys == 2
    assert report.sentence() == (
        "Baked 40 frames on 1 chain with 2 keys each; every target reached."
        " shin's target does not move: key it (Key Target)"
    )
    assert report.to_dict()["chains"][0]["keys"] == 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bones", [1, 2])
def test_bones_that_may_not_turn_at_all_take_two_keys(mode, bones):
    """Their Euler angles are zero on all frames: nothing turns."""
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.bone_count = bones
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    for joint in chain.joints:
        joint.weight = 0.0
    (found,) = bake(armature, frame_start=1, frame_end=20, options=BakeOptions(reduce=0.01)).chains
    assert found.keys == 2


def test_keys_stand_on_the_frames_of_the_step_only():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=40, step=3, options=BakeOptions(reduce=1e-4))
    for frames in key_frames(armature, "shin").values():
        assert frames[0] == 1 and frames[-1] == 40
        assert all(frame % 3 == 1 for frame in frames)


def test_one_frame_is_one_key():
    armature, _ = leg_with_target()
    bake(armature, frame_start=7, frame_end=7, options=BakeOptions(reduce=1e-3))
    assert set(map(tuple, key_frames(armature, "shin").values())) == {(7,)}


def test_keys_outside_the_range_stay():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=60)
    for curve in existing_fcurves(armature):
        for key in curve.keyframe_points:
            key.handle_left_type = key.handle_right_type = 'FREE'
            key.handle_right.y += 0.01
    before = animation_of(armature)
    bake(armature, frame_start=15, frame_end=35, options=BakeOptions(reduce=1e-3))
    now = animation_of(armature)
    for curve, kept in before.items():
        outside = [key for key in kept if not 15 <= key[0] <= 35]
        assert len(outside) == 39
        assert [key for key in now[curve] if not 15 <= key[0] <= 35] == outside
    assert max(errors(armature, armature.ik2d.chains[0], halves(15, 35))) <= 1e-3 + PLAYED_BACK * 1.91


def test_the_bound_is_a_length_in_the_world_for_a_rig_that_is_scaled_and_moves():
    armature, target = leg_with_target()
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    armature.parent = target.parent = holder
    for frame, turn in ((1, 0.0), (40, 2.0)):
        holder.rotation_euler, holder.location, holder.scale = (turn, 1.0, -turn), (turn, 5, 0), (100,) * 3
        for path in ("rotation_euler", "location", "scale"):
            holder.keyframe_insert(path, frame=frame)
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(reduce=0.191, verify='ALL'))
    chain = armature.ik2d.chains[0]
    assert report.chains[0].played.keys < 20
    assert max(errors(armature, chain, halves(1, 40))) <= 0.191 + PLAYED_BACK * 191
    assert max(errors(armature, chain, halves(1, 40))) > 0.01  # it makes use of it


def test_bones_that_inherit_nothing_and_offsets_are_played_as_they_are():
    armature = add_armature(
        {
            "a": ((0, 0, 0), (1, 0, 0), "", 0.3),
            "b": ((1.2, 0, 0.3), (2, 0, 0.8), "a", 1.1),
            "c": ((2.4, 0, 0.6), (3, 0, -0.2), "b", -2.0),
        }
    )
    armature.data.bones["b"].use_inherit_rotation = False
    chain = add_chain(armature, "c", add_target({1: (2, 0, 1), 30: (1, 0, -2)}), bone_count=0)
    report = bake(armature, frame_start=1, frame_end=30, options=BakeOptions(reduce=3e-3, verify='ALL'))
    assert report.chains[0].played.keys <= 10
    assert max(errors(armature, chain, halves(1, 30))) <= 3e-3 + PLAYED_BACK * 4


def test_a_chain_that_hangs_on_a_reduced_one_follows_what_that_plays():
    armature = add_armature(
        {
            "a": ((0, 0, 0), (0, 0.1, 1), "", 0.0),
            "b": ((0, 0.1, 1), (0, 0, 2), "a", 0.0),
            "c": ((0, 0, 2), (0, 0.2, 2.7), "b", 0.0),
            "d": ((0, 0.2, 2.7), (0, 0, 3.3), "c", 0.0),
        }
    )
    first = add_chain(armature, "b", add_target({1: (0, 1, 1), 20: (0, 0, 1.6), 40: (0, -1, 0.9)}, "One"))
    goal = add_target({1: (0, 1.5, 1.5), 20: (0, 0.5, 2.3), 40: (0, -1.2, 1.7)}, "Two")
    second = add_chain(armature, "d", goal, solver='CCD')
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(reduce=0.02, verify='ALL'))
    assert report.all_reached and not report.warnings
    for chain in (first, second):
        assert max(errors(armature, chain, halves(1, 40))) <= 0.02 + PLAYED_BACK * 2


def test_a_bake_that_plays_worse_than_promised_says_so(monkeypatch):
    armature, _ = leg_with_target()
    fit = cubics.Cubics.fit
    monkeypatch.setattr(cubics.Cubics, "fit", lambda self, first, last: (fit(self, first, last)[0], 0.0))
    report, bound = reduced(armature)
    assert report.chains[0].played.keys == 2
    assert max(errors(armature, armature.ik2d.chains[0], halves(1, 40))) > 10 * bound
    assert any("worse than promised" in warning for warning in report.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("scale, backwards", [(2.0, False), (0.5, False), (1.0, True)])
def test_reduced_keys_in_a_tweaked_strip_play_within_the_bound(scale, backwards):
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=40)
    animation = armature.animation_data
    action, animation.action = animation.action, None
    strip = animation.nla_tracks.new().strips.new("strip", 1, action)
    strip.scale, strip.use_reverse = scale, backwards
    animation.nla_tracks[0].select = strip.select = True
    bpy.context.view_layer.update()
    animation.use_tweak_mode = True
    assert animation.use_tweak_mode
    last = int(strip.frame_end)
    bake(armature, frame_start=1, frame_end=last, options=BakeOptions(reduce=2e-3))
    assert max(errors(armature, armature.ik2d.chains[0], halves(1, last))) <= 2e-3 + PLAYED_BACK * 1.91


def test_time_that_is_remapped_plays_within_the_bound():
    armature, _ = leg_with_target()
    bpy.context.scene.render.frame_map_new = 200
    options = BakeOptions(reduce=2e-3, verify='ALL')
    report = bake(armature, frame_start=1, frame_end=80, options=options)
    assert not report.warnings
    assert report.chains[0].played.keys < 30
    assert max(errors(armature, armature.ik2d.chains[0], halves(1, 80))) <= 2e-3 + PLAYED_BACK * 1.91


@pytest.mark.parametrize("length", [-0.1, math.nan, math.inf])
def test_a_bound_that_is_no_length_is_refused(length):
    with pytest.raises(IK2DError, match="reduce must be a length of 0 or more"):
        BakeOptions(reduce=length)


def test_reduced_keys_and_the_targets_own_are_not_asked_for_together():
    with pytest.raises(IK2DError, match="turn off one of them"):
        BakeOptions(reduce=0.1, on_target_keys=True)


@pytest.mark.slow
def test_the_command_line_takes_all_three(tmp_path, capsys):
    armature, _ = add_straight_leg()
    scene, baked = str(tmp_path / "leg.blend"), str(tmp_path / "baked.blend")
    bpy.context.scene.frame_end = 40
    bpy.ops.wm.save_as_mainfile(filepath=scene)
    assert (
        run(["bake", scene, "--reduce", "0.002", "--single-axis", "--output", baked], opens_scene=True) == 0
    )
    assert " keys each" in capsys.readouterr().out
    assert len(key_frames(bpy.data.objects["Rig"], "shin")["euler", 0]) < 20
    assert run(["bake", scene, "--target-keys", "--output", baked], opens_scene=True) == 0
    assert "Baked 40 frames on 1 chain with 3 keys each" in capsys.readouterr().out
    assert run(["bake", scene, "--target-keys", "--reduce", "1", "--output", baked], opens_scene=True) == 2
    assert "turn off one of them" in capsys.readouterr().err


# ---------------------------------------------------------------- on the target's own key frames


def on_target_keys(armature, first: int = 1, last: int = 50) -> BakeReport:
    return bake(armature, frame_start=first, frame_end=last, options=BakeOptions(on_target_keys=True))


def test_keys_stand_on_the_targets_own_and_on_both_ends():
    armature, target = leg_with_target()
    target.location = (0, 0.1, 0.5)
    target.keyframe_insert("location", frame=30.5)
    report = on_target_keys(armature, 10, 50)
    for bone in ("thigh", "shin"):
        assert set(map(tuple, key_frames(armature, bone).values())) == {(10, 20, 30.5, 40, 50)}
    assert report.chains[0].played.keys == 5
    assert not report.warnings
    assert max(errors(armature, armature.ik2d.chains[0], (10, 20, 30.5, 40, 50))) <= PLAYED_BACK * 1.91
    # Between them the tip goes its own way, and the report does not hide it.
    assert not report.all_reached and "off between keys" in report.sentence()
    chain = report.chains[0]
    truth = errors(armature, armature.ik2d.chains[0], chain.frames)
    assert chain.errors == pytest.approx(list(truth), abs=PLAYED_BACK * chain.standard.reach)
    assert chain.max_error > 0.01


def test_a_target_without_keys_takes_those_of_what_it_is_parented_to():
    armature, target = leg_with_target()
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    target.animation_data_clear()
    target.parent = holder
    for frame, turn in ((5, 0.0), (25, 0.2)):
        holder.rotation_euler.x = turn
        holder.keyframe_insert("rotation_euler", frame=frame)
    on_target_keys(armature)
    assert set(map(tuple, key_frames(armature, "shin").values())) == {(1, 5, 25, 50)}


def test_a_bone_as_target_brings_its_own_keys():
    armature, _ = leg_with_target()
    control = add_armature({"control": ((0, 0.2, 0.4), (0, 0.5, 0.4), "", 0.0)}, "Control")
    bone = control.pose.bones["control"]
    for frame, place in ((1, (0, 0, 0)), (12, (0, 0.1, 0.1)), (33, (0, 0.3, 0.2))):
        bone.location = place
        bone.keyframe_insert("location", frame=frame)
    control.location.y = 0.1
    control.keyframe_insert("location", frame=40)
    armature.ik2d.chains[0].target, armature.ik2d.chains[0].subtarget = control, "control"
    on_target_keys(armature)
    assert set(map(tuple, key_frames(armature, "shin").values())) == {(1, 12, 33, 50)}


def test_each_chain_takes_its_own_targets_keys():
    arm = add_armature(
        {
            "a": ((0, 0, 0), (0, 0.1, 1), "", 0.0),
            "b": ((0, 0.1, 1), (0, 0, 2), "a", 0.0),
            "c": ((3, 0, 0), (3, 0.1, 1), "", 0.0),
            "d": ((3, 0.1, 1), (3, 0, 2), "c", 0.0),
        },
        "Arms",
    )
    add_chain(arm, "b", add_target({1: (0, 1, 1), 9: (0, 1, 0.5)}, "Left"))
    add_chain(arm, "d", add_target({2: (3, 1, 1), 19: (3, 1, 0.5)}, "Right"))
    report = on_target_keys(arm, 1, 20)
    assert set(map(tuple, key_frames(arm, "b").values())) == {(1, 9, 20)}
    assert set(map(tuple, key_frames(arm, "d").values())) == {(1, 2, 19, 20)}
    assert report.sentence().startswith("Baked 20 frames on 2 chains with 3 to 4 keys each; ")
    assert "off between keys" in report.sentence()


def test_a_target_without_any_keys_is_an_error_and_changes_nothing():
    armature, target = leg_with_target()
    bake(armature, frame_start=1, frame_end=10)
    before = animation_of(armature)
    target.animation_data_clear()
    with pytest.raises(IK2DError, match="target 'Target' has no keys"):
        on_target_keys(armature)
    assert animation_of(armature) == before


# ---------------------------------------------------------------- one curve for each bone


def pose_of(armature) -> dict:
    return {
        bone.name: (
            bone.rotation_mode,
            tuple(bone.rotation_quaternion),
            tuple(bone.rotation_euler),
            tuple(bone.rotation_axis_angle),
        )
        for bone in armature.pose.bones
    }


@pytest.mark.parametrize("reduce", [0.0, 2e-3])
@pytest.mark.parametrize("mode", MODES)
def test_single_axis_gives_each_bone_one_curve(mode, reduce):
    armature, _ = add_straight_leg()
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
        bone.rotation_euler = (0.3, 0.2, 0.1)
        bone.rotation_quaternion = (0.8, 0.2, 0.1, 0.5)
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(single_axis=True, reduce=reduce))
    expected = mode if mode in MODES[1:-1] else 'XYZ'
    for bone in ("thigh", "shin"):
        assert list(key_frames(armature, bone)) == [("euler", 0)]
        assert armature.pose.bones[bone].rotation_mode == expected
    assert any("set the rotation mode" in text for text in report.warnings) == (mode != expected)
    assert max(errors(armature, armature.ik2d.chains[0], range(1, 41))) <= reduce + PLAYED_BACK * 1.91


def test_single_axis_may_be_z_and_leaves_slanted_bones_as_they_are():
    armature = add_armature(
        {
            "a": ((0, 0, 2.0), (0, -0.1, 1.0), "", math.pi / 2),
            "b": ((0, -0.1, 1.0), (0, 0, 0.1), "a", 0.4),
        }
    )
    chain = add_chain(armature, "b", add_target({1: (0, 0.2, 0.3), 40: (0, 0.8, 0.6)}))
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(single_axis=True))
    assert list(key_frames(armature, "a")) == [("euler", 2)]
    assert {path for path, _ in key_frames(armature, "b")} == {"quaternion"}
    assert armature.pose.bones["b"].rotation_mode == 'QUATERNION'
    assert any("Single Axis left 'b' as it is" in text for text in report.warnings)
    assert any("set the rotation mode of 'a' to XYZ Euler" in text for text in report.warnings)
    assert max(errors(armature, chain, range(1, 41))) <= PLAYED_BACK * 1.91


def test_single_axis_holds_other_curves_at_rest_and_keeps_their_keys_outside():
    armature, _ = add_straight_leg()
    shin = armature.pose.bones["shin"]
    shin.rotation_mode = 'ZYX'
    for frame in (-5, 20, 60):
        shin.rotation_euler = (0.1, 0.2, 0.3)
        shin.keyframe_insert("rotation_euler", frame=frame)
    bake(armature, frame_start=1, frame_end=40, options=BakeOptions(single_axis=True))
    found = key_frames(armature, "shin")
    assert found["euler", 1] == found["euler", 2] == [-5, 1, 40, 60]
    assert len(found["euler", 0]) == 42
    assert shin.rotation_mode == 'ZYX'
    assert max(errors(armature, armature.ik2d.chains[0], range(1, 41))) <= PLAYED_BACK * 1.91


def test_single_axis_keeps_keys_of_the_former_mode_and_says_so():
    armature, _ = add_straight_leg()
    bake(armature, frame_start=1, frame_end=40)
    before = animation_of(armature)
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(single_axis=True))
    now = animation_of(armature)
    assert {curve: now[curve] for curve in before} == before
    assert any("'shin' has keys in another rotation mode" in text for text in report.warnings)


def test_a_bake_that_fails_puts_modes_and_values_back(monkeypatch):
    armature, _ = add_straight_leg()
    armature.pose.bones["thigh"].rotation_mode = 'AXIS_ANGLE'
    armature.pose.bones["thigh"].rotation_axis_angle = (0.5, 0.1, 0.7, 0.2)
    armature.pose.bones["shin"].rotation_quaternion = (0.8, 0.2, 0.1, 0.5)
    armature.pose.bones["shin"].rotation_euler = (0.3, 0.2, 0.1)
    before, calls = pose_of(armature), []

    def fails_the_second_time(*arguments):
        calls.append(armature.pose.bones["shin"].rotation_mode)
        if len(calls) == 2:
            raise RuntimeError("no more")

    monkeypatch.setattr(key_columns, "_write", fails_the_second_time)
    with pytest.raises(RuntimeError, match="no more"):
        bake(armature, frame_start=1, frame_end=40, options=BakeOptions(single_axis=True))
    assert calls[-1] == 'XYZ'
    assert pose_of(armature) == before
    assert not armature.animation_data or not armature.animation_data.action


def test_a_cancelled_bake_of_chains_in_two_rounds_has_changed_no_mode():
    armature, _ = add_straight_leg()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name, head, tail, parent in (
        ("c", (0, 0, 0.1), (0, 0.2, -0.6), "shin"),
        ("d", None, (0, 0, -1.3), "c"),
    ):
        bone = armature.data.edit_bones.new(name)
        bone.parent = armature.data.edit_bones[parent]
        bone.head, bone.tail = head or bone.parent.tail, tail
    bpy.ops.object.mode_set(mode='OBJECT')
    goal = add_target({1: (0, 0.3, -0.4), 20: (0, -0.8, 0.0), 40: (0, 0.7, 0.0)}, "Second")
    chain = add_chain(armature, "d", goal, name="second")
    before = pose_of(armature)
    options = BakeOptions(single_axis=True)
    steps = bake_steps(armature, frame_start=1, frame_end=40, options=options)
    seen = set()
    for done, _total in steps:
        seen.add(armature.pose.bones["shin"].rotation_mode)
        if done > 60:
            break
    steps.close()
    assert seen == {'QUATERNION', 'XYZ'}  # while the first chain was previewed
    assert pose_of(armature) == before
    assert not armature.animation_data or not armature.animation_data.action
    bake(armature, frame_start=1, frame_end=40, options=options)
    assert max(errors(armature, chain, range(1, 41))) <= PLAYED_BACK * 3
    assert {bone.rotation_mode for bone in armature.pose.bones} == {'XYZ'}


# ---------------------------------------------------------------- Blender's own word


@pytest.mark.parametrize("mode", MODES)
def test_matrices_are_those_that_blender_makes_of_channels(mode):
    chance = random.Random(3)
    widths = {'QUATERNION': 4, 'AXIS_ANGLE': 4}
    values = [[chance.uniform(-3, 3) for _ in range(widths.get(mode, 3))] for _ in range(50)]
    for channels, found in zip(values, matrices(mode, np.array(values)), strict=True):
        if mode == 'QUATERNION':
            expected = Quaternion(channels).normalized().to_matrix()
        elif mode == 'AXIS_ANGLE':
            expected = Matrix.Rotation(channels[0], 3, Vector(channels[1:]))
        else:
            expected = Euler(channels, mode).to_matrix()
        assert np.abs(found - np.array(expected)).max() < 1e-6
