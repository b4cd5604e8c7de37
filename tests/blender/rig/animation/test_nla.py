# SPDX-License-Identifier: GPL-3.0-or-later
"""What strips move, what silences an action, and what new keys will hold still."""

import itertools

import bpy
import pytest
from rigs import add_leg

from ik2d_addon.rig.animation.nla import frozen_motion, keyed_paths, strip_paths, why_silent

PATHS = {f'pose.bones["{name}"].location': name for name in ("body", "thigh", "shin")}


def strip_of(armature, key, name="Strip"):
    """Make a strip of the keys that a function makes."""
    animation = armature.animation_data or armature.animation_data_create()
    animation.action = None
    key()
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new(name, int(action.frame_range[0]), action)
    if slot is not None:
        strip.action_slot = slot
    return strip


def leg_with_strip(bones=("shin",), first=10, last=20, name="Strip"):
    """Have a strip move bones of the leg from one frame to another."""
    armature = bpy.data.objects.get("Rig") or add_leg()

    def key():
        for bone, frame in itertools.product(bones, (first, last)):
            armature.pose.bones[bone].keyframe_insert("location", frame=frame)

    return armature, strip_of(armature, key, name)


def told(armature, first, last, paths=PATHS):
    return list(frozen_motion(armature, paths, first, last))


def test_paths_of_strips_are_those_that_they_animate():
    armature = add_leg()
    assert strip_paths(armature) == set()
    armature.animation_data_create()
    assert strip_paths(armature) == set()
    armature, strip = leg_with_strip(("shin", "body"))
    armature.pose.bones["thigh"].keyframe_insert("location")  # of its own action
    assert strip_paths(armature) == {path for path, bone in PATHS.items() if bone != "thigh"}
    strip.mute = True
    assert strip_paths(armature) == set()


def test_a_strip_without_channels_animates_nothing():
    armature = add_leg()
    track = armature.animation_data_create().nla_tracks.new()
    track.strips.new("Empty", 1, bpy.data.actions.new("Empty"))
    assert strip_paths(armature) == set() and told(armature, 5, 6) == []


# --- Silent ---------------------------------------------------------------------------------------


def test_an_action_is_silent_under_a_solo_track_and_nowhere_else():
    armature = add_leg()
    assert why_silent(armature) == ""
    armature, _ = leg_with_strip()
    animation = armature.animation_data
    assert why_silent(armature) == ""
    leg_with_strip(("thigh",))
    animation.nla_tracks[1].is_solo = True
    assert why_silent(armature) == (
        "'Rig': an NLA track plays solo, so that new keys do not play; turn solo off"
    )
    assert told(armature, 12, 15) == []  # nothing plays that could be held
    animation.use_nla = False
    assert why_silent(armature) == ""


def tweak(armature, strip):
    animation = armature.animation_data
    animation.nla_tracks[0].select = strip.select = True
    animation.nla_tracks.active = animation.nla_tracks[0]
    animation.use_tweak_mode = True


def test_in_tweak_mode_it_is_the_strip_that_is_keyed():
    armature, strip = leg_with_strip()
    tweak(armature, strip)
    armature.animation_data.nla_tracks[0].is_solo = True
    assert why_silent(armature) == "" and told(armature, 12, 15) == []


# --- Held still -----------------------------------------------------------------------------------


def test_what_new_keys_hold_still_is_told_with_all_frames():
    armature, _ = leg_with_strip()
    (line,) = told(armature, 12, 15)
    assert line == (
        "'Rig': NLA strips move 'shin' from frame 10 to 20; before frame 12 and after frame 15 the new keys"
        " hold the pose: bake all these frames, or set Action Extrapolation to Nothing in the NLA Editor"
    )
    armature.animation_data.action = bpy.data.actions.new("Own")
    (line,) = told(armature, 12, 15)  # then its own action has an extrapolation of its own
    assert line.endswith("hold the pose: bake all these frames")


@pytest.mark.parametrize(
    "first, last, where",
    [
        (10, 20, None),
        (9, 21, None),
        (10.5, 20, "before frame 10.5 the"),
        (10, 19.5, "after frame 19.5 the"),
        (11, 19, "before frame 11 and after frame 19 the"),
    ],
)
def test_only_what_strips_move_outside_the_frames_is_held(first, last, where):
    armature, _ = leg_with_strip()
    lines = told(armature, first, last)
    assert len(lines) == (where is not None)
    assert all(f"; {where} new keys" in line for line in lines)


@pytest.mark.parametrize(
    "extrapolation, where",
    [('HOLD', "before frame 12 and after frame 15"), ('HOLD_FORWARD', "after frame 15"), ('NOTHING', None)],
)
def test_where_the_action_leaves_the_strips_alone_nothing_is_held(extrapolation, where):
    armature, _ = leg_with_strip()
    armature.animation_data.action_extrapolation = extrapolation
    lines = told(armature, 12, 15)
    assert len(lines) == (where is not None)
    assert all(f"to 20; {where} the new" in line for line in lines)


def test_a_strip_on_one_side_alone_counts_where_that_side_is_held():
    armature, _ = leg_with_strip()
    assert "before frame 30 the" in told(armature, 30, 40)[0]
    armature.animation_data.action_extrapolation = 'HOLD_FORWARD'
    assert told(armature, 30, 40) == []
    assert "after frame 5 the" in told(armature, 1, 5)[0]


def test_strips_are_told_together_by_their_first_and_last_frame():
    armature, _ = leg_with_strip(("shin",), 10, 20)
    leg_with_strip(("thigh",), 25, 40, "Second")
    (line,) = told(armature, 22, 23)
    assert "move 'shin', 'thigh' from frame 10 to 40; before frame 22 and after frame 23" in line
    assert "the new keys hold the pose" in line


def test_more_than_three_bones_are_counted():
    armature, _ = leg_with_strip(("body", "thigh", "shin"))
    assert "move 'body', 'thigh', 'shin' from" in told(armature, 12, 15)[0]
    strip = strip_of(armature, lambda: armature.keyframe_insert("location", frame=3))
    paths = {**PATHS, "location": "fourth"}
    assert "move 4 bones from frame 3 to 20" in told(armature, 12, 15, paths)[0]
    strip.mute = True
    assert "move 'body', 'thigh', 'shin' from" in told(armature, 12, 15, paths)[0]


def test_what_has_keys_already_is_held_already():
    armature, _ = leg_with_strip()
    assert told(armature, 12, 15, {path: bone for path, bone in PATHS.items() if bone != "shin"}) == []
    armature.pose.bones["shin"].keyframe_insert("location", index=2, frame=3)
    assert told(armature, 12, 15) == []


def test_an_object_without_animation_has_nothing_to_hold():
    assert told(add_leg(), 12, 15) == []


def test_keyed_paths_are_those_of_the_action_and_of_strips():
    armature, _strip = leg_with_strip()
    armature.pose.bones["thigh"].keyframe_insert("scale", frame=1)
    moved, scaled = 'pose.bones["shin"].location', 'pose.bones["thigh"].scale'
    assert keyed_paths(armature) == {moved, scaled}
    assert keyed_paths(bpy.data.objects.new("bare", None)) == set()
