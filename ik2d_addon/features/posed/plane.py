# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane in which a chain solves to the pose that its limb has, with the target on its tip.

A pose is held in a fixed plane if all bones are turned from rest about its normal. If the first bone may turn
freely, a plane that swings holds any rotation of it: only the other bones have to be turned about the normal,
and the swing starts from where the pose has that normal.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...bake.lengths import Units, length_text
from ...bake.now import poses_around, solve_samples
from ...bake.request import scene_of
from ...bake.solving.stretching import as_solved
from ...core import IK2DError
from ...core.inputs import Floats, wrapped
from ...core.swing import SWING
from ...core.words import say
from ...live.refusals import refuse_driven
from ...rig.animation.remembered import plain
from ...rig.chain.chain import RigChain, read_chain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.joints import HINGE
from ...rig.chain.planes import is_locked, reach_of
from ...rig.chain.post import POST, is_turntable, turning_axes
from ...rig.pose.bone_matrices import bone_poses, rotations_of
from ...rig.pose.posts import chain_of_post, post_space, solved_post
from ...rig.pose.target_plane import facing_target
from ...rig.rest import rest_axes
from ...rig.scene.bone_constraints import other_controls
from ...rig.scene.live_pause import live_paused
from ...rig.scene.sampler import sample_now
from ...rig.scene.samples import ChainSamples
from ..match.poles import own_rotations

# A limb holds its pose if no bone is off it by more than this part of the limb's length, or radians.
HELD = 1e-5
# A bone that is turned by less (radians) says nothing of a plane.
_TURNED = 1e-6
# The cosine of the angle between a limb and the normal of a fixed plane above which it cannot bend there.
_ALONG = 0.7
# A limb that is off its pose by less may hold it with a target that is off its tip by a hair: by one of these
# parts of its distance, which count as reached.
_NEARLY, _BEYOND = 0.02, (2e-7, 1.1e-6, 1.5e-6, 3e-6)
# Live solves a target within this part of its distance alike.
_ROUNDING = 3e-8
# The steps between places in 32 bits that a small limb far from the origin may be off its pose.
_ROUNDED = 2.0
_SIDES = {'POSITIVE': 1.0, 'NEGATIVE': -1.0}
# The settings of a chain that say in which plane, and to which side, it bends.
_SETTINGS = ("plane", "plane_normal", "swing_normal", "plane_found", "bend", "post_side")
# A post that is turned further than this (radians) from its pose is on the other side of it.
_QUARTER = np.pi / 2.0


@dataclass(frozen=True, eq=False)
class _Off:
    """How far a solved limb is from its pose: of the bone that is furthest off."""

    part: float  # the greater of the last two
    bone: str
    length: float  # that it moves, in the world
    moved: float  # the same as a part of the limb's length
    turned: float  # radians
    place: Floats  # (3,) of the target, in the world

    def in_words(self, scene: bpy.types.Scene) -> str:
        """Say what following the target does to the pose."""
        if self.moved > HELD:
            far = length_text(self.length, Units.of(scene))
            return say("it would move '{bone}' by {far}", bone=self.bone, far=far)
        return say("it would turn '{bone}' by {angle:.2g}°", bone=self.bone, angle=np.degrees(self.turned))


@dataclass(frozen=True)
class Hold:
    """Whether a chain holds the pose of its limb, and where its target has to be for that."""

    place: Vector  # in the world, on the tip
    reason: str = ""  # why it does not hold the pose; "" where it does
    within: float = HELD  # how far off it still holds it: a part of the limb's length, or radians


def hold_pose(armature: bpy.types.Object, chain: bpy.types.PropertyGroup) -> Hold:
    """Set a chain's plane and bend side so that it holds its limb's pose, with the target on its tip.

    It keeps the plane that it has if that holds the pose, else it swings with the target, else it has the
    plane of the pose. If none holds it, its plane stays. A pose that constraints or drivers make is theirs:
    it is left to them, as is a chain that cannot be read. It needs no target, and moves none.
    """
    with live_paused() if chain.live else nullcontext():  # a pause has all live chains read again
        return _held(armature, chain)


