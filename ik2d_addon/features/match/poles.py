# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a pole has to be for a chain to solve to a pose: turned about the line from root to target."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...bake.solving.frames import SolvedChain
from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import say
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import acting
from ...rig.pose.bone_matrices import first_rotations
from ...rig.pose.swings import turned_poles
from ...rig.pose.target_moves import why_fixed
from ...rig.scene.samples import ChainSamples
from .targets import MatchView, locations_on_tips


def as_target(rig: RigChain) -> RigChain:
    """Return a chain with its pole in place of its target, for what moves targets."""
    assert rig.pole is not None
    return replace(rig, target=rig.pole[0], subtarget=rig.pole[1], pole=None, swing=None)


def pole_locations(
    view: MatchView, rig: RigChain, posed: ChainSamples, solved: SolvedChain, others: Sequence[RigChain]
) -> Floats:
    """Return the locations (frames, 3) of a pole that turn the first bone as it is posed.

    posed: as the bones' own keys have them, with the target on the tip. solved: the chain there, with the
    pole where it is now. others: all chains that are matched. Raises IK2DError where the pole cannot be
    moved, or others follow it.
    """
    assert rig.pole is not None and solved.swings is not None
    sharing = [other.name for other in others if other.name != rig.name and rig.pole in other.followed]
    reason = why_fixed(*acting(rig.pole)[0], constrained=True)
    if reason or sharing:
        raise IK2DError(reason or say("chain '{sharing}' follows it too", sharing=sharing[0]))
    now = first_rotations(rig, solved.turns[:, 0], solved.swings)
    places = turned_poles(rig, posed, own_rotations(rig, posed, 0) @ now.swapaxes(1, 2))
    (locations,), _ = locations_on_tips(view, [as_target(rig)], [places])
    return locations


def own_rotations(rig: RigChain, posed: ChainSamples, bone: int) -> Floats:
    """Return the local rotations (frames, 3, 3) that a bone's own channels give it, without scale."""
    axes = posed.bases[:, bone, :3, :3]
    signs = np.where(np.array(rig.pose_bones[bone].scale) < 0.0, -1.0, 1.0)
    rotations: Floats = axes / np.linalg.norm(axes, axis=1, keepdims=True) * signs
    return rotations


def stays(rig: RigChain, why: IK2DError) -> str:
    """Return the sentence that a pole stays where it is."""
    assert rig.pole is not None
    name = rig.pole[1] or rig.pole[0].name
    return say(
        "Chain '{chain}': its pole '{name}' stays where it is ({why}), so that the bones may turn",
        chain=rig.name,
        name=name,
        why=why,
    )
