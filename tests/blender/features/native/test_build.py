# SPDX-License-Identifier: GPL-3.0-or-later
"""Making a chain native: all of it, or nothing."""

import bpy
import numpy as np
import pytest
from mathutils import Euler
from rigs import add_armature, add_chain, add_target, errors_on, leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import build, drivers
from ik2d_addon.features.native.build import make_native


def test_every_driver_is_a_simple_expression():
    armature, _ = leg_with_target(softness=0.1)
    made = make_native(armature, armature.ik2d.chains[0])
    curves = [*armature.animation_data.drivers, *made.controls.animation_data.drivers]
    assert len(curves) == made.drivers
    assert all(curve.driver.is_simple_expression and curve.driver.is_valid for curve in curves)
    assert made.constraints == (("thigh", "IK 2D shin"), ("shin", "IK 2D shin"))


def test_bones_rolled_with_the_plane_take_a_driver_for_one_angle():
    armature = add_armature({"a": ((0, 0, 0), (0, 1, 0), "", 0.0), "b": ((0, 1, 0), (0, 1.8, 0.6), "a", 0.0)})
    chain = add_chain(armature, "b", add_target({1: (0, 1, 1)}))
    make_native(armature, chain)
    driven = [curve.data_path.rpartition(".")[2] for curve in armature.animation_data.drivers]
    assert sorted(driven) == ["influence", "influence", "min_x", "min_x"]
    assert errors_on([1], armature, chain)[0] < 1e-6


@pytest.mark.parametrize("turn", [-3.1, -1.0, 0.0, 0.5, 3.14])
def test_a_limit_rotation_with_its_maximum_below_sets_its_minimum(turn):
    armature = add_armature({"a": ((0, 0, 0), (0, 1, 0), "", 0.0)})
    bone = armature.pose.bones["a"]
    limit = bone.constraints.new('LIMIT_ROTATION')
    limit.owner_space, limit.euler_order = 'LOCAL', 'XYZ'
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.min_x, limit.max_x, limit.max_y, limit.max_z = turn, *(3 * [drivers.BELOW])
    for before in (0.0, 2.0, -3.0, 1.0 + turn):
        bone.rotation_mode, bone.rotation_euler = 'XYZ', (before, 0.2, -0.1)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["a"]
        assert np.allclose(shown.matrix.to_3x3(), Euler((turn, 0.0, 0.0)).to_matrix(), atol=1e-6)


def test_a_name_that_is_taken_is_not_used_twice():
    armature, _ = leg_with_target()
    armature.pose.bones["body"].constraints.new('LIMIT_SCALE').name = "IK 2D shin"
    made = make_native(armature, armature.ik2d.chains[0])
    assert {name for _, name in made.constraints} == {"IK 2D shin.001"}


def test_a_straight_chain_takes_the_plane_of_its_targets_path():
    armature = add_armature({"a": ((0, 0, 0), (0, 1, 0), "", 0.3), "b": ((0, 1, 0), (0, 2, 0), "a", 0.1)})
    target = add_target({1: (0.6, 1, 0.8), 10: (0.9, 0.5, 1.2)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    chain = add_chain(armature, "b", target)
    make_native(armature, chain)
    assert errors_on([1, 5, 10], armature, chain).max() < 1e-5


def test_a_failure_half_way_leaves_nothing(monkeypatch):
    armature, _ = leg_with_target()
    calls = []

    def drive(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise IK2DError("no more")

    monkeypatch.setattr(build, "drive", drive)
    with pytest.raises(IK2DError, match="Chain 'shin' cannot be converted to drivers: no more"):
        make_native(armature, armature.ik2d.chains[0])
    assert [ob.name for ob in bpy.data.objects] == ["Rig", "Target"] and armature.animation_data is None
    assert not any(len(bone.constraints) for bone in armature.pose.bones)


def test_a_target_that_is_a_bone_of_the_same_armature_is_followed():
    armature = add_armature(
        {
            "control": ((0, 0.5, 1.2), (0, 0.5, 1.5), "", 0.0),
            "a": ((0, 0, 0), (0, 1, 0), "", 0.3),
            "b": ((0, 1, 0), (0, 1.8, 0.6), "a", 0.1),
        }
    )
    chain = add_chain(armature, "b", armature, subtarget="control")
    make_native(armature, chain)
    for place in ((0.0, 0.0, 0.0), (0.0, 0.1, 0.2)):
        armature.pose.bones["control"].location = place
        assert errors_on([1], armature, chain)[0] < 1e-6
