# SPDX-License-Identifier: GPL-3.0-or-later
"""A live chain: its cached reading, and how it follows its target on a frame."""

from collections.abc import Sequence
from dataclasses import replace
from math import hypot
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..bake.report import BLENDED, EASED, TURNING, stopped_words
from ..bake.solving.frames import solve_chain
from ..bake.solving.hands import hands_held
from ..core import IK2DError, Status
from ..core.inputs import Floats
from ..core.plain import PlainAnswer
from ..rig.animation.bone_channels import BoneChannels, BoneRotation, rotation_property, values_of
from ..rig.animation.versions import existing_channels
from ..rig.chain.chain import RigChain, bend_of, read_chain, rest_joints
from ..rig.chain.fingerprint import rest_fingerprint
from ..rig.chain.native_state import acts, constraints_of, is_native
from ..rig.chain.order import refuse_moved_target
from ..rig.chain.planes import FIRST_X, FIRST_Z, TARGET, plane_through
from ..rig.chain.renames import chain_named
from ..rig.chain.stretch import ALONG
from ..rig.pose.hand_rotations import own_curves, own_turns_now
from ..rig.pose.keyed_pose import turns_of_hand_made
from ..rig.pose.kinematics import read_linkage, rest_to_pose, rotations_of
from ..rig.pose.target_plane import facing_target
from ..rig.scene.bone_constraints import OtherControl, carry, is_animated, not_followed, possible_controls
from ..rig.scene.carried import carried_now
from ..rig.scene.missing_inputs import with_inputs_checked
from ..rig.scene.samples import ChainSamples, finished, refuse_unsolvable
from ..rig.scene.slide_locations import slide_channels, without_slides
from ..rig.scene.stretch_scales import scale_channels, scales_back
from .hidden_targets import is_unseen, place_by_curves, turn_by_curves
from .plain_hands import PlainHands, are_plain, turned_by
from .plain_matrices import Affine, affine, inverse, moved, product, turned
from .plain_solve import Plain, read_plain_solver
from .plain_tips import PlainTips
from .status import MEMORY, NATIVE, Outcome, shown_reach
from .writing import (
    changes_lengths,
    write,
    write_hands,
    write_lengths,
    writers_of,
)

# A target is in the plane of a straight chain if it is off it by less than this part of its distance from the
# chain's line: 32 bits hold no more.
_IN_PLANE = 1e-6
# A tip further than this from where it was solved, as a part of the reach, is moved by something else.
_ASTRAY = 1e-4


