# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's forward kinematics of a planar chain, over all frames at once: where turns put joints and tip."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Plane
from ...core.affine import Rotate, at_all, changed, crossed, inverse, one_or_all, rotations_about, unrepeated
from ...core.arithmetic import cos_and_sin, summed_up
from ...core.inputs import Floats, unwrapped, wrapped
from ..chain.chain import RigChain
from ..chain.joints import normals_in
from ..chain.slides import Slides
from ..rest import rest_matrix
from ..scene.carried import posed_by_blender
from ..scene.samples import ChainSamples
from .bone_matrices import (
    first_rotations,
    held_unturned,
    location_axes,
    own_transforms,
    rest_to_pose,
    scale_apart,
    takes_all,
    transforms,
    translation,
)

# Offsets {bone: (frames, 3)} of the locations of some bones of a chain, by their numbers.
Offsets = Mapping[int, Floats]
_ONE = np.eye(3)


@dataclass(frozen=True, eq=False)
class Link:
    """One bone: its place on its parent, and the place of the next one on it.

    Turned by t about its local axis it has the orientation  Q = P K R(t), where P is its parent's
    Q, or 1 where it inherits no rotation.
    """

    inherits: bool
    hold: Floats  # K: (2, 2) or (frames, 2, 2)
    end: Floats  # (2,) or (frames, 2) the next joint, in the bone's own turning plane
    # The same in space, (4, 4) or (frames, 4, 4) each:
    local: Floats  # unturned, as the bone before carries it; the root as rest space has it
    upright: Floats  # unturned, in rest space
    own: Floats  # the transform of the bone's own channels
    # (3, 3) the axes of its location, in the space of the bone before; only for chains that slide
    frame: Floats = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True, eq=False)
