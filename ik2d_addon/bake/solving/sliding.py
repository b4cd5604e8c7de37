# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that slide, as a chain's solver sees them."""

from dataclasses import dataclass

import numpy as np

from ...core.inputs import Floats
from ...rig.pose.kinematics import Linkage

# A bone that slides by less than this angle (radians) off its heading is aimed as one that slides along it.
_ASKEW = 1e-3


@dataclass(frozen=True, eq=False)
class Sliding:
    """How a chain's bones slide at each frame."""

    gains: Floats  # (frames, n) how far bones slide for each unit of location; 1 for rigid ones
    askew: bool  # whether some bone slides in another direction than from joint to joint
    before: Floats | None  # (n,) the slides before the first frame, as locations have them


def read_sliding(linkage: Linkage, headings: Floats, before: Floats | None) -> Sliding:
    """Return how the bones of a linkage slide that has these headings (frames, n) before any joint turns.

    A bone slides in another direction than its heading where a child is off its tail. before: as in Sliding.
    """
    gains, still, askew = np.ones_like(headings), np.zeros_like(headings), False
    unslid = linkage.tips(still, still)
    ranges = linkage.slides.ranges if linkage.slides is not None else still[:0]
    for i in np.flatnonzero(ranges.any(axis=1)):
        unit = np.zeros_like(headings)
        unit[:, i] = 1.0
        moved = linkage.tips(still, unit) - unslid
        gains[:, i] = np.hypot(*moved.T)
        across = moved[:, 1] * np.cos(headings[:, i]) - moved[:, 0] * np.sin(headings[:, i])
        askew |= bool((np.abs(across) > _ASKEW * gains[:, i]).any())
    return Sliding(gains, askew, before)
