# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a chain native: read, refuse, plan and build it; an error undoes all."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import bpy
import numpy as np

from ...bake.keys.baked import baked_keys
from ...bake.lengths import Units, length_text
from ...bake.reporting.swing_notes import open_note
from ...core import IK2DError
from ...core.words import refusal, say
from ...rig.animation import versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.value_keys import existing_drivers
from ...rig.chain.chain import FAR_OFF_PLANE, RigChain, read_chain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.native_state import (
    acts,
    constraints_of,
    is_mechanism,
    is_native,
    scale_name,
)
from ...rig.chain.order import refuse_moved_target
from ...rig.chain.paths.follow import follow_list
from ...rig.chain.planes import reach_of
from ...rig.chain.post import POST
from ...rig.chain.readable import refuse_no_text
from ...rig.chain.renames import bones_of
from ...rig.pose.kinematics import read_linkage
from ...rig.pose.swings import flips
from ...rig.pose.target_plane import facing_target, sampled_path, target_points
from ...rig.scene.live_pause import live_paused
from ...rig.scene.missing_inputs import with_inputs_checked
from ...rig.scene.samples import ChainSamples
from . import family, limited, two_bone
from .changes import changed_since_made, fingerprint_of
from .controls import CONTROLS, FOOT, STRETCH, TURN, add_controls, refuse_unreadable
from .drivers import (
    Empties,
    SwungEmpties,
    angles_of,
    constraint_of,
    drive,
    drive_step,
    path_of,
    turning_constraint,
)
from .empties import Native, add_empties, note, remove_native
from .hands import HandEmpties, drive_foot
from .mechanism.build import make_mechanism_native
from .plan import NativePlan, Shape, shape_of
from .post.building import build_post
from .post.refusals import refuse_first_bone, refuse_post
from .post.turning import PostTurn, read_turn
from .refusals import is_animated, refuse_uneven, refuse_unfit
from .swings import read_following

# A bone turned by less (radians) is at rest.
_TURNED = 1e-5


