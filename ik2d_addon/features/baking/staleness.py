# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of what a result was made of: where one differs later, the result no longer holds.

They are compared whenever the sidebar is drawn, so none looks at keys one by one: their places come in
bulk, 20 microseconds for 5,000 keys. A mark is its version, and words of "what:digest".
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import FCurve, Object, PropertyGroup, Scene
from numpy.typing import NDArray

from ...bake.keys.clearing import baked_paths
from ...rig.animation.fcurves import column
from ...rig.animation.versions import existing_fcurves
from ...rig.chain.hands import posed_hands
from ...rig.chain.native_state import controls_of
from ...rig.chain.renames import bones_of
from ...rig.chain.stretch import ALONG
from ..native.controls import NAMES

# What a person reads of the parts of a mark.
_WORDS = {
    "settings": "the settings",
    "target": "the target",
    "keys": "the keys",
    "pose": "the pose",
    "frame": "the frame",
    "options": "the frame range or the options",
}
# Properties that say nothing of how a chain is solved. Bones are marked by their places, as they may be
# renamed.
_NO_SETTINGS = {"rna_type", "name", "enabled", "tip", "subtarget", "active_joint", "active_index"}
_NO_SETTINGS |= {"last_solve", "last_bake", "last_bake_alert", "last_solve_alert", "solve_mark", "bake_mark"}
_NO_SETTINGS |= {"bake_reached", "missed_frames", "worst_frame", "left_out", "owner"}
_NO_SETTINGS |= {"plane_taken", "is_off_plane", "is_scaled", "scale_base", "scale_posed"}
_NO_SETTINGS |= {"accepted_off_plane", "slid", "slide_base", "live", "live_status"}
_NO_SETTINGS |= {"hands_posed", "native_constraint", "native_before", "native_print"}
_RANGE = {"use_custom_range", "frame_start", "frame_end", "frame_step"}


# Marks that were made in the way of before begin at once with a digest, and cannot be compared.
_VERSION, _BEFORE = "2", ("settings:", "options:")


@dataclass(frozen=True)
class AnimatedPaths:
    """What animates an armature, looked up once for all of its chains."""

    curves: dict[str, list[tuple[int, FCurve]]]  # by their paths, each with its place among all
    settings: frozenset[str]  # names of the settings of chains that have keys or drivers

    @classmethod
    def of(cls, armature: Object) -> "AnimatedPaths":
        """Look it up."""
        curves: dict[str, list[tuple[int, FCurve]]] = {}
        for place, curve in enumerate(existing_fcurves(armature)):
            curves.setdefault(curve.data_path, []).append((place, curve))
        drivers = (driver.data_path for driver in _drivers(armature))
        paths = [path for path in (*curves, *drivers) if path.startswith("ik2d.")]
        return cls(curves, frozenset(path.rpartition(".")[2] for path in paths))

    def on(self, paths: set[str]) -> list[FCurve]:
        """Return the F-Curves of some paths, in the order in which they are kept."""
        found = [each for path in paths for each in self.curves.get(path, ())]
        return [curve for _, curve in sorted(found, key=lambda each: each[0])]


def bake_fingerprint(chain: PropertyGroup, animated: AnimatedPaths | None = None) -> str:
    """Return the mark of a chain's bake: settings, target, keys.

    animated: what animates its armature, for whoever asks for the marks of many chains.
    """
    armature = chain.id_data
    animated = animated or AnimatedPaths.of(armature)
    paths = baked_paths(armature, [*_bones(chain), *posed_hands(chain)]) | _moved_paths(chain)
    return _mark(
        settings=_settings(chain, animated.settings),
        target=list(_target(chain)),
        keys=list(map(_samples, animated.on(paths))),  # not the paths, as bones are renamed
    )


def solve_fingerprint(chain: PropertyGroup, scene: Scene, animated: AnimatedPaths | None = None) -> str:
    """Return the mark of a chain's solve: settings, the frame, the target and the pose on it.

    animated: as in `bake_mark`.
    """
    armature = chain.id_data
    animated = animated or AnimatedPaths.of(armature)
    bones = [
        armature.pose.bones[name] for name in (*_bones(chain), *posed_hands(chain)) if _has(armature, name)
    ]
    target = chain.target
    matrix = target.matrix_world if target is not None else None
    if target is not None and chain.subtarget and target.pose is not None:
        bone = target.pose.bones.get(chain.subtarget)
        matrix = matrix @ bone.matrix if bone else None
    place = [] if matrix is None else list(matrix.translation)
    if matrix is not None and chain.hand_rotation == 'TARGET':
        place += [value for row in matrix.to_3x3() for value in row]
    return _mark(
        settings=_settings(chain, animated.settings),
        frame=scene.frame_current_final,
        target=(target.name if target else "", [f"{value:.5g}" for value in place]),
        pose=[[f"{value:.5g}" for value in (*_rotation(bone), *_moved(chain, bone))] for bone in bones],
    )


def options_fingerprint(settings: PropertyGroup, scene: Scene) -> str:
    """Return the mark of a rig's frame range and options."""
    own = settings.use_custom_range
    frames = [getattr(settings, name) for name in sorted(_RANGE)] if own else [False]
    if not own:
        frames += [scene.frame_start, scene.frame_end]
    return _mark(options=(frames, _values(settings, _RANGE, frozenset())))


