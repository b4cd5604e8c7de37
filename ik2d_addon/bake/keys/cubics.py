# SPDX-License-Identifier: GPL-3.0-or-later
"""Between two keys: the cubics that bring a chain's tip nearest to where it should be."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.affine import changed, product
from ...core.inputs import Floats
from ...core.solution import Steps
from ...rig.animation.bone_channels import BoneChannels, BoneRotation, turning
from ...rig.chain.chain import RigChain
from ...rig.pose.kinematics import Linkage, read_linkage, tips_together
from ...rig.scene.samples import ChainSamples

# How often a segment's slopes are corrected, each time with more weight where the tip is furthest off.
PASSES = 2
# Of the furthest, what the weight of a sample that is not off at all is multiplied by.
_LEAST_WEIGHT = 1e-3
# A joint's error counts in the fit as this part of what it can do to the tip, so that joints do not
# stray far to make up for one another.
JOINTS = 0.1
# Slopes that the samples of a segment leave open stay as they were, by a pull this weak.
_PULL = 1e-6
# A channel that changes by no more than this, by the noise in the bones' axes, is left to itself.
_STILL = 1e-5
# A channel is moved by this much to see how it moves the tip: radians, or parts of a quaternion.
_STEP = 1e-6
# Marks at the end of the first bone, in parts of its length: at a quarter of it aside.
_MARKS = np.array(((0.25, 1.0, 0.0), (0.0, 1.0, 0.25)))
# Tips are worked out for so many times at once, which the processor keeps at hand.
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class PlayedChain:
    """One chain's channels as Blender plays them, at all times that were solved.

    With handles at a third and two thirds of its time, a Bezier segment is a cubic polynomial of time.
    """

    linkage: Linkage
    to_world: Floats  # (times, 4, 4) from rest space
    modes: list[str | None]  # the rotation mode of each bone; None for one that is held
    widths: list[int]  # how many channels each bone has
    times: Floats  # (times,)
    channels: Floats  # (times, c) those of all bones side by side, as every frame's keys would have them
    # Of each bone whose location is keyed, behind all rotations: its place in the chain, and which channels
    # of three; and all the locations of the chain (times, n, 3) without what is keyed.
    located: Sequence[tuple[int, Sequence[int]]] = ()
    bases: Floats | None = None
    # (k, 3) points in the first bone's space, where its plane follows the target: what turns it about the
    # line to the target does not move the tip
    marks: Floats | None = None

    def tips(self, channels: Floats, rows: slice) -> Floats:
        """Return the tips (m, 3) in rest space for channels (m, c) at some of the times."""
        return _tips_in_rest([self], channels.T[:, None], rows)[:, 0].T

    def marked(self, channels: Floats) -> Floats:
        """Return the marks (m, k, 3), as the first bone's channels turn them, for channels (m, c)."""
        if self.marks is None or self.modes[0] is None:
            return np.empty((len(channels), 0, 3))
        turn = turning(self.modes[0], channels[:, : self.widths[0]])
        points = [turn(np.repeat(mark[:, None], len(channels), axis=1)) for mark in self.marks]
        return np.moveaxis(np.array(points), 2, 0)

    @property
    def kind(self) -> Hashable:
        """What chains have in common whose tips are worked out as one array: which numbers they have."""
        links = [
            (link.inherits, link.own.ndim, link.local.ndim, link.upright.ndim) for link in self.linkage.links
        ]
        located = [(bone, tuple(keyed)) for bone, keyed in self.located]
        still = self.to_world.strides[0] == 0, self.bases is None
        return len(self.channels), *self.modes, *self.widths, *links, *located, *still


