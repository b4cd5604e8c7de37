# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the solvers' tests as other processors would: with their kernels of OpenBLAS, and what numpy has there.

    python tools/processors.py [PYTEST ARGUMENT ...]

What rounds otherwise there must not make a test fail. Left out are processors that this one cannot be,
and its own kind, as which `make test` runs.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from numpy.core._multiarray_umath import __cpu_features__ as features

# OpenBLAS's kernels, by what numpy knows that such a processor has, the best last; Zen has Haswell's.
KERNELS = {
    "Prescott": ("SSE3",),
    "Haswell": ("SSE3", "AVX2", "FMA3"),
    "SkylakeX": ("SSE3", "AVX2", "FMA3", "AVX512F", "AVX512_SKX"),
}


def variants() -> dict[str, dict[str, str]]:
    """Return the environment variables of each variant, by its kernel: numpy does without what it lacks."""
    found = {}
    possible = [kernel for kernel, has in KERNELS.items() if features[has[-1]]]
    for kernel in possible[:-1]:
        has = KERNELS[kernel]
        lacks = " ".join(name for name in KERNELS["SkylakeX"] if features[name] and name not in has)
        found[kernel] = {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": lacks}
    return found


def run(name: str, variables: dict[str, str], arguments: list[str]) -> tuple[str, int, str]:
    """Run the tests with some environment variables; return the name, the exit code and the output."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or ["tests/core"])]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    return name, done.returncode, done.stdout + done.stderr


def main(arguments: list[str]) -> int:
    """Run all variants; return the exit code."""
    failed = False
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        runs = [workers.submit(run, name, them, arguments) for name, them in variants().items()]
        for name, code, output in (run.result() for run in runs):
            last = output.strip().rpartition("\n")[2]
            print(f"{name}: {last}" if code == 0 else f"{name}: exit code {code}\n{output}", flush=True)
            failed |= code != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
