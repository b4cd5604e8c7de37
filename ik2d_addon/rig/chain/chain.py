# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a planar chain from an armature: pose bones -> Chain and Plane."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError, Plane
from ...core.inputs import Floats
from ...core.swing import POLE, Swing
from ...core.words import listed, noted, number_of, refusal, say
from .checks.bones import chain_bones, rest_joints
from .checks.stored_values import refuse_broken_rest, refuse_damaged
from .checks.targets import GROUND_ROLE, POLE_ROLE, TARGET_ROLE, check_pole, check_target
from .dependencies import Node, fk_copies
from .foot.foot import Foot, foot_values, read_foot
from .hands import Hands, read_hands
from .joints import (
    Joints,
    TipAngle,
    axes_left,
    normal_in_bone,
    read_joints,
    read_tip_angle,
    slant_of_locks,
)
from .native_state import controls_of, is_native, sampled_controls, with_foot_controls
from .planes import bend_of, choose_plane, read_swing, solver_side, swing_note
from .post import Post, bending_bones, joints_of_post, read_post
from .slides import Slides, read_slides
from .stretch import Stretching, carried_note, read_stretching

# Joints further off the plane than this part of the reach get a warning.
FAR_OFF_PLANE = 0.01
# The number of the axis along a bone.
_ALONG = 1


@dataclass(frozen=True, eq=False)
class SolverSettings:
    """How a chain is solved."""

    solver: str  # 'TWO_BONE', 'EVEN', 'ARC' or 'CCD'
    path: str = ""  # of these settings, from the armature object
    bend: float = 1.0  # +1 or -1; between while it turns over
    side: float = 1.0  # -1.0 where its solver counts sides the other way round than its settings
    softness: float = 0.0
    influence: float = 1.0
    iterations: int = 1
    tolerance: float | None = None
    starts_from_rest: bool = False  # with CCD: each frame, not from the one before
    root_turns_freely: bool = True  # with Even: the root's turn costs nothing
    slide_weight: float = 1.0  # with Even: how willingly bones slide rather than turn
    aims: bool = False  # one bone that points at its target, however far that is
    tip_angle: TipAngle | None = None  # None where the last bone is free
    native: bpy.types.Object | None = None  # the empty that carries a native chain's controls
    post: Post | None = None  # None where no bone turns the plane about its own axis


@dataclass(frozen=True, eq=False)
class Remarks:
    """What there is to say of a chain before it is solved."""

    plane: str  # the plane that it bends in, in words
    off_plane: float  # the furthest that any joint is off that plane in rest
    notes: tuple[str, ...] = ()  # warnings
    other_controls: bool = False  # whether one of these names other controls of the bones
    forced: tuple[str, ...] = ()  # problems refused without force: inputs that are missing or do not run
    copies: tuple[tuple[str, str], ...] = ()  # (bone, constraint): see `fk_copies`


