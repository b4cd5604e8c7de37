# SPDX-License-Identifier: GPL-3.0-or-later
"""The report's angles are those of the pose that Blender evaluates."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from rigs import (
    add_armature,
    add_chain,
    add_target,
    crane_with_target,
    leg_with_target,
    stretching_arm,
)

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.bake.solving.angles import nearest_turns
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.rig.chain.chain import read_chain

FRAMES = (1, 24)
# Radians: the Y axis of a rest matrix of 32 bits is not quite at right angles to the others.
NOISE = 3e-5


def leg(**settings):
    return leg_with_target(**settings)[0]


def moving_leg():
    """Return the leg of a body that moves, turns and grows."""
    armature = leg()
    body = armature.pose.bones["body"]
    for frame, turned, size in ((1, (1, 0, 0, 0), 1.0), (24, (0.8, 0.1, 0.5, -0.3), 1.5)):
        body.rotation_quaternion, body.scale, body.location = turned, (size,) * 3, (0.1 * size, 0, 0)
        for path in ("rotation_quaternion", "scale", "location"):
            body.keyframe_insert(path, frame=frame)
    return armature


def half_influence():
    armature = leg()
    axis = read_chain(armature, armature.ik2d.chains[0]).joints.axes[0]  # off it no angle is in the plane
    armature.pose.bones["thigh"].rotation_quaternion = Quaternion(axis, 0.63)
    armature.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=1)
    armature.ik2d.chains[0].influence = 0.5
    return armature


def shin_that_inherits_no_rotation():
    armature = leg()
    armature.data.bones["shin"].use_inherit_rotation = False
    return armature


def tentacle(count=5):
    """Return an armature of rolled bones that CCD turns, the third of them locked, not at rest."""
    bones = {
        f"bone{i}": (
            (0, i, 0.1 * i * i),
            (0, i + 1, 0.1 * (i + 1) ** 2),
            f"bone{i - 1}" if i else "",
            0.5 * i,
        )
        for i in range(count)
    }
    armature = add_armature(bones)
    target = add_target({1: (0, 2, 3), 24: (0, -2, 2.5)})
    chain = add_chain(armature, f"bone{count - 1}", target, count, solver='CCD')
    locked, axis = armature.pose.bones["bone2"], read_chain(armature, chain).joints.axes[2]
    locked.rotation_quaternion = Quaternion(axis, 0.6)
    locked.lock_rotation, locked.lock_rotation_w, locked.lock_rotations_4d = (True,) * 3, True, True
    return armature


def carried_leg():
    """Return the leg with a constraint that carries its thigh along a path."""
    armature = leg()
    carrier = armature.pose.bones["thigh"].constraints.new('COPY_LOCATION')
    carrier.target = add_target({1: (0, 0.2, 1.9), 24: (0, -0.3, 1.8)}, "Carrier")
    return armature


RIGS = {
    "two bones": leg,
    "a body that moves": moving_leg,
    "half influence": half_influence,
    "no inherited rotation": shin_that_inherits_no_rotation,
    "CCD, and a locked bone": tentacle,
    "carried by a constraint": carried_leg,
    "slides": lambda: crane_with_target(beside=0.2, drop=0.1)[0],
    "stretch": lambda: stretching_arm()[0],
    "other side": lambda: leg(bend='NEGATIVE'),
}


def directions_seen(armature, chain, frame):
    """Return the directions (n,) of bones in the plane, as Blender evaluates them on a frame."""
    bpy.context.scene.frame_set(int(frame))
    pose = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose
    along = np.array([pose.bones[name].y_axis for name in chain.bones])
    above = pose.bones[chain.bones[0]].parent
    if above is not None:  # the plane moves with the bone that holds the chain
        moved = above.matrix @ above.bone.matrix_local.inverted()
        along = along @ np.array(moved.to_3x3().normalized())
    return np.arctan2(along @ chain.joints.angles.plane_axes[1], along @ chain.joints.angles.plane_axes[0])


def checked(armature, chain, frames=None):
    """Assert that a chain's angles are those that Blender shows on these frames, None for all."""
    directions = chain.joints.angles.directions
    for i, frame in enumerate(chain.frames):
        if frames is not None and frame not in frames:
            continue
        seen = directions_seen(armature, chain, frame)
        assert np.abs(wrapped(directions[i] - seen)).max() < NOISE, frame
        turned = np.diff(seen - chain.joints.angles.rest_directions, prepend=0.0)
        assert np.abs(wrapped(chain.joints.angles.from_rest[i] - turned)).max() < NOISE, frame


@pytest.mark.slow
@pytest.mark.parametrize("verify", ['NONE', 'SAMPLE', 'ALL'])
@pytest.mark.parametrize("name", RIGS)
def test_angles_are_those_of_the_evaluated_pose(name, verify):
    armature = RIGS[name]()
    chain = bake(armature, None, *FRAMES, options=BakeOptions(verify=verify)).chains[0]
    assert np.isfinite(chain.joints.angles.from_rest).all()
    assert np.ptp(chain.joints.angles.from_rest, axis=0).max() > 0.1
    checked(armature, chain)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"reduce": 0.05}, {"on_target_keys": True}])
def test_between_keys_the_angles_are_those_played_back(options):
    armature = leg()
    for verify in ('ALL', 'SAMPLE', 'NONE'):
        chain = bake(armature, None, 1, 40, options=BakeOptions(verify=verify, **options)).chains[0]
        known = np.isfinite(chain.joints.angles.from_rest).all(axis=1)
        assert known.sum() >= chain.played.keys and chain.played.keys < 40
        assert known.all() == np.isfinite(chain.played.on_frames).all()
        checked(armature, chain, chain.frames[known])


def test_under_other_controls_they_are_known_where_they_were_measured():
    armature = leg()
    held = armature.pose.bones["shin"].constraints.new('COPY_ROTATION')
    held.target = add_target({1: (0, 0, 0)}, "Holder")
    chain = bake(armature, None, 1, 80).chains[0]
    known = np.isfinite(chain.joints.angles.from_rest).all(axis=1)
    assert known.all() and np.isfinite(chain.played.on_frames).all()
    checked(armature, chain, chain.frames[known])


def test_a_solve_of_the_current_frame_has_them_too():
    armature = leg()
    bpy.context.scene.frame_set(7)
    chain = solve(armature).chains[0]
    assert chain.joints.angles.from_rest.shape == (1, 2) and np.abs(chain.joints.angles.from_rest).max() > 0.1
    bake(armature, None, 7, 8)
    checked(armature, chain)


def test_angles_go_on_where_a_bone_turns_all_the_way_round():
    armature = add_armature({"hand": ((0, 0, 0), (0, 1, 0), "", 0.3)}, "Clock")
    around = {i: (0, np.cos(0.7 * i), np.sin(0.7 * i)) for i in range(1, 25)}
    add_chain(armature, "hand", add_target(around), 1)
    for verify in ('NONE', 'ALL'):
        chain = bake(armature, None, *FRAMES, options=BakeOptions(verify=verify)).chains[0]
        assert np.abs(np.diff(chain.joints.angles.from_rest[:, 0])) == pytest.approx(0.7, abs=1e-4)
        checked(armature, chain)


def test_the_same_rotation_is_the_number_nearest_to_another():
    others = np.array([0.0, 7.0, -12.0])
    near = nearest_turns(np.array([3.0, 0.5, 0.5]), others)
    assert near == pytest.approx([3.0, 0.5 + 2 * np.pi, 0.5 - 4 * np.pi])
