# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of a mechanism's bones aimed again: by Blender's rest matrices, whose axes are not quite orthonormal.

A rest matrix A of 32 bits is off by up to 1e-5: Blender turns the bone by A R A^-1, which also shears it, and
joints that close exactly in the plane open by as much. One or two steps of Newton's method close them again.
"""

from collections.abc import Collection, Mapping

import numpy as np

from ...core.inputs import Floats
from ...core.mechanism.joints import Kind, Points
from .posing import Motions, turning_matrices
from .read import GUIDE, PIN, RAM, TURN, RigMechanism

# Joints that are open by less, as a part of the size, are as closed as 32 bits allow; open by more, they are
# torn, and stay so.
_CLOSED, _TORN = 2e-8, 1e-4
_STEPS = 3
# Singular values of less, as a part of the greatest, are those of a dead point, in which nothing is aimed.
_RANK = 1e-4
# Conditions are so much surer than normal equations need.
_SURE = 0.1


def aimed(rig: RigMechanism, turns: Mapping[str, Floats], fixed: Collection[str]) -> dict[str, Floats]:
    """Return turns (m,) of bones against their parents that close the joints in Blender.

    fixed: bones that keep theirs. Rows that are torn keep them too.
    """
    found = dict(turns)
    free = [bone for bone in rig.bones if bone not in fixed]
    rows = _Openings(rig, found, free)
    wanting = np.flatnonzero((rows.most > _CLOSED) & (rows.most < _TORN))
    if not len(wanting) or not free:
        return found
    inverse = _inverses(rows.slopes[wanting])  # which steps so small do not change
    for _ in range(_STEPS):
        step = np.zeros((len(rows.most), len(free)))
        step[wanting] = (inverse @ rows.off[wanting, :, None])[..., 0]
        new = found | {bone: found[bone] - step[:, column] for column, bone in enumerate(free)}
        new_rows = _Openings(rig, new, free, sloped=False)
        better = new_rows.most < rows.most  # at a dead point it may not be
        found = {bone: np.where(better, new[bone], found[bone]) for bone in found}
        left = better[wanting] & (new_rows.most[wanting] > _CLOSED)
        if not better[wanting].all() or not left.any():
            break
        rows, wanting, inverse = new_rows, wanting[left], inverse[left]
    return found


def _inverses(slopes: Floats) -> Floats:
    """Return the pseudoinverses (k, n, e) of matrices (k, e, n), without the small singular values.

    By normal equations, which take a fifth of the time, where all singular values are great enough: a matrix
    and its inverse have a condition of no more than the product of their norms.
    """
    across = slopes.swapaxes(1, 2)
    tall = slopes.shape[1] >= slopes.shape[2]
    normal = across @ slopes if tall else slopes @ across
    try:
        inverse = np.linalg.inv(normal)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(slopes, rcond=_RANK)
    found: Floats = inverse @ across if tall else across @ inverse
    norms = np.linalg.norm(normal, axis=(1, 2)) * np.linalg.norm(inverse, axis=(1, 2))
    few = np.flatnonzero(~(norms < _SURE / _RANK**2))
    found[few] = np.linalg.pinv(slopes[few], rcond=_RANK)
    return found


class _Openings:
    """By how much joints are open (m, e), in sizes, and the slopes (m, e, n) by the turns of bones.

    sloped: False for no slopes.
    """

    def __init__(
        self, rig: RigMechanism, turns: Mapping[str, Floats], free: list[str], sloped: bool = True
    ) -> None:
        self._rig, self._free, self._sloped = rig, free, sloped
        own = {bone: turning_matrices(rig, bone, turns[bone]) for bone in rig.bones}
        self._motions = Motions.of_rotations(rig, own)
        self._count = len(next(iter(turns.values())))
        heads = [self._at(bone, rig.placed[bone].head) for bone in free if sloped]
        self._heads = np.stack(heads, axis=1) if heads else np.zeros((self._count, 0), complex)
        self._off: list[Floats] = []
        self._slopes: list[Floats] = []
        for joint in rig.joints:
            if joint.kind == RAM:
                self._add_ram(joint.bone, joint.other, joint.along)
                continue
            bone, other, place = joint.bone, joint.other, joint.place
            apart = self._at(bone, place) - self._at(other, place)
            moved = self._slope(self._at(bone, place), bone) - self._slope(self._at(other, place), other)
            if joint.kind == PIN:
                self._add(apart.real, moved.real)
                self._add(apart.imag, moved.imag)
                continue
            self._add_line(self._way(other, joint.along), other, apart, moved)
            if joint.kind == GUIDE:
                turned = sum_of(rig, turns, bone) - sum_of(rig, turns, other)
                turned = turned - 2.0 * np.pi * np.rint(turned / (2.0 * np.pi))
                self._add(turned * rig.size, (self._turns(bone) - self._turns(other)) * rig.size)
        for gear in (one for one in rig.core.joints if one.kind is Kind.GEAR):
            a, b = (str(rig.core.bodies[body]) for body in (gear.a, gear.b))
            turned = gear.ratio * sum_of(rig, turns, a) - sum_of(rig, turns, b)
            turned = turned - 2.0 * np.pi * np.rint(turned / (2.0 * np.pi))
            off = np.where(np.abs(turned) < _TORN, turned, 0.0)  # else whole turns are not counted
            self._add(off * rig.size, (gear.ratio * self._turns(a) - self._turns(b)) * rig.size)
        self.off = np.stack(self._off, axis=1) if self._off else np.zeros((self._count, 0))
        self.most = np.abs(self.off).max(axis=1, initial=0.0)
        self.slopes = (
            np.stack(self._slopes, axis=1) if self._slopes else np.zeros((self._count, 0, len(free)))
        )

    def _add(self, off: Floats, slopes: Floats) -> None:
        """Add a row of lengths: (m,), and its slopes (m, n)."""
        self._off.append(off / self._rig.size)
        if self._sloped:
            self._slopes.append(np.broadcast_to(slopes, (self._count, len(self._free))) / self._rig.size)

    def _add_line(self, line: Points, bone: str, apart: Points, moved: Points) -> None:
        """Add the distance of a way (m,), which moves by `moved` (m, n), from a line that a bone carries."""
        turned = np.conj(1j * line)[:, None] * self._turns(bone) * apart[:, None]
        self._add((np.conj(line) * apart).imag, (turned + np.conj(line)[:, None] * moved).imag)

    def _add_ram(self, barrel: str, rod: str, along: Floats) -> None:
        ends = [self._at(bone, self._rig.placed[bone].head) for bone in (barrel, rod)]
        way, moved = ends[1] - ends[0], self._slope(ends[1], rod) - self._slope(ends[0], barrel)
        for bone in (barrel, rod):
            self._add_line(self._way(bone, along), bone, way, moved)
        if any(one.kind == RAM and one.bone == barrel for one in self._rig.drivers):
            self._add(np.zeros(self._count), ((np.conj(way) / np.abs(way))[:, None] * moved).real)

    def _flat(self, places: Floats) -> Points:
        """Return directions (m, 3) in the plane as complex numbers (m,)."""
        flat: Points = places @ self._rig.plane.x + 1j * (places @ self._rig.plane.y)
        return np.broadcast_to(flat, self._count)

    def _at(self, bone: str, place: Floats) -> Points:
        return self._flat(self._motions.at(bone, place))

    def _way(self, bone: str, along: Floats) -> Points:
        line: Points = self._flat(self._motions.turned[bone] @ along)
        way: Points = line / np.abs(line)
        return way

    def _turns(self, bone: str) -> Floats:
        """Return 1 for each bone (n,) that turns a bone: it, and those above it; else 0."""
        above = set()
        while bone:
            above.add(bone)
            bone = self._rig.placed[bone].parent
        return np.array([float(one in above) for one in self._free])

    def _slope(self, place: Points, bone: str) -> Points:
        """Return how places (m,) of a bone move, (m, n), for each turn."""
        if not self._sloped:
            return np.zeros((1, 1), complex)
        moved: Points = 1j * (place[:, None] - self._heads) * self._turns(bone)
        return moved


def sum_of(rig: RigMechanism, turns: Mapping[str, Floats], bone: str) -> Floats:
    """Return the turn (m,) of a bone against the frame, by the turns against their parents."""
    turned = np.zeros(1)
    while bone:
        turned, bone = turned + turns[bone], rig.placed[bone].parent
    return turned


def fixed_bones(rig: RigMechanism) -> set[str]:
    """Return the bones whose turns are given."""
    return {one.bone for one in rig.drivers if one.kind == TURN}
