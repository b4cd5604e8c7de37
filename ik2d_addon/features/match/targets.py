# SPDX-License-Identifier: GPL-3.0-or-later
"""The location that puts a target on a tip, whatever its parents and constraints, and its keys."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import bpy
import numpy as np

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.solution import drained
from ...core.words import quoted, refusal, say
from ...rig.animation.remembered import set_values, values_now
from ...rig.animation.value_keys import ValueKeys, values_previewed
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import Movers, Node, acting, walk
from ...rig.chain.order import rounds_of
from ...rig.pose.measures import rest_reach
from ...rig.pose.target_moves import acting_constraints, why_fixed
from ...rig.scene.sampler import STEP, sample_now, sample_steps, watch
from ...rig.scene.samples import ChainSamples

# A target is on a tip within ON_TIP of the reach, plus ROUNDING (32 bits) of the distance from the origin or
# from its parent. Something holds a target that stays off by more than HELD of the reach.
ON_TIP, ROUNDING, HELD = 1e-6, 3e-7, 1e-3
# If the target moves linearly, the first round is as near as 32 bits get; noise takes one more.
_ROUNDS = 3
# A tip that moves with its target by more than this part of the target's way hangs on it.
_ALONG = 1e-3

Holder: TypeAlias = bpy.types.Object | bpy.types.PoseBone


@dataclass(frozen=True, eq=False)
class MatchView:
    """A way to sample a scene: in its current pose, or on some frames."""

    scene: bpy.types.Scene
    times: Sequence[float]
    sample: Callable[[Sequence[RigChain]], list[ChainSamples]]
    # A context in which some channels have other values.
    shown: Callable[[Sequence[ValueKeys]], AbstractContextManager[None]]
    # The pose matrices (frames, 4, 4) of bones of a chain's armature.
    poses: Callable[[RigChain, Sequence[str]], dict[str, Floats]]
    keyed: bool  # whether F-Curves give the values, rather than what is set now

    def moved(self, targets: Sequence[tuple[RigChain, Floats]]) -> AbstractContextManager[None]:
        """Return a context in which targets have other locations (frames, 3)."""
        return self.shown(
            [keyed for rig, locations in targets for keyed in location_keys(rig, self.times, locations)]
        )


def current_pose(scene: bpy.types.Scene) -> MatchView:
    """Return the view of the current pose, unkeyed changes included."""

    def sample(rigs: Sequence[RigChain]) -> list[ChainSamples]:
        return sample_now(scene, rigs).chains

    @contextmanager
    def shown(channels: Sequence[ValueKeys]) -> Iterator[None]:
        before = values_now(keyed.channel for keyed in channels)
        try:
            set_values((*keyed.channel, float(keyed.values[0])) for keyed in channels)
            yield
        finally:
            set_values(before)
            bpy.context.view_layer.update()

    def poses(rig: RigChain, names: Sequence[str]) -> dict[str, Floats]:
        bpy.context.view_layer.update()
        seen = rig.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        return {name: np.array([seen[name].matrix], np.float64) for name in names}

    return MatchView(scene, [scene.frame_float], sample, shown, poses, keyed=False)


def on_frames(scene: bpy.types.Scene, times: Sequence[float]) -> MatchView:
    """Return the view of the scene's animation on some frames."""

    def sample(rigs: Sequence[RigChain]) -> list[ChainSamples]:
        return drained(sample_steps(scene, rigs, times, way=STEP)).chains

    def shown(channels: Sequence[ValueKeys]) -> AbstractContextManager[None]:
        return values_previewed(scene, channels)

    def poses(rig: RigChain, names: Sequence[str]) -> dict[str, Floats]:
        bare = replace(rig, bones=tuple(names), hands=None, foot=None, pole=None)
        return watch(scene, [bare], [], times)[2]

    return MatchView(scene, times, sample, shown, poses, keyed=True)


def moved_node(rig: RigChain) -> Node:
    """Return the object or bone that a chain's tip follows; of a blend of several the one that acts now."""
    return acting((rig.target, rig.subtarget))[0]


