# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks need of the extension in Blender: the chains' settings and the operator that bakes.

Not its handlers: live solving is measured with and without.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import bpy

from ik2d_addon.features.baking import operators
from ik2d_addon.ui.settings import rig


@contextmanager
def registered() -> Iterator[None]:
    """Have them for a while, where they are not there anyway."""
    with ExitStack() as parts:
        if not hasattr(bpy.types.Object, "ik2d"):
            for part in (rig, operators):
                part.register()
                parts.callback(part.unregister)
        yield
