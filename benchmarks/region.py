# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.region [table ...]`: measure limits, and the region that they leave.

Chains of reach 1. What a table shows is said in its note; docs/solvers.md holds what they came to.
"""

from collections.abc import Callable
from time import process_time

import numpy as np

from ik2d_addon.core import Chain, Status, forward, reachable, solve_ccd, solve_ccd_path
from ik2d_addon.core.region import region_steps
from ik2d_addon.core.region.region import _regions

from .even import lengths_of
from .problems import Floats, smooth_path, tips
from .table import Table, print_tables, ratio, small
from .timing import best_times, say

BONES = (2, 3, 5, 10, 20, 50, 100, 200)
# Ranges in degrees, the same for all joints; those of "mixed" differ.
RANGES = {"5": (-5.0, 5.0), "20": (-20.0, 20.0), "60": (-60.0, 60.0), "10 to 150": (10.0, 150.0)}
# How far inside the border targets lie (reach is 1), and how far all joints are bent at the start.
INSIDE = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
START = 0.04
SIXTY = np.radians(60.0)


def limited_chain(rng: np.random.Generator, n: int, kind: str, root_is_free: bool) -> Chain:
    """Return a chain with ranges of a kind, or of all kinds for "mixed"."""
    names = [kind] * n if kind in RANGES else rng.choice(list(RANGES), n).tolist()
    limits = np.radians([RANGES[name] for name in names])
    if root_is_free:
        limits[0] = np.nan
    return Chain(lengths_of(n, rng, int(rng.integers(2))), limits)


def started(chain: Chain) -> Floats:
    """Return the pose (n,) that is bent by START a joint, or as far as the limits let it."""
    return np.clip(np.full(len(chain), START), *chain.ranges.T)


def near_border(rng: np.random.Generator, chain: Chain, count: int) -> Floats:
    """Return targets INSIDE the border of what the chain reaches; those that are not in it are left out."""
    region = reachable(chain)
    level = region.sets.elements[0]
    which = rng.integers(0, len(level), count)
    normals = level.start[which] + rng.random(count) * (level.end[which] - level.start[which])
    at = level.at(which, normals) - rng.choice(INSIDE, count) * np.exp(1j * normals)
    points = np.stack((at.real, at.imag), axis=-1)
    return points[region.contains(points)]


def completeness(bones: tuple[int, ...] = BONES, chains: int = 10, targets: int = 40) -> Table:
    """Return the table of targets reached within limits, near the border and inside."""
    rows = []
    for n in bones:
        say(f"completeness within limits: {n} bones")
        rng = np.random.default_rng([3, n])
        counts = {"border": np.zeros(3, int), "half": np.zeros(3, int), "quarter": np.zeros(3, int)}
        worst = 0.0
        for i in range(chains):
            chain = limited_chain(rng, n, [*RANGES, "mixed"][i % 5], root_is_free=i % 2 == 1)
            sixty = limited_chain(rng, n, "60", root_is_free=False)
            asked = {
                "border": (chain, near_border(rng, chain, targets)),
                **{
                    name: (sixty, tips(sixty.lengths, rng.uniform(-part, part, (targets, n)) * SIXTY))
                    for name, part in (("half", 0.5), ("quarter", 0.25))
                },
            }
            for name, (own, points) in asked.items():
                solution = solve_ccd(own, points, start=started(own), tolerance=1e-9)
                wrong = solution.status == Status.LIMITED
                counts[name] += len(points), (~solution.reached).sum(), wrong.sum()
                worst = max(worst, float(solution.residual.max(initial=0.0)))
        rows.append([str(n), *(f"{missed} of {asked}" for asked, missed, _ in counts.values()), small(worst)])
    note = (
        "Targets missed, asked for 1e-9 of the reach. *Near the border*: 1e-2 to 1e-6 inside the border of"
        " what the chain reaches; ranges of 5, 20, 60 degrees to both sides, of 10 to 150, and mixed; root"
        " limited or free. The others: tips of random poses within a half and a quarter of limits of 60"
        f" degrees. All joints start bent by {START} radians."
    )
    header = ["bones", "near the border", "within a half", "within a quarter", "worst residual"]
    return Table("Limits: targets reached", note, header, rows)


def claims(chains: int = 60, poses: int = 2000) -> Table:
    """Return the table of claims that a target is out of reach, against sampled poses."""
    rows = []
    for n in (1, 2, 3, 5, 10, 50, 200):
        say(f"claims of being out of reach: {n} bones")
        rng, asked, out, wrong = np.random.default_rng([4, n]), 0, 0, 0
        for i in range(chains):
            chain = limited_chain(rng, n, [*RANGES, "mixed"][i % 5], root_is_free=i % 2 == 1)
            sampled = _sampled_tips(rng, chain, poses)
            points = rng.uniform(-1.0, 1.0, (80, 2))
            region = reachable(chain)
            away = np.where(region.contains(points), 0.0, region.nearest(points)[1])
            nearest = np.array([np.hypot(*(sampled - point).T).min() for point in points])
            asked, out = asked + len(points), out + int((away > 0.0).sum())
            wrong += int((nearest < away - 1e-9).sum()) + int((~region.contains(sampled)).sum())
        rows.append([str(n), str(asked), str(out), f"{chains * poses:,}", str(wrong)])
    note = (
        "Random targets, how many of them are said to be out of reach, and how often a sampled pose came"
        " nearer than that, or had its tip where it is said that none has."
    )
    return Table(
        "Limits: claims", note, ["bones", "targets", "said to be out", "sampled poses", "wrong"], rows
    )


def _sampled_tips(rng: np.random.Generator, chain: Chain, count: int) -> Floats:
    """Return tips (count, 2) of poses within the limits, half of them with joints at the ends of ranges."""
    low, high = np.where(np.isfinite(chain.ranges), chain.ranges, (-np.pi, np.pi)).T
    part = rng.random((count, len(chain)))
    part[: count // 2] = np.round(part[: count // 2])
    return forward(chain, low + part * (high - low))[:, -1]


def cost(bones: tuple[int, ...] = (3, 10, 50, 200), rounds: int = 5) -> Table:
    """Return the table of what limits cost."""
    rows = []
    for n in bones:
        say(f"cost of limits: {n} bones")
        rng = np.random.default_rng([5, n])
        lengths = lengths_of(n, rng, 1)
        most = SIXTY * min(1.0, 10.0 / n)
        limits = np.tile([-most, most], (n, 1))
        free, chain, start = Chain(lengths), Chain(lengths, limits), np.full(n, START)
        path = smooth_path(rng, 0.6, 0.9, 200, 0.01)
        path = path[reachable(chain).contains(path)]
        out = _out_of_reach(rng, chain, 1000)
        _made(chain)
        times = best_times(
            {
                "one": lambda c=free, s=start, t=out: [solve_ccd(c, one, start=s) for one in t[:20]],
                "free": lambda c=free, s=start, p=path: solve_ccd_path(c, p, start=s),
                "path": lambda c=chain, s=start, p=path: solve_ccd_path(c, p, start=s),
                "out": lambda c=chain, s=start, t=out: [solve_ccd(c, one, start=s) for one in t[:20]],
                "batch": lambda c=chain, s=start, t=out: solve_ccd(c, t, start=s),
            },
            rounds,
        )
        one = times["one"] / 20
        set_up = min(_set_up(chain) for _ in range(rounds))
        sets = reachable(chain).sets
        sizes = [len(level) for level in sets.elements]
        rows.append(
            [
                str(n),
                f"{sum(sizes):,}, {max(sizes)}",
                ratio(set_up / one),
                ratio(times["path"] / times["free"]),
                ratio(times["out"] / 20 / one),
                ratio(times["batch"] / len(out) / one),
                f"{1e3 * set_up:.1f} ms, {1e3 * times['out'] / 20:.2f} ms, {1e3 * times['batch']:.0f} us",
            ]
        )
    note = (
        "Limits of 60 degrees to both sides, or of 600 / n where that is less. *set-up*: making the region,"
        " once for a chain; *out of reach*: a target within the annulus that the limits forbid, alone and in"
        " a batch of 1,000: as ratios to one free target alone. *a frame within limits*: of a path in reach,"
        " to one without limits. The last column is this machine's: set-up, out of reach alone, and in a"
        " batch."
    )
    header = ["bones", "arcs and corners, most in a list", "set-up", "a frame within limits"]
    header += ["out of reach", "out of reach, in a batch", "times"]
    return Table("Limits: cost", note, header, rows)


def _out_of_reach(rng: np.random.Generator, chain: Chain, count: int) -> Floats:
    """Return targets (count, 2) within the annulus that the limits put out of reach."""
    points = rng.uniform(-0.7, 0.7, (100 * count, 2))
    return points[~reachable(chain).contains(points)][:count]


def _made(chain: Chain) -> None:
    for _ in region_steps(chain.lengths, *chain.ranges.T):
        pass


def _set_up(chain: Chain) -> float:
    """Return the seconds of the processor that making the region anew takes."""
    _regions.clear()
    began = process_time()
    _made(chain)
    return process_time() - began


def paths(bones: tuple[int, ...] = (2, 5, 10, 20, 50), count: int = 12, frames: int = 500) -> Table:
    """Return the table of the largest turn from frame to frame along smooth paths, within limits."""
    rows = []
    for n in bones:
        say(f"limited paths: {n} bones")
        most, sudden = [], 0
        for seed in range(count):
            rng = np.random.default_rng([6, n, seed])
            chain = limited_chain(rng, n, ("20", "60", "10 to 150")[seed % 3], root_is_free=seed % 2 == 1)
            path = smooth_path(rng, 0.3, 0.95, frames, 0.01)
            angles = solve_ccd_path(chain, path, start=started(chain)).angles
            turns = np.degrees(np.abs(np.diff(angles, axis=0)).max(axis=1))
            most.append(turns.max())
            sudden += int((turns > 15.0).sum())
        rows.append([str(n), f"{np.median(most):.1f}", f"{max(most):.1f}", f"{sudden} of {count * frames:,}"])
    note = (
        f"{count} smooth paths of {frames} frames (steps of at most 1 % of reach), many of which leave the"
        " region: the largest turn of a joint in degrees a frame, of the median path and at most, and in how"
        " many frames it is more than 15."
    )
    return Table("Limits: paths", note, ["bones", "median path", "at most", "frames with more than 15"], rows)


TABLES: dict[str, Callable[[], Table]] = {
    "completeness": completeness,
    "claims": claims,
    "cost": cost,
    "paths": paths,
}


if __name__ == "__main__":
    print_tables(TABLES)
