# SPDX-License-Identifier: GPL-3.0-or-later
"""Cancel a long bake with Escape, let another one finish and undo it, and go to the frames that it missed."""

import os
import sys
import time

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import animation, assert_tip_follows, keyed_frames, open_result, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]
VERY_LONG, LONG = 200_000, 4_000  # frames: minutes, and seconds
# Seconds that the window may stand still while the frames are sampled, some 10 s in one go. It is drawn
# by software on a machine that does other work too; most of a wait is that.
LONGEST_WAIT = 2.0


def baking():
    """Whether a bake runs in the window."""
    return any(operator.bl_idname == "IK2D_OT_bake" for operator in ui.window().modal_operators)


def everything():
    """Return what a cancelled bake must not change."""
    scene, arm = bpy.context.scene, bpy.data.objects["Arm"]
    blocks = (bpy.data.scenes, bpy.data.objects, bpy.data.actions)
    return (
        animation(),
        [[block.name for block in kind] for kind in blocks],
        (scene.frame_current, scene.frame_subframe, arm.mode, arm.ik2d.last_bake),
        [tuple(bone.matrix_basis.to_quaternion()) for bone in arm.pose.bones],
    )


def status_bar(path):
    """Return the pixels of the status bar's left half on a picture of the window."""
    image = bpy.data.images.load(path)
    width, height = image.size
    pixels = list(image.pixels[: 4 * width * int(height * 0.02)])
    bpy.data.images.remove(image)
    return [pixels[row : row + 2 * width] for row in range(0, len(pixels), 4 * width)]


def picture_of_status(name):
    """Take a picture and return its status bar."""
    path = f"{SHOTS}/{name}.png"
    yield from ui.shot(path)
    return status_bar(path)


def cancel_a_very_long_bake(area, sidebar):
    """Start it, look at the window, press Escape: all is as it was."""
    scene, target = bpy.context.scene, bpy.data.objects["Target"]
    scene.frame_end = VERY_LONG
    # It limits nothing, but has Blender step through all frames: F-Curves alone take a second.
    held = target.constraints.new('LIMIT_LOCATION')
    yield from ui.find_button(area, sidebar, "ik2d.bake")
    quiet = yield from picture_of_status("9_before_a_long_bake")
    before = everything()
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(baking, "the bake's start")
    start = last = time.monotonic()
    waits = []
    while last < start + 3.0:  # Blender calls this test from its own loop, as it does what it draws
        yield ui.TICK
        waits.append(time.monotonic() - last)
        last = time.monotonic()
    assert baking(), "the bake ended before it could be cancelled"
    assert max(waits) < LONGEST_WAIT, max(waits)
    during = yield from picture_of_status("10_during_a_long_bake")
    assert during != quiet, "the status bar says nothing of the bake"
    pressed = time.monotonic()
    yield from ui.key('ESC')
    yield from ui.wait_until(lambda: not baking(), "the cancelling", 5)
    print(
        f"window stood still for at most {max(waits):.3f} s; Escape took {time.monotonic() - pressed:.3f} s"
    )
    assert everything() == before
    target.constraints.remove(held)
    after = yield from picture_of_status("11_cancelled")
    assert after != during, "the status bar still speaks of the bake"
    scene.frame_end = 40


def test():
    """Bake, cancel, bake, undo, look at the misses."""
    arm, scene = bpy.data.objects["Arm"], bpy.context.scene
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the chain")
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: arm.ik2d.last_bake, "the first bake", 30)
    first = animation()
    assert set(keyed_frames().values()) == {40}

    yield from cancel_a_very_long_bake(area, sidebar)
    assert animation() == first

    # A bake that runs in slices is one step to undo, like a short one.
    arm.ik2d.use_custom_range, arm.ik2d.frame_start, arm.ik2d.frame_end = True, 1, LONG
    sidebar.tag_redraw()
    yield 0.3
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: set(keyed_frames().values()) == {LONG}, "the long bake", 60)
    yield from ui.wait_until(lambda: not baking(), "the end of playing it back", 60)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: set(keyed_frames().values()) == {40}, "the undo")
    assert animation() == first
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: set(keyed_frames().values()) == {LONG}, "the redo")
    short = assert_tip_follows(range(1, 41))

    arm = bpy.data.objects["Arm"]  # undo makes the objects anew
    worst = arm.ik2d.chains[0].worst_frame
    assert worst in short and arm.ik2d.last_bake_alert
    scene = bpy.context.scene
    scene.frame_set(1)
    sidebar.tag_redraw()
    yield from ui.shot(f"{SHOTS}/12_before_worst.png")
    yield 1.0  # the picture comes from outside; the button from Blender's own drawing
    yield from open_result(area, sidebar, "wm.context_set_int")
    yield from ui.click_button(area, sidebar, "wm.context_set_int")
    yield from ui.wait_until(lambda: scene.frame_current == worst, "the worst frame")
    yield from ui.click_button(area, sidebar, "ik2d.mark_frames")
    yield from ui.wait_until(lambda: len(scene.timeline_markers), "the markers")
    marked = {marker.frame for marker in scene.timeline_markers}
    assert marked & set(short) and marked & set(range(1, 41)) <= set(short), (marked, short)
    yield from ui.shot(f"{SHOTS}/12_marked.png")


ui.run(test)
