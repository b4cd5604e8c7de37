# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan of a chain that replaces an IK constraint: as data, and in words what it cannot carry over."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace

import bpy
import numpy as np

from ...core import Plane
from ...core.affine import inverse
from ...core.inputs import Floats, wrapped
from ...core.stretch import MOST
from ...core.words import listed, number_of
from ...rig.animation import versions
from ...rig.animation.remembered import put_back, remembered
from ...rig.animation.value_keys import curve_of
from ...rig.chain.bone_limits import Range, limits_elsewhere, limits_of_bones
from ...rig.chain.chain import rest_joints
from ...rig.chain.joints import normal_in_bone, turning_axis
from ...rig.chain.planes import BEND, FIRST_X, FIRST_Z, choose_plane, line_of
from ...rig.scene.bone_constraints import is_active
from ...rig.scene.record import Target
from .limbs import Limb
from .poses import Watched

Locks = tuple[bool, bool, bool]  # of the axes X, Y, Z
# A limb is straight if it and the line to its tip enclose less than this part of the reach's square.
_STRAIGHT = 1e-3
# Planes, and angles, within this are the same (radians).
_APART = np.radians(0.5)
# Targets nearer to the plane than this part of the reach are in it.
_IN_PLANE = 1e-5
# Constraints that a chain takes as limits, or that neither turn nor move a bone.
_CARRIED = ('LIMIT_ROTATION', 'LIMIT_SCALE', 'MAINTAIN_VOLUME')
# So many bones have room for the angle of the last one.
_WITH_ROTATION = 3
_SCALE_FREE = ('NONE', 'NONE_LEGACY', 'ALIGNED')


@dataclass(frozen=True, eq=False)
class Plan:
    """Settings of the chain that replaces an IK constraint, as far as a chain can."""

    limb: Limb
    target: bpy.types.Object
    subtarget: str
    plane_normal: Floats | None  # (3,) in rest space; None for the automatic plane
    sides: tuple[tuple[int, float], ...]  # (frame, +1.0 or -1.0): the bend side from that frame on
    limits: dict[str, Range]
    weights: dict[str, float]
    locks: dict[str, Locks]  # of the rotation: the IK locks that leave another axis than the plane's
    influence: float
    stretch: float
    stretches_last: bool
    tip_offset: (
        float | None
    )  # radians from the target's rotation to that of the last bone; None where it is free
    off_plane: float  # the furthest that the target is off the plane, a length in the world
    off_plane_frame: int
    acts: bool  # whether the constraint poses the limb at the current frame
    carried: tuple[str, ...] = ()  # what is carried over, a line each
    lost: tuple[str, ...] = ()  # what is not, a line each

    @property
    def name(self) -> str:
        """The name of the limb's last bone."""
        return self.limb.bones[-1]


def targets_of(limbs: Sequence[Limb]) -> list[Target]:
    """Return the targets and poles of limbs, each once."""
    found: dict[Target, None] = {}
    for limb in limbs:
        main = limb.main
        found[main.target, _bone_of(main.target, main.subtarget)] = None
        if main.pole_target is not None:
            found[main.pole_target, _bone_of(main.pole_target, main.pole_subtarget)] = None
    return list(found)


def _bone_of(target: bpy.types.Object, subtarget: str) -> str:
    there = target.type == 'ARMATURE' and subtarget in target.data.bones
    return subtarget if there else ""


def read_plan(limb: Limb, watched: Watched) -> Plan:
    """Return the plan of a limb's chain, from its constraint and its bones' pose on the watched frames.

    Raises IK2DError if the limb's bones have no plane.
    """
    armature, main = limb.armature, limb.main
    bones = [armature.pose.bones[name] for name in limb.bones]
    locks = {bone.name: _locks(bone) for bone in bones}
    with _locked(bones, locks):
        rest = rest_joints(bones)
        reach = float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())
        plane, taken = choose_plane(SimpleNamespace(name=limb.bones[-1]), 'AUTO', bones, rest)
        spans, to_rest = _spans(armature, limb, watched, limb.bones)
        own = _own_plane(rest, reach, plane, spans)
        plane = own or plane
        limits, slanted = limits_of_bones(bones, plane)
        if taken == BEND and own is None:
            locks = {bone.name: _locks_needed(bone, locks[bone.name], plane) for bone in bones}
    target = main.target, _bone_of(main.target, main.subtarget)
    off, off_frame = _off_plane(plane, to_rest, watched, target, reach)
    stretches = main.use_stretch and any(bone.ik_stretch > 0.0 for bone in bones)
    tip_offset = None if stretches else _tip_offset(main, bones, plane)
    areas = spans @ plane.normal
    if tip_offset is not None:  # the side is that of the bones before the last
        before_last, _ = _spans(armature, limb, watched, limb.bones[:-1])
        areas = before_last @ plane.normal * np.where(_area(rest[:-1]) @ plane.normal < 0.0, -1.0, 1.0)
    sides = _sides(watched.frames, areas / reach**2)
    plan = Plan(
        limb=limb,
        target=target[0],
        subtarget=target[1],
        plane_normal=None if own is None and taken not in (FIRST_X, FIRST_Z) else plane.normal,
        sides=sides,
        limits=limits,
        weights=_weights(bones, plane),
        locks=locks,
        influence=float(main.influence),
        stretch=MOST if stretches else 1.0,
        stretches_last=not all(bone.bone.inherit_scale in _SCALE_FREE for bone in bones[1:]),
        tip_offset=tip_offset,
        off_plane=off,
        off_plane_frame=off_frame,
        acts=not main.mute and main.influence > 0.0,
    )
    lost = [
        *_lost(plan, bones, watched.frames),
        *_lost_limits(bones, slanted),
        *_turned(plan, watched, to_rest, plane),
    ]
    return replace(plan, carried=tuple(_carried(plan)), lost=tuple(lost))


