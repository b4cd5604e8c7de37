# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the sidebar in every state that it has: nothing fails, and a picture of each is kept."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import click_small_button, click_sub_panel, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]
LONG = (
    "Baked 250 frames on 2 chains; 3 of 250 frames out of reach, worst by 0.12 m at frame 87 of 'fore'\n"
    "Chain 'fore': its target is up to 0.31 m off the chain's plane (frame 12); the tip follows it within"
    " the plane"
)


def show(sidebar, picture):
    """Redraw the sidebar and keep a picture of it."""
    sidebar.tag_redraw()
    yield from ui.shot(f"{SHOTS}/{picture}.png")


def limit_a_joint(area, sidebar, chain):
    """Tick the second joint's limit with the mouse, and drag nothing: its range is a whole turn at first."""
    joint = chain.joints[1]
    yield from ui.click_button(area, sidebar, "joints[1].use_limit")
    yield from ui.wait_until(lambda: joint.use_limit, "the limit")
    joint.limit_min, joint.limit_max = -0.5, 2.0


def test():
    """Go through the states."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    arm, target = bpy.data.objects["Arm"], bpy.data.objects["Target"]
    settings = arm.ik2d

    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(settings.chains) == 1, "the first chain")
    settings.chains[0].live = False
    yield from click_sub_panel(area, sidebar, "Joints", "joints[1].use_limit")
    yield from limit_a_joint(area, sidebar, settings.chains[0])
    yield from show(sidebar, "5_joints")
    arm.data.bones["upper"].name = "arm"  # its joint follows by itself
    yield from ui.wait_until(lambda: "arm" in settings.chains[0].joints, "the renamed bone's joint")
    arm.data.bones["arm"].name = "upper"
    yield from ui.wait_until(lambda: "upper" in settings.chains[0].joints, "the joint's old name")
    # The list shows the joint of the active bone, and a click in the list makes its bone active.
    assert settings.chains[0].shown_joint == 1, arm.data.bones.active
    arm.data.bones.active = arm.data.bones["upper"]
    yield from show(sidebar, "5_joint_of_the_active_bone")
    assert settings.chains[0].shown_joint == 0
    x, y = yield from ui.find_button(area, sidebar, "joints[1].use_limit")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield 0.5  # the tooltip goes
    yield from ui.move(x + int(60 * bpy.context.preferences.system.ui_scale), y)
    yield 0.3
    yield from ui.click(x + int(60 * bpy.context.preferences.system.ui_scale), y)
    yield from ui.wait_until(lambda: arm.data.bones.active.name == "fore", "the bone of the clicked joint")
    yield from click_sub_panel(area, sidebar, "Joints")
    yield from click_sub_panel(area, sidebar, "Advanced", "].tolerance")
    yield from show(sidebar, "5_advanced")
    yield from click_sub_panel(area, sidebar, "Advanced")
    yield from click_sub_panel(area, sidebar, "Foot or Hand", "].tip_rotation")
    yield from show(sidebar, "5_foot")
    yield from click_sub_panel(area, sidebar, "Foot or Hand")
    yield from click_sub_panel(area, sidebar, "Reach", "].softness")
    yield from show(sidebar, "5_reach")
    yield from click_sub_panel(area, sidebar, "Reach")

    yield from click_small_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(settings.chains) == 2, "the second chain")
    second = settings.chains[1]
    second.target, second.enabled = None, False
    yield from show(sidebar, "6_no_target")
    second.target, second.subtarget = arm, "upper"
    yield from show(sidebar, "7_target_in_the_chain")
    yield from click_small_button(area, sidebar, "ik2d.chain_move")
    yield from ui.wait_until(lambda: settings.active_index == 0, "the move up")
    yield from click_small_button(area, sidebar, "ik2d.chain_remove")
    yield from ui.wait_until(lambda: [chain.target for chain in settings.chains] == [target], "the removal")

    settings.use_custom_range, settings.last_bake, settings.last_bake_alert = True, LONG, True
    settings.owner = str(arm.session_uid)
    settings.chains[0].missed_frames, settings.chains[0].worst_frame = "86..88", 87
    for scale in (1.0, 1.4):
        bpy.context.preferences.view.ui_scale = scale
        yield 0.5
        yield from show(sidebar, f"8_result_at_scale_{scale}")

    bpy.context.preferences.view.ui_scale = 1.0
    other = arm.copy()
    bpy.context.scene.collection.objects.link(other)
    other.select_set(True)
    settings.frame_start, settings.frame_end = 1, 3
    yield 0.5
    yield from ui.click_button(area, sidebar, "bake_selected")
    yield from ui.wait_until(lambda: settings.bake_selected, "the tick")
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: other.ik2d.last_bake.startswith("Baked 3 frames"), "both bakes")
    assert settings.last_bake.startswith("Baked 3 frames on 1 chain")
    yield from show(sidebar, "9_all_selected_armatures")


ui.run(test)
