# SPDX-License-Identifier: GPL-3.0-or-later
"""A planar chain of bones, and where its joints are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import IK2DError

Floats = NDArray[np.float64]

# The tolerance of every solver where the caller names none, as a fraction of the outer reach.
DEFAULT_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Chain:
    """The lengths of a planar chain's bones, joint to joint, root to tip.

    lengths: (n,) at least zero, in Blender units. A bone of zero length is allowed.
    Raises IK2DError for no bones, and for lengths that are negative or not finite.
    """

    lengths: Floats  # (n,)

    def __post_init__(self) -> None:
        lengths = frozen_floats(self.lengths, "lengths")
        if lengths.ndim != 1 or lengths.size == 0:
            raise IK2DError(f"lengths must be a list of one or more numbers, not of shape {lengths.shape}")
        if (lengths < 0.0).any():
            raise IK2DError(f"lengths must not be negative; bone {int(lengths.argmin())} is {lengths.min()}")
        object.__setattr__(self, "lengths", lengths)

    def __len__(self) -> int:
        return self.lengths.size

    @property
    def reach(self) -> tuple[float, float]:
        """(inner, outer): the annulus of the tip, if its joints may turn freely.

        outer = sum(lengths); inner = 2 max(lengths) - outer, but not below zero: only a bone
        longer than all the others together keeps the tip away from the root.
        """
        outer = float(self.lengths.sum())
        return max(0.0, 2.0 * float(self.lengths.max()) - outer), outer

    def tolerance_or_default(self, tolerance: float | None) -> float:
        """Return `tolerance` (a length, or None for a millionth of the outer reach), checked."""
        if tolerance is None:
            return DEFAULT_TOLERANCE * self.reach[1]
        if not (np.isfinite(tolerance) and tolerance >= 0.0):
            raise IK2DError(f"tolerance must be a length of zero or more, not {tolerance}")
        return float(tolerance)


def forward(chain: Chain, angles: ArrayLike) -> Floats:
    """Return the joints of a chain, root first and tip last, the root at the origin.

    p[0] = 0;  p[i+1] = p[i] + lengths[i] (cos a, sin a),  a = angles[0] + ... + angles[i]
    angles: (..., n) radians, each relative to the bone before. Returns (..., n + 1, 2).
    Raises IK2DError where the angles are not finite or not n.
    """
    directions = np.cumsum(checked_angles(chain, angles), axis=-1)
    joints = np.zeros((*directions.shape[:-1], len(chain) + 1, 2))
    np.cumsum(chain.lengths * np.cos(directions), axis=-1, out=joints[..., 1:, 0])
    np.cumsum(chain.lengths * np.sin(directions), axis=-1, out=joints[..., 1:, 1])
    return joints


def checked_angles(chain: Chain, angles: ArrayLike, name: str = "angles") -> Floats:
    """Return angles (..., n) as floats; raise IK2DError where there are not n finite ones."""
    checked = finite_floats(angles, name)
    if checked.ndim == 0 or checked.shape[-1] != len(chain):
        raise IK2DError(f"{name} must hold {len(chain)} numbers, one a bone, not shape {checked.shape}")
    return checked


def checked_targets(target: ArrayLike) -> Floats:
    """Return targets (..., 2) as floats; raise IK2DError where one is not a finite point."""
    checked = finite_floats(target, "target")
    if checked.ndim == 0 or checked.shape[-1] != 2:
        raise IK2DError(f"a target is two numbers, x and y, not shape {checked.shape}")
    return checked


def finite_floats(values: ArrayLike, name: str) -> Floats:
    """Return `values` as an array of floats; raise IK2DError naming the first that is none."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise IK2DError(f"{name} must be numbers: {error}") from None
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise IK2DError(f"{name} must be finite numbers; at {list(where)} it is {array[where]}")
    return array


def frozen_floats(values: ArrayLike, name: str) -> Floats:
    """Return a read-only copy of `values`, which must be finite numbers."""
    array = finite_floats(values, name).copy()
    array.flags.writeable = False
    return array


def wrapped(angles: Floats) -> Floats:
    """Return the same rotations in [-pi, pi]; angles that are already there stay as they are."""
    inside = np.abs(angles) <= np.pi
    return np.where(inside, angles, np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi)
