# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation of a chain's plane that brings it through its target, by rules that need no other frame.

A chain in its rest plane ends at a point whose distance from the root is the target's. One rotation S about
the root takes that point onto the target. S leaves one angle free, the spin about the line from root to
target; each rule decides it, and fails for some direction of the target, as every rule without a memory does.
Of a plane that turns about a post S is the turn about that axis, which leaves nothing free.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..affine import crossed, crosses, norms, rotations_about
from ..inputs import Floats
from ..post import PostAngles, PostRule

# The rules: the normal turns the shortest way from that at rest, or from another direction; one side of the
# chain faces a pole; the rest line turns the shortest way; the first bone turns about one of its own axes.
SWING, POLE, SHORTEST_WAY, POST = 'SWING', 'POLE', 'ARC', 'POST'
# Below this sine two directions are opposite: dividing by it would leave nothing but rounding.
_OPPOSITE = 1e-8
# Below this sine of the angle to a direction that leaves the side open, the rest's side is kept: places in
# 32 bits are no nearer to a line.
_OPEN = 1e-6
# The greatest sine of the angle between a plane and the line to a tip that is off it.
_STEEPEST = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class OwnPost:
    """A first bone that is the post of its chain's plane."""

    rule: PostRule
    axes: Floats  # (3, 3) the bone's at rest, in columns
    reach: float
    alone: bool = False  # whether the chain is this bone, which can do nothing but turn about its axis

    @property
    def axis(self) -> Floats:
        """(3,) the axis that it turns about."""
        axis: Floats = self.axes[:, self.rule.axis]
        return axis


@dataclass(frozen=True, eq=False)
class Swing:
    """A rule, and the chain at rest: unit vectors (3,) in the space that holds its root."""

    rule: str  # SWING, POLE, SHORTEST_WAY or POST
    normal: Floats  # (3,) of the rest plane
    along: Floats  # (3,) in the plane, from root to tip
    side: Floats  # (3,) the side that faces the pole where the chain is at rest; for POLE alone
    # (3,) what the turned normal is as near to as it can be; for SWING alone. None: the normal at rest.
    towards: Floats | None = None
    post: OwnPost | None = None  # for POST alone
    turn: float = 0.0  # radians more about the line to the target, where nothing animates them; not for POST

    @property
    def turns_alone(self) -> bool:
        """Whether it is a turntable's: the heading of its target counts, and not the height."""
        return self.post is not None and self.post.alone

    @property
    def without_limits(self) -> "Swing":
        """The swing of a post without limits."""
        assert self.post is not None
        return replace(self, post=replace(self.post, rule=replace(self.post.rule, limits=None)))

    @property
    def upright(self) -> Floats:
        """(3,) what the turned normal is as near to as it can be, with SWING."""
        return self.normal if self.towards is None else self.towards

    def rotations(
        self,
        points: Floats,
        heights: Floats | float = 0.0,
        poles: Floats | None = None,
        spins: Floats | None = None,
    ) -> Floats:
        """Return the rotations S (m, 3, 3) for targets (m, 3) from the root.

        heights: (m,) of the tip over the plane, which no turn in it changes. poles: (m, 3) from the root.
        spins: (m,) radians, as `spins` has them, in place of the rule's own; a post has none.
        """
        if self.post is not None:
            return rotations_about(self.post.axis, self.post_angles(points, heights).angles)
        rest, line = self._lines(points, heights)
        shortest = shortest_turns(rest, line, self.normal)
        if spins is not None:
            rotations = rotations_about(line, spins) @ shortest
        elif self.rule == SHORTEST_WAY:
            return shortest
        else:
            rotations = self._by_side(rest, line, shortest, poles)
        if self.rule != SWING:
            return rotations
        # Of the rotations with the same plane the least, so that a target in the rest plane leaves it alone.
        normals = np.broadcast_to(self.normal, line.shape)
        return shortest_turns(normals, rotations @ self.normal, self.along)

    def post_angles(self, points: Floats, heights: Floats | float = 0.0) -> PostAngles:
        """Return the angles of the post for targets (m, 3) from the root; heights as in `rotations`."""
        assert self.post is not None
        axes, count = self.post.axes, len(points)
        normals = np.broadcast_to(self.normal @ axes, (count, 3))
        distances, reaches = np.broadcast_to(heights, count), np.broadcast_to(self.post.reach, count)
        return self.post.rule.solve(points @ axes, normals, distances, reaches)

    def spins(self, points: Floats, heights: Floats | float = 0.0, poles: Floats | None = None) -> Floats:
        """Return the spins (m,), radians about the line to the target, from the shortest way."""
        rest, line = self._lines(points, heights)
        shortest = shortest_turns(rest, line, self.normal)
        if self.rule in (SHORTEST_WAY, POST):
            return np.zeros(len(line))
        sided = self._by_side(rest, line, shortest, poles)
        across = crossed(np.broadcast_to(self.normal, rest.shape), rest)
        one, other = _applied(shortest, across), _applied(sided, across)
        spins: Floats = np.arctan2((line * crossed(one, other)).sum(axis=1), (one * other).sum(axis=1))
        return spins

    def sines(self, points: Floats, poles: Floats | None = None) -> Floats:
        """Return the sines (m,) of the angles between targets and the direction in which the rule fails.

        A post fails nowhere: where it turns fast, its angles say.
        """
        line = units(points, self.along)
        if self.rule == POST:
            return np.ones(len(line))
        if self.rule == POLE and poles is not None:
            return norms(crossed(line, units(poles, self.side)))
        other = self.upright if self.rule == SWING else self.along
        sines: Floats = norms(crossed(line, np.broadcast_to(other, line.shape)))
        if self.rule != SWING:
            sines[line @ self.along >= 0.0] = 1.0
        return sines

    def turn_in(self, whole: Floats, tip: Floats) -> float:
        """Return the turn about the normal, radians, that a rotation S was added to, by both together (3, 3).

        tip: (3,) from the root, before both: what of the plane follows from where the tip is.
        """
        one, other = tip, self.along
        if self.rule == SWING:
            normals = self.normal[None], (whole @ self.normal)[None]
            one = whole.T @ shortest_turns(*normals, self.along)[0] @ self.along
        elif self.post is not None:
            angle = angle_about(self.post.axis, self.normal, whole @ self.normal)
            one = whole.T @ rotations_about(self.post.axis, angle) @ self.along
        return float(np.arctan2(crossed(one, other) @ self.normal, one @ other))

    def _lines(self, points: Floats, heights: Floats | float) -> tuple[Floats, Floats]:
        """Return unit vectors (m, 3) each: from root to tip in the rest plane, and to the target."""
        distances = norms(points)
        sines = np.clip(heights / np.where(distances > 0.0, distances, 1.0), -_STEEPEST, _STEEPEST)
        cosines = np.sqrt(1.0 - sines * sines)
        rest: Floats = np.multiply.outer(cosines, self.along) + np.multiply.outer(sines, self.normal)
        return rest, units(points, self.along)

    def _by_side(self, rest: Floats, line: Floats, shortest: Floats, poles: Floats | None) -> Floats:
        """Return the rotations (m, 3, 3) that take the rest line onto the target's, one side to its own."""
        if self.rule == POLE and poles is not None:
            side, towards, kept = self.side, units(poles, self.side), _applied(shortest, self.side)
        else:
            side, towards = self.normal, np.broadcast_to(self.upright, line.shape)
            kept = np.multiply.outer(-np.sign(line @ self.upright), self.along)
        lost = norms(crossed(line, towards)) < _OPEN
        towards = np.where(lost[:, None], kept, towards)
        rotations: Floats = frames(line, towards) @ frames(rest, np.broadcast_to(side, rest.shape)).swapaxes(
            1, 2
        )
        return rotations