def _held(armature: bpy.types.Object, chain: bpy.types.PropertyGroup) -> Hold:
    scene = scene_of(armature)
    off_axis = _off_axis(chain)
    on_tip = armature.matrix_world @ armature.pose.bones[chain.tip].tail + off_axis
    try:
        rig = read_chain(armature, chain, own_tip=True)
        refuse_driven(rig)
        if armature.data.pose_position == 'REST' or other_controls(rig, scene.frame_float, scene.frame_float):
            return Hold(on_tip)
        posed = sample_now(scene, [rig], with_targets=rig.follows_rotation).chains[0]
    except IK2DError:  # what is wrong with the chain is told elsewhere
        return Hold(on_tip)
    tips = posed.tips + np.array(off_axis)
    posed = replace(posed, tips=tips, targets=_in_32_bits(tips))
    before = {name: plain(getattr(chain, name)) for name in _SETTINGS if chain.is_property_set(name)}
    within, nearest = _within(rig, posed), None
    for settings in _candidates(rig, posed):
        for name, value in settings.items():
            setattr(chain, name, value)
        best = _nearest(scene, armature, chain, posed)
        if best is not None and best.part <= within:
            return Hold(Vector(best.place), within=within)
        nearest = nearest or best
        _put_back(chain, before)
    if nearest is None:
        return Hold(on_tip)
    reason = say("{off}: {reason}", off=nearest.in_words(scene), reason=_reason(rig, posed))
    return Hold(on_tip, reason)


def _off_axis(chain: bpy.types.PropertyGroup) -> Vector:
    """Return how far from its tip, in the world, the target of a turntable has to be: along its own Z.

    Where its axis is along the bone: a target on the axis has no heading. Of other chains it is on the tip.
    """
    bone = chain.id_data.pose.bones[chain.tip]
    if chain.plane != POST or chain.bone_count != 1 or not is_turntable(chain, [bone]):
        return Vector((0.0, 0.0, 0.0))
    along = Vector((0.0, 0.0, bone.bone.length if turning_axes(bone) == [1] else 0.0))
    return (chain.id_data.matrix_world @ bone.matrix).to_3x3() @ along


def _put_back(chain: bpy.types.PropertyGroup, before: dict[str, Any]) -> None:
    for name in _SETTINGS:  # the plane first, as others change with it
        if name in before:
            setattr(chain, name, before[name])
        else:
            chain.property_unset(name)


# --- Planes that may hold a pose ---------------------------------------------


def _candidates(rig: RigChain, posed: ChainSamples) -> Iterator[dict[str, Any]]:
    """Yield settings of a chain, the ones that it has first."""
    if rig.post is not None:  # which turns its plane
        yield _side_of_post(rig, posed)
        return
    yield {}
    turns = _turns_from_rest(rig, posed)
    if not is_locked(rig.pose_bones[0]):
        yield {"plane": SWING}
        for normal in (rig.plane.normal, _hinge(rig, turns)):
            if normal is not None:
                swung = turns[0] @ normal
                yield {"plane": SWING, "plane_normal": normal, "swing_normal": swung}
    axis, angle = max(map(_axis_of, turns), key=lambda turn: turn[1])
    joints = rest_joints(rig.pose_bones)
    line = (joints[-1] - joints[0]) / max(np.linalg.norm(joints[-1] - joints[0]), 1e-30)
    if angle > _TURNED and abs(axis @ line) < _ALONG:
        yield {"plane": 'CUSTOM', "plane_normal": axis * _side(axis, rig)}


def _side_of_post(rig: RigChain, posed: ChainSamples) -> dict[str, Any]:
    """Return the setting of the side that has a post turned as it is posed; {} where the chain has it."""
    if rig.post_above is None:
        return {}
    scene, alone = scene_of(rig.armature), chain_of_post(rig)
    own = sample_now(scene, [alone], with_targets=False).chains[0]
    space = post_space(scene, rig, own, [scene.frame_float])
    off = np.abs(wrapped(solved_post(rig, posed, space).angles - space.angles))[0]
    if off < _QUARTER:
        return {}
    now = rig.armature.ik2d.chains[rig.name].post_side
    return {"post_side": 'POSITIVE' if now == 'NEGATIVE' else 'NEGATIVE'}


