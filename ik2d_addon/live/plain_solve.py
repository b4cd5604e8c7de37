# SPDX-License-Identifier: GPL-3.0-or-later
"""The solve of one chain for one target in plain numbers, for the chains that are like most.

It gives the answers of `bake.solving`, by the same formulas and the same families of poses, without what
numpy's calls take for a single frame. Where a chain or a target is out of the ordinary it gives None:
the bake's own way is the one to go then.
"""

from dataclasses import dataclass
from math import atan2, cos, hypot, inf, isfinite, pi, remainder, sin

import numpy as np

from ..bake.solving.frames import CORRECTIONS
from ..bake.solving.problem import FINE
from ..core import Chain, Status
from ..core.chain import FAR
from ..core.even.joined import Joined, joined
from ..core.even.search import family_of
from ..core.even.single import SingleFamily
from ..core.softness import soft_targets
from ..core.triangle import two_bone_pose
from ..core.two_bone import HUGE, ZERO_LENGTH
from ..rig.chain.chain import RigChain
from ..rig.pose.kinematics import Link, angles_before, read_linkage
from ..rig.scene.samples import ChainSamples
from .writing import changes_lengths

TURN = 2.0 * pi
# Lengths (as parts of the reach) and angles that differ by less are the same: those of one straight chain,
# seen in two planes through it.
_ALIKE = 1e-5


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one target. Lengths are those of the chain's rest space."""

    turns: list[float]  # (n,) radians about each bone's local axis
    status: int  # Status
    residual: float  # tip to target, as seen along the plane's normal
    softened: bool = False


class PlainSolver:
    """A chain as it is held, in plain numbers."""

    def __init__(self, rig: RigChain, chain: Chain, links: tuple[Link, ...], unturned: np.ndarray) -> None:
        self.chain = chain
        self.lengths: list[float] = chain.lengths.tolist()
        self.inner, self.outer = chain.reach
        self.unturned: list[float] = unturned.tolist()
        self.tolerance = chain.tolerance_or_default(rig.tolerance)
        self.fine = FINE * float(chain.lengths.sum())
        self.links = [
            (*np.reshape(link.hold, 4).tolist(), *np.reshape(link.end, 2).tolist()) for link in links
        ]
        self.limits = [
            (i, *limits) for i, limits in enumerate(chain.ranges.tolist()) if limits != [-inf, inf]
        ]
        self.ways: dict[float, _Two | _Even] = {}
        self.families: dict[float, SingleFamily] = {}

    def solve(self, x: float, y: float, bend: float, softness: float) -> Answer | None:
        """Return how the joints turn for a target in the plane, from the chain's root; None: see above."""
        distance = hypot(x, y)
        if not (isfinite(distance) and distance < FAR * self.outer and abs(bend) == 1.0):
            return None
        status = self._status(distance)
        aim_x, aim_y = x, y
        if softness > 0.0:
            aim_x, aim_y = soft_targets(self.chain, np.array((x, y)), np.array(softness)).tolist()
        turns = self._way(bend).turns(aim_x, aim_y, reached=status == Status.REACHED)
        if turns is None or not self._within(turns):
            return None
        if softness > 0.0:
            tip_x, tip_y = self.tip(turns)
            return Answer(turns, status, hypot(x - tip_x, y - tip_y), True)
        return Answer(turns, status, max(distance - self.outer, self.inner - distance, 0.0))

    def tip(self, turns: list[float]) -> tuple[float, float]:
        """Return where Blender's own forward kinematics has the tip of local turns (n,), from the root."""
        x, y = self.arm(turns)
        a, b, c, d, _, _ = self.links[0]
        cosine, sine = cos(turns[0]), sin(turns[0])
        x, y = cosine * x - sine * y, sine * x + cosine * y
        return a * x + b * y, c * x + d * y

    def arm(self, turns: list[float]) -> tuple[float, float]:
        """Return the tip as the first bone, turned, sees it."""
        x, y = self.links[-1][4:]
        for i in range(len(turns) - 1, 0, -1):
            cosine, sine = cos(turns[i]), sin(turns[i])
            x, y = cosine * x - sine * y, sine * x + cosine * y
            a, b, c, d, _, _ = self.links[i]
            end_x, end_y = self.links[i - 1][4:]
            x, y = a * x + b * y + end_x, c * x + d * y + end_y
        return x, y

    def looks_like(self, other: "PlainSolver") -> bool:
        """Return whether two chains have the same lengths and rest, but for what 32 bits cannot hold."""
        lengths = np.abs(np.subtract(self.lengths, other.lengths)).max()
        angles = np.abs(np.subtract(self.unturned[1:], other.unturned[1:])).max()
        return bool(max(lengths, angles * self.outer) <= _ALIKE * self.outer)

    def family(self, part: Joined, bend: float) -> SingleFamily:
        """Return the family of poses of a side, made once."""
        if bend not in self.families:
            self.families[bend] = SingleFamily(family_of(part, bend))
        return self.families[bend]

    def _status(self, distance: float) -> int:
        if distance > self.outer + self.tolerance:
            return int(Status.TOO_FAR)
        return int(Status.TOO_CLOSE if distance < self.inner - self.tolerance else Status.REACHED)

    def _within(self, turns: list[float]) -> bool:
        """Return whether all joints are within their limits, by the numbers nearest to rest."""
        unturned = self.unturned
        return all(low <= turns[i] + unturned[i] <= high for i, low, high in self.limits)

    def _way(self, bend: float) -> "_Two | _Even":
        way = self.ways.get(bend)
        if way is None:
            way = self.ways[bend] = _Two(self, bend) if len(self.lengths) == 2 else _Even(self, bend)
        return way


