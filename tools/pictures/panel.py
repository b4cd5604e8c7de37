# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the tab beside the excavator, baked."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import call, calm, in_front, look_at, named, picture, ui


def test():
    """Select the arm's bones, bake, and show a frame in the middle."""
    yield from in_front("IK 2D")
    calm()
    rig = named("objects", "Excavator")
    bpy.ops.object.mode_set(mode='POSE')
    rig.data.bones.active = rig.data.bones["stick"]
    for name in ("boom", "stick"):
        (rig.pose.bones[name] if bpy.app.version >= (5, 0) else rig.data.bones[name]).select = True
    bpy.context.scene.frame_end = 60
    yield from call("bake")
    bpy.context.scene.frame_set(14)
    look_at(4.4, 1.8, 11.8)
    yield 1.0
    yield from picture("panel", ui.region()[1])


ui.run(test)
