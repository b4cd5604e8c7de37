# SPDX-License-Identifier: GPL-3.0-or-later
"""A mechanism solved over frames, as keys that keep its joints closed between them, too.

From key to key each channel is a cubic through the solved poses at both thirds. Where joints would open
between by more than a bound, the gap gets keys on subframes: the error of such a cubic falls with the fourth
power of the gap. Where frames are left without keys, bones are off their solved poses by no more, either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.affine import changed, norms
from ...core.inputs import Floats
from ...core.mechanism import MechanismSolution, MechanismStatus
from ...core.mechanism.joints import Body
from ...rig.animation.bone_channels import BoneRotation
from ...rig.animation.times import pace_of
from ...rig.mechanism.aiming import aimed, fixed_bones
from ...rig.mechanism.posing import (
    Motions,
    by_channels,
    by_turns,
    channels_at,
    local_turns,
    openings,
    solution_of,
    written_bones,
)
from ...rig.mechanism.read import RigMechanism
from ...rig.mechanism.values import (
    Drivers,
    drivers_read,
    target_places,
)
from ..keys.target_keys import key_frames_of
from ..request import BakeOptions

# Where a mechanism is solved from a key on: the curve goes through the thirds and is compared at the others,
# where a cubic is furthest off; in a gap of more than a frame at half frames, too.
_THIRDS, _LOOKS = np.array((1.0 / 3.0, 2.0 / 3.0)), np.array((1.0 / 6.0, 0.5, 5.0 / 6.0))
# A gap is parted into so many at most, and to no less than this (frames): two nearer keys are one. So often
# where all frames have keys, and where some may have none.
_MOST_PARTS, _LEAST, _ROUNDS, _SPARSE_ROUNDS = 8, 0.0625, 3, 12
# Of the bound, since a joint may be open a little more where it is not looked at.
_MARGIN = 0.5
# Bones that turn by less in a gap (radians) stay, and by more to its end step; keys nearer than this are one.
_STILL, _STEP, _NEAR = 1e-7, 1e-4, 0.02
# A driver of a target that goes on from the frame before to a value this far off (radians) has jumped.
_JUMP = 0.05
_ROUND = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class KeyedMechanism:
    """A mechanism as it was solved, and the rotations to key."""

    rig: RigMechanism
    frames: NDArray[np.intp]  # all whole ones
    solution: MechanismSolution  # on the frames
    rotations: list[BoneRotation]
    keys: Floats  # (k,) the scene's times of the keys
    bound: float  # on openings between keys, as a part of the size
    unkeyed: tuple[str, ...]  # drivers that others turn, and that are not as the loops ask
    # Times between keys that are as near as can be, where joints are open by more than the bound.
    open_times: Floats
    jumps: NDArray[np.intp]  # frames on which a target's pose is another one than that gone on to


class _Solver:
    """Solves a mechanism at times; what is stepped to is read once for each."""

    def __init__(self, scene: bpy.types.Scene, rig: RigMechanism, drivers: Drivers, frames: Floats) -> None:
        self._scene, self._rig, self._drivers, self.frames = scene, rig, drivers, frames
        self._places: dict[float, Floats] = {}
        self._goal = next((one for one in rig.drivers if one.target is not None), None)
        self.jumped = np.zeros(0, np.intp)  # rows of frames that have not the pose gone on to
        if self._goal is None:
            return
        self.on_frames = self._dragged(frames, None)
        if len(frames) > 1:
            on_frames = self._free_values()
            before: dict[Body, ArrayLike] = {
                body: np.append(values[:1], values[:-1]) for body, values in on_frames.items()
            }
            onward = self._dragged(frames, before).drivers
            off = np.max([np.abs(onward[body] - values) for body, values in on_frames.items()], axis=0)
            self.jumped = np.flatnonzero(off > _JUMP)

    def at(self, times: Floats) -> MechanismSolution:
        """Return the solution at ascending times, all frames among them.

        Of a target, between frames on the branch of these.
        """
        if self._goal is not None:
            return self._dragged(times, self._near(times))
        solution = solution_of(self._rig, self._drivers.values(times.tolist()))
        self.on_frames = solution.on(np.searchsorted(times, self.frames))
        return solution

    @cached_property
    def written(self) -> tuple[list[str], tuple[str, ...]]:
        """The bones to turn, and drivers that others turn otherwise than the loops ask; once it is solved."""
        looked = np.union1d(self.frames, (self.frames[:-1] + self.frames[1:]) / 2.0).tolist()
        return written_bones(self._rig, self.on_frames, self._drivers.askew(looked))

    def _free_values(self) -> dict[Body, Floats]:
        """Return the values on the frames of the drivers that the target moves."""
        free = [one.body for one in self._rig.drivers if one.target is not None]
        return {body: self.on_frames.drivers[body] for body in free}

    def _near(self, times: Floats) -> dict[Body, ArrayLike]:
        """Return values near those at times, of a gap before a jump those before it."""
        row = (np.searchsorted(self.frames, times, side="right") - 1).clip(0)
        stays = np.isin(row + 1, self.jumped)
        return {
            body: np.where(stays, values[row], np.interp(times, self.frames, values))
            for body, values in self._free_values().items()
        }

    def _dragged(self, times: Floats, near: dict[Body, ArrayLike] | None) -> MechanismSolution:
        rig, goal = self._rig, self._goal
        assert goal is not None and goal.target is not None
        given = self._drivers.values(times.tolist())
        new = [time for time in times.tolist() if time not in self._places]
        if new:
            found = target_places(self._scene, rig, goal.target, new)
            self._places |= zip(new, found, strict=True)
        places = np.array([self._places[time] for time in times.tolist()])
        return solution_of(rig, given, places, near)


def key_mechanism(
    scene: bpy.types.Scene, rig: RigMechanism, frames: Sequence[int], options: BakeOptions
) -> KeyedMechanism:
    """Solve a mechanism on frames, and between them as far as its keys need it. Keys nothing."""
    whole = np.arange(frames[0], frames[-1] + 1)
    with drivers_read(scene, rig) as drivers:
        keys, bound = _first_keys(scene, rig, drivers, np.array(frames, np.float64), options)
        solver = _Solver(scene, rig, drivers, whole.astype(np.float64))
        for left in reversed(range(_ROUNDS if len(keys) >= len(whole) else _SPARSE_ROUNDS)):
            rotations, opened, worst = _shaped(rig, solver, keys, options.single_axis)
            parts = _parts(keys, opened, _MARGIN * bound * rig.size)
            if not left or (parts == 1).all():
                break
            keys = _parted(keys, parts)
        unkeyed = solver.written[1]
    times = pace_of(scene) * keys
    timed = [changed(one, frames=times) for one in rotations]
    jumps = whole[solver.jumped]
    open_times = worst[opened > bound * rig.size]
    return KeyedMechanism(rig, whole, solver.on_frames, timed, keys, bound, unkeyed, open_times, jumps)


def _first_keys(
    scene: bpy.types.Scene, rig: RigMechanism, drivers: Drivers, frames: Floats, options: BakeOptions
) -> tuple[Floats, float]:
    """Return the times (k,) to key first, and the bound for openings between, as a part of the size.

    All frames, and keys of drivers on subframes, where curves may have corners; of the options that leave
    out frames the ends, or the keys of all that drives.
    """
    followed = [one.target for one in rig.drivers if one.target is not None]
    driven = np.array([*drivers.key_times(), *key_frames_of(followed, pace_of(scene))])
    driven = driven[(driven > frames[0]) & (driven < frames[-1])]
    ends = np.unique(frames[[0, -1]])
    if options.reduce > 0.0:
        return ends, options.reduce / rig.unit / rig.size
    if options.on_target_keys:
        return _apart(np.union1d(ends, driven)), rig.open_between
    corners = driven[np.abs(driven - np.rint(driven)) > _NEAR]
    return _apart(np.union1d(frames, corners)), rig.open_between


def _apart(times: Floats) -> Floats:
    """Return ascending times without those that are too near to the one before, but with the last."""
    kept: Floats = times[np.append(np.diff(times) > _NEAR, True)]
    return kept


def _shaped(
    rig: RigMechanism, solver: _Solver, keys: Floats, single_axis: bool
) -> tuple[list[BoneRotation], Floats, Floats]:
    """Return the rotations with handles for keys (k,), how far joints are open in gaps (k - 1,), and when.

    In a gap of more than a frame also how far bones are off their solved poses.
    """
    gaps, shares = _looks(keys)
    lengths = np.diff(keys)
    thirds = keys[:-1, None] + lengths[:, None] * _THIRDS
    looks = keys[gaps] + shares * lengths[gaps]
    asked = np.concatenate((keys, thirds.ravel(), looks))
    times, rows = np.unique(np.concatenate((asked, solver.frames)), return_inverse=True)
    rows = rows[: len(asked)]
    on_keys, on_thirds, on_looks = np.split(rows, np.cumsum((len(keys), thirds.size)))
    solution, driving = solver.at(times), fixed_bones(rig)
    turns, (written, _) = local_turns(rig, solution), solver.written
    held = _held([turns[bone] for bone in written], on_keys, on_thirds.reshape(-1, 2), gaps, on_looks)
    is_sparse = bool((lengths > 1.0).any())  # and solved poses are compared with
    closed_at = np.unique(rows if is_sparse else rows[: len(keys) + thirds.size])
    closed = aimed(rig, {bone: turn[closed_at] for bone, turn in turns.items()}, driving)
    for bone in written:
        if bone not in driving:
            closed[bone] = closed[bone] - _ROUND * np.rint(closed[bone][0] / _ROUND)
    channels = channels_at(rig, {bone: closed[bone] for bone in written}, single_axis)
    on_keys, on_thirds = (np.searchsorted(closed_at, each) for each in (on_keys, on_thirds))
    unwritten = rig.bones if is_sparse else [bone for bone in rig.bones if bone not in channels]
    known, looked = (closed, np.searchsorted(closed_at, on_looks)) if is_sparse else (turns, on_looks)
    played = {bone: by_turns(rig, bone, known[bone][looked]) for bone in unwritten}
    solved = Motions.of_rotations(rig, dict(played)) if is_sparse else None
    each = [rotation.values for rotation in channels.values()]
    values = np.concatenate([np.empty((len(closed_at), 0)), *each], axis=1)  # of all bones at once
    at_keys, ends = values[on_keys], np.cumsum([one.shape[1] for one in each], dtype=np.intp)
    handles = _handles(at_keys, values[on_thirds.reshape(-1, 2)])
    between = _between(at_keys, handles, gaps, shares, held)
    split = (np.split(one, ends, axis=-1) for one in (at_keys, handles, between))
    rotations = []
    for rotation, its_values, its_handles, on_way in zip(channels.values(), *split, strict=False):
        rotations.append(changed(rotation, values=its_values, handles=its_handles if len(keys) > 1 else None))
        if held.any():
            rotations[-1] = changed(rotations[-1], held=np.append(held, False))
        played[rotation.bone] = by_channels(rig, rotation, on_way)
    if len(keys) < 2:
        return rotations, np.zeros(0), np.zeros(0)
    motions = Motions.of_rotations(rig, played)
    torn = solution.status[on_looks] == MechanismStatus.OPEN  # more keys would not close them
    off = np.where(torn, 0.0, openings(rig, motions))
    if solved is not None:
        for bone, placed in rig.placed.items():
            away = norms(motions.at(bone, placed.tail) - solved.at(bone, placed.tail))
            off = np.maximum(off, np.where(lengths[gaps] > 1.0, away, 0.0))
    order = np.lexsort((off, gaps))
    last = np.append(np.diff(gaps[order]) > 0, True)  # of each gap its worst
    return rotations, off[order][last], looks[order][last]


def _looks(keys: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return the gaps in which curves are compared with solved poses, and the part of the gap (m,)."""
    count = len(keys) - 1
    gaps, shares = np.repeat(np.arange(count), len(_LOOKS)), np.tile(_LOOKS, count)
    lengths = np.diff(keys)
    if not (lengths > 1.0).any():
        return gaps, shares
    halves = np.arange(np.floor(2.0 * keys[0]), 2.0 * keys[-1]) / 2.0
    row = (np.searchsorted(keys, halves, side="right") - 1).clip(0)
    inside = (lengths[row] > 1.0) & (halves > keys[row])
    part = (halves - keys[row]) / lengths[row]
    return np.append(gaps, row[inside]), np.append(shares, part[inside])


