# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains: Blender's own drivers bring the tip to its target, and the file needs nothing else."""

import json
import subprocess

import bpy
import file_contents
import numpy as np
import pytest
from native_rigs import contents, poses, random_limb, reach_of, swing
from programs import python_in_blender
from rigs import add_chain, add_target, errors_on, evaluated_tip, leg_with_target, override_from
from snapshots import differences, everything
from snapshots import poses as channels

from ik2d_addon.bake import bake
from ik2d_addon.features.native import is_native, make_native, remove_native

FRAMES = range(1, 9)
# What Blender's IK constraint misses by is 1e-4.
EXACT = 1.3e-6
# Of a chain that is all but straight, a millionth of its reach is as much of an angle (radians).
STRAIGHT = 4e-3


def native_leg(**settings):
    armature, target = leg_with_target(**settings)
    chain = armature.ik2d.chains[0]
    return armature, chain, make_native(armature, chain)


def settings_kept(armature, chain, frames=FRAMES, tolerance=1e-5, joints=1e-4):
    """Assert that native and baked poses are the same on some frames; return the native ones."""
    make_native(armature, chain)
    native = poses(armature, frames)
    bake(armature, frame_start=frames[0], frame_end=frames[-1])
    baked = poses(armature, frames)
    reach = reach_of(chain)
    assert np.abs(native[..., :3, :3] - baked[..., :3, :3]).max() < joints
    tips = [at[:, -1] @ (0.0, armature.pose.bones[chain.tip].length, 0.0, 1.0) for at in (native, baked)]
    assert np.abs(tips[0] - tips[1]).max() < tolerance * reach
    return native


# --- Exact -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_tips_are_on_targets_within_reach(seed):
    rng = np.random.default_rng(seed)
    armature, chain = random_limb(rng)
    chain.bend = rng.choice(['POSITIVE', 'NEGATIVE'])
    make_native(armature, chain)
    assert errors_on(FRAMES, armature, chain).max() < EXACT * reach_of(chain)


@pytest.mark.parametrize("part", [(0.98, 1.0), (0.0, 0.02)], ids=["full reach", "inner reach"])
def test_tips_are_on_targets_near_the_ends_of_their_reach(part):
    armature, chain = random_limb(np.random.default_rng(11), reach=part)
    make_native(armature, chain)
    assert errors_on(FRAMES, armature, chain).max() < 4.0 * EXACT * reach_of(chain)


def test_targets_off_the_plane_are_followed_in_it():
    armature, chain = random_limb(np.random.default_rng(3), off=0.5)
    settings_kept(armature, chain)


@pytest.mark.parametrize("part", [(1.05, 3.0), (-0.5, -0.1)], ids=["too far", "too close"])
def test_targets_out_of_reach_are_pointed_at(part):
    armature, chain = random_limb(np.random.default_rng(5), reach=part)
    settings_kept(armature, chain)


@pytest.mark.parametrize("mode", ['QUATERNION', 'AXIS_ANGLE', 'ZYX'])
def test_the_bones_own_channels_do_not_count_and_stay(mode):
    armature, chain = random_limb(np.random.default_rng(7))
    for bone in armature.pose.bones:
        bone.rotation_mode = mode if bone.name.startswith("bone") else bone.rotation_mode
        bone.rotation_quaternion, bone.rotation_euler = (0.6, 0.8, 0.0, 0.0), (1.0, 2.0, 3.0)
        bone.rotation_axis_angle = (2.0, 0.0, 0.6, 0.8)
    armature.pose.bones["body"].rotation_euler = (0.0, 0.0, 0.0)
    swing(chain)
    before = channels()
    make_native(armature, chain)
    bpy.context.scene.frame_set(3)
    assert errors_on(FRAMES, armature, chain).max() > 0.0  # it plays
    assert channels() == before


# --- Settings ----------------------------------------------------------------


def aligned(armature, chain, **settings):
    armature.data.bones["bone1"].inherit_scale = 'ALIGNED'
    for name, value in settings.items():
        setattr(chain, name, value)


