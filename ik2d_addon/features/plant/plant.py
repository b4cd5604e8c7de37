# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant feet: read the motion, find contacts, hold them by the targets' keys, and bake.

All chains keep the motion that they had with them, until it is cleared. If anything fails it is put back.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup

from ...bake.keys.clearing import all_bones, forget_bakes
from ...bake.lengths import Units
from ...bake.pipeline import bake_steps
from ...bake.reporting.report import BakeReport
from ...bake.request import BakeOptions, frame_range, read_rigs, scene_of
from ...core import IK2DError
from ...core.contacts.runs import runs
from ...core.solution import CountedSteps, drained, mapped
from ...core.words import listed, quoted, refusal, say
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.kept.marks import PLANT, PLANT_BAKE
from ...rig.animation.kept.record import remove_with_kept
from ...rig.animation.kept.transaction import restored_on_error
from ...rig.animation.value_keys import check_values, values_keyed
from ...rig.animation.versions import played_action
from ...rig.chain.dependencies import copied_by, walk
from ...rig.chain.foot.contacts import names_of
from ...rig.chain.renames import needed_chain, straighten
from ...rig.scene.live_pause import live_paused
from ..match.match import target_to_tip
from ..match.targets import on_frames
from ..pole.pole import add_pole
from .before import (
    SETTINGS,
    channels_of,
    drop_pole,
    follow_as_before,
    give_keys_back,
    has_planted_motion,
    is_planted,
    mark_pole,
    note_settings,
    planted_elsewhere,
    settings_back,
    settings_of,
    shared_targets,
)
from .contacts import contact_keys
from .keys import key_plans
from .motion import ChainMotion, motion_of
from .notes_of_1_0 import Note, notes_back, read_notes
from .path import PlantPlan, plans_of
from .report import PlantReport, planted_chain


