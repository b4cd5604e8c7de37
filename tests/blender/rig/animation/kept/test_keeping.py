# SPDX-License-Identifier: GPL-3.0-or-later
"""What new keys replace is kept, counted and given back exactly where it is undone."""

from contextlib import ExitStack

import bpy
import numpy as np
import pytest
from keyed_legs import euler_leg
from rigs import every_bit_of, every_bit_of_animation

from ik2d_addon.rig.animation.kept.keeping import (
    Keeping,
    Replaced,
    made_by_hand_between,
    moved_to,
    on_same_frame,
)
from ik2d_addon.rig.animation.kept.marks import BAKE, PLANT, PLANT_BAKE, PLANTED, SNAP, Marks
from ik2d_addon.rig.animation.kept.record import KEPT, WHOLE, KeptMotion
from ik2d_addon.rig.animation.key_columns import new_keys
from ik2d_addon.rig.animation.versions import existing_channels, place_of

FRAMES = (1, 5, 9, 20)


def keyed_leg():
    """Return a leg with keys made by hand, and its first F-Curve."""
    armature = euler_leg()
    for frame in FRAMES:
        armature.pose.bones["shin"].rotation_euler.x = 0.1 * frame
        armature.pose.bones["shin"].keyframe_insert("rotation_euler", frame=frame)
    return armature, next(c for c in existing_channels(armature).fcurves if c.array_index == 0)


def replace(armature, curve, times, purpose, undo):
    """Replace keys at times; return the Keeping."""
    times = np.asarray(times, "f4")
    keeping = Keeping(armature, place_of(existing_channels(armature)), purpose, undo)
    (new,) = new_keys(times, 0.01 * times[:, None].astype("f8"))
    keeping.replace([curve], [new])
    return keeping


def test_replaced_keys_are_kept_and_named_by_their_bone():
    armature, curve = keyed_leg()
    with ExitStack() as undo:
        keeping = replace(armature, curve, range(4, 11), BAKE, undo)
        undo.pop_all()
    assert keeping.replaced == Replaced(2, ("shin",)) and keeping.replaced.words
    record = KeptMotion(place_of(existing_channels(armature)))
    ((number, index, path),) = record.kept_curves()
    assert record.rows(KEPT, number, index)["co"][:, 0].tolist() == [5.0, 9.0]
    assert path == curve.data_path
    assert Marks.on(curve).ours.tolist() == [False, *[True] * 7, False]


def test_closing_undo_leaves_everything_as_it_was():
    armature, _ = keyed_leg()
    before = every_bit_of_animation(armature)
    curve = next(c for c in existing_channels(armature).fcurves if c.array_index == 0)
    with ExitStack() as undo:
        replace(armature, curve, range(1, 30), BAKE, undo)
        replace(armature, curve, range(3, 8), SNAP, undo)
    assert every_bit_of_animation(armature) == before
    assert len(bpy.data.actions) == 1


def test_a_second_write_for_the_same_purpose_keeps_the_first_keys_and_names_newer_ones():
    armature, curve = keyed_leg()
    with ExitStack() as undo:
        replace(armature, curve, range(4, 11), BAKE, undo)
        curve.keyframe_points[2].co.y = 3.0  # at 5, where one is kept
        keeping = replace(armature, curve, range(4, 11), BAKE, undo)
        undo.pop_all()
    (sentence,) = keeping.replaced.dropped
    assert "at 5 were replaced" in sentence


def test_keys_within_a_planting_belong_to_it():
    armature, curve = keyed_leg()
    with ExitStack() as undo:
        replace(armature, curve, range(4, 16), PLANT, undo)
        replace(armature, curve, range(8, 19), BAKE, undo)
        undo.pop_all()
    marks = Marks.on(curve)
    at = np.array([key.co.x for key in curve.keyframe_points])
    assert set(at[marks.of_purposes(PLANTED)]) == set(range(4, 16))
    assert set(at[marks.of_purposes((PLANT_BAKE,))]) == set(range(8, 16))
    assert set(at[marks.of_purposes((BAKE,))]) == {16, 17, 18}


@pytest.mark.parametrize("times", [range(4, 11), range(40, 50)])
def test_handles_that_blender_would_not_compute_again_are_kept(times):
    armature, curve = keyed_leg()
    curve.keyframe_points[1].handle_left = (2.5, 7.0)  # stale, as importers leave them
    before = every_bit_of(curve)
    with ExitStack() as undo:
        replace(armature, curve, times, BAKE, undo)
        record = KeptMotion(place_of(existing_channels(armature)))
        ((number, index, _),) = record.kept_curves(WHOLE)
        assert (record.rows(WHOLE, number, index)["handle_left"][1] == (2.5, 7.0)).all()
    assert every_bit_of(curve) == before


def test_keys_to_replace_are_counted_before():
    armature, _ = keyed_leg()
    curves = iter(existing_channels(armature).fcurves)
    assert made_by_hand_between(curves, 4.0, 9.0) == Replaced(6, ("shin",))


def test_a_path_follows_the_bone_of_another():
    assert (
        moved_to('pose.bones["a"].scale', 'pose.bones["b \\" ]"].location') == 'pose.bones["b \\" ]"].scale'
    )
    assert moved_to("location", 'pose.bones["b"].location') == "location"
    assert moved_to('pose.bones["a"].scale', "") == 'pose.bones["a"].scale'


def test_frames_nearer_than_blender_tells_apart_are_the_same():
    times = np.array([1.0, 2.0, 3.005, 4.02], "f4")
    assert on_same_frame(times, np.array([3.0, 1.0, 4.0], "f4")).tolist() == [True, False, True, False]
    assert not on_same_frame(times, np.zeros(0, "f4")).any()
