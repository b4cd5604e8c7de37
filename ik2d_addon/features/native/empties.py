# SPDX-License-Identifier: GPL-3.0-or-later
"""The two hidden empties of a native chain: its controls, and a copy of its target's place."""

import bpy
import numpy as np
from mathutils import Matrix

from ...rig.chain.chain import RigChain
from ...rig.chain.native_state import BARE, LIVE, SETTINGS, constraints_of, is_native, scale_name
from .drivers import Empties, path_of

# Their size, as a part of the first bone's length.
_SIZE = 0.1


def add_empties(rig: RigChain) -> Empties:
    """Add the controls, a child of the bone above the chain, and their child, which follows the target.

    The controls have the plane's axes and the root as origin, so that the child's location is the target's
    in the plane.
    """
    armature, above = rig.armature, rig.pose_bones[0].parent
    controls, target_copy = _empty(rig, "stand"), _empty(rig, "probe")
    controls.parent = armature
    if above is not None:
        controls.parent_type, controls.parent_bone = 'BONE', above.name
        tail = above.bone.matrix_local @ Matrix.Translation((0.0, above.bone.length, 0.0))
        controls.matrix_parent_inverse = tail.inverted()
    plane = rig.plane
    rows = np.column_stack((plane.x, plane.y, plane.normal, plane.origin)).tolist()
    controls.matrix_basis = Matrix([*rows, [0, 0, 0, 1]])
    target_copy.parent = controls
    follow = target_copy.constraints.new('COPY_LOCATION')
    follow.target, follow.subtarget = rig.target, rig.subtarget
    return Empties(controls, target_copy)


def remove_empties(*empties: bpy.types.Object | None) -> None:
    """Remove existing empties, and actions without other users."""
    for empty in empties:
        if empty is None:
            continue
        action = empty.animation_data.action if empty.animation_data else None
        bpy.data.objects.remove(empty)
        if action is not None and not action.users:
            bpy.data.actions.remove(action)


def _empty(rig: RigChain, what: str) -> bpy.types.Object:
    """Return a new hidden empty in a collection of the armature."""
    empty = bpy.data.objects.new(f"{rig.armature.name} {rig.name} {what}", None)
    empty.empty_display_size = _SIZE * rig.pose_bones[0].bone.length
    empty.hide_viewport = empty.hide_render = True
    for collection in (*rig.armature.users_collection, bpy.context.scene.collection):
        if collection.library is None and collection.override_library is None:
            collection.objects.link(empty)
            break
    return empty


def remove_native(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> None:
    """Remove a native chain's drivers, constraints and empties, as far as they still exist.

    Nothing happens to a chain that is not native. If the armature was duplicated without its empties, they
    belong to the original and stay.
    """
    if not is_native(settings):
        return
    _remove_drivers(armature, settings.native_constraint)
    for bone, constraint in list(constraints_of(settings)):
        bone.constraints.remove(constraint)
    controls, target_copy = settings.native_stand, settings.native_probe
    before = settings.native_before.split()
    own = controls is not None and controls.parent in (armature, None)
    for name in SETTINGS:
        settings.property_unset(name)
    if own or controls is None:
        remove_empties(target_copy, controls)
    animation = armature.animation_data
    if BARE in before and animation is not None:
        if not (animation.action or len(animation.drivers) or len(animation.nla_tracks)):
            armature.animation_data_clear()
    if LIVE in before:
        settings.live = True


def _remove_drivers(armature: bpy.types.Object, constraint: str) -> None:
    """Remove the drivers of a chain's constraints, also of deleted ones."""
    animation = armature.animation_data
    own = tuple(f".constraints{path_of(name)}." for name in (constraint, scale_name(constraint)))
    for curve in list(animation.drivers) if animation else ():
        if any(path in curve.data_path for path in own):
            animation.drivers.remove(curve)
