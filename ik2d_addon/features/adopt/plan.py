# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan of a chain that replaces an IK constraint, as data."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.inputs import Floats, wrapped
from ...core.stretch import MOST
from ...core.swing import POLE
from ...core.words import say
from ...rig.animation.remembered import put_back_after
from ...rig.chain.bone_limits import Range, limits_of_bones, range_about
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.dependencies import COPIES, acts_now, is_animated, parents, walk
from ...rig.chain.joints import normal_in_bone, turning_axis
from ...rig.chain.planes import BEND, FIRST_X, FIRST_Z, choose_plane, line_of, reach_of, side_at_rest
from ...rig.rest import rest_bone, rest_matrix
from ...rig.scene.bone_constraints import is_active
from ...rig.scene.record import Target
from .animation import animation_of, turns_round
from .course import Course, pole_of, read_course, span, target_of, targets_of
from .limbs import Limb, Locks, ik_locks, post_of
from .muting import Acting, Turning
from .planes import (
    APART,
    CUSTOM,
    Bending,
    fixed,
    keeps_plane,
    off_plane,
    sides_of,
    swinging,
    towards_pole,
    unbent_normal,
    unbent_side,
)
from .poses import Watched, frames_of, watched

# So many bones have room for the angle of the last one.
_WITH_ROTATION = 3
# The sine of the angle up to which a target's Y axis may be off the plane where the last bone is to follow
# it: where the plane stays, and where it follows the target, so that rest says nothing of that.
_ASKEW, _FAR_ASKEW = np.sin(APART), 1.0
_SCALE_FREE = ('NONE', 'NONE_LEGACY', 'ALIGNED')
# Constraints that turn a bone alone: of those on a limb Blender's IK takes only where it starts from.
_TURNING = ('COPY_ROTATION', 'DAMPED_TRACK', 'LOCKED_TRACK', 'TRACK_TO')


@dataclass(frozen=True, eq=False)
class PlannedJoints:
    """How the joints of an adopted chain will turn, by their bones' names."""

    limits: dict[str, Range]
    slanted: tuple[str, ...]  # bones with limits that turn about none of their own axes in the plane
    weights: dict[str, float]
    locks: dict[str, Locks]  # of the rotation: the IK locks that leave another axis than the plane's

    @property
    def free(self) -> bool:
        """Whether all turn freely."""
        return not (self.limits or self.weights or any(any(locks) for locks in self.locks.values()))


@dataclass(frozen=True, eq=False)
class PlannedStretch:
    """How the bones of an adopted chain will stretch."""

    most: float  # 1 where they do not
    last_only: bool
    aligned: tuple[str, ...]  # bones that are to inherit scale along themselves, so that all can stretch


@dataclass(frozen=True, eq=False)
class AdoptPlan:
    """Settings of the chain that replaces an IK constraint, as far as a chain can."""

    limb: Limb
    target: bpy.types.Object
    subtarget: str
    plane: Bending
    pole: Target | None  # of a plane towards a pole
    course: Course
    joints: PlannedJoints
    influence: float
    stretch: PlannedStretch
    tip_offset: (
        float | None
    )  # radians from the target's rotation to that of the last bone; None where it is free
    # the furthest that the target is off a plane that stays, a length in the world, and the frame of that
    off_plane: tuple[float, int]
    acts: Acting
    turning: Turning = Turning()
    lost: tuple[str, ...] = ()  # settings that a chain cannot carry over, a line each

    @property
    def name(self) -> str:
        """The name of the limb's last bone."""
        return self.limb.bones[-1]

    @property
    def bones(self) -> tuple[str, ...]:
        """The names of the chain's bones: of those that the IK moves, the ones below a post."""
        return self.limb.bones[self.plane.post.first if self.plane.post is not None else 0 :]

    @property
    def sides(self) -> tuple[tuple[int, float], ...]:
        """(frame, +1.0 or -1.0): the bend side from that frame on."""
        return self.plane.sides

    @property
    def muted(self) -> list[tuple[str, str]]:
        """(bone, constraint) that the chain mutes: its own IK first."""
        return [*self.limb.constraints, *self.limb.idle, *self.turning.muted]

    @property
    def always_acts(self) -> bool:
        """Whether the chain acts on all frames, as each bone copies an FK bone where the IK does not act."""
        return {bone for bone, _ in self.turning.copies} >= set(self.limb.bones)

    @property
    def has_choice(self) -> bool:
        """Whether two solvers may pose the limb, neither of them just as the IK did."""
        return self.plane.moves and len(self.bones) > 2 and self.tip_offset is None

    @property
    def acts_fully(self) -> bool:
        """Whether the influence of its chain is 1 throughout."""
        animated = bool(self.turning.copies) or animation_of(self.limb, "influence")
        return self.influence == 1.0 and not animated

    @property
    def as_settings(self) -> SimpleNamespace:
        """The settings of its chain that say what plane and side it has at rest."""
        return SimpleNamespace(
            name=self.name,
            tip=self.name,
            bone_count=len(self.bones),
            plane=CUSTOM,
            plane_normal=self.plane.plane.normal,
            bend='NEGATIVE' if self.sides[0][1] < 0.0 else 'POSITIVE',
            turn_over=0.0,
        )

    @property
    def gains(self) -> bool:
        """Whether a chain can do more than the IK did: not where one bone only points at its target."""
        single = len(self.bones) == 1
        return not (single and self.pole is None and self.joints.free and self.stretch.most == 1.0)


