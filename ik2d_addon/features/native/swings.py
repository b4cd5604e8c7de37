# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that follow a target or a pole: two more empties, which turn the first bone.

The swing is a child of the controls, and constraints turn it: X points at the target, and Y as far as it can
at the pole. The turn is a child of the swing, with the first bone's rotation, which the bone copies: all
of its matrix, as Blender copies a rotation by Euler angles, which lose their digits near a right angle.

P has the plane's axes in its columns, R the bone's in rest. The rest line from root to tip is at an angle a
in the plane, tilted by t out of it where the tip is off the plane; s is the angle about this line to the side
that faces the pole, p Plane Turn. For the rotation S of core/swing the swing has the axes
S P Z(a) Y(-t) X(s),  and the turn in these  X(p - s) Y(t) Z(turn - a) P^-1 R.  If the plane swings with its
target, a is the target's angle in the plane, to which a Locked Track brings the swing.

The copy of the target is the swing's child as well, and has the target in the plane that follows it. It is
the controls' child, and "x" and "y" are steps, where a rotation depends on the target's distance or on its
angle in the rest plane: of a tip off the plane, and of limits in a plane that swings with its target.

A plane that swings about a direction of its own starts with Z along that instead of the plane's normal.
"""

from dataclasses import dataclass
from math import atan2, cos, sin

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.inputs import Floats
from ...core.swing import POLE, SWING
from ...rig.animation.value_keys import acting_driver, curve_of
from ...rig.chain.chain import RigChain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.dependencies import Node
from ...rig.chain.planes import reach_of
from .drivers import SwungEmpties, drive, drive_step
from .expressions import num
from .plan import first_axes

# A tip nearer to the plane than this part of the reach lies in it.
_IN_PLANE = 1e-7
# A target nearer to the plane's normal than this part of the reach has no direction in the plane.
_NO_DIRECTION = 1e-6


@dataclass(frozen=True, eq=False)
class FollowingPlane:
    """A plane that follows its target: its rule, and the chain at rest."""

    rule: str  # SWING, POLE or ARC
    goal: Node  # that the plane follows: an object, and its bone or ""
    pole: Node | None  # an object, and its bone or ""
    angle: float  # radians in the plane, of the line from root to tip
    height: float  # of the tip off the plane, along its normal
    side: Floats  # (3,) the side that faces the pole: along this line, across it in the plane, and off it
    limited: bool  # whether the first bone has limits, which count in the rest plane
    reach: float
    bone: Floats  # (3, 3) the first bone's axes in the plane's, in columns
    towards: (
        Floats | None
    )  # (3,) what the turned normal stays nearest to, in the plane's axes; None: that at rest
    is_turned: bool  # whether the control Plane Turn turns it on

    @property
    def is_direct(self) -> bool:
        """Whether the copy of the target has it in the plane that follows it, without steps."""
        return not self.height and not (self.rule == SWING and self.limited)

    def build(self, rig: RigChain, empties: SwungEmpties, turn: str) -> None:
        """Add the constraints, steps and drivers; turn: the expression of the first bone's turn."""
        swing, turned = empties.swing, empties.turned
        self._constrain(swing, self.goal if self.is_direct else (empties.target_copy, ""))
        if not self.is_direct:
            self._drive_target(empties)
        angle = f"-{num(self.angle)}"
        if self.rule == SWING:
            angle = "" if self.is_direct or self.towards is not None else "-atan2(ty,tx)"
            if self.towards is not None:
                up = Vector((0.0, 0.0, 1.0))
                swing.rotation_euler = up.rotation_difference(Vector(self.towards)).to_euler()
        else:
            swing.rotation_euler.z = self.angle
        turned.rotation_mode = 'ZYX'
        turned.rotation_euler = Matrix(self.bone.tolist()).to_euler('ZYX')
        if len(rig.bones) > 1 or self.limited:  # else it is 0: the swing points the bone at its target
            drive(turned, _ROTATION, f"{turn}{angle}", empties, index=2)
        if self.height:
            self._tilt(empties)
        elif self.rule == POLE:
            spin = atan2(self.side[2], self.side[1])
            swing.rotation_euler.x, turned.delta_rotation_euler.x = spin, -spin
            if self.is_turned:
                drive(turned, _ROTATION, f"plane_turn-{num(spin)}", empties, index=0)
        elif self.is_turned:
            drive(turned, _ROTATION, "plane_turn", empties, index=0)
        if self.is_direct:
            empties.target_copy.parent = swing
            if self.rule != SWING:
                back = swing.rotation_euler.to_matrix().to_4x4().transposed()
                empties.target_copy.matrix_parent_inverse = back

    def _constrain(self, swing: bpy.types.Object, target: Node) -> None:
        """Have constraints turn the swing towards the target, and the pole if there is one."""
        if self.rule == SWING:
            about = _track(swing, 'LOCKED_TRACK', target)
            about.track_axis, about.lock_axis = 'TRACK_X', 'LOCK_Z'
        _track(swing, 'DAMPED_TRACK', target).track_axis = 'TRACK_X'
        if self.pole is not None:
            towards = _track(swing, 'LOCKED_TRACK', self.pole)
            towards.track_axis, towards.lock_axis = 'TRACK_Y', 'LOCK_X'

    def _drive_target(self, empties: SwungEmpties) -> None:
        """Add the steps to "x" and "y", the target in the plane that follows it."""
        drive_step(empties, "d", f"sqrt(max(tx*tx+ty*ty+tz*tz-{num(self.height**2)},0))")
        if self.towards is not None:
            drive_step(empties, "x", "d")
            drive_step(empties, "y", "0")
        elif self.rule == SWING:
            least = num(_NO_DIRECTION * self.reach)
            drive_step(empties, "o", "sqrt(tx*tx+ty*ty)")
            drive_step(empties, "x", f"tx*d/max(o,{least}) if o>{least} else d")
            drive_step(empties, "y", f"ty*d/max(o,{least}) if o>{least} else 0")
        else:
            drive_step(empties, "x", f"{num(cos(self.angle))}*d")
            drive_step(empties, "y", f"{num(sin(self.angle))}*d")

    def _tilt(self, empties: SwungEmpties) -> None:
        """Drive the rotations about the line to a tip off the plane, which leans with the distance."""
        swing, turned = empties.swing, empties.turned
        drive_step(empties, "tilt", f"atan2({num(self.height)},d)")
        drive(turned, _ROTATION, "tilt", empties, index=1)
        if self.rule != SWING:
            drive(swing, "rotation_euler", "-tilt", empties, index=1)
        if self.rule != POLE:
            if self.is_turned:
                drive(turned, _ROTATION, "plane_turn", empties, index=0)
        else:
            along, across, off = map(num, self.side)
            drive_step(empties, "spin", f"atan2({off}*cos(tilt)-{along}*sin(tilt),{across})")
            drive(swing, "rotation_euler", "spin", empties, index=0)
            drive(turned, _ROTATION, "plane_turn-spin" if self.is_turned else "-spin", empties, index=0)


