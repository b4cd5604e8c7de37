# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a live chain: whether Blender shows its tip on its target, and why not."""

from math import dist, inf

import bpy
import numpy as np

from ...bake.lengths import Units, length_text
from ...bake.reporting.causes import FK
from ...bake.reporting.swing_notes import WHERE
from ...core import IK2DError
from ...core.words import noted, say
from ...rig.chain.renames import bones_of
from ...rig.pose.swings import NEAR
from ...rig.scene.rounding import reached_within
from ..chain import LiveChain
from ..registry import RIGS, key_of, problem_of_live
from ..shown import largest_scale, shown_place
from .outcome import AIMED, MOVED_ELSE, ON_TARGET, LiveOutcome, Look, shown_reach

NOT_SHOWN = noted("The armature or the target is not shown here")
_HIDDEN = noted("the armature is hidden, and Blender may not move it")


def look_at(settings: bpy.types.PropertyGroup) -> Look | None:
    """Return how far a chain's tip is from its target where Blender shows both; None where it does not."""
    layer, armature = bpy.context.view_layer, settings.id_data.original
    depsgraph = layer and (layer.depsgraph or bpy.context.evaluated_depsgraph_get())
    if not depsgraph or settings.target is None or armature.pose is None:
        return None
    shown, chain = armature.evaluated_get(depsgraph), RIGS.chains.get(key_of(settings))
    if not shown.is_evaluated:
        return None
    try:
        bones = [
            shown.pose.bones[name] for name in bones_of(armature.data, settings.tip, settings.bone_count)
        ]
        openness = inf
        if chain is not None:
            place, openness = chain.goal(bpy.context.scene, depsgraph)
        else:
            place = shown_place(settings.target, settings.subtarget, depsgraph)
        distance = dist(shown.matrix_world @ bones[-1].tail, place)
    except (IK2DError, LookupError, AttributeError, ReferenceError):  # something of it is gone
        return None
    world = np.array(shown.matrix_world, np.float64)[None]
    root = np.array(shown.matrix_world @ bones[0].head, np.float64)[None]
    tolerance_set = settings.tolerance * largest_scale(shown.matrix_world)
    tolerance = reached_within(tolerance_set, shown_reach(shown.matrix_world, bones), world, root)
    return Look(distance, tolerance, openness)


def status_of(settings: bpy.types.PropertyGroup) -> str:
    """Return the status of a live chain in words: its problem, or its outcome; "" for another chain."""
    return _judged(settings)[1]


def is_on_target(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether a live chain follows its target, and Blender shows its tip there."""
    return _judged(settings)[0]


def _judged(settings: bpy.types.PropertyGroup) -> tuple[bool, str]:
    """Return whether a live chain's tip is shown on its target, and the status in words."""
    problem = problem_of_live(settings)
    if problem or not (settings.live and settings.enabled):
        return False, problem
    look = look_at(settings)
    if look is None:
        return False, say(NOT_SHOWN)
    chain = RIGS.chains.get(key_of(settings))
    outcome = chain.outcome if chain is not None else None
    if chain is not None and not (look.reached and chain.rig.settings.tip_angle is None):
        outcome = chain.outcome_in(bpy.context.scene, bpy.context.view_layer.depsgraph)
    if look.reached:
        return True, _reached(look, chain, outcome)
    off = off_words(look.distance, Units.of(bpy.context.scene))
    if outcome is not None and outcome.on_purpose == FK:
        return False, say(FK)
    if chain is None or outcome is None:  # nothing has moved since it became live
        return False, off
    cause = outcome.cause(look.distance, look.tolerance)
    is_hidden = cause == MOVED_ELSE and not chain.armature.visible_get()
    return False, f"{off}: {say(_HIDDEN if is_hidden else cause)}"


def off_words(distance: float, units: Units) -> str:
    """Return how far a tip is off its target, in words."""
    return say("{length} off its target", length=length_text(distance, units))


def _reached(look: Look, chain: LiveChain | None, outcome: LiveOutcome | None) -> str:
    """Return the status, in words, of a chain whose tip is shown on its target."""
    if chain is None:
        return say(ON_TARGET)
    on_target, swing = say(AIMED if chain.rig.settings.aims else ON_TARGET), chain.rig.swing
    if outcome is not None and outcome.angle_off:
        return say(
            "{on_target}, {angle:.3g} degrees off its angle",
            on_target=on_target,
            angle=np.degrees(outcome.angle_off),
        )
    if look.openness < NEAR and swing is not None:
        where = say("{where} within {angle:.0f} degrees", where=WHERE[swing.rule], angle=np.degrees(NEAR))
        return say("{on_target}, {where}, where its plane may turn over", on_target=on_target, where=where)
    if chain is not None and RIGS.kept is not None and RIGS.kept.awaits_range(chain):
        return say("{on_target}, by this frame alone until those before it are solved", on_target=on_target)
    return on_target


def distance_of(settings: bpy.types.PropertyGroup) -> float:
    """Return the distance from a live chain's tip to its target as shown; -1 for another chain.

    Of a single bone that aims at its target, whose tip need not get there: from the tip to where it would be
    if the bone pointed exactly at the target.
    """
    look = look_at(settings) if settings.live and settings.enabled else None
    return look.distance if look else -1.0
