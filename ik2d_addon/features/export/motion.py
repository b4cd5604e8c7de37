# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of rigs as Blender shows it, and as keys of bones that nothing but keys moves."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.affine import inverse
from ...core.inputs import Floats
from ...core.solution import Steps

# Of a rig's size: a bone that moves by less has no location keys. As a factor: one that grows by less has no
# scale keys. Both are what 32 bits leave of nothing.
_STILL, _RIGID = 5e-7, 2e-6
_ROUNDS = 4  # until the cubics of a quaternion meet what is half-way: each leaves a hundredth


@dataclass(frozen=True, eq=False)
class RigMotion:
    """A rig's evaluated motion: on each frame, and half-way to the next."""

    bones: tuple[str, ...]
    poses: Floats  # (2 f - 1, bones, 4, 4), in the armature's space
    world: Floats  # (2 f - 1, 4, 4), of the armature

    @property
    def frames(self) -> int:
        """The number of frames."""
        return (len(self.poses) + 1) // 2


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The bones of a rig at rest, parents first."""

    bones: tuple[str, ...]
    parents: tuple[int, ...]  # -1 for none
    rests: Floats  # (bones, 4, 4)
    lengths: Floats  # (bones,)

    @classmethod
    def of(cls, armature: bpy.types.Object) -> "Skeleton":
        """Return the bones of an armature."""
        bones = _parents_first(armature.data.bones)
        names = tuple(bone.name for bone in bones)
        parents = tuple(names.index(bone.parent.name) if bone.parent else -1 for bone in bones)
        return cls(
            names,
            parents,
            np.array([bone.matrix_local for bone in bones], np.float64).reshape(-1, 4, 4),
            np.array([bone.length for bone in bones]),
        )

    def parent_of(self, bone: str, known: Container[str]) -> str:
        """Return the nearest bone above one that is known; "" for none."""
        row = self.parents[self.bones.index(bone)]
        while row >= 0 and self.bones[row] not in known:
            row = self.parents[row]
        return self.bones[row] if row >= 0 else ""

    @property
    def size(self) -> float:
        """The largest extent of the heads and tails at rest."""
        tips = self.rests[:, :3, 3] + self.rests[:, :3, 1] * self.lengths[:, None]
        return float(np.ptp(np.concatenate([self.rests[:, :3, 3], tips]), axis=0).max())


def _parents_first(bones: Sequence[bpy.types.Bone]) -> list[bpy.types.Bone]:
    return sorted(bones, key=lambda bone: len(bone.parent_recursive))


def recorded_steps(
    scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object], first: int, last: int
) -> Steps[dict[str, RigMotion]]:
    """Record the motion of armatures in steps, which yield frames done; return it by their names."""
    names = {ob.name: tuple(bone.name for bone in _parents_first(ob.data.bones)) for ob in armatures}
    rows: dict[str, list[tuple[Floats, Floats]]] = {name: [] for name in names}
    for half in range(2 * (last - first) + 1):
        scene.frame_set(first + half // 2, subframe=half % 2 / 2)
        graph = bpy.context.evaluated_depsgraph_get()
        for ob in armatures:
            shown = ob.evaluated_get(graph)
            rows[ob.name].append((pose_matrices(shown, names[ob.name]), np.array(shown.matrix_world)))
        yield half // 2
    return {
        name: RigMotion(names[name], *(np.array(each, np.float64) for each in zip(*told, strict=True)))
        for name, told in rows.items()
    }


def pose_matrices(shown: bpy.types.Object, bones: Sequence[str]) -> Floats:
    """Return the pose matrices (bones, 4, 4) of an evaluated armature, in its space."""
    numbers = np.empty(16 * len(shown.pose.bones), np.float32)
    shown.pose.bones.foreach_get("matrix", numbers)
    rows = {bone.name: row for row, bone in enumerate(shown.pose.bones)}
    matrices: Floats = numbers.astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
    return matrices[[rows[bone] for bone in bones]]


# Location (t, 3), rotation as quaternions (t, 4), and scale (t, 3), at frames and half-way.
Transforms = dict[str, Floats]
_WIDTHS = {"location": 3, "rotation_quaternion": 4, "scale": 3}
_AT_REST = {"location": np.zeros(3), "rotation_quaternion": np.array([1.0, 0, 0, 0]), "scale": np.ones(3)}


def local_transforms(skeleton: Skeleton, motion: RigMotion) -> dict[str, Transforms]:
    """Return for each bone the channels by which it gets its pose, with all of its parent's transform.

    Heads and directions of bones are exact even where a parent's scale would shear them: a bone's own axes
    are made rectangular from its direction on. Each counts from its parent as the channels pose that.
    """
    rows = {name: row for row, name in enumerate(motion.bones)}
    shown: list[Floats] = []
    found: dict[str, Transforms] = {}
    for bone, parent, rest in zip(skeleton.bones, skeleton.parents, skeleton.rests, strict=True):
        held = rest[None] if parent < 0 else shown[parent] @ (inverse(skeleton.rests[parent]) @ rest)
        own = inverse(np.broadcast_to(held, motion.poses[:, 0].shape)) @ motion.poses[:, rows[bone]]
        found[bone], basis = _parts(own, skeleton.size)
        shown.append(held @ basis)
    return found


def object_transforms(motion: RigMotion) -> Transforms:
    """Return the channels of an armature object without a parent."""
    return _parts(motion.world, 0.0)[0]


def _parts(matrices: Floats, size: float) -> tuple[Transforms, Floats]:
    """Return the channels of matrices (t, 4, 4), without what is noise, and the matrices that they make."""
    location, rotation, scale = parts(matrices)
    scale[np.abs(scale - 1.0) < _RIGID] = 1.0
    location[np.abs(location) < _STILL * size] = 0.0
    told = {"location": location, "rotation_quaternion": quaternions(rotation), "scale": scale}
    return told, joined(location, rotation, scale)


def parts(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the locations (t, 3), rotations (t, 3, 3) and scales (t, 3) of matrices (t, 4, 4).

    Sheared ones keep their y axis.
    """
    linear = matrices[:, :3, :3]
    rotation, scale = np.empty_like(linear), np.empty((len(linear), 3))
    scale[:, 1] = np.linalg.norm(linear[:, :, 1], axis=1)
    rotation[:, :, 1] = linear[:, :, 1] / np.maximum(scale[:, 1], 1e-30)[:, None]
    across = linear[:, :, 0] - rotation[:, :, 1] * _dots(linear[:, :, 0], rotation[:, :, 1])[:, None]
    rotation[:, :, 0] = across / np.maximum(np.linalg.norm(across, axis=1), 1e-30)[:, None]
    rotation[:, :, 2] = np.cross(rotation[:, :, 0], rotation[:, :, 1])
    scale[:, 0] = _dots(linear[:, :, 0], rotation[:, :, 0])
    scale[:, 2] = _dots(linear[:, :, 2], rotation[:, :, 2])
    return matrices[:, :3, 3].copy(), rotation, scale


