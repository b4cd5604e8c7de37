# SPDX-License-Identifier: GPL-3.0-or-later
"""A foot mirrored to the other side of the rig, and settings of feet copied."""

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup

from ...rig.chain.chain import read_chain
from ...rig.chain.foot.foot import FOOT_NAMES
from ...rig.chain.hands import note_turned_offset
from ...rig.scene.feet.goals import control_turns
from ...rig.scene.live_pause import live_paused
from ...rig.scene.sampler import sample_now

# The settings that are copied to other feet: how a foot rolls, and not how far it does.
_COPIED = ("break_angle", "use_ground", "ground")
_MIRROR = np.array((-1.0, 1.0, 1.0))


def copy_foot(chain: PropertyGroup, other: PropertyGroup) -> None:
    """Copy the settings of a chain's foot to that of another; nothing where either has none."""
    if chain.foot.is_added and other.foot.is_added:
        for name in _COPIED:
            setattr(other.foot, name, getattr(chain.foot, name))


@live_paused()
def mirror_foot(armature: Object, chain: PropertyGroup, other: PropertyGroup) -> None:
    """Give a mirrored chain the mirrored foot of its counterpart, turned as that is now.

    Raises IK2DError for a chain that cannot be read.
    """
    if not chain.foot.is_added:
        return
    for name in (*FOOT_NAMES, "ground"):
        setattr(other.foot, name, getattr(chain.foot, name))
    for name in ("heel", "ball", "toe_tip"):
        setattr(other.foot, name, _MIRROR * getattr(chain.foot, name))
    other.foot.is_added = True
    rig = read_chain(armature, chain)
    if rig.hands is not None:
        samples = sample_now(bpy.context.scene, [rig]).chains[0]
        turned = control_turns(samples, rig.hands)[0]
        note_turned_offset(other, _MIRROR[:, None] * turned * _MIRROR)
