# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring target, pole and the control of foot or hand to the pose of the rig's own FK controls."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.affine import changed
from ...core.inputs import Floats
from ...core.swing import SWING
from ...core.words import say
from ...rig.animation.value_keys import ValueKeys, acting_driver
from ...rig.chain.chain import RigChain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.planes import BEND, is_locked, read_swing
from ...rig.pose.target_plane import facing_target
from ...rig.rest import rest_axes
from ...rig.scene.samples import ChainSamples
from ...ui.auto_keying import Moved
from .animated_settings import ChainValue, influence_keys, set_number, setting_keys, wanted_values
from .control_keys import Reached, Wish, moved_by, reach, straight, switch_keys, tails_of
from .hindrances import hindrances
from .own_fk import solved_shown
from .own_limbs import OwnLimb, acting
from .poles import as_target, joint_errors, nearest_sides, plane_turns, pole_places, solved_at, turned_on
from .report import SAME_JOINTS, ChainMatch, match_of
from .targets import MatchView, current_pose, location_keys, locations_on_tips, on_frames


@dataclass(frozen=True, eq=False)
class FkPose:
    """The pose that its own FK controls give a limb: pose matrices (frames, 4, 4) of its parts."""

    limb: OwnLimb
    poses: dict[str, Floats]

    @property
    def tips(self) -> Floats:
        """The places (frames, 3) of the chain's tip in the armature's pose space."""
        return self.tail(self.poses[self.limb.joints[-1].bone])

    def tail(self, matrices: Floats) -> Floats:
        """Return the tip for pose matrices (frames, 4, 4) of the limb's last bone."""
        return tails_of(self.limb.rig, self.limb.rig.bones[-1], matrices)

    @property
    def is_copied(self) -> bool:
        """Whether the bones one sees copy all of the chain's, so that they have its tip."""
        joints = zip(self.limb.joints, self.limb.rig.bones, strict=True)
        return all(part.places or part.bone == bone for part, bone in joints)

    def in_place_of(self, samples: ChainSamples) -> ChainSamples:
        """Return samples of the chain whose bones, tip and hands are where FK has them."""
        rig = self.limb.rig
        bases, parents = samples.bases.copy(), samples.parent
        for i, (part, bone) in enumerate(zip(self.limb.joints, rig.pose_bones, strict=True)):
            rotations = straight(self.poses[part.bone])
            bases[:, i, :3, :3] = _local(bone, rotations, parents)
            parents = np.tile(np.eye(4), (len(rotations), 1, 1))
            parents[:, :3, :3] = rotations
        tips = (samples.world[:, :3, :3] @ self.tips[..., None])[..., 0] + samples.world[:, :3, 3]
        return changed(samples, bases=bases, tips=tips)


def fk_poses(view: MatchView, limbs: Sequence[OwnLimb]) -> list[FkPose]:
    """Return the poses that the own FK controls of limbs give them, whatever the rig's switch says."""
    with acting(limbs, fk=True):
        return [FkPose(limb, view.poses(limb.rig, [part.bone for part in limb.parts])) for limb in limbs]


def _local(bone: bpy.types.PoseBone, rotations: Floats, parents: Floats | None) -> Floats:
    """Return a bone's own rotations (frames, 3, 3) for those in pose space, and its parent's matrices."""
    rest = np.array(bone.bone.matrix_local, np.float64)[:3, :3]
    held = rest
    if parents is not None and bone.parent is not None and bone.bone.use_inherit_rotation:
        above = np.array(bone.parent.bone.matrix_local, np.float64)[:3, :3]
        held = straight(parents) @ (above.T @ rest)
    local: Floats = np.swapaxes(np.broadcast_to(held, rotations.shape), 1, 2) @ rotations
    return local


def target_wishes(pose: FkPose, more: Floats | float = 0.0) -> list[Wish]:
    """Return where the controls of target, foot and hand have to bring what they move.

    more: (frames, 3) how far from the tip the target is to be.
    """
    limb, rig, wishes = pose.limb, pose.limb.rig, []
    tips = pose.tips + more
    turned = next((part for part in limb.hands if part.ik_control == limb.target), None)
    if limb.target and turned is not None:
        axes = straight(pose.poses[turned.bone])
        wishes.append(Wish(limb.target, turned.ik_source, axes, tips, placed=rig.subtarget))
    elif limb.target:
        wishes.append(Wish(limb.target, rig.subtarget, _led_axes(pose), tips))
    for part in limb.hands:
        if part.ik_control not in ("", limb.target):
            matrices = pose.poses[part.bone]
            places = matrices[:, :3, 3] if part.places and part.ik_control == part.ik_source else None
            wishes.append(Wish(part.ik_control, part.ik_source, straight(matrices), places))
    return wishes