def holder_of(rig: RigChain) -> Holder:
    """Return that object or pose bone."""
    target, subtarget = moved_node(rig)
    return target.pose.bones[subtarget] if subtarget else target


def location_keys(rig: RigChain, times: Sequence[float], locations: Floats) -> list[ValueKeys]:
    """Return the keys of a target's location (frames, 3)."""
    path = holder_of(rig).path_from_id("location")
    target, subtarget = moved_node(rig)
    group = subtarget or "Object Transforms"
    return [ValueKeys(target, path, i, times, locations[:, i], group) for i in range(3)]


def in_rounds(rigs: Sequence[RigChain]) -> list[list[RigChain]]:
    """Return chains in rounds: the targets of a round move no chain or target of it, or of those before.

    Raises IK2DError for a target that cannot be moved or that two chains follow, and for a circle.
    """
    followers: dict[tuple[bpy.types.Object, str], str] = {}
    for rig in rigs:
        if reason := why_fixed(*moved_node(rig), constrained=True):
            raise refusal(
                "Chain '{chain}': its target cannot be moved: {reason}; change that, or have the "
                "chain follow something that can",
                chain=rig.name,
                reason=reason,
            )
        other = followers.setdefault(moved_node(rig), rig.name)
        if other != rig.name:
            raise refusal(
                "Chains '{other}' and '{chain}' follow the same target, which cannot be on both "
                "tips; take them one by one, or give one of them its own",
                other=other,
                chain=rig.name,
            )
    movers = Movers()
    moved_by = {
        rig.name: set(walk([(rig.target, rig.subtarget), (rig.armature, rig.bones[0])], movers))
        for rig in rigs
    }
    aiming = {moved_node(rig): rig for rig in rigs}
    rounds, circle = rounds_of(
        rigs, lambda rig: [aiming[node] for node in moved_by[rig.name] if node in aiming]
    )
    if circle:
        names = quoted(rig.name for rig in circle)
        raise refusal(
            "The targets of the chains {names} move one another in a circle; take them one by one",
            names=names,
        )
    return rounds


def locations_on_tips(
    view: MatchView, rigs: Sequence[RigChain], goals: Sequence[Floats] | None = None
) -> tuple[list[Floats], list[ChainSamples]]:
    """Return the locations (frames, 3) that put each chain's target on its tip, and the samples then.

    goals: other places (frames, 3) in the world, for each chain's target, in place of its tip. The effect
    of a location is measured, so that parents, deltas and constraints all count. Raises
    IK2DError for a target that does not follow its location, and for a tip that moves with its target.
    """
    rigs = [_without_ground(rig) for rig in rigs]
    sizes = [rest_reach(rig) for rig in rigs]
    bases = [np.tile(np.array(holder_of(rig).location, np.float64), (len(view.times), 1)) for rig in rigs]
    looks = []
    for step in np.vstack((np.zeros(3), np.eye(3))):
        shifted = [base + size * step for base, size in zip(bases, sizes, strict=True)]
        with view.moved(list(zip(rigs, shifted, strict=True))):
            looks.append(view.sample(rigs))
    locations, ways = [], []
    for k, rig in enumerate(rigs):
        places = np.array([look[k].targets for look in looks])  # (4, frames, 3)
        _refuse_tip_on_target(rig, places, np.array([look[k].tips for look in looks]))
        way = np.moveaxis(places[1:] - places[0], 0, 2) / sizes[k]  # (frames, 3 of the world, 3)
        _refuse_held(rig, way)
        ways.append(way)
        goal = looks[0][k].tips if goals is None else goals[k]
        locations.append(bases[k] + _solved(way, goal - places[0]))
    return _brought_nearer(view, rigs, locations, ways, goals)