@pytest.mark.parametrize(
    "settings",
    [
        {"bend": 'NEGATIVE'},
        {"softness": 0.2},
        {"turn_over": 0.3},
        {"stretch": 1.6},
        {"stretch": 1.4, "compress": 0.5, "softness": 0.1},
        {"stretch": 1.6, "compress": 0.5, "stretch_bones": 'LAST'},
        {"stretch": 1.6, "softness": 0.15, "stretch_bones": 'LAST'},
    ],
    ids=str,
)
def test_settings_do_what_they_do_in_a_bake(settings):
    rng = np.random.default_rng(21)
    armature, chain = random_limb(rng, reach=(-0.4, 1.6))
    aligned(armature, chain, **settings)
    settings_kept(armature, chain, joints=1e-4 if "stretch" not in settings else STRAIGHT)


def test_a_last_bone_that_shortens_softly_lets_the_tip_go_to_the_root_as_in_a_bake():
    armature, chain = random_limb(np.random.default_rng(65), reach=(0.0, 0.08))  # of bones 0.98 and 1.08
    aligned(armature, chain, stretch=1.2, compress=0.1, softness=0.5, stretch_bones='LAST')
    settings_kept(armature, chain, joints=STRAIGHT)
    assert errors_on(FRAMES, armature, chain).max() < EXACT * reach_of(chain)


@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
@pytest.mark.parametrize("knee", [None, (-0.9, 0.5)], ids=["free knee", "knee"])
@pytest.mark.parametrize("root", [None, (-1.0, 0.7)], ids=["free root", "root"])
def test_limits_hold_as_in_a_bake(root, knee, bend):
    armature, chain = random_limb(np.random.default_rng(33), reach=(-0.4, 1.4))
    chain.bend = bend
    for joint, limits in zip(chain.joints, (root, knee), strict=True):
        if limits:
            joint.use_limit, joint.limit_max, joint.limit_min = True, limits[1], limits[0]
    settings_kept(armature, chain)


@pytest.mark.parametrize("setting", ["influence", "softness", "turn_over"])
def test_keyed_settings_come_along(setting):
    armature, chain = random_limb(np.random.default_rng(44))
    swing(chain)
    for frame, value in ((1, 0.0), (8, 1.0)):
        setattr(chain, setting, value)
        chain.keyframe_insert(setting, frame=frame)
    settings_kept(armature, chain, tolerance=3e-5)
    controls = chain.native_stand
    bpy.context.scene.frame_set(8)
    assert controls[setting] == 1.0


def test_a_keyed_bend_comes_along():
    armature, chain = random_limb(np.random.default_rng(45))
    swing(chain)
    for frame, side in ((1, 'POSITIVE'), (5, 'NEGATIVE')):
        chain.bend = side
        chain.keyframe_insert("bend", frame=frame)
    settings_kept(armature, chain)
    bpy.context.scene.frame_set(4)
    assert chain.native_stand["bend"] == 1.0
    bpy.context.scene.frame_set(5)
    assert chain.native_stand["bend"] == -1.0


def test_a_driven_influence_comes_along():
    armature, chain = random_limb(np.random.default_rng(46))
    swing(chain)
    armature["ik"] = 0.25
    driver = chain.driver_add("influence").driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id = "ik", armature
    variable.targets[0].data_path, driver.expression = '["ik"]', "ik"
    make_native(armature, chain)
    bpy.context.scene.frame_set(1)
    assert abs(chain.native_stand["influence"] - 0.25) < 1e-6


def test_controls_on_the_stand_rule_the_pose_and_the_bake():
    armature, chain = random_limb(np.random.default_rng(47))
    swing(chain)
    controls = make_native(armature, chain).controls
    before = poses(armature, FRAMES)
    for frame, side in ((1, 1.0), (5, -1.0)):
        controls["bend"] = side
        controls.keyframe_insert('["bend"]', frame=frame)
    after = poses(armature, FRAMES)
    apart = np.abs(after - before)
    assert apart[0].max() < 1e-6 and apart[4:].max() > 0.01  # it jumps in between
    assert errors_on(FRAMES, armature, chain).max() < EXACT * reach_of(chain)
    bake(armature, frame_start=1, frame_end=8)
    assert np.abs(poses(armature, FRAMES) - after).max() < 1e-4