class Linkage:
    """A chain at each frame before any of its joints turns, in the chain's plane."""

    links: tuple[Link, ...]
    to_pose: Floats  # (frames, 4, 4) rest space -> the armature's pose space
    tail: Floats  # (3,) the tip, in the last bone's own space
    plane: Plane
    axes: Floats  # (n, 3) each bone's axis, in its own space
    planar: bool  # whether they all are always the plane's normal
    heights: Floats  # () or (frames,) of the tip over the plane, unturned; no turn in the plane changes it
    # Blender's own evaluation of the tips (frames, 3) of turns (frames, n), where links are not exact.
    blender_tips: Callable[[Floats, Offsets | None], Floats] | None = None
    slides: Slides | None = None  # None where all bones are rigid
    # (n, 4, 4) the bones' own channels, where these are the same at all frames and define the links.
    bases: Floats | None = None
    count: int = 1  # of chains, the frames of each after those before

    def joints(self, turns: Floats) -> Floats:
        """Return the joints (frames, n + 1, 2) of turns (frames, n) in the plane, the root at the origin.

        The solvers' own forward() differs from it by some 1e-5 of the reach: Blender's rest
        matrices are not quite orthonormal.
        """
        joints = np.zeros((len(self.links) + 1, 2, len(turns)))  # each number in one row, which is faster
        cosines, sines = cos_and_sin(np.ascontiguousarray(turns.T))
        pose = _entries(np.eye(2))
        for i, link in enumerate(self.links):
            held = _entries(link.hold)
            if i and link.inherits:
                held = _product(pose, held)
            pose = _product(held, (cosines[i], -sines[i], sines[i], cosines[i]))
            x, y = link.end[..., 0], link.end[..., 1]
            joints[i + 1, 0] = joints[i, 0] + pose[0] * x + pose[1] * y
            joints[i + 1, 1] = joints[i, 1] + pose[2] * x + pose[3] * y
        return joints.transpose(2, 0, 1)

    def tips(self, turns: Floats, slides: Floats | None = None) -> Floats:
        """Return the tips (frames, 2) of local turns (frames, n), as seen along the plane's normal.

        slides: (frames, n) as locations have them; None: none.
        """
        if slides is not None or not self.is_flat:
            return self.plane.project(self.tips_turned(turns, slides))
        return self.joints(turns)[:, -1]

    @property
    def is_flat(self) -> bool:
        """Whether `joints` has the tip, however the joints turn, where no bone slides."""
        return self.planar and self.blender_tips is None

    def tips_turned(self, turns: Floats, slides: Floats | None = None) -> Floats:
        """Return the tips (frames, 3) in rest space of local turns (frames, n), in the plane or off it."""
        offsets = None if slides is None or self.slides is None else self.slides.offsets(turns, slides)
        if self.blender_tips:
            return self.blender_tips(turns, offsets)
        if not self.planar or offsets is not None:
            turned = [
                partial(_applied, rotations_about(axis, turns[:, i])) for i, axis in enumerate(self.axes)
            ]
            return self.tips_in_space(turned, len(turns), slice(None), offsets)
        heights: Floats = np.multiply.outer(self.heights, self.plane.normal)
        return self.plane.lift(self.joints(turns)[:, -1]) + heights

    @property
    def is_unscaled(self) -> bool:
        """Whether all bones have their own size, and no rotation but what turns them."""
        return all((link.own[..., :3, :3] == _ONE).all() for link in self.links)

    @classmethod
    def joined(cls, linkages: "Sequence[Linkage]", frames: int = 1) -> "Linkage":
        """Return the linkage of several chains alike in the plane, so many frames of each after those before.

        Each has the same bones at all its frames, and all bones inherit rotation alike.
        """

        def rows(values: Sequence[Floats]) -> Floats:
            return np.repeat(np.array(values), frames, axis=0)

        links = [
            changed(each[0], hold=rows([link.hold for link in each]), end=rows([link.end for link in each]))
            for each in zip(*(linkage.links for linkage in linkages), strict=True)
        ]
        to_pose = rows([linkage.to_pose[0] for linkage in linkages])
        return changed(linkages[0], links=tuple(links), to_pose=to_pose, bases=None, count=len(linkages))

    @property
    def lasting(self) -> "Linkage | None":
        """The linkage of the first frame alone, for `read_linkage`; None where the bones change."""
        return None if self.bases is None else changed(self, to_pose=self.to_pose[:1].copy())

    def tips_in_space(
        self, turned: Sequence[Rotate | None], frames: int, rows: slice, offsets: Offsets | None = None
    ) -> Floats:
        """Return the tips (frames, 3) in rest space of bones turned in any way: see `tips_together`."""
        moved = {bone: offset[None] for bone, offset in (offsets or {}).items()}
        return tips_together([self], turned, rows, frames, moved)[:, 0].T

    def unturned(self) -> tuple[Floats, Floats]:
        """Return lengths and headings, (frames, n) each, of the chain before any joint turns."""
        constant = all(link.hold.ndim == 2 and link.end.ndim == 1 for link in self.links)
        frames, count = len(self.to_pose), len(self.links)
        joints = self.joints(np.zeros((1 if constant else frames, count)))
        bones = joints[:, 1:] - joints[:, :-1]
        lengths = np.hypot(bones[..., 0], bones[..., 1])
        headings = np.arctan2(bones[..., 1], bones[..., 0])
        seen_end_on = lengths <= 1e-9 * lengths.sum(axis=1, keepdims=True)
        for i in np.flatnonzero(seen_end_on.any(axis=0)):  # it goes on in its parent's direction
            headings[seen_end_on[:, i], i] = headings[seen_end_on[:, i], i - 1] if i else 0.0
        return at_all(lengths, frames), at_all(headings, frames)

    def local_turns(
        self, angles: Floats, headings: Floats, held: NDArray[np.bool_], near: Floats | None = None
    ) -> Floats:
        """Return each bone's turns about its local axis, from solved angles: both (frames, n).

        headings: (frames, n) before any joint turns. A bone turned by phi in the plane, whose
        parent is turned by psi, turns by phi - psi; one that inherits no rotation turns by phi.
        The turns are continuous, and begin as near as whole turns allow to `near` (n,), or to rest.
        held: (n,) joints with limits: those that inherit rotation take the solver's own angles.
        """
        turned = self.relative(summed_up(np.array(angles.T, order="C")).T - headings)
        turns = continuous(turned, near, self.count)
        held_here = held & [link.inherits for link in self.links]
        if held_here.any():
            turns[:, held_here] = (angles - angles_before(headings))[:, held_here]
        return turns

    def relative(self, turned: Floats) -> Floats:
        """Return the local turns (frames, n) of bones from their turns in the plane (frames, n)."""
        turns = np.array(turned.T, order="C")  # the numbers of a bone side by side, which is faster
        for i, link in enumerate(self.links):
            if i and link.inherits:
                turns[i] -= turned[:, i - 1]
        return turns.T

    def angles_of(self, turns: Floats, headings: Floats) -> Floats:
        """Return the solver's angles (frames, n) of local turns: the inverse of `local_turns`."""
        turned = turns.copy()
        for i, link in enumerate(self.links):
            if i and link.inherits:
                turned[:, i] += turned[:, i - 1]
        angles: Floats = angles_before(headings) + np.diff(turned, axis=1, prepend=0.0)
        return angles


