# SPDX-License-Identifier: GPL-3.0-or-later
"""Which chains move what other chains stand on or follow, and the order that follows from it."""

import re
from collections.abc import Iterator, Sequence

import bpy

from ..core import IK2DError
from .armature import RigChain

# An object with "" for all of it, or one of its bones.
Node = tuple[bpy.types.Object, str]
# Paths to what moves a bone; its custom properties move nothing by themselves.
_BONE_PATH = re.compile(r'pose\.bones\["(.+?)"\]\.(location|rotation|scale|matrix|head|tail)')


def in_order(chains: Sequence[RigChain]) -> list[list[RigChain]]:
    """Return the chains in rounds: those of one round depend only on chains of the rounds before.

    Raises IK2DError for chains that share a bone, for one that moves its own target, and for a
    circle of chains.
    """
    _refuse_shared(chains)
    for chain in chains:
        _refuse_own_target(chain)
    needs = {chain.name: _needed_by(chain, chains) for chain in chains}
    rounds: list[list[RigChain]] = []
    waiting = list(chains)
    while waiting:
        names = {chain.name for chain in waiting}
        ready = [chain for chain in waiting if not needs[chain.name] & names]
        if not ready:
            circle = ", ".join(f"'{chain.name}'" for chain in waiting)
            raise IK2DError(f"The chains {circle} depend on one another in a circle; disable one of them")
        rounds.append(ready)
        waiting = [chain for chain in waiting if chain not in ready]
    return rounds


def armatures_in_order(chains: Sequence[RigChain]) -> list[bpy.types.Object]:
    """Return the armatures of the chains, each after those whose chains move what its own chains need.

    Raises IK2DError where they need one another in a circle.
    """
    needs: dict[bpy.types.Object, set[bpy.types.Object]] = {chain.armature: set() for chain in chains}
    for chain in chains:
        moved_by = _reached_from([(chain.armature, chain.bones[0]), (chain.target, chain.subtarget)])
        needs[chain.armature] |= {
            other.armature
            for other in chains
            if any((other.armature, bone) in moved_by for bone in other.bones)
        } - {chain.armature}
    order: list[bpy.types.Object] = []
    while waiting := [armature for armature in needs if armature not in order]:
        ready = [armature for armature in waiting if not needs[armature] & set(waiting)]
        if not ready:
            circle = ", ".join(f"'{armature.name}'" for armature in waiting)
            raise IK2DError(
                f"The chains of the armatures {circle} depend on one another in a circle; disable one of them"
            )
        order += ready
    return order


def _refuse_shared(chains: Sequence[RigChain]) -> None:
    owners: dict[str, str] = {}
    for chain in chains:
        for bone in chain.bones:
            if bone in owners:
                raise IK2DError(
                    f"Chains '{owners[bone]}' and '{chain.name}' share the bone '{bone}'; disable one of them"
                )
            owners[bone] = chain.name


def _refuse_own_target(chain: RigChain) -> None:
    moved_by = _bones_of(chain.armature, _reached_from([(chain.target, chain.subtarget)]))
    if own := moved_by & set(chain.bones):
        what = f"bone '{chain.subtarget}'" if chain.subtarget else f"'{chain.target.name}'"
        raise IK2DError(
            f"Chain '{chain.name}': its target {what} is moved by the chain itself: it depends on bone"
            f" '{min(own)}'; choose a target that does not"
        )


def _needed_by(chain: RigChain, chains: Sequence[RigChain]) -> set[str]:
    """Return the names of the other chains that move what this one hangs on or follows."""
    roots = [(chain.armature, chain.bones[0]), (chain.target, chain.subtarget)]
    moved_by = _bones_of(chain.armature, _reached_from(roots))
    return {other.name for other in chains if other is not chain and moved_by & set(other.bones)}


def _bones_of(armature: bpy.types.Object, nodes: set[Node]) -> set[str]:
    return {bone for ob, bone in nodes if ob == armature}


def _reached_from(roots: Sequence[Node]) -> set[Node]:
    """Return all objects and bones that the places of the roots depend on, themselves included.

    By parents, constraints, drivers, and the skin that a vertex parent holds on to.
    """
    found: set[Node] = set()
    waiting = list(roots)
    while waiting:
        ob, bone = waiting.pop()
        if ob is None or (ob, bone) in found:
            continue
        found.add((ob, bone))
        if bone and ob.pose and bone in ob.pose.bones:
            holder = ob.pose.bones[bone]
            waiting.append((ob, holder.parent.name if holder.parent else ""))
        else:
            holder = ob
            waiting += _parents(ob)
        waiting += _constraint_targets(holder)
        waiting += _driver_sources(ob, holder)
    return found


def _parents(ob: bpy.types.Object) -> Iterator[Node]:
    yield ob.parent, ob.parent_bone if ob.parent_type == 'BONE' else ""
    if ob.parent and ob.parent_type.startswith('VERTEX'):
        yield from _skin_bones(ob.parent, [i for i in ob.parent_vertices if i < len(ob.parent.data.vertices)])


def _skin_bones(ob: bpy.types.Object, vertices: Sequence[int]) -> Iterator[Node]:
    """Yield the bones that deform some vertices of a mesh."""
    if ob.type != 'MESH':
        return
    names = {ob.vertex_groups[g.group].name for i in vertices for g in ob.data.vertices[i].groups}
    for modifier in ob.modifiers:
        if modifier.type == 'ARMATURE' and modifier.object:
            yield from ((modifier.object, name) for name in names if name in modifier.object.pose.bones)


def _constraint_targets(holder: bpy.types.Object | bpy.types.PoseBone) -> Iterator[Node]:
    for constraint in holder.constraints:
        if constraint.mute or not constraint.enabled:
            continue
        for source in (constraint, *getattr(constraint, "targets", ())):
            target, subtarget = getattr(source, "target", None), getattr(source, "subtarget", "")
            yield target, subtarget
            if target and target.type == 'MESH' and subtarget in target.vertex_groups:
                group = target.vertex_groups[subtarget].index
                yield from _skin_bones(
                    target, [v.index for v in target.data.vertices if group in {g.group for g in v.groups}]
                )


def _driver_sources(ob: bpy.types.Object, holder: bpy.types.Object | bpy.types.PoseBone) -> Iterator[Node]:
    """Yield what the drivers of an object, or of one of its bones, read places from."""
    bone_path = "" if holder == ob else f"{holder.path_from_id()}."
    for curve in ob.animation_data.drivers if ob.animation_data else ():
        path = curve.data_path
        if path.startswith(bone_path) if bone_path else not path.startswith("pose.bones["):
            for variable in () if curve.mute else curve.driver.variables:
                yield from _variable_sources(variable)


def _variable_sources(variable: bpy.types.DriverVariable) -> Iterator[Node]:
    for source in variable.targets:
        if not isinstance(source.id, bpy.types.Object):
            continue
        if variable.type != 'SINGLE_PROP':
            yield source.id, source.bone_target
        elif found := _BONE_PATH.match(source.data_path):
            yield source.id, bpy.utils.unescape_identifier(found[1])
        elif not source.data_path.startswith(("pose.bones[", "[")):
            yield source.id, ""
