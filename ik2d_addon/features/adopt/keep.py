# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the IK constraints that a chain was adopted from, with its bones' settings, and restore them."""

from collections.abc import Collection, Sequence
from math import isfinite

from bpy.types import Bone, Constraint, Object, PoseBone, PropertyGroup

from ...core.words import listed, noted, say
from ...rig.animation.remembered import plain
from ...rig.chain.hands import REST, hanging_bones, posed_hands, unkeyed_bones
from ...rig.chain.renames import bones_of, found_bone, remember, straighten
from .animation import LEVELS, levels_of, take_away, turn_round
from .muting import silence, unsilence, unsilence_as_noted

# A bone's properties to restore: its rotation mode first, since setting that converts the rest.
_KEPT = (
    "rotation_mode",
    "rotation_quaternion",
    "rotation_euler",
    "rotation_axis_angle",
    "location",
    "scale",
    "lock_rotation",
    "lock_rotations_4d",
    "lock_scale",
)


# --- Keeping -----------------------------------------------------------------


def take(chain: PropertyGroup, bone: str, constraint: Constraint) -> None:
    """Mute a bone's constraint and note how to restore it."""
    armature, taken = chain.id_data, _noted(chain, bone, constraint)
    taken.was_muted, taken.lost_target = silence(armature, constraint)
    taken.loses_target = taken.lost_target is not None
    taken.note = "" if taken.loses_target else f"mute\t{taken.was_muted:d}"  # by which 1.0.0 restores it
    if _has_target_bone(taken):
        remember(taken.target_bone_place, taken.lost_target.data, taken.target_bone)


def _noted(chain: PropertyGroup, bone: str, constraint: Constraint) -> PropertyGroup:
    """Return a new note on a bone's constraint: what finds it again."""
    armature, taken = chain.id_data, chain.adopted.constraints.add()
    taken.bone, taken.constraint, taken.kind = bone, constraint.name, constraint.type
    taken.target_bone = constraint.subtarget
    remember(taken.place, armature.data, bone)
    constraints = armature.pose.bones[bone].constraints
    taken.index, taken.count = list(constraints).index(constraint), len(constraints)
    return taken


def switch(chain: PropertyGroup, bone: str, constraint: Constraint, source: str) -> None:
    """Give a copy of an FK bone 1 - the animated influence at the path `source`; note how to restore it."""
    armature = chain.id_data
    taken = _noted(chain, bone, constraint)
    taken.is_switched, taken.was_influence = True, constraint.influence
    path = constraint.path_from_id("influence")
    turn_round(armature, source, path, taken.was_influence, chain.name)


def _has_target_bone(taken: PropertyGroup) -> bool:
    return taken.lost_target is not None and taken.lost_target.type == 'ARMATURE' and bool(taken.target_bone)


def keep_bones(chain: PropertyGroup, post: str = "") -> None:
    """Keep the settings and the pose of the chain's bones, root to tip, of its post, and of its hands."""
    bones = chain.id_data.pose.bones
    own = [bones[name] for name in bones_of(chain.id_data.data, chain.tip, chain.bone_count)]
    hands = hanging_bones(own[-1])
    own += [bones[post]] if post else []
    for bone in (*own, *hands):
        kept = chain.adopted.bones.add()
        kept.name, kept.hangs = bone.name, bone not in own
        for key in _KEPT:
            setattr(kept, key, getattr(bone, key))


def align(chain: PropertyGroup, bones: Sequence[str]) -> None:
    """Have kept bones inherit scale along themselves, so that those above them can stretch."""
    for name in bones:
        bone = chain.id_data.data.bones[name]
        chain.adopted.bones[name].inherit_scale, bone.inherit_scale = bone.inherit_scale, 'ALIGNED'


def keep_animation(
    chain: PropertyGroup, before: set[str], groups: Collection[str] = (), last_slot: str | None = None
) -> None:
    """Note what was made to hold the chain's animation; the arguments are as they were before.

    last_slot: None where this was noted before, and more was made since.
    """
    adopted = chain.adopted
    made = {*adopted.levels.split(), *(levels_of(chain.id_data) - before)}
    adopted.levels = " ".join(level for level in LEVELS if level in made)
    if last_slot is not None:
        adopted.group = "" if chain.name in groups else chain.name
        adopted.last_slot = last_slot


# --- Giving back -------------------------------------------------------------


def give_back(chain: PropertyGroup, for_good: bool = False) -> list[str]:
    """Restore the constraints and the bones of an adopted chain, and remove the channels that it made.

    Returns a sentence for each thing that is gone, or could not be restored: the chain then still counts as
    adopted, with its channels, unless it is for good. The chain itself stays.
    """
    armature, adopted = chain.id_data, chain.adopted
    straighten(armature)
    sentences: list[str] = []
    for i in reversed(range(len(adopted.constraints))):
        sentence, may_be_there = _give_back_constraint(chain, adopted.constraints[i])
        sentences += [sentence] if sentence else []
        if not may_be_there:
            adopted.constraints.remove(i)
    sentences += _give_back_bones(chain)
    armature.update_tag()
    if len(adopted.constraints) and not for_good:
        adopted.bones.clear()
        return sentences
    if adopted.made:
        prefix = f"{chain.path_from_id()}."
        take_away(armature, prefix, adopted.group, adopted.levels.split(), adopted.last_slot)
    chain.property_unset("adopted")
    return sentences


