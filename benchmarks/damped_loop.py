# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot arm of six joints next to a damped loop: python -m benchmarks.damped_loop [--targets COUNT]

Prints a table for docs/python.md. It needs numpy alone, and no Blender. The loop is one that you would write:
damped least squares, limits held. Its kinematics are those of pinocchio where that is installed (python -m
pip install pin), else numpy. Both sides get the same arm and targets, as the forward kinematics show.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, hypot, sin
from time import process_time
from typing import Protocol

import numpy as np

from ik2d_addon.core import Chain, forward, reachable, solve_even

from .robot_arm import COUNT, EXACT, NEAR, SEED, STARTS

ARM = Chain(
    [0.3, 0.25, 0.2, 0.15, 0.1, 0.1],
    limits=np.radians([[-90, 90], [0, 135], [-90, 90], [-60, 60], [-60, 60], [-60, 60]]),
)
# Steps of the loop from one start, and the longest turn of a step (radians). Its damping is the squared
# error, and no less than this. Of a hundredth of that to ten times as much it reaches most in the least time.
STEPS, MOST, DAMPING = 100, 1.0, 1e-12
HEAD = "| targets | | within 1e-3 of the reach | within 1e-6 | largest error, reaches | time a target |"
Place = tuple[float, float]
Solve = Callable[[np.ndarray], np.ndarray]


class Kinematics(Protocol):
    """An arm's forward kinematics."""

    name: str

    def tip_and_slopes(self, angles: np.ndarray) -> tuple[Place, np.ndarray]:
        """Return the tip and its slopes (2, n) by the angles (n,)."""


class OnNumpy:
    """Forward kinematics in plain numbers."""

    name = "numpy"

    def __init__(self, arm: Chain) -> None:
        self.lengths: list[float] = arm.lengths.tolist()

    def tip_and_slopes(self, angles: np.ndarray) -> tuple[Place, np.ndarray]:
        """Return the tip and its slopes (2, n) by the angles (n,)."""
        heading, x, y, joints = 0.0, 0.0, 0.0, []
        for length, angle in zip(self.lengths, angles.tolist(), strict=True):
            joints.append((x, y))
            heading += angle
            x, y = x + length * cos(heading), y + length * sin(heading)
        return (x, y), np.array([[b - y, x - a] for a, b in joints]).T


class OnPinocchio:
    """Forward kinematics of pinocchio: joints about Z at the end of the link before."""

    name = "pinocchio"

    def __init__(self, arm: Chain) -> None:
        import pinocchio

        self.library, self.model = pinocchio, pinocchio.Model()
        joint, identity = 0, np.eye(3)
        for i, place in enumerate([0.0, *arm.lengths[:-1]]):
            at = pinocchio.SE3(identity, np.array([place, 0.0, 0.0]))
            joint = self.model.addJoint(joint, pinocchio.JointModelRZ(), at, f"joint{i}")
        end = pinocchio.SE3(identity, np.array([arm.lengths[-1], 0.0, 0.0]))
        self.tip = self.model.addFrame(pinocchio.Frame("tip", joint, end, pinocchio.FrameType.OP_FRAME))
        self.data = self.model.createData()

    def tip_and_slopes(self, angles: np.ndarray) -> tuple[Place, np.ndarray]:
        """Return the tip and its slopes (2, n) by the angles (n,)."""
        axes = self.library.ReferenceFrame.LOCAL_WORLD_ALIGNED
        slopes = self.library.computeFrameJacobian(self.model, self.data, angles, self.tip, axes)[:2]
        self.library.updateFramePlacement(self.model, self.data, self.tip)
        x, y, _ = self.data.oMf[self.tip].translation.tolist()
        return (x, y), slopes


