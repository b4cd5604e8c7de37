# SPDX-License-Identifier: GPL-3.0-or-later
"""A live chain as its bones' locations and scales hold it: its plane, its plain solver, and its turns."""

from collections.abc import Sequence
from dataclasses import replace
from math import hypot
from typing import Any

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ..bake.reporting.causes import EASED, cause_of_post, stopped_words
from ..bake.solving.frames import solve_chain
from ..bake.solving.hands import hands_held
from ..core import Status
from ..core.inputs import Floats
from ..core.one_target import PlainAnswer, PlainSolver
from ..core.solution import drained
from ..core.swing import SHORTEST_WAY, Swing
from ..core.swing.plain import PlainSwing, multiplied, quaternion_about, rotated
from ..core.swing.plain import Quaternion as Whole
from ..rig.animation.bone_channels import BoneChannels, BoneRotation, locked_channels
from ..rig.chain.chain import RigChain
from ..rig.chain.checks.bones import rest_joints
from ..rig.chain.planes import FIRST_X, FIRST_Z, TARGET, plane_through, reach_of
from ..rig.chain.stretch import ALONG
from ..rig.pose.bone_matrices import rotations_of, whole_rotations
from ..rig.pose.hand_rotations import own_curves, own_turns_now
from ..rig.pose.keyed_pose import pose_of_hand_made
from ..rig.pose.kinematics import read_linkage
from ..rig.pose.target_plane import facing_target
from ..rig.rest import rest_matrix
from ..rig.scene.lengths.slide_locations import slide_channels, without_slides
from ..rig.scene.lengths.stretch_scales import scale_channels, scales_back
from ..rig.scene.samples import ChainSamples, refuse_unsolvable
from .frame_state import FrameState, on_purpose, samples_of
from .plain.hands import PlainHands, are_plain
from .plain.matrices import inverse, moved, turned
from .plain.post import PlainPost, PostWriter
from .plain.solve import Plain, read_plain_solver
from .plain.space import Space
from .plain.tips import PlainTips
from .plain.turntable import PlainTurntable, as_if_free
from .status.outcome import LiveOutcome
from .writing import Turn, changes_lengths, writers_of

# A target is in the plane of a straight chain if it is off it by less than this part of its distance from the
# chain's line: 32 bits hold no more.
_IN_PLANE = 1e-6


