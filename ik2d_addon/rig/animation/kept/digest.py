# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of actions, which tell whether a person has changed one that was made here."""

from collections.abc import Iterator
from hashlib import sha256

import bpy

from .. import versions
from ..key_columns import are_shaped, columns_of
from .record import is_kept_action

# Settings of F-Curves that change what they play.
_SETTINGS = ("mute", "extrapolation", "auto_smoothing")
_OF_ACTION = ("use_frame_range", "frame_start", "frame_end", "use_cyclic")


def digest_of(action: bpy.types.Action) -> str:
    """Return a digest of the keys, curves, markers and settings of an action; selection does not count.

    Nor do automatic handles, which Blender computes again. The keys that it keeps of others are among them.
    """
    digest = sha256()
    for part in _parts(action):
        digest.update(part)
    return digest.hexdigest()


def _parts(action: bpy.types.Action) -> Iterator[bytes]:
    ranged = _OF_ACTION if action.use_frame_range else _OF_ACTION[:1]
    own = [(key, _plain(action[key])) for key in sorted(action.keys()) if key != "ik2d"]
    markers = [(marker.name, marker.frame) for marker in action.pose_markers]
    yield repr([[getattr(action, name) for name in ranged], own, markers]).encode()
    for entry in action.ik2d.kept if action.is_property_set("ik2d") else ():
        if is_kept_action(entry.action):
            yield from _parts(entry.action)
    for holder, _ in versions.holders_of(action):
        for curve in holder.fcurves:
            settings = [getattr(curve, name) for name in _SETTINGS]
            modifiers = [_settings_of(modifier) for modifier in curve.modifiers]
            yield repr([curve.data_path, curve.array_index, settings, modifiers]).encode()
            columns = columns_of(curve)
            shaped = are_shaped(columns)
            for name, values in columns.items():
                if name in ("handle_left", "handle_right"):
                    yield values[shaped[:, int(name == "handle_right")]].tobytes()
                elif not name.startswith("select"):
                    yield values.tobytes()


def _plain(value: object) -> object:
    """Return the value of a custom property without its place in memory."""
    if isinstance(value, bpy.types.ID):
        return value.name
    if hasattr(value, "to_dict") and hasattr(value, "items"):
        return {key: _plain(part) for key, part in value.items()}
    if hasattr(value, "to_list"):
        return value.to_list()
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def _settings_of(modifier: bpy.types.FModifier) -> list[str]:
    """Return the values of an F-Curve modifier, but for those of its panel."""
    names = [rule.identifier for rule in modifier.bl_rna.properties if not rule.is_readonly]
    values = [(name, getattr(modifier, name)) for name in names if name not in ("show_expanded", "active")]
    plain = [
        (name, value if isinstance(value, (bool, int, float, str)) else [*value]) for name, value in values
    ]
    if modifier.type == 'ENVELOPE':
        plain.append(("points", [(point.frame, point.min, point.max) for point in modifier.control_points]))
    return [modifier.type, *map(repr, plain)]
