# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopt IK constraints as chains, and release them: functions that scripts can call."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup, Scene

from ...bake.keys.baked import baked_keys
from ...bake.lengths import Units
from ...bake.request import scene_of
from ...core import IK2DError
from ...core.words import noted, number_of, refusal, say
from ...rig.animation.times import animation_times
from ...rig.animation.versions import existing_channels
from ...rig.chain.native_state import acts, is_native
from ...rig.chain.post import turned_bones_of
from ...rig.chain.renames import bones_of, is_other_bone, needed_chain, straighten, unique_name
from ...ui.settings.chain_list import add_chain, drop_chain, refuse_drop
from ...ui.settings.joint_list import sync_joints
from ..native import remove_native
from .animation import animation_of, copy_animation, key_steps, levels_of
from .compare import Apart, Past, compare_each, past_limits, posed_each
from .fitting.last_bones import fit_last_bones
from .fitting.plane_turns import fit_plane_turns, watch_twisted
from .keep import align, give_back, keep_animation, keep_bones, switch, take
from .limbs import left_alone, limbs_meant, limbs_of, why_none
from .plan import AdoptPlan, watched_plans
from .poses import EXACT_FRAMES, FEW_FRAMES, MOST_FRAMES, Watched, frames_of
from .settings import is_adopted
from .words import (
    carried_over,
    in_words,
    limits_in_words,
    lost_in_words,
    stiffness_in_words,
    taken_in_words,
)

# Ways to solve a chain of more than two bones, in words. Each has to be nearer to the IK's pose than those
# before it by a part of the limb, to be chosen.
_WAYS: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, noted("Smooth")),
    ({"root_turns_freely": False}, noted("Smooth with First Bone Turns Freely off")),
    ({"solver": 'CCD', "start_from": 'REST'}, noted("CCD from rest")),
)
_NEARER = 1e-3
_SIDES = {1.0: 'POSITIVE', -1.0: 'NEGATIVE'}


@dataclass(frozen=True, eq=False)
class Adoption:
    """Plan of the chains that will replace an armature's IK constraints."""

    armature: Object
    plans: tuple[AdoptPlan, ...]
    takers: dict[int, str]  # by the plan's place: the existing chain that takes its constraints
    watched: Watched | None
    notes: tuple[str, ...]  # sentences about constraints that are left alone
    # the pose by the new chains on the watched frames, by their names, where that is known
    posed: dict[str, Watched | IK2DError] = field(default_factory=dict)


def plan_adoption(
    armature: Object,
    scene: Scene,
    names: Sequence[str] | None,
    most: int = MOST_FRAMES,
    progress: Callable[[float], None] | None = None,
    without: Collection[str] = (),
) -> Adoption:
    """Return the plan for the limbs that the named bones mean; None: for all. Changes nothing.

    Of all, one-bone IK that a chain would do no better is left alone. most: how many frames to watch.
    without: the last bones of limbs to leave alone. progress: called with the part that is done, 0..1.
    Raises IK2DError if there is nothing to adopt.
    """
    scene_of(armature)
    straighten(armature)
    bpy.context.view_layer.update()  # drivers say which of several constraints acts
    shown = frames_of(scene, armature, [])
    limbs_there = limbs_of(armature, animation_times(scene, [shown[0], shown[-1]]))
    limbs = list(limbs_there.limbs) if names is None else limbs_meant(limbs_there.limbs, names)
    if not limbs:
        raise IK2DError(why_none(armature, names, limbs_there.idle), ["all"] if names is not None else ())
    limbs, notes = [limb for limb in limbs if limb.bones[-1] not in without], []
    if not limbs:
        raise refusal("No limb is ticked; tick one to adopt it")
    seen, plans, left = watched_plans(scene, limbs, most, progress)
    if most == MOST_FRAMES and any(len(plan.sides) > 1 for plan in plans):
        seen, plans, left = watched_plans(scene, limbs, EXACT_FRAMES, progress)
    notes += left
    if not plans:
        raise IK2DError(notes[0])
    plans = [*map(in_words, plans)]
    if names is None:
        gaining = [plan for plan in plans if plan.gains]
        plans, single = gaining or plans, [plan.name for plan in plans if gaining and not plan.gains]
        notes += left_alone(limbs_there.idle, limbs_there.helpers, single)
    notes += [
        say(
            "The IK of '{limb}' acts on none of the frames that were looked at: it is FK on all",
            limb=plan.limb.title,
        )
        for plan in plans
        if not plan.acts.ever
    ]
    takers = {i: taker for i, plan in enumerate(plans) if (taker := _taker(plan))}
    compared = seen.but_between([plan.limb.constraints[0] for plan in plans if plan.turning.copies])
    if compared is not seen:
        notes.append(
            say(
                "Not compared: {count} on which a limb is between FK and IK, and is blended otherwise",
                count=number_of(len(seen.frames) - len(compared.frames), "frame"),
            )
        )
    return Adoption(armature, tuple(plans), takers, compared, tuple(notes))


