# SPDX-License-Identifier: GPL-3.0-or-later
"""How far each contestant bends a chain from its rest pose to put its tip on a target."""

from collections.abc import Callable

import numpy as np

from ik2d_addon.core import Chain, solve_ccd, solve_even

from . import ik_constraint
from .even import annulus, lengths_of
from .problems import Floats, Problems
from .table import Table, ratio
from .timing import say

# Returns the angles (m, n) for the targets of problems that start from rest.
Way = Callable[[Problems], Floats]


def even(root_weight: float | None) -> Way:
    """Return Even with its root free, or its root's turn counted."""

    def solve(problems: Problems) -> Floats:
        chain, rest = Chain(problems.lengths), problems.starts[0]
        return solve_even(chain, problems.targets, rest=rest, root_weight=root_weight).angles

    return solve


def ccd(problems: Problems) -> Floats:
    """Solve by CCD, each target from rest."""
    return solve_ccd(Chain(problems.lengths), problems.targets, start=problems.starts[0]).angles


def blender(problems: Problems) -> Floats:
    """Solve by Blender's IK constraint, locked to the plane, each target from rest."""
    rig, angles = ik_constraint.rig_for(problems, locked=True), np.empty_like(problems.starts)
    rig.start_from(problems.starts[0])
    for i, (x, y) in enumerate(problems.targets.tolist()):
        rig.aim_at(x, y)
        rig.solve()
        along = rig.frames()[:, :2, 1]
        headings = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))
        angles[i] = np.diff(headings, prepend=0.0)
    return angles


WAYS: dict[str, Way] = {
    "Even": even(None),
    "Even, root counted": even(1.0),
    "CCD": ccd,
    "IK constraint, locked to the plane": blender,
}


def measure(bones: tuple[int, ...], count: int) -> Table:
    """Return the table of the joint that is bent most, and of the bend as a ratio to the least."""
    rows = []
    for n in bones:
        say(f"bends: {n} bones")
        rng = np.random.default_rng(n)
        chain, rest = Chain(lengths_of(n, rng, 1)), np.append(0.0, np.full(n - 1, min(0.2, 2.0 / n)))
        problems = Problems(chain.lengths, np.tile(rest, (count, 1)), annulus(rng, chain, count))
        angles = {name: way(problems) for name, way in WAYS.items()}
        bends = {name: ((own - rest)[:, 1:] ** 2).sum(axis=1) for name, own in angles.items()}
        for name, own in angles.items():
            parts = bends[name] / bends["Even"]
            largest = np.degrees(np.abs(own[:, 1:]).max(axis=1))
            with_root = ((own - rest) ** 2).sum(axis=1)
            cells = [f"{np.percentile(largest, 90.0):.0f}", f"{np.median(with_root):.2f}"]
            rows.append([str(n), name, *cells, ratio(np.median(parts)), ratio(np.percentile(parts, 90.0))])
    return Table("Bends", _NOTE.format(count=count), _HEADER, rows)


_HEADER = [
    "bones",
    "contestant",
    "largest joint",
    "bend with the root's turn",
    "bend, of the least",
    "in nine of ten cases less than",
]
_NOTE = (
    "{count} targets spread evenly over the annulus, each from rest: bent by 0.2 radians a joint, or 2 / n"
    " where that is less. *largest joint*: the inner joint that is bent most (degrees), in nine of ten cases"
    " less than this. *bend with the root's turn*: the sum of squared angles from rest (median). *bend, of"
    " the least*: the sum without the root's, as a ratio to Even's, which is the least (median)."
)
