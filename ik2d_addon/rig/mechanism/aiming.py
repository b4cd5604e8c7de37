# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of a mechanism's bones aimed again: by Blender's rest matrices, whose axes are not quite orthonormal.

A rest matrix A of 32 bits is off by up to 1e-5: Blender turns the bone by A R A^-1, which also shears it, and
joints that close exactly in the plane open by as much. One or two steps of Newton's method close them again.
"""

from collections.abc import Collection, Mapping

import numpy as np

from ...core.affine import crosses
from ...core.arithmetic import cos_and_sin
from ...core.inputs import Floats
from ...core.mechanism.joints import Kind, Points
from .read import GUIDE, PIN, RAM, TURN, RigMechanism
from .values import turning_axis

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
    inverse = _inverses(rows.slopes.take(wanting, 2))  # which steps so small do not change
    for _ in range(_STEPS):
        step = np.zeros((len(free), len(rows.most)))
        step[:, wanting] = np.einsum("nem,em->nm", inverse, rows.off.take(wanting, 1))
        new = found | {bone: found[bone] - step[row] for row, bone in enumerate(free)}
        new_rows = _Openings(rig, new, free, sloped=False)
        better = new_rows.most < rows.most  # at a dead point it may not be
        found = {bone: np.where(better, new[bone], found[bone]) for bone in found}
        left = better[wanting] & (new_rows.most[wanting] > _CLOSED)
        if not better[wanting].all() or not left.any():
            break
        rows, wanting, inverse = new_rows, wanting[left], inverse.compress(left, 2)
    return found


def _inverses(slopes: Floats) -> Floats:
    """Return the pseudoinverses (n, e, k) of matrices (e, n, k), without the small singular values.

    By normal equations, which take a twentieth of the time, where all singular values are great enough: a
    matrix and its inverse have a condition of no more than the product of their norms.
    """
    tall = len(slopes) >= slopes.shape[1]
    wide = np.ascontiguousarray(slopes.swapaxes(0, 1)) if tall else slopes
    normal = np.einsum("ink,jnk->ijk", wide, wide)
    with np.errstate(all="ignore"):  # of singular ones
        inverse = _swept(normal)
        norms = np.linalg.norm(normal, axis=(0, 1)) * np.linalg.norm(inverse, axis=(0, 1))
        few = np.flatnonzero(~(norms < _SURE / _RANK**2))
        across = np.einsum("ijk,jnk->ink", inverse, wide)
    found: Floats = across if tall else across.swapaxes(0, 1)
    if len(few):
        found[..., few] = np.linalg.pinv(slopes[..., few].transpose(2, 0, 1), rcond=_RANK).transpose(1, 2, 0)
    return found


def _swept(matrices: Floats) -> Floats:
    """Return the inverses of symmetric positive matrices (n, n, k), by Gauss and Jordan's method."""
    found = matrices.copy()
    for row in range(len(found)):
        column, pivot = found[:, row].copy(), found[row, row].copy()
        column[row] -= 1.0
        found[:, row] = 0.0
        found[row, row] = 1.0
        found -= column[:, None] * (found[row] / pivot)
    return found


