# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated keys are taken away, from one frame to another, and all others left to the last bit."""

import bpy
import pytest
from rigs import SLIDES, add_leg, animation_of, as_baked, crane_with_target, every_bit_of

from ik2d_addon.bake import bake, clear
from ik2d_addon.bake.keys.baked import locked_channels
from ik2d_addon.bake.keys.clearing import clear_keys
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.fcurves import is_locked
from ik2d_addon.rig.animation.versions import existing_channels, existing_fcurves

FRAMES = [1, 2, 3, 5, 8]


def baked_leg(generated=FRAMES, bones=("shin",), paths=("rotation_euler",)):
    """Add a leg with keys on FRAMES, of which some are a bake's."""
    armature = add_leg()
    for name in bones:
        bone = armature.pose.bones[name]
        bone.rotation_mode = 'XYZ'
        for frame in FRAMES:
            for path in paths:
                setattr(bone, path, [0.1 * frame * frame] * len(getattr(bone, path)))
                bone.keyframe_insert(path, frame=frame, group=name)
    for curve in existing_fcurves(armature):
        for key in curve.keyframe_points:
            if key.co.x in generated:
                as_baked(key)
    return armature


def frames_of(armature):
    return {tuple(key.co.x for key in curve.keyframe_points) for curve in existing_fcurves(armature)}


def test_an_object_without_channels_has_nothing_to_clear():
    armature = add_leg()
    assert clear_keys(armature, ["shin"]).removed == 0
    armature.animation_data_create()
    assert clear_keys(armature, ["shin"]).removed == 0
    assert locked_channels(armature, ["shin"]) == []


def test_generated_keys_go_and_what_is_left_empty_goes_too():
    armature = baked_leg(bones=("shin", "thigh"))
    assert clear_keys(armature, ["shin"]).removed == 15
    assert {curve.data_path for curve in existing_fcurves(armature)} == {'pose.bones["thigh"].rotation_euler'}
    assert [group.name for group in existing_channels(armature).groups] == ["thigh"]
    assert clear_keys(armature, ["shin"]).removed == 0


def test_a_group_with_other_curves_stays():
    armature = baked_leg(paths=("rotation_euler", "location"))
    assert clear_keys(armature, ["shin"]).removed == 15
    (group,) = existing_channels(armature).groups
    assert {curve.data_path for curve in group.channels} == {'pose.bones["shin"].location'}


def test_a_group_that_stood_empty_before_stays():
    armature = baked_leg()
    existing_channels(armature).groups.new("theirs")
    clear_keys(armature, ["shin"])
    assert [group.name for group in existing_channels(armature).groups] == ["theirs"]


def test_curves_without_a_group_go_too():
    armature = add_leg()
    armature.keyframe_insert("location", frame=1)
    curve = existing_channels(armature).fcurves.new('pose.bones["shin"].rotation_euler', index=1)
    as_baked(curve.keyframe_points.insert(3, 0.5))
    assert curve.group is None and not is_locked(curve)
    assert clear_keys(armature, ["shin"]).removed == 1
    assert {curve.data_path for curve in existing_fcurves(armature)} == {"location"}


@pytest.mark.parametrize("kind", ['FREE', 'ALIGNED'])
def test_other_keys_stay_to_the_last_bit(kind):
    armature = baked_leg(generated=[2, 5])
    for curve in existing_fcurves(armature):
        for key in curve.keyframe_points:
            key.handle_left_type = key.handle_right_type = kind
            key.handle_left = (key.co.x - 0.37, key.co.y - 0.123)
            key.handle_right = (key.co.x + 0.11, key.co.y + 0.071)
    before = [every_bit_of(curve) for curve in existing_fcurves(armature)]
    assert clear_keys(armature, ["shin"]).removed == 6
    assert [every_bit_of(curve) for curve in existing_fcurves(armature)] == [
        [bits for bits, frame in zip(curve, FRAMES, strict=True) if frame not in (2, 5)] for curve in before
    ]


@pytest.mark.parametrize(
    "first, last, left",
    [
        (None, 3, {(5, 8)}),
        (3, None, {(1, 2)}),
        (2, 5, {(1, 8)}),
        (2.009, 4.991, {(1, 8)}),
        (2.011, 4.989, {(1, 2, 5, 8)}),
        (6, 7, {tuple(FRAMES)}),
        (1, 8, set()),
    ],
)
def test_frames_are_cleared_from_one_to_another_as_blender_tells_keys_apart(first, last, left):
    armature = baked_leg()
    removed = clear_keys(armature, ["shin"], first, last).removed
    assert frames_of(armature) == left
    assert removed == 3 * (5 - sum(map(len, left)))


def test_locked_channels_are_named_once_in_order_and_keep_their_keys():
    armature = baked_leg(bones=("thigh", "shin"))
    paths = [f'pose.bones["{name}"].rotation_euler' for name in ("shin", "thigh")]
    curves = list(existing_fcurves(armature))
    for curve in curves:
        curve.lock = True
    assert locked_channels(armature, ["thigh", "shin"]) == paths
    assert locked_channels(armature, ["shin"]) == paths[:1]
    assert clear_keys(armature, ["thigh", "shin"]).removed == 0
    for curve in curves:
        curve.lock = False
    assert locked_channels(armature, ["thigh", "shin"]) == []
    curves[0].group.lock = True
    assert locked_channels(armature, ["thigh", "shin"]) == [curves[0].data_path]
    assert is_locked(curves[0]) and not is_locked(curves[-1])
    assert clear_keys(armature, ["thigh", "shin"]).removed == 15


def test_keys_of_a_library_are_refused_unless_there_are_none_to_clear(tmp_path):
    armature = baked_leg(generated=[2, 5])
    path = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(path, {armature.animation_data.action})
    with bpy.data.libraries.load(path, link=True) as (there, wanted):
        wanted.actions = there.actions
    armature.animation_data.action = wanted.actions[0]
    if hasattr(armature.animation_data, "action_slot"):
        armature.animation_data.action_slot = wanted.actions[0].slots[0]
    assert clear_keys(armature, ["shin"], 6, 9).removed == 0
    with pytest.raises(IK2DError) as caught:
        clear_keys(armature, ["shin"])
    assert str(caught.value) == "The action of 'Rig' is linked from another file; its keys stay"
    assert frames_of(armature) == {tuple(FRAMES)}


def test_locations_that_slides_replace_come_back_in_all_channels():
    armature, _ = crane_with_target(SLIDES)
    for bone in armature.pose.bones:  # out of the plane, too, so that the last slide is turned
        bone.location = 0.01, 0.02, 0.03
        bone.keyframe_insert("location", frame=3)
    before = animation_of(armature)
    bake(armature, frame_start=1, frame_end=24)
    moved = [key for key, values in animation_of(armature).items() if key in before and values != before[key]]
    assert ('pose.bones["outer"].location', 0) in moved
    clear(armature)
    assert animation_of(armature) == before
