# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on one chain of a bake, in numbers and in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import Status
from ..core.contacts.runs import runs
from ..core.inputs import Floats
from ..core.solution import is_reached
from ..core.words import listed, noted, number_of, say
from .causes import (
    BETWEEN_KEYS,
    BLENDED,
    EASED,
    HALF_WAY_BETWEEN,
    MOVED_ELSE,
    REDUCED,
    TURNING,
    cause_of,
    stopped_words,
)
from .lengths import Units, length_text

# The largest miss half-way between two frames that still counts as reached, as a part of the reach.
HALF_WAY = 1e-3
VERIFIED_NOTHING = 'NONE'
# A hand or foot that is further off its rotation, in radians, is worth a word; 32 bits leave some 1e-6.
HAND_OFF = 1e-3
# After the decimal point, of angles in radians: 32-bit rotations have no more.
DIGITS = 7
# The fields of a chain in JSON, and the columns of a table of frames, in this order.
_TOLD = (
    *("name", "armature", "bones", "solver", "target", "plane", "reach", "keys", "summary", "reached"),
    *("verified", "max_error", "max_error_frame", "max_error_from", "plays_back_worse_by", "forced"),
    *("fk_frames", "warnings", "frames", "fk", "status", "residual", "off_plane", "distance", "keyed"),
    *("iterations", "limited", "joint_speed", "played_back", "played_back_between", "stretch", "slides"),
    *("hands", "hands_off", "hands_between", "max_hands_off", "max_hands_off_time", "angle_error", "lifted"),
    *("plane_axes", "angles", "parted"),
)
_COLUMNS = (
    *("fk", "status", "residual", "off_plane", "distance", "played_back", "limited", "joint_speed"),
    *("iterations", "stretch", "slides"),
)


