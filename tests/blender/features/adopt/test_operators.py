# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopt's dialog opens after a look at a few frames; OK looks at all of them, with progress."""

from types import SimpleNamespace

import bpy
import ik_rigs
import pytest

from ik2d_addon.features.adopt import adopt, operators
from ik2d_addon.features.adopt.poses import FEW_FRAMES


@pytest.fixture
def armature():
    """A leg with IK and 90 frames of animation."""
    armature = ik_rigs.from_the_tip()
    bone = armature.pose.bones["body"]
    for frame in (1, 90):
        bone.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = armature
    return armature


def dialog(armature) -> SimpleNamespace:
    """Return the operator after its dialog was opened."""

    def plan(context, most):
        return adopt.plan_adoption(armature, context.scene, None, most)

    operator = SimpleNamespace(_plan=plan)
    manager = SimpleNamespace(invoke_props_dialog=lambda *_, **__: {'RUNNING_MODAL'})
    context = SimpleNamespace(scene=bpy.context.scene, window_manager=manager)
    assert operators.IK2D_OT_adopt.invoke(operator, context, None) == {'RUNNING_MODAL'}
    return operator


def test_the_dialog_looks_at_a_few_frames_and_says_so(armature, monkeypatch):
    shown = []
    watched = adopt.watched
    monkeypatch.setattr(adopt, "watched", lambda *given: shown.append(given[4]) or watched(*given))
    found = dialog(armature)
    (frames,) = shown
    assert len(frames) <= FEW_FRAMES + 1 and (frames[0], frames[-1]) == (1, 90)
    assert found._notes == [f"Looked at {len(frames)} frames from 1 to 90; OK looks at up to 500"]
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    assert list(shown[1]) == list(range(1, 91))


def test_a_dialog_that_has_looked_at_all_frames_says_nothing_of_them():
    assert dialog(ik_rigs.from_the_tip())._notes == []


def test_progress_goes_to_the_end_in_both_halves(armature):
    parts = []
    adoption = adopt.plan_adoption(armature, bpy.context.scene, None, progress=parts.append)
    assert len(parts) >= 90 and parts[-1] == 1.0 and all(0.0 <= part <= 1.0 for part in parts)
    names = adopt.carry_out(adoption, bpy.context.scene)
    parts.clear()
    adopt.compare_adopted(adoption, names, bpy.context.scene, parts.append)
    assert len(parts) >= 90 and parts[-1] == 1.0
