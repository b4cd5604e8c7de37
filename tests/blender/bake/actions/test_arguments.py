# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts give for actions and pairs: names that are there, or a sentence."""

import pytest
from clip_rigs import action_of, add_clips

from ik2d_addon.bake import bake
from ik2d_addon.bake.actions.arguments import (
    action_named,
    checked_names,
    checked_pairs,
    refuse_pairs_alone,
    refuse_unknown_pairs,
)
from ik2d_addon.core import IK2DError


def test_names_are_checked():
    assert checked_names('ALL') is None and checked_names(["a", "b", "a"]) == ["a", "b"]
    for wrong in ("Walk", 3, [3], []):
        with pytest.raises(IK2DError):
            checked_names(wrong)


def test_an_action_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(IK2DError, match="and no other one"):
        action_named("Walk")
    action_of("Run")
    with pytest.raises(IK2DError, match="there are 'Run'"):
        action_named("Walk")


def test_pairs_are_checked():
    action_of("Walk")
    action_of("Steps")
    assert checked_pairs(None) == {} and checked_pairs({"Walk": "Steps"}) == {"Walk": ["Steps"]}
    assert checked_pairs({"Walk": ["Steps", "Walk"]}) == {"Walk": ["Steps", "Walk"]}
    for wrong in (["Walk"], {"Walk": 3}, {3: "Walk"}, {"Walk": [3]}, {"Walk": "Jump"}, {"Jump": "Walk"}):
        with pytest.raises(IK2DError):
            checked_pairs(wrong)


def test_pairs_of_nothing_that_is_baked_are_refused():
    refuse_pairs_alone(None)
    refuse_unknown_pairs({"Walk": ["Steps"]}, ["Walk"])
    with pytest.raises(IK2DError, match="pairs goes with actions"):
        refuse_pairs_alone({"Walk": "Steps"})
    with pytest.raises(IK2DError, match="'Walk', which is not one of"):
        refuse_unknown_pairs({"Walk": ["Steps"]}, ["Run"])


def test_an_iterator_of_names_is_read_once():
    armature, _ = add_clips("A")
    assert len(bake(armature, actions=iter(["Walk A", "Run A"])).by_action) == 2
