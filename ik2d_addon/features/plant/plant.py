# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant feet: read the motion, find contacts, hold them by the targets' keys, and bake.

All chains keep the motion that they had with them, until it is cleared. If anything fails it is put back.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from itertools import chain as joined

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup

from ...bake.keys.clearing import forget_bakes
from ...bake.lengths import Units
from ...bake.pipeline import bake_steps
from ...bake.report import BakeReport
from ...bake.request import BakeOptions, frame_range, read_rigs, scene_of
from ...core import IK2DError
from ...core.contacts.runs import runs
from ...core.solution import CountedSteps, drained, mapped
from ...core.words import listed, say
from ...rig.animation.bone_channels import rotation_property
from ...rig.animation.value_keys import check_values, values_keyed
from ...rig.chain.foot.contacts import names_of
from ...rig.chain.renames import bones_of, needed_chain
from ...rig.scene.live_pause import live_paused
from ..match.match import target_to_tip
from ..match.targets import Holder, on_frames
from ..pole.pole import add_pole
from .contacts import contact_keys
from .keep import Saved, is_there, put_back, saved, store, stored
from .keys import key_plans
from .motion import ChainMotion, motion_of
from .path import Plan, plans_of
from .report import PlantReport, planted_chain

# Settings of a chain that planting may change, besides those of its foot.
_SETTINGS = (".softness", ".bend", ".turn_over", ".live", ".plane", ".pole_angle")


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
    with live_paused(), ExitStack() as undo:
        chosen = _chosen(armature, chains)
        _refuse_unreadable(armature, chosen, frames)
        before = {chain.name: _unplanted(chain, undo) for chain in chosen}
        view, total = on_frames(scene, frames), 2 * len(frames)
        yield 0, total
        plans = plans_of(view, armature, list(before), ground_velocity)
        loose = [plan.motion.rig.name for plan in plans if plan.motion.by_bones]
        for plan in plans:
            chain = needed_chain(armature, plan.motion.rig.name)
            if plan.motion.off_plane and chain.plane != 'POLE':
                _turn_to_pole(armature, chain, undo)
        yield len(frames) // 4, total
        if loose:
            target_to_tip(armature, loose, frames[0], frames[-1])
        yield len(frames) // 2, total
        warnings = key_plans(view, armature, plans)
        yield len(frames), total
        baking = bake_steps(armature, list(before), frames[0], frames[-1], options=options)
        baked = yield from _second_half(baking, total)
        after = _after(scene, armature, plans, frames)
        for name, channels in before.items():
            store(needed_chain(armature, name), channels)
        undo.pop_all()
    found_ones = [
        planted_chain(frames, plan.contacts, plan.motion, one, plan.carried, plan.on_tips)
        for plan, one in zip(plans, after, strict=True)
    ]
    return PlantReport(tuple(found_ones), baked, Units.of(scene), tuple(warnings))


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
            one
            for plan in plans
            for one in contact_keys(needed_chain(armature, plan.motion.rig.name), frames, plan.contacts)
        ]
        check_values(keys)
        with values_keyed(scene, keys):
            pass
    return {plan.motion.rig.name: sum(len(runs(on)) for on in plan.contacts.T) for plan in plans}


def unplant_feet(armature: Object, chains: Sequence[str] | None = None) -> list[str]:
    """Give chains the motion back that they had before Plant Feet; return a sentence for what is gone.

    chains: names; None takes all that are planted. Raises IK2DError where none is.
    """
    named = [needed_chain(armature, name) for name in chains] if chains is not None else armature.ik2d.chains
    planted_ones = [chain for chain in named if len(chain.planted.channels)]
    if not planted_ones and chains:
        raise IK2DError(
            say(
                "The feet of {chains} are not planted: there is nothing to clear",
                chains=listed(chain.name for chain in named),
            )
        )
    if not planted_ones:
        raise IK2DError(
            say("No feet of '{armature}' are planted: there is nothing to clear", armature=armature.name)
        )
    sentences: list[str] = []
    with live_paused():
        for chain in planted_ones:
            sentences += put_back(chain, stored(chain))
            _drop_pole(armature, chain.name)
            chain.property_unset("planted")
            forget_bakes(armature, [chain])
        bpy.context.view_layer.update()
    return list(dict.fromkeys(sentences))


# --- Choosing, and keeping the motion of before ------------------------------


def _range(
    armature: Object, frame_start: int | None, frame_end: int | None
) -> tuple[bpy.types.Scene, list[int]]:
    scene = scene_of(armature)
    frames = frame_range(scene, frame_start, frame_end, 1)
    if len(frames) < 2:
        raise IK2DError(
            say("Feet are planted over a range of frames, not on frame {frame} alone", frame=frames[0])
        )
    return scene, frames


