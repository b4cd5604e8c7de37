# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and compress: bones that lengthen beyond full reach, and shorten where the target is too close."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arithmetic import ARRAYS, Arithmetic, Number
from .chain import Chain, checked_chain
from .errors import IK2DError
from .inputs import LONGEST, Floats, checked_kind, common_shape, floats_within, number
from .softness import checked_softness, softened_within
from .solution import reach_status

# The greatest factor of a bone's length; its reciprocal is the least.
MOST = 100.0


@dataclass(frozen=True)
class Stretch:
    """How far the bones of a chain may lengthen and shorten.

    most: the greatest factor beyond full reach, 1 to 100. least: the smallest factor where the target is
    too close, 1 / 100 to 1; one above 1 is taken as its reciprocal. last_only: whether the last bone
    alone does it; else all do, evenly. Raises IK2DError for factors out of range.

    >>> Stretch(most=1.5, least=0.8).reach(Chain([3.0, 1.0]))
    (1.6, 6.0)
    """

    most: float = 1.0
    least: float = 1.0
    last_only: bool = False

    def __post_init__(self) -> None:
        most, least = number(self.most, "most"), number(self.least, "least")
        if not 1.0 <= most <= MOST:
            raise IK2DError(f"most must be a factor of 1 to {MOST:g}, not {most}")
        if not 1.0 / MOST <= least <= MOST:
            raise IK2DError(f"least must be a factor of {1.0 / MOST:g} to {MOST:g}, not {least}")
        checked_kind(self.last_only, bool, "last_only")
        object.__setattr__(self, "most", most)
        object.__setattr__(self, "least", min(least, 1.0 / least))

    @property
    def is_off(self) -> bool:
        """Whether no bone changes its length."""
        return self.most == 1.0 and self.least == 1.0

    def reach(self, chain: Chain) -> tuple[float, float]:
        """Return (inner, outer): the annulus of the tip at the least and at the greatest factor."""
        checked_chain(chain)
        inner, outer = chain.reach
        if not self.last_only:
            return self.least * inner, self.most * outer
        last = float(chain.lengths[-1])
        shorter = (1.0 - self.least) * last if _last_is_longest(chain) else 0.0
        return max(0.0, inner - shorter), outer + (self.most - 1.0) * last


def stretched(
    chain: Chain, distance: ArrayLike, softness: ArrayLike, stretch: Stretch
) -> tuple[Floats, Floats]:
    """Return the bones' factors (..., n), and how far from the root the tip goes (...).

    distance: (...) of targets from the root; softness: (...) 0..1. With the inner reach i, the outer reach
    o and a target at h, let e(h) be where the tip of the rigid chain goes, eased at both sides:

        e(h) = f(h), of softness.py, towards full reach
        e(h) = i + v exp(-(i + v - h) / v)  below i + v, the same ease where it may shorten: v is
               softness o, but no wider than what f leaves; both are i and o cut off without softness

    All bones evenly: k = h / e(h), but at most the greatest factor and at least the smallest. The pose is
    that of the rigid chain for the distance e(h), so it eases as that does, and its tip, k times as far
    off, is on the target as long as k may be h / e(h). Last bone alone, of length l: k = 1 + (h - e(h)) / l,
    with the same bounds: it takes up just what the ease leaves. Where k is at a bound the tip stays at
    k e(h), or e(h) + (k - 1) l; without softness the distance returned is then h itself, out of reach.
    For the ease a last bone gets no shorter than 2 m - a, with the others a long together and m the longest
    of these: any shorter, it would keep the tip off the root again. The tip is then on the target, h.

    >>> factors, tip = stretched(Chain([1.0, 1.0]), 2.5, 0.0, Stretch(most=1.5))
    >>> factors, tip
    (array([1.25, 1.25]), array(2.5))
    """
    checked_chain(chain)
    checked_kind(stretch, Stretch, "stretch")
    h, soft = _checked_distances(distance), checked_softness(softness)
    common_shape(distance=h.shape, softness=soft.shape)
    h, soft = np.broadcast_arrays(h, soft)
    factor, tip = Stretcher.of(chain, stretch).stretched(h, soft, ARRAYS)
    factors = np.ones((*h.shape, len(chain)))
    if stretch.last_only:
        factors[..., -1] = factor
    else:
        factors[:] = factor[..., np.newaxis]
    return factors, tip


