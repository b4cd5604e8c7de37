# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a chain as it is added: fixed where its bones are straight at rest, else the automatic one."""

from bpy.types import PropertyGroup

from ...core import IK2DError
from ...core.inputs import Floats
from ...rig.chain.checks.bones import chain_bones
from ...rig.pose.straight_plane import is_straight, line_from_root, straight_normal

# A normal stays while the sine of its angle off the right angle to the chain is below this.
_SAME_LINE = 0.01


def find_plane(chain: PropertyGroup, view: Floats | None = None) -> None:
    """Set a chain's plane by its bones; it goes with them until a plane is chosen by hand.

    view: as in `straight_normal`. Raises IK2DError for a chain without bones, or of no size.
    """
    bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
    if is_straight(chain, bones):
        chain.plane_normal = straight_normal(chain.id_data, bones, view)
        chain.plane = 'CUSTOM'
    else:
        chain.plane = 'AUTO'
    chain.plane_found = True


def keep_found_plane(chain: PropertyGroup) -> None:
    """Find the plane anew after the bones changed; one that still holds a straight chain stays."""
    if not chain.plane_found:
        return
    try:
        bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
        holds = chain.plane == 'CUSTOM' and abs(line_from_root(bones) @ [*chain.plane_normal]) < _SAME_LINE
        if not (holds and is_straight(chain, bones)):
            find_plane(chain)
    except IK2DError:  # a name that is being typed: the panel says so
        return