def _chosen(armature: Object, names: Sequence[str] | None) -> list[PropertyGroup]:
    """Return the chains of some names; for None those with a foot, or without any all that are enabled."""
    if names is None:
        feet = [chain.name for chain in armature.ik2d.chains if chain.enabled and chain.foot.is_added]
        names = feet or [chain.name for chain in armature.ik2d.chains if chain.enabled]
        if not names:
            raise IK2DError(
                say("'{armature}' has no enabled chain; add one to each leg first", armature=armature.name)
            )
    return [needed_chain(armature, name) for name in names]


def _refuse_unreadable(armature: Object, chains: Sequence[PropertyGroup], frames: Sequence[int]) -> None:
    """Raise IK2DError for a chain that cannot be read, and for one on drivers."""
    rigs, _ = read_rigs(armature, [chain.name for chain in chains], frames)
    for rig in rigs:
        if rig.native is not None:
            raise IK2DError(
                say("Chain '{chain}' is on drivers; revert it first, then plant its foot", chain=rig.name)
            )


def _unplanted(chain: PropertyGroup, undo: ExitStack) -> list[Saved]:
    """Give a chain the motion of before back, if it is planted; return that.

    Its contacts stay, as these may have been edited since. Closing `undo` restores what is there now.
    """
    before = stored(chain)
    places = [(one.owner, one.path, one.index) for one in before] or list(_places(chain))
    there = [place for place in places if is_there(chain, *place[:2])]
    now = [one for owner, path, index in there for one in saved(chain, owner, path, [index])]
    undo.callback(_restore, chain.id_data, chain.name, now)
    put_back(chain, [one for one in before if ".contact" not in one.path])
    return before or now


def _restore(armature: Object, name: str, channels: Sequence[Saved]) -> None:
    put_back(needed_chain(armature, name), channels)
    bpy.context.view_layer.update()


def _places(chain: PropertyGroup) -> Iterable[tuple[Object, str, int]]:
    """Yield the channels that planting a chain may change: owner, path and index."""
    armature = chain.id_data
    contacts = (f".foot.{name}" for name in names_of(chain))
    for path in (*_SETTINGS, ".foot.roll", ".foot.toe", *contacts):
        yield armature, path, -1
    moved: list[tuple[Object, Holder]] = []
    for ob, bone in ((chain.target, chain.subtarget), (chain.pole, chain.pole_subtarget)):
        if ob is not None:
            moved.append((ob, ob.pose.bones[bone] if bone else ob))
    for owner, holder in moved:
        yield from _channels(owner, holder, "location")
        yield from _channels(owner, holder, rotation_property(holder.rotation_mode))
    names = bones_of(armature.data, chain.tip, chain.bone_count)
    below = [one.name for one in armature.data.bones[chain.tip].children_recursive]
    for name in joined(names, below):
        bone = armature.pose.bones[name]
        yield armature, bone.path_from_id("rotation_mode"), -1
        for own in (rotation_property(bone.rotation_mode), "location", "scale"):
            yield from _channels(armature, bone, own)


def _channels(owner: Object, holder: Holder, name: str) -> Iterable[tuple[Object, str, int]]:
    path = holder.path_from_id(name)
    for index in range(len(getattr(holder, name))):
        yield owner, path, index


def _turn_to_pole(armature: Object, chain: PropertyGroup, undo: ExitStack) -> None:
    """Have a chain's plane go through its pole, an empty where it has none; closing `undo` removes that."""
    if chain.pole is None:
        chain.planted.pole = add_pole(armature, chain)
        undo.callback(_drop_pole, armature, chain.name)
    chain.plane = 'POLE'
    bpy.context.view_layer.update()


def _drop_pole(armature: Object, name: str) -> None:
    """Remove the pole that was made for a chain."""
    chain = needed_chain(armature, name)
    pole = chain.planted.pole
    if pole is not None:
        chain.pole = chain.planted.pole = None
        bpy.data.objects.remove(pole)


# --- The bake, and the motion after it ---------------------------------------


def _second_half(steps: CountedSteps[BakeReport], total: int) -> CountedSteps[BakeReport]:
    """Return the steps of a bake, which yield its progress as the second half of all."""
    return mapped(steps, lambda told: (total // 2 + told[0] * total // (2 * max(told[1], 1)), total))


def _after(
    scene: bpy.types.Scene, armature: Object, plans: Sequence[Plan], frames: Sequence[int]
) -> list[ChainMotion]:
    """Return the motion of the chains as Blender plays it now, on each frame and half-way to the next."""
    times = np.arange(2 * len(frames) - 1) / 2.0 + frames[0]
    rigs, _ = read_rigs(armature, [plan.motion.rig.name for plan in plans], frames)
    samples = on_frames(scene, times.tolist()).sample(rigs)
    return [motion_of(scene, rig, own, times.tolist(), True) for rig, own in zip(rigs, samples, strict=True)]
