# SPDX-License-Identifier: GPL-3.0-or-later
"""What mends the findings of findings.py: each way is a function that says what it has done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core import IK2DError
from ...core.inputs import Floats
from ...rig.animation import key_faults, versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.chain.chain import RigChain, chain_bones, read_chain, rest_joints
from ...rig.chain.renames import Settings
from ...rig.pose.measures import channels_at_rest, joints_off_plane
from ...rig.scene.live_pause import live_paused
from .findings import runs_backwards, stuck_outside, unevenly_scaled

# A bone that stands across the plane by more than this cosine cannot be laid into it.
_ACROSS = 0.99
# Of many bones in a sentence, this many are named.
_NAMED = 3


def mend(way: str, armature: bpy.types.Object, settings: Settings) -> str:
    """Mend a chain by one of WAYS and return a sentence on what was done.

    Raises IK2DError, with nothing changed, where there is nothing to mend or it cannot be.
    """
    with live_paused():
        done = WAYS[way](armature, settings)
    armature.update_tag()
    bpy.context.view_layer.update()
    return done


# --- Settings ----------------------------------------------------------------


def _turn_ranges(armature: bpy.types.Object, settings: Settings) -> str:
    """Swap Min and Max of ranges that run backwards."""
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)
    joints = runs_backwards(settings, [bone.name for bone in bones])
    _refuse_nothing(settings, joints, "range runs backwards")
    for joint in joints:
        for kind in ("limit", "slide"):
            ends = sorted(getattr(joint, f"{kind}_{end}") for end in ("min", "max"))
            setattr(joint, f"{kind}_min", ends[0])
            setattr(joint, f"{kind}_max", ends[1])
    return f"The ranges of {_names([joint.name for joint in joints])} go from Min to Max again"


def _widen(armature: bpy.types.Object, settings: Settings) -> str:
    """Widen the ranges of joints that may not turn to the pose that they keep."""
    bones = stuck_outside(read_chain(armature, settings))
    _refuse_nothing(settings, bones, "range leaves out the pose that its bone keeps")
    for bone in bones:
        joint = settings.joints[bone]
        joint.limit_min, joint.limit_max = min(joint.limit_min, 0.0), max(joint.limit_max, 0.0)
    return f"The ranges of {_names(bones)} hold the rest pose now"


def _clear_target(_armature: bpy.types.Object, settings: Settings) -> str:
    """Take away the target, which the chain itself moves."""
    settings.target, settings.subtarget = None, ""
    return f"Chain '{settings.name}' has no target now; choose one that the chain does not move"


def _disable(_armature: bpy.types.Object, settings: Settings) -> str:
    """Disable the chain."""
    settings.enabled = False
    return f"Chain '{settings.name}' is disabled"


def _accept(armature: bpy.types.Object, settings: Settings) -> str:
    """Have no more said of joints that are off the plane by as much as they are now."""
    part = joints_off_plane(read_chain(armature, settings))
    settings.accepted_off_plane = part * 1.001  # of 32 bits
    return f"Joints of chain '{settings.name}' may be {100.0 * part:.2g} % of its reach off the plane"


def _hinge_plane(_armature: bpy.types.Object, settings: Settings) -> str:
    """Set the plane to that of the hinges."""
    settings.plane = 'HINGES'
    return f"Chain '{settings.name}' bends in the plane of its hinges"


def _show_pose(armature: bpy.types.Object, _settings: Settings) -> str:
    """Have the armature show its pose."""
    armature.data.pose_position = 'POSE'
    return f"'{armature.name}' shows its pose"


# --- Locks -------------------------------------------------------------------


def _unlock(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the rotation of bones that locks hold."""
    rig = read_chain(armature, settings)
    return _unlock_bones(rig, np.flatnonzero(rig.joints.fixed).tolist(), "lock holds a bone")


