# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of the angle of a chain's last bone."""

from math import pi

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..joint import SETTING


class TipAngleSettings:
    """The settings of a chain that give its last bone an angle."""

    __slots__ = ()

    tip_rotation: EnumProperty(
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
    )
    tip_angle_offset: FloatProperty(
        name="Angle Offset",
        description="Added to the angle of the last bone in the chain's plane, the way that limits count",
        default=0.0,
        soft_min=-pi,
        soft_max=pi,
        min=-6.0 * pi,
        max=6.0 * pi,
        subtype='ANGLE',
        **SETTING,
    )
    tip_angle_first: BoolProperty(
        name="Angle First",
        description=(
            "Where the limits or the reach do not allow both, keep the last bone's angle and leave the tip"
            " off its target; else the tip comes first"
        ),
        default=False,
        **SETTING,
    )
