# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of bakes as they are typed: actions, pairs, and where keys go."""

import pytest

from ik2d_addon.cli.parser import parsed
from ik2d_addon.core import IK2DError


@pytest.mark.parametrize(
    ("typed", "actions", "scenes"),
    [
        (["a.blend", "--actions", "all"], ["all"], ["a.blend"]),
        (["--actions", "all", "a.blend", "b.blend"], ["all"], ["a.blend", "b.blend"]),
        (["a.blend", "--actions", "Walk", "Run fast", "--strict"], ["Walk", "Run fast"], ["a.blend"]),
        (["--actions", "Walk", "Run", "--", "a.blend"], ["Walk", "Run"], ["a.blend"]),
        (["--actions=-Walk", "--actions", "Run", "a.BLEND"], ["-Walk", "Run"], ["a.BLEND"]),
        (["--", "--actions"], None, ["--actions"]),
        (["a.blend"], None, ["a.blend"]),
    ],
)
def test_names_of_actions_end_at_an_option_and_at_a_file(typed, actions, scenes):
    for command in ("bake", "check"):
        options = parsed([command, *typed], True)
        assert (options.actions, options.scenes) == (actions, scenes)


def test_what_each_file_is_told_names_the_actions_again():
    options = parsed(
        ["bake", "--actions", "Walk", "Run", "a.blend", "b.blend", "--pair", "Walk=Post", "--into", "NEW"],
        True,
    )
    alike = ["--actions=Walk", "--actions=Run", "--pair", "Walk=Post", "--into", "NEW"]
    assert options.alike == alike
    again = parsed(["bake", *alike, "--", "a.blend"], True)
    assert again.actions == ["Walk", "Run"] and again.pairs == [("Walk", "Post")] and again.into == "NEW"


def test_keys_go_into_the_actions_themselves_by_default():
    options = parsed(["bake", "a.blend"], True)
    assert (options.into, options.actions, options.pairs, options.assign_baked) == ("THIS", None, [], False)
    assert parsed(["bake", "a.blend", "--into", "new", "--assign-baked"], True).into == "NEW"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["--actions"], "--actions: no name is given"),
        (["--actions", "--strict"], "--actions: no name is given"),
        (["--actions", "b.blend"], "--actions: no name is given"),
        (["--actions", "--"], "--actions: no name is given"),
        (["--pair", "Walk"], "'Walk' is not A=B"),
        (["--pair", "=Walk"], "'=Walk' is not A=B"),
        (["--into", "both"], "invalid choice: 'BOTH'"),
    ],
)
def test_bad_words_are_told(typed, words):
    with pytest.raises(IK2DError) as error:
        parsed(["bake", "a.blend", *typed], True)
    assert words in str(error.value)
