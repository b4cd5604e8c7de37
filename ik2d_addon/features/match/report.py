# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of Snap Target to Bones: how far each chain's solve is off its FK pose, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...bake.lengths import Units, length_text
from ...core.inputs import Floats
from ...core.words import say
from ...rig.chain.chain import RigChain
from ...rig.pose.target_plane import facing_target
from ...rig.scene.samples import ChainSamples
from ...ui.auto_keying import Moved
from .animated_settings import ChainValue
from .hands import hand_errors
from .poles import joint_errors, solved_at, turns_on

# Joints and tips within these match: radians, and a part of the reach.
SAME_JOINTS, SAME_TIPS = np.radians(0.1), 1e-5
# Feet and hands within this match, in radians.
SAME_HANDS = 1e-4
# The smallest angle in a report, in degrees.
SHOWN = 0.001


@dataclass(frozen=True, eq=False)
class ChainMatch:
    """Errors of a chain's solve against the FK pose that its target was matched to. Lengths: the world's."""

    name: str
    target: str
    frames: Floats  # (frames,)
    distance: Floats  # (frames,) from the tip as posed to the tip as solved
    joints: Floats  # (frames, n) radians that each bone's own rotation is off
    bones: tuple[str, ...]
    reach: float
    hands: Floats  # (frames, k) radians that what hangs on its tip, and the chain turns, is off
    hand_bones: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def tips_match(self) -> bool:
        """Whether the solved tip matches on every frame."""
        return bool(self.distance.max() <= SAME_TIPS * self.reach)

    @property
    def joints_match(self) -> bool:
        """Whether all solved joints match on every frame."""
        return bool(self.joints.max() <= SAME_JOINTS and self.hands.max(initial=0.0) <= SAME_HANDS)

    def worst(self) -> tuple[float, str, float]:
        """Return the largest angle in radians that a bone is off, its name, and the frame.

        Feet and hands are named as soon as they do not match, as their bounds are narrower.
        """
        errors = [(self.joints, self.bones)]
        if self.hands.size and (self.hands.max() > SAME_HANDS or self.hands.max() > self.joints.max()):
            errors = [(self.hands, self.hand_bones), *errors][: 1 if self.joints.max() <= SAME_JOINTS else 2]
        off, names = max(errors, key=lambda measured: float(measured[0].max()))
        row, bone = np.unravel_index(int(np.argmax(off)), off.shape)
        return float(off[row, bone]), names[bone], float(self.frames[row])


@dataclass(frozen=True, eq=False)
class MatchReport:
    """Result of Snap Target to Bones: each chain's match, and the properties that were moved without keys."""

    chains: tuple[ChainMatch, ...]
    moved: tuple[Moved, ...]
    units: Units
    rig_warnings: tuple[str, ...] = ()

    @property
    def matches(self) -> bool:
        """Whether all tips and joints match on every frame."""
        return all(chain.tips_match and chain.joints_match for chain in self.chains)

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings: the rig's, then the chains'."""
        return (*self.rig_warnings, *(warning for chain in self.chains for warning in chain.warnings))

    def sentence(self) -> str:
        """Return the report in one sentence."""
        frames, count = len(self.chains[0].frames), len(self.chains)
        what = (
            say("{count} targets to their tips", count=count)
            if count > 1
            else say("'{target}' to the tip", target=self.chains[0].target)
        )
        on = say(" on {frames} frames", frames=frames) if frames > 1 else ""
        return say(
            "Moved {what}{on}; {tips}, {joints}", what=what, on=on, tips=self._tips(), joints=self._joints()
        )

    def _tips(self) -> str:
        worst = max(self.chains, key=lambda chain: float(chain.distance.max() / chain.reach))
        if worst.tips_match:
            if len(self.chains) > 1:
                return say("solved, the tips come back there")
            return say("solved, the tip comes back there")
        row = int(np.argmax(worst.distance))
        far = length_text(worst.distance[row], self.units)
        return say(
            "solved, the tip of '{worst}' is up to {far} off (frame {frame:g})",
            worst=worst.name,
            far=far,
            frame=worst.frames[row],
        )

    def _joints(self) -> str:
        worst = max(self.chains, key=lambda chain: (not chain.joints_match, chain.worst()[0]))
        angle, bone, frame = worst.worst()
        turn = say("{angle:.2g} degrees", angle=max(float(np.degrees(angle)), SHOWN))
        if worst.joints_match:
            return say("joints within {turn}", turn=turn)
        return say("bone '{bone}' {turn} off (frame {frame:g})", bone=bone, turn=turn, frame=frame)


def match_of(
    scene: bpy.types.Scene,
    rig: RigChain,
    posed: ChainSamples,
    after: ChainSamples,
    times: Sequence[float],
    keyed: bool,
    switch: bool,
) -> ChainMatch:
    """Return the errors of the chain, solved with its new target and settings, against the FK pose."""
    if not keyed:
        bend = ChainValue.of(rig, "bend")
        side = 1.0 if bend.number == bend.sides(np.ones(1))[0] else -1.0
        turn = ChainValue.of(rig, "plane_turn").number if turns_on(rig) else None
        after = after.with_settings(softness=0.0, bend=side, plane_turn=turn)
    solved = solved_at(scene, facing_target(rig, after), after, times)
    bones = rig.hands.bones if rig.hands is not None else ()
    off = np.zeros((len(times), len(bones)))
    if bones:
        off = hand_errors(scene, solved, after, posed, times)
        off[: int(switch)] = 0.0  # on the frame before a switch they have their own rotations
    name = f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name
    drift = np.linalg.norm(after.targets - posed.tips, axis=1)
    return ChainMatch(
        rig.name,
        name,
        np.array(times, np.float64),
        solved.miss.distance + drift,
        joint_errors(solved, posed),
        rig.bones,
        solved.reach,
        off,
        bones,
        rig.warnings,
    )
