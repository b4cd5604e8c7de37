# SPDX-License-Identifier: GPL-3.0-or-later
"""How chains were before Plant Feet: its keys, and the settings and poles that it has changed."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import bpy
from bpy.types import Object, PropertyGroup

from ...bake.keys.baked import baked_keys, on_bones
from ...bake.keys.clearing import bones_of_chain, live_again
from ...bake.keys.clearing import channels_of as of_chain
from ...rig.animation.kept.giving_back import Wanted, give_back, has_keys
from ...rig.animation.kept.marks import PLANTED, Marks
from ...rig.animation.times import action_ends
from ...rig.animation.versions import existing_channels, holders_of, place_of
from ...rig.chain.paths.owners import Claim, Owners, with_settings
from ...rig.chain.paths.uses import is_used

# Settings of a chain that planting may change, besides those of its foot.
SETTINGS = ("softness", "bend", "turn_over", "plane", "pole_angle")
# In the custom properties of a pole that was made here.
_POLE = "ik2d_planted"


def channels_of(chain: PropertyGroup) -> dict[Object, Wanted]:
    """Return the objects whose keys planting a chain writes, each with its channels.

    Without a target that another planted armature follows too: a copy of it, whose keys these are.
    """
    armature = chain.id_data
    return {
        owner: wanted
        for owner, wanted in of_chain(chain).items()
        if owner == armature or not _is_of_another(owner, armature)
    }


def _is_of_another(ob: Object, armature: Object) -> bool:
    """Return whether another armature follows an object, or a bone of it, and is planted."""
    return any(
        ob in (chain.target, chain.pole) and has_keys(other, on_bones(other, bones_of_chain(chain)), PLANTED)
        for other in with_settings(bpy.data.objects)
        if other not in (armature, ob)
        for chain in other.ik2d.chains
    )


def shared_targets(chain: PropertyGroup) -> list[str]:
    """Return the names of a chain's targets whose keys are those of another planted armature."""
    followed = dict.fromkeys(ob for ob in (chain.target, chain.pole) if ob is not None)
    return [ob.name for ob in followed if _is_of_another(ob, chain.id_data)]


def is_planted(chain: PropertyGroup) -> bool:
    """Return whether a chain has keys of Plant Feet or Find Contacts in the actions that play now."""
    if len(chain.planted.channels):
        return True
    return any(has_keys(owner, wanted, PLANTED) for owner, wanted in channels_of(chain).items())


def has_planted_motion(chain: PropertyGroup) -> bool:
    """Return whether a chain has keys of Plant Feet in the actions that play now, other than contacts."""
    owners = channels_of(chain).items()
    return any(has_keys(owner, _without_contacts(wanted), PLANTED) for owner, wanted in owners)


def planted_elsewhere(chain: PropertyGroup) -> list[str]:
    """Return the names of other actions of the armature in which the chain has keys of Plant Feet."""
    armature = chain.id_data
    owners, wanted = Owners(armature), channels_of(chain)[armature]
    playing = existing_channels(armature)
    return [
        action.name
        for action in bpy.data.actions
        if action.is_property_set("ik2d")
        for holder, slot in holders_of(action)
        if (playing is None or place_of(holder) != place_of(playing))
        and owners.claim(holder, slot) in (Claim.OWN, Claim.SHARED)
        and any(
            wanted(curve.data_path, curve.array_index) and Marks.on(curve).of_purposes(PLANTED).any()
            for curve in holder.fcurves
        )
    ]


def give_keys_back(
    chain: PropertyGroup, scene: bpy.types.Scene, frames: Sequence[int] | None = None, contacts: bool = True
) -> Iterator[str]:
    """Give back the keys that planting a chain has replaced; yield a sentence for those that stay away.

    frames: the first and last count; None for all. contacts: whether those come back too.
    """
    for owner, wanted in channels_of(chain).items():
        if not contacts:
            wanted = _without_contacts(wanted)
        first, last = (None, None) if frames is None else (frames[0], frames[-1])
        yield from give_back(owner, wanted, PLANTED, *action_ends(owner, scene, first, last)).lost


def _without_contacts(wanted: Wanted) -> Wanted:
    return lambda path, index: ".foot.contact" not in path and wanted(path, index)


def follow_as_before(chain: PropertyGroup) -> None:
    """Turn Live on again, where the bake of a planting has turned it off and none of its keys are left."""
    if not baked_keys(chain.id_data, bones_of_chain(chain)):
        live_again(chain)


# --- Settings ----------------------------------------------------------------


def settings_of(chain: PropertyGroup) -> dict[str, str]:
    """Return the settings that planting may change, as texts."""
    return {name: str(getattr(chain, name)) for name in SETTINGS}


def note_settings(chain: PropertyGroup, before: dict[str, str]) -> None:
    """Store which settings planting has changed, from what; a chain that was planted keeps its first note."""
    notes = chain.planted.settings
    for name, after in settings_of(chain).items():
        note = notes.get(name)
        if note is None and before[name] != after:
            note = notes.add()
            note.name, note.before = name, before[name]
        if note is not None:
            note.after = after


def settings_back(chain: PropertyGroup) -> None:
    """Give a chain the settings that planting has changed, unless somebody else has changed them since."""
    now = settings_of(chain)
    for note in chain.planted.settings:
        value = _value_of(chain, note.name, note.before) if note.name in SETTINGS else None
        if value is not None and now[note.name] == note.after:
            setattr(chain, note.name, value)


def _value_of(chain: PropertyGroup, name: str, text: str) -> Any:
    """Return the value of a setting that a text holds; None for none that it can have."""
    rule = chain.bl_rna.properties[name]
    if rule.type == 'ENUM':
        return text if text in rule.enum_items else None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and rule.hard_min <= number <= rule.hard_max else None


# --- Poles -------------------------------------------------------------------


def mark_pole(chain: PropertyGroup, pole: Object) -> None:
    """Note that a pole was made for a chain that is planted."""
    pole[_POLE] = True
    chain.planted.pole = pole


def drop_pole(chain: PropertyGroup) -> None:
    """Have a chain no longer follow the pole that was made for it, and remove that unless it has another use.

    One with keys that somebody has made stays too.
    """
    pole = chain.planted.pole
    chain.planted.pole = None
    if pole is None or pole.type != 'EMPTY' or not (pole.get(_POLE) or _is_pole_of_1_0(chain, pole)):
        return
    if chain.pole == pole:
        chain.pole = None
    holder = existing_channels(pole)
    if is_used(pole) or (holder is not None and len(holder.fcurves)):
        return
    action = holder.id_data if holder is not None else None
    bpy.data.objects.remove(pole)
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)


def _is_pole_of_1_0(chain: PropertyGroup, pole: Object) -> bool:
    """Return whether a pole is named as those that 1.0.0 made, which have no mark."""
    return bool(chain.pole == pole and chain.tip in pole.name and "Pole" in pole.name)
