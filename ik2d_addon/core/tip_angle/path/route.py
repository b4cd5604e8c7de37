# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets with angles that follow one another: the poses through all frames with the fewest jumps found.

The first pose is the one before the path, or that of least bend; its lane is followed to the end (walk.py).
Where it is stuck, lanes of other poses lead on (lanes.py). The work is bounded by counts alone, of lanes and
of frames where they begin, so that the same path has the same poses on every machine.
"""

from ..descent import restored
from ..nearest import nearest
from ..sheet import EITHER, Side
from ..springs import HeldPose, apart
from .lanes import Lanes, Route
from .walk import Walk

# Lanes at most, at first and in all; rounds of frames where lanes begin, so many in each.
FIRST_LANES, MOST_LANES, ROUNDS, AT_ONCE = 24, 60, 10, 3
# Rounds of frames near jumps, where lanes begin that are followed by the least turns; poses that they begin
# with differ by so much (radians); and how many, from the second round on, are spread over the ranges.
LAZY_ROUNDS, SEEDS_ALIKE, SPREAD = 3, 0.05, 24


def routed(walk: Walk, start: list[float] | None, side: Side = EITHER) -> Route | None:
    """Return the poses of all frames that no pose misses, with the fewest jumps found; None without any.

    start: the pose before the first frame.
    """
    first = None if start is None else walk.from_start(start)
    lanes = Lanes(walk, first is not None)
    lanes.add(0, _first(walk, side) if first is None else first)
    if lanes.lanes[0].last < len(walk) - 1 and walk.mark_by_arcs():
        lanes.extend()
    if lanes.lanes[0].last == len(walk) - 1:
        return Route(lanes.lanes[0])
    route = _seeded(walk, lanes)
    if route is not None and route.jumps:
        route = _lazily(walk, lanes, route)
    return route


def _first(walk: Walk, side: Side) -> HeldPose:
    """Return the pose of the first frame by itself."""
    if 0 not in walk.unmet:
        pose = walk.sheets(0).least(walk.goals[0], side)
        if pose is not None:
            return pose
        walk.unmet.add(0)
    return HeldPose(nearest(walk.sheets(0), walk.goals[0], walk.angle_first))


def _seeded(walk: Walk, lanes: Lanes) -> Route | None:
    """Return the route by lanes that begin where others end."""
    seeded: set[int] = set()
    frames, route, rounds = [lanes.lanes[0].last + 1], None, 0
    while rounds < ROUNDS:
        unmet = len(walk.unmet)
        for frame in frames:
            if frame in seeded or not 0 <= frame < len(walk) or len(lanes.lanes) >= FIRST_LANES:
                continue
            seeded.add(frame)
            for pose in walk.seeds(frame):
                lanes.seed(frame, pose)
        if len(walk.unmet) > unmet:
            lanes.extend()
        else:
            rounds += 1
        route = lanes.through()
        if route is None:
            ends = sorted({own.last + 1 for own in lanes.lanes if own.last < len(walk) - 1} - seeded)
            frames = ends[: AT_ONCE - 1]
        elif not route.jumps:
            break
        else:
            starts = [own.first - 1 for own in lanes.lanes if own.first > 0]
            ends = [own.last + 1 for own in lanes.lanes if own.last < len(walk) - 1]
            frames = [k for k in (*route.jumps, *starts, *ends) if k not in seeded][:AT_ONCE]
        if not frames or (route is not None and len(lanes.lanes) >= FIRST_LANES):
            break
    return route


def _lazily(walk: Walk, lanes: Lanes, route: Route) -> Route:
    """Return the route by lanes of poses that do not go down, from frames near the jumps."""
    tried: set[tuple[int, bool]] = set()
    for number in range(LAZY_ROUNDS):
        wide = number > 0
        for frame in _frames_at(route, lanes):
            if (frame, wide) in tried or not 0 <= frame < len(walk):
                continue
            tried.add((frame, wide))
            for angles in _own(walk, lanes, frame, wide):
                if len(lanes.lanes) < MOST_LANES:
                    lanes.add(frame, HeldPose(angles), lazy=True)
        route = lanes.through() or route
        if not route.jumps:
            break
    return route


def _frames_at(route: Route, lanes: Lanes) -> list[int]:
    frames = []
    for jump in route.jumps:
        first = max((own.first for own in lanes.lanes if jump in own), default=jump)
        frames += [jump - 1, jump, (jump + first) // 2]
    return list(dict.fromkeys(frames))


def _own(walk: Walk, lanes: Lanes, frame: int, wide: bool) -> list[list[float]]:
    """Return poses in a frame that differ from one another; wide: with some from all over the ranges."""
    near = [pose.angles for pose in walk.seeds(frame)]
    near += [own[frame].angles for own in lanes.lanes if frame in own]
    if wide and frame not in walk.unmet:
        sheet, goal = walk.sheets(frame), walk.goals[frame]
        every = (restored(sheet.springs, angles, goal) for angles in sheet.spread.near(goal, SPREAD))
        near += [angles for angles in every if angles is not None]
    own: list[list[float]] = []
    for angles in near:
        if all(apart(angles, other) > SEEDS_ALIKE for other in own):
            own.append(angles)
    return own
