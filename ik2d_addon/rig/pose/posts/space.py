# SPDX-License-Identifier: GPL-3.0-or-later
"""Posts over all frames: the space that a post turns in, and its angles.

The rotation of a post by its channels is  A R(theta) B : its turn about its axis after those Euler angles
that turn before it (B), then those after it, or all of a quaternion that is not that turn (A).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Euler, Matrix

from ....core.affine import Frames, inverse, norms, turned
from ....core.inputs import Floats
from ....core.post import PostAngles
from ...animation import versions
from ...animation.bone_channels import matrices
from ...animation.fcurves import playing_curves, values_by
from ...animation.times import animation_times, strip_times
from ...animation.value_keys import driven_paths
from ...chain.chain import RigChain
from ...chain.checks.bones import rest_joints
from ...chain.joints import Joints
from ...chain.planes import reach_of
from ...rest import rest_matrix
from ...scene.bone_constraints import Held, OtherControl, other_controls, sentences
from ...scene.samples import ChainSamples
from ..bone_matrices import rest_to_pose, transforms
from ..kinematics import read_linkage
from .channels import NO_ROTATION, about


def chain_of_post(rig: RigChain) -> RigChain:
    """Return a chain of the post above a chain alone, to sample it and to look up its keys."""
    assert rig.post is not None
    axis = np.eye(3)[None, rig.post.rule.axis]
    limits = np.array([rig.post.rule.limits or (np.nan, np.nan)])
    return replace(
        rig,
        bones=(rig.post.bone,),
        settings=replace(rig.settings, post=None, path="", native=None, tip_angle=None),
        joints=Joints(limits, np.ones(1), np.zeros(1, np.bool_), axis, np.zeros(1)),
        swing=None,
        pole=None,
        stretching=None,
        slides=None,
        hands=None,
        foot=None,
    )


def with_all_controls(rig: RigChain, first: float, last: float, reaching: Sequence[Held]) -> RigChain:
    """Return a chain with warnings for other controls of its bones and of its post, on some frames."""
    lines = sentences(rig.name, all_controls(rig, first, last, reaching))
    return rig.with_remarks(notes=(*rig.remarks.notes, *lines), other_controls=bool(lines))


def all_controls(
    rig: RigChain,
    first: float,
    last: float,
    reaching: Sequence[Held] | None = None,
    *,
    carrying: bool = False,
) -> list[OtherControl]:
    """Return the other controls of a chain's bones and of its post; arguments as of `other_controls`."""
    own = other_controls(rig, first, last, reaching, carrying=carrying)
    if rig.post_above is None:
        return own
    of_post = other_controls(chain_of_post(rig), first, last, reaching, carrying=carrying)
    by_place = {(control.owner, control.constraint): control for control in of_post}
    for control in own:  # an IK may move both
        place = control.owner, control.constraint
        above = by_place[place].bones if place in by_place else ()
        by_place[place] = replace(control, bones=(*above, *control.bones))
    return [*by_place.values()]


@dataclass(frozen=True, eq=False)
class PostSpace(Frames):
    """A post at each frame before its turn."""

    to_pose: Floats  # (frames, 4, 4) from the space that it turns in to the armature's pose space
    angles: Floats  # (frames,) radians, its turn as sampled
    swings: Floats  # (frames, 3, 3) A, which is a part of `to_pose`


def post_space(
    scene: bpy.types.Scene,
    rig: RigChain,
    own: ChainSamples,
    times: Sequence[float],
    *,
    as_posed: bool = False,
) -> PostSpace:
    """Return the space that the post of a chain turns in. own: samples of `chain_of_post` at the times.

    as_posed: of the current pose, whatever its F-Curves say.
    """
    assert rig.post is not None
    alone, axis = chain_of_post(rig), rig.post.rule.axis
    (bone,) = alone.pose_bones
    linear = own.bases[:, 0, :3, :3]
    signs = np.where(np.array(bone.scale) < 0.0, -1.0, 1.0)
    sizes = norms(linear.swapaxes(1, 2)) * signs
    rotations = linear / np.where(sizes != 0.0, sizes, 1.0)[:, None, :]
    after = before = np.zeros((len(times), 3, 3)) + np.eye(3)
    if bone.rotation_mode not in ('QUATERNION', 'AXIS_ANGLE'):
        values = np.array([bone.rotation_euler])
        if not as_posed:
            values = _channels_at(scene, bone, axis, times)
            if _plays_more(bone):
                values = _nearest_angles(bone.rotation_mode, rotations, values)
        after, before = _others(bone, axis, values)
    inner = after.swapaxes(1, 2) @ rotations @ before.swapaxes(1, 2)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    angles = np.arctan2(inner[:, v, u] - inner[:, u, v], inner[:, u, u] + inner[:, v, v])
    if bone.rotation_mode in ('QUATERNION', 'AXIS_ANGLE'):
        after = rotations @ about(axis, -angles)
        if np.abs(after - np.eye(3)).max(initial=0.0) <= NO_ROTATION:
            after = np.zeros_like(after) + np.eye(3)
    to_pose = rest_to_pose(alone, own) @ rest_matrix(bone.bone) @ transforms(after)
    return PostSpace(to_pose, angles, after)


