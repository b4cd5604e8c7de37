# SPDX-License-Identifier: GPL-3.0-or-later
"""A post for a chain that gets another's settings, and its limits and side on the other side of a rig.

A post turns for one chain, so another gets the bone that corresponds to it, or none.
"""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from bpy.types import PoseBone, PropertyGroup
from bpy.utils import flip_name

from ...core import IK2DError, Plane
from ...core.inputs import Floats
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.planes import bend_plane
from ...rig.chain.post import Post, bending_bones, read_post, turned_bones_of
from ...rig.rest import rest_axes
from ...ui.settings.chain_list import flip_post

# The settings of a post that are copied with it.
POST_SETTINGS = (
    "post_axis",
    "post_side",
    "use_post_limit",
    "post_limit_min",
    "post_limit_max",
    "post_reach_over",
)
# Turns about an axis and about this part of it are mirror images at x = 0.
_MIRROR = np.array((1.0, -1.0, -1.0))


def has_own_post(chain: PropertyGroup, other: PropertyGroup) -> bool:
    """Return whether another chain has a post of its own; without one it gets the counterpart.

    That is the bone of the other side's name, else the one as many bones above its first one, unless a chain
    turns that bone.
    """
    if other.post and (other.post != chain.post or other.id_data != chain.id_data):
        return True
    chains = other.id_data.ik2d.chains
    taken = {name for each in chains if each != other for name in turned_bones_of(each)}
    counterpart = next((name for name in _counterparts(chain, other) if name not in taken), "")
    if counterpart:
        other.post = counterpart
    return bool(counterpart)


def _counterparts(chain: PropertyGroup, other: PropertyGroup) -> Iterator[str]:
    """Yield the names of bones that carry another chain as the chain's post carries it."""
    upwards, others = ([bone.name for bone in _upwards(each)] for each in (chain, other))
    if flip_name(chain.post) in others:
        yield flip_name(chain.post)
    if chain.post in upwards and upwards.index(chain.post) < len(others):
        yield others[upwards.index(chain.post)]


def _upwards(chain: PropertyGroup) -> list[PoseBone]:
    """Return a chain's first bone and those above it, upwards; none where it has no bones."""
    with suppress(IK2DError):
        first = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)[0]
        return [first, *first.parent_recursive]
    return []


def mirror_post(chain: PropertyGroup, other: PropertyGroup) -> None:
    """Give a mirrored chain that has the settings of its counterpart's post the mirrored limits and side."""
    try:
        (plane, post, axis), (plane_there, there, axis_there) = map(_read, (chain, other))
    except IK2DError:  # the panel says so
        return
    if post is None or there is None:
        return
    along = float(np.sign(axis_there @ (_MIRROR * axis))) or 1.0
    alike = float(np.sign(plane_there.normal @ (_MIRROR * plane.normal))) or 1.0
    if along < 0.0:
        other.post_limit_min = -chain.post_limit_max
        other.post_limit_max = -chain.post_limit_min
    # The side is that of the product of axis and normal, which a mirror turns round.
    if there.rule.side != -along * alike * post.rule.side:
        flip_post(other)


def _read(chain: PropertyGroup) -> tuple[Plane, Post | None, Floats]:
    """Return a chain's plane in rest, its post, and the axis (3,) in rest that this turns about."""
    bones = bending_bones(chain, chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name))
    joints = rest_joints(bones)
    plane = bend_plane(chain, bones, joints)
    post = read_post(chain, bones, joints, plane)
    if post is None:
        return plane, None, np.zeros(3)
    return plane, post, rest_axes(chain.id_data.data.bones[post.bone])[:, post.rule.axis]