def _taker(plan: AdoptPlan) -> str:
    """Return the enabled chain that already has bones of the plan; "" for none."""
    armature = plan.limb.armature
    for chain in armature.ik2d.chains:
        if chain.enabled and set(bones_of(armature.data, chain.tip, chain.bone_count)) & set(plan.limb.bones):
            return str(chain.name)
    return ""


def adopted_in_words(adoption: Adoption, i: int, chain: PropertyGroup, units: Units) -> list[str]:
    """Return a line on what the chain of the i-th plan has taken over, and a line for each loss."""
    plan = adoption.plans[i]
    if i in adoption.takers:
        return [say("{taker}: {takes}", taker=adoption.takers[i], takes=taken_in_words(plan))]
    carried, lost = (text.splitlines() for text in (chain.adopted.carried, chain.adopted.lost))
    return [f"{plan.limb.title}: {'; '.join(carried)}", *lost_in_words(plan, lost, units)]


# --- Adopting ----------------------------------------------------------------


def adopt(armature: Object, bones: Sequence[str] | None = None) -> list[str]:
    """Adopt the IK constraints that move some bones, or all, as chains; return their names.

    They pose their bones at the current frame. Only settings that had keys on the constraints get keys.
    Raises IK2DError, with nothing changed, if there is nothing to adopt.
    """
    scene = scene_of(armature)
    return carry_out(plan_adoption(armature, scene, bones), scene)


def carry_out(adoption: Adoption, scene: Scene, closely: bool = True) -> list[str]:
    """Make the planned chains and mute the constraints; return the chains' names. An error undoes all.

    closely: whether turns of planes are right between the watched frames too.
    """
    armature, before = adoption.armature, adoption.armature.ik2d.active_index
    done: list[str] = []
    twisted = watch_twisted(scene, adoption.plans, adoption.watched, closely)
    batch = max((chain.adopted.batch for chain in armature.ik2d.chains), default=0) + 1
    try:
        for i, plan in enumerate(adoption.plans):
            if i in adoption.takers:
                _take_all(armature.ik2d.chains[adoption.takers[i]], plan, plan.turning.given)
                done.append(adoption.takers[i])
                armature.ik2d.chains[adoption.takers[i]].adopted.batch = batch
                continue
            chain = add_chain(armature, plan.name, len(plan.bones))
            chain.name = _name_for(armature, plan)
            done.append(chain.name)
            chain.adopted.made, chain.adopted.active_index, chain.adopted.batch = True, before, batch
            _set_up(armature, chain, plan, scene)
    except Exception:
        for name in reversed(done):
            release(armature, name)
        raise
    made = [i for i in range(len(done)) if i not in adoption.takers]
    new = {done[i]: adoption.plans[i] for i in made}
    fit_plane_turns(armature, scene, new, twisted)
    if adoption.watched is not None:
        fit_last_bones(armature, new, adoption.watched)
    _choose_solvers(adoption, made, done)
    _tell(adoption, made, done)
    if made:
        armature.ik2d.active_index = armature.ik2d.chains.find(done[made[0]])
    return done


def _name_for(armature: Object, plan: AdoptPlan) -> str:
    """Return a free name for a plan's chain, the last in the list."""
    taken = {chain.name for chain in armature.ik2d.chains if chain.name != armature.ik2d.chains[-1].name}
    return unique_name(plan.limb.title, taken, is_other_bone(armature, plan.name))


