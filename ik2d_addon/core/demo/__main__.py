# SPDX-License-Identifier: GPL-3.0-or-later
"""Try the solvers in a window: drag the target, choose a solver, set limits, step CCD, see the region."""

import argparse
import sys
from collections.abc import Sequence

from .arm import MOST_BONES

NO_MATPLOTLIB = (
    "The demo draws with matplotlib, which is missing here: python -m pip install matplotlib,"
    " and start it again."
)
NO_WINDOW = (
    "matplotlib found no window system to open a window with: install one that it draws in, such as tkinter"
    " (Debian's python3-tk) or PySide6, or name a picture with --save."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the window, or save a picture of it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m ik2d_core.demo", description=__doc__)
    parser.add_argument(
        "--bones", type=int, choices=range(1, MOST_BONES + 1), default=3, help="how many bones (3)"
    )
    parser.add_argument(
        "--save", metavar="PICTURE", help="save a picture of the window instead of opening it"
    )
    chosen = parser.parse_args(arguments)
    try:
        import matplotlib
        import matplotlib.pyplot as plt
    except ImportError:
        print(NO_MATPLOTLIB, file=sys.stderr)
        return 1
    if chosen.save:
        matplotlib.use("agg")
    elif plt.get_backend().lower() == "agg":
        print(NO_WINDOW, file=sys.stderr)
        return 1
    from .window import Window

    window = Window(chosen.bones)
    if chosen.save:
        window.figure.savefig(chosen.save, dpi=100)
    else:
        plt.show()
    return 0


if __name__ == "__main__":
    sys.exit(main())
