# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms of two bones, straight or bent, with a target that moves."""

from rigs import add_armature, add_chain, add_target

STRAIGHT = [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
BENT = [(0, 0, 0), (0, -0.3, 1), (0, 0, 2)]


def add_arm(points, keys, rolls=(0.0, 0.0), above=False, **settings):
    """Add a chain through three points with a target that is somewhere at some frames."""
    bones = {"base": ((0, 0, -1), (0, 0, -0.5), "", 0.0)} if above else {}
    bones["a"] = (points[0], points[1], "base" if above else "", rolls[0])
    bones["b"] = (points[1], points[2], "a", rolls[1])
    armature = add_armature(bones)
    return armature, add_chain(armature, "b", add_target(keys), bone_count=2, **settings)
