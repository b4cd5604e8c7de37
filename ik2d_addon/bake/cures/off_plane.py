# SPDX-License-Identifier: GPL-3.0-or-later
"""A target off its chain's plane, and the cures: the one that brings the tip nearest to it first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core import IK2DError
from ...core.affine import changed, inverse
from ...core.solution import drained
from ...core.swing import SWING
from ...core.words import noted, say
from ...rig.chain.chain import FAR_OFF_PLANE, RigChain, read_chain
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.checks.found_post import found_post
from ...rig.chain.planes import FOLLOWING, HINGES, reach_of
from ...rig.chain.post import POST
from ...rig.pose.bone_matrices import transforms
from ...rig.pose.posts import about, chain_of_post, post_space, solved_post
from ...rig.pose.target_plane import facing_target, path_times, target_points
from ...rig.scene.lengths.slide_locations import without_slides
from ...rig.scene.rounding import PLAYED_BACK
from ...rig.scene.sampler import sample_alone
from ...rig.scene.samples import ChainSamples
from ..solving.frames import SolvedChain, solve_chain
from .as_shown import samples_as_shown
from .laid_flat import Instead, laid_flat
from .nearest_plane import AS_WELL, nearest_plane

# A cure that takes less than this part off the miss is none.
_WORTH = 0.05

# The ways to cure, as the doctor has them, and their labels; of equals the first comes first.
FLATTEN, TO_TARGET = 'FLATTEN', 'PLANE_TO_TARGET'
LABELS = {
    FLATTEN: noted("Flatten Rest Pose"),
    POST: noted("Turn About Post"),
    SWING: noted("Swing with Target"),
    TO_TARGET: noted("Plane to Target"),
}

# Samples of versions of one chain at some times.
Sample = Callable[[bpy.types.Scene, Sequence[RigChain], Sequence[float]], Sequence[ChainSamples]]


@dataclass(frozen=True)
class Cure:
    """One way to bring a chain's tip to its target."""

    way: str
    left: float  # the mean distance that it leaves, in the world
    post: str = ""  # the bone that would turn the plane

    @property
    def label(self) -> str:
        """The label of its button, with its post."""
        label = say(LABELS[self.way])
        return f"{label} ('{self.post}')" if self.post else label


@dataclass(frozen=True)
class OffPlane:
    """A target off its chain's plane. Lengths are the world's."""

    furthest: float  # of the target off the plane
    frame: float  # where that is
    mean: float  # the mean distance from tip to target
    tolerance: float  # tip to target that counts as reached
    cures: tuple[Cure, ...]  # the best one first

    @property
    def advice(self) -> str:
        """What helps best, as the end of a sentence; "" where nothing does."""
        if not self.cures:
            return ""
        best = self.cures[0]
        if best.left <= self.tolerance:
            return say("; {label} brings the tip to it", label=best.label)
        percent = 100.0 * (1.0 - best.left / self.mean)
        return say("; {label} brings the tip nearer by {part:.0f} %", label=best.label, part=percent)


def off_plane(
    scene: bpy.types.Scene,
    settings: bpy.types.PropertyGroup,
    rig: RigChain,
    first: float,
    last: float,
    sample: Sample,
) -> OffPlane | None:
    """Return how far the target is off a chain's plane on the frames from `first` to `last`, and the cures.

    Each cure is made on a copy of the chain's settings or rest pose and solved on some of the frames: the
    scene stays as it is. None where the target is in the plane, and for a plane that follows its target or
    turns about a post.
    Raises IK2DError for a chain that cannot be solved.
    """
    if rig.swing is not None or rig.post is not None:
        return None
    times = path_times(first, last)
    samples = sample(scene, [rig], times)[0]
    if not len(samples.targets):
        return None
    joints, faced = rest_joints(rig.pose_bones), facing_target(rig, samples)
    points = target_points(rig, samples)
    heights = np.abs((points - joints[-1]) @ faced.plane.normal)
    least = _least(faced)
    if heights.max() <= least * reach_of(joints):
        return None
    now = _solved(scene, rig, samples)
    worst = int(np.argmax(now.miss.off_plane))
    if now.miss.off_plane[worst] <= least * now.reach:
        return None
    mean = float(now.miss.distance.mean())
    versions = dict(_versions(settings, rig, points))
    cures = []
    of_one = [replace(version, armature=rig.armature) for version in versions.values()]
    posts = [chain_of_post(version) for version in of_one if version.post_above is not None]
    _, *all_samples = sample(scene, [rig, *of_one, *posts], times)
    for (way, version), its in zip(versions.items(), all_samples, strict=False):
        try:
            if way == POST:
                its = _turned(scene, version, its, all_samples[-1], times)
            left = float(_solved(scene, version, its).miss.distance.mean())
        except IK2DError:
            continue
        if left <= (1.0 - _WORTH) * mean:
            cures.append(Cure(way, left, version.post.bone if version.post is not None else ""))
    step = AS_WELL * now.reach  # nearer than this, the order of LABELS decides
    cures.sort(key=lambda cure: (round(cure.left / step), [*LABELS].index(cure.way)))
    frame = float(times[worst]) if len(now.miss.off_plane) == len(times) else scene.frame_float
    return OffPlane(float(now.miss.off_plane[worst]), frame, mean, now.tolerance, tuple(cures))


