# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a chain that replaces an IK constraint: as the rig turns it on the watched frames."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core import Plane
from ...core.affine import norms, rotations_about
from ...core.inputs import Floats, wrapped
from ...core.swing import POLE, SHORTEST_WAY, SWING, Swing
from ...rig.chain.bone_limits import Range
from ...rig.chain.checks.found_post import FoundPost
from ...rig.chain.joints import normal_in_bone
from ...rig.chain.planes import line_of, reach_of
from ...rig.chain.post import POST
from ...rig.pose.pole_angle import angle_to_side
from ...rig.pose.straight_plane import straight_normal
from ...rig.rest import rest_matrix
from .animation import takes_keys
from .course import STRAIGHT, Course, along_of, own_pose, span, spins, turns_aside

# The choices of `plane` that stay as they are in rest.
AUTO, CUSTOM = 'AUTO', 'CUSTOM'
# Planes, and angles, within this are the same (radians).
APART = np.radians(0.5)
# Targets nearer to the plane than this part of the reach are in it.
_IN_PLANE = 1e-5
# A limb that keeps to a plane has its joints nearer to it than this part of the reach; and one that shows
# that it does moves its target further than the second.
_KEEPS, _MOVES = 1e-3, 0.05
# Sums of weights below this part of the reach's square say nothing of a pole's angle.
_SAYS = 1e-3
# Spans below this part of the reach's square are no bend of a straight limb: two bones turn by 2 degrees,
# as Blender's IK has them drift where it finds no side.
_UNBENT = 0.01
# Below this cosine the normals of two planes have no side in common.
_CLEAR_SIDE = 0.1
# A pole angle within this (radians) of the constraint's is the same.
_SAME_ANGLE = np.radians(0.05)


@dataclass(frozen=True, eq=False)
class Bending:
    """The plane of a chain, and the side that it bends to."""

    choice: str  # of `plane`: 'AUTO', 'CUSTOM', 'SWING', 'POLE', 'ARC' or 'POST'
    plane: Plane  # in rest
    sides: tuple[tuple[int, float], ...]  # (frame, +1.0 or -1.0): the side from that frame on
    normal: Floats | None = None  # (3,) that the chain needs to be told; None where it finds it
    pole_angle: float = 0.0  # radians
    post: FoundPost | None = None  # with 'POST'
    is_turned: bool = False  # whether the first bone's own channels turn it on, and keys can say how far

    def about(self, post: FoundPost) -> "Bending":
        """Return the bending of a plane that a post turns, from that of a fixed one."""
        return replace(self, choice=POST, post=post)

    @property
    def moves(self) -> bool:
        """Whether the plane is another one on other frames: it follows the target, or a post turns it."""
        return self.follows or self.post is not None

    @property
    def follows(self) -> bool:
        """Whether the plane follows the target or a pole."""
        return self.choice in (SWING, POLE, SHORTEST_WAY)


def fixed(
    rest: Floats, plane: Plane, spans: Floats, frames: Sequence[int], is_told: bool
) -> tuple[Bending, bool]:
    """Return the bending of a chain whose plane stays as in rest, and whether that is the limb's own.

    rest: (n + 1, 3) joints. spans: (frames, 3). is_told: whether the plane's normal has to be set.
    """
    reach = reach_of(rest)
    of_its_own = own_plane(rest, reach, plane, spans)
    plane = of_its_own or plane
    sides = sides_of(frames, spans @ plane.normal / reach**2)
    is_told = is_told or of_its_own is not None
    bending = Bending(CUSTOM if is_told else AUTO, plane, sides, plane.normal if is_told else None)
    return bending, of_its_own is not None


def unbent_normal(
    bones: Sequence[bpy.types.PoseBone], rest: Floats, spans: Floats, planned: Sequence[Any]
) -> Floats | None:
    """Return the normal (3,) of Add Chain's plane for bones that neither rest nor IK bends; else None.

    To its positive side they are to bend. rest: (n + 1, 3) joints. spans: (frames, 3). planned: settings of
    the chains of other limbs.
    """
    bent = bool((norms(spans) > _UNBENT * reach_of(rest) ** 2).any())
    if bent or len(bones) < 2 or not Plane.is_straight(rest):
        return None
    return straight_normal(bones[0].id_data, bones, planned=planned)


def unbent_side(bones: Sequence[str], plane: Plane, normal: Floats, limits: dict[str, Range]) -> float:
    """Return the side, +1.0 or -1.0 about a plane's normal, that straight bones are to bend to.

    The one that their limits allow, where these forbid the other; else that of a normal (3,) of Add Chain.
    """
    ranges = [limits[name] for name in bones[1:] if name in limits]
    for side, ends in ((1.0, [high for _, high in ranges]), (-1.0, [-low for low, _ in ranges])):
        if ranges and max(ends) <= APART:
            return -side
    return -1.0 if plane.normal @ normal < -_CLEAR_SIDE else 1.0


def keeps_plane(course: Course, plane: Plane, reach: float) -> bool:
    """Return whether a limb shows that it keeps to a plane: its target moves, and all joints stay in it."""
    moved = course.targets - course.targets[0]
    heights = [(points - plane.origin) @ plane.normal for points in (course.joints, course.targets)]
    still = bool(norms(moved).max() <= _MOVES * reach)
    return not still and all(bool(np.abs(each).max() <= _KEEPS * reach) for each in heights)


