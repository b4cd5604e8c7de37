# SPDX-License-Identifier: GPL-3.0-or-later
"""Renamed bones: chains find their bones again by their place in the rest pose.

Next to each name a chain stores the bone's place when both last agreed (`place`, see
ui/settings/chain.py). So it follows renames by hand, a script, undo, or in a library.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import bpy
import numpy as np
from mathutils import Vector

from ...core import IK2DError
from ...core.words import noted, quoted, refusal, say
from .paths.baked import follow_baked
from .paths.follow import follow_joints_list, follow_list
from .readable import mend_texts, refuse_no_text

# Bones whose ends are nearer than this part of their length are in one place: more than leaving Edit Mode
# adds, less than anybody moves a bone by.
_SAME_PLACE = 1e-4
# To find the numbers of so few bones Blender is faster than a list of all names.
_FEW = 4
# The name that a chain shows until it is given one.
_DEFAULT_NAME = "Chain"

# One of `Object.ik2d.chains`, or a group in it: bpy has no types for them.
Settings: TypeAlias = Any
# The numbers of bones by their names, of each armature that was looked through.
BoneOrders: TypeAlias = dict[bpy.types.Armature, dict[str, int]]


def straighten(armature: bpy.types.Object) -> bool:
    """Make the names of an armature's chains unique and follow renamed bones; return whether any changed.

    Keys and drivers follow chains that were moved in the list. Raises IK2DError for a bone's or a
    constraint's name that is no text.
    """
    if armature.type != 'ARMATURE':
        return False
    renamed = False
    for mechanism in armature.ik2d.mechanisms:
        renamed |= _follow_mechanism(mechanism)
    if not (len(armature.ik2d.chains) or armature.ik2d.chain_order):
        return renamed
    refuse_no_text(armature)
    left = _LEFT.get(armature.session_uid)
    if left is None:
        mend_texts(armature.ik2d)
    follow_list(armature)
    changed = renamed | _make_names_unique(armature.ik2d.chains)
    orders: BoneOrders = {}
    for chain in armature.ik2d.chains if left is None else _edited_chains(armature, *left):
        changed |= follow_renames(chain, orders)
    _LEFT[armature.session_uid] = names_fingerprint(armature)
    return changed


def is_straight(armature: bpy.types.Object) -> bool:
    """Return whether `straighten` has nothing to change: the names are as it left them."""
    with suppress(UnicodeDecodeError):
        return names_fingerprint(armature) == _LEFT.get(armature.session_uid)
    return False


def _edited_chains(
    armature: bpy.types.Object, chains_left: Sequence[object], bones_left: Sequence[object]
) -> list[Settings]:
    """Return the chains whose names, or those of any bones, are others than they were left."""
    chains = list(armature.ik2d.chains)
    chains_now, bones_now = names_fingerprint(armature)
    if bones_now != bones_left:
        return chains
    known = set(chains_left)
    edited = [chain for chain, now in zip(chains, chains_now, strict=True) if now not in known]
    for chain in edited:
        mend_texts(chain)
    return edited


# The fingerprints of armatures as they were straightened, by their session_uid.
_LEFT: dict[int, tuple[list[object], list[object]]] = {}
# After loading and undo, names may be others with the fingerprint that they had.
forget_straight = _LEFT.clear


def names_fingerprint(armature: bpy.types.Object) -> tuple[list[object], list[object]]:
    """Return the fingerprints of each chain's names, and of the bones of an armature and its targets.

    Raises UnicodeDecodeError for a name that is no text.
    """
    chains: list[object] = []
    known: dict[object, object] = {armature.data: _bones_in(armature.data)}
    for chain in armature.ik2d.chains:
        datas = [ob.data if ob is not None else None for ob in (chain.target, chain.pole)]
        for data in datas:
            if isinstance(data, bpy.types.Armature) and data not in known:
                known[data] = _bones_in(data)
        names = *chain.joints.keys(), "", *chain.dormant.keys()
        bones = chain.subtarget, chain.pole_subtarget, chain.post
        followed = (*bones, *(data and data.session_uid for data in datas))
        chains.append((chain.uid, chain.name, chain.tip, chain.bone_count, names, followed))
    return chains, list(known.values())


def _bones_in(data: bpy.types.Armature) -> tuple[object, ...]:
    """Return the names, parents and places of bones at rest."""
    bones = data.bones
    places = np.empty((2, 3 * len(bones)), "f4")
    for name, row in zip(("head_local", "tail_local"), places, strict=True):
        bones.foreach_get(name, row)
    names = [(bone.name, above.name if (above := bone.parent) is not None else "") for bone in bones]
    return data.session_uid, data.is_editmode, names, places.tobytes()


def follow_renames(chain: Settings, orders: BoneOrders | None = None) -> bool:
    """Follow renames of a chain's bones, its post and those of its target and pole, and store their places.

    orders: known orders of bones, to be used again. Returns whether a name was changed.
    """
    changed = follow_joints(chain, orders)
    for target, setting, place in (
        (chain.target, "subtarget", "subtarget_place"),
        (chain.pole, "pole_subtarget", "pole_place"),
        (chain.id_data, "post", "post_place"),
    ):
        bone = getattr(chain, setting)
        if bone and target is not None and target.type == 'ARMATURE' and _readable(target.data):
            name = found_bone(target.data, bone, getattr(chain, place))
            if name not in ("", bone):
                setattr(chain, setting, name)
                if setting == "post":
                    follow_baked(chain, {bone: name})
                bone, changed = name, True
            remember(getattr(chain, place), target.data, bone, orders)  # a new name unset it
    return changed


def follow_joints(chain: Settings, orders: BoneOrders | None = None) -> bool:
    """Follow renames of the chain's own bones, as in `follow_renames`."""
    data = chain.id_data.data
    if not _readable(data):
        return False
    joints = [*chain.joints, *chain.dormant]
    if orders is None and len(joints) > _FEW:
        orders = {}
    names = [found_bone(data, joint.name, joint.place) or joint.name for joint in joints]
    renamed = {
        joint.name: name for joint, name in zip(joints, names, strict=True) if joint.name != name
    }  # all at once, as names may have been swapped
    before, known = chain.joints.keys(), [joint.name for joint in joints]
    for joint in joints:
        if joint.name in renamed:
            joint.name = renamed[joint.name]
    tip = renamed.get(chain.tip, chain.tip)
    changed = bool(renamed) | _pair_by_order(chain, bones_of(data, tip, chain.bone_count))
    if changed:
        follow_joints_list(chain, before, renamed=True)
        follow_baked(chain, dict(zip(known, (joint.name for joint in joints), strict=True)))
    for joint in joints:
        remember(joint.place, data, joint.name, orders)
    if tip != chain.tip:
        chain.tip = tip  # last: this may make the joints anew
    return changed


