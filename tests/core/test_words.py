# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in a language: templates, numbers and names."""

import pytest

from ik2d_addon.core import IK2DError
from ik2d_addon.core.words import NOUNS, listed, noted, number_of, quoted, refusal, say, translate_by

GERMAN = {
    "'{chain}' is {cause}": "{cause}: '{chain}'",
    "stuck": "fest",
    "{number} frames": "{number} Frames",
    " and ": " und ",
    "{number} more": "{number} weitere",
}


@pytest.fixture
def german():
    """Sentences in German, as far as they are above."""
    translate_by(lambda template: GERMAN.get(template, template))
    yield
    translate_by()


def test_without_a_language_sentences_are_english():
    assert say("'{chain}' is {cause}", chain="leg", cause=noted("stuck")) == "'leg' is stuck"


def test_a_template_and_its_noted_parts_are_translated_and_what_users_name_is_not(german):
    assert say("'{chain}' is {cause}", chain="stuck", cause=noted("stuck")) == "fest: 'stuck'"
    assert say(noted("stuck")) == "fest"
    assert number_of(3, "frame") == "3 Frames"
    assert listed("abcde", 3) == "'a', 'b', 'c' und 2 weitere"


def test_without_places_braces_are_as_they_are(german):
    assert say("100 {") == "100 {"


@pytest.mark.parametrize("noun", NOUNS)
def test_every_noun_has_a_number(noun):
    assert (number_of(1, noun), number_of(2, noun)) == (f"1 {noun}", f"2 {noun}s")


@pytest.mark.parametrize("number, words", [(0, "0 frames"), (1, "1 frame"), (2, "2 frames")])
def test_things_are_one_or_several(number, words):
    assert number_of(number, "frame") == words


@pytest.mark.parametrize(
    "names, words", [([], ""), (["a"], "'a'"), (["a", "b"], "'a', 'b'"), (iter("abc"), "'a', 'b', 'c'")]
)
def test_names_are_quoted(names, words):
    assert quoted(names) == words


@pytest.mark.parametrize(
    "names, most, words",
    [
        ("", None, ""),
        ("a", None, "'a'"),
        ("ab", None, "'a' and 'b'"),
        ("abcde", None, "'a', 'b', 'c', 'd' and 'e'"),
        ("abcd", 3, "'a', 'b', 'c' and 'd'"),
        ("abcde", 3, "'a', 'b', 'c' and 2 more"),
    ],
)
def test_names_are_listed_and_of_many_the_first(names, most, words):
    assert listed(names, most) == words


def test_a_refusal_is_the_error_with_its_sentence():
    error = refusal("Chain '{chain}' has no target", chain="Leg")
    assert isinstance(error, IK2DError) and str(error) == "Chain 'Leg' has no target"