def tips_together(
    linkages: Sequence[Linkage],
    turned: Sequence[Rotate | None],
    rows: slice,
    frames: int,
    offsets: Mapping[int, Floats],
) -> Floats:
    """Return the tips (3, k, frames) in rest space of k chains of one shape, bones turned in any way.

    From the tips to the roots, each bone transforms the tips of those after it: also where bones leave the
    plane, as with Euler angles between two keys.
    turned: of each bone, a function of places (3, k frames) side by side; None for one that is held.
    offsets: {bone: (k, frames, 3)}.
    """
    first, count = linkages[0], len(linkages)
    tips, upright = np.array([linkage.tail for linkage in linkages]).T[..., None], np.zeros((3, count, 1))
    for i, turn in reversed(list(enumerate(turned))):
        tips = _applied_to_each(_of_each(linkages, i, "own", rows), tips)
        if turn is not None:
            places = np.broadcast_to(tips, (3, count, frames)).reshape(3, -1)
            tips = turn(places).reshape(3, count, frames)
        local = _of_each(linkages, i, "local", rows)
        if first.links[i].inherits:
            tips = _applied_to_each(local, tips)
        else:  # its orientation is its own, its place that of the bones before
            upright = upright + _applied_to_each(_of_each(linkages, i, "upright", rows), tips)
            tips = np.zeros((3, count, 1))
        moved = np.moveaxis(local[..., :3, 3], -1, 0)
        tips = tips + moved.reshape(3, count, -1)
        if i in offsets:
            axes = np.array([linkage.links[i].frame for linkage in linkages])
            tips = tips + (axes @ offsets[i].swapaxes(1, 2)).swapaxes(0, 1)
    return np.broadcast_to(tips + upright, (3, count, frames))


def _of_each(linkages: Sequence[Linkage], bone: int, name: str, rows: slice) -> Floats:
    """Return matrices (k, 4, 4), or (k, frames, 4, 4), of a bone of k chains."""
    matrices = [_at(getattr(linkage.links[bone], name), rows) for linkage in linkages]
    return matrices[0][None] if len(matrices) == 1 else np.array(matrices)


def _applied_to_each(matrices: Floats, places: Floats) -> Floats:
    """Return places (3, k, frames) turned by the linear part of matrices (k, 4, 4) or (k, frames, 4, 4)."""
    linear = matrices[..., :3, :3]
    if linear.ndim == 3:
        turned: Floats = np.empty(places.shape)
        np.matmul(linear, places.swapaxes(0, 1), out=turned.swapaxes(0, 1))
        return turned
    return np.moveaxis((linear @ np.moveaxis(places, 0, -1)[..., None])[..., 0], -1, 0)


def continuous(turns: Floats, near: Floats | None = None, count: int = 1) -> Floats:
    """Return turns (frames, n) without jumps, the first as near as whole turns allow to `near` (n,), or 0.

    count: of chains, whose frames are one after the other: near is then (count, n).
    """
    frames = unwrapped(turns.reshape(count, -1, turns.shape[1]).swapaxes(0, 1))
    frames -= 2.0 * np.pi * np.round((frames[:1] - (0.0 if near is None else near)) / (2.0 * np.pi))
    return frames.swapaxes(0, 1).reshape(turns.shape)


def angles_before(headings: Floats) -> Floats:
    """Return the solver's angles (frames, .., n) of headings (frames, .., n) before any joint turns.

    Each relative to the bone before; limits count from these, so they are continuous.
    """
    angles = unrepeated(headings).copy()
    angles[..., 1:] -= angles[..., :-1].copy()
    return at_all(unwrapped(wrapped(angles)), len(headings))


