# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why a mechanism cannot be on drivers that its settings tell, for a button that is greyed."""

import bpy

from ....core.words import noted, say
from ....rig.mechanism.read import GEAR, TARGET

NO_GEARS = noted("Gears cannot be on drivers; bake the mechanism instead")
NO_TARGETS = noted("A target that drags the mechanism cannot be on drivers; bake it instead")


def why_not_native(settings: bpy.types.PropertyGroup) -> str:
    """Say why a mechanism cannot be on drivers, as far as its settings tell; "" where they do not."""
    if any(joint.kind == GEAR for joint in settings.joints):
        return say(NO_GEARS)
    return say(NO_TARGETS) if any(one.kind == TARGET for one in settings.drivers) else ""
