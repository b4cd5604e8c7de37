# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms played back: how far joints are open in Blender's evaluated pose, and the report of it."""

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.mechanism import MechanismStatus
from ...core.words import quoted, say
from ...rig.mechanism.posing import evaluated_motions, openings, pose_of
from ...rig.mechanism.values import stepping
from ..playback import VERIFY_NOTHING
from ..reporting.mechanism_report import MechanismReport
from .keying import KeyedMechanism


def reports_of(
    scene: bpy.types.Scene, armature: bpy.types.Object, machines: Sequence[KeyedMechanism], verify: str
) -> tuple[MechanismReport, ...]:
    """Return the reports on the mechanisms of an armature, by its evaluated pose with the new keys."""
    if not machines:
        return ()
    frames = np.array(machines[0].frames)
    times = np.sort(np.concatenate((frames, (frames[:-1] + frames[1:]) / 2.0)))
    if verify == VERIFY_NOTHING:
        opened = [np.full(len(times), np.nan)] * len(machines)
    else:
        opened = _played(scene, armature, machines, times)
    return tuple(_report(machine, its) for machine, its in zip(machines, opened, strict=True))


def _played(
    scene: bpy.types.Scene, armature: bpy.types.Object, machines: Sequence[KeyedMechanism], times: Floats
) -> list[Floats]:
    """Return how far joints of each mechanism are open (m,) at times, as Blender evaluates them."""
    seen: list[list[Mapping[str, Floats]]] = [[] for _ in machines]
    with stepping(scene, armature) as (show, _):
        for time in times.tolist():
            evaluated = show(time)
            for machine, its in zip(machines, seen, strict=True):
                its.append(pose_of(machine.rig, evaluated))
    return [
        np.broadcast_to(openings(machine.rig, evaluated_motions(machine.rig, its)), len(times))
        for machine, its in zip(machines, seen, strict=True)
    ]


def _report(machine: KeyedMechanism, opened: Floats) -> MechanismReport:
    rig, solution = machine.rig, machine.solution
    held = np.array(list(solution.held.values())).any(axis=0)
    held |= solution.status == MechanismStatus.HELD
    remarks = list(solution.remarks())
    if machine.by_chain:
        remarks.append(
            say(
                "a chain turns {bones} to where its loops tear; keep the chain's target nearer",
                bones=quoted(machine.by_chain),
            )
        )
    return MechanismReport(
        name=rig.name,
        armature=rig.armature.name,
        bones=rig.bones,
        frames=np.array(machine.frames),
        size=rig.size,
        open=opened[::2],
        open_between=opened[1::2],
        bound=rig.open_between,
        keys=len(machine.keys),
        held=np.broadcast_to(held, len(machine.frames)),
        dead_points=_dead_points(machine),
        remarks=tuple(remarks),
    )


def _dead_points(machine: KeyedMechanism) -> dict[str, tuple[float, ...]]:
    """Return the dead points of each driver that are within its values as given."""
    found = {}
    for driver, given in machine.solution.given.items():
        least, most = float(given.min()), float(given.max())
        if most - least < 1e-9:
            continue
        try:
            ends = machine.rig.core.feasible(driver, least, most).ravel()
        except IK2DError:  # a range of more turns than are looked at
            continue
        inside = ends[(ends > least) & (ends < most)]
        if len(inside):
            found[str(driver)] = tuple(np.unique(inside).tolist())
    return found