def _turns_from_rest(rig: RigChain, posed: ChainSamples) -> list[Floats]:
    """Return the rotation (3, 3) of each bone by its own channels, in rest space."""
    rests = [rest_axes(bone.bone) for bone in rig.pose_bones]
    return [rest @ own_rotations(rig, posed, i)[0] @ rest.T for i, rest in enumerate(rests)]


def _axis_of(turn: Floats) -> tuple[Floats, float]:
    """Return the axis (3,) of a rotation (3, 3), and its angle in radians, 0 to pi."""
    axis, angle = Matrix(turn.tolist()).to_quaternion().to_axis_angle()
    unit = np.array(axis, np.float64)
    return (unit, angle) if angle <= np.pi else (-unit, 2.0 * np.pi - angle)


def _hinge(rig: RigChain, turns: list[Floats]) -> Floats | None:
    """Return the axis (3,) that the bones after the first are turned about; None without one across them."""
    if len(turns) < 2:
        return None
    axis, angle = max(map(_axis_of, turns[1:]), key=lambda turn: turn[1])
    return axis * _side(axis, rig) if angle > _TURNED and _is_across(rig, axis) else None


def _is_across(rig: RigChain, axis: Floats) -> bool:
    """Return whether an axis (3,) is across all bones at rest, so that they bend about it."""
    along = np.diff(rest_joints(rig.pose_bones), axis=0)
    return bool((np.abs(along @ axis) <= np.sin(HINGE) * np.linalg.norm(along, axis=1)).all())


def _side(axis: Floats, rig: RigChain) -> float:
    """Return the sign that brings an axis to the side of the chain's own normal."""
    return -1.0 if axis @ rig.plane.normal < 0.0 else 1.0


# --- How far a solve is from a pose ------------------------------------------


def _nearest(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    chain: bpy.types.PropertyGroup,
    posed: ChainSamples,
) -> _Off | None:
    """Return how far the solve to the nearer side is from the pose; the chain gets that side. None: none."""
    tried: dict[str, _Off] = {}
    try:
        rig = facing_target(read_chain(armature, chain, own_tip=True), posed)
        for side in sorted(_SIDES, key=lambda side: side != chain.bend):
            bent = posed.with_settings(softness=0.0, bend=rig.settings.side * _SIDES[side])
            tried[side] = _on_tip(scene, rig, bent)
            if tried[side].part <= _within(rig, posed):
                break
    except IK2DError:
        return None
    side = min(tried, key=lambda side: tried[side].part)
    chain.bend = side
    return tried[side]


def _on_tip(scene: bpy.types.Scene, rig: RigChain, posed: ChainSamples) -> _Off:
    """Return how far a chain is from its pose with its target on the tip, or off it by a hair.

    The nearer a limb is to straight, the more its bend depends on the distance of its target: a millionth of
    it is a sixth of a degree, and more. So the target of a straight one is a hair out of its reach, and that
    of another in the place near the tip, of those in 32 bits, that has the distance best.
    """
    world, tip = posed.world[0], posed.tips[0]
    line = tip - (world[:3, :3] @ _own_poses(rig, posed)[0][0, :3, 3] + world[:3, 3])
    firsts = [_in_32_bits(tip + far * line) for far in (0.0, *_BEYOND)]
    offs = _off(scene, rig, _with_targets(posed, np.array(firsts)))
    on_tip, within = offs[0], _within(rig, posed)
    for first, off in zip(firsts, offs, strict=True):
        if off.part > _NEARLY:
            return on_tip
        near = [first + share * line for share in (-_ROUNDING, _ROUNDING)]
        if off.part <= within and all(
            each.part <= within for each in _off(scene, rig, _with_targets(posed, np.array(near)))
        ):
            return off
    step = float(np.spacing(np.float32(np.abs(tip).max()))) / 2.0
    steps = np.stack(np.meshgrid(*[np.arange(-3, 4) * step] * 3), axis=-1).reshape(-1, 3)
    return min(_off(scene, rig, _with_targets(posed, _in_32_bits(tip + steps))), key=lambda off: off.part)


