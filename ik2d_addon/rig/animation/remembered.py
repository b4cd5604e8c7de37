# SPDX-License-Identifier: GPL-3.0-or-later
"""Remember the values of properties, and restore them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import bpy

# Owners, the names of their properties, and the values of these.
Remembered: TypeAlias = list[tuple[Any, str, Any]]
# A channel: its object, path and index; and one with its value.
Channel: TypeAlias = tuple[bpy.types.ID, str, int]
ChannelValue: TypeAlias = tuple[bpy.types.ID, str, int, Any]


def remembered(properties: Iterable[tuple[Any, str]]) -> Remembered:
    """Return properties, each an owner and a name, with the values that they have now."""
    return [(owner, name, plain(getattr(owner, name))) for owner, name in properties]


def put_back(before: Remembered) -> None:
    """Give properties the values that they had, exactly."""
    for owner, name, value in before:
        setattr(owner, name, value)


@contextmanager
def put_back_on_error(properties: Iterable[tuple[Any, str]]) -> Iterator[None]:
    """Put properties back as they are now if what is done inside fails."""
    before = remembered(properties)
    try:
        yield
    except BaseException:
        put_back(before)
        raise


@contextmanager
def put_back_after(properties: Iterable[tuple[Any, str]]) -> Iterator[None]:
    """Put properties back as they are now after what is done inside."""
    before = remembered(properties)
    try:
        yield
    finally:
        put_back(before)


def value_of(ob: bpy.types.ID, path: str, index: int = 0) -> Any:
    """Return the value of a channel of an object: one number, or a choice."""
    value = ob.path_resolve(path)
    return value if isinstance(value, (str, float, int)) else value[index]


def values_now(channels: Iterable[Channel]) -> list[ChannelValue]:
    """Return channels with the values that they have now, for `set_values` to put back."""
    return [(ob, path, index, value_of(ob, path, index)) for ob, path, index in channels]


def set_values(channels: Iterable[ChannelValue]) -> None:
    """Set channels (object, path, index, value), or all of a property where the value is a tuple."""
    for ob, path, index, value in channels:
        if path.startswith("["):
            ob[path[2:-2]] = value
            continue
        above, _, name = path.rpartition(".")
        owner = ob.path_resolve(above) if above else ob
        if isinstance(value, (str, tuple)) or not hasattr(getattr(owner, name), "__len__"):
            setattr(owner, name, value)
        else:
            getattr(owner, name)[index] = value


def plain(value: Any) -> Any:
    """Return a copy of a property's value, a tuple for an array."""
    return (
        value if value is None or isinstance(value, (bool, int, float, str, bpy.types.ID)) else tuple(value)
    )
