# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixes that findings.py offers: each is a button, and a function that says what it has done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...bake.request import chosen_range
from ...core import IK2DError
from ...core.inputs import Floats
from ...core.swing import SWING
from ...core.words import listed, number_of, say
from ...rig.animation import key_faults, versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.chain.chain import RigChain, chain_bones, read_chain, rest_joints
from ...rig.chain.planes import reach_of, swing_note
from ...rig.chain.renames import Settings
from ...rig.pose.measures import is_uneven
from ...rig.pose.rotations import channels_at_rest
from ...rig.scene.live_pause import live_paused
from .planes import joints_off_plane
from .planes import keep_plane as keep_chain_plane

# A bone at right angles to the plane, to within this cosine, cannot be laid into it.
_ACROSS = 0.99
# Of many bones in a sentence, this many are named.
_NAMED = 3


Work: TypeAlias = Callable[[bpy.types.Object, Settings], str]
# All fixes, by their ways.
FIXES: dict[str, "Fix"] = {}


@dataclass(frozen=True)
class Fix:
    """A button that fixes a finding: one of the ways of `ik2d.mend`, or an operator of its own."""

    way: str
    label: str
    tooltip: str = ""  # an operator has its own
    work: Work | None = None  # says what it has done
    operator: str = "ik2d.mend"
    icon: str = 'TOOL_SETTINGS'

    def __post_init__(self) -> None:
        FIXES[self.way] = self


def fix(label: str) -> Callable[[Work], Fix]:
    """Return the decorator that makes a function a fix; its docstring is the tooltip, its name the way."""

    def declare(work: Work) -> Fix:
        tooltip = " ".join((work.__doc__ or "").split()).removesuffix(".")
        return Fix(work.__name__.upper(), label, tooltip, work)

    return declare


def mend(way: str, armature: bpy.types.Object, settings: Settings) -> str:
    """Fix a chain in one of the ways of `ik2d.mend`; return a sentence that says what was done.

    Raises IK2DError, with nothing changed, if there is nothing to fix or it cannot be fixed.
    """
    work = FIXES[way].work
    assert work is not None  # fixes that are operators are not called here
    with live_paused():
        done = work(armature, settings)
    armature.update_tag()
    bpy.context.view_layer.update()
    return done


# --- Settings ----------------------------------------------------------------


def runs_backwards(settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> list[bpy.types.PropertyGroup]:
    """Return the joints of some bones whose limits or slides have Min above Max."""
    joints = [joint for joint in map(settings.joints.get, bones) if joint is not None]
    return [
        joint
        for joint in joints
        if (joint.use_limit and joint.limit_min > joint.limit_max)
        or (joint.use_slide and joint.slide_min > joint.slide_max)
    ]


@fix("Swap Min and Max")
def turn_ranges(armature: bpy.types.Object, settings: Settings) -> str:
    """Swap Min and Max of the chain's ranges that run backwards."""
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)
    joints = runs_backwards(settings, [bone.name for bone in bones])
    _refuse_nothing(settings, joints, say("range runs backwards"))
    for joint in joints:
        for kind in ("limit", "slide"):
            ends = sorted(getattr(joint, f"{kind}_{end}") for end in ("min", "max"))
            setattr(joint, f"{kind}_min", ends[0])
            setattr(joint, f"{kind}_max", ends[1])
    return say(
        "The ranges of {names} go from Min to Max again",
        names=listed([joint.name for joint in joints], _NAMED),
    )


def stuck_outside(rig: RigChain) -> list[str]:
    """Return the bones that cannot turn and whose range leaves out their turn."""
    low, high = rig.joints.limits.T
    stuck = (rig.joints.fixed | (rig.joints.weights == 0.0)) & ((low > 0.0) | (high < 0.0))
    return [bone for bone, is_stuck in zip(rig.bones, stuck, strict=True) if is_stuck]


@fix("Widen to Rest")
def widen(armature: bpy.types.Object, settings: Settings) -> str:
    """Widen the ranges of joints that may not turn to the pose that they keep."""
    bones = stuck_outside(read_chain(armature, settings))
    _refuse_nothing(settings, bones, say("range leaves out the pose that its bone keeps"))
    for bone in bones:
        joint = settings.joints[bone]
        joint.limit_min, joint.limit_max = min(joint.limit_min, 0.0), max(joint.limit_max, 0.0)
    return say("The ranges of {names} hold the rest pose now", names=listed(bones, _NAMED))


