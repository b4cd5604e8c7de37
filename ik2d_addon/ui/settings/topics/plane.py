# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of the plane that a chain bends in, and of its side."""

from math import pi

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty

from ....live.registry import RIGS
from ....rig.chain.native_state import is_flipped
from ....rig.chain.post import POST
from ....rig.pose.pole_angle import keep_pose
from ..chain_list import flip
from ..joint import ANIMATED, HIDDEN, NOTE, SETTING, STORED

_SIDES = (
    ('POSITIVE', "Positive", "The side that the rest pose bends to; of a straight one, about the axis"),
    ('NEGATIVE', "Negative", "The other side"),
)


def _bend_to(chain, side: int) -> None:
    if is_flipped(chain) != bool(side):
        flip(chain)


def _plane_changed(chain, _context):
    if chain.plane == POST and chain.plane_found:
        chain.property_unset("plane_normal")  # of straight bones: their plane holds the post's axis
    chain.plane_taken, chain.plane_found = "", False
    chain.property_unset("swing_normal")
    if not chain.is_property_set("pole_angle"):
        keep_pose(chain)
    RIGS.mark_edited(chain)


class PlaneSettings:
    """The settings of a chain that say where it bends, and to which side."""

    __slots__ = ()

    bend: EnumProperty(
        name="Bend",
        description="Side that the chain bends to",
        items=_SIDES,
        default='POSITIVE',
        **ANIMATED,
    )
    shown_bend: EnumProperty(
        name="Bend",
        description="Side that a chain on drivers bends to",
        items=_SIDES,
        get=lambda chain: int(is_flipped(chain)),
        set=_bend_to,
        options=HIDDEN,
    )
    sides_from_rest: BoolProperty(
        description="Whether Positive is the side of the rest pose with every solver; not so before 1.1.0",
        **NOTE,
    )
    turn_over: FloatProperty(
        name="Bend to Other Side",
        description=(
            "How far the knee or elbow goes over to the other side: 0 not at all, 0.5 straight, 1 all the"
            " way. Keys on it make a slow flip"
        ),
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        **ANIMATED,
    )
    plane: EnumProperty(
        name="Bends In",
        description="Plane that the chain bends in",
        items=(
            (
                'AUTO',
                "Automatic",
                (
                    "The plane of the rest pose, or of hinges that agree; a straight chain bends"
                    " towards its target, or about its first bone's X axis"
                ),
                0,
            ),
            ('HINGES', "Hinges", "Across the axis of the joints whose locks leave them one axis", 4),
            ('X', "YZ", "The armature's YZ plane: bones turn about its X axis", 1),
            ('Y', "XZ", "The armature's XZ plane: bones turn about its Y axis", 2),
            ('Z', "XY", "The armature's XY plane: bones turn about its Z axis", 3),
            ('CUSTOM', "Custom", "The plane across the Normal in Advanced", 5),
            (
                'SWING',
                "Swings with Target",
                "The rest pose's plane, turned as little as brings it through the target",
                6,
            ),
            ('POLE', "Towards Pole", "The plane of target and pole: knee or elbow points at the pole", 7),
            (
                'ARC',
                "Shortest Way",
                (
                    "The rest pose's plane, turned as the line from root to tip turns the shortest way to the"
                    " target"
                ),
                8,
            ),
            (
                'POST',
                "Turns About Bone",
                (
                    "The rest pose's plane; a bone above the chain, or its first one, turns about one of its"
                    " own axes so that the plane holds the target: turntables, slewing cabs, pan and tilt"
                ),
                9,
            ),
        ),
        default='AUTO',
        update=_plane_changed,
        **STORED,
    )
    plane_normal: FloatVectorProperty(
        name="Normal",
        description="Direction across the custom plane, in the armature's space at rest",
        default=(1.0, 0.0, 0.0),
        size=3,
        subtype='XYZ',
        **SETTING,
    )
    swing_normal: FloatVectorProperty(
        name="Swing Normal",
        description=(
            "Direction that the normal of a plane that swings stays nearest to, in the armature's space at"
            " rest; Normal is then that of the plane at rest. All 0: both are the rest pose's"
        ),
        default=(0.0, 0.0, 0.0),
        size=3,
        subtype='XYZ',
        **SETTING,
    )
    plane_turn: FloatProperty(
        name="Plane Turn",
        description=(
            "Angle by which a plane that follows the target is turned on about the line from root to target,"
            " with the knee or elbow, as by a twist of the thigh below Blender's IK"
        ),
        soft_min=-pi,
        soft_max=pi,
        subtype='ANGLE',
        **ANIMATED,
    )
    plane_found: BoolProperty(
        description="Whether the plane goes with the bones: a fixed one where they are straight at rest",
        **NOTE,
    )
    plane_taken: StringProperty(
        description="Plane that the last pose or bake took where it is automatic", **NOTE
    )
    accepted_off_plane: FloatProperty(
        description="How far the joints may be off one plane without a word, as a part of the chain's reach",
        min=0.0,
        **NOTE,
    )
