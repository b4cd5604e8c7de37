# SPDX-License-Identifier: GPL-3.0-or-later
"""CCD Step: the article's plain CCD on the pose, joint by joint."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import add_armature, add_chain, add_target, evaluated_tip

from ik2d_addon.bake.lengths import Units
from ik2d_addon.core import CCDResult, Chain, ccd_step, forward
from ik2d_addon.features.ccd_steps.operator import next_joint, step_chain, told

LENGTHS = (1.0, 0.8, 0.6)


def bent_chain(place=(0.4, 0.0, 1.6)):
    """Return a chain of three bones in the plane y = 0, lying along X, and its target."""
    ends = np.concatenate(([0.0], np.cumsum(LENGTHS)))
    heights = (0.0, 0.0, 0.3, 0.1)
    bones = {
        f"b{i}": (
            (ends[i], 0, heights[i]),
            (ends[i + 1], 0, heights[i + 1]),
            f"b{i - 1}" if i else "",
            0.0,
        )
        for i in range(3)
    }
    armature = add_armature(bones)
    target = add_target({})
    target.location = place
    add_chain(armature, "b2", target, bone_count=3, solver='CCD')
    bpy.context.view_layer.update()
    return armature, target


def joints(armature):
    """Return where Blender has the joints and the tip, as (x, z) (n + 1, 2)."""
    bpy.context.view_layer.update()
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    places = [*(bone.head for bone in posed), posed[-1].tail]
    return np.array([(place.x, place.z) for place in places])


def as_core(places):
    """Return the chain and the angles of joints (n + 1, 2)."""
    bones = np.diff(places, axis=0)
    headings = np.arctan2(bones[:, 1], bones[:, 0])
    return Chain(np.hypot(*bones.T)), np.diff(headings, prepend=0.0)


def test_one_joint_turns_a_press_from_tip_to_root():
    armature, target = bent_chain()
    aim = np.array((target.location.x, target.location.z))
    for joint in (2, 1, 0, 2):
        before = joints(armature)
        assert bpy.ops.ik2d.ccd_step() == {'FINISHED'}
        after = joints(armature)
        assert np.abs(after[: joint + 1] - before[: joint + 1]).max() < 1e-5
        along, way = after[-1] - after[joint], aim - after[joint]
        assert abs(along[0] * way[1] - along[1] * way[0]) < 1e-5 and along @ way > 0.0


def test_a_whole_iteration_is_the_articles():
    armature, target = bent_chain()
    for _ in range(3):
        chain, angles = as_core(joints(armature))
        aim = (target.location.x, target.location.z)
        expected, _ = ccd_step(chain, angles, aim, tolerance=1e-9)
        bpy.ops.ik2d.ccd_step(whole=True)
        assert np.abs(joints(armature) - forward(chain, expected)).max() < 1e-5


@pytest.mark.slow
def test_three_joints_make_one_iteration():
    places = []
    for whole in (True, False):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, _ = bent_chain()
        for _ in range(1 if whole else 3):
            bpy.ops.ik2d.ccd_step(whole=whole)
        places.append(joints(armature))
    assert np.abs(places[0] - places[1]).max() < 1e-5


@pytest.mark.parametrize("change", ["target", "pose", "frame"])
def test_a_changed_pose_or_target_begins_at_the_tip_again(change):
    armature, target = bent_chain()
    chain = armature.ik2d.chains[0]
    assert next_joint(chain, 3) == 2
    bpy.ops.ik2d.ccd_step()
    assert next_joint(chain, 3) == 1
    if change == "target":
        target.location.x += 0.1
        bpy.context.view_layer.update()
    elif change == "pose":
        armature.pose.bones["b0"].rotation_mode = 'XYZ'
        armature.pose.bones["b0"].rotation_euler.x += 0.1
    else:
        bpy.context.scene.frame_set(5)
    assert next_joint(chain, 3) == 2


def test_the_straight_chain_locks_and_says_so():
    armature = add_armature(
        {"bone1": ((0, 0, 0), (1.2, 0, 0), "", 0.0), "bone2": ((1.2, 0, 0), (2.1, 0, 0), "bone1", 0.0)}
    )
    target = add_target({})
    target.location = (0.6, 0, 0)
    chain = add_chain(armature, "bone2", target, solver='CCD', plane='Y')
    bpy.context.view_layer.update()
    for _ in range(8):
        step, joint = step_chain(armature, chain)
    assert step.result == CCDResult.FAILURE
    assert "plain CCD is locked" in told(step, joint, False, 0, Units('METRIC'))
    assert abs(evaluated_tip(armature, "bone2").z) < 1e-5
    assert (evaluated_tip(armature, "bone2") - Vector(target.location)).length > 0.1


def test_a_step_that_arrives_says_so():
    armature, target = bent_chain()
    chain = armature.ik2d.chains[0]
    for _ in range(200):
        step, joint = step_chain(armature, chain, whole=True)
        if step.result == CCDResult.SUCCESS:
            break
    assert "on its target" in told(step, joint, True, 0, Units('METRIC'))
    assert (evaluated_tip(armature, "b2") - Vector(target.location)).length < 1e-5


def test_settings_are_left_alone_and_nothing_is_keyed():
    armature, _ = bent_chain()
    bpy.ops.ik2d.ccd_step()
    assert armature.animation_data is None


def test_without_a_chain_it_is_refused():
    armature, _ = bent_chain()
    armature.ik2d.chains.clear()
    assert not bpy.ops.ik2d.ccd_step.poll()


def test_a_faulty_chain_is_refused_with_its_sentence():
    armature, target = bent_chain()
    bpy.data.objects.remove(target)
    with pytest.raises(RuntimeError, match="has no target"):
        bpy.ops.ik2d.ccd_step()
