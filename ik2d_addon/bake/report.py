# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake came to, in numbers and in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import Status
from ..core.inputs import Floats

# What Blender's 32-bit floats may add to a promised distance, as a part of the reach.
PLAYED_BACK = 1e-5
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
    limited: NDArray[np.bool_]  # (frames, n) joints that stand at a limit
    joint_speed: Floats  # (frames,) degrees that the fastest joint turns in a frame, since the key before
    played_back: Floats  # (frames,) tip to target as Blender plays the keys back; NaN where not looked at
    between_times: Floats  # (m,) times between the keys that were looked at too
    between: Floats  # (m,) tip to target then
    reach: float
    unit_system: str
    warnings: tuple[str, ...] = ()
    keys: int = 0  # on each channel
    plays_back_worse_by: float = 0.0  # the most that a tip, played back, was further off than promised

    @property
    def errors(self) -> Floats:
        """(frames,) distance from the tip to its target: the solver's or the played-back one, if larger."""
        return np.fmax(np.hypot(self.residual, self.off_plane), self.played_back)

    @property
    def max_error(self) -> float:
        """The largest of `errors`."""
        return float(self.errors.max())

    @property
    def plays_back_worse(self) -> bool:
        """Whether Blender leaves a tip further from its target than was promised, beyond its rounding."""
        return self.plays_back_worse_by > PLAYED_BACK * self.reach

    @property
    def max_played_back(self) -> float:
        """The largest distance that was measured as Blender plays the keys back; 0 where none was."""
        return float(np.fmax.reduce(np.concatenate((self.played_back, self.between)), initial=0.0))

    @property
    def missed(self) -> NDArray[np.bool_]:
        """(frames,) True where the tip is not on its target."""
        missed: NDArray[np.bool_] = self.status != Status.REACHED
        return missed

    @property
    def worst_frame(self) -> int:
        """The frame of the largest residual."""
        return int(self.frames[int(np.argmax(self.residual))])

    def limited_bones(self, i: int) -> list[str]:
        """Return the bones that stand at a limit on the i-th frame."""
        return [name for name, limited in zip(self.bones, self.limited[i], strict=True) if limited]

    def sentence(self) -> str:
        """Return what came of the chain: "3 of 250 frames out of reach, worst by 0.12 m at frame 87"."""
        return self.solved_words() + self.played_back_words()

    def played_back_words(self) -> str:
        """Return ", but plays back up to 1.15 m off" where that is more than was promised, else ""."""
        if not self.plays_back_worse:
            return ""
        return f", but plays back up to {length_text(self.max_played_back, self.unit_system)} off"

    def solved_words(self) -> str:
        """Return how many frames missed the target as solved, and by how much."""
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, ready for JSON."""
        return {
            "name": self.name,
            "armature": self.armature,
            "bones": list(self.bones),
            "solver": self.solver,
            "target": self.target,
            "reach": self.reach,
            "keys": self.keys,
            "summary": self.sentence(),
            "max_error": self.max_error,
            "plays_back_worse_by": max(0.0, self.plays_back_worse_by),
            "warnings": list(self.warnings),
            "frames": self.frames.tolist(),
            "status": [Status(int(status)).name for status in self.status],
            "residual": self.residual.tolist(),
            "off_plane": self.off_plane.tolist(),
            "iterations": self.iterations.tolist(),
            "limited": [self.limited_bones(i) for i in range(len(self.frames))],
            "joint_speed": self.joint_speed.tolist(),
            "played_back": [None if np.isnan(error) else float(error) for error in self.played_back],
            "played_back_between": np.column_stack((self.between_times, self.between)).tolist(),
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one flat row a frame, for a table."""
        for i, frame in enumerate(self.frames.tolist()):
            played = self.played_back[i]
            yield {
                "armature": self.armature,
                "chain": self.name,
                "frame": frame,
                "status": Status(int(self.status[i])).name,
                "residual": float(self.residual[i]),
                "off_plane": float(self.off_plane[i]),
                "played_back": "" if np.isnan(played) else float(played),
                "limited": " ".join(self.limited_bones(i)),
                "joint_speed": float(self.joint_speed[i]),
                "iterations": int(self.iterations[i]),
            }


@dataclass(frozen=True, eq=False)
class BakeReport:
    """What a solve or a bake of one armature came to."""

    armature: str
    chains: tuple[ChainReport, ...]
    verb: str = "Baked"
    full_scene: str = ""  # why the whole scene had to be evaluated for the samples; "" if it had not
    rig_warnings: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went well enough to go on, but deserves a word."""
        return (*self.rig_warnings, *(warning for chain in self.chains for warning in chain.warnings))

    @property
    def all_reached(self) -> bool:
        """Whether every tip is on its target on every frame, also as Blender plays it back."""
        return not any(chain.missed.any() or chain.plays_back_worse for chain in self.chains)

    @property
    def max_residual(self) -> float:
        """The largest distance from a tip to its target as solved, seen along the plane's normal."""
        return max(float(chain.residual.max()) for chain in self.chains)

    @property
    def max_error(self) -> float:
        """The largest distance from a tip to its target, solved or played back, in the world's units."""
        return max(chain.max_error for chain in self.chains)

    def sentence(self) -> str:
        """Return one sentence with the numbers that matter, for the status bar and the terminal."""
        frames = len(self.chains[0].frames)
        done = f"{self.verb} {_count(frames, 'frame')} on {_count(len(self.chains), 'chain')}{self._keys()}"
        return f"{done}; {self._solved()}{self._played_back()}"

    def _solved(self) -> str:
        bad = [chain for chain in self.chains if chain.missed.any()]
        if not bad:
            return "every target reached"
        worst = max(bad, key=lambda chain: chain.residual[chain.missed].max())
        named = f" of '{worst.name}'" if len(self.chains) > 1 else ""
        return f"{worst.solved_words()}{named}"

    def _played_back(self) -> str:
        worse = [chain for chain in self.chains if chain.plays_back_worse]
        if not worse:
            return ""
        worst = max(worse, key=lambda chain: chain.max_played_back)
        named = f" on '{worst.name}'" if len(self.chains) > 1 else ""
        return f"{worst.played_back_words()}{named}"

    def _keys(self) -> str:
        """Return how many keys the chains got, where not one on each frame: " with 14 keys each"."""
        if not any(0 < chain.keys < len(chain.frames) for chain in self.chains):
            return ""
        fewest, most = min(chain.keys for chain in self.chains), max(chain.keys for chain in self.chains)
        return f" with {_count(most, 'key') if fewest == most else f'{fewest} to {most} keys'} each"

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, ready for JSON."""
        return {
            "armature": self.armature,
            "summary": self.sentence(),
            "max_residual": self.max_residual,
            "max_error": self.max_error,
            "sampled": f"the full scene: {self.full_scene}"
            if self.full_scene
            else "only what the chains need",
            "warnings": list(self.rig_warnings),
            "chains": [chain.to_dict() for chain in self.chains],
        }


def length_text(length: float, unit_system: str) -> str:
    """Return a length as the scene's units write it: "0.12 m"."""
    return str(bpy.utils.units.to_string(unit_system, 'LENGTH', float(length), precision=3))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