def test_flip_bend_flips_the_native_chain_at_once_or_over_frames():
    armature, chain, native = native_leg()
    knee = [poses(armature, (3,), ("shin",))[0, 0, :3, 3]]
    bpy.context.view_layer.objects.active = armature
    for _ in range(2):
        assert bpy.ops.ik2d.flip() == {'FINISHED'}
        knee.append(poses(armature, (3,), ("shin",))[0, 0, :3, 3])
    assert np.linalg.norm(knee[1] - knee[0]) > 0.1 and np.allclose(knee[2], knee[0], atol=1e-6)
    assert chain.bend == 'POSITIVE'
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ik2d.flip(frames=7) == {'FINISHED'}
    bpy.context.scene.frame_set(8)
    assert native.controls["turn_over"] == pytest.approx(1.0)
    assert errors_on((1, 8), armature, chain).max() < EXACT * reach_of(chain)


def test_a_limited_native_chain_says_that_it_cannot_turn_over_slowly():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.joints[1].use_limit, chain.joints[1].limit_min, chain.joints[1].limit_max = True, -0.5, 2.0
    make_native(armature, chain)
    bpy.context.view_layer.objects.active = armature
    with pytest.raises(RuntimeError, match="key its control Bend"):
        bpy.ops.ik2d.flip(frames=7)


def test_influence_leaves_the_keys_their_part():
    armature, chain, native = native_leg()
    native.controls["influence"] = 0.0
    native.controls.update_tag()
    assert (
        evaluated_tip(armature, "shin") - armature.matrix_world @ armature.data.bones["shin"].tail_local
    ).length < 1e-5


# --- Beside the other ways ---------------------------------------------------


def test_a_bake_has_its_keys_rule_and_make_native_acts_again():
    armature, chain, native = native_leg()
    bake(armature, frame_start=1, frame_end=40)
    assert is_native(chain) and all(one.mute for bone in armature.pose.bones for one in bone.constraints)
    chain.target.animation_data_clear()
    chain.target.location = (0.0, -0.5, 0.5)
    assert errors_on([20], armature, chain)[0] > 0.01  # the keys
    make_native(armature, chain)
    assert errors_on([20], armature, chain)[0] < 1e-5


def test_an_influence_that_blends_with_what_a_bake_would_not_is_told(capfd):
    armature = active_leg()
    chain, rig = armature.ik2d.chains[0], armature.pose.bones
    chain.influence = 0.5
    bake(armature, frame_start=1, frame_end=5)
    baked = poses(armature, [3], ["thigh"])
    bpy.ops.ik2d.make_native()
    assert "mixes with the keys of a bake; Clear Bake" in capfd.readouterr().out
    bpy.ops.ik2d.clear_bake()
    remove_native(armature, chain)
    for bone in rig:
        bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    assert "mixes with the pose that its bones are left in" in make_native(armature, chain).warnings[0]
    remove_native(armature, chain)
    for bone in rig:
        bone.matrix_basis.identity()
    assert make_native(armature, chain).warnings == ()
    assert np.abs(poses(armature, [3], ["thigh"]) - baked).max() < 1e-4


def test_a_bake_that_fails_leaves_it_native():
    armature, chain, _ = native_leg()
    with pytest.raises(RuntimeError):
        bake(armature, progress=_stop)
    assert not any(one.mute for bone in armature.pose.bones for one in bone.constraints)
    assert errors_on([20], armature, chain)[0] < 1e-5


def _stop(_done, _total):
    raise RuntimeError


def test_nothing_warns_of_its_own_constraints():
    armature, chain, _ = native_leg()
    assert not bake(armature, frame_start=1, frame_end=5).warnings


def test_live_and_native_exclude_one_another():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.live = True
    make_native(armature, chain)
    assert not chain.live
    chain.live = True
    bpy.context.scene.frame_set(2)
    assert "is on drivers" in chain.live_status
    remove_native(armature, chain)
    assert chain.live
    bpy.context.view_layer.update()
    assert "native" not in chain.live_status
    bpy.context.scene.frame_set(3)
    assert "native" not in chain.live_status


# --- The operators -----------------------------------------------------------


