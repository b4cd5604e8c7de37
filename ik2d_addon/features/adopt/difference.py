# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the pose of adopted chains is from the IK's: after adopting, and before, for the dialog."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from bpy.types import PropertyGroup, Scene

from ...bake import solve
from ...bake.lengths import Units, rough_length
from ...core import IK2DError
from ...core.words import number_of, once_for_all, say
from ...rig.chain.dependencies import Movers, walk
from ...rig.chain.order import rounds_of
from .adopt import Adoption, carry_out, release
from .compare import Apart, compare_each
from .course import pole_of, target_of
from .plan import AdoptPlan
from .poses import Watched
from .words import lost_in_words, taken_in_words

# Limbs of several that will be off by more than this part of their length are not ticked at first.
FAR = 0.02


def compare_adopted(
    adoption: Adoption,
    names: Sequence[str],
    scene: Scene,
    progress: Callable[[float], None] | None = None,
) -> list[str]:
    """Store on each chain how far its pose is from the IK's; return that in sentences.

    Then pose the chains at the current frame. progress: called with the part that is done, 0..1.
    """
    made = list(_compared(adoption, names, scene, progress))
    if made:
        with suppress(IK2DError):
            solve(adoption.armature, made)
    chains = adoption.armature.ik2d.chains
    return [f"{name}: {chains[name].adopted.apart}" for name in made]


def _compared(
    adoption: Adoption,
    names: Sequence[str],
    scene: Scene,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Apart | IK2DError]:
    """Store on each new chain how far its pose is from the IK's; return that by their names."""
    armature, made = adoption.armature, dict[str, Sequence[str]]()
    for name, plan in zip(names, adoption.plans, strict=True):
        chain = armature.ik2d.chains[name]
        if chain.adopted.made and chain.enabled:
            made[name] = plan.limb.bones
    if not made or adoption.watched is None:
        return {}
    posed = adoption.posed if made.keys() <= adoption.posed.keys() else None
    compared = compare_each(armature, made, adoption.watched, progress, posed)
    for name, result in compared.items():
        adopted = armature.ik2d.chains[name].adopted
        if isinstance(result, Apart):
            adopted.angle, adopted.tip, adopted.joint = result.angle, result.tip, result.joint
            adopted.part = result.part
            adopted.apart = _apart_in_words(result, adoption.watched, scene)
        else:
            adopted.apart = say("not compared with the IK: {result}", result=result)
    return compared


@dataclass(frozen=True)
class Difference:
    """How far a chain's pose will be from the IK's."""

    angle: float  # radians, of the bone that is turned furthest
    joint: float  # a length in the world, of the joint that is furthest away
    part: float  # that as a part of the limb's length
    unknown: str  # why it is not known; "" where it is
    carried: tuple[str, ...]  # what the chain takes over, in words
    lost: tuple[str, ...]  # what it does not
    far: tuple[int, ...] = ()  # the first and last frame on which it will be further off than FAR


def differences(adoption: Adoption, scene: Scene) -> dict[str, Difference]:
    """Return each new chain's difference by the name of its last bone; the rig is as before then.

    Each is compared while the limbs that it hangs on, or that hang on it, have their IK.
    """
    found: dict[str, Difference] = {}
    new = [plan for i, plan in enumerate(adoption.plans) if i not in adoption.takers]
    for plans in apart_from_one_another(new):
        found |= _differences_of(replace(adoption, plans=tuple(plans), takers={}, posed={}), scene)
    return found


def _differences_of(adoption: Adoption, scene: Scene) -> dict[str, Difference]:
    """Return the differences of chains that are adopted together for that time."""
    armature = adoption.armature
    names = carry_out(adoption, scene, closely=False)
    try:
        compared = _compared(adoption, names, scene)
        frames = adoption.watched.frames if adoption.watched is not None else ()
        return {
            plan.name: _difference(armature.ik2d.chains[name].adopted, _far(frames, compared.get(name)))
            for name, plan in zip(names, adoption.plans, strict=True)
        }
    finally:
        for name in reversed(names):
            release(armature, name)


def apart_from_one_another(plans: Sequence[AdoptPlan]) -> list[list[AdoptPlan]]:
    """Return plans in groups: no limb of a group moves the root, the target or the pole of another of it.

    But those that form a circle are one group.
    """
    movers = Movers()
    owners = {(plan.limb.armature, bone): plan for plan in plans for bone in plan.limb.bones}

    def needed(plan: AdoptPlan) -> set[AdoptPlan]:
        roots = [(plan.limb.armature, plan.limb.bones[0]), target_of(plan.limb), pole_of(plan.limb)]
        nodes = walk([root for root in roots if root is not None], movers)
        return {owners[node] for node in nodes if node in owners}

    groups, circle = rounds_of(plans, needed)
    return [*groups, circle] if circle else groups


