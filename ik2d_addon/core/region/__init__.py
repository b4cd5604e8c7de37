# SPDX-License-Identifier: GPL-3.0-or-later
"""The set of points that the tip of a chain with limits reaches: exactly, with proof, without a grid.

F(k) are the tips of bones k..n-1 as seen from joint k, in the frame of the bone before:

    F(n) = {0};  F(k) = union over a in [low, high] of rotation(a) (length k along x + F(k + 1))

The boundary of each F(k) is a short list of circular arcs and corners (`elements`). One step carries the
list from joint to joint (`turned`), and `circles` tells where circles about a joint cross it. So every
question is answered joint by joint (`ways`): whether a point lies in the set, by which pose (`poses`), and
its nearest point (`region`). Points are complex numbers here, and the reach is 1.

A bone that slides has a length of its own choice in a range, and is a step of its own (`slid`):

    F(k) = union over a and x of rotation(a) (x along x + F(k + 1))

Then the boundary has straight segments too (`segments`), and points move along lines as well (`lines`).
"""

from .region import BORDER, Posed, Region, as_points, reachable, region_steps

__all__ = ["BORDER", "Posed", "Region", "as_points", "reachable", "region_steps"]
