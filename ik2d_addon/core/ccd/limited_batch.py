# SPDX-License-Identifier: GPL-3.0-or-later
"""Many independent targets at once, for a chain with limits.

The region tells at once which targets are out of reach, and the nearest poses; the others are solved one
after the other, as alone, and the region is asked again, at once, for those where that does not arrive.
"""

from collections.abc import Generator

import numpy as np

from ..region import Region
from .batch import Poses, Rows, Targets, are_inside
from .limited import around, asked, away_from, blended, limited_steps, region_of
from .sweep import Bones

# Targets at a time: few, so that little time passes from one yield to the next.
BLOCK = 256


def limited_batch_steps(
    bones: Bones, targets: Targets, tolerance: float, rounds: int
) -> Generator[int, None, Poses]:
    """Return the poses that limited_steps finds for each target. Yields the number of targets done."""
    poses = Poses.empty(targets)
    region = yield from region_of(bones)
    for first in range(0, len(targets.points), BLOCK):
        rows = np.arange(first, min(first + BLOCK, len(targets.points)))
        if region is None:
            yield from _in_turn(bones, targets, rows, tolerance, rounds, poses)
        else:
            yield from _block(bones, region, targets, rows, tolerance, rounds, poses)
    return poses


def _in_turn(
    bones: Bones, targets: Targets, rows: Rows, tolerance: float, rounds: int, poses: Poses
) -> Generator[int, None, None]:
    """Solve some rows one after the other."""
    for row in rows.tolist():
        found = yield from limited_steps(bones, *targets.row(row), tolerance, rounds)
        poses.fill(row, *found)
        yield int(rows[0])


def _block(
    bones: Bones, region: Region, targets: Targets, rows: Rows, tolerance: float, rounds: int, poses: Poses
) -> Generator[int, None, None]:
    """Solve some rows: those in reach one by one, then at once those that are out of it or did not arrive."""
    first = int(rows[0])
    away = away_from(region, targets.points[rows], tolerance)
    is_in_annulus = are_inside(bones, targets[rows])
    left: list[int] = rows[is_in_annulus & (away > 0.0)].tolist()
    yield first
    for row in rows[is_in_annulus & (away == 0.0)].tolist():
        found, has_arrived = around(bones, *targets.row(row), tolerance, rounds)
        poses.fill(row, *found)
        if not has_arrived:
            left.append(row)
        yield first
    exact, away = asked(region, targets.points[left], targets.starts[left], tolerance)
    poses.angles[left], poses.is_out[left] = exact, away > 0.0
    yield first
    for row, pose in zip(np.array(left)[away == 0.0].tolist(), exact[away == 0.0].tolist(), strict=True):
        start, x, y, _ = targets.row(row)
        done = int(poses.iterations[row])
        poses.fill(row, *blended(bones, start, pose, x, y, tolerance, rounds, done))
        yield first
    yield from _in_turn(bones, targets, rows[~is_in_annulus], tolerance, rounds, poses)
    yield first + len(rows)
