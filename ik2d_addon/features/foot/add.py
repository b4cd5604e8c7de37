# SPDX-License-Identifier: GPL-3.0-or-later
"""A foot on a chain: its target becomes the foot's control."""

import bpy
from bpy.types import Object, PropertyGroup

from ...core.words import refusal
from ...rig.animation.remembered import put_back_on_error
from ...rig.chain.chain import read_chain
from ...rig.chain.hands import note_turned_offset, posed_hands, put_hands_back
from ...rig.chain.renames import refuse_linked
from ...rig.pose.hand_rotations import turn_shown
from ...rig.scene.live_pause import live_paused
from .pivots import measured_pivots

_CHANGED = ("is_added", "heel", "ball", "toe_tip")


@live_paused()
def add_foot(armature: Object, chain: PropertyGroup) -> None:
    """Add a foot to a chain: its target is then the foot's control, which holds the foot and its roll.

    Heel, ball and toe tip are measured in the rest pose. The foot stays as it is posed: how it is turned
    from the control is stored. Raises IK2DError, with nothing changed, for a linked armature, a chain
    that cannot be read, and a tip without a foot in the chain's plane.
    """
    refuse_linked(armature)
    pivots, foot = measured_pivots(armature, chain), chain.foot
    changed = [*((foot, name) for name in _CHANGED), (chain, "hand_offset")]
    with put_back_on_error(changed):
        foot.heel, foot.ball, foot.toe_tip = pivots.heel, pivots.ball, pivots.tip
        foot.is_added = True
        rig = read_chain(armature, chain)
        if rig.hands is not None:
            bpy.context.view_layer.update()
            note_turned_offset(chain, turn_shown(rig, rig.hands))


def remove_foot(armature: Object, chain: PropertyGroup) -> None:
    """Remove the foot of a chain; its tip follows the target again, and its keys of a bake stay.

    Raises IK2DError, with nothing changed, for a linked armature and a chain without a foot.
    """
    refuse_linked(armature)
    if not chain.foot.is_added:
        raise refusal("Chain '{chain}' has no foot", chain=chain.name)
    chain.foot.is_added = False
    if chain.hand_rotation == 'NONE':
        put_hands_back(chain, posed_hands(chain))
    armature.update_tag()
