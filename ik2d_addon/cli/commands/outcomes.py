# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcomes of several files: what the process of each tells, and the last line of all."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from ...bake import BakeReport
from ...bake.lengths import length_text
from ..exit_codes import DONE, NOT_HELD

_OUTCOME = "ik2d: outcome: "


@dataclass(frozen=True)
class FileOutcome:
    """The outcome of one file's bake."""

    reached: bool  # whether every tip is known to be on its target
    misses: bool  # whether a tip is known to be off its target
    distance: float  # the largest known one from a tip to its target, in Blender units
    in_words: str  # the same, as the scene's units write it

    @classmethod
    def of(cls, done: Sequence[BakeReport]) -> "FileOutcome":
        """Return the outcome of all armatures of a file."""
        chains = [chain for report in done for chain in report.chains]
        worst = max(chains, key=lambda chain: chain.max_error, default=None)
        machines = [one for report in done for one in report.mechanisms]
        gap = max((max(one.max_open, one.max_open_between) for one in machines), default=0.0)
        return cls(
            all(report.all_reached for report in done),
            any(chain.misses for chain in chains) or not all(one.is_good for one in machines),
            worst.max_error if worst is not None else 0.0,
            length_text(worst.max_error, worst.standard.units)
            if worst is not None
            else f"{gap:.2g} of its size",
        )


def outcome_line(words: str, bake: FileOutcome | None = None) -> str:
    """Return the line by which a process tells its outcome to the one that started it."""
    return _OUTCOME + json.dumps({"words": words, "bake": bake and asdict(bake)})


def parted(told: str) -> tuple[str, str, FileOutcome | None]:
    """Return the lines of a process without that for its outcome, and from this its words and its bake.

    Words are "" where it has told none, and where it died while it wrote that line.
    """
    lines = told.splitlines()
    outcomes = [line for line in lines if line.startswith(_OUTCOME)]
    words, bake = "", None
    with suppress(ValueError, TypeError, LookupError):
        content = json.loads(outcomes[-1].removeprefix(_OUTCOME))
        words, bake = str(content["words"]), content["bake"] and FileOutcome(**content["bake"])
    return "\n".join(line for line in lines if line not in outcomes), words, bake


def summary(ended: Sequence[tuple[str, int, FileOutcome | None]]) -> str:
    """Return the last line of several files, of each its name, exit code and outcome.

    "36 files: 14 reached, 21 have chains that miss, worst 2.35 m in hand.blend; 1 with exit code 2". One
    whose process failed after its bake counts by the exit code alone.
    """
    done = [each for each in ended if each[1] in (DONE, NOT_HELD)]
    told = [(name, outcome) for name, _, outcome in done if outcome is not None]
    missing = [(name, outcome) for name, outcome in told if outcome.misses]
    reached = sum(outcome.reached for _, outcome in told)
    words = [f"{reached} reached"] if reached else []
    if missing:
        name, worst = max(missing, key=lambda each: each[1].distance)
        words.append(f"{_having(len(missing))} that miss, worst {worst.in_words} in {name}")
    if doubtful := len(told) - reached - len(missing):
        words.append(f"{_having(doubtful)} left out or in doubt")
    not_held = sum(code == NOT_HELD for _, code, outcome in done if outcome is not None)
    of_them = [f"{not_held} of them with exit code {NOT_HELD}"] if not_held else []
    counts = Counter(code for _, code, outcome in ended if outcome is None or code not in (DONE, NOT_HELD))
    codes = [f"{counts[code]} with exit code {code}" for code in sorted(counts) if code or not told]
    parts = (", ".join(each) for each in (words, of_them, codes) if each)
    return f"{len(ended)} file{'s' * (len(ended) != 1)}: {'; '.join(parts)}"


def _having(files: int) -> str:
    return "1 has chains" if files == 1 else f"{files} have chains"
