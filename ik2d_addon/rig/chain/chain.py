# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a planar chain from an armature: pose bones -> Chain and Plane."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError, Plane
from ...core.inputs import Floats
from ...core.swing import POLE, Swing
from ...core.words import listed, noted, number_of, refusal, say
from ..rest import rest_matrix, rest_tail
from .dependencies import Node, parents, walk
from .foot.foot import Foot, foot_values, ground_of, read_foot
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
from .slides import Slides, read_slides
from .stored_values import refuse_broken_rest, refuse_damaged
from .stretch import Stretching, carried_note, read_stretching

# Joints further off the plane than this part of the reach get a warning.
FAR_OFF_PLANE = 0.01
# A bone whose head is this near to its parent's tail, as a part of its length, goes on from there.
_JOINED = 1e-3
# The number of the axis along a bone.
_ALONG = 1
# What a chain follows.
_TARGET, _POLE, _GROUND = noted("target"), noted("pole"), noted("ground")


@dataclass(frozen=True, eq=False)
class RigChain:
    """A chain of pose bones as the solvers see it, in the armature's rest space."""

    armature: bpy.types.Object
    name: str
    bones: tuple[str, ...]  # root to tip
    plane: Plane
    off_plane: float  # the furthest that any joint is off the plane in rest
    target: bpy.types.Object
    subtarget: str
    solver: str  # 'TWO_BONE', 'EVEN', 'ARC' or 'CCD'
    bend: float  # +1 or -1; between while it turns over
    iterations: int
    tolerance: float | None
    softness: float
    influence: float
    path: str  # of its settings, from the armature object
    joints: Joints
    plane_taken: str  # the plane in words
    starts_from_rest: bool = False  # with CCD: each frame, not from the one before
    root_turns_freely: bool = True  # with Even: the root's turn costs nothing
    notes: tuple[str, ...] = ()  # other warnings
    other_controls: bool = False  # whether a warning names other controls of the bones
    forced: tuple[str, ...] = ()  # problems refused without force: inputs that are missing or do not run
    stretching: Stretching | None = None  # None where no bone changes its length
    slides: Slides | None = None  # None where all bones are rigid
    slide_weight: float = 1.0  # with Even: how willingly bones slide rather than turn
    hands: Hands | None = None  # None where the bones on the tip are left alone
    native: bpy.types.Object | None = None  # the empty that carries a native chain's controls
    tip_angle: TipAngle | None = None  # None where the last bone is free
    swing: Swing | None = None  # None where the plane is the same on all frames
    pole: Node | None = None  # an object, and its bone or "", that the plane goes through
    aims: bool = False  # one bone that points at its target, however far that is
    foot: Foot | None = None  # None where the target is the tip's, rather than a foot's control
    solver_side: float = 1.0  # -1.0 where its solver counts sides the other way round than its settings

    @property
    def warnings(self) -> tuple[str, ...]:
        """The chain's warnings before it is solved."""
        doubt = say("it is baked by force, to where the target seems to be without that")
        return (*held_note(self), *self.notes, *(f"{problem}; {doubt}" for problem in self.forced))

    def in_plane(self, plane: Plane, taken: str) -> "RigChain":
        """Return the chain in another plane; taken: that plane in words."""
        bones = self.pose_bones
        joints = self.joints.about(bones, _normals(plane, bones))
        return replace(
            self,
            plane=plane,
            plane_taken=taken,
            off_plane=float(plane.distance(rest_joints(bones)).max()),
            joints=joints,
            slides=self.slides and self.slides.about(joints.axes[-1]),
        )

    @property
    def has_memory(self) -> bool:
        """Whether a frame's pose depends on the one before, whatever is asked for."""
        return self.solver == 'CCD' and not self.starts_from_rest

    @property
    def goes_on(self) -> bool:
        """Whether a bake goes on from the frame before: by Even too, where its least pose may jump."""
        limited = len(self.bones) > 2 and bool(self.joints.held.any())
        may_jump = limited or self.slides is not None or not self.root_turns_freely
        jumps = self.solver == 'EVEN' and self.tip_angle is None and may_jump
        return (self.solver == 'CCD' or jumps) and not self.starts_from_rest

    @property
    def values(self) -> tuple[float, ...]:
        """Its settings that are read on each frame, as `values_of` has them."""
        return self.softness, self.bend, self.influence, *(self.foot.values if self.foot is not None else ())

    @property
    def roles(self) -> dict[str, Node]:
        """What it follows by role: "target", "pole", "ground"; each an object with its bone or ""."""
        ground = self.foot.ground if self.foot is not None else None
        under = None if ground is None else (ground, "")
        others: dict[str, Node | None] = {_POLE: self.pole, _GROUND: under}
        found = {role: node for role, node in others.items() if node is not None}
        return {_TARGET: (self.target, self.subtarget), **found}

    @property
    def followed(self) -> list[Node]:
        """What it follows: its target, then its pole and the ground under its foot, if it has them."""
        return list(self.roles.values())

    @property
    def follows_rotation(self) -> bool:
        """Whether the target's rotation counts, beside its place."""
        hands, tip = self.hands, self.tip_angle
        return (hands is not None and hands.follow) or (tip is not None and tip.follow)

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
    refuse_damaged(settings, [bone.name for bone in bones])
    refuse_broken_rest(settings.name, bones)
    _solver(settings, len(bones))
    if not own_tip:
        _check_target(armature, settings, bones, lost_target)
    elif settings.plane == POLE:
        _check_pole(armature, settings, [bone.name for bone in bones])
    joints = rest_joints(bones)
    plane, taken = choose_plane(settings, settings.plane, bones, joints)
    stretching = read_stretching(settings, bones)
    turning = read_joints(settings, bones, _normals(plane, bones))
    _refuse_on_arc(settings, bones, turning.limits, turning.weights, turning.fixed)
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
    swing = read_swing(settings, bones, joints, plane)
    if swing is not None and sliding and len(bones) == 1:
        raise refusal(
            "Chain '{chain}': a single bone that slides stays in one plane; turn Slide off, or "
            "set Bends In to another plane",
            chain=settings.name,
        )
    carried = carried_note(settings.name, bones, stretching) if stretching else ()
    solver = _solver(settings, len(bones), slides)
    side = solver_side(settings, solver, plane, joints) if tip_angle is None else 1.0
    softness, bend, influence = (
        sampled_controls(stand, side) if stand else values_of(settings, side, with_foot=False)
    )
    return RigChain(
        armature=armature,
        name=settings.name,
        bones=tuple(bone.name for bone in bones),
        plane=plane,
        off_plane=float(plane.distance(joints).max()),
        target=armature if own_tip else settings.target,
        subtarget=settings.tip if own_tip else settings.subtarget,
        solver=solver,
        bend=bend,
        iterations=settings.iterations,
        starts_from_rest=settings.start_from == 'REST',
        root_turns_freely=settings.root_turns_freely,
        tolerance=settings.tolerance or None,
        softness=softness,
        influence=influence,
        path=settings.path_from_id(),
        joints=turning,
        plane_taken=taken,
        notes=(*carried, *left_alone, *swing_note(settings, bones[0])),
        stretching=stretching,
        slides=slides,
        slide_weight=settings.slide_weight,
        hands=hands,
        native=stand,
        tip_angle=tip_angle,
        swing=swing,
        pole=(settings.pole, settings.pole_subtarget) if swing is not None and swing.rule == POLE else None,
        aims=len(bones) == 1 and not (settings.aim_distance or stretching or sliding or foot),
        foot=foot,
        solver_side=side,
    )