@dataclass(frozen=True, eq=False)
class RigChain:
    """A chain of pose bones as the solvers see it, in the armature's rest space."""

    armature: bpy.types.Object
    name: str
    bones: tuple[str, ...]  # root to tip
    plane: Plane
    target: bpy.types.Object
    subtarget: str
    settings: SolverSettings
    joints: Joints
    remarks: Remarks
    swing: Swing | None = None  # None where the plane is the same on all frames
    pole: Node | None = None  # an object, and its bone or "", that the plane goes through
    stretching: Stretching | None = None  # None where no bone changes its length
    slides: Slides | None = None  # None where all bones are rigid
    hands: Hands | None = None  # None where the bones on the tip are left alone
    foot: Foot | None = None  # None where the target is the tip's, rather than a foot's control

    def with_remarks(self, **changes: Any) -> "RigChain":
        """Return the chain with other fields of its remarks."""
        return replace(self, remarks=replace(self.remarks, **changes))

    def solved_by(self, **changes: Any) -> "RigChain":
        """Return the chain with other settings of its solver."""
        return replace(self, settings=replace(self.settings, **changes))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The chain's warnings before it is solved."""
        doubt = say("it is baked by force, to where the target seems to be without that")
        forced = (f"{problem}; {doubt}" for problem in self.remarks.forced)
        return (*held_note(self), *self.remarks.notes, *forced)

    def in_plane(self, plane: Plane, taken: str) -> "RigChain":
        """Return the chain in another plane; taken: that plane in words."""
        bones = self.pose_bones
        joints = self.joints.about(bones, _normals(plane, bones))
        return replace(
            self,
            plane=plane,
            remarks=replace(
                self.remarks, plane=taken, off_plane=float(plane.distance(rest_joints(bones)).max())
            ),
            joints=joints,
            slides=self.slides and self.slides.about(joints.axes[-1]),
        )

    @property
    def has_memory(self) -> bool:
        """Whether a frame's pose depends on the one before, whatever is asked for."""
        return self.settings.solver == 'CCD' and not self.settings.starts_from_rest

    @property
    def goes_on(self) -> bool:
        """Whether a bake goes on from the frame before: by Even too, where its least pose may jump."""
        settings, is_long = self.settings, len(self.bones) > 2
        may_jump = is_long and (settings.tip_angle is not None or bool(self.joints.held.any()))
        if settings.tip_angle is None:
            may_jump = may_jump or self.slides is not None or not settings.root_turns_freely
        jumps = settings.solver == 'EVEN' and may_jump
        return (settings.solver == 'CCD' or jumps) and not settings.starts_from_rest

    @property
    def values(self) -> tuple[float, ...]:
        """Its settings that are read on each frame, as `values_of` has them."""
        settings, foot = self.settings, self.foot.values if self.foot is not None else ()
        turn = 0.0 if self.swing is None else self.swing.turn
        return settings.softness, settings.bend, settings.influence, turn, *foot

    @property
    def roles(self) -> dict[str, Node]:
        """What it follows by role: "target", "pole", "ground"; each an object with its bone or ""."""
        ground = self.foot.ground if self.foot is not None else None
        under = None if ground is None else (ground, "")
        others: dict[str, Node | None] = {POLE_ROLE: self.pole, GROUND_ROLE: under}
        nodes = {role: node for role, node in others.items() if node is not None}
        return {TARGET_ROLE: (self.target, self.subtarget), **nodes}

    @property
    def followed(self) -> list[Node]:
        """What it follows: its target, then its pole and the ground under its foot, if it has them."""
        return list(self.roles.values())

    @property
    def follows_rotation(self) -> bool:
        """Whether the target's rotation counts, beside its place."""
        hands, tip = self.hands, self.settings.tip_angle
        return (hands is not None and hands.follow) or (tip is not None and tip.follow)

    @property
    def post(self) -> Post | None:
        """The bone that turns the plane about its own axis; None for none."""
        return self.settings.post

    @property
    def post_above(self) -> Post | None:
        """The post, where it is a bone above the chain's own."""
        post = self.settings.post
        return None if post is None or post.bone in self.bones else post

    @property
    def turned_bones(self) -> tuple[str, ...]:
        """All bones that the chain turns: its own, after a post above them."""
        post = self.post_above
        return self.bones if post is None else (post.bone, *self.bones)

    @property
    def bones_from_post(self) -> tuple[str, ...]:
        """The chain's bones, and with a post above them all from there on, root to tip."""
        post = self.post_above
        return self.bones if post is None else (post.bone, *post.between, *self.bones)

    @property
    def pose_from_post(self) -> list[bpy.types.PoseBone]:
        """The pose bones of `bones_from_post`."""
        return [self.armature.pose.bones[name] for name in self.bones_from_post]

    @property
    def pose_bones(self) -> list[bpy.types.PoseBone]:
        """The chain's pose bones, root to tip."""
        return [self.armature.pose.bones[name] for name in self.bones]


