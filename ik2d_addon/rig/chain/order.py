# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of chains: after those that move their armature, root or target."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import bpy

from ...core import IK2DError
from .chain import RigChain, refuse_own_target
from .dependencies import Node, movers, walk

_Item = TypeVar("_Item", bound=Hashable)


def rounds_of(
    items: Sequence[_Item], needs: Callable[[_Item, _Item], bool]
) -> tuple[list[list[_Item]], list[_Item]]:
    """Return items in rounds, each after all that it needs, and those that form a circle.

    needs(item, other): whether an item comes after another one.
    """
    rounds: list[list[_Item]] = []
    waiting = list(items)
    while waiting:
        ready = [
            item for item in waiting if not any(needs(item, other) for other in waiting if other is not item)
        ]
        if not ready:
            break
        rounds.append(ready)
        waiting = [item for item in waiting if item not in ready]
    return rounds, waiting


def in_order(chains: Sequence[RigChain]) -> list[list[RigChain]]:
    """Return the chains of an armature in rounds: each depends only on chains of the rounds before.

    Raises IK2DError for chains that share a bone, for one that moves its own target, and for a
    circle of chains.
    """
    refuse_shared(chains)
    for chain in chains:
        refuse_moved_target(chain)
    rounds, circle = in_rounds(chains)
    _refuse_circle("chains", [chain.name for chain in circle])
    return rounds


def armatures_in_order(chains: Sequence[RigChain]) -> list[bpy.types.Object]:
    """Return the armatures of the chains, each after those whose chains move what its own chains need.

    Raises IK2DError where they need one another in a circle.
    """
    moved_by = {id(chain): _movers_of(chain) for chain in chains}
    needed = {
        (chain.armature, other.armature)
        for chain in chains
        for other in chains
        if _moves(other, moved_by[id(chain)])
    }
    armatures = list(dict.fromkeys(chain.armature for chain in chains))
    rounds, circle = rounds_of(armatures, lambda one, other: (one, other) in needed)
    _refuse_circle("chains of the armatures", [armature.name for armature in circle])
    return [armature for ready in rounds for armature in ready]


def in_rounds(chains: Sequence[RigChain]) -> tuple[list[list[RigChain]], list[RigChain]]:
    """Return chains of any armatures in rounds, as `in_order` does, and those that form a circle."""
    moved_by = {id(chain): _movers_of(chain) if len(chains) > 1 else set() for chain in chains}
    return rounds_of(chains, lambda chain, other: _moves(other, moved_by[id(chain)]))


def _movers_of(chain: RigChain) -> set[Node]:
    """Return all nodes that move a chain's root or its target."""
    return set(walk([(chain.armature, chain.bones[0]), (chain.target, chain.subtarget)], movers))


def _moves(chain: RigChain, movers_of_other: set[Node]) -> bool:
    return any((chain.armature, bone) in movers_of_other for bone in chain.bones)


def _refuse_circle(what: str, names: Sequence[str]) -> None:
    if names:
        circle = ", ".join(f"'{name}'" for name in names)
        raise IK2DError(f"The {what} {circle} depend on one another in a circle; disable one of them")


def refuse_moved_target(chain: RigChain) -> None:
    """Raise IK2DError for a chain that moves its own target in any way."""
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
