# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake came to, in numbers and in words."""

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from .core import Status
from .core.chain import Floats

_MISSED_IN_WORDS = {
    Status.TOO_FAR: "too far",
    Status.TOO_CLOSE: "too close",
    Status.LIMITED: "stopped by limits",
    Status.STALLED: "stalled",
}


@dataclass(frozen=True, eq=False)
class ChainReport:
    """What one chain came to. Lengths are in the world's Blender units."""

    name: str
    armature: str
    bones: tuple[str, ...]
    solver: str
    target: str
    frames: NDArray[np.int64]  # (frames,)
    status: NDArray[np.int8]  # (frames,) core.Status
    residual: Floats  # (frames,) tip to target, as seen along the plane's normal
    off_plane: Floats  # (frames,) target to the tip's plane
    iterations: NDArray[np.int32]  # (frames,)
    reach: float
    unit_system: str
    warnings: tuple[str, ...] = ()

    @property
    def missed(self) -> NDArray[np.bool_]:
        """(frames,) True where the tip is not on its target."""
        return self.status != Status.REACHED

    def sentence(self) -> str:
        """Return what came of the chain: "3 of 250 frames out of reach, worst by 0.12 m at frame 87"."""
        missed = int(self.missed.sum())
        if not missed:
            return f"{_count(len(self.frames), 'frame')}, target reached{' on all' * (len(self.frames) > 1)}"
        worst = int(np.argmax(np.where(self.missed, self.residual, -1.0)))
        return (
            f"{missed} of {_count(len(self.frames), 'frame')} {self._missed_how()},"
            f" worst by {length_text(self.residual[worst], self.unit_system)} at frame {self.frames[worst]}"
        )

    def _missed_how(self) -> str:
        kinds = {Status(int(kind)) for kind in np.unique(self.status[self.missed])}
        if kinds <= {Status.TOO_FAR, Status.TOO_CLOSE}:
            return "out of reach"
        return " or ".join(_MISSED_IN_WORDS[kind] for kind in sorted(kinds))

    def to_dict(self) -> dict:
        """Return plain lists and numbers, ready for JSON."""
        return {
            "name": self.name,
            "armature": self.armature,
            "bones": list(self.bones),
            "solver": self.solver,
            "target": self.target,
            "reach": self.reach,
            "summary": self.sentence(),
            "warnings": list(self.warnings),
            "frames": self.frames.tolist(),
            "status": [Status(int(status)).name for status in self.status],
            "residual": self.residual.tolist(),
            "off_plane": self.off_plane.tolist(),
            "iterations": self.iterations.tolist(),
        }


@dataclass(frozen=True, eq=False)
class BakeReport:
    """What a solve or a bake of one armature came to."""

    armature: str
    chains: tuple[ChainReport, ...]
    verb: str = "Baked"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went well enough to go on, but deserves a word."""
        return tuple(warning for chain in self.chains for warning in chain.warnings)

    @property
    def all_reached(self) -> bool:
        """Whether every tip is on its target on every frame."""
        return not any(chain.missed.any() for chain in self.chains)

    @property
    def max_residual(self) -> float:
        """The largest distance from a tip to its target, in the world's Blender units."""
        return max(float(chain.residual.max()) for chain in self.chains)

    def sentence(self) -> str:
        """Return one sentence with the numbers that matter, for the status bar and the terminal."""
        frames = len(self.chains[0].frames)
        done = f"{self.verb} {_count(frames, 'frame')} on {_count(len(self.chains), 'chain')}"
        bad = [chain for chain in self.chains if chain.missed.any()]
        if not bad:
            return f"{done}; every target reached"
        worst = max(bad, key=lambda chain: chain.residual[chain.missed].max())
        named = f" of '{worst.name}'" if len(self.chains) > 1 else ""
        return f"{done}; {worst.sentence()}{named}"

    def to_dict(self) -> dict:
        """Return plain lists and numbers, ready for JSON."""
        return {
            "armature": self.armature,
            "summary": self.sentence(),
            "max_residual": self.max_residual,
            "chains": [chain.to_dict() for chain in self.chains],
        }


def length_text(length: float, unit_system: str) -> str:
    """Return a length as the scene's units write it: "0.12 m"."""
    return bpy.utils.units.to_string(unit_system, 'LENGTH', float(length), precision=3)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
