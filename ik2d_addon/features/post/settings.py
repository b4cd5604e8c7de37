# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of a chain's post, and their rows in the panel."""

from math import pi

from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty
from bpy.types import Context, PropertyGroup, UILayout

from ...live.registry import RIGS
from ...rig.chain.post import POST
from ...rig.chain.renames import remember
from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import NOTE, SETTING, STORED, IK2D_PG_place, angle, ordered
from ...ui.text import bone_field, field

HEADINGS = {"a-post": "chain.post* chain.use_post* flip_post"}


def _post_changed(chain, _context):
    """Store the post's place, to find it again when it is renamed."""
    RIGS.mark_bones(chain)
    chain.property_unset("post_place")
    if chain.post and chain.id_data.type == 'ARMATURE':
        remember(chain.post_place, chain.id_data.data, chain.post)


# Of a chain: the bone that its plane turns about.
SETTINGS = {
    "post": StringProperty(
        name="Post",
        description=(
            "Bone that turns about one of its axes so that the chain's plane holds the target: a bone above"
            " the chain, or its first bone"
        ),
        update=_post_changed,
        **STORED,
    ),
    "post_place": PointerProperty(
        name="Place",
        description="Where the post stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    ),
    "post_axis": EnumProperty(
        name="Post Axis",
        description="The post's own axis that it turns about",
        items=(
            ('AUTO', "Free Axis", "The one axis that its locks leave"),
            ('X', "X", "Its X axis"),
            ('Y', "Y", "Its Y axis, along the bone"),
            ('Z', "Z", "Its Z axis"),
        ),
        default='AUTO',
        **SETTING,
    ),
    "post_side": EnumProperty(
        name="Post Side",
        description="Side of the post's axis that the chain reaches to",
        items=(
            ('POSITIVE', "As at Rest", "The side that the rest pose is on"),
            ('NEGATIVE', "Other Side", "The post is half round, and the chain reaches backwards"),
        ),
        default='POSITIVE',
        **SETTING,
    ),
    "use_post_limit": BoolProperty(
        name="Limit",
        description="Keep the post's angle between Min and Max",
        **SETTING,
    ),
    "post_limit_min": FloatProperty(
        name="Min",
        description="Smallest angle of the post about its own axis",
        default=-pi,
        **angle(20.0, 2.0),
        **ordered("post_limit_min", "post_limit_max", 1.0),
    ),
    "post_limit_max": FloatProperty(
        name="Max",
        description="Largest angle of the post about its own axis",
        default=pi,
        **angle(20.0, 2.0),
        **ordered("post_limit_max", "post_limit_min", -1.0),
    ),
    "post_reach_over": BoolProperty(
        name="Reach Over",
        description=(
            "Where a limit stops the post, reach back over its axis with the post half round, if that is"
            " within its limits; it turns by up to half a round from one frame to the next there"
        ),
        **SETTING,
    ),
}


def draw_post(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the settings of a chain's post, if its plane turns about one."""
    if chain.plane != POST:
        return
    bone_field(layout, context, chain, "post", chain.id_data)
    field(layout, context, chain, "post_axis")
    row = layout.row(align=True)
    field(row, context, chain, "post_side")
    row.operator("ik2d.flip_post", text="", icon='MOD_MIRROR').chain = chain.name
    field(layout, context, chain, "use_post_limit")
    if chain.use_post_limit:
        limits = layout.column(align=True)
        field(limits, context, chain, "post_limit_min")
        field(limits, context, chain, "post_limit_max")
        field(layout, context, chain, "post_reach_over")


register, unregister = registration((), (IK2D_PG_chain, SETTINGS))
