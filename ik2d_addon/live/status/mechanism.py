# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a live mechanism: whether Blender shows its joints closed, and what holds it."""

from collections.abc import Iterator

import bpy
import numpy as np

from ...bake.lengths import Units, length_text
from ...bake.reporting.mechanism_report import CLOSED, REACHED
from ...core import IK2DError
from ...core.words import say
from ...rig.mechanism.posing import evaluated_motions, openings, pose_of
from ...rig.mechanism.read import RAM
from ..mechanism import LiveMechanism
from ..registry import RIGS, key_of, problem_of_live
from ..shown import largest_scale
from .chain import NOT_SHOWN, off_words


def mechanism_status(settings: bpy.types.PropertyGroup) -> str:
    """Return the status of a live mechanism in words: its problem, or how it is shown; "" for another one."""
    return _judged(settings)[1]


def is_closed(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether a mechanism is live, and Blender shows all its joints closed."""
    return _judged(settings)[0]


def _judged(settings: bpy.types.PropertyGroup) -> tuple[bool, str]:
    """Return whether all joints of a live mechanism are shown closed, and the status in words."""
    problem = problem_of_live(settings)
    if problem or not (settings.live and settings.enabled):
        return False, problem
    scene, machine = bpy.context.scene, RIGS.chains.get(key_of(settings))
    layer = bpy.context.view_layer
    depsgraph = layer and (layer.depsgraph or bpy.context.evaluated_depsgraph_get())
    shown = settings.id_data.original.evaluated_get(depsgraph) if depsgraph else None
    if not isinstance(machine, LiveMechanism) or shown is None or not shown.is_evaluated:
        return False, say(NOT_SHOWN)
    try:
        motions = evaluated_motions(machine.rig, [pose_of(machine.rig, shown)])
        opened = float(openings(machine.rig, motions).max())
        said = list(_outcome_words(machine, scene, depsgraph))
    except (IK2DError, LookupError, AttributeError, ReferenceError):  # something of it is gone
        return False, say(NOT_SHOWN)
    is_shut = opened <= CLOSED * machine.rig.size
    if not is_shut:
        length = length_text(opened * largest_scale(shown.matrix_world), Units.of(scene))
        said.append(say("open by {length}", length=length))
    return is_shut, ", ".join(said) or say("All joints closed")


def _outcome_words(
    machine: LiveMechanism, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Iterator[str]:
    """Yield which drivers are held, and how far the target is, in words."""
    outcome, rig = machine.outcome_in(scene, depsgraph), machine.rig
    if outcome is None:
        return
    solution, world = outcome.now.solution, machine.armature.evaluated_get(depsgraph).matrix_world
    rams = {one.body for one in rig.drivers if one.kind == RAM}
    for name in (name for name, held in solution.held.items() if held[0]):
        value = float(solution.drivers[name][0])
        size = largest_scale(world)
        words = (
            length_text(value * size, Units.of(scene))
            if name in rams
            else f"{np.degrees(value):.1f}\N{DEGREE SIGN}"
        )
        yield say("{driver} is held at {value}", driver=f"'{name}'", value=words)
    missed = float(solution.residual[0])
    if missed > REACHED * rig.size:
        yield off_words(missed * largest_scale(world), Units.of(scene))