def solved_post(rig: RigChain, samples: ChainSamples, space: PostSpace) -> PostAngles:
    """Return the angles of the post that bring a chain's plane through its targets."""
    assert rig.post is not None
    post, plane = rig.post, rig.plane
    into = inverse(space.to_pose) @ inverse(samples.world)
    targets = turned(into[:, :3, :3], samples.targets) + into[:, :3, 3]
    # From the post's own space, turned as sampled, to the chain's rest space.
    to_rest = (
        inverse(rest_to_pose(rig, samples)) @ space.to_pose @ transforms(about(post.rule.axis, space.angles))
    )
    normals = plane.normal @ to_rest[:, :3, :3]
    heights = read_linkage(rig, samples).heights
    distances = heights - (to_rest[:, :3, 3] - plane.origin) @ plane.normal
    sizes = np.cbrt(np.abs(np.linalg.det(to_rest[:, :3, :3])))
    reaches = reach_of(rest_joints(rig.pose_bones)) / np.where(sizes > 0.0, sizes, 1.0)
    return post.rule.solve(targets, normals, np.broadcast_to(distances, len(normals)), reaches)


def on_post(rig: RigChain, samples: ChainSamples, space: PostSpace, angles: Floats) -> ChainSamples:
    """Return the samples of a chain as its post at other angles (frames,) carries it."""
    assert rig.post is not None and samples.parent is not None
    turn = transforms(about(rig.post.rule.axis, angles - space.angles))
    moved = space.to_pose @ turn @ inverse(space.to_pose)
    carried = None if samples.carried is None else moved @ samples.carried @ inverse(moved)
    return replace(samples, parent=moved @ samples.parent, carried=carried)


def _others(bone: bpy.types.PoseBone, axis: int, values: Floats) -> tuple[Floats, Floats]:
    """Return the rotations (m, 3, 3) by Euler angles (m, 3) after the one about the axis, and before it."""
    place = bone.rotation_mode.index("XYZ"[axis])
    earlier = np.isin(np.arange(3), ["XYZ".index(letter) for letter in bone.rotation_mode[:place]])
    values[:, axis] = 0.0
    return (
        matrices(bone.rotation_mode, np.where(earlier, 0.0, values)),
        matrices(bone.rotation_mode, np.where(earlier, values, 0.0)),
    )


def _plays_more(bone: bpy.types.PoseBone) -> bool:
    """Return whether strips or drivers may turn a bone, on top of its F-Curves."""
    animation = bone.id_data.animation_data
    path = bone.path_from_id("rotation_euler")
    return animation is not None and (
        any(len(track.strips) for track in animation.nla_tracks) or path in driven_paths(bone.id_data)
    )


def _nearest_angles(mode: str, rotations: Floats, near: Floats) -> Floats:
    """Return Euler angles (m, 3) of rotations (m, 3, 3): of the two ways, those nearest to `near` (m, 3)."""
    found = [
        Matrix(rotation).to_euler(mode, Euler(angles, mode))
        for rotation, angles in zip(rotations.tolist(), near.tolist(), strict=True)
    ]
    return np.array(found, np.float64).reshape(-1, 3)


def _channels_at(
    scene: bpy.types.Scene, bone: bpy.types.PoseBone, axis: int, times: Sequence[float]
) -> Floats:
    """Return a bone's Euler angles (m, 3) at frames, but for the one about an axis, by their F-Curves."""
    armature, path = bone.id_data, bone.path_from_id("rotation_euler")
    curves = playing_curves(armature, versions.existing_fcurves(armature))
    others = {place: curve for place, curve in curves.items() if place != (path, axis)}
    shown = strip_times(armature, animation_times(scene, times))
    return values_by(others, path, shown, np.array(bone.rotation_euler))
