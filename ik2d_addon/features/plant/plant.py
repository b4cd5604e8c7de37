# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant feet: read the motion, find contacts, hold them by the targets' keys, and bake.

All chains keep the motion that they had with them, until it is cleared. If anything fails it is put back.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import chain as joined

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup

from ...bake.keys.clearing import forget_bakes
from ...bake.lengths import length_text
from ...bake.pipeline import bake_steps
from ...bake.report import BakeReport
from ...bake.request import BakeOptions, frame_range, read_rigs, scene_of
from ...core import IK2DError
from ...core.contacts import held
from ...core.contacts.held import ease_between
from ...core.contacts.planted import PlantedFoot, planted
from ...core.contacts.runs import Mask, runs
from ...core.inputs import Floats
from ...core.solution import CountedSteps, drained, mapped
from ...core.words import say
from ...rig.animation.bone_channels import rotation_property
from ...rig.animation.value_keys import ValueKeys, check_values, curve_of, values_keyed, values_previewed
from ...rig.chain.chain import RigChain
from ...rig.chain.foot.bones import TOES
from ...rig.chain.foot.contacts import keyed, names_of
from ...rig.chain.hands import REST, orientations
from ...rig.chain.renames import bones_of, needed_chain
from ...rig.pose.channels import channels_of
from ...rig.scene.live_pause import live_paused
from ...rig.scene.sampler import watch
from ...rig.scene.samples import ChainSamples
from ..match.match import target_to_tip
from ..match.targets import Holder, View, holder_of, in_rounds, location_keys, locations_on_tips, on_frames
from ..pole.pole import add_pole
from .contacts import UP, contact_keys, found, is_loop
from .keep import Saved, is_there, put_back, saved, store, stored
from .motion import ChainMotion, has_own_motion, misses, motion_of
from .report import PlantReport, planted_chain

# A tip farther off its place in a contact than this part of the reach is not held.
HELD = 1e-4
# Tips that move by less than this part of the reach stand still throughout.
_STILL = 1e-4
# Settings of a chain that planting may change, besides those of its foot.
_SETTINGS = (".softness", ".bend", ".turn_over", ".live", ".plane", ".pole_angle")


@dataclass(frozen=True, eq=False)
class _Plan:
    """A chain, its contacts, and the path that holds them."""

    motion: ChainMotion
    carried: Floats  # (m, 3) the way of the ground under it
    contacts: Mask  # (m, k)
    goals: Floats  # (m, 3) of its target
    foot: PlantedFoot | None

    @property
    def on_tips(self) -> Mask | None:
        """(m,) where a foot rolls over the tip of its toes; None for a chain without a foot."""
        if self.foot is None or self.motion.foot is None:
            return None
        past: Mask = self.foot.rolls > self.motion.foot.break_angles
        return past


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
        plans = _plans(view, armature, list(before), ground_velocity)
        loose = [plan.motion.rig.name for plan in plans if plan.motion.by_bones]
        for plan in plans:
            chain = needed_chain(armature, plan.motion.rig.name)
            if plan.motion.off_plane and chain.plane != 'POLE':
                _turn_to_pole(armature, chain, undo)
        yield len(frames) // 4, total
        if loose:
            target_to_tip(armature, loose, frames[0], frames[-1])
        yield len(frames) // 2, total
        warnings = _key(view, armature, plans)
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
    return PlantReport(tuple(found_ones), baked, scene.unit_settings.system, tuple(warnings))


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
        plans = _plans(on_frames(scene, frames), armature, names, ground_velocity, use_keyed=False)
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


# --- The path that holds contacts --------------------------------------------


