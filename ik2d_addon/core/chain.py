# SPDX-License-Identifier: GPL-3.0-or-later
"""A planar chain of bones: where its joints are, how its tip moves, which angles its limits allow."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arithmetic import cos_and_sin, remainders, summed, summed_up
from .errors import IK2DError
from .inputs import (
    LARGEST_ANGLE,
    LONGEST,
    SHORTEST,
    Floats,
    checked_kind,
    common_shape,
    finite_floats,
    floats,
    floats_within,
    frozen,
    number,
)

# The tolerance of every solver where the caller names none, as a fraction of the outer reach.
DEFAULT_TOLERANCE = 1e-6
# Greater limits (radians), of three turns, are taken for degrees.
LARGEST_LIMIT = 6.0 * math.pi
# An angle is at its limit when it is no farther from it than rounding (radians).
AT_LIMIT = 1e-9
# More bones than these take the solver Even, and the region of a chain with limits, some seconds.
MOST_BONES = 1000
# A target so many reaches away and one farther off in the same direction get the same pose: from here
# on powers of the distance would overflow.
FAR = 1e70


@dataclass(frozen=True, eq=False)
class Chain:
    """A planar chain: its bones' lengths, joint to joint, root to tip, and how its joints may turn.

    lengths: (n,) from zero to LONGEST (1e300), in any unit. A bone of zero length is allowed, and so is a
    chain of such bones alone; any other chain has a sum of SHORTEST (1e-290) or more.
    limits: (n, 2) least and greatest value of each joint's angle, in radians up to three turns; NaN or
    infinite where it is free. An angle keeps its range as a number, not modulo a turn. None: all are free.
    weights: (n,) in 0..1, how willingly each joint turns; a joint of weight 0 is rigid. None: all 1.
    slides: (n, 2) the least and greatest length that each bone may add to its own, as pistons and telescopes
    do; NaN, or (0, 0), where it is rigid. None: all are rigid.
    Raises IK2DError for no bones, other shapes, and numbers out of range.

    >>> chain = Chain([3.0, 1.0], limits=np.radians([[-180, 180], [0, 90]]))
    >>> len(chain), chain.reach
    (2, (2.0, 4.0))
    """

    lengths: Floats  # (n,)
    limits: Floats | None = None  # (n, 2)
    weights: Floats | None = None  # (n,)
    slides: Floats | None = None  # (n, 2)

    if TYPE_CHECKING:  # what may be handed in, where the fields say what is kept

        def __init__(
            self,
            lengths: ArrayLike,
            limits: ArrayLike | None = None,
            weights: ArrayLike | None = None,
            slides: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", frozen(_checked_lengths(self.lengths)))
        if self.limits is not None:
            object.__setattr__(self, "limits", frozen(_checked_limits(self.limits, len(self))))
        if self.weights is not None:
            object.__setattr__(self, "weights", frozen(_checked_weights(self.weights, len(self))))
        if self.slides is not None:
            object.__setattr__(self, "slides", frozen(_checked_ranges_of_slides(self.slides, self.lengths)))

    def __len__(self) -> int:
        return self.lengths.size

    def __reduce__(self) -> tuple[type["Chain"], tuple[Floats | None, ...]]:
        return Chain, (self.lengths, self.limits, self.weights, self.slides)  # pickled arrays are not frozen

    @cached_property
    def reach(self) -> tuple[float, float]:
        """(inner, outer): the annulus of the tip, if its joints may turn freely.

        outer = sum(lengths); inner = 2 max(lengths) - outer, but not below zero: only a bone
        longer than all the others together keeps the tip away from the root. Where bones slide, outer is
        that of the longest ones, and inner that of a shortest one among the longest others.
        """
        shortest = longest = self.lengths
        if self.slides is not None:
            shortest, longest = self.lengths + self.slides[:, 0], self.lengths + self.slides[:, 1]
        outer = float(longest.sum())
        return max(0.0, float((shortest + longest).max()) - outer), outer

    @property
    def is_sliding(self) -> bool:
        """Whether any bone may slide."""
        return self.slides is not None and bool((self.slides != 0.0).any())

    @property
    def slide_ranges(self) -> Floats:
        """The slides (n, 2), zeros where bones are rigid."""
        return np.zeros((len(self), 2)) if self.slides is None else self.slides

    @property
    def is_limited(self) -> bool:
        """Whether any joint has a limit."""
        return self.limits is not None and bool(np.isfinite(self.limits).any())

    @property
    def ranges(self) -> Floats:
        """The limits (n, 2), -inf to inf where there are none."""
        return np.tile([-np.inf, np.inf], (len(self), 1)) if self.limits is None else self.limits

    def tolerance_or_default(self, tolerance: float | None) -> float:
        """Return `tolerance` (a length, or None for a millionth of the outer reach), checked."""
        if tolerance is None:
            return DEFAULT_TOLERANCE * self.reach[1]
        length = number(tolerance, "tolerance")
        if length <= 0.0:
            raise IK2DError(f"tolerance must be a length greater than zero, not {length}")
        return length


def _checked_lengths(values: ArrayLike) -> Floats:
    lengths = finite_floats(values, "lengths")
    if lengths.ndim != 1 or lengths.size == 0:
        raise IK2DError(f"lengths must be a list of one or more numbers, not of shape {lengths.shape}")
    if (lengths < 0.0).any():
        raise IK2DError(f"lengths must not be negative; bone {int(lengths.argmin())} is {lengths.min()}")
    if (lengths > LONGEST).any():
        raise IK2DError(f"lengths must not exceed {LONGEST}; bone {int(lengths.argmax())} is {lengths.max()}")
    if 0.0 < lengths.sum() < SHORTEST:
        raise IK2DError(f"lengths must come to {SHORTEST} or more, or to zero, not to {lengths.sum()}")
    return lengths


def _checked_limits(values: ArrayLike, n: int) -> Floats:
    """Return limits (n, 2) with -inf and +inf where a side is free."""
    limits = floats(values, "limits")
    if limits.shape != (n, 2):
        raise IK2DError(f"limits must be {n} pairs of least and greatest angle, not of shape {limits.shape}")
    free = ~np.isfinite(limits)
    far = ~free & (np.abs(limits) > LARGEST_LIMIT)
    if far.any():
        joint = int(far.any(axis=1).argmax())
        raise IK2DError(
            f"limits are radians, and joint {joint} has {limits[joint][far[joint]][0]:g}, over three turns:"
            " convert degrees with numpy.radians, or hand in inf where the joint is free"
        )
    limits = np.where(free, [-np.inf, np.inf], limits)
    crossed = limits[:, 0] > limits[:, 1]
    if crossed.any():
        joint = int(crossed.argmax())
        low, high = limits[joint]
        raise IK2DError(f"limits must run from least to greatest; joint {joint} has {low} to {high}")
    return limits


def _checked_weights(values: ArrayLike, n: int) -> Floats:
    weights = finite_floats(values, "weights")
    if weights.shape != (n,):
        raise IK2DError(f"weights must be {n} numbers, one a joint, not of shape {weights.shape}")
    outside = (weights < 0.0) | (weights > 1.0)
    if outside.any():
        joint = int(outside.argmax())
        raise IK2DError(f"weights must lie in 0..1; joint {joint} has {weights[joint]}")
    return weights


def _checked_ranges_of_slides(values: ArrayLike, lengths: Floats) -> Floats:
    """Return ranges (n, 2) of added lengths, zeros where a bone is rigid."""
    slides = floats(values, "slides")
    if slides.shape != (len(lengths), 2):
        raise IK2DError(
            f"slides must be {len(lengths)} pairs of least and greatest added length,"
            f" not of shape {slides.shape}"
        )
    slides = np.where(np.isnan(slides), 0.0, slides)
    floats_within(slides, "slides", LONGEST)
    crossed = slides[:, 0] > slides[:, 1]
    if crossed.any():
        bone = int(crossed.argmax())
        least, most = slides[bone]
        raise IK2DError(f"slides must run from least to greatest; bone {bone} has {least} to {most}")
    shortest, longest = (lengths[:, np.newaxis] + slides).T
    if (shortest < 0.0).any():
        bone = int(shortest.argmin())
        raise IK2DError(f"bone {bone} is {lengths[bone]} long, and cannot slide by {slides[bone, 0]}")
    if (longest > LONGEST).any():
        raise IK2DError(
            f"bones must not slide beyond a length of {LONGEST}; bone {int(longest.argmax())} may"
        )
    return slides


def forward(chain: Chain, angles: ArrayLike, slides: ArrayLike | None = None) -> Floats:
    """Return the joints of a chain, root first and tip last, the root at the origin.

        p[0] = 0;  p[i+1] = p[i] + (lengths[i] + slides[i]) (cos a, sin a),  a = angles[0] + ... + angles[i]

    angles: (..., n) radians, each relative to the bone before. slides: (..., n) added lengths; None: none.
    Returns (..., n + 1, 2).
    Raises IK2DError where there are not n, or one is beyond 2e6 radians (twice LARGEST_ANGLE, the most of
    a start, from which answers may go a little further), or a slide beyond LONGEST.

    >>> forward(Chain([2.0, 1.0]), np.radians([90, -90])).round(3)
    array([[0., 0.],
           [0., 2.],
           [1., 2.]])
    """
    checked_chain(chain)
    checked = checked_angles(chain, angles, most=2.0 * LARGEST_ANGLE)
    if slides is None:
        return joints_at(chain, checked)
    added = checked_slides(chain, slides)
    common_shape(angles=checked.shape[:-1], slides=added.shape[:-1])
    return joints_at(chain, checked, added)


def joints_at(chain: Chain, angles: Floats, slides: Floats | None = None) -> Floats:
    """Return the joints as `forward` does, for angles and slides that need no check."""
    directions = np.cumsum(angles, axis=-1)
    lengths = chain.lengths if slides is None else chain.lengths + slides
    x, y = lengths * np.cos(directions), lengths * np.sin(directions)
    joints = np.zeros((*x.shape[:-1], len(chain) + 1, 2))
    np.cumsum(x, axis=-1, out=joints[..., 1:, 0])
    np.cumsum(y, axis=-1, out=joints[..., 1:, 1])
    return joints


def tips_at(chain: Chain, angles: Floats, slides: Floats | None = None) -> Floats:
    """Return the tips (..., 2) alone, those of `joints_at` but for rounding."""
    n, shape = len(chain), angles.shape[:-1]
    lengths = chain.lengths if slides is None else chain.lengths + slides
    cosines, sines = cos_and_sin(summed_up(angles.reshape(-1, n).T.copy()))
    tips = summed(cosines * lengths.reshape(-1, n).T), summed(sines * lengths.reshape(-1, n).T)
    return np.stack(tips, axis=-1).reshape(*shape, 2)


def jacobian(
    chain: Chain, angles: ArrayLike, slides: ArrayLike | None = None, *, orientation: bool = False
) -> Floats:
    """Return the derivatives of the tip's place by the chain's angles, and by its slides where bones slide.

    For joint p[j], tip e and direction d[j] of bone j,

        d e / d angles[j] = (p[j].y - e.y, e.x - p[j].x),    d e / d slides[j] = d[j], or 0 for a rigid bone

    angles, slides: (..., n) as in `forward`. Returns (..., 2, n); (..., 2, 2 n) for a chain with bones that
    slide, the angles' columns first. `orientation`: add a third row for the direction of the last bone, in
    radians: 1 for each angle, 0 for each slide. Raises IK2DError for what `forward` refuses.

    >>> jacobian(Chain([2.0, 1.0]), np.radians([90, -90]), orientation=True).round(3)
    array([[-2.,  0.],
           [ 1.,  1.],
           [ 1.,  1.]])
    """
    checked_chain(chain)
    checked_kind(orientation, bool, "orientation")
    turned = checked_angles(chain, angles, most=2.0 * LARGEST_ANGLE)
    added = None
    if slides is not None:
        added = checked_slides(chain, slides)
        shape = common_shape(angles=turned.shape[:-1], slides=added.shape[:-1])
        turned = np.broadcast_to(turned, (*shape, len(chain)))
    joints = joints_at(chain, turned, added)
    heads, tip = joints[..., :-1, :], joints[..., -1:, :]
    columns = np.stack([heads[..., 1] - tip[..., 1], tip[..., 0] - heads[..., 0]], axis=-2)
    if chain.is_sliding:
        directions = np.cumsum(turned, axis=-1)
        along = np.stack([np.cos(directions), np.sin(directions)], axis=-2)
        columns = np.concatenate([columns, along * (chain.slide_ranges != 0.0).any(axis=-1)], axis=-1)
    if orientation:
        row = np.zeros((*columns.shape[:-2], 1, columns.shape[-1]))
        row[..., : len(chain)] = 1.0
        columns = np.concatenate([columns, row], axis=-2)
    return columns


def checked_chain(chain: Chain) -> None:
    """Raise IK2DError for a list of lengths, or anything else that is not a Chain."""
    checked_kind(chain, Chain, "chain")


def checked_slides(chain: Chain, slides: ArrayLike, name: str = "slides") -> Floats:
    """Return slides (..., n) as floats; raise IK2DError where there are not n, or one is beyond LONGEST."""
    return checked_angles(chain, slides, name, LONGEST, unit="")


def within_slides(chain: Chain, slides: Floats) -> Floats:
    """Return slides (..., n), cut off at the ends of their ranges."""
    least, most = chain.slide_ranges.T
    return np.clip(slides, least, most)


def checked_angles(
    chain: Chain, angles: ArrayLike, name: str = "angles", most: float = LARGEST_ANGLE, unit: str = " radians"
) -> Floats:
    """Return angles (..., n) as floats; raise IK2DError where there are not n, or one is beyond `most`."""
    checked = floats_within(angles, name, most, unit)
    if checked.ndim == 0 or checked.shape[-1] != len(chain):
        raise IK2DError(f"{name} must hold {len(chain)} numbers, one a bone, not shape {checked.shape}")
    return checked


def checked_targets(target: ArrayLike) -> Floats:
    """Return targets (..., 2) as floats; raise IK2DError where one is not a point within LONGEST."""
    checked = floats_within(target, "target", LONGEST)
    if checked.ndim == 0 or checked.shape[-1] != 2:
        raise IK2DError(f"a target is two numbers, x and y, not shape {checked.shape}")
    return checked


def in_reaches(chain: Chain, targets: Floats) -> Floats:
    """Return targets (..., 2) as parts of the outer reach; those that are FAR drawn in to there."""
    farthest = np.abs(targets).max(axis=-1, keepdims=True)
    drawn_in: Floats = targets / np.maximum(chain.reach[1] or 1.0, farthest / FAR)
    return drawn_in


def within_limits(chain: Chain, angles: Floats, near: Floats) -> Floats:
    """Return the same rotations (..., n) as numbers within the limits, or the limit that is nearer.

    Of several such numbers the one nearest to `near`.
    """
    angles = near + remainders(angles - near, 2.0 * np.pi)
    if chain.limits is None:
        return angles
    low, high = chain.limits.T
    turns_up = np.maximum(np.ceil((low - angles) / (2.0 * np.pi)), 0.0)
    turns_down = np.maximum(np.ceil((angles - high) / (2.0 * np.pi)), 0.0)
    moved = angles + 2.0 * np.pi * (turns_up - turns_down)
    blocked = (moved < low) | (moved > high)
    return np.where(blocked, np.where(_apart(angles, low) <= _apart(angles, high), low, high), moved)


def going_on(angles: Floats, low: float, high: float, near: float) -> Floats:
    """Return the same rotations (frames,) as numbers within low..high, each near the one before.

    The first one is near to `near`. For a range of a turn or more, which has room for every rotation.
    """
    turn, last, continuous = 2.0 * math.pi, near, np.empty_like(angles)
    for i, angle in enumerate(angles.tolist()):
        last += math.remainder(angle - last, turn)
        last += turn * max(0, math.ceil((low - last) / turn))
        last -= turn * max(0, math.ceil((last - high) / turn))
        continuous[i] = last
    return continuous


def _apart(angles: Floats, limit: Floats) -> Floats:
    """Return the distances of angles from a limit, the shorter way round; infinite without a limit."""
    finite = np.where(np.isfinite(limit), limit, 0.0)
    return np.where(np.isfinite(limit), np.abs(remainders(angles - finite, 2.0 * np.pi)), np.inf)


def at_limits(chain: Chain, angles: Floats) -> NDArray[np.bool_]:
    """Return which joints (..., n) are at a limit."""
    if chain.limits is None:
        return np.zeros(angles.shape, np.bool_)
    at_an_end: NDArray[np.bool_] = (np.abs(angles[..., np.newaxis] - chain.limits) <= AT_LIMIT).any(axis=-1)
    return at_an_end