@dataclass(frozen=True)
class DampedLoop:
    """Damped least squares with limits held: a joint that a step would take beyond its limit stays."""

    arm: Chain
    kinematics: Kinematics
    random: np.random.Generator

    def solve(self, target: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Return the angles (n,) for a target (2,), from a start; None: the middle of the limits."""
        low, high = self.arm.ranges.T
        angles = 0.5 * (low + high) if start is None else start.copy()
        (goal_x, goal_y), exact = target.tolist(), 0.1 * EXACT * self.arm.reach[1]
        for _ in range(STEPS):
            (x, y), slopes = self.kinematics.tip_and_slopes(angles)
            dx, dy = goal_x - x, goal_y - y
            off = dx * dx + dy * dy
            if off <= exact * exact:
                break
            damping = max(off, DAMPING)
            held = np.zeros(len(angles), bool)
            while True:
                turns = _damped(np.where(held, 0.0, slopes), dx, dy, damping)
                out = ((angles <= low) & (turns < 0.0)) | ((angles >= high) & (turns > 0.0))
                if not out.any():
                    break
                held |= out
            turns *= min(1.0, MOST / max(float(np.abs(turns).max()), 1e-300))
            angles = np.minimum(np.maximum(angles + turns, low), high)
        return angles

    def solve_again(self, target: np.ndarray) -> np.ndarray:
        """Return the best of up to STARTS solves, the others from random starts, until one is EXACT."""
        best, least = np.zeros(len(self.arm)), np.inf
        for tries in range(STARTS):
            angles = self.solve(target, self.random.uniform(*self.arm.ranges.T) if tries else None)
            x, y = self.kinematics.tip_and_slopes(angles)[0]
            off = hypot(x - float(target[0]), y - float(target[1]))
            if off < least:
                best, least = angles, off
            if least < EXACT * self.arm.reach[1]:
                break
        return best


def _damped(slopes: np.ndarray, dx: float, dy: float, damping: float) -> np.ndarray:
    """Return the turns (n,) of least squares for an error of the tip, with slopes (2, n)."""
    xs, ys = slopes
    a, b, c = float(xs @ xs) + damping, float(xs @ ys), float(ys @ ys) + damping
    determinant = a * c - b * b
    return ((c * dx - b * dy) * xs + (a * dy - b * dx) * ys) / determinant


def kinematics_of(arm: Chain) -> Kinematics:
    """Return pinocchio's forward kinematics of an arm where it is installed, else numpy's."""
    try:
        return OnPinocchio(arm)
    except ImportError:
        return OnNumpy(arm)


def targets_of(arm: Chain, random: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Return targets (count, 2) of each kind: at random, of poses at limits, on a path, and out of reach."""
    low, high = arm.ranges.T
    poses = random.uniform(low, high, (count, len(arm)))
    at_limits = np.where(
        random.random(poses.shape) < 0.5, np.where(poses < 0.5 * (low + high), low, high), poses
    )
    way = np.linspace(0.0, 2.0 * np.pi, count)[:, np.newaxis] * random.uniform(0.5, 1.5, len(arm))
    path = 0.5 * (low + high) + 0.45 * (high - low) * np.sin(way)
    around = random.uniform(-1.1, 1.1, (40 * count, 2)) * arm.reach[1]
    return {
        "in reach": forward(arm, poses)[:, -1],
        "of poses at limits": forward(arm, at_limits)[:, -1],
        "on a path": forward(arm, path)[:, -1],
        "out of reach": around[~reachable(arm).contains(around)][:count],
    }


def one_by_one(solve: Solve, targets: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the angles (m, n) for targets (m, 2), and the mean of the seconds that each takes."""
    start = process_time()
    angles = [solve(target) for target in targets]
    return np.array(angles), (process_time() - start) / len(targets)


def following(loop: DampedLoop) -> Solve:
    """Return a function that solves each target from the pose of the one before."""
    last: list[np.ndarray] = []

    def solve(target: np.ndarray) -> np.ndarray:
        last[:] = [loop.solve(target, last[0] if last else None)]
        return last[0]

    return solve


def rows(arm: Chain, kind: str, targets: np.ndarray) -> list[str]:
    """Return the lines of the table for targets of a kind."""
    loop = DampedLoop(arm, kinematics_of(arm), np.random.default_rng(SEED))
    least = reachable(arm).nearest(targets)[1]
    name = f"damped loop on {loop.kinematics.name}"
    solves: dict[str, Solve] = {"ik2d_core": lambda target: solve_even(arm, target).angles}
    if kind == "on a path":
        solves[f"{name}, each from the one before"] = following(loop)
    else:
        solves |= {name: loop.solve, f"{name}, up to {STARTS} starts": loop.solve_again}
    solve_even(arm, targets), solve_even(arm, targets[0])  # what is kept of an arm
    found = {name: one_by_one(solve, targets) for name, solve in solves.items()}
    start = process_time()
    together = solve_even(arm, targets).angles
    found["ik2d_core, all at once"] = together, (process_time() - start) / len(targets)
    return [
        f"| {kind} | {name} | {_judged(arm, targets, angles, least)} | {1e3 * seconds:.2g} ms |"
        for name, (angles, seconds) in found.items()
    ]


def _judged(arm: Chain, targets: np.ndarray, angles: np.ndarray, least: np.ndarray) -> str:
    """Return the shares reached and the largest error; least: (m,) the distance that remains at best."""
    off = (np.hypot(*(forward(arm, angles)[:, -1] - targets).T) - least) / arm.reach[1]
    low, high = arm.ranges.T
    inside = ((angles >= low - 1e-9) & (angles <= high + 1e-9)).all(axis=1)
    parts = [f"{100 * (inside & (off < within)).mean():.1f} %" for within in (NEAR, EXACT)]
    return f"{' | '.join(parts)} | {max(off.max(), 0.0):.1g}"


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.damped_loop", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--targets", type=int, default=COUNT, help=f"how many of each kind ({COUNT})")
    count = parser.parse_args().targets
    if count < 2:
        parser.error("--targets must be 2 or more")
    random, kinematics = np.random.default_rng(SEED), kinematics_of(ARM)
    pose = random.uniform(*ARM.ranges.T)
    assert np.allclose(kinematics.tip_and_slopes(pose)[0], forward(ARM, pose)[-1])
    print(f"{count} targets of each kind; seed {SEED}\n")
    print(HEAD, "| --- | --- | ---: | ---: | ---: | ---: |", sep="\n")
    for kind, targets in targets_of(ARM, random, count).items():
        print(*rows(ARM, kind, targets), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
