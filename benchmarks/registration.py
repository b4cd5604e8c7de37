# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks need of the extension in Blender: the chains' settings and the operator that bakes.

Not its handlers: live solving is measured with and without.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import bpy

import ik2d_addon


@contextmanager
def registered() -> Iterator[None]:
    """Have them for a while, where they are not there anyway."""
    with ExitStack() as undo:
        if not hasattr(bpy.types.Object, "ik2d"):
            ik2d_addon.register((*ik2d_addon.SETTINGS, ".features.baking.operators"))
            undo.callback(ik2d_addon.unregister)
        yield
