# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.words import noted, number_of, say
from .chain_report import ChainReport


@dataclass(frozen=True, eq=False)
class BakeReport:
    """The report of a solve or a bake of one armature, or of several: then it has a part for each."""

    armature: str  # of several, their names
    chains: tuple[ChainReport, ...]
    verb: str = noted("Baked")
    full_scene: str = ""  # why the whole scene had to be evaluated for the samples; "" if it had not
    rig_warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # the fault of each chain that was asked for and could not be solved
    stepped: str = ""  # the object that was not where its F-Curves say, so that frames were stepped through
    parts: tuple["BakeReport", ...] = ()  # of several armatures the report of each

    @classmethod
    def joined(cls, parts: Sequence["BakeReport"]) -> "BakeReport":
        """Return one report on the bakes of one or more armatures."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            ", ".join(part.armature for part in parts),
            tuple(chain for part in parts for chain in part.chains),
            parts[0].verb,
            next((part.full_scene for part in parts if part.full_scene), ""),
            tuple(f"{part.armature}: {warning}" for part in parts for warning in part.rig_warnings),
            tuple(f"{part.armature}: {fault}" for part in parts for fault in part.left_out),
            next((part.stepped for part in parts if part.stepped), ""),
            tuple(parts),
        )

    @property
    def by_armature(self) -> tuple["BakeReport", ...]:
        """The report of each armature, as a bake of it alone gives it."""
        return self.parts or (self,)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings on the armature and its chains; of several armatures after the name of each."""
        if self.parts:
            return tuple(f"{part.armature}: {one}" for part in self.parts for one in part.warnings)
        return (
            *self.left_out,
            *self.rig_warnings,
            *(warning for chain in self.chains for warning in chain.warnings),
        )

    @property
    def forced(self) -> tuple[str, ...]:
        """Problems that would have been refused without BakeOptions.force; with any, no distance is sure."""
        return tuple(dict.fromkeys(problem for chain in self.chains for problem in chain.forced))

    @property
    def all_reached(self) -> bool:
        """Whether every tip is known to be on its target, also as Blender plays it back."""
        return not self.left_out and all(chain.reached for chain in self.chains)

    @property
    def max_residual(self) -> float:
        """The largest distance from a tip to its target as solved, seen along the plane's normal."""
        return max(float(chain.residual.max()) for chain in self.chains)

    @property
    def max_error(self) -> float:
        """The largest known distance from a tip to its target, on the frames and between them."""
        return max(chain.max_error for chain in self.chains)

    def sentence(self) -> str:
        """Return one sentence with the numbers that matter, for the status bar and the terminal."""
        frames, chains = len(self.chains[0].frames), len(self.chains)
        rigs = say(" of {count} armatures", count=len(self.parts)) if self.parts else ""
        done = say(
            "{verb} {frames} on {chains}{rigs}{keys}",
            verb=self.verb,
            frames=number_of(frames, "frame"),
            chains=number_of(chains, "chain"),
            rigs=rigs,
            keys=self._keys(),
        )
        forced = sum(bool(chain.forced) for chain in self.chains)
        by_force = (
            say("; {chains} by force, see the warnings", chains=number_of(forced, "chain")) if forced else ""
        )
        left_out = (
            say("; {chains} left out", chains=number_of(len(self.left_out), "faulty chain"))
            if self.left_out
            else ""
        )
        return f"{done}; {self._outcome()}{self._hands()}{by_force}{left_out}"

    def _outcome(self) -> str:
        """Return the result of the chain that is furthest off, or that all have reached their targets."""
        worst = max(self.chains, key=lambda chain: chain.max_error)
        bad = [chain for chain in self.chains if not chain.reached]
        if not bad:
            reached = (
                say("all others reached their targets") if self.left_out else say("every target reached")
            )
            return f"{reached}{worst.unverified_words()}{worst.between_words()}"
        worst = max(bad, key=lambda chain: (chain.missed.any(), chain.max_error))
        named = say(" of '{chain}'", chain=worst.name) if len(self.chains) > 1 else ""
        named += say(" on '{armature}'", armature=worst.armature) if self.parts else ""
        if worst.missed.any():
            return f"{worst.missed_words()}{named}"
        return f"{worst.doubt_words()}{named}"

    def _hands(self) -> str:
        """Return how far hands are off their rotation, where that is worth a word, in words."""
        return max(self.chains, key=lambda chain: chain.max_hands_off or 0.0).hands_words()

    def _keys(self) -> str:
        """Return the number of keys, unless one on each frame, in words: " with 14 keys each"."""
        if not any(0 < chain.keys < len(chain.frames) for chain in self.chains):
            return ""
        fewest, most = min(chain.keys for chain in self.chains), max(chain.keys for chain in self.chains)
        return say(
            " with {part} each",
            part=number_of(most, "key")
            if fewest == most
            else say("{fewest} to {most} keys", fewest=fewest, most=most),
        )

    def _sampled(self) -> str:
        """Return the part of the scene that was evaluated for the samples, and why that much."""
        if self.full_scene:
            return f"the full scene: {self.full_scene}"
        if self.stepped:
            return f"by stepping: {self.stepped} was elsewhere than its F-Curves say"
        return "only what the chains need"

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain lists and numbers, ready for JSON."""
        return {
            "armature": self.armature,
            "summary": self.sentence(),
            "all_reached": self.all_reached,
            "max_residual": self.max_residual,
            "max_error": self.max_error,
            "sampled": self._sampled(),
            "warnings": list(self.rig_warnings),
            "left_out": list(self.left_out),
            "chains": [chain.to_dict() for chain in self.chains],
        }
