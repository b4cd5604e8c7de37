# SPDX-License-Identifier: GPL-3.0-or-later
"""The counterpart of a mechanism on the other side of the rig."""

from dataclasses import dataclass
from typing import Any

from bpy.types import Object
from bpy.utils import flip_name

from ...core.words import refusal
from ...rig.chain.renames import refuse_linked, straighten
from ...ui.settings.counterparts import bone_on_other_side, target_on_other_side
from .editing import add_mechanism, drive, take_in
from .making import all_or_nothing, refuse_taken

_SETTINGS = ("dead", "way", "softness", "open_between", "enabled", "live")
_JOINT = ("kind", "bone", "end", "other", "ratio", "stroke")


def mirror_mechanism(mechanism: Any) -> Any:
    """Return the mirrored mechanism, new or updated; Blender's names for sides (.L, .R) pair the bones.

    It gets the mechanism's settings and joints, and is driven by the counterparts of its bones and targets:
    existing ones, else new empties in the mirrored places. Where bones name no side, as a crank that moves
    both, the counterparts of the others are taken into the mechanism itself. Joints and drivers that are
    there already stay. Raises IK2DError, with nothing changed, for bones without counterparts, and for those
    of another mechanism.
    """
    armature = mechanism.id_data
    refuse_linked(armature)
    straighten(armature)
    side = _Side.mirrored(mechanism)
    place = [one.name for one in armature.ik2d.mechanisms].index(mechanism.name)
    other = mechanism if side.has_centre else _with_bones(armature, side.bones)
    refuse_taken(armature, list(side.bones), other)
    with all_or_nothing(armature, other):
        if side.has_centre:
            take_in(other, list(side.bones))
        elif other is None:
            other = add_mechanism(armature, list(side.bones), flip_name(mechanism.name))
        side.give(other)
    if not side.has_centre:
        for key, value in side.settings.items():
            setattr(other, key, value)
    straighten(armature)
    return armature.ik2d.mechanisms[place] if side.has_centre else other


def _with_bones(armature: Object, bones: dict[str, bool]) -> Any:
    """Return the mechanism of exactly some bones; None without one."""
    return next((one for one in armature.ik2d.mechanisms if set(one.bones.keys()) == set(bones)), None)


@dataclass(frozen=True, eq=False)
class _Side:
    """The parts of a mechanism that name a side, as they are on the other: plain values, as lists move."""

    bones: dict[str, bool]  # with their Other Side
    joints: list[dict[str, Any]]
    drivers: list[tuple[str, Object | None, str, float]]  # bone, target, its bone, length of a ram
    settings: dict[str, Any]
    has_centre: bool  # whether the mechanism has bones that name no side

    @classmethod
    def mirrored(cls, mechanism: Any) -> "_Side":
        """Return the other side of a mechanism; raise IK2DError for one that has none, or has both."""
        armature, known = mechanism.id_data, mechanism.id_data.data.bones
        sided = [bone for bone in mechanism.bones if flip_name(bone.name) != bone.name]
        chosen = sided or mechanism.bones[:1]  # one that names no side is refused
        bones = {bone_on_other_side(armature, bone.name): bone.other_side for bone in chosen}
        if all(bone in mechanism.bones for bone in bones):
            raise refusal("Mechanism '{name}' has both sides already", name=mechanism.name)
        joints = [{key: _plain(getattr(joint, key)) for key in _JOINT} for joint in mechanism.joints]
        for joint in joints:
            for key in ("bone", "other"):
                flipped = flip_name(joint[key])
                joint[key] = flipped if flipped in known else joint[key]
        return cls(
            bones,
            [joint for joint in joints if joint["bone"] in bones or joint["other"] in bones],
            [
                (flip_name(one.bone), one.target, one.subtarget, one.length)
                for one in mechanism.drivers
                if flip_name(one.bone) in bones
            ],
            {key: getattr(mechanism, key) for key in _SETTINGS},
            len(sided) < len(mechanism.bones),
        )

    def give(self, mechanism: Any) -> None:
        """Give a mechanism of the other side's bones their joints and drivers, where it has not got them."""
        for bone in mechanism.bones:
            bone.other_side = self.bones.get(bone.name, bone.other_side)
        there = {_ends(joint) for joint in mechanism.joints}
        for joint in self.joints:
            if (joint["kind"], joint["bone"], joint["end"], joint["other"]) not in there:
                made = mechanism.joints.add()
                for key, value in joint.items():
                    setattr(made, key, value)
        driving = {one.bone for one in mechanism.drivers}
        for bone, target, subtarget, length in self.drivers:
            if bone not in driving:
                goal = target_on_other_side(mechanism.id_data, target, subtarget, bone)
                drive(mechanism, bone, *goal).length = length


def _ends(joint: Any) -> tuple[str, str, str, str]:
    return joint.kind, joint.bone, joint.end, joint.other


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, float)) else tuple(value)
