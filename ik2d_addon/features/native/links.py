# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own forward kinematics of a chain in its plane.

Its rest matrices have 32 bits, and some are not orthonormal by 5e-5: what such a bone carries goes round an
ellipse.
"""

from dataclasses import dataclass

import numpy as np

from ...core.inputs import Floats
from ...rig.chain.chain import RigChain, rest_joints


@dataclass(frozen=True, eq=False)
class Links:
    """What the bones of a chain carry, each in axes of its own in which that turns on a circle."""

    root: Floats  # (2, 2) from the plane's x and y to the root's axes
    own: Floats  # (n, 2) from each bone's head to the next one's, or to the tip
    carried: Floats  # (n, 2, 2) from each bone's axes to those of the one before, in rest

    def tips(self, turns: Floats) -> Floats:
        """Return the tips (..., 2) of turns (..., n) from rest, in the root's axes."""
        tips = np.zeros((*turns.shape[:-1], 2))
        for i in range(len(self.own) - 1, -1, -1):
            reached = self.own[i] + (tips @ self.carried[i + 1].T if i + 1 < len(self.own) else 0.0)
            cosine, sine = np.cos(turns[..., i]), np.sin(turns[..., i])
            tips[..., 0] = cosine * reached[..., 0] - sine * reached[..., 1]
            tips[..., 1] = sine * reached[..., 0] + cosine * reached[..., 1]
        return tips


def links_of(rig: RigChain) -> Links:
    """Return the links of a chain whose bones turn about their joints' axes."""
    bones, plane = rig.pose_bones, rig.plane
    rest = [np.array(bone.bone.matrix_local, np.float64)[:3, :3] for bone in bones]
    axes = [_axes(matrix, axis, plane.x) for matrix, axis in zip(rest, rig.joints.axes, strict=True)]
    steps = np.diff(rest_joints(bones), axis=0)
    into = [own.T @ np.linalg.inv(matrix) for own, matrix in zip(axes, rest, strict=True)]
    carried = [np.eye(2), *(into[i] @ rest[i + 1] @ axes[i + 1] for i in range(len(bones) - 1))]
    root = np.linalg.inv(np.array((plane.x, plane.y)) @ rest[0] @ axes[0])
    own = np.array([matrix @ step for matrix, step in zip(into, steps, strict=True)])
    return Links(root, own, np.array(carried))


def _axes(matrix: Floats, axis: Floats, along: Floats) -> Floats:
    """Return unit vectors (3, 2) at right angles to a bone's axis (3,) and to one another.

    The first is as near as it gets to a direction (3,) in rest space.
    """
    first = np.linalg.inv(matrix) @ along
    first = first - (first @ axis) * axis
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(axis, first)), axis=1)