def read_plan(limb: Limb, watched: Watched, others: Sequence[AdoptPlan] = ()) -> AdoptPlan:
    """Return the plan of a limb's chain, from its constraint and its bones' pose on the watched frames.

    others: the plans of other limbs. Its words are still empty. Raises IK2DError if the limb's bones have
    no plane.
    """
    armature, main, post = limb.armature, limb.main, post_of(limb)
    own = limb if post is None else replace(limb, bones=limb.bones[post.first :])
    if post is not None and post.owner:
        limb, post = replace(own, cut=post.bone), None
    bones = [armature.pose.bones[name] for name in own.bones]
    locks = {bone.name: ik_locks(bone) for bone in bones}
    course = read_course(own, watched)
    stretches = main.use_stretch and any(bone.ik_stretch > 0.0 for bone in bones)
    with _locked(bones, locks):
        rest = rest_joints(bones)
        plane, taken = choose_plane(SimpleNamespace(name=limb.bones[-1]), 'AUTO', bones, rest)
        planned = [plan.as_settings for plan in others]
        spans = course.spans()
        normal = unbent_normal(bones, rest, spans, planned)
        if normal is not None and taken in (FIRST_X, FIRST_Z):
            plane, spans = Plane.facing(rest, normal, along=line_of(rest)), np.zeros_like(spans)
        bending, is_own = fixed(rest, plane, spans, watched.frames, taken in (FIRST_X, FIRST_Z))
        if post is not None:
            bending = bending.about(post)
        elif _can_follow(bones, locks) and (
            main.pole_target or not keeps_plane(course, bending.plane, reach_of(rest))
        ):
            turns = None if stretches else _tip_offset(main, bones, bending.plane, _FAR_ASKEW)
            rows = np.flatnonzero(watched.acting[limb.constraints[0]] == 1.0)
            full = read_course(own, watched.at(rows)) if len(rows) else None
            count = len(bones) - (turns is not None)
            bending = _following(limb, bones, rest, course, plane, bending, count, full)
        limits, slanted = limits_of_bones(bones, bending.plane)
        if taken == BEND and not is_own:
            locks = {bone.name: _locks_needed(bone, locks[bone.name], bending.plane) for bone in bones}
    if post is not None:
        turning = armature.pose.bones[post.bone]
        locks[post.bone], about = ik_locks(turning), range_about(turning, "XYZ".index(post.axis))
        limits |= {} if about is None else {post.bone: about}
    askew = _FAR_ASKEW if bending.moves else _ASKEW
    tip_offset = None if stretches else _tip_offset(main, bones, bending.plane, askew)
    if tip_offset is not None and not bending.follows:  # the side is that of the bones before the last
        bending = replace(bending, sides=_sides_before_last(rest, course, bending.plane))
    elif side_at_rest(bending.plane, rest) < 0.0:
        bending = replace(bending, sides=tuple((frame, -side) for frame, side in bending.sides))
    if bending.choice != POLE:
        bending = _unbent(
            bones[: len(bones) - (tip_offset is not None)], rest, course, bending, limits, planned
        )
    turning = _turning(limb, [armature.pose.bones[name] for name in limb.bones], watched.frames)
    off = (0.0, watched.frames[0]) if bending.moves else off_plane(bending.plane, course, reach_of(rest))
    return AdoptPlan(
        limb=limb,
        target=target_of(limb)[0],
        subtarget=target_of(limb)[1],
        plane=bending,
        pole=pole_of(limb) if bending.choice == POLE else None,
        course=course,
        joints=PlannedJoints(limits, tuple(slanted), _weights(bones, bending.plane), locks),
        influence=float(main.influence),
        stretch=_stretch(armature, bones, stretches),
        tip_offset=tip_offset,
        off_plane=off,
        acts=Acting(acts_now(main) or bool(turning.copies), bool(watched.acting[limb.constraints[0]].any())),
        turning=turning,
    )


