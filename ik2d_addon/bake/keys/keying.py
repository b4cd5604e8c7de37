# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames that get keys: all of them, few that play as well within a bound, or the target's own."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import changed
from ...core.inputs import Floats
from ...core.post import PostAngles
from ...core.solution import Steps, mapped
from ...rig.animation.bone_channels import ROTATIONS, BoneRotation
from ...rig.animation.times import pace_of
from ...rig.chain.chain import RigChain
from ...rig.scene.lengths.stretch_scales import scale_channels, scales_back
from ...rig.scene.samples import ChainSamples
from ..solving.frames import SolvedChain, solve_chains
from ..solving.hands import KeyedHands
from ..solving.stretching import with_scale
from .cubics import Cubics, hermite, read_played
from .fewest import Rows, fewest, handles_of
from .handles import (
    DOUBTFUL,
    HALF_WAY,
    THIRDS,
    Between,
    Draft,
    between_frames,
    doubtful_gaps,
    shaped_rotations,
    strays,
)
from .target_keys import held_keys, target_key_frames

# The part of the bound used at the times that are checked, twice a frame; the rest is for in between.
USED = 0.97
# The part of the bound that the scales of bones that stretch may use, and that of a post.
SCALED = 0.3
POSTED = 0.4


@dataclass(frozen=True, eq=False)
class KeyPlan:
    """When a bake solves, what it reports, and how it chooses the frames to key."""

    frames: Sequence[float]  # reported: all whole frames, and what else has keys
    times: Sequence[float]  # solved: these, and where keys are reduced also half-way between two frames
    bound: float = 0.0  # on the tip's error that reducing may cost, a length in the world
    candidates: Sequence[float] = ()  # where keys are reduced: the frames that may keep one
    own: dict[str, list[float]] = field(default_factory=dict)  # key frames of chains not keyed on all frames
    pace: float = 1.0  # how fast time goes in actions, where the scene's is remapped
    # Of these, a mask of the keys whose pose holds up to the next one, as the target does
    held: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    @classmethod
    def every(cls, frames: Sequence[float]) -> "KeyPlan":
        """Return the plan that keys each frame."""
        times = list(frames)
        return cls(times, times)

    @cached_property
    def half_way(self) -> list[float]:
        """The times half-way between frames, where all chains are keyed on all frames; else none."""
        if self.own or self.bound:
            return []
        return list(((self.frame_array[:-1] + self.frame_array[1:]) / 2.0).tolist())

    @cached_property
    def frame_array(self) -> NDArray[Any]:
        """The frames as a read-only array."""
        return _unchanging(self.frames)

    @cached_property
    def time_array(self) -> NDArray[Any]:
        """The times as a read-only array."""
        return _unchanging(self.times)

    @cached_property
    def rows(self) -> list[int]:
        """The rows of the frames in `times`."""
        return list(np.searchsorted(self.time_array, self.frame_array).tolist())

    def keyed(self, name: str) -> NDArray[np.bool_]:
        """Return a mask of the times at which a chain's keys give the solved pose, within the bound."""
        if name not in self.own:
            return np.broadcast_to(True, len(self.times))
        return np.isin(self.time_array, self.own[name])

    def reported(self, chain: SolvedChain) -> SolvedChain:
        """Return the solved chain on the frames alone."""
        return chain if self._solves_frames_alone else chain.at(self.rows)

    def reported_keyed(self, name: str) -> NDArray[np.bool_]:
        """Return the mask of `keyed` on the frames alone."""
        keyed = self.keyed(name)
        return keyed if self._solves_frames_alone else keyed[self.rows]

    @property
    def _solves_frames_alone(self) -> bool:
        return len(self.frames) == len(self.times)


def _unchanging(numbers: Sequence[float]) -> NDArray[Any]:
    array = np.array(numbers)
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class KeyedPost:
    """The post above a chain as it was solved, and its channel to key."""

    rig: RigChain  # of the chain
    solved: PostAngles  # at all times of the plan
    angles: Floats  # (times,) radians about its axis, blended by the influence
    rotation: BoneRotation
    full: BoneRotation  # without that: the chain is solved on it

    @property
    def is_blended(self) -> bool:
        """Whether the influence has its part in what is keyed, so that the chain is not solved on that."""
        return self.rotation is not self.full


