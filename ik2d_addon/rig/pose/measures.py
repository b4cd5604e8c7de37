# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures of a posed chain: uneven scale, and joints off its plane."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.affine import is_constant
from ...core.inputs import Floats
from ...core.words import noted, say
from ..chain.chain import RigChain
from ..chain.checks.bones import rest_joints
from ..chain.planes import reach_of

# A scale is even if its axes differ by less than this part.
EVEN = 1e-3
_ONE = np.eye(3)


# --- Uneven scale ------------------------------------------------------------


def is_uneven(matrices: Floats) -> bool:
    """Return whether any of the matrices (frames, 3, 3) stretches some directions more than others."""
    return bool(uneven(matrices[:, None])[0])


def uneven(matrices: Floats) -> NDArray[np.bool_]:
    """Return a mask (k,) of the bones whose matrices (frames, k, 3, 3) are uneven."""
    if is_constant(matrices):
        matrices = matrices[:1]
    if (matrices == _ONE).all():
        return np.zeros(matrices.shape[1], np.bool_)
    squares = np.swapaxes(matrices, -1, -2) @ matrices
    size = (squares[..., 0, 0] + squares[..., 1, 1] + squares[..., 2, 2]) / 3.0
    off = np.abs(squares - size[..., None, None] * _ONE).max(axis=(0, 2, 3), initial=0.0)
    is_off: NDArray[np.bool_] = off > EVEN * size.max(axis=0)
    return is_off


def uneven_in_words(rigs: Sequence[RigChain], worlds: Floats, above: Floats, bases: Floats) -> list[str]:
    """Return for each chain the name, in words, of what is scaled unevenly, armature or bone; "" for none.

    worlds, above: (chains, frames, 4, 4) of armatures, and from rest to pose. bases: (chains, frames, n, 4,
    4) of bones.
    """
    by_frame = (np.moveaxis(matrices[..., :3, :3], 0, 1) for matrices in (worlds, above, bases))
    masks = [uneven(each.reshape(len(each), -1, 3, 3)).reshape(len(rigs), -1) for each in by_frame]
    parts = np.concatenate(masks, axis=1)  # of each chain: armature, above, bones
    found = [int(np.argmax(its)) if its.any() else None for its in parts]
    return ["" if part is None else _uneven_part(rig, part) for rig, part in zip(rigs, found, strict=True)]


def _uneven_part(rig: RigChain, part: int) -> str:
    if part == 1:
        return uneven_above(rig)
    if part == 0:
        return say("armature '{armature}'", armature=rig.armature.name)
    return say("bone '{bone}'", bone=rig.bones[part - 2])


def uneven_above(rig: RigChain) -> str:
    """Return the bone above the chain that is scaled unevenly, in words; as posed now, else any may be."""
    above = rig.pose_bones[0].parent_recursive
    for bone in reversed(above):  # the topmost; those below have it from there
        if is_uneven(np.array(bone.matrix, np.float64)[None, :3, :3]):
            return say("bone '{bone}'", bone=bone.name)
    return (
        say("bone '{above}', or one above it,", above=above[0].name)
        if above
        else say("bone '{bone}'", bone=rig.bones[0])
    )


def uneven_words(chain: str, what: str) -> str:
    """Say that something is scaled unevenly."""
    return say(
        "Chain '{chain}': {what} is scaled unevenly, so the bones change their length as "
        "they turn; apply the scale to get exact results",
        chain=chain,
        what=what,
    )


# --- Off the plane -----------------------------------------------------------


def askew_words(rig: RigChain) -> str:
    """Say which of the chain's hinges is furthest off the plane's normal, and what to do about it."""
    worst = int(np.argmax(rig.joints.slants))
    slant = np.degrees(rig.joints.slants[worst])
    template = noted(
        "locks make '{bone}' turn about an axis {slant:.2g} degrees off the plane's normal; "
        "unlock it, change its roll, or set Bends In to Hinges"
    )
    if rig.post is not None:
        template = noted(
            "locks make '{bone}' turn about an axis {slant:.2g} degrees off the plane's normal; "
            "unlock it, or change its roll"
        )
    return say(template, bone=rig.bones[worst], slant=slant)


def off_plane_words(chain: str, far: str) -> str:
    """Say that joints are off one plane, by a length in words."""
    return say(
        "Chain '{chain}': its joints are up to {far} off one plane; it is solved as seen "
        "along the plane's normal",
        chain=chain,
        far=far,
    )


def rest_reach(rig: RigChain) -> float:
    """Return the length of a chain's bones in rest."""
    return reach_of(rest_joints(rig.pose_bones))