@live_paused()
def make_native(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> Native:
    """Have Blender's own drivers pose a chain or a mechanism, with or without this add-on.

    settings: one of `armature.ik2d.chains`, or of its mechanisms. If it is native and a bake has muted its
    constraints, it acts again. The bones' channels and keys stay; `remove_native` removes all that is made
    here. Raises IK2DError, with nothing changed, for one that cannot be native.
    """
    refuse_no_text(armature)
    follow_list(armature)
    if is_mechanism(settings):
        return make_mechanism_native(armature, settings)
    if is_native(settings):
        return _resumed(settings)
    scene = bpy.context.scene
    rig = with_inputs_checked(read_chain(armature, settings))
    refuse_moved_target(rig)
    refuse_first_bone(rig)
    refuse_unfit(rig, scene)
    refuse_unreadable(settings)
    rig, samples, times = _facing(rig, scene)
    refuse_uneven(rig, samples, times)
    turn = None
    if rig.post is not None:
        refuse_post(rig, scene)
        turn, samples = read_turn(rig, scene, samples, times)
    try:
        shape = shape_of(rig)
        plan = planner(shape)(shape)
    except IK2DError as error:
        raise refusal(
            "Chain '{chain}' cannot be converted to drivers: {error}", chain=rig.name, error=error
        ) from None
    had_animation = armature.animation_data is not None
    empties, hands = add_empties(rig, turn)
    note(settings, empties, had_animation)
    try:
        native = _built(rig, settings, plan, empties, hands, turn)
        settings.native_constraint = native.constraints[0][1]  # as Blender has it
        settings.native_print = fingerprint_of(settings)
        return replace(native, warnings=(*_notes_on_target(rig, samples, times, scene), *_warnings(settings)))
    except BaseException as error:
        remove_native(armature, settings)
        if isinstance(error, IK2DError):
            raise refusal(
                "Chain '{chain}' cannot be converted to drivers: {error}", chain=rig.name, error=error
            ) from None
        raise


def planner(shape: Shape) -> Callable[[Shape], NativePlan]:
    """Return the function that plans a chain of that shape."""
    if len(shape.lengths) != 2:
        return family.plan if len(shape.lengths) > 2 else limited.single
    return two_bone.plan if np.isnan(shape.limits).all() else limited.plan


def _resumed(settings: bpy.types.PropertyGroup) -> Native:
    """Unmute a native chain's constraints."""
    changed = changed_since_made(settings)
    if changed:
        raise refusal(
            "Chain '{chain}' is on drivers, but {changed}; remove these, then convert again",
            chain=settings.name,
            changed=changed,
        )
    if acts(settings):
        raise refusal(
            "Chain '{chain}' is on drivers already; remove these first to convert it again",
            chain=settings.name,
        )
    held = list(constraints_of(settings))
    for _, constraint in held:
        constraint.mute = False
    controls, target_copy = settings.native_stand, settings.native_probe
    names = tuple((bone.name, acting.name) for bone, acting in held)
    return Native(controls, target_copy, names, 0, _warnings(settings))


def _warnings(settings: bpy.types.PropertyGroup) -> tuple[str, ...]:
    """Return a warning if the influence blends with a bake's keys or with an unkeyed pose."""
    armature, controls = settings.id_data, settings.native_stand
    if controls.get("influence", 1.0) == 1.0 and not is_animated(controls, path_of("influence")):
        return ()
    names = bones_of(armature.data, settings.tip, settings.bone_count)
    start = say("Chain '{chain}': its IK Blend mixes with", chain=settings.name)
    if baked_keys(armature, [*names, settings.post] if settings.plane == POST else names):
        return (
            say(
                "{start} the keys of a bake; Clear Bake, and clear the rotation that is left (Alt-R)",
                start=start,
            ),
        )
    if any(_left_posed(armature.pose.bones[name]) for name in names):
        return (
            say(
                "{start} the pose that its bones are left in; clear their rotation (Alt-R) to have rest",
                start=start,
            ),
        )
    return ()


def _left_posed(bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone is turned, but not by keys."""
    paths = {bone.path_from_id(name) for name in ROTATIONS}
    keyed = any(curve.data_path in paths for curve in versions.existing_fcurves(bone.id_data))
    return not keyed and bone.matrix_basis.to_quaternion().angle > _TURNED


def _facing(rig: RigChain, scene: bpy.types.Scene) -> tuple[RigChain, ChainSamples, list[float]]:
    """Return the chain, a straight one in the plane that a bake of the scene's frames would choose.

    And its samples at some of these frames, and the frames.
    """
    samples, times = sampled_path(scene, rig, scene.frame_start, scene.frame_end)
    return facing_target(rig, samples), samples, times


def _notes_on_target(
    rig: RigChain, samples: ChainSamples, times: list[float], scene: bpy.types.Scene
) -> Iterator[str]:
    """Yield a warning if the target leaves the chain's plane on the sampled frames, or leaves it open."""
    if (turns := flips(rig, samples)) is not None:
        yield from open_note(rig, turns.openness, times)
        return
    joints, normal = rest_joints(rig.pose_bones), rig.plane.normal
    to_world = samples.world @ read_linkage(rig, samples).to_pose
    across = np.linalg.norm(to_world[:, :3, :3] @ normal, axis=1)
    off = np.nan_to_num(np.abs((target_points(rig, samples) - joints[-1]) @ normal))
    worst = int(np.argmax(off * across))
    if off[worst] > FAR_OFF_PLANE * reach_of(joints):
        far = length_text(off[worst] * across[worst], Units.of(scene))
        yield say(
            "Chain '{chain}': its target is up to {far} off the chain's plane (frame {time:g}); "
            "the tip follows it within the plane",
            chain=rig.name,
            far=far,
            time=times[worst],
        )


def _built(
    rig: RigChain,
    settings: bpy.types.PropertyGroup,
    plan: NativePlan,
    empties: Empties,
    hands: HandEmpties | None,
    turn: PostTurn | None = None,
) -> Native:
    """Add the properties, the constraints and the drivers."""
    following = read_following(rig, None if hands is None else hands.goal)
    turns = TURN if following is not None and following.is_turned else ()
    stretches, rolls = STRETCH if plan.factors else (), FOOT if rig.foot is not None else ()
    add_controls(empties.controls, settings, (*CONTROLS, *turns, *stretches, *rolls))
    if following is not None and isinstance(empties, SwungEmpties):
        following.build(rig, empties, plan.turns[0])
    for name, expression in plan.steps:
        drive_step(empties, name, expression, plan.curves.get(name))
    armature, name, made = rig.armature, settings.native_constraint, []
    if turn is not None:
        constraint = turning_constraint(turn.bone, name)
        build_post(turn, empties, constraint)
        made.append((turn.bone, constraint))
    for i, (bone, axis) in enumerate(zip(rig.pose_bones, rig.joints.axes, strict=True)):
        if i == 0 and isinstance(empties, SwungEmpties):
            made.append((bone, _copied(bone, name, empties.turned, empties)))
        else:
            constraint = turning_constraint(bone, name)
            angles = angles_of(plan.turns[i], axis, empties, f"turn{i}", plan.turn_curves.get(i))
            for letter, angle, keys in angles:
                drive(armature, f"{constraint.path_from_id()}.min_{letter}", angle, empties, keys)
            made.append((bone, constraint))
        if plan.factors and rig.stretching is not None and rig.stretching.scaled[i]:
            made.append((bone, _scaled(rig, i, plan.factors[i], scale_name(name), empties)))
    if hands is not None:
        drive_foot(hands, empties)
        for hand, turned in hands.bones.items():
            bone = armature.pose.bones[hand]
            made.append((bone, _copied(bone, name, turned, empties)))
    for _, constraint in made:
        drive(armature, f"{constraint.path_from_id()}.influence", "influence", empties)
    owners = (armature, empties.controls, *empties.controls.children_recursive)
    return Native(
        empties.controls,
        empties.target_copy,
        tuple((bone.name, constraint.name) for bone, constraint in made),
        sum(len(existing_drivers(ob)) for ob in owners),
    )


def _copied(
    bone: bpy.types.PoseBone, name: str, turned: bpy.types.Object, empties: Empties
) -> bpy.types.Constraint:
    """Add the constraint that poses a bone as an empty is turned, both as seen from the controls."""
    constraint = constraint_of(bone, 'COPY_TRANSFORMS', name)
    constraint.target, constraint.space_object = turned, empties.controls
    constraint.owner_space = constraint.target_space = 'CUSTOM'
    return constraint


def _scaled(rig: RigChain, i: int, factor: str, name: str, empties: Empties) -> bpy.types.Constraint:
    """Add the constraint that stretches a bone along itself."""
    constraint = constraint_of(rig.pose_bones[i], 'LIMIT_SCALE', name)
    constraint.use_min_y = constraint.use_max_y = True
    for end in ("min", "max"):
        drive(rig.armature, f"{constraint.path_from_id()}.{end}_y", factor, empties)
    return constraint
