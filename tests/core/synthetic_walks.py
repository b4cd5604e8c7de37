# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of two feet made from a rule, with the frames in which each of them stands."""

from dataclasses import dataclass

import numpy as np

FPS = 30.0


@dataclass(frozen=True)
class Walk:
    """Places (frames, 2, 3) of two feet, and the frames (frames, 2) in which they stand."""

    places: np.ndarray
    times: np.ndarray
    stands: np.ndarray

    @property
    def all(self) -> tuple[np.ndarray, np.ndarray]:
        """Places and times, as the functions take them."""
        return self.places, self.times


def walk(
    rng=None, *, cycles=4, cycle=30, stance=(0.6, 0.6), stride=1.3, climb=0.0, lift=0.12, slip=0.0
) -> Walk:
    """Return a walk along x: each foot stands for its share of a cycle of frames, then swings by a stride.

    climb: height of one stride. slip: the way that a standing foot slides on, and the size of its noise by a
    twentieth of that.
    """
    count = cycles * cycle + 1
    places, stands = np.zeros((count, 2, 3)), np.zeros((count, 2), bool)
    for foot in range(2):
        turn = np.arange(count) / cycle + 0.5 * foot
        whole, part = np.floor(turn), turn % 1.0
        swing = np.clip((part - stance[foot]) / (1.0 - stance[foot]), 0.0, 1.0)
        eased = swing * swing * (3.0 - 2.0 * swing)
        stands[:, foot] = swing == 0.0
        along = whole + eased
        places[:, foot, 0] = stride * along + slip * np.minimum(part / stance[foot], 1.0) * (1.0 - eased)
        places[:, foot, 1] = 0.2 * (foot - 0.5)
        places[:, foot, 2] = climb * along + lift * np.sin(np.pi * swing) ** 2
    if rng is not None:
        places += rng.normal(0.0, slip / 20.0, places.shape)
    return Walk(places, np.arange(count) / FPS, stands)