# --- Plane -------------------------------------------------------------------


def _can_follow(bones: Sequence[bpy.types.PoseBone], locks: dict[str, Locks]) -> bool:
    """Return whether a plane can follow the target: the first bone turns freely, and all others with it."""
    inherit = all(bone.bone.use_inherit_rotation for bone in bones[1:])
    return inherit and not any(locks[bones[0].name])


def _following(
    limb: Limb,
    bones: Sequence[bpy.types.PoseBone],
    rest: Floats,
    course: Course,
    plane: Plane,
    bending: Bending,
    count: int,
    full: Course | None,
) -> Bending:
    """Return the bending of a plane that follows the target, or the pole if there is one.

    plane: that of the rest pose. bending: that of a plane that stays. count: the bones from the root on that
    bend to a side. full: as in `towards_pole`.
    """
    if course.poles is None or _hangs_on(pole_of(limb), limb):
        return swinging(rest, bones, bending, course, count)
    angle = float(limb.main.pole_angle)
    return towards_pole(rest, bones, angle, course, plane, count, full)


def _hangs_on(pole: Target | None, limb: Limb) -> bool:
    """Return whether a pole is a bone of the limb, or hangs on one by its parents."""
    return pole is not None and any(
        ob == limb.armature and name in limb.bones for ob, name in walk([pole], parents)
    )


def _unbent(
    bones: Sequence[bpy.types.PoseBone],
    rest: Floats,
    course: Course,
    bending: Bending,
    limits: dict[str, Range],
    planned: Sequence[SimpleNamespace],
) -> Bending:
    """Return the bending with the side of bones that neither rest nor IK bends; others as they are."""
    count = len(bones)
    normal = unbent_normal(bones, rest[: count + 1], course.spans(count), planned)
    if normal is None:
        return bending
    side = unbent_side([bone.name for bone in bones], bending.plane, normal, limits)
    return replace(bending, sides=((course.frames[0], side),))


def _sides_before_last(rest: Floats, course: Course, plane: Plane) -> tuple[tuple[int, float], ...]:
    """Return the sides that a limb without its last bone bends to."""
    sign = -1.0 if span(rest[:-1]) @ plane.normal < 0.0 else 1.0
    areas = course.spans(len(rest) - 2) @ plane.normal * sign
    return sides_of(course.frames, areas / reach_of(rest) ** 2)


def _locks_needed(bone: bpy.types.PoseBone, locks: Locks, plane: Plane) -> Locks:
    """Return the locks, or none if the axis that they leave is the one about which the bone turns."""
    normal = normal_in_bone(plane, bone)
    axis = turning_axis(bone, normal)
    if axis is None or np.linalg.norm(np.cross(axis, normal)) > np.sin(APART):
        return locks
    return (False, False, False)


@contextmanager
def _locked(bones: Sequence[bpy.types.PoseBone], locks: dict[str, Locks]) -> Iterator[None]:
    """Replace bones' rotation locks for a while, by those that IK respects."""
    with put_back_after((bone, name) for bone in bones for name in ("lock_rotation", "lock_rotations_4d")):
        for bone in bones:
            bone.lock_rotation, bone.lock_rotations_4d = locks[bone.name], False
        yield


# --- Numbers -----------------------------------------------------------------


