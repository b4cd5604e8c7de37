# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of chains: after those that move their armature, root or target."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import bpy

from ...core.words import noted, quoted, refusal
from .chain import RigChain
from .checks.targets import refuse_own_target
from .dependencies import Movers, Node, walk

_Item = TypeVar("_Item", bound=Hashable)


def rounds_of(
    items: Iterable[_Item], needs: Callable[[_Item], Iterable[_Item]]
) -> tuple[list[list[_Item]], list[_Item]]:
    """Return items in rounds, each after all that it needs, and those that form a circle.

    needs(item): those that it comes after; itself does not count.
    """
    rounds: list[list[_Item]] = []
    waiting = {item: {other for other in needs(item) if other != item} for item in items}
    while waiting:
        ready = [item for item, others in waiting.items() if others.isdisjoint(waiting)]
        if not ready:
            break
        rounds.append(ready)
        for item in ready:
            del waiting[item]
    return rounds, list(waiting)


def by_armature(chains: Iterable[RigChain]) -> dict[bpy.types.Object, list[RigChain]]:
    """Return the chains of each armature."""
    owned: dict[bpy.types.Object, list[RigChain]] = {}
    for chain in chains:
        owned.setdefault(chain.armature, []).append(chain)
    return owned


def in_order(chains: Sequence[RigChain]) -> list[list[RigChain]]:
    """Return chains in rounds: each depends only on chains of its armature in the rounds before.

    Raises IK2DError for chains that share a bone, for one that moves its own target, and for a
    circle of chains.
    """
    rounds: list[list[RigChain]] = []
    for its in by_armature(chains).values():
        refuse_shared(its)
        movers = Movers()
        for chain in its:
            refuse_moved_target(chain, movers)
        of_one, circle = in_rounds(its, movers)
        _refuse_circle(noted("chains"), [chain.name for chain in circle])
        rounds += [[] for _ in of_one[len(rounds) :]]
        for ready, more in zip(rounds, of_one, strict=False):
            ready += more
    return rounds


def armatures_in_rounds(chains: Sequence[RigChain]) -> list[list[bpy.types.Object]]:
    """Return the armatures of the chains in rounds, after those whose chains move what their own chains need.

    Raises IK2DError where they need one another in a circle.
    """
    movers_of = _movers_among(chains, Movers())
    needed = {chain.armature: set[bpy.types.Object]() for chain in chains}
    for chain in chains:
        needed[chain.armature].update(other.armature for other in movers_of(chain))
    rounds, circle = rounds_of(needed, needed.__getitem__)
    _refuse_circle(noted("chains of the armatures"), [armature.name for armature in circle])
    return rounds


def in_rounds(
    chains: Sequence[RigChain], movers: Movers | None = None
) -> tuple[list[list[RigChain]], list[RigChain]]:
    """Return chains of any armatures in rounds, as `in_order` does, and those that form a circle."""
    return rounds_of(chains, _movers_among(chains, movers or Movers()) if len(chains) > 1 else lambda _: ())


def _movers_among(chains: Sequence[RigChain], movers: Movers) -> Callable[[RigChain], Collection[RigChain]]:
    """Return a function that finds those of the chains that move a chain's root or its target."""
    owners: dict[Node, list[RigChain]] = {}
    for chain in chains:
        for bone in chain.turned_bones:
            owners.setdefault((chain.armature, bone), []).append(chain)

    def places(chain: RigChain) -> Iterator[Node]:
        """Yield the nodes that a chain follows; a bone whose head stays where it is gives way to its movers.

        The turn of a bone about its own head moves no chain that follows its place alone.
        """
        turns = chain.follows_rotation or chain.foot is not None
        for node in chain.followed:
            if turns or not _only_turned(node, owners.get(node, ())):
                yield node
            else:
                yield from movers(node)

    def found(chain: RigChain) -> Collection[RigChain]:
        nodes = walk([(chain.armature, chain.bones[0]), *places(chain)], movers)
        return {owner for node in nodes for owner in owners.get(node, ())}

    return found


def _only_turned(node: Node, owners: Sequence[RigChain]) -> bool:
    """Return whether chains turn a bone about its head alone: it is their first, and nothing slides."""
    return bool(owners) and all(node[1] == owner.bones[0] and owner.slides is None for owner in owners)


def _refuse_circle(what: str, names: Sequence[str]) -> None:
    if names:
        raise refusal(
            "The {what} {circle} depend on one another in a circle; disable one of them",
            what=what,
            circle=quoted(names),
        )


def refuse_moved_target(chain: RigChain, movers: Movers | None = None) -> None:
    """Raise IK2DError for a chain that moves its own target or pole in any way. movers: known ones."""
    movers = movers or Movers()
    for role, node in chain.roles.items():
        moved_by, post = walk([node], movers), chain.post_above
        turned = chain.armature, chain.turned_bones
        refuse_own_target(chain.name, *turned, moved_by, role, post.bone if post else "")


def refuse_shared(chains: Sequence[RigChain], taken: Mapping[str, str] | None = None) -> None:
    """Raise IK2DError for chains that share a bone; taken: {bone: name} of chains before them."""
    owners: dict[str, str] = {}
    for chain in chains:
        for bone in chain.turned_bones:
            owner = owners.get(bone) or (taken or {}).get(bone)
            if owner is not None:
                posts = {each.post_above.bone for each in chains if each.post_above is not None}
                template = noted(
                    "Chains '{owner}' and '{chain}' share the bone '{bone}'; disable one of them"
                )
                if bone in posts:
                    template = noted(
                        "Chains '{owner}' and '{chain}' both turn '{bone}', which is a post; set Bends In of "
                        "one to a plane that stays, or disable one"
                    )
                raise refusal(template, owner=owner, chain=chain.name, bone=bone)
            owners[bone] = chain.name
