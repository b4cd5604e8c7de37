# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of the angle of a chain's last bone, and their rows in the panel."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, PropertyGroup, UILayout

from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import SETTING, angle
from ...ui.text import field

HEADINGS = {"last-bones-angle": "chain.tip_angle_*"}


# Of a chain: what gives its last bone an angle.
SETTINGS = {
    "tip_rotation": EnumProperty(
        name="Last Bone's Angle",
        description="Angle of the last bone, such as a bucket, a foot or a gripper",
        items=(
            ('FREE', "Free", "It turns as the IK needs it"),
            (
                'TARGET',
                "Follow Target",
                "It turns in the plane as the target does: a bone from its rest pose on, an object from the"
                " armature's axes on",
            ),
            (
                'WORLD',
                "Keep in World",
                "It points as in the rest pose, however what is above the chain turns; the armature object"
                " turns it",
            ),
        ),
        default='FREE',
        **SETTING,
    ),
    "tip_angle_offset": FloatProperty(
        name="Angle Offset",
        description="Added to the angle of the last bone in the chain's plane, the way that limits count",
        **angle(6.0, 1.0),
        **SETTING,
    ),
    "tip_angle_first": BoolProperty(
        name="Angle First",
        description=(
            "Where the limits or the reach do not allow both, keep the last bone's angle and leave the tip"
            " off its target; else the tip comes first"
        ),
        **SETTING,
    ),
}


def draw_tip_angle(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the settings of the last bone's angle."""
    field(layout, context, chain, "tip_rotation")
    if chain.tip_rotation != 'FREE':
        field(layout, context, chain, "tip_angle_offset")
        field(layout, context, chain, "tip_angle_first")


register, unregister = registration((), (IK2D_PG_chain, SETTINGS))
