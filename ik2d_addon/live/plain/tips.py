# SPDX-License-Identifier: GPL-3.0-or-later
"""The tip of a chain that stretches, by Blender's own functions, for one pose.

The results are those of `Linkage.tips`; numpy is slow for a single one.
"""

from collections.abc import Sequence
from math import copysign

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...rig.chain.chain import RigChain
from ...rig.chain.stretch import ALONG
from .matrices import Affine, moved


class PlainTips:
    """The tips of a chain on the frame that is followed: hold it there, then ask."""

    def __init__(self, rig: RigChain, shown: Sequence[bpy.types.PoseBone]) -> None:
        """Keep the bones' places. shown: the evaluated pose bones, root to tip."""
        assert rig.stretching is not None
        self._stretching = rig.stretching
        bones = rig.pose_bones
        self._bones = [(bone.bone.convert_local_to_pose, bone.bone.matrix_local.copy()) for bone in bones]
        above = bones[0].parent
        self._above = above.bone.matrix_local.copy() if above else None
        self._axes = [Vector(axis) for axis in rig.joints.axes]
        self._places = [
            Vector() if bone.bone.use_connect and bone.parent else there.location.copy()
            for bone, there in zip(bones, shown, strict=True)
        ]
        self._scales = [bone.scale.copy() for bone in shown]
        self._tail = Vector((0.0, bones[-1].bone.length, 0.0))
        self._plane = rig.plane
        self._base: Matrix | None = None
        self._into: Affine = ()

    def hold(self, base: Matrix | None, into: Affine) -> None:
        """Hold the chain by the pose matrix of the bone above it. into: from pose space to rest space."""
        self._base, self._into = base and base.copy(), into  # Blender frees an evaluated bone's own

    def __call__(self, turns: list[float], factors: list[float]) -> tuple[float, float]:
        """Return the tip, in the plane from the root, of turns and factors of lengths (n,)."""
        lengths = self._stretching.own_factors(np.array([factors]))[0] * np.abs(self._stretching.bases)
        held, above = self._base, self._above
        rows = zip(self._bones, self._places, self._scales, self._axes, turns, lengths.tolist(), strict=True)
        for (convert, rest), place, scale, axis, turn, long in rows:
            scale = scale.copy()
            scale[ALONG] = copysign(long, scale[ALONG])
            basis = Matrix.LocRotScale(place, Quaternion(axis, turn), scale)
            if held is None:
                held = convert(basis, rest)
            else:
                held = convert(basis, rest, parent_matrix=held, parent_matrix_local=above)
            above = rest
        tip = np.array(moved(self._into, *(held @ self._tail))) - self._plane.origin
        return float(tip @ self._plane.x), float(tip @ self._plane.y)
