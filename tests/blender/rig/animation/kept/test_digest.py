# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of actions: other ones after edits, the same after looks."""

import bpy
import pytest
from rigs import add_target

from ik2d_addon.rig.animation.kept.digest import digest_of
from ik2d_addon.rig.animation.versions import existing_fcurves


def an_action():
    """Return an action with three curves, and the first of these."""
    target = add_target({1: (0, 0, 0), 5: (1, 2, 3), 9: (0, 0, 1)})
    return target.animation_data.action, existing_fcurves(target)[0]


EDITS = {
    "key": lambda action, curve: setattr(curve.keyframe_points[1].co, "y", 4.0),
    "interpolation": lambda action, curve: setattr(curve.keyframe_points[1], "interpolation", 'LINEAR'),
    "handle type": lambda action, curve: setattr(curve.keyframe_points[1], "handle_left_type", 'VECTOR'),
    "muted curve": lambda action, curve: setattr(curve, "mute", True),
    "extrapolation": lambda action, curve: setattr(curve, "extrapolation", 'LINEAR'),
    "modifier": lambda action, curve: curve.modifiers.new('NOISE'),
    "envelope": lambda action, curve: curve.modifiers.new('ENVELOPE').control_points.add(3.0),
    "marker": lambda action, curve: action.pose_markers.new("step"),
    "range": lambda action, curve: setattr(action, "use_frame_range", True),
    "property": lambda action, curve: action.__setitem__("mine", 3),
    "new curve": lambda action, curve: bpy.data.objects["Target"].keyframe_insert("scale", frame=3),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_the_digest(edit):
    action, curve = an_action()
    before = digest_of(action)
    EDITS[edit](action, curve)
    assert digest_of(action) != before


def test_a_setting_of_a_modifier_changes_the_digest_and_its_panel_does_not():
    action, curve = an_action()
    modifier = curve.modifiers.new('CYCLES')
    before = digest_of(action)
    modifier.show_expanded = not modifier.show_expanded
    assert digest_of(action) == before
    modifier.cycles_after = 3
    assert digest_of(action) != before


def test_selection_copies_and_files_do_not_change_the_digest(tmp_path):
    action, curve = an_action()
    action["notes"] = {"by": "me", "at": [1.0, 2.0], "of": {"a": 1}}
    before = digest_of(action)
    action.name = "Other"
    curve.select, curve.hide = False, True
    curve.keyframe_points[1].select_control_point = False
    assert digest_of(action) == digest_of(action.copy()) == before
    name = action.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert digest_of(bpy.data.actions[name]) == before
