# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that follow a target or a pole on each frame, and single bones that aim."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.affine import Frames, changed, inverse, norms, product, rotations_about, turned
from ...core.inputs import Floats, wrapped
from ...core.post import PostAngles
from ...core.swing import POST, eased
from ...core.swing.swing import spin_steps, units
from ..chain.chain import RigChain
from ..rest import rest_axes
from ..scene.samples import ChainSamples
from .bone_matrices import carried_by_swings, first_rotations, rest_to_pose
from .channels import blended
from .kinematics import Linkage, read_linkage

# Directions of the target nearer than this angle (radians) to the one that leaves the plane open, and steps
# of its spin from frame to frame above this, are worth a warning.
NEAR, STEP = np.radians(5.0), np.radians(60.0)


def swung(rig: RigChain, samples: ChainSamples, spins: Floats | None = None) -> ChainSamples:
    """Return samples with the swings of a plane that follows its target, and targets that a bone aims at.

    spins: (frames,) radians, in place of the plane's own, to which its turn is added. A single bone that aims
    has its target as far as its tip; one on the root leaves it at rest.
    """
    if rig.swing is None and not rig.settings.aims:
        return samples
    with np.errstate(all="ignore"):  # between two frames a rig may be scaled to nothing
        return _swung(rig, changed(samples, swings=None), spins)


def _swung(rig: RigChain, samples: ChainSamples, spins: Floats | None) -> ChainSamples:
    linkage = read_linkage(rig, samples)
    to_world = product(samples.world, linkage.to_pose)
    points, poles = _from_root(rig, to_world, samples.targets), _poles(rig, to_world, samples)
    if rig.swing is not None:
        if spins is None:
            spins = rig.swing.spins(points, linkage.heights, poles)
        spins = spins + samples.plane_turn
        swings = rig.swing.rotations(points, linkage.heights, poles, spins)
        # Once more, for what the first bone's rest matrix makes of them.
        seen = turned(swings, _turned_back(rig, swings, points))
        swings = rig.swing.rotations(seen, linkage.heights, poles, spins)
        swings = np.where(np.isfinite(swings), swings, np.eye(3))
        samples = changed(samples, swings=swings)
        if rig.swing.turns_alone and rig.settings.aims:
            return _headed(rig, samples, linkage, to_world, points)
        points = _turned_back(rig, swings, points)
    return _aimed(rig, samples, linkage, to_world, points) if rig.settings.aims else samples


def eased_spins(rig: RigChain, samples: ChainSamples, times: Sequence[float]) -> Floats | None:
    """Return the spins (frames,), radians, of a plane that follows its target, smooth where it may flip."""
    if rig.swing is None or rig.swing.rule == POST:
        return None
    linkage, points, poles = _seen(rig, samples)
    spins = rig.swing.spins(points, linkage.heights, poles)
    return eased(spins, rig.swing.sines(points, poles), times)


@dataclass(frozen=True, eq=False)
class PlaneTurns(Frames):
    """How a plane that follows its target turns."""

    openness: Floats  # (frames,) radians between the target and the direction that leaves the plane open
    steps: Floats  # (frames,) radians about the line to the target, from the frame before; the first is 0
    spins: Floats | None = None  # (frames,) radians about that line, without its turn, where they were given
    post: PostAngles | None = None  # of a first bone that is the post, which leaves nothing open


def flips(rig: RigChain, samples: ChainSamples, spins: Floats | None = None) -> PlaneTurns | None:
    """Return how the plane turns, and how near it comes to being open; None for a fixed one.

    spins: as in `swung`.
    """
    if rig.swing is None:
        return None
    linkage, points, poles = _seen(rig, samples)
    if rig.swing.post is not None:
        still = np.zeros(len(points))
        return PlaneTurns(still + np.pi, still, post=rig.swing.post_angles(points, linkage.heights))
    turned_on = spins
    if samples.plane_turn.any():
        own = rig.swing.spins(points, linkage.heights, poles) if spins is None else spins
        turned_on = own + samples.plane_turn
    swings = rig.swing.rotations(points, linkage.heights, poles, turned_on)
    steps = np.zeros(len(points))
    steps[1:] = np.abs(spin_steps(units(points, rig.swing.along), swings @ rig.plane.normal))
    return PlaneTurns(np.arcsin(rig.swing.sines(points, poles).clip(max=1.0)), steps, spins)


