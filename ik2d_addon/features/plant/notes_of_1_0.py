# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion before Plant Feet as 1.0.0 stored it with a chain, in texts: read within bounds, and given back.

Files are not trusted: all notes of a chain are read and checked before anything is changed.
"""

import base64
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from typing import Any

import bpy
import numpy as np
from bpy.types import FCurve, Object, PropertyGroup

from ...bake.keys.clearing import all_bones
from ...core import IK2DError
from ...core.words import refusal, say
from ...rig.animation import actions, versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.fcurves import KEY_FIELDS
from ...rig.animation.key_columns import Columns, fill
from ...rig.animation.remembered import plain, set_values
from ...rig.animation.value_keys import curve_of
from ...rig.chain.foot.contacts import names_of
from ...rig.chain.renames import bones_of
from .before import SETTINGS

# No note is larger: letters of a text, bytes of an F-Curve's keys (a million of them take 73 MB).
_LONGEST, _LARGEST = 1 << 26, 1 << 27
# A chain has so many channels at most: those of 500 bones.
_MOST = 10_000
# As numpy writes the header of keys by columns.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([^']{3})', 'fortran_order': False, "
    rb"'shape': \((\d{1,8}), (\d)\), \} *\n",
    re.DOTALL,
)
_SMOOTHINGS, _EXTRAPOLATIONS = ("NONE", "CONT_ACCEL"), ("CONSTANT", "LINEAR")
_OF_BONES = ("rotation_mode", *ROTATIONS, "location", "scale")


@dataclass(frozen=True, eq=False)
class Note:
    """A channel as it was: a property's part, or all of it where the index is -1."""

    owner: Object
    path: str
    index: int
    value: Any
    curve: dict[str, Any] | None  # group, auto_smoothing and extrapolation; None where it had no curve
    keys: Columns


def read_notes(chain: PropertyGroup, contacts: bool = True) -> list[Note]:
    """Return the notes that 1.0.0 has stored with a chain; none for a chain without.

    contacts: whether with those. Raises IK2DError for damaged ones, and for some on what is not the chain's.
    """
    stored = chain.planted.channels
    if len(stored) > _MOST:
        raise IK2DError(_damaged(chain, str(len(stored))))
    notes = [_read(chain, note) for note in stored]
    return [note for note in notes if contacts or ".contact" not in note.path]


def notes_back(chain: PropertyGroup, notes: list[Note]) -> None:
    """Give channels the values and keys that they had, and forget these notes."""
    values = []
    emptied: dict[Object, None] = {}
    for note in notes:
        curve = curve_of(note.owner, note.path, max(note.index, 0))
        if note.curve is not None:
            _give_keys(note)
        elif curve is not None:
            _remove(note.owner, curve)
            emptied[note.owner] = None
        values.append((note.owner, note.path, note.index, note.value))
    for owner in emptied:
        _drop_empty(owner)
    set_values(values)
    stored, done = chain.planted.channels, {(note.owner, note.path, note.index) for note in notes}
    for row in reversed(range(len(stored))):
        if (stored[row].owner, _full_path(chain, stored[row].path), stored[row].index) in done:
            stored.remove(row)


def _read(chain: PropertyGroup, stored: PropertyGroup) -> Note:
    path = _full_path(chain, stored.path)
    if stored.owner is None:
        raise refusal(
            "Chain '{chain}': an object that Plant Feet has moved is gone, so that its motion of "
            "before cannot come back; nothing was cleared",
            chain=chain.name,
        )
    if path not in _own_paths(chain, stored.owner):
        raise refusal(
            "Chain '{chain}': its note of the motion before names {channel} of '{owner}', which is "
            "not the chain's own; choose '{owner}' as its target again if it was, then clear. "
            "Nothing was changed",
            chain=chain.name,
            channel=stored.path[:60],
            owner=stored.owner.name,
        )
    try:
        if max(len(stored.value), len(stored.curve)) > _LONGEST:
            raise ValueError
        value = _checked_value(json.loads(stored.value), plain(stored.owner.path_resolve(path)), stored.index)
        curve, keys = _unpacked(stored.curve)
    except (ValueError, KeyError, TypeError, IndexError, EOFError, RecursionError, zlib.error) as error:
        raise IK2DError(_damaged(chain, stored.path[:60])) from error
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise IK2DError(_damaged(chain, stored.path[:60])) from error
    return Note(stored.owner, path, stored.index, value, curve, keys)


def _damaged(chain: PropertyGroup, what: str) -> str:
    return say(
        "Chain '{chain}': the note of its motion before Plant Feet is damaged ({channel}); nothing was "
        "changed. Take the motion from an older file",
        chain=chain.name,
        channel=what,
    )


def _full_path(chain: PropertyGroup, path: str) -> str:
    return chain.path_from_id() + path if path.startswith(".") else str(path)


