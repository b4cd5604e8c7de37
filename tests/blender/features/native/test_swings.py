# SPDX-License-Identifier: GPL-3.0-or-later
"""How a plane follows its target, and the empties that have it so."""

import bpy
import numpy as np
import pytest
from native_rigs import random_limb
from rigs import add_target, leg_with_target

from ik2d_addon.features.native import make_native
from ik2d_addon.features.native.swings import follows, read_following
from ik2d_addon.rig.chain.chain import read_chain


def leg(rule, **settings):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.pole, chain.plane = add_target({1: (0.5, -2.0, 1.0)}, "Pole"), rule
    for name, value in settings.items():
        setattr(chain, name, value)
    return armature, chain


def kinds(armature, chain):
    native = make_native(armature, chain)
    swing = next(ob for ob in native.controls.children if ob["ik2d_native"] == "swing")
    return native, swing, [one.type for one in swing.constraints]


def test_a_fixed_plane_follows_nothing_and_has_two_empties():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    assert read_following(read_chain(armature, chain)) is None
    assert len(make_native(armature, chain).controls.children_recursive) == 1


@pytest.mark.parametrize(
    "rule, wanted",
    [
        ('ARC', ['DAMPED_TRACK']),
        ('POLE', ['DAMPED_TRACK', 'LOCKED_TRACK']),
        ('SWING', ['LOCKED_TRACK', 'DAMPED_TRACK']),
    ],
)
def test_each_rule_has_its_constraints_and_no_step_more_than_a_fixed_plane(rule, wanted):
    armature, chain = leg(rule)
    native, swing, found = kinds(armature, chain)
    assert found == wanted
    assert native.target_copy.parent == swing and len(native.controls.children_recursive) == 3
    assert {"x", "y", "d", "tilt", "spin"}.isdisjoint(native.controls.keys())
    assert follows(swing, 'DAMPED_TRACK', chain.target, "")
    assert follows(swing, 'LOCKED_TRACK', chain.pole, "") == (rule == 'POLE')


def test_limits_of_the_first_bone_take_the_targets_angle_in_the_rest_plane():
    armature, chain = leg('SWING')
    chain.joints["thigh"].use_limit, chain.joints["thigh"].limit_max = True, 0.5
    native, swing, _ = kinds(armature, chain)
    assert native.target_copy.parent == native.controls and {"x", "y", "d"} <= set(native.controls.keys())
    assert follows(swing, 'DAMPED_TRACK', native.target_copy, "")


def test_the_first_bones_axes_stay_orthonormal_and_in_the_plane():
    armature, chain = random_limb(np.random.default_rng(2))
    chain.plane = 'ARC'
    rig = read_chain(armature, chain)
    found = read_following(rig)
    assert np.abs(found.bone.T @ found.bone - np.eye(3)).max() < 1e-12
    rest = np.array(armature.data.bones["bone0"].matrix_local)[:3, :3]
    plane = np.array((rig.plane.x, rig.plane.y, rig.plane.normal))
    assert np.abs(plane.T @ found.bone - rest).max() < 1e-5


def test_a_target_along_the_rest_line_leaves_an_arc_at_rest():
    armature, chain = leg('ARC')
    chain.target.animation_data_clear()
    chain.target.location = armature.matrix_world @ armature.data.bones["shin"].tail_local
    make_native(armature, chain)
    bpy.context.view_layer.update()
    for name in ("thigh", "shin"):
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[name].matrix
        assert np.abs(np.array(shown) - armature.data.bones[name].matrix_local).max() < 5e-5