class _Openings:
    """By how much joints are open (e, m), in sizes, and the slopes (e, n, m) by the turns of bones.

    In the frame, a place z = x + i y at rest and d out of the plane is at  turn z + shear z* + lean d + at.
    Where it is out of the plane is not looked at: it leads back by as little as shear and lean, squared.
    sloped: False for no slopes.
    """

    def __init__(
        self, rig: RigMechanism, turns: Mapping[str, Floats], free: list[str], sloped: bool = True
    ) -> None:
        self._rig, self._free, self._sloped = rig, free, sloped
        self._count = len(next(iter(turns.values())))
        self._motions = _motions(rig, turns)
        self._heads = np.array([self._at(bone, rig.placed[bone].head) for bone in free if sloped])
        self._off: list[Floats] = []
        self._slopes: list[Floats] = []
        for joint in rig.joints:
            if joint.kind == RAM:
                self._add_ram(joint.bone, joint.other, joint.along)
                continue
            bone, other, place = joint.bone, joint.other, joint.place
            ends = self._at(bone, place), self._at(other, place)
            apart, moved = ends[0] - ends[1], self._slope(ends[0], bone) - self._slope(ends[1], other)
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
        self.off = np.empty((len(self._off), self._count))
        self.slopes = np.empty((len(self._slopes), len(free), self._count))
        for rows, each in ((self.off, self._off), (self.slopes, self._slopes)):
            for row, one in zip(rows, each, strict=True):
                np.divide(one, rig.size, out=row)
        self.most = np.abs(self.off).max(axis=0, initial=0.0)

    def _add(self, off: Floats, slopes: Floats) -> None:
        """Add a row of lengths: (m,), and its slopes (n, m)."""
        self._off.append(off)
        if self._sloped:
            self._slopes.append(slopes)

    def _add_line(self, line: Points, bone: str, apart: Points, moved: Points) -> None:
        """Add the distance of a way (m,), which moves by `moved` (n, m), from a line that a bone carries."""
        turned = np.conj(1j * line) * apart * self._turns(bone)
        self._add((np.conj(line) * apart).imag, (turned + np.conj(line) * moved).imag)

    def _add_ram(self, barrel: str, rod: str, along: Floats) -> None:
        ends = [self._at(bone, self._rig.placed[bone].head) for bone in (barrel, rod)]
        way, moved = ends[1] - ends[0], self._slope(ends[1], rod) - self._slope(ends[0], barrel)
        for bone in (barrel, rod):
            self._add_line(self._way(bone, along), bone, way, moved)
        if any(one.kind == RAM and one.bone == barrel for one in self._rig.drivers):
            self._add(np.zeros(self._count), ((np.conj(way) / np.abs(way)) * moved).real)

    def _at(self, bone: str, place: Floats) -> Points:
        """Return where a place (3,) of a bone is (m,)."""
        at: Points = _flat(self._rig, place, 1.0) @ self._motions[bone]
        return at

    def _way(self, bone: str, along: Floats) -> Points:
        line = _flat(self._rig, along, 0.0) @ self._motions[bone]
        way: Points = line / np.abs(line)
        return way

    def _turns(self, bone: str) -> Floats:
        """Return 1 for each bone (n, 1) that turns a bone: it, and those above it; else 0."""
        above = set()
        while bone:
            above.add(bone)
            bone = self._rig.placed[bone].parent
        return np.array([[float(one in above)] for one in self._free])

    def _slope(self, place: Points, bone: str) -> Points:
        """Return how places (m,) of a bone move, (n, m), for each turn."""
        if not self._sloped:
            return np.zeros((1, 1), complex)
        moved = np.zeros(self._heads.shape, complex)
        for row in np.flatnonzero(self._turns(bone)):
            np.multiply(1j, place - self._heads[row], out=moved[row])
        return moved


def _motions(rig: RigMechanism, turns: Mapping[str, Floats]) -> dict[str, Points]:
    """Return the motions (4, m) of bones for their turns (m,) against their parents; the frame's as "".

    A bone turns by  A R A^-1,  A its rest matrix and R = 1 + sin K + (1 - cos) K^2 by Rodrigues' formula.
    """
    plane = np.array((rig.plane.x, rig.plane.y, rig.plane.normal))
    across = crosses(np.array([turning_axis(rig, bone) for bone in rig.placed]))
    rests, inverses = (
        np.array([getattr(one, name) for one in rig.placed.values()]) for name in ("rest", "inverse")
    )
    images = plane @ rests @ np.stack((across, across @ across)) @ inverses @ plane.T  # (2, n, 3, 3)
    x, y, normal = np.moveaxis(images[..., 0, :] + 1j * images[..., 1, :], -1, 0)
    parts = 0.5 * np.stack((x - 1j * y, x + 1j * y, 2.0 * normal))  # (3, 2, n)
    cosines, sines = cos_and_sin(np.array([turns[bone] for bone in rig.placed]))
    shares = np.stack((sines, 1.0 - cosines), axis=1)  # (n, 2, m)
    own = (parts.swapaxes(1, 2)[:, :, None] @ shares)[:, :, 0]  # (3, n, m)
    own[0] += 1.0
    motions = {"": np.zeros((4, own.shape[2]), complex)}
    motions[""][0] = 1.0
    for row, (bone, placed) in enumerate(rig.placed.items()):
        head, above = _flat(rig, placed.head, 1.0), motions[placed.parent]
        motions[bone] = moved = np.empty_like(above)
        if placed.parent:
            turn, shear, lean = own[:, row]
            moved[0] = above[0] * turn + above[1] * np.conj(shear)
            moved[1] = above[0] * shear + above[1] * np.conj(turn)
            moved[2] = above[0] * lean + above[1] * np.conj(lean) + above[2]
        else:
            moved[:3] = own[:, row]
        moved[3] = head @ above - head[:3] @ moved[:3]
    return motions


def _flat(rig: RigMechanism, way: Floats, share: float) -> Points:
    """Return z, z*, d and 1 of a place (3,), share 1; or 0 of a way, share 0."""
    z = complex(way @ rig.plane.x, way @ rig.plane.y)
    return np.array((z, z.conjugate(), way @ rig.plane.normal, share))


def sum_of(rig: RigMechanism, turns: Mapping[str, Floats], bone: str) -> Floats:
    """Return the turn (m,) of a bone against the frame, by the turns against their parents."""
    turned = np.zeros(1)
    while bone:
        turned, bone = turned + turns[bone], rig.placed[bone].parent
    return turned


def fixed_bones(rig: RigMechanism) -> set[str]:
    """Return the bones whose turns are given."""
    return {one.bone for one in rig.drivers if one.kind == TURN}
