# SPDX-License-Identifier: GPL-3.0-or-later
"""A live bone that does nothing but turn about its post's axis, in plain numbers."""

from dataclasses import replace
from math import hypot

import numpy as np

from ...core import Status
from ...core.inputs import Floats
from ...core.one_target import PlainAnswer
from ...core.swing.plain import PlainSwing, Quaternion, Turned, multiplied, rotated
from ...rig.chain.chain import RigChain
from ...rig.pose.kinematics import Linkage, read_linkage
from ...rig.scene.samples import ChainSamples


class PlainTurntable:
    """Its tip, which aims at where it would be without limits; vectors are in the bone's own space."""

    def __init__(self, rig: RigChain, samples: ChainSamples, linkage: Linkage | None, axes: Floats) -> None:
        """Read it. samples: of one frame. axes: (3, 3) of its own space in rest space, in columns."""
        assert rig.swing is not None
        self._free = PlainSwing(rig.swing.without_limits, axes)
        (tip,) = read_linkage(rig, samples, linkage).tips_turned(np.zeros((1, 1))) - rig.plane.origin
        self._tip: list[float] = np.linalg.solve(axes, tip).tolist()
        self._height = float(tip @ rig.plane.normal)  # of the tip over the plane
        self._flat = float(tip @ rig.plane.x), float(tip @ rig.plane.y)

    def aimed(self, x: float, y: float, z: float, height: float, turn: Quaternion) -> Turned | None:
        """Return the turn that it has, and where its tip aims, turned back by it.

        None where the arrays have to do it. x, y, z: the target. height: as `PlainSwing.turned` has it.
        """
        free = self._free.turned(x, y, z, height)
        w, a, b, c = turn
        return free and (turn, rotated(multiplied((w, -a, -b, -c), free[0]), *self._tip))

    def measures(self, in_plane: float, height: float) -> tuple[float, float]:
        """Return a miss in the plane, and the height of where the tip aims, as such heights alone."""
        return 0.0, self._height + hypot(in_plane, height - self._height)

    def solve(self, x: float, y: float, _bend: float, _softness: float) -> PlainAnswer:
        """Return the answer for where the tip aims in the plane: no turn in that makes up for a miss."""
        return PlainAnswer([0.0], int(Status.REACHED), hypot(x - self._flat[0], y - self._flat[1]))


def as_if_free(rig: RigChain) -> RigChain:
    """Return a chain with joints that all turn where it is a turntable that aims; another as it is."""
    if rig.swing is None or not (rig.swing.turns_alone and rig.settings.aims):
        return rig
    return replace(rig, joints=replace(rig.joints, weights=np.ones(len(rig.bones))))
