# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that the machine has no room for."""

import os

import pytest
from rigs import add_chain, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, check, memory
from ik2d_addon.bake.memory import BYTES_A_BONE, BYTES_A_FRAME, physical_memory
from ik2d_addon.core import IK2DError

FRAMES_OF_A_LEG = 100


@pytest.fixture
def small_machine(monkeypatch):
    """A machine that has room for the leg's two bones on a hundred frames."""
    room = FRAMES_OF_A_LEG * (BYTES_A_FRAME + 2 * BYTES_A_BONE)
    monkeypatch.setattr(memory, "physical_memory", lambda: room)


def test_as_many_frames_as_find_room_are_baked_and_one_more_is_refused(small_machine):
    armature, _ = leg_with_target()
    assert check(armature, None, (1, 100, 1)) == []
    assert len(bake(armature, None, 1, 100).chains[0].frames) == 100
    words = (
        "The frames 1 to 101 of 2 bones would need some 0.0 GB of memory, and this machine has 0.0; bake"
        " fewer frames or fewer chains at a time"
    )
    for step in (1, 50):  # those between are solved, too
        assert check(armature, None, (1, 101, step)) == [words]
        with pytest.raises(IK2DError) as caught:
            bake(armature, None, 1, 101, step)
        assert str(caught.value) == words


def test_reduced_keys_are_solved_half_way_too_and_each_bone_counts(small_machine):
    armature, target = leg_with_target()
    assert check(armature, None, (1, 51, 1), BakeOptions(reduce=0.1))
    assert check(armature, None, (1, 50, 1), BakeOptions(reduce=0.1)) == []
    add_chain(armature, "body", target, bone_count=1)
    assert check(armature, None, (1, 100, 1)) and not check(armature, ["shin"], (1, 100, 1))


@pytest.mark.slow
def test_where_the_system_does_not_tell_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: None)
    armature, _ = leg_with_target()
    assert check(armature, None, (-1048574, 1048574, 1)) == []


def test_the_machines_memory_is_that_of_the_system(monkeypatch):
    there = physical_memory()
    assert there is None or 2**28 < there < 2**50
    for broken in (lambda _: -1, None):
        if broken is None:
            monkeypatch.delattr(os, "sysconf", raising=False)
        else:
            monkeypatch.setattr(os, "sysconf", broken, raising=False)
        assert physical_memory() is None
