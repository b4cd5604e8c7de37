# SPDX-License-Identifier: GPL-3.0-or-later
"""Try the solvers in a window: drag the target, choose a solver, set limits, step CCD, see the region.

With --machine: a four-bar linkage, to turn by its crank and to drag by its coupler.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from .arm import MOST_BONES

NO_MATPLOTLIB = (
    "The demo draws with matplotlib, which is missing here: python -m pip install matplotlib,"
    " and start it again."
)
NO_WINDOW = (
    "matplotlib opens no window here (backend {backend}). With a screen, install a window system that it"
    " draws in, such as tkinter (Debian's python3-tk) or PySide6; without one, name a picture with --save."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the window, or save a picture of it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m ik2d_core.demo", description=__doc__)
    parser.add_argument(
        "--bones", type=int, choices=range(1, MOST_BONES + 1), default=3, help="how many bones (3)"
    )
    parser.add_argument("--machine", action="store_true", help="a four-bar linkage instead of the arm")
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
    # The target is dragged with the mouse: nothing else may zoom, pan or close.
    own: Any = {"toolbar": "None"} | {name: [] for name in matplotlib.rcParams if name.startswith("keymap.")}
    with matplotlib.rc_context(own):
        opens_windows = plt.figure().canvas.required_interactive_framework is not None
        plt.close()
        if not (chosen.save or opens_windows):
            print(NO_WINDOW.format(backend=plt.get_backend()), file=sys.stderr)
            return 1
        from .machine_window import MachineWindow
        from .window import Window

        window = MachineWindow() if chosen.machine else Window(chosen.bones)
        if not chosen.save:
            plt.show()
            return 0
        try:
            window.figure.savefig(chosen.save, dpi=110)
        except (OSError, ValueError) as error:
            print(f"The picture {chosen.save} was not saved: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
