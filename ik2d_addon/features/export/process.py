# SPDX-License-Identifier: GPL-3.0-or-later
"""An export of a copy of the open file, by the command line in a Blender of its own."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import bpy

from ...core import IK2DError
from ...core.solution import CountedSteps
from ...core.words import refusal
from .formats import format_of
from .report import ExportReport

_ROOT = Path(__file__).parents[3]
_LOOK_EVERY, _TO_END = 0.02, 2.0  # seconds: between two looks at the process, and for it to end by itself
_PROGRESS = re.compile(rb"exporting: (\d+) of (\d+) frames")
_ERROR = re.compile(r"^ik2d: error: (.*)$", re.MULTILINE)
# In Blender or in the bpy module: the command line's own way in, which needs no installed extension.
_RUN = """
import os, sys
sys.path.insert(0, {root!r})
sys.argv = {words!r}
from ik2d_addon.__main__ import main
code = main()
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
"""


def export_copy_steps(
    armatures: Sequence[bpy.types.Object], path: str, *, deform_only: bool = False
) -> CountedSteps[ExportReport]:
    """Export armatures of one file in steps, which yield frames done and in all; return the report.

    path: of the file to write. What is open stays as it is. Closed before its end, the process ends, and
    nothing is written. Raises IK2DError for what cannot be exported.
    """
    path = os.path.abspath(bpy.path.abspath(path))
    format_of(path)
    _refuse_unwritable(path)
    with tempfile.TemporaryDirectory(dir=bpy.app.tempdir or None, ignore_cleanup_errors=True) as folder:
        copy = os.path.join(folder, os.path.basename(bpy.data.filepath) or "untitled.blend")
        bpy.ops.wm.save_as_mainfile(filepath=copy, copy=True, compress=False)
        told = os.path.join(folder, "report.json")
        words = ["export", copy, "--output", path, "--report", told]
        words += [f"--armature={ob.name}" for ob in armatures]
        words += ["--deform-only"] if deform_only else []
        # What the open file runs, its copy may run: where Blender has blocked nothing of it.
        words += [] if bpy.app.autoexec_fail else ["--enable-autoexec"]
        with (
            open(os.path.join(folder, "lines.txt"), "w+b") as lines,
            _process(words, lines.fileno()) as process,
        ):
            done, total = 0, 1
            while process.poll() is None:
                lines.seek(0)
                for found in _PROGRESS.finditer(lines.read()):
                    done, total = int(found[1]), int(found[2])
                yield done, total
                time.sleep(_LOOK_EVERY)
            lines.seek(0)
            text = lines.read().decode("utf-8", "replace")
        return _report(process.returncode, told, text)


def _refuse_unwritable(path: str) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise refusal("There is no folder '{folder}': make it, or choose another place", folder=folder)
    if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        raise refusal("'{path}' cannot be written: choose another place", path=path)


@contextmanager
def _process(words: Sequence[str], lines: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Start the command line; at the end of the context it has ended, by itself or killed."""
    code = _RUN.format(root=str(_ROOT), words=["ik2d", *words])
    blender = [
        bpy.app.binary_path,
        "--background",
        "--factory-startup",
        "--python-exit-code",
        "3",
        "--python-expr",
    ]
    command = [*blender, code] if bpy.app.binary_path else [sys.executable, "-c", code]
    # As cli/parent.py reads it: the process ends with this one, even if that is killed.
    environment = {
        **os.environ,
        "IK2D_PARENT": str(os.getpid()),
        "PYTHONIOENCODING": "utf-8:backslashreplace",
    }
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, env=environment
        )
    except OSError as error:
        raise refusal("No process could be started: {words}", words=error.strerror or str(error)) from None
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_TO_END)
        if process.poll() is None:
            process.kill()
            process.wait()


def _report(code: int, path: str, lines: str) -> ExportReport:
    """Return the report that a process has written; raise IK2DError with its reason where it has not."""
    if code in (0, 1) and os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            return ExportReport.from_dict(json.load(file))
    if errors := _ERROR.findall(lines):
        raise IK2DError(errors[-1])
    last = next((line for line in reversed(lines.splitlines()) if line.strip()), "")
    raise refusal("The export ended with code {code}: {words}", code=code, words=last)
