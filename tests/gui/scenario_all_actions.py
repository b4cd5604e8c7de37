# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake all actions of an arm into new ones: cancel, bake, undo, look at each, clear."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import assert_tip_follows, open_result, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]
CLIPS = {"Idle": 10, "Spin": 40, "Wave": 24}
LONG = 100_000  # frames: minutes


def baking():
    """Whether a bake runs in the window."""
    return any(operator.bl_idname == "IK2D_OT_bake" for operator in ui.window().modal_operators)


def things():
    """Return the arm and its target: undo makes all anew."""
    return bpy.data.objects["Arm"], bpy.data.objects["Target"]


def act(ob, action):
    """Have an object play an action, by a slot of its own name."""
    animation = ob.animation_data or ob.animation_data_create()
    animation.action = action
    animation.action_slot = action.slots.get(f"OB{ob.name}") or action.slots.new('OBJECT', ob.name)


def make_clips():
    """Give the arm an action for each clip, and the target one that goes with it."""
    arm, target = things()
    target.animation_data.action.name = "Circle"
    for clip, last in CLIPS.items():
        partner = bpy.data.actions["Circle"].copy()
        partner.name, partner.use_fake_user = f"{clip} targets", True
        own = bpy.data.actions.new(clip)
        own.use_fake_user = own.use_frame_range = True
        own.frame_start, own.frame_end = 1, last
        act(arm, own)
    bpy.data.actions.remove(bpy.data.actions["Circle"])
    play("Spin")


def play(clip, baked=""):
    """Assign the actions of a clip, as a person does."""
    arm, target = things()
    act(arm, bpy.data.actions[clip + baked])
    act(target, bpy.data.actions[f"{clip} targets"])


def everything():
    """Return what a cancelled bake must not change, and what one undo gives back."""
    arm, target = things()
    curves = {
        action.name: [
            (curve.data_path, curve.array_index, [tuple(key.co) for key in curve.keyframe_points])
            for layer in action.layers
            for strip in layer.strips
            for bag in strip.channelbags
            for curve in bag.fcurves
        ]
        for action in bpy.data.actions
    }
    played = [
        (ob.animation_data.action.name, ob.animation_data.action_slot.identifier) for ob in (arm, target)
    ]
    pose = [tuple(bone.rotation_quaternion) for bone in arm.pose.bones]
    return curves, played, pose, bpy.context.scene.frame_current, arm.ik2d.last_bake


def cancel_a_very_long_bake(area, sidebar):
    """Start it, press Escape in the second action: all is as it was."""
    spin, target = bpy.data.actions["Spin"], things()[1]
    held = target.constraints.new('LIMIT_LOCATION')  # has Blender step through all frames
    spin.frame_end = LONG
    yield 0.5
    before = everything()
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(baking, "the bake's start")
    yield 2.0
    assert baking(), "the bake ended before it could be cancelled"
    yield from ui.shot(f"{SHOTS}/1_baking.png")
    yield from ui.key('ESC')
    yield from ui.wait_until(lambda: not baking(), "the cancelling", 5)
    assert everything() == before
    target.constraints.remove(held)
    spin.frame_end = CLIPS["Spin"]
    yield 0.5


def look_at_each(area, sidebar):
    """Play each new action with its target's: the result holds for it, and the tip follows."""
    for clip, last in CLIPS.items():
        play(clip, " baked")
        yield 0.5
        missed = assert_tip_follows(range(1, last + 1))
        sidebar.tag_redraw()
        yield 0.3
        yield from ui.shot(f"{SHOTS}/3_{clip}.png")
        print(clip, "misses", len(missed))
    play("Spin", " baked")
    yield 0.5


def test():
    """Go through all of it."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(things()[0].ik2d.chains) == 1, "the chain")
    things()[0].ik2d.chains[0].live = False
    make_clips()
    settings = things()[0].ik2d
    settings.actions_to_bake, settings.bake_into = 'ALL', 'NEW'
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="Clips")
    yield 0.5
    yield from cancel_a_very_long_bake(area, sidebar)

    bpy.ops.ed.undo_push(message="Cancelled")
    before = everything()
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: things()[0].ik2d.last_bake, "the bake", 30)
    baked = everything()
    assert "74 frames in 3 actions" in baked[-1], baked[-1]
    assert baked[1][0] == ("Spin baked", "OBArm")
    for clip in CLIPS:
        assert baked[0][clip] == before[0][clip] == [] and baked[0][f"{clip} baked"]
    yield from open_result(area, sidebar, "wm.context_set_int")
    yield from ui.shot(f"{SHOTS}/2_baked.png")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not things()[0].ik2d.last_bake, "the undo")
    assert everything() == before
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: things()[0].ik2d.last_bake, "the redo")
    assert everything()[:2] == baked[:2]

    yield from look_at_each(area, sidebar)
    yield from ui.click_button(area, sidebar, "ik2d.clear_bake")
    yield from ui.wait_until(lambda: not things()[0].ik2d.last_bake, "the clearing")
    assert not any(everything()[0].get(f"{clip} baked") for clip in CLIPS)
    assert not everything()[1][0][0].endswith("baked")  # the original plays again
    yield from ui.shot(f"{SHOTS}/4_cleared.png")


ui.run(test)
