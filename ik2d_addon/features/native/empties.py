# SPDX-License-Identifier: GPL-3.0-or-later
"""The hidden empties of a native chain: its controls, a copy of its target's place, and two that swing."""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
from mathutils import Matrix

from ...rig.animation.actions import remove_empty_animation_data
from ...rig.animation.value_keys import existing_drivers, is_broken
from ...rig.animation.versions import played_action
from ...rig.chain.chain import RigChain
from ...rig.chain.native_state import (
    BARE,
    LIVE,
    MARK,
    PREFIX,
    SETTINGS,
    constraints_of,
    is_native,
    is_own_empty,
    objects_read,
    scale_name,
    stand_of,
)
from ...rig.chain.readable import refuse_no_text
from .drivers import Empties, SwungEmpties, path_of
from .hands import HandEmpties, add_hand_empties
from .post.building import add_post_empties
from .post.turning import PostTurn

# Their size, as a part of the first bone's length.
_SIZE = 0.1
# Blender cuts constraints' names at 63 bytes: what is left before " Scale" and a number.
_LONGEST = 53


@dataclass(frozen=True)
class Native:
    """Parts of a native chain or mechanism that were made."""

    controls: bpy.types.Object
    target_copy: bpy.types.Object
    constraints: tuple[tuple[str, str], ...]  # (bone, constraint)
    drivers: int
    warnings: tuple[str, ...] = ()  # differences from a bake of the chain


def note(settings: bpy.types.PropertyGroup, empties: Empties, had_animation: bool) -> None:
    """Store the empties, the constraints' name and the state before on the chain or mechanism."""
    armature = settings.id_data
    taken = {constraint.name for bone in armature.pose.bones for constraint in bone.constraints}
    stem = f"{PREFIX}{settings.name}".encode()[:_LONGEST].decode(errors="ignore")
    name, number = stem, 1
    while {name, scale_name(name)} & taken:
        name, number = f"{stem}.{number:03d}", number + 1
    before = [word for word, is_so in ((LIVE, settings.live), (BARE, not had_animation)) if is_so]
    settings.native_stand, settings.native_probe = empties.controls, empties.target_copy
    settings.native_constraint, settings.native_before = name, " ".join(before)
    if settings.live:
        settings.live = False


def add_empties(rig: RigChain, turn: PostTurn | None = None) -> tuple[Empties, HandEmpties | None]:
    """Add the controls, a child of the bone above the chain, and their child, which follows the target.

    And those that turn what hangs on the tip, if that has an orientation of its own.

    The controls have the plane's axes and the root as origin, so that the child's location is the target's
    in the plane. For a plane that follows its target also two that turn with it, see swings.py. turn: of a
    post above the chain, which the controls are in the space of; the child then hangs on the turned plane.
    """
    controls, target_copy = _empty(rig, "stand"), _empty(rig, "probe")
    target = rig.target, rig.subtarget
    if turn is None:
        _hang(controls, rig.pose_bones[0])
        controls.matrix_basis = Matrix(rig.plane.matrix.tolist())
        empties, held = Empties(controls, target_copy), controls
    else:
        _hang(controls, turn.bone)
        controls.matrix_parent_inverse = controls.matrix_parent_inverse @ Matrix(turn.space.tolist())
        on_post = add_post_empties(turn, controls, target_copy, target, lambda what: _empty(rig, what))
        empties, held = on_post, on_post.plane
    target_copy.parent = held
    hands = None
    if rig.hands is not None:
        hands = add_hand_empties(rig, held, lambda what: _empty(rig, what))
    follow = target_copy.constraints.new('COPY_LOCATION')
    follow.target, follow.subtarget = target if hands is None else hands.goal
    if rig.swing is None:
        return empties, hands
    swing, turned = _empty(rig, "swing"), _empty(rig, "turn")
    swing.parent, turned.parent = controls, swing
    return SwungEmpties(controls, target_copy, swing, turned), hands


def _hang(empty: bpy.types.Object, bone: bpy.types.PoseBone) -> None:
    """Have the bone above a bone carry an empty, or the armature where there is none, as if in rest."""
    above = bone.parent
    empty.parent = bone.id_data
    if above is not None:
        empty.parent_type, empty.parent_bone = 'BONE', above.name
        tail = above.bone.matrix_local @ Matrix.Translation((0.0, above.bone.length, 0.0))
        empty.matrix_parent_inverse = tail.inverted()


