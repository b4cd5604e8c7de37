# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion before Plant Feet: channels with their keys, to be put back."""

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup

from ...core.words import say
from ...rig.animation import actions, versions
from ...rig.animation.key_columns import Columns, columns_of, fill
from ...rig.animation.remembered import plain, set_values
from ...rig.animation.value_keys import curve_of

# Properties of an F-Curve that decide on how it plays, besides its keys.
_OF_CURVE = ("auto_smoothing", "extrapolation")


@dataclass(frozen=True, eq=False)
class Saved:
    """A channel as it was: a property's part, or all of it where the index is -1."""

    owner: Object
    path: str  # of the property; of the chain's own from the chain on, beginning with a dot
    index: int
    value: str  # JSON
    curve: str  # JSON; "" without an F-Curve


def saved(chain: PropertyGroup, owner: Object, path: str, indices: Iterable[int] = (-1,)) -> list[Saved]:
    """Return the channels of a property as they are now. indices: -1 for a property of one value.

    owner: the object that has it. path: as in `Saved`.
    """
    whole = plain(owner.path_resolve(_full(chain, path)))
    found = []
    for index in indices:
        curve = curve_of(owner, _full(chain, path), max(index, 0))
        value = whole if index < 0 else whole[index]
        found.append(Saved(owner, path, index, json.dumps(value), "" if curve is None else _packed(curve)))
    return found


def store(chain: PropertyGroup, channels: Sequence[Saved]) -> None:
    """Store channels with a chain, in place of those that it has."""
    chain.planted.channels.clear()
    for one in channels:
        kept = chain.planted.channels.add()
        for name in one.__dataclass_fields__:
            setattr(kept, name, getattr(one, name))


def stored(chain: PropertyGroup) -> list[Saved]:
    """Return the channels that are stored with a chain; none of one that is not planted."""
    names = tuple(Saved.__dataclass_fields__)
    return [Saved(*(getattr(kept, name) for name in names)) for kept in chain.planted.channels]


def put_back(chain: PropertyGroup, channels: Iterable[Saved]) -> list[str]:
    """Give channels the values and keys that they had; return a sentence for each that is gone."""
    gone: dict[str, None] = {}
    values, emptied = [], []
    for one in channels:
        path = _full(chain, one.path)
        if one.owner is None:
            gone[say("Chain '{chain}': an object that it moved is gone", chain=chain.name)] = None
            continue
        if not is_there(chain, one.owner, one.path):
            gone[
                say("'{owner}': {channel} is gone; its keys are not back", owner=one.owner.name, channel=path)
            ] = None
            continue
        try:
            value, keys = json.loads(one.value), _unpacked(one)
        except (ValueError, KeyError, TypeError, zlib.error, BadZipFile):
            gone[
                say(
                    "'{owner}': the note on {channel} is damaged; its keys are not back",
                    owner=one.owner.name,
                    channel=path,
                )
            ] = None
            continue
        holder = versions.existing_channels(one.owner)
        curve = curve_of(one.owner, path, max(one.index, 0))
        if keys is not None:
            _give_keys(one, path, *keys)
        elif curve is not None and holder is not None:
            _remove(holder, curve)
            emptied.append(one.owner)
        values.append((one.owner, path, one.index, tuple(value) if isinstance(value, list) else value))
    for owner in dict.fromkeys(emptied):
        _drop_empty(owner)
    set_values(values)
    return list(gone)


def is_there(chain: PropertyGroup, owner: Object | None, path: str) -> bool:
    """Return whether an object still has a property. path: as in `Saved`."""
    try:
        return owner is not None and owner.path_resolve(_full(chain, path)) is not None
    except ValueError:
        return False


def _full(chain: PropertyGroup, path: str) -> str:
    return chain.path_from_id() + path if path.startswith(".") else path


def _remove(holder: versions.Channels, curve: bpy.types.FCurve) -> None:
    """Remove an F-Curve, and its channel group with the last one in it."""
    name = curve.group.name if curve.group else ""
    holder.fcurves.remove(curve)
    group = holder.groups.get(name)
    if group is not None and not len(group.channels):
        holder.groups.remove(group)


def _drop_empty(owner: Object) -> None:
    """Remove an object's action where that has no F-Curve left, and nothing else plays it."""
    action = owner.animation_data.action
    if action is not None and not versions.has_curves(action) and action.users == 1:
        owner.animation_data.action = None
        bpy.data.actions.remove(action)


def _packed(curve: bpy.types.FCurve) -> str:
    """Return an F-Curve as JSON."""
    written = BytesIO()
    np.savez(written, **columns_of(curve))
    keys = base64.b85encode(zlib.compress(written.getvalue())).decode()
    group = curve.group.name if curve.group else ""
    return json.dumps({"keys": keys, "group": group, **{name: getattr(curve, name) for name in _OF_CURVE}})


def _unpacked(one: Saved) -> tuple[dict[str, Any], Columns] | None:
    """Return the settings of a channel's F-Curve and its keys; None where it had none."""
    if not one.curve:
        return None
    known: dict[str, Any] = json.loads(one.curve)
    with np.load(BytesIO(zlib.decompress(base64.b85decode(known["keys"])))) as columns:
        return {name: known[name] for name in ("group", *_OF_CURVE)}, dict(columns)


def _give_keys(one: Saved, path: str, known: dict[str, Any], columns: Columns) -> None:
    """Give a channel its F-Curve back."""
    with ExitStack() as undo:
        holder = actions.channels(one.owner, undo)
        group = known["group"] or one.owner.name
        curve = actions.fcurve(holder, path, max(one.index, 0), group, undo)
        undo.pop_all()
    for name in _OF_CURVE:
        setattr(curve, name, known[name])
    fill(curve, columns, exact=True)