# --- Numbers -----------------------------------------------------------------


def _locks(bone: bpy.types.PoseBone) -> Locks:
    """Return a bone's IK locks if they leave it one axis or none; else no locks."""
    locks = (bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z)
    return locks if sum(locks) > 1 else (False, False, False)


def _locks_needed(bone: bpy.types.PoseBone, locks: Locks, plane: Plane) -> Locks:
    """Return the locks, or none if the axis that they leave is the one about which the bone turns."""
    normal = normal_in_bone(plane, bone)
    axis = turning_axis(bone, normal)
    if axis is None or np.linalg.norm(np.cross(axis, normal)) > np.sin(_APART):
        return locks
    return (False, False, False)


@contextmanager
def _locked(bones: Sequence[bpy.types.PoseBone], locks: dict[str, Locks]) -> Iterator[None]:
    """Replace bones' rotation locks for a while, by those that IK respects."""
    before = remembered((bone, name) for bone in bones for name in ("lock_rotation", "lock_rotations_4d"))
    try:
        for bone in bones:
            bone.lock_rotation, bone.lock_rotations_4d = locks[bone.name], False
        yield
    finally:
        put_back(before)


def _spans(
    armature: bpy.types.Object, limb: Limb, watched: Watched, bones: Sequence[str]
) -> tuple[Floats, Floats]:
    """Return spans (frames, 3) of a limb's bones in rest space, and matrices (frames, 4, 4) from pose space.

    A span's direction is the axis about which the limb bends, its length twice the area between the limb
    and the line to its tip.
    """
    joints = watched.joints(armature, bones)
    root = armature.pose.bones[limb.bones[0]]
    to_rest = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    if root.parent is not None:
        rest = np.array(root.parent.bone.matrix_local, np.float64)
        to_rest = rest @ inverse(watched.poses[root.parent.name])
    at_rest = (to_rest[:, None, :3, :3] @ joints[..., None])[..., 0] + to_rest[:, None, :3, 3]
    lines = at_rest[:, -1] - at_rest[:, 0]
    return _by_the_pole(limb, watched, to_rest, lines, at_rest[:, 0], _area(at_rest)), to_rest


def _area(joints: Floats) -> Floats:
    """Return the spans (..., 3) of joints (..., n + 1, 3)."""
    spokes = joints[..., 1:, :] - joints[..., :1, :]
    spans: Floats = np.cross(spokes[..., :-1, :], spokes[..., 1:, :]).sum(axis=-2)
    return spans


def _by_the_pole(
    limb: Limb, watched: Watched, to_rest: Floats, lines: Floats, roots: Floats, spans: Floats
) -> Floats:
    """Return the spans, of a straight limb from the pole: Blender's IK does not bend it along itself."""
    main = limb.main
    if main.pole_target is None:
        return spans
    places = watched.targets[main.pole_target, _bone_of(main.pole_target, main.pole_subtarget)]
    to_rest = to_rest @ inverse(watched.world)
    poles = (to_rest[:, :3, :3] @ places[..., None])[..., 0] + to_rest[:, :3, 3] - roots
    asides = np.cross(poles, lines)
    sizes, squares = np.linalg.norm(asides, axis=1), (lines**2).sum(axis=1)
    straight = (np.linalg.norm(spans, axis=1) <= _STRAIGHT * squares) & (sizes > _STRAIGHT * squares)
    scale = np.where(straight, 2.0 * _STRAIGHT * squares / np.where(sizes > 0.0, sizes, 1.0), 0.0)
    filled: Floats = np.where(straight[:, None], scale[:, None] * asides, spans)
    return filled