def remove_empties(*empties: bpy.types.Object | None) -> None:
    """Remove existing empties, and actions without other users."""
    for empty in empties:
        if empty is None:
            continue
        action = played_action(empty)
        bpy.data.objects.remove(empty)
        if action is not None and not action.users:
            bpy.data.actions.remove(action)


def _empty(rig: RigChain, what: str) -> bpy.types.Object:
    return own_empty(rig.armature, rig.name, what, rig.pose_bones[0].bone.length)


def own_empty(armature: bpy.types.Object, name: str, what: str, length: float) -> bpy.types.Object:
    """Return a new hidden empty in a collection of the armature; length: of a bone, for its size."""
    empty = bpy.data.objects.new(f"{armature.name} {name} {what}", None)
    empty[MARK] = what
    empty.empty_display_size = _SIZE * length
    empty.hide_viewport = empty.hide_render = True
    for collection in (*armature.users_collection, bpy.context.scene.collection):
        if collection.library is None and collection.override_library is None:
            collection.objects.link(empty)
            break
    return empty


def remove_native(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> None:
    """Remove a native chain's or mechanism's drivers, constraints and empties, as far as they still exist.

    Nothing happens to one that is not native. If the armature was duplicated without its empties, they
    belong to the original and stay. Raises IK2DError, with nothing changed, for names that are no text.
    """
    if not is_native(settings):
        return
    refuse_no_text(armature)
    constraints = list(constraints_of(settings))
    drivers = _own_drivers(settings, [constraint for _, constraint in constraints])
    empties = _own_empties(settings, drivers, [constraint for _, constraint in constraints])
    for driver in drivers:
        armature.animation_data.drivers.remove(driver)
    for bone, constraint in constraints:
        active = bone.constraints.active
        active = None if active == constraint else active
        bone.constraints.remove(constraint)
        bone.constraints.active = active  # which removing leaves without one
    before = settings.native_before.split()
    for name in SETTINGS:
        settings.property_unset(name)
    remove_empties(*empties)
    if BARE in before:
        remove_empty_animation_data(armature)
    if LIVE in before:
        settings.live = True


def _own_drivers(
    settings: bpy.types.PropertyGroup, constraints: list[bpy.types.Constraint]
) -> list[bpy.types.FCurve]:
    """Return the drivers of a chain's constraints, also of deleted ones."""
    armature, name = settings.id_data, settings.native_constraint
    drivers = existing_drivers(armature)
    existing = tuple(f"{constraint.path_from_id()}." for constraint in constraints)
    deleted = tuple(f".constraints{path_of(each)}." for each in (name, scale_name(name)))
    return [
        curve
        for curve in drivers
        if curve.data_path.startswith(existing)
        or (any(path in curve.data_path for path in deleted) and is_broken(armature, curve))
    ]


def _own_empties(
    settings: bpy.types.PropertyGroup,
    drivers: list[bpy.types.FCurve],
    constraints: list[bpy.types.Constraint],
) -> list[bpy.types.Object]:
    """Return a chain's empties: of those that it names and its drivers read, the ones made for it.

    And of those that hang on them, or that the first bone's constraint copies.
    """
    armature = settings.id_data
    others = [*armature.ik2d.chains, *armature.ik2d.mechanisms]
    others = [one for one in others if one != settings]
    taken = {empty for chain in others for empty in (chain.native_stand, chain.native_probe)}
    named = dict.fromkeys((settings.native_stand, *(ob for driver in drivers for ob in objects_read(driver))))
    named |= dict.fromkeys(ob for constraint in constraints for ob in _copied(constraint))
    for controls in filter(is_own_empty, [*named]):
        named |= dict.fromkeys(ob for driver in existing_drivers(controls) for ob in objects_read(driver))
        named |= dict.fromkeys(controls.children_recursive)
        named |= dict.fromkeys(ob for child in controls.children_recursive for ob in _located_by(child))
    named[settings.native_probe] = None
    empties = [ob for ob in named if is_own_empty(ob) and taken.isdisjoint((ob, stand_of(ob)))]
    return [ob for ob in empties if stand_of(ob).parent in (armature, None)]


def _located_by(empty: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield the empties that an empty's constraints take their place from."""
    for constraint in empty.constraints:
        if constraint.type == 'COPY_LOCATION' and is_own_empty(constraint.target):
            yield constraint.target


def _copied(constraint: bpy.types.Constraint) -> Iterator[bpy.types.Object]:
    """Yield the empty that a constraint copies, and those that it hangs on."""
    ob = constraint.target if constraint.type == 'COPY_TRANSFORMS' else None
    while ob is not None and is_own_empty(ob):
        yield ob
        ob = ob.parent
