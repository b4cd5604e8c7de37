# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of chains, and the paths that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from bpy.types import Object

from ...bake.request import read_rigs
from ...core import IK2DError
from ...core.affine import turned
from ...core.contacts import held
from ...core.contacts.planted import PlantedFoot, planted
from ...core.contacts.runs import Mask
from ...core.inputs import Floats
from ...core.words import refusal, say
from ...rig.chain.chain import RigChain
from ...rig.chain.foot.bones import FOOT
from ...rig.chain.foot.contacts import keyed
from ...rig.chain.hands import read_hands
from ...rig.chain.renames import needed_chain
from ...rig.pose.measures import rest_reach
from ...rig.scene.sampler import watch
from ..match.targets import MatchView
from .contacts import UP, found, is_loop
from .motion import ChainMotion, has_own_motion, is_live, motion_of, stands

# Tips that move by less than this part of the reach stand still throughout.
_STILL = 1e-4
# A tip that stands farther off the chain's plane than this part of the reach cannot be held in it.
_IN_PLANE = 5e-5


@dataclass(frozen=True, eq=False)
class PlantPlan:
    """A chain, its contacts, and the path that holds them."""

    motion: ChainMotion
    carried: Floats  # (m, 3) the way of the ground under it
    contacts: Mask  # (m, k)
    goals: Floats  # (m, 3) of its target
    foot: PlantedFoot | None

    @property
    def on_tips(self) -> Mask | None:
        """(m,) where a foot rolls over the tip of its toes; None for a chain without a foot."""
        if self.foot is None or self.motion.foot is None:
            return None
        past: Mask = self.foot.rolls > self.motion.foot.break_angles
        return past

    @property
    def needs_pole(self) -> bool:
        """Whether the chain's own plane cannot hold its joints, or its tip in the contacts."""
        motion, rig = self.motion, self.motion.rig
        if motion.off_plane or not motion.by_bones or rig.swing is not None:
            return motion.off_plane
        held = np.append(self.tips, np.ones((len(self.goals), 1)), axis=1)[self.contacts.any(axis=1)]
        inside = (motion.into[self.contacts.any(axis=1)] @ held[..., None])[:, :3, 0]
        off = np.abs(rig.plane.distance(inside)).max(initial=0.0)
        return bool(off > _IN_PLANE * rest_reach(rig))

    @property
    def tips(self) -> Floats:
        """(m, 3) of the chain's tip, on which a foot rolls."""
        if self.foot is None or self.motion.foot is None or self.motion.rig.foot is None:
            return self.goals
        axes, moved = self.motion.rig.foot, self.motion.foot
        ankles, _, _ = axes.shape.rolled(self.foot.rolls, self.foot.toes, moved.break_angles)
        tips: Floats = self.goals + moved.scales[:, None] * turned(self.foot.turns, axes.offsets(ankles))
        return tips


def plans_of(
    view: MatchView,
    armature: Object,
    names: Sequence[str],
    ground_velocity: Sequence[float],
    use_keyed: bool = True,
) -> list[PlantPlan]:
    """Return the chains' contacts and paths. Raises IK2DError where there are none."""
    scene, frames = view.scene, [int(time) for time in view.times]
    rigs, _ = read_rigs(armature, names, frames)
    _refuse_without_foot(rigs)
    bare = [replace(rig, foot=None) for rig in rigs if is_live(rig)]
    targets = view.sample(bare) if bare else []
    led = {
        rig.name for rig, targets_of_it in zip(bare, targets, strict=True) if not stands(rig, targets_of_it)
    }
    motions = []
    for rig, samples in zip(rigs, view.sample(rigs), strict=True):
        by_bones = rig.name not in led and has_own_motion(rig, samples)
        motions.append(motion_of(scene, rig, samples, frames, by_bones))
    _refuse_still(motions, frames)
    times = np.array(frames) * scene.render.fps_base / scene.render.fps
    ways = [_carried(scene, motion.rig, frames, times, ground_velocity) for motion in motions]
    loop = is_loop(motions)
    masks = found(motions, times, ways, loop)
    if use_keyed:
        settings = [needed_chain(armature, motion.rig.name) for motion in motions]
        known = [keyed(chain, scene, frames) for chain in settings]
        masks = [
            mask if keys is None else np.where(keys[1][:, None], keys[0], mask)
            for keys, mask in zip(known, masks, strict=True)
        ]
    if not any(mask.any() for mask in masks):
        raise IK2DError(
            say(
                "No foot of '{armature}' stands still on frames {frame} to {frame_2}; choose other "
                "frames, give the speed of a ground that moves, or key Contact yourself",
                armature=armature.name,
                frame=frames[0],
                frame_2=frames[-1],
            ),
            ["ground_velocity", "frame_start", "frame_end"],
        )
    return [
        _planned(motion, way, mask, times, loop)
        for motion, way, mask in zip(motions, ways, masks, strict=True)
    ]


def _planned(motion: ChainMotion, carried: Floats, mask: Mask, times: Floats, loop: bool) -> PlantPlan:
    """Return the path that holds a chain's contacts, on ground that is carried (m, 3)."""
    if motion.foot is None or motion.rig.foot is None:
        path = held(motion.tips - carried, mask[:, 0], times, up=UP, loop=loop)
        return PlantPlan(motion, carried, mask, path + carried, None)
    moving = replace(motion.foot, ankles=motion.foot.ankles - carried)
    heel, toe = mask.T
    foot = planted(moving, motion.rig.foot, heel, toe, times, UP, loop)
    return PlantPlan(motion, carried, mask, foot.places + carried, foot)


def _refuse_without_foot(rigs: Sequence[RigChain]) -> None:
    """Raise IK2DError for a chain whose foot it does not turn, as something else does."""
    for rig in rigs:
        if rig.foot is not None and (rig.hands is None or FOOT not in rig.hands.parts):
            _, left_alone = read_hands(needed_chain(rig.armature, rig.name), rig.pose_bones[-1], rig.foot)
            raise refusal(
                "{why}; until then its foot cannot be planted, and Remove Foot plants the tip alone",
                why="; ".join(left_alone),
            )


def _refuse_still(motions: Sequence[ChainMotion], frames: Sequence[int]) -> None:
    for motion in motions:
        if np.ptp(np.hstack((motion.tips, motion.roots)), axis=0).max() > _STILL * motion.reach:
            return
    raise IK2DError(
        say(
            "Nothing moves on frames {frame} to {frame_2}: neither the chains' bones have keys "
            "there, nor their targets; choose other frames",
            frame=frames[0],
            frame_2=frames[-1],
        ),
        ["frame_start", "frame_end"],
    )


def _carried(
    scene: bpy.types.Scene, rig: RigChain, frames: Sequence[int], times: Floats, velocity: Sequence[float]
) -> Floats:
    """Return the way (m, 3) of the ground under a chain since the first frame."""
    speed = np.array(velocity, np.float64)
    if speed.shape != (3,) or not np.isfinite(speed).all():
        raise refusal("ground_velocity must be three numbers, not {velocity!r}", velocity=velocity)
    way: Floats = (times - times[0])[:, None] * speed
    if rig.foot is not None and rig.foot.ground is not None:
        _, places, *_ = watch(scene, [rig], [(rig.foot.ground, "")], frames)
        way = way + places[:, 0] - places[0, 0]
    return way
