# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a chain from being native: each in a sentence that names the bone and the way out."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...core import IK2DError
from ...rig.animation import versions
from ...rig.chain.chain import RigChain
from ...rig.chain.native_state import constraints_of
from ...rig.scene.bone_constraints import other_controls, sentences

MOST_BONES = 12
# A location below this part of the bone's length is none.
_AT_REST = 1e-6
# A scale within this of 1 is 1.
_UNSCALED = 1e-6


def refuse_unfit(rig: RigChain, scene: bpy.types.Scene) -> None:
    """Raise IK2DError for the first thing that keeps a chain from being native."""
    for problem in problems_of(rig, scene):
        raise IK2DError(f"Chain '{rig.name}' cannot be native: {problem}")


def problems_of(rig: RigChain, scene: bpy.types.Scene) -> Iterator[str]:
    """Yield what keeps a chain from being native, without the chain's name."""
    if not 2 <= len(rig.bones) <= MOST_BONES:
        count = f"{len(rig.bones)} bone{'s' if len(rig.bones) > 1 else ''}"
        way_out = "a Damped Track constraint does for one" if len(rig.bones) == 1 else "bake it instead"
        yield f"it has {count}, and 2 to {MOST_BONES} can be; {way_out}"
        return
    if rig.slides is not None:
        yield "bones that slide cannot be; turn Slide off in Joints, or bake it instead"
    if rig.hands is not None:
        yield (
            f"'{rig.hands.bones[0]}' on its tip keeps a rotation of its own, by keys alone; set Hand or Foot"
            " to As It Is, or bake it instead"
        )
    for i, bone in enumerate(rig.pose_bones):
        yield from _of_joint(rig, i)
        yield from _of_inheritance(bone, root=i == 0)
        yield from _of_place(bone)
        yield from _of_scale(rig, i)
    limited = not np.isnan(rig.joints.limits).all()
    stretches = rig.stretching is not None and not rig.stretching.limits.is_off
    if limited and stretches:
        yield "it has limits and stretches, and only one of the two can be; turn off the limits, or Stretch"
    if limited and _has_keys(rig, "turn_over"):
        yield "it turns over slowly, which it cannot within limits; key Bend instead, or turn off the limits"
    yield from _of_natives(rig)
    yield from _of_rulers(rig, scene)
    yield from _of_longer_ik(rig)


def _of_joint(rig: RigChain, i: int) -> Iterator[str]:
    bone, joints = rig.bones[i], rig.joints
    if joints.fixed[i]:
        yield f"locks hold the bone '{bone}'; unlock its rotation"
    elif joints.slants[i]:
        degrees = np.degrees(joints.slants[i])
        yield (
            f"locks have the bone '{bone}' turn about an axis that is {degrees:.2g} degrees off the chain's"
            " plane; unlock its rotation, or set Plane to Hinges"
        )
    # Even counts weights; between two bones they settle nothing.
    if joints.weights[i] == 0.0 or (joints.weights[i] != 1.0 and len(rig.bones) == 2):
        yield f"the bone '{bone}' has a weight of {joints.weights[i]:g}; set its Weight to 1 in Joints"


def _of_inheritance(bone: bpy.types.PoseBone, root: bool) -> Iterator[str]:
    data = bone.bone
    if data.parent is None:
        return
    where = "in its Relations"
    if not data.use_inherit_rotation:
        yield f"the bone '{bone.name}' does not inherit rotation; turn on Inherit Rotation {where}"
    if data.inherit_scale not in (('FULL',) if root else ('FULL', 'ALIGNED')):
        how = data.bl_rna.properties["inherit_scale"].enum_items[data.inherit_scale].name
        wanted = "Full" if root else "Full, or to Aligned if the chain stretches"
        yield f"the bone '{bone.name}' inherits scale by '{how}'; set Inherit Scale to {wanted} {where}"
    if not data.use_connect and not data.use_local_location:
        yield f"the location of the bone '{bone.name}' is not local; turn on Local Location {where}"


