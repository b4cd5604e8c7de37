# SPDX-License-Identifier: GPL-3.0-or-later
"""The post above a chain in the pose that the viewport shows: its axis, angle and limits, to be drawn."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...bake.reporting.causes import NEAR_AXIS, POST_LIMITED
from ...core.inputs import Floats, wrapped
from ...core.post import LIMITED, NEAREST
from ...rig.chain.chain import RigChain
from ...rig.pose.posts import PostSpace, solved_post
from ...rig.rest import rest_matrix, rest_tail
from ...rig.scene.samples import ChainSamples
from .shapes import spanned

# The radius of the limits' arc, and how far the axis goes beyond the chain, as parts of the reach.
_ARC, _BEYOND = 0.25, 0.1
# A post is as solved where its angle is off by no more, in radians.
_SOLVED = 1e-3


@dataclass(frozen=True, eq=False)
class PostView:
    """A post in the current pose. Points (3,) are in the world."""

    axis: Floats  # (2, 3) the ends of a line along its axis
    centre: Floats  # its head
    # (3,) each: from there to the arc at an angle of 0, and a quarter round; the first is where the chain
    # leads to at rest.
    x: Floats
    y: Floats
    angle: float  # radians about its axis
    limits: tuple[float, float] | None
    is_solved: bool  # whether it is at the angle that its chain would turn it to
    why_missed: str  # why the plane then misses its target, in words; "" where it does not

    def around(self, flat: Floats) -> Floats:
        """Return points (..., 2) in the plane across the axis, in radii of the arc, in the world (..., 3)."""
        return spanned(flat, self.centre, self.x, self.y)


def view_post(
    rig: RigChain, samples: ChainSamples, space: PostSpace, joints: Floats, reach: float
) -> PostView:
    """Return the post above a chain. joints: (n + 1, 3) of that, and reach: its length, in the world."""
    assert rig.post is not None
    rule, bone = rig.post.rule, rig.armature.pose.bones[rig.post.bone]
    to_world = samples.world[0] @ space.to_pose[0]
    along = to_world[:3, rule.axis] / np.linalg.norm(to_world[:3, rule.axis])
    centre = to_world[:3, 3]
    heights = (np.array([centre, *joints]) - centre) @ along
    ends = np.array((heights.min() - _BEYOND * reach, heights.max() + _BEYOND * reach))
    x, y = _across(rig, bone, to_world, along)
    solved = solved_post(rig, samples, space)
    angle = float(space.angles[0])
    off = float(wrapped(solved.angles - angle)[0])
    return PostView(
        axis=centre + ends[:, None] * along,
        centre=centre,
        x=_ARC * reach * x,
        y=_ARC * reach * y,
        angle=angle,
        limits=rule.limits,
        is_solved=abs(off) <= _SOLVED,
        why_missed={LIMITED: POST_LIMITED, NEAREST: NEAR_AXIS}.get(int(solved.status[0]), ""),
    )


def _across(
    rig: RigChain, bone: bpy.types.PoseBone, to_world: Floats, along: Floats
) -> tuple[Floats, Floats]:
    """Return two unit vectors (3,) across a post's axis: to the chain's tip at rest, and a quarter on."""
    assert rig.post is not None
    rest, axis = rest_matrix(bone.bone), rig.post.rule.axis
    led = np.linalg.inv(rest)[:3, :3] @ (rest_tail(rig.pose_bones[-1].bone) - rest[:3, 3])
    led[axis] = 0.0
    if np.linalg.norm(led) <= 1e-3 * bone.bone.length:  # over the axis
        led = np.eye(3)[(axis + 2) % 3]
    x = to_world[:3, :3] @ led
    x -= (x @ along) * along
    x /= np.linalg.norm(x)
    side = np.sign(np.linalg.det(to_world[:3, :3])) or 1.0  # a mirrored armature turns the other way
    return x, side * np.cross(along, x)
