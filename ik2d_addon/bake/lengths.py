# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths in the words of a report."""

import bpy

from ..core.words import say

# A foot in meters.
FOOT = 0.3048


def length_text(length: float, unit_system: str) -> str:
    """Return a length as the scene's units write it: "0.12 m", "0.12 units"; a tiny one more finely."""
    text = str(bpy.utils.units.to_string(unit_system, 'LENGTH', float(length), precision=3))
    if unit_system == 'NONE':  # Blender writes a space and no unit
        text += "units"
    if length == 0.0 or any(digit in text for digit in "123456789"):
        return text
    nanometers = 1e9 * length
    small = f"{nanometers:.0f}" if abs(nanometers) >= 10.0 else f"{nanometers:.2g}"
    finer = {'METRIC': f"{small} nm", 'IMPERIAL': f"{length / FOOT:.2g}'"}
    return finer.get(unit_system, say("{length:.2g} units", length=length))
