# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel leads: from the hint to the first chain, to two, to one that is faulty."""

import os
import sys
import time

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import (
    click_small_button,
    click_sub_panel,
    click_target,
    keyed_frames,
    scroll,
    select_target_then_tip,
    ui,
    zoom_to_width,
)
from mathutils import Vector

SHOTS = os.environ["IK2D_SHOTS"]
NARROW = 200  # pixels


def show(sidebar, picture):
    """Redraw the sidebar and keep a picture of it."""
    sidebar.tag_redraw()
    yield 0.8  # panels slide to their places
    yield from ui.shot(f"{SHOTS}/panel_{picture}.png")


def timed(draw, seconds):
    """Return a drawing function, of a panel or of a list's row, that notes how long it takes."""

    def draw_panel(self, context):
        start = time.perf_counter()
        draw(self, context)
        seconds.append(time.perf_counter() - start)

    def draw_row(self, context, layout, data, item, icon, active_data, active_property, index=0, flag=0):
        start = time.perf_counter()
        draw(self, context, layout, data, item, icon, active_data, active_property, index, flag)
        seconds.append(time.perf_counter() - start)

    return draw_panel if draw.__code__.co_argcount == 2 else draw_row


def timed_drawing():
    """Have every panel and list say how long it draws; return {name: [seconds]}."""
    times = {}
    for name in dir(bpy.types):
        cls = getattr(bpy.types, name)
        if not name.startswith(("IK2D_PT", "IK2D_UL")):
            continue
        key = "draw" if name.startswith("IK2D_PT") else "draw_item"

        setattr(cls, key, timed(getattr(cls, key), times.setdefault(name, [])))
    return times


def test():
    """Go through the states as a person meets them."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    arm, target = bpy.data.objects["Arm"], bpy.data.objects["Target"]
    yield from show(sidebar, "01_nothing_active")
    yield from select_target_then_tip()
    yield from show(sidebar, "02_what_will_be_made")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the chain")
    yield from show(sidebar, "03_one_chain")
    yield from click_small_button(area, sidebar, "ik2d.flip")
    yield from ui.wait_until(lambda: arm.ik2d.chains[0].bend == 'NEGATIVE', "the flip")
    yield from click_small_button(area, sidebar, "ik2d.flip")
    yield from ui.wait_until(lambda: arm.ik2d.chains[0].bend == 'POSITIVE', "the flip back")

    # From the target: the same chain, and it can be baked.
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: arm.mode == 'OBJECT', "Object Mode")
    yield from click_target()
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: set(keyed_frames().values()) == {40}, "the bake from the target", 30)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from show(sidebar, "04_baked_from_the_target")
    yield from ui.click_button(area, sidebar, "ik2d.clear_bake")
    yield from ui.wait_until(lambda: not keyed_frames(), "the clearing")

    # A second chain, without a target selected: it gets one. Both miss.
    bpy.context.view_layer.objects.active = arm
    target.select_set(False)
    arm.select_set(True)
    arm.data.bones.active = arm.data.bones["upper"]
    yield from click_small_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 2, "the second chain")
    first, second = arm.ik2d.chains
    assert second.target.name == "upper Target", second.target
    second.enabled = False
    first.enabled = True
    yield from show(sidebar, "05_two_chains_one_off")
    second.enabled = True
    yield from show(sidebar, "06_a_bone_is_shared")
    first.bone_count = 1
    second.target.location.x += 0.8
    arm.ik2d.active_index = 0
    sidebar.tag_redraw()
    yield 0.3
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: len(keyed_frames()) == 8, "the bake of both", 30)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from show(sidebar, "07_two_baked")
    first.softness = 0.1
    yield from show(sidebar, "08_stale")
    first.softness = 0.0
    second.target = None
    yield from show(sidebar, "09_one_faulty")
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: "left out" in arm.ik2d.last_bake, "the bake of the other", 30)
    yield from show(sidebar, "10_one_left_out")

    # A lost tip, chosen anew.
    arm.ik2d.active_index = 0
    bpy.ops.object.mode_set(mode='EDIT')
    bone = arm.data.edit_bones["fore"]
    bone.name, bone.tail = "fore_arm", bone.tail + Vector((0.1, 0, 0.1))
    bpy.ops.object.mode_set(mode='OBJECT')
    yield from show(sidebar, "11_lost_tip")
    first.tip = "fore_arm"

    # Large letters, then a narrow sidebar.
    second.target = bpy.data.objects["upper Target"]
    first.joints[0].use_limit, first.joints[0].limit_min, first.joints[0].limit_max = True, -0.5, 2.0
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield 1.0
    yield from open_panels(area, sidebar)
    yield from show(sidebar, "12_all_open")
    bpy.context.preferences.view.ui_scale = 1.5
    yield 0.5
    yield from show(sidebar, "13_at_scale_1.5")
    bpy.context.preferences.view.ui_scale = 1.0
    yield 0.5
    yield from zoom_to_width(sidebar, NARROW)
    yield from show(sidebar, "14_narrow")
    times = timed_drawing()
    for _ in range(20):
        sidebar.tag_redraw()
        yield 0.1
    times = {name: seconds for name, seconds in times.items() if seconds}
    for name, seconds in sorted(times.items()):
        print(f"{name}: {1e3 * min(seconds):.2f} ms of {len(seconds)}", flush=True)
    total = sum(min(seconds) for seconds in times.values())
    assert total < 0.1, total  # 0.01 to 0.02: from here on a person feels it


def open_panels(area, sidebar):
    """Open two of the closed panels by clicking their headers, the lower one first."""
    for name, wanted in (("Advanced", "].solver"), ("Joints", "ik2d.limits_from_bones")):
        yield from scroll(sidebar, 'WHEELDOWNMOUSE')
        yield from click_sub_panel(area, sidebar, name)
        yield from scroll(sidebar, 'WHEELDOWNMOUSE')  # what it opened is below the window's edge
        yield from ui.find_button(area, sidebar, wanted)


ui.run(test)
