# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: take away the keys that a bake made, and no others."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..core import IK2DError
from . import compat, keys
from .pose import ROTATIONS


def clear_keys(
    armature: bpy.types.Object,
    bones: Sequence[str],
    frame_start: float | None = None,
    frame_end: float | None = None,
) -> int:
    """Remove the generated keys on the bones' rotations, from one frame to another; return how many.

    The frames are the action's; None is without an end. Keys of other kinds stay, and so does what is
    on locked channels. A curve, and a group of curves, that is left with nothing goes too. Raises
    IK2DError for an action that a library owns.
    """
    holder = compat.existing_channels(armature)
    if holder is None:
        return 0
    paths = baked_paths(armature, bones)
    removed, groups = 0, set()
    for curve in [curve for curve in holder.fcurves if curve.data_path in paths and not is_locked(curve)]:
        columns = keys._columns(curve)
        frames = columns["co"][:, 0]
        gone = columns["type"][:, 0] == keys._GENERATED
        if frame_start is not None:
            gone &= frames >= frame_start - keys.SAME_FRAME
        if frame_end is not None:
            gone &= frames <= frame_end + keys.SAME_FRAME
        if not gone.any():
            continue
        if not armature.animation_data.action.is_editable:
            raise IK2DError(f"The action of '{armature.name}' is linked from another file; its keys stay")
        removed += int(gone.sum())
        if gone.all():
            groups |= {curve.group.name} if curve.group else set()
            holder.fcurves.remove(curve)
        else:
            left = {name: column[~gone] for name, column in columns.items()}
            types = np.column_stack((left["handle_left_type"], left["handle_right_type"]))
            keys._fill(curve, left, np.isin(types, (keys._FREE, keys._ALIGNED)))
    for group in [group for group in holder.groups if group.name in groups and not len(group.channels)]:
        holder.groups.remove(group)
    return removed


def locked_channels(armature: bpy.types.Object, bones: Sequence[str]) -> list[str]:
    """Return the paths of the bones' rotation channels whose keys are locked."""
    paths = baked_paths(armature, bones)
    curves = compat.existing_fcurves(armature)
    return sorted({curve.data_path for curve in curves if curve.data_path in paths and is_locked(curve)})


def baked_paths(armature: bpy.types.Object, bones: Sequence[str]) -> set[str]:
    """Return the paths of all rotation channels of some bones, in whatever rotation mode."""
    posed = [armature.pose.bones[name] for name in bones if name in armature.pose.bones]
    return {bone.path_from_id(name) for bone in posed for name in ROTATIONS}


def is_locked(curve: bpy.types.FCurve) -> bool:
    """Return whether an F-Curve or its group is locked."""
    return bool(curve.lock or (curve.group and curve.group.lock))
