# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.peak CHAINS FRAMES [BAKES]`: how many MiB bakes add to the most that a process held.

A process of its own, since that number never falls. Keys count, which are Blender's, as do the copies of
them that it evaluates.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def resident(count: int, frames: int, bakes: int = 1) -> float:
    """Return the MiB that bakes of chains of two bones, one over the other, add to a fresh process."""
    words = [sys.executable, "-m", "benchmarks.peak", str(count), str(frames), str(bakes)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _held() -> float:
    """Return the most that this process has held so far, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells counts in what the parent held when it started this
        return float(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024.0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024.0 * 1024.0 if sys.platform == "darwin" else 1024.0)


def main() -> None:
    """Bake, and print the number last."""
    from . import scenes
    from .bakers import bake_ours
    from .registration import registered

    parser = argparse.ArgumentParser(prog="python -m benchmarks.peak", description=__doc__)
    parser.add_argument("chains", type=int)
    parser.add_argument("frames", type=int)
    parser.add_argument("bakes", type=int, nargs="?", default=1, help="how many, one over the other (1)")
    given = parser.parse_args()
    with registered():
        bake_ours(scenes.chains(1, 2, 10), 10)  # what is loaded once
        armature = scenes.chains(given.chains, 2, given.frames)
        before = _held()
        for _ in range(given.bakes):
            bake_ours(armature, given.frames)
        print(_held() - before, flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Python's own exit hangs or crashes in some bpy versions once property groups are registered.
    os._exit(0)
