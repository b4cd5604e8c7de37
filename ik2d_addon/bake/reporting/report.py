# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake, in numbers and in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.affine import changed
from ...core.words import listed, noted, number_of, say
from ...rig.animation.kept.keeping import Replaced
from .causes import unmoved_words
from .chain_report import ChainReport
from .mechanism_report import MechanismReport


@dataclass(frozen=True, eq=False)
class BakeReport:
    """The report of a solve or a bake of one armature, or of several: then it has a part for each."""

    armature: str  # of several, their names
    chains: tuple[ChainReport, ...]
    verb: str = noted("Baked")
    full_scene: str = ""  # why the whole scene had to be evaluated for the samples; "" if it had not
    rig_warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # the fault of each chain or mechanism that could not be solved
    stepped: str = ""  # the object that was not where its F-Curves say, so that frames were stepped through
    parts: tuple["BakeReport", ...] = ()  # of several armatures the report of each
    replaced: Replaced = Replaced()  # keys made by hand, which are kept
    action: str = ""  # the action with the keys, where actions or new ones were asked for
    source_action: str = ""  # the one that was baked: another one where the keys went to a copy
    actions: tuple["BakeReport", ...] = ()  # of actions that were asked for the report of each
    mechanisms: tuple[MechanismReport, ...] = ()

    @classmethod
    def joined(cls, parts: Sequence["BakeReport"]) -> "BakeReport":
        """Return one report on the bakes of one or more armatures."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            ", ".join(report.armature for report in parts),
            verb=parts[0].verb,
            rig_warnings=tuple(f"{each.armature}: {words}" for each in parts for words in each.rig_warnings),
            left_out=tuple(f"{report.armature}: {fault}" for report in parts for fault in report.left_out),
            parts=tuple(parts),
            action=", ".join(dict.fromkeys(report.action for report in parts)),
            source_action=", ".join(dict.fromkeys(report.source_action for report in parts)),
            **_together(parts),
        )

    @classmethod
    def over_actions(cls, clips: Sequence["BakeReport"], armatures: Sequence[str]) -> "BakeReport":
        """Return one report on the bakes of several actions of armatures, one after the other."""
        by_armature: dict[str, list[BakeReport]] = {name: [] for name in armatures}
        for clip in clips:
            for report in clip.by_armature:
                by_armature[report.armature].append(report)
        wholes = [cls._of_one_armature(reports) for reports in by_armature.values()]
        return changed(cls.joined(wholes), actions=tuple(clips), action="", source_action="")

    @classmethod
    def _of_one_armature(cls, clips: Sequence["BakeReport"]) -> "BakeReport":
        """Return one report on the bakes of one armature in several actions."""
        return changed(
            clips[0],
            **_together(clips),
            rig_warnings=_once(clips, [report.rig_warnings for report in clips]),
            left_out=_once(clips, [report.left_out for report in clips]),
            action="",
            source_action="",
            actions=tuple(clips),
        )

    @property
    def by_action(self) -> tuple["BakeReport", ...]:
        """The report of each action, as a bake of it alone gives it."""
        return self.actions or (self,)

    @property
    def by_armature(self) -> tuple["BakeReport", ...]:
        """The report of each armature, as a bake of it alone gives it."""
        return self.parts or (self,)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings on the armature and its chains; of several after the name of each."""
        if self.actions:
            return _once(self.actions, [report.warnings for report in self.actions])
        if self.parts:
            return tuple(
                f"{report.armature}: {sentence}" for report in self.parts for sentence in report.warnings
            )
        return (
            *self.left_out,
            *self.rig_warnings,
            *(warning for chain in self.chains for warning in chain.warnings),
            *(warning for one in self.mechanisms for warning in one.warnings),
        )

    @property
    def forced(self) -> tuple[str, ...]:
        """Problems that would have been refused without BakeOptions.force; with any, no distance is sure."""
        return tuple(dict.fromkeys(problem for chain in self.chains for problem in chain.standard.forced))

    @property
    def all_reached(self) -> bool:
        """Whether in Blender all tips are on their targets, but for FK frames, and all mechanisms closed."""
        return (
            not self.left_out
            and all(chain.reached for chain in self.chains)
            and all(one.is_good for one in self.mechanisms)
        )

    @property
    def unmoved(self) -> tuple[str, ...]:
        """The chains whose targets do not move, so that they have one pose; of several actions in all."""
        moved = {chain.name for chain in self.chains if not chain.circumstances.unmoved}
        still = dict.fromkeys(chain.name for chain in self.chains if chain.circumstances.unmoved)
        return tuple(name for name in still if not self.actions or name not in moved)

    @property
    def is_good(self) -> bool:
        """Whether the result is as a person wants it: every tip on its target, and no target forgotten."""
        return self.all_reached and not self.unmoved

    @property
    def max_residual(self) -> float:
        """The largest distance from a tip to its target as solved, seen along the plane's normal."""
        return max((chain.max_residual for chain in self.chains), default=0.0)

    @property
    def max_error(self) -> float:
        """The largest known distance from a tip to its target, or opening of a joint, also between frames."""
        known = [chain.max_error for chain in self.chains] + [one.max_error for one in self.mechanisms]
        return max(known, default=0.0)

    def sentence(self) -> str:
        """Return one sentence with the numbers that matter, for the status bar and the terminal."""
        rigs = say(" of {count} armatures", count=len(self.parts)) if self.parts else ""
        done = say(
            "{verb} {frames} on {chains}{rigs}{keys}",
            verb=self.verb,
            frames=self._frames(),
            chains=self._done_on(),
            rigs=rigs,
            keys=self._keys(),
        )
        forced = sum(bool(chain.standard.forced) for chain in self.chains)
        by_force = (
            say("; {chains} by force, see the warnings", chains=number_of(forced, "chain")) if forced else ""
        )
        left_out = say("; {count} left out as faulty", count=len(self.left_out)) if self.left_out else ""
        return (
            f"{done}; {self._outcome()}{self._fk()}{self._hands()}{self._replaced()}{by_force}{left_out}"
            f"{self._unmoved()}"
        )

    def lines(self) -> tuple[str, ...]:
        """Return the result in one line, in fewer and fewer words: the first that fits is to be shown."""
        frames, outcome = self._frames(), self._outcome_in_short()
        count = self._chain_count + len(self.mechanisms)
        chains = self._done_on()
        counted = say("{frames}, {chains}", frames=frames, chains=chains) if count > 1 else frames
        whole = say("{verb} {frames}: {outcome}", verb=self.verb, frames=counted, outcome=outcome)
        warnings = number_of(len(self.warnings), "warning")
        noted_too = [say("{line}; {warnings}", line=whole, warnings=warnings)] if self.warnings else []
        if fk := self._frames_of(self._partly_fk, lambda chain: chain.fk):
            line = noted_too[0] if noted_too else whole
            noted_too.insert(0, say("{line}; FK on {frames}", line=line, frames=number_of(len(fk), "frame")))
        shorter = [say("{done}: {outcome}", done=done, outcome=outcome) for done in (counted, frames)]
        return (*noted_too, whole, *shorter, outcome[:1].upper() + outcome[1:])

    def action_line(self) -> str:
        """Return the result in one action, in a line."""
        frames, outcome = self._frames(), self._outcome_in_short()
        return say("{action}, {frames}: {outcome}", action=self.action, frames=frames, outcome=outcome)

    @property
    def _chain_count(self) -> int:
        """The number of chains, each counted once for all actions."""
        return (
            len({(chain.armature, chain.name) for chain in self.chains}) if self.actions else len(self.chains)
        )

    def _done_on(self) -> str:
        """Return the number of chains and of mechanisms."""
        names = {(one.armature, one.name) for one in self.mechanisms}
        machines = number_of(len(names), "mechanism")
        if not self.chains and self.mechanisms:
            return machines
        chains = number_of(self._chain_count, "chain")
        return say("{chains} and {mechanisms}", chains=chains, mechanisms=machines) if names else chains

    @property
    def _frame_count(self) -> int:
        return len(self.chains[0].frames if self.chains else self.mechanisms[0].frames)

    def _frames(self) -> str:
        """Return the number of frames, and of actions where these were asked for."""
        if not self.actions:
            return number_of(self._frame_count, "frame")
        frames = sum(report._frame_count for report in self.actions)
        actions = number_of(len(self.actions), "action")
        return say("{frames} in {actions}", frames=number_of(frames, "frame"), actions=actions)

    def _frames_of(
        self, chains: Sequence[ChainReport], chosen: Callable[[ChainReport], NDArray[np.bool_]]
    ) -> set[tuple[int, float]]:
        """Return the frames of chains that are chosen, each once in each action, with the action's number."""
        return {
            (number, float(frame))
            for number, clip in enumerate(self.by_action)
            for chain in clip.chains
            if chain in chains
            for frame in chain.frames[chosen(chain)]
        }

    def _outcome_in_short(self) -> str:
        """Return on how many frames any tip is off its target, or that all are on theirs, in a few words."""
        bad = [chain for chain in self.chains if not chain.reached]
        if self.left_out:
            return say("{count} left out", count=len(self.left_out))
        if not bad and not all(one.is_closed for one in self.mechanisms):
            return say("joints open")
        if not bad and not all(one.is_good for one in self.mechanisms):
            return say("off target")
        if not self.chains:
            return say("all joints closed")
        if not bad:
            measured = not any(chain.unverified_words() for chain in self.chains)
            return say("all on target") if measured else say("all on target as solved")
        missed = self._frames_of(bad, lambda chain: chain.missed)
        if missed:
            return say("off target on {frames}", frames=number_of(len(missed), "frame"))
        if off := sum(chain.is_off for chain in bad):
            return say("{chains} FK on all frames", chains=number_of(off, "chain"))
        if any(chain.strays for chain in bad):
            return say("off target between frames")
        return say("not measured everywhere")

    def _outcome(self) -> str:
        """Return the results of the chains and of the mechanisms, of each kind the worst."""
        said = [self._outcome_of_chains()] if self.chains else []
        if self.mechanisms:
            worst = max(self.mechanisms, key=lambda one: (not one.is_good, not one.is_closed, one.max_error))
            name = f"'{worst.name}' " if len(self.mechanisms) > 1 else ""
            said.append(f"{name}{worst.sentence()}")
        return "; ".join(said)

    def _outcome_of_chains(self) -> str:
        """Return the result of the chain that is furthest off, or that all have reached their targets."""
        worst = max(self.chains, key=lambda chain: chain.max_error)
        bad = [chain for chain in self.chains if not chain.reached]
        if not bad:
            reached = (
                say("all others reached their targets") if self.left_out else say("every target reached")
            )
            return f"{reached}{worst.unverified_words()}{worst.between_words()}"
        worst = max(bad, key=lambda chain: (chain.missed.any(), chain.max_error))
        named = self._named(worst)
        if worst.missed.any():
            return f"{worst.missed_words()}{named}"
        if worst.is_off:
            return worst.fk_words(named)
        return f"{worst.doubt_words()}{named}"

    def _named(self, chain: ChainReport) -> str:
        """Return whose a number is, " of 'Leg' on 'Rig'", as far as there are others."""
        named = say(" of '{chain}'", chain=chain.name) if self._chain_count > 1 else ""
        named += say(" on '{armature}'", armature=chain.armature) if self.parts else ""
        action = next((report.action for report in self.actions if chain in report.chains), "")
        return named + (say(" in '{action}'", action=action) if action else "")

    @property
    def _partly_fk(self) -> list[ChainReport]:
        """The chains with FK frames among others."""
        return [chain for chain in self.chains if chain.fk_frames and not chain.is_off]

    def _fk(self) -> str:
        """Return the number of FK frames of the chains that have others too, in words, or ""."""
        chains = self._partly_fk
        if not chains:
            return ""
        most = max(chains, key=lambda chain: chain.fk_frames)
        if len(chains) == 1:
            return f"; {most.fk_words(self._named(most))}"
        frames = number_of(most.fk_frames, "frame")
        return say("; {chains} FK on up to {frames}", chains=number_of(len(chains), "chain"), frames=frames)

    def _unmoved(self) -> str:
        """Return the chains whose targets do not move, in words, or "" without any."""
        return f". {unmoved_words(self.unmoved)}" if self.unmoved else ""

    def _hands(self) -> str:
        """Return how far hands are off their rotation, where that is worth a word, in words."""
        worst = max(self.chains, key=lambda chain: chain.max_hands_off or 0.0, default=None)
        return worst.hands_words() if worst is not None else ""

    def _replaced(self) -> str:
        """Return the keys made by hand that were replaced, and the button that gives them back."""
        if not self.replaced.keys:
            return ""
        clear = noted("Clear Snapped Keys") if self.verb == "Snapped" else noted("Clear Bake")
        return say("; replaced {keys}, which {clear} gives back", keys=self.replaced.words, clear=clear)

    def _keys(self) -> str:
        """Return the number of keys, unless one on each frame, in words: " with 14 keys each"."""
        if not any(0 < chain.played.keys < len(chain.frames) for chain in self.chains):
            return ""
        fewest, most = (
            min(chain.played.keys for chain in self.chains),
            max(chain.played.keys for chain in self.chains),
        )
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
        told = {
            "armature": self.armature,
            "summary": self.sentence(),
            "all_reached": self.all_reached,
            "max_residual": self.max_residual,
            "max_error": self.max_error,
            "sampled": self._sampled(),
            "warnings": list(self.rig_warnings),
            "left_out": list(self.left_out),
            "replaced_keys": self.replaced.keys,
        }
        if self.actions:  # whose reports have the chains
            return {**told, "by_action": [report.to_dict() for report in self.actions]}
        if self.action:
            told |= {"action": self.action, "source_action": self.source_action}
        if self.mechanisms:
            told |= {"mechanisms": [one.to_dict() for one in self.mechanisms]}
        return {**told, "chains": [chain.to_dict() for chain in self.chains]}


def _together(reports: Sequence[BakeReport]) -> dict[str, Any]:
    """Return the joined values of reports, by the names of their fields."""
    return {
        "chains": tuple(chain for report in reports for chain in report.chains),
        "mechanisms": tuple(one for report in reports for one in report.mechanisms),
        "full_scene": next((report.full_scene for report in reports if report.full_scene), ""),
        "stepped": next((report.stepped for report in reports if report.stepped), ""),
        "replaced": Replaced.joined([report.replaced for report in reports]),
    }


def _once(reports: Sequence[BakeReport], told: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the sentences of reports on actions, each after their names; once where all say the same."""
    lines: dict[str, list[str]] = {}
    for report, sentences in zip(reports, told, strict=True):
        for sentence in sentences:
            lines.setdefault(sentence, []).append(report.action)
    return tuple(
        sentence if len(actions) == len(reports) > 1 else f"{listed(actions, most=3)}: {sentence}"
        for sentence, actions in lines.items()
    )