def read_chain(
    armature: bpy.types.Object,
    settings: bpy.types.PropertyGroup,
    lost_target: bool = False,
    own_tip: bool = False,
) -> RigChain:
    """Return the chain that `settings` (one of `Object.ik2d.chains`) describes.

    lost_target: whether the target may be Blender's placeholder for one in a missing library. own_tip:
    take the chain's tip bone for its target, as while it is held by hand. Raises IK2DError with a
    sentence for the user where the chain is incomplete or impossible.
    """
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)
    bones, own_bones = bending_bones(settings, bones), bones
    refuse_damaged(settings, [bone.name for bone in bones])
    refuse_broken_rest(settings.name, bones)
    _solver(settings, len(bones))
    if not own_tip:
        check_target(armature, settings, bones, lost_target)
    elif settings.plane == POLE:
        check_pole(armature, settings, [bone.name for bone in bones])
    joints = rest_joints(bones)
    plane, taken = choose_plane(settings, settings.plane, own_bones, joints)
    post = read_post(settings, bones, joints, plane)
    stretching = read_stretching(settings, bones)
    turning = read_joints(settings, bones, _normals(plane, bones))
    _refuse_on_arc(settings, bones, turning.limits, turning.weights, turning.fixed)
    turning = joints_of_post(settings, bones, turning)
    slides = read_slides(settings, bones, turning.axes[-1], joints, bool(turning.fixed[-1]))
    stand = controls_of(settings)
    foot = None if own_tip else read_foot(settings, plane, bones[-1])
    hands, left_alone = read_hands(settings, bones[-1], foot)
    if foot is not None and stand:
        foot = replace(foot, values=with_foot_controls(stand, foot.values))
    if foot is not None and hands is None:
        raise refusal("{problem}; or remove the foot", problem=left_alone[0])
    sliding = slides is not None and slides.any
    tip_angle = read_tip_angle(settings, len(bones), slides=sliding, askew=turning.askew, own_tip=own_tip)
    swing = read_swing(settings, bones, joints, plane, post)
    if swing is not None and sliding and len(bones) == 1:
        raise refusal(
            "Chain '{chain}': a single bone that slides stays in one plane; turn Slide off, or "
            "set Bends In to another plane",
            chain=settings.name,
        )
    carried = carried_note(settings.name, bones, stretching) if stretching else ()
    solver = _solver(settings, len(bones), slides)
    side = solver_side(settings, solver, plane, joints) if tip_angle is None else 1.0
    softness, bend, influence, turn = (
        sampled_controls(stand, side) if stand else values_of(settings, side, with_foot=False)
    )
    return RigChain(
        armature=armature,
        name=settings.name,
        bones=tuple(bone.name for bone in bones),
        plane=plane,
        target=armature if own_tip else settings.target,
        subtarget=settings.tip if own_tip else settings.subtarget,
        settings=SolverSettings(
            solver=solver,
            path=settings.path_from_id(),
            bend=bend,
            side=side,
            softness=softness,
            influence=influence,
            iterations=settings.iterations,
            tolerance=settings.tolerance or None,
            starts_from_rest=settings.start_from == 'REST',
            root_turns_freely=settings.root_turns_freely,
            slide_weight=settings.slide_weight,
            aims=len(bones) == 1 and not (settings.aim_distance or stretching or sliding or foot),
            tip_angle=tip_angle,
            native=stand,
            post=post,
        ),
        joints=turning,
        remarks=Remarks(
            plane=taken,
            off_plane=float(plane.distance(joints).max()),
            notes=(*carried, *left_alone, *swing_note(settings, bones[0])),
            copies=fk_copies(settings, bones),
        ),
        swing=swing and replace(swing, turn=turn),
        pole=(settings.pole, settings.pole_subtarget) if swing is not None and swing.rule == POLE else None,
        stretching=stretching,
        slides=slides,
        hands=hands,
        foot=foot,
    )


def values_of(settings: bpy.types.PropertyGroup, side: float, *, with_foot: bool) -> tuple[float, ...]:
    """Return the values that are read on each frame: softness, bend, influence, plane turn, and a foot's.

    side: that of its SolverSettings.
    """
    foot = foot_values(settings.foot) if with_foot else ()
    return settings.softness, side * bend_of(settings), settings.influence, settings.plane_turn, *foot


def _normals(plane: Plane, bones: Sequence[bpy.types.PoseBone]) -> list[Floats]:
    return [normal_in_bone(plane, bone) for bone in bones]


