# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs: the bones that an armature's IK constraints move, and the limb that a selected bone means."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

import bpy

from ...core.words import listed, noted, number_of, say
from ...rig.chain.checks.bones import is_joined
from ...rig.chain.checks.found_post import FoundPost, chains_turning, post_among
from ...rig.chain.dependencies import acts_now
from ...rig.chain.post import held_apart
from ...rig.scene.bone_constraints import is_active

Locks = tuple[bool, bool, bool]  # of the axes X, Y, Z
# Constraints by which a bone follows another's location or rotation.
_COPIES = ('COPY_TRANSFORMS', 'COPY_ROTATION', 'COPY_LOCATION', 'CHILD_OF', 'ARMATURE')
# Parts of the names in a rig that Rigify generated.
_ORIGINAL = "ORG-"
_PREFIX = re.compile(r"^(ORG-|MCH-|DEF-|VIS_)")
_SIDE = re.compile(r"\.[LR](?=$|\.)")
_LAST_WORD = re.compile(r"[._][^._]*$")
# This many of them are followed in a row, from bone to bone.
_STEPS = 3


@dataclass(frozen=True, eq=False)
class Limb:
    """Bones that IK constraints move, and the constraints."""

    armature: bpy.types.Object
    bones: tuple[str, ...]  # root to tip
    constraints: tuple[tuple[str, str], ...]  # (bone, constraint), the one that acts now first
    cut: str = ""  # the bone above it, if the constraint reaches further up into another limb
    # (bone, constraint) of IK within the limb that one reaching further down makes idle
    idle: tuple[tuple[str, str], ...] = ()

    @property
    def main(self) -> bpy.types.KinematicConstraint:
        """The constraint that becomes a chain."""
        return self.ik_constraints[0]

    @property
    def title(self) -> str:
        """The name of its chain: of a Rigify limb its first part, else the last bone."""
        if originals(self.armature):
            return stem_of(self.bones[0]).replace("_ik", "")
        return self.bones[-1]

    @property
    def ik_constraints(self) -> list[bpy.types.KinematicConstraint]:
        """The constraints, the one that acts now first."""
        bones = self.armature.pose.bones
        return [bones[bone].constraints[name] for bone, name in self.constraints]


@dataclass(frozen=True, eq=False)
class FoundLimbs:
    """The limbs of an armature, and how many IK constraints are left alone."""

    limbs: tuple[Limb, ...]
    idle: int = 0  # muted, without a target or an influence, or of no bones
    helpers: int = 0  # Rigify's limbs that only move others' targets


def limbs_of(armature: bpy.types.Object, times: Sequence[float]) -> FoundLimbs:
    """Return the limbs that IK moves at some of an action's times.

    Bones that two share belong to the one that reaches further down; of two alike, to the first.
    """
    grouped: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    idle = 0
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type != 'IK':
                continue
            reached = _reached(bone, constraint)
            if reached and is_active(armature, constraint, times):
                grouped.setdefault(reached, []).append((bone.name, constraint.name))
            else:
                idle += 1
    limbs = [Limb(armature, bones, _acting_first(armature, each)) for bones, each in grouped.items()]
    main = _followed_alone(limbs)
    return FoundLimbs(tuple(_apart(main)), idle, len(limbs) - len(main))


def _reached(bone: bpy.types.PoseBone, constraint: bpy.types.KinematicConstraint) -> tuple[str, ...]:
    """Return the bones, root to tip, that an IK constraint moves: up from its own bone or the parent."""
    if constraint.ik_type != 'COPY_POSE':
        return ()
    line = [bone, *bone.parent_recursive]
    if not constraint.use_tail:
        line = line[1:]
    line = line[: constraint.chain_count or len(line)]
    return tuple(member.name for member in reversed(line))


def ik_locks(bone: bpy.types.PoseBone) -> Locks:
    """Return a bone's IK locks if they leave it one axis or none; else no locks."""
    locks = (bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z)
    return locks if sum(locks) > 1 else (False, False, False)


