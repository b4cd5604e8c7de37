# SPDX-License-Identifier: GPL-3.0-or-later
"""The post above a chain that is held by its tip: it turns so that the chain's plane holds each place."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.inputs import Floats, wrapped
from ...rig.animation.bone_channels import BoneRotation
from ...rig.chain.chain import RigChain
from ...rig.pose.keyed_pose import pose_without_chain
from ...rig.pose.posts import (
    PostSpace,
    angles_in,
    chain_of_post,
    on_post,
    post_channels,
    post_space,
    solved_post,
)
from ...rig.scene.samples import ChainSamples


@dataclass(eq=False)
class HeldPost:
    """A post when its chain was read, and as it was turned since. Angles (1,) are radians about its axis."""

    rig: RigChain  # of the chain
    space: PostSpace
    by_hand: Floats | None  # its own angle, that an influence below 1 blends with
    angles: Floats | None = None  # None where it was not turned yet

    @classmethod
    def of(cls, scene: bpy.types.Scene, rig: RigChain, own: ChainSamples, influence: float) -> "HeldPost":
        """Read a post in the current pose. own: samples of `chain_of_post`."""
        times, by_hand = [scene.frame_float], None
        space = post_space(scene, rig, own, times, as_posed=True)
        if influence < 1.0:
            pose = pose_without_chain(scene, chain_of_post(rig), times)
            assert pose.channels is not None
            by_hand = angles_in(rig, pose.channels)
        return cls(rig, space, by_hand)

    def solved(self, samples: ChainSamples) -> ChainSamples:
        """Return samples as the post carries the chain where its plane goes through their target."""
        return on_post(self.rig, samples, self.space, solved_post(self.rig, samples, self.space).angles)

    def holds(self, samples: ChainSamples, near: float) -> bool:
        """Return whether the plane went through a target when the post was read, to within some radians."""
        angles = solved_post(self.rig, samples, self.space).angles
        return bool(np.abs(wrapped(angles - self.space.angles)).max() <= near)

    def turn(self, samples: ChainSamples) -> None:
        """Turn it so that the plane goes through their target, as far as the chain's influence goes."""
        angles = solved_post(self.rig, samples, self.space).angles
        if self.by_hand is not None:
            angles = self.by_hand + samples.influence * wrapped(angles - self.by_hand)
        self.angles = angles

    def shown(self, samples: ChainSamples) -> ChainSamples:
        """Return samples as the post carries the chain now."""
        return samples if self.angles is None else on_post(self.rig, samples, self.space, self.angles)

    @property
    def channels(self) -> list[BoneRotation]:
        """Its rotation channels, where it was turned."""
        return [] if self.angles is None else [post_channels(self.rig, self.angles, self.space.swings)]
