# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a bake back by arithmetic, on the keys that Blender holds: on each frame and half-way between two.

Where keys alone turn the bones, the tips follow from these and from what was sampled above the chain. Blender
is asked at a few of the times, and has to agree.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.affine import changed
from ..core.inputs import Floats
from ..core.solution import drained
from ..rig.animation import versions
from ..rig.animation.actions import KnownChannels, KnownCurves
from ..rig.animation.bone_channels import BoneRotation
from ..rig.animation.fcurves import KeyPlaces, KnownKeys, Singles, column, row_from
from ..rig.animation.times import evaluated_times
from ..rig.chain.chain import RigChain
from ..rig.chain.order import by_armature
from ..rig.chain.stretch import ALONG
from ..rig.scene.by_curves import turned_by_more
from ..rig.scene.rounding import rounding
from ..rig.scene.samples import ChainSamples
from .keys.cubics import read_played, tips_of
from .keys.keying import KeyedChain, KeyPlan

# Those of each armature.
AllPlaced = Mapping[bpy.types.Object, KnownKeys]
# How many of the times Blender is asked at, besides the one of the largest miss.
LOOKS = 5
# The part of the reach by which Blender may differ, besides the rounding of 32-bit numbers.
AGREE = 1e-6
# Handles are so symmetric, in frames, that half of the time is half of the way from key to key.
_SYMMETRIC = 1e-3
# So many frames of chains are read as one array, which stays at hand for the processor.
_PART = 1 << 13