def active_leg():
    armature, _ = leg_with_target()
    bpy.context.view_layer.objects.active = armature
    return armature


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_the_operators_do_what_the_functions_do(mode):
    armature = active_leg()
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.ik2d.make_native() == {'FINISHED'}
    chain = armature.ik2d.chains[0]
    assert errors_on([1, 20, 40], armature, chain).max() < 1e-5
    with pytest.raises(RuntimeError, match="on drivers already"):
        bpy.ops.ik2d.make_native()
    assert bpy.ops.ik2d.remove_native() == {'FINISHED'}
    assert not is_native(chain)
    with pytest.raises(RuntimeError, match="No chain is on drivers"):
        bpy.ops.ik2d.remove_native()


def test_all_takes_every_enabled_chain():
    armature = active_leg()
    other = add_chain(armature, "body", add_target({1: (0, 0, 2.5)}), 1, name="body")
    armature.pose.bones["body"].lock_rotation = (True, True, True)
    third = add_chain(armature, "shin", armature.ik2d.chains[0].target, name="off")
    third.enabled = False
    assert bpy.ops.ik2d.make_native(all=True) == {'FINISHED'}  # what cannot be is a warning
    assert [is_native(chain) for chain in armature.ik2d.chains] == [True, False, False]
    assert not is_native(other)
    assert bpy.ops.ik2d.remove_native(all=True) == {'FINISHED'}
    assert not any(map(is_native, armature.ik2d.chains))


def test_a_chain_that_cannot_be_native_is_refused_in_words_with_nothing_changed():
    armature = active_leg()
    armature.pose.bones["thigh"].bone.use_inherit_rotation = False
    before = everything(), contents(armature)
    with pytest.raises(RuntimeError, match="'thigh' does not inherit rotation; turn on Inherit Rotation"):
        bpy.ops.ik2d.make_native()
    assert differences(before, (everything(), contents(armature))) == []


# --- No trace ----------------------------------------------------------------


def animated_leg():
    armature, _ = leg_with_target(softness=0.1)
    armature.pose.bones["thigh"].rotation_mode = 'XYZ'
    armature.pose.bones["thigh"].keyframe_insert("rotation_euler", frame=1)
    armature.ik2d.chains[0].keyframe_insert("influence", frame=1)
    return armature


def stored(armature):
    return everything(), channels(), contents(armature)


def of_the_file(_armature):
    """Return what the file holds but for our own settings, which are in the other dump."""
    found = file_contents.contents(("objects", "armatures", "actions", "collections"))
    return {way: value for way, value in found.items() if "ik2d" not in way}


@pytest.mark.parametrize("dump", [stored, of_the_file])
@pytest.mark.parametrize("make", [lambda: leg_with_target()[0], animated_leg], ids=["bare", "animated"])
def test_removing_leaves_no_trace(make, dump, tmp_path):
    armature = make()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "leg.blend"))
    chain = armature.ik2d.chains[0]
    bpy.context.scene.frame_set(7)
    dump(armature)  # reading groups of settings that are not there makes them
    before = dump(armature)
    make_native(armature, chain)
    bpy.context.scene.frame_set(9)
    bpy.context.scene.frame_set(7)
    assert dump(armature) != before
    remove_native(armature, chain)
    bpy.context.view_layer.update()
    assert differences(before, dump(armature)) == []


def test_what_was_taken_away_by_hand_is_no_hindrance():
    armature, chain, native = native_leg()
    bpy.data.objects.remove(native.controls)
    bone = armature.pose.bones["thigh"]
    bone.constraints.remove(bone.constraints[0])
    remove_native(armature, chain)
    assert not is_native(chain) and not any(bone.constraints for bone in armature.pose.bones)
    assert [ob.name for ob in bpy.data.objects] == ["Rig", "Target"] and armature.animation_data is None


def test_a_duplicate_without_the_empties_leaves_those_of_the_original():
    armature, chain, native = native_leg()
    copy = armature.copy()
    bpy.context.scene.collection.objects.link(copy)
    remove_native(copy, copy.ik2d.chains[0])
    assert is_native(chain) and errors_on([1, 20], armature, chain).max() < 1e-5


def test_with_its_chain_removed_it_goes_without_a_trace():
    armature = active_leg()
    before = sorted(ob.name for ob in bpy.data.objects)
    bpy.ops.ik2d.make_native()
    assert bpy.ops.ik2d.chain_remove() == {'FINISHED'}
    assert not any(bone.constraints for bone in armature.pose.bones) and armature.animation_data is None
    assert sorted(ob.name for ob in bpy.data.objects) == before


