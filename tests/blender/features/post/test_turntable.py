# SPDX-License-Identifier: GPL-3.0-or-later
"""A turntable alone: the heading of its target counts, as with Blender's Locked Track, and not the height."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from post_rigs import FRAMES, robot_arm, turntable
from rigs import add_target, evaluated_tip

from ik2d_addon.bake import bake, solve
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.live import rig_state
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain

SAME = 5e-6
LIMITS = {"use_post_limit": True, "post_limit_min": -1.0, "post_limit_max": 0.7}


def shown_live(made, chain) -> np.ndarray:
    """Return the matrices as live shows them, in plain numbers, after frames in any order."""
    with pytest.MonkeyPatch.context() as alone:
        alone.setattr(rig_state, "solve_chain", None)
        chain.live = True
        for frame in made.rng.permutation(FRAMES):
            bpy.context.scene.frame_set(int(frame))
        shown = made.matrices()
    assert chain.live
    return shown


def off(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of matrices, where all that is 1 or the size of the bone."""
    return float(np.abs(one - other).max() / max(1.0, np.abs(one).max()))


def test_its_matrices_are_those_of_locked_track(some):
    for seed in range(some(60)):
        made, chain, tracked = turntable(seed)
        rig = read_chain(made.armature, chain)
        assert rig.bones == ("post",) and not rig.warnings
        shown = shown_live(made, chain)
        (one,) = bake(made.armature, None, 1, 24).chains
        assert off(made.matrices(), tracked) <= SAME, seed
        assert off(shown, tracked) <= SAME, seed
        assert one.distance.max() <= 1e-6 * made.reach, seed
        keyed = {
            curve.array_index for curve in existing_fcurves(made.armature) if '"post"' in curve.data_path
        }
        if made.post.rotation_mode != 'AXIS_ANGLE':  # which needs all of its parts
            wanted = {0, 1 + made.axis} if made.post.rotation_mode == 'QUATERNION' else {made.axis}
            assert keyed == wanted, seed


def test_at_a_limit_the_tip_misses_where_it_would_be_and_it_is_told():
    for seed in (2, 4, 7):
        free, _, _ = turntable(seed)
        bake(free.armature, None, 1, 24)
        tips = [tip_on(free, frame) for frame in FRAMES]
        made, chain, _ = turntable(seed, **LIMITS)
        shown = shown_live(made, chain)
        (one,) = bake(made.armature, None, 1, 24).chains
        assert off(made.matrices(), shown) <= SAME
        inside = (one.post_angle > -1.0 + 1e-6) & (one.post_angle < 0.7 - 1e-6)
        assert inside.any() and not inside.all()
        for i, frame in enumerate(FRAMES):
            missed = (tip_on(made, frame) - tips[i]).length
            assert one.distance[i] == pytest.approx(missed, abs=1e-5 * made.reach)
        assert one.distance[inside].max() <= 1e-6 * made.reach
        (told,) = (each for each in one.warnings if "a limit stops its post" in each)
        assert told.endswith("widen the limits")  # a back to the target is no way out
        worst = int(np.argmax(one.distance))
        assert "stopped by the post's limits" in one.sentence()
        chain.live = True
        bpy.context.scene.frame_set(FRAMES[worst])
        assert "stopped by the post's limits" in chain.live_status
        assert chain.live_distance == pytest.approx(one.distance[worst], rel=1e-3)


def tip_on(made, frame: int) -> Vector:
    bpy.context.scene.frame_set(frame)
    return evaluated_tip(made.armature, "post")


def test_the_height_of_its_target_does_not_count():
    armature, _ = robot_arm()
    armature.ik2d.chains.clear()
    target = add_target({1: (1.0, 0.5, 0.2), 10: (1.0, 0.5, 3.0)})
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count, chain.target = "table", "base", 1, target
    chain.plane, chain.post = 'POST', "base"
    (one,) = bake(armature, None, 1, 10).chains
    assert np.ptp(one.post_angle) < 1e-6 and one.distance.max() < 1e-6
    assert not one.warnings


def test_by_ik_locks_alone_it_is_one_too():
    armature, _ = robot_arm()
    armature.ik2d.chains.clear()
    base = armature.pose.bones["base"]
    base.lock_rotation = (False,) * 3
    target = add_target({1: (1.0, 0.5, 0.2), 10: (-1.0, 0.5, 3.0)})
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count, chain.target = "table", "base", 1, target
    chain.plane, chain.post = 'POST', "base"
    rig = read_chain(armature, chain)
    assert rig.swing is not None and rig.swing.turns_alone
    bake(armature, None, 1, 10)
    bpy.context.scene.frame_set(10)
    x, y, z = base.matrix_basis.to_3x3().col[1]
    assert (abs(x), abs(z)) < (1e-6, 1e-6) and y == pytest.approx(1.0)


def test_with_the_distance_to_the_target_it_counts_as_for_other_bones():
    made, chain, _ = turntable(3)
    chain.aim_distance = True
    (one,) = bake(made.armature, None, 1, 24).chains
    for i in (0, 7, 20):
        bpy.context.scene.frame_set(FRAMES[i])
        missed = (evaluated_tip(made.armature, "post") - made.target.matrix_world.translation).length
        assert one.distance[i] == pytest.approx(missed, rel=1e-4)


def test_an_influence_goes_the_shorter_way():
    made, _, _ = turntable(6)
    bake(made.armature, None, 1, 24)
    whole = turns(made)
    again, chain, _ = turntable(6)
    chain.influence = 0.25
    bake(again.armature, None, 1, 24)
    parts = turns(again)
    clear = np.abs(whole) < 3.0  # half a round has two ways that are as short
    assert clear.any()
    assert parts[clear] == pytest.approx(0.25 * whole[clear], abs=1e-3)


def turns(made) -> np.ndarray:
    """Return the angles about its axis, -pi to +pi, that the turntable is turned by on all frames."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        w, *vector = made.post.matrix_basis.to_quaternion()
        found.append(2.0 * np.arctan2(vector[made.axis], w))
    return (np.array(found) + np.pi) % (2.0 * np.pi) - np.pi


def test_a_drag_begins_without_a_jump():
    made, chain, _ = turntable(8)
    bpy.context.scene.frame_set(6)
    made.target.animation_data_clear()
    solve(made.armature)
    before = made.matrices([6])
    drag = take_hold(bpy.context.scene, made.armature, chain.name)
    drag.to((0.0, 0.0))
    assert off(made.matrices([6]), before) <= 5e-5
    drag.put_back()
