# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw every part of the overlay in a dark and a light theme, small and large, and look at what it costs."""

import importlib
import os
import sys
import time

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import FIRST, NEXT, SUB_PANELS, select_target_then_tip, take_theme, ui

SHOTS = os.environ["IK2D_SHOTS"]
ADDON = "bl_ext.user_default.ik2d.ik2d_addon"
LIGHT = "Blender_Light.xml"


def show(picture):
    """Redraw the window and keep a picture of it."""
    yield from ui.move(30, 400)  # no tooltip
    for area in ui.window().screen.areas:
        area.tag_redraw()
    yield from ui.shot(f"{SHOTS}/overlay_{picture}.png")


def limit(chain, joint, low, high):
    """Limit a joint, in radians."""
    joint = chain.joints[joint]
    joint.limit_min, joint.limit_max, joint.use_limit = low, high, True


def redraw_time(overlay, count):
    """Redraw the viewport some times; return the least milliseconds that both callbacks took in one."""
    times = {}

    def timed(name):
        function = getattr(overlay, name)

        def draw(*arguments):
            start = time.perf_counter()
            result = function(*arguments)
            times.setdefault(name, []).append(time.perf_counter() - start)
            return result

        return draw

    names = ("_current", "_draw_batches", "_draw_labels")
    before = {name: getattr(overlay, name) for name in names}
    for name in names:
        setattr(overlay, name, timed(name))
    area, _ = ui.region()
    for _ in range(count):
        area.tag_redraw()
        yield 0.05
    for name, function in before.items():
        setattr(overlay, name, function)
    return {name: 1e3 * min(seconds) for name, seconds in times.items()}


def add_chains(arm, count):
    """Give the armature more arms, each with a chain and a target."""
    bpy.ops.object.mode_set(mode='EDIT')
    for number in range(count):
        parent = None
        for head, tail in (((0, 0, 0), (0.2, 0, 0.4)), ((0.2, 0, 0.4), (0, 0, 0.9))):
            bone = arm.data.edit_bones.new(f"arm{number}")
            bone.head, bone.tail = ((x + 0.8 * number - 3, 0, z - 2.5) for x, _, z in (head, tail))
            bone.parent, bone.use_connect, parent = parent, parent is not None, bone
    bpy.ops.object.mode_set(mode='POSE')
    for number in range(count):
        chain = arm.ik2d.chains.add()
        chain.tip, chain.bone_count, chain.target = f"arm{number}.001", 2, bpy.data.objects["Target"]
        limit(chain, 1, -0.3, 1.2)
    yield 0.3


def open_popover():
    """Open the viewport's overlay popover, where the tick is too."""
    area, header = ui.region(region_type='HEADER')
    with bpy.context.temp_override(window=ui.window(), area=area, region=header):
        bpy.ops.wm.call_panel('INVOKE_DEFAULT', name="VIEW3D_PT_overlay")
    yield 0.5
    yield from ui.shot(f"{SHOTS}/overlay_popover.png")
    yield from ui.key('ESC')


def fail_once(overlay, settings):
    """What fails while it is drawn switches the overlay off, with one sentence; a click tries again."""

    def fails(*_arguments):
        raise ValueError("as the test wants")

    figures, calls = overlay.figures, []
    draw = figures.draw_bend
    figures.draw_bend = lambda *arguments: calls.append(1) or fails()
    overlay.update()
    yield from ui.wait_until(lambda: not settings.show, "the switch")
    yield 0.5
    assert overlay.problem.startswith("The overlay failed and is off: as the test wants"), overlay.problem
    assert len(calls) == 1 and not overlay._callbacks
    figures.draw_bend = draw
    settings.show = True
    yield 0.3
    assert not overlay.problem and overlay._callbacks


def test():
    """From the tick in the sidebar to all themes and sizes."""
    overlay = importlib.import_module(f"{ADDON}.features.overlay.draw")
    settings = importlib.import_module(f"{ADDON}.features.overlay.settings").overlay_settings()
    area, sidebar = yield from ui.sidebar("IK 2D")
    arm = bpy.data.objects["Arm"]
    yield from select_target_then_tip()
    for _ in range(3):
        yield from ui.key('NUMPAD_MINUS')
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the chain")
    chain = arm.ik2d.chains[0]
    assert not overlay._callbacks  # nothing is drawn, and nothing is called, before it is asked for
    # The tick in the header of the panel that is below Chain: no data path leads to preferences.
    scale = bpy.context.preferences.system.ui_scale
    _, y = yield from ui.find_button(area, sidebar, "].bend")
    yield from ui.click(sidebar.x + 29 * scale, y - (FIRST + NEXT * len(SUB_PANELS) + 2) * scale)
    yield from ui.wait_until(lambda: overlay._callbacks, "the overlay")
    yield from show("1_free")

    bpy.context.scene.frame_set(9)  # out of reach
    bpy.ops.ik2d.solve('EXEC_DEFAULT')
    bpy.ops.ik2d.target_path('EXEC_DEFAULT')
    yield from show("2_out_of_reach")
    bpy.context.scene.frame_set(4)
    limit(chain, 0, -1.2, 0.9)
    limit(chain, 1, -0.4, 1.5)
    bpy.ops.ik2d.solve('EXEC_DEFAULT')
    yield from ui.move(*ui.center(ui.region()[1]))
    for key in ('NUMPAD_5', 'NUMPAD_4', 'NUMPAD_4', 'NUMPAD_8'):  # in perspective, from the side and above
        yield from ui.key(key)
        yield 0.4
    yield from show("3_perspective")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('NUMPAD_1')
    yield 0.8
    yield from show("3_limits_dark")
    take_theme(LIGHT)
    yield from show("4_limits_light")
    bpy.context.preferences.view.ui_scale = 1.5
    yield 0.5
    yield from show("5_limits_light_1.5")
    bpy.ops.preferences.reset_default_theme()
    yield from show("6_limits_dark_1.5")
    bpy.context.preferences.view.ui_scale = 1.0
    yield 0.5

    assert not overlay.problem
    theme = bpy.context.preferences.themes[0].view_3d.space.gradients
    theme.high_gradient = (0.93, 0.93, 0.93)  # as other programs' themes have it
    bpy.context.scene.frame_set(9)
    yield from show("7_white")
    theme.high_gradient = (0.0, 0.0, 0.0)
    yield from show("8_black")
    bpy.ops.preferences.reset_default_theme()
    yield from add_chains(arm, 9)
    settings.all_chains = True
    yield from show("9_ten_chains")
    for name, milliseconds in (yield from redraw_time(overlay, 20)).items():
        print(f"{name} of ten chains: {milliseconds:.3f} ms", flush=True)
    arm.ik2d.chains.remove(3)  # of a chain that is gone, nothing is asked
    yield from show("9_nine_chains")
    settings.all_chains = False
    yield from open_popover()
    assert settings == bpy.context.preferences.addons["bl_ext.user_default.ik2d"].preferences.overlay
    yield from fail_once(overlay, settings)
    settings.show = True
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    yield 1.0
    assert overlay._callbacks and overlay.overlay_settings().show
    overlay.overlay_settings().show = False
    yield 0.2
    assert not overlay._callbacks and not overlay.problem


ui.run(test)
