# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet, toes and hands stay where they are when their target goes to the tip, by Blender's evaluated pose."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from rigs import add_armature, add_chain

from ik2d_addon.bake import bake, solve
from ik2d_addon.chains import add_foot
from ik2d_addon.core import IK2DError
from ik2d_addon.features.match.match import snap_fk, target_to_tip
from ik2d_addon.rig.animation.bone_channels import rotation_property
from ik2d_addon.rig.animation.versions import existing_fcurves

BONES = ("thigh", "shin", "foot", "toes")
FRAMES, SWITCH = range(1, 21), 10
REACH = 0.9
EXACT, TURNED = 1e-5 * REACH, 1e-4
HOWS = ('WORLD', 'TARGET', "foot")


def keyed_leg(how, seed=0, modes=('XYZ',), aside=0.3, keyed=True, bones=BONES):
    """Add a leg whose bones have keys of their own on each third frame; feet and toes turn about all axes."""
    rng = np.random.default_rng(seed)
    rolls = rng.uniform(-3.0, 3.0, 4) if seed else np.zeros(4)
    places = [(0, 0, 1.0), (0, -0.08, 0.55), (0, 0.02, 0.1), (0, -0.15, 0.03), (0, -0.24, 0.02)]
    parts = {"hip": ((0, 0, 1), (0, 0, 1.3), "", 0.0)}
    for i, name in enumerate(bones):
        parts[name] = (places[i], places[i + 1], bones[i - 1] if i else "hip", float(rolls[i]))
    armature = add_armature(parts)
    if seed:
        armature.rotation_euler, armature.location = rng.uniform(-3, 3, 3), rng.normal(size=3)
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    bpy.context.view_layer.update()
    target.location = armature.matrix_world @ armature.data.bones["shin"].tail_local
    target.rotation_mode = str(rng.choice(('QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE'))) if seed else 'XYZ'
    chain = add_chain(armature, "shin", target, bone_count=2)
    if how == "foot":
        add_foot(armature, chain)
    else:
        chain.hand_rotation = how
    chain.live = False
    phases = rng.uniform(0.0, 6.0, (4, 3))
    for number, name in enumerate(bones):
        bone = armature.pose.bones[name]
        bone.rotation_mode = modes[number % len(modes)]
        each = 1 if number < 2 else 3  # between sparse keys, legs with rolls leave their plane
        for frame in range(FRAMES[0], FRAMES[-1] + 1, each) if keyed else (SWITCH,):
            swing = np.sin(0.3 * frame + phases[number])
            rest = np.array(bone.bone.matrix_local.to_3x3())
            if name in ("thigh", "shin"):
                angle = 0.4 * swing[0] if name == "thigh" else -0.7 - 0.4 * swing[0]
                turn = np.array(Matrix.Rotation(-angle, 3, 'X'))
            else:
                turn = np.array(Euler((0.6 * swing[0], aside * swing[1], aside * swing[2])).to_matrix())
            set_turn(bone, Matrix((rest.T @ turn @ rest).tolist()))
            if keyed:
                bone.keyframe_insert(rotation_property(bone.rotation_mode), frame=frame)
    bpy.context.scene.frame_set(SWITCH)
    bpy.context.view_layer.update()
    return armature, chain


def set_turn(bone, local):
    if bone.rotation_mode == 'QUATERNION':
        bone.rotation_quaternion = local.to_quaternion()
    elif bone.rotation_mode == 'AXIS_ANGLE':
        axis, angle = local.to_quaternion().to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = local.to_euler(bone.rotation_mode)


def posed(armature, frames=FRAMES):
    """Return the evaluated matrices (frames, bones, 4, 4) in the world; None: of the current pose."""
    found = []
    for frame in frames or [None]:
        if frame is not None:
            bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        names = [name for name in BONES if name in seen.pose.bones]
        found.append([np.array(seen.matrix_world @ seen.pose.bones[name].matrix) for name in names])
    return np.array(found)


def assert_same(before, after):
    turned = np.linalg.norm(before[..., :3, :3] - after[..., :3, :3], axis=(2, 3)) / np.sqrt(2.0)
    assert turned.max() < TURNED, turned.max(axis=0)
    assert np.abs(before[..., :3, 3] - after[..., :3, 3]).max() < EXACT


def show(way, armature, chain):
    if way == "bake":
        bake(armature, None, FRAMES[0], FRAMES[-1])
    else:
        chain.live = True


MODES = (('XYZ',), ('QUATERNION',), ('ZXY', 'AXIS_ANGLE', 'YZX'))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["live", "bake"])
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("modes", MODES, ids=str)
def test_a_switch_to_ik_leaves_foot_and_toes_where_they_are(how, modes, way):
    armature, chain = keyed_leg(how, seed=3, modes=modes)
    before = posed(armature)
    report = target_to_tip(armature, switch=True)
    assert report.matches, report.sentence()
    show(way, armature, chain)
    if way == "live":
        assert_same(before[:SWITCH], posed(armature)[:SWITCH])  # and on the frames before
    else:
        assert_same(before[SWITCH - 2 : SWITCH], posed(armature)[SWITCH - 2 : SWITCH])


