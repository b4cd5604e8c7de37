# SPDX-License-Identifier: GPL-3.0-or-later
"""Registering classes with Blender: all of them, or none."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from inspect import get_annotations

import bpy

from .languages import CONTEXT


def register_classes(classes: Sequence[type]) -> None:
    """Register classes in order, labels in our own context; where one fails, those before it go again."""
    with ExitStack() as undo:
        for cls in classes:
            _translate_apart(cls)
            bpy.utils.register_class(cls)
            undo.callback(bpy.utils.unregister_class, cls)
        undo.pop_all()


def _translate_apart(cls: type) -> None:
    """Have Blender look up a class's labels, and those of its properties, in our own context."""
    cls.bl_translation_context = CONTEXT
    for base in cls.__mro__:
        for declared in get_annotations(base).values():
            if isinstance(declared, bpy.props._PropertyDeferred):
                declared.keywords["translation_context"] = CONTEXT


def unregister_classes(classes: Sequence[type]) -> None:
    """Unregister classes in reverse order."""
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)


def registration(classes: Sequence[type]) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return a module's register and unregister, for its classes in order."""
    return partial(register_classes, classes), partial(unregister_classes, classes)
