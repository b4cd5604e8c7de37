# SPDX-License-Identifier: GPL-3.0-or-later
"""The rounding of Blender's 32-bit floats, and the distance from tip to target that counts as reached."""

import numpy as np

from ...core.affine import norms
from ...core.inputs import Floats

# What keys in 32 bits may add to a promised distance, as a part of the reach.
PLAYED_BACK = 1e-5
# A place gathers some roundings from matrix to matrix, of half the spacing of floats each; 2 were seen.
_ROUNDINGS = 8


def rounding(sizes: Floats) -> Floats:
    """Return the lengths (...) by which 32-bit floats may put places of sizes (...) off."""
    return _ROUNDINGS * 0.5 * float(np.finfo("f4").eps) * sizes


def reached_within(tolerance: Floats, reach: Floats, world: Floats, roots: Floats) -> Floats:
    """Return the distances (..) from tip to target that count as reached, in the world as all lengths here.

    The solver's tolerance, or else PLAYED_BACK of the reach, and the rounding where the chain is: up to the
    reach, as a larger one says nothing. tolerance, reach: (..) of chains. world: (.., frames, 4, 4) the
    armature object's matrices; roots: (.., frames, 3) the chains' first joints.
    """
    origins = world[..., :3, 3]
    sizes = norms(origins) + norms(roots) + norms(roots - origins) + np.asarray(reach)[..., None]
    rounded = np.minimum(rounding(sizes).max(axis=-1), reach)
    within: Floats = np.maximum(tolerance, PLAYED_BACK * reach) + rounded
    return within