def _plans(
    view: View,
    armature: Object,
    names: Sequence[str],
    ground_velocity: Sequence[float],
    use_keyed: bool = True,
) -> list[_Plan]:
    """Return the chains' contacts and paths. Raises IK2DError where there are none."""
    scene, frames = view.scene, [int(time) for time in view.times]
    rigs, _ = read_rigs(armature, names, frames)
    motions = []
    for rig, samples in zip(rigs, view.sample(rigs), strict=True):
        motions.append(motion_of(scene, rig, samples, frames, has_own_motion(rig, samples)))
    _refuse_still(motions, frames)
    times = np.array(frames) * scene.render.fps_base / scene.render.fps
    ways = [_carried(scene, one.rig, frames, times, ground_velocity) for one in motions]
    loop = is_loop(motions)
    masks = found(motions, times, ways, loop)
    if use_keyed:
        settings = [needed_chain(armature, one.rig.name) for one in motions]
        by_hand = [keyed(chain, scene, frames) for chain in settings]
        masks = [own if hand is None else hand for hand, own in zip(by_hand, masks, strict=True)]
    if not any(mask.any() for mask in masks):
        raise IK2DError(
            say(
                "No foot of '{armature}' stands still on frames {frame} to {frame_2}; choose other "
                "frames, give the speed of a ground that moves, or key Contact yourself",
                armature=armature.name,
                frame=frames[0],
                frame_2=frames[-1],
            )
        )
    return [
        _planned(one, way, mask, times, loop) for one, way, mask in zip(motions, ways, masks, strict=True)
    ]


def _planned(motion: ChainMotion, carried: Floats, mask: Mask, times: Floats, loop: bool) -> _Plan:
    """Return the path that holds a chain's contacts, on ground that is carried (m, 3)."""
    if motion.foot is None or motion.rig.foot is None:
        path = held(motion.tips - carried, mask[:, 0], times, up=UP, loop=loop)
        return _Plan(motion, carried, mask, path + carried, None)
    moving = replace(motion.foot, ankles=motion.foot.ankles - carried)
    heel, toe = mask.T
    foot = planted(moving, motion.rig.foot, heel, toe, times, UP, loop)
    return _Plan(motion, carried, mask, foot.places + carried, foot)


def _refuse_still(motions: Sequence[ChainMotion], frames: Sequence[int]) -> None:
    for one in motions:
        if np.ptp(np.hstack((one.tips, one.roots)), axis=0).max() > _STILL * one.reach:
            return
    raise IK2DError(
        say(
            "Nothing moves on frames {frame} to {frame_2}: neither the chains' bones have keys "
            "there, nor their targets; choose other frames",
            frame=frames[0],
            frame_2=frames[-1],
        )
    )


def _carried(
    scene: bpy.types.Scene, rig: RigChain, frames: Sequence[int], times: Floats, velocity: Sequence[float]
) -> Floats:
    """Return the way (m, 3) of the ground under a chain since the first frame."""
    speed = np.array(velocity, np.float64)
    if speed.shape != (3,) or not np.isfinite(speed).all():
        raise IK2DError(say("ground_velocity must be three numbers, not {velocity!r}", velocity=velocity))
    way: Floats = (times - times[0])[:, None] * speed
    if rig.foot is not None and rig.foot.ground is not None:
        _, places, _ = watch(scene, [rig], [(rig.foot.ground, "")], frames)
        way = way + places[:, 0] - places[0, 0]
    return way


# --- Keys --------------------------------------------------------------------


def _key(view: View, armature: Object, plans: Sequence[_Plan]) -> list[str]:
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
        with values_keyed(scene, channels):
            pass

    for ready in in_rounds(rigs):
        channels: list[ValueKeys] = []
        for rig in ready:
            plan = by_name[rig.name]
            chain = needed_chain(armature, rig.name)
            channels += contact_keys(chain, frames, plan.contacts)
            if plan.foot is not None:
                channels += _foot_keys(view, rig, plan.foot, plan.contacts.any(axis=1))
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
    units = scene.unit_settings.system
    for rig, samples in zip(rigs, view.sample(rigs), strict=True):
        far, reach = misses(scene, rig, samples, frames)
        far = np.where(by_name[rig.name].contacts.any(axis=1), far, 0.0)
        row = int(far.argmax())
        if far[row] > HELD * reach:
            raise IK2DError(
                say(
                    "Chain '{chain}': its contact at frame {frame} cannot be held: its tip stays "
                    "{length} off; end the contact before, or move the body nearer",
                    chain=rig.name,
                    frame=frames[row],
                    length=length_text(far[row], units),
                )
            )
    return list(dict.fromkeys(warnings))


