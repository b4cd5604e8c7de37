# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot arm on a turntable, rigged for Blender's IK: set up, dragged round, keyed and baked by mouse."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import ui
from rig_steps import build, click_bone, drag_with_j, in_window, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
ROBOT = {
    "base": ((0, 0, 0), (0, 0, 0.4), ""),
    "upper": ((0, 0, 0.4), (0.15, 0, 1.4), "base"),
    "lower": ((0.15, 0, 1.4), (1.0, 0, 1.1), "upper"),
}
FREE = {"base": 1, "upper": 2, "lower": 2}
clicks = 0


def lock():
    """Leave each joint its one axis, as for Blender's IK: the base its own, the others one across."""
    in_window(bpy.ops.object.mode_set, mode='EDIT')
    for bone in rig().data.edit_bones:
        bone.align_roll((0, 1, 0))
    in_window(bpy.ops.object.mode_set, mode='POSE')
    for name, free in FREE.items():
        bone = rig().pose.bones[name]
        for axis, letter in enumerate("xyz"):
            setattr(bone, f"lock_ik_{letter}", axis != free)
    in_window(bpy.ops.ed.undo_push, message="Locks")


def clicked(steps):
    """Count a click."""
    global clicks
    clicks += 1
    yield from steps


def miss():
    """Return how far the tip is from the target, as Blender evaluates them."""
    chain = rig().ik2d.chains[0]
    target = chain.target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return (rig().matrix_world @ posed("lower").tail - target.matrix_world.translation).length


def test():
    """Click the last bone, Add Chain, drag it round and key it at two frames, Bake."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(ROBOT)
    lock()
    yield from look('NUMPAD_1')
    yield from clicked(click_bone("lower"))
    yield from clicked(ui.click_button(area, sidebar, "ik2d.chain_add"))
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    chain = rig().ik2d.chains[0]
    found = chain.plane, chain.post, chain.post_axis, chain.bone_count
    assert found == ('POST', "base", 'Y', 2), found
    yield from ui.shot(f"{SHOTS}/post_1_added.png")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from look('NUMPAD_7')
    rest = rig().pose.bones["base"].matrix.copy()
    for frame, to in ((1, (0.7, -0.6, 1.1)), (20, (0.2, 0.9, 1.1))):
        bpy.context.scene.frame_set(frame)
        yield from clicked(drag_with_j("lower", to))
        assert miss() < 1e-4, (frame, miss())
    turned = posed("base").matrix.to_3x3().inverted() @ rest.to_3x3()
    assert turned.to_quaternion().angle > 1.0, turned
    yield from ui.shot(f"{SHOTS}/post_2_dragged.png")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    yield from clicked(ui.click_button(area, sidebar, "ik2d.bake"))
    yield from ui.wait_until(lambda: rig().ik2d.last_bake, "the bake", 30)
    assert clicks <= 8, clicks
    worst = 0.0
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        worst = max(worst, miss())
    assert worst < 1e-5, worst
    yield from look('NUMPAD_1')
    yield from ui.shot(f"{SHOTS}/post_3_baked.png")
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not rig().ik2d.last_bake, "the undo")


ui.run(test)
