# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of least bend within limits of one chain, looked up by where the tip is.

All poses that some force holds are one sheet over the plane of forces. It is sampled, and the poses sorted
by the part of the plane that their tips are in; those of a free root by the distance of their tips. Each
part keeps the few that bend least, each of another kind than those before it, brought to its middle;
what its neighbours have found is tried there too.
"""

import numpy as np

from ..arithmetic import ARRAYS
from ..inputs import Floats
from .descent import Rows, SpringPoses, rotated, settled, tips
from .springs import Springs

# The forces that the sheet is sampled by: so many sizes, up to so many times the one that bends the chain by
# half a radian, in so many directions; and near that of the last bone, where the smallest turn of a pull
# turns a stretched chain, so many more on both sides, down to this one (radians).
SIZES, STRONGEST, DIRECTIONS, NEAR_BONE, SMALLEST = 40, 3e3, 112, 24, 1e-10
# The parts of the plane: rings, the narrower the nearer to full reach, of so many parts each; and the rings
# where only the distance counts. Chains of more bones than MANY_BONES have fewer.
RINGS, PARTS, DISTANCES, MANY_BONES = 28, 64, 96, 24
# The kinds of poses that a part keeps, those that it takes over from each neighbour, and those that it tries
# in one sweep; the sweeps; and Newton's rounds in each.
KINDS, FROM_NEIGHBOURS, TRIED, SWEEPS, ROUNDS = 4, 2, 5, 3, 9
# Poses that differ by more (radians), or by so much of a narrow range, are of different kinds.
APART, PART_OF_RANGE = 0.5, 0.5
# A guess of the bend changes by no more than this part, and this part of the squares of the ranges; and a
# pose counts as bent more by this part for a tip that is off by the reach.
PART_OF_BEND, PART_OF_RANGES, FAR = 0.4, 0.005, 3.0
# Tips and poses that differ by less are the same.
SAME = 1e-3
# A part of the plane and a pose are one number, the pose less than this.
PAIR = 1 << 40


class Table:
    """A chain's poses of least bend, by parts of the plane, or by distances where its root is free."""

    def __init__(self, springs: Springs) -> None:
        """Make the table. A free root must have no range."""
        self.springs = springs
        room = np.minimum(np.subtract(springs.high, springs.low), 2.0)[1:]
        self.apart = min(APART, PART_OF_RANGE * float(np.median(room))) if room.size else APART
        self.slack = PART_OF_RANGES * float((room * room).sum()) + 1e-6
        fewer = min(1.0, MANY_BONES / len(springs.rest)) ** 0.5
        self.rings, self.parts = max(8, int(fewer * RINGS)), max(16, int(fewer * PARTS))
        if springs.free_root:
            self.rings, self.parts = max(16, int(fewer * DISTANCES)), 1
        self._fill()

    def _parts_of(self, points: Floats) -> Rows:
        """Return the parts of the plane (m,) that points (2, m) are in."""
        inwards = np.sqrt(np.maximum(1.0 - np.hypot(*points), 0.0))
        ring = np.minimum((self.rings * (1.0 - inwards)).astype(np.intp), self.rings - 1)
        turns = np.arctan2(points[1], points[0]) / (2.0 * np.pi)
        sector: Rows = ring * self.parts + np.floor((turns % 1.0) * self.parts).astype(np.intp) % self.parts
        return sector

    def _middles(self) -> Floats:
        """Return the middles (2, parts)."""
        ring, sector = np.divmod(np.arange(self.rings * self.parts), self.parts)
        distance = 1.0 - (1.0 - (ring + 0.5) / self.rings) ** 2
        turn = (sector + 0.5 * (self.parts > 1)) * (2.0 * np.pi / self.parts)
        middles: Floats = distance * np.array((np.cos(turn), np.sin(turn)))
        return middles

    def _with_neighbours(self) -> tuple[Rows, Rows]:
        """Return parts of the plane and poses (k,) that they or their neighbours have, as pairs in order."""
        rings = self.best.reshape(self.rings, self.parts, -1)
        some: Rows = rings[..., :FROM_NEIGHBOURS]
        none = np.full_like(some[:1], -1)
        all_of = [rings, np.concatenate((none, some[:-1])), np.concatenate((some[1:], none))]
        if self.parts > 1:
            all_of += [np.roll(some, 1, axis=1), np.roll(some, -1, axis=1)]
        pool = np.concatenate(all_of, axis=2).reshape(len(self.best), -1)
        sector, column = np.nonzero(pool >= 0)
        where, pose = np.divmod(np.unique(sector * PAIR + pool[sector, column]), PAIR)
        return where, pose

    def _guess(self, bends: Floats, forces: Floats, ways: Floats) -> Floats:
        """Return about what poses (k,) bend when their tips go ways (2, k): the force is half its slope."""
        most = PART_OF_BEND * bends + self.slack
        slopes = 2.0 * (forces[0] * ways[0] + forces[1] * ways[1])
        guess: Floats = bends + np.clip(slopes, -most, most)
        return guess

    def _sampled(self) -> SpringPoses:
        """Return the poses that forces of many sizes and directions hold."""
        sizes = self.springs.some_force * np.expm1(np.log(STRONGEST) * np.linspace(0.0, 1.0, SIZES))
        even = np.linspace(-np.pi, np.pi, DIRECTIONS, endpoint=False)
        fine = np.geomspace(0.5 * (even[1] - even[0]), SMALLEST, NEAR_BONE)
        turns = np.concatenate((even, fine, -fine))
        forces = sizes[:, np.newaxis] * np.array((np.cos(turns), np.sin(turns)))[:, np.newaxis]
        poses = held_by(self.springs, forces.reshape(2, -1))
        if self.springs.free_root:
            poses = poses.turned(-np.arctan2(*tips(self.springs, poses)[::-1]))
        return poses

    def _fill(self) -> None:
        springs, middles = self.springs, self._middles()
        self.poses = self._sampled()
        self.tips, self.bends = tips(springs, self.poses), springs.bend(self.poses.rows)
        where, seeds = self._parts_of(self.tips), np.arange(self.bends.size)
        score = self._guess(self.bends, self.poses.force, middles[:, where] - self.tips)
        if springs.free_root:
            score = self.bends + np.abs(self.tips[0] * self.poses.force[1])
        self.best = self._chosen(where, seeds, score, TRIED, self.apart)
        tried = np.empty(0, np.intp)
        for _ in range(SWEEPS):
            where, seeds = self._with_neighbours()
            fresh = np.flatnonzero(~np.isin(where * PAIR + seeds, tried))
            ways = middles[:, where[fresh]] - self.tips[:, seeds[fresh]]
            guess = self._guess(self.bends[seeds[fresh]], self.poses.force[:, seeds[fresh]], ways)
            fresh = fresh[np.lexsort((guess, where[fresh]))]
            fresh = fresh[np.arange(fresh.size) - np.searchsorted(where[fresh], where[fresh]) < TRIED]
            if fresh.size == 0:
                break
            goals, width = middles[:, where[fresh]], self.bends.size
            settled_poses = settled(springs, self.poses[seeds[fresh]], goals, ROUNDS)
            self.poses = SpringPoses.joined((self.poses, settled_poses.poses[settled_poses.done]))
            self.tips = np.hstack((self.tips, goals[:, settled_poses.done]))
            self.bends = np.append(self.bends, springs.bend(settled_poses.poses[settled_poses.done].rows))
            new = width + np.arange(self.bends.size - width)
            rows = where[fresh][settled_poses.done]
            tried = np.concatenate((tried, (where * PAIR + seeds)[fresh], rows * PAIR + new))
            self._choose(np.append(where, rows), np.append(seeds, new), middles)
        used, self.best = np.unique(self.best, return_inverse=True)
        self.best = self.best.reshape(self.rings * self.parts, -1) - (used[0] < 0)
        used = used[used >= 0]
        self.poses, self.tips, self.bends = self.poses[used], self.tips[:, used], self.bends[used]

    def _choose(self, where: Rows, seeds: Rows, middles: Floats) -> None:
        """Set what each part of the plane keeps, of the poses that may be there.

        Poses at its middle are of different kinds however little they differ: mirror images come close to one
        another where the chain is nearly straight. Others must be apart from these.
        """
        ways = middles[:, where] - self.tips[:, seeds]
        off, bends = np.hypot(*ways), self.bends[seeds]
        score = self._guess(bends, self.poses.force[:, seeds], ways) + FAR * off * (bends + self.slack)
        there = off < SAME
        chosen = self._chosen(where[there], seeds[there], score[there], KINDS, SAME)
        others = ~there
        for kind in chosen.T:
            other = kind[where]
            others &= (other < 0) | (self._apart(seeds, other) > self.apart)
        rest = self._chosen(where[others], seeds[others], score[others], KINDS, self.apart)
        both = np.hstack((chosen, rest))
        sector, column = np.nonzero(both >= 0)
        order = np.argsort(where * PAIR + seeds)
        place = np.searchsorted((where * PAIR + seeds)[order], sector * PAIR + both[sector, column])
        scores = np.full(both.shape, np.inf)
        scores[sector, column] = score[order[place]]
        self.best = np.take_along_axis(both, np.argsort(scores, axis=1, kind="stable")[:, :KINDS], axis=1)

    def _chosen(self, where: Rows, seeds: Rows, score: Floats, most: int, apart: float) -> Rows:
        """Return the poses (parts, most) of least score in each part, apart from those before; -1: none."""
        order = np.lexsort((score, where))
        where, seeds = where[order], seeds[order]
        best = np.full((self.rings * self.parts, most), -1)
        for kind in range(most):
            first = np.flatnonzero(np.diff(where, prepend=-1))
            best[where[first], kind] = seeds[first]
            other = self._apart(seeds, best[where, kind]) > apart
            where, seeds = where[other], seeds[other]
        return best

    def _apart(self, seeds: Rows, others: Rows) -> Floats:
        """Return how far poses are from others, as their largest turn inside the chain."""
        inner = self.poses.angles[1:]
        apart: Floats = np.abs(inner[:, seeds] - inner[:, others]).max(axis=0, initial=0.0)
        return apart


def held_by(springs: Springs, force: Floats) -> SpringPoses:
    """Return the poses that forces (2, m) in the frame of the last bone hold.

    They are walked from the tip to the root. A free root is at zero.
    """
    n, m = len(springs.rest), force.shape[1]
    poses = SpringPoses.none(n, m)
    heading, qx, qy, c, s = np.zeros(m), np.zeros(m), np.zeros(m), np.ones(m), np.zeros(m)
    fx, fy = force
    for i in range(n - 1, -1, -1):
        if i in springs.slid:
            wanted = springs.slide_weight * (c * fx + s * fy)
            poses.slides[i] = np.clip(wanted, springs.shortest[i], springs.longest[i])
        length = springs.lengths[i] + poses.slides[i]
        qx, qy = qx + length * c, qy + length * s
        if i or not springs.free_root:
            wanted = springs.rest[i] + springs.weights[i] * (qx * fy - qy * fx)
            poses.angles[i] = np.clip(wanted, springs.low[i], springs.high[i])
            heading = heading - poses.angles[i]
            (c,), (s,) = ARRAYS.cos_and_sin_of([heading])
    # The last bone's frame is turned by minus that from the base's.
    return SpringPoses(poses.angles, poses.slides, rotated(force, -heading))