def values_of(settings: bpy.types.PropertyGroup, side: float, *, with_foot: bool) -> tuple[float, ...]:
    """Return the values that are read on each frame: softness, bend, influence, and those of a foot.

    side: the `solver_side` of its chain.
    """
    foot = foot_values(settings.foot) if with_foot else ()
    return settings.softness, side * bend_of(settings), settings.influence, *foot


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
    found = reading(armature, settings)
    return found if isinstance(found, str) else ""


def chain_bones(
    armature: bpy.types.Object, tip: str, bone_count: int, chain_name: str = ""
) -> list[bpy.types.PoseBone]:
    """Return a chain's pose bones, root to tip; `bone_count` 0 goes to the hierarchy's root.

    Raises IK2DError for an unknown tip, for more bones than the tip has above it, and for less than none.
    """
    chain = say("Chain '{chain}'", chain=chain_name) if chain_name else say("The chain")
    if not tip:
        raise refusal("{chain} has no tip bone; set Last Bone to one", chain=chain)
    bone = pose_bones_of(armature).get(tip)
    if bone is None:
        raise refusal(
            "{chain}: armature '{armature}' has no bone '{tip}'; set Last Bone to another one",
            chain=chain,
            armature=armature.name,
            tip=tip,
        )
    bones = [bone, *bone.parent_recursive]
    if bone_count < 0:
        raise refusal(
            "{chain} asks for {bones} bones; set Chain Length to 0 or more", chain=chain, bones=bone_count
        )
    if bone_count > len(bones):
        _refuse_held(chain, bones[-1])
        raise refusal(
            "{chain} asks for {bones} bones, but '{tip}' and those above it are only {count}; "
            "set Chain Length to {count} or less",
            chain=chain,
            bones=bone_count,
            tip=tip,
            count=len(bones),
        )
    return list(reversed(bones[: bone_count or len(bones)]))


