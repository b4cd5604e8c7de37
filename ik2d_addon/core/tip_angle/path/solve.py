# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets with angles that follow one another: each run of frames in reach as a walk, or by triangles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...chain import Chain, checked_angles, in_reaches
from ...errors import IK2DError
from ...inputs import Floats
from ...path.solve import refuse_no_path
from ...solution import Solution, Status, Steps, drained
from ..arm import Arm
from ..nearest import FREELY
from ..request import PoseRequest, PoseRows
from ..sheet import PoseSheet, sheet_of
from ..solve import posed, side_of
from ..springs import Goal, apart
from .route import routed
from .short import next_to, short_path
from .walk import FURTHER, JUMP, Walk, steps_of

# The fewest bones whose poses are no list of triangles.
LONG = 4


def solve_pose_path(
    chain: Chain,
    targets: ArrayLike,
    angles: ArrayLike,
    *,
    start: ArrayLike | None = None,
    bend: ArrayLike = 1,
    rest: ArrayLike | None = None,
    root_weight: float | None = None,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
    angle_first: bool = False,
) -> Solution:
    """Solve targets with angles that follow one another as solve_pose does, but with the fewest jumps found.

    The pose of least bend goes over to another one where two bend alike. A path goes on from the pose before
    instead, and looks ahead: where a way through all frames without a jump is found, it takes that
    (route.py). The search is bounded by the number of ways looked at, never by time: the same path has the
    same poses on every machine. `parted` says where a joint jumps after all; with three bones there is then
    no way without, else none was found. Two bones, chains without length, and a single frame without a start
    have solve_pose's poses.
    In frames that no pose meets a spring holds the angle, or the tip with the angle first; where the target
    is out of reach, the tip comes as near as solve_even brings it.
    targets: (frames, 2) relative to the root. angles: one for all, or (frames,). start: (n,) angles of the
    pose before the first target, or (frames, n): each then goes on from its own, by the least turns. bend,
    softness: one for all, or (frames,). rest, root_weight, tolerance, angle_first, and errors, as in
    solve_pose.

    >>> chain = Chain([1.0, 1.0, 1.0, 0.5], limits=np.radians([[-180, 180], [-90, 90], [-90, 90], [-90, 90]]))
    >>> path = solve_pose_path(chain, [[2.0, 0.0], [2.0, 0.1]], [0.3, 0.3])
    >>> path.reached, path.parted
    (array([ True,  True]), array([False, False]))
    """
    named: dict[str, Any] = {"bend": bend, "rest": rest, "root_weight": root_weight, "tolerance": tolerance}
    asked = PoseRequest.checked(chain, targets, angles, softness=softness, angle_first=angle_first, **named)
    refuse_no_path(np.asarray(targets, float), np.asarray(bend), np.asarray(softness))
    if np.ndim(angles) > 1 or len(asked.shape) != 1:
        raise IK2DError(f"a path takes one angle or one a frame, not of shape {np.shape(angles)}")
    m = len(asked.aims)
    starts = None if start is None else checked_angles(chain, start, "start")
    if starts is not None and starts.shape[:-1] not in ((), (m,)):
        raise IK2DError(f"a path takes one start, or {m}, one a frame, not of shape {starts.shape}")
    return drained(pose_path_steps([asked], starts))


def pose_path_steps(poses_asked: Sequence[PoseRequest], starts: Floats | None) -> Steps[Solution]:
    """Return the solution of solve_pose_path; yield the number of targets done now and then.

    poses_asked: one for all frames, or one of one target for each, where the chain changes. starts: (n,) of
    the pose before, or (frames, n); None for none.
    """
    path = PosePath.of(poses_asked)
    if path.is_each_alone or len(path.points) <= (starts is None):
        return path.solution(np.concatenate([posed(asked).angles for asked in poses_asked]), None)
    if starts is not None and starts.ndim == 2:
        return path.solution(path.near(starts), None)
    angles = yield from path.routed(starts)
    return path.solution(angles, starts)


