# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the rooms of the package, the folders in them, and which room imports which: docs/rooms.svg.

    python tools/draw_rooms.py

The arrows and the order of folders are read from the imports. tests/core/test_docs.py fails while the picture
in docs/ is not the one that this draws.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ik2d_addon"
PICTURE = ROOT / "docs" / "rooms.svg"
# From the top down: the name of each room, and what it is.
ROOMS = {
    "cli": "the command line",
    "features": "a folder for each thing that you can do",
    "ui": "what the interface shares: settings, context, text",
    "live": "solve one frame when something moves",
    "bake": "targets over frames to keys, and a report",
    "rig": "the bridge to Blender: read and write, no solving",
    "core": "the solvers: numpy alone",
}
# One for the arrows to each room, told apart and seen on white and on black.
COLORS = ("#8a8f98", "#d5484f", "#9a5fd0", "#c76a15", "#3d9a50", "#1a8fa0", "#3b7dd8")
ROOM, LANE, NAME = 760, 32, 150  # widths of a room, of an arrow's way, and of a room's name
FONT, SMALL, LETTER = 26, 21, 0.68  # sizes of text; how wide a letter is
PAD, GAP, FOLDER, STUB = 16, 34, 40, 17  # around text, between rooms, a folder's height, between arrows


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield what a file of the package imports from the package, as paths below it."""
    folder = path.parent.relative_to(PACKAGE).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = folder[: len(folder) - node.level + 1]
            module = tuple(node.module.split(".")) if node.module else ()
            yield from ((*above, *module, alias.name) for alias in node.names)


def needs(*above: str) -> dict[str, set[str]]:
    """Return the folders of a folder, each with those of its neighbors that it imports from."""
    folders = sorted(path.parent.name for path in PACKAGE.joinpath(*above).glob("*/__init__.py"))
    found: dict[str, set[str]] = {name: set() for name in folders}
    depth = len(above)
    for name in folders:
        for path in PACKAGE.joinpath(*above, name).rglob("*.py"):
            others = (one[depth] for one in imports(path) if one[:depth] == above and len(one) > depth)
            found[name].update(set(others) & found.keys() - {name})
    return found


def from_left(room: str) -> list[str]:
    """Return the folders of a room, each before those that it imports from."""
    graph, order = needs(room), []
    while graph:
        free = [name for name in graph if not any(name in others for others in graph.values())]
        order += free or sorted(graph)
        graph = {name: others for name, others in graph.items() if name not in order}
    return order


def in_rows(names: list[str]) -> list[list[tuple[str, float, float]]]:
    """Return the boxes (name, left, width) of a room's folders, as many in a row as there is space for."""
    rows: list[list[tuple[str, float, float]]] = []
    left = 2.0 * ROOM
    for name in names:
        width = len(name) * LETTER * SMALL + 2 * PAD
        if left + width > ROOM - PAD:
            rows.append([])
            left = PAD
        rows[-1].append((name, left, width))
        left += width + 12
    return rows


def text(x: float, y: float, words: str, size: int, style: str = "") -> str:
    """Return a line of text; y is its middle."""
    return f'<text x="{x:g}" y="{y + 0.35 * size:g}" font-size="{size}"{style}>{words}</text>'


def box(x: float, y: float, width: float, height: float, style: str) -> str:
    """Return a box with round corners."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" {style}/>'


def drawn() -> str:
    """Return the picture, as the imports are now."""
    graph, rooms = needs(), list(ROOMS)
    assert set(rooms) == set(graph), "name all rooms in ROOMS"
    parts, places, y = [], {}, 4.0
    for room in rooms:
        rows = in_rows(from_left(room))
        height = max(PAD + FONT + PAD + (FOLDER + 10) * len(rows), STUB * (len(graph[room]) + 2))
        places[room] = (y, height)
        parts.append(box(4, y, ROOM, height, 'fill="#eef1f6" stroke="#5b6675" stroke-width="2"'))
        parts.append(text(4 + PAD, y + PAD + FONT / 2, room, FONT, ' font-weight="bold"'))
        parts.append(text(4 + PAD + NAME, y + PAD + FONT / 2, ROOMS[room], SMALL))
        for i, row in enumerate(rows):
            top = y + PAD + FONT + 12 + (FOLDER + 10) * i
            for name, left, width in row:
                parts.append(box(4 + left, top, width, FOLDER, 'fill="#ffffff" stroke="#9aa5b4"'))
                parts.append(
                    text(4 + left + width / 2, top + FOLDER / 2, name, SMALL, ' text-anchor="middle"')
                )
        y += height + GAP
    used = [room for room in rooms if any(room in others for others in graph.values())]
    for place, room in enumerate(used):  # the lane of each room that is imported, the lowest room's outermost
        color, x = COLORS[rooms.index(room)], 4 + ROOM + LANE * (place + 1)
        line = f'stroke="{color}" fill="none" stroke-width="3"'
        top, height = places[room]
        end = top + height - STUB
        begins = []
        for other in rooms:
            if room in graph[other]:
                step = sorted(graph[other], key=rooms.index, reverse=True).index(room)  # the outermost on top
                begins.append(places[other][0] + STUB * (step + 1))
                parts.append(f'<path d="M{4 + ROOM} {begins[-1]:g}H{x:g}" {line}/>')
                parts.append(f'<circle cx="{x:g}" cy="{begins[-1]:g}" r="5" fill="{color}"/>')
        parts.append(f'<path d="M{x:g} {min(begins):g}V{end:g}H{4 + ROOM + 12}" {line}/>')
        head = f"M{4 + ROOM + 2} {end:g}l14 -7v14z"
        parts.append(f'<path d="{head}" fill="{color}"/>')
    words = 'font-family="Helvetica, Arial, DejaVu Sans, sans-serif" fill="#1c2530"'
    width, height = 4 + ROOM + LANE * len(used) + 9, y - GAP + 4
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    title = "<title>The rooms of ik2d_addon, and which imports which</title>"
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {words}>', title, *parts, "</svg>", ""]
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