def _refuse_held(chain: str, bone: bpy.types.PoseBone) -> None:
    """Raise IK2DError for a bone without a parent that hangs on another one by a constraint."""
    for constraint in bone.constraints:
        if constraint.type not in ('CHILD_OF', 'ARMATURE') or constraint.mute or not constraint.influence:
            continue
        for source in getattr(constraint, "targets", (constraint,)):
            if source.target == bone.id_data and source.subtarget:
                raise refusal(
                    "{chain}: '{bone}' hangs on '{bone_2}' by its constraint '{constraint}', and a chain "
                    "goes along parents alone; make '{bone_2}' its parent and disable the constraint, or "
                    "set Chain Length to fewer",
                    chain=chain,
                    bone=bone.name,
                    bone_2=source.subtarget,
                    constraint=constraint.name,
                )


def pose_bones_of(armature: bpy.types.Object) -> bpy.types.bpy_prop_collection:
    """Return the pose bones of an armature; raise IK2DError for one that has no pose yet."""
    if armature.pose is None:
        raise refusal(
            "Armature '{armature}' is new and has no pose yet; update the view layer first",
            armature=armature.name,
        )
    return armature.pose.bones


def rest_joints(bones: list[bpy.types.PoseBone]) -> Floats:
    """Return the joints of pose bones (n + 1, 3) in rest: each head, then the tip's tail.

    Joint to joint, so that a child off its parent's tail counts where it is. By the rest matrices, as in
    the pose: `head_local` and `tail_local` are up to 1e-5 off these.
    """
    heads = [rest_matrix(bone.bone)[:3, 3] for bone in bones]
    return np.array([*heads, rest_tail(bones[-1].bone)])


def is_joined(bone: bpy.types.Bone) -> bool:
    """Return whether a bone goes on from its parent's tail at rest."""
    if bone.parent is None:
        return False
    gap = (bone.head_local - bone.parent.tail_local).length
    return bool(bone.use_connect or gap <= _JOINED * bone.length)


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
    for found, what, way_out in causes:
        if found.any():
            raise refusal(
                "Chain '{chain}': its bone '{bone}' {what}, but with the Circle solver all joints "
                "turn freely; {way_out} or set the solver to Automatic",
                chain=settings.name,
                bone=bones[int(found.argmax())].name,
                what=what,
                way_out=way_out,
            )


