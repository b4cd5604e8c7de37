# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of numbers by frame, kept within a bound: the blocks that were used least lately go first."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]
# A scene's session UID, and its frame as its actions count it.
Frame = tuple[int, float]
# A scene's session UID, its range, and how its time is remapped.
RangeKey = tuple[int, int, int, int, int]

# So many frames are a block; one alone is used for frames that come one by one.
BLOCK = 64


class KeptRows:
    """Rows (width,) in 32 bits, as Blender keeps what they hold."""

    def __init__(self, width: int, most: int) -> None:
        """Keep rows of so many numbers, in `most` bytes at most."""
        self._width = width
        self._most = max(1, most // (4 * width * BLOCK))  # blocks
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self._blocks: OrderedDict[int, NDArray[np.float32]] = OrderedDict()
        self._frames: dict[int, list[Frame]] = {}
        self._places: dict[Frame, tuple[int, int]] = {}
        self._number = 0
        self._open: int | None = None  # the block that single rows are added to

    @property
    def most(self) -> int:
        """How many frames there is room for."""
        return BLOCK * self._most

    def __contains__(self, frame: Frame) -> bool:
        return frame in self._places

    def find(self, frame: Frame) -> Row | None:
        """Return the row of a frame, which may be changed in place; None where it is not kept."""
        place = self._places.get(frame)
        if place is None:
            return None
        number, row = place
        if len(self._blocks) == self._most:
            self._blocks.move_to_end(number)
        found: Row = self._blocks[number][row]
        return found

    def add(self, frame: Frame, row: Sequence[float] | Row) -> None:
        """Keep the row of one frame."""
        number = self._open
        if number is None or number not in self._blocks or len(self._frames[number]) == BLOCK:
            number = self._open = self._new(BLOCK)
        frames = self._frames[number]
        self._blocks[number][len(frames)] = row
        self._places[frame] = number, len(frames)
        frames.append(frame)

    def add_block(self, frames: Sequence[Frame], rows: NDArray[np.float64]) -> None:
        """Keep rows (frames, width) at once."""
        for first in range(0, len(frames), BLOCK):
            some = slice(first, first + BLOCK)
            number = self._new(len(frames[some]))
            self._blocks[number][:] = rows[some]
            self._frames[number] += frames[some]
            self._places.update((frame, (number, row)) for row, frame in enumerate(frames[some]))

    def _new(self, count: int) -> int:
        """Return the number of a new block, after the one least used has gone where there are too many."""
        while len(self._blocks) >= self._most:
            gone, _ = self._blocks.popitem(last=False)
            for frame in self._frames.pop(gone):
                if self._places.get(frame, (None,))[0] == gone:
                    del self._places[frame]
        self._number += 1
        self._blocks[self._number] = np.empty((count, self._width), np.float32)
        self._frames[self._number] = []
        return self._number
