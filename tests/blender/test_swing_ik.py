# SPDX-License-Identifier: GPL-3.0-or-later
"""Poles and aims beside Blender's own constraints: joints where its IK and its Damped Track have them."""

from math import pi

import bpy
import numpy as np
import pytest
from swing_rigs import evaluated, follow, joints_on, move_about, random_limb

from ik2d_addon.bake import bake

FRAMES = range(1, 7)
# Of the reach: Blender's own tips are off their targets by 1e-4.
JOINTS = 1e-3
STRAIGHT = (0.0, 0.0)


def blenders_joints(limb, chain) -> np.ndarray:
    """Return the joints on all frames as an IK constraint with the chain's settings has them."""
    tip = limb.armature.pose.bones[chain.tip]
    constraint = tip.constraints.new('IK')
    constraint.target, constraint.chain_count = chain.target, chain.bone_count
    constraint.pole_target, constraint.pole_angle = chain.pole, chain.pole_angle
    constraint.iterations, constraint.use_stretch = 500, False
    found = joints_on(limb, FRAMES)
    tip.constraints.remove(constraint)
    return found


def differences(limb, chain, around: float = 0.0) -> np.ndarray:
    """Return how far the joints of a limb are from Blender's (frames,) with a pole, in parts of its reach.

    around: how far the target's distance from the root may differ from that in rest; 0: by any amount.
    """
    extent = float(np.linalg.norm(limb.joints[-1] - limb.joints[0]))
    bounds = np.clip((extent - around * limb.reach, extent + around * limb.reach), None, 0.97 * limb.reach)
    move_about(limb, chain, speed=12.0, frames=len(FRAMES), span=tuple(bounds) if around else None)
    blenders = blenders_joints(limb, chain)
    bake(limb.armature)
    return np.linalg.norm(joints_on(limb, FRAMES) - blenders, axis=2).max(axis=1)


def with_pole(seed, count, **settings):
    """Add a limb with a chain that has a pole, at any angle; return both."""
    limb = random_limb(seed, count, flat=True)
    return limb, follow(limb, 'POLE', pole_angle=limb.rng.uniform(-pi, pi), **settings)


@pytest.mark.slow
def test_the_joints_of_two_bones_are_where_blenders_ik_has_them(some):
    for seed in range(some(120)):
        assert differences(*with_pole(seed, 2)).max() < JOINTS, seed


@pytest.mark.slow
def test_the_joints_of_more_bones_are_near_those_of_blenders_ik_by_ccd_from_rest(some):
    """Where the target is not much nearer or further than in rest; else each takes steps of its own."""
    worst = np.array(
        [
            differences(*with_pole(seed, 3 + seed % 3, solver='CCD', start_from='REST'), around=0.2).max()
            for seed in range(600, 600 + some(50, 5))
        ]
    )
    assert np.median(worst) < 2e-3 and worst.max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("count", (2, 4))
def test_the_knee_of_a_straight_limb_is_on_its_poles_side(count):
    """Blender's IK does not bend such a limb at all."""
    for seed in range(500, 506):
        limb = random_limb(seed, count, flat=True, bend=(0.0, 0.0), gaps=False)
        chain = follow(limb, 'POLE', pole_angle=limb.rng.uniform(-pi, pi))
        move_about(limb, chain, speed=12.0, frames=len(FRAMES))
        (told,) = bake(limb.armature).chains
        assert told.reached
        for joints, frame in zip(joints_on(limb, FRAMES), FRAMES, strict=True):
            bpy.context.scene.frame_set(frame)
            pole = limb.armature.matrix_world.inverted() @ evaluated(chain.pole).matrix_world.translation
            line = joints[-1] - joints[0]
            line /= np.linalg.norm(line)
            knee, towards = (
                place - place @ line * line
                for place in (joints[1] - joints[0], np.array(pole) / limb.reach - joints[0])
            )
            assert np.linalg.norm(knee) > 0.05
            assert knee @ towards == pytest.approx(np.linalg.norm(knee) * np.linalg.norm(towards), rel=1e-4)


# --- Aim ------------------------------------------------------------------------------------------


def pointing(limb, chain) -> np.ndarray:
    """Return the orientations (frames, 3, 3) of the chain's single bone in pose space."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bone = evaluated(limb.armature).pose.bones[chain.tip]
        found.append(np.array(bone.matrix.to_3x3().normalized()))
    return np.array(found)


@pytest.mark.slow
def test_one_bone_that_turns_the_shortest_way_is_damped_track(some):
    for seed in range(700, 700 + some(60)):
        limb = random_limb(seed, count=1, uneven=False)
        chain = follow(limb, 'ARC')
        move_about(limb, chain, speed=12.0, frames=len(FRAMES))
        track = limb.first.constraints.new('DAMPED_TRACK')
        track.target, track.track_axis = chain.target, 'TRACK_Y'
        wanted = pointing(limb, chain)
        limb.first.constraints.remove(track)
        (told,) = bake(limb.armature).chains
        assert told.reached, (seed, told.sentence())
        turned = np.trace(wanted.swapaxes(1, 2) @ pointing(limb, chain), axis1=1, axis2=2)
        assert np.degrees(np.arccos(np.clip((turned - 1.0) / 2.0, -1.0, 1.0))).max() < 0.05, seed
