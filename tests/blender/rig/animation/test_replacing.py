# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys changed where they are: the same bits as when the whole curve is written, and put back exactly."""

from contextlib import ExitStack

import numpy as np
import pytest
from keyed_legs import curve_of, euler_leg, rotation
from rigs import every_bit_of

from ik2d_addon.rig.animation import replacing
from ik2d_addon.rig.animation.kept.marks import Marks, marked
from ik2d_addon.rig.animation.key_columns import columns_of, new_keys
from ik2d_addon.rig.animation.keys import written
from ik2d_addon.rig.animation.replacing import replace_keys
from ik2d_addon.rig.animation.versions import existing_channels, place_of

LONG = np.arange(1.0, 201.0)
FEW = np.array([50.0, 51.0, 52.0, 53.0], "f4")


def values_at(times):
    """Return the values (m, 1) of a wave."""
    return 0.3 * np.sin(0.2 * np.asarray(times, np.float64))[:, None]


def long_curve():
    """Return an armature and its F-Curve of 200 keys, some with handles that were changed by hand."""
    armature = euler_leg()
    values = np.repeat(values_at(LONG), 3, axis=1)
    with written(armature, LONG, [rotation(values=values)]):
        pass
    curve = curve_of(armature)
    for row, kind in ((3, 'ALIGNED'), (48, 'ALIGNED'), (120, 'VECTOR'), (150, 'FREE')):
        key = curve.keyframe_points[row]
        key.handle_left_type = key.handle_right_type = kind
    curve.keyframe_points[3].handle_right = (4.3, 0.7123)
    curve.update()
    return armature, curve


def place_of_curve(armature, curve):
    """Return where an F-Curve is found again."""
    return place_of(existing_channels(armature)), curve.data_path, curve.array_index


def free_handles():
    values = values_at(FEW) + 0.1
    return np.stack((values - 0.01, values + 0.02))


@pytest.mark.parametrize("handles", [None, free_handles()], ids=["automatic", "free"])
@pytest.mark.parametrize("turn", [1, -1], ids=["up", "down"])
def test_keys_changed_in_place_are_those_of_a_curve_that_is_written_as_a_whole(handles, turn, monkeypatch):
    found = []
    for _ in range(2):
        armature, curve = long_curve()
        given = None if handles is None else handles[::turn, ::turn]
        (new,) = new_keys(FEW[::turn], (values_at(FEW) + 0.1)[::turn], given)
        with ExitStack() as undo:
            replace_keys([curve], [new], place_of(existing_channels(armature)), undo)
            undo.pop_all()
        found.append(every_bit_of(curve))
        monkeypatch.setattr(replacing, "change_in_place", lambda *arguments: False)
    assert found[0] == found[1]


def test_a_few_keys_of_many_are_changed_without_the_others():
    armature, curve = long_curve()
    before = every_bit_of(curve)
    (new,) = new_keys(FEW, values_at(FEW) + 0.1, free_handles())
    with ExitStack() as undo:
        assert replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)
        undo.pop_all()
    now = every_bit_of(curve)
    changed = [row for row in range(len(LONG)) if now[row] != before[row]]
    assert set(range(49, 53)) <= set(changed)
    assert now[3] == before[3] and now[150] == before[150]


def test_keys_that_are_there_already_are_left_as_they_are():
    armature, curve = long_curve()
    (new,) = new_keys(FEW, values_at(FEW))
    (new,) = marked([new], [Marks.on(curve).numbers[49]])
    curve.keyframe_points[100].co.y = 0.5  # without an update: the handles around it would move
    before = every_bit_of(curve)
    with ExitStack() as undo:
        assert replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)
        undo.pop_all()
    assert every_bit_of(curve) == before


