# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan of a native chain's drivers in simple expressions, and the shape at rest that it starts from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...core import Stretch
from ...core.inputs import Floats, wrapped
from ...core.words import refusal
from ...rig.chain.chain import RigChain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.planes import solver_side
from ...rig.rest import rest_matrix
from .expressions import turn_parts

# A bone shorter in the plane than this part of the reach turns nothing.
_SEEN_END_ON = 1e-6


@dataclass(frozen=True, eq=False)
class Links:
    """Offsets between the bones of a chain, each in axes in which they turn on a circle."""

    root: Floats  # (2, 2) from the plane's x and y to the root's axes
    own: Floats  # (n, 2) from each bone's head to the next one's, or to the tip
    carried: Floats  # (n, 2, 2) from each bone's axes to those of the one before, in rest

    def tips(self, turns: Floats) -> Floats:
        """Return the tips (..., 2) of turns (..., n) from rest, in the root's axes."""
        tips = np.zeros((*turns.shape[:-1], 2))
        for i in range(len(self.own) - 1, -1, -1):
            reached = self.own[i] + (tips @ self.carried[i + 1].T if i + 1 < len(self.own) else 0.0)
            cosine, sine = np.cos(turns[..., i]), np.sin(turns[..., i])
            tips[..., 0] = cosine * reached[..., 0] - sine * reached[..., 1]
            tips[..., 1] = sine * reached[..., 0] + cosine * reached[..., 1]
        return tips


@dataclass(frozen=True, eq=False)
class Shape:
    """Numbers of a chain of n bones at rest, in its plane."""

    lengths: Floats  # (n,) from joint to joint
    headings: Floats  # (n,)
    angles: Floats  # (n,) the solver's: the first heading, then each relative to the one before, -pi..pi
    limits: Floats  # (n, 2) radians relative to rest, NaN where free
    stretch: Stretch | None = None  # None where no bone changes its length
    misses: Floats | None = None  # (2, 3, 3) of two bones, see `misses_of`
    solver: str = 'TWO_BONE'
    weights: Floats | None = None  # (n,) None: all 1
    root_turns_freely: bool = True
    links: Links | None = None  # of more than two bones; then lengths and angles are in the root's axes
    solver_side: float = 1.0  # as the chain has it

    @property
    def reach(self) -> float:
        """The tip's greatest distance from the root."""
        return float(self.lengths.sum())

    @property
    def is_positive(self) -> str:
        """The expression of whether the solver's side is +1 while the chain is not turned over."""
        return "bend>=0" if self.solver_side > 0.0 else "bend<0"

    @property
    def side(self) -> str:
        """The expression of the solver's side, +1 to -1, as the chain turns over."""
        return f"(1 if {self.is_positive} else -1)*(1-2*turn_over)"


@dataclass(frozen=True)
class NativePlan:
    """Driven properties and the expressions of the bones' turns and scales.

    Each word in an expression that is not a function is a variable: `x` and `y`, the target in the plane,
    seen from the root; a control, see controls.py; or the name of a step.
    """

    steps: tuple[tuple[str, str], ...]  # (name, expression), in any order
    turns: tuple[str, ...]  # an expression for each bone, root to tip: its turn from rest (radians)
    factors: tuple[str, ...] = ()  # and the factor of its Y scale, if it is scaled
    # Keys (k, 4), see `drivers.handles`, of the driver F-Curves of some steps and some bones' turns.
    curves: Mapping[str, Floats] = field(default_factory=dict)
    turn_curves: Mapping[int, Floats] = field(default_factory=dict)


def shape_of(rig: RigChain) -> Shape:
    """Return a chain's shape at rest; raise IK2DError for a bone without length in the plane."""
    joints = rest_joints(rig.pose_bones)
    flat = np.diff(rig.plane.project(joints), axis=0)
    lengths = np.hypot(flat[:, 0], flat[:, 1])
    for bone, length in zip(rig.bones, lengths, strict=True):
        if length <= _SEEN_END_ON * lengths.sum():
            raise refusal(
                "bone '{bone}' points across the chain's plane, where no turn moves its end; set Bends "
                "In to another plane, or end the chain before it",
                bone=bone,
            )
    links = links_of(rig) if len(lengths) > 2 else None
    if links is not None:
        flat = flat @ links.root.T
        lengths = np.hypot(flat[:, 0], flat[:, 1])
    headings = np.arctan2(flat[:, 1], flat[:, 0])
    angles = np.diff(headings, prepend=0.0)
    angles[1:] = wrapped(angles[1:])
    if links is not None:
        lengths *= np.hypot(*links.tips(np.append(0.0, -angles[1:]))) / lengths.sum()
    stretch = rig.stretching.limits if rig.stretching and not rig.stretching.limits.is_off else None
    # A range of a whole turn or more is no limit.
    spans = np.ptp(rig.joints.limits, axis=1, keepdims=True)
    limits = np.where(spans < 2.0 * np.pi, rig.joints.limits, np.nan)
    settings = rig.armature.path_resolve(rig.settings.path)
    # Two bones get the triangle's expressions, whatever their solver.
    two_bone = solver_side(settings, 'TWO_BONE', rig.plane, joints)
    shape = Shape(
        lengths,
        headings,
        angles,
        limits,
        stretch,
        solver=rig.settings.solver,
        weights=rig.joints.weights,
        root_turns_freely=rig.settings.root_turns_freely,
        links=links,
        solver_side=two_bone if len(lengths) == 2 else rig.settings.side,
    )
    return replace(shape, misses=misses_of(rig, shape)) if len(lengths) == 2 else shape


