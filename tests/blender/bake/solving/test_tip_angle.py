# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose last bone has an angle, over its frames: in blocks, of one chain or of one each."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake.solving import tip_angle
from ik2d_addon.bake.solving.frames import solve_chain
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.sampler import sample_steps

TIMES = [float(frame) for frame in range(1, 13)]


def solved(keyed_location: bool = False, away: float = 1.0, limit: float = 0.0):
    armature = add_armature(
        {
            "boom": ((0, 0, 0), (0, 1, 0.6), "", 0.0),
            "stick": ((0, 1, 0.6), (0, 2, 0.3), "boom", 0.0),
            "bucket": ((0, 2, 0.2), (0, 2.3, -0.2), "stick", 0.0),
        }
    )
    target = add_target({1: (0, 1.6 * away, 0.2), 12: (0, 1.9 * away, 0.5)})
    chain = add_chain(armature, "bucket", target, bone_count=3, tip_rotation='WORLD')
    for joint in chain.joints if limit else ():
        joint.use_limit, joint.limit_min, joint.limit_max = True, -limit, limit
    if keyed_location:
        bone = armature.pose.bones["bucket"]
        for frame, moved in ((1, 0.0), (12, 0.3)):
            bone.location = (0, moved, 0)
            bone.keyframe_insert("location", frame=frame)
    rig = read_chain(armature, chain)
    (samples,) = drained(sample_steps(bpy.context.scene, [rig], TIMES)).chains
    return drained(solve_chain(rig, samples, TIMES))


def test_blocks_of_frames_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = solved()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    monkeypatch.setattr(tip_angle, "_ANGLES", 6)
    assert np.abs(solved().turns - whole.turns).max() <= 1e-6


@pytest.mark.parametrize("keyed_location", [False, True])
def test_errors_are_those_of_the_turns(keyed_location: bool) -> None:
    found = solved(keyed_location)
    assert found.solution.reached.all() and found.noticed.angle_errors.max() <= 1e-4
    assert found.miss.distance.max() <= found.tolerance


@pytest.mark.parametrize("keyed_location", [False, True])
def test_where_no_frame_is_met_the_path_is_as_near_as_can_be(keyed_location: bool) -> None:
    found = solved(keyed_location, away=3.0, limit=1.0)
    assert not found.solution.reached.any() and np.isfinite(found.turns).all()
    assert found.solution.parted is None