@pytest.mark.slow
@pytest.mark.parametrize("switch", [True, False])
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_over_a_range_they_are_where_they_were_on_each_frame(how, seed, switch):
    modes = MODES[seed]
    armature, chain = keyed_leg(how, seed=seed, modes=modes)
    if how == "foot":
        chain.foot.roll, chain.foot.toe = (0.0, 0.3, 0.9)[seed], 0.2 * seed
    before = posed(armature)
    report = target_to_tip(armature, None, 4, 15, switch=switch)
    assert report.matches, report.sentence()
    chain.live = True
    after = posed(armature)
    rows = slice(0, 15) if switch else slice(3, 15)
    assert_same(before[rows], after[rows])


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("how", HOWS)
def test_in_the_current_pose_they_come_where_they_are_without_keys(how, keyed):
    armature, chain = keyed_leg(how, aside=0.0, keyed=keyed)
    before = posed(armature, None)
    count = len(existing_fcurves(armature))
    report = target_to_tip(armature)
    assert report.matches, report.sentence()
    assert len(existing_fcurves(armature)) == count and chain.target.animation_data is None
    chain.live = True
    assert_same(before, posed(armature, None))


def test_a_snap_over_a_range_keeps_the_keys_of_the_foot_where_the_control_can_carry_its_turn():
    armature, _ = keyed_leg('TARGET')
    before = posed(armature)
    target_to_tip(armature, None, 1, 20)
    assert_same(before, posed(armature))  # the bones' own motion


@pytest.mark.parametrize("how", HOWS)
def test_what_locks_forbid_is_named_with_its_angle(how):
    armature, chain = keyed_leg(how, aside=0.0, keyed=False)
    chain.target.lock_rotation = (True, True, True)
    foot = armature.pose.bones["foot"]
    if how == 'WORLD':
        pytest.skip("the chain itself keeps it there")
    before = posed(armature, None)
    report = target_to_tip(armature)
    assert not report.matches and "bone 'foot'" in report.sentence()
    assert any("unlock its rotation" in warning for warning in report.warnings)
    solve(armature)
    after = posed(armature, None)
    apart = np.linalg.norm(before[0, 2, :3, :3] - after[0, 2, :3, :3]) / np.sqrt(8.0)
    off = np.degrees(2.0 * np.arcsin(apart))
    (chain_match,) = report.chains
    assert off > 1.0 and abs(np.degrees(chain_match.hands[0, 0]) - off) < 1e-3
    assert foot.rotation_mode == 'XYZ'


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS)
def test_locked_channels_of_the_foot_itself_are_no_hindrance(how):
    armature, chain = keyed_leg(how, aside=0.0)
    for name in ("foot", "toes"):
        armature.pose.bones[name].lock_rotation[1] = True
    before = posed(armature)
    report = target_to_tip(armature, switch=True)
    assert report.matches, report.sentence()
    chain.live = True
    assert_same(before[:SWITCH], posed(armature)[:SWITCH])


def test_a_driver_on_toes_up_and_a_locked_rotation_curve_are_refused():
    armature, chain = keyed_leg("foot")
    chain.target.rotation_mode = 'XYZ'
    chain.target.keyframe_insert("rotation_euler", frame=3)
    curve = existing_fcurves(chain.target)[0]
    curve.lock = True
    before = posed(armature)
    with pytest.raises(IK2DError, match="'Target': channel rotation_euler is locked"):
        target_to_tip(armature, switch=True)
    curve.lock = False
    armature.driver_add(f"{chain.path_from_id()}.foot.toe").driver.expression = "0.1"
    with pytest.raises(IK2DError, match="its Toes Up has a driver; remove it first"):
        target_to_tip(armature, switch=True)
    assert_same(before, posed(armature))


def test_keys_of_a_foot_after_the_switch_are_told():
    armature, _ = keyed_leg('TARGET')
    report = target_to_tip(armature, switch=True)
    assert any("keys of 'foot' after frame 10" in warning for warning in report.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS)
def test_there_and_back_leaves_foot_and_toes_where_they_are(how):
    armature, chain = keyed_leg(how, seed=2, modes=('ZYX', 'QUATERNION'))
    before = posed(armature)
    bpy.context.scene.frame_set(6)
    target_to_tip(armature, switch=True)
    bpy.context.scene.frame_set(14)
    chain.live = True
    shown = posed(armature)
    bpy.context.scene.frame_set(14)
    snap_fk(armature, switch=True)
    after = posed(armature)
    assert_same(before[:6], after[:6])
    assert_same(shown[6:14], after[6:14])


# --- Hands that are kept in the world ----------------------------------------


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION', 'AXIS_ANGLE'])
def test_a_hand_that_is_turned_keeps_its_turn_when_it_is_kept_in_the_world(mode):
    armature, chain = keyed_leg('NONE', keyed=False, modes=(mode,), bones=BONES[:3], seed=4)
    before = posed(armature, None)
    chain.hand_rotation = 'WORLD'
    target_to_tip(armature)
    chain.live = True
    assert_same(before, posed(armature, None))
    chain.target.location.z += 0.1  # the limb moves on
    after = posed(armature, None)
    assert np.abs(before[0, 2, :3, :3] - after[0, 2, :3, :3]).max() < TURNED
    chain.hand_rotation = 'WORLD'  # chosen once more
    assert np.abs(before[0, 2, :3, :3] - posed(armature, None)[0, 2, :3, :3]).max() < TURNED


def test_a_hand_that_is_not_turned_keeps_the_direction_of_the_rest_pose():
    armature, chain = keyed_leg('NONE', keyed=False, bones=BONES[:3])
    armature.pose.bones["foot"].rotation_euler = (0.0, 0.0, 0.0)
    chain.hand_rotation = 'WORLD'
    assert tuple(chain.hand_turn) == (1, 0, 0, 0, 1, 0, 0, 0, 1)
