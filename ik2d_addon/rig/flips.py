# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that turn a chain over to its other side within some frames."""

import bpy

from ..core import IK2DError
from . import compat, keys

SETTING = "turn_over"


def key_flip(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, scene: bpy.types.Scene, frames: int
) -> tuple[int, int]:
    """Key that a chain turns over from the current frame on, within so many; return first and last frame.

    It begins and ends slowly. Raises IK2DError where a driver has its say, and where strips of the NLA are
    tweaked.
    """
    path = f"{settings.path_from_id()}.{SETTING}"
    animation = armature.animation_data
    if animation is not None and animation.drivers.find(path) is not None:
        raise IK2DError(f"Chain '{settings.name}': Turn Over has a driver; remove it to key a flip")
    keys.refuse_tweak_mode(armature)
    first = scene.frame_current
    last = first + frames
    now = settings.turn_over
    after = 0.0 if now > 0.5 else 1.0
    for frame, value in ((first, now), (last, after)):
        settings.turn_over = value
        settings.keyframe_insert(SETTING, frame=frame)
    settings.turn_over = now
    curve = next(curve for curve in compat.existing_fcurves(armature) if curve.data_path == path)
    for key in curve.keyframe_points:
        if key.co[0] in (first, last):
            key.interpolation, key.handle_left_type, key.handle_right_type = (
                'BEZIER',
                'AUTO_CLAMPED',
                'AUTO_CLAMPED',
            )
    curve.update()
    return first, last