def _own_plane(rest: Floats, reach: float, plane: Plane, spans: Floats) -> Plane | None:
    """Return the plane in which a straight limb bends on the frames; None if `plane` is the same."""
    bent = spans[np.linalg.norm(spans, axis=1) > _STRAIGHT * reach**2]
    if not Plane.is_straight(rest) or not len(bent):
        return None
    _, _, axes = np.linalg.svd(bent, full_matrices=False)
    normal = axes[0] * np.sign(axes[0] @ bent[0])
    line = line_of(rest)
    if np.linalg.norm(np.cross(normal, line)) <= np.sin(_APART):
        return None
    found = Plane.facing(rest, normal, along=line)
    return found if np.linalg.norm(np.cross(found.normal, plane.normal)) > np.sin(_APART) else None


def _off_plane(
    plane: Plane, to_rest: Floats, watched: Watched, target: Target, reach: float
) -> tuple[float, int]:
    """Return the target's largest distance from the plane, in the world's lengths, and its frame."""
    to_rest = to_rest @ inverse(watched.world)
    places = (to_rest[:, :3, :3] @ watched.targets[target][..., None])[..., 0] + to_rest[:, :3, 3]
    heights = np.abs((places - plane.origin) @ plane.normal)
    worst = int(np.argmax(heights))
    if heights[worst] <= _IN_PLANE * reach:
        return 0.0, watched.frames[worst]
    size = abs(np.linalg.det(to_rest[worst, :3, :3])) ** (1.0 / 3.0)
    return float(heights[worst] / size), watched.frames[worst]


def _sides(frames: Sequence[int], areas: Floats) -> tuple[tuple[int, float], ...]:
    """Return (frame, side) of each change of the bend side, from areas (frames,) in squares of the reach.

    A straight limb keeps the side before; at the start it has the first side that follows.
    """
    bent = np.flatnonzero(np.abs(areas) > _STRAIGHT)
    found: list[tuple[int, float]] = []
    for row in bent:
        side = float(np.sign(areas[row]))
        if not found:
            found.append((frames[0], side))
        elif found[-1][1] != side:
            found.append((frames[row], side))
    return tuple(found) or ((frames[0], 1.0),)


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
    main: bpy.types.KinematicConstraint, bones: Sequence[bpy.types.PoseBone], plane: Plane
) -> float | None:
    """Return the angle in the plane, at rest, from the last bone to the target's Y axis, as IK turns it.

    None where it does not, or the axis is off the plane; two bones have no room for an angle.
    """
    if not main.use_rotation or len(bones) < _WITH_ROTATION:
        return None
    subtarget, along = _bone_of(main.target, main.subtarget), np.array((0.0, 1.0, 0.0))
    if subtarget:
        along = np.array(main.target.data.bones[subtarget].matrix_local.col[1].xyz, np.float64)
    if abs(along @ plane.normal) > np.sin(_APART):
        return None
    ends = (along, np.array(bones[-1].bone.matrix_local.col[1].xyz, np.float64))
    to, at = (np.arctan2(end @ plane.y, end @ plane.x) for end in ends)
    return float(wrapped(np.array(to - at)))


# --- Words -------------------------------------------------------------------


def _carried(plan: Plan) -> Iterator[str]:
    limb, main = plan.limb, plan.limb.main
    follows = plan.subtarget or plan.target.name
    yield f"{number_of(len(limb.bones), 'bone')} ({', '.join(limb.bones)}) to '{follows}'"
    if limb.cut:
        yield f"it begins below '{limb.cut}', which another chain moves"
    if main.pole_target is not None:
        pole = main.pole_subtarget or main.pole_target.name
        yield f"the pole '{pole}' as the side that it bends to"
    if len(plan.sides) > 1:
        yield f"the side that it bends to, keyed: it changes {number_of(len(plan.sides) - 1, 'time')}"
    if plan.limits:
        yield f"limits of {listed(plan.limits)}"
    locks = {name: sum(_locks(limb.armature.pose.bones[name])) for name in limb.bones}
    hinges = [name for name, count in locks.items() if count == 2]
    held = [name for name, count in locks.items() if count == 3]
    if held:
        yield f"IK locks that hold {listed(held)}"
    if hinges:
        yield f"IK locks of {listed(hinges)} as hinges"
    if plan.weights:
        yield f"stiffness of {listed(plan.weights)} as weights"
    if plan.tip_offset is not None:
        yield "its target's rotation in the plane as the angle of the last bone"
    kind = animation_of(limb, "influence")
    if "strips" not in kind and (kind or plan.influence < 1.0):
        yield f"the influence{f', {kind}' if kind else f' {plan.influence:.3g}'}"
    if plan.stretch > 1.0:
        yield f"stretch, as far as it takes{', by the last bone alone' if plan.stretches_last else ''}"


