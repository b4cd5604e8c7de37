# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a bake for one mechanism, in numbers and in sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from ...core.words import number_of, say

# A joint that Blender plays further open than this part of the size, on a frame, is told as open; a target
# that is missed by more, as missed.
CLOSED, REACHED = 1e-5, 1e-4


@dataclass(frozen=True, eq=False)
class MechanismReport:
    """The result for one mechanism. Lengths are its armature's; degrees of freedom are the driver's own."""

    name: str
    armature: str
    bones: tuple[str, ...]
    frames: NDArray[np.intp]
    size: float  # the diameter of its joints, which openings are compared with
    open: Floats  # (frames,) the largest opening of a joint as Blender plays it; NaN: not measured
    open_between: Floats  # (frames - 1,) half-way to the next frame, or where more was to be expected
    bound: float  # for openings between keys, as a part of the size
    keys: int  # on each channel
    held: NDArray[np.bool_]  # (frames,) where a driver is held at a dead point
    dead_points: Mapping[str, tuple[float, ...]]  # of each driver, radians or lengths, as far as its keys go
    missed: Floats  # (frames,) how far the end that a target drags is off it; zeros without one
    remarks: tuple[str, ...] = ()
    unit: float = 1.0  # world lengths in one of its armature's
    unkeyed: frozenset[int] = frozenset()  # frames without keys, which count as between others

    @property
    def keyed(self) -> NDArray[np.bool_]:
        """A mask (frames,) of those with keys."""
        return ~np.isin(self.frames, list(self.unkeyed))

    @property
    def is_closed(self) -> bool:
        """Whether all joints are known to be closed, and between keys within the bound."""
        return self.max_open <= CLOSED and self.max_open_between <= 1.5 * self.bound

    @property
    def max_open(self) -> float:
        """The largest opening on a frame with keys, as a part of the size; 0 where nothing was measured."""
        return _most(self.open[self.keyed]) / self.size

    @property
    def max_open_between(self) -> float:
        """The largest opening between frames and on those without keys, as a part of the size."""
        return max(_most(self.open_between), _most(self.open[~self.keyed])) / self.size

    @property
    def max_missed(self) -> float:
        """The largest distance of the end that a target drags from it, as a part of the size."""
        return _most(self.missed) / self.size

    @property
    def is_good(self) -> bool:
        """Whether all joints are closed, and the end that a target drags is on it."""
        return self.is_closed and self.max_missed <= REACHED

    @property
    def max_error(self) -> float:
        """The largest opening, or distance of a dragged end from its target, a length in the world."""
        return max(self.max_open, self.max_open_between, self.max_missed) * self.size * self.unit

    @property
    def held_frames(self) -> tuple[int, ...]:
        """The frames on which a driver is held."""
        return tuple(self.frames[self.held].tolist())

    @property
    def open_frames(self) -> tuple[int, ...]:
        """The frames with keys on which a joint is open."""
        return tuple(self.frames[self.keyed & (self.open > CLOSED * self.size)].tolist())

    def sentence(self) -> str:
        """Return one sentence with the numbers that matter."""
        frames = number_of(len(self.frames), "frame")
        if np.isnan(self.open).all():
            said = say("{frames} as solved, not played back", frames=frames)
        elif self.max_open <= CLOSED and not self.keyed.all():
            said = say(
                "closed on the {count} of {frames} with keys", count=int(self.keyed.sum()), frames=frames
            )
        elif self.max_open <= CLOSED:
            said = say("closed on {frames}", frames=frames)
        else:
            said = say(
                "open on {count} of {frames}, by {gap} of its size at most (frame {frame})",
                count=len(self.open_frames),
                frames=frames,
                gap=f"{self.max_open:.2g}",
                frame=int(self.frames[int(np.nanargmax(np.where(self.keyed, self.open, np.nan)))]),
            )
        if self.max_open_between > CLOSED:
            said = say(
                "{said}, between them open by {gap} of its size",
                said=said,
                gap=f"{self.max_open_between:.1g}",
            )
        if self.held.any():
            count = int(self.held.sum())
            said = say("{said}; held on {count}", said=said, count=number_of(count, "frame"))
        if self.max_missed > REACHED:
            said = say(
                "{said}; off its target by {gap} of its size at most (frame {frame})",
                said=said,
                gap=f"{self.max_missed:.2g}",
                frame=int(self.frames[int(self.missed.argmax())]),
            )
        return said

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what is not as a person wants it."""
        name = say("Mechanism '{name}': ", name=self.name)
        said = () if self.is_good else (self.sentence(),)
        return tuple(f"{name}{sentence}" for sentence in (*said, *self.remarks))

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain lists and numbers, ready for JSON."""
        return {
            "name": self.name,
            "summary": self.sentence(),
            "closed": self.is_closed,
            "bones": list(self.bones),
            "size": self.size,
            "max_open": self.max_open,
            "max_open_between": self.max_open_between,
            "max_missed": self.max_missed,
            "max_error": self.max_error,
            "open_frames": list(self.open_frames),
            "keys": self.keys,
            "held_frames": list(self.held_frames),
            "dead_points": {name: list(points) for name, points in self.dead_points.items()},
            "warnings": list(self.warnings),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for each frame, in the same columns as a chain's as far as they are the same."""
        between = np.append(self.open_between, np.nan)
        return [
            {
                "armature": self.armature,
                "chain": self.name,
                "frame": int(frame),
                "distance": float(missed * self.unit),
                "open": _cell(opened * self.unit),
                "open_between": _cell(after * self.unit),
                "keyed": bool(keyed),
                "held": bool(held),
            }
            for frame, missed, opened, after, keyed, held in zip(
                self.frames, self.missed, self.open, between, self.keyed, self.held, strict=True
            )
        ]


def _cell(length: float) -> float | str:
    return "" if np.isnan(length) else float(length)


def _most(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.max(initial=0.0))
