# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of a rig as the sidebar tells them: clicked away, brought back by undo, and the tip follows."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import evaluated, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]
FRAMES = range(1, 41)


def arm():
    """Return the arm; undo makes another of it."""
    return bpy.data.objects["Arm"]


def spoil():
    """Scale the arm unevenly, give it IK, a driver and locks, and have it show its rest position."""
    rig = arm()
    rig.scale = (1.0, 1.0, 1.25)
    constraint = rig.pose.bones["fore"].constraints.new('IK')
    constraint.target, constraint.chain_count = bpy.data.objects["Target"], 2
    rig.pose.bones["fore"].driver_add("rotation_quaternion", 2).driver.expression = "0.3"
    rig.pose.bones["upper"].lock_rotation = (True, True, True)
    rig.data.pose_position = 'REST'
    bpy.ops.ed.undo_push(message="Spoil")


def click_away(area, sidebar, button, gone, what):
    """Click a button and wait until something is so."""
    yield from ui.click_button(area, sidebar, button)
    yield from ui.wait_until(gone, what)
    sidebar.tag_redraw()
    yield 0.5


def at_scale(sidebar, scale, picture):
    """Take a picture of the sidebar with letters of another size."""
    bpy.context.preferences.view.ui_scale = scale
    yield 0.5
    sidebar.tag_redraw()
    yield from ui.shot(f"{SHOTS}/{picture}.png")


def test():
    """As a person would."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm().ik2d.chains) == 1, "the chain")
    yield from ui.shot(f"{SHOTS}/doctor_0_healthy.png")
    spoil()
    sidebar.tag_redraw()
    yield 1.0  # panels move smoothly
    yield from ui.shot(f"{SHOTS}/doctor_1_five_faults.png")
    yield from at_scale(sidebar, 1.4, "doctor_2_large")
    yield from at_scale(sidebar, 1.0, "doctor_3_small")

    shows = lambda: arm().data.pose_position == 'POSE'  # noqa: E731
    yield from click_away(area, sidebar, "SHOW_POSE", shows, "the pose")
    (constraint,) = arm().pose.bones["fore"].constraints
    yield from click_away(area, sidebar, "MUTE_CONSTRAINTS", lambda: constraint.mute, "the mute")
    yield from click_away(
        area, sidebar, "MUTE_DRIVERS", lambda: arm().animation_data.drivers[0].mute, "the muted driver"
    )
    yield from ui.shot(f"{SHOTS}/doctor_4_two_left.png")
    scale = lambda: tuple(round(value, 3) for value in arm().scale)  # noqa: E731
    length = arm().data.bones["fore"].length
    yield from click_away(
        area, sidebar, "APPLY_SCALE", lambda: scale() == (1.0, 1.0, 1.0), "the applied scale"
    )
    assert arm().mode == 'POSE' and arm().data.bones["fore"].length > 1.05 * length
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: scale() == (1.0, 1.0, 1.25), "the undo")
    assert abs(arm().data.bones["fore"].length - length) < 1e-6
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: scale() == (1.0, 1.0, 1.0), "the redo")
    locks = lambda: not any(arm().pose.bones["upper"].lock_rotation)  # noqa: E731
    sidebar.tag_redraw()
    yield 0.5
    yield from click_away(area, sidebar, "way='UNLOCK'", locks, "the unlocked rotation")
    yield from ui.shot(f"{SHOTS}/doctor_5_mended.png")
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: arm().ik2d.last_bake, "the bake")
    assert "every target reached" in arm().ik2d.last_bake
    for frame in FRAMES:
        _root, tip, target = evaluated(frame)
        assert (tip - target).length < 4e-5, frame


ui.run(test)