def post_of(limb: Limb) -> FoundPost | None:
    """Return the post that IK locks show among a limb's bones; None for none.

    With a pole Blender's IK turns all bones towards that, whatever the locks are.
    """
    bones = [limb.armature.pose.bones[name] for name in limb.bones]
    found = None if limb.main.pole_target else post_among(bones, _left_by_ik_locks)
    if found is None:
        return None
    if any(held_apart(limb.armature.pose.bones[found.bone], bones[found.first :])):
        return None
    return replace(found, owner=chains_turning(limb.armature).get(found.bone, ""))


def _left_by_ik_locks(bone: bpy.types.PoseBone) -> list[int]:
    return [i for i, locked in enumerate((bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z)) if not locked]


def _acting_first(
    armature: bpy.types.Object, constraints: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Return constraints, those that act now first."""

    def acts(place: tuple[str, str]) -> bool:
        return acts_now(armature.pose.bones[place[0]].constraints[place[1]])

    return tuple(sorted(constraints, key=acts, reverse=True))


def _followed_alone(limbs: list[Limb]) -> list[Limb]:
    """Return the limbs that Rigify's ORG bones follow; all if the rig is not Rigify's."""
    followed = {
        source
        for limb in limbs[:1]
        for name in originals(limb.armature)
        for source in _followed(limb.armature, name)
    }
    return [limb for limb in limbs if followed.intersection(limb.bones)] or limbs


def _apart(limbs: Sequence[Limb]) -> list[Limb]:
    """Return limbs that share no bone, in the same order.

    Shared bones belong to the limb that reaches furthest down. One without any bone of its own is idle, as
    Blender's IK follows the other one.
    """
    apart: dict[int, Limb] = {}
    holders: dict[str, int] = {}
    depths = [len(limb.armature.pose.bones[limb.bones[-1]].parent_recursive) for limb in limbs]
    for number in sorted(range(len(limbs)), key=lambda number: -depths[number]):
        limb = limbs[number]
        free = list(takewhile(partial(_is_free, holders), reversed(limb.bones)))
        if free:
            cut = limb.bones[-len(free) - 1] if len(free) < len(limb.bones) else ""
            apart[number] = replace(limb, bones=tuple(reversed(free)), cut=cut)
            holders |= dict.fromkeys(free, number)
        else:
            holder = holders[limb.bones[-1]]
            apart[holder] = replace(apart[holder], idle=(*apart[holder].idle, *limb.constraints))
    return [apart[number] for number in sorted(apart)]


def _is_free(holders: dict[str, int], name: str) -> bool:
    return name not in holders


def limbs_meant(limbs: Sequence[Limb], names: Iterable[str]) -> list[Limb]:
    """Return the limbs that the named bones mean.

    A limb is meant by its bones, by the bone with its constraint, by the target and the pole; by bones that
    follow one of these, or carry the target; in a Rigify rig by any bone of that limb.
    """
    meant = [limb for name in names for limb in _meant(limbs, name)]
    return [limb for limb in limbs if limb in meant]


def _meant(limbs: Sequence[Limb], name: str) -> list[Limb]:
    if not limbs:
        return []
    armature = limbs[0].armature
    for start in dict.fromkeys((*original_of(armature, name), name)):
        waiting, seen = [start], {start}
        for _ in range(_STEPS):
            for takes in (_has_bone, _is_target, _is_pole):
                meant = [limb for bone in waiting for limb in limbs if takes(limb, bone)]
                if meant:
                    return meant
            waiting = [bone for each in waiting for bone in _followed(armature, each) if bone not in seen]
            seen.update(waiting)
    steered = [limb for limb in limbs if name in _above_target(limb)]
    return steered if len(steered) == 1 else []


def _has_bone(limb: Limb, name: str) -> bool:
    return name in limb.bones or any(name == owner for owner, _ in limb.constraints)


def _is_target(limb: Limb, name: str) -> bool:
    return bool(limb.main.target == limb.armature and limb.main.subtarget == name)


def _is_pole(limb: Limb, name: str) -> bool:
    return any(
        each.pole_target == limb.armature and each.pole_subtarget == name for each in limb.ik_constraints
    )


def _above_target(limb: Limb) -> list[str]:
    """Return the parents of the target's bone."""
    if limb.main.target != limb.armature:
        return []
    return [bone.name for bone in limb.armature.pose.bones[limb.main.subtarget].parent_recursive]


def _followed(armature: bpy.types.Object, name: str) -> list[str]:
    """Return the armature's bones that a bone follows by constraints."""
    bone = armature.pose.bones.get(name)
    sources = [
        source
        for constraint in (bone.constraints if bone else ())
        if constraint.type in _COPIES
        for source in getattr(constraint, "targets", (constraint,))
    ]
    return [source.subtarget for source in sources if source.target == armature and source.subtarget]


# --- Bones of a rig that Rigify generated ------------------------------------


def originals(armature: bpy.types.Object) -> list[str]:
    """Return the ORG bones of a rig that Rigify generated; none of another rig."""
    return [bone.name for bone in armature.data.bones if bone.name.startswith(_ORIGINAL)]


def stem_of(name: str) -> str:
    """Return a generated bone's name without Rigify's prefix."""
    return _PREFIX.sub("", name)


def original_of(armature: bpy.types.Object, name: str) -> list[str]:
    """Return the ORG bone of a generated bone, by its name, and those joined above it.

    thigh_ik_target.L, MCH-thigh_ik_stretch.L and DEF-thigh.L.001 belong to ORG-thigh.L.
    """
    bones = armature.data.bones
    bone = next((bones[stem] for stem in _stems(stem_of(name)) if stem in bones), None)
    originals = []
    while bone is not None and bone.name.startswith(_ORIGINAL):
        originals.append(bone.name)
        bone = bone.parent if is_joined(bone) else None  # a toe is, fingers are not
    return originals


def _stems(name: str) -> Iterator[str]:
    """Yield possible names of the ORG bone, with ever fewer of the words that Rigify adds."""
    side = _SIDE.search(name)
    yield _ORIGINAL + name
    if side:
        name = name[: side.start()]
    while name:
        yield f"{_ORIGINAL}{name}{side.group() if side else ''}"
        shorter = _LAST_WORD.sub("", name)
        if shorter == name:
            return
        name = shorter


# --- What is left alone -------------------------------------------------------


def why_none(armature: bpy.types.Object, names: Sequence[str] | None, idle: int) -> str:
    """Return why an armature has no limb to adopt, in words."""
    if names is None:
        if not idle:
            return say("Armature '{armature}' has no IK constraint", armature=armature.name)
        return say(
            "Armature '{armature}' has no IK constraint that acts, only {constraints} that are muted or have "
            "no target or influence",
            armature=armature.name,
            constraints=number_of(idle, "IK constraint"),
        )
    if not names:
        return say("Select a bone of the limb to adopt in Pose Mode, or adopt all")
    which = f"'{names[0]}'" if len(names) == 1 else say("the {count} selected bones", count=len(names))
    return say(
        "No IK constraint that acts moves {which}; select a bone of a limb that has one, or adopt all",
        which=which,
    )


def left_alone(idle: int, helpers: int, single: Sequence[str]) -> list[str]:
    """Return a sentence for each kind of IK that Adopt leaves alone."""
    notes = []
    if single:
        notes.append(
            say(
                "Left alone: the one-bone IK of {names}, which a chain would not improve; select the "
                "bone to adopt it all the same",
                names=listed(single),
            )
        )
    if idle:
        template = noted(
            "Left alone: {number} IK constraints that are muted, or without a target or influence"
        )
        if idle == 1:
            template = noted(
                "Left alone: {number} IK constraint that is muted, or without a target or influence"
            )
        notes.append(say(template, number=idle))
    if helpers:
        notes.append(
            say(
                "Left alone: IK of {helpers} of Rigify's own limbs, which move the targets of others",
                helpers=helpers,
            )
        )
    return notes
