# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's bones in space, as Blender poses them: their rotations, scales and pose matrices."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...core.affine import affine, at_all, inverse, one_or_all, rotations_about
from ...core.inputs import Floats
from ..chain.chain import RigChain
from ..rest import rest_axes, rest_matrix
from ..scene.carried import posed_by_blender
from ..scene.samples import ChainSamples

# A rotation matrix of 32 bits has columns of length 1 to within less than this.
SCALE_NOISE = 1e-5


def bone_poses(rig: RigChain, samples: ChainSamples, rotations: Sequence[Floats]) -> Iterator[Floats]:
    """Yield each bone's pose matrices (frames, 4, 4), for local rotations, (frames, 3, 3) for each bone.

    samples: with the final scale and locations of the bones.
    """
    held, bones = samples.parent, rig.pose_bones
    owns = own_transforms(rig, bones, one_or_all(samples.bases))
    for i, (bone, rotation) in enumerate(zip(bones, rotations, strict=True)):
        bases = translation(bone, samples.bases[:, i, :3, 3]) @ transforms(rotation) @ owns[i]
        held = posed(bone, held, bases)
        if i == 0 and samples.carried is not None:
            held = samples.carried @ held
        yield held


def posed(bone: bpy.types.PoseBone, parent: Floats | None, bases: Floats) -> Floats:
    """Return a bone's pose matrices of its own and its parent's, (frames, 4, 4) each."""
    if not takes_all(bone, bases[:, :3, 3]):
        return posed_by_blender(bone, parent, bases)
    if parent is None:
        return rest_matrix(bone.bone) @ bases
    return parent @ (inverse(rest_matrix(bone.parent.bone)) @ rest_matrix(bone.bone)) @ bases


def rotations_of(
    rig: RigChain, turns: Floats, swings: Floats | None = None, aside: Floats | None = None
) -> list[Floats]:
    """Return the local rotations, (frames, 3, 3) for each bone, of turns (frames, n).

    swings: (frames, 3, 3) of the plane, in rest space. aside: (frames, n, 3, 3) rotations before the turns.
    """
    rotations = [rotations_about(axis, turns[:, i]) for i, axis in enumerate(rig.joints.axes)]
    if aside is not None:
        rotations = [rotation @ aside[:, i] for i, rotation in enumerate(rotations)]
    if swings is not None:
        rotations[0] = first_rotations(rig, turns[:, 0], swings)
    return rotations


def whole_rotations(
    rig: RigChain, turns: Floats, swings: Floats | None, aside: Floats | None
) -> dict[int, Floats]:
    """Return the rotations (frames, 3, 3), by number, of bones that not only turn about their axes.

    Arguments as in `rotations_of`.
    """
    numbers = {0} if swings is not None else set[int]()
    if aside is not None:
        off = (aside != np.eye(3)).any(axis=(0, 2, 3)) & ~rig.joints.fixed
        numbers |= set(np.flatnonzero(off).tolist())
    if not numbers:
        return {}
    rotations = rotations_of(rig, turns, swings, aside)
    return {i: rotations[i] for i in sorted(numbers)}


def first_rotations(rig: RigChain, turns: Floats, swings: Floats) -> Floats:
    """Return the first bone's local rotations (frames, 3, 3) for its turns (frames,) and the plane's swings.

    swings: (frames, 3, 3) in rest space.
    """
    return _own_swings(rig, swings) @ rotations_about(rig.joints.axes[0], turns)


def carried_by_swings(rig: RigChain, swings: Floats) -> Floats:
    """Return the linear maps (frames, 3, 3) of rest space by which the first bone carries out swings.

    swings: (frames, 3, 3) in rest space. They differ from these by as much as 32 bits leave the bone's rest
    matrix from orthonormal.
    """
    rest = rest_matrix(rig.pose_bones[0].bone)[:3, :3]
    carried: Floats = rest @ _own_swings(rig, swings) @ np.linalg.inv(rest)
    return carried


def _own_swings(rig: RigChain, swings: Floats) -> Floats:
    """Return swings (frames, 3, 3) of rest space as rotations in the first bone's own space."""
    rest = rest_axes(rig.pose_bones[0].bone)
    swung: Floats = rest.T @ swings @ rest
    return swung


def transforms(rotation: Floats) -> Floats:
    """Return linear maps (.., 3, 3) as matrices (.., 4, 4) without a translation."""
    turned = np.zeros((*rotation.shape[:-2], 4, 4))
    turned[..., :3, :3], turned[..., 3, 3] = rotation, 1.0
    return turned


