# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms posed for the current frame, as Pose This Frame does, and the reports of it."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...rig.mechanism.now import MechanismNow, solve_now
from ...rig.mechanism.posing import evaluated_motions, openings, pose_of
from ...rig.mechanism.read import TARGET, RigMechanism
from ...rig.scene.probes import probes_on, view_layer_of
from ..reporting.mechanism_report import MechanismReport


def mechanism_now(scene: bpy.types.Scene, rig: RigMechanism) -> MechanismNow:
    """Return a mechanism solved for the pose that is shown, unkeyed changes included; nothing is written."""
    targets = [one.target for one in rig.drivers if one.kind == TARGET and one.target is not None]
    layer, armature = view_layer_of(scene), rig.armature
    with probes_on(scene, [*targets, (armature, rig.bones[0])]) as probes:
        layer.update()
        places = [probe.evaluated_get(layer.depsgraph).matrix_world.to_translation() for probe in probes]
        evaluated = armature.evaluated_get(layer.depsgraph)
        return solve_now(scene, rig, evaluated, place=places[0] if targets else None)


def reports_now(scene: bpy.types.Scene, machines: Sequence[MechanismNow]) -> list[MechanismReport]:
    """Return the reports on mechanisms that are posed, by the evaluated pose."""
    layer = view_layer_of(scene)
    layer.update()
    return [_report(scene, layer.depsgraph, machine) for machine in machines]


def _report(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, machine: MechanismNow) -> MechanismReport:
    rig, solution = machine.rig, machine.solution
    shown = pose_of(rig, rig.armature.evaluated_get(depsgraph))
    return MechanismReport(
        name=rig.name,
        armature=rig.armature.name,
        bones=rig.bones,
        frames=np.array([scene.frame_current]),
        size=rig.size,
        unit=rig.unit,
        open=np.broadcast_to(openings(rig, evaluated_motions(rig, [shown])), 1),
        open_between=np.zeros(0),
        bound=rig.open_between,
        keys=0,
        held=np.broadcast_to(solution.is_held, 1),
        dead_points={},
        missed=solution.residual,
        remarks=tuple(solution.remarks([scene.frame_current])),
    )