def chosen_solver(bone_count: int, is_sliding: bool = False) -> str:
    """Return the solver that Automatic chooses for a number of bones."""
    return 'TWO_BONE' if bone_count == 2 and not is_sliding else 'EVEN'


def _check_target(
    armature: bpy.types.Object,
    settings: bpy.types.PropertyGroup,
    bones: list[bpy.types.PoseBone],
    lost_target: bool = False,
) -> None:
    """Raise IK2DError unless the target exists and does not hang on the chain itself."""
    target, subtarget = settings.target, settings.subtarget
    if target is None:
        raise refusal(
            "Chain '{chain}' has no target; choose the object that its tip follows", chain=settings.name
        )
    lost = target.library if target.is_missing else None
    if lost is not None and not lost_target:
        raise refusal(
            "Chain '{chain}': its target '{target}' is in the library '{path}', which is "
            "missing; put the file back, or relocate the library (File > External Data)",
            chain=settings.name,
            target=target.name,
            path=lost.filepath,
        )
    _refuse_lost_bone(settings.name, _TARGET, target, subtarget)
    names = [bone.name for bone in bones]
    refuse_own_target(settings.name, armature, names, _above_target(settings))
    if settings.plane == POLE:
        _check_pole(armature, settings, names)
    ground = ground_of(settings)
    if ground is not None:
        refuse_own_target(settings.name, armature, names, walk([ground], parents), _GROUND)


def _check_pole(armature: bpy.types.Object, settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> None:
    """Raise IK2DError unless the pole exists and does not hang on the chain itself."""
    pole, bone = settings.pole, settings.pole_subtarget
    if pole is None:
        raise refusal(
            "Chain '{chain}' has no pole; choose the object that its knee or elbow points at, or "
            "set Bends In to another plane",
            chain=settings.name,
        )
    _refuse_lost_bone(settings.name, noted("its pole"), pole, bone)
    refuse_own_target(settings.name, armature, bones, walk([(pole, bone)], parents), _POLE)


def _refuse_lost_bone(chain_name: str, role: str, followed: bpy.types.Object, bone: str) -> None:
    """Raise IK2DError where a chain follows a bone that its target or pole does not have."""
    if bone and (followed.type != 'ARMATURE' or bone not in pose_bones_of(followed)):
        raise refusal(
            "Chain '{chain}': {role} '{followed}' has no bone '{bone}'; choose another bone or none",
            chain=chain_name,
            role=role,
            followed=followed.name,
            bone=bone,
        )


def pole_problem(armature: bpy.types.Object, settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> str:
    """Return the error that a chain's pole raises; "" for a good one."""
    try:
        _check_pole(armature, settings, bones)
    except IK2DError as error:
        return str(error)
    return ""


def _above_target(settings: bpy.types.PropertyGroup) -> list[Node]:
    """Return a chain's target and its parents."""
    return walk([(settings.target, settings.subtarget)], parents)


def follows_itself(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, bones: Sequence[str]
) -> bool:
    """Return whether a chain's target is one of its bones, or hangs on them by its parents."""
    return settings.target is not None and bool(_own(armature, bones, _above_target(settings)))


def _own(armature: bpy.types.Object, bones: Sequence[str], moved_by: Sequence[Node]) -> list[str]:
    return [bone for ob, bone in moved_by if ob == armature and bone in bones]


def refuse_own_target(
    chain_name: str,
    armature: bpy.types.Object,
    bones: Sequence[str],
    moved_by: Sequence[Node],
    role: str = _TARGET,
) -> None:
    """Raise IK2DError where a bone of the chain is among the movers of its target, itself the first.

    role: the word for it, where it is another.
    """
    own = _own(armature, bones, moved_by)
    if not own:
        return
    target, subtarget = moved_by[0]
    what = say("bone '{bone}'", bone=subtarget) if subtarget else f"'{target.name}'"
    raise refusal(
        "Chain '{chain}': its {role} {what} is moved by the chain itself: it depends on bone "
        "'{own}'; choose a {role} that does not",
        chain=chain_name,
        role=role,
        what=what,
        own=own[0],
    )
