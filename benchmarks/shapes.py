# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.shapes`: the poses of CCD and Even beside one another, for docs/solvers.md."""

from pathlib import Path

import numpy as np

from ik2d_addon.core import Chain, forward, solve_ccd, solve_even

from . import plots
from .problems import Floats

BONES, BENT = 10, 0.12  # radians a joint, at rest
# Once across in front of the root, from afar to near it, as (direction in degrees, part of the reach).
TARGETS = ((95, 0.9), (60, 0.75), (30, 0.55), (150, 0.6), (175, 0.4), (-20, 0.35), (120, 0.2))


def main() -> None:
    """Draw docs/shapes.png."""
    chain = Chain(np.full(BONES, 1.0 / BONES))
    rest = np.full(BONES, -BENT)
    rest[0] = np.radians(115.0)
    targets = np.array([[r * np.cos(a), r * np.sin(a)] for a, r in ((np.radians(a), r) for a, r in TARGETS)])
    found = {
        "CCD, from the rest pose (grey)": solve_ccd(chain, targets, start=rest),
        "Even, its root's turn counted": solve_even(chain, targets, rest=rest, root_weight=1.0),
        "Even, its root free": solve_even(chain, targets, rest=rest),
    }
    rows: dict[str, Floats] = {
        name: forward(chain, np.vstack((rest, solution.angles))) for name, solution in found.items()
    }
    plots.shapes(rows, targets, Path(__file__).resolve().parent.parent / "docs" / "shapes.png")


if __name__ == "__main__":
    main()
