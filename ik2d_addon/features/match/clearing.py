# SPDX-License-Identifier: GPL-3.0-or-later
"""Clear the keys of snaps and switches, and give back what they replaced."""

from collections.abc import Sequence
from contextlib import suppress

import bpy
from bpy.types import Object, PropertyGroup

from ...bake.keys.clearing import chains_to_clear, channels_of
from ...core import IK2DError
from ...core.words import listed, refusal
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.kept.giving_back import GivenBack, Wanted, give_back, has_keys
from ...rig.animation.kept.marks import SNAP
from ...rig.animation.times import action_ends
from ...rig.chain.chain import read_chain
from ...rig.scene.live_pause import live_paused
from .own_limbs import limb_of


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
        for owner, wanted in _channels(chain).items():
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
    chains = list(armature.ik2d.chains)
    if any(has_keys(*each, (SNAP,)) for chain in chains for each in channels_of(chain).items()):
        return True
    if not has_keys(armature, lambda *_: True, (SNAP,)):  # to find controls takes a while
        return False
    return any(has_keys(armature, _channels(chain)[armature], (SNAP,)) for chain in chains)


def _channels(chain: PropertyGroup) -> dict[Object, Wanted]:
    """Return the objects whose keys pose a chain, each with the channels; also the rig's own controls."""
    armature, channels = chain.id_data, channels_of(chain)
    with suppress(IK2DError):  # of a faulty chain
        limb = limb_of(read_chain(armature, chain))
        posed = map(armature.pose.bones.get, limb.controls if limb is not None else ())
        paths = {bone.path_from_id(name) for bone in posed for name in ("location", "scale", *ROTATIONS)}
        of_chain = channels[armature]
        channels[armature] = lambda path, index: path in paths or of_chain(path, index)
    return channels