def held_note(rig: RigChain) -> Iterator[str]:
    """Yield sentences on the joints that locks keep from bending the chain, and what the locks leave."""
    fixed = [bone for bone, is_fixed in zip(rig.pose_bones, rig.joints.fixed, strict=True) if is_fixed]
    held = [bone.name for bone in fixed if not axes_left(bone)]
    if held[1:]:
        yield say(
            "Chain '{chain}': locks hold {bones}, so they do not turn", chain=rig.name, bones=listed(held)
        )
    elif held:
        yield say("Chain '{chain}': locks hold '{bone}', so it does not turn", chain=rig.name, bone=held[0])
    for bone in fixed:
        left = axes_left(bone)
        if left == [_ALONG]:
            yield say(
                "Chain '{chain}': locks leave '{bone}' only the Y axis along it, about which it twists, so "
                "it does not bend the chain; unlock X or Z to bend there",
                chain=rig.name,
                bone=bone.name,
            )
        elif left:
            yield say(
                "Chain '{chain}': locks leave '{bone}' only {axes}, {angle:.0f} degrees off the normal of "
                "the chain's plane, so it does not turn; unlock it, or set Bends In to another plane",
                chain=rig.name,
                bone=bone.name,
                axes=listed(["XYZ"[axis] for axis in left]),
                angle=np.degrees(slant_of_locks(bone, normal_in_bone(rig.plane, bone))),
            )


def reading(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> RigChain | str:
    """Return the chain that `read_chain` reads, or the error that it raises, in words."""
    try:
        return read_chain(armature, settings)
    except IK2DError as error:
        return str(error)


def problem_of(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> str:
    """Return the error that `read_chain` raises; "" for a good chain."""
    rig = reading(armature, settings)
    return rig if isinstance(rig, str) else ""


def _solver(settings: bpy.types.PropertyGroup, bone_count: int, slides: Slides | None = None) -> str:
    if settings.solver == 'TWO_BONE' and bone_count != 2:
        raise refusal(
            "Chain '{chain}' has {bones}, but the Two-Bone solver takes two; set Chain Length to "
            "2 or the solver to Automatic",
            chain=settings.name,
            bones=number_of(bone_count, "bone"),
        )
    if bone_count == 2 and is_native(settings):
        return 'TWO_BONE'
    is_sliding = slides is not None and slides.any
    rigid = {'TWO_BONE': noted("Two-Bone"), 'ARC': noted("Circle")}.get(settings.solver)
    if rigid and is_sliding:
        raise refusal(
            "Chain '{chain}' has bones that slide, but the {rigid} solver takes rigid ones; turn "
            "Slide off or set the solver to Automatic",
            chain=settings.name,
            rigid=rigid,
        )
    return chosen_solver(bone_count, is_sliding) if settings.solver == 'AUTO' else str(settings.solver)


def _refuse_on_arc(
    settings: bpy.types.PropertyGroup,
    bones: list[bpy.types.PoseBone],
    limits: Floats,
    weights: Floats,
    locked: NDArray[np.bool_],
) -> None:
    """Raise IK2DError where a joint of a chain on an arc does not turn freely. All (n,), limits (n, 2)."""
    if settings.solver != 'ARC':
        return
    causes = (
        (~np.isnan(limits).all(axis=1), say("has limits"), say("turn Limit off")),
        (weights == 0.0, say("has a flexibility of 0"), say("give it some")),
        (locked, say("is held by locks"), say("unlock it")),
    )
    for refused, what, way_out in causes:
        if refused.any():
            raise refusal(
                "Chain '{chain}': its bone '{bone}' {what}, but with the Circle solver all joints "
                "turn freely; {way_out} or set the solver to Automatic",
                chain=settings.name,
                bone=bones[int(refused.argmax())].name,
                what=what,
                way_out=way_out,
            )


def chosen_solver(bone_count: int, is_sliding: bool = False) -> str:
    """Return the solver that Automatic chooses for a number of bones."""
    return 'TWO_BONE' if bone_count == 2 and not is_sliding else 'EVEN'
