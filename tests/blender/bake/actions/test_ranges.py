# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a clip: its manual range, else its targets' keys, else its own, cut by those given."""

import bpy
import pytest
from clip_rigs import action_of, add_clips, channels_for, key_path

from ik2d_addon.bake.actions.clips import Play
from ik2d_addon.bake.actions.ranges import clip_frames
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import HAS_SLOTS


@pytest.fixture
def plays():
    """An armature's and a target's action with keys at 2 to 30 and at 3.5 to 12."""
    armature, target = add_clips("A")
    own, other = action_of("own"), action_of("other")
    path = armature.pose.bones["body"].path_from_id("location")
    key_path(own, armature, {2: (0, 0, 0), 30: (0, 0, 1)}, path)
    key_path(other, target, {3.5: (0, 0, 0), 12: (0, 0, 1)})
    slots = ("OBA", f"OB{target.name}") if HAS_SLOTS else ("", "")
    return [Play(armature, own, slots[0]), Play(target, other, slots[1])]


def frames(plays, *given):
    """Return the frames of a clip that follows the target."""
    followed = [(plays[1].owner, "")]
    return clip_frames(bpy.context.scene, "own", plays, followed, given or (None, None))


def test_keys_of_the_target_count_before_the_armatures_own(plays):
    assert frames(plays) == (3, 12)
    plays[1].action.use_frame_range, plays[1].action.frame_start, plays[1].action.frame_end = True, 5, 7
    assert frames(plays) == (5, 7)
    plays[0].action.use_frame_range, plays[0].action.frame_start, plays[0].action.frame_end = True, 1, 9
    assert frames(plays) == (1, 9)


def test_own_keys_count_where_the_target_has_none(plays):
    for curve in list(channels_for(plays[1].action, plays[1].owner).fcurves):
        channels_for(plays[1].action, plays[1].owner).fcurves.remove(curve)
    assert frames(plays) == (2, 30)


def test_frames_that_are_given_cut_it(plays):
    assert frames(plays, 5, None) == (5, 12) and frames(plays, 1, 6) == (3, 6)
    with pytest.raises(IK2DError, match="frames 3 to 12, of which"):
        frames(plays, 13, 20)


def test_time_that_is_remapped_counts(plays):
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 200
    assert frames(plays) == (7, 24)