class _Two:
    """The analytic solve of two bones."""

    def __init__(self, plain: PlainSolver, bend: float) -> None:
        self.plain, self.bend = plain, bend

    def turns(self, x: float, y: float, reached: bool) -> list[float]:
        """Return the local turns (2,); where the target is reached, aimed again at what they miss by."""
        plain = self.plain
        distance = hypot(x, y)
        turns = self._once(x, y, distance)
        if reached and distance > 0.0:
            part = min(max(distance, plain.inner), plain.outer) / distance
            wanted_x, wanted_y = x * part, y * part
            for _ in range(CORRECTIONS):
                tip_x, tip_y = plain.tip(turns)
                off_x, off_y = wanted_x - tip_x, wanted_y - tip_y
                if abs(off_x) <= plain.fine and abs(off_y) <= plain.fine:
                    break
                x, y = x + off_x, y + off_y
                turns = self._once(x, y, hypot(x, y))
        return turns

    def _once(self, x: float, y: float, distance: float) -> list[float]:
        first, second = self.plain.lengths
        own_first, own_second = self.plain.unturned
        angle1, angle2 = two_bone_pose(first, second, x, y, distance, self.bend)
        if distance == 0.0:  # at the root every direction is as good: keep the one that was
            angle1 = own_first
        return [remainder(angle1 - own_first, TURN), remainder(angle2 - own_second, TURN)]