def _give_back_constraint(chain: PropertyGroup, taken: PropertyGroup) -> tuple[str, bool]:
    """Restore a constraint of the bone it was on, or of a renamed bone of the limb.

    Returns a sentence, "" where all went well, and whether the constraint may still be there, not restored.
    """
    data, bones = chain.id_data.data, chain.id_data.pose.bones
    names = [found_bone(data, taken.bone, taken.place)]
    if not names[0]:
        own = bones_of(data, chain.tip, chain.bone_count)
        names = [
            *reversed(own),
            *(candidate.name for name in own[-1:] for candidate in bones[name].children_recursive),
        ]
    kind, what = taken.kind, noted("IK constraint") if taken.kind == 'IK' else noted("constraint")
    which = say(
        "The {what} '{constraint}' of bone '{bone}'", what=what, constraint=taken.constraint, bone=taken.bone
    )
    constraint, others = None, []
    for own in (bones[name].constraints for name in names):
        named = own.get(taken.constraint)
        renamed = own[taken.index] if 0 <= taken.index < len(own) == taken.count else None
        constraint = constraint or next(
            (candidate for candidate in (named, renamed) if candidate is not None and candidate.type == kind),
            None,
        )
        alike = [candidate for candidate in own if candidate.type == kind]
        others += [candidate.name for candidate in alike if candidate.mute or candidate.target is None]
    if constraint is not None:
        return _restore(chain.id_data, constraint, taken), False
    if others:
        sentence = say(
            "{which} is not found, and may be {names}: {way_out}",
            which=which,
            names=listed(others),
            way_out=say(
                "give it its name back and restore again, or remove the chain if it is none of these"
            ),
        )
        return sentence, True
    return say("{which} is gone: there is nothing to unmute", which=which), False


def _restore(armature: Object, constraint: Constraint, taken: PropertyGroup) -> str:
    """Restore a constraint; return a sentence about what is gone, "" where nothing is."""
    if taken.is_switched:
        take_away(armature, constraint.path_from_id("influence"), "", [], "")
        constraint.influence = taken.was_influence
        return ""
    which = say("'{constraint}' of bone '{owner}'", constraint=constraint.name, owner=taken.bone)
    target, subtarget = taken.lost_target, taken.target_bone
    if _has_target_bone(taken):
        subtarget = found_bone(target.data, subtarget, taken.target_bone_place) or subtarget
    unsilence(constraint, taken.was_muted, target, subtarget)
    if taken.note and not taken.is_property_set("was_muted"):  # of 1.0.0
        actions = [each.action for each in taken.actions]
        return unsilence_as_noted(armature, constraint, which, taken.note, actions)
    if taken.loses_target and target is None:
        return say("The target of {which} is gone", which=which)
    return ""


def _give_back_bones(chain: PropertyGroup) -> list[str]:
    bones, kept = chain.id_data.pose.bones, [each for each in chain.adopted.bones if not each.hangs]
    now = [*(joint.name for joint in chain.joints), *filter(None, [chain.post])]
    sentences = []
    for i, each in enumerate(kept):
        bone = bones.get(each.name)
        if bone is None and len(now) == len(kept):  # joints follow bones that are renamed
            bone = bones.get(now[i])
        if bone is None:
            sentences.append(
                say("Bone '{each}' is gone: its locks and its pose stay as they are", each=each.name)
            )
        elif _is_damaged(each):
            sentences.append(
                say(
                    "The note on bone '{each}' is damaged: its locks and its pose stay as they are",
                    each=each.name,
                )
            )
        else:
            for key in _KEPT:
                setattr(bone, key, getattr(each, key))
            if each.inherit_scale:
                bone.bone.inherit_scale = each.inherit_scale
    if chain.adopted.made:
        _give_back_hands(chain)
    return sentences


def _is_damaged(kept: PropertyGroup) -> bool:
    """Return whether a kept bone holds what no bone can be."""
    modes = PoseBone.bl_rna.properties["rotation_mode"].enum_items.keys()
    scales = ["", *Bone.bl_rna.properties["inherit_scale"].enum_items.keys()]
    values = (value for key in _KEPT[1:6] for value in plain(getattr(kept, key)))
    is_known = kept.rotation_mode in modes and kept.inherit_scale in scales
    return not (is_known and all(map(isfinite, values)))


def _give_back_hands(chain: PropertyGroup) -> None:
    """Restore the pose of the hands that the chain has turned, unless they have keys."""
    kept = {each.name: each for each in chain.adopted.bones if each.hangs}
    for bone in unkeyed_bones(chain.id_data, [name for name in posed_hands(chain) if name in kept]):
        if _is_damaged(kept[bone.name]):
            continue
        for key in REST:
            setattr(bone, key, getattr(kept[bone.name], key))
