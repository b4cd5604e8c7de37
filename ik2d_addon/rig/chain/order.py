# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of chains: after those that move their armature, root or target."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import bpy

from ...core.words import noted, quoted, refusal
from .checks.targets import refuse_own_target
from .dependencies import Movers, Node, walk
from .post import Post

_Item = TypeVar("_Item", bound=Hashable)


class TurningBones(Hashable, Protocol):
    """What turns bones of an armature: a chain, or a mechanism."""

    @property
    def armature(self) -> bpy.types.Object: ...

    @property
    def name(self) -> str: ...

    @property
    def bones(self) -> Sequence[str]: ...

    @property
    def turned_bones(self) -> Sequence[str]: ...

    @property
    def followed(self) -> list[Node]: ...

    @property
    def roles(self) -> Mapping[str, Node]: ...

    @property
    def follows_rotation(self) -> bool: ...

    @property
    def foot(self) -> object | None: ...

    @property
    def slides(self) -> object | None: ...

    @property
    def post_above(self) -> Post | None: ...


_Turning = TypeVar("_Turning", bound=TurningBones)


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


def by_armature(chains: Iterable[_Turning]) -> dict[bpy.types.Object, list[_Turning]]:
    """Return the chains of each armature."""
    owned: dict[bpy.types.Object, list[_Turning]] = {}
    for chain in chains:
        owned.setdefault(chain.armature, []).append(chain)
    return owned


def in_order(chains: Sequence[_Turning]) -> list[list[_Turning]]:
    """Return chains, and mechanisms, in rounds: each depends only on those before of its armature.

    Raises IK2DError for chains that share a bone, for one that moves its own target, and for a
    circle of chains.
    """
    rounds: list[list[_Turning]] = []
    for its in by_armature(chains).values():
        refuse_shared(its)
        movers = Movers()
        for chain in its:
            refuse_moved_target(chain, movers)
        of_one, circle = in_rounds(its, movers)
        if circle:
            raise refusal(
                "The chains {circle} depend on one another in a circle: bones whose loop closes are a "
                "mechanism; press Make a Mechanism in the panel of one of them, or disable one",
                circle=quoted(chain.name for chain in circle),
            )
        rounds += [[] for _ in of_one[len(rounds) :]]
        for ready, more in zip(rounds, of_one, strict=False):
            ready += more
    return rounds


def armatures_in_rounds(chains: Sequence[TurningBones]) -> list[list[bpy.types.Object]]:
    """Return the armatures of the chains in rounds, after those whose chains move what their own chains need.

    Raises IK2DError where they need one another in a circle.
    """
    movers_of = _movers_among(chains, Movers())
    needed = {chain.armature: set[bpy.types.Object]() for chain in chains}
    for chain in chains:
        needed[chain.armature].update(other.armature for other in movers_of(chain))
    rounds, circle = rounds_of(needed, needed.__getitem__)
    if circle:
        raise refusal(
            "The chains of the armatures {circle} depend on one another in a circle; disable one of them",
            circle=quoted(armature.name for armature in circle),
        )
    return rounds


def in_rounds(
    chains: Sequence[_Turning], movers: Movers | None = None
) -> tuple[list[list[_Turning]], list[_Turning]]:
    """Return chains of any armatures in rounds, as `in_order` does, and those that form a circle."""
    return rounds_of(chains, _movers_among(chains, movers or Movers()) if len(chains) > 1 else lambda _: ())


def circle_among(chains: Sequence[_Turning]) -> list[_Turning]:
    """Return the chains that depend on one another in a circle, without those that only hang on it."""
    movers_of = _movers_among(chains, Movers())
    _, circle = rounds_of(chains, movers_of)
    needed = {chain: movers_of(chain) for chain in circle}
    while any(hanging := [one for one in circle if not any(one in needed[c] for c in circle if c != one)]):
        circle = [one for one in circle if one not in hanging]
    return circle


def _movers_among(chains: Sequence[_Turning], movers: Movers) -> Callable[[_Turning], Collection[_Turning]]:
    """Return a function that finds those of the chains that move a chain's root or its target."""
    owners: dict[Node, list[_Turning]] = {}
    for chain in chains:
        for bone in chain.turned_bones:
            owners.setdefault((chain.armature, bone), []).append(chain)

    def places(chain: _Turning) -> Iterator[Node]:
        """Yield the nodes that a chain follows; a bone whose head stays where it is gives way to its movers.

        The turn of a bone about its own head moves no chain that follows its place alone.
        """
        turns = chain.follows_rotation or chain.foot is not None
        for node in chain.followed:
            if turns or not _only_turned(node, owners.get(node, ())):
                yield node
            else:
                yield from movers(node)

    def found(chain: _Turning) -> Collection[_Turning]:
        nodes = walk([(chain.armature, chain.bones[0]), *places(chain)], movers)
        return {owner for node in nodes for owner in owners.get(node, ())}

    return found


def _only_turned(node: Node, owners: Sequence[TurningBones]) -> bool:
    """Return whether chains turn a bone about its head alone: it is their first, and nothing slides."""
    return bool(owners) and all(node[1] == owner.bones[0] and owner.slides is None for owner in owners)


def refuse_moved_target(chain: TurningBones, movers: Movers | None = None) -> None:
    """Raise IK2DError for a chain that moves its own target or pole in any way. movers: known ones."""
    movers = movers or Movers()
    for role, node in chain.roles.items():
        moved_by, post = walk([node], movers), chain.post_above
        turned = chain.armature, chain.turned_bones
        refuse_own_target(chain.name, *turned, moved_by, role, post.bone if post else "")


def refuse_shared(chains: Sequence[TurningBones], taken: Mapping[str, str] | None = None) -> None:
    """Raise IK2DError for chains or mechanisms that share a bone; taken: {bone: name} of those before."""
    owners: dict[str, str] = {}
    for chain in chains:
        for bone in chain.turned_bones:
            owner = owners.get(bone) or (taken or {}).get(bone)
            if owner is not None:
                posts = {each.post_above.bone for each in chains if each.post_above is not None}
                template = noted("'{owner}' and '{chain}' share the bone '{bone}'; disable one of them")
                if bone in posts:
                    template = noted(
                        "Chains '{owner}' and '{chain}' both turn '{bone}', which is a post; set Bends In of "
                        "one to a plane that stays, or disable one"
                    )
                raise refusal(template, owner=owner, chain=chain.name, bone=bone)
            owners[bone] = chain.name
