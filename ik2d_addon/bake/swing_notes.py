# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings on planes that follow a target or a pole: where they flip, and curves that stray between keys."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.inputs import Floats
from ..core.swing import ARC, POLE, SWING
from ..core.words import number_of
from ..rig.chain.chain import RigChain
from ..rig.pose.swings import NEAR, STEP
from .keys.keying import KeyedChain
from .lengths import length_text
from .solving.frames import SolvedChain

# The target's direction that leaves a plane open, and the way out.
_WHERE = {SWING: "across its plane", POLE: "in line with its pole", ARC: "straight behind the chain at rest"}
_CURE = {
    SWING: "lead the target round there, or choose Towards Pole",
    POLE: "move the pole or the target aside",
    ARC: "lead the target round there, or choose Towards Pole",
}
# Curves that miss the way between keys by more than this part of the reach are worth a warning.
STRAYED = 1e-3


def flip_notes(chain: SolvedChain, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where a plane that follows its target is nearly open, and where it turns fast."""
    rig = chain.rig
    if rig.swing is None or chain.openness is None or chain.plane_steps is None:
        return
    if chain.spins is None:
        yield from open_note(rig, chain.openness, frames)
    fast = chain.plane_steps > STEP
    if fast.any():
        worst = int(np.argmax(chain.plane_steps))
        count = int(fast.sum())
        others = f", the most of {count} such turns" if count > 1 else ""
        eased = "" if chain.spins is not None else "; Ease Flips in the bake's options turns it slowly"
        yield (
            f"Chain '{rig.name}': its plane turns by {np.degrees(chain.plane_steps[worst]):.0f} degrees from"
            f" frame {frames[max(worst - 1, 0)]:g} to {frames[worst]:g}{others}{eased}"
        )


def open_note(rig: RigChain, openness: Floats | None, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where a target is near the direction that leaves a plane open.

    openness: (frames,) radians between the two; None for a fixed plane.
    """
    if rig.swing is None or openness is None or not (openness < NEAR).any():
        return
    worst, count = int(np.argmin(openness)), int((openness < NEAR).sum())
    degrees, where = np.degrees(openness[worst]), _WHERE[rig.swing.rule]
    yield (
        f"Chain '{rig.name}': its target is {where} within {np.degrees(NEAR):.0f} degrees"
        f" on {number_of(count, 'frame')} ({degrees:.2g} degrees at frame {frames[worst]:g}),"
        f" where its plane may turn over; {_CURE[rig.swing.rule]}, or bake with Ease Flips"
    )


def stray_note(keyed: KeyedChain, frames: Sequence[float], units: str) -> Iterator[str]:
    """Yield a sentence where Euler angles of the first bone do not keep to the way between two keys."""
    chain, gap, strayed = keyed.solved, *keyed.strayed
    if chain.rig.swing is None:
        return
    first = chain.rig.pose_bones[0]
    euler = first.rotation_mode not in ('QUATERNION', 'AXIS_ANGLE')
    if euler and strayed > STRAYED * chain.reach:
        yield (
            f"Chain '{chain.rig.name}': between frames {frames[gap]:g} and {frames[gap + 1]:g} its tip may"
            f" stray by some {length_text(strayed, units)}: '{first.name}' turns by {first.rotation_mode}"
            " angles, which follow a fast plane badly; Quaternion, as its rotation mode, does better"
        )