def _brought_nearer(
    view: MatchView,
    rigs: Sequence[RigChain],
    found: list[Floats],
    ways: Sequence[Floats],
    goals: Sequence[Floats] | None,
) -> tuple[list[Floats], list[ChainSamples]]:
    """Return the locations, corrected for where they bring the targets, and the samples there."""
    for turn in range(_ROUNDS):
        with view.moved(list(zip(rigs, found, strict=True))):
            looked = view.sample(rigs)
        aims = goals or [own.tips for own in looked]
        misses = [aim - own.targets for aim, own in zip(aims, looked, strict=True)]
        off = [np.linalg.norm(miss, axis=1) for miss in misses]
        near = [_near(*each) for each in zip(rigs, looked, found, ways, strict=True)]
        if turn == _ROUNDS - 1 or not any((far > end).any() for far, end in zip(off, near, strict=True)):
            break
        found = [
            locations + np.where((far > end)[:, None], _solved(way, miss), 0.0)
            for locations, way, miss, far, end in zip(found, ways, misses, off, near, strict=True)
        ]
    for rig, own, far in zip(rigs, looked, off, strict=True):
        if (far > HELD * _reach(rig, own)).any():
            raise IK2DError(_held(rig, view.times[int(np.argmax(far))]))
    return found, looked


def _without_ground(rig: RigChain) -> RigChain:
    """Return a chain whose foot no ground lifts off the place that its control says."""
    return rig if rig.foot is None else replace(rig, foot=replace(rig.foot, ground=None))


def _near(rig: RigChain, own: ChainSamples, locations: Floats, way: Floats) -> Floats:
    """Return the distances (frames,) between target and tip that need no correction."""
    far_off = np.abs(own.tips).max(axis=1) + (np.abs(way) @ np.abs(locations[..., None])).max(axis=(1, 2))
    near: Floats = ON_TIP * _reach(rig, own) + ROUNDING * far_off
    return near


def _reach(rig: RigChain, own: ChainSamples) -> Floats:
    """Return the chain's length at rest (frames,), in the world."""
    reach: Floats = rest_reach(rig) * np.cbrt(np.abs(np.linalg.det(own.world[:, :3, :3])))
    return reach


def _solved(ways: Floats, offsets: Floats) -> Floats:
    """Return the locations (frames, 3) whose products with ways (frames, 3, 3) are offsets (frames, 3)."""
    solved: Floats = np.linalg.solve(ways, offsets[..., None])[..., 0]
    return solved


def _refuse_tip_on_target(rig: RigChain, places: Floats, tips: Floats) -> None:
    went = np.linalg.norm(places[1:] - places[0], axis=2).max()
    if np.linalg.norm(tips[1:] - tips[0], axis=2).max() > _ALONG * went:
        raise refusal(
            "Chain '{chain}': its tip goes along with its target, so there is no place for this; "
            "mute the constraint that has the bones follow it, or choose a target that does not "
            "carry the rig",
            chain=rig.name,
        )


def _refuse_held(rig: RigChain, ways: Floats) -> None:
    """Raise IK2DError if a location cannot move the target in all directions (frames, 3, 3)."""
    with np.errstate(all="ignore"):
        leads = np.isfinite(ways).all(axis=(1, 2)) & (np.linalg.cond(np.nan_to_num(ways)) < 1.0 / _ALONG**2)
    if not leads.all():
        raise IK2DError(_held(rig, None))


def _held(rig: RigChain, time: float | None) -> str:
    """Return the sentence that a target does not follow its location, with the likely cause."""
    names = quoted(constraint.name for constraint in acting_constraints(holder_of(rig)))
    causes = say("look for animation of it in the NLA, or a parent of no size")
    why = say("mute its constraint {names}", names=names) if names else causes
    if moved_node(rig) != (rig.target, rig.subtarget):
        why = say("another of the targets that '{blend}' blends acts there", blend=rig.target.name)
    at = "" if time is None else say(" at frame {time:g}", time=time)
    name = holder_of(rig).name
    return say(
        "Chain '{chain}': its target '{name}' does not go where its location says{at}; {why}",
        chain=rig.name,
        name=name,
        at=at,
        why=why,
    )
