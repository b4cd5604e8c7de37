# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.even [table ...]`: measure the solver Even. `energy` and `slides` need scipy.

Chains of reach 1. What a table shows is said in its note; docs/solvers.md holds them.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ik2d_addon.core import Chain, solve_arc, solve_ccd, solve_ccd_path, solve_even, solve_two_bone
from ik2d_addon.core.even.search import Search, family_of
from ik2d_addon.core.inputs import wrapped

from .problems import Floats, smooth_problems
from .table import Table, percent, print_tables, ratio
from .timing import best_times, say

BONES = (3, 5, 12, 30, 50)
KINDS = ("straight", "curved", "S", "wiggle")


def rest_of(kind: str, n: int, rng: np.random.Generator) -> Floats:
    """Return a rest pose (n,) of a kind; the root lies at zero."""
    rest = np.zeros(n)
    m = n - 1
    if kind == "curved":
        rest[1:] = 1.2 / m
    elif kind == "S":
        rest[1:] = np.where(np.arange(m) < m / 2, 1.6 / m, -1.6 / m)
    elif kind == "wiggle":
        rest[1:] = rng.uniform(-0.4, 0.4, m)
    return rest


def lengths_of(n: int, rng: np.random.Generator, chain: int) -> Floats:
    """Return lengths (n,) that add up to 1: equal ones for the first chain, else 1 : 3 at most."""
    lengths = rng.uniform(0.5, 1.5, n) if chain else np.ones(n)
    return lengths / lengths.sum()


def problems(n: int, kind: str, count: int) -> Iterator[tuple[Chain, Floats]]:
    """Yield chains with their rest poses."""
    rng = np.random.default_rng([n, KINDS.index(kind)])
    for chain in range(count):
        yield Chain(lengths_of(n, rng, chain)), rest_of(kind, n, rng)


def energy(bones: tuple[int, ...] = BONES, starts: int = 50) -> Table:
    """Return the table of the energy against the best that scipy finds from many starts."""
    from scipy.optimize import minimize  # beside this table nothing needs it

    rows = []
    for kind in KINDS[:2]:
        for n in bones:
            say(f"energy: {kind}, {n} bones")
            most, beaten = 0.0, 0
            for chain, rest in problems(n, kind, 4):
                inner = chain.reach[0]
                for distance in inner + (1.0 - inner) * np.array([0.03, 0.35, 0.7, 0.97]):
                    own = float(
                        ((solve_even(chain, [distance, 0.0], rest=rest).angles - rest)[1:] ** 2).sum()
                    )
                    best = _least(minimize, chain.lengths, rest[1:], distance, starts)
                    most, beaten = max(most, own / best - 1.0), beaten + (own < best * (1.0 - 1e-6))
            rows.append([kind, str(n), f"{100.0 * most:.4f} %", str(beaten)])
    note = (
        f"Sum of squared bends from rest: by how much Even's is more than the best of {starts} starts"
        " of scipy's SLSQP, the worst of four chains and four distances each; and how many of the"
        " sixteen times it is less."
    )
    return Table(
        "Even: bend against the best of an optimiser", note, ["rest", "bones", "at most above", "below"], rows
    )


def _least(
    minimize: Callable[..., object], lengths: Floats, rest: Floats, distance: float, starts: int
) -> float:
    """Return the least sum of squared bends that the optimiser finds with the tip at a distance."""
    rng = np.random.default_rng(0)

    def off(angles: Floats) -> float:
        headings = np.concatenate(([0.0], np.cumsum(angles)))
        return float((lengths @ np.cos(headings)) ** 2 + (lengths @ np.sin(headings)) ** 2 - distance**2)

    def off_slopes(angles: Floats) -> Floats:
        headings = np.concatenate(([0.0], np.cumsum(angles)))
        along, across = lengths * np.cos(headings), lengths * np.sin(headings)
        arms_x, arms_y = np.cumsum(along[::-1])[::-1][1:], np.cumsum(across[::-1])[::-1][1:]
        return 2.0 * (across.sum() * arms_x - along.sum() * arms_y)

    best = np.inf
    for start in range(starts):
        plain, spread = rng.uniform(-7.0, 7.0), rng.uniform(0.0, 2.0)
        begin = rest + (plain + rng.normal(0.0, spread, rest.size)) / rest.size * (start > 0)
        begin = begin + rng.normal(0.0, 0.01, rest.size)
        found = minimize(
            lambda angles: ((angles - rest) ** 2).sum(),
            begin,
            jac=lambda angles: 2.0 * (angles - rest),
            constraints={"type": "eq", "fun": off, "jac": off_slopes},
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-13},
        )
        if abs(off(found.x)) < 1e-9:
            best = min(best, float(found.fun))
    return best


