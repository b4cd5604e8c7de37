# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths in the words of a report."""

from typing import NamedTuple

import bpy

from ..core.words import noted, say

# A foot in meters.
FOOT = 0.3048


class Units(NamedTuple):
    """The units that a scene shows lengths in."""

    system: str  # 'METRIC', 'IMPERIAL' or 'NONE'
    scale: float = 1.0  # meters in a Blender unit; 'NONE' shows these as they are

    @classmethod
    def of(cls, scene: bpy.types.Scene) -> "Units":
        """Return the units of a scene."""
        return cls(scene.unit_settings.system, scene.unit_settings.scale_length)


# Lengths below these, in meters, tell a person nothing.
_SMALLEST = {'METRIC': (1e-5, noted("less than 0.01 mm")), 'IMPERIAL': (2.54e-5, noted("less than 1 thou"))}
_MILLIMETER = 1e-3  # below it Blender writes micrometers


def rough_length(length: float, units: Units) -> str:
    """Return a length to two digits, in units that people use: "0.27 mm", "less than 0.01 mm"."""
    if units.system == 'NONE':
        return say("{length:.2g} units", length=length)
    meters, (smallest, less) = abs(length) * units.scale, _SMALLEST[units.system]
    if meters < smallest:
        return say(less)
    if units.system == 'METRIC' and meters < _MILLIMETER:
        return f"{1e3 * meters:.2g} mm"
    return length_text(float(f"{meters:.2g}") / units.scale, units)


def length_text(length: float, units: Units) -> str:
    """Return a length in Blender units as the scene writes it, tiny ones more finely: "12 cm", "300 nm"."""
    system = units.system
    if system == 'NONE':
        text = f"{bpy.utils.units.to_string('NONE', 'LENGTH', float(length), precision=3)}units"
    else:
        length = float(length) * units.scale
        text = str(bpy.utils.units.to_string(system, 'LENGTH', length, precision=3))
    if length == 0.0 or any(digit in text for digit in "123456789"):
        return text
    nanometers = 1e9 * length
    small = f"{nanometers:.0f}" if abs(nanometers) >= 10.0 else f"{nanometers:.2g}"
    finer = {'METRIC': f"{small} nm", 'IMPERIAL': f"{length / FOOT:.2g}'"}
    return finer.get(system, say("{length:.2g} units", length=length))
