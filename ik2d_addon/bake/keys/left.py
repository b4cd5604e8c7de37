# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that bakes have keyed and that nothing turns any more: another length, tip or post of the chain.

Their baked keys stay, as another bake may go on from them, until the bake is cleared.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from bpy.types import Object, PropertyGroup

from ...rig.animation.bone_channels import BoneRotation
from ...rig.animation.remembered import put_back_on_error
from ...rig.chain.hands import posed_hands
from ...rig.chain.native_state import is_mechanism
from ...rig.chain.post import turned_bones_of


@contextmanager
def bakes_noted(
    armature: Object,
    chains: Mapping[str, Iterable[BoneRotation]],
    mechanisms: Mapping[str, Iterable[BoneRotation]],
) -> Iterator[None]:
    """Store which bones an armature's chains and mechanisms key, unless the code inside fails.

    chains, mechanisms: what is keyed, by their names. What others have keyed of it before is theirs no more.
    """
    settings = armature.ik2d
    own = [(settings.chains.get(name), keyed) for name, keyed in chains.items()]
    own += [(settings.mechanisms.get(name), keyed) for name, keyed in mechanisms.items()]
    bones = [(one, [channels.bone for channels in keyed]) for one, keyed in own if one is not None]
    taken = {bone for _, its in bones for bone in its}
    everyone = (*settings.chains, *settings.mechanisms)
    with put_back_on_error((one, "bones_baked") for one in everyone):
        for one in everyone:
            if one.bones_baked:
                _note(one, (bone for bone in _noted(one) if bone not in taken))
        for one, its in bones:
            _note(one, (*_noted(one), *its))
        yield


def bones_left(settings: PropertyGroup) -> list[str]:
    """Return the bones that bakes of a chain or mechanism have keyed, and that nothing turns any more.

    Not those renamed since.
    """
    armature = settings.id_data
    known = armature.data.bones
    names = [name for name in _noted(settings) if name in known]
    if not names or set(names) <= set(_turned(settings)):
        return []
    everyone = (*armature.ik2d.chains, *armature.ik2d.mechanisms)
    turned = {bone for one in everyone for bone in _turned(one)}
    return [name for name in names if name not in turned]


def _turned(settings: PropertyGroup) -> list[str]:
    """Return the bones that a chain or mechanism turns now."""
    if is_mechanism(settings):
        return list(settings.bones.keys())
    return [*turned_bones_of(settings), *posed_hands(settings)]


def _noted(settings: PropertyGroup) -> list[str]:
    return settings.bones_baked.split("\n") if settings.bones_baked else []


def _note(settings: PropertyGroup, bones: Iterable[str]) -> None:
    settings.bones_baked = "\n".join(dict.fromkeys(bones))
