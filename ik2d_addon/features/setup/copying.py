# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy a chain's settings to other chains, or mirror the chain to the other side of the rig."""

from collections.abc import Iterable

import numpy as np
from bpy.types import Object, PropertyGroup
from bpy.utils import flip_name

from ...core import Plane
from ...core.inputs import Floats
from ...core.swing import POLE
from ...core.words import quoted, refusal
from ...rig.animation.value_keys import curve_of
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.fingerprint import settings_of
from ...rig.chain.native_state import give, is_flipped, shown
from ...rig.chain.planes import bend_plane, is_straight, pole_side
from ...rig.chain.post import POST, bending_bones
from ...rig.chain.renames import chain_named
from ...rig.pose.pole_angle import angle_to_side
from ...ui.settings.chain_list import add_chain, flip
from ...ui.settings.counterparts import bone_on_other_side, target_on_other_side
from ...ui.settings.joint_list import sync_joints
from ..foot.copying import copy_foot, mirror_foot
from ..post.copying import POST_SETTINGS, has_own_post, mirror_post
from .chain_presets import VALUES

# The settings that are copied: those of presets, these, and the plane with what belongs to it.
_SETTINGS = (*VALUES, "influence", "aim_distance")
_PLANE = ("plane", "plane_normal", "swing_normal")


def copy_settings(chain: PropertyGroup, others: Iterable[PropertyGroup], joints: bool = False) -> int:
    """Copy a chain's settings to other chains; return how many these are.

    Its pole and its post are its own, so a chain without one keeps its plane; a bone that corresponds to the
    post becomes one.
    joints: also limits, slides and weights, joint by joint from the root, to chains with as many bones.
    """
    others = list(others)
    for other in others:
        of_plane = _settings_of_plane(chain, other)
        for name in (*_SETTINGS, *of_plane):
            give(other, name, shown(chain, name))
        if of_plane and not chain.is_property_set("plane_normal"):
            other.property_unset("plane_normal")  # it counts where it is set
        copy_foot(chain, other)
        if joints and len(other.joints) == len(chain.joints):
            for joint, source in zip(other.joints, chain.joints, strict=True):
                for name, value in settings_of(source):
                    setattr(joint, name, value)
        other.id_data.update_tag()
    return len(others)


def _settings_of_plane(chain: PropertyGroup, other: PropertyGroup) -> tuple[str, ...]:
    """Return the settings of a chain's plane that another can take; none if it lacks a pole or a post."""
    if chain.plane == POLE and other.pole is None:
        return ()
    if chain.plane != POST:
        return _PLANE
    return (*_PLANE, *POST_SETTINGS) if has_own_post(chain, other) else ()


def mirror_chain(armature: Object, chain: PropertyGroup) -> PropertyGroup:
    """Return the mirrored chain, new or updated; Blender's names for sides (.L, .R) pair the bones.

    It gets the chain's settings, limits, slides and weights, and follows the counterparts of the target and
    of the pole: existing ones, else new empties in the mirrored places. Its post is the post's counterpart;
    where both would have the same, its plane stays as it is.
    Raises IK2DError, with nothing changed, if the bones have no counterparts.
    """
    name = chain.name
    bones = chain_bones(armature, chain.tip, chain.bone_count, name)
    _plane(armature, chain)
    tip = bone_on_other_side(armature, chain.tip)
    wanted = [flip_name(bone.name) for bone in bones]
    names = [bone.name for bone in chain_bones(armature, tip, chain.bone_count, name)]
    if names != wanted:
        raise refusal(
            "Chain '{name}': on the other side its bones are {names}, not {names_2}; name them "
            "by the same rules",
            name=name,
            names=quoted(names),
            names_2=quoted(wanted),
        )
    chains = armature.ik2d.chains
    other = next((each for each in chains if each.tip == tip and each.bone_count == chain.bone_count), None)
    if other is None:
        other = add_chain(armature, tip, chain.bone_count)
        chain = chain_named(armature, name)  # the list may have moved
        other.target, other.subtarget = target_on_other_side(armature, chain.target, chain.subtarget, tip)
    if chain.plane == POLE:
        _mirror_pole(armature, chain, other)
    sync_joints(chain)
    sync_joints(other)
    copy_settings(chain, [other], joints=True)
    flipped = is_flipped(chain)
    for normal in ("plane_normal", "swing_normal") if other.plane == chain.plane else ():
        if chain.is_property_set(normal):
            setattr(other, normal, _mirrored(getattr(chain, normal)))
    if other.plane == chain.plane and curve_of(armature, f"{chain.path_from_id()}.plane_turn") is None:
        other.plane_turn = -chain.plane_turn
    if _plane(armature, other).normal @ _mirrored(_plane(armature, chain).normal) < 0.0:
        if _is_straight(armature, chain):
            flipped = not flipped
        other.tip_angle_offset = -chain.tip_angle_offset
        for joint, source in zip(other.joints, chain.joints, strict=True):
            joint.limit_min, joint.limit_max = -source.limit_max, -source.limit_min
    if is_flipped(other) != flipped:
        flip(other)
    if other.plane == chain.plane == POST:
        mirror_post(chain, other)
    mirror_foot(armature, chain, other)
    return other


def _mirror_pole(armature: Object, chain: PropertyGroup, other: PropertyGroup) -> None:
    """Give a mirrored chain the pole's counterpart, unless it has a pole, and the mirrored pole angle."""
    if other.pole is None:
        other.pole, other.pole_subtarget = target_on_other_side(
            armature, chain.pole, chain.pole_subtarget, other.tip, "Pole"
        )
    bones, others = (chain_bones(armature, each.tip, each.bone_count, each.name) for each in (chain, other))
    side = pole_side(bones[0], chain.pole_angle) * (-1.0, 1.0, 1.0)
    angle = angle_to_side(others, side)
    if angle is not None:
        other.pole_angle = angle


def _plane(armature: Object, chain: PropertyGroup) -> Plane:
    """Return the plane of a chain in rest space."""
    bones = chain_bones(armature, chain.tip, chain.bone_count, chain.name)
    return bend_plane(chain, bones, rest_joints(bones))


def _is_straight(armature: Object, chain: PropertyGroup) -> bool:
    """Return whether a chain's Bend is a side of its plane: it is straight at rest."""
    bones = bending_bones(chain, chain_bones(armature, chain.tip, chain.bone_count, chain.name))
    return is_straight(_plane(armature, chain), rest_joints(bones))


def _mirrored(axis: Iterable[float]) -> Floats:
    """Return an axis of rotation (3,) mirrored at x = 0: turns about both are mirror images."""
    return np.array([*axis], np.float64) * (1.0, -1.0, -1.0)
