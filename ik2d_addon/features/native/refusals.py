# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why a chain cannot be native, as sentences that name the bone and the fix."""

from collections.abc import Iterable, Iterator, Sequence

import bpy
import numpy as np

from ...core.swing import SHORTEST_WAY, SWING
from ...core.words import listed, noted, refusal, say
from ...rig.animation import versions
from ...rig.animation.value_keys import acting_driver, curve_of, driver_of
from ...rig.chain.chain import RigChain
from ...rig.chain.joints import axes_left
from ...rig.chain.native_state import constraints_of
from ...rig.pose.hand_rotations import own_curves
from ...rig.pose.kinematics import read_linkage
from ...rig.scene.bone_constraints import other_controls, sentences
from ...rig.scene.samples import ChainSamples
from .hands import hand_problems
from .swings import turns_on

MOST_BONES = 12
# A bone is at rest if its location is below this part of its length.
_AT_REST = 1e-6
# Scale is even if squares of lengths differ by less than this part.
_EVEN = 4e-5
# A bone is unscaled if its scale is within this of 1.
_UNSCALED = 1e-6


def refuse_unfit(rig: RigChain, scene: bpy.types.Scene) -> None:
    """Raise IK2DError with the first reason why a chain cannot be native."""
    refuse_first(rig, _problems_of(rig, scene))


def refuse_first(rig: RigChain, problems: Iterable[str]) -> None:
    """Raise IK2DError with the first of some reasons why a chain cannot be native."""
    for problem in problems:
        raise refusal(
            "Chain '{chain}' cannot be converted to drivers: {problem}", chain=rig.name, problem=problem
        )


def refuse_uneven(rig: RigChain, samples: ChainSamples, times: Sequence[float]) -> None:
    """Raise IK2DError for a space that is scaled unevenly, or mirrored.

    Of chains whose plane follows their target, or with hands: constraints are wrong there. Damped Track
    alone does in a mirrored one. samples: at some frames, `times`.
    """
    if rig.swing is None and rig.hands is None:
        return
    axes = (samples.world @ read_linkage(rig, samples).to_pose)[:, :3, :3]
    squares = axes.swapaxes(1, 2) @ axes
    even = np.trace(squares, axis1=1, axis2=2)[:, None, None] / 3.0
    off = np.abs(squares - even * np.eye(3)).max(axis=(1, 2)) / even[:, 0, 0]
    is_arc = rig.swing is not None and rig.swing.rule == SHORTEST_WAY and rig.hands is None
    mirrored = (np.linalg.det(axes) < 0.0) & (not is_arc)
    for is_uneven_there, what in (
        (off > _EVEN, say("scaled unevenly")),
        (mirrored, say("mirrored by a negative scale")),
    ):
        if is_uneven_there.any():
            above = rig.pose_bones[0].parent
            bone = "" if above is None else say(", or a bone from '{above}' up,", above=above.name)
            raise refusal(
                "Chain '{chain}' cannot be converted to drivers: '{armature}'{bone} is {what} (frame "
                "{time:g}), where Blender's constraints cannot turn its {part}; apply the scale, or "
                "bake it instead",
                chain=rig.name,
                armature=rig.armature.name,
                bone=bone,
                what=what,
                time=times[int(is_uneven_there.argmax())],
                part=noted("plane") if rig.swing is not None else noted("foot or hand"),
            )