def read_linkage(rig: RigChain, samples: ChainSamples, known: Linkage | None = None) -> Linkage:
    """Return the chain's linkage at the sampled frames.

    known: that of other frames; if the bones are the same at these, only their parent is read.
    """
    bases = one_or_all(samples.bases)
    if known is not None and known.bases is not None and np.array_equal(known.bases, bases):
        still = samples.parent is None and samples.carried is None and rig.swing is None
        there = at_all(known.to_pose[:1], len(samples.bases)) if still else rest_to_pose(rig, samples)
        return changed(known, to_pose=there)
    bones = rig.pose_bones
    rests = np.array([rest_matrix(bone.bone) for bone in bones])
    carried = inverse(rests[:-1]) @ rests[1:]  # each but the root, in rest in its parent's space
    locations = list(bases[:, :3, 3])
    if bases.ndim == 4:
        locations = [one_or_all(bases[:, i, :3, 3]) for i in range(len(bones))]
    to_pose = rest_to_pose(rig, samples)
    tail = np.array((0.0, bones[-1].bone.length, 0.0))
    plane_axes = np.array((rig.plane.x, rig.plane.y)).T  # (3, 2)
    holder = plane_axes.T  # from a parent's space to the parent's own turning plane
    local = upright = rests[0]
    links, aligned = [], None
    owns = own_transforms(rig, bones, bases)
    across = _across(normals_in(rig.plane, rests))  # (n, 3, 2)
    for i, bone in enumerate(bones):
        transform, axes = owns[i], across[i]
        if aligned is not None:
            transform, aligned = aligned @ transform, None
        inherits = i == 0 or bool(bone.bone.use_inherit_rotation)
        hold = (holder @ local[..., :3, :3] if inherits else plane_axes.T @ upright[..., :3, :3]) @ axes
        holder, above = axes.T @ transform[..., :3, :3], upright @ transform
        if i + 1 < len(bones):
            following = _local(bones[i + 1], carried[i], above, to_pose, locations[i + 1])
            if rig.stretching is not None and rig.stretching.aligned[i + 1]:
                following, aligned = scale_apart(following, above)
            end = (holder @ following[..., :3, 3:])[..., 0]
        else:
            following, end = np.eye(4), holder @ tail
        links.append(Link(inherits, hold, end, local, upright, transform))
        if rig.slides is not None:
            links[-1] = changed(links[-1], frame=location_axes(bone, root=i == 0))
        local, upright = following, above @ following
    # For bones that do not simply follow their parents, Blender removes noise in the matrices on the way.
    exact = all(map(takes_all, bones[1:], locations[1:]))
    tips = None if exact else partial(_blender_tips, rig, samples, locations, owns, inverse(to_pose))
    last = links[-1].upright @ links[-1].own
    heights = (last[..., :3, :3] @ tail + last[..., :3, 3] - rig.plane.origin) @ rig.plane.normal
    planar = not (rig.joints.askew or rig.joints.fixed.any())
    told = bases if exact and bases.ndim == 3 else None
    shape = tail, rig.plane, rig.joints.axes, planar, heights
    return Linkage(tuple(links), to_pose, *shape, tips, rig.slides, told)


def _blender_tips(
    rig: RigChain,
    samples: ChainSamples,
    locations: Sequence[Floats],
    owns: Sequence[Floats],
    into_rest: Floats,
    turns: Floats,
    offsets: Offsets | None = None,
) -> Floats:
    """Return the tips (frames, 3) in rest space by Blender's own functions. offsets: of bones' locations."""
    held = samples.parent
    for i, bone in enumerate(rig.pose_bones):
        rotations = rotations_about(rig.joints.axes[i], turns[:, i])
        if i == 0 and samples.swings is not None:
            rotations = first_rotations(rig, turns[:, 0], samples.swings)
        turned = transforms(rotations)
        location = locations[i] + offsets[i] if offsets and i in offsets else locations[i]
        pose = posed_by_blender(bone, held, translation(bone, location) @ turned @ owns[i])
        pose = held = pose if i or samples.carried is None else samples.carried @ pose
    tails: Floats = into_rest @ pose @ (0.0, rig.pose_bones[-1].bone.length, 0.0, 1.0)
    return tails[:, :3]


def _local(
    bone: bpy.types.PoseBone, carried: Floats, above: Floats, to_pose: Floats, location: Floats
) -> Floats:
    """Return a bone's matrix (.., 4, 4), unturned, in its parent's space.

    carried: (4, 4) that in rest; above: the parent's matrix in rest space. It is constant where the bone
    takes all of its parent's transforms; else Blender's own function computes it.
    """
    if takes_all(bone, location):
        return carried @ translation(bone, location)
    parent = to_pose @ above
    return inverse(parent) @ held_unturned(bone, parent, location)


def _applied(matrices: Floats, places: Floats) -> Floats:
    """Return places (3, frames) turned by the linear part of matrices (.., 3, 3) or (.., 4, 4)."""
    linear = matrices[..., :3, :3]
    turned: Floats = linear @ places if linear.ndim == 2 else (linear @ places.T[..., None])[..., 0].T
    return turned


def _at(matrices: Floats, rows: slice) -> Floats:
    """Return some of the matrices (frames, 4, 4), or the one (4, 4) of all frames."""
    return matrices[rows] if matrices.ndim == 3 else matrices


def _across(axes: Floats) -> Floats:
    """Return two unit vectors (.., 3, 2) each that make right-handed frames with unit axes (.., 3)."""
    first = crossed(axes, np.eye(3)[np.argmin(np.abs(axes), axis=-1)])
    first /= np.sqrt((first * first).sum(axis=-1, keepdims=True))
    return np.stack((first, crossed(axes, first)), axis=-1)


def _entries(matrix: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the entries of 2x2 matrices (.., 2, 2), row by row."""
    return matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 0], matrix[..., 1, 1]


def _product(a: Sequence[Floats], b: Sequence[Floats]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the product of 2x2 matrices given by their entries."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    )
