# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg with a chain to read, and the error that reading it raises."""

import pytest
from rigs import add_chain, add_leg, add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import problem_of, read_chain

EXACT = 1e-6  # of two units' length: 32-bit bones


def leg(**settings):
    """Add the leg with a chain and a target that stays; return armature and chain."""
    armature = add_leg()
    return armature, add_chain(armature, "shin", add_target({}), **settings)


def leg_with_pole(pole="Pole", **settings):
    """Add the leg with a chain whose plane is towards a pole; return armature and chain."""
    armature, chain = leg(plane='POLE', **settings)
    chain.pole = add_target({}, pole) if pole else None
    return armature, chain


def refusal(armature, chain):
    """Return the error that reading a chain raises; `problem_of` has the same."""
    with pytest.raises(IK2DError) as caught:
        read_chain(armature, chain)
    assert problem_of(armature, chain) == str(caught.value)
    return str(caught.value)