class LiveChain:
    """Cached reading of a live chain."""

    def __init__(self, armature: bpy.types.Object, settings: bpy.types.PropertyGroup, index: int) -> None:
        """Read a chain. Raises IK2DError if it cannot be solved, or depends on the frame before."""
        self.armature, self.name, self.index = armature, settings.name, index
        self.key = armature.session_uid, settings.name
        self.is_fresh = True  # not solved yet
        if is_native(settings):
            raise IK2DError(f"Chain '{settings.name}' {NATIVE}")
        rig = with_inputs_checked(read_chain(armature, settings))
        if rig.has_memory:
            raise IK2DError(f"Chain '{rig.name}' {MEMORY}")
        refuse_moved_target(rig)
        _refuse_driven(rig)
        _refuse_native(rig)
        self.rig = rig
        self._rest = self._rest_now()
        self._controls = possible_controls(rig)
        self._carried = False  # whether constraints carry the first bone on the frame that is followed
        self.outcome: Outcome | None = None
        self._straight = rig.plane_taken in (FIRST_X, FIRST_Z)
        self.straight: Plain | None = None  # of a straight chain, in its own plane
        above = rig.pose_bones[0].parent
        self._above: str | None = above.name if above else None
        self._held: _RigState | None = None
        self._frame: _FrameState | None = None
        self._hands: list[BoneRotation] = []  # of what hangs on the tip, on the frame followed last
        self._unseen: dict[tuple[Any, ...], bool] = {}  # by what hides it: kind, scene and view layer
        self._owner = 0  # the scene that posed it last
        self._poses_in: dict[int, list[float]] = {}  # by scene
        self._refreshed: list[float] = []  # the turns for which Blender was asked to evaluate the bones anew

    def follow(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[float] | None:
        """Return the turns (n,) that bring the tip to its target as a depsgraph shows it now.

        None if it does not show the armature. Raises IK2DError for a chain that cannot be solved.
        """
        shown = self.armature.evaluated_get(depsgraph)
        if not shown.is_evaluated:
            return None
        frame = _FrameState(self, scene, depsgraph, shown)
        held = self._held
        if held is None or not held.holds(frame):
            held = self._held = _RigState(self, frame, None)
        elif not held.faces(frame):
            held = self._held = _RigState(self, frame, held)
        turns = held.turns(self, frame)
        if self.rig.hands is not None:
            self._hands = held.hands_turned(self, frame, turns)
        self.outcome, self._frame = held.outcome, frame
        return turns

    def other_controls(self, depsgraph: bpy.types.Depsgraph) -> list[OtherControl]:
        """Return the constraints that move the chain's bones now, in place of its target."""
        self._carried = False
        if not self._controls:
            return []
        bones = self.armature.evaluated_get(depsgraph).pose.bones
        found = [
            (control, bones[control.owner].constraints[control.constraint]) for control in self._controls
        ]
        acting = [control for control, there in found if not there.mute and there.influence > 0.0]
        self._carried = carry(self.rig, acting)
        return not_followed(self.rig, acting)

    def rest_changed(self) -> bool:
        """Return whether armature data is no longer as it was read, as far as the chain goes."""
        try:
            return self._rest_now() != self._rest
        except (ReferenceError, LookupError, AttributeError):  # something of it is gone
            return True

    def _rest_now(self) -> list[Any]:
        return rest_fingerprint(self.rig.pose_bones, self.rig.target, self.rig.subtarget)

    def pause(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Leave the bones to other controls; return whether any had to be turned.

        Where these act at some times only they find the bones at rest, so that what they start from, and with
        it the pose of the frame, does not depend on the frames before.
        """
        if not _acts_at_times(self.rig, self._controls) or _is_keyed(self.rig):
            return False
        shown = self.armature.evaluated_get(depsgraph).pose.bones
        bones = [shown[name] for name in self.rig.bones]
        return write(self.armature, bones, writers_of(self.rig), [0.0] * len(bones))

    def place_of_target(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Vector:
        """Return the target's place as a depsgraph shows it, or by its F-Curves if that hides it."""
        if self.is_unseen(depsgraph):
            return place_by_curves(self.rig, scene, depsgraph)
        return shown_place(self.rig.target, self.rig.subtarget, depsgraph)

    def is_unseen(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Return the cached `is_unseen` of the target: whether a depsgraph may not move it."""
        target = self.rig.target
        if not target.evaluated_get(depsgraph).is_evaluated:
            return True
        layer = depsgraph.scene.session_uid, depsgraph.view_layer.name
        own = target.hide_viewport, target.hide_render, depsgraph.mode, *layer
        if own not in self._unseen:
            self._unseen[own] = is_unseen(target, depsgraph)
        return self._unseen[own]

    def forget_unseen(self) -> None:
        """Forget which targets may not move: collections have changed."""
        self._unseen.clear()

    def may_pose(self, scene: bpy.types.Scene, turns: list[float], frame_changed: bool) -> bool:
        """Return whether a scene may pose the chain: of several that show it, the one where it moved last.

        Otherwise each would pose it again after another, for ever. One that no window shows does not count.
        """
        own = scene.session_uid
        beside = self._held.beside if self._held else []
        pose = [*turns, *(value[-1] for value in values_of(self.armature, beside))] if beside else turns
        if self._hands:
            pose = [*pose, *(value for hand in self._hands for value in hand.values[0].tolist())]
        same = self._poses_in.get(own) == pose
        self._poses_in[own] = pose
        if same and not frame_changed and self._owner not in (0, own) and _is_shown(self._owner):
            return False
        self._owner = own
        return True

    def write(self, turns: list[float]) -> bool:
        """Write the turns where the last frame shows others; return whether there were any."""
        frame, self._frame = self._frame, None
        if frame is None or self._held is None:
            return False
        held = self._held
        turned = write(self.armature, frame.own, held.writers, turns)
        if self._hands:
            turned |= write_hands(held.rig, frame.bones, self._hands)
        written = bool(held.beside) and write_lengths(held.rig, frame.bones, held.beside) or turned
        if not written:
            self._refresh(frame, turns)
        return written

    def _refresh(self, frame: "_FrameState", turns: list[float]) -> None:
        """Have the bones evaluated anew, once, where their channels are right and the tip is elsewhere.

        After a file was opened, Blender may show a stored pose until something moves the armature.
        """
        if self.outcome is None or turns == self._refreshed:
            return
        distance = (frame.world @ frame.own[-1].tail - frame.target).length
        solved = hypot(*self.outcome.lengths())
        if abs(distance - solved) > _ASTRAY * shown_reach(frame.world, frame.own):
            self._refreshed = list(turns)
            self.armature.update_tag(refresh={'OBJECT', 'DATA'})


class _FrameState:
    """State of a chain's armature, bones and target in a depsgraph."""

    __slots__ = (
        "aim",
        "base",
        "bend",
        "bones",
        "carried",
        "influence",
        "own",
        "scene",
        "softness",
        "target",
        "world",
    )

    def __init__(self, chain: LiveChain, scene: Any, depsgraph: Any, shown: bpy.types.Object) -> None:
        self.scene = scene
        self.world: Matrix = shown.matrix_world
        self.bones = bones = shown.pose.bones
        self.own = [bones[name] for name in chain.rig.bones]
        self.base: Matrix | None = bones[chain._above].matrix if chain._above else None
        if chain.armature.ik2d.chains[chain.index].name != chain.name:
            raise LookupError(f"chain '{chain.name}' is not where it was")
        settings: Any = chain_named(shown, chain.name)
        self.bend = bend_of(settings)
        self.softness, self.influence = settings.softness, settings.influence
        rig = chain.rig
        target = rig.target.evaluated_get(depsgraph)
        self.carried = carried_now(self.own[0]) if chain._carried else None
        self.target = chain.place_of_target(scene, depsgraph)
        self.aim: Matrix | None = None
        if rig.follows_rotation:
            if chain.is_unseen(depsgraph):
                self.aim = turn_by_curves(rig, scene)
            else:
                own = target.pose.bones[rig.subtarget].matrix if rig.subtarget else Matrix()
                self.aim = (target.matrix_world @ own).to_3x3()


class _RigState:
    """State of a chain that its bones' locations and scales decide, with its plane."""

    def __init__(self, chain: LiveChain, frame: _FrameState, before: "_RigState | None") -> None:
        """Read it. before: the state before, if only the plane of a straight chain differs."""
        rig = chain.rig
        self._places = [(bone.location.copy(), bone.scale.copy(), bone.rotation_mode) for bone in frame.own]
        samples = _samples(chain, frame)
        refuse_unsolvable(rig, samples, [frame.scene.frame_float])
        self._faces = None
        if chain._straight:
            rig = facing_target(rig, samples) if before is None else before.faced(chain.rig, frame)
            self._faces = _Faces(rig, chain.rig)
        self.rig = rig
        self.writers = writers_of(rig)
        self.outcome: Outcome | None = None
        self._changes_lengths = changes_lengths(rig)
        self._scaled = [False] * len(rig.bones) if rig.stretching is None else rig.stretching.scaled.tolist()
        self.beside: list[BoneChannels] = []  # the channels next to the rotations
        # Where bones change their lengths: factors (1, n) of these, and locations (1, n, 3).
        self._factors: Floats | None = None
        self._locations: Floats | None = None
        self._tips = PlainTips(rig, frame.own) if rig.stretching is not None else None
        self.plain: Plain | None = read_plain_solver(rig, samples, chain.straight, self._tips)
        if chain._straight and chain.straight is None:
            chain.straight = self.plain if rig is chain.rig else read_plain_solver(chain.rig, samples)
            self.plain = read_plain_solver(rig, samples, chain.straight, self._tips)
        self.plain_hands: PlainHands | None = None
        keeps = rig.hands is not None and not self._changes_lengths
        if keeps and self.plain is not None and are_plain(rig, rig.hands):
            self.plain_hands = PlainHands(rig, rig.hands)
        self._seen: tuple[Any, ...] = ()
        self._turns: list[float] = []
        if self.plain is not None:
            self._prepare(samples)

    def _prepare(self, samples: ChainSamples) -> None:
        """Keep the chain's plane, and the matrix from its rest space to the space of the bone above it."""
        rig = self.rig
        alone = replace(samples, parent=None if samples.parent is None else np.eye(4)[None])
        self._unturned = alone
        self._tip_height: float | None = None  # over the plane; calculated on request
        self._base_to_rest: Affine = tuple(rest_to_pose(rig, alone)[0, :3].ravel().tolist())
        plane = rig.plane
        self._origin: list[float] = plane.origin.tolist()
        self._axes = (plane.x.tolist(), plane.y.tolist(), plane.normal.tolist())
        self._world: Matrix | None = None
        self._base: Matrix | None = None
        self._into: Affine = ()
        self._to_world: Affine = ()

    def holds(self, frame: _FrameState) -> bool:
        """Return whether the bones have the same locations, scales and rotation modes."""
        for i, (bone, (location, scale, mode)) in enumerate(zip(frame.own, self._places, strict=True)):
            if bone.rotation_mode != mode:
                return False
            if self._changes_lengths and self.plain is None:  # the others are read on each frame
                continue
            if self._scaled[i]:  # by the chain itself
                scale[ALONG] = bone.scale[ALONG]
            if bone.location != location or bone.scale != scale:
                return False
        return self._faces is None or self._settle(frame)

    def faces(self, frame: _FrameState) -> bool:
        """Return whether the plane is still the same."""
        return self._faces is None or self._faces.hold(*self._in_rest(frame))

    def faced(self, rig: RigChain, frame: _FrameState) -> RigChain:
        """Return a straight chain in the plane of its target in rest space, as `facing_target` does."""
        points = np.array([self._in_rest(frame)])
        plane = plane_through(rest_joints(rig.pose_bones), points, rig.plane)
        return rig if plane is None else rig.in_plane(plane, TARGET)

    def turns(self, chain: LiveChain, frame: _FrameState) -> list[float]:
        """Return the turns (n,), by the plain solver if it can solve the chain."""
        is_plain = frame.influence == 1.0 and abs(frame.bend) == 1.0 and frame.carried is None
        if self.plain is None or not is_plain or not self._settle(frame):
            return self._whole(chain, frame)
        x, y, z = self._in_rest(frame)
        seen = (x, y, z, frame.bend, frame.softness)
        if seen == self._seen:
            return self._turns
        a, b, c = x - self._origin[0], y - self._origin[1], z - self._origin[2]
        flat_x, flat_y, height = (u * a + v * b + w * c for u, v, w in self._axes)
        answer = self.plain.solve(flat_x, flat_y, frame.bend, frame.softness)
        if answer is None:
            return self._whole(chain, frame)
        measures = answer.residual, height
        self.outcome = Outcome(answer.status, self._outside, measures, EASED if answer.softened else "")
        self._seen, self._turns = seen, answer.turns
        self._lengthen(answer)
        return answer.turns

    def _lengthen(self, answer: PlainAnswer) -> None:
        """Keep what an answer writes next to the rotations."""
        if answer.factors is not None:
            self._factors = np.array([answer.factors])
            self.beside = [*scale_channels(self.rig, self._factors), *scales_back(self.rig, keyed=False)]

    def _settle(self, frame: _FrameState) -> bool:
        """Follow the armature and the bone above the chain; return False where these do not hold it alone."""
        if self.plain is None or frame.carried is not None:
            return False
        if self._into and frame.world == self._world and frame.base == self._base:
            return True
        self._world, self._base = frame.world.copy(), frame.base and frame.base.copy()
        held = affine(self._world)
        if self._base is not None:
            held = product(held, affine(self._base))
        self._to_world = product(held, self._base_to_rest)
        found = inverse(self._to_world)
        self._into = found or ()
        if found is not None and self._tips is not None:
            above = self._base_to_rest
            if self._base is not None:
                above = product(affine(self._base), above)
            self._tips.hold(self._base, inverse(above) or ())
        return found is not None

    def _in_rest(self, frame: _FrameState) -> tuple[float, float, float]:
        """Return the target in the chain's rest space."""
        return moved(self._into, *frame.target)

    def _outside(self, measures: tuple[float, float]) -> tuple[float, float]:
        """Return lengths in the world's units: in the plane, and from the tip along its normal.

        measures: in the chain's units, in the plane and from the plane on.
        """
        in_plane, height = measures
        if self._tip_height is None:
            self._tip_height = float(read_linkage(self.rig, self._unturned).heights)
        along, _, normal = self._axes
        scales = [sum(v * v for v in turned(self._to_world, *axis)) ** 0.5 for axis in (along, normal)]
        return in_plane * scales[0], abs(height - self._tip_height) * scales[1]

    def hands_turned(self, chain: LiveChain, frame: _FrameState, turns: list[float]) -> list[BoneRotation]:
        """Return the hands' rotations for turns (n,) of the bones, by plain matrices where that is enough."""
        rig = self.rig
        if rig.hands is None:
            return []
        if self.plain_hands is not None and frame.influence == 1.0 and not own_curves(rig):
            turned = turned_by(rig.hands, frame.world, frame.aim)
            found = self.plain_hands.rotations(turns, frame.own, frame.base, turned)
            if found is not None:
                return found
        own = own_turns_now(frame.scene, rig)
        rotations = rotations_of(rig, np.array([turns]))
        samples = _samples(chain, frame)
        return hands_held(rig, samples, rotations, own, self._factors, self._locations).rotations

    def _whole(self, chain: LiveChain, frame: _FrameState) -> list[float]:
        """Return the turns (n,) as a bake solves them."""
        self._seen = ()
        rig, samples, times = self.rig, _samples(chain, frame), [frame.scene.frame_float]
        refuse_unsolvable(rig, samples, times)
        other_turns = turns_of_hand_made(frame.scene, rig, times) if frame.influence < 1.0 else None
        samples = without_slides(frame.scene, rig, samples, times, copies=False)
        solved = finished(solve_chain(rig, samples, times, other_turns=other_turns))
        if self._changes_lengths:
            slides, scales = slide_channels(rig, solved.locations), scale_channels(rig, solved.factors)
            self._factors, self._locations = solved.factors, solved.locations
            self.beside = [*slides, *scales, *scales_back(rig, keyed=False)]
        in_plane, height = float(solved.residual[0]), float(solved.off_plane[0])
        cannot = solved.angle_errors is not None and solved.solution.status[0] == Status.ANGLE
        self.outcome = Outcome(
            int(solved.solution.status[0]),
            _as_it_is,
            (in_plane, height),
            TURNING if abs(frame.bend) < 1.0 else BLENDED if frame.influence < 1.0 else EASED,
            stopped_words(solved.solution.limited[0], rig.joints.fixed),
            bool(solved.uneven_scale),
            float(solved.angle_errors[0]) if cannot and solved.angle_errors is not None else 0.0,
        )
        return solved.turns[0].tolist()


def _as_it_is(measures: tuple[float, float]) -> tuple[float, float]:
    return measures


def shown_place(target: bpy.types.Object, subtarget: str, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Return the place of a target, an object or the head of its bone, as a depsgraph shows it."""
    shown = target.evaluated_get(depsgraph)
    if subtarget:
        return shown.matrix_world @ shown.pose.bones[subtarget].head
    return shown.matrix_world.translation


def _refuse_driven(rig: RigChain) -> None:
    """Raise IK2DError for a bone whose rotation, or length, a driver sets."""
    animation = rig.armature.animation_data
    if animation is None or not len(animation.drivers):
        return
    driven = {curve.data_path for curve in animation.drivers if not curve.mute}
    for i, bone in enumerate(rig.pose_bones):
        names = [] if rig.joints.fixed[i] else [rotation_property(bone.rotation_mode)]
        names += ["location"] * (rig.slides is not None) + ["scale"] * (rig.stretching is not None)
        if not driven.isdisjoint(map(bone.path_from_id, names)):
            raise IK2DError(
                f"Chain '{rig.name}': a driver moves bone '{bone.name}' in place of this chain; remove or"
                " mute the driver"
            )


def _refuse_native(rig: RigChain) -> None:
    """Raise IK2DError for a chain with a bone that a native chain turns."""
    for other in rig.armature.ik2d.chains:
        shared = {bone.name for bone, _ in constraints_of(other)}.intersection(rig.bones)
        if shared and acts(other):
            raise IK2DError(
                f"Chain '{rig.name}': the chain '{other.name}' on drivers turns its bone '{min(shared)}';"
                " turn Live off, or press Revert"
            )


def _acts_at_times(rig: RigChain, controls: Sequence[OtherControl]) -> bool:
    """Return whether some controls act at some times and not at others."""
    bones = rig.armature.pose.bones
    return any(is_animated(rig.armature, bones[one.owner].constraints[one.constraint]) for one in controls)


def _is_keyed(rig: RigChain) -> bool:
    """Return whether bones of a chain have rotation keys, from which each frame starts anew."""
    paths = {bone.path_from_id(rotation_property(bone.rotation_mode)) for bone in rig.pose_bones}
    holder = existing_channels(rig.armature)
    return holder is not None and any(curve.data_path in paths for curve in holder.fcurves)


def _is_shown(scene: int) -> bool:
    """Return whether a window shows a scene, of that session UID."""
    return any(window.scene.session_uid == scene for window in bpy.context.window_manager.windows)


class _Faces:
    """Test of whether a straight chain's plane still goes through its target."""

    def __init__(self, rig: RigChain, unturned: RigChain) -> None:
        joints = rest_joints(rig.pose_bones)
        line = joints[-1] - joints[0]
        self._origin: Vector = Vector(rig.plane.origin)
        self._line = Vector(line / np.linalg.norm(line))
        self._own, self._other = Vector(rig.plane.normal), Vector(unturned.plane.normal)
        self._reach = float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum())
        self._is_own = rig is unturned

    def hold(self, x: float, y: float, z: float) -> bool:
        """Return whether a target in rest space gets the same plane."""
        offset = Vector((x, y, z)) - self._origin
        aside = (offset - self._line * offset.dot(self._line)).length
        if abs(offset.dot(self._other)) <= _IN_PLANE * self._reach:  # where its own plane is as good
            return self._is_own
        return not self._is_own and abs(offset.dot(self._own)) <= _IN_PLANE * aside


def _samples(chain: LiveChain, frame: _FrameState) -> ChainSamples:
    """Return the samples of the frame, as a bake would take them."""
    rig = chain.rig
    bases = [
        bone.matrix_basis if fixed else Matrix.LocRotScale(bone.location, None, bone.scale)
        for bone, fixed in zip(frame.own, rig.joints.fixed, strict=True)
    ]
    return ChainSamples(
        targets=np.array([frame.target], np.float64),
        world=np.array([frame.world], np.float64),
        parent=None if frame.base is None else np.array([frame.base], np.float64),
        bases=np.array([bases], np.float64),
        tips=np.zeros((1, 3)),
        settings=np.array([[frame.softness, frame.bend, frame.influence]], np.float64),
        aims=None if frame.aim is None else np.array([frame.aim], np.float64),
        carried=frame.carried,
    )
