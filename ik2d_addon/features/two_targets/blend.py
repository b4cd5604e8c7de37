# SPDX-License-Identifier: GPL-3.0-or-later
"""An empty that a chain follows in place of its target or its pole, and that copies this: a blend."""

from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Constraint, Object, PropertyGroup
from mathutils import Matrix

from ...core.affine import orientations
from ...core.inputs import Floats
from ...core.words import noted, refusal
from ...rig.animation.versions import played_action
from ...rig.chain.dependencies import Movers, Node, walk
from ...rig.chain.native_state import is_native
from ...rig.chain.paths.uses import is_used
from ...rig.chain.post import turned_bones_of
from ...rig.chain.renames import refuse_linked
from ...rig.rest import rest_axes, rest_bone
from ...ui.settings.chain_list import TARGET_SIZE, add_target
from ..posed.targets import remove_target

# Axes that differ by more are sheared.
_SHEARED = 1e-4
ON_DRIVERS = noted(
    "Chain '{chain}' is on drivers, which follow its target as it is; remove them first (Remove Drivers), "
    "and convert it again afterwards"
)


@dataclass(frozen=True)
class Role:
    """Names of a chain's settings for one thing that it follows, and a word for the names of empties."""

    object: str
    bone: str
    notes: str
    word: str

    def node(self, chain: PropertyGroup) -> Node:
        """Return the target or pole of a chain, an object with its bone or ""."""
        return getattr(chain, self.object), getattr(chain, self.bone)


TARGET = Role("target", "subtarget", "target_blend", "Target")
POLE_OF = Role("pole", "pole_subtarget", "pole_blend", "Pole")


def blend_of(chain: PropertyGroup, role: Role = TARGET) -> Object | None:
    """Return the empty that was made for a chain to follow; None where it follows something else."""
    empty = getattr(chain, role.notes).empty
    return empty if empty is not None and getattr(chain, role.object) == empty else None


def spaces_of(chain: PropertyGroup, role: Role = TARGET) -> list[Constraint]:
    """Return the constraints to the empties that were made for other parents, in their order."""
    empty, copied = blend_of(chain, role), getattr(chain, role.notes).copied
    later = empty.constraints[1:] if empty is not None else ()
    made = [each.object for each in copied if not (each.was_there or each.is_kept)]
    return [each for each in later if each.target in made]


def second_of(chain: PropertyGroup) -> Constraint | None:
    """Return the constraint to a chain's second target, whose influence is the blend; None without one."""
    empty, spaces = blend_of(chain), spaces_of(chain)
    later = empty.constraints[1:] if empty is not None else ()
    return next((each for each in later if each not in spaces), None)


def refuse_blend(chain: PropertyGroup) -> None:
    """Raise IK2DError for a chain whose target cannot be replaced by a blend."""
    refuse_linked(chain.id_data)
    if chain.target is None:
        raise refusal(
            "Chain '{chain}' has no target; choose the object that its tip follows", chain=chain.name
        )
    if is_native(chain):
        raise refusal(ON_DRIVERS, chain=chain.name)


def refuse_circle(chain: PropertyGroup, node: Node) -> None:
    """Raise IK2DError for an object or a bone that the chain itself moves."""
    armature, moving = chain.id_data, walk([node], Movers())
    own = turned_bones_of(chain)
    blends = {blend_of(chain, TARGET), blend_of(chain, POLE_OF)}
    if not any(ob == armature and bone in own or not bone and ob in blends for ob, bone in moving):
        return
    name = node[1] or node[0].name
    raise refusal(
        "'{name}' is carried by chain '{chain}' itself, so that both would move in a circle; choose "
        "another one, or have '{name}' follow the chain's target instead",
        name=name,
        chain=chain.name,
    )


def shown_matrix(node: Node) -> Matrix:
    """Return the matrix in the world of an object or a bone as shown."""
    ob, bone = node
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    posed = shown.pose.bones.get(bone) if bone and shown.pose is not None else None
    return shown.matrix_world @ posed.matrix if posed is not None else shown.matrix_world.copy()


# --- Making ------------------------------------------------------------------


def make_blend(chain: PropertyGroup, role: Role, undo: ExitStack) -> Object:
    """Have a chain follow an empty that copies its target or pole; return it, the one that it has if any.

    The pose stays. Closing `undo` takes it back.
    """
    if (there := blend_of(chain, role)) is not None:
        return there
    notes, first = getattr(chain, role.notes), role.node(chain)
    give_back(chain, role)  # what is left where a person has chosen another target since
    undo.callback(give_back, chain, role)
    empty = new_empty(chain, f"{chain.tip} {role.word} Blend")
    empty.empty_display_type, empty.hide_select = 'SPHERE', True
    empty.matrix_world = shown_matrix(first)
    notes.empty = empty
    note_copied(chain, role, first[0], was_there=True)
    copied = first
    if role is TARGET and rest_bone(*first) is not None and chain.tip_rotation == 'TARGET':
        copied = _at_rest_axes(chain, first), ""
    copy_onto(empty, copied, "First Target")
    notes.owned = chain.owns_target and role is TARGET
    notes.offset = chain.hand_offset
    offset = np.array(chain.hand_offset, np.float64).reshape(3, 3)
    if copied == first and rest_bone(*first) is not None:  # whose own axes the empty has
        offset = rest_axes(rest_bone(*first)).T @ offset
    _follow(chain, role, (empty, ""), offset.ravel().tolist())
    notes.offset_made = chain.hand_offset
    return empty


