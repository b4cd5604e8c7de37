# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of a chain whose plane goes through a pole, and of one bone that aims."""

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty, StringProperty

from ...live.registry import RIGS
from ...rig.chain.renames import remember
from ...rig.pose.pole_angle import keep_pose
from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import NOTE, SETTING, STORED, IK2D_PG_place, angle


def _pole_changed(chain, _context):
    """Keep the pose, and store the pole's bone, to find it again when it is renamed."""
    RIGS.mark_edited(chain)
    if not _is_renamed(chain):
        keep_pose(chain)
    chain.property_unset("pole_place")
    if chain.pole_subtarget and chain.pole is not None and chain.pole.type == 'ARMATURE':
        remember(chain.pole_place, chain.pole.data, chain.pole_subtarget)


def _is_renamed(chain) -> bool:
    """Return whether the pole's bone is the one that was stored, by another name."""
    place, bones = chain.pole_place, getattr(getattr(chain.pole, "data", None), "bones", None)
    bone = bones.get(chain.pole_subtarget) if bones and chain.pole_subtarget else None
    return bone is not None and place.index >= 0 and tuple(place.head) == tuple(bone.head_local)


# Of a chain: its pole, and one bone's distance to its target.
SETTINGS = {
    "pole": PointerProperty(
        name="Pole",
        description="Object that the knee or elbow points at",
        type=bpy.types.Object,
        update=_pole_changed,
        **STORED,
    ),
    "pole_subtarget": StringProperty(
        name="Pole Bone",
        description="Bone of the pole's armature whose head the knee or elbow points at",
        update=_pole_changed,
        **STORED,
    ),
    "pole_place": PointerProperty(
        name="Place",
        description="Where the pole's bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    ),
    "pole_angle": FloatProperty(
        name="Pole Angle",
        description="Angle about the first bone between its X axis and the side that faces the pole",
        **angle(6.0, 1.0),
        **SETTING,
    ),
    "aim_distance": BoolProperty(
        name="Reach the Target",
        description="Off, a single bone only points at its target; on, its tip has to be there",
        **SETTING,
    ),
}

register, unregister = registration((), (IK2D_PG_chain, SETTINGS))