def slides(starts: int = 50) -> Table:
    """Return the table of the energy of chains that slide against the best that scipy finds."""
    from scipy.optimize import minimize  # beside `energy` nothing else needs it

    rows = []
    for kind in KINDS[:2]:
        for name, (least, most, weight) in SLIDES.items():
            excess: list[float] = []
            for n in (1, 2, 3, 5, 12, 30):
                say(f"slides: {kind}, {name}, {n} bones")
                rng = np.random.default_rng([n, KINDS.index(kind)])
                lengths, rest = lengths_of(n, rng, 1), rest_of(kind, n, rng) if n > 1 else np.zeros(1)
                weights = np.where(np.arange(n) % 3 == 1, weight, 1.0)
                chain = Chain(lengths, weights=weights, slides=np.outer(lengths, [least, most]))
                inner, outer = chain.reach
                for distance in inner + (outer - inner) * np.array([0.1, 0.35, 0.6, 0.8, 0.97]):
                    found = solve_even(chain, [distance, 0.0], rest=rest)
                    if not found.reached:
                        continue  # what pinned joints put out of reach
                    own = _cost(chain, rest, np.append(found.angles[1:], found.slides))
                    best = _least_slid(minimize, chain, rest, distance, starts)
                    excess.append(own / best - 1.0)
            share = np.mean(np.array(excess) > 0.01)
            beaten = np.mean(np.array(excess) < -1e-4)
            middle, worst = 100.0 * np.median(excess), 100.0 * max(excess)
            rows.append([kind, name, f"{middle:.3f} %", f"{worst:.1f} %", percent(share), percent(beaten)])
    note = (
        "Sum of squared turns from rest and slides: by how much Even's is more than the best of"
        f" {starts} starts of scipy's SLSQP, five distances each of 1, 2, 3, 5, 12 and 30 bones, slides as"
        " parts of a bone's length."
    )
    header = ["rest", "slides", "in the median", "at most", "more than 1 % above", "below"]
    return Table("Slides", note, header, rows)


# The least and the greatest slide as parts of a bone's length, and the weight of every third joint.
SLIDES = {
    "0 to 0.5": (0.0, 0.5, 1.0),
    "-0.3 to 0": (-0.3, 0.0, 1.0),
    "-0.3 to 0.5": (-0.3, 0.5, 1.0),
    "0 to 1, some pinned": (0.0, 1.0, 0.0),
}


def _cost(chain: Chain, rest: Floats, pose: Floats) -> float:
    """Return the sum of squares of inner angles and slides (2 n - 1,)."""
    m = len(chain) - 1
    return float(((pose[:m] - rest[1:]) ** 2).sum() + ((pose[m:] / chain.reach[1]) ** 2).sum())


def _least_slid(
    minimize: Callable[..., object], chain: Chain, rest: Floats, distance: float, starts: int
) -> float:
    """Return the least sum of squares that the optimiser finds with the tip at a distance."""
    rng, n = np.random.default_rng(0), len(chain)
    outer, turning = chain.reach[1], np.flatnonzero(chain.weights[1:] > 0.0)
    m = turning.size

    def whole(pose: Floats) -> tuple[Floats, Floats]:
        headings = np.zeros(n)
        headings[1:] = rest[1:]
        headings[1 + turning] = pose[:m]
        return np.cumsum(headings), chain.lengths + outer * pose[m:]

    def off(pose: Floats) -> float:
        headings, lengths = whole(pose)
        return float((lengths @ np.cos(headings)) ** 2 + (lengths @ np.sin(headings)) ** 2 - distance**2)

    def off_slopes(pose: Floats) -> Floats:
        headings, lengths = whole(pose)
        c, s = np.cos(headings), np.sin(headings)
        x, y = lengths @ c, lengths @ s
        arms_x, arms_y = np.cumsum((lengths * c)[::-1])[::-1], np.cumsum((lengths * s)[::-1])[::-1]
        turns = 2.0 * (y * arms_x - x * arms_y)[1 + turning]
        return np.concatenate((turns, 2.0 * outer * (x * c + y * s)))

    begin_rest = np.append(rest[1 + turning], np.zeros(n))
    bounds = [(None, None)] * m + [tuple(ends) for ends in chain.slide_ranges / outer]
    best = np.inf
    for start in range(starts):
        plain, spread = rng.uniform(-7.0, 7.0), rng.uniform(0.0, 2.0)
        begin = begin_rest.copy()
        begin[:m] += (plain + rng.normal(0.0, spread, m)) / max(m, 1) * (start > 0) + rng.normal(0.0, 0.01, m)
        begin[m:] = rng.uniform(*(chain.slide_ranges / outer).T)
        found = minimize(
            lambda pose: ((pose - begin_rest) ** 2).sum(),
            begin,
            jac=lambda pose: 2.0 * (pose - begin_rest),
            bounds=bounds,
            constraints={"type": "eq", "fun": off, "jac": off_slopes},
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-13},
        )
        if abs(off(found.x)) < 1e-9:
            best = min(best, float(found.fun))
    return best