def ticked(adoption: Adoption, found: Mapping[str, Difference]) -> set[str]:
    """Return the last bones of limbs to adopt at first: of several those that act and are not far off."""
    names = [plan.name for plan in adoption.plans]
    acting = [plan.name for plan in adoption.plans if plan.acts.ever]
    near = {name for name in acting if name not in found or found[name].part <= FAR}
    return near if len(names) > 1 else set(names)


def _far(frames: Sequence[int], result: Apart | IK2DError | None) -> tuple[int, ...]:
    """Return the first and last frame of several on which a chain is further off than FAR; () for none."""
    if not isinstance(result, Apart) or len(frames) < 2 or result.part <= FAR:
        return ()
    rows = np.flatnonzero(result.parts > FAR)
    return frames[rows[0]], frames[rows[-1]]


def _difference(adopted: PropertyGroup, far: tuple[int, ...]) -> Difference:
    unknown = "" if adopted.joint >= 0.0 else adopted.apart
    carried, lost = (tuple(text.splitlines()) for text in (adopted.carried, adopted.lost))
    return Difference(adopted.angle, adopted.joint, adopted.part, unknown, carried, lost, far)


def difference_in_words(difference: Difference, units: Units) -> str:
    """Say in a few words how far a chain's pose will be from the IK's."""
    if difference.unknown:
        return say("not compared")
    off = say(
        "{joint}, {angle:.1f}° off",
        joint=rough_length(difference.joint, units),
        angle=np.degrees(difference.angle),
    )
    if not difference.far:
        return off
    first, last = difference.far
    if first == last:
        return say("{off} at frame {frame}", off=off, frame=first)
    return say("{off} at frames {first} to {last}", off=off, first=first, last=last)


@dataclass(frozen=True)
class LimbLine:
    """The line of a limb in the dialog."""

    title: str
    difference: str  # how far its pose will be from the IK's; "" where it stays as it is
    is_far: bool


@dataclass(frozen=True)
class DialogText:
    """All that the dialog says: a line for each limb, and each note once for all that have it."""

    limbs: tuple[LimbLine, ...]
    lost: tuple[str, ...]  # notes on what is not carried over
    carried: tuple[str, ...]  # notes on what is
    notes: tuple[str, ...]


def dialog_text(adoption: Adoption, found: dict[str, Difference], units: Units) -> DialogText:
    """Return the text of the dialog. found: the differences; those above FAR are marked."""
    limbs, lost, carried, notes = [], [], [], [*adoption.notes]
    for i, plan in enumerate(adoption.plans):
        title = plan.limb.title
        if i in adoption.takers:
            limbs.append(LimbLine(adoption.takers[i], "", False))
            notes.append(say("{taker}: {takes}", taker=adoption.takers[i], takes=taken_in_words(plan)))
            continue
        difference = found.get(plan.name)
        said = difference_in_words(difference, units) if difference is not None else ""
        limbs.append(LimbLine(title, said, difference is not None and difference.part > FAR))
        lost_there = difference.lost if difference is not None else plan.lost
        lost += [(title, line) for line in lost_in_words(plan, lost_there, units)]
        if difference is not None and difference.unknown:
            lost.append((title, difference.unknown[:1].upper() + difference.unknown[1:]))
        carried += [(title, line) for line in (difference.carried if difference is not None else ())]
    return DialogText(tuple(limbs), _once(lost, len(limbs)), _once(carried, len(limbs)), tuple(notes))


def _once(told: list[tuple[str, str]], count: int) -> tuple[str, ...]:
    """Return notes on limbs, each once, after those of `count` limbs that have it where there are several."""
    return tuple(
        note
        if count == 1
        else say("All: {note}", note=note)
        if len(names) == count
        else say("{limbs}: {note}", limbs=", ".join(names), note=note)
        for names, note in once_for_all(told)
    )


def _apart_in_words(apart: Apart, seen: Watched, scene: Scene) -> str:
    count = len(seen.frames)
    tip, joint = (rough_length(each, Units.of(scene)) for each in (apart.tip, apart.joint))
    where = "" if count == 1 else say(" at frame {frame}", frame=apart.angle_frame)
    at = "" if count == 1 else say(" at frame {frame}", frame=apart.tip_frame)
    step = seen.frames[1] - seen.frames[0] if count > 1 else 1
    every = say(" (every {step}th compared)", step=step) if step > 1 else ""
    return say(
        "over {frames}{every} its pose is up to {angle:.2f}° (bone '{bone}'{where}) and its "
        "tip {tip}{at} from the pose before; the joint furthest off: {joint} ({part:.2%} of the limb)",
        frames=number_of(count, "frame"),
        every=every,
        angle=np.degrees(apart.angle),
        bone=apart.bone,
        where=where,
        tip=tip,
        at=at,
        joint=joint,
        part=apart.part,
    )
