# SPDX-License-Identifier: GPL-3.0-or-later
"""Even within limits goes on from the frame before in a bake, and shows the least bend elsewhere."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, but_jumps, errors_on, leg_with_target

from benchmarks.limits import RIGS
from ik2d_addon.bake import bake, solve
from ik2d_addon.bake.solving.solvers import _BLOCK, StartPose, solved_steps
from ik2d_addon.core import Chain
from ik2d_addon.rig.chain.chain import read_chain

pytestmark = pytest.mark.slow
FRAMES = 31
LINE = np.linspace([0.684, -0.291], [0.859, -0.327], FRAMES)


def tail(**settings):
    """Return a tail within 15 degrees, whose pose of least bend jumps at frame 9, and its chain."""
    lengths, rest, ranges = (np.array(each) for each in RIGS["tail"])
    rest, ranges = np.radians(rest), np.radians(ranges)
    headings = np.cumsum(rest)
    steps = lengths[:, None] * np.stack((np.cos(headings), np.sin(headings)), axis=1)
    joints = np.vstack(([0.0, 0.0], np.cumsum(steps, axis=0)))
    places = [(0.0, y, z) for y, z in joints.tolist()]
    bones = {
        f"tail{i}": (places[i], places[i + 1], f"tail{i - 1}" if i else "", 0.0) for i in range(len(lengths))
    }
    armature = add_armature(bones)
    target = add_target({i + 1: (0.0, y, z) for i, (y, z) in enumerate(LINE.tolist())})
    chain = add_chain(armature, "tail9", target, 10, **settings)
    faces = read_chain(armature, chain).plane.normal[0] > 0.0
    for i, (low, high) in enumerate((ranges - rest[:, None]).tolist()):
        joint = chain.joints.get(f"tail{i}") or chain.joints.add()
        joint.name, joint.use_limit = f"tail{i}", True
        joint.limit_min, joint.limit_max = (low, high) if faces else (-high, -low)
    return armature, chain


def shown(armature, frames=range(1, FRAMES + 1)):
    """Return the directions (frames, n) of the bones as Blender evaluates them."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        pose = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose
        along = np.array([bone.y_axis for bone in pose.bones])
        found.append(np.arctan2(along[:, 2], along[:, 1]))
    return np.array(found)


def furthest(directions):
    """Return the largest turn of a joint from a frame to the next, in degrees."""
    return np.degrees(np.abs(np.diff(np.diff(directions, axis=1, prepend=0.0), axis=0)).max())


def test_a_bake_goes_over_on_several_frames_where_each_by_itself_jumps():
    armature, chain = tail()
    report = bake(armature, None, 1, FRAMES)
    on = shown(armature)
    assert furthest(on) < 15.0
    assert errors_on(range(1, FRAMES + 1), armature, chain).max() < 1e-4
    (told,) = report.chains
    assert told.circumstances.parted.tolist() == [False] * 8 + [True] * 23
    assert told.sentence().endswith("; by each frame alone live shows another pose at frames 9 to 31")
    assert told.to_dict()["parted"] == told.circumstances.parted.tolist()
    assert not but_jumps(report.warnings) and not report.warnings
    chain.start_from = 'REST'
    report = bake(armature, None, 1, FRAMES)
    alone = shown(armature)
    assert furthest(alone) > 60.0
    assert report.chains[0].circumstances.parted is None and "live" not in report.chains[0].sentence()
    assert any("two poses bend alike" in warning for warning in report.warnings)
    assert np.abs(on - alone)[:8].max() < 1e-4 < np.abs(on - alone)[8:].max(axis=1).min()


def test_solve_and_live_show_the_pose_of_least_bend():
    armature, chain = tail(start_from='REST')
    bake(armature, None, 1, FRAMES)
    alone = shown(armature)
    armature.animation_data_clear()
    chain.start_from = 'PREVIOUS'
    bpy.context.scene.frame_set(20)
    assert solve(armature).all_reached
    bpy.context.view_layer.update()
    pose = np.array([bone.y_axis for bone in armature.pose.bones])
    assert np.abs(np.arctan2(pose[:, 2], pose[:, 1]) - alone[19]).max() < 1e-4
    chain.live = True
    assert np.abs(shown(armature, [12, 25]) - alone[[11, 24]]).max() < 1e-4
    assert chain.live_status.startswith("On its target")


def test_a_part_joins_the_keys_beside_it():
    armature, _ = tail()
    bake(armature, None, 1, FRAMES)
    before = shown(armature)
    bake(armature, None, 6, 20)
    assert np.abs(shown(armature) - before).max() < 1e-3
    armature, chain = tail(start_from='REST')
    bake(armature, None, 1, FRAMES)  # from frame 9 on it curls to the other side
    chain.start_from = 'PREVIOUS'
    report = bake(armature, None, 12, FRAMES)
    assert (
        report.chains[0].circumstances.parted is not None
        and not report.chains[0].circumstances.parted.any()
        and not report.warnings
    )


def test_progress_counts_all_targets_up_to_the_last():
    armature, _ = leg_with_target(solver='TWO_BONE')
    rig = read_chain(armature, armature.ik2d.chains[0])
    targets = np.tile((0.1, 0.01), (2 * _BLOCK + 5, 1))
    ones = np.ones(len(targets))
    start = StartPose(np.zeros(2), np.zeros(2))
    steps = solved_steps(rig, Chain([0.1, 0.1]), targets, start, ones, 0.0 * ones, np.zeros(2), None)
    told = list(steps)
    assert told == [_BLOCK, 2 * _BLOCK, len(targets)]
