# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints' angles of a solved chain, as the report has them."""

from ...core.affine import changed
from ...core.inputs import Floats, wrapped
from ...rig.pose.bone_matrices import bone_poses, rotations_of
from ...rig.pose.joint_angles import angles_from_rest
from ...rig.scene.samples import ChainSamples
from .frames import SolvedChain
from .stretching import as_solved


def solved_angles(chain: SolvedChain, samples: ChainSamples) -> Floats:
    """Return the angles from rest (frames, n), as in `angles_from_rest`, of a chain solved at the samples.

    With the whole turns that its bones make. Bones that are scaled evenly, and the same on all frames, turn
    in the plane as about their axes: the first frame tells where they begin, or it is at rest without scale.
    """
    linkage = chain.linkage
    bent = not (chain.factors is None and chain.locations is None and chain.aside is None)
    plain = linkage is not None and linkage.is_flat and not (bent or chain.noticed.uneven_scale)
    if plain and linkage is not None and linkage.is_unscaled:
        return relative_turns(chain)
    rows = slice(1) if plain else slice(None)
    shown = as_solved(chain.rig, samples, chain.factors, chain.locations).at(rows)
    swings, aside = (None if each is None else each[rows] for each in (chain.swings, chain.aside))
    shown = changed(shown, swings=swings)
    poses = bone_poses(chain.rig, shown, rotations_of(chain.rig, chain.turns[rows], swings, aside))
    turned = relative_turns(chain)
    begin = angles_from_rest(chain.rig, shown, poses)
    return turned + wrapped(begin - turned[rows])


def relative_turns(chain: SolvedChain) -> Floats:
    """Return the turns (frames, n) of the bones, each from the bone before, also where it inherits none."""
    turned = chain.turns.copy()
    for i, bone in enumerate(chain.rig.pose_bones[1:], start=1):
        if not bone.bone.use_inherit_rotation:
            turned[:, i] -= turned[:, :i].sum(axis=1)
    return turned


def nearest_turns(angles: Floats, others: Floats) -> Floats:
    """Return the same rotations as angles (...), as near to others as whole turns allow."""
    return others + wrapped(angles - others)
