# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a caller's input: numbers, finite ones, and shapes that go together."""

from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import IK2DError

Floats = NDArray[np.float64]

# Greater lengths and distances are no use to anyone, and their sums overflow; a chain that is shorter, but
# not zero, has no digits left for its tolerance.
LONGEST, SHORTEST = 1e300, 1e-290
# For fewer numbers a copy of them costs nothing.
_MANY = 4096
# A greater angle (radians) has no digits left for the finest turns: its last one is worth 1e-10 here.
LARGEST_ANGLE = 1e6


def floats(values: ArrayLike, name: str) -> Floats:
    """Return `values` as an array of floats; raise IK2DError where they are no real numbers.

    True, False and texts, even of digits, are refused. None is NaN in a list, and refused alone.
    """
    try:
        array = np.asarray(values)
        if array.dtype == np.float64:
            return array
        if values is not None and (array.dtype.kind in "fiu" or _are_reals(array)):
            with np.errstate(all="ignore"):  # more digits or a greater range than a float has
                return array.astype(np.float64, copy=False)
    except OverflowError:
        raise IK2DError(f"{name} must not exceed {LONGEST:g}; a number is far greater") from None
    except (TypeError, ValueError):
        pass
    raise IK2DError(f"{name} must be numbers, in rows of one length, not {brief(values)}")


def _are_reals(array: NDArray[np.object_]) -> bool:
    """Return whether an array of Python's objects may hold numbers alone."""
    others = (str, bytes, bool, np.bool_, complex, np.complexfloating)
    return array.dtype.kind == "O" and not any(isinstance(value, others) for value in array.flat)


def brief(value: object) -> str:
    """Return a value as a short text, for a message."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no more than 4300 digits
        return "a number of that size"
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite_floats(values: ArrayLike, name: str) -> Floats:
    """Return `values` as an array of floats; raise IK2DError naming the first that is not finite."""
    array = floats(values, name)
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise IK2DError(f"{name} must be finite numbers; at {list(where)} it is {array[where]}")
    return array


def floats_within(values: ArrayLike, name: str, most: float, units: str = "") -> Floats:
    """Return `values` as an array of floats; raise IK2DError naming the first that is not in -most..most."""
    array = floats(values, name)
    if not largest(array) <= most:
        finite_floats(array, name)
        where = tuple(int(i) for i in np.argwhere(np.abs(array) > most)[0])
        raise IK2DError(f"{name} must not exceed {most:g}{units}; at {list(where)} it is {array[where]}")
    return array


def largest(array: Floats) -> float:
    """Return the largest absolute value of an array; NaN where it holds one, and 0 for none."""
    if array.size < _MANY:
        return float(np.abs(array).max(initial=0.0))
    return float(np.maximum(array.max(), -array.min()))  # no copy: to allocate that takes as long again


def number(value: object, name: str) -> float:
    """Return one finite number as a float; raise IK2DError for a list, or no number."""
    array = floats(value, name)  # type: ignore[arg-type]
    if array.ndim:
        raise IK2DError(f"{name} must be one number, not {brief(value)}")
    found = float(array)
    if not abs(found) <= LONGEST:
        raise IK2DError(f"{name} must be a finite number, up to {LONGEST:g}, not {found}")
    return found


def whole_number(value: object, name: str, least: int, most: int) -> int:
    """Return a whole number from `least` to `most`; raise IK2DError for a fraction or anything else."""
    try:
        whole = least - 1 if isinstance(value, (bool, np.bool_)) else index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = least - 1
    if not least <= whole <= most:
        raise IK2DError(f"{name} must be a whole number of {least} to {most}, not {brief(value)}")
    return whole


def checked_kind(value: object, kind: type, name: str) -> None:
    """Raise IK2DError for a value that is not of a class."""
    if not isinstance(value, kind):
        raise IK2DError(f"{name} must be a {kind.__name__}, not {brief(value)}")


def common_shape(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes broadcast to; raise IK2DError where they do not."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        each = ", ".join(f"{name} for {shape}" for name, shape in shapes.items() if shape)
        raise IK2DError(f"hand in as many of each, or one for all; there are {each}") from None


def frozen(array: Floats) -> Floats:
    """Return a read-only copy."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def wrapped(angles: Floats) -> Floats:
    """Return the same rotations in [-pi, pi]; angles that are already there stay as they are."""
    inside = np.abs(angles) <= np.pi
    return np.where(inside, angles, np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi)


def unwrapped(angles: Floats) -> Floats:
    """Return the same rotations (frames, n), each number as near as whole turns allow to the one before.

    The numbers are those of numpy's `unwrap`, which takes as long for columns without a jump.
    """
    if len(angles) < 2:
        return angles.copy()
    steps = np.abs(np.diff(angles, axis=0))
    jumps = ~(steps.max(axis=0) < np.pi)
    continuous = np.array(angles)  # in the same order in memory
    if jumps.any():
        continuous[:, jumps] = np.unwrap(angles[:, jumps], axis=0)
    return continuous


def checked_bend(bend: ArrayLike) -> Floats:
    """Return bend sides (...) as floats; raise IK2DError where one is neither +1 nor -1."""
    sides = finite_floats(bend, "bend")
    if not (np.abs(sides) == 1.0).all():
        raise IK2DError(f"bend must be +1 or -1, not {sides[np.abs(sides) != 1.0].flat[0]}")
    return sides