def _location_keys(
    view: View,
    ready: Sequence[RigChain],
    bare: Sequence[RigChain],
    plans: dict[str, _Plan],
    goals: Sequence[Floats],
) -> list[ValueKeys]:
    """Return the keys that put the targets of chains on their goals. bare: the chains without their feet."""
    places, _ = locations_on_tips(view, bare, goals)
    return [
        _steady(one, plans[rig.name].contacts.any(axis=1))
        for rig, own in zip(ready, places, strict=True)
        for one in location_keys(rig, view.times, own)
    ]


def _over_ground(plan: _Plan, goals: Floats, samples: ChainSamples) -> Floats:
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
        own = keys.values[first:end]
        if np.ptp(own) > 0.0:
            slopes = np.gradient(own, edge_order=2 if len(own) > 2 else 1) / 3.0
            handles[:, first:end] = own - slopes, own + slopes
            handles[0, first], handles[1, end - 1] = np.nan, np.nan
    return keys if np.isnan(handles).all() else replace(keys, handles=handles)


def _foot_keys(view: View, rig: RigChain, foot: PlantedFoot, stands: Mask) -> list[ValueKeys]:
    """Return the keys of a foot's roll and toes, and of its control's rotation."""
    assert rig.hands is not None
    own = [("roll", foot.rolls), *([("toe", foot.toes)] if TOES in rig.hands.parts else ())]
    keys = [
        ValueKeys(rig.armature, f"{rig.path}.foot.{name}", 0, view.times, values, "IK 2D")
        for name, values in own
    ]
    holder = holder_of(rig)
    name = rotation_property(holder.rotation_mode)
    path, count = holder.path_from_id(name), len(getattr(holder, name))
    group = rig.subtarget or "Object Transforms"
    rest = np.tile(np.array(REST[name][:count], np.float64), (len(view.times), 1))

    def rotated(values: Floats) -> list[ValueKeys]:
        return [ValueKeys(rig.target, path, i, view.times, values[:, i], group) for i in range(count)]

    with values_previewed(view.scene, rotated(rest)):
        (samples,) = view.sample([replace(rig, foot=None)])
    assert samples.aims is not None
    wanted = foot.turns @ rig.hands.offset.T
    turns = np.swapaxes(orientations(samples.aims), 1, 2) @ wanted
    now = np.array(getattr(holder, name)[:], np.float64)
    values = channels_of(holder, turns, np.tile(now, (len(turns), 1)), now)
    with values_previewed(view.scene, rotated(values)):
        (samples,) = view.sample([replace(rig, foot=None)])
    assert samples.aims is not None
    off = np.abs(orientations(samples.aims) - wanted).max()
    if off > HELD:
        raise IK2DError(
            say(
                "Chain '{chain}': its target '{holder}' does not turn as its rotation says; unlock "
                "its rotation, or mute its constraints",
                chain=rig.name,
                holder=holder.name,
            )
        )
    return [*keys, *(_steady(one, stands) for one in rotated(values))]


# --- The bake, and the motion after it ---------------------------------------


def _second_half(steps: CountedSteps[BakeReport], total: int) -> CountedSteps[BakeReport]:
    """Return the steps of a bake, which yield its progress as the second half of all."""
    return mapped(steps, lambda told: (total // 2 + told[0] * total // (2 * max(told[1], 1)), total))


def _after(
    scene: bpy.types.Scene, armature: Object, plans: Sequence[_Plan], frames: Sequence[int]
) -> list[ChainMotion]:
    """Return the motion of the chains as Blender plays it now, on each frame and half-way to the next."""
    times = np.arange(2 * len(frames) - 1) / 2.0 + frames[0]
    rigs, _ = read_rigs(armature, [plan.motion.rig.name for plan in plans], frames)
    samples = on_frames(scene, times.tolist()).sample(rigs)
    return [motion_of(scene, rig, own, times.tolist(), True) for rig, own in zip(rigs, samples, strict=True)]
