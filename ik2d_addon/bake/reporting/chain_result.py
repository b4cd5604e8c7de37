# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of one chain of a bake, in numbers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Status
from ...core.inputs import Floats
from ...core.solution import is_reached
from ..lengths import Units
from .causes import (
    BETWEEN_KEYS,
    BLENDED,
    EASED,
    HALF_WAY_BETWEEN,
    MOVED_ELSE,
    REDUCED,
    TURNING,
    cause_of,
    cause_of_post,
    stopped_words,
)

# The largest miss half-way between two frames that still counts as reached, as a part of the reach.
HALF_WAY = 1e-3
VERIFIED_NOTHING = 'NONE'
# A hand or foot that is further off its rotation, in radians, is worth a word; 32 bits leave some 1e-6.
HAND_OFF = 1e-3


@dataclass(frozen=True, eq=False)
class Standard:
    """What counts as reached, and how certain that is. Lengths are in the world's Blender units."""

    reach: float  # of the chain
    tolerance: float  # tip to target that counts as reached
    units: Units  # that sentences say lengths in
    bound: float = 0.0  # that reducing keys may cost
    verified: str = 'ALL'  # 'SAMPLE', 'ALL' or 'NONE'
    other_controls: bool = False  # whether a warning names other controls of the bones
    forced: tuple[str, ...] = ()  # problems that would have been refused without BakeOptions.force

    @property
    def most(self) -> float:
        """The largest miss on a frame that counts as reached."""
        return self.tolerance + self.bound

    @property
    def most_between(self) -> float:
        """The largest miss half-way between two frames that counts as reached."""
        return max(HALF_WAY * self.reach, self.bound) + self.tolerance


@dataclass(frozen=True, eq=False)
class HandErrors:
    """Bones on the tip that have a rotation of their own, and how far they are off it."""

    bones: tuple[str, ...]
    off: Floats  # (frames,) degrees; NaN where not known
    between: Floats | None = None  # (m,) degrees at the times between the frames, as played back


@dataclass(frozen=True, eq=False)
class KeysPlayed:
    """A chain's keys, and how far its tip is off its target as they play."""

    keyed: NDArray[np.bool_]  # (frames,) where the keys put the tip where it was solved
    on_frames: Floats  # (frames,) tip to target; NaN where that was not measured
    between_times: Floats  # (m,) times between the frames that were played too
    between: Floats  # (m,) tip to target then
    keys: int = 0  # on each channel
    worse_by: float = 0.0  # the most that a tip, played back, was further off than promised
    hands: HandErrors | None = None  # None where the bones on the tip are left alone


@dataclass(frozen=True, eq=False)
class PlaneAngles:
    """The bones' angles in the chain's plane, in radians, counterclockwise where its normal points at you."""

    plane_axes: Floats  # (2, 3) the plane's x and y in the armature's space, in rest
    rest_directions: Floats  # (n,) of the bones in rest, from the plane's x axis
    # (frames, n) turned from rest, relative to the bone before; NaN, or None for all, where not known
    from_rest: Floats | None = None

    @property
    def directions(self) -> Floats | None:
        """(frames, n) radians from the plane's x axis to each bone in the plane, as `from_rest`."""
        if self.from_rest is None:
            return None
        return self.rest_directions + np.cumsum(self.from_rest, axis=1)


@dataclass(frozen=True, eq=False)
class PostTurned:
    """How the post turned that brings a chain's plane through its target."""

    bone: str
    angles: Floats  # (frames,) radians about its axis, as keyed
    status: NDArray[np.int8]  # (frames,) of core.post: HELD, NEAREST or LIMITED
    near_axis: NDArray[np.bool_]  # (frames,) where its target is near its axis, so that it turns fast
    steps: Floats  # (frames,) radians from the frame before; the first is 0
    may_reach_over: bool = True  # whether it has another side to try: Reach Over is off, and it has one

    def cause(self, i: int) -> str:
        """Return why the plane missed its target on the i-th frame, in words; "" where the post held it."""
        return cause_of_post(int(self.status[i]))


@dataclass(frozen=True, eq=False)
class JointsSolved:
    """How a chain's joints and bones were solved."""

    iterations: NDArray[np.int32]  # (frames,)
    limited: NDArray[np.bool_]  # (frames, n) joints that are at a limit
    speed: Floats  # (frames,) degrees that the fastest joint turns in a frame
    stretch: Floats | None = None  # (frames,) how many times as long bones are; None: as long as they are
    slides: Floats | None = None  # (frames, n) lengths added to bones, in the armature's units; None: rigid
    locked: NDArray[np.bool_] | None = None  # (n,) joints that locks keep from turning; None: none
    # (frames,) radians of the last bone off the angle that it is to have, as solved; None where it is free
    angle_error: Floats | None = None
    angles: PlaneAngles | None = None
    post: PostTurned | None = None  # None where no bone turns the plane about its own axis