def tips_of(chains: Sequence[PlayedChain]) -> Steps[list[Floats]]:
    """Return the tips (times, 3) in the world of each chain, those of one kind as one array.

    Yields the number of chains done.
    """
    tips, done = [np.empty((len(chain.channels), 3)) for chain in chains], 0
    kinds: dict[Hashable, list[int]] = {}
    for number, chain in enumerate(chains):
        kinds.setdefault(chain.kind, []).append(number)
    for numbers in kinds.values():
        frames = len(tips[numbers[0]])
        most = max(1, _BLOCK // max(1, frames))
        for some in (numbers[first : first + most] for first in range(0, len(numbers), most)):
            for start in range(0, frames, _BLOCK):
                rows = slice(start, start + _BLOCK)
                together = _tips_together([chains[number] for number in some], rows)
                for number, places in zip(some, together, strict=True):
                    tips[number][rows] = places
            done += len(some)
            yield done
    return tips


def _tips_together(chains: Sequence[PlayedChain], rows: slice) -> Floats:
    """Return the tips (k, m, 3) in the world of k chains of one kind at some of the times."""
    first = chains[0]
    # Each channel side by side, which is faster: (c, k, m).
    channels = np.stack([chain.channels[rows].T for chain in chains], axis=1, dtype=np.float64)
    tips = np.moveaxis(_tips_in_rest(chains, channels, rows), 0, -1)
    if first.to_world.strides[0] == 0:
        to_world = np.array([chain.to_world[0] for chain in chains])
        placed: Floats = tips @ to_world[:, :3, :3].swapaxes(1, 2) + to_world[:, None, :3, 3]
        return placed
    to_world = np.array([chain.to_world[rows] for chain in chains])
    placed = (to_world[..., :3, :3] @ tips[..., None])[..., 0] + to_world[..., :3, 3]
    return placed


def _tips_in_rest(chains: Sequence[PlayedChain], channels: Floats, rows: slice) -> Floats:
    """Return the tips (3, k, m) in rest space of k chains of one kind for channels (c, k, m)."""
    first, (_, count, frames) = chains[0], channels.shape
    parts = np.split(channels.reshape(len(channels), count * frames), np.cumsum(first.widths))
    turns = [
        None if mode is None else turning(mode, part.T)
        for mode, part in zip(first.modes, parts, strict=False)
    ]
    offsets, turned = {}, sum(first.widths)
    for k, (bone, keyed) in enumerate(first.located):
        offsets[bone] = np.zeros((count, frames, 3))
        if first.bases is not None:
            places = np.moveaxis(channels[turned + 3 * k : turned + 3 * k + 3], 0, -1)
            moved = places - np.array(
                [chain.bases[rows, bone] for chain in chains if chain.bases is not None]
            )
            offsets[bone][..., keyed] = moved[..., keyed]
    return tips_together([chain.linkage for chain in chains], turns, rows, frames, offsets)


def read_played(
    rig: RigChain,
    samples: ChainSamples,
    rotations: Sequence[BoneRotation],
    times: Sequence[float] | Floats,
    known: Linkage | None = None,
) -> PlayedChain:
    """Return the played chain for its rotations and the locations after them. known: of other times."""
    if samples.swings is not None:  # the first bone's channels hold them
        samples = changed(samples, swings=None)
    linkage = read_linkage(rig, samples, known)
    moved = [rotation for rotation in rotations if isinstance(rotation, BoneChannels)]
    by_bone = {rotation.bone: rotation for rotation in rotations if not isinstance(rotation, BoneChannels)}
    return PlayedChain(
        linkage,
        to_world=product(samples.world, linkage.to_pose),
        modes=[
            (by_bone[bone.name].mode or bone.rotation_mode) if bone.name in by_bone else None
            for bone in rig.pose_bones
        ],
        widths=[by_bone[name].values.shape[1] if name in by_bone else 0 for name in rig.bones],
        times=np.array(times),
        channels=np.concatenate([rotation.values for rotation in rotations], axis=1),
        located=[(rig.bones.index(one.bone), one.channels) for one in moved],
        bases=samples.bases[:, :, :3, 3] if moved else None,
        marks=None if rig.swing is None else rig.pose_bones[0].bone.length * _MARKS,
    )


class Cubics:
    """Fits a chain's channels by cubics from key to key.

    For the fit, to first order: `rates` (times, 3, v), how each of the v channels that turn at all
    moves the tip in the world, and `swings` (times, v), how it turns its bone, as much as that counts.
    """

    def __init__(self, played: PlayedChain, rotations: Sequence[BoneRotation]) -> None:
        self.played, self.times, self.channels = played, played.times, played.channels
        self._all_tips = played.tips(played.channels, slice(None))
        self._all_marks = played.marked(played.channels)
        self._sizes = np.linalg.norm(played.to_world[:, :3, :3], axis=1).max(axis=1)
        self._slopes = np.gradient(played.channels, played.times, axis=0)
        self._turning = np.flatnonzero(np.ptp(played.channels, axis=0) > _STILL)
        steps = _STEP * np.eye(played.channels.shape[1])[self._turning]
        moved = [self._misses(step, slice(None)) / _STEP for step in steps]
        self._rates = np.stack(moved, axis=2) if moved else np.zeros((len(played.times), 3, 0))
        reach = np.sqrt((self._rates**2).sum(axis=1).max(initial=0.0))
        self._swings = JOINTS * reach * _swings(rotations)[:, self._turning]
        self._same_bone = _same_bone(rotations)[np.ix_(self._turning, self._turning)]

    def fit(self, first: int, last: int) -> tuple[Floats, float]:
        """Return the slopes (2, c) at both ends of a segment, over its whole length, and the tip's error.

        The error is the largest between the keys, a length in the world; where the plane follows the target
        also that of the marks on the first bone. The slopes are those of the
        least sum of squares: first of the channels' errors, then, by Gauss-Newton, of the tip's, in
        which the joints make up for one another, with a little of the joints' own.
        """
        rows, channels = slice(first + 1, last), self.played.channels
        gap = self.played.times[last] - self.played.times[first]
        at_ends, at_slopes = hermite((self.played.times[rows] - self.played.times[first]) / gap)
        unsloped = at_ends @ channels[[first, last]] - channels[rows]
        slopes = gap * self._slopes[[first, last]]
        slopes = slopes - solved_normal(
            at_slopes.T @ at_slopes, at_slopes.T @ (unsloped + at_slopes @ slopes)
        )
        best, error, weights = slopes, np.inf, np.ones(len(at_slopes))
        for more in range(PASSES, -1, -1):
            off = unsloped + at_slopes @ slopes
            missed = self._misses(off, rows)
            distances = np.maximum(np.sqrt((missed * missed).sum(axis=1)), self._turned_off(off, rows))
            worst = float(distances.max(initial=0.0))
            if worst < error:
                best, error = slopes, worst
            if not (more and worst and len(self._turning)):
                break
            slopes = slopes.copy()
            slopes[:, self._turning] -= self._correction(rows, at_slopes, off, missed, weights)
            weights = weights * (distances / worst + _LEAST_WEIGHT)
        return best, error

    def _misses(self, off: Floats, rows: slice) -> Floats:
        """Return the misses of the tips (m, 3) in the world, for channels that are off by (m, c)."""
        offsets = self.played.tips(self.played.channels[rows] + off, rows) - self._all_tips[rows]
        missed: Floats = (self.played.to_world[rows, :3, :3] @ offsets[..., None])[..., 0]
        return missed

    def _turned_off(self, off: Floats, rows: slice) -> Floats:
        """Return the misses of the marks (m,) in the world, for channels that are off by (m, c)."""
        misses = self.played.marked(self.played.channels[rows] + off) - self._all_marks[rows]
        far: Floats = np.sqrt((misses**2).sum(axis=2)).max(axis=1, initial=0.0) * self._sizes[rows]
        return far

    def _correction(
        self, rows: slice, at_slopes: Floats, off: Floats, missed: Floats, weights: Floats
    ) -> Floats:
        """Return the correction to subtract from the slopes (2, v) of the channels that turn.

        Slope s_ej, of end e and channel j, moves channel j at sample m by b_me s_ej, with b from
        `hermite`; so to first order it moves the tip along axis k by r_mkj b_me s_ej, with the rates r.
        Sought is the s with the least

            sum_mk w_m (a_mk - sum_ej r_mkj b_me s_ej)^2  +  sum_m w_m |g_m(o_m - sum_e b_me s_e)|^2

        for the tip's distances a (missed), the channels' o (off), the samples' weights w, and g: the
        channels' changes as the turns of their bones, swing_mj o_mj added up over the channels of one
        bone. With J = sqrt(w) r b, a row for each (m, k) and a column for each (e, j), the first sum's
        normal equations are J^T J s = J^T sqrt(w) a, and the second's alike.

        off: (m, c) and missed: (m, 3) as in `_misses`. weights: (m,).
        """
        root = np.sqrt(weights)[:, None]
        basis = root * at_slopes
        tip = (self._rates[rows][:, :, None] * basis[:, None, :, None]).reshape(missed.size, -1)
        joint = (self._swings[rows][:, None] * basis[..., None]).reshape(len(off), -1)
        turned = (self._swings[rows] * off[:, self._turning]) @ self._same_bone
        normal = tip.T @ tip + (joint.T @ joint) * np.tile(self._same_bone, (2, 2))
        wanted = tip.T @ (root * missed).ravel() + (joint * np.tile(root * turned, 2)).sum(axis=0)
        return solved_normal(normal, wanted).reshape(2, -1)


def hermite(u: Floats) -> tuple[Floats, Floats]:
    """Return the Hermite weights of the ends (m, 2) and of their slopes (m, 2) at u (m,) in 0..1."""
    rest = 1.0 - u
    at_ends = np.column_stack((rest * rest * (1.0 + 2.0 * u), u * u * (3.0 - 2.0 * u)))
    return at_ends, np.column_stack((u * rest * rest, -u * u * rest))


def _swings(rotations: Sequence[BoneRotation]) -> Floats:
    """Return the speed (times, c) at which each channel turns its bone; a quaternion's length turns none."""
    swings = []
    for rotation in rotations:
        values = rotation.values
        swing = np.ones_like(values)
        if rotation.property == "rotation_quaternion":
            lengths = np.linalg.norm(values[:, 1:], axis=1)
            axis = values[np.argmax(lengths), 1:] / (lengths.max() or 1.0)
            swing = 2.0 * np.column_stack((-values[:, 1:] @ axis, np.outer(values[:, 0], axis)))
        swings.append(swing)
    return np.concatenate(swings, axis=1)


def _same_bone(rotations: Sequence[BoneRotation]) -> Floats:
    """Return a matrix (c, c), 1.0 for channels that turn a bone together, as a quaternion's do."""
    numbers: list[int] = []
    for rotation in rotations:
        width, new = rotation.values.shape[1], len(numbers)
        together = rotation.property == "rotation_quaternion"
        numbers += [new] * width if together else range(new, new + width)
    return np.equal.outer(numbers, numbers).astype(float)


def solved_normal(normal: Floats, wanted: Floats) -> Floats:
    """Return the solution (k, ..) of normal equations (k, k), a small one where they leave a choice.

    By elimination: numpy's own solver starts threads for each call, which costs more than the rest.
    """
    size = len(normal)
    pull = _PULL * np.trace(normal) / size or 1.0
    left, right = normal + pull * np.eye(size), np.array(wanted)
    for i in range(size - 1):
        factors = left[i + 1 :, i] / left[i, i]
        left[i + 1 :, i:] -= factors[:, None] * left[i, i:]
        right[i + 1 :] -= np.multiply.outer(factors, right[i])
    for i in range(size - 1, -1, -1):
        right[i] = (right[i] - left[i, i + 1 :] @ right[i + 1 :]) / left[i, i]
    return right