def _take_all(chain: PropertyGroup, plan: AdoptPlan, others: Iterable[tuple[str, str]] = ()) -> None:
    """Mute what a plan's chain takes over, and other constraints."""
    bones = plan.limb.armature.pose.bones
    for bone, constraint in (*plan.muted, *others):
        take(chain, bone, bones[bone].constraints[constraint])


def _set_up(armature: Object, chain: PropertyGroup, plan: AdoptPlan, scene: Scene) -> None:
    """Set up a new chain as planned."""
    name = chain.name
    post = plan.plane.post
    keep_bones(chain, post.bone if post is not None else "")
    _take_all(chain, plan)
    chain.target, chain.subtarget = plan.target, plan.subtarget
    sync_joints(chain)
    chain.bend = _SIDES[plan.sides[0][1]]
    if plan.plane.normal is not None:
        chain.plane_normal = plan.plane.normal
    if plan.pole is not None:
        chain.pole, chain.pole_subtarget = plan.pole
        chain.pole_angle = plan.plane.pole_angle
    chain.plane = plan.plane.choice
    _set_post(chain, plan)
    for bone, locks in plan.joints.locks.items():
        posed, joint = armature.pose.bones[bone], chain.joints.get(bone)
        posed.lock_rotation, posed.lock_rotations_4d = locks, False
        if joint is None:  # of its post
            continue
        joint.weight = plan.joints.weights.get(bone, 1.0)
        if bone in plan.joints.limits:
            joint.use_limit = True
            joint.limit_min, joint.limit_max = plan.joints.limits[bone]
        if plan.stretch.most > 1.0:
            posed.lock_scale = (posed.lock_scale[0], False, posed.lock_scale[2])
    align(chain, plan.stretch.aligned)
    chain.stretch = plan.stretch.most
    chain.stretch_bones = 'LAST' if plan.stretch.last_only else 'ALL'
    chain.influence = 1.0 if plan.always_acts else plan.influence
    if plan.tip_offset is not None:
        chain.tip_rotation, chain.tip_angle_offset = 'TARGET', plan.tip_offset
    _animate(armature, name, plan, scene)


def _set_post(chain: PropertyGroup, plan: AdoptPlan) -> None:
    """Have the post of a plan turn its chain's plane within its limits; without one, none that it found."""
    post = plan.plane.post
    chain.post, chain.post_axis = (post.bone, post.axis) if post is not None else ("", 'AUTO')
    limits = plan.joints.limits.get(post.bone) if post is not None else None
    chain.use_post_limit = limits is not None
    if limits is not None:
        chain.post_limit_min, chain.post_limit_max = limits


def _choose_solvers(adoption: Adoption, numbers: Sequence[int], names: Sequence[str]) -> None:
    """Have chains of more than two bones solved in the way that comes nearest to the IK's pose.

    numbers: of the plans that were made chains. names: the chains of all plans.
    """
    plans = {names[i]: adoption.plans[i] for i in numbers if adoption.plans[i].has_choice}
    if not plans or adoption.watched is None:
        return
    armature, few = adoption.armature, adoption.watched.thinned(FEW_FRAMES)
    bones = {name: plan.limb.bones for name, plan in plans.items()}
    apart: dict[str, list[Apart | IK2DError]] = {name: [] for name in plans}
    for settings, _ in _WAYS:
        for name in plans:
            _solve_by(armature.ik2d.chains[name], settings)
        for name, result in compare_each(armature, bones, few).items():
            apart[name].append(result)
    for name, results in apart.items():
        parts = [each.part if isinstance(each, Apart) else np.inf for each in results]
        best = 0
        for i, apart_there in enumerate(parts):
            if apart_there < parts[best] - _NEARER:
                best = i
        chain = armature.ik2d.chains[name]
        _solve_by(chain, _WAYS[best][0])
        if best:
            chain.adopted.carried = say(
                "solved by {way}, which is nearest to the IK's pose: {apart:.2%} of the limb, not "
                "{first:.2%}",
                way=_WAYS[best][1],
                apart=parts[best],
                first=parts[0],
            )


