# SPDX-License-Identifier: GPL-3.0-or-later
"""IK 2D: exact 2D inverse kinematics for planar bone chains of 3D rigs.

Importing this package needs no Blender: `ik2d_addon.core` is numpy alone.
"""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from itertools import pairwise

from .cli.parent import end_with_parent
from .cli.signals import heed_from_now

# In the order of registration; each has register() and unregister().
_MODULES = (
    ".ui.languages",
    ".ui.settings.rig",
    ".ui.kept",
    ".features.setup.operators",
    ".features.setup.straight_limb",
    ".features.pole.pole",
    ".features.plant.operators",
    ".features.foot.operators",
    ".features.keying.operators",
    ".features.baking.missed_frames",
    ".features.baking.operators",
    ".features.baking.before",
    ".features.doctor.operators",
    ".features.baking.live",
    ".features.native.operators",
    ".ui.settings.overlay",
    ".features.setup.chain_presets",
    ".features.setup.chain_operators",
    ".features.setup.menus",
    ".features.adopt.operators",
    ".features.match.operators",
    ".features.drag.operator",
    ".features.ccd_steps.operator",
    ".features.drag.tool",
    ".ui.keymaps",
    ".ui.preferences",
    ".ui.manual",
    ".features.setup.lists",
    ".features.setup.panels",
    ".features.baking.panels",
    ".features.overlay.target_path",
    ".features.overlay.draw",
    ".features.overlay.panel",
    ".features.overlay.limit_drag",
    ".features.overlay.gizmos",
    ".features.setup.upkeep",
    ".live.handlers",
    ".cli.command",
)


def register() -> None:
    """Register every part with Blender, in order; where one fails, those before it go again."""
    if _is_asked_for(sys.argv):
        end_with_parent()
        heed_from_now()  # while the parts and the file are loaded too
    with ExitStack() as undo:
        for name in _MODULES:
            part = import_module(name, __package__)
            part.register()
            undo.callback(part.unregister)
        undo.pop_all()


def _is_asked_for(words: Sequence[str]) -> bool:
    """Return whether Blender's command line is `--command ik2d`: other commands' signals are theirs."""
    return any(option in ("-c", "--command") and name == "ik2d" for option, name in pairwise(words))


def unregister() -> None:
    """Unregister every part, in reverse order."""
    for name in reversed(_MODULES):
        import_module(name, __package__).unregister()
