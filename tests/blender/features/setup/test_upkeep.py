# SPDX-License-Identifier: GPL-3.0-or-later
"""What handlers keep in order after undo."""

import bpy
from rigs import leg_with_target


def test_undo_and_redo_leave_no_pose_of_a_hidden_armature_on_freed_bones():
    armature, _ = leg_with_target()
    armature.hide_viewport = True
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Hidden")
    for kind in ('NONE', 'FULL', 'NONE'):
        bpy.data.objects["Rig"].data.bones["thigh"].inherit_scale = kind
        bpy.ops.ed.undo_push(message=kind)
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo):
        step()
        armature = bpy.data.objects["Rig"]
        assert all(posed.bone == armature.data.bones[posed.name] for posed in armature.pose.bones)
