# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat arms on posts, in a yard: what the two diagram scenes share."""

import math

import bpy

from . import shapes, stage
from .rig import Bone, armature, attach_all


def arm(
    name: str, joints: tuple[shapes.Point, ...], names: tuple[str, ...], size: float, level: float
) -> bpy.types.Object:
    """Make a flat arm, a bone for each of `names`, each a little in front of the one before.

    It is on a post that stands on the ground at `level`.
    """
    points = [(x, 0.0, z) for x, z in joints]
    parents = ("", *names)
    rig = armature(name, (Bone(bone, points[i], points[i + 1], parents[i]) for i, bone in enumerate(names)))
    dark = shapes.material("Pin", (0.05, 0.06, 0.08), roughness=0.4)
    colors = ((0.02, 0.16, 0.42), (0.03, 0.42, 0.62), (0.2, 0.6, 0.72))
    for i, bone in enumerate(names):
        head, tail = joints[i], joints[i + 1]
        capsule = shapes.capsule(math.dist(head, tail), size * (1 - 0.2 * i), size * (0.8 - 0.2 * i))
        outline, y = shapes.local(head, tail, capsule), -size * i
        look = shapes.material(f"Bone {i + 1}", colors[i], roughness=0.4)
        attach_all(
            (
                shapes.plate(f"Plate {bone}", outline, size * 0.8, look, y=y, bevel=size * 0.15),
                shapes.pin(f"Pin {bone}", head, size * 0.42, size * 1.2, dark, y=y),
            ),
            rig,
            bone,
        )
    shapes.pin(f"Mount {name}", joints[0], size * 1.5, size, dark, y=size * 0.9)
    x, z = joints[0]
    steel = shapes.material("Post", (0.17, 0.18, 0.2), roughness=0.6)
    near, far = size * 1.4, size * 2.4
    shapes.box(f"Post {name}", (x - size, near, level), (x + size, far, z + size), steel, bevel=size * 0.1)
    shapes.box(
        f"Foot {name}",
        (x - size * 2.6, near - size, level),
        (x + size * 2.6, far + size, level + size * 0.4),
        steel,
    )
    return rig


def ground(level: float) -> None:
    """Lay out the ground at a level, below a sky.

    Cameras without perspective look down a little, and see where it ends as the horizon.
    """
    grass = shapes.material("Ground", (0.34, 0.42, 0.36), roughness=1.0)
    shapes.box("Ground", (-80, -80, -stage.DEEP), (80, 40, level), grass)
    stage.light((0.6, 0.75, 0.84), sun=2.3, strength=0.7)
    stage.aim_sun((0.45, 0.7, -0.9))
