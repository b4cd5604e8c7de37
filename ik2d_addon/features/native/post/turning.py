# SPDX-License-Identifier: GPL-3.0-or-later
"""The constants of a post's turn: the space that it turns in, and the chain's plane as it carries it.

The bones between the post and the chain keep their pose, and the post all of its own but its turn: so both
are the same on all frames. Drivers know nothing else of these bones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ....core.affine import inverse
from ....core.inputs import Floats
from ....core.post import PostRule
from ....core.words import refusal
from ....rig.chain.chain import RigChain
from ....rig.chain.checks.bones import rest_joints
from ....rig.chain.planes import reach_of
from ....rig.pose.bone_matrices import rest_to_pose, transforms
from ....rig.pose.kinematics import read_linkage
from ....rig.pose.posts import about, chain_of_post, on_post, post_space, solved_post
from ....rig.pose.target_plane import sampled_path
from ....rig.rest import rest_matrix
from ....rig.scene.samples import ChainSamples

# Places that differ by less than this part of the size of all are the same: poses have 32 bits.
_STILL = 3e-5
# Euler orders that turn about an axis first.
_FIRST = ("XYZ", "YZX", "ZXY")


@dataclass(frozen=True, eq=False)
class PostTurn:
    """A post before its turn, and the plane that it carries."""

    bone: bpy.types.PoseBone
    rule: PostRule
    space: Floats  # (4, 4) its own space before its turn, where the bone above carries it, as in rest
    order: str  # of its Euler angles
    angles: Floats  # (3,) radians, its Euler angles where its turn is 0
    plane: Floats  # (4, 4) the plane's axes and the root, in its own space
    normal: Floats  # (3,) of the plane in its own space
    distance: float  # of the tip from the axis, along the normal
    reach: float  # of the chain in its own space


def read_turn(
    rig: RigChain, scene: bpy.types.Scene, samples: ChainSamples, times: Sequence[float]
) -> tuple[PostTurn, ChainSamples]:
    """Return the turn of a post above a chain, and the samples with the post turned to the targets.

    samples: of the chain at times, some of the scene's frames. Raises IK2DError where the post does more than
    turn on these frames, or a bone between it and the chain moves.
    """
    post, alone, plane = rig.post_above, chain_of_post(rig), rig.plane
    assert post is not None
    own, _ = sampled_path(scene, alone, scene.frame_start, scene.frame_end)
    space = post_space(scene, rig, own, times)
    (bone,) = alone.pose_bones
    held = np.eye(4)
    if own.parent is not None:
        held = own.parent @ np.linalg.inv(rest_matrix(bone.parent.bone))
    spaces = inverse(np.broadcast_to(held, space.to_pose.shape)) @ space.to_pose
    turned = space.to_pose @ transforms(about(post.rule.axis, space.angles))
    from_rest = inverse(turned) @ rest_to_pose(rig, samples)
    heights = np.broadcast_to(read_linkage(rig, samples).heights, len(times))
    joints = rest_joints(rig.pose_bones)
    reach = reach_of(joints)
    _refuse_moved(rig, times, spaces @ from_rest, joints[[0, -1]], reach)
    _refuse_moved(rig, times, from_rest, joints[[0, -1]], reach)
    carried = from_rest.mean(axis=0)
    to_rest = np.linalg.inv(carried)
    order, angles = _angles(bone, post.rule.axis, space.swings.mean(axis=0))
    turn = PostTurn(
        bone,
        post.rule,
        spaces.mean(axis=0),
        order,
        angles,
        carried @ plane.matrix,
        plane.normal @ to_rest[:3, :3],
        float(heights.mean() - (to_rest[:3, 3] - plane.origin) @ plane.normal),
        float(reach * np.cbrt(np.abs(np.linalg.det(carried[:3, :3])))),
    )
    return turn, on_post(rig, samples, space, solved_post(rig, samples, space).angles)


def _refuse_moved(
    rig: RigChain, times: Sequence[float], spaces: Floats, joints: Floats, reach: float
) -> None:
    """Raise IK2DError where maps (frames, 4, 4) of rest space are not the same on all frames."""
    post = rig.post_above
    assert post is not None
    # The ends of a cross at the root and the tip.
    ends = np.concatenate([joint + reach * np.vstack((np.zeros(3), np.eye(3))) for joint in joints])
    places = ends @ spaces[:, :3, :3].swapaxes(1, 2) + spaces[:, None, :3, 3]
    off = np.linalg.norm(places - places[:1], axis=2).max(axis=1)
    size = np.ptp(places[0], axis=0).max() + np.abs(places[0]).max()
    if off.max() > _STILL * size:
        raise refusal(
            "Chain '{chain}' cannot be converted to drivers: its post '{post}' does more than turn about its "
            "{axis} axis, or a bone between it and the chain moves (frame {time:g}), and drivers hold these "
            "still; bake it instead, or keep it live",
            chain=rig.name,
            post=post.bone,
            axis=post.letter,
            time=times[int(off.argmax())],
        )


def _angles(bone: bpy.types.PoseBone, axis: int, swing: Floats) -> tuple[str, Floats]:
    """Return an Euler order and the angles (3,) that a post has where its turn is 0.

    swing: (3, 3) its rotation by a quaternion without its turn.
    """
    if bone.rotation_mode not in ('QUATERNION', 'AXIS_ANGLE'):
        angles = np.array(bone.rotation_euler)
        angles[axis] = 0.0
        return bone.rotation_mode, angles
    order = _FIRST[axis]
    return order, np.array(Matrix(swing.tolist()).to_euler(order))
