# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab that a file opens with, and its open panels: no script may choose them without a window."""

import ctypes
import re
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

_NAME = 64  # bytes of the name in a PanelCategoryStack, after the pointers to the next and the one before
_CLOSED = 1 << 2  # the flag of a panel


@contextmanager
def chosen(region: bpy.types.Region, tab: str) -> Iterator[None]:
    """Have a sidebar's region stored with a tab in front, for files that are saved meanwhile.

    region.active_panel_category can be written only where the sidebar has been drawn. What Blender writes is
    the region's list of tabs, the one in front first; here it gets a list of one, and its own one back.
    Raises RuntimeError where the layout of Blender's data is not as expected.
    """
    place, size = member("ARegion", "panels_category_active")
    if size != 2 * ctypes.sizeof(ctypes.c_void_p):
        raise RuntimeError("The sidebar's list of tabs is stored in another way in this Blender")
    with _of_one(region.as_pointer() + place, struct.pack(f"PP{_NAME}s", 0, 0, tab.encode())):
        yield


@contextmanager
def opened(region: bpy.types.Region, panel: str, closed: str) -> Iterator[None]:
    """Have a sidebar's region stored with a panel open that is closed by default, but a panel in it closed.

    Both are named by their classes. Raises RuntimeError as `chosen` does.
    """
    inner = ctypes.create_string_buffer(_panel(closed, flag=_CLOSED))
    (place, _), (children, size) = member("ARegion", "panels"), member("Panel", "children")
    if size != struct.calcsize("PP"):
        raise RuntimeError("A panel's panels are stored in another way in this Blender")
    outer = bytearray(_panel(panel))
    struct.pack_into("PP", outer, children, ctypes.addressof(inner), ctypes.addressof(inner))
    with _of_one(region.as_pointer() + place, bytes(outer)):
        yield


def _panel(name: str, flag: int = 0) -> bytes:
    """Return one of Blender's panels as bytes."""
    _, types, sizes, _ = _layout()
    stored_panel = bytearray(sizes[types.index("Panel")])
    struct.pack_into(f"{_NAME}s", stored_panel, member("Panel", "panelname[64]")[0], name.encode())
    struct.pack_into("h", stored_panel, member("Panel", "flag")[0], flag)
    return bytes(stored_panel)


@contextmanager
def _of_one(place: int, item: bytes) -> Iterator[None]:
    """Have a list of Blender's hold one item meanwhile."""
    entry = ctypes.create_string_buffer(item, len(item))
    ends = (ctypes.c_void_p * 2).from_address(place)
    before = tuple(ends)
    ends[0] = ends[1] = ctypes.addressof(entry)
    try:
        yield
    finally:
        ends[0], ends[1] = before


def stored(region: bpy.types.Region) -> str:
    """Return the tab that is in front in a sidebar, as its file has it; "" where it has none."""
    place, _ = member("ARegion", "panels_category_active")
    first = ctypes.c_void_p.from_address(region.as_pointer() + place).value
    return ctypes.string_at(first + struct.calcsize("PP")).decode() if first else ""


def set_width(region: bpy.types.Region, pixels: int) -> None:
    """Set the width of a sidebar as its file has it, in pixels at scale 1; scripts can only read it.

    Raises RuntimeError as `chosen` does.
    """
    place, size = member("ARegion", "sizex")
    if size != ctypes.sizeof(ctypes.c_short):
        raise RuntimeError("The sidebar's width is stored in another way in this Blender")
    ctypes.c_short.from_address(region.as_pointer() + place).value = pixels


def panels(region: bpy.types.Region) -> dict[str, bool]:
    """Return whether a region's panels are open, by their classes, as its file has them."""
    return dict(_states(region.as_pointer() + member("ARegion", "panels")[0]))


def _states(place: int) -> Iterator[tuple[str, bool]]:
    """Yield (class, whether it is open) of the panels of a list and of those in them."""
    name, flag, children = (member("Panel", part)[0] for part in ("panelname[64]", "flag", "children"))
    item = ctypes.c_void_p.from_address(place).value
    while item:
        is_open = not ctypes.c_short.from_address(item + flag).value & _CLOSED
        yield ctypes.string_at(item + name).decode(), is_open
        yield from _states(item + children)
        item = ctypes.c_void_p.from_address(item).value


def member(struct_name: str, name: str) -> tuple[int, int]:
    """Return (offset, size) in bytes of a member of one of Blender's structs, as its own files say."""
    names, types, sizes, structs = _layout()
    for kind, members in structs:
        if types[kind] != struct_name:
            continue
        offset = 0
        for member_kind, member_name in members:
            full = names[member_name]
            size = 8 if full.startswith(("*", "(")) else sizes[member_kind]
            for count in re.findall(r"\[(\d+)\]", full):
                size *= int(count)
            if full == name:
                return offset, size
            offset += size
    raise RuntimeError(f"This Blender has no {struct_name}.{name}")


def _layout() -> tuple[list[str], list[str], list[int], list[tuple[int, list[tuple[int, int]]]]]:
    """Return names, types, their sizes and structs from the description that each .blend carries."""
    text = bpy.data.texts.new("Something to write")  # Blender 4.2 crashes where there is nothing
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.blend"
        bpy.data.libraries.write(str(path), {text}, compress=False)
        content = path.read_bytes()
    bpy.data.texts.remove(text)
    data = content[content.index(b"SDNANAME") :]
    names, at = _texts(data, 8)
    types, at = _texts(data, at + 4)  # after "TYPE"
    at += 4  # "TLEN"
    sizes = list(struct.unpack_from(f"<{len(types)}H", data, at))
    at = _aligned(at + 2 * len(types)) + 4  # "STRC"
    (count,) = struct.unpack_from("<I", data, at)
    at, structs = at + 4, []
    for _ in range(count):
        kind, length = struct.unpack_from("<HH", data, at)
        numbers = struct.unpack_from(f"<{2 * length}H", data, at + 4)
        structs.append((kind, list(zip(numbers[::2], numbers[1::2], strict=True))))
        at += 4 + 4 * length
    return names, types, sizes, structs


def _texts(data: bytes, at: int) -> tuple[list[str], int]:
    """Return the counted texts at a place, and where what follows them begins."""
    (count,) = struct.unpack_from("<I", data, at)
    texts, at = [], at + 4
    for _ in range(count):
        end = data.index(b"\0", at)
        texts.append(data[at:end].decode())
        at = end + 1
    return texts, _aligned(at)


def _aligned(at: int) -> int:
    return -(-at // 4) * 4
