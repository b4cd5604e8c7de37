# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of chains whose bones lengthen as the targets need: see core/stretch.py."""

from collections.abc import Sequence

import numpy as np

from ...core import Chain, Status, Stretch, stretched, stretched_status
from ...core.affine import changed
from ...core.inputs import Floats, wrapped
from ...core.one_target.bones import FINE
from ...core.solution import Steps
from ...rig.chain.chain import RigChain
from ...rig.pose.bone_matrices import SCALE_NOISE
from ...rig.pose.keyed_pose import NeighborPoses
from ...rig.pose.kinematics import Linkage, angles_before, read_linkage
from ...rig.scene.samples import ChainSamples
from .problem import NOTHING_TO_JOIN, SAME_LENGTH, Problem, Stretched, tips_of
from .solvers import StartPose

# Bones that stretch make up for limits in at most so many rounds: one where the others keep their pose.
LENGTHENINGS = 8
# A round that brings a tip no nearer than this part of its distance does not count.
NEARER = 0.999


def with_scale(rig: RigChain, samples: ChainSamples, factors: Floats | None = None) -> ChainSamples:
    """Return the samples with the bones' own scale, times factors (frames, n)."""
    if rig.stretching is None:
        return samples
    return changed(samples, bases=rig.stretching.scaled_bases(samples.bases, factors))


def as_solved(
    rig: RigChain, samples: ChainSamples, factors: Floats | None, locations: Floats | None
) -> ChainSamples:
    """Return the samples with the bones' solved scale and locations (frames, n, 3); None: as sampled."""
    samples = with_scale(rig, samples, factors)
    if locations is None:
        return samples
    bases = samples.bases.copy()
    bases[:, :, :3, 3] = locations
    return changed(samples, bases=bases)


def problem_of(
    rigs: Sequence[RigChain],
    samples: Sequence[ChainSamples],
    neighbors: Sequence[NeighborPoses] = (NOTHING_TO_JOIN,),
    linkages: Sequence[Linkage] = (),
) -> Problem:
    """Return the problem of the samples of chains of one kind, or of a chain whose bones may lengthen.

    These are as long as the targets need. linkages: of the samples, where they were read before.
    """
    stretching = rigs[0].stretching
    if stretching is not None:
        samples = [with_scale(rigs[0], samples[0])]
    read = linkages or [read_linkage(rig, own) for rig, own in zip(rigs, samples, strict=True)]
    problem = Problem.of(rigs, samples, neighbors, read)
    if stretching is None or stretching.limits.is_off:
        return problem
    return _stretched(problem, stretching.limits, samples[0])


def _stretched(problem: Problem, limits: Stretch, samples: ChainSamples) -> Problem:
    """Return the problem with bones as long as the targets need.

    Where all bones lengthen evenly the solver gets the same chain and nearer targets: one batch.
    samples: with the bones' own scale.
    """
    distances, softness = np.hypot(*problem.targets.T), problem.softness
    factors, goals = np.empty_like(problem.lengths), np.empty_like(distances)
    off_reach = np.empty(len(distances), np.int8)
    for rows in [slice(None)] if problem.is_constant else [slice(i, i + 1) for i in range(len(distances))]:
        chain = Chain(problem.lengths[rows][0])
        tolerance = chain.tolerance_or_default(problem.rig.settings.tolerance)
        factors[rows], goals[rows] = stretched(chain, distances[rows], softness[rows], limits)
        off_reach[rows] = stretched_status(chain, distances[rows], limits, tolerance)
    nearer_by = goals / np.where(distances > 0.0, distances, 1.0)
    nearer = changed(problem, targets=problem.targets * nearer_by[:, None], softness=np.zeros_like(distances))
    unstretched = Stretched(np.ones_like(factors), np.ones_like(distances), off_reach, samples)
    lengthened = _with_factors(nearer, unstretched, factors)
    if not _have_one_shape(lengthened, problem):
        return lengthened
    # Else noise in 32-bit matrices makes each frame a separate chain; aiming again corrects it.
    return changed(lengthened, lengths=problem.lengths, headings=problem.headings, unturned=problem.unturned)


def _with_factors(problem: Problem, before: Stretched, factors: Floats) -> Problem:
    """Return the problem, stretched as before, with other factors (frames, n) of the bones' lengths."""
    assert problem.rig.stretching is not None
    size = np.ones_like(before.size) if problem.rig.stretching.limits.last_only else factors[:, 0]
    linkage = read_linkage(problem.rig, with_scale(problem.rig, before.samples, factors))
    lengths, headings = linkage.unturned()
    return changed(
        problem,
        linkage=linkage,
        targets=problem.targets * (before.size / size)[:, None],
        lengths=lengths / size[:, None],
        headings=headings,
        unturned=angles_before(headings),
        stretched=changed(before, factors=factors, size=size),
    )


def _have_one_shape(problem: Problem, other: Problem) -> bool:
    """Return whether two problems' chains have the same lengths and angles, but for noise."""
    noise = SCALE_NOISE * problem.lengths[0].sum()
    return bool(
        np.abs(problem.lengths - other.lengths).max() <= noise
        and np.abs(wrapped(problem.unturned - other.unturned)).max() <= SCALE_NOISE
    )


def _corrected_factors(problem: Problem, factors: Floats, tips: Floats) -> Floats:
    """Return factors (frames, n) that may bring solved tips (frames, 2) to their targets."""
    assert problem.rig.stretching is not None
    limits, last = problem.rig.stretching.limits, factors[:, -1]
    goals, reached = np.hypot(*problem.targets.T), np.hypot(*tips.T)
    if limits.last_only:
        wanted = last + np.maximum(goals - reached, 0.0) / (problem.lengths[:, -1] / last)
    else:
        wanted = last * goals / np.where(reached > 0.0, reached, 1.0)
    wanted = np.clip(wanted, np.minimum(limits.least, last), limits.most)
    corrected = factors.copy()
    columns = slice(-1, None) if limits.last_only else slice(None)
    corrected[:, columns] = wanted[:, None]
    return corrected


def _may_fall_short(problem: Problem) -> bool:
    """Return whether limits, or joints off the bones' lines, may leave the tip of longer bones too near."""
    lengths = problem.lengths
    uneven = np.ptp(lengths[:, :-1], axis=0).max(initial=0.0) > SAME_LENGTH * lengths[0].sum()
    return bool(uneven or problem.rig.joints.held.any())


def lengthened(problem: Problem, starts: StartPose | None) -> Steps[Problem]:
    """Return the problem with the factors of the bones' lengths that bring the tip nearest.

    The formulas assume full reach. Rounds make up for limits and for joints off the bones' lines.
    """
    if problem.stretched is None or not _may_fall_short(problem):
        return problem
    best, nearest = problem.stretched.factors, np.full(len(problem.targets), np.inf)
    for _ in range(LENGTHENINGS):
        assert problem.stretched is not None
        solution = yield from problem.all(starts)
        tips, factors = tips_of(problem.lengths, solution.angles), problem.stretched.factors
        missed = np.hypot(*(problem.targets - tips).T) * problem.stretched.size
        better = missed < NEARER * nearest
        best = np.where(better[:, None], factors, best)
        nearest = np.where(better, missed, nearest)
        missing = better & (solution.status != Status.REACHED)
        tried = np.where(missing[:, None], _corrected_factors(problem, factors, tips), best)
        if np.abs(tried - best).max() <= FINE:
            break
        problem = _with_factors(problem, problem.stretched, tried)
    assert problem.stretched is not None
    return _with_factors(problem, problem.stretched, best)
