# SPDX-License-Identifier: GPL-3.0-or-later
"""The post above a live chain: what else moves it, and the angle that its channels get."""

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ..bake.reporting.causes import NEAR_AXIS
from ..core.inputs import wrapped
from ..core.post import HELD, LIMITED
from ..core.words import noted, refusal, say
from ..rig.chain.chain import RigChain
from ..rig.chain.dependencies import acts_now
from ..rig.chain.post import holding_apart, is_held_apart
from ..rig.pose.keyed_pose import pose_of_hand_made
from ..rig.pose.posts import angles_in, chain_of_post
from ..rig.scene.bone_constraints import Held, OtherControl, not_followed, possible_controls
from .frame_state import FrameState
from .plain.post import PostWriter
from .status.outcome import LiveOutcome
from .writing import PoseWrites

_AT_LIMIT = noted("stopped by the post's limits at {angle:.3g} degrees")


class LivePost:
    """Cached reading of the post above a live chain."""

    def __init__(self, rig: RigChain, reaching: Sequence[Held]) -> None:
        """Read it. reaching: as in `possible_controls`."""
        self._rig, self._alone = rig, chain_of_post(rig)
        self.writer = self._writer()
        self.controls = possible_controls(self._alone, reaching)
        post, *carried = rig.pose_from_post[: -len(rig.bones)]
        self._apart = list(holding_apart([*carried, rig.pose_bones[0]], post))

    def _writer(self) -> PostWriter:
        assert self._rig.post is not None
        return PostWriter(self._alone.pose_bones[0], self._rig.post.rule.axis)

    def writer_for(self, bones: bpy.types.bpy_prop_collection) -> PostWriter:
        """Return the writer of the post's angle, another where the evaluated bones show another mode."""
        if bones[self.writer.name].rotation_mode != self.writer.mode:
            self.writer = self._writer()
        return self.writer

    @property
    def has_controls(self) -> bool:
        """Whether constraints may turn it, or keep what it carries from turning, now and then."""
        return bool(self.controls or self._apart)

    def refuse_held_apart(self, bones: bpy.types.bpy_prop_collection) -> None:
        """Raise IK2DError where a constraint of evaluated bones keeps them from turning with the post."""
        for bone, constraint in self._apart:
            if acts_now(bones[bone.name].constraints[constraint.name]):
                error = is_held_apart(bone, constraint, *self._alone.pose_bones)
                raise refusal("Chain '{chain}': {error}", chain=self._rig.name, error=error)

    def other_controls(self, bones: bpy.types.bpy_prop_collection) -> list[OtherControl]:
        """Return the constraints that turn the post in place of its chain, on evaluated bones."""
        return not_followed(self._alone, acting_of(self.controls, bones))

    def outcome(self, outcome: LiveOutcome | None, frame: FrameState) -> LiveOutcome | None:
        """Return the outcome of a solve with why the post does not bring the plane to the target, if so."""
        if outcome is None or frame.post is None or frame.post.status == HELD:
            return outcome
        words = NEAR_AXIS
        if frame.post.status == LIMITED:
            words = say(_AT_LIMIT, angle=np.degrees(frame.post.angle))
        return replace(outcome, post=words)

    def rotation(self, frame: FrameState) -> Matrix | None:
        """Return the post's rotation (3x3) from rest on a frame; None where it is not turned."""
        if frame.post is None:
            return None
        return self.writer.rotation(self._angle(frame, frame.post.angle), frame.post.bone)

    def write(self, frame: FrameState, writes: PoseWrites) -> bool:
        """Add the post's angle where the frame shows another one; return whether it does."""
        if frame.post is None:
            return False
        return writes.add([frame.post.bone], [self.writer], [self._angle(frame, frame.post.angle)])

    def _angle(self, frame: FrameState, angle: float) -> float:
        """Return the angle to write: below full influence so far from its own by the shorter way."""
        if frame.influence == 1.0:
            return angle
        own = pose_of_hand_made(frame.scene, self._alone, [frame.scene.frame_float])
        assert own.channels is not None
        by_hand = angles_in(self._rig, own.channels)
        return float((by_hand + frame.influence * wrapped(angle - by_hand))[0])

    def pause(self, bones: bpy.types.bpy_prop_collection, writes: PoseWrites) -> bool:
        """Leave the post to other controls, unturned; return whether it had to be turned."""
        bone = bones[self.writer.name]
        self.writer_for(bones).read(bone)
        return writes.add([bone], [self.writer], [0.0])


def acting_of(controls: Sequence[OtherControl], bones: bpy.types.bpy_prop_collection) -> list[OtherControl]:
    """Return the controls that act on evaluated bones."""
    return [each for each in controls if acts_now(bones[each.owner].constraints[each.constraint])]
