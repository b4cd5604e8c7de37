# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings on planes that follow a target or a pole: where they flip, and curves that stray between keys."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.inputs import Floats
from ...core.swing import POLE, SHORTEST_WAY, SWING
from ...core.words import noted, number_of, say
from ...rig.chain.chain import RigChain
from ...rig.pose.rotations import post_and_hinge
from ...rig.pose.swings import NEAR, STEP
from ..keys.keying import KeyedChain
from ..lengths import Units, length_text
from ..solving.frames import SolvedChain

# The target's direction that leaves a plane open, and the way out.
WHERE = {
    SWING: noted("across its plane"),
    POLE: noted("in line with its pole"),
    SHORTEST_WAY: noted("straight behind the chain at rest"),
}
_CURE = {
    SWING: noted("move the target around that place, or choose Towards Pole"),
    POLE: noted("move the pole or the target aside"),
    SHORTEST_WAY: noted("move the target around that place, or choose Towards Pole"),
}
# Curves that miss the way between keys by more than this part of the reach are worth a warning.
STRAYED = 1e-3


def flip_notes(chain: SolvedChain, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where a plane that follows its target is nearly open, and where it turns fast."""
    rig, plane = chain.rig, chain.noticed.plane_turns
    if rig.swing is None or plane is None:
        return
    if plane.spins is None:
        yield from open_note(rig, plane.openness, frames)
    fast = plane.steps > STEP
    if fast.any():
        worst = int(np.argmax(plane.steps))
        count = int(fast.sum())
        others = say(", the most of {count} such turns", count=count) if count > 1 else ""
        eased = "" if plane.spins is not None else say("; Ease Flips in the bake's options turns it slowly")
        yield say(
            "Chain '{chain}': its plane turns by {angle:.0f} degrees from frame {frame:g} to "
            "{frame_2:g}{others}{eased}",
            chain=rig.name,
            angle=np.degrees(plane.steps[worst]),
            frame=frames[max(worst - 1, 0)],
            frame_2=frames[worst],
            others=others,
            eased=eased,
        )


def open_note(rig: RigChain, openness: Floats, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where a target is near the direction that leaves a plane open.

    openness: (frames,) radians between the two.
    """
    if rig.swing is None or not (openness < NEAR).any():
        return
    worst, count = int(np.argmin(openness)), int((openness < NEAR).sum())
    degrees, where = np.degrees(openness[worst]), WHERE[rig.swing.rule]
    yield say(
        "Chain '{chain}': its target is {where} within {angle:.0f} degrees on {frames} "
        "({angle_2:.2g} degrees at frame {frame:g}), where its plane may turn over; {cure}, "
        "or bake with Ease Flips",
        chain=rig.name,
        where=where,
        angle=np.degrees(NEAR),
        frames=number_of(count, "frame"),
        angle_2=degrees,
        frame=frames[worst],
        cure=_CURE[rig.swing.rule],
    )


def stray_note(keyed: KeyedChain, frames: Sequence[float], units: Units) -> Iterator[str]:
    """Yield a sentence where Euler angles of the first bone do not keep to the way between two keys."""
    chain, gap, strayed = keyed.solved, *keyed.strayed
    if chain.rig.swing is None or post_and_hinge(chain.rig) is not None:
        return
    first = chain.rig.pose_bones[0]
    euler = first.rotation_mode not in ('QUATERNION', 'AXIS_ANGLE')
    if euler and strayed > STRAYED * chain.reach:
        yield say(
            "Chain '{chain}': between frames {frame:g} and {frame_2:g} its tip may be off by "
            "some {length}: '{first}' turns by {mode} angles, which follow a fast plane badly; "
            "Quaternion, as its rotation mode, does better",
            chain=chain.rig.name,
            frame=frames[gap],
            frame_2=frames[gap + 1],
            length=length_text(strayed, units),
            first=first.name,
            mode=first.rotation_mode,
        )
