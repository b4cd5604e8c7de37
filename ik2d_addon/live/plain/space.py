# SPDX-License-Identifier: GPL-3.0-or-later
"""The space that a live chain is solved in, as its armature and the bone above it hold it on a frame."""

from collections.abc import Sequence

import numpy as np
from mathutils import Matrix

from ...core.inputs import Floats
from ...rig.chain.chain import RigChain
from ...rig.pose.bone_matrices import rest_to_pose, takes_all
from ...rig.scene.samples import ChainSamples
from .matrices import Affine, affine, inverse, moved, numbers_of, product


class Space:
    """A chain's own space: rest space, or another that moves with it.

    Settle it, then ask for places. `to_world` and `to_pose` are from it to the world and to the armature's
    pose space.
    """

    def __init__(self, rig: RigChain, samples: ChainSamples, own: Floats) -> None:
        """Keep how the chain's root is held. own: (4, 4) from its own space to rest space.

        samples: of one frame, the bone above the chain at the armature's origin.
        """
        root = rig.pose_bones[0]
        self._to_base: Affine = numbers_of(rest_to_pose(rig, samples)[0] @ own)
        # A root that does not take all of its parent's transforms is held by Blender's own function.
        self._root = None
        location = samples.bases[0, 0, :3, 3]
        if root.parent is not None and not takes_all(root, location):
            rest, above = root.bone.matrix_local, root.parent.bone.matrix_local
            moved_by = Matrix() if root.bone.use_connect else Matrix.Translation(location.tolist())
            self._root = root.bone.convert_local_to_pose, moved_by, rest.copy(), above.copy()
            self._to_base = numbers_of(np.linalg.inv(np.array(rest, np.float64)) @ own)
        self._world: Matrix | None = None
        self._base: Matrix | None = None
        self._into: Affine = ()
        self.to_world: Affine = ()
        self.to_pose: Affine = ()

    def settle(self, world: Matrix, base: Matrix | None) -> bool:
        """Follow the armature and the bone above the chain; return False where they are singular."""
        if self._into and world == self._world and base == self._base:
            return True
        self._world, self._base = world.copy(), base and base.copy()
        self.to_pose = self._to_base
        if self._base is not None:
            self.to_pose = product(affine(self._held(self._base)), self._to_base)
        self.to_world = product(affine(self._world), self.to_pose)
        self._into = inverse(self.to_world) or ()
        return bool(self._into)

    def _held(self, base: Matrix) -> Matrix:
        """Return the matrix that holds the root by the pose matrix of the bone above it."""
        if self._root is None:
            return base
        convert, moved_by, rest, above = self._root
        return convert(moved_by, rest, parent_matrix=base, parent_matrix_local=above)

    def inside(self, place: Sequence[float]) -> tuple[float, float, float]:
        """Return a place of the world in the chain's own space."""
        return moved(self._into, *place)