def _turning(limb: Limb, bones: Sequence[bpy.types.PoseBone], times: Sequence[float]) -> Turning:
    """Return the constraints that turn a limb's bones before its IK does, and would turn the chain's."""
    acting = [
        (bone, constraint)
        for bone in bones
        for constraint in bone.constraints
        if constraint.type in (*_TURNING, *COPIES)
        and is_active(limb.armature, constraint, [times[0], times[-1]])
    ]
    copies = [each for each in acting if each[1].type in COPIES] if _switches(limb) else []
    kept = [each for each in copies if is_animated(limb.armature, each[1])]
    given = [each for each in copies if each not in kept]
    is_stuck = bool(given) and not turns_round(limb.armature, limb.main.path_from_id("influence"))
    if is_stuck:
        given = []
    muted = [each for each in acting if each[1].type in _TURNING and each not in (*given, *kept)]
    return Turning(_named(muted), _named(given), _named(kept), is_stuck)


def _named(held: Sequence[tuple[bpy.types.PoseBone, bpy.types.Constraint]]) -> tuple[tuple[str, str], ...]:
    return tuple((bone.name, constraint.name) for bone, constraint in held)


def _switches(limb: Limb) -> bool:
    """Return whether keys or a driver switch a limb between its IK and its FK, by the IK's influence."""
    kind = animation_of(limb, "influence")
    return bool(kind) and "strips" not in kind and len(limb.ik_constraints) == 1 and post_of(limb) is None


def _stretch(
    armature: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], stretches: bool
) -> PlannedStretch:
    """Return the stretch of a limb whose IK stretches it, or does not.

    Bones that inherit all scale would shear below a stretched one. They are to inherit it along themselves;
    but not where another object would notice, or where that could not be stored.
    """
    data = armature.data
    shearing = [bone for bone in bones[1:] if bone.bone.inherit_scale not in _SCALE_FREE]
    is_own = data.library is None and data.override_library is None and data.users == 1
    can_align = is_own and all(bone.bone.inherit_scale == 'FULL' for bone in shearing)
    aligned = tuple(bone.name for bone in shearing) if stretches and can_align else ()
    return PlannedStretch(MOST if stretches else 1.0, len(shearing) > len(aligned), aligned)


def _weights(bones: Sequence[bpy.types.PoseBone], plane: Plane) -> dict[str, float]:
    """Return the weights of the bones with stiffness about the axis that they turn about."""
    weights = {}
    for bone in bones:
        stiffness = np.array((bone.ik_stiffness_x, bone.ik_stiffness_y, bone.ik_stiffness_z))
        about = float(stiffness @ normal_in_bone(plane, bone) ** 2)
        if about > 0.0:
            weights[bone.name] = 1.0 - about
    return weights


def _tip_offset(
    main: bpy.types.KinematicConstraint, bones: Sequence[bpy.types.PoseBone], plane: Plane, askew: float
) -> float | None:
    """Return the angle in the plane, at rest, from the last bone to the target's Y axis, as IK turns it.

    None where it does not, or the axis is off the plane by more than the sine `askew`; two bones have no
    room for an angle.
    """
    if not main.use_rotation or len(bones) < _WITH_ROTATION:
        return None
    bone, along = rest_bone(main.target, main.subtarget), np.array((0.0, 1.0, 0.0))
    if bone is not None:
        along = rest_matrix(bone)[:3, 1]
    if abs(along @ plane.normal) > askew:
        return None
    ends = (along, rest_matrix(bones[-1].bone)[:3, 1])
    to, at = (np.arctan2(end @ plane.y, end @ plane.x) for end in ends)
    return float(wrapped(np.array(to - at)))


def watched_plans(
    scene: bpy.types.Scene, limbs: Sequence[Limb], most: int, progress: Callable[[float], None] | None
) -> tuple[Watched, list[AdoptPlan], list[str]]:
    """Return limbs' poses on at most so many frames, their plans by these, and a note on each without one."""
    armature, targets = limbs[0].armature, targets_of(limbs)
    frames = frames_of(scene, armature, [target for target, _ in targets], most)
    bones, acting = [limb.bones for limb in limbs], [limb.constraints[0] for limb in limbs]
    seen = watched(scene, armature, bones, targets, frames, progress, acting)
    plans, notes = list[AdoptPlan](), list[str]()
    for limb in limbs:
        try:
            plans.append(read_plan(limb, seen, plans))
        except IK2DError as error:
            notes.append(say("Left alone: {error}", error=error))
    return seen, plans, notes
