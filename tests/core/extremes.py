# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded problems of extreme sizes and angles for all solvers, and what an answer to one must hold."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ik2d_addon.core import (
    Chain,
    IK2DError,
    Plane,
    Status,
    ccd_step,
    forward,
    solve_arc,
    solve_ccd,
    solve_ccd_path,
    solve_even,
    solve_two_bone,
)

KINDS = ("two_bone", "ccd", "path", "batch", "step", "plane")
# What the residual of a pose may be off by, as a part of reach and target: the rounding of big angles.
ROUNDING = 1e-7


@dataclass(frozen=True)
class Problem:
    """One call of a solver, not made yet: its arguments are extreme, some of them invalid."""

    kind: str
    lengths: Any
    limits: Any
    weights: Any
    targets: Any
    start: Any
    options: dict[str, Any]


def problem(seed: int) -> Problem:
    """Return the problem of a seed."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(KINDS, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1]))
    n = 2 if kind == "two_bone" or rng.random() < 0.3 else int(rng.integers(1, 6))
    count = {"batch": 20, "step": 1, "path": 3}.get(kind, int(rng.integers(1, 4)))
    sizes = _sizes(rng)
    lengths = np.abs([sizes() for _ in range(n)])
    start = np.array([_angle(rng) for _ in range(n)])
    options = {"tolerance": None if rng.random() < 0.7 else abs(sizes())}
    if kind != "step":
        options["bend"] = int(rng.choice([-1, 1]))
        options["softness"] = (
            0.0 if rng.random() < 0.6 else float(rng.choice([5e-324, 1e-300, 1e-9, 0.1, 1.0]))
        )
    return Problem(
        kind,
        lengths,
        None if kind == "batch" or rng.random() < 0.5 else _limits(rng, n),
        None if kind == "batch" or rng.random() < 0.7 else _weights(rng, n),
        _targets(rng, sizes, lengths, 4 if kind == "plane" else count),
        start,
        options,
    )


def _sizes(rng: np.random.Generator) -> Callable[[], float]:
    """Return a source of lengths: all of about one size, or of any two."""
    ends = rng.uniform(-320.0, 308.0, 2)
    spread = float(rng.choice([0.0, 1.0, 20.0]))

    def size() -> float:
        drawn = rng.random()
        if drawn < 0.05:
            return float(rng.choice([0.0, 5e-324, 1e300, 1.7e308, -1e-310]))
        exponent = ends[0 if drawn < 0.8 else 1] + rng.uniform(-spread, spread)
        return float(
            rng.choice([-1.0, 1.0]) * rng.uniform(1.0, 9.9) * 10.0 ** np.clip(exponent, -323.0, 307.0)
        )

    return size


def _angle(rng: np.random.Generator) -> float:
    if rng.random() < 0.6:
        return float(rng.uniform(-4.0, 4.0))
    return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-320.0, 12.0 if rng.random() < 0.7 else 300.0))


def _limits(rng: np.random.Generator, n: int) -> np.ndarray:
    limits = np.array([[_angle(rng), _angle(rng)] for _ in range(n)])
    if rng.random() < 0.9:  # else they may be swapped
        limits.sort(axis=1)
    limits[rng.random(n) < 0.15, 1] = np.inf
    limits[rng.random(n) < 0.15] = [-np.inf, np.inf]
    same = rng.random(n) < 0.1
    limits[same, 1] = limits[same, 0]
    return limits


def _weights(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice([0.0, 5e-324, 1e-300, 1e-150, 1e-16, 0.01, 0.5, 1.0], n)


def _targets(rng: np.random.Generator, size: Callable[[], float], lengths: Any, count: int) -> np.ndarray:
    """Return targets (count, 2): anywhere, in reach, on the border of reach, or at the root."""
    targets = np.array([[size(), size()] for _ in range(count)])
    with np.errstate(all="ignore"):
        reach = min(float(np.sum(lengths)), 1e308)
    for row in range(count):
        if rng.random() < 0.7:
            part = float(rng.choice([0.0, 1e-200, 1e-9, 0.3, 0.7, 1.0 - 1e-12, 1.0, 1.0 + 1e-9, 3.0]))
            angle = rng.uniform(-4.0, 4.0)
            targets[row] = min(part * reach, 1e308) * np.array([np.cos(angle), np.sin(angle)])
    return targets


def verdict(given: Problem) -> str:
    """Return "refused", "answered", or in words what is wrong with the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return _plane_fault(given) if given.kind == "plane" else _fault(given)
        except IK2DError:
            return "refused"
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def _plane_fault(given: Problem) -> str:
    joints = np.column_stack((given.targets, given.targets[::-1, 0]))
    axis = np.array([given.start[0], given.lengths[0], 1.0])
    for plane in (Plane.fit(joints, axis), Plane.turning_about(joints, axis), Plane.facing(joints, axis)):
        frame = np.array([plane.x, plane.y, plane.normal])
        if not np.isfinite(frame).all() or np.abs(frame @ frame.T - np.eye(3)).max() > 1e-9:
            return "no right-angled plane"
        if not (np.isfinite(plane.project(joints)).all() and np.isfinite(plane.distance(joints)).all()):
            return "a projection that is no number"
    return "answered"


