# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: replace the keys of a range, in bulk."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..core import IK2DError
from ..core.chain import Floats
from . import compat
from .pose import BoneRotation

# Everything that a key holds, with its width and type; a round trip through these is lossless.
_COLUMNS = (
    ("co", 2, "f4"),
    ("handle_left", 2, "f4"),
    ("handle_right", 2, "f4"),
    ("handle_left_type", 1, "i4"),
    ("handle_right_type", 1, "i4"),
    ("interpolation", 1, "i4"),
    ("easing", 1, "i4"),
    ("type", 1, "i4"),
    ("amplitude", 1, "f4"),
    ("period", 1, "f4"),
    ("back", 1, "f4"),
    ("select_control_point", 1, "?"),
    ("select_left_handle", 1, "?"),
    ("select_right_handle", 1, "?"),
)
# Blender's numbers for these, the same in all versions; bulk access takes no names.
_BEZIER, _AUTO_CLAMPED, _GENERATED = 2, 4, 5
# Two keys nearer than this many frames are one.
_SAME_FRAME = 1e-3


def check_writable(armature: bpy.types.Object, rotations: Sequence[BoneRotation]) -> None:
    """Raise IK2DError where a channel cannot take keys; nothing has been written then."""
    animation = armature.animation_data
    if animation and animation.use_tweak_mode:
        raise IK2DError(
            f"'{armature.name}' is in the NLA's tweak mode; leave it (Tab in the NLA editor) to bake"
        )
    paths = {_path(armature, rotation) for rotation in rotations}
    for curve in compat.existing_fcurves(armature):
        if curve.data_path not in paths:
            continue
        if curve.lock:
            raise IK2DError(
                f"The channel {curve.data_path} of '{armature.name}' is locked; unlock it to bake"
            )
        if len(curve.sampled_points):
            raise IK2DError(
                f"The channel {curve.data_path} of '{armature.name}' holds samples;"
                " turn them into keys to bake"
            )


def write(armature: bpy.types.Object, frames: Sequence[int], rotations: Sequence[BoneRotation]) -> None:
    """Key the rotations at the frames, in place of all keys from the first frame to the last."""
    holder = compat.channels(armature)
    for rotation in rotations:
        path = _path(armature, rotation)
        for index in range(rotation.values.shape[1]):
            curve = compat.fcurve(holder, path, index, rotation.bone)
            _replace_keys(curve, np.asarray(frames, "f4"), rotation.values[:, index])


def _path(armature: bpy.types.Object, rotation: BoneRotation) -> str:
    return armature.pose.bones[rotation.bone].path_from_id(rotation.property)


def _replace_keys(curve: bpy.types.FCurve, frames: np.ndarray, values: Floats) -> None:
    """Put keys at sorted frames (m,); keys before the first and after the last stay as they are."""
    points = curve.keyframe_points
    old = {name: _column(points, name, width, kind) for name, width, kind in _COLUMNS}
    x = old["co"][:, 0]
    kept = (x < frames[0] - _SAME_FRAME) | (x > frames[-1] + _SAME_FRAME)
    new = _new_keys(frames, values)
    order = np.argsort(np.concatenate((x[kept], frames)), kind="stable")
    points.clear()
    points.add(len(order))
    for name, _width, _kind in _COLUMNS:
        merged = np.concatenate((old[name][kept], new[name]))[order]
        points.foreach_set(name, np.ascontiguousarray(merged).ravel())
    curve.update()


def _column(points, name: str, width: int, kind: str) -> np.ndarray:
    column = np.empty(len(points) * width, kind)
    points.foreach_get(name, column)
    return column.reshape(-1, width)


def _new_keys(frames: np.ndarray, values: Floats) -> dict[str, np.ndarray]:
    new = {name: np.zeros((len(frames), width), kind) for name, width, kind in _COLUMNS}
    new["co"][:, 0], new["co"][:, 1] = frames, values
    new["handle_left"][:] = new["handle_right"][:] = new["co"]
    new["handle_left_type"][:] = new["handle_right_type"][:] = _AUTO_CLAMPED
    new["interpolation"][:] = _BEZIER
    new["type"][:] = _GENERATED
    return new
