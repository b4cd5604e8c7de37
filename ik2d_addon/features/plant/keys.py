# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of planted feet: contacts, targets, rolls and the rotation of the feet's controls."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from bpy.types import Object

from ...bake.lengths import Units, length_text
from ...bake.request import read_rigs
from ...core.contacts.held import ease_between
from ...core.contacts.planted import PlantedFoot
from ...core.contacts.runs import Mask, runs
from ...core.inputs import Floats
from ...core.words import refusal
from ...rig.animation.kept.marks import PLANT
from ...rig.animation.value_keys import ValueKeys, check_values, curve_of, values_keyed
from ...rig.chain.chain import RigChain
from ...rig.chain.foot.bones import TOES
from ...rig.chain.renames import needed_chain
from ...rig.scene.samples import ChainSamples
from ..match.hands import own_keys, rotation_keys
from ..match.targets import MatchView, holder_of, in_rounds, location_keys, locations_on_tips
from .contacts import UP, contact_keys
from .motion import misses
from .path import PlantPlan

# A tip farther off its place in a contact than this part of the reach is not held.
HELD = 1e-4


def key_plans(view: MatchView, armature: Object, plans: Sequence[PlantPlan]) -> list[str]:
    """Key contacts, targets and rolls; return warnings. Raises IK2DError where a contact is out of reach."""
    scene, frames = view.scene, [int(time) for time in view.times]
    by_name = {plan.motion.rig.name: plan for plan in plans}
    for plan in plans:
        chain = needed_chain(armature, plan.motion.rig.name)
        if curve_of(armature, f"{chain.path_from_id()}.softness") is None:
            chain.softness = 0.0
    rigs, _ = read_rigs(armature, list(by_name), frames)
    warnings: list[str] = []

    def write(channels: Sequence[ValueKeys]) -> None:
        warnings.extend(check_values(channels))
        with values_keyed(scene, channels, PLANT):
            pass

    for ready in in_rounds(rigs):
        channels: list[ValueKeys] = []
        for rig in ready:
            plan = by_name[rig.name]
            chain = needed_chain(armature, rig.name)
            channels += contact_keys(chain, frames, plan.contacts)
            if plan.foot is not None:
                channels += _foot_keys(view, rig, plan.foot, plan.contacts.any(axis=1))
                assert plan.motion.own is not None
                channels += own_keys(scene, rig, frames, plan.motion.own)
        write(channels)
        bare = [replace(rig, foot=None) for rig in ready]  # whose targets are the feet's controls
        goals = [by_name[rig.name].goals for rig in ready]
        write(_location_keys(view, ready, bare, by_name, goals))
        if any(rig.foot is not None and rig.foot.ground is not None for rig in ready):
            raised = [
                _over_ground(by_name[rig.name], goal, samples)
                for rig, goal, samples in zip(ready, goals, view.sample(ready), strict=True)
            ]
            write(_location_keys(view, ready, bare, by_name, raised))
    units = Units.of(scene)
    for rig, samples in zip(rigs, view.sample(rigs), strict=True):
        far, reach = misses(scene, rig, samples, frames)
        far = np.where(by_name[rig.name].contacts.any(axis=1), far, 0.0)
        row = int(far.argmax())
        if far[row] > HELD * reach:
            raise refusal(
                "Chain '{chain}': its contact at frame {frame} cannot be held: its tip stays "
                "{length} off; end the contact before, or move the body nearer",
                chain=rig.name,
                frame=frames[row],
                length=length_text(far[row], units),
            )
    return list(dict.fromkeys(warnings))


def _location_keys(
    view: MatchView,
    ready: Sequence[RigChain],
    bare: Sequence[RigChain],
    plans: dict[str, PlantPlan],
    goals: Sequence[Floats],
) -> list[ValueKeys]:
    """Return the keys that put the targets of chains on their goals. bare: the chains without their feet."""
    places, _ = locations_on_tips(view, bare, goals)
    return [
        _steady(keyed, plans[rig.name].contacts.any(axis=1))
        for rig, its_places in zip(ready, places, strict=True)
        for keyed in location_keys(rig, view.times, its_places)
    ]


def _over_ground(plan: PlantPlan, goals: Floats, samples: ChainSamples) -> Floats:
    """Return the goals (m, 3) of a control, each contact as high as the ground lifts any part of it.

    Else it would lift the foot on some frames of a contact, and on others not.
    """
    if samples.lifts is None:
        return goals
    raised, spans = np.zeros((len(goals), 1)), runs(plan.contacts.any(axis=1))
    for first, end in spans:
        raised[first:end] = samples.lifts[first:end].max()
    ease_between(raised, spans, np.arange(len(goals), dtype=np.float64))
    over: Floats = goals + raised * UP
    return over


def _steady(keys: ValueKeys, stands: Mask) -> ValueKeys:
    """Return keys of a target with handles that follow the contacts (m,), up to the end of each.

    Where a parent or the ground moves, the target does too: automatic handles would heed the swing beside.
    """
    handles = np.full((2, len(stands)), np.nan)
    for first, end in runs(stands):
        values = keys.values[first:end]
        if np.ptp(values) > 0.0:
            slopes = np.gradient(values, edge_order=2 if len(values) > 2 else 1) / 3.0
            handles[:, first:end] = values - slopes, values + slopes
            handles[0, first], handles[1, end - 1] = np.nan, np.nan
    return keys if np.isnan(handles).all() else replace(keys, handles=handles)


def _foot_keys(view: MatchView, rig: RigChain, foot: PlantedFoot, stands: Mask) -> list[ValueKeys]:
    """Return the keys of a foot's roll and toes, and of its control's rotation."""
    assert rig.hands is not None
    foot_values = [("roll", foot.rolls), *([("toe", foot.toes)] if TOES in rig.hands.parts else ())]
    keys = [
        ValueKeys(rig.armature, f"{rig.settings.path}.foot.{name}", 0, view.times, values, "IK 2D")
        for name, values in foot_values
    ]
    wanted = foot.turns @ rig.hands.offset.T
    turned, aims = rotation_keys(view, rig, wanted)
    if np.abs(aims - wanted).max() > HELD:
        raise refusal(
            "Chain '{chain}': its target '{holder}' does not turn as its rotation says; unlock "
            "its rotation, or mute its constraints",
            chain=rig.name,
            holder=holder_of(rig).name,
        )
    return [*keys, *(_steady(keyed, stands) for keyed in turned)]
