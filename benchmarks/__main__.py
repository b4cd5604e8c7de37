# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks [--toy] [--output FOLDER]`: measure everything, with Blender's module bpy."""

import argparse
import os
import sys
from pathlib import Path

from .registration import registered
from .results import TOY, Sizes, run


def main() -> int:
    """Run the benchmarks; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    docs = Path(__file__).resolve().parent.parent / "docs"
    parser.add_argument("--output", type=Path, default=docs, help="folder for the results (docs/)")
    parser.add_argument("--toy", action="store_true", help="a few numbers only, to see that all of it runs")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with registered():
        run(TOY if arguments.toy else Sizes(), arguments.output)
    print(f"Written: {arguments.output / 'benchmarks.md'}")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Python's own exit hangs or crashes in some bpy versions once property groups are registered.
    os._exit(code)
