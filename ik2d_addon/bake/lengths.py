# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths in the words of a report."""

from typing import NamedTuple

import bpy

from ..core.words import say

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
