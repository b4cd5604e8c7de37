# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/python.md: its examples print what it shows, and its reference is that of the docstrings."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.python_reference import PAGE, START, current

ROOT = Path(__file__).resolve().parents[2]
JOURNEYS = ("Bake a scene", "Set up a chain", "Solve without Blender", "A robot arm")
# Ends without Python's own exit, in which bpy 4.2 crashes and 4.5 hangs once our classes were registered.
RUN = """
import doctest, os, sys
import ik2d_addon.core
sys.modules["ik2d_core"] = ik2d_addon.core  # as if installed; tests/core/test_package.py has it installed
text = sys.stdin.read()
test = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", None, 0)
flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
results = doctest.DocTestRunner(optionflags=flags).run(test)
print(results)
sys.stdout.flush()
os._exit(bool(results.failed))
"""


def run(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run the examples of a text in a Python of its own, from the repository's root."""
    command = [sys.executable, *flags, "-c", RUN]
    return subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, timeout=180)


def examples(page: str) -> str:
    """Return the page's examples, without the fences that a doctest would take for output."""
    return page.partition(START)[0].replace("```pycon\n", "\n").replace("\n```", "\n")


@pytest.mark.slow
def test_the_examples_print_what_the_page_shows() -> None:
    result = run(examples(PAGE.read_text(encoding="utf-8")))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_the_solvers_examples_need_no_blender() -> None:
    alone = examples(PAGE.read_text(encoding="utf-8")).partition("\n## Solve without Blender\n")[2]
    result = run('>>> import sys; sys.modules["bpy"] = None\n\n' + alone)
    assert alone and result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_another_output_is_found() -> None:
    result = run(examples("```pycon\n>>> 1 + 1\n3\n```\n"))
    assert result.returncode == 1 and "Expected:" in result.stdout


def test_the_page_has_its_journeys_and_the_reference_after_them() -> None:
    text = PAGE.read_text(encoding="utf-8")
    places = [text.index(f"\n## {name}\n") for name in JOURNEYS] + [text.index(START)]
    assert places == sorted(places)


def test_the_reference_is_that_of_the_docstrings() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == current(page), "run python tools/python_reference.py"
