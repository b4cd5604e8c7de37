# SPDX-License-Identifier: GPL-3.0-or-later
"""One case: what its seed and number draw, the folder that it happens in, and what came of it."""

import random
import shutil
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Protocol

from .program import Ended, Program


class Outcome(StrEnum):
    """What came of a case; all but the last are as they should be."""

    DONE = "done"  # exit code 0, whole files
    OVER = "over --max-error"  # exit code 1, whole files
    REFUSED = "refused"  # exit code 2, one sentence, nothing changed
    OLD = "old file whole"  # after a kill
    NEW = "new file whole"  # after a kill
    BLENDER = "Blender's own"  # Blender crashes, hangs or balks at the same without the add-on
    SKIPPED = "skipped"  # cannot be tried on this machine
    FAILED = "failed"


OF_CODE = {0: Outcome.DONE, 1: Outcome.OVER, 2: Outcome.REFUSED}


class Blender(Protocol):
    """What is asked of Blender without the add-on, and of a quicker way to run the program."""

    def look(self, path: Path) -> dict | None:
        """Return {"baked": number of keys that bakes made} of a .blend; None if it does not open."""

    def run(self, words: list, cwd: Path, limit: float) -> Ended:
        """Run the program as Program.run does."""


@dataclass(frozen=True)
class Result:
    """What came of one case."""

    part: str
    seed: int
    number: int
    what: str
    outcome: Outcome
    complaints: list[str] = field(default_factory=list)
    printed: str = ""

    @property
    def name(self) -> str:
        """What --case takes."""
        return f"{self.part}:{self.number}"

    def __str__(self) -> str:
        return f"{self.name:20} {self.outcome:17} {self.what}" + "".join(
            f"\n    {c}" for c in self.complaints
        )


@dataclass
class Case:
    """The number-th case of a part. All that it draws comes from `random`, which the seed sets."""

    part: str
    seed: int
    number: int
    folder: Path
    samples: dict[str, Path]
    program: Program
    blender: Blender

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.place.mkdir(parents=True)
        self.temporary.mkdir()

    @cached_property
    def random(self) -> random.Random:
        """Draws the case."""
        return random.Random(f"{self.seed} {self.part} {self.number}")

    @property
    def place(self) -> Path:
        """Where the scene lies and the program works."""
        return self.folder / "place"

    @property
    def temporary(self) -> Path:
        """The temporary directory of the program's runs."""
        return self.folder / "tmp"

    def scene(self, sample: str, name: str = "scene.blend") -> Path:
        """Return a copy of a sample scene in the case's place."""
        return Path(shutil.copy(self.samples[sample], self.place / name))

    def result(
        self, what: str, outcome: Outcome, complaints: list[str], ended: Ended | None = None
    ) -> Result:
        """Return what came of it: a failure where there are complaints."""
        outcome = Outcome.FAILED if complaints else outcome
        printed = ended.text[-4000:] if ended and complaints else ""
        return Result(self.part, self.seed, self.number, what, outcome, complaints, printed)

    def of_code(self, what: str, complaints: list[str], ended: Ended) -> Result:
        """Return what came of a run that ended with an exit code."""
        return self.result(what, OF_CODE.get(ended.code, Outcome.FAILED), complaints, ended)
