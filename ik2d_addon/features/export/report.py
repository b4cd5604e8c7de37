# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of an export: its files, its clips, and how near the joints come back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...bake import BakeReport
from ...bake.lengths import Units, rough_length
from ...core.words import listed, number_of, say

_SAME = 1e-4  # of a rig's size: formats lose a hundredth of it


@dataclass(frozen=True)
class ClipReport:
    """A clip of a rig: how far its joints are from where the bake has them, as read back from the file."""

    clip: str
    rig: str
    file: str  # its name
    frames: int
    on_frames: float  # the largest distance on frames, in Blender units
    between: float  # and half-way, as Blender's own importer fills the gaps
    part_of_size: float  # that on frames as a part of the rig's size at rest

    def warnings(self, units: Units) -> list[str]:
        """Return a sentence where the clip has come back as another motion."""
        if self.part_of_size <= _SAME:
            return []
        return [
            say(
                "{rig}: {clip}: joints came back off by {length}: look at the clip before you use it",
                rig=self.rig,
                clip=self.clip,
                length=rough_length(self.on_frames, units),
            )
        ]


@dataclass(frozen=True)
class ExportReport:
    """The report of an export."""

    format: str
    files: tuple[str, ...]  # all that were written, the first one that asked for
    clips: tuple[ClipReport, ...]
    units: Units
    warnings: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()  # for each armature whose tips do not all reach, the sentence of its bake

    @property
    def max_difference(self) -> float:
        """The largest distance of a joint, as read back, on any clip's frames."""
        return max(clip.on_frames for clip in self.clips)

    def sentence(self) -> str:
        """Return one sentence for the status bar and the terminal."""
        return say(
            "Exported {clips} of {rigs} to {files}; read back, joints are off by {length} on the frames",
            clips=number_of(len({clip.clip for clip in self.clips}), "clip"),
            rigs=listed(dict.fromkeys(clip.rig for clip in self.clips), most=2),
            files=listed(dict.fromkeys(clip.file for clip in self.clips), most=2),
            length=rough_length(self.max_difference, self.units),
        )

    def lines(self) -> list[str]:
        """Return a line for each clip of each rig."""
        return [
            say(
                "{rig}: {clip}: {frames}; joints off by {length}, half-way by {between}",
                rig=clip.rig,
                clip=clip.clip,
                frames=number_of(clip.frames, "frame"),
                length=rough_length(clip.on_frames, self.units),
                between=rough_length(clip.between, self.units),
            )
            for clip in self.clips
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            **asdict(self),
            "units": list(self.units),
            "max_difference": self.max_difference,
            "sentence": self.sentence(),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "ExportReport":
        """Return the report that `to_dict` has made this dict of."""
        return cls(
            told["format"],
            tuple(told["files"]),
            tuple(ClipReport(**clip) for clip in told["clips"]),
            Units(*told["units"]),
            tuple(told["warnings"]),
            tuple(told["misses"]),
        )


def missed(reports: Sequence[BakeReport]) -> tuple[str, ...]:
    """Return the sentences of the bakes that leave tips off their targets, each after its action."""
    return tuple(f"{report.action}: {report.sentence()}" for report in reports if not report.all_reached)


def replaced(reports: Sequence[BakeReport]) -> list[str]:
    """Return a sentence for each action with keys made by hand that the bake has replaced."""
    return [
        say(
            "{action}: the chains' motion replaces {keys}; to export these keys, untick the chains",
            action=report.action,
            keys=report.replaced.words,
        )
        for report in reports
        if report.replaced.keys
    ]