def _of_place(bone: bpy.types.PoseBone) -> Iterator[str]:
    if bone.bone.use_connect and bone.parent is not None:
        return
    if max(map(abs, bone.location)) > _AT_REST * bone.length or _moves(bone, "location", 0.0, [0, 1, 2]):
        yield (
            f"the bone '{bone.name}' is moved by its own location; move the bone above it instead, and clear"
            " its location and the keys of it (Alt-G)"
        )


def _of_scale(rig: RigChain, i: int) -> Iterator[str]:
    """Yield that a bone has a scale of its own, but for what a solve or bake of the chain has stretched."""
    bone = rig.pose_bones[i]
    axes = [0, 1, 2] if rig.stretching is None else [0, 2]
    scaled = [bone.scale[axis] for axis in axes] + (
        [] if rig.stretching is None else [rig.stretching.bases[i]]
    )
    if max(abs(value - 1.0) for value in scaled) > _UNSCALED or _moves(bone, "scale", 1.0, axes):
        yield (
            f"the bone '{bone.name}' is scaled; scale the bone above the chain instead, and clear its scale"
            " and the keys of it (Alt-S)"
        )


def _moves(bone: bpy.types.PoseBone, name: str, rest: float, axes: Sequence[int]) -> bool:
    """Return whether keys or drivers give one of some channels of a bone another value than that of rest."""
    armature, path = bone.id_data, bone.path_from_id(name)
    animation = armature.animation_data
    if animation is None:
        return False
    wanted = {(path, axis) for axis in axes}
    if any((curve.data_path, curve.array_index) in wanted and not curve.mute for curve in animation.drivers):
        return True
    places = (versions.strip_channels(strip) for strip in versions.playing_strips(animation))
    holders = [holder for holder in (versions.existing_channels(armature), *places) if holder is not None]
    for curve in (curve for holder in holders for curve in holder.fcurves):
        values = (key.co[1] for key in curve.keyframe_points)
        if (curve.data_path, curve.array_index) in wanted and any(abs(v - rest) > _UNSCALED for v in values):
            return True
    return False


def _has_keys(rig: RigChain, setting: str) -> bool:
    """Return whether a setting of the chain is animated."""
    animation = rig.armature.animation_data
    curves = (*versions.existing_fcurves(rig.armature), *(animation.drivers if animation else ()))
    return any(curve.data_path == f"{rig.path}.{setting}" for curve in curves)


def _of_natives(rig: RigChain) -> Iterator[str]:
    """Yield which of the bones another native chain turns."""
    for other in rig.armature.ik2d.chains:
        for bone, _ in constraints_of(other):
            if bone.name in rig.bones:
                yield (
                    f"its bone '{bone.name}' is turned by the native chain '{other.name}' already; make"
                    " that one active and press Remove Native"
                )


def _of_rulers(rig: RigChain, scene: bpy.types.Scene) -> Iterator[str]:
    """Yield what rules the chain's bones: above all the IK constraints that it takes the place of."""
    prefix = f"Chain '{rig.name}': "
    for line in sentences(rig.name, other_controls(rig, scene.frame_start, scene.frame_end)):
        yield line.removeprefix(prefix)


def _of_longer_ik(rig: RigChain) -> Iterator[str]:
    """Yield IK constraints that go on above the chain: Blender has these bones wait for one another.

    Even where they are muted; the drivers wait for the bone above the chain, or the one it follows.
    """
    above = rig.pose_bones[0].parent
    waited_for = {above.name} if above is not None else set()
    if rig.target == rig.armature and rig.subtarget:
        target = rig.armature.pose.bones[rig.subtarget]
        waited_for |= {one.name for one in (target, *target.parent_recursive)}
    for bone in rig.armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type == 'IK' and constraint.target is not None:
                line = [one.name for one in (bone, *bone.parent_recursive)][not constraint.use_tail :]
                line = line[: constraint.chain_count or len(line)]
                if waited_for.intersection(line) and set(rig.bones).intersection(line):
                    yield (
                        f"the IK constraint '{constraint.name}' of bone '{bone.name}' goes on up to"
                        f" '{line[-1]}', and even where it is muted Blender cannot evaluate both; lower its"
                        f" Chain Length to {line.index(rig.bones[0]) + 1}, or remove it"
                    )