def plant_feet(
    armature: Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    *,
    ground_velocity: Sequence[float] = (0.0, 0.0, 0.0),
    options: BakeOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PlantReport:
    """Hold the feet of chains where they stand, ease in between, key the targets, and bake; return a report.

    chains: names; None takes all that have a foot, or without any all that are enabled. frame_start,
    frame_end: both included; None takes the scene's. ground_velocity: (3,) units a second of a ground that
    moves, such as under a walk in place; a foot's own ground moves as its object does. options: of the bake.
    progress(done, total) is called now and then. Contacts that are keyed are taken as they are; others are
    found and keyed. Raises IK2DError, with nothing changed, for motion without contacts, a contact out of
    reach, and all that a bake refuses.
    """
    steps = plant_steps(
        armature, chains, frame_start, frame_end, ground_velocity=ground_velocity, options=options
    )
    with closing(steps):
        return drained(steps, None if progress is None else lambda done: progress(*done))


def plant_steps(
    armature: Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    *,
    ground_velocity: Sequence[float] = (0.0, 0.0, 0.0),
    options: BakeOptions | None = None,
) -> CountedSteps[PlantReport]:
    """Plant feet in steps: yield (frames done, frames in all); return the report. Arguments as above.

    Closed before its end, it leaves everything as it was.
    """
    scene, frames = _range(armature, frame_start, frame_end)
    with live_paused():
        chosen = _chosen(armature, chains)
        _refuse_unreadable(armature, chosen, frames)
        names = [chain.name for chain in chosen]
        notes = {chain.name: read_notes(chain, contacts=False) for chain in chosen}
        with _restored_on_error(chosen), ExitStack() as undo:
            for chain in chosen:
                _unplanted(scene, chain, frames, notes[chain.name])
            before = {chain.name: settings_of(chain) for chain in chosen}
            bpy.context.view_layer.update()
            view, total = on_frames(scene, frames), 2 * len(frames)
            yield 0, total
            plans = plans_of(view, armature, names, ground_velocity)
            loose = [plan.motion.rig.name for plan in plans if plan.motion.by_bones]
            hidden = [name for name in loose if needed_chain(armature, name).live]
            for plan in plans:
                chain = needed_chain(armature, plan.motion.rig.name)
                if plan.needs_pole and chain.plane != 'POLE':
                    _turn_to_pole(armature, chain, undo)
            yield len(frames) // 4, total
            if loose:
                target_to_tip(armature, loose, frames[0], frames[-1], purpose=PLANT)
            yield len(frames) // 2, total
            warnings = [*_hidden_in_words(hidden), *key_plans(view, armature, plans)]
            yield len(frames), total
            baking = bake_steps(armature, names, frames[0], frames[-1], options=options, purpose=PLANT_BAKE)
            baked = yield from _second_half(baking, total)
            after = _after(scene, armature, plans, frames)
            for name in names:
                note_settings(needed_chain(armature, name), before[name])
            undo.pop_all()
    planted_chains = [
        planted_chain(frames, plan.contacts, plan.motion, motion, plan.carried, plan.on_tips)
        for plan, motion in zip(plans, after, strict=True)
    ]
    return PlantReport(tuple(planted_chains), baked, Units.of(scene), tuple(warnings))


def find_contacts(
    armature: Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    *,
    ground_velocity: Sequence[float] = (0.0, 0.0, 0.0),
) -> dict[str, int]:
    """Find where feet stand and key it, in place of all contacts keyed on these frames; move nothing.

    Returns the number of contacts of each chain. chains, frame_start, frame_end, ground_velocity and errors
    as in `plant_feet`.
    """
    scene, frames = _range(armature, frame_start, frame_end)
    with live_paused():
        names = [chain.name for chain in _chosen(armature, chains)]
        plans = plans_of(on_frames(scene, frames), armature, names, ground_velocity, use_keyed=False)
        keys = [
            keyed
            for plan in plans
            for keyed in contact_keys(needed_chain(armature, plan.motion.rig.name), frames, plan.contacts)
        ]
        check_values(keys)
        with values_keyed(scene, keys, PLANT):
            pass
    return {plan.motion.rig.name: sum(len(runs(on)) for on in plan.contacts.T) for plan in plans}


def unplant_feet(armature: Object, chains: Sequence[str] | None = None) -> list[str]:
    """Give chains the motion back that they had before Plant Feet; return a sentence for what stays away.

    chains: names; None takes all that are planted. Keys that somebody has made since stay. Raises IK2DError,
    with nothing changed, where no chain is planted in the action that plays, and for notes that are damaged.
    """
    straighten(armature)
    named = [needed_chain(armature, name) for name in chains] if chains is not None else armature.ik2d.chains
    planted = [chain for chain in named if is_planted(chain)]
    if not planted:
        raise IK2DError(_why_none(armature, [*named], chains is not None))
    notes = {chain.name: read_notes(chain) for chain in planted}
    sentences: list[str] = []
    with live_paused(), _restored_on_error(planted):
        for chain in planted:
            sentences += give_keys_back(chain, bpy.context.scene)
            notes_back(chain, notes[chain.name])  # of an older planting, below that one
            for name in shared_targets(chain):
                sentences.append(
                    say(
                        "'{target}' is the target of another planted armature too; its keys stay", target=name
                    )
                )
            settings_back(chain)
            drop_pole(chain)
            follow_as_before(chain)
            if is_planted(chain):
                sentences.append(
                    say("Chain '{chain}': its locked channels keep the planted keys", chain=chain.name)
                )
            chain.property_unset("planted")
            forget_bakes(armature, [chain])
        bpy.context.view_layer.update()
    return list(dict.fromkeys(sentences))


def _why_none(armature: Object, chains: Sequence[PropertyGroup], by_name: bool) -> str:
    """Return why no chain can be cleared: none is planted, or it is in another action."""
    elsewhere = dict.fromkeys(name for chain in chains for name in planted_elsewhere(chain))
    if elsewhere:
        return say(
            "The feet of '{armature}' are planted in {actions}, not in the action that plays now; choose "
            "that action first, for the targets too",
            armature=armature.name,
            actions=quoted(elsewhere),
        )
    if by_name:
        return say(
            "The feet of {chains} are not planted: there is nothing to clear",
            chains=listed(chain.name for chain in chains),
        )
    return say("No feet of '{armature}' are planted: there is nothing to clear", armature=armature.name)


# --- Choosing, and keeping the motion of before ------------------------------


def _range(
    armature: Object, frame_start: int | None, frame_end: int | None
) -> tuple[bpy.types.Scene, list[int]]:
    scene = scene_of(armature)
    frames = frame_range(scene, frame_start, frame_end, 1)
    if len(frames) < 2:
        raise IK2DError(
            say("Feet are planted over a range of frames, not on frame {frame} alone", frame=frames[0]),
            ["frame_start", "frame_end"],
        )
    return scene, frames


def _chosen(armature: Object, names: Sequence[str] | None) -> list[PropertyGroup]:
    """Return the chains of some names; for None those with a foot, or without any all that are enabled."""
    if names is None:
        feet = [chain.name for chain in armature.ik2d.chains if chain.enabled and chain.foot.is_added]
        names = feet or [chain.name for chain in armature.ik2d.chains if chain.enabled]
        if not names:
            raise refusal(
                "'{armature}' has no enabled chain; add one to each leg first", armature=armature.name
            )
    return [needed_chain(armature, name) for name in names]


def _refuse_unreadable(armature: Object, chains: Sequence[PropertyGroup], frames: Sequence[int]) -> None:
    """Raise IK2DError for a chain that cannot be read, and for one on drivers."""
    rigs, _ = read_rigs(armature, [chain.name for chain in chains], frames)
    for rig in rigs:
        if rig.settings.native is not None:
            raise refusal(
                "Chain '{chain}' is on drivers; remove these first, then plant its foot", chain=rig.name
            )


@contextmanager
def _restored_on_error(chains: Sequence[PropertyGroup]) -> Iterator[None]:
    """Restore the keys, settings and poses of chains and of what they follow, if the code inside fails."""
    owners = dict.fromkeys(owner for chain in chains for owner in channels_of(chain))
    settings = [(chain, name) for chain in chains for name in (*SETTINGS, "pole", "live", "was_live")]
    settings += [(chain.foot, name) for chain in chains for name in ("roll", "toe", *names_of(chain))]
    armature = chains[0].id_data
    bones = [armature.pose.bones[name] for name in all_bones(chains)]
    holders: list[tuple[Any, tuple[str, ...]]] = [
        (bone, ("rotation_mode", *ROTATIONS, "location", "scale")) for bone in bones
    ]
    for chain in chains:
        for ob, name in walk([(chain.target, chain.subtarget)], copied_by):
            bone = ob.pose.bones.get(name) if name else None
            holders.append((bone or ob, ("location", *ROTATIONS)))
    places = [(holder, name) for holder, names in holders for name in names]
    with restored_on_error(owners, [*settings, *places]):
        yield


def _unplanted(
    scene: bpy.types.Scene, chain: PropertyGroup, frames: Sequence[int], notes: Sequence[Note]
) -> None:
    """Give a chain the motion of before back on some frames, if it is planted there.

    Its contacts stay, as these may have been edited since. What 1.0.0 has planted comes back on all frames.
    """
    if len(notes):
        notes_back(chain, [*notes])
    for _ in give_keys_back(chain, scene, frames, contacts=False):
        pass
    if not has_planted_motion(chain):
        settings_back(chain)
        follow_as_before(chain)


def _turn_to_pole(armature: Object, chain: PropertyGroup, undo: ExitStack) -> None:
    """Have a chain's plane go through its pole, an empty where it has none; closing `undo` removes that."""
    if chain.pole is None:
        mark_pole(chain, add_pole(armature, chain))
        undo.callback(_drop_new_pole, armature, chain.name)
    chain.plane = 'POLE'
    bpy.context.view_layer.update()


def _drop_new_pole(armature: Object, name: str) -> None:
    """Remove the pole that was made for a chain, with its keys."""
    chain = needed_chain(armature, name)
    pole = chain.planted.pole
    if pole is not None:
        action = played_action(pole)
        pole.animation_data_clear()
        drop_pole(chain)
        remove_with_kept(action)


def _hidden_in_words(names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence on live chains whose bones' own keys were planted."""
    if names:
        yield say(
            "Live hides the FK walk of {chains}: Plant Feet took that walk, as the targets stand still",
            chains=listed(names),
        )


# --- The bake, and the motion after it ---------------------------------------


def _second_half(steps: CountedSteps[BakeReport], total: int) -> CountedSteps[BakeReport]:
    """Return the steps of a bake, which yield its progress as the second half of all."""
    return mapped(steps, lambda told: (total // 2 + told[0] * total // (2 * max(told[1], 1)), total))


def _after(
    scene: bpy.types.Scene, armature: Object, plans: Sequence[PlantPlan], frames: Sequence[int]
) -> list[ChainMotion]:
    """Return the motion of the chains as Blender plays it now, on each frame and half-way to the next."""
    times = np.arange(2 * len(frames) - 1) / 2.0 + frames[0]
    rigs, _ = read_rigs(armature, [plan.motion.rig.name for plan in plans], frames)
    samples = on_frames(scene, times.tolist()).sample(rigs)
    return [
        motion_of(scene, rig, its_samples, times.tolist(), True)
        for rig, its_samples in zip(rigs, samples, strict=True)
    ]