@dataclass(frozen=True, eq=False)
class Expected:
    """Where arithmetic expects the tips of chains."""

    times: Floats  # (m,) all frames, then the times half-way between them
    chains: list[ChainSamples]  # at these times

    def looks(self, distances: Iterable[Sequence[Floats]]) -> list[int]:
        """Return the rows to ask Blender at, by time: the worst of each armature, and some spread over all.

        distances: of each armature's chains, (m,) from tip to target; fewer where some are not known.
        """
        known = [[each for each in its if len(each) == len(self.times)] for its in distances]
        furthest = {int(np.argmax(max(its, key=np.max))) for its in known if its} or {0}
        frames = (len(self.times) + 1) // 2
        on_frames = np.linspace(0, frames - 1, (LOOKS + 1) // 2).round().astype(np.intp)
        half_way = np.linspace(frames, len(self.times) - 1, LOOKS // 2).round().astype(np.intp)
        rows = {*furthest, *on_frames.tolist(), *half_way[half_way >= frames].tolist()}
        return sorted(rows, key=self.times.__getitem__)

    def agrees(self, rows: list[int], seen: Sequence[ChainSamples], reaches: Sequence[float]) -> bool:
        """Return whether Blender's samples at some rows show the tips, and the targets, where expected."""
        for chain, other, reach in zip(self.chains, seen, reaches, strict=True):
            sizes = np.abs(other.world[:, :3, 3]) + np.abs(other.tips)
            near = AGREE * reach + rounding(sizes.max(axis=1, keepdims=True) + reach)
            if not (
                (np.abs(chain.tips[rows] - other.tips) <= near).all()
                and (np.abs(chain.targets[rows] - other.targets) <= near).all()
            ):
                return False
        return True


def turned_by_keys(rigs: Sequence[RigChain]) -> bool:
    """Return whether keys alone turn the bones of chains, and all that hangs on them.

    Not where constraints or drivers do too, where bones slide, and where hands have a rotation of their own.
    """
    plain = all(rig.slides is None and rig.hands is None for rig in rigs)
    return plain and not any(
        turned_by_more(armature, {bone for rig in its for bone in rig.turned_bones})
        for armature, its in by_armature(rigs).items()
    )


def expected(
    scene: bpy.types.Scene, chains: Sequence[KeyedChain], plan: KeyPlan, placed: AllPlaced
) -> Expected | None:
    """Return where the tips of keyed chains are; None where that takes more than arithmetic.

    placed: where keys and handles are, as far as that is known without reading them.
    """
    if not all(chain.samples is not None and chain.rotations for chain in chains):
        return None
    known = {}
    for armature in by_armature(chain.solved.rig for chain in chains):
        holder = versions.existing_channels(armature)
        assert holder is not None  # with new keys
        known[armature] = KnownChannels(holder).fcurves
    times = evaluated_times(scene, plan.times)
    sampled, played_chains = [], []
    most = max(1, _PART // len(times))
    for some in (chains[first : first + most] for first in range(0, len(chains), most)):
        values = _played(some, known, times, placed)
        if values is None:
            return None
        each: Iterator[NDArray[Any]] = iter(values)
        for chain in some:
            turning = [BoneRotation(one.bone, one.property, next(each), one.mode) for one in chain.rotations]
            samples, linkage = chain.samples, chain.solved.linkage
            assert samples is not None
            if chain.scales:
                samples, linkage = _scaled(chain, samples, islice(each, len(chain.scales))), None
            sampled.append(samples)
            played_chains.append(read_played(chain.solved.rig, samples, turning, np.empty(0), linkage))
    tips = drained(tips_of(played_chains))
    shown = [changed(samples, tips=its_tips) for samples, its_tips in zip(sampled, tips, strict=True)]
    return Expected(np.concatenate((plan.frame_array, plan.half_way)), shown)


def _scaled(chain: KeyedChain, samples: ChainSamples, values: Iterable[NDArray[Any]]) -> ChainSamples:
    """Return a chain's samples with the scales of bones as they play."""
    bases = samples.bases.copy()
    for scale, played in zip(chain.scales, values, strict=True):
        along = bases[:, chain.solved.rig.bones.index(scale.bone), :3, ALONG]
        along *= np.abs(played[:, ALONG : ALONG + 1]) / np.linalg.norm(along, axis=1, keepdims=True)
    return changed(samples, bases=bases)


def _played(
    chains: Sequence[KeyedChain],
    known: Mapping[bpy.types.Object, KnownCurves],
    times: Singles,
    placed: AllPlaced,
) -> list[Singles] | None:
    """Return the values that Blender plays of chains' channels at times (m,), then half-way between these.

    None where the keys are at other times, or not as a bake leaves them.
    """
    channels = [
        (chain.solved.rig.armature, channel)
        for chain in chains
        for channel in (*chain.rotations, *chain.scales)
    ]
    if any(channel.frames is not None for _, channel in channels):
        return None
    played: list[Singles] = []
    found = []  # F-Curves, where their keys are, and the columns that they fill
    for armature, channel in channels:
        bone, curves, places = armature.pose.bones[channel.bone], known[armature], placed.get(armature, {})
        path = bone.path_from_id(channel.property)
        values = np.empty((2 * len(times) - 1, channel.values.shape[1]), "f4")  # as Blender has them
        values[:] = getattr(bone, channel.property)
        played.append(values)
        for index in channel.unlocked(armature):
            curve = curves.get((path, index))
            if curve is not None and versions.plays(armature, curve):
                found.append((curve, places.get((path, index)), values[:, index]))
            elif curve is not None or channel.keys(index):
                return None
    there = _at_keys([curve for curve, *_ in found], times, [places for _, places, _ in found])
    if there is None:
        return None
    for (*_, values), given in zip(found, there, strict=True):
        values[:] = given
    return played


def _at_keys(
    curves: Sequence[bpy.types.FCurve], times: Singles, placed: Sequence[KeyPlaces | None]
) -> Singles | None:
    """Return F-Curves' values (c, 2 m - 1) at their keys, at times (m,), then half-way between these.

    Half of the time is half of the way along a Bezier segment whose handles are as long on either side.
    None for keys elsewhere.
    """
    keys = np.empty((3, len(curves), len(times), 2), "f4")
    flat = keys.reshape(3, len(curves), -1)
    for row, (curve, places) in enumerate(zip(curves, placed, strict=True)):
        if places is not None and len(places[0]) == len(times) and not len(curve.modifiers):
            keys[:, row] = places
            continue
        points = curve.keyframe_points
        extra = len(points) - len(times)
        first = row_from(curve, times[0]) if extra > 0 else 0
        if extra < first or len(curve.modifiers):
            return None
        for column_read, name in zip(flat, ("co", "handle_left", "handle_right"), strict=True):
            if extra:
                column_read[row] = column(curve, name)[first : first + len(times)].ravel()
            else:
                points.foreach_get(name, column_read[row])
    x, y = np.moveaxis(keys[0], -1, 0)
    left, right = keys[1, :, 1:], keys[2, :, :-1]
    apart = np.abs((right[..., 0] - x[:, :-1]) - (x[:, 1:] - left[..., 0]))
    if (x != times).any() or apart.max(initial=0.0) > _SYMMETRIC:
        return None
    middles = (y[:, :-1] + y[:, 1:] + 3.0 * (right[..., 1].astype(np.float64) + left[..., 1])) / 8.0
    return np.concatenate((y, middles), axis=1, dtype="f4")
