# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of actions: which clip they stand for, and whose they are."""

import pytest

from ik2d_addon.bake.actions.names import clip_name, common_cores, cores, has_word, numberless, target_cores


@pytest.mark.parametrize(
    "name", ["Walk targets", "walk.target", "Walk_targets", "target Walk", "TARGETS-walk"]
)
def test_words_for_targets_are_left_out(name):
    assert common_cores(name) == {"walk"}


@pytest.mark.parametrize("name", ["Walk", "Walktargets", "targets", "", "retargets walk"])
def test_other_names_stand_for_no_clip_of_targets(name):
    assert common_cores(name) == set()


def test_the_name_of_the_object_is_left_out():
    assert cores("Walk.A", "A") == {"walk.a", "walk"} and cores("A|Walk", "A") == {"a|walk", "walk"}
    assert cores("Walk", "A") == {"walk"} and cores("A", "A") == {"a"}
    assert target_cores("Walk foot.L", "foot.L") == {"walk"}
    assert target_cores("Clip 10 foot", "foot") == {"clip 10"}
    assert target_cores("Walk A targets", "T") == set()


def test_a_clip_is_named_after_what_is_left():
    assert clip_name("Jump targets", "T") == "Jump" and clip_name("Jump T", "T") == "Jump"
    assert clip_name("TAction", "T") == clip_name("TAction.001", "T") == ""
    assert clip_name("Walk", "T") == "Walk"
    assert numberless("Walk.001") == "walk" and numberless("Walk.1") == "walk.1"


def test_words_are_whole():
    assert has_word("Walk A", "a") and has_word("A|Walk", "A") and not has_word("Walk", "A")
    assert has_word("Walk (b+)", "(b+)")