def _pair_by_order(chain: Settings, bones: Sequence[str]) -> bool:
    """Give joints whose bones are lost the chain's bones with the same number."""
    if len(bones) != len(chain.joints):
        return False
    taken = {joint.name for joint in chain.joints}
    changed = False
    for joint, name in zip(chain.joints, bones, strict=True):
        if name not in taken and joint.name not in chain.id_data.data.bones:
            joint.name, changed = name, True
    return changed


def bones_of(data: bpy.types.Armature, tip: str, bone_count: int) -> list[str]:
    """Return the names of a chain's bones, root to tip; none where there is no such chain."""
    bone = data.bones.get(tip)
    if bone is None:
        return []
    bones = [bone, *bone.parent_recursive]
    if not 0 <= bone_count <= len(bones):
        return []
    return [bone.name for bone in reversed(bones[: bone_count or len(bones)])]


def _follow_mechanism(mechanism: Settings) -> bool:
    """Follow renames of a mechanism's bones, and store their places; return whether a name was changed."""
    data = mechanism.id_data.data
    if not _readable(data):
        return False
    names = {bone.name: found_bone(data, bone.name, bone.place) or bone.name for bone in mechanism.bones}
    for joint in mechanism.joints:
        if joint.other and joint.other not in names:
            names[joint.other] = found_bone(data, joint.other, joint.other_place) or joint.other
    follow_baked(mechanism, names)
    for item, name in _named_bones(mechanism):
        new = names.get(getattr(item, name))
        if new is not None and new != getattr(item, name):
            setattr(item, name, new)
    for bone in mechanism.bones:
        remember(bone.place, data, bone.name)
    for joint in mechanism.joints:
        remember(joint.other_place, data, joint.other)
    targets = [_follow_target(driver) for driver in mechanism.drivers]  # all of them
    return any(targets) or any(new != old for old, new in names.items())