@dataclass(frozen=True, eq=False)
class PosePath:
    """A path's frames: one chain for all, or one each."""

    poses_asked: Sequence[PoseRequest]
    points: Floats  # (m, 2) in reaches, behind the targets by softness
    headings: Floats  # (m,)
    sides: Floats  # (m,)

    @classmethod
    def of(cls, poses_asked: Sequence[PoseRequest]) -> "PosePath":
        """Return the path of the poses asked for."""
        points = [in_reaches(own.chain, own.aims) for own in poses_asked]
        headings, sides = [own.headings for own in poses_asked], [own.sides for own in poses_asked]
        return cls(poses_asked, np.concatenate(points), np.concatenate(headings), np.concatenate(sides))

    @property
    def is_each_alone(self) -> bool:
        """Whether each frame has a pose of its own: of two bones, or of none with a length."""
        chains = [own.chain for own in self.poses_asked]
        return len(chains[0]) == 2 or any(own.reach[1] == 0.0 for own in chains)

    def request(self, frame: int) -> PoseRequest:
        """Return the request that a frame is part of."""
        return self.poses_asked[0 if len(self.poses_asked) == 1 else frame]

    def arm(self, frame: int) -> Arm:
        """Return the arm of a frame."""
        return self.request(frame).arm

    def sheet(self, frame: int) -> PoseSheet:
        """Return the sheet of a frame's arm."""
        return self._sheet if len(self.poses_asked) == 1 else sheet_of(self.arm(frame))

    @cached_property
    def _sheet(self) -> PoseSheet:
        return sheet_of(self.arm(0))

    @cached_property
    def goals(self) -> list[Goal]:
        """The goals of all frames."""
        rows = zip(self.points.tolist(), self.headings.tolist(), strict=True)
        return [Goal(x, y, heading) for (x, y), heading in rows]

    @cached_property
    def steps(self) -> list[int]:
        """How many steps lead to each frame from the one before."""
        return steps_of(self.goals)

    @cached_property
    def is_out(self) -> NDArray[np.bool_]:
        """(m,) where the tip cannot come to its point at any angle."""
        if self.request(0).angle_first:
            return np.zeros(len(self.points), np.bool_)
        within = [own.arm.region.contains(self.points[rows]) for own, rows in self._rows]
        return ~np.concatenate(within)

    @property
    def _rows(self) -> list[tuple[PoseRequest, slice]]:
        """The poses asked for, each with its frames."""
        if len(self.poses_asked) == 1:
            return [(self.poses_asked[0], slice(None))]
        return [(own, slice(k, k + 1)) for k, own in enumerate(self.poses_asked)]

    def solution(self, angles: Floats, start: Floats | None) -> Solution:
        """Return the solution of poses (m, n). start: (n,) the pose before; None for none."""
        parts = [own.solution(PoseRows(angles[rows])) for own, rows in self._rows]
        whole = parts[0] if len(parts) == 1 else Solution.joined(parts)
        return replace(whole, parted=self._jumps(whole.angles, start), unproven=self._unproven(whole))

    def _unproven(self, solution: Solution) -> NDArray[np.bool_] | None:
        """Return the frames (m,) off their angle of which it is not proven that no pose has both."""
        if len(self.request(0).chain) < LONG or self.is_each_alone:
            return None
        missed = Status.LIMITED if self.request(0).angle_first else Status.ANGLE
        doubtful: NDArray[np.bool_] = (solution.status == missed) & ~self._forbidden
        for k in np.flatnonzero(doubtful):
            goal = self.goals[k]
            doubtful[k] = not self.sheet(k).proofs.forbidden_by_arc(self.points[k], goal.heading)
        return doubtful

    def _jumps(self, angles: Floats, start: Floats | None) -> NDArray[np.bool_]:
        """Return the frames (m,) in reach to which a joint jumps from the frame before, if that is, too."""
        poses, jumps = angles.tolist(), np.zeros(len(angles), np.bool_)
        if self.is_each_alone:
            return jumps
        befores = [[] if start is None else start.tolist(), *poses]
        for k in range(start is None, len(poses)):
            before = befores[k]
            if not self.is_out[max(k - 1, 0) : k + 1].any() and self.sides[k] == self.sides[max(k - 1, 0)]:
                jumps[k] = apart(poses[k], before) > (JUMP + FURTHER) * self._room(k, start)
        return jumps

    def _room(self, frame: int, start: Floats | None) -> int:
        """Return how many jumps a frame has room for."""
        if frame or start is None:
            return self.steps[frame]
        first = Goal(*self.sheet(0).springs.tip(start.tolist()))
        return steps_of([first, self.goals[0]])[1]

    def near(self, starts: Floats) -> Floats:
        """Return the poses (m, n) that the least turns from poses of their own lead to."""
        found = starts.copy()
        for k, (goal, start) in enumerate(zip(self.goals, starts.tolist(), strict=True)):
            if len(start) < LONG:
                first = self.request(k).angle_first
                found[k] = next_to(self.arm(k), self.points[k], goal.heading, starts[k], first)
                continue
            angle_first = self.request(k).angle_first
            own = goal._replace(heading=sum(start))
            for wanted in (goal, own, goal.softly(FREELY, angle_first))[int(self._forbidden[k]) :]:
                walk = Walk(lambda _, k=k: self.sheet(k), [wanted], angle_first)  # type: ignore[misc]
                pose = walk.from_start(start, lazy=True)
                if pose is not None:
                    found[k : k + 1] = self._within(np.array([pose.angles]), k)
                    break
            else:
                found[k : k + 1] = self.arm(k).within(starts[k : k + 1])
        return found

    def routed(self, start: Floats | None) -> Steps[Floats]:
        """Return the poses (m, n) of all frames. start: (n,) the pose before the first; None for none."""
        m, n = len(self.points), len(self.request(0).chain)
        if n < LONG:
            return self._short(start)
        angles, last = np.empty((m, n)), start
        for rows in self._runs():
            if self.is_out[rows.start]:
                angles[rows] = self._without_angle(rows)
            else:
                angles[rows] = self._walked(rows, last)
            has_turned = rows.stop < m and self.sides[rows.stop] != self.sides[rows.start]
            last = None if has_turned else angles[rows.stop - 1]
            yield rows.stop
        return angles

    def _runs(self) -> Iterator[slice]:
        """Yield the runs of frames that are all out of reach, or none, and bend to one side."""
        changes = (np.diff(self.is_out.astype(int)) != 0) | (np.diff(self.sides) != 0.0)
        ends = [*(np.flatnonzero(changes) + 1).tolist(), len(self.points)]
        yield from (slice(*pair) for pair in zip([0, *ends], ends, strict=False))

    def _walked(self, rows: slice, start: Floats | None) -> Floats:
        """Return the poses of a run of frames in reach. start: the pose before; None for none."""
        first, arm = rows.start, self.arm(rows.start)
        walk = Walk(lambda k: self.sheet(first + k), self.goals[rows], self.request(first).angle_first)
        walk.unmet |= {k - first for k in range(*rows.indices(len(self.points))) if self._forbidden[k]}
        side = side_of(arm, float(self.sides[first]) * arm.own_side)
        route = routed(walk, None if start is None else start.tolist(), side)
        if route is None:
            each = [self._one(k) for k in range(first, rows.stop)]
            return np.concatenate([posed(own).angles for own in each])
        return self._within(np.array([route.poses[k].angles for k in range(len(walk))]), first)

    def _within(self, found: Floats, first: int) -> Floats:
        """Return poses (m, n) that a sheet's springs hold, from a frame on, exactly within the limits."""
        arm = self.arm(first)
        if np.isfinite(arm.chain.ranges[0]).any():
            found[:, 0] = arm.within(found)[:, 0]
        # The sheet's limits are rounded.
        each = [self.arm(first + k).chain.ranges for k in range(len(found))]
        low, high = np.array(each).transpose(2, 0, 1)
        return np.clip(found, low, high)

    @cached_property
    def _forbidden(self) -> NDArray[np.bool_]:
        """(m,) where it is proven that no pose has both."""
        if len(self.poses_asked) == 1:
            return self._sheet.proofs.forbidden(self.points, self.headings)
        each = [
            self.sheet(k).proofs.forbidden(self.points[k : k + 1], self.headings[k : k + 1])
            for k in range(len(self.points))
        ]
        return np.concatenate(each)

    def _one(self, frame: int) -> PoseRequest:
        """Return the request of one frame."""
        if len(self.poses_asked) > 1:
            return self.poses_asked[frame]
        return self.poses_asked[0].at(frame)

    def _without_angle(self, rows: slice) -> Floats:
        each = np.arange(len(self.points))[rows]
        if len(self.poses_asked) == 1:
            return self.poses_asked[0].without_angle(each).angles
        return np.concatenate([self.poses_asked[k].without_angle(np.arange(1)).angles for k in each])

    def _short(self, start: Floats | None) -> Floats:
        """Return the poses of all frames of three bones."""
        arms = [own.arm for own in self.poses_asked]
        sides = self.sides * arms[0].own_side
        steps = [self._room(0, start), *self.steps[1:]]
        first = self.request(0).angle_first
        return short_path(arms, self.points, self.headings, sides, steps, start, first)