def stretched_status(
    chain: Chain, distance: ArrayLike, stretch: Stretch, tolerance: float | None = None
) -> NDArray[np.int8]:
    """Return TOO_FAR or TOO_CLOSE for distances (...) out of reach of the factors, else REACHED.

    >>> [Status(status).name for status in stretched_status(Chain([1.0, 1.0]), [2.5, 4.0], Stretch(most=1.5))]
    ['REACHED', 'TOO_FAR']
    """
    checked_kind(stretch, Stretch, "stretch")
    reach, h = stretch.reach(chain), _checked_distances(distance)
    return reach_status(reach, h, chain.tolerance_or_default(tolerance))


def _checked_distances(distance: ArrayLike) -> Floats:
    """Return distances (...) as floats; raise IK2DError where one is negative, or beyond LONGEST."""
    checked = floats_within(distance, "distance", LONGEST)
    if (checked < 0.0).any():
        raise IK2DError(f"distance must not be negative; one is {checked.min()}")
    return checked


@dataclass(frozen=True, slots=True)
class Stretcher:
    """The numbers of a chain that decide on its stretch."""

    stretch: Stretch
    inner: float
    outer: float
    last: float  # length of the last bone
    shortens: bool  # whether bones that may shorten bring the tip nearer to the root
    # The factor at which the last bone alone lets the tip go to the root: a shorter one would keep it off
    # again. Zero where the chain has none.
    closing: float

    @classmethod
    def of(cls, chain: Chain, stretch: Stretch) -> "Stretcher":
        """Return those of a chain."""
        shortens = stretch.least < 1.0 and (not stretch.last_only or _last_is_longest(chain))
        last = float(chain.lengths[-1])
        closing = _closing_length(chain) / last if shortens and stretch.last_only else 0.0
        return cls(stretch, *chain.reach, last, shortens, closing if closing >= stretch.least else 0.0)

    def stretched(self, h: Number, softness: Number, lib: Arithmetic) -> tuple[Number, Number]:
        """Return the factor of all bones or of the last one, and how far the tip goes, as `stretched`."""
        stretch, eased = self.stretch, self._eased(h, softness, lib)
        if stretch.last_only:
            factor = 1.0 + (h - eased) / self.last if self.last > 0.0 else 1.0 + 0.0 * h
            least = max(stretch.least, self.closing) if self.shortens else 1.0
            factor = lib.minimum(lib.maximum(factor, least), stretch.most)
            tip = lib.where(factor <= self.closing, h, eased + (factor - 1.0) * self.last)
        else:
            factor = h / lib.where(eased > 0.0, eased, 1.0)
            factor = lib.minimum(lib.maximum(factor, stretch.least), stretch.most)
            factor = lib.where(eased > 0.0, factor, 1.0)
            tip = factor * eased
        return factor, lib.where(softness > 0.0, tip, h)

    def _eased(self, h: Number, softness: Number, lib: Arithmetic) -> Number:
        """Return the distance from the root that the tip of the rigid chain goes to, within its reach."""
        inner, outer = self.inner, self.outer
        far = softened_within(inner, outer, h, softness, lib)
        far = lib.minimum(lib.maximum(far, inner), outer)
        if not self.shortens or inner == 0.0:
            return far
        room = outer - inner
        width = lib.minimum(softness * outer, room - lib.minimum(softness * outer, room))
        under = lib.maximum(inner + width - h, 0.0)
        near = inner + width * lib.exp(-under / lib.where(width > 0.0, width, 1.0))
        return lib.where((width > 0.0) & (under > 0.0), near, far)


def _last_is_longest(chain: Chain) -> bool:
    """Return whether the last bone, longer than all others together, keeps the tip off the root."""
    return chain.reach[0] > 0.0 and bool(chain.lengths[-1] == chain.lengths.max())


def _closing_length(chain: Chain) -> float:
    """Return the least length of the last bone with which the tip may be on the root; zero for any length."""
    others = chain.lengths[:-1]
    return max(0.0, 2.0 * float(others.max(initial=0.0)) - float(others.sum()))
