# SPDX-License-Identifier: GPL-3.0-or-later
"""The article's two-bone function in C (two_bone.c), compiled with -O3 and called through ctypes."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .problems import Floats

# Takes lengths (2,) and targets (m, 2); returns angles (m, 2).
Solver = Callable[[Floats, Floats], Floats]


def load() -> Solver | None:
    """Return the compiled solver, or None where there is no C compiler."""
    compiler = next(filter(None, map(shutil.which, ("gcc", "cc", "clang"))), None)
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "two_bone.so"
        source = Path(__file__).with_name("two_bone.c")
        subprocess.run([compiler, "-O3", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        solve_all = ctypes.CDLL(str(library)).solve_all
    pointer, number = ctypes.c_void_p, ctypes.c_double
    solve_all.argtypes = [ctypes.c_long, number, number, ctypes.c_int, pointer, pointer, pointer]
    solve_all.restype = None

    def solve(lengths: Floats, targets: Floats) -> Floats:
        count, points = len(targets), np.ascontiguousarray(targets, np.float64)
        angles, found = np.empty((count, 2)), np.empty(count, np.int8)
        data = (points.ctypes.data, angles.ctypes.data, found.ctypes.data)
        solve_all(count, lengths[0], lengths[1], 1, *data)
        return angles

    return solve