def _tell(adoption: Adoption, numbers: Sequence[int], names: Sequence[str]) -> None:
    """Store on the chains what they have taken over, and what not: limits by the pose of all of them.

    numbers, names: as in `_choose_solvers`.
    """
    seen, armature = adoption.watched, adoption.armature
    plans = {names[i]: adoption.plans[i] for i in numbers}
    past: dict[str, dict[str, Past]] = {}
    if seen is not None:
        with suppress(IK2DError):  # the comparison will say why
            past = {name: past_limits(armature, plan.limb.bones, seen) for name, plan in plans.items()}
    posed: dict[str, Watched | IK2DError] = {}
    if seen is not None and any(past.values()):
        bones = {name: plan.limb.bones for name, plan in plans.items()}
        posed = posed_each(armature, bones, seen, fully=True)
        if all(plan.acts_fully for plan in plans.values()):
            adoption.posed.update(posed)
    for name, plan in plans.items():
        chain, after = armature.ik2d.chains[name], posed.get(name, seen)
        carried, lost = list[str](), list[str]()
        if name in past and isinstance(after, Watched):
            after_past = past_limits(armature, plan.limb.bones, after) if past[name] else {}
            carried, lost = limits_in_words(plan, chain, past[name], after_past)
        stiff, free = stiffness_in_words(plan, chain)
        lost += free
        lines = [*carried_over(plan, chain, [*carried, *stiff]), *filter(None, [chain.adopted.carried])]
        chain.adopted.carried, chain.adopted.lost = "\n".join(lines), "\n".join([*plan.lost, *lost])


def _solve_by(chain: PropertyGroup, settings: dict[str, Any]) -> None:
    """Give a new chain the settings of one way to solve it, and the defaults of all others."""
    for name in {name for way, _ in _WAYS for name in way}:
        if name in settings:
            setattr(chain, name, settings[name])
        else:
            chain.property_unset(name)


def _animate(armature: Object, name: str, plan: AdoptPlan, scene: Scene) -> None:
    """Key the chain's bend, and give it the animation of the IK's influence; or its FK copies the rest."""
    chain, animation = armature.ik2d.chains[name], armature.animation_data
    levels, holder = levels_of(armature), existing_channels(armature)
    groups = {group.name for group in holder.groups} if holder else set()
    last_slot = getattr(animation, "last_slot_identifier", "")
    path = chain.path_from_id()
    if len(plan.sides) > 1:
        values = {1.0: 0.0, -1.0: 1.0}
        key_steps(armature, f"{path}.bend", name, [(f, values[side]) for f, side in plan.sides], scene)
    influence = plan.limb.main.path_from_id("influence")
    if animation_of(plan.limb, "influence") and not plan.always_acts:
        copy_animation(armature, influence, f"{path}.influence", name)
    for bone, constraint in plan.turning.given:
        switch(chain, bone, armature.pose.bones[bone].constraints[constraint], influence)
    keep_animation(chain, levels, groups, last_slot)


# --- Releasing ---------------------------------------------------------------


def adopted_chains(armature: Object) -> list[str]:
    """Return the names of the chains that were adopted from IK constraints."""
    return [chain.name for chain in armature.ik2d.chains if is_adopted(chain)]


def release(armature: Object, name: str) -> list[str]:
    """Restore the IK constraints that the chain `name` was adopted from, and remove it unless it is older.

    Returns a sentence for each thing that is gone, or could not be restored: then the chain stays adopted.
    Keys of bakes stay. Raises IK2DError for an unknown chain, and where keys of others could not follow.
    """
    settings = armature.ik2d
    chain = needed_chain(armature, name)
    made, index = chain.adopted.made, chain.adopted.active_index
    sentences = []
    if made:
        refuse_drop(armature, list(settings.chains).index(chain))
    if made and is_native(chain):
        remove_native(armature, chain)
        chain = needed_chain(armature, name)
    if made and baked_keys(armature, turned_bones_of(chain)):
        sentences.append(
            say("Keys of a bake of '{name}' stay: undo, then Clear Bake first to remove them", name=name)
        )
    if acts(chain):
        sentences.append(
            say(
                "Chain '{name}' is on drivers next to the IK that is back: remove its drivers, or mute that",
                name=name,
            )
        )
    sentences += give_back(chain)
    if made and not is_adopted(chain):
        drop_chain(armature, list(settings.chains).index(chain))
        settings.active_index = max(0, min(index, len(settings.chains) - 1))
    return sentences