@pytest.mark.parametrize(
    "times",
    [FEW + 0.5, np.delete(FEW, 1), np.append(FEW, 53.5), LONG.astype("f4"), FEW + 195, FEW + 500],
    ids=["between", "one too many there", "one too few there", "all", "over the end", "beyond"],
)
def test_other_times_and_whole_curves_are_not_changed_in_place(times):
    times = np.asarray(times, "f4")
    armature, curve = long_curve()
    before = every_bit_of(curve)
    (new,) = new_keys(times, values_at(times) + 0.1)
    with ExitStack() as undo:
        assert not replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)
    assert every_bit_of(curve) == before


def test_a_second_key_within_the_range_keeps_a_curve_from_being_changed_in_place():
    armature, curve = long_curve()
    curve.keyframe_points[53].co.x = 53.005
    (new,) = new_keys(FEW, values_at(FEW) + 0.1)
    with ExitStack() as undo:
        assert not replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)


def test_many_aligned_handles_keep_a_curve_from_being_changed_in_place():
    armature, curve = long_curve()
    for key in curve.keyframe_points:
        key.handle_left_type = key.handle_right_type = 'ALIGNED'
    (new,) = new_keys(FEW, values_at(FEW) + 0.1)
    with ExitStack() as undo:
        assert not replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)


@pytest.mark.parametrize("handles", [None, free_handles()], ids=["automatic", "free"])
def test_keys_changed_in_place_are_put_back_exactly(handles):
    armature, curve = long_curve()
    curve.keyframe_points[100].co.y = 0.5  # without an update: its handles are not where Blender puts them
    for name, value in (
        ("interpolation", 'SINE'),
        ("easing", 'EASE_OUT'),
        ("type", 'EXTREME'),
        ("back", 2.0),
    ):
        setattr(curve.keyframe_points[51], name, value)
    curve.keyframe_points[50].select_control_point = False
    before = every_bit_of(curve)
    (new,) = new_keys(FEW, values_at(FEW) + 0.1, handles)
    with ExitStack() as undo:
        assert replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)
        assert every_bit_of(curve) != before
    assert every_bit_of(curve) == before


def test_a_bake_again_of_a_few_frames_that_fails_changes_nothing():
    armature, curve = long_curve()
    before = every_bit_of(curve)
    values = np.repeat(values_at(FEW) + 0.1, 3, axis=1)
    with pytest.raises(ZeroDivisionError), written(armature, FEW, [rotation(values=values)]):
        assert every_bit_of(curve) != before
        _ = 1 / 0
    assert every_bit_of(curve) == before


def test_keys_are_put_back_only_where_the_curve_still_has_them():
    armature, curve = long_curve()
    (new,) = new_keys(FEW, values_at(FEW) + 0.1)
    with ExitStack() as undo:
        assert replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)
        curve.keyframe_points.clear()
    assert not len(curve.keyframe_points)
    with ExitStack() as undo:
        (new,) = new_keys(FEW, values_at(FEW))
        replacing.change_in_place(curve, new, place_of_curve(armature, curve), undo)
        existing_channels(armature).fcurves.remove(curve)


@pytest.mark.parametrize("seed", range(6))
def test_free_handles_next_to_automatic_ones_of_other_keys_stay_where_few_keys_are_changed(seed):
    """Blender may align a free handle with an automatic one of the same key as it places that."""
    rng = np.random.default_rng(seed)
    armature, curve = long_curve()
    for point in curve.keyframe_points:
        point.co.y = rng.normal(0.0, 0.3)
        point.handle_left_type, point.handle_right_type = 'AUTO_CLAMPED', 'FREE'
        point.handle_right = (point.co.x + 0.35, point.co.y + 0.3)
    curve.auto_smoothing = 'NONE'
    for _ in range(3):
        curve.update()
    before = columns_of(curve)
    (new,) = new_keys(FEW, values_at(FEW) + 0.1)
    with ExitStack() as undo:
        replace_keys([curve], [new], place_of(existing_channels(armature)), undo)
        after = columns_of(curve)
        others = ~np.isin(before["co"][:, 0], FEW)
        assert np.array_equal(after["handle_right"][others], before["handle_right"][others])
    for name, column in before.items():
        assert np.array_equal(columns_of(curve)[name], column), name