@dataclass(frozen=True, eq=False)
class Circumstances:
    """What else there is to know of a chain's frames."""

    plane: str = ""  # the plane that the chain bent in, in words
    influence: Floats | None = None  # (frames,) its IK Blend, 0..1; None: 1 on all
    turning: NDArray[np.bool_] | None = None  # (frames,) where it turns over from one side to the other
    parted: NDArray[np.bool_] | None = None  # (frames,) where a live chain has another pose; None: nowhere
    lifted: Floats | None = None  # (frames,) how far the ground lifted the foot; None: it has none
    ground: str = ""  # its name
    uneven: bool = False  # whether something is scaled unevenly, so that turning bones change their length
    unmoved: bool = False  # whether its target stands still: it has no keys and hangs on no motion


# Where the numbers are that a report of 1.0.0 had itself: scripts go on reading them there.
_OF_1_0 = {
    name: path.split(".")
    for name, path in {
        "played_back": "played.on_frames",
        "plays_back_worse_by": "played.worse_by",
        "joint_speed": "joints.speed",
        "hands": "played.hands.bones",
        "hands_off": "played.hands.off",
        "hands_between": "played.hands.between",
        "angles": "joints.angles.from_rest",
        "post": "joints.post.bone",
        "post_angle": "joints.post.angles",
        **{name: f"standard.{name}" for name in Standard.__annotations__},
        **{name: f"played.{name}" for name in ("keyed", "between_times", "between", "keys")},
        **{name: f"joints.{name}" for name in ("iterations", "limited", "stretch", "slides", "locked")},
        "angle_error": "joints.angle_error",
        **{name: f"joints.angles.{name}" for name in ("directions", "rest_directions", "plane_axes")},
        **{name: f"circumstances.{name}" for name in Circumstances.__annotations__},
    }.items()
}