def _named_bones(mechanism: Settings) -> Iterator[tuple[Settings, str]]:
    """Yield all that names a bone of a mechanism's armature, with its property."""
    yield from ((bone, "name") for bone in mechanism.bones)
    yield from ((joint, name) for joint in mechanism.joints for name in ("bone", "other"))
    yield from ((driver, "bone") for driver in mechanism.drivers)


def _follow_target(driver: Settings) -> bool:
    data = driver.target.data if driver.target is not None else None
    if not (driver.subtarget and _readable(data)):
        return False
    name, old = found_bone(data, driver.subtarget, driver.subtarget_place), driver.subtarget
    if name not in ("", old):
        driver.subtarget = name
    remember(driver.subtarget_place, data, driver.subtarget)
    return bool(driver.subtarget != old)


# --- The place of a bone -----------------------------------------------------


def remember(place: Settings, data: bpy.types.Armature, name: str, orders: BoneOrders | None = None) -> None:
    """Store the place of a bone, if there is one of that name. orders: as in `follow_renames`."""
    bone = data.bones.get(name)
    if bone is None:
        return
    index, count = _number(data, name, orders)
    now = {
        "head": tuple(bone.head_local),
        "tail": tuple(bone.tail_local),
        "parent": bone.parent.name if bone.parent else "",
        "index": index,
        "count": count,
    }
    for key, value in now.items():
        old = getattr(place, key)
        if (old if isinstance(value, (int, str)) else tuple(old)) != value:
            setattr(place, key, value)


def _number(data: bpy.types.Armature, name: str, orders: BoneOrders | None) -> tuple[int, int]:
    """Return a bone's number, and how many bones there are."""
    if orders is None:
        return data.bones.find(name), len(data.bones)
    if data not in orders:
        orders[data] = {each: number for number, each in enumerate(data.bones.keys())}
    return orders[data][name], len(orders[data])


def found_bone(data: bpy.types.Armature, name: str, place: Settings) -> str:
    """Return the name now of a bone that was called `name` and was in a place; "" where unknown."""
    bones = data.bones
    named = bones.get(name)
    if place.index < 0 or (named is not None and _stands(named, place)):
        return name if named is not None else ""
    if place.index < len(bones) == place.count and _stands(bones[place.index], place):
        return str(bones[place.index].name)  # also where two bones have swapped their names
    if named is not None:
        return name  # it was moved
    here = [bone for bone in bones if _stands(bone, place) and _has_parent(bone, place)]
    return str(here[0].name) if len(here) == 1 else ""


def _stands(bone: bpy.types.Bone, place: Settings) -> bool:
    near = _SAME_PLACE * max(bone.length, 1e-12)
    return bool(
        max(map(abs, bone.head_local - Vector(place.head))) <= near
        and max(map(abs, bone.tail_local - Vector(place.tail))) <= near
    )


def _has_parent(bone: bpy.types.Bone, place: Settings) -> bool:
    """Return whether a bone's parent may be the one it had; it may be renamed too."""
    if bone.parent is None or not place.parent:
        return (bone.parent is None) == (not place.parent)
    return bone.parent.name == place.parent or place.parent not in bone.id_data.bones


