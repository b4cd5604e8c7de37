# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact copies of F-Curves: keys, settings and modifiers."""

import bpy
import numpy as np

from .key_columns import columns_of, fill

# Settings of an F-Curve besides its keys, its group and its modifiers.
SETTINGS = ("auto_smoothing", "extrapolation", "mute", "lock", "hide", "color_mode", "color")


def copy_curve(source: bpy.types.FCurve, curve: bpy.types.FCurve) -> None:
    """Give an F-Curve without modifiers all that another has but its path and its group."""
    copy_settings(source, curve)
    fill(curve, columns_of(source), exact=True)


def copy_settings(source: bpy.types.FCurve, curve: bpy.types.FCurve) -> None:
    """Give an F-Curve without modifiers the settings and the modifiers of another, but no keys."""
    for name in SETTINGS:
        setattr(curve, name, getattr(source, name))
    for modifier in source.modifiers:
        copy = curve.modifiers.new(modifier.type)
        _copy_values(modifier, copy)
        if modifier.type == 'ENVELOPE':
            _copy_points(modifier.control_points, copy.control_points)


def _copy_values(source: bpy.types.bpy_struct, copy: bpy.types.bpy_struct) -> None:
    names = [rule.identifier for rule in source.bl_rna.properties if not rule.is_readonly]
    for name in (*names, *names):  # twice: some, such as blend_in, are bounded by those set after them
        setattr(copy, name, getattr(source, name))


def _copy_points(
    source: bpy.types.FModifierEnvelopeControlPoints, copy: bpy.types.FModifierEnvelopeControlPoints
) -> None:
    """Give an Envelope the points of another; in bulk, as Blender may crash where one value of one is set."""
    values = np.empty(len(source), np.float32)
    for number in range(len(source)):
        copy.add(number)
    for name in ("frame", "min", "max"):
        source.foreach_get(name, values)
        copy.foreach_set(name, values)