def turns(bones: tuple[int, ...] = (3, 4, *BONES[1:]), chains: int = 40, room: float = 0.01) -> Table:
    """Return the table of turns for each reach that the target moves, and of folds."""
    rows = []
    for kind in KINDS:
        for side in (1.0, -1.0):
            for n in bones:
                rates, folded = [], 0
                for chain, rest in problems(n, kind, chains):
                    family = family_of(chain.lengths, np.ones(n - 1), rest[1:], side)
                    folded += family.bridged > 0
                    distances = np.linspace(chain.reach[0] + room, 0.95, 2000)
                    poses, _ = family.at(distances)
                    step = distances[1] - distances[0]
                    rates.append(np.abs(np.diff(poses, axis=0)).max() / step if step > 0.0 else 0.0)
                rows.append(
                    [
                        kind,
                        f"{side:+.0f}",
                        str(n),
                        f"{np.median(rates):.1f}",
                        f"{max(rates):.1f}",
                        f"{folded} of {chains}",
                    ]
                )
    note = (
        "The most that an inner joint turns for each reach that the target moves (radians), from the"
        f" inner reach + {room:g} to 0.95, in the median and at most; and how many chains have a fold, so"
        f" that a part of the family is not of least bend. {chains} chains a row."
    )
    return Table(
        "Even: turns and folds",
        note,
        ["rest", "bend", "bones", "median", "most", "with a way over a fold"],
        rows,
    )


def times(bones: tuple[int, ...] = (3, 10, 50, 200), rounds: int = 7) -> Table:
    """Return the table of times, as ratios to solve_ccd's."""
    rows = []
    for n in bones:
        say(f"times: {n} bones")
        rng = np.random.default_rng(n)
        chain, rest = Chain(lengths_of(n, rng, 1)), np.append(0.0, np.full(n - 1, 1.2 / n))
        targets = annulus(rng, chain, 1000)
        weights = np.ones(n - 1)
        measured = best_times(
            {
                "set-up": lambda c=chain, r=rest, w=weights: Search(c.lengths, w, r[1:]).family(),
                "set-up, straight": lambda c=chain, r=rest, w=weights: Search(
                    c.lengths, w, 0.0 * r[1:]
                ).straight_family(),
                "one": lambda c=chain, r=rest, t=targets: [solve_even(c, one, rest=r) for one in t[:20]],
                "batch": lambda c=chain, r=rest, t=targets: solve_even(c, t, rest=r),
                "rooted": lambda c=chain, r=rest, t=targets: solve_even(c, t, rest=r, root_weight=1.0),
                "ccd one": lambda c=chain, r=rest, t=targets: [solve_ccd(c, one, start=r) for one in t[:20]],
                "ccd batch": lambda c=chain, r=rest, t=targets: solve_ccd(c, t, start=r),
            },
            rounds,
        )
        own = measured["ccd one"] / 20
        rows.append(
            [
                str(n),
                ratio(measured["set-up, straight"] / own),
                ratio(measured["set-up"] / own),
                ratio(measured["one"] / measured["ccd one"]),
                ratio(measured["batch"] / measured["ccd batch"]),
                ratio(measured["rooted"] / measured["ccd batch"]),
                f"{1e3 * measured['set-up']:.0f} ms, {1e6 * measured['one'] / 20:.0f} us,"
                f" {1e3 * measured['batch']:.1f} us, {1e3 * measured['rooted']:.1f} us",
            ]
        )
    note = (
        "Times as ratios: the set-up of a family to one target of solve_ccd, one target to one of"
        " its, and a target in a batch of 1,000 to one in a batch of its. The last column is this"
        " machine's."
    )
    header = ["bones", "set-up, straight", "set-up, curved", "one", "in a batch", "in a batch, root counted"]
    return Table("Even: times", note, [*header, "set-up, one, in a batch, root counted"], rows)


