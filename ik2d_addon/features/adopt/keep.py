# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the IK constraints that a chain was adopted from, with its bones' settings, and restore them."""

from bpy.types import Constraint, PropertyGroup

from ...rig.chain.hands import REST, hanging_bones, posed_hands, unkeyed_bones
from ...rig.chain.renames import bones_of, straighten
from .animation import LEVELS, levels_of, take_away
from .muting import silence, unsilence

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
    """Mute a bone's constraint and note how to restore it; raise IK2DError as `silence` does."""
    note = silence(chain.id_data, constraint)
    taken = chain.adopted.constraints.add()
    taken.bone, taken.constraint, taken.note = bone, constraint.name, note


def keep_bones(chain: PropertyGroup) -> None:
    """Keep the settings and the pose of the chain's bones, root to tip, and of its hands."""
    bones = chain.id_data.pose.bones
    own = [bones[name] for name in bones_of(chain.id_data.data, chain.tip, chain.bone_count)]
    for bone in (*own, *hanging_bones(own[-1])):
        kept = chain.adopted.bones.add()
        kept.name, kept.hangs = bone.name, bone not in own
        for key in _KEPT:
            setattr(kept, key, getattr(bone, key))


def keep_animation(chain: PropertyGroup, before: set[str], groups: set[str], last_slot: str) -> None:
    """Note what was made to hold the chain's animation; the arguments are as they were before."""
    adopted = chain.adopted
    made = levels_of(chain.id_data) - before
    adopted.levels = " ".join(level for level in LEVELS if level in made)
    adopted.group = "" if chain.name in groups else chain.name
    adopted.last_slot = last_slot


# --- Giving back -------------------------------------------------------------


def give_back(chain: PropertyGroup) -> list[str]:
    """Restore the constraints and the bones of an adopted chain, and remove the channels that it made.

    Returns a sentence for each thing that is gone. The chain itself stays, and no longer counts as adopted.
    """
    armature, adopted = chain.id_data, chain.adopted
    straighten(armature)
    gone = []
    for taken in adopted.constraints:
        found = _found(chain, taken)
        if found is None:
            gone.append(
                f"The IK constraint '{taken.constraint}' of bone '{taken.bone}' is gone: there is nothing to"
                " unmute"
            )
        else:
            gone += unsilence(armature, found, taken.note)
    gone += _give_back_bones(chain)
    if adopted.made:
        others = {other.path_from_id() for other in armature.ik2d.chains if other != chain}
        for path in dict.fromkeys((chain.path_from_id(), adopted.path)):
            if path == chain.path_from_id() or path not in others:
                take_away(armature, f"{path}.", adopted.group, adopted.levels.split(), adopted.last_slot)
    chain.property_unset("adopted")
    armature.update_tag()
    return gone


def _found(chain: PropertyGroup, taken: PropertyGroup) -> Constraint | None:
    """Return the muted constraint of the bone it was on, or of a renamed bone of the limb; None if gone."""
    bones = chain.id_data.pose.bones
    names = [taken.bone]
    if taken.bone not in bones:
        own = bones_of(chain.id_data.data, chain.tip, chain.bone_count)
        below = [child.name for name in own[-1:] for child in bones[name].children_recursive]
        names = [*reversed(own), *below]
    for name in names:
        bone = bones.get(name)
        constraint = bone.constraints.get(taken.constraint) if bone is not None else None
        if constraint is not None and constraint.type == 'IK':
            return constraint
    return None


def _give_back_bones(chain: PropertyGroup) -> list[str]:
    bones, kept = chain.id_data.pose.bones, [each for each in chain.adopted.bones if not each.hangs]
    now = [joint.name for joint in chain.joints]
    gone = []
    for i, each in enumerate(kept):
        bone = bones.get(each.name)
        if bone is None and len(now) == len(kept):  # joints follow bones that are renamed
            bone = bones.get(now[i])
        if bone is None:
            gone.append(f"Bone '{each.name}' is gone: its locks and its pose stay as they are")
            continue
        for key in _KEPT:
            setattr(bone, key, getattr(each, key))
    if chain.adopted.made:
        _give_back_hands(chain)
    return gone


def _give_back_hands(chain: PropertyGroup) -> None:
    """Restore the pose of the hands that the chain has turned, unless they have keys."""
    kept = {each.name: each for each in chain.adopted.bones if each.hangs}
    for bone in unkeyed_bones(chain.id_data, [name for name in posed_hands(chain) if name in kept]):
        for key in REST:
            setattr(bone, key, getattr(kept[bone.name], key))
