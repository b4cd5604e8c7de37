# SPDX-License-Identifier: GPL-3.0-or-later
"""The chain under the mouse: the panel follows clicks, J takes the tip there and keys its target."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, take_theme
from puppet_steps import (
    REACH,
    begin,
    click,
    click_bone,
    dragging,
    frames_of,
    key,
    pose,
    press,
    puppet,
    tip,
    ui,
)

SHOTS = os.environ["IK2D_SHOTS"]
CLOSE = 1e-4 * REACH


def shown():
    """Return the name of the chain that is chosen in the list."""
    settings = puppet().ik2d
    return settings.chains[settings.active_index].name


def target(name):
    """Return the target of a chain."""
    return puppet().ik2d.chains[name].target


def add_both():
    """Add a chain for leg and arm, in Pose Mode."""
    yield from begin()
    yield from key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: puppet().mode == 'POSE', "Pose Mode")
    yield from ui.sidebar("IK 2D")
    for count, bone in enumerate(("shin", "forearm"), start=1):
        yield from click_bone(bone)
        yield from press("ik2d.chain_add")
        assert len(puppet().ik2d.chains) == count
    assert target("shin") != target("forearm")


def nothing_moves():
    """A bake without keys says so, before and after, and has no tick."""
    yield from press("ik2d.bake")
    yield from ui.wait_until(lambda: puppet().ik2d.last_bake, "the bake", 30)
    settings = puppet().ik2d
    assert "The targets of 'shin' and 'forearm' do not move: key them (Key Target)" in settings.last_bake
    assert settings.last_bake_alert and not any(chain.bake_reached for chain in settings.chains)
    yield from ui.shot(f"{SHOTS}/1_nothing_moves.png")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not puppet().ik2d.last_bake, "the undo")
    yield 0.5


def panel_follows_clicks():
    """A bone of a chain shows it, with its Live; a bone of none shifts nothing."""
    for bone, name in (("thigh", "shin"), ("body", "shin"), ("upper arm", "forearm"), ("shin", "shin")):
        yield from click_bone(bone)
        yield from ui.wait_until(lambda name=name: shown() == name, f"{name} by the click on {bone}")
        assert bpy.context.active_pose_bone.name == bone
    yield from press(".live")
    assert [chain.live for chain in puppet().ik2d.chains] == [False, True]
    yield from press(".live")
    yield from ui.shot(f"{SHOTS}/2_clicked.png")


def j_takes_the_tip_under_the_mouse():
    """With the leg's bone active, J over the hand takes the arm; elsewhere, the active chain."""
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True  # all else as Blender comes
    yield from click_bone("shin")
    ankle, wrist = tip("shin").copy(), tip("forearm").copy()
    place = yield from pose("forearm", -0.2, 0.2, 'RET')
    assert (tip("shin") - ankle).length < CLOSE and (place - wrist).length > 0.2 * REACH
    assert shown() == "forearm" and bpy.context.active_pose_bone.name == "shin"
    assert frames_of(target("forearm")) == [1] and not frames_of(target("shin"))
    yield from ui.shot(f"{SHOTS}/3_dragged.png")
    yield from ui.find_button(*ui.region(region_type='UI'), ".chains[1].live")  # drawn anew, too
    yield from ui.key('Z', 'ctrl')  # one step: keys and place
    yield from ui.wait_until(lambda: (tip("forearm") - wrist).length < CLOSE, "the undo")
    assert not frames_of(target("forearm"))
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: (tip("forearm") - place).length < CLOSE, "the redo")
    assert frames_of(target("forearm")) == [1]
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


def j_far_from_all_tips():
    """The active chain is taken, and Escape leaves it the active one."""
    yield from click_bone("thigh")
    yield from ui.wait_until(lambda: shown() == "shin", "the leg")
    ankle = tip("shin").copy()
    x, y = at((-0.5, 0, 0.8))
    yield from ui.move(x, y)
    yield from key('J')
    yield from ui.wait_until(dragging, "the drag")
    yield from ui.move(x - 30, y + 30)
    yield 0.3
    assert (tip("shin") - ankle).length > 0.02
    yield from key('ESC')
    yield from ui.wait_until(lambda: not dragging(), "the end of the drag")
    assert (tip("shin") - ankle).length < CLOSE and shown() == "shin"
    x, y = at(tip("forearm"))
    yield from ui.move(x, y)
    yield from key('J')
    yield from ui.wait_until(dragging, "the drag")
    yield from key('ESC')
    yield from ui.wait_until(lambda: not dragging(), "the end of the drag")
    assert shown() == "shin"


def key_target_in_both_modes():
    """The row in the panel keys the chain that is shown; in Object Mode a click on a target shows it."""
    yield from press("ik2d.key_target")
    assert frames_of(target("shin")) == [1]
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: puppet().mode == 'OBJECT', "Object Mode")
    for name, side in (("forearm", (0.06, 0, 0)), ("shin", (0.06, 0, 0))):
        place = target(name).matrix_world.translation
        for way in (side, (0, 0, 0.06), (0, 0, -0.06), (-0.06, 0, 0)):
            yield from click(*at([a + b for a, b in zip(place, way, strict=True)]))
            yield 0.5
            if bpy.context.object == target(name):
                break
        assert bpy.context.object == target(name), bpy.context.object
        yield from ui.wait_until(lambda name=name: shown() == name, f"{name} by the click on its target")
    bpy.context.scene.frame_set(12)
    yield 0.5
    yield from press("ik2d.key_target")
    assert frames_of(target("shin")) == [1, 12] and frames_of(target("forearm")) == [1]
    yield from ui.shot(f"{SHOTS}/4_object_mode.png")
    take_theme("Blender_Light.xml")
    yield 0.5
    yield from ui.shot(f"{SHOTS}/5_light.png")


def test():
    """All of it."""
    yield from add_both()
    yield from nothing_moves()
    yield from panel_follows_clicks()
    yield from j_takes_the_tip_under_the_mouse()
    yield from j_far_from_all_tips()
    yield from key_target_in_both_modes()


ui.run(test)