@dataclass(frozen=True, eq=False)
class ChainResult:
    """The result of one chain, in numbers. Lengths are in the world's Blender units.

    A tip's place is the one played back where that was measured, else the solved one. Played back: as Blender
    evaluates it, or by arithmetic on the keys that it holds, which it confirms at some of the times.
    FK frames, on which its IK Blend is 0, are no misses: all that is said of the chain leaves them out.
    """

    name: str
    armature: str
    bones: tuple[str, ...]
    solver: str
    target: str
    frames: NDArray[np.int64]  # (frames,) all whole frames of the range, and what else has keys
    status: NDArray[np.int8]  # (frames,) core.Status
    residual: Floats  # (frames,) tip to target as solved, as seen along the plane's normal
    off_plane: Floats  # (frames,) target to the tip's plane
    distance: Floats  # (frames,) tip to target as solved
    standard: Standard
    played: KeysPlayed
    joints: JointsSolved
    circumstances: Circumstances = Circumstances()
    warnings: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        """Return a number that a report of 1.0.0 had itself, of one of the records."""
        if name not in _OF_1_0:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )
        value: Any = self
        for part in _OF_1_0[name]:
            value = None if value is None else getattr(value, part)
        return () if name == "hands" and value is None else value

    @cached_property
    def errors(self) -> Floats:
        """(frames,) distance from the tip to its target: as played back where measured, else as solved."""
        return np.where(np.isnan(self.played.on_frames), self.distance, self.played.on_frames)

    @property
    def blended(self) -> NDArray[np.bool_]:
        """(frames,) True where its IK Blend is below 1, so that other keys have their part."""
        influence = self.circumstances.influence
        return np.zeros(len(self.frames), bool) if influence is None else influence < 1.0

    @cached_property
    def fk(self) -> NDArray[np.bool_]:
        """(frames,) True on FK frames, on which its IK Blend is 0."""
        influence = self.circumstances.influence
        return np.zeros(len(self.frames), bool) if influence is None else influence <= 0.0

    @cached_property
    def fk_frames(self) -> int:
        """The number of FK frames."""
        return int(np.count_nonzero(self.fk))

    @cached_property
    def is_off(self) -> bool:
        """Whether all frames are FK, so that the bake has nothing to solve."""
        return self.fk_frames == len(self.frames)

    @cached_property
    def _judged(self) -> Floats:
        """(frames,) the errors, and -1 on FK frames."""
        return np.where(self.fk, -1.0, self.errors)

    @cached_property
    def _judged_between(self) -> Floats:
        """(m,) the distances between the frames, and 0 next to FK frames."""
        if not self.fk_frames:
            return self.played.between
        after = np.searchsorted(self.frames, self.played.between_times).clip(1, max(len(self.frames) - 1, 1))
        return np.where(self.fk[after - 1] | self.fk[after], 0.0, self.played.between)

    @property
    def max_residual(self) -> float:
        """The largest distance from the tip to its target as solved, seen along the plane's normal."""
        return float(np.where(self.fk, 0.0, self.residual).max())

    @cached_property
    def max_error(self) -> float:
        """The largest known distance from the tip to its target, on the frames and between them."""
        return max(float(self._judged.max()), self.max_between)

    @cached_property
    def max_between(self) -> float:
        """The largest distance that was measured between the frames; 0 where none was."""
        return float(self._judged_between.max(initial=0.0))

    @property
    def _is_worst_between(self) -> bool:
        """Whether the tip is further off between the frames than on any."""
        return self.max_between > max(float(self._judged.max()), 0.0)

    @property
    def _worst_between(self) -> float:
        """The time between the frames at which the tip is furthest off."""
        return float(self.played.between_times[int(np.argmax(self._judged_between))])

    @property
    def max_error_frame(self) -> float:
        """The frame or half-way time at which the tip is furthest off."""
        if self._is_worst_between:
            return self._worst_between
        return float(self.frames[int(np.argmax(self._judged))])

    @property
    def max_error_from(self) -> str:
        """The cause of the largest distance, in words; "" where the target is reached there."""
        if self._is_worst_between:
            return HALF_WAY_BETWEEN if self.max_between > self.standard.tolerance else ""
        worst = int(np.argmax(self._judged))
        return self._cause(worst) if self.missed[worst] else ""

    @cached_property
    def missed(self) -> NDArray[np.bool_]:
        """(frames,) True where the tip is not on its target, but for FK frames."""
        # A comparison with NaN is false.
        on_target = self.errors <= self.standard.most
        missed: NDArray[np.bool_] = ~(is_reached(self.status) & on_target | self.fk)
        return missed

    @cached_property
    def strays(self) -> bool:
        """Whether the tip leaves its target too far half-way between frames."""
        return not self.max_between <= self.standard.most_between

    @cached_property
    def misses(self) -> bool:
        """Whether the tip is known to be off its target on a frame, or too far from it between two."""
        return self.strays or bool(self.missed.any())

    @cached_property
    def reached(self) -> bool:
        """Whether the tip is known to be on its target on every frame that is not FK, and near it between.

        Unknown until played back between keys more than a frame apart and under other controls, and after
        a forced bake, since the target may not be where it should; also where all frames are FK.
        """
        standard = self.standard
        by_keys = bool(self.played.keyed.all()) and not standard.other_controls
        known = standard.verified != VERIFIED_NOTHING or by_keys
        return known and not standard.forced and not self.misses and not self.is_off

    @property
    def max_hands_off(self) -> float | None:
        """The largest known angle of hands off their rotation, in degrees; None without hands."""
        return self._worst_hands[0]

    @property
    def max_hands_off_time(self) -> float | None:
        """The frame, or the time between two, at which the hands are furthest off; None without hands."""
        return self._worst_hands[1]

    @cached_property
    def _worst_hands(self) -> tuple[float | None, float | None]:
        """The largest known angle of hands off their rotation, in degrees, and its time."""
        hands = self.played.hands
        if hands is None:
            return None, None
        off = np.concatenate((hands.off, np.empty(0) if hands.between is None else hands.between))
        known = np.where(np.isnan(off), -1.0, off)
        worst = int(np.argmax(known))
        if known[worst] < 0.0:
            return None, None
        return float(off[worst]), float(np.concatenate((self.frames, self.played.between_times))[worst])

    @property
    def worst_frame(self) -> int:
        """The frame on which the tip is furthest from its target."""
        return int(self.frames[int(np.argmax(self._judged))])

    def limited_bones(self, i: int) -> list[str]:
        """Return the bones that are at a limit on the i-th frame."""
        return [name for name, limited in zip(self.bones, self.joints.limited[i], strict=True) if limited]

    @property
    def worst_missed(self) -> int:
        """The row of the missed frame with the largest miss."""
        return int(np.argmax(np.where(self.missed, self.errors, -1.0)))

    def _cause(self, i: int) -> str:
        """Return why the i-th frame missed its target."""
        status, cost = Status(int(self.status[i])), self.errors[i] - self.distance[i]
        tolerance, turning = self.standard.tolerance, self.circumstances.turning
        if cost > self.distance[i] and tolerance < cost <= self.standard.most:
            return REDUCED
        post = self.joints.post
        if post is not None and self.off_plane[i] >= self.residual[i] and self.distance[i] > tolerance:
            if not self.played.keyed[i]:
                return BETWEEN_KEYS
            if cause := post.cause(i):
                return cause
        blended = self.blended[i]
        eased = status == Status.EASED and not blended
        cause = cause_of(
            status,
            float(self.errors[i]),
            float(self.distance[i]),
            self.off_plane[i] >= self.residual[i],
            tolerance,
            TURNING if turning is not None and turning[i] else EASED if eased else BLENDED,
            stopped_words(self.joints.limited[i], self.joints.locked),
            self.circumstances.uneven,
        )
        if cause or not self.played.keyed[i]:
            return cause or BETWEEN_KEYS
        return BLENDED if blended else MOVED_ELSE  # by FK copies, which act on top of the keys, or its post
