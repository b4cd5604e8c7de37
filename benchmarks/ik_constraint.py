# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's IK constraint on a chain of bones, given the same problems as the other contestants."""

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from .problems import Floats, Problems

# The chain's plane stands askew in space, as rigs do: in a plane of coordinates it cannot leave its plane
# only because those numbers are exactly zero.
ASKEW = Quaternion((0.3, 0.5, -0.4, 0.7)).normalized().to_matrix()


class IKRig:
    """An armature in an empty file: a straight chain with an IK constraint that follows an empty.

    lengths: (n,); limit: of every joint, radians to both sides, or None; locked: whether the joints may turn
    only about the plane's normal (Lock IK X and Y), as a careful rigger would have it.
    """

    def __init__(self, lengths: Floats, limit: float | None, locked: bool) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.armature = _straight_chain(lengths)
        self.target = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(self.target)
        for bone in self.armature.pose.bones:
            bone.rotation_mode = 'XYZ'
            bone.lock_ik_x = bone.lock_ik_y = locked
            for axis in "xyz" if limit is not None else "":
                setattr(bone, f"use_ik_limit_{axis}", True)
                setattr(bone, f"ik_min_{axis}", -limit)
                setattr(bone, f"ik_max_{axis}", limit)
        constraint = self.armature.pose.bones[-1].constraints.new('IK')
        constraint.target, constraint.chain_count = self.target, len(lengths)

    def start_from(self, angles: Floats) -> None:
        """Pose the bones (n,): Blender's solver starts from there each time."""
        for bone, angle in zip(self.armature.pose.bones, angles.tolist(), strict=True):
            bone.rotation_euler = (0.0, 0.0, angle)

    def aim_at(self, x: float, y: float) -> None:
        """Move the target to a point of the chain's plane; the next evaluation solves it."""
        self.target.location = ASKEW @ Matrix.Rotation(np.pi / 2.0, 3, 'Z') @ _vector(x, y)

    def solve(self) -> None:
        """Have Blender evaluate the scene, which holds nothing else."""
        bpy.context.view_layer.update()

    def frames(self) -> Floats:
        """Return the bones' evaluated matrices (n, 4, 4), rows and columns in the chain's plane's frame."""
        evaluated = self.armature.evaluated_get(bpy.context.view_layer.depsgraph)
        read = np.empty(16 * len(self.armature.pose.bones), "f4")
        evaluated.pose.bones.foreach_get("matrix", read)
        matrices = read.reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
        into = np.eye(4)
        into[:3, :3] = np.array(Matrix.Rotation(-np.pi / 2.0, 3, 'Z')) @ np.array(ASKEW).T
        return into @ matrices


def joints_of(frames: Floats, lengths: Floats) -> Floats:
    """Return the joints after the root (n, 3): x and y in the plane, z off it."""
    return frames[:, :3, 3] + frames[:, :3, 1] * lengths[:, None]


def turns_between(before: Floats, after: Floats) -> Floats:
    """Return by how much each joint's rotation (n,) differs between two poses' frames, in radians."""
    local = [np.array([_unit(frames[0]), *_relative(frames)]) for frames in (before, after)]
    change = np.swapaxes(local[0], 1, 2) @ local[1]
    # From the sine too: the cosine alone knows nothing of small angles.
    sines = np.stack(
        [
            change[:, 2, 1] - change[:, 1, 2],
            change[:, 0, 2] - change[:, 2, 0],
            change[:, 1, 0] - change[:, 0, 1],
        ]
    )
    return np.arctan2(np.linalg.norm(sines, axis=0), np.trace(change, axis1=1, axis2=2) - 1.0)


def rig_for(problems: Problems, locked: bool) -> IKRig:
    """Return the rig that stands for a set of problems."""
    return IKRig(problems.lengths, problems.limit, locked)


def _relative(frames: Floats) -> list[Floats]:
    return [_unit(parent).T @ _unit(child) for parent, child in zip(frames, frames[1:], strict=False)]


def _unit(frame: Floats) -> Floats:
    return frame[:3, :3] / np.linalg.norm(frame[:3, :3], axis=0)


def _vector(x: float, y: float) -> Vector:
    return Vector((x, y, 0.0))


def _straight_chain(lengths: Floats) -> bpy.types.Object:
    """Add bones in one line, each with the plane's normal as its Z axis."""
    data = bpy.data.armatures.new("Chain")
    armature = bpy.data.objects.new("Chain", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    head, parent = 0.0, None
    for i, length in enumerate(lengths.tolist()):
        bone = data.edit_bones.new(f"bone {i:03}")
        bone.head, bone.tail = (ASKEW @ _vector(0.0, y) for y in (head, head + length))
        bone.align_roll(ASKEW.col[2])
        bone.parent, bone.use_connect = parent, parent is not None
        head, parent = head + length, bone
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature
