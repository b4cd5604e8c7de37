# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a chain, which is live at once, drag its target with G, scrub, undo, bake: it follows all along."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, click_target, keyed_frames, select_target_then_tip, ui
from mathutils import Vector

SHOTS = os.environ["IK2D_SHOTS"]
REACH = 3.0


def arm():
    """Return the armature: undo makes the objects anew."""
    return bpy.data.objects["Arm"]


def shown():
    """Return where Blender has the elbow, the tip and the target now; nothing is evaluated for it."""
    graph = bpy.context.view_layer.depsgraph
    evaluated = arm().evaluated_get(graph)
    target = bpy.data.objects["Target"].evaluated_get(graph)
    elbow, tip = evaluated.pose.bones["fore"].head, evaluated.pose.bones["fore"].tail
    return (
        evaluated.matrix_world @ elbow,
        evaluated.matrix_world @ tip,
        target.matrix_world.translation.copy(),
    )


def off():
    """Return how far the tip is from its target, or from where it can get to."""
    _, tip, target = shown()
    outer = sum(bone.length for bone in arm().data.bones)
    return abs((tip - target).length - max(0.0, target.length - outer))


def scrub(frames):
    """Go through frames with the arrow keys, and return the pose of each."""
    scene, poses = bpy.context.scene, {}
    for frame in frames:
        while scene.frame_current != frame:
            before = scene.frame_current
            yield from ui.key('RIGHT_ARROW' if frame > before else 'LEFT_ARROW')
            yield from ui.wait_until(lambda before=before: scene.frame_current != before, "the next frame")
        yield 0.05
        assert off() < 1e-5 * REACH, (frame, off())
        poses[frame] = shown()[:2]
    return poses


def test():
    """As an animator who never bakes until the end."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm().ik2d.chains) == 1, "the chain")
    assert arm().ik2d.chains[0].live
    yield from ui.wait_until(lambda: off() < 1e-5 * REACH, "the tip on its target")
    assert not keyed_frames()

    # There is room for one frame and the next by the arrow keys; back, the poses are the same to the bit.
    view = ui.region()[1]
    yield from ui.move(*ui.center(view))
    there = yield from scrub(range(1, 7))
    back = yield from scrub(range(6, 0, -1))
    assert all(there[frame] == back[frame] for frame in there), (there, back)

    # G drags the target, and the arm follows while it is dragged.
    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: arm().mode == 'OBJECT', "Object Mode")
    yield from click_target()
    target = bpy.data.objects["Target"]
    x, y = at(target.matrix_world.translation)
    to_x, to_y = at(Vector((-0.9, 0.0, 1.9)))
    yield from ui.move(x, y)
    yield from ui.key('G')
    for i in range(1, 9):
        yield from ui.move(x + (to_x - x) * i / 8, y + (to_y - y) * i / 8)
        yield 0.1
        assert off() < 1e-5 * REACH, (i, off())
    moved = shown()[2]
    yield from ui.shot(f"{SHOTS}/live_1_dragging.png")
    yield from ui.button('PRESS')
    yield from ui.button('RELEASE')
    yield from ui.wait_until(lambda: (shown()[2] - moved).length < 1e-6, "the confirmed move")
    assert off() < 1e-5 * REACH and (moved - Vector((-0.9, 0.0, 1.9))).length < 0.3

    # One step of undo brings both back, one of redo both forth.
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: (shown()[2] - moved).length > 0.5, "the undo")
    yield from ui.wait_until(lambda: off() < 1e-5 * REACH, "the arm after the undo")
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: (shown()[2] - moved).length < 1e-4, "the redo")
    yield from ui.wait_until(lambda: off() < 1e-5 * REACH, "the arm after the redo")

    # Too far: the sidebar says by how much.
    yield from ui.key('G')
    yield from ui.move(*at(Vector((-1.9, 0.0, 2.8))))
    yield 0.3
    assert arm().ik2d.chains[0].live_status.endswith("out of reach"), arm().ik2d.chains[0].live_status
    yield from ui.button('PRESS')
    yield from ui.button('RELEASE')
    yield 0.3
    yield from ui.shot(f"{SHOTS}/live_2_too_far.png")

    # Baked: live is off, and one undo brings it back.
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: keyed_frames(), "the bake", 30)
    yield from ui.wait_until(lambda: not arm().ik2d.chains[0].live, "live turned off")
    yield from ui.shot(f"{SHOTS}/live_3_baked.png")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not keyed_frames(), "the undo of the bake")
    assert arm().ik2d.chains[0].live


ui.run(test)
