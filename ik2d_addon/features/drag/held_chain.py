# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain held by its tip: read once, then solved for each place that the tip is moved to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np
from mathutils import Matrix

from ...bake.now import blended_pose
from ...bake.solving.frames import SolvedChain, solve_chain
from ...bake.solving.hands import hands_held
from ...bake.solving.stretching import with_scale
from ...core.inputs import Floats
from ...core.solution import drained
from ...live.shown import shown_place
from ...rig.animation.bone_channels import BoneRotation, matrices, set_values, values_of
from ...rig.chain.chain import RigChain
from ...rig.chain.hands import note_posed
from ...rig.pose.bone_matrices import first_rotations, rest_to_pose, rotations_of
from ...rig.pose.hand_rotations import OwnTurns, angles_between, own_turns
from ...rig.pose.keyed_pose import KeyedPose, NeighborPoses, OwnPose, keyed_pose_now
from ...rig.pose.kinematics import Linkage, read_linkage
from ...rig.pose.posts import chain_of_post
from ...rig.pose.rotations import bone_rotations
from ...rig.pose.swings import swung
from ...rig.pose.target_plane import facing_target
from ...rig.scene.carried import carried_now
from ...rig.scene.lengths.slide_locations import slide_channels, slides_remembered, without_slides
from ...rig.scene.lengths.stretch_scales import scale_channels, scales_remembered
from ...rig.scene.sampler import sample_now
from ...rig.scene.samples import ChainSamples
from .held_post import HeldPost

# A tip off its solved place by less than this part of the reach shows the solved pose.
_SOLVED = 1e-3
# How far 32 bits may move a matrix that did not change, as a part of its largest entry.
_SAME = 1e-5


@dataclass(eq=False)
class HeldChain:
    """A chain held by its tip. `keyed_pose` and `bend` go on from each place of the tip to the next."""

    scene: bpy.types.Scene
    rig: RigChain
    samples: ChainSamples  # of the current frame alone
    linkage: Linkage
    other_pose: OwnPose | None  # of one frame, that an influence below 1 blends with
    keyed_pose: KeyedPose
    bend: float  # +1 or -1
    post: HeldPost | None = None  # above the chain
    written: Sequence[BoneRotation] = ()  # the channels that were written last
    _own: OwnTurns | None = field(default=None, init=False)  # the hands' rotations without the chain

    @classmethod
    def of(cls, scene: bpy.types.Scene, rig: RigChain, settled: bool = True) -> "HeldChain":
        """Read a chain in the current pose. settled: whether its settings say its bend.

        Else it is the side that two bones are bent to now. Raises IK2DError for bones without a finite place.
        """
        samples, post = _sampled(scene, rig)
        rig = facing_target(rig, samples)
        samples = without_slides(scene, rig, samples, [scene.frame_float])
        linkage, keyed_pose = read_linkage(rig, with_scale(rig, samples)), _pose_now(scene, rig, samples)
        other_pose = blended_pose(scene, rig, samples, [scene.frame_float])
        bend = float(samples.bend[0]) if settled else _side(linkage, keyed_pose.turns)
        return cls(scene, rig, samples, linkage, other_pose, keyed_pose, bend, post)

    @property
    def tip(self) -> Floats:
        """(3,) place of the tip in the world when the chain was read."""
        return self.samples.tips[0]

    @property
    def target(self) -> Floats:
        """(3,) place of the target in the world then."""
        return self.samples.targets[0]

    @property
    def ready(self) -> ChainSamples:
        """The samples, with the plane turned to the target if it follows that."""
        return swung(self.rig, self.samples)

    @property
    def normal(self) -> Floats:
        """(3,) unit normal of the chain's plane in the world."""
        linear = (self.samples.world[0] @ rest_to_pose(self.rig, self.ready)[0])[:3, :3]
        normal = np.cross(linear @ self.rig.plane.x, linear @ self.rig.plane.y)
        return normal / np.linalg.norm(normal)

    def held_point(self) -> Floats:
        """Return the point (3,) to take hold of: the target if the tip is solved for it, else the tip.

        The tip is lifted as high over the chain's plane as the target, unless the plane follows that.
        """
        solved = self.solved(self.target, self.bend, keep=True)
        apart = np.abs(solved.turns[0] - self.keyed_pose.turns)
        if solved.swings is not None:
            first = first_rotations(self.rig, solved.turns[:, 0], solved.swings)
            apart[0] = float(angles_between(first, _first_now(self.rig, self.keyed_pose))[0])
        is_held = self.post is None or self.post.holds(self.samples, _SOLVED)
        if is_held and solved.solution.reached[0] and np.sin(apart / 2.0).max() <= _SOLVED:
            return self.target
        if solved.swings is not None or self.post is not None:
            return self.tip
        return self.tip + ((self.target - self.tip) @ self.normal) * self.normal

    def solved(self, point: Floats, bend: float, keep: bool = False) -> SolvedChain:
        """Return the chain solved for a target at a point (3,) of the world, bent to a side.

        The result becomes the pose that the next one goes on from, unless keep.
        """
        samples, times = self._at(point, bend), [self.keyed_pose.frame]
        if self.rig.goes_on and bend != self.bend:  # turned over on the way from one to the next
            samples = ChainSamples.joined([self._at(self.target, self.bend), samples])
            times = [times[0] - 1.0, times[0]]
        linkage = self.linkage if len(times) == 1 and self.post is None else None
        neighbors = NeighborPoses(self.keyed_pose)
        other_pose = None if self.other_pose is None else self.other_pose.at([0] * len(times))
        steps = solve_chain(self.rig, samples, times, neighbors, other_pose=other_pose, linkage=linkage)
        pose = drained(steps).at([len(times) - 1])
        if not keep:
            self.bend = bend
            self.samples = replace(self.samples, targets=samples.targets[-1:])
            if self.post is not None:
                self.post.turn(self.samples)
            self.keyed_pose = replace(self.keyed_pose, turns=pose.turns[0])
        return pose

    def _at(self, point: Floats, bend: float) -> ChainSamples:
        samples = self.samples.with_settings(bend=bend)
        samples = replace(samples, targets=np.asarray(point, np.float64)[None])
        return samples if self.post is None else self.post.solved(samples)

    @property
    def _shown(self) -> ChainSamples:
        """The samples as the chain is posed now."""
        return self.samples if self.post is None else self.post.shown(self.samples)

    def show(self, solved: SolvedChain) -> None:
        """Pose the bones as solved: their turns, slides and scales; locked channels stay."""
        scales = scale_channels(self.rig, solved.factors)
        with slides_remembered([self.rig]), scales_remembered([self.rig], scales):
            slides = slide_channels(self.rig, solved.locations)
            others = [*slides, *scales]
            self.turn(solved.turns, others, solved.factors, solved.locations, solved.swings)
        if self.rig.slides is not None:
            self.keyed_pose = _pose_now(self.scene, self.rig, self.samples)

    def turn(
        self,
        turns: Floats,
        others: Sequence[BoneRotation] = (),
        factors: Floats | None = None,
        locations: Floats | None = None,
        swings: Floats | None = None,
    ) -> None:
        """Turn the bones by turns (1, n) about their local axes, and write other channels of theirs.

        Hands with a rotation of their own turn too. factors, locations, swings: as solved.
        """
        armature = self.rig.armature
        rotations = bone_rotations(self.rig, turns, before=self.keyed_pose.channels, swings=swings)
        hands = self._hands(rotations_of(self.rig, turns, swings), factors, locations)
        self.written = [*(self.post.channels if self.post is not None else ()), *rotations, *others, *hands]
        set_values(armature, values_of(armature, self.written))
        self.keyed_pose.channels.update({rotation.bone: rotation.values[0] for rotation in rotations})

    def _hands(
        self, rotations: Sequence[Floats], factors: Floats | None, locations: Floats | None
    ) -> Sequence[BoneRotation]:
        """Return the hands' rotations for local rotations (1, 3, 3) of the bones."""
        rig = self.rig
        if rig.hands is None:
            return ()
        if self._own is None:
            self._own = own_turns(self.scene, rig, [self.scene.frame_float])
        note_posed(rig.armature.path_resolve(rig.settings.path), rig.hands.bones)
        return hands_held(rig, self._shown, rotations, self._own, factors, locations).rotations

    def is_held_elsewhere(self) -> bool:
        """Return whether the armature, the bone above the chain or its pole moved since it was read.

        Its post is of the chain itself.
        """
        samples = self._shown
        depsgraph = bpy.context.evaluated_depsgraph_get()
        evaluated = self.rig.armature.evaluated_get(depsgraph)
        pairs = [(samples.world[0], evaluated.matrix_world)]
        above = self.rig.pose_bones[0].parent
        if above is not None and samples.parent is not None:
            pairs.append((samples.parent[0], evaluated.pose.bones[above.name].matrix))
        root = evaluated.pose.bones[self.rig.bones[0]]
        if samples.carried is not None:
            pairs.append((samples.carried[0], carried_now(root)[0]))
        if samples.poles is not None and self.rig.pole is not None:
            pairs.append((samples.poles[0], shown_place(*self.rig.pole, depsgraph)))
        return any(np.abs(one - np.array(other)).max() > _SAME * np.abs(one).max() for one, other in pairs)

    def read_again(self) -> None:
        """Read again how the chain is held, and where its target is; the pose is kept."""
        samples, self.post = _sampled(self.scene, self.rig)
        samples = without_slides(self.scene, self.rig, samples, [self.keyed_pose.frame])
        self.samples = replace(samples, tips=self.samples.tips)
        self.linkage = read_linkage(self.rig, with_scale(self.rig, samples))


