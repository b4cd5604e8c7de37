# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers and names, as sentences have them."""

import pytest

from ik2d_addon.core.words import listed, number_of, quoted


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