def swinging(
    rest: Floats, bones: Sequence[bpy.types.PoseBone], bending: Bending, course: Course, count: int
) -> Bending:
    """Return the bending of a plane that swings with the target, from that of a fixed one.

    count: how many of the bones from the root on bend to a side.
    """
    plane, choice = bending.plane, SHORTEST_WAY if len(bones) == 1 else SWING
    along = along_of(rest, plane)
    turns = Swing(choice, plane.normal, along, along).rotations(course.targets - course.joints[:, 0])
    areas = (course.spans(count) * (turns @ plane.normal)).sum(axis=1)
    side = -1.0 if areas.sum() < -STRAIGHT * reach_of(rest) ** 2 else 1.0
    normal = plane.normal if Plane.is_straight(rest) else None
    axis = normal_in_bone(plane, bones[0])
    is_turned = takes_keys(bones[0].id_data) and turns_aside(bones[0], axis, course.frames, APART)
    return Bending(choice, plane, ((course.frames[0], side),), normal, is_turned=is_turned)


def towards_pole(
    rest: Floats,
    bones: Sequence[bpy.types.PoseBone],
    angle: float,
    course: Course,
    plane: Plane,
    bending: int,
    full: Course | None,
) -> Bending:
    """Return the bending of a limb with a pole, such that its joints are on the side that the IK has them.

    angle: the constraint's pole angle, radians. plane: that of the rest pose. bending: how many bones from
    the root on bend to a side. full: the course on the frames on which the IK alone poses the limb, None
    where there are none.

    Blender turns the pose of the bones' own channels to the pole, a chain its rest pose. Both keep the spin
    from the side that faces the pole to the axis that the limb bends about, so the pole angle is the one
    that gives rest the spin of the limb.
    """
    reach, straight = reach_of(rest), Plane.is_straight(rest)
    spin, axis = None, np.zeros(3)
    if full is not None and full.poles is not None:
        lines, spans = full.lines, full.spans(bending)
        spin = _mean_spin(*spins(lines, full.poles - full.joints[:, 0], spans), reach)
        if straight:
            axis = (full.first.swapaxes(1, 2) @ spans[..., None])[..., 0].sum(axis=0)
    if spin is None:
        joints, first = own_pose(bones)
        side = first @ (np.cos(angle), 0.0, np.sin(angle))
        spans = span(joints[: bending + 1])[None]
        spin = _mean_spin(*spins((joints[-1] - joints[0])[None], side[None], spans), reach)
        if straight:
            axis = first.T @ spans[0]
    if spin is None:
        return Bending(POLE, plane, ((course.frames[0], 1.0),), None, angle)
    line, bend = along_of(rest, plane), 1.0
    if straight:  # it bends towards its pole, or away from it, and has only its roll to find
        bend = -1.0 if spin > 0.0 else 1.0
        rest_first = rest_matrix(bones[0].bone)[:3, :3]
        wanted = np.cross(line, bend * (rest_first @ axis))
    else:
        about = -plane.normal if span(rest[: bending + 1]) @ plane.normal < 0.0 else plane.normal
        wanted = rotations_about(line, np.array(-spin)) @ about
    angle_there = angle_to_side(bones, wanted)
    if angle_there is None or abs(wrapped(np.array(angle_there - angle))) <= _SAME_ANGLE:
        angle_there = angle
    return Bending(POLE, plane, ((course.frames[0], bend),), None, angle_there)


def _mean_spin(angles: Floats, weights: Floats, reach: float) -> float | None:
    """Return the mean of angles (m,), radians, by their weights (m,); None where these say nothing."""
    mean = (weights * np.exp(1j * angles)).sum()
    if not np.isfinite(mean) or abs(mean) <= _SAYS * reach**2:
        return None
    return float(np.angle(mean))


def own_plane(rest: Floats, reach: float, plane: Plane, spans: Floats) -> Plane | None:
    """Return the plane in which a straight limb bends on the frames; None if `plane` is the same."""
    bent = spans[np.linalg.norm(spans, axis=1) > STRAIGHT * reach**2]
    if not Plane.is_straight(rest) or not len(bent):
        return None
    _, _, axes = np.linalg.svd(bent, full_matrices=False)
    normal = axes[0] * np.sign(axes[0] @ bent[0])
    line = line_of(rest)
    if np.linalg.norm(np.cross(normal, line)) <= np.sin(APART):
        return None
    facing = Plane.facing(rest, normal, along=line)
    return facing if np.linalg.norm(np.cross(facing.normal, plane.normal)) > np.sin(APART) else None


def sides_of(frames: Sequence[int], areas: Floats) -> tuple[tuple[int, float], ...]:
    """Return (frame, side) of each change of the bend side, from areas (frames,) in squares of the reach.

    A straight limb keeps the side before; at the start it has the first side that follows.
    """
    bent = np.flatnonzero(np.abs(areas) > STRAIGHT)
    sides: list[tuple[int, float]] = []
    for row in bent:
        side = float(np.sign(areas[row]))
        if not sides:
            sides.append((frames[0], side))
        elif sides[-1][1] != side:
            sides.append((frames[row], side))
    return tuple(sides) or ((frames[0], 1.0),)


def off_plane(plane: Plane, course: Course, reach: float) -> tuple[float, int]:
    """Return the target's largest distance from the plane, in the world's lengths, and its frame."""
    heights = np.abs((course.targets - plane.origin) @ plane.normal)
    worst = int(np.argmax(heights))
    if heights[worst] <= _IN_PLANE * reach:
        return 0.0, course.frames[worst]
    size = abs(np.linalg.det(course.from_world[worst, :3, :3])) ** (1.0 / 3.0)
    return float(heights[worst] / size), course.frames[worst]
