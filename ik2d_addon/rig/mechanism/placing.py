# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a mechanism at rest: their common plane, and where their ends are in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import asin, degrees, radians

import bpy
import numpy as np

from ...core import Plane
from ...core.affine import inverse, orientations
from ...core.inputs import Floats
from ...core.words import refusal

# Bones that are further off their common plane than this (radians) are of no one mechanism.
OFF_PLANE = radians(0.1)
# Bones span a plane where the second extent of their directions is over this part of the first.
_SPREAD = 1e-4


@dataclass(frozen=True, eq=False)
class RestBone:
    """A bone at rest, in its armature's space."""

    name: str
    parent: str  # the nearest bone above it of the mechanism; "" for the frame
    head: Floats  # (3,)
    tail: Floats  # (3,)
    axes: Floats  # (3, 3) in columns, orthonormal
    rest: Floats  # (3, 3) as Blender has them, and the inverse
    inverse: Floats

    @classmethod
    def of(cls, bone: bpy.types.Bone, parent: str) -> "RestBone":
        """Read a bone."""
        return cls.each_of([bone], [parent])[0]

    @classmethod
    def each_of(cls, bones: Sequence[bpy.types.Bone], parents: Sequence[str]) -> "list[RestBone]":
        """Read bones."""
        matrices = np.array([bone.matrix_local for bone in bones], np.float64).reshape(-1, 4, 4)
        rests, heads, inverses = matrices[:, :3, :3], matrices[:, :3, 3], inverse(matrices)[:, :3, :3]
        tails = heads + rests[..., 1] * np.array([[bone.length] for bone in bones])
        each = zip(bones, parents, heads, tails, orientations(rests), rests, inverses, strict=True)
        return [cls(bone.name, *numbers) for bone, *numbers in each]

    def end(self, which: str) -> Floats:
        """Return its head or tail (3,)."""
        return self.head if which == 'HEAD' else self.tail


def common_plane(name: str, bones: Sequence[RestBone]) -> Plane:
    """Return the plane of a mechanism's bones; depths apart are as they are.

    Raises IK2DError for a bone that points out of the plane of the others, with the angle.
    """
    ways = np.array([bone.axes[:, 1] for bone in bones])
    normal = _normal(bones, ways)
    if np.abs(ways @ normal).max() > np.sin(OFF_PLANE):
        rests = [_normal(bones, np.delete(ways, row, axis=0)) for row in range(len(ways))]
        left = [
            np.abs(np.delete(ways, row, axis=0) @ rest).max(initial=0.0) for row, rest in enumerate(rests)
        ]
        worst = int(np.argmin(left))
        raise refusal(
            "Mechanism '{name}': '{bone}' is {angle:.2f}\N{DEGREE SIGN} off the plane of the other bones; "
            "put all bones in one plane or in parallel ones",
            name=name,
            bone=bones[worst].name,
            angle=degrees(asin(min(1.0, abs(float(ways[worst] @ rests[worst]))))),
        )
    return Plane.facing([place for bone in bones for place in (bone.head, bone.tail)], normal)


def _normal(bones: Sequence[RestBone], ways: Floats) -> Floats:
    """Return the unit normal (3,) of directions (n, 3)."""
    _, extents, axes = np.linalg.svd(ways, full_matrices=False)
    parallel = len(extents) < 2 or extents[1] <= _SPREAD * extents[0]
    normal = _normal_of_parallel(bones) if parallel else np.cross(axes[0], axes[1])
    return normal * (-1.0 if normal[int(np.abs(normal).argmax())] > 0.0 else 1.0)


def _normal_of_parallel(bones: Sequence[RestBone]) -> Floats:
    """Return the unit normal (3,) of the plane of bones that are parallel at rest.

    One of their own axes that they share, that along which they are less far apart; else by where they are.
    """
    first, offsets = bones[0], np.array([bone.head for bone in bones]) - bones[0].head
    spans = [np.abs(offsets @ first.axes[:, axis]).max() for axis in (0, 2)]
    axis = (0, 2)[int(np.argmin(spans))]
    if all(abs(bone.axes[:, axis] @ first.axes[:, axis]) > np.cos(OFF_PLANE) for bone in bones):
        return first.axes[:, axis]
    across = offsets - np.outer(offsets @ first.axes[:, 1], first.axes[:, 1])
    far = across[int(np.argmax(np.linalg.norm(across, axis=1)))]
    size = float(np.linalg.norm(far))
    normal: Floats = np.cross(first.axes[:, 1], far) / size if size > 0.0 else first.axes[:, axis]
    return normal
