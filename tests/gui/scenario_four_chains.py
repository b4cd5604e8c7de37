# SPDX-License-Identifier: GPL-3.0-or-later
"""Four chains at 1280 by 800, Foot or Hand open: Bake and its result are in sight, and stay put."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import click_sub_panel, look_from_the_front, scroll, take_theme, ui
from rig_steps import build, in_window, rig

SHOTS = os.environ["IK2D_SHOTS"]
LIMBS = {"Leg.L": 0.2, "Leg.R": -0.2, "Arm.L": 0.6, "Arm.R": -0.6}
FRAMES = 24


def puppet():
    """Build a body with two legs, which have feet, and two arms, each with a chain and a target with keys."""
    bones = {"body": ((0, 0, 1.0), (0, 0, 1.6), "")}
    for name, x in LIMBS.items():
        kind, side = name.split(".")
        z = 1.0 if kind == "Leg" else 1.6
        elbow, wrist = (x, -0.05, z - 0.45), (x, 0, z - 0.88)
        bones[f"upper{name}"] = ((x, 0, z), elbow, "body")
        bones[f"lower{name}"] = (elbow, wrist, f"upper{name}")
        bones[f"end{name}"] = (wrist, (x, -0.2, z - 0.95), f"lower{name}")
    build(bones)
    for name in LIMBS:
        rig().data.bones.active = rig().data.bones[f"lower{name}"]
        in_window(bpy.ops.pose.select_all, action='DESELECT')
        in_window(bpy.ops.ik2d.chain_add, bone_count=2)
        chain = rig().ik2d.chains[-1]
        chain.name, target = name, chain.target
        for frame, lift in ((1, 0.0), (FRAMES // 2, 0.2), (FRAMES, 0.05)):
            target.location.z += lift
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = FRAMES
    rig().ik2d.active_index = 0
    in_window(bpy.ops.ed.undo_push, message="The puppet")


def heights(area, sidebar):
    """Return the height in the window of buttons below and above the result, and of Bake."""
    found = {}
    for name in ("ik2d.bake", "ik2d.clear_bake"):
        found[name] = (yield from ui.find_button(area, sidebar, name))[1]
    return found


def shots(sidebar, picture):
    """Keep a picture in Blender's dark theme, and in its light one."""
    yield from ui.move(*ui.center(ui.region()[1]))
    for theme in ("Blender_Light.xml", "Blender_Dark.xml"):
        take_theme(theme)
        sidebar.tag_redraw()
        yield 0.8
        yield from ui.shot(f"{SHOTS}/{picture}_{theme[8:-4].lower()}.png")


def test():
    """Bake, look, move a target, bake again, and go live in place of a third bake."""
    assert ui.window().width <= 1280 and ui.window().height <= 800, (ui.window().width, ui.window().height)
    area, sidebar = yield from ui.sidebar("IK 2D")
    puppet()
    yield from look_from_the_front()
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')  # its header is below the window's edge
    yield from click_sub_panel(area, sidebar, "Foot or Hand", "ik2d.foot_add")
    yield from scroll(sidebar, 'WHEELUPMOUSE')
    yield from ui.move(*ui.center(ui.region()[1]))
    yield 0.5
    yield from shots(sidebar, "four_1_before")
    before = yield from heights(area, sidebar)
    settings = rig().ik2d
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: settings.last_bake, "the bake", 60)
    yield 0.5
    assert settings.last_bake_lines.splitlines()[0] == "Baked 24 frames, 4 chains: all on target", (
        settings.last_bake
    )
    after = yield from heights(area, sidebar)
    step = int(22 * bpy.context.preferences.system.ui_scale)
    for name in ("ik2d.bake", "ik2d.clear_bake"):
        assert after[name] == before[name], (name, before, after)
    result = after["ik2d.clear_bake"] - step
    assert result - step > sidebar.y, (after, sidebar.y)
    yield from shots(sidebar, "four_2_baked")

    # The result's line opens the details.
    yield from ui.click(sidebar.x + 60, result)
    yield 0.8
    yield from shots(sidebar, "four_3_details")
    yield from ui.click(sidebar.x + 60, result)
    yield 0.8

    # Out of date: Bake Again and Live are where Bake was.
    settings.chains["Leg.L"].softness = 0.05
    sidebar.tag_redraw()
    yield 0.8
    yield from shots(sidebar, "four_4_stale")
    stale = yield from heights(area, sidebar)
    assert abs(stale["ik2d.bake"] - before["ik2d.bake"]) <= 4, (before, stale)
    yield from ui.find_button(area, sidebar, "ik2d.live_again")
    settings.last_bake = ""
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: settings.last_bake, "the second bake", 60)
    yield 0.5
    settings.chains["Leg.L"].softness = 0.0
    sidebar.tag_redraw()
    yield 0.8
    yield from ui.click_button(area, sidebar, "ik2d.live_again")
    yield from ui.wait_until(lambda: all(chain.live for chain in settings.chains), "Live")
    yield from shots(sidebar, "four_5_live")


ui.run(test)
