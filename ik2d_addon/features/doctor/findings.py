# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings: what is wrong with a chain's rig, or soon will be, and the fixes for it."""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...bake.cures.as_shown import samples_as_shown
from ...bake.cures.off_plane import OffPlane, off_plane
from ...bake.lengths import Units, length_text
from ...core import IK2DError
from ...core.swing import POLE
from ...core.words import listed, noted, say
from ...rig.animation import key_faults
from ...rig.chain.chain import FAR_OFF_PLANE, RigChain, held_note
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.checks.targets import follows_itself, pole_problem
from ...rig.chain.joints import ALIGNED, normal_in_bone, own_axis, turning_axis
from ...rig.chain.native_state import acts, is_flipped
from ...rig.chain.order import refuse_moved_target
from ...rig.chain.planes import FIRST_X, FIRST_Z, FOLLOWING, HINGES, choose_plane, swing_note
from ...rig.chain.post import POST
from ...rig.pose.measures import (
    askew_words,
    is_uneven,
    off_plane_words,
    uneven_above,
    uneven_words,
)
from ...rig.pose.posts import all_controls
from ...rig.pose.rotations import channels_at_rest
from ...rig.scene.bone_constraints import OtherControl, is_joint_limit, sentences
from ...rig.scene.missing_inputs import is_nowhere, nowhere_words
from . import fixes, muting, post_fixes, rest_fixes
from .circles import circle_of
from .fixes import Fix
from .planes import joints_off_plane
from .sharing import bones_below, shared_bones

# Values of Inherit Scale that keep a parent's uneven scale off a bone.
_UNSCALED = ('NONE', 'AVERAGE')

# --- Findings ----------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """A problem of a chain, with its fixes."""

    chain: str
    kind: str
    sentence: str
    fixes: tuple[Fix, ...] = ()
    blocks: bool = False  # whether it keeps the chain from being solved or baked
    note: bool = False  # whether it may be on purpose


def findings(
    armature: bpy.types.Object,
    settings: bpy.types.PropertyGroup,
    rig: RigChain | str,
    first: float,
    last: float,
    off: OffPlane | None = None,
) -> list[Finding]:
    """Return the findings of a chain on the frames from `first` to `last`, the gravest first.

    rig: the chain as `reading` gives it. off: by `target_off_plane`; None where that was not asked.
    """
    if isinstance(rig, str):
        offered = tuple(_fixes_of_unread(armature, settings))
        return [Finding(settings.name, 'PROBLEM', rig, offered, blocks=True)]
    checks = (
        _shared(settings),
        _circle(settings),
        _rest_position(rig),
        _nowhere(rig),
        _carried(rig),
        _channel_findings(rig, blocks=True),
        _controlled(rig, first, last, carrying=acts(settings)),
        _channel_findings(rig, blocks=False),
        _scaled(rig),
        _hinges(rig, settings),
        _off_plane(rig, settings, off),
        _locked_plane(rig, settings),
        _ranges(rig),
        _sides(rig, settings),
        _joints(rig, settings),
        _notes(rig, settings),
        _straight(rig),
    )
    return [finding for of_check in checks for finding in of_check]


# --- What keeps it from being solved or baked --------------------------------


