# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as keys of a chain's settings: found, read, and written."""

from collections.abc import Sequence

import numpy as np
from bpy.types import PropertyGroup

from ...core.contacts import find_contacts as found_in
from ...core.contacts.runs import Mask, runs
from ...core.inputs import Floats
from ...rig.animation.value_keys import ValueKeys
from ...rig.chain.foot.contacts import names_of
from .motion import ChainMotion

# A loop ends as it begins, but for travel, within this part of the reach.
_SAME = 2e-3
UP = np.array((0.0, 0.0, 1.0))
_GROUP = "IK 2D"


def found(motions: Sequence[ChainMotion], times: Floats, carried: Sequence[Floats], loop: bool) -> list[Mask]:
    """Return the contacts (m, k) of each chain's points.

    times: (m,) seconds. carried: (m, 3) the way of the ground under each, which is taken off first.
    """
    points = [motion.points - way[:, None] for motion, way in zip(motions, carried, strict=True)]
    size = min(motion.reach for motion in motions)
    mask = found_in(np.concatenate(points, axis=1), times, up=UP, size=size, loop=loop)
    ends = np.cumsum([motion.shape[1] for motion in points])
    return np.split(mask, ends[:-1], axis=1)


def is_loop(motions: Sequence[ChainMotion]) -> bool:
    """Return whether all chains end as they begin, apart from a way that they all travel."""
    if len(motions[0].tips) < 3:
        return False
    ways = np.concatenate([_ends(motion) for motion in motions])
    reach = min(motion.reach for motion in motions)
    bends = max(float(np.abs(motion.bends[-1] - motion.bends[0]).max(initial=0.0)) for motion in motions)
    apart = float(np.linalg.norm(ways - ways[0], axis=1).max())
    return apart <= _SAME * reach and bends <= _SAME


def _ends(motion: ChainMotion) -> Floats:
    """Return the ways (k, 3) from the first frame to the last, of a chain's points and its root."""
    ways = motion.points[-1] - motion.points[0]
    return np.vstack((ways, motion.roots[-1] - motion.roots[0]))


def contact_keys(chain: PropertyGroup, frames: Sequence[int], mask: Mask) -> list[ValueKeys]:
    """Return the keys of a chain's contacts (m, k): on the first frame, and wherever they change."""
    keyed = []
    for name, on in zip(names_of(chain), mask.T, strict=True):
        changes = np.append(True, on[1:] != on[:-1])
        changes[-1] = True  # the range's end, so that all keys in it are replaced
        at, path = np.flatnonzero(changes), f"{chain.path_from_id()}.foot.{name}"
        values = on[at].astype(np.float64)
        keyed.append(ValueKeys(chain.id_data, path, 0, [frames[i] for i in at], values, _GROUP, stepped=True))
    return keyed


def spans(frames: Sequence[int], on: Mask) -> list[tuple[int, int]]:
    """Return the first and the last frame of each contact in a mask (m,)."""
    return [(frames[first], frames[end - 1]) for first, end in runs(on)]
