# SPDX-License-Identifier: GPL-3.0-or-later
"""A native chain with a post says what its drivers do not know of, and nothing else."""

import bpy
import pytest
from mathutils import Quaternion
from post_rigs import turret

from ik2d_addon.features.native import make_native
from ik2d_addon.features.native.changes import acts_as_set, changed_since_made

POSED = "its post, or a bone between it and the chain, is posed differently"


def native_turret(mode="XYZ"):
    made = turret(6, mode=mode, still=True)
    assert made.between
    chain = made.add_chain()
    make_native(made.armature, chain)
    assert acts_as_set(chain)
    return made, chain


def another_post(made, chain):
    chain.post = "mid0"


def another_axis(made, chain):
    chain.post_axis = "XYZ"[made.axis - 1]


def another_side(made, chain):
    chain.post_side = 'NEGATIVE'


def a_limit(made, chain):
    chain.use_post_limit = True


def another_plane(made, chain):
    chain.plane = 'AUTO'


def no_constraint(made, chain):
    made.post.constraints.remove(made.post.constraints[0])


def another_pose_between(made, chain):
    made.armature.pose.bones["mid0"].rotation_euler.x += 0.01


def another_tilt(made, chain):
    made.post.rotation_euler[made.axis - 1] += 0.01


def another_size(made, chain):
    made.post.scale.x *= 1.01


def another_place(made, chain):
    made.post.location.z += 0.01


def another_rest(made, chain):
    bpy.context.view_layer.objects.active = made.armature
    bpy.ops.object.mode_set(mode='EDIT')
    made.armature.data.edit_bones["mid0"].roll += 0.3
    bpy.ops.object.mode_set(mode='OBJECT')


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (another_post, "its post is another one"),
        (another_axis, "its settings are others"),
        (another_side, "its settings are others"),
        (a_limit, "its settings are others"),
        (another_plane, "its settings are others"),
        (no_constraint, "parts of it are gone"),
        (another_pose_between, POSED),
        (another_tilt, POSED),
        (another_size, POSED),
        (another_place, POSED),
        (another_rest, "its bones are others in rest"),
    ],
)
def test_what_its_drivers_do_not_know_of_is_said(change, words):
    made, chain = native_turret()
    change(made, chain)
    bpy.context.view_layer.update()
    assert changed_since_made(chain) == words


def test_limits_that_are_off_and_turns_of_the_post_make_no_difference():
    made, chain = native_turret()
    chain.post_limit_max, chain.post_reach_over = 1.0, True
    made.turn_post(0.8)
    bpy.context.scene.frame_set(9)
    assert not changed_since_made(chain)


@pytest.mark.parametrize("angle", [0.8, 3.0, 3.14159265, 4.0])
def test_turns_of_a_tilted_post_by_a_quaternion_make_no_difference(angle):
    made = turret(6, mode='QUATERNION', still=True)
    made.post.rotation_quaternion = Quaternion((1.0, 0.2, -0.1, 0.3)).normalized()
    swing, chain = made.swing_of_post(), made.add_chain()
    made.post.rotation_quaternion = swing
    make_native(made.armature, chain)
    made.turn_post(angle)
    bpy.context.view_layer.update()
    assert not changed_since_made(chain)
    made.post.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.1) @ Quaternion((0, 0, 1), 0.2) @ swing
    bpy.context.view_layer.update()
    assert changed_since_made(chain) == POSED


def test_renamed_bones_make_no_difference():
    made, chain = native_turret()
    bones = made.armature.data.bones
    bones["mid0"].name, bones["arm0"].name, bones["post"].name = "between", "first", "table"
    chain.post = "table"
    bpy.context.view_layer.update()
    assert not changed_since_made(chain)
