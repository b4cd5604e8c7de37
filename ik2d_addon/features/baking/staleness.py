# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of the inputs of a result: if one differs later, the result is out of date.

They are compared whenever the sidebar is drawn, so keys are read in bulk: 20 microseconds for 5,000 of
them. A fingerprint is its version and a "part:digest" for each part.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any

from bpy.types import FCurve, Object, PoseBone, PropertyGroup, Scene

from ...bake.keys.baked import baked_paths
from ...core.words import noted, say
from ...rig.animation.bone_channels import rotation_property
from ...rig.animation.value_keys import existing_drivers
from ...rig.animation.versions import existing_fcurves
from ...rig.chain.dependencies import copies_of
from ...rig.chain.fingerprint import (
    CONTACTS,
    digest,
    followed_by,
    holders_of,
    key_places,
    names_of,
    post_fingerprint,
)
from ...rig.chain.hands import posed_hands
from ...rig.chain.native_state import controls_of
from ...rig.chain.post import turned_bones_of
from ...rig.chain.renames import bones_of
from ...rig.chain.stretch import ALONG
from ...rig.mechanism.read import linkage_settings
from ..native.controls import NAMES

# The parts of a fingerprint, in words.
_WORDS = {
    "settings": noted("the settings"),
    "target": noted("the target"),
    "pole": noted("the pole"),
    "keys": noted("the keys"),
    "pose": noted("the pose"),
    "post": noted("the post"),
    "frame": noted("the frame"),
    "options": noted("the frame range or the options"),
}
_DAMAGED = noted("something")  # of a damaged fingerprint
_RANGE = {"use_custom_range", "frame_start", "frame_end", "frame_step"}
# Fingerprints of earlier versions begin so, and cannot be compared: they lack settings that came later.
_VERSION, _BEFORE = "4", ("settings:", "options:", "2 ", "3 ")
# The settings of version 1.0.0 in the order in which it counted them, whatever they are. Those that came
# later count after these, and only off their defaults, so that no bake is out of date for want of a setting.
_ALWAYS = {
    name: place
    for place, name in enumerate(
        (
            *(
                "tip_rotation",
                "tip_angle_offset",
                "tip_angle_first",
                "pole_angle",
                "aim_distance",
                "bone_count",
            ),
            *("solver", "bend", "turn_over", "plane", "plane_normal", "softness", "stretch", "compress"),
            *(
                "stretch_bones",
                "influence",
                "hand_rotation",
                "hand_offset",
                "start_from",
                "root_turns_freely",
            ),
            *("slide_weight", "iterations", "tolerance"),
            *("use_limit", "limit_min", "limit_max", "weight", "use_slide", "slide_min", "slide_max"),
            *("is_added", "roll", "toe", "break_angle", "use_ground", "heel", "ball", "toe_tip"),
            *("use_reduce", "reduce_error", "on_target_keys", "single_axis", "ease_flips", "verify"),
        )
    )
}


@dataclass(frozen=True)
class AnimatedPaths:
    """F-Curves, animated settings and bones of an armature, read once for all of its chains."""

    curves: dict[str, list[tuple[int, FCurve]]]  # by their paths, each with its place
    of_settings: tuple[str, ...]  # the paths among them that set chains
    settings: frozenset[str]  # names of chains' settings with keys or drivers
    bones: dict[int, int]  # their numbers, by their pointers: names of a damaged file cannot be read

    @classmethod
    def of(cls, armature: Object) -> "AnimatedPaths":
        """Read an armature's F-Curves and drivers."""
        curves: dict[str, list[tuple[int, FCurve]]] = {}
        for place, curve in enumerate(existing_fcurves(armature)):
            curves.setdefault(curve.data_path, []).append((place, curve))
        paths = [*curves, *(driver.data_path for driver in existing_drivers(armature))]
        settings = frozenset(path.rpartition(".")[2] for path in paths if path.startswith("ik2d."))
        setting = tuple(path for path in curves if path.startswith("ik2d."))
        bones = {bone.as_pointer(): i for i, bone in enumerate(armature.data.bones)}
        return cls(curves, setting, settings, bones)

    def keys_on(self, paths: Iterable[str]) -> list[Any]:
        """Return the keys of the F-Curves on paths, in the order in which the armature has these."""
        placed = sorted((each for path in paths for each in self.curves.get(path, ())), key=itemgetter(0))
        return key_places(curve for _, curve in placed)


