# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's generated human, cat, bird and wolf: a leg is one click, and comes back to the bit."""

import math

import bpy
import numpy as np
import pytest
from rigs import evaluated_place, evaluated_tip
from snapshots import differences
from whole_rig import whole_rig

from ik2d_addon.chains import adopt
from ik2d_addon.features.adopt.limbs import limbs_meant, limbs_of
from ik2d_addon.rig.animation.versions import select_bone

LAST = 9
ON_TARGET = 1e-5  # of the reach
# The control to move, and how many limbs the rig has.
RIGS = {
    "human": ("foot_ik.L", 4),
    "cat": ("foot_ik.L", 4),
    "bird": ("foot_ik.L", 2),
    "wolf": ("foot_ik.L", 4),
}
# The one that the tests of this Blender take: all of them together take all.
RIG = {(4, 2): "cat", (4, 5): "bird", (5, 0): "human"}.get(bpy.app.version[:2], "wolf")
EACH = [name if name == RIG else pytest.param(name, marks=pytest.mark.thorough) for name in RIGS]
# Bones of the left hind leg, of each kind that Rigify makes; not all rigs have all.
OF_THE_LEG = (
    "ORG-shin.L",
    "DEF-thigh.L.001",
    "MCH-shin_ik.L",
    "MCH-thigh_ik_target.L",
    "thigh_ik.L",
    "thigh_ik_target.L",
    "thigh_parent.L",
    "shin_fk.L",
    "shin_tweak.L",
    "foot_ik.L",
    "foot_heel_ik.L",
    "VIS_thigh_ik_pole.L",
)


def opened(generated, name: str) -> bpy.types.Object:
    """Open a rig whose left foot steps from frame 1 to LAST, with nothing selected, in Pose Mode."""
    bpy.ops.wm.open_mainfile(filepath=generated(name))
    rig = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    scene, bone = bpy.context.scene, rig.pose.bones[RIGS[name][0]]
    scene.frame_start, scene.frame_end = 1, LAST
    leg = (rig.data.bones["ORG-foot.L"].head_local - rig.data.bones["ORG-thigh.L"].head_local).length
    for frame, place in ((1, (0, 0, 0)), (5, (0, -0.2, 0.2)), (LAST, (0, 0.1, 0.05))):
        bone.location = [leg * x for x in place]
        bone.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode='POSE')
    for each in rig.pose.bones:
        select_bone(each, False)
    scene.frame_set(2)
    scene.frame_set(1)
    return rig


def adopt_by(rig, name: str) -> list[str]:
    """Adopt with one bone selected; return the roots of the chains."""
    select_bone(rig.pose.bones[name], True)
    assert bpy.ops.ik2d.adopt() == {'FINISHED'}
    select_bone(rig.pose.bones[name], False)
    return [chain.joints[0].name for chain in rig.ik2d.chains]


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_one_leg_is_one_click_and_one_chain_and_comes_back(generated, name):
    rig = opened(generated, name)
    before = whole_rig(rig)
    adopt_by(rig, "foot_ik.L")
    (chain,) = rig.ik2d.chains
    assert (chain.name, chain.tip, chain.subtarget) == ("thigh.L", "MCH-shin_ik.L", "MCH-thigh_ik_target.L")
    assert chain.adopted.angle < 0.09 and chain.adopted.apart  # radians: Blender stretches a little in reach
    assert all(each.mute or each.target is None for each in rig.pose.bones["MCH-shin_ik.L"].constraints)
    bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(rig))


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_baked_the_leg_is_on_its_target_and_the_skin_follows(generated, name):
    rig = opened(generated, name)
    adopt(rig)
    assert len(rig.ik2d.chains) == RIGS[name][1]
    bpy.ops.ik2d.bake()
    for frame in (1, 4, 5, LAST):
        bpy.context.scene.frame_set(frame)
        for chain in rig.ik2d.chains:
            reach = sum(rig.data.bones[joint.name].length for joint in chain.joints)
            place = evaluated_place(rig, chain.subtarget)
            assert (evaluated_tip(rig, chain.tip) - place).length <= ON_TARGET * reach, (frame, chain.name)
        foot = evaluated_place(rig, "MCH-thigh_ik_target.L")
        assert (evaluated_tip(rig, "ORG-shin.L") - foot).length < 1e-4


# Euler angles of the heel's control: rolls back and forward, rocks, and turns aside.
HEELS = ((-50, 0, 0), (-20, 0, 0), (20, 0, 0), (45, 0, 0), (70, 0, 0), (20, 10, 0), (20, 0, 10))