def _least(rig: RigChain) -> float:
    """Return how far a target may be off a chain's plane, as a part of its reach.

    Where its joints are off it too, no further than Blender plays back.
    """
    joints_off = rig.remarks.off_plane > FAR_OFF_PLANE * reach_of(rest_joints(rig.pose_bones))
    return PLAYED_BACK if joints_off and rig.remarks.plane != HINGES else FAR_OFF_PLANE


def _versions(
    settings: bpy.types.PropertyGroup, rig: RigChain, points: Any
) -> Iterator[tuple[str, RigChain]]:
    """Yield each way to cure, and the chain as it is then; points: of the target (m, 3) in rest space."""
    on_post = _on_post(settings)
    for way, change in (
        (FLATTEN, lambda: (laid_flat(rig), settings)),
        (POST, lambda: (rig.armature, on_post)),
        (SWING, lambda: (rig.armature, Instead(settings, plane=SWING))),
        (TO_TARGET, lambda: (rig.armature, _nearest(settings, rig, points))),
    ):
        if way == SWING and settings.plane in FOLLOWING or way == FLATTEN and not rig.remarks.off_plane:
            continue
        if way == POST and on_post is None:
            continue
        try:
            version = read_chain(*change())
        except IK2DError:
            continue
        if way != POST or version.post_above is not None:
            yield way, version


def _on_post(settings: bpy.types.PropertyGroup) -> Any:
    """Return a copy of a chain's settings with the post that locks show; None where no other bone is free."""
    bones = chain_bones(settings.id_data, settings.tip, settings.bone_count, settings.name)
    found = found_post(bones, settings.name)
    if found is None or found.owner:
        return None
    normal = found.normal or tuple(settings.plane_normal)
    return Instead(settings, plane=POST, post=found.bone, post_axis=found.axis, plane_normal=normal)


def _turned(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, own: ChainSamples, times: Sequence[float]
) -> ChainSamples:
    """Return samples of a chain with its post turned to its targets. own: samples of `chain_of_post`."""
    assert rig.post is not None and samples.parent is not None
    space = post_space(scene, rig, own, times)
    turns = about(rig.post.rule.axis, solved_post(rig, samples, space).angles - space.angles)
    moved = space.to_pose @ transforms(turns) @ inverse(space.to_pose)
    return changed(samples, parent=moved @ samples.parent)


def _nearest(settings: bpy.types.PropertyGroup, rig: RigChain, points: Any) -> Any:
    """Return a copy of a chain's settings with the plane nearest to the target."""
    choice, normal = nearest_plane(settings, rig, points)
    if normal is None:
        return Instead(settings, plane=choice)
    return Instead(settings, plane=choice, plane_normal=np.asarray(normal, "f4").astype(np.float64))


def _solved(scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples) -> SolvedChain:
    """Return a chain solved at full influence, each frame for the sampled place of its target."""
    times = np.arange(float(len(samples.targets))).tolist()
    samples = without_slides(scene, rig, samples, times).with_settings(influence=1.0)
    return drained(solve_chain(facing_target(rig, samples).with_remarks(notes=()), samples, times))


def advice_on(
    scene: bpy.types.Scene, solved: Sequence[SolvedChain], frames: Sequence[float]
) -> dict[str, str]:
    """Return the cure of each chain whose target is off its plane, in words, by the chains' names."""
    advice = {}
    for chain in solved:
        rig = chain.rig
        settings = rig.armature.ik2d.chains.get(rig.name) if rig.settings.path else None
        if settings is None or (chain.miss.off_plane <= _least(rig) * chain.reach).all():
            continue
        try:
            off = off_plane(
                scene, settings, read_chain(rig.armature, settings), frames[0], frames[-1], _sampled
            )
        except IK2DError:  # baked by force
            continue
        if off is not None:
            advice[rig.name] = off.advice
    return advice


def _sampled(
    scene: bpy.types.Scene, chains: Sequence[RigChain], times: Sequence[float]
) -> Sequence[ChainSamples]:
    """Return samples as Blender evaluates them, unless the whole scene would have to be stepped through."""
    sampling = sample_alone(scene, chains, times)
    return samples_as_shown(scene, chains, times) if sampling is None else sampling.chains
