# SPDX-License-Identifier: GPL-3.0-or-later
"""The causes of a tip that is not on its target, in words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...core import Status
from ...core.post import LIMITED as AT_LIMIT
from ...core.post import NEAREST
from ...core.words import listed, noted, say

OUT_OF_REACH, OFF_THE_PLANE, EASED = (
    noted("out of reach"),
    noted("off the plane"),
    noted("held back by softness"),
)
LIMITED, LOCKED, UNEVEN = (
    noted("stopped by limits"),
    noted("held by locks"),
    noted("held back by uneven scale"),
)
BETWEEN_KEYS, MOVED_ELSE = noted("off between keys"), noted("moved by something other than the keys")
POST_LIMITED, NEAR_AXIS = noted("stopped by the post's limits"), noted("too near the post's axis")
_OF_POST = {NEAREST: NEAR_AXIS, AT_LIMIT: POST_LIMITED}
REDUCED = noted("off by reducing keys")
TURNING, BLENDED = noted("turning over"), noted("held back by IK Blend")
FK = noted("FK, as IK Blend is 0")  # on purpose: no miss
HALF_WAY_BETWEEN = noted("half-way between frames")
_STATUS_IN_WORDS = {
    Status.TOO_FAR: OUT_OF_REACH,
    Status.TOO_CLOSE: OUT_OF_REACH,
    Status.STALLED: noted("stalled"),
}


def cause_of(
    status: int,
    distance: float,
    solved: float,
    off_plane: bool,
    tolerance: float,
    on_purpose: str,
    stopped: str,
    uneven: bool,
) -> str:
    """Return why a tip is so far from its target, in words; "" where the solve does not explain it.

    solved: that distance as solved. off_plane: whether most of it is along the plane's normal. on_purpose:
    why the solver may leave the tip off a target within reach, in words. stopped: what stops the joints, in
    words. uneven: whether armature or bones are scaled unevenly.
    """
    if status == Status.LIMITED:
        return stopped
    if status == Status.STALLED and uneven:
        return UNEVEN
    if status not in (Status.REACHED, Status.EASED, Status.ANGLE):
        return _STATUS_IN_WORDS[Status(status)]
    if on_purpose == TURNING:
        return TURNING
    if solved > tolerance and solved >= 0.5 * distance:
        return OFF_THE_PLANE if off_plane else on_purpose
    return UNEVEN if uneven else ""


def cause_of_post(status: int) -> str:
    """Return why a post of a status leaves the plane off the target, in words; "" where it does not."""
    return _OF_POST.get(status, "")


def unmoved_words(chains: Sequence[str]) -> str:
    """Return the sentence on chains, by their names, whose targets do not move."""
    if len(chains) == 1:
        return say("{chain}'s target does not move: key it (Key Target)", chain=chains[0])
    return say("The targets of {chains} do not move: key them (Key Target)", chains=listed(chains))


def stopped_words(limited: NDArray[np.bool_], locked: NDArray[np.bool_] | None) -> str:
    """Return the cause that stops joints, in words: masks (n,) of those at a limit, and of those locked."""
    if locked is None or not locked.any():
        return LIMITED
    return LOCKED if (locked | ~limited).all() else say("{locked} and limits", locked=LOCKED)