def _led_axes(pose: FkPose) -> Floats | None:
    """Return a target's axes (frames, 3, 3) with which the chain itself turns its hand; None for none."""
    hands, there = pose.limb.rig.hands, {part.bone for part in pose.limb.hands if not part.ik_source}
    if hands is None or not hands.follow or hands.bones[0] not in there:
        return None
    rest = rest_axes(pose.limb.rig.armature.data.bones[hands.bones[0]])
    axes: Floats = straight(pose.poses[hands.bones[0]]) @ rest.T @ hands.offset.T
    return axes


# --- Matching ----------------------------------------------------------------

Key = Callable[[Sequence[ValueKeys]], None]


@dataclass(frozen=True, eq=False)
class MatchedLimb:
    """A chain that solves to the pose of its limb's FK controls."""

    pose: FkPose
    rig: RigChain
    posed: ChainSamples  # as FK has it, with the target there
    reached: tuple[Reached, ...]

    def match(self, view: MatchView) -> ChainMatch:
        """Return how far it is off, as Blender evaluates it now."""
        with acting([self.pose.limb], fk=False):
            (after,) = view.sample([self.rig])
        match = match_of(view.scene, self.rig, self.posed, after, view.times, keyed=view.keyed, switch=False)
        turned = [
            (wish.bone, each.turns[:, k])
            for each in self.reached
            for k, wish in enumerate(each.wishes)
            if wish.axes is not None
        ]
        bones = tuple(name for name, _ in turned)
        hands = np.array([np.zeros(len(view.times)), *(angles for _, angles in turned)])[1:].T
        limb = self.pose.limb
        target = f"{limb.rig.armature.name}/{limb.target}" if limb.target else match.target
        return replace(match, target=target, hands=hands, hand_bones=bones)


