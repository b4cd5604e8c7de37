# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of a chain, kept the same as its bones."""

from ...core import IK2DError
from ...rig.chain.checks.bones import chain_bones
from ...rig.chain.paths.baked import baked_bones
from ...rig.chain.paths.follow import follow_joints_list, follow_list
from ...rig.chain.renames import follow_joints
from .joint import IK2D_PG_joint, IK2D_PG_place

PLACE = tuple(IK2D_PG_place.__annotations__)
JOINT_SETTINGS = tuple(name for name in IK2D_PG_joint.__annotations__ if name not in ("name", "place"))


def joints_wanted(chain) -> list[str]:
    """Return the names of the chain's bones, root to tip; [] if it has no such bones."""
    armature = chain.id_data
    if armature.pose is None:  # an armature that no scene has shown yet
        return []
    try:
        return [bone.name for bone in chain_bones(armature, chain.tip, chain.bone_count)]
    except IK2DError:
        return []


def joints_missing(chain) -> list[str]:
    """Return the chain's bones that have no joint, as after the rig was edited."""
    return [name for name in joints_wanted(chain) if name not in chain.joints]


def sync_joints(chain) -> None:
    """Give the chain one joint for each of its bones, root to tip; a bone that stays keeps its settings.

    Runs by itself when the tip or the number of bones changes. Settings of bones that leave the chain are
    kept in `chain.dormant`, which also has bones that a bake has keyed. A chain with no such bones keeps all
    joints, so that a typing error loses none; so does a chain from a linked library.
    """
    follow_list(chain.id_data)
    follow_joints(chain)
    wanted = joints_wanted(chain)
    if not wanted or wanted == [joint.name for joint in chain.joints]:
        return
    before = chain.joints.keys()
    kept = {joint.name: _kept(joint) for joint in [*chain.dormant, *chain.joints]}
    chain.joints.clear()  # not those of a library, which an override cannot remove
    for name in joints_missing(chain):
        _add_joint(chain.joints, name, kept.get(name, {}))
    chain.dormant.clear()
    baked = baked_bones(chain)
    for name, values in kept.items():
        if (values or name in baked) and name not in chain.joints and name not in chain.dormant:
            _add_joint(chain.dormant, name, values)
    follow_joints_list(chain, before)
    follow_joints(chain)


def _kept(joint) -> dict:
    """Return the values of a joint's settings; {} if none is set."""
    if not any(joint.is_property_set(key) for key in JOINT_SETTINGS):
        return {}
    values = {key: getattr(joint, key) for key in JOINT_SETTINGS}
    for key in ("slid", "slide_base"):
        values[key] = tuple(values[key])  # a copy: the joint goes
    place = {key: getattr(joint.place, key) for key in PLACE}
    for key in ("head", "tail"):
        place[key] = tuple(place[key])
    return {**values, "place": place}


def _add_joint(joints, name: str, values: dict) -> None:
    joint = joints.add()
    joint.name = name
    for key in JOINT_SETTINGS:
        if key in values:
            setattr(joint, key, values[key])
    for key, value in values.get("place", {}).items():
        setattr(joint.place, key, value)


# --- The joint whose settings are shown --------------------------------------


def joint_shown(chain) -> int:
    """Return the index of the joint whose settings are shown: in Pose Mode the active bone's."""
    armature = chain.id_data
    active = armature.data.bones.active if armature.mode == 'POSE' else None
    place = chain.joints.find(active.name) if active is not None else -1
    return int(chain.active_joint) if place < 0 else place


def show_joint(chain, index: int) -> None:
    """Show the settings of another joint; in Pose Mode its bone becomes the active one."""
    chain.active_joint = index
    armature = chain.id_data
    if armature.mode == 'POSE' and 0 <= index < len(chain.joints):
        bone = armature.data.bones.get(chain.joints[index].name)
        if bone is not None:
            armature.data.bones.active = bone
