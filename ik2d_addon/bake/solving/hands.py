# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet of a solved chain: their rotations, and how far off they play."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.affine import orientations
from ...core.inputs import Floats
from ...rig.animation.bone_channels import BoneRotation
from ...rig.chain.chain import RigChain
from ...rig.pose.bone_matrices import rotations_of
from ...rig.pose.hand_rotations import OwnTurns, TurnedHands, angles_between, turned_hands
from ...rig.scene.samples import ChainSamples
from .frames import SolvedChain
from .stretching import as_solved


@dataclass(frozen=True, eq=False)
class KeyedHands:
    """The rotations of a chain's hands to key, and the orientations that these give."""

    rotations: list[BoneRotation]
    turned: TurnedHands  # at the times
    times: Floats  # (m,)
    keyed: NDArray[np.bool_]  # (m,) the times at which the keys give these orientations, within the bound
    bound: float = 0.0  # radians that reducing keys may cost

    def off(self, times: Floats, hands: Floats) -> tuple[Floats, Floats]:
        """Return the errors (frames,), in radians, of hands (frames, k, 3, 3) played back at times.

        Against the wanted orientation, and against the keyed one; NaN where it is not known.
        """
        rows = np.searchsorted(self.times, times).clip(max=len(self.times) - 1)
        known, shown = self.times[rows] == times, orientations(hands)
        from_wanted, from_keyed = (
            np.where(told, angles_between(shown, there[rows]).max(axis=1), np.nan)
            for there, told in (
                (self.turned.wanted, known),
                (self.turned.shown, known & self.keyed[rows]),
            )
        )
        return from_wanted, from_keyed


def hands_of(chain: SolvedChain, samples: ChainSamples, others: OwnTurns) -> TurnedHands:
    """Return the rotations of the hands of a chain that was solved at the sampled frames."""
    rotations = rotations_of(chain.rig, chain.turns, chain.swings, chain.aside)
    return hands_held(chain.rig, samples, rotations, others, chain.factors, chain.locations)


def hands_held(
    rig: RigChain,
    samples: ChainSamples,
    rotations: Sequence[Floats],
    others: OwnTurns,
    factors: Floats | None,
    locations: Floats | None,
) -> TurnedHands:
    """Return the hands' rotations for local rotations, (frames, 3, 3) a bone, factors and locations."""
    assert rig.hands is not None
    return turned_hands(rig, as_solved(rig, samples, factors, locations), rotations, others, rig.hands)
