# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's `--command ik2d`, with the file that Blender has opened."""

import bpy
from programs import leg_file

from ik2d_addon.cli import command


def in_no_window(*arguments):
    """Run the command as Blender does: with no window in the context; return the exit code."""
    with bpy.context.temp_override(window=None):
        assert bpy.context.window is None
        return command._run([str(one) for one in arguments])


def test_the_open_file_is_exported(tmp_path, capsys):
    leg_file(tmp_path)
    assert in_no_window("export", "--output", tmp_path / "leg.glb") == 0, capsys.readouterr().err
    assert (tmp_path / "leg.glb").exists()


def test_an_open_file_that_was_saved_in_edit_mode_is_baked(tmp_path, capsys):
    path = leg_file(tmp_path)
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.ops.wm.save_mainfile()
    assert in_no_window("bake", "--output", tmp_path / "baked.blend") == 0, capsys.readouterr().err
    assert path.exists() and (tmp_path / "baked.blend").exists()