def _unlock_hinges(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the rotation of hinges that are not square to the plane."""
    rig = read_chain(armature, settings)
    return _unlock_bones(rig, np.flatnonzero(rig.joints.slants > 0.0).tolist(), "hinge is askew")


def _unlock_bones(rig: RigChain, which: Sequence[int], what: str) -> str:
    bones = [rig.pose_bones[i] for i in which]
    if not bones:
        raise IK2DError(f"Chain '{rig.name}': no {what}")
    for bone in bones:
        bone.lock_rotation = (False, False, False)
        bone.lock_rotation_w = False
    return f"Unlocked the rotation of {_names([bone.name for bone in bones])}"


# --- Channels ----------------------------------------------------------------


def _unlock_channels(armature: bpy.types.Object, settings: Settings) -> str:
    """Unlock the channels that a bake of the chain writes, and their groups."""
    locked = [one for one in _channels_and_groups(armature, settings) if one.lock]
    _refuse_nothing(settings, locked, "channel is locked")
    for one in locked:
        one.lock = False
    return f"Unlocked {_count(locked, 'channel')}"


def _unmute_channels(armature: bpy.types.Object, settings: Settings) -> str:
    """Unmute the channels that a bake of the chain writes, and their groups."""
    muted = [one for one in _channels_and_groups(armature, settings) if one.mute]
    _refuse_nothing(settings, muted, "channel is muted")
    for one in muted:
        one.mute = False
    return f"Unmuted {_count(muted, 'channel')}"


def _mute_modifiers(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the F-Curve modifiers on the channels that a bake of the chain writes."""
    curves = _curves(armature, settings)
    acting = [modifier for curve in curves for modifier in curve.modifiers if not modifier.mute]
    _refuse_nothing(settings, acting, "channel has modifiers that act")
    for modifier in acting:
        modifier.mute = True
    return f"Muted {_count(acting, 'modifier')}"


def _mute_drivers(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the drivers of the channels that a bake of the chain writes."""
    rotations = channels_at_rest(read_chain(armature, settings))
    drivers = [curve for rotation in rotations for curve in key_faults.drivers_of(armature, rotation)]
    _refuse_nothing(settings, drivers, "channel is driven")
    for curve in drivers:
        curve.mute = True
    return f"Muted {_count(drivers, 'driver')}"


def _curves(armature: bpy.types.Object, settings: Settings) -> list[bpy.types.FCurve]:
    rotations = channels_at_rest(read_chain(armature, settings))
    return [curve for rotation in rotations for curve in key_faults.curves_of(armature, rotation)]


def _channels_and_groups(
    armature: bpy.types.Object, settings: Settings
) -> list[bpy.types.FCurve | bpy.types.ActionGroup]:
    rotations = channels_at_rest(read_chain(armature, settings))
    groups = key_faults.groups_of(armature, rotations)
    return [*_curves(armature, settings), *groups.values()]


def _single_user(armature: bpy.types.Object, settings: Settings) -> str:
    """Give the armature a copy of the action that other objects play too."""
    others = versions.sharing_channels(armature)
    _refuse_nothing(settings, others, "other object plays the armature's action")
    animation = armature.animation_data
    if animation.use_tweak_mode:
        raise IK2DError(f"'{armature.name}' is in the NLA's tweak mode; leave it (Tab in the NLA editor)")
    slot = getattr(getattr(animation, "action_slot", None), "identifier", "")
    versions.assign_action(animation, animation.action.copy(), slot)
    return f"'{armature.name}' has its own action '{animation.action.name}' now"


def _replace(armature: bpy.types.Object, settings: Settings) -> str:
    """Have the action replace what NLA strips below it do."""
    animation = armature.animation_data
    if animation is None or (animation.action_influence == 1.0 and animation.action_blend_type == 'REPLACE'):
        raise IK2DError(f"Chain '{settings.name}': its action is not mixed with NLA strips")
    animation.action_influence, animation.action_blend_type = 1.0, 'REPLACE'
    return f"The action of '{armature.name}' replaces what NLA strips do"


# --- The armature's data -----------------------------------------------------


def _flatten(armature: bpy.types.Object, settings: Settings) -> str:
    """Turn the chain's bones in the rest pose until all joints are in its plane; lengths stay.

    What hangs on a bone moves with it, and each keeps its roll against the turn.
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
    reach = np.linalg.norm(np.diff(joints, axis=0), axis=1).sum()
    return (
        f"Chain '{settings.name}' is flat at rest: its joints have moved by up to"
        f" {100.0 * moved / reach:.2g} % of its reach"
    )


def _laid_flat(rig: RigChain, joints: Floats) -> list[Matrix]:
    """Return how each bone of a chain moves in rest space for its joints (n + 1, 3) to lie in the plane."""
    moves, place = [], Vector(joints[0])
    for i, bone in enumerate(rig.bones):
        old = Vector(joints[i + 1] - joints[i])
        flat = old - old.dot(Vector(rig.plane.normal)) * Vector(rig.plane.normal)
        if flat.length < np.sqrt(1.0 - _ACROSS**2) * old.length or not flat.length:
            raise IK2DError(
                f"Chain '{rig.name}': bone '{bone}' stands across the plane and cannot be laid into it;"
                " choose another plane"
            )
        turn = old.rotation_difference(flat).to_matrix().to_4x4()
        moves.append(Matrix.Translation(place) @ turn @ Matrix.Translation(-Vector(joints[i])))
        place = place + flat.normalized() * old.length
    return moves


def _placed(
    bones: bpy.types.bpy_prop_collection, chain: Sequence[str], moves: Sequence[Matrix]
) -> dict[str, tuple[Vector, Vector, Vector]]:
    """Return head, tail and up of the chain's bones and all that hangs on them, parents first."""
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
    """Yield the armature's edit bones; then all is in the mode that it was in."""
    with _alone_in_object_mode(armature):
        bpy.ops.object.mode_set(mode='EDIT')
        try:
            yield armature.data.edit_bones
        finally:
            bpy.ops.object.mode_set(mode='OBJECT')


@contextmanager
def _alone_in_object_mode(armature: bpy.types.Object) -> Iterator[None]:
    """Make the armature the active object, alone selected, in Object Mode; then all is as it was."""
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, [ob for ob in layer.objects if ob.select_get()]
    mode = active.mode if active is not None else 'OBJECT'
    if armature.name not in layer.objects or armature.hide_viewport or not armature.visible_get():
        raise IK2DError(f"'{armature.name}' is hidden; show it first")
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


def _apply_scale(armature: bpy.types.Object, settings: Settings) -> str:
    """Apply the armature's scale to its bones; what is parented to it stays where it is."""
    _refuse_shared_data(armature)
    animation = armature.animation_data
    curves = [*versions.existing_fcurves(armature), *(animation.drivers if animation else ())]
    if any(curve.data_path in ("scale", "delta_scale") for curve in curves):
        raise IK2DError(f"The scale of '{armature.name}' is animated: it cannot be applied")
    if tuple(armature.scale) == (1.0, 1.0, 1.0):
        raise IK2DError(f"'{armature.name}' has no scale of its own to apply")
    bpy.context.view_layer.update()
    children = [(child, _held_by(armature, child), _own_place(child)) for child in armature.children]
    with _alone_in_object_mode(armature):
        try:
            bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
        except RuntimeError as error:
            raise IK2DError(f"Blender cannot apply the scale of '{armature.name}': {error}") from None
    bpy.context.view_layer.update()
    for child, before, own in children:  # Blender writes into channels that may be keyed, and shears nothing
        for name, value in own.items():
            setattr(child, name, value)
        now = _held_by(armature, child).inverted_safe()
        child.matrix_parent_inverse = now @ before @ child.matrix_parent_inverse
    moved = [bone.name for bone in armature.pose.bones if bone.location.length > 0.0]
    left = f"; look at the location of {_names(moved)}, which it leaves as it is" if moved else ""
    return f"Applied the scale of '{armature.name}'{left}"


def _held_by(armature: bpy.types.Object, child: bpy.types.Object) -> Matrix:
    """Return the place in the world that an armature's child hangs on, before its Parent Inverse."""
    bone = armature.pose.bones.get(child.parent_bone) if child.parent_type == 'BONE' else None
    if bone is None:
        return armature.matrix_world.copy()
    if bone.bone.use_relative_parent:
        return armature.matrix_world @ bone.matrix_channel
    place = bone.matrix.copy()
    place.translation = bone.tail
    return armature.matrix_world @ place


def _own_place(ob: bpy.types.Object) -> dict[str, object]:
    """Return what an object's place is made of."""
    places = {name: tuple(getattr(ob, name)) for name in ("location", *ROTATIONS, "scale")}
    return {**places, "matrix_parent_inverse": ob.matrix_parent_inverse.copy()}


def _clear_scale(armature: bpy.types.Object, settings: Settings) -> str:
    """Scale the bones above the chain, and of it, evenly: as they are at rest."""
    bones = unevenly_scaled(read_chain(armature, settings))
    _refuse_nothing(settings, bones, "bone is scaled unevenly by itself")
    animation = armature.animation_data
    curves = [*versions.existing_fcurves(armature), *(animation.drivers if animation else ())]
    animated = {curve.data_path for curve in curves}
    for name in bones:
        if armature.pose.bones[name].path_from_id("scale") in animated:
            raise IK2DError(f"The scale of bone '{name}' is animated; delete its keys, or its driver")
    for name in bones:
        armature.pose.bones[name].scale = (1.0, 1.0, 1.0)
    return f"Cleared the scale of {_names(bones)}"


def _refuse_shared_data(armature: bpy.types.Object) -> None:
    data = armature.data
    if not data.is_editable:
        raise IK2DError(f"The bones of '{armature.name}' are linked from another file: mend them there")
    if data.users - data.use_fake_user > 1:
        raise IK2DError(
            f"Other objects have the bones of '{armature.name}' too; make them single-user first"
            " (Object > Relations > Make Single User)"
        )


def _refuse_nothing(settings: Settings, found: Sequence[object], what: str) -> None:
    if not len(found):
        raise IK2DError(f"Chain '{settings.name}': no {what}")


def _names(bones: Sequence[str]) -> str:
    named = [f"'{bone}'" for bone in bones]
    if len(named) > _NAMED + 1:
        named[_NAMED:] = [f"{len(named) - _NAMED} more"]
    return " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))


def _count(found: Sequence[object], noun: str) -> str:
    return f"1 {noun}" if len(found) == 1 else f"{len(found)} {noun}s"


WAYS: dict[str, Callable[[bpy.types.Object, Settings], str]] = {
    'TURN_RANGES': _turn_ranges,
    'WIDEN': _widen,
    'CLEAR_TARGET': _clear_target,
    'DISABLE': _disable,
    'ACCEPT': _accept,
    'HINGE_PLANE': _hinge_plane,
    'SHOW_POSE': _show_pose,
    'UNLOCK': _unlock,
    'UNLOCK_HINGES': _unlock_hinges,
    'UNLOCK_CHANNELS': _unlock_channels,
    'UNMUTE_CHANNELS': _unmute_channels,
    'MUTE_MODIFIERS': _mute_modifiers,
    'MUTE_DRIVERS': _mute_drivers,
    'SINGLE_USER': _single_user,
    'REPLACE': _replace,
    'FLATTEN': _flatten,
    'APPLY_SCALE': _apply_scale,
    'CLEAR_SCALE': _clear_scale,
}
