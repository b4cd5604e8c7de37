# SPDX-License-Identifier: GPL-3.0-or-later
"""Key a slow flip: the chain turns over to its other side within some frames."""

import bpy
import numpy as np

from ...core.words import refusal
from ...rig.animation import versions
from ...rig.animation.times import animation_times
from ...rig.animation.value_keys import driver_of, refuse_tweak_mode
from ...rig.chain.native_state import controls_of

SETTING = "turn_over"


def key_flip(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, scene: bpy.types.Scene, frames: int
) -> tuple[int, int]:
    """Key that a chain turns over in so many frames from the current one; return the first and last frame.

    It eases in and out. Of a native chain its control is keyed. Raises IK2DError if the setting has a
    driver, in the NLA's tweak mode, and for native chains that can only flip at once.
    """
    owner, path = _setting(armature, settings)
    if driver_of(owner, path) is not None:
        raise refusal(
            "Chain '{chain}': Bend to Other Side has a driver; remove it to key a flip",
            chain=settings.name,
        )
    refuse_tweak_mode(owner)
    first = scene.frame_current
    last = first + frames
    now = float(owner.path_resolve(path))
    after = 0.0 if now > 0.5 else 1.0
    times = animation_times(scene, (first, last))
    for time, value in ((times[0], now), (times[1], after), (None, now)):
        if owner == armature:
            settings.turn_over = value
        else:
            owner[SETTING] = value
        if time is not None:
            owner.keyframe_insert(path, frame=time)
    curve = next(curve for curve in versions.existing_fcurves(owner) if curve.data_path == path)
    for key in curve.keyframe_points:
        if key.co[0] in np.array(times, np.float32):
            key.interpolation = 'BEZIER'
            key.handle_left_type = key.handle_right_type = 'AUTO_CLAMPED'
    curve.update()
    return first, last


def _setting(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> tuple[bpy.types.Object, str]:
    """Return the owner and path of the setting to key: the armature, or a native chain's controls."""
    controls = controls_of(settings)
    if controls is None:
        return armature, f"{settings.path_from_id()}.{SETTING}"
    if len(settings.joints) != 2 or any(joint.use_limit for joint in settings.joints):
        raise refusal(
            "Chain '{chain}' is on drivers, which flip slowly only with two bones without "
            "limits; key its control Bend",
            chain=settings.name,
        )
    return controls, f'["{SETTING}"]'
