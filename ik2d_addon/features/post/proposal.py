# SPDX-License-Identifier: GPL-3.0-or-later
"""The post of a chain that is added: kept unless its target hangs on it, and told."""

from bpy.types import PropertyGroup

from ...core.inputs import Floats
from ...core.words import say
from ...rig.chain.checks.bones import chain_bones
from ...rig.chain.checks.found_post import found_post
from ...rig.chain.dependencies import Movers, Node, walk
from ...rig.chain.post import POST
from ...ui.settings.found_plane import find_plane


def keep_post(chain: PropertyGroup, target: Node | None, view: Floats | None) -> str:
    """Give a new chain whose target hangs on its post a plane without one; return what to tell of the post.

    Also of one that locks show and another chain has; "" where there is none. view: as in `add_chain`.
    """
    if chain.plane == POST and target is not None and is_carried(chain, target):
        post = chain.post
        find_plane(chain, view, turned=False)
        return say("; its plane stays, since '{post}' carries the target", post=post)
    if chain.plane == POST:
        return say("; its plane turns about '{post}'", post=chain.post)
    found = found_post(chain_bones(chain.id_data, chain.tip, chain.bone_count), chain.name)
    if found is None or not found.owner:
        return ""
    return say(
        "; its plane stays, since the chain '{other}' turns '{post}'", other=found.owner, post=found.bone
    )


def is_carried(chain: PropertyGroup, target: Node) -> bool:
    """Return whether a chain's post moves a target, by parents, constraints or drivers."""
    return target != (chain.id_data, chain.post) and (chain.id_data, chain.post) in walk([target], Movers())
