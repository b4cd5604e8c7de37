# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains that plain numbers solve, without the arrays' solvers, show what a bake keys."""

from math import radians

import bpy
import numpy as np
import pytest
from rigs import evaluated_place, evaluated_tip
from test_live import (
    FRAMES,
    SAME,
    arm_with_target,
    far,
    joints,
    last_stretched,
    limited,
    poses,
    stretched,
    tips,
    update,
)

from ik2d_addon.bake import bake
from ik2d_addon.core import Status
from ik2d_addon.live import registry, rig_state
from ik2d_addon.live.kept.cache import Kept
from ik2d_addon.live.registry import RIGS


def narrow(chain) -> None:
    """Give joints ranges that bind on most frames."""
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, radians(5), radians(35)


def bound(chain) -> None:
    """Give joints ranges that bind on many frames and leave most targets in reach."""
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, radians(-12), radians(14)
    chain.joints[0].limit_min, chain.joints[0].limit_max = radians(-120), radians(120)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch) -> None:
    """Have each frame followed by itself."""
    monkeypatch.setattr(Kept, "pose", lambda *_: None)


def limited_and_soft(chain) -> None:
    limited(chain)
    chain.softness = 0.2


@pytest.mark.parametrize(
    "bones, kind", [(1, limited), (1, narrow), (2, limited), (2, narrow), (2, limited_and_soft)]
)
def test_plain_numbers_are_enough_and_those_of_a_bake(bones, kind, monkeypatch):
    armature, _, chain = arm_with_target(bones, middle=2.0)  # out of reach on some frames
    kind(chain)
    monkeypatch.setattr(rig_state, "solve_chain", None)
    chain.live = True
    shown = poses(armature)
    assert chain.live and not RIGS.failures and not RIGS.problems
    bake(armature)
    assert far(shown, poses(armature)) <= 3.0 * SAME


@pytest.mark.slow
@pytest.mark.parametrize("bones, kind", [(4, limited), (6, bound), (10, bound)])
def test_even_within_limits_takes_arrays_alone_where_no_pose_reaches_the_target(bones, kind, monkeypatch):
    armature, _, chain = arm_with_target(bones)
    kind(chain)
    by_arrays, solve_chain = [], rig_state.solve_chain

    def solved(rig, samples, times, **others):
        by_arrays.extend(times)
        return solve_chain(rig, samples, times, **others)

    monkeypatch.setattr(rig_state, "solve_chain", solved)
    chain.live = True
    shown = poses(armature)
    assert chain.live and not RIGS.failures and not RIGS.problems
    (found,) = bake(armature).chains
    rows = [frame in FRAMES and frame not in by_arrays for frame in found.frames]
    assert far(shown, poses(armature)) <= 3.0 * SAME
    assert (found.status[rows] == Status.REACHED).all() and found.joints.limited[rows].any()
    assert (found.status == Status.REACHED)[np.isin(found.frames, by_arrays)].sum() <= 2


def soft_and_stretched(chain) -> None:
    stretched(chain)
    chain.softness = 0.3


def soft_and_last_stretched(chain) -> None:
    last_stretched(chain)
    chain.softness = 0.3


@pytest.mark.slow
@pytest.mark.parametrize(
    "bones, kind, above",
    [
        (1, stretched, False),
        (2, stretched, False),
        (2, stretched, True),
        (2, soft_and_stretched, True),
        (5, soft_and_stretched, False),
        (2, last_stretched, False),
        (2, soft_and_last_stretched, True),
    ],
)
def test_plain_numbers_are_enough_for_bones_that_stretch(bones, kind, above, monkeypatch):
    armature, target, chain = arm_with_target(bones + above, middle=2.6)  # beyond reach on most frames
    chain.bone_count = bones
    kind(chain)
    if above:  # which moves and grows
        bone = armature.pose.bones["b0"]
        for frame, turn in ((1, 0.0), (40, 0.5)):
            bone.rotation_quaternion = (np.cos(turn), np.sin(turn), 0.0, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        armature.scale = (1.3, 1.3, 1.3)
    monkeypatch.setattr(rig_state, "solve_chain", None)
    chain.live = True
    shown = poses(armature)
    assert chain.live and not RIGS.failures and not RIGS.problems
    backwards = poses(armature, FRAMES[::-1])
    (found,) = bake(armature).chains
    baked = poses(armature)
    assert np.ptp(found.joints.stretch) > 0.1
    assert far(tips(shown), tips(baked)) <= 3.0 * SAME and far(shown, backwards) <= SAME
    assert far(shown, baked) <= 2e-3  # the chain lies on a line: joints move by the root of what the tip does


def test_a_stretching_chain_that_is_moved_follows_at_once():
    armature, target, chain = arm_with_target(2, middle=2.6)
    last_stretched(chain)
    chain.live = True
    bpy.context.scene.frame_set(5)
    before = joints(armature)
    armature.pose.bones["b0"].location = (0.0, 0.2, 0.0)
    update()
    assert not RIGS.problems and np.abs(joints(armature)[0] - before[0]).max() > 0.05
    assert float((evaluated_tip(armature, "b1") - evaluated_place(target, "")).length) < SAME


@pytest.mark.parametrize("counts", ["fingerprint", "LiveChain"])
def test_nothing_is_read_again_on_frames_where_nothing_was_edited(counts, monkeypatch):
    armature, _, chain = arm_with_target(2, live=True)
    curve = armature.data.driver_add("display_type")  # animated data: Blender updates it on each frame
    curve.driver.expression = "frame % 2"
    poses(armature)
    asked, original = [], getattr(registry, counts)
    monkeypatch.setattr(registry, counts, lambda *given: (asked.append(given), original(*given))[1])
    poses(armature)
    assert asked == [] and RIGS.chains
    armature.data.bones["b1"].use_inherit_rotation = False
    bpy.context.scene.frame_set(7)
    assert len(asked) == 1 and not RIGS.problems
    assert float((evaluated_tip(armature, "b1") - evaluated_place(chain.target, "")).length) < 3.0 * SAME
