# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot arm of three joints with limits, beside ikpy: python -m benchmarks.robot_arm [COUNT]

Prints a table for docs/python.md. It needs numpy and ikpy, and no Blender. Both get the same arm, as their
forward kinematics show, and the same targets, one at a time.
"""

import sys
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
from ikpy.chain import Chain as IkpyChain
from ikpy.link import OriginLink, URDFLink

from ik2d_addon.core import Chain, Status, forward, reachable, solve_even

LENGTHS = (0.4, 0.3, 0.2)
LIMITS = np.radians([[-90, 90], [0, 135], [-90, 90]])
COUNT, SEED = 500, 2026
NEAR, EXACT = 1e-3, 1e-6  # in reaches
Solve = Callable[[np.ndarray], np.ndarray]


def ikpy_arm() -> IkpyChain:
    """Return the same arm for ikpy: joints about Z at the end of the link before."""
    links = [OriginLink()]
    for name, place, limits in zip("abc", (0.0, *LENGTHS[:-1]), LIMITS, strict=True):
        links.append(URDFLink(name, [place, 0, 0], [0, 0, 0], rotation=[0, 0, 1], bounds=tuple(limits)))
    links.append(URDFLink("tip", [LENGTHS[-1], 0, 0], [0, 0, 0], joint_type="fixed"))
    return IkpyChain(links, active_links_mask=[False, True, True, True, False])


def measure(solve: Solve, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the angles (m, 3) and the seconds (m,) that a solver needs for targets (m, 2), one at a time."""
    angles, seconds = np.empty((len(targets), 3)), np.empty(len(targets))
    solve(targets[0])  # what is made once
    for i, target in enumerate(targets):
        start = perf_counter()
        angles[i] = solve(target)
        seconds[i] = perf_counter() - start
    return angles, seconds


def row(
    name: str, arm: Chain, targets: np.ndarray, angles: np.ndarray, seconds: float, least: np.ndarray
) -> str:
    """Return a line of the table; least: (m,) the distance that remains at best."""
    off = np.hypot(*(forward(arm, angles)[:, -1] - targets).T) - least
    off /= arm.reach[1]
    inside = ((angles >= LIMITS[:, 0] - 1e-9) & (angles <= LIMITS[:, 1] + 1e-9)).all(axis=1)
    parts = [f"{100 * (inside & (off < within)).mean():.1f} %" for within in (NEAR, EXACT)]
    return f"| {name} | {' | '.join(parts)} | {max(off.max(), 0.0):.1g} | {1e3 * seconds:.3f} ms |"


def main(count: int = COUNT) -> int:
    """Print the table; return the exit code."""
    warnings.filterwarnings("ignore", module="ikpy")
    random = np.random.default_rng(SEED)
    arm, other = Chain(LENGTHS, limits=LIMITS), ikpy_arm()
    region = reachable(arm)
    inside = forward(arm, random.uniform(*LIMITS.T, (count, 3)))[:, -1]
    around = random.uniform(-1.1, 1.1, (20 * count, 2)) * arm.reach[1]
    outside = around[~region.contains(around)][:count]

    def ours(target: np.ndarray) -> np.ndarray:
        return solve_even(arm, target).angles

    middle = [0.0, *LIMITS.mean(axis=1), 0.0]  # from its own start, all zeros, ikpy reaches fewer

    def theirs(target: np.ndarray) -> np.ndarray:
        return np.asarray(other.inverse_kinematics([*target, 0.0], initial_position=middle))[1:4]

    straight = forward(arm, [0.3, -0.2, 0.5])[-1]
    assert np.allclose(other.forward_kinematics([0, 0.3, -0.2, 0.5, 0])[:2, 3], straight), "not the same arm"
    print(f"Arm {LENGTHS}, {count} targets of each kind, one at a time; seed {SEED}\n")
    said = []
    print("| | within 1e-3 of reach | within 1e-6 | largest error, reaches | time a target |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind, targets in (("in reach", inside), ("out of reach", outside)):
        least = region.nearest(targets)[1]
        for name, solve in (("ik2d_core", ours), ("ikpy", theirs)):
            angles, seconds = measure(solve, targets)
            print(row(f"{name}, {kind}", arm, targets, angles, float(np.median(seconds)), least))
        start = perf_counter()
        solution = solve_even(arm, targets)
        together = (perf_counter() - start) / len(targets)
        print(row(f"ik2d_core, {kind}, all at once", arm, targets, solution.angles, together, least))
        said.append(
            {Status(one).name: int((solution.status == one).sum()) for one in np.unique(solution.status)}
        )
    print(f"\nStatuses in reach: {said[0]}; out of reach: {said[1]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:2])))
