# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.limits [table ...]`: measure the solver Even within limits. `bend` needs scipy.

Legs, tails, spines and fingers of reach 1, with the ranges that such joints have.
"""

from collections.abc import Iterator

import numpy as np

from ik2d_addon.core import Chain, forward, reachable, solve_ccd, solve_ccd_path, solve_even, solve_even_path
from ik2d_addon.core.even.solve import Even
from ik2d_addon.core.within_limits.sheet import Tables

from .problems import Floats
from .region import near_border
from .table import Table, percent, print_tables
from .timing import best_times, say

# Lengths, angles at rest and ranges, in degrees.
RIGS: dict[str, tuple[list[float], list[float], list[tuple[float, float]]]] = {
    "bird's leg": (
        [0.2, 0.35, 0.3, 0.15],
        [-60, 60, -90, 60],
        [(-100, 0), (20, 140), (-150, -20), (-20, 90)],
    ),
    "dog's leg": ([0.35, 0.4, 0.25], [-60, 40, -50], [(-120, 20), (10, 140), (-140, -10)]),
    "finger": ([0.45, 0.3, 0.25], [0, 10, 10], [(-90, 30), (0, 100), (0, 80)]),
    "tail": ([0.1] * 10, [0] + [3] * 9, [(-60, 60)] + [(-15, 15)] * 9),
    "spine": (
        [0.125] * 8,
        [90] + [4] * 7,
        [(60, 120), (-5, 20), (-5, 20), (0, 10), (-10, 30), (-10, 30), (0, 5), (-20, 40)],
    ),
    "excavator": ([0.5, 0.3, 0.2], [50, -80, -40], [(0, 70), (-150, -20), (-120, 40)]),
}
RANDOM = 24


def rigs() -> Iterator[tuple[str, Chain, Floats]]:
    """Yield names, chains and their rest poses."""
    for name, (lengths, rest, ranges) in RIGS.items():
        yield name, Chain(lengths, limits=np.radians(ranges)), np.radians(rest)
    for seed in range(RANDOM):
        rng = np.random.default_rng([7, seed])
        n = int(rng.integers(3, 7))
        rest = np.append(rng.uniform(-1.5, 1.5), rng.uniform(-1.0, 1.0, n - 1))
        room = rng.uniform(0.2, 1.6, (2, n))
        lengths = rng.uniform(0.5, 1.5, n)
        ranges = np.stack((rest - room[0], rest + room[1]), axis=1)
        yield f"{RANDOM} random", Chain(lengths / lengths.sum(), limits=ranges), rest


def targets_of(chain: Chain, rng: np.random.Generator, count: int) -> Floats:
    """Return tips (count, 2) of random poses within the limits."""
    poses = rng.uniform(*chain.ranges.T, (count, len(chain)))
    tips: Floats = forward(chain, poses)[:, -1]
    return tips


def bend_of(poses: Floats, rest: Floats) -> Floats:
    """Return the bend (m,) of poses (m, n) whose root turns freely."""
    bend: Floats = ((poses - rest)[:, 1:] ** 2).sum(axis=1)
    return bend


def bend(count: int = 200, compared: int = 10, starts: int = 8) -> Table:
    """Return the table of targets reached, and of the bend against the best that scipy finds."""
    from scipy.optimize import minimize  # beside this table nothing needs it

    found: dict[str, list[Floats]] = {}
    for name, chain, rest in rigs():
        say(f"bend: {name}")
        rng = np.random.default_rng(5)
        targets = targets_of(chain, rng, count)
        own = solve_even(chain, targets, rest=rest)
        bends, ratios = bend_of(own.angles, rest), []
        for target, least in zip(targets[:compared], bends[:compared], strict=True):
            best = np.inf
            for start in range(starts):
                begin = rng.uniform(*chain.ranges.T) if start else np.clip(rest, *chain.ranges.T)
                other = minimize(
                    lambda pose, rest=rest: ((pose - rest)[1:] ** 2).sum(),
                    begin,
                    bounds=chain.ranges,
                    constraints={
                        "type": "eq",
                        "fun": lambda pose, to=target, c=chain: forward(c, pose)[-1] - to,
                    },
                    method="SLSQP",
                    options={"maxiter": 300, "ftol": 1e-12},
                )
                if np.abs(forward(chain, other.x)[-1] - target).max() < 1e-8:
                    best = min(best, float(other.fun))
            ratios.append(least / max(best, 1e-9) if np.isfinite(best) and least > 1e-9 else 1.0)
        off = own.residual / chain.reach[1]
        found.setdefault(name, []).append(np.array([(off < 1e-9).mean(), off.max()]))
        found.setdefault(name + "*", []).append(np.array(ratios))
    rows = []
    for name in dict.fromkeys(name for name, _, _ in rigs()):
        reached, ratios = np.array(found[name]), np.concatenate(found[name + "*"])
        rows.append(
            [
                name,
                percent(float(reached[:, 0].mean())),
                f"{np.median(ratios):.4f}",
                f"{ratios.max():.4f}",
                percent(float((ratios <= 1.001).mean())),
            ]
        )
    note = (
        f"{count} targets each within the region: the share reached to 1e-9 of reach; and the bend over the"
        f" best of {starts} starts of scipy's SLSQP on {compared} of them, in the median and at most, and the"
        " share of at most 1.001 times as much."
    )
    return Table("Even within limits: bend", note, ["chain", "reached", "median", "most", "least"], rows)


def paths_of(chain: Chain, rng: np.random.Generator, count: int, step: float = 0.006) -> Iterator[Floats]:
    """Yield smooth paths (frames, 2) within the region, of even steps."""
    region = reachable(chain)
    corners = targets_of(chain, rng, 500)
    middle, room = corners.mean(axis=0), np.ptp(corners, axis=0).max() / 2.0
    u, tries = np.linspace(0.0, 1.0, 4000)[:, np.newaxis], 0
    while count and tries < 2000:
        tries += 1
        path = middle + rng.normal(0.0, 0.4 * room, 2)
        for k in range(1, 4):
            size, phase = rng.normal(0.0, 0.4 * room / k, 2), rng.uniform(0.0, 2.0 * np.pi, 2)
            path = path + size * np.cos(2.0 * np.pi * k * u + phase)
        way = np.append(0.0, np.cumsum(np.hypot(*np.diff(path, axis=0).T)))
        places = np.arange(min(300, int(way[-1] / step))) * step
        even = np.stack([np.interp(places, way, path[:, i]) for i in (0, 1)], axis=1)
        inside = np.concatenate(([0], region.contains(even).view(np.int8), [0]))
        runs = np.flatnonzero(np.diff(inside))
        if runs.size == 0:
            continue
        longest = int((runs[1::2] - runs[::2]).argmax())
        first, last = runs[2 * longest], runs[2 * longest + 1]
        if last - first >= 100:
            count -= 1
            yield even[first:last]


def paths(count: int = 8) -> Table:
    """Return the table of the turns from frame to frame along smooth paths, and of their bend."""
    turns: dict[str, list[Floats]] = {}
    bends: dict[str, list[Floats]] = {}
    for name, chain, rest in rigs():
        say(f"paths: {name}")
        for path in paths_of(chain, np.random.default_rng(3), count):
            even = solve_even(chain, path, rest=rest).angles
            on = solve_even_path(chain, path, rest=rest).angles
            ccd = solve_ccd_path(chain, path, rest=rest).angles
            each = [np.degrees(np.abs(np.diff(poses, axis=0)).max(axis=1)) for poses in (even, on, ccd)]
            turns.setdefault(name, []).append(np.array(each))
            bends.setdefault(name, []).append(np.array([bend_of(poses, rest) for poses in (even, on, ccd)]))
    rows = []
    for name, parts in turns.items():
        cells = [
            f"{(own > 15.0).sum()} of {own.size}, {own.max():.0f}" for own in np.concatenate(parts, axis=1)
        ]
        even, on, ccd = np.concatenate(bends[name], axis=1).mean(axis=1)
        rows.append([name, *cells, f"{on / even:.3f}", f"{ccd / even:.3f}"])
    note = (
        f"{count} random smooth paths each within the region, 0.6 % of reach a frame: frames in which a joint"
        " turns by more than 15 degrees, and the largest turn (degrees); and how many times as much they bend"
        " as Even frame by frame. Where Even's pose jumps two poses bend alike."
    )
    header = ["chain", "Even", "Even along the path", "CCD along the path", "Even's bend", "CCD's bend"]
    return Table("Even within limits: paths", note, header, rows)


def border(count: int = 400) -> Table:
    """Return the table of targets just inside the border of the region."""
    rows: dict[str, Floats] = {}
    for name, chain, rest in rigs():
        say(f"border: {name}")
        targets = near_border(np.random.default_rng(9), chain, count)
        found = (
            solve_even(chain, targets, rest=rest, tolerance=1e-9),
            solve_ccd(chain, targets, start=rest, tolerance=1e-9),
        )
        missed = [int((solution.residual > 1e-9).sum()) for solution in found]
        nearest = float(reachable(chain).nearest(np.zeros(2))[1]) / chain.reach[1]
        least = min(nearest, rows[name][3]) if name in rows else nearest
        sums = rows[name][:3] if name in rows else np.zeros(3)
        rows[name] = np.array([*(sums + [len(targets), *missed]), least])
    note = (
        "Targets 1e-2 to 1e-6 of reach inside the border of the region, and how many of them are missed by"
        " more than 1e-9 of it; and how near to the root the region comes (reaches)."
    )
    header = ["chain", "targets", "missed: Even", "CCD", "nearest to the root"]
    cells = [[name, *(f"{value:.0f}" for value in row[:3]), f"{row[3]:.2f}"] for name, row in rows.items()]
    return Table("Limits: near the border", note, header, cells)


def times(count: int = 1000, rounds: int = 5) -> Table:
    """Return the table of times."""
    rows = []
    for name, chain, rest in list(rigs())[: len(RIGS)]:
        say(f"times: {name}")
        targets = targets_of(chain, np.random.default_rng(5), count)
        even = Even.checked(chain, rest, None, 1.0, 1e-6)
        springs = even.springs()[0]
        measured = best_times(
            {
                "set-up": lambda s=springs: Tables(s),
                "batch": lambda c=chain, t=targets, r=rest: solve_even(c, t, rest=r),
                "one": lambda c=chain, t=targets, r=rest: [solve_even(c, one, rest=r) for one in t[:50]],
                "ccd": lambda c=chain, t=targets, r=rest: solve_ccd(c, t, start=r),
            },
            rounds,
        )
        rows.append(
            [
                name,
                f"{1e3 * measured['set-up']:.0f} ms",
                f"{1e6 * measured['batch'] / count:.0f} us",
                f"{1e6 * measured['one'] / 50:.0f} us",
                f"{measured['batch'] / measured['ccd']:.1f}",
            ]
        )
    note = (
        f"The set-up of a chain, a target in a batch of {count}, and one target on its own, on this machine;"
        " and the batch's time as a ratio to solve_ccd's."
    )
    return Table("Even within limits: times", note, ["chain", "set-up", "batch", "one", "to CCD"], rows)


TABLES = {"bend": bend, "paths": paths, "border": border, "times": times}


if __name__ == "__main__":
    print_tables(TABLES)
