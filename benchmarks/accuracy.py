# SPDX-License-Identifier: GPL-3.0-or-later
"""How many targets each contestant reaches, and how exactly."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .contestants import ALL, OURS, Answers
from .problems import free, limited
from .table import Table, percent, ratio, small
from .timing import say

TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-9)
# Rounding, of 32 bits on Blender's side, must not decide whether a tolerance is met.
ROUNDING = 1.001


@dataclass(frozen=True)
class Accuracy:
    """The answers of all contestants to one kind of problems, by the number of bones."""

    kind: str
    answers: dict[str, dict[int, Answers]]

    def share(self, name: str, bones: int, tolerance: float) -> float:
        """Return the part of the targets that a contestant reached to a tolerance."""
        return float((self.answers[name][bones].residual <= ROUNDING * tolerance).mean())


def measure(bones: tuple[int, ...], count: int) -> list[Accuracy]:
    """Have every contestant solve the free and the limited problems."""
    results = []
    for kind, make in (("free", free), ("limited", limited)):
        answers: dict[str, dict[int, Answers]] = {}
        for contestant in ALL:
            say(f"{kind} joints: {contestant.name}")
            answers[contestant.name] = {n: contestant.solve(make(n, count)) for n in bones}
        results.append(Accuracy(kind, answers))
    return results


def table(accuracy: Accuracy, bones: tuple[int, ...], count: int) -> Table:
    """Return the table of one kind of problems."""
    off = "outside limits" if accuracy.kind == "limited" else ""
    header = ["bones", "contestant", *(f"within {t:.0e}".replace("e-0", "e-") for t in TOLERANCES)]
    header += ["median", "worst", "out of plane", *([off] if off else []), "time"]
    rows = [row for n in bones for row in _rows(accuracy, n)]
    return Table(_TITLES[accuracy.kind], _NOTES[accuracy.kind].format(count=count), header, rows)


def _rows(accuracy: Accuracy, n: int) -> Iterator[list[str]]:
    unit = accuracy.answers[OURS.name][n].seconds
    for name, by_bones in accuracy.answers.items():
        answers = by_bones[n]
        row = [str(n), name, *(percent(accuracy.share(name, n, t)) for t in TOLERANCES)]
        row += [small(float(np.median(answers.residual))), small(float(answers.residual.max()))]
        row.append(small(answers.off_plane))
        if accuracy.kind == "limited":
            row.append("-" if name.startswith("IK constraint") else small(answers.outside))
        yield [*row, ratio(answers.seconds / unit)]


_TITLES = {
    "free": "Targets reached: joints that turn freely",
    "limited": "Targets reached: limits of 60 degrees",
}
_COLUMNS = (
    " *within*: the share of targets that the tip reached to that part of the chain's reach. *median*,"
    " *worst*: distance from tip to target. *out of plane*: the furthest that any joint left the chain's"
    " plane. *time*: of a solve (the median; all at once: the mean), IK 2D called for one target at a time"
    " being 1; for the IK constraint that is Blender's evaluation of a scene that holds nothing but the chain"
    " and its target. IK 2D and plain CCD are asked for 1e-6 of the reach, and go no further."
)
_NOTES = {
    "free": (
        "{count} targets anywhere in the annulus of reach for each number of bones, each with a random pose"
        " to start from, the same for all. Bone lengths between 1 and 4. Lengths are parts of the reach."
        + _COLUMNS
    ),
    "limited": (
        "{count} targets for each number of bones, each the tip of a random pose within limits of 60 degrees"
        " to both sides of every joint, so that each can be reached; all start bent by 3 degrees a joint."
        " Plain CCD clamps its angles." + _COLUMNS
    ),
}
