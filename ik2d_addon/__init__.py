# SPDX-License-Identifier: GPL-3.0-or-later
"""IK 2D: exact 2D inverse kinematics for planar bone chains and machines of 3D rigs.

Importing this package needs no Blender: `ik2d_addon.core` is numpy alone.
"""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from itertools import pairwise
from types import ModuleType

from .cli.parent import end_with_parent
from .cli.signals import heed_from_now

# In the order of registration; each has register() and unregister(). First what the file stores.
SETTINGS = (
    ".ui.settings.rig",
    ".features.pole.settings",
    ".features.post.settings",
    ".features.tip_angle.settings",
    ".features.foot.settings",
    ".features.plant.settings",
    ".features.adopt.settings",
    ".features.ccd_steps.settings",
    ".features.two_targets.settings",
)
_MODULES = (
    ".ui.languages",
    *SETTINGS,
    ".features.overlay.settings",
    ".ui.preferences",
    ".ui.kept",
    ".features.baking.operators",
    ".features.setup.chain_operators",
    ".features.setup.operators",
    ".features.setup.straight_limb",
    ".features.pole.pole",
    ".features.plant.operators",
    ".features.foot.operators",
    ".features.keying.operators",
    ".features.two_targets.operators",
    ".features.baking.missed_frames",
    ".features.baking.before",
    ".features.doctor.operators",
    ".features.baking.live",
    ".features.adopt.operators",
    ".features.match.operators",
    ".features.native.operators",
    ".features.native.mechanism.operators",
    ".features.export.operators",
    ".features.mechanism.operators",
    ".features.setup.chain_presets",
    ".features.setup.menus",
    ".features.drag.operator",
    ".features.ccd_steps.operator",
    ".features.drag.tool",
    ".ui.keymaps",
    ".ui.manual",
    ".features.setup.lists",
    ".features.setup.panels",
    ".features.mechanism.panel",
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


def register(modules: Sequence[str] | None = None) -> None:
    """Register every part with Blender, or some, in order; where one fails, those before it go again."""
    if _is_asked_for(sys.argv):
        end_with_parent()
        heed_from_now()  # while the parts and the file are loaded too
    parts = _parts()
    with ExitStack() as undo:
        for name in _MODULES if modules is None else modules:
            part = import_module(name, __package__)
            part.register()
            undo.callback(part.unregister)
            parts.append(part)
            undo.callback(parts.remove, part)
        undo.pop_all()


def _is_asked_for(words: Sequence[str]) -> bool:
    """Return whether Blender's command line is `--command ik2d`: other commands' signals are theirs."""
    return any(option in ("-c", "--command") and name == "ik2d" for option, name in pairwise(words))


def unregister() -> None:
    """Unregister every part that is registered, in reverse order."""
    parts = _parts()
    while parts:
        parts.pop().unregister()


def _parts() -> list[ModuleType]:
    """Return the parts that are registered. Imported here: help needs no numpy."""
    from .ui.parts import PARTS

    return PARTS