def _own_paths(chain: PropertyGroup, owner: Object) -> Iterator[str]:
    armature = chain.id_data
    for ob, bone in ((chain.target, chain.subtarget), (chain.pole, chain.pole_subtarget)):
        if ob == owner:
            holder = ob.pose.bones.get(bone) if bone and ob.pose is not None else ob
            if holder is not None:
                yield from map(holder.path_from_id, ("location", *ROTATIONS))
    if owner == armature:
        settings = (*SETTINGS, "live", "foot.roll", "foot.toe", *(f"foot.{name}" for name in names_of(chain)))
        yield from (f"{chain.path_from_id()}.{name}" for name in settings)
        bones = armature.data.bones
        names = [*bones_of(armature.data, chain.tip, chain.bone_count), *all_bones([chain])]
        if chain.tip in bones:
            names += [bone.name for bone in bones[chain.tip].children_recursive]
        for name in dict.fromkeys(names):
            yield from map(armature.pose.bones[name].path_from_id, _OF_BONES)


def _checked_value(value: Any, now: Any, index: int) -> Any:
    """Return a stored value if it is like the one that the property has now; raise ValueError if not."""
    if isinstance(now, tuple) and index >= 0:
        now = now[index]
    if isinstance(now, tuple):
        if not isinstance(value, list) or len(value) != len(now):
            raise ValueError
        return tuple(_checked_value(number, float(now[0]), -1) for number in value)
    if isinstance(now, (bool, str)):
        if type(value) is not type(now):
            raise ValueError
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise ValueError
    return value


def _unpacked(text: str) -> tuple[dict[str, Any] | None, Columns]:
    """Return the settings of an F-Curve and its keys; None and {} where there was none."""
    if not text:
        return None, {}
    known = json.loads(text)
    smoothing, extrapolation = known["auto_smoothing"], known["extrapolation"]
    if smoothing not in _SMOOTHINGS or extrapolation not in _EXTRAPOLATIONS:
        raise ValueError
    group = known["group"]
    if not isinstance(group, str) or len(group) > 63:
        raise ValueError
    unzip = zlib.decompressobj()
    packed = unzip.decompress(base64.b85decode(known["keys"]), _LARGEST)
    if unzip.unconsumed_tail:
        raise ValueError
    settings = {"group": group, "auto_smoothing": smoothing, "extrapolation": extrapolation}
    return settings, _columns(packed)


def _columns(packed: bytes) -> Columns:
    """Return the keys in an archive of arrays; raise ValueError for others than an F-Curve has."""
    columns: Columns = {}
    with zipfile.ZipFile(BytesIO(packed)) as archive:
        if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in KEY_FIELDS):
            raise ValueError
        for name, (width, kind) in KEY_FIELDS.items():
            with archive.open(f"{name}.npy") as member:
                values = _array(member.read(_LARGEST), np.dtype(kind))
            if values.ndim != 2 or values.shape[1] != width:
                raise ValueError
            columns[name] = values
    counts = {len(values) for values in columns.values()}
    times = columns["co"][:, 0]
    if len(counts) != 1 or not np.isfinite(columns["co"]).all() or (np.diff(times) < 0.0).any():
        raise ValueError
    return columns


def _array(data: bytes, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return an array that numpy has saved, whose header says no more than its bytes hold.

    The header is not left to numpy, which reads it as Python.
    """
    header = _HEADER.match(data)
    if header is None or header[1].decode() != kind.str:
        raise ValueError
    shape, values = (int(header[2]), int(header[3])), data[header.end() :]
    if len(values) != shape[0] * shape[1] * kind.itemsize:
        raise ValueError
    return np.frombuffer(values, kind).reshape(shape)


def _give_keys(note: Note) -> None:
    assert note.curve is not None
    with ExitStack() as undo:
        holder = actions.channels(note.owner, undo)
        group = note.curve["group"] or note.owner.name
        curve = actions.fcurve(holder, note.path, max(note.index, 0), group, undo)
        undo.pop_all()
    curve.auto_smoothing, curve.extrapolation = note.curve["auto_smoothing"], note.curve["extrapolation"]
    fill(curve, note.keys, exact=True)


def _remove(owner: Object, curve: FCurve) -> None:
    """Remove an F-Curve, and its channel group with the last one in it."""
    holder = versions.existing_channels(owner)
    if holder is not None:
        name = curve.group.name if curve.group is not None else ""
        holder.fcurves.remove(curve)
        actions.remove_empty_group(versions.place_of(holder), name)


def _drop_empty(owner: Object) -> None:
    """Remove an object's action where that has no F-Curve left, and nothing else plays it, as 1.0.0 did."""
    action = owner.animation_data.action
    if action is not None and not versions.has_curves(action) and action.users == 1:
        owner.animation_data.action = None
        bpy.data.actions.remove(action)
