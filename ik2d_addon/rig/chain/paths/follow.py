# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of an armature's list of chains: what was moved since tells which paths to rewrite.

Each chain has a number of its own (`uid`). The armature stores the list as it was when all paths were right
(`chain_order`). The two are compared before anything reads a path, so it does not matter who moved a chain.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import compress, count, repeat
from operator import attrgetter, itemgetter, ne
from typing import Any

import bpy

from ....core import IK2DError
from .moves import Entry, ListMoves, PathMoves
from .owners import with_settings
from .rewriting import rewrite, stuck

# Called after paths were rewritten.
followed: list[Callable[[], None]] = []

_uid = attrgetter("uid")
_name = attrgetter("name")
_users = attrgetter("users")


def follow_list(armature: bpy.types.Object) -> bool:
    """Have keys, drivers and keying sets follow the chains that were moved; return whether any had to.

    What cannot follow is said in `paths_left`. Changes nothing on a linked armature.
    """
    settings = armature.ik2d
    if not armature.is_editable:
        return False
    if _record(armature) == settings.chain_order:
        _KNOWN.note(armature)
        return False
    before = _read(settings.chain_order)
    _number_chains(armature, before)
    settings.chain_order = _record(armature)
    _KNOWN.note(armature)
    now = _read(settings.chain_order)
    # New chains come last. There may be many before them: look at the others alone.
    same = next(compress(count(), map(ne, before, now)), min(len(before), len(now)))
    if not _moves(before[same:], now[same:]).any:
        return False
    _rewrite(armature, _moves(before, now))
    return True


def follow_joints_list(chain: Any, before: Sequence[str], renamed: bool = False) -> None:
    """Have paths follow a chain's joints, whose names, root to tip, were those `before`.

    renamed: whether each is where it was, and its name alone may be another.
    """
    armature, now = chain.id_data, chain.joints.keys()
    places = range(len(now)) if renamed else [now.index(name) if name in now else None for name in before]
    moves = ListMoves(places, before, now)
    if moves.any and armature.is_editable:
        names = armature.ik2d.chains.keys()
        index = list(armature.ik2d.chains).index(chain)
        _rewrite(armature, PathMoves(ListMoves(range(len(names)), names, names), {index: moves}))


def refuse_stuck(armature: bpy.types.Object, order: Sequence[int]) -> None:
    """Raise IK2DError where keys that the armature plays could not follow a new order of its chains.

    order: the indices of the chains that stay, in their new order.
    """
    entries = [Entry(i + 1, name) for i, name in enumerate(map(_name, armature.ik2d.chains))]
    if sentences := stuck(armature, PathMoves.between(entries, [entries[i] for i in order])):
        raise IK2DError(" ".join(sentences))


def _rewrite(armature: bpy.types.Object, moves: PathMoves) -> None:
    armature.ik2d.paths_left = "\n".join(rewrite(armature, moves))
    for tell in followed:
        tell()


def _moves(before: Sequence[Sequence[Any]], now: Sequence[Sequence[Any]]) -> PathMoves:
    return PathMoves.between([Entry(*entry) for entry in before], [Entry(*entry) for entry in now])


# --- The record --------------------------------------------------------------


def _record(armature: bpy.types.Object) -> str:
    """Return the list of chains as text; "" for no chains.

    Those of a library override go by their names alone.
    """
    chains: Any = armature.ik2d.chains  # without a loop in Python: asked for each new chain
    if not len(chains):
        return ""
    uids = repeat(0) if armature.override_library else map(_uid, chains)
    return json.dumps(list(zip(uids, map(_name, chains), strict=False)))


def _read(record: str) -> list[list[Any]]:
    """Return the numbers and names of a record; none of one that is empty or damaged."""
    with suppress(ValueError, TypeError):
        entries = json.loads(record)
        uids, names = zip(*entries, strict=True)
        if set(map(type, uids)) == {int} and set(map(type, names)) == {str}:
            return list(entries)
    return []


def _number_chains(armature: bpy.types.Object, before: Sequence[Sequence[Any]]) -> None:
    """Give a number to each chain that has none, or has that of the chain that it is a copy of."""
    chains: Any = armature.ik2d.chains
    if armature.override_library:
        return
    uids = list(map(_uid, chains))
    highest = max((*uids, *map(itemgetter(0), before), 0))  # numbers of removed chains are not used again
    if len(set(uids)) == len(uids):  # at most one has none
        if 0 in uids:
            chains[uids.index(0)].uid = highest + 1
        return
    names: dict[int, str] = {int(uid): str(name) for uid, name in before}
    taken: dict[int, int] = {}  # the chain that keeps each number: of several the one of the known name
    for i, uid in enumerate(uids):
        if uid and (uid not in taken or chains[i].name == names.get(uid)):
            taken[uid] = i
    for i, uid in enumerate(uids):
        if taken.get(uid) != i:
            highest += 1
            chains[i].uid = highest


class _Known:
    """The editable armatures with settings, each with the names in its list when it was last recorded.

    To look through all objects, or to compare whole records, takes too long on each frame.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Look for them anew: after loading and undo all are other objects."""
        self._names: dict[bpy.types.Object, list[str]] | None = None
        self._users: list[int] = []

    def note(self, armature: bpy.types.Object) -> None:
        """Note that an armature's record is right."""
        if self._names is not None:
            self._names[armature] = _listed(armature)

    def changed(self) -> list[bpy.types.Object]:
        """Return the armatures whose record may be wrong."""
        users = list(map(_users, bpy.data.armatures))  # others where an armature object came or went
        if self._names is None or users != self._users:
            self._names, self._users = {}, users
            return [ob for ob in with_settings(bpy.data.objects) if ob.is_editable]
        return [ob for ob, names in self._names.items() if _listed(ob) != names]


def _listed(armature: bpy.types.Object) -> list[str]:
    """Return the names in an armature's list; none where one is no text."""
    try:
        return list(armature.ik2d.chains.keys())
    except UnicodeDecodeError:
        return []


_KNOWN = _Known()
forget_known = _KNOWN.forget


def follow_changed_lists() -> None:
    """Have paths follow the chains of all armatures; fast where no list has changed."""
    for _ in range(2):
        try:
            for armature in _KNOWN.changed():
                with suppress(UnicodeDecodeError):  # a name that is no text: the panel says it
                    follow_list(armature)
            return
        except ReferenceError:  # an armature was deleted
            _KNOWN.forget()