def _fault(given: Problem) -> str:
    chain = Chain(given.lengths, given.limits, given.weights)
    tolerance = chain.tolerance_or_default(given.options["tolerance"])
    if given.kind == "step":
        target = given.targets[0]
        angles, _ = ccd_step(chain, given.start, target, tolerance=tolerance)
        if not (np.isfinite(angles).all() and np.isfinite(forward(chain, angles)).all()):
            return "no number"
        held = np.abs(angles - given.start) > 0.0  # a step leaves a joint that cannot turn as it is
        low, high = chain.ranges.T
        return "outside the limits" if (held & ((angles < low) | (angles > high))).any() else "answered"
    solve = {
        "two_bone": solve_two_bone,
        "path": solve_ccd_path,
        "even": solve_even,
        "arc": solve_arc,
    }.get(given.kind, solve_ccd)
    begin = {} if given.kind == "arc" else {"rest" if given.kind == "even" else "start": given.start}
    solution = solve(chain, given.targets, **begin, **given.options)
    if not (np.isfinite(solution.angles).all() and np.isfinite(solution.residual).all()):
        return "no number"
    low, high = chain.ranges.T
    if ((solution.angles < low) | (solution.angles > high)).any():
        return "outside the limits"
    return _wrong(given, chain, solution, tolerance) or "answered"


def _wrong(given: Problem, chain: Chain, solution: Any, tolerance: float) -> str:
    """Return what a solution says that is not so; "" where all holds. In units of the largest length."""
    unit = max(float(np.abs(given.targets).max()), float(chain.lengths.max()), 1e-300)
    tips = forward(chain, solution.angles)[:, -1] / unit
    away = np.hypot(*(tips - given.targets / unit).T)
    if np.abs(away - solution.residual / unit).max() > ROUNDING:
        return "a residual that is not the distance"
    reached = solution.status == Status.REACHED
    if (away[reached] > tolerance / unit + ROUNDING).any():
        return "reached, but is not"
    inner, outer = np.array(chain.reach) / unit
    distance = np.hypot(*(given.targets / unit).T)
    inside = (distance < outer * (1.0 - 1e-9)) & (distance > inner * (1.0 + 1e-9))
    free = not chain.is_limited and (chain.weights is None or chain.weights.min() > 1e-9)
    if free and tolerance >= 1e-9 * chain.reach[1] and (inside & ~solution.arrived).any():
        return "not reached, but in reach"
    nearest = np.maximum(np.maximum(distance - outer, inner - distance), 0.0)
    if free and given.options["softness"] == 0.0 and (away - nearest > tolerance / unit + ROUNDING).any():
        return "not the nearest pose"
    return ""
