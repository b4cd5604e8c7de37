# SPDX-License-Identifier: GPL-3.0-or-later
"""Having the sidebars drawn again where a live chain says something else than it did."""

import bpy

from .registry import RIGS

_TAB = "IK 2D"
_told: list[object] = []


def tell_windows() -> None:
    """Have the sidebars with the tab drawn again where live chains say something new; not while playing."""
    if bpy.app.background or not (RIGS.chains or RIGS.problems or RIGS.failures or _told):
        return
    says: list[object] = [*RIGS.problems.items(), *RIGS.failures.items()]
    for chain in RIGS.chains.values():
        outcome = chain.outcome
        says.append(outcome and (outcome.status, f"{outcome.measures[0]:.4g} {outcome.measures[1]:.1e}"))
    if says == _told:
        return
    for window in bpy.context.window_manager.windows:
        if not window.screen.is_animation_playing:
            for area in window.screen.areas:
                for region in area.regions if area.type == 'VIEW_3D' else ():
                    if region.type == 'UI' and getattr(region, "active_panel_category", _TAB) == _TAB:
                        region.tag_redraw()
    _told[:] = says
