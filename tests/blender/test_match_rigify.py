# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's human: switches key its own FK and IK controls, and its IK_FK then changes nothing one sees."""

import bpy
import numpy as np
import pytest
from fk_ik_rigs import off, shown, turn
from rigs import every_bit_of_animation

from ik2d_addon.bake import bake
from ik2d_addon.chains import clear_snaps, snap_fk, target_to_tip
from ik2d_addon.rig.animation.versions import select_bone

LAST, FRAMES, ROWS = 12, (4, 9), slice(3, 9)
TURNED, PLACED = 1e-4, 1e-5
STRETCHED_TURN, STRETCHED_PLACE = 6e-4, 2e-4
# Of each limb: the bone with the switch, the bones one sees, FK controls, and controls of the IK.
LEG = {
    "switch": "thigh_parent.L",
    "shown": ("ORG-thigh.L", "ORG-shin.L", "ORG-foot.L", "ORG-toe.L"),
    "fk": ("thigh_fk.L", "shin_fk.L", "foot_fk.L", "toe_fk.L"),
    "control": "foot_ik.L",
    "pole": "thigh_ik_target.L",
    "lift": (0.0, 0.0, 0.12),
}
ARM = {
    "switch": "upper_arm_parent.L",
    "shown": ("ORG-upper_arm.L", "ORG-forearm.L", "ORG-hand.L"),
    "fk": ("upper_arm_fk.L", "forearm_fk.L", "hand_fk.L"),
    "control": "hand_ik.L",
    "pole": "upper_arm_ik_target.L",
    "lift": (0.0, -0.1, 0.0),
}
LIMBS = {"leg": LEG, "arm": ARM}


def limb_of_human(generated, names: dict, *, pole: bool = True):
    """Open a human whose limb has keys in IK and others in FK, and adopt that limb; return the rig."""
    bpy.ops.wm.open_mainfile(filepath=generated("human"))
    rig = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    scene, bones, rng = bpy.context.scene, rig.pose.bones, np.random.default_rng(4)
    scene.frame_start, scene.frame_end = 1, LAST
    bones[names["switch"]]["pole_vector"] = pole
    control, aim = bones[names["control"]], bones[names["pole"]]
    for frame in (1, 5, 9, LAST):
        control.location = rng.uniform(-0.08, 0.08, 3) + names["lift"]
        turn(control, rng.uniform(-0.4, 0.4, 3))
        aim.location = rng.uniform(-0.2, 0.2, 3)
        for bone, name in ((control, "location"), (control, "rotation_quaternion"), (aim, "location")):
            bone.keyframe_insert(name, frame=frame)
    for frame in range(1, LAST + 1):
        for i, name in enumerate(names["fk"]):
            swing = [0.3 * np.sin(0.3 * frame + i * k) for k in (1, 2, 3)]
            turn(bones[name], (0.5 + 0.05 * frame, 0, 0) if i == 1 else swing)
            bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    if names is LEG:
        bones["foot_heel_ik.L"].rotation_euler = (0.2, 0.0, 0.0)
        bones["toe_ik.L"].rotation_quaternion = (0.99, 0.1, 0.0, 0.0)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode='POSE')
    for bone in bones:
        select_bone(bone, bone.name == names["control"])
    scene.frame_set(2)
    scene.frame_set(1)
    assert bpy.ops.ik2d.adopt() == {'FINISHED'}
    rig.ik2d.chains[0].live = False
    return rig


def show_fk(rig, names: dict, fk: float) -> None:
    rig.pose.bones[names["switch"]]["IK_FK"] = fk
    rig.update_tag()
    bpy.context.view_layer.update()


def assert_same(before, after) -> None:
    before, after = before[ROWS], after[ROWS]
    turned, placed = off(before[:, 2:], after[:, 2:])
    assert turned < TURNED and placed < PLACED
    # The bones of the limb itself are as near, but where all of them stretch beyond reach.
    lengths = np.linalg.norm(before[:, 0, :3, 1], axis=1)
    stretched = lengths > 1.001 * lengths.min()
    turned, placed = off(before[~stretched], after[~stretched])
    assert turned < TURNED and placed < PLACED
    if stretched.any():
        turned, placed = off(before[stretched], after[stretched])
        assert turned < STRETCHED_TURN and placed < STRETCHED_PLACE


@pytest.mark.slow
@pytest.mark.parametrize("pole", [True, False])
@pytest.mark.parametrize("limb", LIMBS)
def test_to_fk_over_a_range(generated, limb, pole):
    names = LIMBS[limb]
    rig = limb_of_human(generated, names, pole=pole)
    bake(rig, None, 1, LAST)
    before = shown(rig, names["shown"])
    report = snap_fk(rig, None, *FRAMES)
    assert report.all_reached and set(report.controls) == set(names["fk"])
    assert f"now set 'IK_FK' of '{names['switch']}'" in report.sentence()
    show_fk(rig, names, 1.0)
    assert_same(before, shown(rig, names["shown"]))


@pytest.mark.slow
@pytest.mark.parametrize("pole", [True, False])
@pytest.mark.parametrize("limb", LIMBS)
def test_to_ik_over_a_range(generated, limb, pole):
    names = LIMBS[limb]
    rig = limb_of_human(generated, names, pole=pole)
    show_fk(rig, names, 1.0)
    before, keys = shown(rig, names["shown"]), every_bit_of_animation(rig)
    report = target_to_tip(rig, None, *FRAMES)
    assert report.matches, report.sentence()
    assert f"'rig/{names['control']}'" in report.sentence()
    show_fk(rig, names, 0.0)
    bake(rig, None, *FRAMES)
    assert_same(before, shown(rig, names["shown"]))
    rig.ik2d.chains[0].live = False
    bpy.ops.ik2d.clear_bake()
    clear_snaps(rig)
    assert every_bit_of_animation(rig) == keys


@pytest.mark.slow
def test_there_and_back_without_a_pole(generated):
    rig = limb_of_human(generated, LEG, pole=False)
    bake(rig, None, 1, LAST)
    before = shown(rig, LEG["shown"])
    snap_fk(rig, None, *FRAMES)
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        rig.pose.bones["foot_ik.L"].location = (0.0, 0.1, 0.2)
        rig.pose.bones["foot_ik.L"].keyframe_insert("location", frame=frame)
    assert target_to_tip(rig, None, *FRAMES).matches
    bake(rig, None, *FRAMES)
    assert_same(before, shown(rig, LEG["shown"]))


@pytest.mark.slow
def test_switches_by_the_operators_at_the_current_frame(generated):
    rig = limb_of_human(generated, LEG)
    rig.ik2d.chains[0].live = True
    in_ik = shown(rig, LEG["shown"])
    bpy.context.scene.frame_set(6)
    assert bpy.ops.ik2d.snap_fk(switch=True) == {'FINISHED'}
    show_fk(rig, LEG, 1.0)
    in_fk = shown(rig, LEG["shown"])
    turned, placed = off(in_ik[5:6], in_fk[5:6])
    assert turned < TURNED and placed < PLACED
    bpy.context.scene.frame_set(10)
    assert bpy.ops.ik2d.target_to_tip(switch=True) == {'FINISHED'}
    show_fk(rig, LEG, 0.0)
    again = shown(rig, LEG["shown"])
    turned, placed = off(in_fk[9:10], again[9:10])
    assert turned < TURNED and placed < PLACED
    turned, placed = off(in_ik[:9], again[:9])
    assert turned < TURNED and placed < PLACED