def misses_of(rig: RigChain, shape: Shape) -> Floats:
    """Return how far two bones' tip in Blender is from the one by lengths and angles, as coefficients.

    (2, 3, 3): for x and y those of (1, cos r, sin r) x (1, cos t, sin t), with the root's turn r from rest
    and the second angle t. Blender's rest matrices of 32 bits are not quite orthonormal.
    """
    first, second = (rest_matrix(bone.bone) for bone in rig.pose_bones)
    axes = first_axes(rig)
    between = np.linalg.inv(first) @ second
    tail = np.array((0.0, rig.pose_bones[1].bone.length, 0.0))
    cosine, sine = np.cos(shape.angles[1]), np.sin(shape.angles[1])
    p, q, s = turn_parts(rig.joints.axes[1])  # of the turn t - angle at rest: to cos t and sin t
    ends = [
        between[:3, :3] @ v
        for v in (p @ tail, (cosine * q - sine * s) @ tail, (sine * q + cosine * s) @ tail)
    ]
    ends[0] = ends[0] + between[:3, 3]
    plane = np.array((rig.plane.x, rig.plane.y))
    actual = np.array(
        [[plane @ (axes @ turn @ end) for end in ends] for turn in turn_parts(_axis(rig, axes))]
    )
    (d1, d2), heading = shape.lengths, shape.headings[0]
    along = np.array((np.cos(heading), np.sin(heading)))
    across = np.array((-along[1], along[0]))
    model = np.zeros((3, 3, 2))
    model[1, 0], model[2, 0] = d1 * along, d1 * across
    model[1, 1], model[2, 1] = d2 * along, d2 * across
    model[1, 2], model[2, 2] = d2 * across, -d2 * along
    return np.moveaxis(model - actual, -1, 0)


def links_of(rig: RigChain) -> Links:
    """Return the links of a chain whose bones turn about their joints' axes."""
    bones, plane = rig.pose_bones, rig.plane
    rest = [rest_matrix(bone.bone)[:3, :3] for bone in bones]
    first = first_axes(rig)
    around = (_axis(rig, first), *rig.joints.axes[1:])
    axes = [_axes(matrix, axis, plane.x) for matrix, axis in zip((first, *rest[1:]), around, strict=True)]
    steps = np.diff(rest_joints(bones), axis=0)
    into = [axes_there.T @ np.linalg.inv(matrix) for axes_there, matrix in zip(axes, rest, strict=True)]
    carried = [np.eye(2), *(into[i] @ rest[i + 1] @ axes[i + 1] for i in range(len(bones) - 1))]
    root = np.linalg.inv(np.array((plane.x, plane.y)) @ first @ axes[0])
    axes_there = np.array([matrix @ step for matrix, step in zip(into, steps, strict=True)])
    return Links(root, axes_there, np.array(carried))


def first_axes(rig: RigChain) -> Floats:
    """Return the first bone's axes (3, 3) in rest, in columns, as they are while the chain turns it.

    If it copies an empty, they are orthonormal, without the skew that rest matrices have by rounding, and
    such that the chain stays in its plane.
    """
    rest = rest_matrix(rig.pose_bones[0].bone)[:3, :3]
    if rig.swing is None:
        return rest
    plane = rig.plane
    x, y = np.linalg.solve(rest, np.stack((plane.x, plane.y), axis=1)).T
    x = x / np.linalg.norm(x)
    y = y - (y @ x) * x
    y /= np.linalg.norm(y)
    axes: Floats = np.stack((plane.x, plane.y, plane.normal), axis=1) @ np.array((x, y, np.cross(x, y)))
    return axes


def _axis(rig: RigChain, axes: Floats) -> Floats:
    """Return the axis (3,) in these axes that the first bone turns about."""
    axis: Floats = rig.joints.axes[0] if rig.swing is None else axes.T @ rig.plane.normal
    return axis


def _axes(matrix: Floats, axis: Floats, along: Floats) -> Floats:
    """Return unit vectors (3, 2) across a bone's axis (3,), the first nearest to a direction (3,) at rest."""
    first = np.linalg.inv(matrix) @ along
    first = first - (first @ axis) * axis
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(axis, first)), axis=1)