def takes_all(bone: bpy.types.PoseBone, location: Floats) -> bool:
    """Return whether the bone takes all of its parent's transforms, and its location is along its axes."""
    data = bone.bone
    follows = data.parent is None or (data.use_inherit_rotation and data.inherit_scale == 'FULL')
    return follows and (data.use_local_location or not location.any())


def translation(bone: bpy.types.PoseBone, location: Floats) -> Floats:
    """Return the 4x4 matrices of locations (.., 3); connected bones have none."""
    matrix = np.zeros((*location.shape[:-1], 4, 4)) + np.eye(4)
    if not (bone.bone.use_connect and bone.parent):
        matrix[..., :3, 3] = location
    return matrix


def own_transforms(rig: RigChain, bones: Sequence[bpy.types.PoseBone], bases: Floats) -> list[Floats]:
    """Return each bone's own transform, its scale and a fixed rotation: (frames, 4, 4), or (4, 4) for all.

    bases: (frames, n, 4, 4), or (n, 4, 4) where all frames have the same.
    """
    linear = bases[..., :3, :3]
    scales = np.sqrt(np.einsum("...ij,...ij->...j", linear, linear))  # ([frames,] n, 3)
    usual, steady = scales, np.ones(len(bones), np.bool_)
    if scales.ndim == 3:
        usual = np.median(scales, axis=0)
        steady = np.abs(scales - usual).max(axis=(0, 2)) <= SCALE_NOISE
    usual = np.where(steady[:, None] & (np.abs(usual - 1.0) <= SCALE_NOISE), 1.0, usual)
    signs = np.where(np.array([bone.scale for bone in bones]) < 0.0, -1.0, 1.0)  # lengths have none
    owns = []
    for i, fixed in enumerate(rig.joints.fixed):
        if fixed:
            turned = linear[i] if linear.ndim == 3 else one_or_all(linear[:, i])
        else:
            turned = ((usual[i] if steady[i] else scales[:, i]) * signs[i])[..., None, :] * np.eye(3)
        owns.append(transforms(turned))
    return owns


def rest_to_pose(rig: RigChain, samples: ChainSamples) -> Floats:
    """Return the matrices (frames, 4, 4) from rest space to the armature's pose space, by the root.

    Where the samples have swings, rest space is turned by them about the root.
    """
    root, location = rig.pose_bones[0], one_or_all(samples.bases[:, 0, :3, 3])
    parent, rest = None if samples.parent is None else one_or_all(samples.parent), rest_matrix(root.bone)
    if takes_all(root, location):
        moved = translation(root, location @ rest[:3, :3].T)
        held = moved if parent is None else parent @ (inverse(rest_matrix(root.parent.bone)) @ moved)
    else:
        held = held_unturned(root, parent, location) @ inverse(rest)
    if samples.carried is not None:
        held = one_or_all(samples.carried) @ held
    held, frames = held.reshape(-1, 4, 4), len(samples.targets)
    if samples.swings is not None:  # about the chain's root
        linear = carried_by_swings(rig, samples.swings)
        held = held @ affine(linear, rig.plane.origin - linear @ rig.plane.origin)
    return at_all(held, frames)


def held_unturned(bone: bpy.types.PoseBone, parent: Floats | None, location: Floats) -> Floats:
    """Return a bone's pose matrices (frames, 4, 4), unturned, of its parent's, by Blender's own function."""
    moved = translation(bone, location)
    if parent is None:
        return posed_by_blender(bone, None, moved.reshape(-1, 4, 4))
    shape = np.broadcast_shapes(parent.shape, moved.shape, (1, 4, 4))
    return posed_by_blender(bone, np.broadcast_to(parent, shape), np.broadcast_to(moved, shape))


def location_axes(bone: bpy.types.PoseBone, root: bool) -> Floats:
    """Return the axes (3, 3) of a bone's location, in its parent's space; of the chain's root in rest."""
    rest = rest_matrix(bone.bone)
    axes: Floats = (rest if root else inverse(rest_matrix(bone.parent.bone)) @ rest)[:3, :3]
    return axes


def scale_apart(local: Floats, above: Floats) -> tuple[Floats, Floats]:
    """Return a bone's matrix in its parent's space without its aligned scale, and that scale.

    above: the parent's matrix. An aligned scale acts along the bone's own axes, however it turns.
    """
    sizes = np.linalg.norm((above @ local)[..., :3, :3], axis=-2)
    scale = np.zeros((*sizes.shape[:-1], 4, 4)) + np.eye(4)
    scale[..., :3, :3] *= sizes[..., None, :]
    alone = local.copy()
    alone[..., :3, :3] /= sizes[..., None, :]
    return alone, scale
