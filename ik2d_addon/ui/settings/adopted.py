# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain stores of the IK that it took over."""

from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ..registration import registration

_OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}
_GROWING = {'LIBRARY_OVERRIDABLE', 'USE_INSERTION'}
_HIDDEN = {'HIDDEN'}
_OF_BONE = {"override": _OVERRIDABLE, "options": _HIDDEN}


class IK2D_PG_taken(PropertyGroup):
    """One IK constraint that was muted."""

    bone: StringProperty(name="Bone", description="Bone that has the constraint", **_OF_BONE)
    constraint: StringProperty(name="Constraint", description="Name of the constraint", **_OF_BONE)
    note: StringProperty(name="Note", description="What was muted, and how it was before", **_OF_BONE)


class IK2D_PG_kept_bone(PropertyGroup):
    """How a bone of the chain, or one that hangs on its tip, was before."""

    name: StringProperty(name="Name", description="Name of the bone", **_OF_BONE)
    hangs: BoolProperty(name="Hangs", description="Whether it hangs on the chain's tip", **_OF_BONE)
    rotation_mode: StringProperty(name="Rotation Mode", description="Its rotation mode", **_OF_BONE)
    rotation_quaternion: FloatVectorProperty(
        name="Quaternion", description="Its rotation as a quaternion", size=4, **_OF_BONE
    )
    rotation_euler: FloatVectorProperty(
        name="Euler", description="Its rotation as Euler angles", size=3, **_OF_BONE
    )
    rotation_axis_angle: FloatVectorProperty(
        name="Axis Angle", description="Its rotation as axis and angle", size=4, **_OF_BONE
    )
    location: FloatVectorProperty(name="Location", description="Its location", size=3, **_OF_BONE)
    scale: FloatVectorProperty(name="Scale", description="Its scale", size=3, **_OF_BONE)
    lock_rotation: BoolVectorProperty(
        name="Lock Rotation", description="Locks of its rotation", size=3, **_OF_BONE
    )
    lock_rotations_4d: BoolProperty(
        name="Lock Rotations", description="Whether each of four channels has a lock", **_OF_BONE
    )
    lock_scale: BoolVectorProperty(name="Lock Scale", description="Locks of its scale", size=3, **_OF_BONE)


class IK2D_PG_adopted(PropertyGroup):
    """The IK constraints that a chain stands for; none of a chain that was not adopted."""

    constraints: CollectionProperty(
        name="Constraints", type=IK2D_PG_taken, override=_GROWING, options=_HIDDEN
    )
    bones: CollectionProperty(name="Bones", type=IK2D_PG_kept_bone, override=_GROWING, options=_HIDDEN)
    made: BoolProperty(
        name="Made",
        description="Whether the chain was made of the constraints, and goes with them",
        **_OF_BONE,
    )
    path: StringProperty(name="Path", description="Path to the chain when it was made", **_OF_BONE)
    group: StringProperty(name="Group", description="Channel group that was made for it", **_OF_BONE)
    levels: StringProperty(name="Levels", description="What was made to hold its animation", **_OF_BONE)
    last_slot: StringProperty(name="Last Slot", description="Last slot before, by its name", **_OF_BONE)
    active_index: IntProperty(name="Active Index", description="Active chain before", **_OF_BONE)
    carried: StringProperty(name="Carried", description="What the chain took over, by lines", **_OF_BONE)
    lost: StringProperty(name="Lost", description="What it could not take over, by lines", **_OF_BONE)
    apart: StringProperty(
        name="Apart", description="How far its pose is from the one before, in words", **_OF_BONE
    )
    angle: FloatProperty(
        name="Angle", description="Furthest that a bone is turned from where it was", **_OF_BONE
    )
    tip: FloatProperty(name="Tip", description="Furthest that the tip is from where it was", **_OF_BONE)


def is_adopted(chain: PropertyGroup) -> bool:
    """Return whether a chain stands for IK constraints, which it has muted."""
    return len(chain.adopted.constraints) > 0


classes = (IK2D_PG_taken, IK2D_PG_kept_bone, IK2D_PG_adopted)
register, unregister = registration(classes)
