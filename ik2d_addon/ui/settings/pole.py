# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of a chain whose plane follows its target or a pole, and of one bone that aims."""

from math import pi

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty, StringProperty

from ...live.registry import RIGS
from ...rig.chain.renames import remember
from .joint import NOTE, SETTING, STORED, IK2D_PG_place


def _pole_changed(chain, _context):
    """Store the pole's bone, to find it again when it is renamed."""
    RIGS.mark()
    chain.property_unset("pole_place")
    if chain.pole_subtarget and chain.pole is not None and chain.pole.type == 'ARMATURE':
        remember(chain.pole_place, chain.pole.data, chain.pole_subtarget)


class PoleSettings:
    """The settings of a chain's pole, and of the distance that one bone keeps to its target."""

    pole: PointerProperty(
        name="Pole",
        description="Object that the knee or elbow points at",
        type=bpy.types.Object,
        update=_pole_changed,
        **STORED,
    )
    pole_subtarget: StringProperty(
        name="Pole Bone",
        description="Bone of the pole's armature whose head the knee or elbow points at",
        update=_pole_changed,
        **STORED,
    )
    pole_place: PointerProperty(
        name="Place",
        description="Where the pole's bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    )
    pole_angle: FloatProperty(
        name="Pole Angle",
        description="Angle about the first bone between its X axis and the side that faces the pole",
        default=0.0,
        soft_min=-pi,
        soft_max=pi,
        min=-6.0 * pi,
        max=6.0 * pi,
        subtype='ANGLE',
        **SETTING,
    )
    aim_distance: BoolProperty(
        name="Distance Counts",
        description="Whether the tip of a single bone has to be on its target, rather than point at it",
        default=False,
        **SETTING,
    )
