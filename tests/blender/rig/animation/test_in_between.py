# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of data blocks between frames: what F-Curves show, and what else may move unseen."""

import bpy
import numpy as np
import pytest
from rigs import add_target

from ik2d_addon.rig.animation import in_between
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = np.arange(1, 31, dtype="f4")


def _driven(expression: str, path: str = "", kind: str = 'SCRIPTED'):
    """Return an object whose place a driver sets, which may read a property of it."""
    ob = add_target({})
    ob["dial"], ob["still"] = 0.5, 0.5
    ob.keyframe_insert('["dial"]', frame=1)
    curve = ob.driver_add("location", 2)
    curve.driver.type, curve.driver.expression = kind, expression
    if path:
        variable = curve.driver.variables.new()
        variable.name = "var"
        variable.targets[0].id, variable.targets[0].data_path = ob, path
    return ob


@pytest.mark.parametrize(
    "expression, path, unseen, amplified",
    [
        ("0.5", "", False, False),
        ("2 * var + 1", '["still"]', False, False),
        ("var == 2", '["still"]', False, False),
        ("2 * var + 1", '["dial"]', False, True),
        ("2 * var + 1", "['dial']", False, True),
        ("2 * var + 1", "matrix_world[0][0]", False, True),
        ("frame / 24", "", False, True),
        ("var == 2", '["dial"]', True, True),
        ("sin(var)", '["dial"]', True, True),
        ("floor(var)", '["dial"]', True, True),
        ("var % 1", '["dial"]', True, True),
        ("sin(frame)", "", True, True),
        ("1 if frame < 3 else 0", "", True, True),
    ],
)
def test_a_driver_that_may_jump_or_swing_moves_unseen(expression, path, unseen, amplified):
    ob = _driven(expression, path)
    assert in_between.moves_unseen(ob) == unseen
    assert in_between.is_amplified(ob) == amplified
    ob.animation_data.drivers[0].mute = True
    assert not in_between.moves_unseen(ob) and not in_between.is_amplified(ob)


def test_a_drivers_own_curve_may_jump():
    ob = _driven("", '["dial"]', 'AVERAGE')
    assert not in_between.moves_unseen(ob)
    curve = ob.animation_data.drivers[0]
    while curve.modifiers:
        curve.modifiers.remove(curve.modifiers[0])
    curve.keyframe_points.insert(0.0, 0.0).interpolation = 'CONSTANT'
    curve.keyframe_points.insert(1.0, 1.0)
    assert in_between.moves_unseen(ob)


def test_strips_move_unseen():
    ob = add_target({1: (0, 0, 0), 20: (0, 0, 1)})
    assert not in_between.moves_unseen(ob)
    ob.animation_data.nla_tracks.new()
    assert in_between.moves_unseen(ob)


def test_values_are_blenders_and_their_kinds_are_told():
    ob = add_target({1: (0, 0, 0), 20: (1, 2, 3)})
    ob.keyframe_insert("rotation_euler", frame=1)
    ob["dial"] = 0.5
    ob.keyframe_insert('["dial"]', frame=1)
    ob.keyframe_insert("hide_viewport", frame=1)
    found = list(in_between.motions(ob, FRAMES, set()))
    assert sorted(one.kind for one in found) == ['OTHER', *['PLACE'] * 3, *['TURN'] * 3]
    assert [one.wraps for one in found].count(True) == 3
    curve = existing_fcurves(ob)[2]
    expected = [curve.evaluate(float(frame)) for frame in FRAMES]
    assert any(one.values.tolist() == expected for one in found)
    assert len(list(in_between.motions(ob, FRAMES, {"location"}))) == 4


def _bending(change) -> int:
    """Return how many of three F-Curves may bend between two frames after a change to the first."""
    ob = add_target({1: (0, 0, 0), 10: (1, 1, 1), 20: (0, 2, 3)})
    change(existing_fcurves(ob)[0])
    return len(list(in_between.motions(ob, FRAMES, set(), FRAMES)))


def test_plain_keys_on_frames_do_not_bend_between_two():
    assert _bending(lambda curve: None) == 0


@pytest.mark.parametrize("kind", ['CONSTANT', 'BOUNCE', 'ELASTIC', 'SINE'])
def test_keys_that_jump_or_ease_do(kind):
    assert _bending(lambda curve: setattr(curve.keyframe_points[0], "interpolation", kind)) == 1


def test_keys_between_frames_do():
    assert _bending(lambda curve: curve.keyframe_points.insert(5.4, 1.0)) == 1


def test_modifiers_do_also_on_channels_that_are_left_out():
    ob = add_target({1: (0, 0, 0), 10: (1, 1, 1)})
    existing_fcurves(ob)[0].modifiers.new('NOISE')
    assert len(list(in_between.motions(ob, FRAMES, {"location"}, FRAMES))) == 1


def test_handles_by_hand_do():
    def changed(curve):
        curve.keyframe_points.insert(11, 1.0)
        curve.keyframe_points[1].handle_left_type = 'FREE'

    assert _bending(changed) == 1
    assert bpy.context.scene.frame_current == 1
