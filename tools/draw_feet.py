# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw a foot's path before and after it is held, docs/feet.png, and print the table of recorded clips.

    python tools/draw_feet.py

The clips are those of tests/data/motion. tests/core/test_docs.py fails while the table in docs/riggers.md is
not the one that this prints. Needs matplotlib.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "feet.png"
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "core")]

from contact_measures import agreement, slide  # noqa: E402
from recorded_motion import CLIPS, POINTS, clip, marks  # noqa: E402

from ik2d_addon.core.contacts import find_contacts, held  # noqa: E402
from ik2d_addon.core.contacts.runs import runs  # noqa: E402

SHOWN, POINT = "healthy", "heel.L"


def table() -> Iterator[str]:
    """Yield the rows of the table: the contacts found, and slides before and after in millimetres."""
    yield "| clip | F1 | slide in found contacts | held | slide in marked contacts | held | moved by up to |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name in CLIPS:
        places, times = clip(name)
        wanted, found = marks(name), find_contacts(places, times)
        after = held(places, found, times)
        moved = float(((after - places) ** 2).sum(axis=2).max() ** 0.5)
        figures = (
            f"{slide(places, found) * 1e3:.0f} mm",
            f"{slide(after, found) * 1e3:.3f} mm",
            f"{slide(places, wanted) * 1e3:.0f} mm",
            f"{slide(after, wanted) * 1e3:.0f} mm",
            f"{moved * 1e3:.0f} mm",
        )
        yield f"| {name} | {agreement(found, wanted):.3f} | {' | '.join(figures)} |"


def draw() -> None:
    """Draw the path of one heel from the side, and each of its contacts from near."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    places, times = clip(SHOWN)
    point = POINTS.index(POINT)
    found = find_contacts(places, times)
    paths = {"recorded": places, "held": held(places, found, times)}
    contacts = runs(found[:, point])
    figure = plt.figure(figsize=(11, 5.5), layout="constrained")
    grid = figure.add_gridspec(2, len(contacts))
    side = figure.add_subplot(grid[0, :])
    for (label, path), color, style in zip(paths.items(), ("#c76a15", "#3b7dd8"), ("-", "--"), strict=True):
        side.plot(path[:, point, 0] * 1e3, path[:, point, 2] * 1e3, style, color=color, label=label)
        for i, (first, end) in enumerate(contacts):
            near = figure.axes[i + 1] if len(figure.axes) > i + 1 else figure.add_subplot(grid[1, i])
            shown = slice(max(first - 3, 0), end + 3)
            near.plot(path[shown, point, 0] * 1e3, path[shown, point, 2] * 1e3, "-", color=color, lw=0.8)
            near.plot(
                path[first:end, point, 0] * 1e3, path[first:end, point, 2] * 1e3, "o", color=color, ms=4
            )
            middle, floor = path[first:end, point, 0].mean() * 1e3, path[first:end, point, 2].mean() * 1e3
            near.set(xlim=(middle - 45, middle + 45), ylim=(floor - 25, floor + 25), xlabel="mm")
            near.set_title(f"contact, frames {first} to {end - 1}", fontsize=10)
    side.set(xlabel="along the walk, mm", ylabel="height, mm")
    side.set_title("The left heel of a walk, from the side; below, its contacts from near (a dot a frame)")
    side.legend()
    figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    draw()
    print("\n".join(table()))