def _lost(plan: Plan, bones: Sequence[bpy.types.PoseBone], times: Sequence[float]) -> Iterator[str]:
    main = plan.limb.main
    if main.use_rotation and plan.tip_offset is not None and main.orient_weight < 1.0:
        yield f"its rotation weight {main.orient_weight:.3g}: the last bone turns all the way"
    elif main.use_rotation and plan.tip_offset is None:
        yield "its target's rotation: the tip follows the place alone"
    if main.subtarget and not plan.subtarget:
        yield f"the vertices '{main.subtarget}' of its target: the tip follows the origin"
    if main.weight < 1.0:
        yield f"its position weight {main.weight:.3g}: the tip goes all the way"
    if plan.stretch > 1.0:
        yield "the little that Blender's IK stretches within reach, where the chain keeps its length"
    if plan.stretch > 1.0 and plan.stretches_last:
        yield "stretch of the other bones, which inherit scale: they would shear"
    if "strips" in animation_of(plan.limb, "influence"):
        yield "its influence as NLA strips have it"
    own = [bone.name for bone in bones if _is_turned(bone)]
    if own:
        yield f"turns of {listed(own)} beside the IK, which a bake replaces"
    driven = [bone.name for bone in bones if _is_driven(bone)]
    if driven:
        yield f"the drivers on the rotation of {listed(driven)}: they win over a chain's keys"
    acting = _others(plan.limb, bones, times)
    if acting:
        yield f"{', '.join(acting)}: what acts on top of the chain's keys, or in place of them"
    if len({(one.target, one.subtarget) for one in plan.limb.ik_constraints}) > 1:
        yield "the other targets that its bones have IK constraints to"


def _others(limb: Limb, bones: Sequence[bpy.types.PoseBone], times: Sequence[float]) -> list[str]:
    """Return the other constraints that act on the bones, without limits: "'Child Of' of 'thigh'"."""
    return [
        f"'{constraint.name}' of '{bone.name}'"
        for bone in bones
        for constraint in bone.constraints
        if constraint.type not in _CARRIED
        and (bone.name, constraint.name) not in limb.constraints
        and is_active(limb.armature, constraint, [times[0], times[-1]])
    ]


def _lost_limits(bones: Sequence[bpy.types.PoseBone], slanted: Sequence[str]) -> Iterator[str]:
    if slanted:
        yield f"limits of {listed(slanted)}, which turn about none of their own axes in the plane"
    elsewhere = limits_elsewhere(bones)
    if elsewhere:
        yield f"the Limit Rotation of {listed(elsewhere)}, which is not in Local Space"


def _turned(plan: Plan, watched: Watched, to_rest: Floats, plane: Plane) -> Iterator[str]:
    """Yield a line if the IK turned the limb out of the chain's plane."""
    root = plan.limb.armature.pose.bones[plan.limb.bones[0]]
    axes = (to_rest @ watched.poses[root.name])[:, :3, :3] @ normal_in_bone(plane, root)
    across = np.linalg.norm(np.cross(axes, plane.normal), axis=1)
    angles = np.arctan2(across, axes @ plane.normal)
    worst = int(np.argmax(angles))
    if angles[worst] > np.pi - _APART:
        yield (
            f"half a turn of the bones about themselves, as at frame {watched.frames[worst]}: the chain bends"
            " them to the other side as they are"
        )
    elif angles[worst] > _APART:
        yield (
            f"turns out of its plane, by up to {np.degrees(angles[worst]):.1f}° at frame"
            f" {watched.frames[worst]}: the chain stays in it"
        )


def animation_of(limb: Limb, name: str) -> str:
    """Return the animation of a main constraint's property: "keyed", "driven", "in NLA strips", ""."""
    animation = limb.armature.animation_data
    if animation is None:
        return ""
    path = limb.main.path_from_id(name)
    driver = animation.drivers.find(path)
    if driver is not None and not driver.mute:
        return "driven"
    curve = curve_of(limb.armature, path)
    if curve is not None and versions.plays(limb.armature, curve):
        return "keyed"
    holders = map(versions.strip_channels, versions.playing_strips(animation))
    return "in NLA strips" if any(holder and holder.fcurves.find(path) for holder in holders) else ""


def _is_turned(bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone has keys of its rotation, or is turned from rest."""
    paths = (bone.path_from_id(name) for name in ("rotation_quaternion", "rotation_euler"))
    keyed = any(curve_of(bone.id_data, path) for path in paths)
    return keyed or bool(bone.matrix_basis.to_quaternion().angle > _APART)


def _is_driven(bone: bpy.types.PoseBone) -> bool:
    animation = bone.id_data.animation_data
    start = f"{bone.path_from_id()}.rotation_"
    return animation is not None and any(
        curve.data_path.startswith(start) and not curve.mute for curve in animation.drivers
    )
