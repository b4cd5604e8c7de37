# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that people type when something goes wrong lead to the heading that answers them."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Those that mkdocs.yml has under Learn, Use and Automate: pages for people who use the extension.
PAGES = re.findall(
    r"docs/(\w[\w-]*)\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("How it works")[0]
)
TROUBLES = "troubleshooting"
# What people type, and the heading of docs/troubleshooting.md that answers it.
PHRASES = {
    "the-knee-bends-the-wrong-way-or-the-elbow-flips": (
        "knee bends wrong way",
        "knee backwards",
        "elbow flips",
    ),
    "the-arm-is-straight-as-in-a-t-pose-and-does-nothing": ("arm straight no bend", "T-pose", "Mixamo"),
    "the-limb-pops-or-jitters": ("limb pops", "jitter"),
    "the-foot-slides-or-sinks-into-the-ground": ("foot slides", "foot sinks into ground"),
    "my-keys-are-gone-undo-a-bake-or-bake-to-a-new-action": (
        "keys are gone",
        "overwrite keyframes",
        "undo bake",
        "bake to new action",
    ),
    "the-target-moves-and-the-leg-does-not-follow": (
        *("target does not move", "nothing happens", "live does not follow"),
    ),
    "it-plays-here-not-in-the-engine": (
        *("export Unity", "export Godot", "export Unreal", "all actions", "FBX", "glTF", "three.js"),
    ),
    "dependency-cycle": ("dependency cycle", "circle"),
    "it-jumps-when-i-press-add-chain": ("jumps when I add",),
    "the-bake-says-missed-out-of-reach-off-the-plane": ("out of reach", "off the plane"),
    "the-pole-angle-is-off": ("pole angle",),
    "the-ikfk-switch-pops": ("IK FK switch pop", "foot turns on switch"),
    "the-machine-jams-tears-or-does-not-move": ("machine jams", "mechanism does not move", "linkage tears"),
}


def words(text: str) -> set[str]:
    """Return the words of a text in small letters, those with a hyphen or a stop inside them whole too."""
    text = re.sub(r"\]\([^)]*\)", "]", text.lower())  # where a link leads is not read
    return {*re.findall(r"\w+", text), *re.findall(r"\w+(?:[-.]\w+)+", text)}


def anchor(heading: str) -> str:
    """Return a heading's anchor, as code hosts make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@cache
def sections() -> dict[tuple[str, str], set[str]]:
    """Return the words of each heading and of the text below it: {(page, anchor): words}."""
    return dict(_sections())


def _sections() -> Iterator[tuple[tuple[str, str], set[str]]]:
    for page in PAGES:
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        for part in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
            yield (page, anchor(part.partition("\n")[0])), words(part)


def found(phrase: str) -> list[tuple[str, str]]:
    """Return the headings whose section has all words of a phrase, also at the beginning of longer words."""
    asked = re.findall(r"\S+", phrase.lower())
    return [
        place
        for place, there in sections().items()
        if all(any(word.startswith(term) for word in there) for term in asked)
    ]


@pytest.mark.parametrize(
    ("phrase", "heading"),
    [(phrase, heading) for heading, phrases in PHRASES.items() for phrase in phrases],
)
def test_what_people_type_leads_to_the_heading_that_answers_it(phrase: str, heading: str) -> None:
    assert (TROUBLES, heading) in found(phrase)


def test_each_heading_on_a_trouble_is_searched_for() -> None:
    told = {heading for page, heading in sections() if page == TROUBLES} - {TROUBLES}
    assert told - {"the-baked-keys-do-not-play"} == set(PHRASES)


def test_each_row_names_a_button_or_leads_on() -> None:
    text = (ROOT / "docs" / f"{TROUBLES}.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    rows = [line for line in rows if not line.startswith("| How to see")]
    assert len(rows) > 50
    assert [row for row in rows if row.count("|") != 3] == []


def test_a_search_finds_all_words_or_nothing() -> None:
    assert ("manual", "softness") in found("softn")
    assert found("softness unicorn") == []
