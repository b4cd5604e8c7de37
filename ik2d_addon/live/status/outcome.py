# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a live chain: the distance that Blender shows between tip and target, and its cause."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import hypot, inf, isfinite

import bpy
from mathutils import Matrix

from ...bake.reporting.causes import LIMITED, cause_of
from ...core.words import noted
from ..shown import largest_scale

NATIVE = noted("is on drivers, which follow the target already; turn Live off, or press Remove Drivers")
MOVED_ELSE = noted("moved by something other than this chain")
COPIED = noted("posed by the FK bones that it copies")
ON_TARGET = noted("On its target")
AIMED = noted("Points at its target")  # of a single bone, whose tip need not get there


@dataclass(frozen=True)
class LiveOutcome:
    """Outcome of a live chain's solve on a frame; lengths are calculated on request."""

    status: int  # Status
    measured: Callable[[tuple[float, float]], tuple[float, float]]
    measures: tuple[float, float]  # tip to target in the plane, and along its normal
    # In words: why the tip may be off a target within reach, "" for no reason; and what stops the joints.
    on_purpose: str
    stopped: str = LIMITED
    uneven: bool = False  # whether armature or bones are scaled unevenly
    angle_off: float = 0.0  # radians of the last bone off an angle that it cannot have with its tip on target
    post: str = ""  # why its post does not bring the plane to the target, in words
    moved_by: str = MOVED_ELSE  # what moves the tip if the solve does not explain where it is, in words

    def lengths(self) -> tuple[float, float]:
        """Return the distances from tip to target, in the plane and along its normal, in the world."""
        return self.measured(self.measures)

    def cause(self, distance: float, tolerance: float) -> str:
        """Return why a tip is so far off its target, in words."""
        in_plane, height = self.lengths()
        if self.post and height >= in_plane and height > tolerance:
            return self.post
        cause = cause_of(
            self.status,
            distance,
            hypot(in_plane, height),
            height >= in_plane,
            tolerance,
            self.on_purpose,
            self.stopped,
            self.uneven,
        )
        return cause or self.moved_by


@dataclass(frozen=True)
class Look:
    """A chain's tip and its target, as Blender has evaluated them for the view layer that is shown."""

    distance: float  # from the tip to its target, or to where a bone that aims has it, in the world
    tolerance: float  # the distance that counts as reached
    openness: float = inf  # radians from the target to the direction that leaves a plane that follows it open

    @property
    def reached(self) -> bool:
        """Whether the tip is on its target."""
        return isfinite(self.distance) and self.distance <= self.tolerance


def shown_reach(world: Matrix, bones: Iterable[bpy.types.PoseBone]) -> float:
    """Return the length of evaluated bones in the world, at most, by the matrix of their armature."""
    return sum((bone.tail - bone.head).length for bone in bones) * largest_scale(world)