@fix("Clear Target")
def clear_target(_armature: bpy.types.Object, settings: Settings) -> str:
    """Take away the target, which the chain itself moves."""
    settings.target, settings.subtarget = None, ""
    return say(
        "Chain '{chain}' has no target now; choose one that the chain does not move", chain=settings.name
    )


@fix("Disable This One")
def disable(_armature: bpy.types.Object, settings: Settings) -> str:
    """Disable this chain, so that the other one has the bones that they share."""
    settings.enabled = False
    return say("Chain '{chain}' is disabled", chain=settings.name)


@fix("Accept")
def accept(armature: bpy.types.Object, settings: Settings) -> str:
    """Leave the joints as far off the plane as they are, and do not report it again."""
    part = joints_off_plane(read_chain(armature, settings))
    settings.accepted_off_plane = part * 1.001  # of 32 bits
    return say(
        "Joints of chain '{chain}' may be {part:.2g} % of its reach off the plane",
        chain=settings.name,
        part=100.0 * part,
    )


@fix("Plane of Hinges")
def hinge_plane(_armature: bpy.types.Object, settings: Settings) -> str:
    """Set the chain's plane to the one that its hinges turn in."""
    settings.plane = 'HINGES'
    return say("Chain '{chain}' bends in the plane of its hinges", chain=settings.name)


def cannot_follow(bones: Sequence[bpy.types.PoseBone]) -> bool:
    """Return whether later bones do not turn with the first, so that no plane of theirs can follow."""
    return any(not bone.bone.use_inherit_rotation for bone in bones[1:])


@fix("Swing with Target")
def swing(_armature: bpy.types.Object, settings: Settings) -> str:
    """Have the chain's plane swing with its target."""
    settings.plane = SWING
    return say("The plane of chain '{chain}' swings with its target", chain=settings.name)


@fix("Inherit Rotation")
def inherit_rotation(armature: bpy.types.Object, settings: Settings) -> str:
    """Turn on Inherit Rotation of the bones below the chain's first one."""
    _refuse_linked_data(armature)
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)[1:]
    loose = [bone.bone for bone in bones if not bone.bone.use_inherit_rotation]
    _refuse_nothing(settings, loose, say("bone of it lacks Inherit Rotation"))
    for bone in loose:
        bone.use_inherit_rotation = True
    return say("Inherit Rotation is on for {names}", names=listed([bone.name for bone in loose], _NAMED))


@fix("Keep Plane")
def keep_plane(armature: bpy.types.Object, settings: Settings) -> str:
    """Make the plane that the chain takes on these frames its own, so that another path of its target
    does not change it, or the side that it bends to.
    """
    scene = bpy.context.scene
    first, last, _step = chosen_range(armature, scene)
    keep_chain_plane(armature, settings, scene, first, last)
    return say("Chain '{chain}' keeps the plane that it has on these frames", chain=settings.name)


@fix("Show Pose Position")
def show_pose(armature: bpy.types.Object, _settings: Settings) -> str:
    """Have the armature show its pose in place of its rest position."""
    armature.data.pose_position = 'POSE'
    return say("'{armature}' shows its pose", armature=armature.name)


# --- Locks -------------------------------------------------------------------


