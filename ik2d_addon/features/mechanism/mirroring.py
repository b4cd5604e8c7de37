# SPDX-License-Identifier: GPL-3.0-or-later
"""The counterpart of a mechanism on the other side of the rig."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from bpy.types import Object
from bpy.utils import flip_name

from ...core.words import refusal
from ...rig.chain.renames import refuse_linked, straighten
from ...ui.settings.counterparts import bone_on_other_side, target_on_other_side
from .editing import add_mechanism, drive, ram_of, take_in, with_carriers
from .making import all_or_nothing, refuse_taken

_SETTINGS = ("dead", "way", "softness", "open_between")
_JOINT = ("kind", "bone", "end", "other", "ratio", "stroke")


def mirror_mechanism(mechanism: Any) -> Any:
    """Return the mirrored mechanism, new or updated; Blender's names for sides (.L, .R) pair the bones.

    It gets the mechanism's joints, its settings, and drivers of the counterparts of its bones and targets:
    existing ones, else new empties in the mirrored places. Drivers that it has stay alone. Where bones name
    no side, as a crank that moves both, or are of both sides already, the counterparts of the others go into
    the mechanism itself, with what they lack. Raises IK2DError, with nothing changed, for bones without
    counterparts or on other parents than these, and for those of another mechanism.
    """
    armature = mechanism.id_data
    refuse_linked(armature)
    straighten(armature)
    side = _Side.mirrored(mechanism)
    place = [one.name for one in armature.ik2d.mechanisms].index(mechanism.name)
    bones = with_carriers(armature, list(side.bones))
    other = mechanism if side.is_own else _with_bones(armature, bones)
    refuse_taken(armature, bones, other)
    with all_or_nothing(armature, other):
        new = take_in(other, bones) if side.is_own else bones
        if other is None:
            enabled, live = mechanism.enabled, mechanism.live
            other = add_mechanism(armature, bones, flip_name(mechanism.name))
            other.enabled, other.live = enabled, live
        side.give(other, new)
    straighten(armature)
    return armature.ik2d.mechanisms[place] if side.is_own else other


def _with_bones(armature: Object, bones: Sequence[str]) -> Any:
    """Return the mechanism of exactly some bones; None without one."""
    return next((one for one in armature.ik2d.mechanisms if set(one.bones.keys()) == set(bones)), None)


@dataclass(frozen=True, eq=False)
class _Side:
    """The parts of a mechanism that name a side, as they are on the other: plain values, as lists move."""

    bones: dict[str, bool]  # with their Other Side
    joints: list[dict[str, Any]]
    drivers: list[tuple[str, str, Object | None, str, float]]  # kind, bone, target, its bone, length of a ram
    settings: dict[str, Any]
    is_own: bool  # whether it goes into the mechanism itself, which has bones without a side, or of both

    @classmethod
    def mirrored(cls, mechanism: Any) -> "_Side":
        """Return the other side of a mechanism; raise IK2DError for one that has none, or has both."""
        armature, known = mechanism.id_data, mechanism.id_data.data.bones
        sided = [bone for bone in mechanism.bones if flip_name(bone.name) != bone.name]
        missing = [bone for bone in sided if flip_name(bone.name) not in mechanism.bones]
        if sided and not missing or not mechanism.bones:
            raise refusal("Mechanism '{name}' has both sides already", name=mechanism.name)
        chosen = missing or mechanism.bones[:1]  # one that names no side is refused
        bones = {bone_on_other_side(armature, bone.name): bone.other_side for bone in chosen}
        for bone in chosen:
            _refuse_other_parent(mechanism, bone.name)
        joints = [{key: _plain(getattr(joint, key)) for key in _JOINT} for joint in mechanism.joints]
        for joint in joints:
            for key in ("bone", "other"):
                flipped = flip_name(joint[key])
                joint[key] = flipped if flipped in known else joint[key]
        return cls(
            bones,
            [joint for joint in joints if joint["bone"] in bones or joint["other"] in bones],
            [
                (one.kind, flip_name(one.bone), one.target, one.subtarget, one.length)
                for one in mechanism.drivers
                if flip_name(one.bone) in bones
            ],
            {key: getattr(mechanism, key) for key in _SETTINGS},
            len(missing) < len(mechanism.bones),
        )

    def give(self, mechanism: Any, new: Collection[str]) -> None:
        """Give a mechanism of the other side's bones their joints and drivers. new: bones to be set up."""
        if not self.is_own:
            if mechanism.id_data.override_library is None:  # an override cannot remove those of its library
                mechanism.joints.clear()
            for key, value in self.settings.items():
                setattr(mechanism, key, value)
        there = {_pair(joint.kind, joint.bone, joint.other) for joint in mechanism.joints}
        for joint in self.joints:
            if _pair(joint["kind"], joint["bone"], joint["other"]) not in there:
                made = mechanism.joints.add()
                for key, value in joint.items():
                    setattr(made, key, value)
        for bone in mechanism.bones:
            if bone.name in new:
                bone.other_side = self.bones.get(bone.name, bone.other_side)
        drivers = self.drivers if self.is_own or not mechanism.drivers else []
        for kind, bone, target, subtarget, length in drivers:
            if not any(bone in _driving(mechanism, one) for one in mechanism.drivers):
                goal = target_on_other_side(mechanism.id_data, target, subtarget, bone)
                made = drive(mechanism, bone, *goal)
                made.kind, made.length = kind, length


def _refuse_other_parent(mechanism: Any, bone: str) -> None:
    """Raise IK2DError for a bone whose counterpart has not the counterpart of its parent in the mechanism."""
    known, names, other = mechanism.id_data.data.bones, mechanism.bones, flip_name(bone)
    parents = [known[name].parent for name in (bone, other)]
    own, its = (parent.name if parent is not None else "" for parent in parents)
    own = flip_name(own) if own in names else ""
    its = its if its in names or flip_name(its) in names else ""
    if own != its:
        raise refusal(
            "Bone '{other}' has not the parent that '{bone}' has on its side; make the bones of one side of"
            " the other with Symmetrize, in Edit Mode",
            other=other,
            bone=bone,
        )


def _driving(mechanism: Any, driver: Any) -> tuple[str, ...]:
    """Return the names of a driver's bones: one, or a ram's barrel and rod."""
    ram = ram_of(mechanism, driver.bone)
    return (driver.bone,) if ram is None else (ram.bone, ram.other)


def _pair(kind: str, bone: str, other: str) -> tuple[str, frozenset[str]]:
    """Return a joint's kind with its bones in no order: a pin of a on b is one of b on a."""
    return kind, frozenset((bone, other))


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, float)) else tuple(value)
