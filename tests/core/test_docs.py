# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents name only tests that exist, link only to files that exist, and draw the rooms as they are."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tools.draw_feet import table
from tools.draw_rooms import PICTURE, drawn

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
NAMED_TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
LINK = re.compile(r"\]\(([^)\s]+)\)")  # of a picture too
NAMED_SOURCE = re.compile(r"`(?:ik2d_addon/)?((?:cli|features|ui|live|bake|rig|core)/[\w/]+\.py)\b")
ELSEWHERE = re.compile(r"[a-z]+:|#")  # another site, or a heading of the same page


def relative(path: Path) -> str:
    """Return the path below the repository's root, as a test's name."""
    return path.relative_to(ROOT).as_posix()


@cache
def functions(path: Path) -> set[str]:
    """Return the names of a file's functions, also of those in its classes; none where there is no file."""
    if not path.is_file():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def missing_tests(text: str) -> set[str]:
    """Return the tests that a text names and that the tree has not."""
    return {
        f"{path}::{name}" for path, name in NAMED_TEST.findall(text) if name not in functions(ROOT / path)
    }


def missing_files(text: str, folder: Path) -> set[str]:
    """Return the relative links of a text in a folder that lead nowhere."""
    links = {link for link in LINK.findall(text) if not ELSEWHERE.match(link)}
    return {link for link in links if not (folder / link.partition("#")[0]).exists()}


@pytest.mark.slow
@pytest.mark.parametrize("path", [CONTRIBUTING, *DOCS], ids=relative)
def test_every_test_that_a_document_names_exists(path: Path) -> None:
    assert missing_tests(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("path", [CONTRIBUTING, *DOCS], ids=relative)
def test_every_source_file_that_a_document_names_exists(path: Path) -> None:
    named = {name for name in NAMED_SOURCE.findall(path.read_text(encoding="utf-8")) if "NAME" not in name}
    assert {name for name in named if not (ROOT / "ik2d_addon" / name).is_file()} == set()


def test_the_readme_can_be_read_at_one_go() -> None:
    """Its pictures, tables and commands included, as `wc -w` counts."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 950


@pytest.mark.parametrize("path", [ROOT / "README.md", CONTRIBUTING, *DOCS], ids=relative)
def test_every_file_that_a_document_links_to_exists(path: Path) -> None:
    assert missing_files(path.read_text(encoding="utf-8"), path.parent) == set()


def test_every_fact_about_blender_names_its_test() -> None:
    facts = re.findall(
        r"^- .+(?:\n  .+)*", (ROOT / "docs" / "blender.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert facts and [fact for fact in facts if not NAMED_TEST.search(fact)] == []


@pytest.mark.slow
def test_the_picture_of_the_rooms_is_that_of_their_imports() -> None:
    assert PICTURE.read_text(encoding="utf-8") == drawn(), "run python tools/draw_rooms.py"


def test_the_table_of_feet_is_that_of_the_recorded_clips() -> None:
    text = (ROOT / "docs" / "riggers.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in text, "run python tools/draw_feet.py"


def test_what_is_missing_is_found() -> None:
    here = relative(Path(__file__))
    text = f"`{here}::test_what_is_missing_is_found` `{here}::test_gone` `tests/core/test_gone.py::test_it`"
    assert missing_tests(text) == {f"{here}::test_gone", "tests/core/test_gone.py::test_it"}
    text = "[a](README.md#layout) [b](gone.md) ![c](docs/gone.png) [d](https://example.org/) [e](#here)"
    assert missing_files(text, ROOT) == {"gone.md", "docs/gone.png"}


@pytest.mark.parametrize("path", [ROOT / "README.md", CONTRIBUTING, *DOCS], ids=relative)
def test_every_list_stands_apart_from_the_paragraph_before_it(path: Path) -> None:
    """Code hosts show a list without an empty line before it as one, the site as a part of the paragraph."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^(?![-\s]|\d+\.|#).+\n(?=- |\d+\. )", text, re.MULTILINE) == []
