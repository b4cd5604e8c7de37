# SPDX-License-Identifier: GPL-3.0-or-later
"""Key a chain's target, its pole and its foot where they are now."""

from collections.abc import Iterator

from bpy.types import Object, PropertyGroup, Scene

from ...core.words import refusal
from ...rig.animation.bone_channels import locked_channels, rotation_property
from ...rig.chain.dependencies import acting
from ...rig.chain.fingerprint import followed_by
from ...rig.chain.native_state import controls_of
from ...ui.auto_keying import Moved, key_now

# The numbers of a foot that are posed; the others describe it.
_FOOT = ("roll", "toe")


def key_target(scene: Scene, chain: PropertyGroup) -> list[str]:
    """Key what a chain follows on the current frame, as posed: target, pole and foot; return their names.

    Of a blend of several it is the one that acts. The target's rotation too where the chain follows that.
    Locked channels are left out. Raises IK2DError, with no key set, for a chain without a target, and for
    one that cannot take keys.
    """
    if chain.target is None:
        raise refusal("Chain '{chain}' has no target to key; choose one", chain=chain.name)
    moved, names = [], []
    for place, (ob, bone) in enumerate(followed_by(chain, with_ground=False)):
        if ob is None:
            continue
        ob, bone = acting((ob, bone))[0]
        channels = list(_channels(ob, bone, turns=place == 0 and _follows_rotation(chain)))
        names.append(bone or ob.name)
        moved += channels
    if chain.foot.is_added:
        moved += _foot(chain)
    key_now(scene, moved)
    return names


def _follows_rotation(chain: PropertyGroup) -> bool:
    return chain.foot.is_added or 'TARGET' in (chain.hand_rotation, chain.tip_rotation)


def _channels(ob: Object, bone: str, turns: bool) -> Iterator[Moved]:
    """Yield the location, and with `turns` the rotation, of an object or a bone, without locked channels."""
    holder = ob
    if bone:
        holder = ob.pose.bones.get(bone) if ob.pose is not None else None
        if holder is None:
            raise refusal("'{object}' has no bone '{bone}'; choose another target", object=ob.name, bone=bone)
    free = [index for index, locked in enumerate(holder.lock_location) if not locked]
    if bone and holder.parent is not None and holder.bone.use_connect:
        free = []
    rotation = rotation_property(holder.rotation_mode)
    locks = locked_channels(holder)
    unlocked = [index for index in range(len(getattr(holder, rotation))) if not locks[index]] if turns else []
    if not free and not unlocked:
        raise refusal("All channels of '{name}' are locked; unlock one to key it", name=holder.name)
    if free:
        yield Moved(holder, "location", free, is_target=True)
    if unlocked:
        yield Moved(holder, rotation, unlocked, is_target=True)


def _foot(chain: PropertyGroup) -> Iterator[Moved]:
    """Yield the numbers of a chain's foot, of a chain on drivers those of its controls."""
    controls = controls_of(chain)
    for name in _FOOT:
        if controls is None:
            yield Moved(chain.foot, name)
        elif name in controls:
            yield Moved(controls, f'["{name}"]')
