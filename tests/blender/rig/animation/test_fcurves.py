# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves are read at many times as Blender evaluates them, to its last bit but one."""

import random

import numpy as np
import pytest
from rigs import add_target

from ik2d_addon.rig.animation import fcurves
from ik2d_addon.rig.animation.fcurves import Reader, cut_at
from ik2d_addon.rig.animation.versions import existing_fcurves

TIMES = np.unique(np.concatenate((np.arange(-10.0, 60.0), np.linspace(-10.0, 60.0, 333)))).astype("f4")
LAST_BITS = 2.0**-22  # of the greatest value


def curve_through(points, kind='BEZIER', handles='AUTO_CLAMPED', extrapolation='CONSTANT'):
    """Return an F-Curve with keys {frame: value}."""
    target = add_target({frame: (value, 0, 0) for frame, value in points.items()})
    curve = existing_fcurves(target)[0]
    for key in curve.keyframe_points:
        key.interpolation, key.handle_left_type, key.handle_right_type = kind, handles, handles
    curve.extrapolation = extrapolation
    curve.update()
    return curve


def asked_for(monkeypatch):
    """Return a list that gets the times that Blender is asked for."""
    asked, evaluated = [], fcurves._evaluated

    def asking(curve, times):
        asked.extend(times.tolist())
        return evaluated(curve, times)

    monkeypatch.setattr(fcurves, "_evaluated", asking)
    return asked


def values_at(curve, times):
    ((_, values),) = Reader(times).values([curve])
    return values


def assert_evaluated(curve, times=TIMES):
    values = values_at(curve, times)
    expected = np.array([curve.evaluate(time) for time in times.tolist()], "f4")
    assert values.dtype == np.float32
    assert np.abs(values - expected).max() <= LAST_BITS * np.abs(expected).max()


def wild(rng, curve):
    """Give each key its own way to the next, and free handles of any length."""
    for key in curve.keyframe_points:
        key.interpolation = rng.choice(('BEZIER', 'BEZIER', 'BEZIER', 'LINEAR', 'CONSTANT'))
        key.handle_left_type = key.handle_right_type = rng.choice(('AUTO', 'VECTOR', 'FREE', 'FREE'))
        if key.handle_left_type == 'FREE':
            key.handle_left.x = key.co.x - rng.choice((0.0, 1.0, 9.0, 100.0))
            key.handle_right.x = key.co.x + rng.choice((0.0, 1.0 / 3.0, 9.0, 100.0))
            key.handle_right.y += rng.uniform(-1.0, 1.0)
    curve.update()


@pytest.mark.parametrize("seed", range(40))
def test_keys_of_all_kinds_are_worked_out_as_blender_evaluates_them(seed, monkeypatch):
    rng = random.Random(seed)
    frames = rng.sample(range(-5, 50), rng.choice((1, 2, 5, 20)))
    curve = curve_through({frame + rng.choice((0.0, 0.25)): rng.uniform(-3.0, 3.0) for frame in frames})
    wild(rng, curve)
    asked = asked_for(monkeypatch)
    assert_evaluated(curve)
    assert asked == []


@pytest.mark.parametrize("handle", [1.0 / 3.0, 0.25, 0.5, 1.0])
def test_handles_that_make_the_cubic_less_than_one_are_worked_out_too(handle):
    curve = curve_through({0: 1.0, 30: -2.0, 40: 5.0}, handles='FREE')
    for key in curve.keyframe_points:
        key.handle_left, key.handle_right = (key.co.x - 30 * handle, 2.0), (key.co.x + 30 * handle, 3.0)
    curve.update()
    assert_evaluated(curve)


def test_equal_keys_are_flat():
    curve = curve_through({1: 0.3, 10: 0.3, 20: 0.3})
    assert set(values_at(curve, TIMES).tolist()) == {curve.evaluate(5.0)}


def test_at_a_key_its_value_counts_and_close_by_too():
    curve = curve_through({1: 0.0, 10: 5.0, 20: 1.0}, 'CONSTANT')
    times = np.sort(np.concatenate((TIMES, [9.99985, 9.99995, 10.00005, 10.00015]))).astype("f4")
    assert_evaluated(curve, times)


def test_few_times_are_asked_for(monkeypatch):
    curve, asked = curve_through({1: 0.0, 10: 5.0}), asked_for(monkeypatch)
    assert_evaluated(curve, TIMES[: fcurves._FEW])
    assert asked == TIMES[: fcurves._FEW].tolist()
    assert_evaluated(curve, TIMES[: fcurves._FEW + 1])
    assert len(asked) == fcurves._FEW


def test_beyond_its_keys_a_line_is_asked_for(monkeypatch):
    curve = curve_through({1: 0.0, 10: 5.0, 20: 1.0}, 'LINEAR', extrapolation='LINEAR')
    asked = asked_for(monkeypatch)
    assert_evaluated(curve)
    assert asked == [time for time in TIMES.tolist() if not 1.0 <= time <= 20.0]