def paths(
    bones: tuple[int, ...] = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50),
    count: int = 400,
    frames: int = 500,
    least: float = 0.2,
) -> Table:
    """Return the table of the largest turn from frame to frame, along smooth paths."""
    names = ("Even, straight rest", "Even, bent rest", "CCD", "CCD drawn to Even")
    rows: dict[str, list[str]] = {name: [] for name in names}
    for n in bones:
        say(f"paths: {n} bones")
        most = dict.fromkeys(rows, 0.0)
        for rng, chain, path in smooth_problems(n, count, frames, least):
            bent = np.append(0.0, rng.normal(0.0, 0.3, n - 1))
            start = rng.uniform(-np.pi, np.pi, n)
            found = {
                "Even, straight rest": solve_even(chain, path).angles,
                "Even, bent rest": solve_even(chain, path, rest=bent).angles,
                "CCD": solve_ccd_path(chain, path, start=start, posture_gain=0.0).angles,
                "CCD drawn to Even": solve_ccd_path(chain, path).angles,
            }
            for name, angles in found.items():
                turns = np.diff(angles, axis=0)
                turns[:, 0] -= 2.0 * np.pi * np.rint(turns[:, 0] / (2.0 * np.pi))
                most[name] = max(most[name], float(np.degrees(np.abs(turns).max())))
        for name, cells in rows.items():
            cells.append(f"{most[name]:.1f}")
    note = (
        f"{count} random smooth paths of {frames} frames for each number of bones (steps of at most half a"
        f" percent of reach, from the inner reach + {0.5 * least:g}, or {least:g}, to 0.95): the largest"
        " turn of a joint from one frame to the next, the root's among them, in degrees. Even from a"
        " straight rest, and from one in which each joint is bent by 0.3 radians or so, to any side; CCD, not"
        " drawn, from a random pose."
    )
    return Table(
        "Smooth paths of any kind",
        note,
        ["bones", *map(str, bones)],
        [[name, *cells] for name, cells in rows.items()],
    )


def near(bones: tuple[int, ...] = (2, 3, 5, 12)) -> Table:
    """Return the table of the largest turn from frame to frame, along lines past the root."""
    way, rows = 0.005, []
    distances = (0.01, 0.02, 0.05, 0.1, 0.2)
    along = np.arange(-0.5 - 0.5 * way, 0.5, way)
    lines = [np.stack([along, np.full_like(along, aside)], axis=1) for aside in distances]
    for n in bones:
        chain = Chain(np.ones(n) / n)
        rest = rest_of("curved", n, np.random.default_rng(0))
        found: dict[str, Callable[[Floats], Floats]] = {
            "Even": lambda path, c=chain, r=rest: solve_even(c, path, rest=r).angles,
            "Arc": lambda path, c=chain: solve_arc(c, path).angles,
            "CCD": lambda path, c=chain, r=rest: solve_ccd_path(c, path, rest=r).angles,
        }
        if n == 2:
            found = {"Two-Bone": lambda path, c=chain: solve_two_bone(c, path).angles}
        for name, solve in found.items():
            cells = [
                f"{np.degrees(np.abs(wrapped(np.diff(solve(line), axis=0)))).max():.1f}" for line in lines
            ]
            rows.append([name, str(n), *cells])
    rows.append(["way / distance", "", *(f"{np.degrees(way / aside):.1f}" for aside in distances)])
    note = (
        "A target that goes straight past the root at some distance of the reach, half a percent of it a"
        " frame: the largest turn of a joint in degrees a frame. Equal bones, curved at rest; CCD along the"
        " path."
    )
    header = ["solver", "bones", *(f"at {aside:g}" for aside in distances)]
    return Table("Past the root", note, header, rows)


def annulus(rng: np.random.Generator, chain: Chain, count: int) -> Floats:
    """Return targets (count, 2) spread evenly over the annulus of reach."""
    inner, outer = chain.reach
    radius, angle = np.sqrt(rng.uniform(inner**2, outer**2, count)), rng.uniform(-np.pi, np.pi, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


TABLES: dict[str, Callable[[], Table]] = {
    "energy": energy,
    "slides": slides,
    "turns": turns,
    "times": times,
    "paths": paths,
    "paths down to 0.01": lambda: paths(least=0.01),
    "near": near,
}


if __name__ == "__main__":
    print_tables(TABLES)
