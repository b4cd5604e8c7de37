# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene time, the time of an action, and the time of an NLA strip."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.inputs import Floats
from .fcurves import Singles


def pace_of(scene: bpy.types.Scene) -> float:
    """Return the pace of time in the scene's actions: 1 without time remapping."""
    return float(scene.render.frame_map_old / scene.render.frame_map_new)


def animation_times(scene: bpy.types.Scene, frames: Sequence[float]) -> list[float]:
    """Return the times of the scene's frames in its actions."""
    pace = pace_of(scene)
    return [frame * pace for frame in frames]


def evaluated_times(scene: bpy.types.Scene, frames: Sequence[float]) -> Singles:
    """Return the times in the actions exactly as Blender computes them, in 32 bits: at a key that matters."""
    pace = np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new)
    times: Singles = np.asarray(frames, "f4") * pace
    return times


def action_time(armature: bpy.types.Object, scene: bpy.types.Scene, frame: float) -> float:
    """Return the time of one of the scene's frames in the armature's action."""
    return float(strip_times(armature, animation_times(scene, [frame]))[0])


def action_ends(
    owner: bpy.types.Object, scene: bpy.types.Scene, first: float | None, last: float | None
) -> tuple[float | None, float | None]:
    """Return the times of two of the scene's frames in an object's action; None has no end."""
    start, end = (None if frame is None else action_time(owner, scene, frame) for frame in (first, last))
    return start, end


def strip_times(armature: bpy.types.Object, frames: Sequence[float] | Floats) -> Singles:
    """Return the frames as the action counts them: another time while an NLA strip is tweaked."""
    animation = armature.animation_data
    if not (animation and animation.use_tweak_mode):
        return np.asarray(frames, "f4")
    return np.array([animation.nla_tweak_strip_time_to_scene(f, invert=True) for f in frames], "f4")