def changed_since(mark: str, now: str) -> str:
    """Return, in words, the first part in which two marks differ; "" where none does, or none can be told."""
    if mark.startswith(_BEFORE):
        return ""
    for then, there in zip(mark.split(), now.split(), strict=False):
        if then != there:
            return _WORDS.get(then.partition(":")[0], "something")  # of a damaged mark
    return ""


def _mark(**parts: Any) -> str:
    digests = (f"{name}:{_digest(repr(part).encode())[:12]}" for name, part in parts.items())
    return " ".join((_VERSION, *digests))


def _digest(data: bytes | NDArray[np.float32]) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


# --- The parts ---------------------------------------------------------------


def _settings(chain: PropertyGroup, animated: frozenset[str]) -> list:
    """Return what a chain and its joints are set to; of settings that are animated, nothing."""
    armature = chain.id_data
    joints = [
        _values(joint, set(), animated) for joint in map(chain.joints.get, _bones(chain)) if joint is not None
    ]
    data = chain.target.data if chain.target is not None and chain.subtarget else None
    bone = data.bones.find(chain.subtarget) if hasattr(data, "bones") else chain.subtarget
    places = [armature.data.bones.find(name) for name in _bones(chain)]
    found = [_values(chain, set(), animated), joints, places, chain.target and chain.target.name, bone]
    return [*found, *_controls(chain)]


def _controls(chain: PropertyGroup) -> Iterator[Any]:
    """Yield what the controls of a native chain are set to, and their keys."""
    controls = controls_of(chain)
    if controls is not None:
        yield [(name, controls[name]) for name in NAMES if name in controls]
        yield [_samples(curve) for curve in existing_fcurves(controls)]


def _values(group: PropertyGroup, left_out: set[str], animated: frozenset[str]) -> list:
    """Return the plain values of a group of settings."""
    left_out = left_out | animated | _NO_SETTINGS
    return [
        (found.identifier, tuple(value) if getattr(found, "is_array", False) else value)
        for found in group.bl_rna.properties
        if found.type not in {'POINTER', 'COLLECTION'} and found.identifier not in left_out
        for value in [getattr(group, found.identifier)]
    ]


def _target(chain: PropertyGroup) -> Iterator[Any]:
    """Yield what a chain's target and its parents are moved by, as far as that is their own."""
    ob, bone, seen = chain.target, chain.subtarget, set()
    while ob is not None and ob not in seen:
        seen.add(ob)
        yield from _moved_by(ob, bone)
        ob, bone = ob.parent, ob.parent_bone if ob.parent_type == 'BONE' else ""


def _moved_by(ob: Object, bone: str) -> Iterator[Any]:
    """Yield the keys of an object and one of its bones; where these have none, how they are placed."""
    bones = [ob.pose.bones[bone], *ob.pose.bones[bone].parent_recursive] if _has(ob, bone) else []
    prefixes = tuple(f"{posed.path_from_id()}." for posed in bones)
    own = [
        curve
        for curve in existing_fcurves(ob)
        if curve.data_path.startswith(prefixes) or not curve.data_path.startswith(("pose.", "ik2d."))
    ]
    yield [_samples(curve) for curve in own]
    paths = {curve.data_path for curve in own}
    for holder in (ob, *bones):
        for name in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
            path = name if holder == ob else holder.path_from_id(name)
            if path not in paths:
                yield tuple(getattr(holder, name))


def _has(ob: Object, bone: str) -> bool:
    return bool(bone) and ob.pose is not None and bone in ob.pose.bones


def _samples(curve: FCurve) -> tuple:
    """Return what is looked at of a curve: where its keys are, and not their handles."""
    return curve.array_index, curve.mute, _digest(column(curve, "co"))


def _bones(chain: PropertyGroup) -> list[str]:
    return bones_of(chain.id_data.data, chain.tip, chain.bone_count)


def _drivers(ob: Object) -> Iterable[FCurve]:
    return ob.animation_data.drivers if ob.animation_data else ()


def _moved_paths(chain: PropertyGroup) -> set[str]:
    """Return the paths of the locations and scales that a chain has slid and stretched."""
    armature = chain.id_data
    joints = [joint for joint in chain.joints if _has(armature, joint.name)]
    posed = [(armature.pose.bones[joint.name], joint) for joint in joints]
    slid = {bone.path_from_id("location") for bone, joint in posed if any(joint.slid)}
    return slid | {bone.path_from_id("scale") for bone, joint in posed if joint.is_scaled}


def _moved(chain: PropertyGroup, bone) -> Iterator[float]:
    """Yield the channels of a bone's location, and of its scale, that its chain has changed."""
    joint = chain.joints.get(bone.name)
    if joint is not None:
        yield from (value for value, slid in zip(bone.location, joint.slid, strict=True) if slid)
        yield from bone.scale[ALONG : ALONG + 1] if joint.is_scaled else ()


def _rotation(bone) -> Iterable[float]:
    """Return the values of a bone's rotation channels."""
    if bone.rotation_mode == 'QUATERNION':
        return bone.rotation_quaternion
    return bone.rotation_axis_angle if bone.rotation_mode == 'AXIS_ANGLE' else bone.rotation_euler
