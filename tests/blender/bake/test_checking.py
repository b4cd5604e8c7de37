# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a bake before it begins say what the bake would say."""

import bpy
import pytest
from clip_rigs import add_clips, everything

from ik2d_addon.bake import BakeOptions, bake, check
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import assign_action


def test_actions_that_can_be_baked_have_no_problem():
    armature, _ = add_clips("A")
    assert check(armature, actions='ALL') == check(armature, actions=["Walk A"]) == []
    assert check(armature, options=BakeOptions(into='NEW')) == []


@pytest.mark.parametrize(
    "asked",
    [
        {"actions": ["Jump"]},
        {"actions": "Walk A"},
        {"actions": 'ALL', "pairs": {"Walk A": "Jump"}},
        {"pairs": {"Walk A": "Walk A targets"}},
        {"actions": ["Run A"], "frames": (30, 40, 1)},
        {"actions": ["Run A"], "frames": (3, 2, 1)},
        {"actions": ["Walk A", "Run A"]},
    ],
)
def test_a_check_says_of_actions_as_a_bake_does(asked):
    armature, target = add_clips("A")
    bpy.data.actions["Walk A targets"].name = "Something else"
    assign_action(target.animation_data_create(), bpy.data.actions["Something else"], f"OB{target.name}")
    before = everything()
    start, end, step = asked.get("frames", (None, None, 1))
    others = {name: value for name, value in asked.items() if name != "frames"}
    try:
        bake(armature, None, start, end, step, **others)
    except IK2DError as error:
        assert everything() == before
        assert check(armature, **asked) == [str(error)] and everything() == before
    else:
        raise AssertionError("it is baked")
