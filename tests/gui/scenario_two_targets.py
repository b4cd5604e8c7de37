# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand picks up a cup: Switch Parent by clicks, dragged and undone, then a second target and its blend."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import take_theme, ui
from rig_steps import build, click_bone, drag_with_j, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
BONES = {
    "base": ((0, 0, 0), (0, 0, 0.5), ""),
    "arm": ((0, 0, 0.5), (0.8, 0, 1.2), "base"),
    "fore": ((0.8, 0, 1.2), (1.5, 0, 0.8), "arm"),
    "cup": ((1.6, 0, 0.3), (1.6, 0, 0.6), ""),
}


def chain():
    """Return the chain; undo makes it anew."""
    return rig().ik2d.chains[0]


def tip():
    """Return where the tip is."""
    return posed("fore").tail.copy()


def off_target():
    """Return how far the tip is from its target, as Blender evaluates both."""
    target = chain().target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return (tip() - target.matrix_world.translation).length


def click_icon(area, sidebar, name):
    """Click a button without a label, to the right of Switch Parent."""
    x, y = yield from ui.find_button(area, sidebar, "ik2d.switch_parent")
    for right in range(x, sidebar.x + sidebar.width, 4):
        yield from ui.move(right, y)
        yield 0.2
        if name in ui.under_mouse(area, sidebar):
            yield from ui.click(right + 6, y)
            return
    raise AssertionError(f"no button for {name!r} next to Switch Parent")


def to_frame(frame):
    """Show a frame."""
    bpy.context.scene.frame_set(frame)
    yield 0.3


def test():
    """Pick the cup up at frame 10, carry it, undo, pick it up again; then blend to a second target."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(BONES)
    cup = rig().pose.bones["cup"]
    for frame, place in ((1, (0, 0, 0)), (10, (0, 0, 0)), (20, (-0.6, 0.5, 0))):
        cup.location = place
        cup.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(10)
    yield from look('NUMPAD_1')
    yield from click_bone("fore")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    first = chain().target.name
    before = tip()
    yield from click_bone("cup")
    yield from ui.click_button(area, sidebar, "ik2d.switch_parent")
    yield from ui.wait_until(lambda: chain().target.name != first, "the switch")
    assert (tip() - before).length < 1e-5 and off_target() < 1e-4
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: chain().target.name == first, "undo")
    assert not [ob.name for ob in bpy.data.objects if "cup" in ob.name]
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: chain().target.name != first, "redo")
    yield from to_frame(20)
    assert (tip() - before).length > 0.4 and off_target() < 1e-4
    yield from to_frame(5)
    assert (tip() - before).length < 1e-5
    yield from to_frame(20)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from drag_with_j("fore", (1.1, 0, 1.2))
    assert (tip() - posed("fore").tail).length == 0.0 and off_target() < 1e-3
    space = chain().target.constraints[-1].target
    assert space.name == "fore Target in cup" and bpy.data.objects[first].animation_data is None
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    for theme in ("Blender_Light.xml", "Blender_Dark.xml"):
        take_theme(theme)
        yield 0.8
        yield from ui.shot(f"{SHOTS}/switch_parent_{theme[8:-4].lower()}.png")
    yield from click_bone("fore")
    yield from click_icon(area, sidebar, "ik2d.second_target_add")
    yield from ui.wait_until(lambda: "fore Second Target" in bpy.data.objects, "the second target")
    yield 0.5
    yield from ui.shot(f"{SHOTS}/second_target.png")
    assert off_target() < 1e-3
    yield from click_icon(area, sidebar, "ik2d.second_target_remove")
    yield from ui.wait_until(lambda: chain().target.name == first, "the first target")
    assert {ob.name for ob in bpy.data.objects} == {"Rig", first}


ui.run(test)
