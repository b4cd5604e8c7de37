# SPDX-License-Identifier: GPL-3.0-or-later
"""The way through a path's frames with the fewest jumps, along lanes of poses that follow one another.

Where a lane is stuck, other poses of that frame begin lanes, which run back next to the first one. From one
to another leads a step where they are side by side, or a way on which each frame's pose is drawn to the other
lane's by at most a jump.
"""

import heapq
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

from ..descent import restored
from ..springs import HeldPose, apart
from .walk import FURTHER, Lane, Walk, drawn

# Poses of lanes that differ by less at both ends and in the middle make them the same.
ALIKE = 1e-3
# A way to another lane ends where it has come no nearer for so many frames, by less than this (radians).
PATIENCE, NEARER = 4, 1e-3


class Way(NamedTuple):
    """A way from one lane to another: the frames where it leaves and arrives, and the poses between."""

    leaves: int
    arrives: int
    poses: dict[int, HeldPose]


class Route(NamedTuple):
    """Poses of all frames up to one, and the frames of the jumps among them."""

    poses: dict[int, HeldPose]
    jumps: tuple[int, ...] = ()


@dataclass(eq=False)
class Lanes:
    """The lanes of a path that were found so far, and the ways between them."""

    walk: Walk
    begins: bool  # whether the path goes on from the first lane alone
    lanes: list[Lane] = field(default_factory=list)
    _ways: dict[tuple[int, int, int], Way | None] = field(default_factory=dict)

    def add(self, frame: int, pose: HeldPose, lazy: bool = False) -> None:
        """Add the lane of a pose, unless there is one like it."""
        new = self.walk.lane(frame, pose, lazy)
        three = (new.first, (new.first + new.last) // 2, new.last)
        for lane in self.lanes:
            if all(k in lane and apart(new[k].angles, lane[k].angles) < ALIKE for k in three):
                return
        self.lanes.append(new)

    def seed(self, frame: int, pose: HeldPose) -> None:
        """Add the lane of a pose that is on no lane yet."""
        if all(frame not in own or apart(own[frame].angles, pose.angles) > ALIKE for own in self.lanes):
            self.add(frame, pose)

    def extend(self) -> None:
        """Go on with all lanes, once more frames are known to have no pose."""
        self.lanes = [self.walk.extended(own) for own in self.lanes]
        self._ways.clear()

    def through(self) -> Route | None:
        """Return the route through all frames with the fewest jumps; None where lanes leave frames out."""
        last, done, count = len(self.walk) - 1, set(), len(self.lanes)
        heap: list[tuple[int, float, int, int, int, Route]] = []
        for number, lane in enumerate(self.lanes[: 1 if self.begins else count]):
            if 0 in lane:
                heap.append((0, self._bend(lane, 0), number, number, 0, Route({0: lane[0]})))
        heapq.heapify(heap)
        while heap:
            jumps, _, _, number, frame, route = heapq.heappop(heap)
            if (number, jumps) in done:
                continue
            done.add((number, jumps))
            lane = self.lanes[number]
            route = Route(route.poses | {k: lane[k] for k in range(frame, lane.last + 1)}, route.jumps)
            if lane.last == last:
                return route
            for other_number, other in enumerate(self.lanes):
                if other.last > lane.last and (other_number, jumps) not in done:
                    onto = self._onto(route, number, other_number, frame)
                    if onto is not None:
                        bend = self._bend(other, onto[1])
                        count += 1
                        heapq.heappush(
                            heap, (len(onto[0].jumps), bend, count, other_number, onto[1], onto[0])
                        )
        return None

    def _bend(self, lane: Lane, frame: int) -> float:
        return self.walk.sheets(frame).springs.bend(lane[frame].angles)

    def _onto(self, route: Route, number: int, other_number: int, frame: int) -> tuple[Route, int] | None:
        """Return a route gone over to another lane, and the frame where it is there; None if it cannot."""
        lane, other = self.lanes[number], self.lanes[other_number]
        key = number, other_number, frame
        if key not in self._ways:  # lanes are only added to: what is known of two stays true
            self._ways[key] = self._way(lane, other, frame)
        way = self._ways[key]
        if way is not None:
            poses = {k: route.poses[k] for k in route.poses if k <= way.leaves} | way.poses
            return Route(poses | {way.arrives: other[way.arrives]}, route.jumps), way.arrives
        if other.first > lane.last + 1:
            return None
        frames = range(max(frame + 1, other.first), lane.last + 2)
        at = min(frames, key=lambda k: apart(route.poses[k - 1].angles, other[k].angles))
        poses = {k: route.poses[k] for k in route.poses if k < at} | {at: other[at]}
        return Route(poses, (*route.jumps, at)), at

    def _way(self, lane: Lane, other: Lane, first: int) -> Way | None:
        """Return the way from a lane to another that leaves it as late as it can; None for none."""
        walk = self.walk
        first, last = max(first, other.first), min(lane.last, other.last - 1)
        if last < first - 1:
            return None
        for k in range(last, first - 2, -1):
            if k in lane and k + 1 in other and walk.follows(k, lane[k], k + 1, other[k + 1]):
                return Way(k, k + 1, {})
        back, frames = 1, []
        while last - back >= first:
            frames.append(last - back)
            back = max(back + 2, 2 * back)
        for k in [*frames, first] if first <= last else []:
            if k in lane:
                way = self._drawn_over(lane[k].angles, other, k, last)
                if way is not None:
                    return way
        return None

    def _drawn_over(self, angles: list[float], other: Lane, leaves: int, last: int) -> Way | None:
        """Return the way on which poses are drawn to another lane's; None where they do not get there."""
        walk, nearest, since = self.walk, inf, 0
        poses: dict[int, HeldPose] = {}
        for k in range(leaves + 1, min(last + 1, other.last) + 1):
            if k not in other or k in walk.unmet:
                return None
            goal, jump, there = walk.goals[k], walk.jump(k - 1, k), other[k].angles
            if apart(angles, there) <= jump:
                return Way(leaves, k, poses)
            springs = walk.sheets(k).springs
            drawn_there = replace(springs, rest=[springs.rest[0], *there[1:]])
            on_goal = restored(drawn_there, angles, goal)
            if on_goal is None or apart(on_goal, angles) > jump + FURTHER:
                return None
            angles = drawn(drawn_there, on_goal, angles, goal, jump)
            away = apart(angles, there)
            nearest, since = (away, 0) if away < nearest - NEARER else (nearest, since + 1)
            if since > PATIENCE:
                return None
            poses[k] = HeldPose(angles)
        return None
