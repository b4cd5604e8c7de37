# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a bake back in Blender and measure where the tips really are."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.inputs import Floats
from ..rig.sampling import sample_steps
from .solving import SolvedChain

VERIFY_SAMPLE, VERIFY_ALL, VERIFY_NOTHING = 'SAMPLE', 'ALL', 'NONE'
# How many frames of a bake a sample looks at: on keys, and half-way between two.
ON_KEYS, BETWEEN_KEYS = 26, 26


@dataclass(frozen=True, eq=False)
class Played:
    """What one chain's bake came to when it was played back. Lengths are the world's."""

    errors: Floats  # (frames,) tip to target; NaN where it was not played
    between_times: Floats  # (m,) times between the keys
    between: Floats  # (m,) tip to target then


def not_played(frames: int) -> Played:
    """Return what is known of so many frames that were not played."""
    return Played(np.full(frames, np.nan), np.empty(0), np.empty(0))


def play_back(
    scene: bpy.types.Scene,
    solved: Sequence[SolvedChain],
    frames: Sequence[float],
    verify: str,
    keyed: Sequence[int] | None = None,
) -> Generator[int, None, list[Played]]:
    """Measure how far each tip is from its target, as Blender evaluates them with the new keys.

    keyed: which of the frames have keys, where not all have; a sample then looks at these. Yields
    the number of times looked at; returns what came of each chain.
    """
    if verify == VERIFY_NOTHING:
        return [not_played(len(frames))] * len(solved)
    chosen = np.arange(len(frames)) if verify == VERIFY_ALL else _chosen_frames(solved, len(frames), keyed)
    gaps = np.arange(len(frames) - 1) if verify == VERIFY_ALL else _spread(len(frames) - 1, BETWEEN_KEYS)
    at = np.asarray(frames, np.float64)
    between = (at[gaps] + at[gaps + 1]) / 2.0
    times = np.concatenate((at[chosen], between))
    order = np.argsort(times)  # forwards: simulations, if any, want it so
    rigs = [chain.rig for chain in solved]
    sampling = yield from sample_steps(scene, rigs, times[order].tolist(), checked=False)
    played = []
    for samples in sampling.chains:
        distances = np.empty(len(times))
        distances[order] = np.linalg.norm(samples.tips - samples.targets, axis=1)
        errors = np.full(len(frames), np.nan)
        errors[chosen] = distances[: len(chosen)]
        elsewhere = distances[len(chosen) :]
        known = np.isfinite(elsewhere)  # a target may be nowhere between two frames
        played.append(Played(errors, between[known], elsewhere[known]))
    return played


def _chosen_frames(
    solved: Sequence[SolvedChain], count: int, keyed: Sequence[int] | None = None
) -> NDArray[np.intp]:
    """Return indices of frames: spread over the range, and where most may be wrong on each chain."""
    candidates = np.arange(count) if keyed is None else np.asarray(keyed)
    chosen = set(candidates[_spread(len(candidates), ON_KEYS)].tolist())
    for chain in solved:
        chosen.add(int(np.argmax(chain.residual)))
        chosen.add(int(np.argmax(chain.joint_speed)))
    return np.array(sorted(chosen))


def _spread(count: int, wanted: int) -> NDArray[np.intp]:
    """Return at most `wanted` indices below `count`, evenly spread, with the first and the last."""
    return (
        np.unique(np.linspace(0, count - 1, min(wanted, count)).round().astype(int))
        if count > 0
        else np.empty(0, int)
    )
