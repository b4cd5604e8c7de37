# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers in files whose names are no text: refused with a sentence."""

import bpy
import pytest
from rigs import leg_with_target


def test_a_driver_of_a_bone_whose_name_is_no_text_is_named(tmp_path):
    armature, _ = leg_with_target()
    armature.data.bones["body"].name = "MARKED"
    armature.pose.bones["MARKED"].driver_add("location", 0)
    assert bpy.ops.ik2d.make_native(all=True) == {'FINISHED'}
    path = tmp_path / "leg.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    path.write_bytes(path.read_bytes().replace(b"MARKED", b"\xffARKED"))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    with pytest.raises(RuntimeError, match="is not readable text"):
        bpy.ops.ik2d.make_native(all=True)