def _held(
    turns: Sequence[Floats],
    on_keys: NDArray[np.intp],
    on_thirds: NDArray[np.intp],
    gaps: NDArray[np.intp],
    on_looks: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Return a mask (k - 1,) of gaps in which all bones stay as at the start, and step at the end."""
    moved, steps = np.zeros(len(on_keys) - 1), np.zeros(len(on_keys) - 1)
    for turn in turns:
        start = turn[on_keys[:-1]]
        moved = np.maximum(moved, np.abs(turn[on_thirds] - start[:, None]).max(axis=1, initial=0.0))
        np.maximum.at(moved, gaps, np.abs(turn[on_looks] - start[gaps]))
        steps = np.maximum(steps, np.abs(np.diff(turn[on_keys])))
    return (moved < _STILL) & (steps > _STEP)


def _handles(at_keys: Floats, thirds: Floats) -> Floats:
    """Return handles (2, k, c) of values at keys (k, c) and at both thirds (k - 1, 2, c) of each gap."""
    start, end = at_keys[:-1], at_keys[1:]
    first, second = thirds[:, 0], thirds[:, 1]
    handles = np.stack((at_keys, at_keys))
    handles[1, :-1] = (-5.0 * start + 18.0 * first - 9.0 * second + 2.0 * end) / 6.0
    handles[0, 1:] = (2.0 * start - 9.0 * first + 18.0 * second - 5.0 * end) / 6.0
    return handles


def _between(
    at_keys: Floats, handles: Floats, gaps: NDArray[np.intp], shares: Floats, held: NDArray[np.bool_]
) -> Floats:
    """Return the values (m, c) that keys with handles play in gaps (m,) at shares (m,) of these."""
    u = np.where(held[gaps], 0.0, shares)[:, None]
    a, b, c, d = at_keys[gaps], handles[1, gaps], handles[0, gaps + 1], at_keys[gaps + 1]
    v = 1.0 - u
    played: Floats = v * v * (v * a + 3.0 * u * b) + u * u * (3.0 * v * c + u * d)
    return played


def _parts(keys: Floats, opened: Floats, bound: float) -> NDArray[np.intp]:
    """Return into how many parts each gap is to be parted: down to frames first."""
    wanted: Floats = np.ceil(1.05 * (opened / bound) ** 0.25).clip(1, _MOST_PARTS)
    lengths = np.diff(keys)
    room = np.maximum(1.0, np.floor(np.where(lengths > 1.0, np.ceil(lengths), lengths / _LEAST)))
    parts: NDArray[np.intp] = np.minimum(wanted, room).astype(np.intp)
    return parts


def _parted(keys: Floats, parts: NDArray[np.intp]) -> Floats:
    """Return the keys (k,) with those that part each gap, of one of more than a frame on frames."""
    each = []
    for first, last, count in zip(keys[:-1], keys[1:], parts, strict=True):
        its = np.linspace(first, last, count, endpoint=False)
        each.append(np.append(first, np.rint(its[1:])) if last - first > 1.0 else its)
    return _apart(np.unique(np.concatenate([*each, keys[-1:]])))
