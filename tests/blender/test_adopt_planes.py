# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopted limbs of strangers' rigs are where their IK had them, as Blender evaluates nine frames."""

from math import radians

import bpy
import numpy as np
import pytest
import stranger_rigs
from snapshots import differences
from stranger_rigs import LAST, limb_with_pole, limb_without_pole, played_joints
from whole_rig import whole_rig

from ik2d_addon.features.adopt import adopt
from ik2d_addon.features.adopt.difference import compare_adopted
from ik2d_addon.rig.animation.versions import existing_fcurves, select_bone

# Parts of the limb's length: of a joint from where the IK had it; of the tip from its target, and from where
# the IK had it, which misses by as much.
JOINT, TIP, BESIDE = 0.01, 2e-5, 2e-4
OWN = radians(30.0)
KINDS = {
    "two bones": limb_with_pole,
    "turned bones": lambda seed: limb_with_pole(seed, own=OWN),
    "turned and scaled": lambda seed: limb_with_pole(seed, own=OWN, scaled=True),
    "straight, turned": lambda seed: limb_with_pole(seed, own=OWN, straight=True),
    "straight, a hinge": stranger_rigs.hinged_knee,
    "one bone": lambda seed: limb_with_pole(seed, count=1, own=OWN),
    "three bones": lambda seed: limb_with_pole(seed, count=3),
    "five bones": lambda seed: limb_with_pole(seed, count=5),
    "a torso that copies": lambda seed: stranger_rigs.copied_torso(seed, within=False),
    "a first bone that copies": lambda seed: stranger_rigs.copied_torso(seed, within=True),
    "a target that turns": stranger_rigs.turning_target,
    "one bone without a pole": lambda seed: limb_without_pole(seed, count=1),
}
EACH = [
    pytest.param(make, seed, id=f"{name}-{seed}", marks=[pytest.mark.slow] if seed else [])
    for name, make in KINDS.items()
    for seed in range(3)
]


def limb_of(armature: bpy.types.Object) -> list[str]:
    """Return the bones of the limb, root to tip."""
    return [bone.name for bone in armature.data.bones if bone.name.startswith("b")]


def places(target: bpy.types.Object) -> np.ndarray:
    """Return where an empty is on all frames (LAST, 3)."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(tuple(target.matrix_world.translation))
    return np.array(found)


def before_and_after(armature: bpy.types.Object) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Adopt and bake all; return the joints before and after, the target's places, and the limb's length."""
    bones, target = limb_of(armature), bpy.data.objects["Target"]
    before = played_joints(armature, bones)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    bpy.ops.ik2d.bake()
    reach = float(np.linalg.norm(np.diff(before[0], axis=0), axis=1).sum())
    return before, played_joints(armature, bones), places(target), reach


@pytest.mark.slow
@pytest.mark.parametrize("make, seed", EACH)
def test_joints_and_tip_are_where_the_ik_had_them(make, seed):
    armature = make(seed)
    before, after, targets, reach = before_and_after(armature)
    assert np.linalg.norm(after - before, axis=2).max() <= JOINT * reach
    if len(limb_of(armature)) > 1:  # one bone points at its target, however far that is
        ours, theirs = (np.linalg.norm(tips[:, -1] - targets, axis=1) for tips in (after, before))
        assert (ours <= theirs + TIP * reach).all()
        assert ours.min() <= TIP * reach or theirs.min() > JOINT * reach  # all of them out of reach
        assert np.linalg.norm(after[:, -1] - before[:, -1], axis=1).max() <= BESIDE * reach


@pytest.mark.slow
def test_of_limbs_with_a_pole_nearly_all_are_within_a_hundredth():
    kinds = [make for name, make in KINDS.items() if "without" not in name]
    near = []
    for seed in range(3, 8):
        for make in kinds:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            before, after, _, reach = before_and_after(make(seed))
            near.append(np.linalg.norm(after - before, axis=2).max() <= JOINT * reach)
    assert np.mean(near) >= 0.97, near


@pytest.mark.parametrize("make", [*KINDS.values(), stranger_rigs.shared_bones], ids=[*KINDS, "shared bones"])
def test_restored_it_is_the_same_to_the_bit(make):
    armature = make(1)
    bpy.context.scene.frame_set(1)
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    assert bpy.ops.ik2d.release(all=True) == {'FINISHED'}
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


# --- Shared bones, and constraints beside the IK -------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_shared_bones_go_to_the_limb_that_reaches_furthest_down(seed):
    armature = stranger_rigs.shared_bones(seed)
    _, after, targets, reach = before_and_after(armature)
    (chain,) = armature.ik2d.chains
    assert [joint.name for joint in chain.joints] == ["b0", "b1", "b2"]
    assert np.linalg.norm(after[:, -1] - targets, axis=1).max() <= TIP * reach
    owner, other = next(
        (b, c) for b in armature.pose.bones for c in b.constraints if c.target.name == "Other"
    )
    assert other.mute and f"'{other.name}' of '{owner.name}': IK of bones" in chain.adopted.carried
    bpy.ops.ik2d.release()
    assert not other.mute


def test_a_copy_rotation_that_only_turned_the_start_is_muted_and_named():
    armature = stranger_rigs.copied_torso(2, within=True)
    (copy,) = armature.pose.bones["b0"].constraints
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert copy.mute and "also mutes 'Copy Rotation' of 'b0'" in chain.adopted.carried
    bpy.ops.ik2d.release()
    assert not copy.mute


