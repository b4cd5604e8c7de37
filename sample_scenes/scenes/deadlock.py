# SPDX-License-Identifier: GPL-3.0-or-later
"""What locks plain CCD: a target on a straight chain's own line (figure 3), and limits of joints."""

import math

import bpy

from . import shapes, stage, yard
from .rig import chain, path

GROUND = -1.25
JOINTS = ((0.0, 0.0), (1.2, 0.0), (2.1, 0.0))
# The last frame with the target on the line, where plain CCD folds the chain back and then stays as it is.
LEAVES = 24

# frame, x, z: along the line at first, then away from it
TRIP = ((1, 0.6, 0.0), (LEAVES, 1.0, 0.0), (42, 1.2, 0.75), (60, 0.7, 1.1))
# The chain with limits: its root; of each bone the length, the direction at rest and the limits, in degrees.
ROOT = (3.5, -0.75)
LIMITED = ((1.0, 20, (-65, 115)), (0.9, -10, (-110, 30)), (0.7, 10, (-20, 70)))
# frame, x, z from its root: plain CCD stays 0.6 short of all of it.
ROUND = ((1, 0.2, 1.4), (20, 0.6, 1.3), (40, 1.0, 1.0), (60, 1.2, 0.6))
MOMENTS = (1, 12, LEAVES, 28, 42, 60)

WALK = """\
Plain CCD, joint by joint
=========================

Click the armature, go to Pose Mode (Ctrl Tab). CCD Step is in the menu Pose > IK 2D > Pose; right-click it
there to give it a shortcut of your own.

The chains are live: CCD Step turns Live off.

How it goes (figures 2a to 2d of the article)
  1. Go to frame 42. A, then Alt R: the chain lies straight.
  2. CCD Step turns one joint, the tip's first. Press it again for the next joint.
  3. CCD Step, then F9 and a tick at Whole Iteration: all joints once, from tip to root.
     The status bar says how far the tip is from its target. It takes many of them.

How it locks (figure 3)
  1. Go to frame 1: the target is on the chain's own line. A, then Alt R.
  2. CCD Step: the last bone folds back. CCD Step again, and again: "plain CCD is locked". No joint can
     bring the tip any nearer, although the chain reaches that far.
  3. In the sidebar (N), tab IK 2D, press Live: the tip is on its target. Alt J flips the bend.

How limits lock it (the local minima of the second article)
  1. The same with the armature Limited, whose joints have limits (Chain > Joints): A, then Alt R.
  2. CCD Step with Whole Iteration, again and again: each joint stops at a limit or where it is nearest, and
     the tip stays 0.6 m away. Within the same limits there is a pose that reaches the target.
  3. Press Live: the tip is on its target.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    rig = yard.arm("Chain", JOINTS, ("bone1", "bone2"), 0.15, GROUND)
    line = shapes.material("Line", (0.08, 0.09, 0.1), roughness=0.8)
    shapes.tube("The chain's line", (-0.6, 0.28, 0), (2.9, 0.28, 0), (0.012, 0.012), line)
    stage.settings(60, (1000, 500))
    goal = shapes.target("Target", 0.12, 0.34)
    path(goal, TRIP, interpolation='LINEAR')
    chain(rig, "Chain", "bone2", 2, goal, solver='CCD', start_from='REST')
    _limited()
    yard.ground(GROUND)
    stage.camera((2.35, -60.0, 2.7), (2.35, 0.0, 0.05), width=6.1)
    for frame in MOMENTS:
        stage.marker(frame, "on the line" if frame <= LEAVES else "off the line")
    stage.note("Plain CCD, step by step", WALK)
    return rig


def _limited() -> None:
    """Add the chain whose limits make local minima."""
    joints = [ROOT]
    for length, degrees, _ in LIMITED:
        x, z = joints[-1]
        turn = math.radians(degrees)
        joints.append((x + length * math.cos(turn), z + length * math.sin(turn)))
    names = ("upper", "middle", "last")
    rig = yard.arm("Limited", tuple(joints), names, 0.13, GROUND)
    goal = shapes.target("Limited Target", 0.12, 0.34)
    path(goal, [(frame, ROOT[0] + x, ROOT[1] + z) for frame, x, z in ROUND], interpolation='LINEAR')
    limits = {name: limit for name, (_, _, limit) in zip(names, LIMITED, strict=True)}
    facing = {"plane": 'CUSTOM', "plane_normal": (0.0, -1.0, 0.0)}  # a positive turn is anticlockwise
    chain(rig, "Limited", "last", 3, goal, solver='CCD', limits=limits, start_from='REST', **facing)
