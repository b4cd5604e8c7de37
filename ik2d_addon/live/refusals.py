# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers, keys, constraints and native chains that turn a live chain's bones in its place."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy

from ..core import IK2DError
from ..core.words import refusal
from ..rig.animation.bone_channels import rotation_property
from ..rig.animation.value_keys import driven_paths, existing_drivers
from ..rig.animation.versions import existing_channels
from ..rig.chain.chain import RigChain
from ..rig.chain.dependencies import is_animated
from ..rig.chain.fingerprint import settings_of
from ..rig.chain.native_state import acts, constraints_of
from ..rig.chain.post import Post
from ..rig.scene.bone_constraints import Held, OtherControl, reaching_of

# Properties of a constraint that do not say which bones it moves, and how.
_NOT_EXTENT = {"influence", "active", "show_expanded", "is_valid", "error_location", "error_rotation"}


def refuse_driven(rig: RigChain) -> None:
    """Raise IK2DError for a bone whose rotation, or length, a driver sets."""
    driven = driven_paths(rig.armature)
    if not driven:
        return
    post = rig.post_above
    if post is not None and _drives(rig.armature, post):
        raise _is_driven(rig, post.bone)
    for i, bone in enumerate(rig.pose_bones):
        names = [] if rig.joints.fixed[i] else [rotation_property(bone.rotation_mode)]
        names += ["location"] * (rig.slides is not None) + ["scale"] * (rig.stretching is not None)
        if not driven.isdisjoint(map(bone.path_from_id, names)):
            raise _is_driven(rig, bone.name)


def _drives(armature: bpy.types.Object, post: Post) -> bool:
    """Return whether a driver sets the channel that a post turns by; of a quaternion, any."""
    bone = armature.pose.bones[post.bone]
    prop = rotation_property(bone.rotation_mode)
    path, is_euler = bone.path_from_id(prop), prop == "rotation_euler"
    return any(
        driver.data_path == path and not (driver.mute or is_euler and driver.array_index != post.rule.axis)
        for driver in existing_drivers(armature)
    )


def _is_driven(rig: RigChain, bone: str) -> IK2DError:
    return refusal(
        "Chain '{chain}': a driver moves bone '{bone}' in place of this chain; remove or mute the driver",
        chain=rig.name,
        bone=bone,
    )


def refuse_native(rig: RigChain) -> None:
    """Raise IK2DError for a chain with a bone that a native chain turns."""
    turned = rig.turned_bones
    if not any(len(rig.armature.pose.bones[bone].constraints) for bone in turned):
        return
    for other in rig.armature.ik2d.chains:
        shared = {bone.name for bone, _ in constraints_of(other, turned)}
        if shared and acts(other):
            raise refusal(
                "Chain '{chain}': the chain '{other}' on drivers turns its bone '{shared}'; turn "
                "Live off, or press Remove Drivers",
                chain=rig.name,
                other=other.name,
                shared=min(shared),
            )


def acts_at_times(rig: RigChain, controls: Sequence[OtherControl]) -> bool:
    """Return whether some controls act at some times and not at others."""
    bones = rig.armature.pose.bones
    return any(
        is_animated(rig.armature, bones[control.owner].constraints[control.constraint])
        for control in controls
    )


def is_keyed(rig: RigChain) -> bool:
    """Return whether bones of a chain have rotation keys, from which each frame starts anew."""
    bones = map(rig.armature.pose.bones.get, rig.turned_bones)
    paths = {bone.path_from_id(rotation_property(bone.rotation_mode)) for bone in bones}
    holder = existing_channels(rig.armature)
    return holder is not None and any(curve.data_path in paths for curve in holder.fcurves)


def state_of_controls(
    armature: bpy.types.Object, names: Sequence[str], shared: "SharedControls | None" = None
) -> list[Any]:
    """Return the state of the constraints and drivers that may move some bones, to see it change.

    shared: what the armature's chains share, where it is known.
    """
    bones = map(armature.pose.bones.get, names)
    held = [(bone, constraint) for bone in bones if bone for constraint in bone.constraints]
    return [(shared or SharedControls.of(armature)).state, states(held)]


class SharedControls(NamedTuple):
    """The drivers and constraints that may move bones of any chain of an armature, read once for all."""

    state: list[Any]  # of its drivers, and of the following
    reaching: list[Held]  # as `reaching_of` has them

    @classmethod
    def of(cls, armature: bpy.types.Object) -> "SharedControls":
        """Read an armature."""
        drivers = [(curve.data_path, curve.mute) for curve in existing_drivers(armature)]
        reaching = reaching_of(armature)
        return cls([drivers, states(reaching)], reaching)


def states(held: Sequence[Held]) -> list[Any]:
    """Return the state of constraints of bones, to see it change."""
    return [
        (
            bone.name,
            constraint.name,
            getattr(constraint, "target", None),
            settings_of(constraint, _NOT_EXTENT),
        )
        for bone, constraint in held
    ]
