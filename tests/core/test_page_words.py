# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages, labels, tooltips and messages: plain words, as CONTRIBUTING.md asks for."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "farm/*.md", "sample_scenes/*.md", "ik2d_addon/**/ja_JP.po")
    for page in ROOT.glob(pattern)
)
# Phrases that stop a reader, and what to write for each.
STOPS = {
    r"(what|which) (came|comes) of": "result",
    r"shall": "must, or the present",
    r"to the bit": "exactly",
    r"own word": "Blender's own evaluation",
    r"astray": "off",
    r"is led to|are led to": "comes to",
    r"lest": "so that ... not",
    r"beside": "next to",
    r"(is|are|be) ruled|rules? the bones|would rule|rules it": "moved by",
    r"and nothing else": "only",
    r"is among (it|them)": "includes",
    r"what stands|stands now|below stands": "the current pose, below is",
    r"in place of their": "instead of their",
    r"for want of": "without",
    r"it says what comes": "it previews",
    r"that were (there )?before the": "the earlier",
    r"what is none|can no other|of which none is": "name the thing",
    r"[Rr]eturn what": "Return and a noun of the field",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_are_in_plain_words(page):
    text = re.sub(r"\s+", " ", re.sub(r'"\n"', "", page.read_text(encoding="utf-8")))
    found = [
        f"{text[max(0, match.start() - 40) : match.end() + 40]!r}: write {better}"
        for stop, better in STOPS.items()
        for match in re.finditer(rf"\b({stop})\b", text)
    ]
    assert found == []


def test_the_pages_are_those_that_people_read():
    names = {page.name for page in PAGES}
    assert {"README.md", "manual.md", "animators.md", "riggers.md", "python.md", "ja_JP.po"} <= names
