# SPDX-License-Identifier: GPL-3.0-or-later
"""A second target: the chain's target becomes a blend of both."""

from contextlib import ExitStack
from math import degrees

from bpy.types import Constraint, Object, PropertyGroup
from mathutils import Matrix

from ...core.swing import POLE
from ...core.words import refusal, say
from ...rig.animation.value_keys import acting_driver
from ...rig.chain.checks.bones import pose_bones_of
from ...rig.chain.dependencies import Node, copies_of
from ...rig.chain.native_state import is_native
from ...rig.scene.live_pause import live_paused
from ...ui.settings.chain_list import add_target
from .blend import (
    ON_DRIVERS,
    POLE_OF,
    TARGET,
    Role,
    blend_of,
    copy_onto,
    give_back,
    make_blend,
    note_copied,
    refuse_blend,
    refuse_circle,
    second_of,
    shown_matrix,
)

# Blends of directions that are further apart than this, in degrees, may turn over.
_OPPOSITE = 150.0


@live_paused()
def add_second_target(chain: PropertyGroup, second: Node | None = None) -> Node:
    """Give a chain a second target, an object or a bone, and return it; without one a new empty.

    Its target becomes an empty that copies both: the influence of the constraint to the second one is the
    blend, 0 at first, so that the pose stays. Raises IK2DError, with nothing changed, for a chain without a
    target, on drivers, or with two targets, and for a target that the chain moves.
    """
    refuse_blend(chain)
    if second_of(chain) is not None:
        raise refusal(
            "Chain '{chain}' has a second target; remove that first (Remove Second Target)", chain=chain.name
        )
    if second is not None:
        _refuse_second(chain, second)
    with ExitStack() as undo:
        empty = make_blend(chain, TARGET, undo)
        if second is None:
            second = _new_target(chain, empty), ""
        else:
            note_copied(chain, TARGET, second[0], was_there=True)
        copy_onto(empty, second, "Second Target", 0.0)
        undo.pop_all()
    return second


def _refuse_second(chain: PropertyGroup, second: Node) -> None:
    ob, bone = second
    if bone and bone not in pose_bones_of(ob):
        raise refusal("'{object}' has no bone '{bone}'; choose another target", object=ob.name, bone=bone)
    if second in ((chain.target, chain.subtarget), *((c.target, c.subtarget) for c in _copies(chain))):
        raise refusal(
            "Chain '{chain}' follows '{name}' already; select another one",
            chain=chain.name,
            name=bone or ob.name,
        )
    refuse_circle(chain, second)


def _copies(chain: PropertyGroup) -> list[Constraint]:
    empty = blend_of(chain)
    return list(empty.constraints) if empty is not None else []


def _new_target(chain: PropertyGroup, empty: Object) -> Object:
    """Add an empty where a chain's target is now, turned as that is."""
    place = shown_matrix((empty, ""))
    target = add_target(chain.id_data, chain.tip, "Second Target", chain.bone_count)
    target.location, target.rotation_euler = place.translation, place.to_euler()
    note_copied(chain, TARGET, target, is_kept=True)
    return target


@live_paused()
def remove_second_target(chain: PropertyGroup) -> None:
    """Have a chain follow its first target and pole alone, and remove what was made for its blends.

    The first target keeps its keys; a second one that was made for the chain goes, unless somebody has
    worked on it. Raises IK2DError, with nothing changed, for a chain that has no blend or is on drivers.
    """
    if is_native(chain):
        raise refusal(ON_DRIVERS, chain=chain.name)
    if not remove_blends(chain):
        raise refusal("Chain '{chain}' has no second target and no switch of parents", chain=chain.name)


def remove_blends(chain: PropertyGroup) -> bool:
    """Give a chain its first target and pole back; return whether it had any other."""
    given = [give_back(chain, role) for role in (TARGET, POLE_OF)]
    return any(given)


# --- What to know of it ------------------------------------------------------


def notes_of(chain: PropertyGroup) -> list[str]:
    """Return a sentence for each thing to know of a chain's blends as shown."""
    told, second = [], second_of(chain)
    empty = blend_of(chain)
    if second is not None and empty is not None:
        if acting_driver(empty, second.path_from_id("influence")) is not None:
            told.append(say("Chain '{chain}': a driver sets Blend, which takes no keys", chain=chain.name))
    for constraint in _copies(chain):
        if constraint.target is not None and not constraint.target.is_editable:
            told.append(
                say(
                    "Chain '{chain}': '{name}' is linked from another file, so it can only be moved there",
                    chain=chain.name,
                    name=constraint.target.name,
                )
            )
    if _follows_turns(chain) and (apart := _turned_apart(chain)) > _OPPOSITE:
        told.append(
            say(
                "Chain '{chain}': its two targets are turned {angle:.0f} degrees from one another. Past 180 "
                "a blend of them turns over; turn one of them, or keep Blend at 0 or 1 there",
                chain=chain.name,
                angle=apart,
            )
        )
    if chain.plane == POLE and (apart := _poles_apart(chain)) > _OPPOSITE:
        told.append(
            say(
                "Chain '{chain}': the poles that it blends are {angle:.0f} degrees apart, so that their "
                "blend crosses the limb; move one of them",
                chain=chain.name,
                angle=apart,
            )
        )
    return told


def _follows_turns(chain: PropertyGroup) -> bool:
    return chain.foot.is_added or 'TARGET' in (chain.hand_rotation, chain.tip_rotation)


def _turned_apart(chain: PropertyGroup) -> float:
    """Return the degrees by which two targets of a blend are turned from one another; 0 unless it blends."""
    pair = _blended_pair(chain, TARGET)
    if pair is None:
        return 0.0
    one, other = (_matrix(node).to_quaternion() for node in pair)
    angle = degrees(one.rotation_difference(other).angle)
    return min(angle, 360.0 - angle)


def _poles_apart(chain: PropertyGroup) -> float:
    """Return the degrees about the limb between two poles that are blended; 0 unless it blends."""
    pair = _blended_pair(chain, POLE_OF)
    bones = pose_bones_of(chain.id_data)
    if pair is None or chain.tip not in bones:
        return 0.0
    line = [bones[chain.tip], *bones[chain.tip].parent_recursive][: chain.bone_count or None]
    root = chain.id_data.matrix_world @ line[-1].head
    along = chain.id_data.matrix_world @ bones[chain.tip].tail - root
    ways = [_matrix(node).translation - root for node in pair]
    if along.length:
        ways = [way - way.project(along) for way in ways]
    return degrees(ways[0].angle(ways[1], 0.0))


def _matrix(node: Node) -> Matrix:
    """Return the matrix in the world of an object or a bone as drawn last: panels must not evaluate it."""
    ob, bone = node
    posed = ob.pose.bones.get(bone) if bone and ob.pose is not None else None
    return ob.matrix_world @ posed.matrix if posed is not None else ob.matrix_world


def _blended_pair(chain: PropertyGroup, role: Role) -> list[Node] | None:
    """Return the two that a chain's target or pole is between now; None where one of them alone acts."""
    copies = copies_of(role.node(chain))
    partly = next((i for i in range(len(copies) - 1, 0, -1) if copies[i].influence > 0.0), 0)
    if not partly or copies[partly].influence >= 1.0:
        return None
    below = next(i for i in range(partly - 1, -1, -1) if copies[i].influence > 0.0)
    return [(each.target, each.subtarget) for each in (copies[below], copies[partly])]
