# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg that Rigify made is adopted by the main button, follows its control by G, and is restored."""

import os
import sys

import addon_utils
import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import search, ui
from rig_steps import in_window

SHOTS = os.environ["IK2D_SHOTS"]


def rig():
    """Return the generated rig; undo makes it anew."""
    return bpy.data.objects["rig"]


def places():
    """Return where Blender has the leg's tip, the target's head and the knee."""
    bones = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    tip = bones["MCH-shin_ik.L"]
    return tip.tail.copy(), bones["MCH-thigh_ik_target.L"].head.copy(), tip.head.copy()


def constraints():
    """Return the constraints of the leg's IK: Rigify drives which of two acts."""
    return rig().pose.bones["MCH-shin_ik.L"].constraints


def switches():
    """Return whether each constraint of the leg's IK is muted, and its target's bone."""
    return [(each.mute, each.target == rig() and each.subtarget) for each in constraints()]


def generate():
    """Make Rigify's human, in Pose Mode, with the left foot's control active."""
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    addon_utils.enable("rigify", default_set=True)
    in_window(bpy.ops.object.armature_human_metarig_add)
    metarig = bpy.context.view_layer.objects.active
    in_window(bpy.ops.object.mode_set, mode='POSE')
    in_window(bpy.ops.pose.rigify_generate)
    bpy.data.objects.remove(metarig)
    bpy.context.view_layer.objects.active = rig()
    rig().select_set(True)
    in_window(bpy.ops.object.mode_set, mode='POSE')
    in_window(bpy.ops.pose.select_all, action='DESELECT')
    bone = rig().pose.bones["foot_ik.L"]
    rig().data.bones.active = bone.bone
    (bone if hasattr(bone, "select") else bone.bone).select = True
    in_window(bpy.ops.ed.undo_push, message="Rigify")


def lift(pixels):
    """Move the control up by G, Z and the mouse."""
    x, y = ui.center(ui.region()[1])
    yield from ui.move(x, y)
    yield from ui.key('G')
    yield from ui.key('Z')
    for step in range(1, 9):
        yield from ui.move(x, y + pixels * step / 8)
        tip, target, _ = places()
        assert (tip - target).length < 1e-4, (step, tip, target)
    yield from ui.click(x, y + pixels)
    yield 0.5


def test():
    """As a person would."""
    generate()
    yield 1.0
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('HOME')
    yield 1.5
    yield from ui.shot(f"{SHOTS}/rigify_1_offered.png")
    rest, before = places(), switches()
    yield from ui.click_button(area, sidebar, "ik2d.adopt")
    yield 1.5
    yield from ui.shot(f"{SHOTS}/rigify_2_dialog.png")
    assert not rig().ik2d.chains
    yield from ui.key('RET')
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain", 20)
    chain = rig().ik2d.chains[0]
    assert (chain.name, chain.live) == ("thigh.L", True)
    assert all(constraint.mute or constraint.target is None for constraint in constraints())
    assert max((one - other).length for one, other in zip(places(), rest, strict=True)) < 2e-3

    yield from lift(90)
    tip, target, knee = places()
    assert (target - rest[1]).length > 0.1 and (tip - target).length < 1e-4, (tip, target)
    assert knee.y < rest[2].y - 0.05, (knee, rest[2])  # to the front
    yield from ui.shot(f"{SHOTS}/rigify_3_lifted.png")

    yield from search(f"IK 2D {bpy.types.IK2D_OT_release.bl_label}")
    yield from ui.wait_until(lambda: not rig().ik2d.chains, "the release")
    assert switches() == before, (switches(), before)
    tip, target, _ = places()
    assert (target - rest[1]).length > 0.1 and (tip - target).length < 2e-3
    yield from ui.shot(f"{SHOTS}/rigify_4_restored.png")


if __name__ == "__main__":
    ui.run(test)
