# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on one chain of a bake, in numbers and in words."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import Status
from ...core.contacts.runs import runs
from ...core.words import listed, noted, number_of, say
from ..lengths import length_text
from .chain_result import HAND_OFF, VERIFIED_NOTHING, ChainResult

# After the decimal point, of angles in radians: 32-bit rotations have no more.
DIGITS = 7
# The columns of a table of frames, in this order.
_COLUMNS = (
    *("fk", "status", "residual", "off_plane", "distance", "played_back", "limited", "joint_speed"),
    *("iterations", "stretch", "slides"),
)


class ChainReport(ChainResult):
    """The result of one chain, in numbers and in words."""

    def sentence(self) -> str:
        """Return the result in words: "3 of 250 frames out of reach, worst by 0.12 m at frame 87"."""
        by_force = say(", baked by force") if self.standard.forced else ""
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
        if self.standard.forced:
            return say("target reached, if it is where it should be")
        if self.standard.other_controls and self.played.keyed.all():
            return say(
                "target reached by the keys alone, not verified with the bones' other controls",
            )
        return say("target reached on the keys, not verified between them")

    def unverified_words(self) -> str:
        """Return " as solved, not verified" where nothing was played back, else ""."""
        return say(" as solved, not verified") if self.standard.verified == VERIFIED_NOTHING else ""

    def between_words(self) -> str:
        """Return the miss half-way between frames, ", up to 1 mm off ...", or "" for none."""
        if self.max_between <= self.standard.tolerance:
            return ""
        return say(", up to {length} off between frames", length=self._length(self.max_between))

    def hands_words(self) -> str:
        """Return the largest angle of hands off their rotation, "; 'foot' up to 0.2 degrees off", or ""."""
        hands, off = self.played.hands, self.max_hands_off
        if hands is None or off is None or np.radians(off) <= HAND_OFF:
            return ""
        return say("; {names} up to {angle:.2g} degrees off", names=listed(hands.bones), angle=off)

    def lifted_words(self) -> str:
        """Return how far and when the ground lifted the foot, or "" where it did not.

        As in "; its foot lifted above 'Floor' by up to 3 cm on 5 frames, most at frame 12".
        """
        lifted = self.circumstances.lifted
        lifted = np.zeros(1) if lifted is None else np.where(self.fk, 0.0, lifted)
        if not lifted.max() > self.standard.tolerance:
            return ""
        count, worst = int((lifted > self.standard.tolerance).sum()), int(np.argmax(lifted))
        at = (
            say("most at frame {frame:g}", frame=self.frames[worst])
            if count > 1
            else say("at frame {frame:g}", frame=self.frames[worst])
        )
        return say(
            "; its foot lifted above '{ground}' by up to {length} on {frames}, {at}",
            ground=self.circumstances.ground,
            length=self._length(lifted[worst]),
            frames=number_of(count, "frame"),
            at=at,
        )

    def parted_words(self) -> str:
        """Return "; by each frame alone live shows another pose at frames 40 to 52", or ""."""
        if self.circumstances.parted is None or not self.circumstances.parted.any():
            return ""
        (begin, end), *others = runs(self.circumstances.parted)
        first, last = self.frames[begin], self.frames[end - 1]
        more = say(" and on {runs}", runs=number_of(len(others), "other run")) if others else ""
        if last > first:
            words = noted(
                "; by each frame alone live shows another pose at frames {first:g} to {last:g}{more}"
            )
            return say(words, first=first, last=last, more=more)
        words = noted("; by its frame alone live shows another pose at frame {first:g}{more}")
        return say(words, first=first, more=more)

    def _length(self, length: float) -> str:
        return length_text(length, self.standard.units)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain lists and numbers, ready for JSON, without fields that are None."""
        played, joints, hands, angles = self.played, self.joints, self.played.hands, self.joints.angles
        told = {
            "name": self.name,
            "armature": self.armature,
            "bones": self.bones,
            "solver": self.solver,
            "target": self.target,
            "plane": self.circumstances.plane,
            "reach": self.standard.reach,
            "keys": played.keys,
            "summary": self.sentence(),
            "reached": self.reached,
            "verified": self.standard.verified,
            "max_error": self.max_error,
            "max_error_frame": self.max_error_frame,
            "max_error_from": self.max_error_from,
            "plays_back_worse_by": max(0.0, played.worse_by),
            "forced": self.standard.forced,
            "fk_frames": self.fk_frames,
            "warnings": self.warnings,
            "frames": self.frames,
            "fk": self.fk if self.fk_frames else None,
            "status": [Status(int(status)).name for status in self.status],
            "residual": self.residual,
            "off_plane": self.off_plane,
            "distance": self.distance,
            "keyed": played.keyed,
            "iterations": joints.iterations,
            "limited": [self.limited_bones(i) for i in range(len(self.frames))],
            "joint_speed": joints.speed,
            "played_back": played.on_frames,
            "played_back_between": np.column_stack((played.between_times, played.between)),
            "stretch": joints.stretch,
            "slides": joints.slides,
            "hands": hands and hands.bones,
            "hands_off": hands and hands.off,
            "hands_between": hands and hands.between,
            "max_hands_off": self.max_hands_off,
            "max_hands_off_time": self.max_hands_off_time,
            "angle_error": None if joints.angle_error is None else joints.angle_error.round(DIGITS),
            "lifted": self.circumstances.lifted,
            "post": joints.post and joints.post.bone,
            "post_angle": joints.post and joints.post.angles.round(DIGITS),
            "post_near_axis": joints.post and joints.post.near_axis,
            "plane_axes": angles and angles.plane_axes.tolist(),
            "angles": self._angles_by_bone(),
            "parted": self.circumstances.parted,
        }
        return {name: _plain(value) for name, value in told.items() if value is not None}

    def _slides_in_words(self, i: int) -> str:
        """Return the slides on the i-th frame in words: "boom=0.5 section=0.25"."""
        slides = () if self.joints.slides is None else self.joints.slides[i].tolist()
        return " ".join(f"{bone}={slide:.6g}" for bone, slide in zip(self.bones, slides, strict=True))

    def _angles_by_bone(self) -> dict[str, dict[str, list[float | None]]] | None:
        """Return the angles in radians by kind and bone, ready for JSON; None where there are none."""
        angles = self.joints.angles
        if angles is None or angles.from_rest is None or angles.directions is None:
            return None
        return {
            kind: {
                bone: _plain(column) for bone, column in zip(self.bones, turned.T.round(DIGITS), strict=True)
            }
            for kind, turned in (("from_rest", angles.from_rest), ("in_plane", angles.directions))
        }

    def _angle_cells(self) -> Iterator[dict[str, Any]]:
        """Yield the names of the bones and their angles in degrees, one pair of columns a bone, by frame."""
        angles = self.joints.angles
        if angles is None or angles.from_rest is None or angles.directions is None:
            yield from ({} for _ in self.frames)
            return
        pairs = np.degrees(np.stack((angles.from_rest, angles.directions), axis=2)).round(DIGITS - 2)
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
            if self.joints.angle_error is not None:
                row["angle_error_degrees"] = float(np.degrees(self.joints.angle_error[i]).round(DIGITS - 2))
            if self.joints.post is not None:
                row["post_degrees"] = float(np.degrees(self.joints.post.angles[i]).round(DIGITS - 2))
            if "slides" in row:
                row["slides"] = self._slides_in_words(i)
            yield row | next(angles)


def _plain(value: Any) -> Any:
    """Return arrays and tuples as lists with None for NaN, and other values as they are."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return [None if each != each else each for each in value] if isinstance(value, list | tuple) else value
