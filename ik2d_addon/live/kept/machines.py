# SPDX-License-Identifier: GPL-3.0-or-later
"""Many frames of live mechanisms at once, as a bake solves them, where F-Curves alone lead them."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...core.affine import turned
from ...core.inputs import Floats
from ...core.solution import Steps
from ...rig.animation.times import evaluated_times
from ...rig.mechanism.aiming import aimed, fixed_bones
from ...rig.mechanism.posing import (
    Motions,
    by_turns,
    channels_at,
    local_turns,
    solution_of,
    written_bones,
)
from ...rig.mechanism.read import RAM, RigMechanism, frame_motions, outside
from ...rig.mechanism.values import drivers_read
from ...rig.scene.by_curves import hindrance, placed
from .poses import KeptPoses


def machine_rows(
    scene: bpy.types.Scene, poses: KeptPoses, rigs: Sequence[RigMechanism], times: Sequence[float]
) -> Steps[Floats | None]:
    """Return rows (frames, channels and looks) of an armature's mechanisms at times, in steps.

    None where more than F-Curves leads them, and where a driver is held or eased: what was given is not
    kept. Raises IK2DError where one cannot be solved.
    """
    armature, nodes, frames = poses.armature, poses.looks.nodes, len(times)
    carriers = list(dict.fromkeys(rig.frame for rig in rigs if rig.frame))
    if any(rig.unkeyed_drivers for rig in rigs) or hindrance(armature, carriers, nodes):
        return None
    found = yield from placed(armature, carriers, nodes, evaluated_times(scene, times))
    if found is None:
        return None
    world = np.broadcast_to(found.world, (frames, 4, 4))
    places = {
        node: np.broadcast_to(one.place, (frames, 3)) for node, one in zip(nodes, found.targets, strict=True)
    }
    values: dict[tuple[str, str, int], Floats] = {}
    tails: list[Floats] = []
    shares: list[Floats] = []
    for rig in rigs:
        carrier = np.broadcast_to(found.poses[rig.frame], (frames, 4, 4)) if rig.frame else None
        target = next((one.target for one in rig.drivers if one.target is not None), None)
        goals = None if target is None else outside(rig, places[target], world, carrier)
        # Whole turns count from the first frame on.
        before = np.arange(scene.frame_start, times[0]).tolist()
        with drivers_read(scene, rig) as drivers:
            given = drivers.values([*before, *times])
            now = {name: np.asarray(one)[len(before) :] for name, one in given.items()}
            solution = solution_of(rig, now, goals)
            written, _ = written_bones(rig, solution, drivers.askew(times))
            shares += [drivers.shares(one, times) for one in rig.drivers if one.kind == RAM]
        driving = fixed_bones(rig)
        if not driving.isdisjoint(written):
            return None
        turns = aimed(rig, local_turns(rig, solution), driving)
        for rotation in channels_at(rig, {bone: turns[bone] for bone in written}, single_axis=False).values():
            for index in rotation.unlocked(armature):
                values[rotation.bone, rotation.property, index] = rotation.values[:, index]
        tails += _tails(rig, turns, world, carrier)
        yield frames
    columns = [values[channel] for channel in poses.channels]
    parts = [*(column[:, None] for column in columns), *places.values(), *tails]
    return np.concatenate([*parts, *(share[:, None] for share in shares)], axis=1)


def _tails(
    rig: RigMechanism, turns: dict[str, Floats], world: Floats, carrier: Floats | None
) -> Iterator[Floats]:
    """Yield the tails (frames, 3) in the world of a mechanism's bones, for turns (frames,)."""
    motions = Motions.of_rotations(rig, {bone: by_turns(rig, bone, turns[bone]) for bone in rig.bones})
    held = world if carrier is None else world @ frame_motions(rig, carrier)
    for bone, placed_at in rig.placed.items():
        yield turned(held[:, :3, :3], motions.at(bone, placed_at.tail)) + held[:, :3, 3]
