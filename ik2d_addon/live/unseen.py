# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a target is that Blender does not evaluate, as it is disabled in viewports or in renders."""

import bpy
from mathutils import Vector

from ..core import IK2DError
from ..rig.armature import RigChain
from ..rig.compat import existing_fcurves, plays


def place_by_curves(rig: RigChain, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Return where a target's own location and its curves have it; raise IK2DError where more moves it."""
    target = rig.target
    animation = target.animation_data
    if (
        rig.subtarget
        or target.parent
        or len(target.constraints)
        or animation
        and (len(animation.drivers) or len(animation.nla_tracks))
    ):
        raise IK2DError(
            f"Chain '{rig.name}': its target '{target.name}' is disabled in"
            f" {'renders' if depsgraph.mode == 'RENDER' else 'viewports'}, where Blender does not move it;"
            " enable it there, or bake the chain"
        )
    place = target.location + target.delta_location
    for curve in existing_fcurves(target):
        if curve.data_path == "location" and plays(target, curve):
            index = curve.array_index
            place[index] = curve.evaluate(scene.frame_current_final) + target.delta_location[index]
    return place
