# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a bake back in Blender and measure where the tips really are."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

import bpy
import numpy as np

from ..core.affine import are_finite, crossed, norms, product, unrepeated
from ..core.inputs import Floats
from ..core.solution import Steps
from ..core.words import refusal
from ..rig.chain.chain import RigChain
from ..rig.pose.bone_matrices import rest_to_pose
from ..rig.pose.joint_angles import angles_from_rest
from ..rig.pose.swings import aimed_as_far, swung
from ..rig.scene.between import restless_gaps
from ..rig.scene.sampler import STEP, Sampler, sample_steps
from ..rig.scene.samples import ChainSamples
from .arithmetic import AllPlaced, expected
from .keys.keying import KeyedChain, KeyPlan

VERIFY_SAMPLE, VERIFY_ALL, VERIFY_NOTHING = 'SAMPLE', 'ALL', 'NONE'
# So many times are measured at once, for the memory.
_BLOCK = 1 << 16
# So near to its root, as a part of its length, the target of a bone that aims may be.
_AIMED = 0.1


@dataclass(frozen=True, eq=False)
class Played:
    """A chain's misses when its bake was played back. Lengths are the world's."""

    times: Floats  # (m,) the frames, and the times between them, that were played
    distance: Floats  # (m,) tip to target
    in_plane: Floats  # (m,) the part of it in the chain's plane
    off_plane: Floats  # (m,) the part of it along the plane's normal
    # Error of the hands' orientation in radians (m,): against the wanted one, and against the keyed one.
    # NaN if unknown, None without hands.
    hands_off: Floats | None = None
    hands_moved: Floats | None = None
    angles: Floats | None = None  # (m, n) the bones' turns in the plane, as in `angles_from_rest`

    def joined(self, other: "Played") -> "Played":
        """Return the misses at these times and at others; of the others no angles."""
        if not len(other.times):
            return self
        parts = {
            name: np.concatenate((getattr(self, name), getattr(other, name)))
            for name in ("times", "distance", "in_plane", "off_plane", "hands_off", "hands_moved")
            if getattr(self, name) is not None and getattr(other, name) is not None
        }
        if self.angles is not None:
            unknown = np.full((len(other.times), self.angles.shape[1]), np.nan)
            parts["angles"] = np.concatenate((self.angles, unknown))
        order = np.argsort(parts["times"], kind="stable")
        return Played(**{name: values[order] for name, values in parts.items()})


NOT_PLAYED = Played(np.empty(0), np.empty(0), np.empty(0), np.empty(0))


# Chains of one armature, and the times at quarters of gaps that they are played at.
Quarters = tuple[list[KeyedChain], Floats]


def play_back(
    scene: bpy.types.Scene | Sampler,
    chains: Sequence[KeyedChain],
    plan: KeyPlan,
    verify: str,
    placed: AllPlaced = MappingProxyType({}),
    quarters: Sequence[Quarters] = (),
) -> Steps[list[Played]]:
    """Measure how far each tip is from its target, as Blender evaluates them with the new keys.

    scene: or the Sampler of the chains. placed: as in `expected`. quarters: of several armatures, by
    `all_quarters`: those where a look at a few times will do are played together, others one at a time.
    Yields the number of times played.
    """
    if verify == VERIFY_NOTHING:
        return [NOT_PLAYED] * len(chains)
    known = scene.scene if isinstance(scene, Sampler) else scene
    each = quarters or all_quarters(known, chains, plan)
    if len(each) == 1:
        return (yield from _play_back(scene, chains, plan, each[0][1], placed))
    calm = [chain for its, restless in each if not len(restless) for chain in its]
    shown = (yield from _by_arithmetic(scene, calm, plan, np.empty(0), placed)) if calm else None
    told = dict(zip(calm, shown, strict=True)) if shown else {}
    for its, restless in each:
        if its[0] not in told:
            told |= zip(its, (yield from _play_back(known, its, plan, restless, placed)), strict=True)
    return [told[chain] for chain in chains]


def all_quarters(scene: bpy.types.Scene, chains: Sequence[KeyedChain], plan: KeyPlan) -> list[Quarters]:
    """Return the chains of each armature with their quarters to play, as its keys are now."""
    armatures = groupby(chains, key=lambda chain: chain.solved.rig.armature)
    return [(its := list(group), quarters_to_play(scene, its, plan)) for _, group in armatures]


def _play_back(
    scene: bpy.types.Scene | Sampler,
    chains: Sequence[KeyedChain],
    plan: KeyPlan,
    quarters: Floats,
    placed: AllPlaced,
) -> Steps[list[Played]]:
    """Play chains back by arithmetic or, where that does not do, in Blender at all times."""
    if (shown := (yield from _by_arithmetic(scene, chains, plan, quarters, placed))) is not None:
        return shown
    times = np.sort(np.concatenate((times_to_play(plan), quarters)))
    rigs = [chain.solved.rig for chain in chains]
    sampling = yield from sample_steps(scene, rigs, times.tolist(), checked=False, way=STEP)
    each = zip(chains, sampling.chains, strict=True)
    return [played(chain, samples, times, plan.time_array) for chain, samples in each]


