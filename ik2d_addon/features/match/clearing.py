# SPDX-License-Identifier: GPL-3.0-or-later
"""Clear the keys of snaps and switches, and give back what they replaced."""

from collections.abc import Sequence

import bpy
from bpy.types import Object

from ...bake.keys.clearing import chains_to_clear, channels_of
from ...core.words import listed, refusal
from ...rig.animation.kept.giving_back import GivenBack, give_back, has_keys
from ...rig.animation.kept.marks import SNAP
from ...rig.animation.times import action_ends
from ...rig.scene.live_pause import live_paused


@live_paused()
def clear_snaps(
    armature: Object,
    chains: str | Sequence[str] = "",
    frame_start: int | None = None,
    frame_end: int | None = None,
) -> GivenBack:
    """Remove unmoved keys of Snap Target to Bones, Key Bones (FK) and both switches; give back the others.

    Of targets, poles, bones and settings, in the actions that play now. chains: a name, or several; "" for
    all. frame_start, frame_end: both included; None has no end. Raises IK2DError where there are none, and,
    with nothing changed, for a linked action.
    """
    chosen = chains_to_clear(armature, chains)
    total = GivenBack()
    for chain in chosen:
        for owner, wanted in channels_of(chain).items():
            ends = action_ends(owner, bpy.context.scene, frame_start, frame_end)
            total.add(give_back(owner, wanted, (SNAP,), *ends))
    if not total.any:
        raise refusal(
            "{chains} have no keys of a snap or a switch in the actions that play now",
            chains=listed(chain.name for chain in chosen),
        )
    bpy.context.view_layer.update()
    return total


def has_snaps(armature: Object) -> bool:
    """Return whether any chain has keys of snaps or switches in the actions that play now."""
    return any(
        has_keys(owner, wanted, (SNAP,))
        for chain in armature.ik2d.chains
        for owner, wanted in channels_of(chain).items()
    )
