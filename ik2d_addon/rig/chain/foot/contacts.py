# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts that are keyed for a chain: the frames on which its heel, its toes, or its tip stand."""

from collections.abc import Sequence

import bpy
import numpy as np
from bpy.types import PropertyGroup
from numpy.typing import NDArray

from ...animation.fcurves import column
from ...animation.kept.marks import Marks
from ...animation.times import animation_times, strip_times
from ...animation.value_keys import curve_of


def names_of(chain: PropertyGroup) -> tuple[str, ...]:
    """Return the names of a chain's contacts: of heel and toes of a foot, else of the tip."""
    return ("contact_heel", "contact_toe") if chain.foot.is_added else ("contact",)


def keyed(
    chain: PropertyGroup, scene: bpy.types.Scene, frames: Sequence[int]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return masks (m, k) and (m,): on which frames a chain's contacts are keyed on, and which count.

    All frames count where somebody has keyed a contact; where it was found, those between the first key and
    the last. None without keys.
    """
    armature = chain.id_data
    curves = [curve_of(armature, f"{chain.path_from_id()}.foot.{name}") for name in names_of(chain)]
    there = [curve for curve in curves if curve is not None and len(curve.keyframe_points)]
    if not there:
        return None
    times = strip_times(armature, animation_times(scene, frames)).tolist()
    count = np.ones(len(frames), bool)
    if all(Marks.on(curve).ours.all() for curve in there):
        ends = np.concatenate([column(curve, "co")[[0, -1], 0] for curve in there])
        count = (np.array(times) >= ends.min()) & (np.array(times) <= ends.max())
    rows = [
        np.zeros(len(frames), bool) if curve is None else np.array([curve.evaluate(t) > 0.5 for t in times])
        for curve in curves
    ]
    mask: NDArray[np.bool_] = np.stack(rows, axis=1)
    return mask, count
