# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprint of a native mechanism: its drivers do not follow later changes of settings and rest pose."""

import hashlib
from typing import Any

import bpy
import numpy as np

from ....core.inputs import Floats
from ....core.words import say
from ....rig.chain.native_state import controls_of, is_native
from ....rig.mechanism.read import linkage_settings

# Edit Mode changes rest poses a little; within this part of the bones' extent they are the same.
_SAME = 2e-5


def mechanism_changed(mechanism: bpy.types.PropertyGroup) -> str:
    """Return the first change that a native mechanism's drivers do not follow: "its settings are others".

    Its controls act at once. "" without changes, for one that is not native, and for one without fingerprint.
    """
    made = str(mechanism.native_print).split()
    if not is_native(mechanism) or not made:
        return ""
    if controls_of(mechanism) is None:
        return say("parts of it are gone")
    rest = _rest(mechanism)
    if len(made) - 1 != rest.size:
        return say("it has other bones")
    if made[0] != _digest(mechanism):
        return say("its settings are others")
    off = np.abs(np.array(made[1:], np.float64) - rest).max()
    return say("its bones are others in rest") if off > _SAME else ""


def mechanism_fingerprint(mechanism: bpy.types.PropertyGroup) -> str:
    """Return the fingerprint of a mechanism's drivers: digest of its settings, numbers of its rest pose."""
    return " ".join((_digest(mechanism), *(f"{number:.8g}" for number in _rest(mechanism))))


def _digest(mechanism: bpy.types.PropertyGroup) -> str:
    """Return a digest of the settings that go into the drivers; bones count by their places, not by names."""
    place = mechanism.id_data.data.bones.find
    settings: list[Any] = [
        mechanism.dead,
        mechanism.dead == 'EASE' and mechanism.softness,
        *linkage_settings(mechanism, place),
        [(one.kind, place(one.bone)) for one in mechanism.drivers],
    ]
    return hashlib.md5(repr(settings).encode(), usedforsecurity=False).hexdigest()[:12]


def _rest(mechanism: bpy.types.PropertyGroup) -> Floats:
    """Return the ends and X axes (roll) of a mechanism's bones at rest (9 n,), in extents of all."""
    known = mechanism.id_data.data.bones
    bones = [known[bone.name] for bone in mechanism.bones if bone.name in known]
    ends = np.array([(bone.head_local, bone.tail_local) for bone in bones], np.float64).reshape(-1, 6)
    axes = np.array([bone.x_axis for bone in bones], np.float64).reshape(-1, 3)
    extent = float(np.ptp(ends.reshape(-1, 3), axis=0).max()) if bones else 1.0
    return np.column_stack((ends / max(extent, 1e-12), axes)).ravel()