def bake_fingerprint(chain: PropertyGroup, animated: AnimatedPaths) -> str:
    """Return the fingerprint of a chain's bake: settings, target, keys. animated: its armature's."""
    armature, bones = chain.id_data, _bones(chain)
    prefix = f"{chain.path_from_id()}."  # of its settings
    paths = baked_paths(armature, [*turned_bones_of(chain), *posed_hands(chain)]) | _moved_paths(chain)
    contacts = tuple(f".foot.{name}" for name in CONTACTS)
    settings = (path for path in animated.of_settings if path.startswith(prefix))
    paths |= {path for path in settings if not path.endswith(contacts)}
    return _joined(
        settings=_settings(chain, bones, animated),
        target=list(_movers(chain.target, chain.subtarget)),
        pole=[made for node in followed_by(chain)[1:] for made in _movers(*node)],
        # not the paths, as bones are renamed
        keys=animated.keys_on(paths),
        **_post(chain),
    )


def mechanism_fingerprint(mechanism: PropertyGroup, animated: AnimatedPaths) -> str:
    """Return the fingerprint of a mechanism's bake: settings, targets, keys. animated: its armature's."""
    armature = mechanism.id_data
    known = armature.data.bones
    numbers = {name: animated.bones[known[name].as_pointer()] for name in known.keys()}  # names may change
    paths = baked_paths(armature, mechanism.bones.keys())
    paths |= {path for path in animated.of_settings if path.startswith(f"{mechanism.path_from_id()}.")}
    bones, joints = linkage_settings(mechanism, numbers.get)
    drivers = [
        (one.kind, numbers.get(one.bone), *_named(one.target, one.subtarget), _length(one, animated))
        for one in mechanism.drivers
    ]
    return _joined(
        settings=[
            (mechanism.dead, mechanism.way, mechanism.softness, mechanism.open_between),
            bones,
            joints,
            drivers,
            *(
                [tuple(known[bone.name].head_local), tuple(known[bone.name].tail_local)]
                for bone in mechanism.bones
                if bone.name in known
            ),
        ],
        target=[made for one in mechanism.drivers for made in _movers(one.target, one.subtarget)],
        keys=animated.keys_on(paths),
    )


def _length(driver: PropertyGroup, animated: AnimatedPaths) -> float | None:
    """Return the length that a ram has without keys."""
    is_keyed = f"{driver.path_from_id()}.length" in animated.curves
    return driver.length if driver.kind == 'RAM' and not is_keyed else None


def solve_fingerprint(chain: PropertyGroup, scene: Scene, animated: AnimatedPaths | None = None) -> str:
    """Return the fingerprint of a chain's solve: settings, frame, target and pose."""
    armature, bones = chain.id_data, _bones(chain)
    animated = animated or AnimatedPaths.of(armature)
    turns = chain.foot.is_added or 'TARGET' in (chain.hand_rotation, chain.tip_rotation)
    return _joined(
        settings=_settings(chain, bones, animated),
        frame=scene.frame_current_final,
        target=_place(chain.target, chain.subtarget, turns),
        pole=[_place(*node) for node in followed_by(chain)[1:]],
        pose=[
            [f"{value:.5g}" for value in _posed(chain, bone)]
            for bone in _pose_bones(armature, [*turned_bones_of(chain), *posed_hands(chain)])
        ],
        **_post(chain),
    )


def options_fingerprint(settings: PropertyGroup, scene: Scene) -> str:
    """Return the fingerprint of a rig's frame range and options."""
    has_range = settings.use_custom_range
    frames = [getattr(settings, name) for name in sorted(_RANGE)] if has_range else [False]
    if not has_range:
        frames += [scene.frame_start, scene.frame_end]
    return _joined(options=(frames, _counted(settings, _RANGE | {"bake_selected"})))


def changed_since(before: str, now: str) -> str:
    """Return the first part in which two fingerprints differ, in words; "" if none does or none is known."""
    if before.startswith(_BEFORE):
        return ""
    for then, there in zip(before.split(), now.split(), strict=False):
        if then != there:
            return say(_WORDS.get(then.partition(":")[0], _DAMAGED))
    return ""


def _joined(**parts: Any) -> str:
    digests = (f"{name}:{digest(repr(value).encode())[:12]}" for name, value in parts.items())
    return " ".join((_VERSION, *digests))


# --- The parts ---------------------------------------------------------------


def _settings(chain: PropertyGroup, bones: Sequence[str], animated: AnimatedPaths) -> list:
    """Return the settings of a chain and its joints, without animated ones. bones: the chain's."""
    joints = [
        _counted(joint, animated.settings) for joint in map(chain.joints.get, bones) if joint is not None
    ]
    data_bones = chain.id_data.data.bones
    places = [animated.bones[data_bones[name].as_pointer()] for name in bones]
    settings = _counted(chain, animated.settings)
    followed = [value for node in followed_by(chain) for value in _named(*node)]
    foot = _counted(chain.foot, animated.settings) if chain.foot.is_added else []
    return [settings, joints, places, *foot, *followed, *_controls(chain)]


