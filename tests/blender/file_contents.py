# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a .blend holds, as Blender reads it: the settings of all data, windows and screens too."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import bpy

Contents = dict[str, object]

# Where a thing is in memory, and what a session makes of it: not in the file.
_OF_THE_SESSION = {
    "rna_type",
    "bl_rna",
    "original",
    "session_uid",
    "tag",
    "is_evaluated",
    "depsgraph",
    "keyconfigs",
    "operators",
    "addon_keymaps",
    "is_interface_locked",
    "runtime",
}
# What Blender crashes on when it is read without a window, 4.2 on all of it, 4.5 on the last.
_NOT_TO_BE_READ = {
    *((("Mesh", "attributes"),) if bpy.app.version < (4, 5) else ()),
    ("SpaceProperties", "search_filter"),
    ("SpaceProperties", "tab_search_results"),
    ("ToolSettings", "uv_sculpt"),
    ("SpaceNodeEditor", "cursor_location"),
    # Not of the file: Blender's own keying sets, which may lead to what a file held that is closed by now;
    # and what comes from the display, which an image format's own settings may have none of.
    ("Scene", "keying_sets_all"),
    ("ColorManagedViewSettings", "support_emulation"),
}
_MANY = 4096  # numbers from which on only a digest is kept


def contents_of_file(path: Path) -> Contents:
    """Open a .blend with its windows; return the value of each setting in it, by the way that leads to it."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=True)
    return contents()


def contents(kinds: Collection[str] = ()) -> Contents:
    """Return the value of each setting of all data that is open, by the way that leads to it.

    kinds: names of the collections of bpy.data whose settings count, () for all; of the rest the users do.
    In a process that had many files open, scenes and windows may hold what Blender crashes on when read.
    """
    found: Contents = {
        "open/scene": bpy.context.window.scene.name,
        "open/view layer": bpy.context.window.view_layer.name,
        "open/workspace": bpy.context.window.workspace.name,
        "open/mode": bpy.context.mode,
        "open/compressed": _first_bytes(bpy.data.filepath) != b"BLENDER",
    }
    for prop in bpy.data.bl_rna.properties:
        if prop.type == 'COLLECTION' and prop.identifier != "all_ids":
            for block in getattr(bpy.data, prop.identifier):
                found[_reference(block)] = block.users
                if not kinds or prop.identifier in kinds:
                    found.update(_settings_of(block))
    return found


def changes(before: Contents, after: Contents) -> dict[str, tuple[object, object]]:
    """Return what differs, by the way that leads to it, as (before, after); ... where it is not there."""
    return {
        way: (before.get(way, ...), after.get(way, ...))
        for way in {**before, **after}
        if before.get(way, ...) != after.get(way, ...)
    }


def _reference(block: bpy.types.ID) -> str:
    return f"{block.id_type}:{block.name_full}"


def _settings_of(block: bpy.types.ID) -> Iterator[tuple[str, object]]:
    """Yield (way, value) of all settings of a data block and of what it holds, each by its shortest way."""
    seen = {_key(block): _reference(block)}
    waiting = deque([block])
    while waiting:
        struct = waiting.popleft()
        at = seen[_key(struct)]
        for way, value in _fields(struct, at):
            if not isinstance(value, bpy.types.bpy_struct):
                yield way, value
            elif isinstance(value, bpy.types.ID) and not value.is_embedded_data:
                yield way, _reference(value)
            elif _key(value) in seen:
                yield way, seen[_key(value)]
            else:
                seen[_key(value)] = way
                waiting.append(value)


def _key(struct: bpy.types.bpy_struct) -> tuple[int, str]:
    return struct.as_pointer(), struct.bl_rna.identifier


def _fields(struct: bpy.types.bpy_struct, at: str) -> Iterator[tuple[str, object]]:
    """Yield (way, value) of each field of a struct; structs and data blocks as they are."""
    with suppress(TypeError):  # where it cannot have custom properties; first, for some are made when read
        yield from ((f"{at}[{name!r}]", _plain(value)) for name, value in struct.items())
    for prop in struct.bl_rna.properties:
        if prop.identifier in _OF_THE_SESSION:
            continue
        if (struct.bl_rna.identifier, prop.identifier) in _NOT_TO_BE_READ:
            continue
        way = f"{at}.{prop.identifier}"
        try:
            value = getattr(struct, prop.identifier)
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            yield way, type(error).__name__
            continue
        if prop.type == 'COLLECTION':
            items = _named(value)
            yield f"{way}.names", list(items)
            yield from ((f"{way}[{name}]", item) for name, item in items.items())
        elif getattr(prop, "is_array", False):
            yield way, _array(value)
        else:
            yield way, sorted(value) if isinstance(value, set) else value


def _named(collection: Iterable) -> dict[str, object]:
    """Return the items of a collection by their names; by their numbers where names tell them not apart."""
    items = list(collection)
    names = [getattr(item, "name", None) for item in items]
    if all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names):
        return {repr(name): item for name, item in zip(names, items, strict=True)}
    return {str(number): item for number, item in enumerate(items)}


def _array(value: object) -> object:
    numbers = tuple(_flat(value))
    return numbers if len(numbers) < _MANY else sha256(repr(numbers).encode()).hexdigest()


def _flat(value: object) -> Iterator[object]:
    for item in value:
        if hasattr(item, "__len__"):
            yield from _flat(item)
        else:
            yield item


def _plain(value: object) -> object:
    """Return a custom property's value so that it can be compared."""
    if isinstance(value, bpy.types.ID):
        return _reference(value)
    if hasattr(value, "to_dict"):
        return {name: _plain(inner) for name, inner in value.items()}
    if hasattr(value, "to_list"):
        return value.to_list()
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def _first_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(7)
