# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain that turns over from one bend to the other, over some frames: through the stretched chain.

At each of them it is solved for both sides. Each joint but the root is between its two angles, by how far
the chain is turned over: from +a to -a it passes 0, the straight joint. The root then points the tip at the
target. A chain that turns over is longer than the way to its target: the report has the miss.
"""

import numpy as np
from numpy.typing import NDArray

from ...core.arithmetic import summed_up
from ...core.inputs import Floats, wrapped
from ...rig.pose.kinematics import Linkage

# A tip nearer to the root than this part of the chain's length has no direction.
_NOWHERE = 1e-6


def shares(bend: Floats) -> Floats:
    """Return the share (frames,), 0..0.5, of the other side's pose for bends -1..+1."""
    share: Floats = 0.5 * (1.0 - np.abs(bend))
    return share


def between(nearer: Floats, other: Floats, share: Floats, held: NDArray[np.bool_]) -> Floats:
    """Return angles (frames, n) between those of both sides, through the straight joint.

    share: (frames,) of the other side's. held: (n,) joints whose angles are numbers within limits; the
    root, where free, goes the shorter way round.
    """
    way = np.where(held, other - nearer, wrapped(other) - wrapped(nearer))
    if not held[0]:
        way[:, 0] = np.unwrap(wrapped(other[:, 0] - nearer[:, 0]))
    angles: Floats = nearer + share[:, None] * way
    return angles


def turned_by(linkage: Linkage, change: Floats) -> Floats:
    """Return the changes of local turns (frames, n) for changes of angles (frames, n)."""
    return linkage.relative(summed_up(np.array(change.T, order="C")).T)


def root_turns(tips: Floats, targets: Floats, size: float) -> Floats:
    """Return the root's turns (frames,) that point tips (frames, 2) at targets (frames, 2)."""
    known = np.minimum(np.hypot(*tips.T), np.hypot(*targets.T)) > _NOWHERE * size
    turns = np.arctan2(targets[:, 1], targets[:, 0]) - np.arctan2(tips[:, 1], tips[:, 0])
    return np.where(known, wrapped(turns), 0.0)


def going_on_free(turns: Floats, held: NDArray[np.bool_]) -> Floats:
    """Return turns (frames, n) unwrapped over the frames, except those of held joints."""
    on = turns.copy()
    on[:, ~held] = np.unwrap(turns[:, ~held], axis=0)
    return on