def test_other_ways_from_key_to_key_are_asked_for(monkeypatch):
    curve = curve_through({1: 0.0, 10: 5.0, 20: 1.0}, 'ELASTIC')
    curve.keyframe_points[0].interpolation = 'LINEAR'
    asked = asked_for(monkeypatch)
    assert_evaluated(curve)
    assert asked == [time for time in TIMES.tolist() if 10.0001 < time < 19.9999]


def test_modifiers_samples_and_crowded_keys_are_asked_for(monkeypatch):
    modified, baked = curve_through({1: 0.0, 10: 5.0}), curve_through({1: 0.0, 10: 5.0})
    modified.modifiers.new('CYCLES')
    baked.convert_to_samples(1, 12)
    crowded = curve_through({1: 0.0, 10: 5.0})
    crowded.keyframe_points[1].co.x = 1.0005
    crowded.keyframe_points[1].co_ui.x = 1.0005
    nowhere = curve_through({1: 0.0, 5: 2.0, 10: 5.0})
    nowhere.keyframe_points[1].co.x = float("nan")
    for curve in (modified, baked, crowded, nowhere):
        asked = asked_for(monkeypatch)
        assert_evaluated(curve)
        assert asked == TIMES.tolist()


def test_many_times_are_read_part_by_part(monkeypatch):
    curve = curve_through({1: 0.0, 10: 5.0, 50: 1.0})
    whole = values_at(curve, TIMES)
    monkeypatch.setattr(fcurves, "_PART", 50)
    assert (values_at(curve, TIMES) == whole).all()
    assert all((values == whole).all() for _, values in Reader(TIMES).values([curve] * 3))


def test_curves_share_nothing_that_is_not_the_same():
    one = curve_through({1: 0.0, 10: 5.0, 50: 1.0})
    others = [
        curve_through({1: 2.0, 10: -5.0, 50: 7.0}),
        curve_through({1: 2.0, 10: -5.0, 50: 7.0}, handles='VECTOR'),
        curve_through({1: 2.0, 10: -5.0, 50: 7.0}, 'LINEAR'),
        curve_through({1: 2.0, 11: -5.0, 50: 7.0}),
        curve_through({1: 0.0, 10: 5.0, 50: 1.0}),
    ]
    others[-1].keyframe_points[0].interpolation = 'CONSTANT'
    others += [curve_through({1: 2.0, 10: -5.0, 50: 7.0}, extrapolation='LINEAR')]
    others += [curve_through({1: 2.0, 10: 2.0, 50: 2.0}), curve_through({1: 3.0})]
    read = [one, *others, one]
    found = dict(Reader(TIMES).values(read))
    assert sorted(found) == list(range(len(read)))
    for number, curve in enumerate(read):
        assert (found[number] == values_at(curve, TIMES)).all()


@pytest.mark.parametrize("right, left", [(8.0, 5.0), (13.0, 4.0), (3.0, 12.0), (12.0, 15.0), (3.0, 3.0)])
def test_both_parts_of_a_segment_are_what_blender_plays_of_it(right, left):
    """Also where handles are longer than the segment, which Blender shortens, each by itself."""
    curve = curve_through({10: 0.0, 20: 1.0}, handles='FREE')
    first, last = curve.keyframe_points
    first.handle_right, last.handle_left = (10 + right, 0.3), (20 - left, 0.6)
    first.handle_left, last.handle_right = (9, 0), (21, 1)
    curve.update()
    corners = np.array([first.co, first.handle_right, last.handle_left, last.co], np.float64)
    parts = cut_at(corners, 13.25)
    assert parts[0][3] == pytest.approx((13.25, curve.evaluate(13.25)), abs=1e-6)
    assert (parts[0][3] == parts[1][0]).all()
    for part in parts:
        for u in np.linspace(0.0, 1.0, 9):
            weights = np.array([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u * u * (1 - u), u**3])
            x, y = weights @ part
            assert curve.evaluate(x) == pytest.approx(y, abs=1e-5)


@pytest.mark.parametrize("kind", ['BEZIER', 'LINEAR', 'CONSTANT'])
def test_keys_whose_places_are_known_are_not_read(kind, monkeypatch):
    curve = curve_through({1: 0.0, 5: 2.0, 20: -1.0, 50: 3.0}, kind)
    places = tuple(fcurves.column(curve, name) for name in ("co", "handle_left", "handle_right"))
    read, columns = [], fcurves.column
    monkeypatch.setattr(fcurves, "column", lambda curve, name: read.append(name) or columns(curve, name))
    ((_, values),) = Reader(TIMES).values([curve], [places])
    assert read == ["interpolation"] and np.array_equal(values, values_at(curve, TIMES))
