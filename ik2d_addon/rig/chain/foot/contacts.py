# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts that are keyed for a chain: the frames on which its heel, its toes, or its tip stand."""

from collections.abc import Sequence

import bpy
import numpy as np
from bpy.types import PropertyGroup
from numpy.typing import NDArray

from ...animation.times import animation_times, strip_times
from ...animation.value_keys import curve_of


def names_of(chain: PropertyGroup) -> tuple[str, ...]:
    """Return the names of a chain's contacts: of heel and toes of a foot, else of the tip."""
    return ("contact_heel", "contact_toe") if chain.foot.is_added else ("contact",)


def keyed(chain: PropertyGroup, scene: bpy.types.Scene, frames: Sequence[int]) -> NDArray[np.bool_] | None:
    """Return a mask (m, k) of the frames on which a chain's contacts are keyed on; None without keys."""
    armature = chain.id_data
    curves = [curve_of(armature, f"{chain.path_from_id()}.foot.{name}") for name in names_of(chain)]
    if all(curve is None for curve in curves):
        return None
    times = strip_times(armature, animation_times(scene, frames)).tolist()
    rows = [
        np.zeros(len(frames), bool) if curve is None else np.array([curve.evaluate(t) > 0.5 for t in times])
        for curve in curves
    ]
    mask: NDArray[np.bool_] = np.stack(rows, axis=1)
    return mask
