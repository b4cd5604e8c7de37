# SPDX-License-Identifier: GPL-3.0-or-later
"""PathMoves in the lists of chains and joints, and the data paths that follow from them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# An item of a list in a data path, by its index or its name; the second group is the name.
_KEY = r'\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\]'
# At the start of a path, or after a part that ends in a dot: kept curves have one.
_CHAIN = re.compile(rf"(?:^|(?<=\.))ik2d\.chains{_KEY}")
_JOINT = re.compile(rf"\.joints{_KEY}")


@dataclass(frozen=True)
class Entry:
    """A chain as the record of the list has it. uid: 0 for one that goes by its name."""

    uid: int
    name: str


@dataclass(frozen=True)
class ListMoves:
    """Where the items of a list have gone: new indices by the old ones, None for removed items."""

    places: Sequence[int | None]
    before: Sequence[str]
    now: Sequence[str]

    @property
    def any(self) -> bool:
        """Whether an item was moved, removed or renamed."""
        return any(place != i for i, place in enumerate(self.places)) or any(
            self.now[place] != self.before[i] for i, place in enumerate(self.places) if place is not None
        )

    def index_of(self, match: re.Match[str]) -> int | None:
        """Return the old index of the item that a matched path names; None for no item of the list."""
        if match[1] is not None:
            return int(match[1]) if int(match[1]) < len(self.places) else None
        name = unescaped(match[2])
        return self.before.index(name) if name in self.before else None

    def key(self, match: re.Match[str], index: int) -> str | None:
        """Return the item's new key, of the same kind as the old one; None for a removed item."""
        place = self.places[index]
        if place is None:
            return None
        return f"[{place}]" if match[1] is not None else f'["{escaped(self.now[place])}"]'


@dataclass(frozen=True)
class PathMoves:
    """Where the chains of an armature and their joints have gone. joints: by the old index of their chain."""

    chains: ListMoves
    joints: Mapping[int, ListMoves] = field(default_factory=dict)

    @classmethod
    def between(cls, before: Sequence[Entry], now: Sequence[Entry]) -> "PathMoves":
        """Return the moves from one record of the list to a later one."""
        names = [entry.name for entry in before], [entry.name for entry in now]
        return cls(ListMoves(_paired(before, now), *names))

    @property
    def any(self) -> bool:
        """Whether a path may have to change."""
        return self.chains.any or bool(self.joints)

    def path(self, path: str) -> str | None:
        """Return the data path that now leads to the same setting; None where its chain or joint is gone.

        Paths by index stay by index, those by name by name. A path that leads to no chain stays as it is; so
        does what stands before the chain, as in `ik2d_kept[3].ik2d.chains[1].influence`.
        """
        return self._path(path, gone_by_name=False)

    def path_to_read(self, path: str) -> str:
        """Return the path as `path` does; to a removed chain or joint by its name, as Blender leaves it."""
        return self._path(path, gone_by_name=True) or path

    def _path(self, path: str, gone_by_name: bool) -> str | None:
        named = _CHAIN.search(path)
        index = self.chains.index_of(named) if named is not None else None
        if named is None or index is None:
            return path
        key, rest = self.chains.key(named, index), path[named.end() :]
        if key is None:
            if not gone_by_name:
                return None
            key = f'["{escaped(self.chains.before[index])}"]'
        moved = self._joint_path(rest, index, gone_by_name)
        return None if moved is None else f"{path[: named.start()]}ik2d.chains{key}{moved}"

    def _joint_path(self, rest: str, index: int, gone_by_name: bool) -> str | None:
        """Return the part of a path after the chain that was at an index."""
        joints, named = self.joints.get(index), _JOINT.match(rest)
        number = joints.index_of(named) if joints is not None and named is not None else None
        if joints is None or named is None or number is None:
            return rest
        key = joints.key(named, number)
        if key is None and gone_by_name:
            key = f'["{escaped(joints.before[number])}"]'
        return None if key is None else f".joints{key}{rest[named.end() :]}"


def _paired(before: Sequence[Entry], now: Sequence[Entry]) -> list[int | None]:
    """Return where each chain is now: by its number, else by its name."""
    numbers = {entry.uid: place for place, entry in enumerate(now) if entry.uid}
    by_name = _paired_names([entry.name for entry in before], [entry.name for entry in now])
    return [numbers.get(entry.uid) if entry.uid and numbers else by_name[i] for i, entry in enumerate(before)]


def _paired_names(before: Sequence[str], now: Sequence[str]) -> list[int | None]:
    """Return where each name is now; None for one that is gone.

    A new name in the place of one that is gone is the same item, renamed.
    """
    places = {name: place for place, name in reversed(list(enumerate(now)))}
    renamed, known = len(before) == len(now), set(before)
    return [
        places[name] if name in places else i if renamed and now[i] not in known else None
        for i, name in enumerate(before)
    ]


def escaped(name: str) -> str:
    """Return a name as a data path has it, between quotes."""
    return name.replace("\\", "\\\\").replace('"', '\\"')


def unescaped(name: str) -> str:
    """Return the name that a data path has between quotes."""
    return re.sub(r"\\(.)", r"\1", name)