def test_a_copy_rotation_of_the_torso_stays():
    armature = stranger_rigs.copied_torso(2, within=False)
    bpy.ops.ik2d.adopt(all=True)
    assert not armature.pose.bones["torso"].constraints[0].mute


# --- Solvers -------------------------------------------------------------------


WAYS = {
    "Smooth": {},
    "Smooth with First Bone Turns Freely off": {"root_turns_freely": False},
    "CCD from rest": {"solver": 'CCD', "start_from": 'REST'},
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100, pytest.param(107, marks=pytest.mark.slow)])
def test_the_way_to_solve_three_bones_is_the_one_nearest_to_the_ik_and_it_is_said(seed):
    armature = limb_with_pole(seed, count=3)
    scene = bpy.context.scene
    scene.frame_set(1)
    plan = adopt.plan_adoption(armature, scene, None)
    names = adopt.carry_out(plan, scene)
    (chain,) = armature.ik2d.chains
    chosen = (chain.solver, chain.start_from, chain.root_turns_freely)
    line = chain.adopted.carried.splitlines()[-1]
    parts, settings = {}, {}
    for words, way in WAYS.items():
        for name in ("solver", "start_from", "root_turns_freely"):
            chain.property_unset(name)
        for name, value in way.items():
            setattr(chain, name, value)
        compare_adopted(plan, names, scene)
        parts[words] = chain.adopted.part
        settings[words] = (chain.solver, chain.start_from, chain.root_turns_freely)
    nearest = min(parts, key=parts.get)
    (taken,) = [words for words, values in settings.items() if values == chosen]
    assert parts[taken] <= parts[nearest] + 2e-3 and parts[taken] < parts["Smooth"]
    assert line.startswith(f"solved by {taken}, which is nearest") and f"{parts[taken]:.2%}" in line


@pytest.mark.slow
def test_two_bones_have_the_exact_solver():
    armature = limb_with_pole(1)
    bpy.ops.ik2d.adopt(all=True)
    assert armature.ik2d.chains[0].solver == 'AUTO'


@pytest.mark.slow
def test_a_targets_rotation_is_the_angle_of_the_last_bone_however_that_stands_at_rest():
    armature = stranger_rigs.turning_target(3)
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert (chain.plane, chain.tip_rotation) == ('POLE', 'TARGET')
    assert chain.adopted.angle < radians(0.1) and chain.adopted.part < 1e-4


# --- Poles ---------------------------------------------------------------------


def test_the_pole_comes_with_its_angle_and_moves_the_knee():
    armature = limb_with_pole(4)
    constraint = armature.pose.bones["b1"].constraints[0]
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert (chain.plane, chain.pole, chain.pole_angle) == (
        'POLE',
        constraint.pole_target,
        constraint.pole_angle,
    )
    assert chain.bend == 'POSITIVE' and not existing_fcurves(armature)


@pytest.mark.slow
def test_an_influence_below_one_leaves_the_angle_to_the_bones_own_turns():
    """The pose that is shown is then half the bones' own; the angle is that of the whole IK all the same."""
    found = []
    for influence in (1.0, 0.5):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature = limb_with_pole(5, own=OWN)
        armature.pose.bones["b1"].constraints[0].influence = influence
        bpy.context.scene.frame_set(1)
        bpy.ops.ik2d.adopt(all=True)
        found.append(armature.ik2d.chains[0].pole_angle)
    assert abs(np.angle(np.exp(1j * (found[1] - found[0])))) < radians(0.05)
    constraint = armature.pose.bones["b1"].constraints[0]
    assert abs(found[0] - constraint.pole_angle) > radians(1.0)


# --- One bone ------------------------------------------------------------------


def eye_and_arm() -> bpy.types.Object:
    """Return a rig with a limb of two bones, and a torso with a one-bone IK."""
    armature = limb_with_pole(6)
    constraint = armature.pose.bones["torso"].constraints.new('IK')
    constraint.target, constraint.chain_count = bpy.data.objects.new("Look", None), 1
    bpy.context.scene.collection.objects.link(constraint.target)
    constraint.target.location = armature.matrix_world @ (armature.data.bones["torso"].tail_local * 3.0)
    bpy.context.scene.frame_set(1)
    return armature


@pytest.mark.slow
def test_one_bone_that_would_gain_nothing_stays_and_is_named(capfd):
    armature = eye_and_arm()
    bpy.ops.ik2d.adopt(all=True)
    assert [chain.tip for chain in armature.ik2d.chains] == ["b1"]
    assert not armature.pose.bones["torso"].constraints[0].mute
    assert "one-bone IK of 'torso'" in capfd.readouterr().out


def test_one_bone_that_is_selected_is_adopted_and_aims():
    armature = eye_and_arm()
    for bone in armature.pose.bones:
        select_bone(bone, bone.name == "torso")
    bpy.ops.ik2d.adopt()
    (chain,) = armature.ik2d.chains
    assert (chain.tip, chain.plane, chain.aim_distance) == ("torso", 'ARC', False)
    assert chain.adopted.part < 1e-3


@pytest.mark.slow
def test_one_bone_with_limits_gains():
    armature = eye_and_arm()
    torso = armature.pose.bones["torso"]
    torso.use_ik_limit_x, torso.ik_min_x, torso.ik_max_x = True, -0.5, 0.5
    bpy.ops.ik2d.adopt(all=True, limbs=[{"name": "torso", "take": True}, {"name": "b1", "take": True}])
    assert [chain.tip for chain in armature.ik2d.chains] == ["torso", "b1"]
