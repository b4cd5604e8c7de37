# SPDX-License-Identifier: GPL-3.0-or-later
"""Take away all that makes a chain native, and leave no trace."""

import bpy

from ...rig.chain.native_state import BARE, LIVE, SETTINGS, constraints_of, is_native, scale_name
from .drivers import path_of
from .empties import remove_empties


def remove_native(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> None:
    """Take away a native chain's drivers, constraints and empties; a chain that is none stays as it is.

    What somebody took away before is no hindrance. The empties of an armature that was duplicated without
    them are the original's, and stay.
    """
    if not is_native(settings):
        return
    _remove_drivers(armature, settings.native_constraint)
    for bone, constraint in list(constraints_of(settings)):
        bone.constraints.remove(constraint)
    stand, probe, before = settings.native_stand, settings.native_probe, settings.native_before.split()
    own = stand is not None and stand.parent in (armature, None)
    for name in SETTINGS:
        settings.property_unset(name)
    if own or stand is None:
        remove_empties(probe, stand)
    animation = armature.animation_data
    if BARE in before and animation is not None and _is_empty(animation):
        armature.animation_data_clear()
    if LIVE in before:
        settings.live = True


def _remove_drivers(armature: bpy.types.Object, constraint: str) -> None:
    """Remove the drivers of a chain's constraints, also of those that somebody took away."""
    animation = armature.animation_data
    own = tuple(f".constraints{path_of(name)}." for name in (constraint, scale_name(constraint)))
    for curve in list(animation.drivers) if animation else ():
        if any(path in curve.data_path for path in own):
            animation.drivers.remove(curve)


def _is_empty(animation: bpy.types.AnimData) -> bool:
    return not (animation.action or len(animation.drivers) or len(animation.nla_tracks))
