# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.loops [table ...]`: measure whether CCD comes home after loops of its target.

Chains of reach 1 with equal bones, bent a little at rest. docs/solvers.md holds the tables.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ik2d_addon.core import Chain, reachable, solve_ccd_path, solve_even
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.path.posture import GAIN

from .problems import Floats
from .table import Table, print_tables, ratio
from .timing import best_times, say

BONES = (3, 5, 12, 30)
FRAMES = 200
_U = np.linspace(0.0, 2.0 * np.pi, FRAMES + 1)[:-1]
_CIRCLE = np.stack([np.cos(_U), np.sin(_U)], axis=-1)
LOOPS = {
    "round the root": 0.6 * _CIRCLE,
    "next to it": [0.65, 0.0] + 0.2 * _CIRCLE,
    "eight": np.stack([0.3 + 0.4 * np.sin(_U), 0.35 * np.sin(2.0 * _U)], axis=-1),
    "walk": np.stack([0.3 * np.cos(_U), -0.75 + 0.15 * np.maximum(np.sin(_U), 0.0)], axis=-1),
}


@dataclass(frozen=True, eq=False)
class Loop:
    """A closed path of a chain's target."""

    name: str
    chain: Chain
    rest: Floats  # (n,)
    targets: Floats  # (FRAMES, 2)


@dataclass(frozen=True)
class Walked:
    """The result of a number of loops; angles in degrees."""

    open: float  # the greatest difference of an angle between the last loop and the one before
    first: float  # the same between the first two
    largest: float  # inner angle in the last loop
    bend: float  # in the last loop, over Even's
    turn: float  # the largest in a frame
    missed: int  # frames


def loops_of(n: int, is_limited: bool) -> list[Loop]:
    """Return the loops that a chain of n bones reaches, within limits of its inner joints or without."""
    bend = 2.0 / n if n > 5 else 0.35
    rest, limits = np.append(0.0, np.full(n - 1, bend)), np.full((n, 2), np.nan)
    limits[1:] = 1.2 * max(bend, min(1.6, 4.0 / n)) * np.array([-0.25, 1.0])
    chain = Chain(np.ones(n) / n, limits if is_limited else None)
    return [
        Loop(name, chain, rest, targets)
        for name, targets in LOOPS.items()
        if not is_limited or reachable(chain).contains(targets).all()
    ]


def walked(loop: Loop, rounds: int, posture_gain: float = GAIN) -> Walked:
    """Walk a loop some rounds with solve_ccd_path, from Even's pose on."""
    path, n = np.tile(loop.targets, (rounds, 1)), len(loop.chain)
    found = solve_ccd_path(loop.chain, path, rest=loop.rest, posture_gain=posture_gain)
    even = solve_even(loop.chain, loop.targets, rest=loop.rest).angles
    loops = found.angles.reshape(rounds, FRAMES, n)
    last = loops[-1]
    return Walked(
        open=float(np.degrees(np.abs(wrapped(last - loops[-2])).max())),
        first=float(np.degrees(np.abs(wrapped(loops[1] - loops[0])).max())),
        largest=float(np.degrees(np.abs(last[:, 1:]).max())),
        bend=_bend(last, loop.rest) / _bend(even, loop.rest),
        turn=float(np.degrees(np.abs(wrapped(np.diff(found.angles, axis=0))).max())),
        missed=int((~found.reached).sum()),
    )


def _bend(angles: Floats, rest: Floats) -> float:
    return float(((angles - rest)[:, 1:] ** 2).sum())


def _from_to(ratios: list[float]) -> str:
    return " to ".join(ratio(one) if one >= 10.0 else f"{one:.2f}" for one in (min(ratios), max(ratios)))


def closing(bones: tuple[int, ...] = BONES, rounds: int = 20) -> Table:
    """Return the table of 20 loops, drawn to Even's pose and not."""
    rows = []
    for is_limited in (False, True):
        for gain in (0.0, GAIN):
            for n in bones:
                say(f"loops: {n} bones")
                found = [walked(loop, rounds, gain) for loop in loops_of(n, is_limited)]
                rows.append(
                    [
                        f"{n}, {'limits' if is_limited else 'free'}",
                        "drawn" if gain else "not",
                        f"{max(one.first for one in found):.1f}",
                        f"{max(one.open for one in found):.4f}",
                        f"{max(one.largest for one in found):,.0f}",
                        _from_to([one.bend for one in found]),
                        f"{max(one.turn for one in found):.1f}",
                        str(sum(one.missed for one in found)),
                    ]
                )
    note = (
        f"Four loops of {FRAMES} frames (round the root, next to it, an eight round it, a walk; with limits"
        f" those in reach), {rounds} times, from Even's pose on: how far the second loop is from the first,"
        " and the last from the one before (degrees), the largest inner angle in the last, its bend over"
        " Even's, and the largest turn in a frame."
    )
    header = ["bones", "to Even's pose", "second", "last", "largest angle", "bend", "turn a frame", "missed"]
    return Table("CCD round and round", note, header, rows)


def times(bones: tuple[int, ...] = BONES, rounds: int = 7) -> Table:
    """Return the table of what the pull adds to the time of a frame."""
    rows = []
    for n in bones:
        cells = [str(n)]
        for is_limited in (False, True):
            say(f"times: {n} bones")
            loop = loops_of(n, is_limited)[0]
            path, start = np.tile(loop.targets, (5, 1)), solve_even(loop.chain, loop.targets[0]).angles
            measured = best_times(
                {
                    name: lambda g=gain, o=loop, p=path, s=start: solve_ccd_path(
                        o.chain, p, start=s, rest=o.rest, posture_gain=g
                    )
                    for name, gain in (("drawn", GAIN), ("not", 0.0))
                },
                rounds,
            )
            cells.append(ratio(measured["drawn"] / measured["not"]))
        rows.append(cells)
    note = "Time of a path of 1,000 frames, drawn to Even's pose, as a ratio to one that is not."
    return Table("What the pull costs", note, ["bones", "free", "limits"], rows)


TABLES: dict[str, Callable[[], Table]] = {"closing": closing, "times": times}


if __name__ == "__main__":
    print_tables(TABLES)