class RigState:
    """State of a chain that its bones' locations and scales decide, with its plane."""

    def __init__(
        self,
        rig: RigChain,
        frame: FrameState,
        before: "RigState | None",
        straight: Plain | None,
        post: PostWriter | None = None,
    ) -> None:
        """Read it. before: the state before, if only the plane of a straight chain differs.

        straight: the plain solver of a straight chain in its own plane, where it is known. post: the writer
        of a post above the chain.
        """
        self._turns_shortest = frame.influence == 1.0 and turns_shortest(rig)
        if self._turns_shortest:
            rig = shortest_way(rig)
        as_read, is_straight = rig, rig.swing is None and rig.remarks.plane in (FIRST_X, FIRST_Z)
        self._places = [(bone.location.copy(), bone.scale.copy(), bone.rotation_mode) for bone in frame.own]
        samples = samples_of(rig, frame)
        refuse_unsolvable(rig, samples, [frame.scene.frame_float])
        self._faces = None
        if is_straight:
            rig = facing_target(rig, samples) if before is None else before.faced(rig, frame)
            self._faces = _Faces(rig, as_read)
        self.rig = rig
        self.writers = writers_of(rig)
        self._post = None if post is None else PlainPost(rig, _alone(samples), post)
        self.outcome: LiveOutcome | None = None
        self._changes_lengths = changes_lengths(rig)
        self._scaled = [False] * len(rig.bones) if rig.stretching is None else rig.stretching.scaled.tolist()
        self._slid = {} if rig.slides is None else rig.slides.channels
        self.beside: list[BoneChannels] = []  # the channels next to the rotations
        # Where bones change their lengths: factors (1, n) of these, and locations (1, n, 3).
        self._factors: Floats | None = None
        self._locations: Floats | None = None
        self._tips = PlainTips(rig, frame.own) if rig.stretching is not None else None
        if is_straight and straight is None:
            straight, _ = read_plain_solver(as_read, samples)
        self.straight = straight
        self.plain, self._linkage = read_plain_solver(as_if_free(rig), samples, straight, self._tips)
        self.plain_hands: PlainHands | None = None
        if rig.hands is not None and not self._changes_lengths and self.plain is not None:
            if are_plain(rig, rig.hands):
                self.plain_hands = PlainHands(rig, rig.hands)
        self._seen: tuple[Any, ...] = ()
        self._turns: list[Turn] = []
        if self.plain is not None:
            self._prepare(samples)

    def _prepare(self, samples: ChainSamples) -> None:
        """Keep the chain's plane in its own space: rest space, or the first bone's if the plane is turned."""
        rig, plane = self.rig, self.rig.plane
        alone = self._unturned = _alone(samples)
        self._tip_height: float | None = None  # over the plane; calculated on request
        self._scales: tuple[float, float] | None = None  # of lengths along the plane and along its normal
        self._swing: PlainSwing | None = None
        self._table: PlainTurntable | None = None
        self._swung: Whole | None = None  # how the plane is turned
        frame_of_plane, axes = np.eye(4), np.array((plane.x, plane.y, plane.normal))
        self._origin: list[float] = plane.origin.tolist()
        if rig.swing is not None:
            frame_of_plane[:3, :3] = rest_matrix(rig.pose_bones[0].bone)[:3, :3]
            frame_of_plane[:3, 3], self._origin = plane.origin, [0.0, 0.0, 0.0]
            self._swing = PlainSwing(rig.swing, frame_of_plane[:3, :3])
            self._axis = rig.joints.axes[0].tolist()
            self._height = self._swing.scale * self._height_of_tip()
            if rig.swing.turns_alone:
                self._table = PlainTurntable(rig, alone, self._linkage, frame_of_plane[:3, :3])
        # Of a vector in the chain's own space its lengths along these are those in and over the plane; and
        # these are the vectors that have such lengths.
        self._along = (axes @ frame_of_plane[:3, :3]).tolist()
        self._axes = (axes @ np.linalg.inv(frame_of_plane[:3, :3]).T).tolist()
        self._place = (0.0, 0.0, 0.0)  # that the tip of a bone that aims goes to, in the plane and over it
        self.space = Space(rig, alone, frame_of_plane)

    def holds(self, frame: FrameState) -> bool:
        """Return whether the bones have the same locations, scales and rotation modes."""
        for i, (bone, (location, scale, mode)) in enumerate(zip(frame.own, self._places, strict=True)):
            if bone.rotation_mode != mode:
                return False
            if self._changes_lengths and self.plain is None and self._post is None:
                continue  # the others are read on each frame
            if self._scaled[i]:  # by the chain itself
                scale[ALONG] = bone.scale[ALONG]
            for channel in self._slid.get(i, ()):
                location[channel] = bone.location[channel]
            if bone.location != location or bone.scale != scale:
                return False
        if self._turns_shortest and frame.influence != 1.0:
            return False
        if self._post is not None and not self._post.holds(frame.bones):
            return False
        if self.plain_hands is not None and not self.plain_hands.hold(frame.bones):
            return False
        if self._faces is None:
            return True
        return self.plain is not None and frame.carried is None and self.settle(frame.world, frame.base)

    def faces(self, target: Sequence[float]) -> bool:
        """Return whether the plane is still the same for a target in the world."""
        return self._faces is None or self._faces.hold(*self.space.inside(target))

    def faced(self, rig: RigChain, frame: FrameState) -> RigChain:
        """Return a straight chain in the plane of its target in rest space, as `facing_target` does."""
        points = np.array([self.space.inside(frame.target)])
        plane = plane_through(rest_joints(rig.pose_bones), points, rig.plane)
        return rig if plane is None else rig.in_plane(plane, TARGET)

    def on_post(self, frame: FrameState) -> FrameState:
        """Return the state with the bone above the chain as its post turns it, if it has one."""
        if self._post is None or frame.base is None:
            return frame
        turned = self._post.turn(frame.bones, frame.world, frame.base, frame.target, frame.carried)
        return frame if turned is None else replace(frame, post=turned[0], base=turned[1], carried=turned[2])

    def turns(self, frame: FrameState) -> list[Turn]:
        """Return the turns (n,), by the plain solver if it can solve the chain."""
        turns = None
        if self.is_plain(frame.bend, frame.influence) and frame.carried is None:
            if self.settle(frame.world, frame.base):
                turns = self.plain_turns(frame)
        return self._whole(frame) if turns is None else turns

    def is_plain(self, bend: float, influence: float) -> bool:
        """Return whether the plain solver may solve the chain with such settings."""
        return self.plain is not None and influence == 1.0 and abs(bend) == 1.0

    @property
    def keeps_its_plane(self) -> bool:
        """Whether the plane is the same for all targets, or follows them by a rule."""
        return self._faces is None

    def plain_turns(self, frame: FrameState) -> list[Turn] | None:
        """Return the turns (n,) for the target and the pole; None where plain numbers have none."""
        assert self.plain is not None
        x, y, z = self.space.inside(frame.target)
        faced = None if frame.pole is None else self.space.inside(frame.pole)
        bend, softness, plane_turn = frame.bend, frame.softness, frame.plane_turn
        seen = x, y, z, faced, bend, softness, plane_turn
        if seen == self._seen:
            return self._turns
        flat = self._flat(x, y, z, faced, plane_turn)
        solver = self._table or self.plain
        answer = None if flat is None else solver.solve(*flat[:2], bend, softness)
        if flat is None or answer is None:
            return None
        measures = answer.residual, flat[2]
        if self._table is not None:
            measures = self._table.measures(*measures)
        post = "" if self._swing is None else cause_of_post(self._swing.post_status)
        eased = EASED if answer.softened else ""
        self.outcome = LiveOutcome(answer.status, self.outside, measures, eased, post=post)
        turns: list[Turn] = [*answer.turns]
        self._place = flat
        if self.rig.settings.aims and isinstance(self.plain, PlainSolver):
            aimed = hypot(*self.plain.bones.tip(answer.turns)) / self.plain.bones.lengths[0]
            self._place = aimed * flat[0], aimed * flat[1], flat[2]
        if self._swung is not None:
            turns[0] = multiplied(self._swung, quaternion_about(self._axis, answer.turns[0]))
        self._seen, self._turns = seen, turns
        self._lengthen(answer)
        return turns

    def _flat(
        self, x: float, y: float, z: float, pole: Sequence[float] | None, turn: float
    ) -> tuple[float, float, float] | None:
        """Return a target of the chain's own space in its plane, and over it; None where the arrays have to.

        The plane follows it, and a single bone that aims has it as far as its tip. turn: radians that the
        plane is turned on about the line to it.
        """
        ox, oy, oz = self._origin
        x, y, z = x - ox, y - oy, z - oz
        if self._swing is not None:
            swung = self._swing.turned(x, y, z, self._height, pole or (), turn)
            if swung is not None and self._table is not None:
                swung = self._table.aimed(x, y, z, self._height, swung[0])
            if swung is None:
                return None
            self._swung, (x, y, z) = swung
        (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = self._along
        height = wx * x + wy * y + wz * z
        x, y = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
        if self.rig.settings.aims and self._table is None:
            assert isinstance(self.plain, PlainSolver)
            size = hypot(x, y)
            if not size > 0.0:
                return None
            (length,) = self.plain.bones.lengths
            x, y = x * length / size, y * length / size
        return x, y, height

    @property
    def goal(self) -> Vector | None:
        """The place in the world where a bone that aims has its tip; None where the arrays solved it."""
        if not self._seen:
            return None
        x, y, height = self._place
        (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = self._axes
        place = ux * x + vx * y + wx * height, uy * x + vy * y + wy * height, uz * x + vz * y + wz * height
        if self._swung is not None:
            place = rotated(self._swung, *place)
        ox, oy, oz = self._origin
        return Vector(moved(self.space.to_world, place[0] + ox, place[1] + oy, place[2] + oz))

    def _lengthen(self, answer: PlainAnswer) -> None:
        """Keep what an answer writes next to the rotations."""
        if answer.factors is not None:
            self._factors = np.array([answer.factors])
            self.beside = [*scale_channels(self.rig, self._factors), *scales_back(self.rig, keyed=False)]

    def settle(self, world: Matrix, base: Matrix | None) -> bool:
        """Follow the armature and the bone above a plain chain; return False where they are singular."""
        before = self.space.to_world
        if not self.space.settle(world, base):
            return False
        if self.space.to_world is not before:
            self._scales = None
            if self._tips is not None:
                self._tips.hold(base, inverse(self.space.to_pose) or ())
        return True

    def _height_of_tip(self) -> float:
        """Return the height of the tip over the rest plane."""
        return float(np.ravel(read_linkage(self.rig, self._unturned, self._linkage).heights)[0])

    def outside(self, measures: tuple[float, float]) -> tuple[float, float]:
        """Return lengths in the world's units: in the plane, and from the tip along its normal.

        measures: in the chain's units, in the plane and from the plane on.
        """
        in_plane, height = measures
        if self._tip_height is None:
            self._tip_height = self._height_of_tip()
        if self._scales is None or self._swung is not None:
            along, _, normal = self._axes
            turn = self._swung or (1.0, 0.0, 0.0, 0.0)
            in_world = [turned(self.space.to_world, *rotated(turn, *axis)) for axis in (along, normal)]
            self._scales = hypot(*in_world[0]), hypot(*in_world[1])
        return in_plane * self._scales[0], abs(height - self._tip_height) * self._scales[1]

    def hands_turned(self, frame: FrameState, turns: list[Turn]) -> list[BoneRotation]:
        """Return the hands' rotations for turns (n,) of the bones, by plain matrices where that is enough."""
        rig = self.rig
        if rig.hands is None:
            return []
        if self.plain_hands is not None and frame.influence == 1.0 and not own_curves(rig):
            rotations_now = self.plain_hands.rotations(turns, self.scales, frame.base, frame.control_turns)
            if rotations_now is not None:
                return rotations_now
        others = own_turns_now(frame.scene, rig)
        rotations = rotations_of(
            rig, np.array([[0.0 if isinstance(turn, tuple) else turn for turn in turns]])
        )
        for i, turn in enumerate(turns):
            if isinstance(turn, tuple):
                rotations[i] = np.array([Quaternion(turn).to_matrix()], np.float64)
        samples = samples_of(rig, frame)
        return hands_held(rig, samples, rotations, others, self._factors, self._locations).rotations

    @property
    def scales(self) -> list[Vector]:
        """The bones' scales, root to tip."""
        return [scale for _, scale, _ in self._places]

    def _whole(self, frame: FrameState) -> list[Turn]:
        """Return the turns (n,) as a bake solves them."""
        self._seen = ()
        rig, times = self.rig, [frame.scene.frame_float]
        samples = samples_of(rig, frame)
        refuse_unsolvable(rig, samples, times)
        other_pose = pose_of_hand_made(frame.scene, rig, times) if frame.influence < 1.0 else None
        samples = without_slides(frame.scene, rig, samples, times, copies=False)
        solved = drained(solve_chain(rig, samples, times, other_pose=other_pose))
        if self._changes_lengths:
            slides, scales = slide_channels(rig, solved.locations), scale_channels(rig, solved.factors)
            self._factors, self._locations = solved.factors, solved.locations
            self.beside = [*slides, *scales, *scales_back(rig, keyed=False)]
        in_plane, height = float(solved.miss.residual[0]), float(solved.miss.off_plane[0])
        plane_turns = solved.noticed.plane_turns
        own_post = None if plane_turns is None else plane_turns.post
        off, cannot = solved.noticed.angle_errors, solved.solution.status[0] == Status.ANGLE
        self.outcome = LiveOutcome(
            int(solved.solution.status[0]),
            _as_it_is,
            (in_plane, height),
            on_purpose(frame),
            stopped_words(solved.solution.limited[0], rig.joints.fixed),
            bool(solved.noticed.uneven_scale),
            float(off[0]) if cannot and off is not None else 0.0,
            cause_of_post(int(own_post.status[0])) if own_post is not None else "",
        )
        turns: list[Turn] = solved.turns[0].tolist()
        for i, whole in whole_rotations(rig, solved.turns, solved.swings, solved.aside).items():
            turns[i] = tuple(Matrix(whole[0].tolist()).to_quaternion())
        return turns


def _alone(samples: ChainSamples) -> ChainSamples:
    """Return samples with the bone above the chain at the origin, and nothing else that carries that."""
    return replace(samples, parent=None if samples.parent is None else np.eye(4)[None], carried=None)


def _as_it_is(measures: tuple[float, float]) -> tuple[float, float]:
    return measures


class _Faces:
    """Test of whether a straight chain's plane still goes through its target."""

    def __init__(self, rig: RigChain, unturned: RigChain) -> None:
        joints = rest_joints(rig.pose_bones)
        line = joints[-1] - joints[0]
        self._origin: Vector = Vector(rig.plane.origin)
        self._line = Vector(line / np.linalg.norm(line))
        self._own, self._other = Vector(rig.plane.normal), Vector(unturned.plane.normal)
        self._reach = reach_of(joints)
        self._is_own = rig is unturned

    def hold(self, x: float, y: float, z: float) -> bool:
        """Return whether a target in rest space gets the same plane."""
        offset = Vector((x, y, z)) - self._origin
        aside = (offset - self._line * offset.dot(self._line)).length
        if abs(offset.dot(self._other)) <= _IN_PLANE * self._reach:  # where its own plane is as good
            return self._is_own
        return not self._is_own and abs(offset.dot(self._own)) <= _IN_PLANE * aside


def turns_shortest(rig: RigChain) -> bool:
    """Return whether a chain is a single bone that aims, in the plane of its target on each frame.

    So it turns the shortest way, without being read anew where the target leaves the plane of the frame
    before.
    """
    (first, *others), free = rig.pose_bones, not (rig.joints.held.any() or rig.joints.fixed.any())
    straight = rig.swing is None and rig.remarks.plane in (FIRST_X, FIRST_Z)
    return rig.settings.aims and not others and straight and free and not any(locked_channels(first))


def shortest_way(rig: RigChain) -> RigChain:
    """Return a chain whose plane turns the shortest way to its target."""
    plane, joints = rig.plane, rest_joints(rig.pose_bones)
    (x, y), (origin_x, origin_y) = plane.project(joints[-1]), plane.project(joints[0])
    along = (x - origin_x) * plane.x + (y - origin_y) * plane.y
    return replace(rig, swing=Swing(SHORTEST_WAY, plane.normal, along / np.linalg.norm(along), plane.normal))
