# SPDX-License-Identifier: GPL-3.0-or-later
"""Between two frames: handles that keep the tip on its target's way where automatic ones would not.

Automatic handles round off what changes suddenly: a foot that is planted slides before it leaves the
ground, and where joints turn fast the tip swings past. There the chain is solved between the frames, too:
at the thirds, through which the curves go as cubics from key to key; also half-way, where that misses the
way between; half-way alone, as parabolas, where each time has to be stepped to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.affine import changed, norms
from ...core.inputs import Floats
from ...core.roots.crossing import crossing
from ...core.solution import Steps
from ...rig.animation.bone_channels import BoneRotation
from ...rig.pose.kinematics import read_linkage
from ...rig.pose.rotations import bone_rotations
from ...rig.pose.swings import aimed_as_far
from ...rig.scene.lengths.slide_locations import slide_channels
from ...rig.scene.lengths.stretch_scales import scale_channels
from ...rig.scene.samples import ChainSamples, solvable
from ..solving.frames import Asked, SolvedChain
from ..solving.solvers import StartPose
from ..solving.stretching import with_scale
from .cubics import hermite, read_played, tips_of

# Where the tip may be further off its target half-way than this part of the reach, handles are shaped.
DOUBTFUL = 1e-4
# Where a chain is solved between two frames: the curve goes through there.
HALF_WAY, THIRDS = (0.5,), (1.0 / 3.0, 2.0 / 3.0)
# So many numbers of channels are worked out at once, which the processor keeps at hand.
_NUMBERS = 1 << 12
# The length of an automatic handle, as a part of the time to the next key.
AUTOMATIC = 1.0 / 2.5614
# Parts of a segment's time that differ by no more are the same.
_SAME_TIME = 1e-15


@dataclass(frozen=True, eq=False)
class Draft:
    """A chain that was solved at all times of a plan, with automatic handles."""

    chain: SolvedChain
    samples: ChainSamples  # of these times
    half_way: ChainSamples | None  # of those between, where the plan asks for them
    before: Mapping[str, Floats] | None  # as in `bone_rotations`
    rotations: list[BoneRotation]
    # After which frames these handles would let the tip miss, where its IK Blend is 1
    gaps: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))

    @classmethod
    def of(
        cls,
        chain: SolvedChain,
        samples: ChainSamples,
        half_way: ChainSamples | None,
        single_axis: bool,
        before: Mapping[str, Floats] | None,
    ) -> "Draft":
        """Return the draft of a chain. single_axis: as in `bone_rotations`."""
        rotations = bone_rotations(chain.rig, chain.turns, single_axis, before, chain.swings, chain.aside)
        rotations += slide_channels(chain.rig, chain.locations)
        return cls(chain, samples, half_way, before, rotations)


def doubtful_gaps(drafts: Sequence[Draft]) -> Steps[list[NDArray[np.intp]]]:
    """Return the frames of each chain after which its handles let the tip miss its target half-way.

    Yields the number of chains done.
    """
    doubtful: list[NDArray[np.intp]] = [np.empty(0, np.intp)] * len(drafts)
    asked = []
    for number, draft in enumerate(drafts):
        assert draft.half_way is not None
        if len(draft.chain.turns) < 2 or not draft.rotations:
            continue
        if draft.chain.swings is not None and draft.rotations[0].handles is None:  # these play no one axis
            doubtful[number] = np.flatnonzero(solvable(draft.chain.rig, draft.half_way))
        else:
            asked.append(number)
    missed = yield from strays([drafts[number] for number in asked])
    for number, its_misses in zip(asked, missed, strict=True):
        chain, half_way = drafts[number].chain, drafts[number].half_way
        gaps = np.flatnonzero(its_misses > DOUBTFUL * chain.reach)
        assert half_way is not None
        doubtful[number] = gaps[solvable(chain.rig, half_way.at(gaps))] if len(gaps) else gaps
    return doubtful


def strays(drafts: Sequence[Draft]) -> Steps[list[Floats]]:
    """Return the misses (m - 1,) of each chain half-way between frames by the handles alone.

    Yields the number of chains done.
    """
    values = iter(all_between([rotation for draft in drafts for rotation in draft.rotations], 0.5))
    scaled, played = [], []
    for draft in drafts:
        chain, half_way = draft.chain, draft.half_way
        assert half_way is not None
        between = [changed(rotation, values=next(values)) for rotation in draft.rotations]
        factors = None if chain.factors is None else automatic_between(chain.factors, 0.5)
        scaled.append(with_scale(chain.rig, half_way, factors))
        times = np.arange(len(half_way.targets)) + 0.5
        played.append(read_played(chain.rig, scaled[-1], between, times, chain.linkage))
    missed = []
    tips = yield from tips_of(played)
    for draft, samples, its_tips in zip(drafts, scaled, tips, strict=True):
        shown = aimed_as_far(draft.chain.rig, changed(samples, tips=its_tips))
        distance = draft.chain.miss.distance
        missed.append(norms(shown.tips - shown.targets) - np.maximum(distance[:-1], distance[1:]))
    return missed


def all_between(rotations: Sequence[BoneRotation], share: float) -> list[Floats]:
    """Return the values (m - 1, c) of each rotation, as `played_between` has them, worked out together."""
    between: list[Floats] = [np.empty(0)] * len(rotations)
    kinds: dict[tuple[int, bool], list[int]] = {}
    for number, rotation in enumerate(rotations):
        kinds.setdefault((len(rotation.values), rotation.handles is None), []).append(number)
    for (frames, _), numbers in kinds.items():
        most = max(1, _NUMBERS // (4 * max(1, frames)))
        for some in (numbers[first : first + most] for first in range(0, len(numbers), most)):
            alike = [rotations[number] for number in some]
            handles = [rotation.handles for rotation in alike if rotation.handles is not None]
            side_by_side = alike[0]
            if len(alike) > 1:
                side_by_side = changed(
                    alike[0],
                    values=np.concatenate([rotation.values for rotation in alike], axis=1),
                    handles=np.concatenate(handles, axis=2) if handles else None,
                )
            ends = np.cumsum([rotation.values.shape[1] for rotation in alike])[:-1]
            parts = np.split(played_between(side_by_side, share), ends, axis=1)
            for number, values in zip(some, parts, strict=True):
                between[number] = values
    return between


def played_between(rotation: BoneRotation, share: float) -> Floats:
    """Return the values (m - 1, c) that keyed channels (m, c) play at a part of the time between frames."""
    if rotation.handles is None:
        return automatic_between(rotation.values, share)
    arriving, leaving = rotation.handles
    values = automatic_between(rotation.values, share, ~np.isnan(rotation.handles))
    rest = 1.0 - share
    shaped = rest**3 * rotation.values[:-1] + share**3 * rotation.values[1:]
    shaped += 3.0 * share * rest * (rest * leaving[:-1] + share * arriving[1:])
    return np.where(np.isnan(shaped), values, shaped)


def automatic_between(values: Floats, share: float, free: NDArray[np.bool_] | None = None) -> Floats:
    """Return the values (m - 1, c) of channels (m, c) with automatic handles at a share of each gap's time.

    Between values v with handles that lead to v + h on both sides it is, s of the way along the segment,
    (1 - w) v0 + w v1 + 3 s (1 - s) ((1 - s) h0 + s h1) with w = s^2 (3 - 2 s).
    free: (2, m, c) which handles, before and after each key, are not automatic.
    """
    steps = values[1:] - values[:-1]
    sizes = np.abs(steps)
    slopes = np.abs(steps[:-1] + steps[1:]) / 2.0
    # They are level at turning points and at the ends, and do not lead beyond the next value. Both of a key
    # are as long as the shorter of them; one beside a free one is as long as itself allows.
    before, after = np.zeros_like(values), np.zeros_like(values)
    np.minimum(AUTOMATIC * slopes, np.minimum(sizes[:-1], sizes[1:]), out=before[1:-1])
    after[1:-1] = before[1:-1]
    if free is not None:
        before[1:-1] = np.where(free[1, 1:-1], np.minimum(AUTOMATIC * slopes, sizes[:-1]), before[1:-1])
        after[1:-1] = np.where(free[0, 1:-1], np.minimum(AUTOMATIC * slopes, sizes[1:]), after[1:-1])
    for lengths in (before, after):
        lengths[1:-1] *= steps[:-1] * steps[1:] > 0.0
    s = _way_along(share)
    weight = s * s * (3.0 - 2.0 * s)
    between: Floats = (1.0 - weight) * values[:-1] + weight * values[1:]
    between += np.copysign(3.0 * s * (1.0 - s), steps) * ((1.0 - s) * after[:-1] - s * before[1:])
    return between


def _way_along(share: float) -> float:
    """Return how far along a segment with automatic handles, 0..1, a part of its time is."""

    def late(s: float) -> float:
        rest = 1.0 - s
        return 3.0 * s * rest * (rest * AUTOMATIC + s * (1.0 - AUTOMATIC)) + s**3 - share

    return crossing(late, _SAME_TIME)


def between_frames(
    chain: SolvedChain, samples: ChainSamples, gaps: NDArray[np.intp], times: Sequence[float] = HALF_WAY
) -> Asked:
    """Return a solved chain as it is asked for after some of its frames.

    times: of HALF_WAY or THIRDS. samples: at these times after each of the frames in turn.
    """
    after = np.repeat(gaps, len(times))
    starts = StartPose(chain.angles[after], chain.solution.slides[after])
    linkage = None if chain.linkage is None else read_linkage(chain.rig, samples, chain.linkage)
    parts = np.tile(times, len(gaps))
    plane_turns = chain.noticed.plane_turns
    given = None if plane_turns is None else plane_turns.spins
    spins = None if given is None else _between(given, after, parts)
    return Asked(chain.rig, samples, (after + parts).tolist(), starts=starts, linkage=linkage, spins=spins)


def _between(values: Floats, after: NDArray[np.intp], parts: Floats) -> Floats:
    """Return values (m,) at parts (k,) of the way from some frames (k,) to the next, on a smooth curve."""
    slopes = np.gradient(values)
    at_ends, at_slopes = hermite(parts)
    ends, speeds = (np.stack((each[after], each[after + 1]), axis=1) for each in (values, slopes))
    smooth: Floats = (at_ends * ends).sum(axis=1) + (at_slopes * speeds).sum(axis=1)
    return smooth


@dataclass(frozen=True, eq=False)
class Between:
    """A solved chain between its frames: at `times`, of HALF_WAY or THIRDS, after each of some frames."""

    gaps: NDArray[np.intp]  # (k,) the frames
    times: Sequence[float]
    solved: SolvedChain  # (k times,) by `between_frames`


def shaped_rotations(
    chain: SolvedChain, inner: Sequence[Between], single_axis: bool, before: Mapping[str, Floats] | None
) -> list[BoneRotation]:
    """Return a solved chain's rotations, then its stretched scales, with handles in some of the gaps.

    inner: as it was solved there, a gap in one of them or in both. single_axis and before: as in
    `bone_rotations`.
    """
    after = np.concatenate([np.repeat(channels.gaps, len(channels.times)) for channels in inner])
    order = np.lexsort(
        (np.concatenate([np.tile(channels.times, len(channels.gaps)) for channels in inner]), after)
    )
    after = after[order]

    def woven(name: str) -> Any:
        outside, parts = getattr(chain, name), [getattr(one.solved, name) for one in inner]
        if name == "aside" and outside is not None:  # the gaps are of full influence
            parts = [np.zeros((*one.solved.turns.shape, 3, 3)) + np.eye(3) for one in inner]
        if outside is None or any(part is None for part in parts):
            return outside
        inside = np.concatenate(parts)[order]
        if name == "turns":
            inside = inside + 2.0 * np.pi * np.round((outside[after] - inside) / (2.0 * np.pi))
        return np.insert(outside, after + 1, inside, axis=0)

    # All in one sequence, so that the channels are continuous too.
    together = woven("turns")
    inside = after + 1 + np.arange(len(after))
    on_frames = np.delete(np.arange(len(together)), inside)
    rotations = bone_rotations(chain.rig, together, single_axis, before, woven("swings"), woven("aside"))
    slides = slide_channels(chain.rig, woven("locations"))
    scales = scale_channels(chain.rig, woven("factors"))
    return [
        shaped(channels, on_frames, inside, after, THIRDS[0]) for channels in (*rotations, *slides, *scales)
    ]


def shaped(
    rotation: BoneRotation,
    on_frames: NDArray[np.intp],
    inside: NDArray[np.intp],
    after: NDArray[np.intp],
    first_of_three: float,
) -> BoneRotation:
    """Return the rotation on the frames alone, with the curves through the values inside gaps as handles.

    on_frames, inside: rows of its values. after: the frames before those inside, one to three after each.
    first_of_three: the part of a gap at which the first of three inside is; the last is as far from its end.
    Handles at thirds of the time: of the parabola through v0, vm half-way, v1, which has the slopes
    4 vm - 3 v0 - v1 and 3 v1 + v0 - 4 vm; or of the cubic through v0, va and vb at the thirds, and v1; or of
    the cubic through v0, vm and v1 that goes from the first of three, vc, to the last, vd, by vd - vc.
    """
    values, between = rotation.values[on_frames], rotation.values[inside]
    handles: Floats = np.full((2, *values.shape), np.nan)
    gaps, rows, counts = np.unique(after, return_index=True, return_counts=True)
    gap, row = gaps[counts == 1], rows[counts == 1]
    first, last, middle = values[gap], values[gap + 1], between[row]
    handles[1, gap] = first + (4.0 * middle - 3.0 * first - last) / 3.0
    handles[0, gap + 1] = last - (3.0 * last + first - 4.0 * middle) / 3.0
    gap, row = gaps[counts == 2], rows[counts == 2]
    first, last, one, other = values[gap], values[gap + 1], between[row], between[(row + 1) % len(between)]
    handles[1, gap] = (18.0 * one - 9.0 * other - 5.0 * first + 2.0 * last) / 6.0
    handles[0, gap + 1] = (18.0 * other - 9.0 * one - 5.0 * last + 2.0 * first) / 6.0
    gap, row = gaps[counts == 3], rows[counts == 3]
    first, last = values[gap], values[gap + 1]
    one, middle, other = (between[(row + k) % len(between)] for k in range(3))
    early = first_of_three
    rest = 1.0 - 2.0 * early
    bulge = 4.0 * middle - 2.0 * (first + last)
    lean = ((last - first) * rest - (other - one)) / (2.0 * early * (1.0 - early) * rest)
    handles[1, gap] = first + (last - first + bulge + lean) / 3.0
    handles[0, gap + 1] = last - (last - first - bulge + lean) / 3.0
    return changed(rotation, values=values, handles=handles)
