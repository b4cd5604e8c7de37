# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of chains: after those that move what they stand on or follow."""

from collections.abc import Mapping, Sequence

import bpy

from ..core import IK2DError
from .armature import RigChain, refuse_own_target
from .dependencies import movers, walk


def in_order(chains: Sequence[RigChain]) -> list[list[RigChain]]:
    """Return the chains in rounds: those of one round depend only on chains of the rounds before.

    Raises IK2DError for chains that share a bone, for one that moves its own target, and for a
    circle of chains.
    """
    refuse_shared(chains)
    for chain in chains:
        refuse_moved_target(chain)
    owners = {bone: chain.name for chain in chains for bone in chain.bones}
    needs = {chain.name: _needed_by(chain, owners) for chain in chains}
    rounds: list[list[RigChain]] = []
    waiting = list(chains)
    while waiting:
        names = {chain.name for chain in waiting}
        ready = [chain for chain in waiting if not needs[chain.name] & names]
        if not ready:
            circle = ", ".join(f"'{chain.name}'" for chain in waiting)
            raise IK2DError(f"The chains {circle} depend on one another in a circle; disable one of them")
        rounds.append(ready)
        done = set(ready)
        waiting = [chain for chain in waiting if chain not in done]
    return rounds


def armatures_in_order(chains: Sequence[RigChain]) -> list[bpy.types.Object]:
    """Return the armatures of the chains, each after those whose chains move what its own chains need.

    Raises IK2DError where they need one another in a circle.
    """
    needs: dict[bpy.types.Object, set[bpy.types.Object]] = {chain.armature: set() for chain in chains}
    for chain in chains:
        roots = [(chain.armature, chain.bones[0]), (chain.target, chain.subtarget)]
        moved_by = set(walk(roots, movers))
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


def in_rounds(chains: Sequence[RigChain]) -> tuple[list[list[RigChain]], list[RigChain]]:
    """Return chains of any armatures in rounds, as `in_order` does, and those that stand in a circle."""
    needs = {id(chain): _movers_among(chain, chains) for chain in chains}
    rounds: list[list[RigChain]] = []
    waiting = list(chains)
    while waiting:
        left = {id(chain) for chain in waiting}
        ready = [chain for chain in waiting if not needs[id(chain)] & left]
        if not ready:
            return rounds, waiting
        rounds.append(ready)
        done = set(ready)
        waiting = [chain for chain in waiting if chain not in done]
    return rounds, []


def _movers_among(chain: RigChain, chains: Sequence[RigChain]) -> set[int]:
    """Return the ids of the other chains that move what this one hangs on or follows."""
    if len(chains) == 1:
        return set()
    moved_by = set(walk([(chain.armature, chain.bones[0]), (chain.target, chain.subtarget)], movers))
    return {
        id(other)
        for other in chains
        if other is not chain and any((other.armature, bone) in moved_by for bone in other.bones)
    }


def refuse_moved_target(chain: RigChain) -> None:
    """Raise IK2DError for a chain that moves its own target, in whatever way."""
    moved_by = walk([(chain.target, chain.subtarget)], movers)
    refuse_own_target(chain.name, chain.armature, chain.bones, moved_by)


def refuse_shared(chains: Sequence[RigChain], taken: Mapping[str, str] | None = None) -> None:
    """Raise IK2DError for chains that share a bone; taken: {bone: name} of chains before them."""
    owners = dict(taken or {})
    for chain in chains:
        for bone in chain.bones:
            if bone in owners:
                raise IK2DError(
                    f"Chains '{owners[bone]}' and '{chain.name}' share the bone '{bone}'; disable one of them"
                )
            owners[bone] = chain.name


def _needed_by(chain: RigChain, owners: Mapping[str, str]) -> set[str]:
    """Return the names of the other chains that move what this one hangs on or follows.

    owners: {bone: name} of all chains.
    """
    roots = [(chain.armature, chain.bones[0]), (chain.target, chain.subtarget)]
    moved_by = {bone for ob, bone in walk(roots, movers) if ob == chain.armature}
    return {owners[bone] for bone in moved_by if bone in owners} - {chain.name}
