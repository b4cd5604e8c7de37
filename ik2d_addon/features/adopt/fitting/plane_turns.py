# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn of a plane that follows its target, where the first bone's own keys below the IK turn it.

Blender's IK starts from the pose of the bones' own channels, and without a pole it turns them no further
about the line to the target than it has to: a thigh that is twisted takes the knee along. How far is no
formula, so it is measured: the angle about that line from the chain's knee to the IK's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bpy.types import Object, PropertyGroup, Scene

from ....core import IK2DError
from ....core.affine import inverse, norms
from ....core.inputs import Floats
from ....rig.animation.times import pace_of
from ....rig.rest import rest_matrix
from ..animation import levels_of
from ..compare import posed_each
from ..course import own_times, span, spins
from ..keep import keep_animation
from ..plan import AdoptPlan
from ..poses import EXACT_FRAMES, Watched, frames_of, watched
from .curve import fitted, key_curve

# A plane that is turned by less than this (radians) stays, and one whose turn changes by less has no keys.
_TURNS = 1e-3
# Where a limb and the line to its tip enclose less than this part of the square of its length, its knee has
# no direction.
_STRAIGHT = 5e-3


def watch_twisted(
    scene: Scene, plans: Sequence[AdoptPlan], seen: Watched | None, closely: bool
) -> Watched | None:
    """Return the IK's poses of limbs whose own keys turn their planes; None where there are none.

    seen: their poses on the watched frames, which are enough if not closely: else on all frames and half-way.
    """
    plans = [plan for plan in plans if plan.plane.is_turned]
    if not plans or seen is None or not closely:
        return seen if plans else None
    armature = plans[0].limb.armature
    frames = frames_of(scene, armature, [plan.target for plan in plans], EXACT_FRAMES)
    half_way = [0.5 * (one + other) for one, other in zip(frames, frames[1:], strict=False)]
    times: list[Any] = sorted((*map(float, frames), *half_way))
    bones, acting = [plan.limb.bones for plan in plans], [plan.limb.constraints[0] for plan in plans]
    return watched(scene, armature, bones, [], times, acting=acting)


def fit_plane_turns(
    armature: Object, scene: Scene, plans: Mapping[str, AdoptPlan], before: Watched | None
) -> None:
    """Turn the planes of chains on as far as the IK had them, with keys where that changes.

    plans: by the names of the chains that were made. before: as `watch_twisted` returns it.
    """
    if before is None or not any(plan.plane.is_turned for plan in plans.values()):
        return
    posed = posed_each(armature, {name: plan.limb.bones for name, plan in plans.items()}, before)
    for name, plan in plans.items():
        after = posed[name]
        if not plan.plane.is_turned or isinstance(after, IK2DError):  # the comparison will say why
            continue
        turns = _turns(plan, before, after)
        if turns is not None and np.abs(turns).max() > _TURNS:
            _give(armature.ik2d.chains[name], scene, plan, before.frames, turns)


def _turns(plan: AdoptPlan, before: Watched, after: Watched) -> Floats | None:
    """Return the angles (frames,), radians without jumps, from a chain's pose to that of the IK.

    About the line from root to tip. Where they cannot be told they go on evenly; None if they nowhere can.
    """
    (lines, sides), (_, spans) = (_limb(plan, watch) for watch in (after, before))
    angles, weights = spins(lines, sides, spans)
    told = weights > _STRAIGHT * (lines * lines).sum(axis=1)
    acting = before.acting.get(plan.limb.constraints[0])
    if acting is not None:
        told &= acting == 1.0
    if not told.any():
        return None
    times = np.array(before.frames, np.float64)
    turns: Floats = np.interp(times, times[told], np.unwrap(angles[told]))
    turns -= 2.0 * np.pi * np.round(turns[0] / (2.0 * np.pi))
    return turns


def _limb(plan: AdoptPlan, watch: Watched) -> tuple[Floats, Floats]:
    """Return a limb's lines from root to tip, and its spans: (frames, 3) each, as the bone above holds them.

    In place of a single bone's span, its X axis.
    """
    armature, bones = plan.limb.armature, plan.bones
    root, to_rest = armature.pose.bones[bones[0]], np.eye(3)
    if root.parent is not None:
        to_rest = (rest_matrix(root.parent.bone) @ inverse(watch.poses[root.parent.name]))[:, :3, :3]
    joints = watch.joints(armature, bones) @ to_rest.swapaxes(-1, -2)
    lines = joints[:, -1] - joints[:, 0]
    if len(bones) == 1:
        side = (to_rest @ watch.poses[bones[0]][:, :3, :1])[..., 0]
        return lines, side * norms(lines)[:, None] ** 2
    return lines, span(joints[:, : len(bones) + (plan.tip_offset is None)])


def _give(
    chain: PropertyGroup, scene: Scene, plan: AdoptPlan, frames: Sequence[float], turns: Floats
) -> None:
    """Turn a chain's plane on by angles (frames,), radians: by keys on some of the whole frames."""
    chain.plane_turn = turns[0]
    if np.ptp(turns) <= _TURNS:
        return
    armature = chain.id_data
    own = np.array(own_times(armature.pose.bones[plan.bones[0]])) / pace_of(scene)
    curve = fitted(np.array(frames, np.float64), turns, own)
    levels = levels_of(armature)
    key_curve(armature, f"{chain.path_from_id()}.plane_turn", chain.name, curve, scene)
    keep_animation(chain, levels)
