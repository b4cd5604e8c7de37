# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of chains and of joints in the sidebar. They only draw."""

from math import degrees

from bpy.types import PropertyGroup, UIList

from ...core.words import say
from ...live.registry import problem_of_live
from ...ui.registration import registration
from ...ui.text import fits_as_name
from ..baking.live import draw_listed
from ..baking.results import has_results
from ..doctor.operators import cached_problem
from ..doctor.sharing import shared_bones


class IK2D_UL_chains(UIList):
    """The chains of a rig: enabled or not, name, and a sign of how each stands."""

    def draw_item(
        self, context, layout, data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ):
        draw_listed(layout, item, sign_of(item))


def sign_of(chain: PropertyGroup) -> str:
    """Return the icon of a chain's state: faulty or missed, shared, reached; "" before it is baked."""
    if cached_problem(chain) or problem_of_live(chain):
        return 'ERROR'
    if shared_bones(chain):
        return 'LINKED'
    if not chain.bake_mark or not has_results(chain.id_data):
        return ""
    return 'CHECKMARK' if chain.bake_reached else 'ERROR'  # the warning triangle


class IK2D_UL_joints(UIList):
    """The joints of a chain, root to tip: limited or not, bone, and its range where there is room."""

    def draw_item(
        self, context, layout, data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ):
        layout.use_property_split = False
        row = layout.row(align=True)
        row.prop(item, "use_limit", text="")
        row.label(text=item.name, translate=False)
        limits = say("slides") if item.use_slide else ""
        if item.use_limit:
            low, high = degrees(item.limit_min), degrees(item.limit_max)
            limits = say("{low:.0f}° to {high:.0f}°", low=low, high=high)
            limits = say("{limits}, slides", limits=limits) if item.use_slide else limits
        if limits and fits_as_name(context, limits) and fits_as_name(context, item.name):
            right = row.row()
            right.alignment = 'RIGHT'
            right.label(text=limits, translate=False)


classes = (IK2D_UL_chains, IK2D_UL_joints)
register, unregister = registration(classes)