@dataclass(frozen=True, eq=False)
class KeyedChain:
    """A chain as it was solved, and the rotations to key."""

    solved: SolvedChain  # at all times of the plan
    rotations: list[BoneRotation]
    scales: Sequence[BoneRotation] = ()  # where bones stretch
    hands: KeyedHands | None = None  # where they have their own orientation
    # (times, n) as `solved_angles` has them, of a pose without keys `relative_turns`; None: not known
    angles: Floats | None = None
    # What it was solved from, at the plan's times and then half-way between; None where that is not known
    samples: ChainSamples | None = None
    post: KeyedPost | None = None  # None without a post above the chain
    # The frame after which curves through the thirds miss the way half-way most, and by how much in the world
    strayed: tuple[int, float] = (0, 0.0)

    @property
    def channels(self) -> list[BoneRotation]:
        """All channels to pose or key."""
        post = [self.post.rotation] if self.post is not None else ()
        hands = self.hands.rotations if self.hands is not None else ()
        return [*post, *self.rotations, *self.scales, *hands]

    @property
    def keys(self) -> int:
        """The number of keys on each of its channels."""
        post = [self.post.rotation] if self.post is not None else ()
        return max((len(channels.values) for channels in (*post, *self.rotations, *self.scales)), default=0)


def plan_keys(
    scene: bpy.types.Scene, rigs: Sequence[RigChain], frames: list[int], reduce: float, on_target_keys: bool
) -> KeyPlan:
    """Return the key plan of a bake; raise IK2DError for a target without keys where they are needed.

    frames: those to key, the first and the last included; all whole frames between are solved too.
    """
    pace, whole = pace_of(scene), range(frames[0], frames[-1] + 1)
    if on_target_keys:
        by_chain = {rig.name: target_key_frames(rig, frames[0], frames[-1], pace) for rig in rigs}
        times = sorted(set(whole).union(*by_chain.values()))
        held = {rig.name: held_keys(rig, by_chain[rig.name], pace) for rig in rigs}
        return KeyPlan(times, times, own=by_chain, pace=pace, held=held)
    if reduce > 0.0:
        halves = np.arange(2 * frames[0], 2 * frames[-1] + 1) / 2.0
        return KeyPlan(list(whole), halves.tolist(), reduce, candidates=frames, pace=pace)
    if len(frames) < len(whole):
        times = list(whole)
        return KeyPlan(times, times, own={rig.name: list(map(float, frames)) for rig in rigs}, pace=pace)
    return KeyPlan.every(frames)


def with_gaps(drafts: Sequence[Draft]) -> Steps[list[Draft]]:
    """Return the drafts with the gaps in which their handles let the tip miss. Yields the chains done."""
    wholes: dict[int, NDArray[np.bool_]] = {}
    for number, draft in enumerate(drafts):
        if draft.half_way is not None:
            whole = draft.chain.influence == 1.0
            whole = whole[:-1] & whole[1:] & (draft.half_way.influence == 1.0)
            if whole.any():
                wholes[number] = whole
    doubtful = yield from doubtful_gaps([drafts[number] for number in wholes])
    ready = list(drafts)
    for (number, whole), gaps in zip(wholes.items(), doubtful, strict=True):
        ready[number] = changed(drafts[number], gaps=gaps[whole[gaps]])
    return ready


