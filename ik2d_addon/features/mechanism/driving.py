# SPDX-License-Identifier: GPL-3.0-or-later
"""A driver in place of another, where a mechanism has no freedom left."""

from dataclasses import replace
from typing import Any

from bpy.types import Object

from ...core import IK2DError
from ...core.words import refusal
from ...rig.mechanism.read import read_mechanism
from .editing import drive, ram_of, remove_driver


def driven(mechanism: Any, bone: str, target: Object | None = None, subtarget: str = "") -> str:
    """Have a bone drive a mechanism as `drive` does; return the bone that drove in its place, or "".

    A driver of the same bone is replaced. Raises IK2DError, with nothing changed, for one that it is already.
    """
    ram = ram_of(mechanism, bone)
    name = bone if ram is None else ram.bone
    kind = 'TARGET' if target is not None else 'RAM' if ram is not None else 'TURN'
    for number, one in enumerate(mechanism.drivers):
        if one.bone == name and (one.kind, one.target, one.subtarget) == (kind, target, subtarget):
            raise refusal("'{driver}' drives already", driver=name)
        if one.bone == name:
            remove_driver(mechanism, number)
            drive(mechanism, bone, target, subtarget)
            return ""
    place, replaced = _in_its_way(mechanism, name, kind), ""
    if place is not None:
        replaced = str(mechanism.drivers[place].bone)
        remove_driver(mechanism, place)
    drive(mechanism, bone, target, subtarget)
    return replaced


def _in_its_way(mechanism: Any, bone: str, kind: str) -> int | None:
    """Return the place of the driver that has to go for another one to drive; None where none has."""
    try:
        rig = read_mechanism(mechanism.id_data, mechanism, moves=False)
    except IK2DError:
        return None
    if rig.core.mobility().left or not len(mechanism.drivers):
        return None
    places = {one.bone: place for place, one in enumerate(mechanism.drivers)}
    for one, its in zip(rig.core.drivers, rig.drivers, strict=True):
        if kind == 'TARGET':
            return places[its.bone]
        others = replace(rig.core, drivers=tuple(other for other in rig.core.drivers if other is not one))
        against = rig.placed[bone].parent or 0
        if not others.drive(*((bone,) if kind == 'RAM' else (bone, against))).mobility().fault:
            return places[its.bone]
    return None
