# SPDX-License-Identifier: GPL-3.0-or-later
"""A foot in the rest space of its armature: its shape, and the directions ahead and up."""

from dataclasses import dataclass

import numpy as np

from ..affine import rotations_about
from ..inputs import Floats
from .roll import FootShape


@dataclass(frozen=True, eq=False)
class FootAxes:
    """The shape of a foot, and its plane in rest space."""

    shape: FootShape
    ahead: Floats  # (3,) unit, in the chain's plane
    up: Floats  # (3,) unit, in the chain's plane

    @property
    def axis(self) -> Floats:
        """(3,) the axis about which a positive roll turns, by the right-hand rule."""
        axis: Floats = np.cross(self.up, self.ahead)
        return axis

    def offsets(self, places: Floats) -> Floats:
        """Return vectors (.., 3) in rest space for places (.., 2), ahead and up."""
        offsets: Floats = places[..., :1] * self.ahead + places[..., 1:] * self.up
        return offsets

    def turns(self, angles: Floats) -> Floats:
        """Return the rotations (.., 3, 3) in rest space of angles (..), radians."""
        return rotations_about(self.axis, angles)

    def angles(self, turns: Floats) -> Floats:
        """Return the angles (..) of rotations (.., 3, 3) in rest space about the axis, radians."""
        turned = turns @ self.ahead
        angles: Floats = np.arctan2(-(turned @ self.up), turned @ self.ahead)
        return angles
