# SPDX-License-Identifier: GPL-3.0-or-later
"""Registering classes with Blender: all of them, or none."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

import bpy


def register_classes(classes: Sequence[type]) -> None:
    """Register classes in order; where one fails, those before it go again."""
    with ExitStack() as undo:
        for cls in classes:
            bpy.utils.register_class(cls)
            undo.callback(bpy.utils.unregister_class, cls)
        undo.pop_all()


def unregister_classes(classes: Sequence[type]) -> None:
    """Unregister classes in reverse order."""
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)


def registration(classes: Sequence[type]) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return a module's register and unregister, for its classes in order."""
    return partial(register_classes, classes), partial(unregister_classes, classes)
