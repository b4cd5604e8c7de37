# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips: what armatures play in them, and whether they play it now."""

import bpy
from clip_rigs import add_clips

from ik2d_addon.bake.actions.clips import Clip, Play
from ik2d_addon.rig.animation.versions import assign_action


def test_a_clip_knows_its_armatures_and_whether_they_play_it():
    armature, target = add_clips("A")
    walk, other = bpy.data.actions["Walk A"], bpy.data.actions["Walk A targets"]
    clip = Clip("Walk", (Play(armature, walk, "OBA"),), (Play(target, other),), (1, 16))
    assert clip.baked == (armature,) and clip.source(armature) == walk and clip.source(target) is None
    assert [play.owner for play in clip.plays] == [armature, target] and not clip.plays_now
    assign_action(armature.animation_data_create(), walk, "OBA")
    assert clip.plays_now
