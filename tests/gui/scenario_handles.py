# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag the end of a joint's range by its handle, cancel a drag, flip by the arrow; undo and redo each."""

import importlib
import os
import sys
from math import degrees, dist, isclose

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, select_target_then_tip, take_theme, ui

SHOTS = os.environ["IK2D_SHOTS"]
ADDON = "bl_ext.user_default.ik2d.ik2d_addon"


def joint():
    """Return the joint of the active bone; undo makes others of all."""
    return bpy.data.objects["Arm"].ik2d.chains[0].joints["fore"]


def context_of_view():
    """Return what stands for the viewport in a call from here."""
    area, view = ui.region()
    return {"window": ui.window(), "area": area, "region": view}


def handle(end):
    """Return where the handle of an end of the range is on the screen; end: 0 or 1."""
    gizmos = importlib.import_module(f"{ADDON}.features.overlay.gizmos")
    overlay = importlib.import_module(f"{ADDON}.features.overlay.draw")
    with bpy.context.temp_override(**context_of_view()):
        chain_view = overlay.chain_view_shown(bpy.context)
        place = gizmos.Vector(gizmos.lifted(chain_view, chain_view.joints[1]))
        found = gizmos.handle_places(chain_view, 1, gizmos.gizmo_radius(bpy.context, place))[end]
    return at(found)


def flip_button():
    """Return where the button that flips is on the screen."""
    gizmos = importlib.import_module(f"{ADDON}.features.overlay.gizmos")
    overlay = importlib.import_module(f"{ADDON}.features.overlay.draw")
    with bpy.context.temp_override(**context_of_view()):
        chain_view = overlay.chain_view_shown(bpy.context)
        place = gizmos.Vector(gizmos.lifted(chain_view, chain_view.joints[1]))
        found = gizmos.button_place(chain_view, gizmos.gizmo_radius(bpy.context, place))
    return at(found)


def turned_by(end, degrees_about_joint):
    """Return where the handle would be, turned about its joint on the screen."""
    from mathutils import Matrix, Vector

    arm = bpy.data.objects["Arm"]
    middle = Vector(at(arm.matrix_world @ arm.pose.bones["fore"].head))
    arm_of_handle = Vector(handle(end)) - middle
    return middle + Matrix.Rotation(degrees_about_joint * 0.017453292519943295, 2) @ arm_of_handle


def test():
    """As a person would, with the move tool's gizmo in the same place."""
    settings = importlib.import_module(f"{ADDON}.features.overlay.settings").overlay_settings()
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    for _ in range(2):
        yield from ui.key('NUMPAD_MINUS')
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(bpy.data.objects["Arm"].ik2d.chains) == 1, "the chain")
    with bpy.context.temp_override(**context_of_view()):
        bpy.ops.wm.tool_set_by_id(name="builtin.rotate")
    joint().limit_min, joint().limit_max, joint().use_limit = -0.4, 1.5, True
    bpy.ops.ed.undo_push(message="Limits")
    settings.show = True
    yield 0.5
    yield from ui.shot(f"{SHOTS}/handles_1.png")

    low, high = joint().limit_min, joint().limit_max
    x, y = handle(1)
    yield from ui.move(x, y)
    yield 0.3
    yield from ui.shot(f"{SHOTS}/handles_2_over.png")
    yield from ui.drag(x, y, *turned_by(1, 30.0), steps=6)
    yield 0.3
    moved = joint().limit_max
    print("dragged by", degrees(moved - high), flush=True)
    assert isclose(abs(degrees(moved - high)), 30.0, abs_tol=1.0), degrees(moved - high)
    assert isclose(joint().limit_min, low, abs_tol=1e-6)
    yield from ui.shot(f"{SHOTS}/handles_3_dragged.png")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: isclose(joint().limit_max, high, abs_tol=1e-6), "the undo")
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: isclose(joint().limit_max, moved, abs_tol=1e-6), "the redo")

    x, y = handle(0)
    to_x, to_y = turned_by(0, 40.0)
    yield from ui.move(x, y)
    yield 0.2
    yield from ui.button('PRESS')
    yield from ui.move(0.5 * (x + to_x), 0.5 * (y + to_y))
    yield from ui.move(to_x, to_y)
    yield 0.2
    assert not isclose(joint().limit_min, low, abs_tol=0.1)
    yield from ui.key('ESC')
    yield from ui.button('RELEASE')
    yield from ui.wait_until(lambda: joint().limit_min == low, "the limit of before")

    # A bone that is short on the screen has its handles at itself, inside Blender's own gizmo.
    for _ in range(8):
        yield from ui.key('NUMPAD_MINUS')
    yield 0.5
    arm, high = bpy.data.objects["Arm"], joint().limit_max
    bone = arm.pose.bones["fore"]
    head, tail = at(arm.matrix_world @ bone.head), at(arm.matrix_world @ bone.tail)
    length, radius = dist(head, tail), dist(head, handle(1))
    assert length < 75 and radius < max(length, 40), (length, radius)
    yield from ui.drag(*handle(1), *turned_by(1, 30.0), steps=6)
    yield 0.3
    assert isclose(abs(degrees(joint().limit_max - high)), 30.0, abs_tol=3.0), joint().limit_max
    yield from ui.shot(f"{SHOTS}/handles_5_short.png")
    for _ in range(8):
        yield from ui.key('NUMPAD_PLUS')
    yield 0.5

    def bend():
        return bpy.data.objects["Arm"].ik2d.chains[0].bend

    yield from ui.click(*flip_button())
    yield from ui.wait_until(lambda: bend() == 'NEGATIVE', "the flip")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.shot(f"{SHOTS}/handles_4_flipped.png")
    take_theme("Blender_Light.xml")
    yield from ui.shot(f"{SHOTS}/handles_4_flipped_light.png")
    bpy.ops.preferences.reset_default_theme()
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: bend() == 'POSITIVE', "the undo of the flip")


ui.run(test)