def _within(rig: RigChain, posed: ChainSamples) -> float:
    """Return how far off its pose a limb may be: HELD, or what the places of targets in 32 bits leave."""
    step = np.spacing(np.float32(np.abs(posed.tips[0]).max()))
    return max(HELD, float(_ROUNDED * step / _length(rig, posed)))


def _length(rig: RigChain, posed: ChainSamples) -> float:
    """Return the length of a limb at rest, in the world."""
    size = abs(np.linalg.det(posed.world[0, :3, :3])) ** (1.0 / 3.0)
    return max(float(reach_of(rest_joints(rig.pose_bones)) * size), float(np.finfo(np.float32).tiny))


def _with_targets(posed: ChainSamples, places: Floats) -> ChainSamples:
    """Return the samples of one frame once for each place (rows, 3) of the target."""
    return replace(posed.at(np.zeros(len(places), np.intp)), targets=places)


def _own_poses(rig: RigChain, posed: ChainSamples) -> list[Floats]:
    """Return the bones' pose matrices (rows, 4, 4) by their own channels."""
    return list(bone_poses(rig, posed, [own_rotations(rig, posed, i) for i in range(len(rig.bones))]))


def _in_32_bits(places: Floats) -> Floats:
    return places.astype(np.float32).astype(np.float64)


def _off(scene: bpy.types.Scene, rig: RigChain, posed: ChainSamples) -> list[_Off]:
    """Return how far a chain is from its pose, solved to each of its targets (rows, 3)."""
    times = [scene.frame_float] * len(posed.targets)
    solved = solve_samples(scene, rig, posed, times, poses_around(scene, rig, times), fully=True)
    shown = replace(as_solved(rig, posed, solved.factors, solved.locations), swings=solved.swings)
    turned = bone_poses(rig, shown, rotations_of(rig, solved.turns, solved.swings, solved.aside))
    reach, offs_of_bones = reach_of(rest_joints(rig.pose_bones)), []
    for name, shown_pose, posed_pose in zip(rig.bones, turned, _own_poses(rig, posed), strict=True):
        length, off = rig.armature.data.bones[name].length, shown_pose - posed_pose
        tails = off[:, :3, 3] + length * off[:, :3, 1]
        moved = np.maximum(np.linalg.norm(off[:, :3, 3], axis=1), np.linalg.norm(tails, axis=1))
        turns = np.linalg.norm(off[:, :3, :3], axis=(1, 2)) / np.linalg.norm(
            posed_pose[:, :3, :3], axis=(1, 2)
        )
        offs_of_bones.append((moved / reach, turns * np.sqrt(1.5)))
    offs, size = np.array(offs_of_bones), _length(rig, posed)
    return [
        _Off(float(off_there.max()), rig.bones[bone], float(off_there[bone, 0] * size), moved, turned, place)
        for off_there, place in zip(np.moveaxis(offs, 2, 0), posed.targets, strict=True)
        for bone in [int(off_there.max(axis=1).argmax())]
        for moved, turned in [off_there[bone].tolist()]
    ]


def _reason(rig: RigChain, posed: ChainSamples) -> str:
    """Return why no plane holds the pose, in words."""
    first = rig.pose_bones[0]
    if is_locked(first):
        return say("locks on the rotation of '{bone}' keep its plane from turning", bone=first.name)
    locked = [bone.name for bone in rig.pose_bones[1:] if is_locked(bone)]
    if locked:
        return say("locks on the rotation of '{bone}' keep it from following", bone=locked[0])
    turns = [_axis_of(turn) for turn in _turns_from_rest(rig, posed)]
    name, (axis, angle) = max(
        zip(rig.bones[1:], turns[1:], strict=True), key=lambda item: item[1][1], default=("", turns[0])
    )
    if name and angle > _TURNED and not _is_across(rig, axis):
        return say("'{bone}' is twisted, or turned across the limb's bend", bone=name)
    if len(rig.bones) > 2:
        return say("its bones do not share the bend as the chain has them share it")
    return say("no plane of the chain has this pose")
