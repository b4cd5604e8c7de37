# SPDX-License-Identifier: GPL-3.0-or-later
"""How well contacts agree, and how far feet slide in them."""

import numpy as np

from ik2d_addon.core.contacts.runs import runs


def agreement(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return F1 of two masks: twice what both hold over the sum of what each holds."""
    return 2.0 * float((found & wanted).sum()) / float(found.sum() + wanted.sum())


def slide(places: np.ndarray, contacts: np.ndarray) -> float:
    """Return how far apart two places of a point in one contact are at most."""
    stands = [
        places[first:end, point]
        for point in range(places.shape[1])
        for first, end in runs(contacts[:, point])
    ]
    return max(float(np.linalg.norm(path[:, None] - path, axis=2).max()) for path in stands)