def key_chains(
    plan: KeyPlan, drafts: Sequence[Draft], single_axis: bool, thirds: Sequence[ChainSamples | None]
) -> Generator[int, None, list[KeyedChain]]:
    """Choose the frames to key, and the handles, of chains. Yields the number of times done now and then.

    thirds: samples at the thirds of each chain's gaps; None to go by those half-way.
    """
    shaped: list[list[BoneRotation]] = [[] for _ in drafts]
    between: list[list[Between]] = [[] for _ in drafts]
    left, strayed = [draft.gaps for draft in drafts], [(0, 0.0)] * len(drafts)
    for times in (THIRDS, HALF_WAY):
        asked = []
        numbers = [number for number, gaps in enumerate(left) if len(gaps)]
        if times is THIRDS:
            numbers = [number for number in numbers if thirds[number] is not None]
        for number in numbers:
            draft, gaps = drafts[number], left[number]
            assert draft.half_way is not None
            at_thirds = thirds[number] if times is THIRDS else None
            samples = at_thirds or draft.half_way.at(gaps.tolist())
            asked.append(between_frames(draft.chain, samples, gaps, times))
        solved = yield from mapped(solve_chains(asked), lambda done: min(done, len(plan.times)))
        for number, chain in zip(numbers, solved, strict=True):
            draft, gaps = drafts[number], left[number]
            between[number].append(Between(gaps, times, chain))
            shaped[number] = shaped_rotations(draft.chain, between[number], single_axis, draft.before)
        if times is THIRDS:
            turning = [shaped[number][: len(drafts[number].rotations)] for number in numbers]
            drawn = [changed(drafts[n], rotations=each) for n, each in zip(numbers, turning, strict=True)]
            looking = mapped(strays(drawn), lambda _: len(plan.times))
            for number, missed in zip(numbers, (yield from looking), strict=True):
                gaps = left[number]
                missed = missed[gaps]
                left[number] = gaps[missed > DOUBTFUL * drafts[number].chain.reach]
                worst = int(np.argmax(missed))
                strayed[number] = int(gaps[worst]), float(missed[worst])
    keyed = []
    for draft, rotations, stray in zip(drafts, shaped, strayed, strict=True):
        keyed.append(changed((yield from _key_chain(plan, draft, rotations)), strayed=stray))
        yield len(plan.times)
    return keyed


def _key_chain(plan: KeyPlan, draft: Draft, shaped: list[BoneRotation]) -> Generator[int, None, KeyedChain]:
    """Choose the frames to key, and the handles, of one chain. shaped: with handles in the gaps, if any."""
    chain, samples, rotations = draft.chain, draft.samples, draft.rotations
    scales: list[BoneRotation] = [*scale_channels(chain.rig, chain.factors)]
    if shaped:
        rotations, scales = shaped[: len(rotations)], shaped[len(rotations) :]
    if chain.rig.name in plan.own:
        rows = np.searchsorted(plan.time_array, plan.own[chain.rig.name])
        rotations, scales = (
            [keyed_at(each, plan, rows, plan.held.get(chain.rig.name)) for each in channels]
            for channels in (rotations, scales)
        )
    elif plan.bound > 0.0 and len(plan.times) > 1:
        samples = with_scale(chain.rig, samples, chain.factors)
        used = USED - (SCALED if scales else 0.0) - (POSTED if chain.rig.post_above else 0.0)
        if rotations:
            rotations = yield from _reduced(plan, chain.rig, samples, rotations, used)
        if scales:
            scales = _reduced_scales(plan, chain, scales)
    back = [_held(channels, plan) for channels in scales_back(chain.rig)]
    return KeyedChain(chain, rotations, (*scales, *back))


def _held(channels: BoneRotation, plan: KeyPlan) -> BoneRotation:
    """Return channels of one value, keyed at the ends of the plan's times."""
    ends = sorted({plan.times[0], plan.times[-1]})
    values = np.repeat(channels.values, len(ends), axis=0)
    return changed(channels, frames=plan.pace * np.array(ends), values=values)


def _reduced_scales(plan: KeyPlan, chain: SolvedChain, scales: Sequence[BoneRotation]) -> list[BoneRotation]:
    """Return the scales with as few keys as their part of the bound allows, and the handles they need.

    A factor that is off by d moves the tip by no more than d times the reach.
    """
    assert chain.factors is not None
    candidates = np.searchsorted(plan.time_array, plan.candidates).tolist()
    rows = _steady(chain.factors[:, -1], candidates, SCALED * plan.bound / chain.reach)
    handles = [handles_of(scale.values[rows], _end_slopes(scale.values, rows)) for scale in scales]
    return [
        changed(keyed_at(scale, plan, rows), handles=its) for scale, its in zip(scales, handles, strict=True)
    ]