def _problems_of(rig: RigChain, scene: bpy.types.Scene) -> Iterator[str]:
    """Yield the reasons why a chain cannot be native, without the chain's name."""
    if len(rig.bones) > MOST_BONES:
        yield say(
            "it has {count} bones, and up to {most} can be; bake it instead",
            count=len(rig.bones),
            most=MOST_BONES,
        )
        return
    if rig.slides is not None:
        yield say("bones that slide cannot be; turn Slide off in Joints, or bake it instead")
    yield from hand_problems(rig)
    if own_curves(rig):
        yield say(
            "'{part}' on its tip has keys of its own, which drivers would replace; delete them, "
            "or bake it instead",
            part=rig.hands.bones[0] if rig.hands else "",
        )
    if rig.foot is not None and is_animated(rig.armature, f"{rig.settings.path}.foot.use_ground"):
        yield say("Above Ground is animated, which drivers cannot be; delete its keys, or bake it instead")
    limited_first = not np.isnan(rig.joints.limits[0]).any()
    if rig.swing is not None and rig.swing.towards is not None and limited_first:
        yield say(
            "it has a Swing Normal, and its first bone is limited, and only one of the two can be; set Swing "
            "Normal to 0, or turn off the limit"
        )
    if rig.swing is not None and rig.swing.rule == SWING and limited_first and turns_on(rig):
        yield say(
            "its plane is turned on, and its first bone is limited, and only one of the two can be; set "
            "Plane Turn to 0 without keys, or turn off the limit"
        )
    if rig.settings.tip_angle is not None:
        yield say("its last bone has an angle of its own; set Last Bone's Angle to Free, or bake it instead")
    for i, bone in enumerate(rig.pose_bones):
        yield from _of_joint(rig, i)
        yield from of_inheritance(bone, root=i == 0)
        yield from _of_place(bone)
        yield from _of_scale(rig, i)
    limited = not np.isnan(rig.joints.limits).all()
    stretches = rig.stretching is not None and not rig.stretching.limits.is_off
    if limited and stretches:
        yield say(
            "it has limits and stretches, and only one of the two can be; turn off the limits, or Stretch"
        )
    if limited and is_animated(rig.armature, f"{rig.settings.path}.turn_over"):
        yield say(
            "it turns over slowly, which it cannot within limits; key Bend instead, or turn off the limits"
        )
    yield from _of_natives(rig)
    yield from _of_other_controls(rig, scene)
    yield from _of_longer_ik(rig)


def _of_joint(rig: RigChain, i: int) -> Iterator[str]:
    bone, joints = rig.bones[i], rig.joints
    if joints.fixed[i]:
        if left := axes_left(rig.pose_bones[i]):
            yield say(
                "locks leave the bone '{bone}' only {axes}, about which it does not bend the chain; unlock "
                "its rotation",
                bone=bone,
                axes=listed(["XYZ"[axis] for axis in left]),
            )
        else:
            yield say("locks hold the bone '{bone}'; unlock its rotation", bone=bone)
    elif joints.slants[i]:
        degrees = np.degrees(joints.slants[i])
        yield say(
            "locks have the bone '{bone}' turn about an axis that is {angle:.2g} degrees off the "
            "chain's plane; unlock its rotation, or set Bends In to Hinges",
            bone=bone,
            angle=degrees,
        )
    # Even uses weights; between two bones they have no effect.
    if joints.weights[i] == 0.0 or (joints.weights[i] != 1.0 and len(rig.bones) == 2):
        yield say(
            "the bone '{bone}' has a flexibility of {weight:g}; set its Flexibility to 1 in Joints",
            bone=bone,
            weight=joints.weights[i],
        )


def of_inheritance(bone: bpy.types.PoseBone, root: bool) -> Iterator[str]:
    """Yield the reasons why a bone does not take all of what its parent does."""
    data = bone.bone
    if data.parent is None:
        return
    where = say("in its Relations")
    if not data.use_inherit_rotation:
        yield say(
            "the bone '{bone}' does not inherit rotation; turn on Inherit Rotation {where}",
            bone=bone.name,
            where=where,
        )
    if data.inherit_scale not in (('FULL',) if root else ('FULL', 'ALIGNED')):
        how = data.bl_rna.properties["inherit_scale"].enum_items[data.inherit_scale].name
        wanted = "Full" if root else say("Full, or to Aligned if the chain stretches")
        yield say(
            "the bone '{bone}' inherits scale by '{how}'; set Inherit Scale to {wanted} {where}",
            bone=bone.name,
            how=how,
            wanted=wanted,
            where=where,
        )
    if not data.use_connect and not data.use_local_location:
        yield say(
            "the location of the bone '{bone}' is not local; turn on Local Location {where}",
            bone=bone.name,
            where=where,
        )


def _of_place(bone: bpy.types.PoseBone) -> Iterator[str]:
    if bone.bone.use_connect and bone.parent is not None:
        return
    axes = [0, 1, 2]
    if (driven := driven_axis(bone, "location", axes)) is not None:
        yield say(
            "the location of the bone '{bone}' has a driver on {axis}; move the bone above it instead, and "
            "delete or mute that driver",
            bone=bone.name,
            axis="XYZ"[driven],
        )
    elif max(map(abs, bone.location)) > _AT_REST * bone.length or _keyed(bone, "location", 0.0, axes):
        yield say(
            "the bone '{bone}' is moved by its own location; move the bone above it instead, and "
            "clear its location and the keys of it (Alt-G)",
            bone=bone.name,
        )


