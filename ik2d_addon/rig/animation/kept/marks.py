# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks in keys: which were written here, and have not been touched since.

Bezier and constant keys have three numbers that Blender ignores, but keeps through copies, files and I over
the key: amplitude (here the key's code), period (its value) and back (its time). A key that was moved, set
anew or pasted elsewhere no longer equals its mark: it is the person's.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..fcurves import column
from ..key_columns import BY_HAND, GENERATED, Columns

# What keys were written for: the last for the bake that is a part of Plant Feet, on top of its own keys.
BAKE, PLANT, SNAP, PLANT_BAKE = range(4)
PURPOSES = (BAKE, PLANT, SNAP, PLANT_BAKE)
PLANTED = (PLANT, PLANT_BAKE)
# Within the keys of a planting, new keys are a part of it, whatever they were written for.
IN_PLANTING = {BAKE: PLANT_BAKE, SNAP: PLANT}
# A number holds a purpose in its last bits; a code holds a number, and whether the key's type is Generated.
_PURPOSES = 4
# The number of a key that a bake of 1.0.0 has made, which left zeros.
OLD = -1
# The fields of a key that hold its mark.
FIELDS = ("co", "type", "amplitude", "period", "back")
_LAST = float(2**24)  # whole numbers beyond are not exact in 32 bits

Mask = NDArray[np.bool_]


def number_for(count: int, purpose: int) -> int:
    """Return the number of the count-th F-Curve that was written for a purpose."""
    return _PURPOSES * count + purpose


def purpose_of(number: int) -> int:
    """Return the purpose of a number."""
    return number % _PURPOSES


@dataclass(frozen=True, eq=False)
class Marks:
    """The marks of an F-Curve's keys."""

    ours: Mask  # (m,) written here and not touched since
    numbers: NDArray[np.intp]  # (m,) of those; OLD for a bake of 1.0.0
    purposes: NDArray[np.intp]  # (m,) of those
    single: int | None = None  # the number of all keys, where they are of one writing

    @classmethod
    def of(cls, columns: Columns) -> "Marks":
        """Return the marks in keys (m)."""
        places, types = columns["co"], columns["type"][:, 0]
        codes_read, values, times = (columns[name][:, 0] for name in ("amplitude", "period", "back"))
        same = (values == places[:, 1]) & (times == places[:, 0])
        if not (same | (codes_read == 0.0)).any():  # nothing of ours, as is soon seen
            none = np.zeros(len(codes_read), np.intp)
            return cls(none.astype(bool), none, none)
        first = int(codes_read[0]) if 1.0 <= codes_read[0] <= _LAST else 0
        kind = GENERATED if first % 2 == 0 else BY_HAND
        if first and (codes_read == first).all() and same.all() and (types == kind).all():
            single = (first - 1) // 2
            numbers = np.full(len(codes_read), single)
            return cls(same, numbers, numbers % _PURPOSES, single)
        whole = (codes_read >= 1.0) & (codes_read <= _LAST) & (codes_read == np.floor(codes_read))
        codes = np.where(whole, codes_read, 1.0).astype(np.intp) - 1
        kinds = np.where(codes % 2, GENERATED, BY_HAND)
        marked = whole & same & (types == kinds)
        old = (codes_read == 0.0) & (values == 0.0) & (times == 0.0) & (types == GENERATED)
        numbers = np.where(old, OLD, codes // 2)
        return cls(marked | old, numbers, np.where(old, BAKE, numbers % _PURPOSES))

    @classmethod
    def on(cls, curve: bpy.types.FCurve) -> "Marks":
        """Return the marks of an F-Curve's keys."""
        return cls.of({name: column(curve, name) for name in FIELDS})

    def of_purposes(self, purposes: Collection[int]) -> Mask:
        """Return a mask (m,) of the keys that were written for some purposes."""
        wanted = np.zeros(_PURPOSES, bool)
        wanted[list(purposes)] = True
        mask: Mask = self.ours & wanted[self.purposes]
        return mask

    def numbers_of(self, purposes: Collection[int]) -> list[int]:
        """Return the numbers, each once, of the keys that were written for some purposes."""
        numbers = self.numbers[self.of_purposes(purposes)]
        return [int(number) for number in np.unique(numbers) if number != OLD]


def marked(keys: Sequence[Columns], numbers: Sequence[NDArray[np.intp] | int]) -> list[Columns]:
    """Return new keys of channels, as many (m) of each, with their marks. numbers: of each (m,), or one."""
    places, types = (np.array([new[name] for new in keys]) for name in ("co", "type"))
    codes = np.empty(types.shape, np.intp)
    for row, number in enumerate(numbers):
        codes[row, :, 0] = number
    amplitude = (2 * codes + 1 + (types == GENERATED)).astype("f4")
    back, period = np.ascontiguousarray(np.moveaxis(places, 2, 0))[..., None]
    return [
        {**new, "amplitude": amplitude[row], "period": period[row], "back": back[row]}
        for row, new in enumerate(keys)
    ]


def generated(curve: bpy.types.FCurve) -> Mask:
    """Return a mask (m,) of an F-Curve's keys that bakes made and that nobody has touched since."""
    mask: Mask = Marks.on(curve).ours & (column(curve, "type")[:, 0] == GENERATED)
    return mask
