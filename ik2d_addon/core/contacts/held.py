# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that do not slide: each contact held in one place, and eased into from the contacts next to it."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..errors import IK2DError
from ..inputs import Floats, brief
from .motion import Motion, motion_of
from .runs import Mask, runs


def held(
    places: ArrayLike,
    contacts: ArrayLike,
    times: ArrayLike,
    *,
    up: ArrayLike = (0.0, 0.0, 1.0),
    ground: ArrayLike | None = None,
    ground_velocity: ArrayLike = (0.0, 0.0, 0.0),
    loop: bool = False,
) -> Floats:
    """Return corrected places, of the shape of `places`, that stay put on the ground in each contact.

    places: (frames, 3) or (frames, points, 3), in the world. contacts: the mask of `find_contacts`, or one
    edited by hand, (frames,) or (frames, points). times, up, ground, ground_velocity, loop: as given to
    `find_contacts`. Each point is corrected on its own, so heel and toe may come nearer to one another, or
    move apart, by as much as they slid.

    A contact is held at its mean place, in height at its median, as seen from the ground, which may move; not
    below the ground where that is known. The path is moved by an offset; from the contact's last frame,
    offset a, to the first frame of the next one, offset b, it is

        a + (b - a) (3 s^2 - 2 s^3)    s = the time's share of the swing, 0..1

    whose speed is zero at both ends and which never leaves the line from a to b. Before the first contact and
    after the last one the offset stays; in a loop the last one leads to the first, so both ends agree. Last,
    places below the known ground are lifted to it. A point without contacts is only lifted.

    >>> places = np.array([[0.0, 0, 0], [0.2, 0, 0], [0.6, 0, 0.2], [1.0, 0, 0], [1.0, 0, 0]])
    >>> held(places, [True, True, False, True, True], [0, 1, 2, 3, 4])[:, 0]
    array([0.1 , 0.1 , 0.55, 1.  , 1.  ])
    """
    motion, single = motion_of(places, times, up, ground, ground_velocity, loop)
    mask = _mask(contacts, motion, single)
    if motion.loop:
        mask[0] = mask[-1] = mask[0] | mask[-1]
        thrice = np.concatenate((mask[:-1], mask[:-1], mask))
        offsets = _offsets(motion.unrolled(), thrice)[motion.middle]
        offsets[-1] = offsets[0]
    else:
        offsets = _offsets(motion, mask)
    held_places = motion.places + offsets
    if motion.ground is not None:
        below = motion.ground - held_places @ motion.up
        held_places += np.maximum(below, 0.0)[..., None] * motion.up
    return held_places[:, 0] if single else held_places


def _mask(contacts: ArrayLike, motion: Motion, single: bool) -> Mask:
    """Return the mask of contacts (frames, points), a copy; raise IK2DError for another shape."""
    shape = motion.places.shape[:1] if single else motion.places.shape[:2]
    try:
        mask = np.array(contacts)
    except ValueError:
        mask = np.zeros(0)
    if mask.dtype != bool or mask.shape != shape:
        raise IK2DError(f"contacts must be True or False in the shape {shape}, not {brief(contacts)}")
    return mask.reshape(motion.places.shape[:2])


def _offsets(motion: Motion, mask: Mask) -> Floats:
    """Return the offsets (frames, points, 3) that hold each contact, and ease between them."""
    offsets = np.zeros_like(motion.places)
    for point in range(mask.shape[1]):
        here, spans = offsets[:, point], runs(mask[:, point])
        for first, end in spans:
            here[first:end] = _stand(motion, point, first, end) - motion.relative[first:end, point]
        ease_between(here, spans, motion.times)
    return offsets


def ease_between(offsets: Floats, spans: Sequence[tuple[int, int]], times: Floats) -> None:
    """Fill in offsets (frames, k) outside of spans (first, end): eased from one to the next, else kept."""
    for (_, before), (after, _) in pairwise(spans):
        offsets[before - 1 : after + 1] = eased(
            offsets[before - 1], offsets[after], times[before - 1 : after + 1]
        )
    if spans:
        (first, _), (_, end) = spans[0], spans[-1]
        offsets[:first], offsets[end:] = offsets[first], offsets[end - 1]


def _stand(motion: Motion, point: int, first: int, end: int) -> Floats:
    """Return the place (3,), as seen from the ground, in which a contact is held."""
    path = motion.relative[first:end, point]
    heights = path @ motion.up
    height = float(np.median(heights))
    if motion.ground is not None:
        ground = motion.ground[first:end, point] - motion.carried[first:end] @ motion.up
        height = max(height, float(ground.max()))
    place: Floats = path.mean(axis=0) + (height - heights.mean()) * motion.up
    return place


def eased(a: Floats, b: Floats, times: Floats) -> Floats:
    """Return offsets (m, 3) from a to b, level at both ends and without overshoot."""
    share = (times - times[0]) / (times[-1] - times[0])
    eased: Floats = a + (b - a) * (share * share * (3.0 - 2.0 * share))[:, None]
    return eased