@dataclass(frozen=True, eq=False)
class ChainReport:
    """The result of one chain. Lengths are in the world's Blender units.

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
    keyed: NDArray[np.bool_]  # (frames,) where the keys put the tip where it was solved
    iterations: NDArray[np.int32]  # (frames,)
    limited: NDArray[np.bool_]  # (frames, n) joints that are at a limit
    joint_speed: Floats  # (frames,) degrees that the fastest joint turns in a frame
    played_back: Floats  # (frames,) tip to target as the keys play; NaN where that was not measured
    between_times: Floats  # (m,) times between the frames that were played too
    between: Floats  # (m,) tip to target then
    reach: float
    tolerance: float  # tip to target that counts as reached
    units: Units
    verified: str = 'ALL'  # 'SAMPLE', 'ALL' or 'NONE'
    bound: float = 0.0  # that reducing keys may cost
    warnings: tuple[str, ...] = ()
    keys: int = 0  # on each channel
    plays_back_worse_by: float = 0.0  # the most that a tip, played back, was further off than promised
    plane: str = ""  # the plane that the chain bent in, in words
    forced: tuple[str, ...] = ()  # problems that would have been refused without BakeOptions.force
    stretch: Floats | None = None  # (frames,) how many times as long bones are; None: as long as they are
    slides: Floats | None = None  # (frames, n) lengths added to bones, in the armature's units; None: rigid
    turning: NDArray[np.bool_] | None = None  # (frames,) where it turns over from one side to the other
    parted: NDArray[np.bool_] | None = None  # (frames,) where a live chain has another pose; None: nowhere
    influence: Floats | None = None  # (frames,) its IK Blend, 0..1; None: 1 on all
    locked: NDArray[np.bool_] | None = None  # (n,) joints that locks keep from turning; None: none
    uneven: bool = (
        False  # whether something is scaled unevenly, so that bones change their length as they turn
    )
    other_controls: bool = False  # whether a warning names other controls of the bones
    hands: tuple[str, ...] = ()  # bones on the tip that have a rotation of their own
    hands_off: Floats | None = None  # (frames,) degrees that they are off it; NaN where not known; None: none
    hands_between: Floats | None = None  # (m,) the same at the times between, as played back
    # (frames, n) radians that each bone has turned in the plane from rest, relative to the bone before:
    # counterclockwise where the plane's normal points at you; NaN where not known
    angles: Floats | None = None
    rest_directions: Floats | None = None  # (n,) of the bones in rest, radians from the plane's x axis
    plane_axes: Floats | None = None  # (2, 3) the plane's x and y in the armature's space, in rest
    # (frames,) radians of the last bone off the angle that it is to have, as solved; None where it is free
    angle_error: Floats | None = None
    lifted: Floats | None = None  # (frames,) how far the ground lifted the foot; None: it has none
    ground: str = ""  # its name
    unmoved: bool = False  # whether its target stands still: it has no keys and hangs on no motion

    @property
    def directions(self) -> Floats | None:
        """(frames, n) radians from the plane's x axis to each bone in the plane; None where not known."""
        if self.angles is None or self.rest_directions is None:
            return None
        return self.rest_directions + np.cumsum(self.angles, axis=1)

    @cached_property
    def errors(self) -> Floats:
        """(frames,) distance from the tip to its target: as played back where measured, else as solved."""
        return np.where(np.isnan(self.played_back), self.distance, self.played_back)

    @property
    def blended(self) -> NDArray[np.bool_]:
        """(frames,) True where its IK Blend is below 1, so that other keys have their part."""
        return np.zeros(len(self.frames), bool) if self.influence is None else self.influence < 1.0

    @cached_property
    def fk(self) -> NDArray[np.bool_]:
        """(frames,) True on FK frames, on which its IK Blend is 0."""
        if self.influence is None:
            return np.zeros(len(self.frames), bool)
        return self.influence <= 0.0

    @property
    def fk_frames(self) -> int:
        """The number of FK frames."""
        return int(self.fk.sum())

    @property
    def is_off(self) -> bool:
        """Whether all frames are FK, so that the bake has nothing to solve."""
        return bool(self.fk.all())

    @cached_property
    def _judged(self) -> Floats:
        """(frames,) the errors, and -1 on FK frames."""
        return np.where(self.fk, -1.0, self.errors)

    @cached_property
    def _judged_between(self) -> Floats:
        """(m,) the distances between the frames, and 0 next to FK frames."""
        if not self.fk_frames:
            return self.between
        after = np.searchsorted(self.frames, self.between_times).clip(1, max(len(self.frames) - 1, 1))
        return np.where(self.fk[after - 1] | self.fk[after], 0.0, self.between)

    @property
    def max_residual(self) -> float:
        """The largest distance from the tip to its target as solved, seen along the plane's normal."""
        return float(np.where(self.fk, 0.0, self.residual).max())

    @property
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
        return float(self.between_times[int(np.argmax(self._judged_between))])

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
            return HALF_WAY_BETWEEN if self.max_between > self.tolerance else ""
        worst = int(np.argmax(self._judged))
        return self._cause(worst) if self.missed[worst] else ""

    @cached_property
    def missed(self) -> NDArray[np.bool_]:
        """(frames,) True where the tip is not on its target, but for FK frames."""
        # A comparison with NaN is false.
        on_target = self.errors <= self.tolerance + self.bound
        missed: NDArray[np.bool_] = ~(is_reached(self.status) & on_target | self.fk)
        return missed

    @property
    def strays(self) -> bool:
        """Whether the tip leaves its target too far half-way between frames."""
        return not self.max_between <= max(HALF_WAY * self.reach, self.bound) + self.tolerance

    @cached_property
    def misses(self) -> bool:
        """Whether the tip is known to be off its target on a frame, or too far from it between two."""
        return self.strays or bool(self.missed.any())

    @property
    def reached(self) -> bool:
        """Whether the tip is known to be on its target on every frame that is not FK, and near it between.

        Unknown until played back between keys more than a frame apart and under other controls, and after
        a forced bake, since the target may not be where it should; also where all frames are FK.
        """
        known = self.verified != VERIFIED_NOTHING or bool(self.keyed.all()) and not self.other_controls
        return known and not self.forced and not self.misses and not self.is_off

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
        if self.hands_off is None:
            return None, None
        between = np.empty(0) if self.hands_between is None else self.hands_between
        off = np.concatenate((self.hands_off, between))
        known = np.where(np.isnan(off), -1.0, off)
        worst = int(np.argmax(known))
        if known[worst] < 0.0:
            return None, None
        return float(off[worst]), float(np.concatenate((self.frames, self.between_times))[worst])

    @property
    def worst_frame(self) -> int:
        """The frame on which the tip is furthest from its target."""
        return int(self.frames[int(np.argmax(self._judged))])

    def limited_bones(self, i: int) -> list[str]:
        """Return the bones that are at a limit on the i-th frame."""
        return [name for name, limited in zip(self.bones, self.limited[i], strict=True) if limited]

    def sentence(self) -> str:
        """Return the result in words: "3 of 250 frames out of reach, worst by 0.12 m at frame 87"."""
        by_force = say(", baked by force") if self.forced else ""
        fk = f"; {self.fk_words()}" if self.fk_frames else ""
        if self.is_off:
            return f"{self.fk_words()}{self.hands_words()}{by_force}"
        if self.missed.any():
            return f"{self.missed_words()}{fk}{self.hands_words()}{self.lifted_words()}{by_force}"
        count = number_of(len(self.frames), "frame")
        if not self.reached:
            return f"{count}, {self.doubt_words()}{fk}{self.hands_words()}{self.lifted_words()}{by_force}"
        on_all = say(" on all others") if fk else say(" on all") * (len(self.frames) > 1)
        told = (
            *(self.unverified_words(), self.between_words(), self.hands_words()),
            *(self.lifted_words(), self.parted_words()),
        )
        if fk:
            count = self.fk_words()
        return say("{count}, target reached{on_all}{names}", count=count, on_all=on_all, names="".join(told))

    def fk_words(self, of: str = "") -> str:
        """Return the number of FK frames in words: "106 of 148 frames are FK". of: whose, " of 'Arm'"."""
        frames = number_of(len(self.frames), "frame")
        if self.is_off:
            words = noted("{frames}{of} FK, as IK Blend is 0: raise it, or disable the chain")
            return say(words, frames=frames, of=of)
        words = noted("{count} of {frames}{of} are FK")
        if self.fk_frames == 1:
            words = noted("{count} of {frames}{of} is FK")
        return say(words, count=self.fk_frames, frames=frames, of=of)

    def missed_words(self) -> str:
        """Return the number of missed frames, the causes and the largest miss, in words."""
        missed = int(self.missed.sum())
        causes = dict.fromkeys(self._cause(int(i)) for i in np.flatnonzero(self.missed))
        worst = self.worst_missed
        words = say(
            "{missed} of {frames} {causes}, worst by {length} at frame {frame:g}",
            missed=missed,
            frames=number_of(len(self.frames), "frame"),
            causes=say(" or ").join(sorted(map(say, causes))),
            length=self._length(self.errors[worst]),
            frame=self.frames[worst],
        )
        if self.strays and self.max_between > self.errors[worst]:
            words += say(", and by {length} between frames", length=self._length(self.max_between))
        return words

    def doubt_words(self) -> str:
        """Return why no missed frame is known, but the target does not count as reached."""
        if self.strays:
            return say(
                "target reached on the frames, but up to {length} off between them (frame {at:g})",
                length=self._length(self.max_between),
                at=self._worst_between,
            )
        if self.forced:
            return say("target reached, if it is where it should be")
        if self.other_controls and self.keyed.all():
            return say(
                "target reached by the keys alone, not verified with the bones' other controls",
            )
        return say("target reached on the keys, not verified between them")

    def unverified_words(self) -> str:
        """Return " as solved, not verified" where nothing was played back, else ""."""
        return say(" as solved, not verified") if self.verified == VERIFIED_NOTHING else ""

    def between_words(self) -> str:
        """Return the miss half-way between frames, ", up to 1 mm off ...", or "" for none."""
        if self.max_between <= self.tolerance:
            return ""
        return say(", up to {length} off between frames", length=self._length(self.max_between))

    def hands_words(self) -> str:
        """Return the largest angle of hands off their rotation, "; 'foot' up to 0.2 degrees off", or ""."""
        if self.max_hands_off is None or np.radians(self.max_hands_off) <= HAND_OFF:
            return ""
        return say(
            "; {names} up to {angle:.2g} degrees off", names=listed(self.hands), angle=self.max_hands_off
        )

    def lifted_words(self) -> str:
        """Return how far and when the ground lifted the foot, or "" where it did not.

        As in "; its foot lifted above 'Floor' by up to 3 cm on 5 frames, most at frame 12".
        """
        lifted = np.zeros(1) if self.lifted is None else np.where(self.fk, 0.0, self.lifted)
        if not lifted.max() > self.tolerance:
            return ""
        count, worst = int((lifted > self.tolerance).sum()), int(np.argmax(lifted))
        at = (
            say("most at frame {frame:g}", frame=self.frames[worst])
            if count > 1
            else say("at frame {frame:g}", frame=self.frames[worst])
        )
        return say(
            "; its foot lifted above '{ground}' by up to {length} on {frames}, {at}",
            ground=self.ground,
            length=self._length(lifted[worst]),
            frames=number_of(count, "frame"),
            at=at,
        )

    def parted_words(self) -> str:
        """Return "; live shows another pose at frames 40 to 52", or "" where it shows none."""
        if self.parted is None or not self.parted.any():
            return ""
        (begin, end), *others = runs(self.parted)
        first, last = self.frames[begin], self.frames[end - 1]
        more = say(" and on {runs}", runs=number_of(len(others), "other run")) if others else ""
        if last > first:
            words = noted("; live shows another pose at frames {first:g} to {last:g}{more}")
            return say(words, first=first, last=last, more=more)
        return say("; live shows another pose at frame {first:g}{more}", first=first, more=more)

    @property
    def worst_missed(self) -> int:
        """The row of the missed frame with the largest miss."""
        return int(np.argmax(np.where(self.missed, self.errors, -1.0)))

    def _cause(self, i: int) -> str:
        """Return why the i-th frame missed its target."""
        status, cost = Status(int(self.status[i])), self.errors[i] - self.distance[i]
        if cost > self.distance[i] and self.tolerance < cost <= self.tolerance + self.bound:
            return REDUCED
        turning = self.turning is not None and self.turning[i]
        blended = self.blended[i]
        eased = status == Status.EASED and not blended
        cause = cause_of(
            status,
            float(self.errors[i]),
            float(self.distance[i]),
            self.off_plane[i] >= self.residual[i],
            self.tolerance,
            TURNING if turning else EASED if eased else BLENDED,
            stopped_words(self.limited[i], self.locked),
            self.uneven,
        )
        return cause or (MOVED_ELSE if self.keyed[i] else BETWEEN_KEYS)

    def _length(self, length: float) -> str:
        return length_text(length, self.units)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain lists and numbers, ready for JSON, without fields that are None."""
        made = {
            "summary": self.sentence(),
            "plays_back_worse_by": max(0.0, self.plays_back_worse_by),
            "fk": self.fk if self.fk_frames else None,
            "status": [Status(int(status)).name for status in self.status],
            "limited": [self.limited_bones(i) for i in range(len(self.frames))],
            "played_back_between": np.column_stack((self.between_times, self.between)),
            "hands": self.hands if self.hands_off is not None else None,
            "plane_axes": None if self.plane_axes is None else self.plane_axes.tolist(),
            "angles": self._angles_by_bone(),
            "angle_error": None if self.angle_error is None else self.angle_error.round(DIGITS),
        }
        told = {name: made[name] if name in made else getattr(self, name) for name in _TOLD}
        return {name: _plain(value) for name, value in told.items() if value is not None}

    def _slides_in_words(self, i: int) -> str:
        """Return the slides on the i-th frame in words: "boom=0.5 section=0.25"."""
        slides = () if self.slides is None else self.slides[i].tolist()
        return " ".join(f"{bone}={slide:.6g}" for bone, slide in zip(self.bones, slides, strict=True))

    def _angles_by_bone(self) -> dict[str, dict[str, list[float | None]]] | None:
        """Return the angles in radians by kind and bone, ready for JSON; None where there are none."""
        if self.angles is None or self.directions is None:
            return None
        return {
            kind: {
                bone: _plain(column) for bone, column in zip(self.bones, angles.T.round(DIGITS), strict=True)
            }
            for kind, angles in (("from_rest", self.angles), ("in_plane", self.directions))
        }

    def _angle_cells(self) -> Iterator[dict[str, Any]]:
        """Yield the names of the bones and their angles in degrees, one pair of columns a bone, by frame."""
        if self.angles is None or self.directions is None:
            yield from ({} for _ in self.frames)
            return
        pairs = np.degrees(np.stack((self.angles, self.directions), axis=2)).round(DIGITS - 2)
        numbers = range(1, len(self.bones) + 1)
        columns = [f"angle_{i}{kind}_degrees" for i in numbers for kind in ("", "_in_plane")]
        for cells in pairs.reshape(len(self.frames), -1).tolist():
            known = ["" if cell != cell else cell for cell in cells]
            yield {"bones": " ".join(self.bones), **dict(zip(columns, known, strict=True))}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one flat row for each frame, for a table. Angles are in degrees."""
        told = self.to_dict()
        angles = self._angle_cells()
        for i, frame in enumerate(told["frames"]):
            row = {"armature": self.armature, "chain": self.name, "frame": frame}
            row |= {name: told[name][i] for name in _COLUMNS if name in told}
            row["limited"] = " ".join(row["limited"])
            if row["played_back"] is None:
                row["played_back"] = ""
            if self.angle_error is not None:
                row["angle_error_degrees"] = float(np.degrees(self.angle_error[i]).round(DIGITS - 2))
            if "slides" in row:
                row["slides"] = self._slides_in_words(i)
            yield row | next(angles)


def _plain(value: Any) -> Any:
    """Return arrays and tuples as lists with None for NaN, and other values as they are."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return [None if each != each else each for each in value] if isinstance(value, list | tuple) else value
