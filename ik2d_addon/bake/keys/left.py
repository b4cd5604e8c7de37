# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that bakes have keyed and that nothing turns any more: another length, tip or post of the chain.

Their baked keys stay, as another bake may go on from them, until the bake is cleared.
"""

from collections.abc import Iterable, Mapping

from bpy.types import Object, PropertyGroup

from ...core.words import listed, say
from ...rig.animation.bone_channels import BoneRotation
from ...rig.chain.hands import posed_hands
from ...rig.chain.native_state import is_mechanism
from ...rig.chain.paths.baked import baked_bones, set_baked_bones
from ...rig.chain.post import turned_bones_of
from .baked import baked_keys


def note_baked(
    armature: Object,
    chains: Mapping[str, Iterable[BoneRotation]],
    mechanisms: Mapping[str, Iterable[BoneRotation]],
) -> None:
    """Store the bones that an armature's chains and mechanisms have keyed; these: names with rotations."""
    settings = armature.ik2d
    own = [(settings.chains.get(name), keyed) for name, keyed in chains.items()]
    own += [(settings.mechanisms.get(name), keyed) for name, keyed in mechanisms.items()]
    for one, keyed in own:
        if one is not None:
            set_baked_bones(one, (*baked_bones(one), *(channels.bone for channels in keyed)))


def bones_left(settings: PropertyGroup) -> list[str]:
    """Return the bones that bakes of a chain or mechanism have keyed, and that nothing turns any more."""
    armature = settings.id_data
    known = armature.data.bones
    names = [name for name in baked_bones(settings) if name in known]
    if not names or set(names) <= set(_turned(settings)):
        return []
    everyone = (*armature.ik2d.chains, *armature.ik2d.mechanisms)
    turned = {bone for one in everyone for bone in _turned(one)}
    return [name for name in names if name not in turned]


def told_left(armature: Object, chains: Iterable[str], mechanisms: Iterable[str]) -> list[str]:
    """Return a sentence for each chain and mechanism, by their names, that has left bones with baked keys."""
    settings = armature.ik2d
    asked = [settings.chains.get(name) for name in chains]
    asked += [settings.mechanisms.get(name) for name in mechanisms]
    left = {one.name: _with_keys(armature, bones_left(one)) for one in asked if one is not None}
    return [
        say(
            "'{name}': keys of an earlier bake stay on {bones}, which it does not turn any more; Clear Bake"
            " takes these, too",
            name=name,
            bones=listed(bones),
        )
        for name, bones in left.items()
        if bones
    ]


def leave_keys(settings: PropertyGroup) -> None:
    """Have baked keys of a chain or mechanism that is removed stay, whoever else has baked its bones."""
    armature = settings.id_data
    kept = set(_with_keys(armature, _turned(settings)))
    for one in (*armature.ik2d.chains, *armature.ik2d.mechanisms):
        if one != settings and kept.intersection(baked_bones(one)):
            set_baked_bones(one, (bone for bone in baked_bones(one) if bone not in kept))


def _with_keys(armature: Object, bones: Iterable[str]) -> list[str]:
    return [bone for bone in bones if baked_keys(armature, [bone])]


def _turned(settings: PropertyGroup) -> list[str]:
    """Return the bones that a chain or mechanism turns now."""
    if is_mechanism(settings):
        return list(settings.bones.keys())
    return [*turned_bones_of(settings), *posed_hands(settings)]