# --- Undo, renames, other Blenders -------------------------------------------


def test_renamed_bones_and_chains_stay_native():
    armature, chain, native = native_leg()
    armature.data.bones["thigh"].name, chain.name = "upper", "leg"
    bpy.context.view_layer.update()
    assert errors_on([1, 20], armature, chain).max() < 1e-5
    remove_native(armature, chain)
    assert not any(bone.constraints for bone in armature.pose.bones)


WITHOUT = """
import bpy, json
armature = bpy.data.objects["Rig"]
found = []
for frame in (1, 20, 40):
    bpy.context.scene.frame_set(frame)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = shown.matrix_world @ shown.pose.bones["shin"].tail
    found.append((tip - bpy.data.objects["Target"].matrix_world.translation).length)
assert not hasattr(bpy.types.Object, "ik2d") and not bpy.app.autoexec_fail
print("FOUND", json.dumps(found))
"""


@pytest.mark.slow
def test_the_file_plays_without_the_add_on_and_without_scripts(tmp_path):
    armature, chain, native = native_leg()
    path = str(tmp_path / "native.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    opened = f"import bpy; bpy.ops.wm.open_mainfile(filepath={path!r}, use_scripts=False)\n"
    run = subprocess.run(python_in_blender(opened + WITHOUT), capture_output=True, text=True, timeout=120)
    line = next(line for line in run.stdout.splitlines() if line.startswith("FOUND"))
    assert max(json.loads(line.removeprefix("FOUND"))) < 1e-5, run.stderr


def test_a_saved_file_comes_back_native(tmp_path):
    armature, chain, native = native_leg()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "native.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "native.blend"))
    armature = bpy.data.objects["Rig"]
    chain = armature.ik2d.chains[0]
    assert is_native(chain) and errors_on([1, 20, 40], armature, chain).max() < 1e-5
    remove_native(armature, chain)
    assert not any(bone.constraints for bone in armature.pose.bones)


def test_undo_and_redo_take_one_step_each():
    armature = active_leg()
    bpy.ops.ed.undo_push(message="before")
    objects = bpy.data.objects.keys()
    assert bpy.ops.ik2d.make_native('EXEC_DEFAULT', True) == {'FINISHED'}
    bpy.ops.ed.undo()
    assert not is_native(bpy.data.objects["Rig"].ik2d.chains[0])
    assert bpy.data.objects.keys() == objects
    bpy.ops.ed.redo()
    armature = bpy.data.objects["Rig"]
    assert errors_on([1, 20, 40], armature, armature.ik2d.chains[0]).max() < 1e-5
    assert bpy.ops.ik2d.remove_native('EXEC_DEFAULT', True) == {'FINISHED'}
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert errors_on([1, 20, 40], armature, armature.ik2d.chains[0]).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("own_chain", [False, True], ids=["a chain of the shot's", "the library's chain"])
def test_an_override_is_native_and_stays_it_when_saved(tmp_path, own_chain):
    armature, target = leg_with_target()
    if not own_chain:
        armature.ik2d.chains.clear()
    library, shot = str(tmp_path / "library.blend"), str(tmp_path / "shot.blend")
    bpy.data.libraries.write(library, {armature, target, bpy.context.scene})
    override = override_from(library, "Rig", "Target")
    if not own_chain:
        add_chain(override, "shin", bpy.data.objects["Target"])
    make_native(override, override.ik2d.chains[0])
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=shot)
        bpy.ops.wm.open_mainfile(filepath=shot)
        override = next(ob for ob in bpy.data.objects if ob.override_library)
        assert is_native(override.ik2d.chains[0])
        assert errors_on([1, 20, 40], override, override.ik2d.chains[0]).max() < 1e-5
    remove_native(override, override.ik2d.chains[0])
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    override = next(ob for ob in bpy.data.objects if ob.override_library)
    assert not is_native(override.ik2d.chains[0])
    assert not any(len(bone.constraints) for bone in override.pose.bones)
    assert not [ob for ob in bpy.data.objects if "stand" in ob.name or "probe" in ob.name]
