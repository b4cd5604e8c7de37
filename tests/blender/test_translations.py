# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogues of the window's languages fit the texts that they have; `make release` asks for all."""

import ast
from string import Formatter

import pytest

from ik2d_addon.ui import languages
from tools import translations as tool

LANGUAGES = ["de_DE", "ja_JP"]


@pytest.fixture(scope="module")
def texts():
    """All texts that the window may show, as the tool gathers them."""
    return tool.template()


def test_no_sentence_of_the_window_is_left_out_however_deep_it_is_in_a_call(texts):
    known, left_out = {message.id for message in texts}, []
    for path in sorted(tool.PACKAGE.rglob("*.py")):
        if "cli" in path.parts or "demo" in path.parts:
            continue
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        calls = [one for one in nodes if isinstance(one, ast.Call) and one.args]
        for text in (
            one.args[0] for one in calls if getattr(one.func, "id", "") in ("say", "noted", "refusal")
        ):
            parts = (text.body, text.orelse) if isinstance(text, ast.IfExp) else (text,)
            values = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
            left_out += [
                (path.name, one) for one in values if one not in known and any(map(str.isalpha, one))
            ]
    assert left_out == []


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_has_no_text_that_is_gone_and_is_compiled(texts, name):
    path = tool.FOLDER / f"{name}.po"
    language, known = tool.read(path), {(message.context, message.id) for message in texts}
    gone = [message.id for message in language if (message.context, message.id) not in known]
    assert gone == [], "run make translations"
    assert path.with_suffix(".json").read_text(encoding="utf-8") == tool.compiled(language)


def places(template):
    """Return the places of a template with their formats, in order of their names."""
    return sorted({(name, form, kind) for _, name, form, kind in Formatter().parse(template) if name})


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_translation_has_the_places_and_the_ends_of_its_text(name):
    for (_, text), words in languages.catalogue(name).items():
        assert "{" not in text or places(words) == places(text), text
        start, end = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
        assert words[: len(words) - len(words.lstrip())] == text[:start], text
        assert words[len(words.rstrip()) :] == text[len(text) - end :], text


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_panel_can_take_the_chains_name_off_its_findings(name):
    """It shows findings without it: see `shown` in features/doctor/operators.py."""
    entries = {text: words for (_, text), words in languages.catalogue(name).items()}
    start = entries["Chain '{chain}': "]
    for text, words in entries.items():
        if text.startswith("Chain '{chain}': "):
            assert words.startswith(start), text
