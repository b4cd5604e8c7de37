# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys as columns: new ones have only the columns that differ from a key just added."""

import random

import numpy as np
import pytest
from keyed_legs import curve_of, euler_leg, key_euler
from rigs import every_bit_of

from ik2d_addon.rig.animation.fcurves import KEY_FIELDS
from ik2d_addon.rig.animation.key_columns import (
    ALIGNED,
    AUTO_CLAMPED,
    BY_HAND,
    CONSTANT,
    FREE,
    GENERATED,
    add,
    are_shaped,
    columns_of,
    fill,
    new_keys,
    with_all_fields,
)

TIMES = np.array([1.0, 3.0, 6.0], "f4")
VALUES = np.array([[0.1, 0.2], [0.4, 0.5], [0.7, 0.8]])


def test_each_channel_has_its_own_values_at_the_same_times():
    keys = new_keys(TIMES, VALUES)
    assert [set(one) for one in keys] == [{"co", "type"}] * 2
    for index, one in enumerate(keys):
        assert (one["co"][:, 0] == TIMES).all() and (one["co"][:, 1] == VALUES[:, index].astype("f4")).all()
        assert (one["type"] == GENERATED).all()


def test_a_column_that_is_left_out_is_as_of_a_key_that_blender_adds():
    armature = euler_leg()
    key_euler(armature)
    curve = curve_of(armature)
    (new,) = new_keys(TIMES, VALUES[:, :1])
    add([curve], [new])
    found, whole = columns_of(curve), with_all_fields(new)
    assert set(found) == set(whole) == set(KEY_FIELDS)
    for name in set(KEY_FIELDS) - {"handle_left", "handle_right"}:
        assert (found[name] == whole[name]).all() and found[name].dtype == whole[name].dtype, name


def test_keys_of_a_strip_that_runs_backwards_are_in_the_order_of_time():
    handles = np.stack((VALUES - 0.1, VALUES + 0.2))
    for up, down in zip(
        new_keys(TIMES, VALUES, handles),
        new_keys(TIMES[::-1], VALUES[::-1], handles[::-1, ::-1]),
        strict=True,
    ):
        assert all((up[name] == down[name]).all() for name in up) and set(up) == set(down)


def test_only_the_handles_that_are_given_are_free():
    handles = np.full((2, 3, 2), np.nan)
    handles[1, 0, 1] = 0.25
    first, second = new_keys(TIMES, VALUES, handles)
    assert set(first) == {"co", "type"}
    assert second["handle_right_type"].tolist() == [[FREE], [AUTO_CLAMPED], [AUTO_CLAMPED]]
    assert second["handle_left_type"].tolist() == [[ALIGNED], [AUTO_CLAMPED], [AUTO_CLAMPED]]
    assert second["handle_right"][0] == pytest.approx((1.0 + 2.0 / 3.0, 0.25))
    assert second["handle_left"][0] == pytest.approx((1.0 - 2.0 / 3.0, 0.15), abs=1e-6)
    assert are_shaped(with_all_fields(second)).tolist() == [[True, True], [False, False], [False, False]]


def test_a_single_key_has_its_handles_at_its_own_place():
    for handles in (None, np.full((2, 1, 1), 0.3)):
        (new,) = new_keys(TIMES[:1], VALUES[:1, :1], handles)
        assert (new["handle_left"] == new["co"]).all() and (new["handle_right"] == new["co"]).all()


def test_keys_made_by_hand_can_hold_their_values():
    (new,) = new_keys(TIMES, VALUES[:, :1], None, BY_HAND, CONSTANT)
    assert (new["type"] == BY_HAND).all() and (new["interpolation"] == CONSTANT).all()


def test_columns_that_are_read_can_be_written_again_exactly():
    armature = euler_leg()
    key_euler(armature, frames=(1, 3, 6))
    curve = curve_of(armature)
    for key, kind in zip(curve.keyframe_points, ('FREE', 'ALIGNED', 'AUTO'), strict=True):
        key.handle_left_type = key.handle_right_type = kind
        key.handle_left = (key.co.x - 0.37, 0.123)
    before, columns = every_bit_of(curve), columns_of(curve)
    fill(curve, {}, exact=True)
    assert not len(curve.keyframe_points)
    fill(curve, columns, exact=True)
    assert every_bit_of(curve) == before


@pytest.mark.parametrize("count, shaped", [(8, [2, 5]), (120, [40]), (120, range(3, 110, 3))])
def test_free_handles_beside_automatic_ones_are_as_given(count, shaped):
    """On short curves and long ones, few and many; automatic handles are where Blender puts them."""
    rng = np.random.default_rng(count)
    armature = euler_leg()
    key_euler(armature, frames=(1, 3))
    curve, rows = curve_of(armature), np.array(shaped)
    curve.auto_smoothing = 'NONE'  # else all automatic handles depend on all keys
    times, values = np.arange(count, dtype="f4"), rng.uniform(-1.0, 1.0, (count, 1))
    handles = np.full((2, count, 1), np.nan)
    handles[1, rows], handles[0, rows + 1] = values[rows] + 0.7, values[rows + 1] - 0.9
    (new,) = new_keys(times, values, handles)
    add([curve], [new])
    found = columns_of(curve)
    for side in ("handle_left", "handle_right"):
        free = new[f"{side}_type"][:, 0] == FREE
        assert free.sum() == len(rows) and (found[side][free] == new[side][free]).all()
    plain = new_keys(times, values)[0]
    add([curve], [plain])
    alone = np.setdiff1d(np.arange(1, count - 1), [*rows, *(rows + 1)])
    assert len(alone) and (columns_of(curve)["handle_left"][alone] == found["handle_left"][alone]).all()


KINDS = ('AUTO_CLAMPED', 'AUTO', 'FREE', 'ALIGNED', 'VECTOR')


@pytest.mark.parametrize("smoothing", ['NONE', 'CONT_ACCEL'])
def test_a_persons_curves_of_handles_of_all_kinds_are_the_same_after_they_are_written_anew(smoothing):
    rng, compared = random.Random(7), 0
    leg = euler_leg()
    key_euler(leg, frames=(1, 3))
    curve = curve_of(leg)
    curve.auto_smoothing = smoothing
    for _ in range(60):
        points, count = curve.keyframe_points, rng.randint(3, 8)
        points.clear()
        points.add(count)
        for i, point in enumerate(points):
            point.co = (10 * i + 1, rng.uniform(-2, 2))
            point.handle_left_type, point.handle_right_type = rng.choice(KINDS), rng.choice(KINDS)
            point.handle_left = (10 * i - 2, rng.uniform(-2, 2))
            point.handle_right = (10 * i + 4, rng.uniform(-2, 2))
        curve.update()
        curve.update()
        before = columns_of(curve)
        curve.update()
        settled = columns_of(curve)
        if any(not np.array_equal(settled[name], before[name]) for name in before):
            continue  # Blender itself moves some of them at each update
        compared += 1
        fill(curve, before, are_shaped(before))
        after = columns_of(curve)
        for name, column in before.items():
            assert after[name] == pytest.approx(column, abs=1e-5), name
    assert compared > 20
