# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot arm of three joints with limits, beside ikpy: python -m benchmarks.robot_arm [--targets COUNT]

Prints a table for docs/python.md. It needs numpy and ikpy (python -m pip install ikpy), and no Blender. Both
get the same arm, as their forward kinematics show, and the same targets.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np

from ik2d_addon.core import Chain, Status, forward, reachable, solve_even

LENGTHS = (0.4, 0.3, 0.2)
LIMITS = np.radians([[-90, 90], [0, 135], [-90, 90]])
COUNT, SEED = 500, 2026
NEAR, EXACT = 1e-3, 1e-6  # in reaches
STARTS = 5  # of ikpy, where one is not enough
HEAD = "| | within 1e-3 of the reach | within 1e-6 | largest error, reaches | time a target |"
Solve = Callable[[np.ndarray], np.ndarray]


class IkpyArm:
    """The same arm for ikpy: joints about Z at the end of the link before."""

    def __init__(self) -> None:
        from ikpy.chain import Chain as IkpyChain
        from ikpy.link import OriginLink, URDFLink

        links = [OriginLink()]
        for name, place, limits in zip("abc", (0.0, *LENGTHS[:-1]), LIMITS, strict=True):
            links.append(URDFLink(name, [place, 0, 0], [0, 0, 0], rotation=[0, 0, 1], bounds=tuple(limits)))
        links.append(URDFLink("tip", [LENGTHS[-1], 0, 0], [0, 0, 0], joint_type="fixed"))
        self.chain = IkpyChain(links, active_links_mask=[False, True, True, True, False])
        self.random = np.random.default_rng(SEED)

    def tip(self, angles: np.ndarray) -> np.ndarray:
        """Return the tip (2,) of angles (3,)."""
        return np.asarray(self.chain.forward_kinematics([0.0, *angles, 0.0])[:2, 3])

    def solve(self, target: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Return angles (3,) for a target (2,), from a start; None: the middle of the limits.

        From its own start, all zeros, ikpy reaches fewer.
        """
        begin = [0.0, *(LIMITS.mean(axis=1) if start is None else start), 0.0]
        return np.asarray(self.chain.inverse_kinematics([*target, 0.0], initial_position=begin))[1:4]

    def solve_again(self, target: np.ndarray) -> np.ndarray:
        """Return the best of up to STARTS solves, the others from random starts, until one is EXACT."""
        best, least = self.solve(target), np.inf
        for tries in range(STARTS):
            angles = best if tries == 0 else self.solve(target, self.random.uniform(*LIMITS.T))
            off = float(np.hypot(*(self.tip(angles) - target)))
            if off < least:
                best, least = angles, off
            if least < EXACT * sum(LENGTHS):
                break
        return best


def one_by_one(solve: Solve, targets: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the angles (m, 3) for targets (m, 2), and the median of the seconds that each takes."""
    angles, seconds = np.empty((len(targets), 3)), np.empty(len(targets))
    solve(targets[0])  # what is made once for an arm
    for i, target in enumerate(targets):
        start = perf_counter()
        angles[i] = solve(target)
        seconds[i] = perf_counter() - start
    return angles, float(np.median(seconds))


def row(
    name: str, arm: Chain, targets: np.ndarray, angles: np.ndarray, seconds: float, least: np.ndarray
) -> str:
    """Return a line of the table; least: (m,) the distance that remains at best."""
    off = (np.hypot(*(forward(arm, angles)[:, -1] - targets).T) - least) / arm.reach[1]
    inside = ((angles >= LIMITS[:, 0] - 1e-9) & (angles <= LIMITS[:, 1] + 1e-9)).all(axis=1)
    parts = [f"{100 * (inside & (off < within)).mean():.1f} %" for within in (NEAR, EXACT)]
    return f"| {name} | {' | '.join(parts)} | {max(off.max(), 0.0):.1g} | {1e3 * seconds:.3f} ms |"


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.robot_arm", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--targets", type=int, default=COUNT, help=f"how many of each kind ({COUNT})")
    count = parser.parse_args().targets
    if count < 1:
        parser.error("--targets must be 1 or more")
    try:
        other = IkpyArm()
    except ImportError:
        print("ikpy is missing: python -m pip install ikpy", file=sys.stderr)
        return 1
    warnings.filterwarnings("ignore", module="ikpy")
    random, arm = np.random.default_rng(SEED), Chain(LENGTHS, limits=LIMITS)
    assert np.allclose(other.tip(np.array([0.3, -0.2, 0.5])), forward(arm, [0.3, -0.2, 0.5])[-1])
    region = reachable(arm)
    inside = forward(arm, random.uniform(*LIMITS.T, (count, 3)))[:, -1]
    around = random.uniform(-1.1, 1.1, (20 * count, 2)) * arm.reach[1]
    outside = around[~region.contains(around)][:count]

    def ours(target: np.ndarray) -> np.ndarray:
        return solve_even(arm, target).angles

    print(f"Arm {LENGTHS}, {count} targets of each kind; seed {SEED}\n")
    print(HEAD, "| --- | ---: | ---: | ---: | ---: |", sep="\n")
    names = {"ik2d_core": ours, "ikpy": other.solve, f"ikpy, up to {STARTS} starts": other.solve_again}
    said = []
    for kind, targets in (("in reach", inside), ("out of reach", outside)):
        least = region.nearest(targets)[1]
        for name, solve in names.items():
            angles, seconds = one_by_one(solve, targets)
            print(row(f"{name}, {kind}", arm, targets, angles, seconds, least))
        start = perf_counter()
        solution = solve_even(arm, targets)
        together = (perf_counter() - start) / len(targets)
        print(row(f"ik2d_core, {kind}, all at once", arm, targets, solution.angles, together, least))
        statuses, counts = np.unique(solution.status, return_counts=True)
        said.append({Status(one).name: int(number) for one, number in zip(statuses, counts, strict=True)})
    print(f"\nStatuses in reach: {said[0]}; out of reach: {said[1]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
