# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's own solver, for targets of one chain over frames."""

from dataclasses import dataclass
from typing import Any

from ...core import (
    Chain,
    Solution,
    ccd_steps,
    path_steps,
    solve_arc,
    solve_even,
    solve_two_bone,
)
from ...core.affine import Frames
from ...core.inputs import Floats
from ...core.path import Posture, even_path_steps
from ...core.solution import Steps
from ...rig.chain.chain import RigChain

# So many frames of two bones from one yield to the next; with Even so many angles.
_BLOCK, _ANGLES = 8192, 8192


@dataclass(frozen=True, eq=False)
class StartPose(Frames):
    """The start pose of a solver: one for all frames, or one for each."""

    angles: Floats  # (n,) or (frames, n)
    slides: Floats  # the same; zeros where bones are rigid


def solved_steps(
    rig: RigChain,
    chain: Chain,
    targets: Floats,
    start: StartPose | None,
    bend: Floats,
    softness: Floats,
    rest: Floats,
    posture: Posture | None,
) -> Steps[Solution]:
    """Run the chain's solver on targets (frames, 2). rest: (n,) the chain's angles at rest.

    start: the pose that a solver which goes on begins with, or one for each frame; None with Even alone.
    posture: the poses that CCD is drawn to where it goes on from one start.
    """
    asked: dict[str, Any] = {"bend": bend, "softness": softness, "tolerance": rig.settings.tolerance}
    started: dict[str, Any] = {}
    if start is not None:
        started["start"] = start.angles
        if chain.is_sliding:
            started["start_slides"] = start.slides
    if rig.settings.solver == 'CCD':
        asked |= {**started, "max_iterations": rig.settings.iterations}
        if started["start"].ndim == 1:
            assert posture is not None
            return (yield from path_steps(chain, targets, posture=posture, **asked))
        return (yield from ccd_steps(chain, targets, **asked))
    if rig.settings.solver == 'EVEN':
        asked |= {"rest": rest, "root_weight": root_weight_of(rig, chain)}
        if chain.is_sliding:
            asked["slide_weight"] = rig.settings.slide_weight
    parts, block = [], _block(rig, chain)
    for first in range(0, len(targets), block):
        rows = slice(first, first + block)
        these = asked | {"bend": bend[rows], "softness": softness[rows]}
        if rig.settings.solver == 'EVEN':
            posed = solve_even(chain, targets[rows], **these)
        elif rig.settings.solver == 'ARC':
            posed = solve_arc(chain, targets[rows], **these)
        else:
            starts = started["start"] if started["start"].ndim == 1 else started["start"][rows]
            posed = solve_two_bone(chain, targets[rows], start=starts, **these)
        parts.append(posed)
        yield min(first + block, len(targets))
    solution = Solution.joined(parts)
    if rig.settings.solver == 'EVEN' and rig.goes_on:
        solution = yield from even_path_steps(chain, targets, solution, **started, **asked)
    return solution


def _block(rig: RigChain, chain: Chain) -> int:
    """Return the number of frames to solve between yields: some hundredths of a second's work, or tenths."""
    if rig.settings.solver == 'TWO_BONE':
        return _BLOCK
    return max(1, _ANGLES // len(chain))


def root_weight_of(rig: RigChain, chain: Chain) -> float | None:
    """Return the weight of the root's turn in Even; None where its turn costs nothing."""
    if rig.settings.root_turns_freely:
        return None
    return 1.0 if chain.weights is None else float(chain.weights[0])