def post_turns(rig: RigChain, swings: Floats) -> Floats:
    """Return the turns (frames,), radians without jumps, of a first bone that is the post about its axis.

    swings: (frames, 3, 3) of the chain, in rest space.
    """
    assert rig.swing is not None and rig.swing.post is not None
    rule, axes = rig.swing.post.rule, rig.swing.post.axes
    own, u, v = axes.T @ swings @ axes, (rule.axis + 1) % 3, (rule.axis + 2) % 3
    angles = np.arctan2(own[:, v, u] - own[:, u, v], own[:, u, u] + own[:, v, v])
    middle = 0.0 if rule.limits is None else 0.5 * sum(rule.limits)
    return rule.going_on(middle + wrapped(angles - middle))


def blended_swings(
    rig: RigChain, swings: Floats, first: Floats, turns: tuple[Floats, Floats], influence: Floats
) -> Floats:
    """Return swings (frames, 3, 3) such that the first bone is a part of the way to its solved rotation.

    first: (frames, 3, 3) its own rotation without the chain. turns: (frames,) about its axis, as solved and
    as they will be. influence: (frames,).
    """
    solved, axis = first_rotations(rig, turns[0], swings), rig.joints.axes[0]
    rotations = blended(first, solved, influence)
    rest = rest_axes(rig.pose_bones[0].bone)
    swings_then: Floats = rest @ rotations @ rotations_about(axis, -turns[1]) @ rest.T
    return swings_then


def turned_poles(rig: RigChain, samples: ChainSamples, off: Floats) -> Floats:
    """Return the places (frames, 3), in the world, of a pole that turn the first bone by a rotation more.

    off: (frames, 3, 3) that rotation in the bone's rest space, of which only the turn about the line from
    root to target counts: the pole goes round that line.
    """
    assert rig.swing is not None
    linkage, points, poles = _seen(rig, samples)
    assert poles is not None
    line = units(points, rig.swing.along)
    places = (rotations_about(line, _turns_about(rig, line, off)) @ poles[..., None])[..., 0]
    places += rig.plane.origin
    to_world = product(samples.world, linkage.to_pose)
    in_world: Floats = turned(to_world[:, :3, :3], places) + to_world[:, :3, 3]
    return in_world


def turned_planes(rig: RigChain, samples: ChainSamples, off: Floats) -> Floats:
    """Return the turns (frames,) of a plane, radians, that turn the first bone by a rotation more.

    off: as in `turned_poles`.
    """
    assert rig.swing is not None
    _, points, _ = _seen(rig, samples)
    turns: Floats = samples.plane_turn + _turns_about(rig, units(points, rig.swing.along), off)
    return turns


def _turns_about(rig: RigChain, line: Floats, off: Floats) -> Floats:
    """Return the parts (frames,), radians about lines (frames, 3), of rotations in the first bone's space."""
    rest = rest_axes(rig.pose_bones[0].bone)
    off = rest @ off @ rest.T
    axial = np.stack([off[:, k - 1, k - 2] - off[:, k - 2, k - 1] for k in range(3)], axis=1)
    along = (line * (off @ line[..., None])[..., 0]).sum(axis=1)
    turns: Floats = np.arctan2((axial * line).sum(axis=1), np.trace(off, axis1=1, axis2=2) - along)
    return turns


def as_far(rig: RigChain, points: Floats, tips: Floats) -> Floats:
    """Return points (frames, 3) in rest space moved to the distance of tips from the root.

    In a fixed plane they move in it, and keep their heights. A rest matrix that is not quite a rotation
    leaves the tip of a bone that aims by 1e-5 nearer or farther.
    """
    origin, normal = rig.plane.origin, rig.plane.normal
    offsets, along = points - origin, tips - origin
    kept = np.zeros_like(offsets)
    if rig.swing is None:
        kept = np.multiply.outer(offsets @ normal, normal)
        offsets, along = offsets - kept, along - np.multiply.outer(along @ normal, normal)
    sizes = norms(offsets)
    share = np.where(sizes > 0.0, norms(along) / np.where(sizes > 0.0, sizes, 1.0), 1.0)
    moved: Floats = origin + kept + share[:, None] * offsets
    return moved


