# SPDX-License-Identifier: GPL-3.0-or-later
"""New actions: copies that take the place of earlier ones of their own, and go where a bake fails."""

import bpy
import pytest
from clip_rigs import add_clips, everything

from ik2d_addon.bake.actions.clips import Clip, Play
from ik2d_addon.bake.actions.copies import Copies, is_copy_of, original_of


def test_copies_go_where_something_fails():
    armature, _ = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    before = everything()
    clip, copies = Clip("Walk", (Play(armature, walk, "OBA"), Play(armature, None)), (), (1, 9)), Copies()
    with pytest.raises(KeyError), copies.made([clip], 'NEW') as (staged,):
        assert staged.armatures[0].action == copies.of(walk) != walk and staged.armatures[1].action is None
        raise KeyError
    assert everything() == before


def test_a_copy_takes_the_place_of_the_one_before():
    armature, _ = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    clip, names = Clip("Walk", (Play(armature, walk, "OBA"),), (), (1, 9)), []
    for _ in range(3):
        copies = Copies()
        with copies.made([clip], 'NEW'):
            pass
        names.append(copies.of(walk).name)
        assert is_copy_of(copies.of(walk), walk) and copies.of(walk).use_fake_user
    assert names == ["Walk A baked"] * 3 and len(bpy.data.actions) == 7


def test_the_actions_themselves_are_taken_where_no_new_ones_are_asked_for():
    clip = Clip("Walk", (), (), (1, 9))
    with Copies().made([clip], 'THIS') as staged:
        assert staged == [clip]


def test_the_original_of_a_copy_is_found_while_it_is_there():
    armature, _ = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    copies = Copies()
    with copies.made([Clip("Walk", (Play(armature, walk, "OBA"),), (), (1, 9))], 'NEW'):
        pass
    copy = copies.of(walk)
    assert original_of(copy) == original_of(walk) == walk and original_of(None) is None
    walk.name = "Stroll"
    assert original_of(copy) == copy
