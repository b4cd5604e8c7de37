# SPDX-License-Identifier: GPL-3.0-or-later
"""Walk through plain CCD by a shortcut of one's own, into the deadlock of figure 3, in both themes."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from drag_steps import arm, places, ui, with_chain

SHOTS = os.environ["IK2D_SHOTS"]
LIGHT = "Blender_Light.xml"


def pose():
    """Return the arm's rotations."""
    return [tuple(bone.rotation_quaternion) for bone in arm().pose.bones]


def step():
    """Press the shortcut; return what the chain's walk came to."""
    area, view = ui.region()
    yield from ui.move(*ui.center(view))
    joint = arm().ik2d.chains[0].ccd_walk.joint
    yield from ui.key('J', 'shift')
    yield from ui.wait_until(lambda: arm().ik2d.chains[0].ccd_walk.joint != joint, "the step")


def light_theme():
    """Take Blender's light theme."""
    for folder in bpy.utils.preset_paths("interface_theme"):
        path = os.path.join(folder, LIGHT)
        if os.path.exists(path):
            bpy.ops.script.execute_preset(filepath=path, menu_idname="USERPREF_MT_interface_theme_presets")
            return
    raise AssertionError("this Blender has no light theme")


def joint_by_joint():
    """Each press turns one joint, tip to root; a moved target begins anew; undo takes one back."""
    fore_first = pose()
    yield from step()
    assert pose()[0] == fore_first[0] and pose()[1] != fore_first[1]
    assert arm().ik2d.chains[0].ccd_walk.joint == 0
    yield from ui.shot(f"{SHOTS}/ccd_1_tip_joint.png")
    after_one = pose()
    yield from step()
    assert pose()[1] == after_one[1] and pose()[0] != after_one[0]
    yield from ui.shot(f"{SHOTS}/ccd_2_root_joint.png")
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: pose() == after_one, "the undo")
    light_theme()
    yield from step()
    yield from ui.shot(f"{SHOTS}/ccd_3_light.png")
    bpy.ops.preferences.reset_default_theme()


def into_the_deadlock():
    """A straight chain whose target is on its line folds back, and stays."""
    arm_object, target = arm(), bpy.data.objects["Target"]
    for bone in arm_object.pose.bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    root = arm_object.pose.bones["upper"]
    fore = arm_object.pose.bones["fore"]
    bpy.context.view_layer.update()
    straight = (root.tail - root.head).rotation_difference(fore.tail - fore.head).inverted()
    local = fore.bone.matrix_local.to_quaternion()
    fore.rotation_quaternion = local.inverted() @ straight @ local
    bpy.context.view_layer.update()
    tip = places()[0]
    target.location = 0.25 * tip
    bpy.context.view_layer.update()
    for _ in range(6):
        yield from step()
    short = (places()[0] - places()[2]).length
    before = pose()
    yield from step()
    assert (places()[0] - places()[2]).length > 0.9 * short > 0.1, short
    pairs = [(a, b) for one, two in zip(before, pose(), strict=True) for a, b in zip(one, two, strict=True)]
    assert max(abs(a - b) for a, b in pairs) < 1e-3
    yield from ui.shot(f"{SHOTS}/ccd_4_deadlock.png")


def test():
    """All of it."""
    yield from with_chain()
    keymap = bpy.context.window_manager.keyconfigs.addon.keymaps["Pose"]
    keymap.keymap_items.new("ik2d.ccd_step", 'J', 'PRESS', shift=True)
    arm().ik2d.chains[0].ccd_walk.joint = 9  # so that each step shows
    for bone in arm().pose.bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    yield from joint_by_joint()
    yield from into_the_deadlock()


ui.run(test)
