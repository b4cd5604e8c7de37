# SPDX-License-Identifier: GPL-3.0-or-later
"""A board to pin a flat arm on: what the two diagram scenes share."""

import math

import bpy

from . import shapes, stage
from .rig import Bone, armature, attach_all


def arm(name: str, joints: tuple[shapes.Point, ...], names: tuple[str, ...], size: float) -> bpy.types.Object:
    """Make a flat arm, a bone for each of `names`, each a little in front of the one before."""
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
    return rig


def back(low: shapes.Point, high: shapes.Point) -> None:
    """Put the board behind everything, lit from the upper left."""
    paper = shapes.material("Board", (0.83, 0.81, 0.76), roughness=1.0)
    shapes.box("Board", (low[0], 0.3, low[1]), (high[0], 0.4, high[1]), paper)
    stage.light((0.9, 0.95, 1.0), sun=1.9, strength=0.55)
    stage.aim_sun((0.4, 0.9, -0.6))
