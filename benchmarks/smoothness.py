# SPDX-License-Identifier: GPL-3.0-or-later
"""How far joints jump while a target walks smoothly, and how often an elbow flips."""

from collections.abc import Callable

import numpy as np

from ik2d_addon.core import Chain, solve_ccd_path, solve_even, solve_two_bone

from . import ik_constraint, plain_ccd
from .contestants import TOLERANCE
from .problems import Floats, Problems, paths
from .table import Table
from .timing import say

# Each returns, for a path: how far the joint that turned most turned, frame by frame (frames - 1,) in
# radians, and the sign of the second bone's bend (frames,).
Walker = Callable[[Problems], tuple[Floats, Floats]]


def two_bone(path: Problems) -> tuple[Floats, Floats]:
    """Walk with the analytic solver."""
    return _of_angles(solve_two_bone(Chain(path.lengths), path.targets).angles)


def smooth(path: Problems) -> tuple[Floats, Floats]:
    """Walk with solve_even, which Automatic takes: each frame by itself."""
    return _of_angles(solve_even(Chain(path.lengths), path.targets).angles)


def along_path(path: Problems) -> tuple[Floats, Floats]:
    """Walk with solve_ccd_path."""
    return _of_angles(solve_ccd_path(Chain(path.lengths), path.targets, start=path.starts[0]).angles)


def plain(path: Problems) -> tuple[Floats, Floats]:
    """Walk with plain CCD, each frame starting from the one before."""
    angles, pose, lengths = np.empty_like(path.starts), path.starts[0].tolist(), path.lengths.tolist()
    for i, target in enumerate(path.targets.tolist()):
        angles[i] = pose = plain_ccd.solve(lengths, pose, target, TOLERANCE, 100)
    return _of_angles(angles)


def blender(locked: bool) -> Walker:
    """Return the walk of the IK constraint, which starts anew from the bones' own pose on each frame."""

    def walk(path: Problems) -> tuple[Floats, Floats]:
        rig = ik_constraint.rig_for(path, locked)
        rig.start_from(path.starts[0])
        turns, sides, before = [], [], None
        for x, y in path.targets.tolist():
            rig.aim_at(x, y)
            rig.solve()
            frames = rig.frames()
            if before is not None:
                turns.append(ik_constraint.turns_between(before, frames).max())
            one, two = frames[0, :2, 1], frames[1, :2, 1]
            sides.append(np.sign(one[0] * two[1] - one[1] * two[0]))
            before = frames
        return np.array(turns), np.array(sides)

    return walk


WALKERS: dict[str, Walker] = {
    "IK 2D, two-bone": two_bone,
    "IK 2D, Smooth": smooth,
    "IK 2D, CCD path": along_path,
    "plain CCD, 100 iterations": plain,
    "IK constraint": blender(locked=False),
    "IK constraint, locked to the plane": blender(locked=True),
}


def measure(bones: tuple[int, ...], frames: int) -> tuple[Table, dict[str, Floats]]:
    """Return the table, and for the plot the turns of each walker on the first circle with two bones."""
    rows, curves = [], {}
    for name, walk in WALKERS.items():
        say(f"smooth paths: {name}")
        cells, flips = [], []
        for n in bones:
            if walk is two_bone and n != 2:
                cells.append("-")
                continue
            walks = [walk(path) for path in paths(n, frames)]
            cells.append(f"{np.degrees(max(turns.max() for turns, _ in walks)):.1f}")
            if n == 2:
                flips = [int((np.diff(sides) != 0).sum()) for _, sides in walks]
                curves[name] = np.degrees(walks[0][0])
        rows.append([name, *cells, " / ".join(map(str, flips))])
    header = ["contestant", *(f"{n} bones" for n in bones), "elbow flips (2 bones)"]
    return Table(
        "Smooth paths: the largest jump of a joint", _NOTE.format(frames=frames), header, rows
    ), curves


_NOTE = (
    "The target walks once round each of three circles in {frames} frames: round the root at 0.6 of the"
    " reach; between 0.2 and 0.9 of it; between 0.55 and 0.95. Bones of equal length, bent by 3 degrees a"
    " joint at first. The number is the furthest that any joint turned from one frame to the next, in"
    " degrees. *Elbow flips*: how often the second bone changed its side, on each circle. CCD, ours and the"
    " plain one, starts each frame from the one before; ours is drawn from that first pose to Smooth's, which"
    " makes its largest turns. The IK constraint starts from the bones' own pose."
)


def _of_angles(angles: Floats) -> tuple[Floats, Floats]:
    turns = np.abs(np.remainder(np.diff(angles, axis=0) + np.pi, 2.0 * np.pi) - np.pi)
    return turns.max(axis=1), np.sign(np.sin(angles[:, 1]))
