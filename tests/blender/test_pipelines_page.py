# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/pipelines.md: its commands and its Python run as printed, with the exit codes that it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
ALONE = ("    python -m ik2d_addon ", "    mkdir ")
# Ends without Python's own exit, in which bpy 4.2 crashes and 4.5 hangs once our classes were registered.
END = "\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n"


def lines():
    """Return the page's commands that name samples, or files made by those before."""
    return [line.strip() for line in PAGE.splitlines() if line.startswith(ALONE) and "RIG.blend" not in line]


@pytest.mark.slow
def test_the_commands_run_as_printed(tmp_path):
    (tmp_path / "sample_scenes").symlink_to(ROOT / "sample_scenes")
    codes = {}
    for line in lines():
        words = line.partition(";")[0].replace("python", f'"{sys.executable}"', 1)
        done = subprocess.run(
            ["bash", "-c", words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        codes[line] = done.returncode, done.stderr[-500:]
    assert len(codes) > 10
    failed = {line: end for line, end in codes.items() if end[0] != ("echo $?" in line)}
    assert not failed


@pytest.mark.slow
def test_the_python_runs_as_printed():
    parts = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    options = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 180}
    said = [subprocess.run([sys.executable, "-c", part + END], **options) for part in parts]
    assert len(said) == 2
    assert "Baked 40 frames on 1 chain" in said[0].stdout, said[0].stderr
    assert said[1].stdout.count("True") == 3, said[1].stderr
