# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of chains, and the paths that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from bpy.types import Object

from ...bake.request import read_rigs
from ...core import IK2DError
from ...core.contacts import held
from ...core.contacts.planted import PlantedFoot, planted
from ...core.contacts.runs import Mask
from ...core.inputs import Floats
from ...core.words import say
from ...rig.chain.chain import RigChain
from ...rig.chain.foot.contacts import keyed
from ...rig.chain.renames import needed_chain
from ...rig.scene.sampler import watch
from ..match.targets import View
from .contacts import UP, found, is_loop
from .motion import ChainMotion, has_own_motion, motion_of

# Tips that move by less than this part of the reach stand still throughout.
_STILL = 1e-4


@dataclass(frozen=True, eq=False)
class Plan:
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


def plans_of(
    view: View,
    armature: Object,
    names: Sequence[str],
    ground_velocity: Sequence[float],
    use_keyed: bool = True,
) -> list[Plan]:
    """Return the chains' contacts and paths. Raises IK2DError where there are none."""
    scene, frames = view.scene, [int(time) for time in view.times]
    rigs, _ = read_rigs(armature, names, frames)
    motions = []
    for rig, samples in zip(rigs, view.sample(rigs), strict=True):
        motions.append(motion_of(scene, rig, samples, frames, has_own_motion(rig, samples)))
    _refuse_still(motions, frames)
    times = np.array(frames) * scene.render.fps_base / scene.render.fps
    ways = [_carried(scene, one.rig, frames, times, ground_velocity) for one in motions]
    loop = is_loop(motions)
    masks = found(motions, times, ways, loop)
    if use_keyed:
        settings = [needed_chain(armature, one.rig.name) for one in motions]
        by_hand = [keyed(chain, scene, frames) for chain in settings]
        masks = [own if hand is None else hand for hand, own in zip(by_hand, masks, strict=True)]
    if not any(mask.any() for mask in masks):
        raise IK2DError(
            say(
                "No foot of '{armature}' stands still on frames {frame} to {frame_2}; choose other "
                "frames, give the speed of a ground that moves, or key Contact yourself",
                armature=armature.name,
                frame=frames[0],
                frame_2=frames[-1],
            )
        )
    return [
        _planned(one, way, mask, times, loop) for one, way, mask in zip(motions, ways, masks, strict=True)
    ]


def _planned(motion: ChainMotion, carried: Floats, mask: Mask, times: Floats, loop: bool) -> Plan:
    """Return the path that holds a chain's contacts, on ground that is carried (m, 3)."""
    if motion.foot is None or motion.rig.foot is None:
        path = held(motion.tips - carried, mask[:, 0], times, up=UP, loop=loop)
        return Plan(motion, carried, mask, path + carried, None)
    moving = replace(motion.foot, ankles=motion.foot.ankles - carried)
    heel, toe = mask.T
    foot = planted(moving, motion.rig.foot, heel, toe, times, UP, loop)
    return Plan(motion, carried, mask, foot.places + carried, foot)


def _refuse_still(motions: Sequence[ChainMotion], frames: Sequence[int]) -> None:
    for one in motions:
        if np.ptp(np.hstack((one.tips, one.roots)), axis=0).max() > _STILL * one.reach:
            return
    raise IK2DError(
        say(
            "Nothing moves on frames {frame} to {frame_2}: neither the chains' bones have keys "
            "there, nor their targets; choose other frames",
            frame=frames[0],
            frame_2=frames[-1],
        )
    )


def _carried(
    scene: bpy.types.Scene, rig: RigChain, frames: Sequence[int], times: Floats, velocity: Sequence[float]
) -> Floats:
    """Return the way (m, 3) of the ground under a chain since the first frame."""
    speed = np.array(velocity, np.float64)
    if speed.shape != (3,) or not np.isfinite(speed).all():
        raise IK2DError(say("ground_velocity must be three numbers, not {velocity!r}", velocity=velocity))
    way: Floats = (times - times[0])[:, None] * speed
    if rig.foot is not None and rig.foot.ground is not None:
        _, places, _ = watch(scene, [rig], [(rig.foot.ground, "")], frames)
        way = way + places[:, 0] - places[0, 0]
    return way
