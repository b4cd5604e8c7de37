# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels that bakes key."""

from rigs import SLIDES, animation_of, crane_with_target, leg_with_target

from ik2d_addon.bake import bake, clear
from ik2d_addon.bake.keys.baked import baked_keys, baked_paths, locked_channels, on_bones, slid_channels


def test_paths_are_those_of_every_rotation_mode_of_bones_that_there_are():
    armature, _ = leg_with_target()
    assert baked_paths(armature, ["shin", "gone"]) == {
        f'pose.bones["shin"].rotation_{kind}' for kind in ("quaternion", "euler", "axis_angle")
    }


def test_slides_count_once_a_bake_has_written_them():
    armature, _ = crane_with_target(SLIDES)
    bones = list(SLIDES)
    assert not slid_channels(armature, bones)
    bake(armature, frame_start=1, frame_end=24)
    slid = slid_channels(armature, bones)
    assert slid and all(on_bones(armature, bones)(*channel) for channel in slid)
    assert not any(on_bones(armature, [])(*channel) for channel in slid)


def test_keys_are_there_from_the_bake_to_its_clear():
    armature, _ = leg_with_target()
    before = animation_of(armature)
    assert not baked_keys(armature, ["thigh", "shin"])
    bake(armature, frame_start=1, frame_end=3)
    assert baked_keys(armature, ["thigh", "shin"]) and not baked_keys(armature, ["body"])
    assert locked_channels(armature, ["thigh"]) == []
    clear(armature)
    assert not baked_keys(armature, ["thigh", "shin"]) and animation_of(armature) == before
