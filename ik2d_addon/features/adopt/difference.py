# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the pose of adopted chains is from the IK's: after adopting, and before, for the dialog."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from bpy.types import PropertyGroup, Scene

from ...bake import solve
from ...bake.lengths import Units, length_text
from ...core import IK2DError
from ...core.words import number_of, say
from .adopt import Adoption, adopted_chains, carry_out, release
from .compare import Apart, compare_each
from .poses import Watched


def compare_adopted(
    adoption: Adoption,
    names: Sequence[str],
    scene: Scene,
    progress: Callable[[float], None] | None = None,
) -> list[str]:
    """Store on each chain how far its pose is from the IK's; return that in sentences.

    Then pose the chains at the current frame. progress: called with the part that is done, 0..1.
    """
    armature, made = adoption.armature, dict[str, Sequence[str]]()
    for name, plan in zip(names, adoption.plans, strict=True):
        chain = armature.ik2d.chains[name]
        if chain.adopted.made and chain.enabled:
            made[name] = plan.limb.bones
    if not made or adoption.watched is None:
        return []
    found, sentences = compare_each(armature, made, adoption.watched, progress), []
    for name in made:
        adopted, result = armature.ik2d.chains[name].adopted, found[name]
        if isinstance(result, Apart):
            adopted.angle, adopted.tip, adopted.joint = result.angle, result.tip, result.joint
            adopted.part = result.part
            adopted.apart = _apart_in_words(result, adoption.watched, scene)
        else:
            adopted.apart = say("not compared with the IK: {result}", result=result)
        sentences.append(f"{name}: {adopted.apart}")
    with suppress(IK2DError):
        solve(armature, list(made))
    return sentences


@dataclass(frozen=True)
class Difference:
    """How far a chain's pose will be from the IK's."""

    angle: float  # radians, of the bone that is turned furthest
    joint: float  # a length in the world, of the joint that is furthest away
    part: float  # that as a part of the limb's length
    unknown: str  # why it is not known; "" where it is
    carried: str  # what the chain takes over, in words


def differences(adoption: Adoption, scene: Scene) -> dict[str, Difference]:
    """Return each new chain's difference by the name of its last bone; the rig is as before then."""
    armature, before = adoption.armature, set(adopted_chains(adoption.armature))
    names = carry_out(adoption, scene)
    try:
        compare_adopted(adoption, names, scene)
        return {
            plan.name: _difference(armature.ik2d.chains[name].adopted)
            for name, plan in zip(names, adoption.plans, strict=True)
            if name not in before and armature.ik2d.chains[name].adopted.made
        }
    finally:
        for name in reversed(names):
            if name not in before:
                release(armature, name)


def _difference(adopted: PropertyGroup) -> Difference:
    unknown = "" if adopted.joint >= 0.0 else adopted.apart
    carried = "; ".join(adopted.carried.splitlines())
    return Difference(adopted.angle, adopted.joint, adopted.part, unknown, carried)


def difference_in_words(difference: Difference, units: Units) -> str:
    """Say how far a chain's pose will be from the IK's."""
    if difference.unknown:
        return difference.unknown[:1].upper() + difference.unknown[1:]
    joint, degrees = length_text(difference.joint, units), np.degrees(difference.angle)
    return say(
        "Up to {joint} ({part:.1%} of the limb) and {angle:.1f}° from its IK",
        joint=joint,
        part=difference.part,
        angle=degrees,
    )


def _apart_in_words(apart: Apart, seen: Watched, scene: Scene) -> str:
    count = len(seen.frames)
    tip, joint = (length_text(each, Units.of(scene)) for each in (apart.tip, apart.joint))
    where = "" if count == 1 else say(" at frame {frame}", frame=apart.angle_frame)
    at = "" if count == 1 else say(" at frame {frame}", frame=apart.tip_frame)
    step = seen.frames[1] - seen.frames[0] if count > 1 else 1
    every = say(" (every {step}th compared)", step=step) if step > 1 else ""
    return say(
        "over {frames}{every} its pose is up to {angle:.2f}° (bone '{bone}'{where}) and its "
        "tip {tip}{at} from the IK's, no joint more than {joint} ({part:.2%} of the limb)",
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
