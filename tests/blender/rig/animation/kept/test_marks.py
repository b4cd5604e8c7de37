# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks tell untouched keys that were written here from those that somebody made or changed."""

import numpy as np
import pytest
from keyed_legs import curve_of, euler_leg, rotation

from ik2d_addon.rig.animation.kept.marks import (
    BAKE,
    PLANT,
    PURPOSES,
    SNAP,
    Marks,
    generated,
    marked,
    number_for,
    purpose_of,
)
from ik2d_addon.rig.animation.key_columns import BY_HAND, GENERATED, columns_of, fill, new_keys

TIMES = np.arange(1.0, 6.0, dtype="f4")


def marked_curve(number, kind=GENERATED):
    """Return an F-Curve with five marked keys."""
    armature = euler_leg()
    armature.pose.bones[rotation().bone].keyframe_insert("rotation_euler", frame=1)
    curve = curve_of(armature)
    (new,) = new_keys(TIMES, 0.1 * TIMES[:, None], kind=kind)
    from ik2d_addon.rig.animation.replacing import with_all_fields

    fill(curve, *marked([with_all_fields(new)], [number]))
    return curve


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("kind", [GENERATED, BY_HAND])
def test_marked_keys_are_ours_with_their_number(purpose, kind):
    number = number_for(123, purpose)
    curve = marked_curve(number, kind)
    marks = Marks.on(curve)
    assert purpose_of(number) == purpose
    assert marks.ours.all() and set(marks.numbers) == {number}
    assert marks.of_purposes((purpose,)).all() and marks.numbers_of(PURPOSES) == [number]
    assert not marks.of_purposes([other for other in PURPOSES if other != purpose]).any()
    assert generated(curve).all() == (kind == GENERATED)


@pytest.mark.parametrize("change", ["value", "time", "type", "new"])
def test_a_key_that_was_changed_is_the_persons(change):
    curve = marked_curve(number_for(0, BAKE))
    key = curve.keyframe_points[2]
    if change == "value":
        key.co.y += 1e-4
    elif change == "time":
        key.co.x += 0.25
    elif change == "type":
        key.type = 'KEYFRAME'
    else:
        curve.keyframe_points.insert(3, 0.9)
    curve.update()
    assert Marks.on(curve).ours.tolist() == [True, True, False, True, True]


def test_keys_of_a_bake_of_1_0_count_as_ours_and_those_of_blender_do_not():
    curve = marked_curve(number_for(0, SNAP))
    for key, own in zip(curve.keyframe_points, (0.0, 0.8, 0.0, 0.8, 0.8), strict=True):
        key.amplitude, key.period, key.back = own, own and 4.1, own and 1.70158
        key.type = 'GENERATED' if key.co.x != 3 else 'KEYFRAME'
    marks = Marks.on(curve)
    assert marks.ours.tolist() == [True, False, False, False, False]
    assert marks.of_purposes((BAKE,))[0] and marks.numbers_of(PURPOSES) == []


def test_numbers_of_a_million_curves_are_exact():
    number = number_for(1_000_000, PLANT)
    assert Marks.of({**columns_of(marked_curve(number))}).numbers_of((PLANT,)) == [number]
