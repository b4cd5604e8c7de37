# SPDX-License-Identifier: GPL-3.0-or-later
"""One chain over all frames: how it is held, where its target is -> how its joints turn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core import Chain, Solution, Status, solve_ccd, solve_ccd_path, solve_two_bone
from ..core.chain import DEFAULT_TOLERANCE
from ..core.inputs import Floats
from ..rig.affine import inverse, is_constant
from ..rig.armature import RigChain
from ..rig.kinematics import Linkage, angles_between, read_linkage
from ..rig.sampling import ChainSamples

# Each round of aiming again shortens what Blender's forward kinematics still misses by some 1e-4;
# two leave nothing that 32 bits can hold.
CORRECTIONS = 2
# What 32 bits cannot hold of a length, as a part of the reach: no need to aim again at less.
FINE = 1e-8
# A scale is even if what it makes of lengths differs by less than this part from axis to axis.
EVEN = 1e-3
# Hinges askew need more rounds: at 15 degrees and ten bones each leaves up to nine tenths of what was missed.
HINGE_CORRECTIONS = 60
# Bones whose lengths change by less than this part of the reach, over all frames, are of one length.
_SAME_LENGTH = 1e-6


@dataclass(frozen=True, eq=False)
class SolvedChain:
    """The joints' turns of one chain, and what came of each frame. Lengths are the world's."""

    rig: RigChain
    turns: Floats  # (frames, n) radians about each bone's local axis
    angles: Floats  # (frames, n) the solver's, of which these turns came
    solution: Solution
    residual: Floats  # (frames,) tip to target, as seen along the plane's normal
    off_plane: Floats  # (frames,) target to tip, along the plane's normal
    distance: Floats  # (frames,) tip to target
    reach: float
    tolerance: float  # the solver's
    joints_off_plane: float  # the furthest that any joint is off the plane in rest
    uneven_scale: str  # what is scaled unevenly, in words; "" if nothing is

    @property
    def joint_speed(self) -> Floats:
        """(frames,) degrees that the fastest joint turns from the frame before."""
        steps = np.abs(np.diff(self.turns, axis=0, prepend=self.turns[:1]))
        speed: Floats = np.degrees(steps.max(axis=1))
        return speed

    def at(self, rows: Sequence[int]) -> "SolvedChain":
        """Return the chain at some of the frames alone."""
        return replace(
            self,
            turns=self.turns[rows],
            angles=self.angles[rows],
            solution=self.solution.at(rows),
            residual=self.residual[rows],
            off_plane=self.off_plane[rows],
            distance=self.distance[rows],
        )


def solve_chain(rig: RigChain, samples: ChainSamples, starts: Floats | None = None) -> SolvedChain:
    """Solve all frames of a chain, each from the one before, starting at rest.

    starts: (frames, n) angles to start each frame from instead.
    """
    linkage = read_linkage(rig, samples)
    to_world = samples.world @ linkage.to_pose
    into = inverse(to_world)
    points = (into[:, :3, :3] @ samples.targets[..., None])[..., 0] + into[:, :3, 3]  # in rest space
    targets = rig.plane.project(points)  # the plane's origin is the chain's root
    solution, turns, angles = _aimed(rig, linkage, targets, starts)
    miss = points - linkage.tips_turned(turns)
    height = miss @ rig.plane.normal
    linear = to_world[:, :3, :3]
    in_plane = miss - height[:, None] * rig.plane.normal
    lengths, _ = linkage.unturned()
    scale = np.linalg.norm(linear @ rig.plane.x, axis=1)
    return SolvedChain(
        rig=rig,
        turns=turns,
        angles=angles,
        solution=solution,
        residual=np.linalg.norm((linear @ in_plane[..., None])[..., 0], axis=1),
        off_plane=np.abs(height) * np.linalg.norm(linear @ rig.plane.normal, axis=1),
        distance=np.linalg.norm((linear @ miss[..., None])[..., 0], axis=1),
        reach=float((scale * lengths.sum(axis=1)).max()),
        tolerance=float(scale.max())
        * (rig.tolerance or DEFAULT_TOLERANCE * float(lengths.sum(axis=1).max())),
        joints_off_plane=float(scale.max()) * rig.off_plane,
        uneven_scale=_uneven_scale(rig, samples, linkage),
    )


def _uneven_scale(rig: RigChain, samples: ChainSamples, linkage: Linkage) -> str:
    """Return what is scaled more along one axis than along another, named for the user."""
    for matrices, name in (
        (samples.world, f"armature '{rig.armature.name}'"),
        (linkage.to_pose, _uneven_above(rig)),
    ):
        if _uneven(matrices[:, :3, :3]):
            return name
    for i, bone in enumerate(rig.bones):
        if _uneven(samples.bases[:, i, :3, :3]):
            return f"bone '{bone}'"
    return ""


def _uneven_above(rig: RigChain) -> str:
    """Return which bone above the chain is scaled unevenly: as posed now, else any may be."""
    above = rig.pose_bones[0].parent_recursive
    for bone in reversed(above):  # the topmost; those below have it from there
        if _uneven(np.array(bone.matrix, np.float64)[None, :3, :3]):
            return f"bone '{bone.name}'"
    return f"bone '{above[0].name}', or one above it," if above else f"bone '{rig.bones[0]}'"


def _uneven(matrices: Floats) -> bool:
    """Return whether any of the matrices (frames, 3, 3) stretches some directions more than others."""
    if is_constant(matrices):
        matrices = matrices[:1]
    squares = np.swapaxes(matrices, -1, -2) @ matrices
    size = np.trace(squares, axis1=-2, axis2=-1)[:, None, None] / 3.0
    return bool(np.abs(squares - size * np.eye(3)).max(initial=0.0) > EVEN * size.max())


def _aimed(
    rig: RigChain, linkage: Linkage, targets: Floats, starts: Floats | None
) -> tuple[Solution, Floats, Floats]:
    """Return the solution for targets (frames, 2), the local turns, and the angles, (frames, n) each.

    After the first solve aim again at what Blender's own forward kinematics misses by: next to
    nothing, but more than our tolerance.
    """
    lengths, headings = linkage.unturned()
    unturned = angles_between(headings)
    first = unturned[0] if starts is None else starts
    solution = _solve(rig, lengths, unturned, targets, first, rig.softness)
    intended, angles = _tips(lengths, solution.angles), solution.angles
    turns = linkage.local_turns(angles, headings)
    if rig.joints.askew:
        return (*_aimed_askew(rig, linkage, solution, intended), angles)
    aims, reached = intended, (solution.status == Status.REACHED)[:, None]
    for _ in range(CORRECTIONS):
        missed = np.where(reached, intended - linkage.tips(turns), 0.0)
        if np.abs(missed).max() <= FINE * lengths[0].sum():
            break
        aims = aims + missed
        angles = np.where(reached, _solve(rig, lengths, unturned, aims, angles, 0.0).angles, angles)
        turns = linkage.local_turns(angles, headings)
    return solution, turns, angles


def _aimed_askew(
    rig: RigChain, linkage: Linkage, solution: Solution, intended: Floats
) -> tuple[Solution, Floats]:
    """Do the same for a chain with hinges askew, from its solution as if all turned in the plane.

    Of each frame the best round is kept; what is further off than the tolerance then is not reached.
    intended: (frames, 2) where that solution has the tips.
    """
    lengths, headings = linkage.unturned()
    unturned, size = angles_between(headings), lengths[0].sum()
    aims, angles, status = intended.copy(), solution.angles, solution.status.copy()
    turns = best = linkage.local_turns(angles, headings)
    nearest = np.full(len(aims), np.inf)
    tolerance = Chain(lengths[0]).tolerance_or_default(rig.tolerance)
    open_ = solution.status == Status.REACHED
    for _ in range(HINGE_CORRECTIONS):
        missed = intended - linkage.tips(turns)
        distance = np.hypot(*missed.T)
        better, much_better = distance < nearest, distance < 0.5 * nearest
        best = np.where(better[:, None], turns, best)
        nearest = np.where(better, distance, nearest)
        open_ &= (nearest > tolerance) | (much_better & (nearest > FINE * size))
        if not open_.any():
            break
        aims[open_] += missed[open_]
        aimed = _solve(rig, lengths, unturned, aims, angles, 0.0)
        angles = np.where(open_[:, None], aimed.angles, angles)
        turns = linkage.local_turns(angles, headings)
        status = np.where(open_, aimed.status, status)
    missing = (solution.status == Status.REACHED) & (nearest > tolerance)
    status = np.where(missing, np.where(status == Status.REACHED, Status.STALLED, status), solution.status)
    return replace(solution, status=status.astype(np.int8)), best


def _solve(
    rig: RigChain, lengths: Floats, unturned: Floats, targets: Floats, start: Floats, softness: float
) -> Solution:
    """Run the chain's solver on targets (frames, 2).

    lengths, unturned: (frames, n) of the bones, and the angles before any joint turns.
    start: (n,) for a path, on which each frame starts from the one before, or (frames, n).
    """
    size = lengths[0].sum()
    if max(np.ptp(lengths, axis=0).max(), size * np.ptp(unturned, axis=0).max()) <= _SAME_LENGTH * size:
        return _solve_rigid(rig, _chain(rig, lengths[0], unturned[0]), targets, start, softness)
    # A chain that stretches, or has a joint that moves by itself, is another one on each frame.
    parts, last = [], start
    for i, target in enumerate(targets):
        last = start[i] if start.ndim == 2 else last
        chain = _chain(rig, lengths[i], unturned[i])
        parts.append(_solve_rigid(rig, chain, target[None], last, softness))
        last = parts[-1].angles[0]
    return Solution.joined(parts)


def _chain(rig: RigChain, lengths: Floats, unturned: Floats) -> Chain:
    return Chain(lengths, rig.joints.limits_from(unturned), rig.joints.weights)


def _solve_rigid(rig: RigChain, chain: Chain, targets: Floats, start: Floats, softness: float) -> Solution:
    if rig.solver == 'TWO_BONE':
        return solve_two_bone(
            chain, targets, bend=rig.bend, start=start, tolerance=rig.tolerance, softness=softness
        )
    solve = solve_ccd if start.ndim == 2 else solve_ccd_path
    return solve(
        chain,
        targets,
        start=start,
        tolerance=rig.tolerance,
        max_iterations=rig.iterations,
        bend=rig.bend,
        softness=softness,
    )


def _tips(lengths: Floats, angles: Floats) -> Floats:
    """Return the tips (frames, 2) of chains whose lengths (frames, n) may differ from frame to frame."""
    headings = np.cumsum(angles, axis=1)
    directions = np.stack((np.cos(headings), np.sin(headings)), axis=2)
    tips: Floats = (lengths[:, :, None] * directions).sum(axis=1)
    return tips
