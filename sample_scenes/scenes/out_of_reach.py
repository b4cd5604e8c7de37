# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm of unequal bones; its target leaves the reach, first too far, later too close to the shoulder."""

import bpy

from . import shapes, stage, yard
from .rig import chain, path

UPPER, LOWER = 1.6, 1.0
GROUND = -1.5
JOINTS = ((0.0, 0.0), (1.28, 0.96), (2.08, 0.36))  # 1.6 and 1.0 long, by the 3-4-5 triangle

# frame, x, z; straight lines at even speed
TRIP = (
    (1, 1.5, 1.3),
    (21, 2.2, 0.7),
    (37, 3.15, 0.25),
    (43, 3.15, -0.1),
    (55, 2.1, -0.9),
    (73, 0.95, -0.7),
    (85, 0.32, -0.05),
    (91, 0.32, 0.2),
    (100, 1.0, 0.9),
)
MOMENTS = (
    (8, "within reach"),
    (26, "at its limit"),
    (40, "too far"),
    (62, "within reach"),
    (85, "too close"),
    (100, "within reach"),
)

PRESS = """\
The arm is live: press Space, and it does what it can. Press Bake in the sidebar's tab IK 2D (N shows the
sidebar) and read the Result: on which frames the target is out of reach, and by how much. A tick at Overlay
draws where the tip can go.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    rig = yard.arm("Arm", JOINTS, ("upper_arm", "forearm"), 0.17, GROUND)
    line = shapes.material("Limit", (0.08, 0.09, 0.1), roughness=0.8)
    for name, radius in (("Outer limit", UPPER + LOWER), ("Inner limit", UPPER - LOWER)):
        shapes.ring(name, (0.0, 0.0), radius, 0.014, line, y=0.28)
    stage.settings(100, (800, 680))
    goal = shapes.target("Target", 0.13, 0.3)
    path(goal, TRIP, interpolation='LINEAR')
    chain(rig, "Arm", "forearm", 2, goal)
    yard.ground(GROUND)
    stage.camera((1.2, -60.0, 3.35), (1.2, 0.0, 0.1), width=4.9)
    for frame, name in MOMENTS:
        stage.marker(frame, name)
    stage.note("Press Bake", PRESS)
    return rig