def _at_rest_axes(chain: PropertyGroup, node: Node) -> Object:
    """Return a new empty on a bone that has the armature's axes where the bone is at rest.

    An angle of the last bone counts a target bone from its rest pose. Raises IK2DError for a bone that
    uneven scales shear, whose axes no object can have.
    """
    armature, bone = node
    held = new_empty(chain, f"{chain.tip} Target on {bone}")
    note_copied(chain, TARGET, held)
    hang(held, node)
    rest = armature.data.bones[bone]
    place = Matrix.Translation((0.0, rest.length, 0.0)).inverted() @ rest.matrix_local.inverted_safe()
    held.matrix_parent_inverse = Matrix()
    held.matrix_basis = place @ Matrix.Translation(rest.head_local)
    held.hide_select = True
    bpy.context.view_layer.update()
    axes, wanted = (_axes(each) for each in ((held, ""), node))
    if np.abs(axes - wanted @ rest_axes(rest).T).max() > _SHEARED:
        raise refusal(
            "Chain '{chain}': its last bone follows the angle of '{bone}', which '{armature}' scales "
            "unevenly; apply that scale (Ctrl A) first",
            chain=chain.name,
            bone=bone,
            armature=armature.name,
        )
    return held


def _axes(node: Node) -> Floats:
    return orientations(np.array(shown_matrix(node), np.float64)[:3, :3])


def new_empty(chain: PropertyGroup, name: str) -> Object:
    """Return a new empty for a chain, where its target would be made."""
    empty = add_target(chain.id_data, chain.tip, bone_count=chain.bone_count)
    empty.name = name
    empty.rotation_mode = 'QUATERNION'
    empty.empty_display_size *= 0.15 / TARGET_SIZE
    return empty


def note_copied(
    chain: PropertyGroup, role: Role, ob: Object, *, was_there: bool = False, is_kept: bool = False
) -> None:
    """Store that a blend copies an object, which was made for it unless it was there before."""
    if ob == chain.id_data:  # it would keep itself in the file for ever
        return
    item = getattr(chain, role.notes).copied.add()
    item.object, item.was_there, item.is_kept = ob, was_there, is_kept


def hang(ob: Object, parent: Node) -> None:
    """Give an object a parent: an object, or a bone of one."""
    ob.parent, bone = parent
    if bone:
        ob.parent_type, ob.parent_bone = 'BONE', bone


def copy_onto(empty: Object, node: Node, name: str, influence: float = 1.0) -> Constraint:
    """Have a blend copy an object or a bone on top of what it copies so far."""
    constraint = empty.constraints.new('COPY_TRANSFORMS')
    constraint.name, constraint.influence = name, influence
    constraint.target, constraint.subtarget = node
    return constraint


def _follow(chain: PropertyGroup, role: Role, node: Node, offset: list[float]) -> None:
    """Have a chain follow something else that is where it was; its hands stay, and its plane."""
    angle = chain.pole_angle
    setattr(chain, role.object, node[0])
    setattr(chain, role.bone, node[1])
    if role is TARGET:
        chain.hand_offset = offset
    else:
        chain.pole_angle = angle


# --- Giving back -------------------------------------------------------------


def give_back(chain: PropertyGroup, role: Role) -> bool:
    """Have a chain follow its first target or pole again, and remove what was made for the blend.

    Objects that something else uses stay. Return whether there was a blend.
    """
    empty, notes = blend_of(chain, role), getattr(chain, role.notes)
    copied = [each for each in notes.copied if each.object is not None and not each.was_there]
    made = [(each.object, each.is_kept) for each in copied]
    if notes.empty is None and not made:
        return False
    if empty is not None and len(empty.constraints):
        first = _first_of(empty, [ob for ob, _ in made])
        offset = notes.offset[:]
        if tuple(chain.hand_offset) != tuple(notes.offset_made):
            now = np.array(chain.hand_offset, np.float64).reshape(3, 3)
            has_axes = rest_bone(*first) is not None and empty.constraints[0].target == first[0]
            offset = (rest_axes(rest_bone(*first)) @ now if has_axes else now).ravel().tolist()
        _follow(chain, role, first, offset)
        if role is TARGET:
            chain.owns_target = notes.owned
    left = notes.empty
    _forget(notes)
    if left is not None and not is_used(left):
        _remove(left)
        for ob, is_kept in made:
            if is_kept:
                remove_target(ob)
            elif not is_used(ob):
                _remove(ob)
    return True


def _first_of(empty: Object, made: list[Object]) -> Node:
    """Return the target of a chain before the blend, as that is named and placed now."""
    copied = empty.constraints[0]
    if copied.target in made:
        return copied.target.parent, copied.target.parent_bone
    return copied.target, copied.subtarget


def _forget(notes: PropertyGroup) -> None:
    notes.copied.clear()
    for name in ("empty", "owned", "offset", "offset_made"):
        notes.property_unset(name)


def _remove(ob: Object) -> None:
    """Remove an object with its own action, unless something else plays that."""
    action = played_action(ob)
    bpy.data.objects.remove(ob)
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
