# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of a mask: where it is set without a break."""

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def runs(mask: Mask) -> list[tuple[int, int]]:
    """Return runs (first, end) of a mask (n,), ascending, `end` being the index after the last."""
    if not mask.any():
        return []
    edges = np.diff(np.concatenate(([False], mask, [False])).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))
