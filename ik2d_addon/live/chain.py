# SPDX-License-Identifier: GPL-3.0-or-later
"""A live chain: its cached reading, and how it follows its target on a frame."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import hypot, inf
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..core import IK2DError
from ..core.words import refusal, say
from ..rig.animation.bone_channels import BoneRotation, values_of
from ..rig.chain.chain import RigChain, read_chain
from ..rig.chain.fingerprint import rest_fingerprint
from ..rig.chain.foot.foot import foot_values
from ..rig.chain.native_state import is_native
from ..rig.chain.order import refuse_moved_target
from ..rig.chain.renames import chain_named
from ..rig.pose.swings import aimed_as_far, flips, swung
from ..rig.pose.target_plane import facing_target
from ..rig.scene.bone_constraints import Held, OtherControl, carry, not_followed, possible_controls
from ..rig.scene.carried import carried_now
from ..rig.scene.feet.goals import ground_matrix, size_of, with_foot
from ..rig.scene.missing_inputs import with_inputs_checked
from ..rig.scene.samples import above_hip
from .following import LiveItem
from .frame_state import FrameState, samples_of, settings_now
from .plain.foot import PlainFoot
from .plain.hands import ControlTurn
from .plain.solve import Plain
from .post import LivePost, acting_of
from .refusals import acts_at_times, is_keyed, refuse_driven, refuse_native
from .rig_state import RigState, shortest_way, turns_shortest
from .shown import shown_axes, turn_by_curves
from .status.outcome import COPIED, NATIVE, LiveOutcome, shown_reach
from .writing import (
    PoseWrites,
    Turn,
    write_hands,
    write_lengths,
    writers_of,
)

# A tip further than this from where it was solved, as a part of the reach, is moved by something else.
_MISSED = 1e-4


class LiveChain(LiveItem):
    """Cached reading of a live chain."""

    def __init__(
        self,
        armature: bpy.types.Object,
        settings: bpy.types.PropertyGroup,
        index: int,
        reaching: Sequence[Held],
    ) -> None:
        """Read a chain. reaching: as in `possible_controls`. Raises IK2DError if it cannot be solved."""
        super().__init__(armature, settings, index)
        if is_native(settings):
            raise refusal("Chain '{chain}' {native}", chain=settings.name, native=NATIVE)
        rig = with_inputs_checked(read_chain(armature, settings))
        refuse_moved_target(rig)
        refuse_driven(rig)
        refuse_native(rig)
        self.rig = rig
        self.followed = rig.followed
        self._rest = self._rest_now()
        self._controls = possible_controls(rig, reaching)
        self._carried = False  # whether constraints carry the first bone on the frame that is followed
        self._copied = False  # whether FK copies act on it
        self.outcome: LiveOutcome | None = None
        self._straight: Plain | None = None  # of a straight chain, in its own plane
        self._post = None if rig.post_above is None else LivePost(rig, reaching)
        self.above, self.held_by = _above(rig.pose_bones[0]), _above(rig.pose_from_post[0])
        self._control = None if rig.hands is None else ControlTurn(rig.hands)
        self._plain_foot = None if rig.foot is None else PlainFoot(rig.foot)
        self._held: RigState | None = None
        self._frame: FrameState | None = None
        self._hands: list[BoneRotation] = []  # of what hangs on the tip, on the frame followed last
        self._refreshed: list[Turn] = []  # the turns for which Blender was asked to evaluate the bones anew

    def follow(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[Turn] | None:
        """Return the turns (n,) that bring the tip to its target as a depsgraph shows it now.

        None if it does not show the armature. Raises IK2DError for a chain that cannot be solved.
        """
        shown = self.armature.evaluated_get(depsgraph)
        if not shown.is_evaluated:
            return None
        frame = self._frame_now(scene, depsgraph, shown)
        held = self._held
        if held is None or not held.holds(frame):
            held = self._read(frame, None)
        elif not held.faces(frame.target):
            held = self._read(frame, held)
        self._is_kept = self.is_as_baked = False
        frame = held.on_post(frame)
        turns = held.turns(frame)
        if self.rig.hands is not None:
            self._hands = held.hands_turned(frame, turns)
        self.outcome, self._frame = held.outcome, frame
        if self._post is not None:
            self.outcome = self._post.outcome(self.outcome, frame)
        if self._copied and self.outcome is not None:
            self.outcome = replace(self.outcome, moved_by=COPIED)
        self.followed_on = scene.session_uid, scene.frame_current_final
        return turns

    @property
    def ties(self) -> tuple[Any, ...]:
        """What the order of live chains depends on: another chain with the same may take its place."""
        rig = self.rig
        turned = rig.follows_rotation, rig.slides is None, rig.foot is None
        return rig.bones_from_post, self.followed, *turned

    @property
    def can_be_solved_ahead(self) -> bool:
        """Whether frames to come may be solved ahead, by the bake's own stages."""
        rig, held = self.rig, self._held
        if held is None or self.has_controls or self.depends_on_unseen or self._post is not None:
            return False
        return held.keeps_its_plane and not (rig.foot is not None and rig.foot.has_surface)

    @property
    def solved_ahead(self) -> RigChain:
        """The chain as it is read for frames to come."""
        return shortest_way(self.rig) if turns_shortest(self.rig) else self.rig

    @property
    def goes_on(self) -> bool:
        """Whether a bake goes on from the frame before, which one frame by itself does not know."""
        return self.rig.goes_on or self.rig.settings.tip_angle is not None

    def outcome_in(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> LiveOutcome | None:
        """Return the outcome of the frame that a depsgraph shows; of one that was kept it is solved now."""
        if self.outcome is None and self._is_kept:
            as_baked = self.is_as_baked
            with suppress(IK2DError):
                self.follow(scene, depsgraph)
            self._frame, self.is_as_baked = None, as_baked
        return self.outcome

    def _read(self, frame: FrameState, before: RigState | None) -> RigState:
        """Read the state of the bones. before: as RigState has it."""
        post = None if self._post is None else self._post.writer_for(frame.bones)
        held = self._held = RigState(self.rig, frame, before, self._straight, post)
        self._straight = held.straight
        return held

    def _frame_now(
        self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, shown: bpy.types.Object
    ) -> FrameState:
        """Return the state of the evaluated armature `shown`, and of the target."""
        if self.armature.ik2d.chains[self.index].name != self.name:
            raise LookupError(say("chain '{it}' is not where it was", it=self.name))
        settings: Any = chain_named(shown, self.name)
        bones = shown.pose.bones
        chain_bones = [bones[name] for name in self.rig.bones]
        frame = FrameState(
            scene=scene,
            world=shown.matrix_world,
            bones=bones,
            own=chain_bones,
            base=bones[self.above].matrix if self.above else None,
            settings=settings_now(settings, self.rig.settings.side),
            carried=carried_now(chain_bones[0]) if self._carried else None,
            target=self.place_of((self.rig.target, self.rig.subtarget), "target", scene, depsgraph),
            pole=None if self.rig.pole is None else self.place_of(self.rig.pole, "pole", scene, depsgraph),
            aim=self._aim_now(scene, depsgraph) if self.rig.follows_rotation else None,
            foot_values=foot_values(settings.foot) if self.rig.foot is not None else None,
        )
        if self._control is None:
            return frame
        turned = self._control(frame.world, frame.aim)
        if self._plain_foot is None:
            return replace(frame, control_turns=[turned])
        return self._on_foot(frame, self._plain_foot, turned, depsgraph)

    def _on_foot(
        self, frame: FrameState, plain: PlainFoot, turned: Matrix, depsgraph: bpy.types.Depsgraph
    ) -> FrameState:
        """Return the state with the ankle's goal for its target, by the foot's control and its roll.

        turned: the control's rotation (3x3) from rest, in pose space.
        """
        rig, size = self.rig, size_of(self.rig, frame.bones)
        assert rig.foot is not None
        matrix = rig.foot.ground.evaluated_get(depsgraph).matrix_world if rig.foot.ground else None
        height = matrix.translation.z if matrix is not None and not rig.foot.has_surface else None
        root = (frame.world @ frame.own[0].head).z
        if height is not None and frame.foot_values.use_ground and height > root:
            raise refusal(
                "Chain '{chain}': {problem}; lower it",
                chain=rig.name,
                problem=above_hip(rig.foot.ground.name),
            )
        foot = plain.pose(frame.target, turned, frame.world, size, frame.foot_values, height)
        if matrix is not None and rig.foot.has_surface:
            ground = ground_matrix(rig, matrix, depsgraph, root)
            samples = with_foot(rig, samples_of(rig, frame), size, ground)
            foot = foot._replace(goal=Vector(samples.targets[0]))
        return replace(frame, target=foot.goal, foot=foot, control_turns=foot.turns)

    def _aim_now(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Matrix:
        """Return the target's axes (3x3) as a depsgraph shows them, or by its F-Curves."""
        if self.is_unseen(self.rig.target, depsgraph):
            return turn_by_curves(self.rig.target, scene)
        return shown_axes(self.rig.target, self.rig.subtarget, depsgraph)

    def other_controls(self, depsgraph: bpy.types.Depsgraph) -> list[OtherControl]:
        """Return the constraints that move the chain's bones now, in place of its target."""
        self._carried = self._copied = False
        if not self.has_controls:
            return []
        bones = self.armature.evaluated_get(depsgraph).pose.bones
        acting = acting_of(self._controls, bones)
        self._carried = carry(self.rig, acting)
        self._copied = any(control.blends for control in acting)
        others = not_followed(self.rig, acting)
        if self._post is None:
            return others
        self._post.refuse_held_apart(bones)
        return [*others, *self._post.other_controls(bones)]

    @property
    def post_rotation(self) -> Matrix | None:
        """The rotation (3x3) from rest of a post above it, on the frame that was followed last."""
        frame = self._frame
        return None if self._post is None or frame is None else self._post.rotation(frame)

    def _rest_now(self) -> list[Any]:
        return rest_fingerprint(self.rig.pose_from_post, self.rig.target, self.rig.subtarget)

    def pause(self, depsgraph: bpy.types.Depsgraph, writes: PoseWrites) -> bool:
        """Leave the bones to other controls; return whether any had to be turned.

        Where these act at some times only they find the bones at rest, so that what they start from, and with
        it the pose of the frame, does not depend on the frames before.
        """
        controls = self._controls if self._post is None else [*self._controls, *self._post.controls]
        if not acts_at_times(self.rig, controls) or is_keyed(self.rig):
            return False
        shown = self.armature.evaluated_get(depsgraph).pose.bones
        bones = [shown[name] for name in self.rig.bones]
        turned = writes.add(bones, writers_of(self.rig), [0.0] * len(bones))
        return turned if self._post is None else self._post.pause(shown, writes) or turned

    def goal(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[Vector, float]:
        """Return the place that the tip has to be at, and how near its plane is to turning over.

        That is the target's place, or where a single bone that aims at it has its tip, as a depsgraph shows
        the scene; and the angle of `flips` in radians, infinite for a fixed plane.
        """
        frame, openness = self._frame_now(scene, depsgraph, self.armature.evaluated_get(depsgraph)), inf
        if self.rig.swing is None and not self.rig.settings.aims:
            return frame.target, openness
        samples = samples_of(self.rig, frame)
        rig, tip = facing_target(self.rig, samples), frame.world @ frame.own[-1].tail
        turns = flips(rig, samples)
        if turns is not None:
            openness = float(turns.openness[0])
        if not rig.settings.aims:
            return frame.target, openness
        samples = replace(swung(rig, samples), tips=np.array([tip], np.float64))
        return Vector(aimed_as_far(rig, samples).targets[0]), openness

    def named(self, role: str) -> str:
        """Return its target or pole in words."""
        return say("Chain '{chain}': its {role}", chain=self.rig.name, role=role)

    @property
    def has_controls(self) -> bool:
        """Whether constraints may move its bones now and then."""
        return bool(self._controls) or self._post is not None and self._post.has_controls

    def pose_of(self, turns: list[Turn]) -> list[Turn]:
        """Return all that is written for turns (n,), to see whether a scene moves the chain."""
        beside = self._held.beside if self._held else []
        pose = [*turns, *(value[-1] for value in values_of(self.armature, beside))] if beside else turns
        if self._frame is not None and self._frame.post is not None:
            pose = [*pose, self._frame.post.angle]
        if self._hands:
            pose = [*pose, *(value for hand in self._hands for value in hand.values[0].tolist())]
        return pose

    def write(self, turns: list[Turn], writes: PoseWrites) -> bool:
        """Write the turns where the last frame shows others; return whether there were any.

        writes: gets those of the chain's own bones.
        """
        frame, self._frame = self._frame, None
        if frame is None or self._held is None:
            return False
        held = self._held
        turned = writes.add(frame.own, held.writers, turns)
        if self._post is not None:
            turned |= self._post.write(frame, writes)
        if self._hands:
            turned |= write_hands(held.rig, frame.bones, self._hands)
        written = bool(held.beside) and write_lengths(held.rig, frame.bones, held.beside) or turned
        if not written:
            self._refresh(frame, turns)
        return written

    def _refresh(self, frame: FrameState, turns: list[Turn]) -> None:
        """Have the bones evaluated anew, once, where their channels are right and the tip is elsewhere.

        After a file was opened, Blender may show a stored pose until something moves the armature.
        """
        if self.outcome is None or self._held is None or self._copied or turns == self._refreshed:
            return
        goal = self._held.goal if self.rig.settings.aims else frame.target
        if goal is None:
            return
        distance = (frame.world @ frame.own[-1].tail - goal).length
        solved = hypot(*self.outcome.lengths())
        if abs(distance - solved) > _MISSED * shown_reach(frame.world, frame.own):
            self._refreshed = list(turns)
            self.armature.update_tag(refresh={'OBJECT', 'DATA'})


def _above(bone: bpy.types.PoseBone) -> str:
    """Return the name of the bone above one; "" without one."""
    return bone.parent.name if bone.parent is not None else ""
