# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of points over a ground: the checked input of the functions for contacts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import IK2DError
from ..inputs import Floats, brief, finite_floats, floats_within

# Greater lengths are of no use, and their squares over short times would overflow.
_LONGEST = 1e100
# Seconds: no frames are nearer to one another, and no take is longer.
_SHORTEST_STEP, _LATEST = 1e-6, 1e9


@dataclass(frozen=True)
class Motion:
    """Path of k points over n frames, with the ground below them.

    places: (n, k, 3), in the world. times: (n,), seconds, rising. up: (3,), a unit vector. ground: (n, k),
    heights along `up`, or None where they are unknown. carried: (n, 3), the ground's own way since the first
    frame. loop: whether the last frame is the first one again, apart from travel.
    """

    places: Floats
    times: Floats
    up: Floats
    ground: Floats | None
    carried: Floats
    loop: bool

    @property
    def relative(self) -> Floats:
        """Places (n, k, 3) as seen from the ground that moves."""
        return self.places - self.carried[:, None]

    @property
    def heights(self) -> Floats:
        """Heights (n, k) along up, over the ground where it is known."""
        heights: Floats = self.relative @ self.up
        if self.ground is not None:
            heights = self.places @ self.up - self.ground
        return heights

    def unrolled(self) -> "Motion":
        """Return a loop three times in a row, each travelling on; the middle one sees no seam."""
        count = len(self.times) - 1

        def thrice(rows: Floats) -> Floats:
            turns = [rows[:count] + i * (rows[-1] - rows[0]) for i in range(3)]
            return np.concatenate((*turns, rows[-1:] + 2 * (rows[-1] - rows[0])))

        ground = None if self.ground is None else thrice(self.ground)
        return Motion(thrice(self.places), thrice(self.times), self.up, ground, thrice(self.carried), False)

    @property
    def middle(self) -> slice:
        """Frames of the unrolled loop that are the loop's own."""
        count = len(self.times) - 1
        return slice(count, 2 * count + 1)


def motion_of(
    places: ArrayLike,
    times: ArrayLike,
    up: ArrayLike,
    ground: ArrayLike | None,
    ground_velocity: ArrayLike,
    loop: object,
) -> tuple[Motion, bool]:
    """Return checked motion, and whether `places` had an axis of points.

    The arguments are those of `find_contacts`.
    """
    path = floats_within(places, "places", _LONGEST)
    single = path.ndim == 2
    if path.ndim not in (2, 3) or path.shape[-1] != 3 or not path.size:
        raise IK2DError(f"places must be (frames, 3) or (frames, points, 3), not {path.shape}")
    path = path.reshape(len(path), -1, 3)
    count = len(path)
    moments = floats_within(times, "times", _LATEST, " seconds")
    if moments.shape != (count,):
        raise IK2DError(f"times must be one for each of the {count} frames, not {moments.shape}")
    if not (np.diff(moments) >= _SHORTEST_STEP).all():
        raise IK2DError(f"times must rise by at least {_SHORTEST_STEP:g} seconds from frame to frame")
    if not isinstance(loop, bool | np.bool_):
        raise IK2DError(f"loop must be True or False, not {brief(loop)}")
    if loop and count < 3:
        raise IK2DError(f"a loop must have at least 3 frames, the last like the first; it has {count}")
    velocity = floats_within(ground_velocity, "ground_velocity", _LONGEST)
    if velocity.shape not in ((3,), (count, 3)):
        raise IK2DError(f"ground_velocity must be (3,) or ({count}, 3), not {velocity.shape}")
    velocity = np.broadcast_to(velocity, (count, 3))
    steps = 0.5 * (velocity[1:] + velocity[:-1]) * np.diff(moments)[:, None]
    carried = np.concatenate((np.zeros((1, 3)), np.cumsum(steps, axis=0)))
    return Motion(path, moments, _unit(up), _ground(ground, path, single), carried, bool(loop)), single


def _unit(up: ArrayLike) -> Floats:
    """Return the direction of `up` as a unit vector."""
    direction = finite_floats(up, "up")
    if direction.shape != (3,) or not direction.any():
        raise IK2DError(f"up must be a direction (x, y, z) other than zero, not {brief(up)}")
    direction = direction / np.abs(direction).max()
    unit: Floats = direction / np.linalg.norm(direction)
    return unit


def _ground(ground: ArrayLike | None, path: Floats, single: bool) -> Floats | None:
    """Return the ground's height (n, k) below each point, or None."""
    if ground is None:
        return None
    heights = floats_within(ground, "ground", _LONGEST)
    shape = path.shape[:2]
    if heights.shape not in ((), shape[:1], *(() if single else (shape,))):
        wanted = shape[:1] if single else shape
        raise IK2DError(f"ground must be one height or {wanted}, not {heights.shape}")
    if heights.ndim == 1:
        heights = heights[:, None]
    return np.broadcast_to(heights, shape)