class _Even:
    """The pose of least bend of a chain whose root turns freely."""

    def __init__(self, plain: PlainSolver, bend: float) -> None:
        chain = plain.chain
        self.plain = plain
        part = _joined(chain, np.array(plain.unturned))
        self.size = part.reach * plain.outer
        self.family = plain.family(part, bend)
        # Of the family's angles a: turn = share (a[k] - rest[k]) of each inner joint of the chain.
        rest = part.rest.tolist()
        self.shares = [
            (k, share, rest[k]) for k, share in zip(part.joint.tolist(), part.part.tolist(), strict=True)
        ]
        # Where its distances are wanted that it has not, joints of no weight stand in the way.
        self.nearest = self.family.nearest * self.size - plain.tolerance
        self.farthest = self.family.farthest * self.size + plain.tolerance

    def turns(self, x: float, y: float, reached: bool) -> list[float] | None:
        """Return the local turns (n,); where the target is reached, by Blender's forward kinematics.

        The distance decides how the inner joints turn; then the root turns the tip to the target.
        """
        plain, family, size = self.plain, self.family, self.size
        if not reached:
            return self._missing(x, y)
        a, b, c, d, _, _ = plain.links[0]
        determinant = a * d - b * c
        x, y = (d * x - b * y) / determinant, (a * y - c * x) / determinant  # as the root has it, unturned
        distance = hypot(x, y)
        if not self.nearest <= distance <= self.farthest:
            return None
        found = family.find(distance / size)
        turns = self._inner(found)
        arm_x, arm_y = plain.arm(turns)
        wanted = min(max(distance, family.nearest * size), family.farthest * size)
        off = wanted - hypot(arm_x, arm_y)
        if abs(off) > plain.fine:
            turns = self._inner(family.nudged(found, distance / size, off / size))
            arm_x, arm_y = plain.arm(turns)
        if distance > 0.0:
            turns[0] = remainder(atan2(y, x) - atan2(arm_y, arm_x), TURN)
        return turns

    def _missing(self, x: float, y: float) -> list[float]:
        """Return the local turns (n,) for a target out of reach, by the solver's own forward kinematics."""
        plain = self.plain
        turns = self._inner(self.family.find(hypot(x, y) / self.size))
        tip_x, tip_y, heading = plain.lengths[0], 0.0, 0.0
        for length, turn, own in zip(plain.lengths[1:], turns[1:], plain.unturned[1:], strict=True):
            heading += own + turn
            tip_x += length * cos(heading)
            tip_y += length * sin(heading)
        if x or y:
            turns[0] = remainder(atan2(y, x) - atan2(tip_y, tip_x) - plain.unturned[0], TURN)
        return turns

    def _inner(self, found) -> list[float]:
        """Return the turns (n,) of a place in the family, the root's zero."""
        pose = self.family.pose(found)
        return [0.0, *(share * (pose[k] - rest) for k, share, rest in self.shares)]


def _joined(chain: Chain, rest: np.ndarray) -> Joined:
    weights = np.ones(len(chain) - 1) if chain.weights is None else chain.weights[1:]
    return joined(chain.lengths / chain.reach[1], weights, rest[1:])


def plain_solver(rig: RigChain, samples: ChainSamples, like: PlainSolver | None = None) -> PlainSolver | None:
    """Return a chain in plain numbers as one frame has it held; None where it is out of the ordinary.

    like: the same chain in another plane, whose families of poses are taken where it looks the same there.
    """
    joints = rig.joints
    if rig.solver not in ('TWO_BONE', 'EVEN') or joints.askew or joints.fixed.any() or changes_lengths(rig):
        return None
    linkage = read_linkage(rig, samples)
    if linkage.blender_tips or not linkage.planar or not all(link.inherits for link in linkage.links):
        return None
    lengths, headings = linkage.unturned()
    unturned = angles_before(headings)[0]
    chain = Chain(lengths[0], joints.limits_from(unturned), joints.weights)
    outer = chain.reach[1]
    if len(chain) < 2 or chain.is_sliding or not 1.0 / HUGE < outer < HUGE:
        return None
    if rig.solver == 'TWO_BONE':
        if (joints.weights == 0.0).any() or chain.lengths.min() <= ZERO_LENGTH * outer:
            return None
    else:
        if not rig.root_turns_freely or joints.weights[0] == 0.0:
            return None
        part = _joined(chain, unturned)
        # Joints that stay at rest, by their weights or their places, would stand in the family's way.
        if part.rest.size == 0 or part.root or abs(part.reach - 1.0) > 1e-12:
            return None
    plain = PlainSolver(rig, chain, linkage.links, unturned)
    if like is not None and rig.solver == 'EVEN' and plain.looks_like(like):
        plain.families = like.families
    return plain