def _sampled(scene: bpy.types.Scene, rig: RigChain) -> tuple[ChainSamples, HeldPost | None]:
    """Return a chain's samples in the current pose, with the post above it."""
    if rig.post_above is None:
        return sample_now(scene, [rig]).chains[0], None
    samples, own = sample_now(scene, [rig, chain_of_post(rig)]).chains
    return samples, HeldPost.of(scene, rig, own, float(samples.influence[0]))


def _pose_now(scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples) -> KeyedPose:
    """Return the current pose of the joints, the turn of the first one in the plane as that is turned now."""
    keyed, swings = keyed_pose_now(scene, rig), swung(rig, samples).swings
    if swings is None:
        return keyed
    (swing,) = first_rotations(rig, np.zeros(1), swings)
    local = Matrix((swing.T @ _first_now(rig, keyed)[0]).tolist()).to_quaternion()
    turns = keyed.turns.copy()
    turns[0] = 2.0 * np.arctan2(np.array(local)[1:] @ rig.joints.axes[0], local.w)
    return replace(keyed, turns=turns)


def _first_now(rig: RigChain, pose: KeyedPose) -> Floats:
    """Return the first bone's own rotation (1, 3, 3) in a pose."""
    bone = rig.pose_bones[0]
    return matrices(bone.rotation_mode, pose.channels[bone.name][None])


def _side(linkage: Linkage, turns: Floats) -> float:
    """Return the side (+1 or -1) that two bones with the turns (n,) are bent to; +1 for other chains."""
    if len(turns) != 2:
        return 1.0
    _, headings = linkage.unturned()
    angle = linkage.angles_of(turns[None], headings)[0, 1]
    return -1.0 if np.sin(angle) < 0.0 else 1.0