def joined(location: Floats, rotation: Floats, scale: Floats) -> Floats:
    """Return the matrices (t, 4, 4) of locations (t, 3), rotations (t, 3, 3) and scales (t, 3)."""
    made = np.zeros((len(rotation), 4, 4))
    made[:, :3, :3], made[:, :3, 3], made[:, 3, 3] = rotation * scale[:, None, :], location, 1.0
    return made


def _dots(a: Floats, b: Floats) -> Floats:
    dots: Floats = (a * b).sum(axis=1)
    return dots


def quaternions(rotations: Floats) -> Floats:
    """Return unit quaternions (t, 4) of rotations (t, 3, 3), each on the side of the one before it."""
    m = rotations
    trace = np.trace(m, axis1=1, axis2=2)
    four = np.stack([trace, *(2 * m[:, i, i] - trace for i in range(3))], axis=1)
    largest = four.argmax(axis=1)
    wx, wy, wz = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 1, 0] + m[:, 0, 1], m[:, 0, 2] + m[:, 2, 0], m[:, 2, 1] + m[:, 1, 2]
    table = np.stack(
        [
            np.stack([1 + four[:, 0], wx, wy, wz], axis=1),
            np.stack([wx, 1 + four[:, 1], xy, xz], axis=1),
            np.stack([wy, xy, 1 + four[:, 2], yz], axis=1),
            np.stack([wz, xz, yz, 1 + four[:, 3]], axis=1),
        ],
        axis=1,
    )
    found: Floats = table[np.arange(len(m)), largest]
    found /= np.linalg.norm(found, axis=1)[:, None]
    turned = np.ones(len(found))
    turned[1:] = np.where((found[1:] * found[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    found *= np.cumprod(turned)[:, None]
    return found if found[0, 0] >= 0.0 else -found


@dataclass(frozen=True, eq=False)
class Curves:
    """Keys of one property: a value at each frame, and handles a third before and after it."""

    values: Floats  # (f, channels); two alike for one that does not move
    before: Floats
    after: Floats

    @property
    def moves(self) -> bool:
        """Whether any of its channels moves."""
        return bool(np.ptp(self.values, axis=0).any() or np.ptp(self.after, axis=0).any())


def curves_of(values: Floats) -> Curves:
    """Return the keys on the frames whose cubics meet values (2 f - 1, channels) on frames and half-way.

    Those of quaternions meet them but for their lengths, and leave each key at right angles to it: a file may
    keep no more of them.
    """
    if len(values) == 1:
        return Curves(values, values, values)
    if not np.ptp(values, axis=0).any():
        return Curves(values[[0, -1]], values[[0, -1]], values[[0, -1]])
    on, half = values[::2], values[1::2]
    slopes = np.empty_like(on)
    slopes[0], slopes[-1] = -3 * on[0] + 4 * half[0] - on[1], 3 * on[-1] - 4 * half[-1] + on[-2]
    slopes[1:-1] = (8 * (half[1:] - half[:-1]) - (on[2:] - on[:-2])) / 6
    after, before = slopes.copy(), slopes.copy()
    is_turn = values.shape[1] == _WIDTHS["rotation_quaternion"]
    for _ in range(_ROUNDS if is_turn else 1):
        if is_turn:
            after, before = _across(after, on), _across(before, on)
        there = (on[:-1] + on[1:]) / 2 + (after[:-1] - before[1:]) / 8
        off = -_across(there, half) if is_turn else half - there
        after[:-1] += 4 * off
        before[1:] -= 4 * off
    if is_turn:
        after, before = _across(after, on), _across(before, on)
    return Curves(on, on - before / 3, on + after / 3)


def _across(vectors: Floats, units: Floats) -> Floats:
    """Return the parts of vectors at right angles to unit vectors."""
    return vectors - units * _dots(vectors, units)[:, None]


def moved_properties(clips: Sequence[Transforms]) -> tuple[str, ...]:
    """Return the properties that a bone needs keys of: those that are not at rest in all of its clips."""
    return tuple(
        name for name in _WIDTHS if any(np.abs(clip[name] - _AT_REST[name]).max() > 0.0 for clip in clips)
    )
