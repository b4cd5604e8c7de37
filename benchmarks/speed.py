# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the solvers take: against C, against plain CCD, and as bones and frames grow in number."""

from dataclasses import dataclass

import numpy as np

from ik2d_addon.core import Chain, solve_ccd, solve_ccd_path, solve_two_bone

from . import c_port, plain_ccd
from .contestants import TOLERANCE
from .problems import Floats, Problems, free, paths, tips
from .table import Table, ratio, small
from .timing import best_times, say


@dataclass(frozen=True)
class Growth:
    """Seconds by size, for the plot: name -> (sizes, seconds)."""

    by_bones: dict[str, tuple[list[int], list[float]]]
    by_frames: dict[str, tuple[list[int], list[float]]]
    unit: float  # a frame of plain CCD with 10 bones


def two_bone(count: int, rounds: int) -> Table:
    """Time the analytic solver against its C port."""
    say(f"two bones, {count:,} targets")
    problems, compiled = free(2, count), c_port.load()
    chain = Chain(problems.lengths)
    tasks = {"IK 2D": lambda: solve_two_bone(chain, problems.targets)}
    rows = []
    if compiled:
        tasks["C port"] = lambda: compiled(problems.lengths, problems.targets)
    times = best_times(tasks, rounds)
    angles = solve_two_bone(chain, problems.targets).angles
    rows.append(_two_bone_row("IK 2D, status and residual included", problems, angles, times, "IK 2D"))
    if compiled:
        angles = compiled(problems.lengths, problems.targets)
        rows.append(_two_bone_row("C port of the article's function, -O3", problems, angles, times, "C port"))
    else:
        rows.append(["C port of the article's function", "no C compiler here: not measured", "-"])
    note = f"{count:,} targets in the annulus of reach. *worst*: distance from tip to target, of the reach."
    return Table("Speed: two bones", note, ["solver", "time", "worst"], rows)


def _two_bone_row(
    name: str, problems: Problems, angles: Floats, times: dict[str, float], key: str
) -> list[str]:
    worst = np.linalg.norm(tips(problems.lengths, angles) - problems.targets, axis=1).max()
    return [name, ratio(times[key] / times.get("C port", times[key])), small(float(worst))]


def chain_of_ten(frames: int, rounds: int) -> tuple[Table, float]:
    """Time ten bones along a path and as a batch; return the table, and plain CCD's time a frame."""
    say(f"10 bones, {frames:,} frames")
    path, random = paths(10, frames)[1], free(10, frames)
    chain = Chain(path.lengths)
    big = free(10, 20 * frames)
    tasks = {
        "path": lambda: solve_ccd_path(chain, path.targets, start=path.starts[0]),
        "plain 20": lambda: _plain_path(path, 20),
        "plain 100": lambda: _plain_path(path, 100),
        "plain random 100": lambda: _plain_random(random, 100),
        "batch": lambda: solve_ccd(Chain(random.lengths), random.targets, start=random.starts),
        "big batch": lambda: solve_ccd(Chain(big.lengths), big.targets, start=big.starts),
    }
    times = best_times(tasks, rounds)
    names = {
        "path": "IK 2D, along a path",
        "plain 20": "plain CCD, along the path, 20 iterations at most",
        "plain 100": "plain CCD, along the path, 100 iterations at most",
        "plain random 100": "plain CCD, independent targets from random poses, 100 iterations at most",
        "batch": f"IK 2D, {frames:,} independent targets from random poses in one call",
        "big batch": f"IK 2D, {20 * frames:,} of them",
    }
    each = {key: seconds / (20 * frames if key == "big batch" else frames) for key, seconds in times.items()}
    rows = [
        [name, ratio(each[key] / each["plain 100"]), ratio(each[key] / each["plain random 100"])]
        for key, name in names.items()
    ]
    note = (
        f"Time a frame or target. The path is the second of the circles below, {frames:,} frames. All are"
        " asked for 1e-6 of the reach; plain CCD, in pure Python, stops when it is there, and does not"
        " reach all of them."
    )
    header = ["solver", "plain CCD along the path = 1", "plain CCD on independent targets = 1"]
    return Table("Speed: ten bones", note, header, rows), each["plain 100"]


def _plain_path(path: Problems, iterations: int) -> None:
    pose, lengths = path.starts[0].tolist(), path.lengths.tolist()
    for target in path.targets.tolist():
        pose = plain_ccd.solve(lengths, pose, target, TOLERANCE, iterations)


def _plain_random(problems: Problems, iterations: int) -> None:
    lengths = problems.lengths.tolist()
    for start, target in zip(problems.starts.tolist(), problems.targets.tolist(), strict=True):
        plain_ccd.solve(lengths, start, target, TOLERANCE, iterations)


def growth(bones: tuple[int, ...], frames: tuple[int, ...], unit: float, rounds: int) -> tuple[Table, Growth]:
    """Time our solvers for more and more bones and frames."""
    say("growth with bones and frames")
    by_bones = {name: (list(bones), [_each(name, n, 400, rounds) for n in bones]) for name in _WAYS}
    by_frames = {
        name: (list(frames), [m * _each(name, 10, m, rounds) for m in frames]) for name in ("path", "batch")
    }
    rows = [
        [
            str(n),
            *(ratio(by_bones[name][1][i] / n / (by_bones[name][1][bones.index(10)] / 10)) for name in _WAYS),
        ]
        for i, n in enumerate(bones)
    ]
    note = (
        "Time a frame *and bone*, that of ten bones being 1: where cost is linear the number stays the"
        " same, and falls at first while what each call costs anyway is shared by more bones. The plot"
        " below shows the times."
    )
    header = ["bones", "along a path", "all at once", "one call a target"]
    return Table("Growth with the number of bones", note, header, rows), Growth(by_bones, by_frames, unit)


_WAYS = ("path", "batch", "single")


def _each(way: str, n: int, frames: int, rounds: int) -> float:
    """Return the seconds a frame of one way to solve."""
    path, random = paths(n, frames)[1], free(n, frames)
    chain = Chain(random.lengths)
    if way == "path":
        tasks = {way: lambda: solve_ccd_path(Chain(path.lengths), path.targets, start=path.starts[0])}
    elif way == "batch":
        tasks = {way: lambda: solve_ccd(chain, random.targets, start=random.starts)}
    else:
        few = [(random.targets[i], random.starts[i]) for i in range(min(frames, 100))]
        tasks = {way: lambda: [solve_ccd(chain, target, start=start) for target, start in few]}
        frames = len(few)
    return best_times(tasks, rounds)[way] / frames
