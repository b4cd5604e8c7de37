# SPDX-License-Identifier: GPL-3.0-or-later
"""Live arms side by side."""

import bpy
from rigs import add_armature, add_target
from test_live import add_chain, update


def arms(count: int = 3) -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """Add an armature of bent arms of two bones each side by side, all live, and their targets."""
    bones = {}
    for k in range(count):
        x = 3.0 * k
        bones[f"a{k}"] = ((x, 0.0, 0.0), (x + 0.3, 0.0, 1.0), "", 0.0)
        bones[f"b{k}"] = ((x + 0.3, 0.0, 1.0), (x, 0.0, 2.0), f"a{k}", 0.0)
    armature, targets = add_armature(bones), []
    for k in range(count):
        targets.append(add_target({}, f"Target {k}"))
        targets[-1].location = (3.0 * k + 0.5, 0.0, 1.4)
        add_chain(armature, f"b{k}", targets[-1], 2, live=True)
    for _ in range(3):
        update()
    return armature, targets
