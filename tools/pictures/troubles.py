# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the status of a live leg that a constraint moves, and the box on it with its Help."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import calm, in_front, named, picture, ui


def test():
    """Turn the shin by a constraint of its own, and show the panels."""
    area, sidebar = yield from in_front("IK 2D")
    calm()
    rig = named("objects", "Walker")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode='POSE')
    chain = rig.ik2d.chains[rig.ik2d.active_index]
    turned = rig.pose.bones[chain.tip].constraints.new('LIMIT_ROTATION')
    turned.use_limit_x, turned.owner_space = True, 'WORLD'
    bpy.context.scene.frame_set(12)
    sidebar.tag_redraw()
    yield 1.5
    yield from picture("troubles", sidebar)


ui.run(test)
