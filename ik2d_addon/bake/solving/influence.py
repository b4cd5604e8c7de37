# SPDX-License-Identifier: GPL-3.0-or-later
"""A solved chain, blended by its influence with the pose that its bones have without it."""

from collections import deque

import numpy as np

from ...core.affine import changed, inverse, rotations_about, turned
from ...core.inputs import Floats, wrapped
from ...rig.chain.chain import RigChain
from ...rig.pose.bone_matrices import bone_poses, carried_by_swings, rotations_of
from ...rig.pose.channels import blended
from ...rig.pose.keyed_pose import OwnPose
from ...rig.pose.kinematics import read_linkage
from ...rig.pose.swings import blended_swings
from ...rig.scene.samples import ChainSamples
from .aiming import Aimed
from .problem import Problem
from .stretching import as_solved, with_scale

# Entries of a rotation that differ by less are the same, as 32 bits have them.
_ASIDE = 1e-5


def influenced(
    samples: ChainSamples, other: OwnPose, problem: Problem, aimed: Aimed
) -> tuple[Problem, Aimed, ChainSamples]:
    """Return a chain's problem, turns and samples, blended by its influence with another pose."""
    rig = problem.rig
    points, stretched, linkage = problem.points, problem.stretched, problem.linkage
    turns = _blended(rig, aimed.turns, other.turns, samples.influence)
    aside = _aside(rig, samples, other, aimed.turns, turns)
    if samples.swings is not None:
        both = aimed.turns[:, 0], turns[:, 0]
        swings = blended_swings(rig, samples.swings, other.rotations[:, 0], both, samples.influence)
        # The miss in the plane as it is then.
        there, now = (carried_by_swings(rig, each) for each in (samples.swings, swings))
        points = turned(np.linalg.inv(now) @ there, points - rig.plane.origin) + rig.plane.origin
        samples = changed(samples, swings=swings)
    if stretched is not None:
        stretched = changed(stretched, factors=1.0 + samples.influence[:, None] * (stretched.factors - 1.0))
    if stretched is not None or samples.swings is not None:
        factors = None if stretched is None else stretched.factors
        linkage = read_linkage(rig, with_scale(rig, samples, factors))
    problem = changed(problem, points=points, stretched=stretched, linkage=linkage)
    return problem, changed(aimed, turns=turns, tips=None, aside=aside), samples


def tips_aside(
    rig: RigChain, samples: ChainSamples, problem: Problem, aimed: Aimed, locations: Floats | None
) -> Floats:
    """Return the tips (frames, 3), in rest space, of bones that turn about other axes too."""
    factors = None if problem.stretched is None else problem.stretched.factors
    shown = as_solved(rig, samples, factors, locations)
    rotations = rotations_of(rig, aimed.turns, samples.swings, aimed.aside)
    tip = deque(bone_poses(rig, shown, rotations), maxlen=1).pop()
    tails = rig.pose_bones[-1].bone.length * tip[:, :3, 1] + tip[:, :3, 3]
    into = inverse(problem.linkage.to_pose)
    tips: Floats = turned(into[:, :3, :3], tails) + into[:, :3, 3]
    return tips


def _aside(
    rig: RigChain, samples: ChainSamples, other: OwnPose, solved: Floats, turns: Floats
) -> Floats | None:
    """Return the rotations (frames, n, 3, 3) of bones before their turns that blend their own rotations.

    solved, turns: (frames, n) about their axes, as solved and blended. None where no bone has its own about
    another axis; a first bone with a plane that follows its target turns with that.
    """
    aside = np.zeros((*turns.shape, 3, 3)) + np.eye(3)
    blends, found = samples.influence < 1.0, False
    for i in range(0 if samples.swings is None else 1, len(rig.bones)):
        own, axis = other.rotations[:, i], rig.joints.axes[i]
        off = np.abs(own - rotations_about(axis, other.turns[:, i])).max(axis=(1, 2))
        if rig.joints.fixed[i] or not (off[blends] > _ASIDE).any():
            continue
        whole = blended(own, rotations_about(axis, solved[:, i]), samples.influence)
        aside[blends, i] = (rotations_about(axis, -turns[:, i]) @ whole)[blends]
        found = True
    return aside if found else None


def _blended(rig: RigChain, turns: Floats, other_turns: Floats, influence: Floats) -> Floats:
    """Return turns (frames, n) between those without the chain and the solved ones, by its influence.

    Free joints go the shorter way round from the first frame on; joints with limits stay within these.
    """
    shortest = np.unwrap(wrapped(other_turns - turns), axis=0)
    middle = np.where(rig.joints.held, np.nan_to_num(rig.joints.limits).mean(axis=1), 0.0)
    inside = middle + wrapped(other_turns - middle) - turns
    blended: Floats = turns + (1.0 - influence)[:, None] * np.where(rig.joints.held, inside, shortest)
    return blended