def _fixes_of_unread(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> Iterator[Fix]:
    """Yield the fixes for a chain that cannot be read."""
    try:
        bones = chain_bones(armature, settings.tip, settings.bone_count)
    except IK2DError:
        return
    names = [bone.name for bone in bones]
    if fixes.runs_backwards(settings, names):
        yield fixes.turn_ranges
    if follows_itself(armature, settings, names):
        yield fixes.clear_target
    if settings.plane in FOLLOWING and fixes.cannot_follow(bones):
        yield fixes.inherit_rotation
    elif settings.plane == POLE and pole_problem(armature, settings, names):
        yield fixes.swing
    yield from post_fixes.of_unread(settings, bones)


def _shared(settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    shared = shared_bones(settings)
    for bone, other in list(shared.items())[:1]:
        if bone == settings.post and settings.plane == POST:
            offered: tuple[Fix, ...] = (post_fixes.plane_stays, fixes.disable)
            template = noted(
                "The chain '{other}' turns its post '{bone}' too; let the plane of one of them stay, or "
                "disable one"
            )
        elif bones_below(settings, shared):
            offered = (fixes.shorten, fixes.disable)
            template = noted(
                "It shares the bone '{bone}' with the chain '{other}'; shorten or disable one of them"
            )
        else:
            offered = (fixes.disable,)
            template = noted("It shares the bone '{bone}' with the chain '{other}'; disable one of them")
        yield Finding(settings.name, 'SHARED_BONES', say(template, bone=bone, other=other), offered, True)


def _circle(settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    circle = circle_of(settings.id_data) if settings.enabled and not shared_bones(settings) else []
    if settings.name in circle:
        sentence = say(
            "The chains {names} depend on one another in a circle: bones whose loop closes are a mechanism",
            names=listed(circle, fixes.NAMED),
        )
        yield Finding(settings.name, 'CIRCLE', sentence, (fixes.mechanism, fixes.disable), blocks=True)


def _rest_position(rig: RigChain) -> Iterator[Finding]:
    if rig.armature.data.pose_position == 'REST':
        sentence = say(
            "'{armature}' shows its rest position: nothing can be posed or baked", armature=rig.armature.name
        )
        yield Finding(rig.name, 'REST_POSITION', sentence, (fixes.show_pose,), blocks=True)


def _nowhere(rig: RigChain) -> Iterator[Finding]:
    for role, (ob, _bone) in rig.roles.items():
        if is_nowhere(ob):
            sentence = nowhere_words(rig, ob, role)
            yield Finding(rig.name, 'NOWHERE', sentence, (fixes.link_to_scene,), blocks=True)


def _carried(rig: RigChain) -> Iterator[Finding]:
    """Yield a finding where a post carries its chain's target in another way than by its parents."""
    if rig.post is not None:
        try:
            refuse_moved_target(rig)
        except IK2DError as error:
            yield Finding(rig.name, 'CARRIED', str(error), (post_fixes.plane_stays,), blocks=True)


# --- What keeps keys from being written, or from playing ---------------------

_FIXES_OF_FAULTS = {
    'LOCKED': fixes.unlock_channels,
    'MUTED': fixes.unmute_channels,
    'MODIFIED': fixes.mute_modifiers,
    'SHARED': fixes.single_user,
    'DRIVEN': fixes.mute_drivers,
    'MIXED': fixes.replace,
}


def _channel_findings(rig: RigChain, blocks: bool) -> Iterator[Finding]:
    """Yield one finding for each kind of fault."""
    if rig.armature.animation_data is None:
        return
    by_kind: dict[str, list[str]] = {}
    for fault in key_faults.faults(rig.armature, channels_at_rest(rig)):
        if fault.blocks == blocks:
            by_kind.setdefault(fault.kind, []).append(fault.sentence)
    for kind, said in by_kind.items():
        lines = list(dict.fromkeys(said))
        more = say(", and {count} more like it", count=len(lines) - 1) if len(lines) > 1 else ""
        offered = (_FIXES_OF_FAULTS[kind],) if kind in _FIXES_OF_FAULTS else ()
        yield Finding(rig.name, kind, f"{lines[0]}{more}", offered, blocks)


def _controlled(rig: RigChain, first: float, last: float, carrying: bool) -> Iterator[Finding]:
    controls = all_controls(rig, first, last, carrying=carrying)
    lines = sentences(rig.name, controls)
    if not lines:
        return
    offered = [muting.mute_constraints]
    if any(_can_be_copied(rig, control) for control in controls):
        offered.insert(0, fixes.limits_from_bones)
    if any(control.kind == 'IK' for control in controls):
        offered.append(fixes.adopt)
    yield Finding(rig.name, 'OTHER_CONTROLS', "\n".join(lines), tuple(offered))


def _can_be_copied(rig: RigChain, control: OtherControl) -> bool:
    """Return whether a control is a limit about the axis that the chain turns the bone about."""
    if control.owner not in rig.bones:
        return False
    axis = own_axis(rig.joints.axes[rig.bones.index(control.owner)], ALIGNED)
    if axis is None or not is_joint_limit(rig, control):
        return False
    constraint = rig.armature.pose.bones[control.owner].constraints[control.constraint]
    return bool(getattr(constraint, f"use_limit_{'xyz'[axis]}"))


def _scaled(rig: RigChain) -> Iterator[Finding]:
    armature, root = rig.armature, rig.pose_bones[0]
    if is_uneven(np.array(armature.matrix_world, np.float64)[None, :3, :3]):
        is_itself = is_uneven(np.diag(np.array(armature.scale, np.float64))[None])
        offered = (rest_fixes.apply_scale,) if is_itself else ()
        what = (
            say("armature '{armature}'", armature=armature.name)
            if is_itself
            else say("what armature '{armature}' depends on", armature=armature.name)
        )
        yield Finding(rig.name, 'UNEVEN_SCALE', uneven_words(rig.name, what), offered)
        return
    bones, what = rest_fixes.unevenly_scaled(rig), ""
    if root.parent is not None and root.bone.inherit_scale not in _UNSCALED:
        if is_uneven(np.array(root.parent.matrix, np.float64)[None, :3, :3]):
            what = uneven_above(rig)
    if not what and bones and bones[-1] in rig.bones:
        what = say("bone '{bone}'", bone=bones[-1])
    if what:
        offered = (rest_fixes.clear_scale,) if bones else ()
        yield Finding(rig.name, 'UNEVEN_SCALE', uneven_words(rig.name, what), offered)


def _hinges(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if not (rig.joints.slants > FAR_OFF_PLANE).any():
        return
    offered = [fixes.unlock_hinges]
    if rig.post is None and _hinges_agree(rig, settings):
        offered.insert(0, fixes.hinge_plane)
    yield Finding(
        rig.name,
        'HINGE_ASKEW',
        say("Chain '{chain}': {cause}", chain=rig.name, cause=askew_words(rig)),
        tuple(offered),
    )


def _hinges_agree(rig: RigChain, settings: bpy.types.PropertyGroup) -> bool:
    """Return whether all hinges of a chain are at right angles to its plane with Plane set to Hinges."""
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


def target_off_plane(
    scene: bpy.types.Scene,
    settings: bpy.types.PropertyGroup,
    rig: RigChain | str,
    first: float,
    last: float,
) -> OffPlane | None:
    """Return how far a chain's target is off its plane on some frames, with the cures; None where it is not.

    Without changing the scene. rig: the chain as `reading` gives it.
    """
    if isinstance(rig, str) or rig.armature.data.pose_position == 'REST' or rig.joints.askew:
        return None
    try:
        return off_plane(scene, settings, rig, first, last, samples_as_shown)
    except IK2DError:  # on some frame: a bake says it
        return None


def _off_plane(rig: RigChain, settings: bpy.types.PropertyGroup, off: OffPlane | None) -> Iterator[Finding]:
    """Yield findings for a target off the plane, the best cure first, and for joints off it."""
    off_by = 0.0 if rig.remarks.plane == HINGES else joints_off_plane(rig)  # hinges allow no other plane
    joints_off, accepted = off_by > FAR_OFF_PLANE, off_by <= settings.accepted_off_plane
    offered = tuple(fixes.FIXES[cure.way] for cure in off.cures) if off is not None else ()
    by_joints = joints_off and offered[:1] == (rest_fixes.flatten,)
    if off is not None and not by_joints:
        sentence = say(
            "Chain '{chain}': its target is up to {far} off the chain's plane (frame {frame:g}){advice}",
            chain=settings.name,
            far=length_text(off.furthest, Units.of(bpy.context.scene)),
            frame=off.frame,
            advice=off.advice,
        )
        yield Finding(rig.name, 'TARGET_OFF_PLANE', sentence, offered)
    if joints_off and not accepted:
        told = off_plane_words(rig.name, say("{part:.2g} % of its reach", part=100.0 * off_by))
        ways = (*offered, fixes.accept) if by_joints else (fixes.accept,)
        yield Finding(rig.name, 'OFF_PLANE', told, ways, note=not by_joints)


def _locked_plane(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if not rig.joints.fixed[0]:  # which is told as held
        for sentence in swing_note(settings, rig.pose_bones[0]):
            yield Finding(rig.name, 'LOCKED_PLANE', sentence, (fixes.unlock_first,), note=True)


# --- Settings that contradict each other -------------------------------------


def _ranges(rig: RigChain) -> Iterator[Finding]:
    bones = fixes.stuck_outside(rig)
    if not bones:
        return
    why = (
        say("locks hold it")
        if rig.joints.fixed[rig.bones.index(bones[0])]
        else say("its flexibility of 0 holds it")
    )
    more = say(", and {count} more", count=len(bones) - 1) if len(bones) > 1 else ""
    sentence = say(
        "Chain '{chain}': the range of '{bone}'{more} leaves out the pose in which {why}: no "
        "pose is within it",
        chain=rig.name,
        bone=bones[0],
        more=more,
        why=why,
    )
    yield Finding(rig.name, 'RANGE', sentence, (fixes.widen,))


def _sides(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    """Yield a finding for an elbow whose range allows only the side that Bend does not ask for."""
    is_two_bone, limits = rig.settings.solver == 'TWO_BONE', rig.joints.limits
    if not is_two_bone or not limits[1].size or np.isnan(limits[1]).any():
        return
    bones = np.diff(rig.plane.project(rest_joints(rig.pose_bones)), axis=0)
    cross = bones[0, 0] * bones[1, 1] - bones[0, 1] * bones[1, 0]
    low, high = np.arctan2(cross, bones[0] @ bones[1]) + rig.joints.limits[1]
    if is_flipped(settings):
        low, high = -high, -low
    if -np.pi <= low and high < 0.0:
        sentence = say(
            "Chain '{chain}': the range of '{bone}' allows only the other side than Bend",
            chain=rig.name,
            bone=rig.bones[1],
        )
        yield Finding(rig.name, 'OTHER_SIDE', sentence, (fixes.flip,), note=True)


def _joints(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    if len(settings.joints) and any(bone not in settings.joints for bone in rig.bones):
        sentence = say("Chain '{chain}': its joints do not match its bones", chain=rig.name)
        yield Finding(rig.name, 'JOINTS', sentence, (fixes.update_joints,))


def _notes(rig: RigChain, settings: bpy.types.PropertyGroup) -> Iterator[Finding]:
    """Yield notes: bones that locks hold, others that stretch, and hands that do not turn."""
    for sentence in held_note(rig):
        yield Finding(rig.name, 'HELD', sentence, (fixes.unlock,), note=True)
    told = [*swing_note(settings, rig.pose_bones[0])]  # with a fix of its own
    for sentence in [note for note in rig.remarks.notes if note not in told]:
        yield Finding(rig.name, 'NOTE', sentence, note=True)


def _straight(rig: RigChain) -> Iterator[Finding]:
    if rig.remarks.plane in (FIRST_X, FIRST_Z) and rig.settings.solver == 'TWO_BONE':
        sentence = say(
            "Chain '{chain}': it is straight at rest, so its plane and its side change with its "
            "target's path; keep those that it has now, or bend its rest pose a little",
            chain=rig.name,
        )
        yield Finding(rig.name, 'STRAIGHT', sentence, (fixes.keep_plane,), note=True)
