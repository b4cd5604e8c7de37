# SPDX-License-Identifier: GPL-3.0-or-later
"""Registering classes with Blender, and hanging properties on those of others: all of them, or none."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from inspect import get_annotations
from typing import Any

import bpy

from .languages import CONTEXT

# A class that is registered, and properties by their names that it gets.
Hung = tuple[type, Mapping[str, Any]]


def register_classes(classes: Sequence[type], *hung: Hung) -> None:
    """Register classes in order, then hang properties; where one fails, those before it go again.

    Labels are looked up in our own context.
    """
    with ExitStack() as undo:
        for cls in classes:
            cls.bl_translation_context = CONTEXT
            for base in cls.__mro__:
                _label(get_annotations(base))
            bpy.utils.register_class(cls)
            undo.callback(bpy.utils.unregister_class, cls)
        for owner, settings in hung:
            hang(owner, settings, undo)
        undo.pop_all()


def hang(owner: type, settings: Mapping[str, Any], undo: ExitStack) -> None:
    """Give a registered class more properties."""
    _label(settings)
    for name, declared in settings.items():
        setattr(owner, name, declared)
        undo.callback(delattr, owner, name)


def _label(settings: Mapping[str, Any]) -> None:
    """Have Blender look up the labels of properties in our own context; those without get their name's."""
    for name, declared in settings.items():
        if isinstance(declared, bpy.props._PropertyDeferred):
            declared.keywords["translation_context"] = CONTEXT
            declared.keywords.setdefault("name", name.replace("_", " ").title())


def unregister_classes(classes: Sequence[type], *hung: Hung) -> None:
    """Take properties off and unregister classes, in reverse order."""
    for owner, settings in reversed(hung):
        for name in settings:
            delattr(owner, name)
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)


def registration(classes: Sequence[type], *hung: Hung) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return a module's register and unregister, for its classes in order and what it hangs on others."""
    return partial(register_classes, classes, *hung), partial(unregister_classes, classes, *hung)
