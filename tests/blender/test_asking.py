# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that a setting of the operator cures: a person gets it in a dialog, a script the error."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from rigs import leg_with_target
from test_result_lines import Layout
from walkers import walker

from ik2d_addon.chains import plant_feet
from ik2d_addon.core import IK2DError
from ik2d_addon.features.plant.operators import IK2D_OT_plant_feet
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.ui import operator as operators

ASKING = ("plant_feet", "find_contacts", "adopt", "release")


def still_walker():
    """Return a walker that walks in place, so fast that no foot stands still."""
    made = walker(True)
    for curve in existing_fcurves(made.armature):
        if curve.data_path.endswith('["body"].location'):
            for key in curve.keyframe_points:
                for co in (key.co, key.handle_left, key.handle_right):
                    co.y = 0.0
            curve.update()
    return made


def test_a_walk_in_place_asks_for_the_speed_of_the_ground():
    made = still_walker()
    with pytest.raises(IK2DError, match="No foot of 'Rig' stands still") as caught:
        plant_feet(made.armature)
    assert caught.value.cures == ("ground_velocity", "frame_start", "frame_end")


def test_a_range_of_one_frame_asks_for_frames():
    made = walker(False)
    with pytest.raises(IK2DError, match="not on frame 5 alone") as caught:
        plant_feet(made.armature, None, 5, 5)
    assert caught.value.cures == ("frame_start", "frame_end")


@pytest.mark.parametrize("name", ASKING)
def test_the_settings_that_cure_an_error_are_those_of_the_operator(name):
    known = getattr(bpy.ops.ik2d, name).get_rna_type().properties
    for cure in ("ground_velocity", "frame_start") if "adopt" not in name and name != "release" else ("all",):
        assert cure in known
    assert all(known[hidden].is_hidden and known[hidden].is_skip_save for hidden in ("question", "asked"))


def properties(**settings):
    """Return the properties of Plant Feet as an operator has them."""
    rna = bpy.ops.ik2d.plant_feet.get_rna_type()
    return SimpleNamespace(bl_rna=rna, is_property_set=lambda name: name in settings)


def asking(monkeypatch, by_hand, background=False, **settings):
    """Return the operator with settings, and the calls of operators that it makes."""
    calls = []
    plant = lambda *way, **given: calls.append((way, given))  # noqa: E731
    fake = SimpleNamespace(
        ops=SimpleNamespace(ik2d=SimpleNamespace(plant_feet=plant)),
        app=SimpleNamespace(background=background),
    )
    monkeypatch.setattr(operators, "bpy", fake)
    one = SimpleNamespace(
        _by_hand=by_hand,
        bl_idname="IK2D_OT_plant_feet",
        properties=properties(**settings),
        refuse=lambda error: calls.append(("refused", str(error))) or {'CANCELLED'},
        **settings,
    )
    one.given = lambda: operators.AskingOperator.given(one)
    return one, calls


ERROR = IK2DError("No foot stands still", ["ground_velocity"])


def test_a_person_is_asked_with_what_was_given(monkeypatch):
    one, calls = asking(monkeypatch, True, frame_start=3, ground_velocity=np.array([0.0, 1.0, 0.0]))
    assert operators.AskingOperator.ask(one, ERROR) == {'CANCELLED'}
    ((way, given),) = calls
    assert way == ('INVOKE_DEFAULT',)
    assert given == {
        "question": "No foot stands still",
        "asked": "ground_velocity",
        "frame_start": 3,
        "ground_velocity": (0.0, 1.0, 0.0),
    }


@pytest.mark.parametrize(
    "by_hand, background, error",
    [(False, False, ERROR), (True, True, ERROR), (True, False, IK2DError("Other"))],
)
def test_scripts_and_errors_without_a_cure_are_refused_as_before(monkeypatch, by_hand, background, error):
    one, calls = asking(monkeypatch, by_hand, background)
    assert operators.AskingOperator.ask(one, error) == {'CANCELLED'}
    assert calls == [("refused", str(error))]


def test_the_dialog_shows_the_question_and_the_settings_that_cure_it_alone():
    drawn = []
    one = SimpleNamespace(
        layout=Layout(drawn),
        question="No foot stands still",
        asked="ground_velocity",
        properties=properties(),
    )
    system = SimpleNamespace(ui_scale=1.0)
    context = SimpleNamespace(
        preferences=SimpleNamespace(system=system, ui_styles=bpy.context.preferences.ui_styles)
    )
    operators.AskingOperator.draw(one, context)
    assert drawn == [("label", "No foot stands still", 'ERROR'), ("prop", "ground_velocity")]
    drawn.clear()
    one.question = one.asked = ""
    operators.AskingOperator.draw(one, context)  # the redo panel
    assert [name for _, name in drawn] == ["frame_start", "frame_end", "chain", "ground_velocity"]


def test_a_script_gets_the_error_by_the_operator():
    leg_with_target()
    with pytest.raises(RuntimeError, match="not on frame 5 alone"):
        bpy.ops.ik2d.plant_feet(frame_start=5, frame_end=5)
    with pytest.raises(RuntimeError, match="not on frame 5 alone"):
        bpy.ops.ik2d.plant_feet('INVOKE_DEFAULT', frame_start=5, frame_end=5)
    assert IK2D_OT_plant_feet.bl_idname