def aimed_as_far(rig: RigChain, samples: ChainSamples) -> ChainSamples:
    """Return swung samples whose targets, of a bone that aims, are as far from the root as its tips there."""
    if not rig.settings.aims:
        return samples
    to_world = product(samples.world, rest_to_pose(rig, samples))
    into = inverse(to_world)
    points, tips = (
        turned(into[:, :3, :3], places) + into[:, :3, 3] for places in (samples.targets, samples.tips)
    )
    targets = turned(to_world[:, :3, :3], as_far(rig, points, tips)) + to_world[:, :3, 3]
    return changed(samples, targets=targets)


def _seen(rig: RigChain, samples: ChainSamples) -> tuple[Linkage, Floats, Floats | None]:
    """Return the linkage without swings, and targets and poles (frames, 3) from the root."""
    linkage = read_linkage(rig, changed(samples, swings=None))
    to_world = product(samples.world, linkage.to_pose)
    return linkage, _from_root(rig, to_world, samples.targets), _poles(rig, to_world, samples)


def _poles(rig: RigChain, to_world: Floats, samples: ChainSamples) -> Floats | None:
    return None if samples.poles is None else _from_root(rig, to_world, samples.poles)


def _from_root(rig: RigChain, to_world: Floats, places: Floats) -> Floats:
    """Return places (frames, 3) of the world in rest space, from the chain's root."""
    into = inverse(to_world)
    from_root: Floats = turned(into[:, :3, :3], places) + into[:, :3, 3] - rig.plane.origin
    return from_root


def _turned_back(rig: RigChain, swings: Floats, points: Floats) -> Floats:
    """Return points (frames, 3) from the root as the plane sees them that swings turn."""
    return turned(np.linalg.inv(carried_by_swings(rig, swings)), points)


def _headed(
    rig: RigChain, samples: ChainSamples, linkage: Linkage, to_world: Floats, points: Floats
) -> ChainSamples:
    """Return samples of a turntable with its targets where its tip would be without limits.

    points: (frames, 3) the targets from the root, in rest space without swings.
    """
    assert rig.swing is not None
    free = rig.swing.without_limits
    swings = free.rotations(points, linkage.heights)
    swings = free.rotations(turned(swings, _turned_back(rig, swings, points)), linkage.heights)
    tips = linkage.tips_turned(np.zeros((len(points), 1))) - rig.plane.origin
    headed = turned(carried_by_swings(rig, swings), tips) + rig.plane.origin
    targets = turned(to_world[:, :3, :3], headed) + to_world[:, :3, 3]
    return changed(samples, targets=np.where(np.isfinite(targets), targets, samples.targets))


def _aimed(
    rig: RigChain, samples: ChainSamples, linkage: Linkage, to_world: Floats, points: Floats
) -> ChainSamples:
    """Return samples of a single bone whose targets, in its plane, are as far as its tip.

    points: (frames, 3) the targets from the root, in rest space without swings.
    """
    plane, lengths = rig.plane, linkage.unturned()[0][:, 0]
    flat = np.stack((points @ plane.x, points @ plane.y), axis=1)
    sizes = np.hypot(*flat.T)[:, None]
    flat = np.where(sizes > 0.0, flat / np.where(sizes > 0.0, sizes, 1.0), (1.0, 0.0)) * lengths[:, None]
    heights = points @ plane.normal
    aimed = flat[:, :1] * plane.x + flat[:, 1:] * plane.y + heights[:, None] * plane.normal
    if samples.swings is not None:
        aimed = turned(carried_by_swings(rig, samples.swings), aimed)
    targets = turned(to_world[:, :3, :3], aimed + plane.origin) + to_world[:, :3, 3]
    return changed(samples, targets=np.where(np.isfinite(targets), targets, samples.targets))