def _by_arithmetic(
    scene: bpy.types.Scene | Sampler,
    chains: Sequence[KeyedChain],
    plan: KeyPlan,
    quarters: Floats,
    placed: AllPlaced,
) -> Steps[list[Played] | None]:
    """Play chains back by arithmetic, but quarters of frames by Blender; None where a few looks differ."""
    there = expected(scene.scene if isinstance(scene, Sampler) else scene, chains, plan, placed)
    if there is None:
        return None
    each = zip(chains, there.chains, strict=True)
    told = [played(chain, samples, there.times, plan.time_array) for chain, samples in each]
    armatures = groupby(zip(chains, told, strict=True), key=lambda each: each[0].solved.rig.armature)
    rows = there.looks([[one.distance for _, one in its] for _, its in armatures])
    times = np.concatenate((there.times[rows], quarters)).tolist()
    rigs = [chain.solved.rig for chain in chains]
    looks = yield from sample_steps(scene, rigs, times, checked=False, way=STEP)
    seen = [samples.at(slice(len(rows))) for samples in looks.chains]
    if not there.agrees(rows, seen, [chain.solved.reach for chain in chains]):
        return None
    yield len(there.times)
    between = [samples.at(slice(len(rows), None)) for samples in looks.chains]
    asked = zip(told, chains, between, strict=True)
    return [one.joined(played(chain, own, quarters, plan.time_array)) for one, chain, own in asked]


def played(chain: KeyedChain, samples: ChainSamples, times: Floats, solved: Floats) -> Played:
    """Return the played-back misses of a chain at the times of its samples.

    solved: the times that it was solved at. Raises IK2DError where a tip has no finite place, and there a
    target or the armature.
    """
    if not len(times):
        return NOT_PLAYED
    rig = chain.solved.rig
    # Between two frames a target, or the armature, may have no finite place.
    known = are_finite(samples.targets) & are_finite(samples.world)
    lost = known & ~are_finite(samples.tips)
    if lost.any():
        at = times[int(np.argmax(lost))]
        raise refusal(
            "Chain '{chain}': played back, its tip has no finite place at frame {time:g}; mend or mute "
            "the constraints and drivers on its bones",
            chain=rig.name,
            time=at,
        )
    if not known.all() and (lost := ~known & np.isin(times, solved)).any():
        at = times[int(np.argmax(lost))]
        raise refusal(
            "Chain '{chain}': played back, its target or its armature has no finite place at frame "
            "{time:g}; mend or mute the constraints and drivers on these",
            chain=rig.name,
            time=at,
        )
    if not known.all():
        samples, times = samples.at(np.flatnonzero(known)), times[known]
    samples = aimed_as_far(rig, swung(rig, samples))
    if len(times) <= _BLOCK:
        distance, in_plane, off_plane = _missed(rig, samples)
    else:
        blocks = (samples.at(slice(first, first + _BLOCK)) for first in range(0, len(times), _BLOCK))
        parts = zip(*(_missed(rig, block) for block in blocks), strict=True)
        distance, in_plane, off_plane = map(np.concatenate, parts)
    off, moved = None, None
    if chain.hands is not None and samples.hands is not None:
        off, moved = chain.hands.off(times, samples.hands)
    poses = samples.poses
    angles = None if poses is None else angles_from_rest(rig, samples, np.moveaxis(poses, 1, 0))
    return Played(times, distance, in_plane, off_plane, off, moved, angles)


def _missed(rig: RigChain, samples: ChainSamples) -> tuple[Floats, Floats, Floats]:
    """Return the distances (m,) of tips from targets: in all, in the chain's plane, and off it."""
    missed = samples.targets - samples.tips
    to_world = unrepeated(product(samples.world, rest_to_pose(rig, samples)))[:, :3, :3]
    normals = crossed(to_world @ rig.plane.x, to_world @ rig.plane.y)
    # A rig may also be scaled to nothing there, and have no plane.
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    heights = (missed * normals).sum(axis=1)
    return norms(missed), norms(missed - heights[:, None] * normals), np.abs(heights)


def times_to_play(plan: KeyPlan) -> Floats:
    """Return the times to play: all frames, and half-way between."""
    frames = plan.frame_array
    return np.concatenate((frames, (frames[:-1] + frames[1:]) / 2.0))


def quarters_to_play(scene: bpy.types.Scene, chains: Sequence[KeyedChain], plan: KeyPlan) -> Floats:
    """Return the times to play chains of one armature at quarters of gaps, where half-way times do not do.

    Keys are shaped by thirds of the gaps, which cubics of the targets need, except of bones that stretch.
    """
    frames = plan.frame_array.astype(np.float64)
    if plan.bound:  # which is promised between all frames
        gaps = np.arange(len(frames) - 1)
    else:
        solved = [chain.solved for chain in chains]
        near = min(each.reach * (_AIMED if each.rig.settings.aims else 1.0) for each in solved)
        by_thirds = all(each.factors is None for each in solved)
        gaps = restless_gaps(scene, [each.rig for each in solved], frames, near, by_thirds)
    quarters: Floats = frames[gaps, None] + np.diff(frames)[gaps, None] * (0.25, 0.75)
    return quarters.ravel()
