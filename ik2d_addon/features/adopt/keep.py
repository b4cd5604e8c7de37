# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain keeps of the IK constraints that it stands for, and giving these back."""

from bpy.types import Constraint, PoseBone, PropertyGroup

from ...rig.chain.hands import REST, hanging_bones, posed_hands, unkeyed_bones
from ...rig.chain.renames import bones_of, straighten
from .animation import LEVELS, levels_of, take_away
from .muting import silence, unsilence

# What a bone is given back: its rotation mode first, since setting that converts the rest.
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


def take(chain: PropertyGroup, bone: PoseBone, constraint: Constraint) -> None:
    """Mute a constraint and keep what gives it back; raise IK2DError as `silence` does."""
    note = silence(bone.id_data, constraint)
    taken = chain.adopted.constraints.add()
    taken.bone, taken.constraint, taken.note = bone.name, constraint.name, note


def keep_bones(chain: PropertyGroup) -> None:
    """Keep how the chain's bones are, root to tip, and those that it may turn on its tip."""
    bones = chain.id_data.pose.bones
    own = [bones[name] for name in bones_of(chain.id_data.data, chain.tip, chain.bone_count)]
    for bone in (*own, *hanging_bones(own[-1])):
        kept = chain.adopted.bones.add()
        kept.name, kept.hangs = bone.name, bone not in own
        for key in _KEPT:
            setattr(kept, key, getattr(bone, key))


def keep_animation(chain: PropertyGroup, before: set[str], groups: set[str], last_slot: str) -> None:
    """Note what was made to hold the chain's animation.

    before: the levels that were there. groups: the channel groups. last_slot: of the animation data.
    """
    adopted = chain.adopted
    made = levels_of(chain.id_data) - before
    adopted.levels = " ".join(level for level in LEVELS if level in made)
    adopted.group = "" if chain.name in groups else chain.name
    adopted.last_slot = last_slot


# --- Giving back -------------------------------------------------------------


def give_back(chain: PropertyGroup) -> list[str]:
    """Give back the constraints that a chain stands for, its bones' settings, and the channels it made.

    Returns a sentence for each thing that is gone. The chain itself stays, and was not adopted then.
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
        for path in dict.fromkeys((chain.path_from_id(), adopted.path)):
            if path == chain.path_from_id() or not _is_path_of_another(chain, path):
                take_away(armature, f"{path}.", adopted.group, adopted.levels.split(), adopted.last_slot)
    chain.property_unset("adopted")
    armature.update_tag()
    return gone


def _is_path_of_another(chain: PropertyGroup, path: str) -> bool:
    others = (other for other in chain.id_data.ik2d.chains if other != chain)
    return any(other.path_from_id() == path for other in others)


def _found(chain: PropertyGroup, taken: PropertyGroup) -> Constraint | None:
    """Return the constraint that was taken: of the bone of its name, or of one of the limb renamed since."""
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
    """Turn back what the chain has turned on its tip; what has keys stays with these."""
    kept = {each.name: each for each in chain.adopted.bones if each.hangs}
    for bone in unkeyed_bones(chain.id_data, [name for name in posed_hands(chain) if name in kept]):
        for key in REST:
            setattr(bone, key, getattr(kept[bone.name], key))
