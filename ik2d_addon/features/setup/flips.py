# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that turn a chain over to its other side within some frames."""

import bpy

from ...core import IK2DError
from ...rig.animation import key_faults, versions
from ...rig.animation.value_keys import driver_of
from ...rig.chain.native_state import controls_of

SETTING = "turn_over"


def key_flip(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, scene: bpy.types.Scene, frames: int
) -> tuple[int, int]:
    """Key that a chain turns over from the current frame on, within so many; return first and last frame.

    It begins and ends slowly. A native chain's control is keyed. Raises IK2DError where a driver has its
    say, where strips of the NLA are tweaked, and for native chains that only flip at once.
    """
    owner, path = _setting(armature, settings)
    if driver_of(owner, path) is not None:
        raise IK2DError(f"Chain '{settings.name}': Turn Over has a driver; remove it to key a flip")
    key_faults.refuse_tweak_mode(owner)
    first = scene.frame_current
    last = first + frames
    now = float(owner.path_resolve(path))
    after = 0.0 if now > 0.5 else 1.0
    for frame, value in ((first, now), (last, after), (None, now)):
        if owner == armature:
            settings.turn_over = value
        else:
            owner[SETTING] = value
        if frame is not None:
            owner.keyframe_insert(path, frame=frame)
    curve = next(curve for curve in versions.existing_fcurves(owner) if curve.data_path == path)
    for key in curve.keyframe_points:
        if key.co[0] in (first, last):
            key.interpolation = 'BEZIER'
            key.handle_left_type = key.handle_right_type = 'AUTO_CLAMPED'
    curve.update()
    return first, last


def _setting(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> tuple[bpy.types.Object, str]:
    """Return what has the setting to key, the armature or a native chain's stand, and its path there."""
    controls = controls_of(settings)
    if controls is None:
        return armature, f"{settings.path_from_id()}.{SETTING}"
    if len(settings.joints) != 2 or any(joint.use_limit for joint in settings.joints):
        raise IK2DError(
            f"Chain '{settings.name}' is native, and only two bones without limits turn over slowly then;"
            " key its control Bend"
        )
    return controls, f'["{SETTING}"]'
