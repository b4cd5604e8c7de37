# SPDX-License-Identifier: GPL-3.0-or-later
"""Posts above chains: solved and keyed before their chains, which are then sampled on these very keys."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.affine import changed
from ...core.inputs import Floats, wrapped
from ...core.post import PostAngles
from ...core.solution import Steps, drained, mapped
from ...rig.animation import keys
from ...rig.animation.bone_channels import BoneChannels, BoneRotation, rotation_property
from ...rig.animation.times import animation_times
from ...rig.chain.chain import RigChain
from ...rig.pose.keyed_pose import neighbor_poses, pose_without_chain
from ...rig.pose.posts import (
    PostSpace,
    angles_in,
    chain_of_post,
    is_tilted,
    post_channels,
    post_space,
    solved_post,
)
from ...rig.scene.sampler import Sampler, sample_now, sample_steps
from ...rig.scene.samples import ChainSamples, solvable
from .baked import baked_keys
from .cubics import hermite
from .fewest import Rows, fewest, handles_of
from .handles import THIRDS, shaped
from .keying import POSTED, KeyedChain, KeyedPost, KeyPlan, keyed_at

# The weight of a post's slopes as solved, next to its angles on a segment.
_NEAR_SLOPES = 1e-3
# The change of an angle, in radians, by which a channel's slope is found.
_SMALL = 1e-4


@contextmanager
def on_posts(scene: bpy.types.Scene, plan: KeyPlan, posts: Sequence[KeyedPost]) -> Iterator[None]:
    """Show posts for a while as their chains are solved on them."""
    with ExitStack() as previews:
        _preview(scene, plan.times, [(post.rig.armature, post.full) for post in posts], previews)
        yield


@contextmanager
def _by_hand(scene: bpy.types.Scene, rigs: Sequence[RigChain], times: Floats) -> Iterator[None]:
    """Show the posts of chains as keys made by hand turn them, else at rest: whatever turned them before.

    Rounding of an earlier bake's turns would be keyed again, and a constraint may stop these. times: sorted.
    """
    shown = []
    for rig in rigs:
        alone = chain_of_post(rig)
        (bone,) = alone.pose_bones
        own, prop = pose_without_chain(scene, alone, times.tolist()), rotation_property(bone.rotation_mode)
        assert rig.post is not None and own.channels is not None
        channels, now = [rig.post.rule.axis], np.array(getattr(bone, prop))
        if prop != "rotation_euler":
            channels = [0, 1, 2, 3]
            if is_tilted(rig, now[None]).any() and not is_tilted(rig, own.channels).any():
                continue  # posed so, without keys
        if baked_keys(rig.armature, alone.bones) or (own.channels[0, channels] != now[channels]).any():
            keyed = BoneChannels(bone.name, prop, own.channels, channels=tuple(channels))
            shown.append((rig.armature, keyed))
    with ExitStack() as previews:
        _preview(scene, times.tolist(), shown, previews)
        yield


def _preview(
    scene: bpy.types.Scene,
    times: Sequence[float],
    rotations: Sequence[tuple[bpy.types.Object, BoneRotation]],
    previews: ExitStack,
) -> None:
    """Key rotations of bones of armatures at some times, for as long as `previews` is open."""
    channels: dict[bpy.types.Object, list[BoneRotation]] = {}
    for armature, rotation in rotations:
        channels.setdefault(armature, []).append(rotation)
    for armature, its in channels.items():
        previews.enter_context(keys.previewed(armature, animation_times(scene, times), its))


def with_posts(chains: Sequence[KeyedChain], posts: Sequence[KeyedPost]) -> list[KeyedChain]:
    """Return chains with their posts; where these are not keyed as they were solved, without samples."""
    known = {(post.rig.armature, post.rig.name): post for post in posts}
    found = []
    for chain in chains:
        post = known.get((chain.solved.rig.armature, chain.solved.rig.name))
        if post is not None:
            samples = None if post.is_blended else chain.samples
            chain = changed(chain, post=post, samples=samples)
        found.append(chain)
    return found


@dataclass(frozen=True, eq=False)
class _Post:
    """A post over all times, those between two frames too, in their order."""

    rig: RigChain
    samples: ChainSamples
    solved: PostAngles
    space: PostSpace
    angles: Floats  # (frames,) that hold the targets, without jumps
    blended: Floats  # (frames,) by the chain's influence between these and those made by hand
    inside: Rows  # of the times between two frames
    after: Rows  # the frames before these

    @property
    def on_frames(self) -> Rows:
        """The rows of the frames."""
        return np.delete(np.arange(len(self.angles)), self.inside)

    @property
    def lever(self) -> Floats:
        """(frames,) how far the target is from the axis, in the world."""
        linear = (self.samples.world @ self.space.to_pose)[:, :3, :3]
        lever: Floats = self.solved.radii * np.cbrt(np.abs(np.linalg.det(linear)))
        return lever


def keyed_posts(
    scene: bpy.types.Scene,
    rigs: Sequence[RigChain],
    plan: KeyPlan,
    sampler: Sampler | None,
    *,
    fully: bool = False,
    single_axis: bool = False,
) -> Steps[list[KeyedPost]]:
    """Return the posts above some of the chains, solved and keyed. Yields the number of times done.

    fully: at full influence. single_axis: as in BakeOptions.
    """
    rigs = [rig for rig in rigs if rig.post_above is not None]
    if not rigs:
        return []
    alone, frames = [chain_of_post(rig) for rig in rigs], np.array(plan.times, np.float64)
    thirds = np.empty(0)
    if plan.half_way:
        thirds = (frames[:-1, None] + np.diff(frames)[:, None] * THIRDS).ravel()
    times = np.concatenate((frames, thirds))
    with _by_hand(scene, rigs, np.sort(times)):
        steps = sample_steps(sampler or scene, [*rigs, *alone], plan.times, thirds.tolist())
        sampling = yield from mapped(steps, lambda done: min(done, len(frames)))
    own = sampling.chains[len(rigs) :]
    befores = neighbor_poses(scene, alone, plan.times[0], plan.times[-1])
    found = []
    for rig, samples, its, join in zip(rigs, sampling.chains, own, befores, strict=False):
        near = 0.0
        if join.before is not None:
            near = float(angles_in(rig, join.before.channels[rig.turned_bones[0]][None])[0])
        post = _solved(scene, rig, samples, its, times, len(frames), near, fully=fully)
        found.append(_keyed(plan, post, single_axis))
    return found


def posts_now(scene: bpy.types.Scene, rigs: Sequence[RigChain], *, fully: bool = False) -> list[KeyedPost]:
    """Return the posts above some of the chains of one armature, solved for the current pose."""
    rigs, now = [rig for rig in rigs if rig.post_above is not None], scene.frame_float
    if not rigs:
        return []
    alone, times, found = [chain_of_post(rig) for rig in rigs], np.array([now]), []
    sampled = sample_now(scene, [*rigs, *alone]).chains
    for rig, one, samples, own in zip(rigs, alone, sampled, sampled[len(rigs) :], strict=False):
        (bone,) = one.pose_bones
        shown = np.array(getattr(bone, rotation_property(bone.rotation_mode)))
        near = float(angles_in(rig, shown[None])[0])
        post = _solved(scene, rig, samples, own, times, 1, near, fully=fully, as_posed=True)
        found.append(_keyed(KeyPlan.every([now]), post, False))
    return found


def _solved(
    scene: bpy.types.Scene,
    rig: RigChain,
    samples: ChainSamples,
    own: ChainSamples,
    times: Floats,
    frames: int,
    near: float,
    *,
    fully: bool,
    as_posed: bool = False,
) -> _Post:
    """Return a post over its times. samples: of its chain; own: of the post. frames: the number of these."""
    known = solvable(rig, samples)
    gaps = known[frames:].reshape(-1, len(THIRDS)).all(axis=1) if len(times) > frames else np.empty(0, bool)
    rows = np.concatenate((np.ones(frames, bool), np.repeat(gaps, len(THIRDS))))
    order = np.flatnonzero(rows)[np.argsort(times[rows], kind="stable")]
    samples, own, there = samples.at(order), own.at(order), times[order]
    space = post_space(scene, rig, own, there.tolist(), as_posed=as_posed)
    solved = solved_post(rig, samples, space)
    assert rig.post is not None
    rule = rig.post.rule
    angles = blended = rule.going_on(solved.angles, near)
    if not fully and (samples.influence < 1.0).any():
        other_pose = pose_without_chain(scene, chain_of_post(rig), there.tolist())
        assert other_pose.channels is not None
        by_hand = angles_in(rig, other_pose.channels)
        blended = rule.going_on(by_hand + samples.influence * wrapped(angles - by_hand), near)
    inside = np.flatnonzero(order >= frames)
    after = np.repeat(np.flatnonzero(gaps), len(THIRDS))
    return _Post(rig, samples, solved, space, angles, blended, inside, after)


def _keyed(plan: KeyPlan, post: _Post, single_axis: bool) -> KeyedPost:
    """Return a solved post with its keys, and with those that its chain is solved on."""
    rig = post.rig
    channels = [_channels(plan, post, post.angles, single_axis)]
    if post.blended is not post.angles:
        channels.append(_channels(plan, post, post.blended, single_axis))
    rows = post.on_frames
    return KeyedPost(rig, post.solved.at(rows), post.blended[rows], channels[-1], channels[0])


def _channels(plan: KeyPlan, post: _Post, angles: Floats, single_axis: bool) -> BoneRotation:
    """Return the channels that a plan keys for angles (frames,) of a post."""
    rig, swings = post.rig, post.space.swings
    every = post_channels(rig, angles, swings, single_axis)
    if len(post.inside):
        return shaped(every, post.on_frames, post.inside, post.after, THIRDS[0])
    if rig.name in plan.own:
        rows = np.searchsorted(plan.time_array, plan.own[rig.name])
        return keyed_at(every, plan, rows, plan.held.get(rig.name))
    if plan.bound > 0.0 and len(plan.times) > 1:
        candidates = np.searchsorted(plan.time_array, plan.candidates).tolist()
        fit = _AngleFit(angles, post.lever)
        rows, slopes = drained(fewest(fit, candidates, POSTED * plan.bound))
        ends = np.stack((rows[:-1], rows[1:]), axis=1)  # (k - 1, 2)
        rates = [
            post_channels(rig, angles + way, swings, single_axis).values[ends] for way in (_SMALL, -_SMALL)
        ]
        per_radian = (rates[0] - rates[1]) / (2.0 * _SMALL)
        handles = handles_of(every.values[rows], slopes * per_radian)
        return changed(keyed_at(every, plan, rows), handles=handles)
    return every


class _AngleFit:
    """Angles of a post by cubics from key to key; their errors are lengths in the world."""

    def __init__(self, angles: Floats, levers: Floats) -> None:
        """levers: (frames,) the lengths that a radian moves the chain's tip by."""
        self.times, self.channels, self._levers = np.arange(float(len(angles))), angles[:, None], levers
        self._slopes = np.gradient(angles)

    def fit(self, first: int, last: int) -> tuple[Floats, float]:
        """Return the slopes (2, 1) over a segment whose cubic is nearest to the angles, and its error."""
        at_ends, at_slopes = hermite(np.linspace(0.0, 1.0, last - first + 1))
        wanted = self.channels[first : last + 1, 0]
        ends = wanted[[0, -1]]
        left = wanted - at_ends @ ends
        # Short segments leave slopes open: those of the angles are a little better than others.
        near = _NEAR_SLOPES * (last - first) * self._slopes[[first, last]]
        rows = np.concatenate((at_slopes, _NEAR_SLOPES * np.eye(2)))
        slopes = np.linalg.lstsq(rows, np.concatenate((left, near)), rcond=None)[0]
        off = np.abs(at_slopes @ slopes - left) * self._levers[first : last + 1]
        return slopes[:, None], float(off.max())
