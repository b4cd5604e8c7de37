# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a chain's rig, or soon will be, and by what each of it can be mended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core import IK2DError
from ...rig.animation import key_faults
from ...rig.chain.chain import (
    FAR_OFF_PLANE,
    RigChain,
    chain_bones,
    follows_itself,
    held_note,
    read_chain,
    rest_joints,
)
from ...rig.chain.joints import normal_in_bone, turning_axis
from ...rig.chain.native_state import is_flipped
from ...rig.chain.planes import FIRST_X, FIRST_Z, HINGES, choose_plane
from ...rig.chain.renames import bones_of, likeliest_bone, likeliest_subtarget
from ...rig.pose.measures import (
    askew_words,
    channels_at_rest,
    is_uneven,
    joints_off_plane,
    off_plane_words,
    uneven_above,
    uneven_words,
)
from ...rig.scene.bone_constraints import other_controls, sentences

# How bones inherit scale from their parents where an uneven one does not reach them.
_UNSCALED = ('NONE', 'AVERAGE')

# --- Findings ----------------------------------------------------------------


@dataclass(frozen=True)
class Mend:
    """A way to mend a finding."""

    way: str  # one of rig/mending.WAYS, or of the operators that features/doctor/operators.py knows
    label: str  # of the button


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a chain."""

    chain: str
    kind: str
    sentence: str
    mends: tuple[Mend, ...] = ()
    blocks: bool = False  # whether the chain cannot be solved, or cannot be baked
    note: bool = False  # whether it may well be meant so


def reading(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> RigChain | str:
    """Return the chain that settings describe, or why there is none."""
    try:
        return read_chain(armature, settings)
    except IK2DError as error:
        return str(error)


def findings(
    armature: bpy.types.Object,
    settings: bpy.types.PropertyGroup,
    rig: RigChain | str,
    first: float,
    last: float,
) -> list[Finding]:
    """Return what is wrong with a chain on the frames from `first` to `last`, the gravest first.

    rig: the chain as `reading` returned it.
    """
    if isinstance(rig, str):
        mends = tuple(_ways_out(armature, settings))
        return [Finding(settings.name, 'PROBLEM', rig, mends, blocks=True)]
    checks = (
        _shared(settings),
        _rest_position(rig),
        _blocked_channels(rig),
        _ruled(rig, first, last),
        _silent_channels(rig),
        _scaled(rig),
        _hinges(rig, settings),
        _joints_off_plane(rig, settings),
        _target_off_plane(settings),
        _ranges(rig),
        _sides(rig, settings),
        _joints(rig, settings),
        _held(rig),
        _notes(rig),
        _straight(rig, settings),
    )
    return [finding for found in checks for finding in found]


# --- What keeps it from being solved or baked --------------------------------


def _ways_out(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> Iterator[Mend]:
    """Yield what may help a chain that cannot be read."""
    for bone in (likeliest_bone(armature, settings), likeliest_subtarget(settings)):
        if bone:
            yield Mend('USE_BONE', f"Use '{bone}'")
            return
    try:
        names = [bone.name for bone in chain_bones(armature, settings.tip, settings.bone_count)]
    except IK2DError:
        return
    if runs_backwards(settings, names):
        yield Mend('TURN_RANGES', "Swap Min and Max")
    if follows_itself(armature, settings, names):
        yield Mend('CLEAR_TARGET', "Clear Target")


def runs_backwards(settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> list[bpy.types.PropertyGroup]:
    """Return the joints of some bones whose limits or slides have Min above Max."""
    joints = [joint for joint in map(settings.joints.get, bones) if joint is not None]
    return [
        joint
        for joint in joints
        if (joint.use_limit and joint.limit_min > joint.limit_max)
        or (joint.use_slide and joint.slide_min > joint.slide_max)
    ]


def shared_bones(chain: bpy.types.PropertyGroup) -> dict[str, str]:
    """Return the bones of a chain that another enabled one has too: {bone: name of that chain}."""
    if not chain.enabled:
        return {}
    own = bones_of(chain.id_data.data, chain.tip, chain.bone_count)
    return {
        bone: other.name
        for other in chain.id_data.ik2d.chains
        if other != chain and other.enabled
        for bone in bones_of(other.id_data.data, other.tip, other.bone_count)
        if bone in own
    }


def _shared(settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    for bone, other in list(shared_bones(settings).items())[:1]:
        sentence = f"It shares the bone '{bone}' with the chain '{other}'; disable one of them"
        yield Finding(settings.name, 'SHARED_BONES', sentence, (Mend('DISABLE', "Disable This One"),), True)


def _rest_position(rig: RigChain) -> Iterator[Finding]:
    if rig.armature.data.pose_position == 'REST':
        sentence = f"'{rig.armature.name}' shows its rest position: nothing can be solved or baked"
        yield Finding(
            rig.name, 'REST_POSITION', sentence, (Mend('SHOW_POSE', "Show Pose Position"),), blocks=True
        )


# --- What keeps keys from being written, or from playing ---------------------

_MENDS_OF_FAULTS = {
    'LOCKED': Mend('UNLOCK_CHANNELS', "Unlock Channels"),
    'MUTED': Mend('UNMUTE_CHANNELS', "Unmute Channels"),
    'MODIFIED': Mend('MUTE_MODIFIERS', "Mute Modifiers"),
    'SHARED': Mend('SINGLE_USER', "Make Single User"),
    'DRIVEN': Mend('MUTE_DRIVERS', "Mute Drivers"),
    'MIXED': Mend('REPLACE', "Replace, Not Mix"),
}


def _blocked_channels(rig: RigChain) -> Iterator[Finding]:
    yield from _channel_findings(rig, blocks=True)


def _silent_channels(rig: RigChain) -> Iterator[Finding]:
    yield from _channel_findings(rig, blocks=False)


def _channel_findings(rig: RigChain, blocks: bool) -> Iterator[Finding]:
    """Yield one finding for each kind of fault."""
    if rig.armature.animation_data is None:
        return
    found: dict[str, list[str]] = {}
    for fault in key_faults.faults(rig.armature, channels_at_rest(rig)):
        if fault.blocks == blocks:
            found.setdefault(fault.kind, []).append(fault.sentence)
    for kind, said in found.items():
        lines = list(dict.fromkeys(said))
        more = f", and {len(lines) - 1} more like it" if len(lines) > 1 else ""
        mends = (_MENDS_OF_FAULTS[kind],) if kind in _MENDS_OF_FAULTS else ()
        yield Finding(rig.name, kind, f"{lines[0]}{more}", mends, blocks)


def _ruled(rig: RigChain, first: float, last: float) -> Iterator[Finding]:
    rulers = other_controls(rig, first, last)
    lines = sentences(rig.name, rulers)
    if not lines:
        return
    mends = [Mend('MUTE_CONSTRAINTS', "Mute for These Frames")]
    if any(ruler.kind == 'IK' for ruler in rulers):
        mends.append(Mend('ADOPT', "Adopt IK"))
    yield Finding(rig.name, 'RULED', "\n".join(lines), tuple(mends))


def _scaled(rig: RigChain) -> Iterator[Finding]:
    armature, root = rig.armature, rig.pose_bones[0]
    if is_uneven(np.array(armature.matrix_world, np.float64)[None, :3, :3]):
        own = is_uneven(np.diag(np.array(armature.scale, np.float64))[None])
        mends = (Mend('APPLY_SCALE', "Apply Scale"),) if own else ()
        what = f"armature '{armature.name}'" if own else f"what armature '{armature.name}' hangs on"
        yield Finding(rig.name, 'UNEVEN_SCALE', uneven_words(rig.name, what), mends)
        return
    bones, what = unevenly_scaled(rig), ""
    if root.parent is not None and root.bone.inherit_scale not in _UNSCALED:
        if is_uneven(np.array(root.parent.matrix, np.float64)[None, :3, :3]):
            what = uneven_above(rig)
    if not what and bones and bones[-1] in rig.bones:
        what = f"bone '{bones[-1]}'"
    if what:
        mends = (Mend('CLEAR_SCALE', "Clear Bone Scale"),) if bones else ()
        yield Finding(rig.name, 'UNEVEN_SCALE', uneven_words(rig.name, what), mends)


def unevenly_scaled(rig: RigChain) -> list[str]:
    """Return the bones above a chain, and of it unless it stretches, whose own scale is uneven."""
    bones = [*reversed(rig.pose_bones[0].parent_recursive)]
    bones += rig.pose_bones if rig.stretching is None else []
    return [bone.name for bone in bones if is_uneven(np.diag(np.array(bone.scale, np.float64))[None])]


def _hinges(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if not (rig.joints.slants > FAR_OFF_PLANE).any():
        return
    mends = [Mend('UNLOCK_HINGES', "Unlock Hinges")]
    if _hinges_agree(rig, settings):
        mends.insert(0, Mend('HINGE_PLANE', "Plane of Hinges"))
    yield Finding(rig.name, 'HINGE_ASKEW', f"Chain '{rig.name}': {askew_words(rig)}", tuple(mends))


def _hinges_agree(rig: RigChain, settings: bpy.types.PropertyGroup) -> bool:
    """Return whether all hinges of a chain are square to the plane that the choice Hinges makes."""
    bones = rig.pose_bones
    try:
        plane, _ = choose_plane(settings, 'HINGES', bones, rest_joints(bones))
    except IK2DError:
        return False
    normals = [normal_in_bone(plane, bone) for bone in bones]
    axes = [turning_axis(bone, normal) for bone, normal in zip(bones, normals, strict=True)]
    return all(
        axis is None or np.linalg.norm(np.cross(axis, normal)) <= FAR_OFF_PLANE
        for axis, normal in zip(axes, normals, strict=True)
    )


def _joints_off_plane(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if rig.plane_taken == HINGES:  # they can no other
        return
    part = joints_off_plane(rig)
    if part <= max(FAR_OFF_PLANE, settings.accepted_off_plane):
        return
    mends = (Mend('FLATTEN', "Flatten Rest Pose"), Mend('ACCEPT', "Accept"))
    sentence = off_plane_words(rig.name, f"{100.0 * part:.2g} % of its reach")
    yield Finding(rig.name, 'OFF_PLANE', sentence, mends)


def _target_off_plane(settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if settings.is_off_plane:
        sentence = f"Chain '{settings.name}': its target left the chain's plane when it was solved last"
        yield Finding(
            settings.name, 'TARGET_OFF_PLANE', sentence, (Mend('PLANE_TO_TARGET', "Plane to Target"),)
        )


# --- Settings that contradict each other -------------------------------------


def stuck_outside(rig: RigChain) -> list[str]:
    """Return the bones that may not turn, but whose range leaves out the turn that they keep."""
    low, high = rig.joints.limits.T
    stuck = (rig.joints.fixed | (rig.joints.weights == 0.0)) & ((low > 0.0) | (high < 0.0))
    return [bone for bone, is_stuck in zip(rig.bones, stuck, strict=True) if is_stuck]


def _ranges(rig: RigChain) -> Iterator[Finding]:
    bones = stuck_outside(rig)
    if not bones:
        return
    why = "locks hold it" if rig.joints.fixed[rig.bones.index(bones[0])] else "its weight of 0 holds it"
    more = f", and {len(bones) - 1} more" if len(bones) > 1 else ""
    sentence = (
        f"Chain '{rig.name}': the range of '{bones[0]}'{more} leaves out the pose in which {why}: no pose is"
        " within it"
    )
    yield Finding(rig.name, 'RANGE', sentence, (Mend('WIDEN', "Widen to Rest"),))


def _sides(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    """Yield a finding where the range of an elbow leaves it only the side that is not asked for."""
    if rig.solver != 'TWO_BONE' or not rig.joints.limits[1].size or np.isnan(rig.joints.limits[1]).any():
        return
    bones = np.diff(rig.plane.project(rest_joints(rig.pose_bones)), axis=0)
    cross = bones[0, 0] * bones[1, 1] - bones[0, 1] * bones[1, 0]
    low, high = np.arctan2(cross, bones[0] @ bones[1]) + rig.joints.limits[1]
    if is_flipped(settings):
        low, high = -high, -low
    if -np.pi <= low and high < 0.0:
        sentence = (
            f"Chain '{rig.name}': the range of '{rig.bones[1]}' leaves it the other side alone than Bend asks"
            " for"
        )
        yield Finding(rig.name, 'OTHER_SIDE', sentence, (Mend('FLIP', "Flip Bend"),), note=True)


def _joints(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if len(settings.joints) and any(bone not in settings.joints for bone in rig.bones):
        yield Finding(
            rig.name,
            'JOINTS',
            f"Chain '{rig.name}': its joints do not match its bones",
            (Mend('UPDATE_JOINTS', "Update Joints"),),
        )


def _held(rig: RigChain) -> Iterator[Finding]:
    for sentence in held_note(rig):
        yield Finding(rig.name, 'HELD', sentence, (Mend('UNLOCK', "Unlock Rotation"),), note=True)


def _notes(rig: RigChain) -> Iterator[Finding]:
    """Yield what else one should know of a chain: who else stretches, and which hands do not turn."""
    for sentence in rig.notes:
        yield Finding(rig.name, 'NOTE', sentence, note=True)


def _straight(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if rig.plane_taken in (FIRST_X, FIRST_Z) and rig.solver == 'TWO_BONE':
        sentence = (
            f"Chain '{rig.name}': it is straight at rest, so that its plane, and the side that it bends to,"
            " change with its target's path; keep those that it has now, or bend its rest pose a little"
        )
        yield Finding(rig.name, 'STRAIGHT', sentence, (Mend('KEEP_PLANE', "Keep Plane"),), note=True)
