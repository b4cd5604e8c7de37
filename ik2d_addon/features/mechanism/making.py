# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms made of bones as a click does it: with joints and drivers proposed, all of it or nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bpy.types import Object

from ...core import IK2DError
from ...core.words import listed, number_of, refusal, say
from ...ui.context import active_mechanism
from ...ui.preferences import is_live_at_once
from .editing import add_mechanism, take_in, with_carriers
from .proposals import may_drive, propose_drivers, propose_joints, without_frame
from .selection import mechanism_with
from .words import NAMED, one_of


@contextmanager
def all_or_nothing(armature: Object, mechanism: Any = None) -> Iterator[None]:
    """Take away again, where an error comes, what was added to a mechanism; a new one as a whole."""
    count = len(armature.ik2d.mechanisms)
    lists = () if mechanism is None else (mechanism.bones, mechanism.joints, mechanism.drivers)
    counts = [len(items) for items in lists]
    try:
        yield
    except IK2DError:
        for items, before in zip(lists, counts, strict=True):
            while len(items) > before:
                items.remove(len(items) - 1)
        while len(armature.ik2d.mechanisms) > count:
            armature.ik2d.mechanisms.remove(len(armature.ik2d.mechanisms) - 1)
        raise


def make_mechanism(armature: Object, bones: Sequence[str]) -> str:
    """Make a mechanism of bones with the joints and drivers that they suggest; return in words what it is.

    It has the name of the active bone, if that is one of its bones, else that of the first.
    """
    active = armature.data.bones.active
    with all_or_nothing(armature):
        names = without_frame(armature, with_carriers(armature, bones))
        refuse_taken(armature, names)
        named = active is not None and active.name in names
        mechanism = add_mechanism(armature, names, active.name if named else "")
        joints = propose_joints(mechanism)
        propose_drivers(mechanism, set(names) - set(bones))
    activate(mechanism)
    mechanism.live = is_live_at_once()
    pins = sum(joint.kind == 'PIN' for joint in joints)
    counts = [number_of(len(mechanism.bones), "bone")]
    counts += [number_of(pins, "pin")] * (pins > 0)
    counts += [number_of(len(joints) - pins, "ram")] * (len(joints) > pins)
    made = say("Mechanism '{name}': {counts}", name=mechanism.name, counts=", ".join(counts))
    return f"{made}{what_drives(mechanism)}"


def what_drives(mechanism: Any) -> str:
    """Return in words what drives a mechanism, or what may."""
    free = may_drive(mechanism)
    if free:
        return say("; choose what drives: {bones}", bones=one_of(free))
    names = listed((one.bone for one in mechanism.drivers), most=NAMED)
    return say("; driven by {bones}", bones=names) if names else ""


def taken_in(armature: Object, bones: Sequence[str]) -> Any:
    """Return the mechanism of bones with all of them in it, and make it the active one."""
    mechanism = mechanism_with(armature, bones) or active_mechanism(armature)
    refuse_taken(armature, bones, mechanism)
    new = take_in(mechanism, bones)
    if new:
        propose_drivers(mechanism, set(new) - set(bones))
    activate(mechanism)
    return mechanism


def refuse_taken(armature: Object, bones: Sequence[str], mechanism: Any = None) -> None:
    """Raise IK2DError for bones of an enabled mechanism other than the one that they are for."""
    for other in armature.ik2d.mechanisms:
        bone = next((bone for bone in bones if bone in other.bones), None)
        if other.enabled and other != mechanism and bone is not None:
            raise refusal(
                "Mechanism '{name}' has the bone '{bone}' already; disable it, or add to it",
                name=other.name,
                bone=bone,
            )


def activate(mechanism: Any) -> None:
    settings = mechanism.id_data.ik2d
    settings.active_mechanism = [one.name for one in settings.mechanisms].index(mechanism.name)
