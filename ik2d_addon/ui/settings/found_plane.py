# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a chain as it is added.

Its post turns it where locks show one; else it is fixed where its bones are straight at rest, and automatic
otherwise.
"""

from collections.abc import Sequence

from bpy.types import PoseBone, PropertyGroup

from ...core import IK2DError
from ...core.inputs import Floats
from ...rig.chain.chain import read_chain
from ...rig.chain.checks.bones import chain_bones
from ...rig.chain.checks.found_post import FoundPost, found_post
from ...rig.chain.post import POST, bending_bones
from ...rig.pose.straight_plane import is_straight, line_from_root, straight_normal

# A normal stays while the sine of its angle off the right angle to the chain is below this.
_SAME_LINE = 0.01
_POST_SETTINGS = ("post", "post_axis")


def find_plane(chain: PropertyGroup, view: Floats | None = None, turned: bool = True) -> None:
    """Set a chain's plane by its bones; it goes with them until a plane is chosen by hand.

    view: as in `straight_normal`. turned: whether a post may turn it. Raises IK2DError for a chain without
    bones, or of no size.
    """
    bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
    if turned and _take_post(chain, bones):
        chain.plane_found = True
        return
    for name in _POST_SETTINGS:
        chain.property_unset(name)
    if is_straight(chain, bones):
        chain.plane_normal = straight_normal(chain.id_data, bones, view)
        chain.plane = 'CUSTOM'
    else:
        chain.plane = 'AUTO'
    chain.plane_found = True


def take_post(chain: PropertyGroup, found: FoundPost) -> None:
    """Have a post turn a chain's plane."""
    chain.plane, chain.post, chain.post_axis = POST, found.bone, found.axis
    bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
    if found.normal and is_straight(chain, bending_bones(chain, bones)):  # IK locks alone show it
        chain.plane_normal = found.normal


def _take_post(chain: PropertyGroup, bones: Sequence[PoseBone]) -> bool:
    """Have the post that locks propose turn a chain's plane; return whether there is one that can."""
    found = found_post(bones, chain.name)
    if found is None or found.owner:
        return False
    take_post(chain, found)
    return _turns_about_post(chain)


def _turns_about_post(chain: PropertyGroup) -> bool:
    """Return whether a chain's post can turn its plane."""
    try:
        return read_chain(chain.id_data, chain, own_tip=True).post is not None
    except IK2DError:
        return False


def keep_found_plane(chain: PropertyGroup) -> None:
    """Find the plane anew after the bones changed; one that holds a straight chain, or a post, stays."""
    if not chain.plane_found or chain.plane == POST and _turns_about_post(chain):
        return
    try:
        bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
        holds = chain.plane == 'CUSTOM' and abs(line_from_root(bones) @ [*chain.plane_normal]) < _SAME_LINE
        if not (holds and is_straight(chain, bones)):
            find_plane(chain)
    except IK2DError:  # a name that is being typed: the panel says so
        return