def _steady(values: Floats, candidates: Sequence[int], bound: float) -> Rows:
    """Return the rows of values (m,) to key, of the candidates, so that those between keep the bound.

    Begins with the ends and adds a row where the error is largest, as long as that helps.
    """
    rows = [candidates[0], candidates[-1]]
    while True:
        off = np.abs(_between_keys(values, np.array(rows)) - values)
        worst = int(np.argmax(off))
        after = int(np.searchsorted(rows, worst, side="right"))
        free = [row for row in candidates if after < len(rows) and rows[after - 1] < row < rows[after]]
        if off[worst] <= bound or not free:
            return np.array(rows)
        rows.insert(after, min(free, key=lambda row: abs(row - worst)))


def _between_keys(values: Floats, rows: Rows) -> Floats:
    """Return the values (m,) that keys at some of the rows play on all of them."""
    at = np.arange(len(values))
    after = np.searchsorted(rows, at, side="right").clip(1, len(rows) - 1)
    first, last = rows[after - 1], rows[after]
    slopes = _end_slopes(values[:, None], rows)[after - 1, :, 0]
    at_ends, at_slopes = hermite((at - first) / (last - first))
    ends = np.column_stack((values[first], values[last]))
    played: Floats = (at_ends * ends).sum(axis=1) + (at_slopes * slopes).sum(axis=1)
    return played


def _end_slopes(values: Floats, rows: Rows) -> Floats:
    """Return the slopes (k - 1, 2, c) at both ends of each segment, over its whole length.

    Each is that of the parabola through the end and the two values (m, c) next to it.
    """
    first, last = rows[:-1], rows[1:]
    leaving = -1.5 * values[first] + 2.0 * values[first + 1] - 0.5 * values[first + 2]
    arriving = 1.5 * values[last] - 2.0 * values[last - 1] + 0.5 * values[last - 2]
    slopes: Floats = np.stack((leaving, arriving), axis=1) * (last - first)[:, None, None]
    return slopes


def _reduced(
    plan: KeyPlan, rig: RigChain, samples: ChainSamples, rotations: Sequence[BoneRotation], used: float
) -> Generator[int, None, list[BoneRotation]]:
    """Return the rotations with as few keys as a part (used) of the bound allows, and their handles."""
    played = read_played(rig, samples, rotations, plan.times)
    candidates = np.searchsorted(plan.time_array, plan.candidates).tolist()
    rows, slopes = yield from fewest(Cubics(played, rotations), candidates, used * plan.bound)
    handles = handles_of(played.channels[rows], slopes)
    widths = np.cumsum([rotation.values.shape[1] for rotation in rotations])[:-1]
    return [
        changed(keyed_at(rotation, plan, rows), handles=its)
        for rotation, its in zip(rotations, np.split(handles, widths, axis=2), strict=True)
    ]


def keyed_at(
    rotation: BoneRotation, plan: KeyPlan, rows: Rows, held: NDArray[np.bool_] | None = None
) -> BoneRotation:
    """Return the rotation with keys at some of the plan's times alone. held: as in BoneRotation."""
    frames = plan.pace * plan.time_array[rows]
    return changed(rotation, frames=frames, values=rotation.values[rows], held=held)


def rotations_of(solved: Sequence[KeyedChain], by_hand: bool = False) -> list[BoneRotation]:
    """Return all channels to key. by_hand: whether the chains' own rotations count as made by hand.

    Scales, slides and hands never do: they would be added once more.
    """
    every = [channels for chain in solved for channels in chain.channels]
    if not by_hand:
        return every
    bones = {bone for chain in solved for bone in chain.solved.rig.turned_bones}
    return [
        changed(one, generated=False) if one.bone in bones and one.property in ROTATIONS else one
        for one in every
    ]


def as_given(solved: list[KeyedChain], rigs: Sequence[RigChain]) -> list[KeyedChain]:
    """Return the chains in the order of `rigs`."""
    order = {(rig.armature, rig.name): place for place, rig in enumerate(rigs)}
    return sorted(solved, key=lambda chain: order[chain.solved.rig.armature, chain.solved.rig.name])