class LimbMatcher:
    """Moves the IK controls of limbs to their FK pose: with keys, or in the current pose without."""

    def __init__(
        self, scene: bpy.types.Scene, frames: Sequence[int], undo: ExitStack, key: Key, *, switch: bool
    ) -> None:
        """frames: to key, with switch after the one before; none for the current pose."""
        self._scene, self._frames, self._undo, self._key, self._switch = scene, frames, undo, key, switch
        self._rows = list(frames[1:] if switch else frames)
        self.view = on_frames(scene, self._rows) if frames else current_pose(scene)
        self.moved: list[Moved] = []
        self.warnings: list[str] = []

    def matched(self, pose: FkPose) -> MatchedLimb:
        """Move a limb's controls to its FK pose."""
        limb, rig = pose.limb, pose.limb.rig
        with acting([limb], fk=False):
            reached = [reach(self.view, rig, target_wishes(pose))]
            (samples,) = self.view.sample([rig])
            goals = pose.in_place_of(samples).tips
            keys = reached[0].keys
            if not limb.target:
                (locations,), _ = locations_on_tips(self.view, [rig], [goals])
                keys = [*keys, *location_keys(rig, self.view.times, locations)]
        self._move(keys)
        with acting([limb], fk=False):
            posed = self._posed(pose)
            rig = facing_target(rig, posed)
            sides = nearest_sides(self._scene, rig, posed, self.view.times, poled=True)
        if not np.ptp(sides):  # else its keys say so
            rig = rig.solved_by(softness=0.0, bend=float(sides[0]))
        posed = posed.with_settings(softness=0.0, bend=sides)
        with acting([limb], fk=False):
            rig = self._swinging(rig, posed)
            turns = plane_turns(self._scene, rig, posed, self.view.times)
        self._set(rig, wanted_values(rig, sides, turns))
        rig, posed = turned_on(rig, turns), posed.with_settings(plane_turn=turns)
        if rig.pole is not None:
            reached += self._with_pole(limb, rig, posed)
        else:
            self.warnings += without_pole(self._scene, rig, posed, self.view.times)
        if self._frames and limb.target and not pose.is_copied:
            reached[0], off = self._corrected(pose, rig)
            posed = changed(posed, tips=posed.tips + (posed.world[:, :3, :3] @ off[..., None])[..., 0])
        for each in reached:
            self.warnings += hindrances(limb, each, self.view.times)
        return MatchedLimb(pose, rig, posed, tuple(reached))

    def _corrected(self, pose: FkPose, rig: RigChain) -> tuple[Reached, Floats]:
        """Move the target by (frames, 3) that the limb's tip is off where its bones copy rotations alone."""
        limb = pose.limb
        with acting([limb], fk=False):
            with solved_shown(self._scene, [rig], self._rows):
                last = limb.joints[-1].bone
                poses = self.view.poses(limb.rig, [last])[last]
            off = pose.tips - pose.tail(poses)
            reached = reach(self.view, limb.rig, target_wishes(pose, off))
        self._move(reached.keys)
        return reached, off

    def _posed(self, pose: FkPose) -> ChainSamples:
        (samples,) = self.view.sample([pose.limb.rig])
        return pose.in_place_of(samples)

    def _swinging(self, rig: RigChain, posed: ChainSamples) -> RigChain:
        """Return a chain whose plane can be turned on, where the rest pose's holds it off its pose."""
        settings = rig.armature.path_resolve(rig.settings.path)
        if settings.plane != 'AUTO' or rig.remarks.plane != BEND or is_locked(rig.pose_bones[0]):
            return rig
        errors = joint_errors(solved_at(self._scene, rig, posed, self.view.times), posed)
        if errors[:, 0].max() <= SAME_JOINTS:
            return rig
        self._undo.callback(setattr, settings, "plane", settings.plane)
        settings.plane = SWING
        self.warnings.append(
            say(
                "Chain '{chain}': Bends In is Swings with Target now, so that its plane turns as FK has it",
                chain=rig.name,
            )
        )
        joints = rest_joints(rig.pose_bones)
        return replace(rig, swing=read_swing(settings, rig.pose_bones, joints, rig.plane))

    def _with_pole(self, limb: OwnLimb, rig: RigChain, posed: ChainSamples) -> list[Reached]:
        """Move the pole so that the knee is where it is posed."""
        assert rig.pole is not None
        reached: list[Reached] = []
        with acting([limb], fk=False):
            solved = solved_at(self._scene, rig, posed, self.view.times)
            places = pole_places(rig, posed, solved)
            if limb.pole:
                homogeneous = np.concatenate((places, np.ones((len(places), 1))), axis=1)[..., None]
                inside = np.linalg.solve(posed.world, homogeneous)[:, :3, 0]
                reached = [reach(self.view, rig, [Wish(limb.pole, rig.pole[1], None, inside)])]
                keys = reached[0].keys
            else:
                (locations,), _ = locations_on_tips(self.view, [as_target(rig)], [places])
                keys = location_keys(as_target(rig), self.view.times, locations)
        self._move(keys)
        return reached

    def _move(self, keys: Sequence[ValueKeys]) -> None:
        """Key channels, or set them without keys."""
        if not self._frames:
            self.moved += [replace(moved, is_target=True) for moved in moved_by(keys, self._undo)]
            return
        self._key(switch_keys(self._scene, keys, self._frames[0]) if self._switch else keys)
        bpy.context.view_layer.update()

    def _set(self, rig: RigChain, wanted: dict[ChainValue, Floats]) -> None:
        """Key or set a chain's settings, and with a switch IK Blend where the chain does not act in full."""
        if not self._frames:
            for value, numbers in wanted.items():
                value.refuse_driver()
                if set_number(value, float(numbers[0]), self._undo) and value.is_animated:
                    self.moved.append(Moved(value.holder, value.name))
            return
        keys = setting_keys(self._scene, self._rows, wanted, self._switch, self._undo)
        influence = ChainValue.of(rig, "influence")
        driven = acting_driver(influence.owner, influence.path) is not None
        if self._switch and not driven and (influence.values(self._scene, self.view.times) < 1.0).any():
            keys += influence_keys(rig, self._frames, 1.0, self._scene)
        self._key(keys)
        bpy.context.view_layer.update()


def without_pole(
    scene: bpy.types.Scene, rig: RigChain, posed: ChainSamples, times: Sequence[float]
) -> Iterator[str]:
    """Yield a sentence if a pole would have a chain solve to a pose that it does not without."""
    errors = joint_errors(solved_at(scene, rig, posed, times), posed)
    if errors[:, 0].max() > SAME_JOINTS:
        yield say(
            "Chain '{chain}' has no pole to turn '{bone}' about the line to its target, which FK has "
            "{angle:.2g} degrees elsewhere; give it one (Add Pole) to switch without a change",
            chain=rig.name,
            bone=rig.bones[0],
            angle=float(np.degrees(errors[:, 0].max())),
        )
