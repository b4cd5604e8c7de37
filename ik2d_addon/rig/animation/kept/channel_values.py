# SPDX-License-Identifier: GPL-3.0-or-later
"""The value of a channel as one number, as an F-Curve would hold it: of arrays, choices and switches too."""

from contextlib import suppress
from typing import Any

import bpy


def number_in(owner: bpy.types.ID, path: str, index: int) -> float | None:
    """Return the value of a channel; None where there is none."""
    try:
        value = owner.path_resolve(path)
        if hasattr(value, "__len__") and not isinstance(value, str):
            value = value[index]
    except (ValueError, IndexError, TypeError):
        return None
    if isinstance(value, str):
        item = _rule(owner, path).enum_items.get(value)
        return None if item is None else float(item.value)
    return float(value) if isinstance(value, (bool, int, float)) else None


def default_of(owner: bpy.types.ID, path: str, index: int) -> float | None:
    """Return the default of a channel; None where there is none, as of custom properties."""
    rule = _rule(owner, path)
    if rule is None or rule.type not in ('FLOAT', 'INT', 'BOOLEAN', 'ENUM'):
        return None
    if rule.type == 'ENUM':
        return float(rule.enum_items[rule.default].value)
    return float(rule.default_array[index]) if rule.is_array else float(rule.default)


def is_at_default(owner: bpy.types.ID, path: str) -> bool:
    """Return whether all numbers of an array property are its defaults."""
    rule = _rule(owner, path)
    return getattr(rule, "is_array", False) and tuple(owner.path_resolve(path)) == tuple(rule.default_array)


def set_number(owner: bpy.types.ID, path: str, index: int, number: float) -> None:
    """Set a channel to a number, where it still is and can take it."""
    head, _, name = path.rpartition(".")
    with suppress(ValueError, IndexError, TypeError, AttributeError, OverflowError):
        if path.endswith("]"):
            owner[path[2:-2]] = number
            return
        holder = owner.path_resolve(head) if head else owner
        rule = _rule(owner, path)
        if rule is None:
            return
        if rule.type == 'ENUM':
            names = [item.identifier for item in rule.enum_items if item.value == round(number)]
            if names:
                setattr(holder, name, names[0])
        elif rule.is_array:
            getattr(holder, name)[index] = number
        else:
            whole = rule.type in ('BOOLEAN', 'INT')
            setattr(holder, name, round(number) if whole else number)


def _rule(owner: bpy.types.ID, path: str) -> Any:
    """Return Blender's description of a property; None for none."""
    head, _, name = path.rpartition(".")
    try:
        holder = owner.path_resolve(head) if head else owner
    except ValueError:
        return None
    return holder.bl_rna.properties.get(name)