_ROTATION = "delta_rotation_euler"  # before the object's own rotation, the bone's


def read_following(rig: RigChain, goal: Node | None = None) -> FollowingPlane | None:
    """Return how a chain's plane follows its target; None for a fixed one. goal: in the target's place."""
    swing, plane = rig.swing, rig.plane
    if swing is None:
        return None
    joints = rest_joints(rig.pose_bones)
    reach = reach_of(joints)
    height = float((joints[-1] - joints[0]) @ plane.normal)
    line = np.array((swing.along, np.cross(swing.normal, swing.along), swing.normal))
    return FollowingPlane(
        swing.rule,
        goal or (rig.target, rig.subtarget),
        rig.pole,
        atan2(swing.along @ plane.y, swing.along @ plane.x),
        height if abs(height) > _IN_PLANE * reach else 0.0,
        line @ swing.side,
        not np.isnan(rig.joints.limits[0]).any(),
        reach,
        np.array((plane.x, plane.y, plane.normal)) @ first_axes(rig),
        None if swing.towards is None else np.array((plane.x, plane.y, plane.normal)) @ swing.towards,
        turns_on(rig),
    )


def turns_on(rig: RigChain) -> bool:
    """Return whether a chain's plane is turned on, or may be by keys or a driver."""
    if rig.swing is None or rig.swing.post is not None:
        return False
    path = f"{rig.settings.path}.plane_turn"
    is_animated = curve_of(rig.armature, path) or acting_driver(rig.armature, path)
    return bool(rig.swing.turn or is_animated)


def follows(empty: bpy.types.Object, kind: str, target: bpy.types.Object | None, subtarget: str) -> bool:
    """Return whether a constraint of some kind on an empty has that target."""
    return any(
        constraint.type == kind and constraint.target == target and constraint.subtarget == subtarget
        for constraint in empty.constraints
    )


def _track(swing: bpy.types.Object, kind: str, target: Node) -> bpy.types.Constraint:
    constraint = swing.constraints.new(kind)
    constraint.target, constraint.subtarget = target
    return constraint