@fix("Unlock Rotation")
def unlock(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the rotation of the bones that locks keep from turning."""
    rig = read_chain(armature, settings)
    return _unlock_bones(rig, np.flatnonzero(rig.joints.fixed).tolist(), say("lock holds a bone"))


@fix("Unlock First Bone")
def unlock_first(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the rotation of the chain's first bone, so that its plane can follow the target."""
    rig = read_chain(armature, settings)
    locked = [*swing_note(settings, rig.pose_bones[0])]
    return _unlock_bones(rig, [0] if locked else [], say("lock keeps its plane from following"))


@fix("Unlock Hinges")
def unlock_hinges(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the bones whose only axis is not square to the chain's plane."""
    rig = read_chain(armature, settings)
    return _unlock_bones(rig, np.flatnonzero(rig.joints.slants > 0.0).tolist(), say("hinge is askew"))


def _unlock_bones(rig: RigChain, which: Sequence[int], what: str) -> str:
    bones = [rig.pose_bones[i] for i in which]
    if not bones:
        raise IK2DError(say("Chain '{chain}': no {what}", chain=rig.name, what=what))
    for bone in bones:
        bone.lock_rotation = (False, False, False)
        bone.lock_rotation_w = False
    return say("Unlocked the rotation of {names}", names=listed([bone.name for bone in bones], _NAMED))


# --- Channels ----------------------------------------------------------------


@fix("Unlock Channels")
def unlock_channels(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the F-Curves, and groups, that a bake of the chain writes."""
    found = _switched_off(armature, settings, "lock", say("channel is locked"))
    return say("Unlocked {channels}", channels=number_of(found, "channel"))


@fix("Unmute Channels")
def unmute_channels(armature: bpy.types.Object, settings: Settings) -> str:
    """Unmute the F-Curves, and groups, that a bake of the chain writes."""
    found = _switched_off(armature, settings, "mute", say("channel is muted"))
    return say("Unmuted {channels}", channels=number_of(found, "channel"))


def _switched_off(armature: bpy.types.Object, settings: Settings, switch: str, what: str) -> int:
    """Switch off "lock" or "mute" of a chain's F-Curves and their groups; return how many had it on."""
    groups = key_faults.groups_of(armature, channels_at_rest(read_chain(armature, settings)))
    found = [one for one in (*_curves(armature, settings), *groups.values()) if getattr(one, switch)]
    _refuse_nothing(settings, found, what)
    for one in found:
        setattr(one, switch, False)
    return len(found)


@fix("Mute Modifiers")
def mute_modifiers(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the F-Curve modifiers that would act on top of the chain's keys."""
    curves = _curves(armature, settings)
    acting = [modifier for curve in curves for modifier in curve.modifiers if not modifier.mute]
    _refuse_nothing(settings, acting, say("channel has modifiers that act"))
    for modifier in acting:
        modifier.mute = True
    return say("Muted {modifiers}", modifiers=number_of(len(acting), "modifier"))


@fix("Mute Drivers")
def mute_drivers(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the drivers that would override the chain's keys."""
    rotations = channels_at_rest(read_chain(armature, settings))
    drivers = [curve for rotation in rotations for curve in key_faults.drivers_of(armature, rotation)]
    _refuse_nothing(settings, drivers, say("channel is driven"))
    for curve in drivers:
        curve.mute = True
    return say("Muted {drivers}", drivers=number_of(len(drivers), "driver"))


def _curves(armature: bpy.types.Object, settings: Settings) -> list[bpy.types.FCurve]:
    rotations = channels_at_rest(read_chain(armature, settings))
    return [curve for rotation in rotations for curve in key_faults.curves_of(armature, rotation)]


@fix("Make Single User")
def single_user(armature: bpy.types.Object, settings: Settings) -> str:
    """Give the armature a copy of its action, which others play too."""
    others = versions.sharing_channels(armature)
    _refuse_nothing(settings, others, say("other object plays the armature's action"))
    animation = armature.animation_data
    if animation.use_tweak_mode:
        raise IK2DError(
            say(
                "'{armature}' is in the NLA's tweak mode; leave it (Tab in the NLA editor)",
                armature=armature.name,
            )
        )
    slot = animation.action_slot.identifier if versions.HAS_SLOTS and animation.action_slot else ""
    versions.assign_action(animation, animation.action.copy(), slot)
    return say(
        "'{armature}' has its own action '{action}' now", armature=armature.name, action=animation.action.name
    )


@fix("Replace, Not Mix")
def replace(armature: bpy.types.Object, settings: Settings) -> str:
    """Have the action replace what NLA strips do, with influence 1."""
    animation = armature.animation_data
    if animation is None or (animation.action_influence == 1.0 and animation.action_blend_type == 'REPLACE'):
        raise IK2DError(say("Chain '{chain}': its action is not mixed with NLA strips", chain=settings.name))
    animation.action_influence, animation.action_blend_type = 1.0, 'REPLACE'
    return say("The action of '{armature}' replaces what NLA strips do", armature=armature.name)


# --- The armature's data -----------------------------------------------------


@fix("Flatten Rest Pose")
def flatten(armature: bpy.types.Object, settings: Settings) -> str:
    """Turn the chain's bones in the rest pose until its joints are in one plane; lengths stay, and
    what hangs on a bone moves with it.
    """
    rig = read_chain(armature, settings)
    _refuse_shared_data(armature)
    joints = rest_joints(rig.pose_bones)
    moves = _laid_flat(rig, joints)
    with _edit_bones(armature) as bones:
        placed = _placed(bones, rig.bones, moves)
        for name, (head, tail, up) in placed.items():
            bone = bones[name]
            bone.head, bone.tail = head, tail
            bone.align_roll(up)
    moved = np.linalg.norm(rest_joints(rig.pose_bones) - joints, axis=1).max()
    reach = reach_of(joints)
    return say(
        "Chain '{chain}' is flat at rest: its joints have moved by up to {part:.2g} % of its reach",
        chain=settings.name,
        part=100.0 * moved / reach,
    )


def _laid_flat(rig: RigChain, joints: Floats) -> list[Matrix]:
    """Return matrices in rest space that lay a chain's joints (n + 1, 3) in its plane, one for each bone."""
    moves, place = [], Vector(joints[0])
    for i, bone in enumerate(rig.bones):
        old = Vector(joints[i + 1] - joints[i])
        flat = old - old.dot(Vector(rig.plane.normal)) * Vector(rig.plane.normal)
        if flat.length < np.sqrt(1.0 - _ACROSS**2) * old.length or not flat.length:
            raise IK2DError(
                say(
                    "Chain '{chain}': bone '{bone}' points across the plane and cannot be laid into it; "
                    "choose another plane",
                    chain=rig.name,
                    bone=bone,
                )
            )
        turn = old.rotation_difference(flat).to_matrix().to_4x4()
        moves.append(Matrix.Translation(place) @ turn @ Matrix.Translation(-Vector(joints[i])))
        place = place + flat.normalized() * old.length
    return moves


def _placed(
    bones: bpy.types.bpy_prop_collection, chain: Sequence[str], moves: Sequence[Matrix]
) -> dict[str, tuple[Vector, Vector, Vector]]:
    """Return head, tail and up of the chain's bones and their descendants, parents first."""
    placed: dict[str, tuple[Vector, Vector, Vector]] = {}
    own = dict(zip(chain, moves, strict=True))
    waiting = [(bones[chain[0]], moves[0])]
    while waiting:
        bone, above = waiting.pop()
        move = own.get(bone.name, above)
        up = move.to_3x3() @ bone.z_axis
        placed[bone.name] = (move @ bone.head, move @ bone.tail, up)
        waiting += [(child, move) for child in bone.children]
    return placed


@contextmanager
def _edit_bones(armature: bpy.types.Object) -> Iterator[bpy.types.bpy_prop_collection]:
    """Yield the armature's edit bones; afterwards restore the mode."""
    with _alone_in_object_mode(armature):
        bpy.ops.object.mode_set(mode='EDIT')
        try:
            yield armature.data.edit_bones
        finally:
            bpy.ops.object.mode_set(mode='OBJECT')


@contextmanager
def _alone_in_object_mode(armature: bpy.types.Object) -> Iterator[None]:
    """Make the armature the active and only selected object, in Object Mode; afterwards restore all."""
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, [ob for ob in layer.objects if ob.select_get()]
    mode = active.mode if active is not None else 'OBJECT'
    if armature.name not in layer.objects or armature.hide_viewport or not armature.visible_get():
        raise IK2DError(say("'{armature}' is hidden; show it first", armature=armature.name))
    if mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    try:
        for ob in selected:
            ob.select_set(False)
        layer.objects.active = armature
        armature.select_set(True)
        yield
    finally:
        armature.select_set(False)
        for ob in selected:
            ob.select_set(True)
        layer.objects.active = active
        if mode != 'OBJECT':
            bpy.ops.object.mode_set(mode=mode)


@fix("Apply Scale")
def apply_scale(armature: bpy.types.Object, settings: Settings) -> str:
    """Apply the armature's scale to its bones; what is parented to it stays where it is."""
    _refuse_shared_data(armature)
    animation = armature.animation_data
    curves = [*versions.existing_fcurves(armature), *(animation.drivers if animation else ())]
    if any(curve.data_path in ("scale", "delta_scale") for curve in curves):
        raise IK2DError(
            say("The scale of '{armature}' is animated: it cannot be applied", armature=armature.name)
        )
    if tuple(armature.scale) == (1.0, 1.0, 1.0):
        raise IK2DError(say("'{armature}' has no scale of its own to apply", armature=armature.name))
    bpy.context.view_layer.update()
    children = [(child, _held_by(armature, child), _own_place(child)) for child in armature.children]
    with _alone_in_object_mode(armature):
        try:
            bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
        except RuntimeError as error:
            raise IK2DError(
                say(
                    "Blender cannot apply the scale of '{armature}': {error}",
                    armature=armature.name,
                    error=error,
                )
            ) from None
    bpy.context.view_layer.update()
    for child, before, own in children:  # Blender writes into channels that may be keyed, and shears nothing
        for name, value in own.items():
            setattr(child, name, value)
        now = _held_by(armature, child).inverted_safe()
        child.matrix_parent_inverse = now @ before @ child.matrix_parent_inverse
    moved = [bone.name for bone in armature.pose.bones if bone.location.length > 0.0]
    left = (
        say("; look at the location of {names}, which it leaves as it is", names=listed(moved, _NAMED))
        if moved
        else ""
    )
    return say("Applied the scale of '{armature}'{left}", armature=armature.name, left=left)


def _held_by(armature: bpy.types.Object, child: bpy.types.Object) -> Matrix:
    """Return the world matrix that an armature's child hangs on, before its Parent Inverse."""
    bone = armature.pose.bones.get(child.parent_bone) if child.parent_type == 'BONE' else None
    if bone is None:
        return armature.matrix_world.copy()
    if bone.bone.use_relative_parent:
        return armature.matrix_world @ bone.matrix_channel
    place = bone.matrix.copy()
    place.translation = bone.tail
    return armature.matrix_world @ place


def _own_place(ob: bpy.types.Object) -> dict[str, object]:
    """Return an object's transform channels and its Parent Inverse, by their names."""
    places = {name: tuple(getattr(ob, name)) for name in ("location", *ROTATIONS, "scale")}
    return {**places, "matrix_parent_inverse": ob.matrix_parent_inverse.copy()}


def unevenly_scaled(rig: RigChain) -> list[str]:
    """Return the bones with an uneven scale of their own: above a chain, and in it unless it stretches."""
    bones = [*reversed(rig.pose_bones[0].parent_recursive)]
    bones += rig.pose_bones if rig.stretching is None else []
    return [bone.name for bone in bones if is_uneven(np.diag(np.array(bone.scale, np.float64))[None])]


@fix("Clear Bone Scale")
def clear_scale(armature: bpy.types.Object, settings: Settings) -> str:
    """Take the scale off bones, of the chain or above it, that have an uneven one."""
    bones = unevenly_scaled(read_chain(armature, settings))
    _refuse_nothing(settings, bones, say("bone is scaled unevenly by itself"))
    animation = armature.animation_data
    curves = [*versions.existing_fcurves(armature), *(animation.drivers if animation else ())]
    animated = {curve.data_path for curve in curves}
    for name in bones:
        if armature.pose.bones[name].path_from_id("scale") in animated:
            raise IK2DError(
                say("The scale of bone '{name}' is animated; delete its keys, or its driver", name=name)
            )
    for name in bones:
        armature.pose.bones[name].scale = (1.0, 1.0, 1.0)
    return say("Cleared the scale of {names}", names=listed(bones, _NAMED))


def _refuse_linked_data(armature: bpy.types.Object) -> None:
    if not armature.data.is_editable:
        raise IK2DError(
            say(
                "The bones of '{armature}' are linked from another file: mend them there",
                armature=armature.name,
            )
        )


def _refuse_shared_data(armature: bpy.types.Object) -> None:
    _refuse_linked_data(armature)
    data = armature.data
    if data.users - data.use_fake_user > 1:
        raise IK2DError(
            say(
                "Other objects have the bones of '{armature}' too; make them single-user first "
                "(Object > Relations > Make Single User)",
                armature=armature.name,
            )
        )


def _refuse_nothing(settings: Settings, found: Sequence[object], what: str) -> None:
    if not len(found):
        raise IK2DError(say("Chain '{chain}': no {what}", chain=settings.name, what=what))


# --- Fixes that are operators of their own -----------------------------------

mute_constraints = Fix(
    'MUTE_CONSTRAINTS', "Mute Constraints in Range", operator="ik2d.mute_constraints", icon='HIDE_ON'
)
plane_to_target = Fix(
    'PLANE_TO_TARGET', "Plane to Target", operator="ik2d.plane_to_target", icon='ORIENTATION_NORMAL'
)
flip = Fix('FLIP', "Flip Bend", operator="ik2d.flip", icon='MOD_MIRROR')
update_joints = Fix('UPDATE_JOINTS', "Update Joints", operator="ik2d.joints_update", icon='FILE_REFRESH')
adopt = Fix('ADOPT', "Adopt IK", operator="ik2d.adopt", icon='CON_KINEMATIC')
