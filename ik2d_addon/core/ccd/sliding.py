# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of chains that slide: the angles of all joints, and behind them the slides of all bones in reaches.

So turns and slides go through the same sweeps and the same corrections.
"""

from itertools import accumulate
from math import cos, hypot, sin

import numpy as np

from ..chain import Chain, within_limits, within_slides
from ..inputs import Floats
from .correction import Arms, arms_to_tip
from .shapes import aimed, folded, nearest_turns, off_the_line, straight
from .sweep import CcdBones, present_lengths

# The distance of an eased slide from the ends of its range, as a part of the range.
OFF = 0.02


def coordinates(chain: Chain, angles: Floats, slides: Floats) -> Floats:
    """Return poses (..., n), or (..., 2 n) of a chain that slides. angles, slides: (..., n), in its units."""
    if not chain.is_sliding:
        return angles
    shape = np.broadcast_shapes(angles.shape, slides.shape)
    parts = np.broadcast_to(angles, shape), np.broadcast_to(slides / (chain.reach[1] or 1.0), shape)
    return np.concatenate(parts, axis=-1)


def starting(chain: Chain, angles: Floats, slides: Floats) -> Floats:
    """Return poses as `coordinates` does, within the limits and the ranges of the slides."""
    return coordinates(chain, within_limits(chain, angles, angles), within_slides(chain, slides))


def parted(chain: Chain, poses: Floats) -> tuple[Floats, Floats | None]:
    """Return the angles and the slides (..., n), in the chain's units, of poses; None where none slide.

    A slide at an end of its range is that end itself.
    """
    if not chain.is_sliding:
        return poses, None
    n, outer = len(chain), chain.reach[1] or 1.0
    least, most = chain.slide_ranges.T
    slides = np.where(poses[..., n:] >= most / outer, most, within_slides(chain, poses[..., n:] * outer))
    return poses[..., :n], np.where(poses[..., n:] <= least / outer, least, slides)


def arms_of(bones: CcdBones, pose: list[float]) -> Arms:
    """Return the arms from the joints to the tip, as arms_to_tip does; those of slides come first.

    A slide moves the tip as a turn about a point one reach off, across the bone: its arm is the bone's
    direction, turned by -90 degrees.
    """
    if len(pose) == len(bones.lengths):
        return arms_to_tip(bones.lengths, pose)
    angles = pose[: len(bones.lengths)]
    headings = list(accumulate(angles))[::-1]
    xs, ys = arms_to_tip(present_lengths(bones, pose), angles)
    return [sin(heading) for heading in headings] + xs, [-cos(heading) for heading in headings] + ys


def off_the_ends(bones: CcdBones, pose: list[float]) -> list[float]:
    """Return a pose with its slides off the ends of their ranges: a bone of no length turns no tip."""
    n = len(bones.lengths)
    slides = [
        min(max(slide, low + OFF * (high - low)), high - OFF * (high - low))
        for slide, low, high in zip(pose[n:], bones.low[n:], bones.high[n:], strict=True)
    ]
    return pose[:n] + slides


def pointed(bones: CcdBones, pose: list[float], x: float, y: float) -> list[float]:
    """Return a pose whose root is turned so that the tip lies in a target's direction."""
    n = len(bones.lengths)
    angles = aimed(present_lengths(bones, pose), pose[:n], x, y)
    return nearest_turns(angles, pose[:n]) + pose[n:]


def bent(bones: CcdBones, pose: list[float], x: float, y: float, bend: float) -> list[float]:
    """Return a start off the line, with its slides off their ends, that points at a target."""
    n, eased = len(bones.lengths), off_the_ends(bones, pose)
    lengths = present_lengths(bones, eased)
    whole = sum(lengths)
    rigid = CcdBones([length / whole for length in lengths], bones.weights[:n], bones.low[:n], bones.high[:n])
    angles = off_the_line(rigid, eased[:n], x / whole, y / whole, bend)
    return pointed(bones, angles + eased[n:], x, y)


def pinned(bones: CcdBones, start: list[float]) -> CcdBones:
    """Return the chain with the joints of weight 0 kept at the start's angles by their ranges."""
    low, high = list(bones.low), list(bones.high)
    for i in range(len(bones.lengths)):
        if bones.weights[i] == 0.0:
            low[i] = high[i] = start[i]
    return CcdBones(bones.lengths, bones.weights, low, high)


def off_the_annulus(
    bones: CcdBones, start: list[float], x: float, y: float, bend: float
) -> list[float] | None:
    """Return the pose nearest to a target that is too far or too close; None for one in the annulus."""
    if bones.inner < hypot(x, y) < 1.0:
        return None
    n = len(bones.lengths)
    slides = bones.high[n:]
    if hypot(x, y) >= 1.0:
        return straight(start[:n], x, y) + slides
    bone = max(range(n), key=lambda i: 2.0 * bones.lengths[i] + bones.low[n + i] + bones.high[n + i])
    slides[bone] = bones.low[n + bone]
    lengths = [length + slide for length, slide in zip(bones.lengths, slides, strict=True)]
    return folded(lengths, start[:n], x, y, bend) + slides