@pytest.mark.slow
def test_the_heels_control_rolls_the_adopted_foot_as_before(generated):
    rig = opened(generated, "human")
    rig.pose.bones["foot_ik.L"].location.z = 0.1  # within reach at each roll
    rig.animation_data_clear()
    heel = rig.pose.bones["foot_heel_ik.L"]
    heel.rotation_mode = 'ZXY'
    for frame, angles in enumerate(HEELS, 1):
        heel.rotation_euler = [math.radians(angle) for angle in angles]
        heel.keyframe_insert("rotation_euler", frame=frame)

    def feet():
        found = []
        for frame in range(1, len(HEELS) + 1):
            bpy.context.scene.frame_set(frame)
            found += [evaluated_tip(rig, "ORG-foot.L"), evaluated_tip(rig, "ORG-toe.L")]
        return found

    before = feet()
    adopt_by(rig, "foot_ik.L")
    reach = rig.data.bones["ORG-thigh.L"].length + rig.data.bones["ORG-shin.L"].length
    bpy.ops.ik2d.bake(frame_start=1, frame_end=len(HEELS))
    moved = max((one - other).length for one, other in zip(feet(), before, strict=True))
    assert moved < 1e-4 * reach and (before[0] - before[8]).length > 0.05 * reach


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_the_whole_rig_comes_back(generated, name):
    rig = opened(generated, name)
    before = whole_rig(rig)
    bpy.ops.ik2d.adopt(all=True)
    assert bpy.ops.ik2d.release(all=True) == {'FINISHED'}
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(rig))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human", pytest.param("cat", marks=pytest.mark.thorough)])
def test_any_bone_of_the_leg_means_it(generated, name):
    rig = opened(generated, name)
    limbs = limbs_of(rig, (1.0, LAST)).limbs
    for bone in OF_THE_LEG:
        if bone in rig.pose.bones:
            (limb,) = limbs_meant(limbs, [bone])
            assert limb.bones[-1] == "MCH-shin_ik.L", bone
    assert limbs_meant(limbs, ["root"]) == [] == limbs_meant(limbs, ["torso"])


@pytest.mark.slow
def test_arms_and_legs_beyond_reach_stretch_as_their_ik_does_and_come_back(generated):
    rig = opened(generated, "human")
    places = {"foot_ik.L": (0.3, 0.3, 0.1), "hand_ik.L": (0.3, 0.3, 0.1), "hand_ik.R": (-0.4, -0.3, 0.1)}
    for name, place in places.items():
        for frame, part in ((1, 0.0), (LAST, 1.0)):
            rig.pose.bones[name].location = [part * x for x in place]
            rig.pose.bones[name].keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    before = whole_rig(rig)
    bpy.ops.ik2d.adopt(all=True, limbs=[{"name": "MCH-shin_ik.R", "take": False}])
    assert [chain.stretch_bones for chain in rig.ik2d.chains] == ['ALL'] * 3
    for chain in rig.ik2d.chains:  # by the last bone alone joints were up to 0.2 off
        assert chain.adopted.part < 0.06, chain.name
    bpy.ops.ik2d.release(all=True)
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(rig))


@pytest.mark.slow
def test_with_a_pole_that_is_switched_on_the_knee_keeps_its_side(generated):
    rig = opened(generated, "human")
    rig.pose.bones["thigh_parent.L"]["pole_vector"] = True
    rig.update_tag()
    bpy.context.scene.frame_set(5)
    knee = evaluated_tip(rig, "ORG-thigh.L")
    adopt_by(rig, "foot_ik.L")
    chain = rig.ik2d.chains[0]
    assert "pole" in chain.adopted.carried
    bpy.ops.ik2d.bake()
    bpy.context.scene.frame_set(5)
    assert (evaluated_tip(rig, "ORG-thigh.L") - knee).length < 0.04  # Blender stretches a little in reach


@pytest.mark.slow
def test_a_thigh_that_is_rolled_by_its_own_control_keeps_its_knee(generated):
    rig = opened(generated, "human")
    thigh = rig.pose.bones["thigh_ik.L"]
    thigh.rotation_mode = 'YXZ'
    for frame, angle in ((1, 0.0), (6, 0.6), (LAST, -0.3)):
        thigh.rotation_euler = (0.0, angle, 0.0)
        thigh.keyframe_insert("rotation_euler", frame=frame)
    before = knees(rig)
    bpy.context.scene.frame_set(1)
    adopt_by(rig, "foot_ik.L")
    (chain,) = rig.ik2d.chains
    assert "Plane Turn" in chain.adopted.carried and chain.plane == 'SWING'
    bpy.ops.ik2d.bake()
    assert np.abs(knees(rig) - before).max() < 1e-3
    assert np.ptp(before) > 0.3


def knees(rig) -> np.ndarray:
    """Return the angles (frames,) of the left knee about the line from hip to ankle, from the hip's side."""
    angles = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        hip, knee, ankle = bones["ORG-thigh.L"].head, bones["ORG-thigh.L"].tail, bones["ORG-shin.L"].tail
        line = (ankle - hip).normalized()
        aside, side = (each - each.dot(line) * line for each in (knee - hip, bones["torso"].x_axis))
        angles.append(np.arctan2(line.dot(side.cross(aside)), side.dot(aside)))
    return np.array(angles)
