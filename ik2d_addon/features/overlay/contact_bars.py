# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars over the frames on which a foot stands, at the bottom of the viewport, with the current frame."""

from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import PropertyGroup

from ...bake.request import chosen_range
from ...core.contacts.runs import runs
from ...core.inputs import Floats
from ...core.words import say
from ...rig.chain.foot.contacts import keyed, names_of

# At a scale of 1, in pixels: a bar's height, the gap to the next one, and the edges below (where Blender
# shows the last operator) and on both sides.
HEIGHT, GAP, BELOW, ASIDE = 8.0, 4.0, 60.0, 60.0
# Most frames that are looked at.
_MOST = 2000


@dataclass(frozen=True)
class ContactBars:
    """The contacts of a chain over a range of frames."""

    rows: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]  # words, and first and last frame of each
    first: int
    last: int
    frame: float  # the current one

    def boxes(
        self, left: float, right: float, scale: float
    ) -> tuple[list[tuple[str, Floats, Floats]], Floats]:
        """Return each row's words, ground (4,) and bars (m, 4); and the mark (4,) of the current frame.

        left, right: of the range of frames. All in pixels, as left, bottom, right and top.
        """
        step = (right - left) / (self.last - self.first + 1)
        boxes, low = [], BELOW * scale
        for words, spans in reversed(self.rows):
            top = low + HEIGHT * scale
            bars = [
                (left + (a - self.first) * step, low, left + (b + 1 - self.first) * step, top)
                for a, b in spans
            ]
            boxes.append(
                (words, np.array((left, low, right, top)), np.array(bars, np.float64).reshape(-1, 4))
            )
            low += (HEIGHT + GAP) * scale
        at = left + (min(max(self.frame, self.first), self.last) + 0.5 - self.first) * step
        mark = np.array((at - scale, (BELOW - GAP) * scale, at + scale, low))
        return boxes, mark


def contact_bars(chain: PropertyGroup, scene: bpy.types.Scene) -> ContactBars | None:
    """Return the bars of a chain's contacts; None where none are keyed."""
    first, last, _ = chosen_range(chain.id_data, scene)
    last = min(last, first + _MOST - 1)
    known = keyed(chain, scene, range(first, last + 1))
    if known is None:
        return None
    mask = known[0] & known[1][:, None]
    labels = {"contact": say("Foot"), "contact_heel": say("Heel"), "contact_toe": say("Toes")}
    rows = tuple(
        (labels[name], tuple((first + a, first + b - 1) for a, b in runs(on)))
        for name, on in zip(names_of(chain), mask.T, strict=True)
    )
    return ContactBars(rows, first, last, scene.frame_current_final)


def triangles(boxes: Floats) -> list[list[float]]:
    """Return the corners (6 m) of the two triangles of each box (m, 4)."""
    corners: list[list[float]] = (
        boxes[:, [[0, 1], [2, 1], [2, 3], [0, 1], [2, 3], [0, 3]]].reshape(-1, 2).tolist()
    )
    return corners
