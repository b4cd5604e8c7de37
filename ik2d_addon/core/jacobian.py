# SPDX-License-Identifier: GPL-3.0-or-later
"""How the tip of a chain moves as its joints turn and its bones slide."""

import numpy as np
from numpy.typing import ArrayLike

from .chain import Chain, checked_angles, checked_chain, checked_slides, joints_at
from .inputs import LARGEST_ANGLE, Floats, checked_kind, common_shape


def jacobian(
    chain: Chain, angles: ArrayLike, slides: ArrayLike | None = None, *, orientation: bool = False
) -> Floats:
    """Return the derivatives of the tip's place by the chain's angles, and by its slides where bones slide.

    For joint p[j], tip e and direction d[j] of bone j,

        d e / d angles[j] = (p[j].y - e.y, e.x - p[j].x),    d e / d slides[j] = d[j], or 0 for a rigid bone

    angles, slides: (..., n) as in `forward`. Returns (..., 2, n); (..., 2, 2 n) for a chain with bones that
    slide, the angles' columns first. `orientation`: add a third row for the direction of the last bone, in
    radians: 1 for each angle, 0 for each slide. Raises IK2DError for what `forward` refuses.

    >>> jacobian(Chain([2.0, 1.0]), np.radians([90, -90]), orientation=True).round(3)
    array([[-2.,  0.],
           [ 1.,  1.],
           [ 1.,  1.]])
    """
    checked_chain(chain)
    checked_kind(orientation, bool, "orientation")
    turned = checked_angles(chain, angles, most=2.0 * LARGEST_ANGLE)
    added = None
    if slides is not None:
        added = checked_slides(chain, slides)
        shape = common_shape(angles=turned.shape[:-1], slides=added.shape[:-1])
        turned = np.broadcast_to(turned, (*shape, len(chain)))
    joints = joints_at(chain, turned, added)
    heads, tip = joints[..., :-1, :], joints[..., -1:, :]
    columns = np.stack([heads[..., 1] - tip[..., 1], tip[..., 0] - heads[..., 0]], axis=-2)
    if chain.is_sliding:
        directions = np.cumsum(turned, axis=-1)
        along = np.stack([np.cos(directions), np.sin(directions)], axis=-2)
        columns = np.concatenate([columns, along * (chain.slide_ranges != 0.0).any(axis=-1)], axis=-1)
    if orientation:
        row = np.zeros((*columns.shape[:-2], 1, columns.shape[-1]))
        row[..., : len(chain)] = 1.0
        columns = np.concatenate([columns, row], axis=-2)
    return columns