def angle_about(axis: Floats, one: Floats, other: Floats) -> Floats:
    """Return the angle (), radians, about a unit axis (3,) from one vector (3,) to another."""
    across = crossed(axis, one)
    angle: Floats = np.arctan2(other @ across, other @ crossed(across, axis))
    return angle


def units(vectors: Floats, otherwise: Floats) -> Floats:
    """Return the unit vectors (m, 3) of vectors; `otherwise` (3,) for those that are zero."""
    sizes = norms(vectors)[:, None]
    return np.where(sizes > 0.0, vectors / np.where(sizes > 0.0, sizes, 1.0), otherwise)


def frames(along: Floats, towards: Floats) -> Floats:
    """Return axes (m, 3, 3), in columns: unit vectors `along`, and towards others as far as square to them.

    Of a vector along the first any axis that is square to it.
    """
    across = towards - (towards * along).sum(axis=1, keepdims=True) * along
    sizes = norms(across)[:, None]
    if (sizes < _OPEN).any():
        others = np.eye(3)[np.argmin(np.abs(along), axis=1)]
        across = np.where(sizes < _OPEN, crossed(along, others), across)
        sizes = norms(across)[:, None]
    across /= sizes
    return np.stack((along, across, crossed(along, across)), axis=2)


def shortest_turns(ones: Floats, others: Floats, spare: Floats) -> Floats:
    """Return the least rotations (m, 3, 3) of unit vectors (m, 3) onto others.

    Of opposite ones half a turn about the part of `spare` (3,) that is square to them.
    """
    cosines, axes = (ones * others).sum(axis=1), crossed(ones, others)
    # 1 + cosine is sine^2 / (1 - cosine), which loses no digits where they are nearly opposite.
    squares = (axes * axes).sum(axis=1)
    opposite = (cosines < 0.0) & (squares < _OPPOSITE**2)
    sizes = np.where(cosines < 0.0, squares / (1.0 - np.minimum(cosines, 0.0)), 1.0 + cosines)
    sizes[opposite] = 1.0
    cross = crosses(axes)
    turns: Floats = np.eye(3) + cross + cross @ cross / sizes[:, None, None]
    if opposite.any():
        axes = frames(ones[opposite], np.broadcast_to(spare, ones[opposite].shape))[:, :, 1]
        turns[opposite] = 2.0 * axes[:, :, None] * axes[:, None, :] - np.eye(3)
    return turns


def spin_steps(lines: Floats, normals: Floats) -> Floats:
    """Return the angles (m - 1,), radians, that planes turn about their lines from one to the next.

    lines, normals: unit vectors (m, 3) each. What a line's own shortest turn carries along does not count.
    """
    carried = _applied(shortest_turns(lines[:-1], lines[1:], normals[0]), normals[:-1])
    line, normal = lines[1:], normals[1:]
    along = (carried * line).sum(axis=1) * (normal * line).sum(axis=1)
    steps: Floats = np.arctan2(
        (line * crossed(carried, normal)).sum(axis=1), (carried * normal).sum(axis=1) - along
    )
    return steps


def _applied(rotations: Floats, vectors: Floats) -> Floats:
    """Return vectors (3,) or (m, 3) turned by rotations (m, 3, 3)."""
    turned: Floats = rotations @ vectors if vectors.ndim == 1 else (rotations @ vectors[..., None])[..., 0]
    return turned
