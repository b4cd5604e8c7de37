# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test begins with, whatever the one before it left."""

import bpy
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("turn", ["first", "second", "third"])
def test_nothing_is_left_of_the_test_before(turn):
    edit, handlers = bpy.context.preferences.edit, bpy.app.handlers.frame_change_post
    assert edit.undo_steps == 32 and "rigify" not in bpy.context.preferences.addons
    assert not any(handler.__name__ == "left_behind" for handler in handlers)
    assert not any(handler.__module__.startswith("rigify") for handler in bpy.app.handlers.load_post)
    assert not bpy.data.objects and not bpy.data.actions and bpy.context.scene.frame_end == 250
    handlers.append(left_behind)
    bpy.context.scene.frame_end = 10
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Left", None))
    bpy.data.actions.new("Left")
    if turn == "first":
        edit.undo_steps = 5
    if turn == "second":
        bpy.ops.preferences.addon_enable(module="rigify")


def left_behind(_scene, _graph=None):
    """Do nothing on a change of the frame."""