def _post(chain: PropertyGroup) -> dict[str, Any]:
    """Return the part of a fingerprint on a chain's post; none without one, as in earlier versions."""
    parts = post_fingerprint(chain)
    return {"post": parts} if parts else {}


def _counted(group: PropertyGroup, left_out: Collection[str]) -> list[tuple[str, Any]]:
    """Return the settings of a group that count, each with its name."""
    return [
        (name, value)
        for name, is_array, default in _in_order(group.__class__)
        if name not in left_out
        for value in [tuple(getattr(group, name)) if is_array else getattr(group, name)]
        if value != default
    ]


@cache
def _in_order(kind: Any) -> list[tuple[str, bool, Any]]:
    """Return the names of a group's settings, in order; whether one holds several values; and its default.

    None for the default of one that counts always.
    """
    known = kind.bl_rna.properties
    later = {
        name: tuple(known[name].default_array) if is_array else known[name].default
        for name, is_array in names_of(kind)
        if name not in _ALWAYS
    }
    names = sorted(names_of(kind), key=lambda named: (_ALWAYS.get(named[0], len(_ALWAYS)), named[0]))
    return [(name, is_array, later.get(name)) for name, is_array in names]


def _named(target: Object | None, subtarget: str) -> list[Any]:
    """Return a target's name, and the place of its bone, which may be renamed."""
    data = target.data if target is not None and subtarget else None
    return [target and target.name, data.bones.find(subtarget) if hasattr(data, "bones") else subtarget]


def _controls(chain: PropertyGroup) -> Iterator[Any]:
    """Yield the values and the keys of a native chain's controls."""
    controls = controls_of(chain)
    if controls is not None:
        yield [(name, controls[name]) for name in NAMES if name in controls]
        yield key_places(existing_fcurves(controls))


def _place(target: Object | None, subtarget: str, turns: bool = False) -> tuple[str, list[str]]:
    """Return the name of a target or a pole, and where it is. turns: whether its rotation counts too."""
    matrix = target.matrix_world if target is not None else None
    if target is not None and subtarget and target.pose is not None:
        bone = target.pose.bones.get(subtarget)
        matrix = matrix @ bone.matrix if bone else None
    place = [] if matrix is None else list(matrix.translation)
    if matrix is not None and turns:
        place += [value for row in matrix.to_3x3() for value in row]
    return target.name if target else "", [f"{value:.5g}" for value in place]


def _movers(target: Object | None, subtarget: str) -> Iterator[Any]:
    """Yield the keys of a target or a pole, of what it blends, and of their parents.

    Of channels without keys the values.
    """
    for ob, bones in holders_of(target, subtarget):
        prefixes = tuple(f"{posed.path_from_id()}." for posed in bones)
        chain_curves = [
            curve
            for curve in existing_fcurves(ob)
            if curve.data_path.startswith(prefixes) or not curve.data_path.startswith(("pose.", "ik2d."))
        ]
        yield key_places(chain_curves)
        paths = {curve.data_path for curve in chain_curves}
        for copy in copies_of((ob, "")):
            if copy.path_from_id("influence") not in paths:
                yield copy.influence
        for holder in (ob, *bones):
            for name in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
                path = name if holder == ob else holder.path_from_id(name)
                if path not in paths:
                    yield tuple(getattr(holder, name))


def _pose_bones(armature: Object, names: Iterable[str]) -> list[PoseBone]:
    posed = armature.pose.bones if armature.pose is not None else {}
    return [posed[name] for name in names if name in posed]


def _bones(chain: PropertyGroup) -> list[str]:
    return bones_of(chain.id_data.data, chain.tip, chain.bone_count)


def _moved_paths(chain: PropertyGroup) -> set[str]:
    """Return the paths of the locations and scales that the chain's slides and stretch have written."""
    bones = _pose_bones(chain.id_data, chain.joints.keys())
    posed = [(bone, chain.joints[bone.name]) for bone in bones]
    slid = {bone.path_from_id("location") for bone, joint in posed if any(joint.slid)}
    return slid | {bone.path_from_id("scale") for bone, joint in posed if joint.is_scaled}


def _posed(chain: PropertyGroup, bone: PoseBone) -> Iterator[float]:
    """Yield a bone's rotation, and the channels of its location and scale that its chain has written."""
    yield from getattr(bone, rotation_property(bone.rotation_mode))
    joint = chain.joints.get(bone.name)
    if joint is not None:
        yield from (value for value, slid in zip(bone.location, joint.slid, strict=True) if slid)
        yield from bone.scale[ALONG : ALONG + 1] if joint.is_scaled else ()
