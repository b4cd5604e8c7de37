# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m ik2d_core.demo`, here as a module of the checkout."""

import subprocess
import sys
from pathlib import Path

import pytest

from core_demo.__main__ import main

ROOT = Path(__file__).resolve().parents[3]
RUN = "import runpy; runpy.run_path('tools/core_demo.py', run_name='__main__')"

pytestmark = pytest.mark.slow


def run(before, *arguments):
    """Run the demo in a Python of its own, after some lines; return code and what it said."""
    code = f"import sys; sys.argv[1:] = {list(map(str, arguments))!r}\n{before}\n{RUN}"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_missing_matplotlib_is_named():
    result = run("sys.modules['matplotlib'] = None")
    assert result.returncode == 1 and "pip install matplotlib" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_picture_is_saved(tmp_path):
    pytest.importorskip("matplotlib")
    assert main(["--bones", "4", "--save", str(tmp_path / "demo.png")]) == 0
    assert (tmp_path / "demo.png").stat().st_size > 20_000


@pytest.mark.parametrize("backend", ["agg", "svg"])
def test_no_window_system_is_named(backend):
    pytest.importorskip("matplotlib")
    result = run(f"import os; os.environ['MPLBACKEND'] = {backend!r}")
    assert result.returncode == 1 and f"backend {backend}" in result.stderr and "--save" in result.stderr


@pytest.mark.parametrize("name", ["missing/demo.png", "demo.nothing"])
def test_a_picture_that_cannot_be_saved_is_named(tmp_path, capsys, name):
    pytest.importorskip("matplotlib")
    assert main(["--save", str(tmp_path / name)]) == 1
    assert f"{name} was not saved: " in capsys.readouterr().err


def test_nothing_but_the_target_answers_to_mouse_and_keys():
    pytest.importorskip("matplotlib")
    said = run(
        "import matplotlib, matplotlib.pyplot as plt; matplotlib.use('agg')\n"
        "plt.Figure.savefig = lambda *_, **__: print(plt.rcParams['toolbar'], plt.rcParams['keymap.yscale'])",
        "--save",
        "demo.png",
    )
    assert said.stdout == "None []\n", said.stderr


def test_an_odd_number_of_bones_is_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--bones", "9"])
    assert stop.value.code == 2 and "invalid choice" in capsys.readouterr().err