def _readable(data: bpy.types.ID | None) -> bool:
    """Return whether this is an armature that is not in Edit Mode."""
    return isinstance(data, bpy.types.Armature) and not data.is_editmode


# --- Armatures ---------------------------------------------------------------


def why_linked(armature: bpy.types.Object) -> str:
    """Return why an armature's chains and pose cannot be changed: it is linked; "" where they can."""
    if armature.is_editable:
        return ""
    return say(
        "'{armature}' is linked from another file; make a library override of it (Object > "
        "Library Override > Make)",
        armature=armature.name,
    )


def refuse_linked(armature: bpy.types.Object) -> None:
    """Raise IK2DError for an armature that is linked from another file."""
    if reason := why_linked(armature):
        raise IK2DError(reason)


# --- Names of chains ---------------------------------------------------------


def chain_named(armature: bpy.types.Object, name: str) -> Settings | None:
    """Return the settings of an armature's chain of that name; None for none.

    Blender's own look-up misses a chain that shows the default name and was never given one.
    """
    return next((chain for chain in armature.ik2d.chains if chain.name == name), None)


def needed_chain(armature: bpy.types.Object, name: str) -> Settings:
    """Return the settings of an armature's chain of that name; raise IK2DError for none."""
    chain = chain_named(armature, name)
    if chain is None:
        raise refusal(
            "'{armature}' has no chain '{name}'; its chains are: {known}",
            armature=armature.name,
            name=name,
            known=quoted(chain.name for chain in armature.ik2d.chains) or noted("none"),
        )
    return chain


def needed_mechanism(armature: bpy.types.Object, name: str) -> Settings:
    """Return the settings of an armature's mechanism of that name; raise IK2DError for none."""
    for mechanism in armature.ik2d.mechanisms:
        if mechanism.name == name:
            return mechanism
    raise refusal(
        "'{armature}' has no mechanism '{name}'; its mechanisms are: {known}",
        armature=armature.name,
        name=name,
        known=quoted(mechanism.name for mechanism in armature.ik2d.mechanisms) or noted("none"),
    )


def unique_name(name: str, taken: set[str], is_avoided: Callable[[str], bool] = lambda _: False) -> str:
    """Return `name`, or `name.001` and so on where it is taken: no number that makes an avoided name."""
    stem, dot, digits = name.rpartition(".")
    if not (dot and digits.isdigit()):
        stem = name
    number = 0
    while name in taken or (number and is_avoided(name)):
        number += 1
        name = f"{stem}.{number:03d}"
    return name


def free_name(chain: Settings) -> str:
    """Return the chain's name, or where another chain has it the next free one that is no bone's."""
    # Where no name was given Blender 5.2 has the default there, older ones "".
    armature, names = chain.id_data, chain.id_data.ik2d.chains.keys()
    names.remove(chain.name if chain.is_property_set("name") or "" not in names else "")
    taken = {*names, _DEFAULT_NAME} if "" in names else {*names}
    return unique_name(chain.name or _DEFAULT_NAME, taken, is_other_bone(armature, chain.tip))


def is_other_bone(armature: bpy.types.Object, tip: str) -> Callable[[str], bool]:
    """Return a function that says whether a name is that of an armature's bone, but not of the tip."""
    bones = armature.data.bones if armature.type == 'ARMATURE' else ()
    return lambda name: name != tip and name in bones


def _make_names_unique(chains: Sequence[Settings]) -> bool:
    """Number names that a chain further up has already; return whether any were changed."""
    seen, changed = set(), False
    for chain in chains:
        if chain.name in seen or not chain.name:
            chain.name, changed = free_name(chain), True
        seen.add(chain.name)
    for chain in chains:
        if not chain.is_property_set("name"):  # its default: Blender finds no item by that
            chain.name = chain.name
    return changed