def _of_scale(rig: RigChain, i: int) -> Iterator[str]:
    """Yield a reason if a bone is scaled, but for the stretch of the chain's own solve or bake."""
    bone = rig.pose_bones[i]
    axes = [0, 1, 2] if rig.stretching is None else [0, 2]
    scaled = [bone.scale[axis] for axis in axes]
    if rig.stretching is not None:
        scaled.append(rig.stretching.bases[i])
    if (driven := driven_axis(bone, "scale", axes)) is not None:
        yield say(
            "the scale of the bone '{bone}' has a driver on {axis}; scale the bone above the chain instead, "
            "and delete or mute that driver",
            bone=bone.name,
            axis="XYZ"[driven],
        )
    elif max(abs(value - 1.0) for value in scaled) > _UNSCALED or _keyed(bone, "scale", 1.0, axes):
        yield say(
            "the bone '{bone}' is scaled; scale the bone above the chain instead, and clear its "
            "scale and the keys of it (Alt-S)",
            bone=bone.name,
        )


def driven_axis(bone: bpy.types.PoseBone, name: str, axes: Sequence[int]) -> int | None:
    """Return the first axis of some channels of a bone that a driver moves; None for none."""
    path = bone.path_from_id(name)
    return next((axis for axis in axes if acting_driver(bone.id_data, path, axis) is not None), None)


def _keyed(bone: bpy.types.PoseBone, name: str, rest: float, axes: Sequence[int]) -> bool:
    """Return whether a key's value is off rest in one of some channels of a bone."""
    values = (key.co[1] for curve in curves_of(bone, name, axes) for key in curve.keyframe_points)
    return any(abs(value - rest) > _UNSCALED for value in values)


def curves_of(bone: bpy.types.PoseBone, name: str, axes: Sequence[int]) -> Iterator[bpy.types.FCurve]:
    """Yield the F-Curves of some channels of a bone, in its armature's action and NLA strips."""
    armature, path = bone.id_data, bone.path_from_id(name)
    animation = armature.animation_data
    if animation is None:
        return
    wanted = {(path, axis) for axis in axes}
    places = (versions.strip_channels(strip) for strip in versions.playing_strips(animation))
    holders = [holder for holder in (versions.existing_channels(armature), *places) if holder is not None]
    for curve in (curve for holder in holders for curve in holder.fcurves):
        if (curve.data_path, curve.array_index) in wanted:
            yield curve


def is_animated(owner: bpy.types.Object, path: str) -> bool:
    """Return whether a property has keys or a driver."""
    return curve_of(owner, path) is not None or driver_of(owner, path) is not None


def _of_natives(rig: RigChain) -> Iterator[str]:
    """Yield a reason for each bone that another native chain turns."""
    for other in rig.armature.ik2d.chains:
        for bone, _ in constraints_of(other, rig.bones_from_post):
            yield say(
                "its bone '{bone}' is turned by chain '{other}' on drivers already; make that one "
                "active and press Remove Drivers",
                bone=bone.name,
                other=other.name,
            )


def _of_other_controls(rig: RigChain, scene: bpy.types.Scene) -> Iterator[str]:
    """Yield the other controls of the chain's bones, above all the IK constraints that it replaces."""
    prefix = say("Chain '{chain}': ", chain=rig.name)
    for line in sentences(rig.name, other_controls(rig, scene.frame_start, scene.frame_end, carrying=True)):
        yield line.removeprefix(prefix)


def _of_longer_ik(rig: RigChain) -> Iterator[str]:
    """Yield IK constraints, muted ones too, that with the drivers would make a dependency cycle."""
    above = rig.armature.pose.bones[rig.turned_bones[0]].parent
    waited_for = {above.name} if above is not None else set()
    for ob, name in rig.followed:
        if ob == rig.armature and name:
            bone = rig.armature.pose.bones[name]
            waited_for |= {higher.name for higher in (bone, *bone.parent_recursive)}
    for bone in rig.armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type == 'IK' and constraint.target is not None:
                line = [higher.name for higher in (bone, *bone.parent_recursive)][not constraint.use_tail :]
                line = line[: constraint.chain_count or len(line)]
                if waited_for.intersection(line) and set(rig.turned_bones).intersection(line):
                    yield say(
                        "the IK constraint '{constraint}' of bone '{bone}' continues up to '{line}', and "
                        "even where it is muted Blender cannot evaluate both; lower its Chain Length to "
                        "{index}, or remove it",
                        constraint=constraint.name,
                        bone=bone.name,
                        line=line[-1],
                        index=line.index(rig.turned_bones[0]) + 1,
                    )
