# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain takes over from an IK constraint, and what it cannot, in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...core.swing import ARC, SWING
from ...core.words import listed, number_of, say
from ...rig.animation.value_keys import curve_of
from ...rig.chain.bone_limits import limits_elsewhere
from ...rig.chain.joints import normal_in_bone
from ...rig.scene.bone_constraints import is_active
from .animation import animation_of
from .limbs import ik_locks
from .plan import Plan
from .planes import APART

# Constraints that a chain takes as limits, or that neither turn nor move a bone.
_CARRIED = ('LIMIT_ROTATION', 'LIMIT_SCALE', 'MAINTAIN_VOLUME')


def in_words(plan: Plan) -> Plan:
    """Return a plan with its lines on what is carried over, and what is not."""
    bones = [plan.limb.armature.pose.bones[name] for name in plan.limb.bones]
    lost = [*_lost_settings(plan, bones, plan.course.frames), *_lost_limits(plan, bones)]
    if not plan.plane.follows:
        lost += _turned_out(plan)
    return replace(plan, carried=tuple(_carried_over(plan)), lost=tuple(lost))


def of_bones(constraints: Iterable[tuple[str, str]]) -> str:
    """Return constraints, each a bone and a name, in words: "'IK' of 'shin.L', 'Copy' of 'thigh.L'"."""
    return ", ".join(
        say("'{constraint}' of '{bone}'", constraint=name, bone=bone) for bone, name in constraints
    )


def _carried_over(plan: Plan) -> Iterator[str]:
    """Yield a line for each thing that a chain takes over."""
    limb, main = plan.limb, plan.limb.main
    follows = plan.subtarget or plan.target.name
    yield say(
        "{count} ({bones}) to '{target}'",
        count=number_of(len(limb.bones), "bone"),
        bones=", ".join(limb.bones),
        target=follows,
    )
    if limb.cut:
        yield say("it begins below '{cut}', which another chain moves", cut=limb.cut)
    if main.pole_target is not None:
        yield from _pole(plan, main.pole_subtarget or main.pole_target.name)
    elif plan.plane.choice == SWING:
        yield say("its plane swings with the target")
    elif plan.plane.choice == ARC:
        yield say("it turns the shortest way to its target")
    if len(plan.sides) > 1:
        yield say(
            "the side that it bends to, keyed: it changes {times}",
            times=number_of(len(plan.sides) - 1, "time"),
        )
    if plan.limits:
        yield say("limits of {names}", names=listed(plan.limits))
    locks = {name: sum(ik_locks(limb.armature.pose.bones[name])) for name in limb.bones}
    hinges = [name for name, count in locks.items() if count == 2]
    held = [name for name, count in locks.items() if count == 3]
    if held:
        yield say("IK locks that hold {names}", names=listed(held))
    if hinges:
        yield say("IK locks of {names} as hinges", names=listed(hinges))
    if plan.weights:
        yield say("stiffness of {names} as weights", names=listed(plan.weights))
    if plan.tip_offset is not None:
        yield say("its target's rotation in the plane as the angle of the last bone")
    kind = animation_of(limb, "influence")
    if "strips" not in kind and (kind or plan.influence < 1.0):
        yield say(
            "the influence{part}", part=say(", {kind}", kind=kind) if kind else f" {plan.influence:.3g}"
        )
    if plan.stretch > 1.0:
        yield say(
            "stretch, as far as it takes{part}",
            part=say(", by the last bone alone") if plan.stretches_last else "",
        )
    if limb.idle:
        own = of_bones(limb.idle)
        yield say("it also mutes {own}: IK of bones that this limb shares, which it overrides", own=own)
    if plan.turning:
        own = of_bones(plan.turning)
        yield say("it also mutes {own}, which acted before the IK", own=own)


def _pole(plan: Plan, pole: str) -> Iterator[str]:
    if plan.pole is None:
        yield say("the pole '{pole}' as the side that it bends to", pole=pole)
    elif plan.plane.pole_angle == plan.limb.main.pole_angle:
        yield say("the pole '{pole}' with its angle", pole=pole)
    else:
        degrees = np.degrees(plan.plane.pole_angle)
        yield say(
            "the pole '{pole}', at an angle of {angle:.1f}°, as the bones' own turns have it",
            pole=pole,
            angle=degrees,
        )


def _lost_settings(plan: Plan, bones: Sequence[bpy.types.PoseBone], times: Sequence[float]) -> Iterator[str]:
    """Yield a line for each setting of an IK constraint, or of its bones, that a chain cannot take over."""
    main = plan.limb.main
    if plan.pole is not None and animation_of(plan.limb, "pole_angle"):
        yield say("the animation of its pole angle")
    if main.pole_target is not None and plan.plane.choice in (SWING, ARC):
        yield say("its pole, which depends on the limb itself")
    if main.use_rotation and plan.tip_offset is not None and main.orient_weight < 1.0:
        yield say(
            "its rotation weight {weight:.3g}: the last bone turns all the way", weight=main.orient_weight
        )
    elif main.use_rotation and plan.tip_offset is None:
        yield say("its target's rotation: the tip follows the place alone")
    if main.subtarget and not plan.subtarget:
        yield say("the vertices '{bone}' of its target: the tip follows the origin", bone=main.subtarget)
    if main.weight < 1.0:
        yield say("its position weight {weight:.3g}: the tip goes all the way", weight=main.weight)
    if plan.stretch > 1.0:
        yield say("the little that Blender's IK stretches within reach, where the chain keeps its length")
    if plan.stretch > 1.0 and plan.stretches_last:
        yield say("stretch of the other bones, which inherit scale: they would shear")
    if "strips" in animation_of(plan.limb, "influence"):
        yield say("its influence as NLA strips have it")
    # The angle of a pole is fitted to turns that stay.
    own = [bone.name for bone in bones if _is_keyed(bone) or plan.pole is None and _is_turned(bone)]
    if own:
        yield say("turns of {names} besides the IK, which a bake replaces", names=listed(own))
    driven = [bone.name for bone in bones if _is_driven(bone)]
    if driven:
        yield say(
            "the drivers on the rotation of {names}: they override a chain's keys", names=listed(driven)
        )
    acting = _others(plan, bones, times)
    if acting:
        yield say(
            "{names}: what acts on top of the chain's keys, or in place of them", names=", ".join(acting)
        )
    if len({(one.target, one.subtarget) for one in plan.limb.ik_constraints}) > 1:
        yield say("the other targets that its bones have IK constraints to")


def _others(plan: Plan, bones: Sequence[bpy.types.PoseBone], times: Sequence[float]) -> list[str]:
    """Return the other constraints that act on the bones, without limits: "'Child Of' of 'thigh'"."""
    return [
        say("'{constraint}' of '{bone}'", constraint=constraint.name, bone=bone.name)
        for bone in bones
        for constraint in bone.constraints
        if constraint.type not in _CARRIED
        and (bone.name, constraint.name) not in plan.muted
        and is_active(plan.limb.armature, constraint, [times[0], times[-1]])
    ]


def _lost_limits(plan: Plan, bones: Sequence[bpy.types.PoseBone]) -> Iterator[str]:
    """Yield a line for limits that a chain cannot take over."""
    if plan.slanted:
        yield say(
            "limits of {names}, which turn about none of their own axes in the plane",
            names=listed(plan.slanted),
        )
    elsewhere = limits_elsewhere(bones)
    if elsewhere:
        yield say("the Limit Rotation of {names}, which is not in Local Space", names=listed(elsewhere))


def _turned_out(plan: Plan) -> Iterator[str]:
    """Yield a line if the IK turned the limb out of the chain's plane."""
    plane, frames = plan.plane.plane, plan.course.frames
    root = plan.limb.armature.pose.bones[plan.limb.bones[0]]
    axes = plan.course.first @ normal_in_bone(plane, root)
    across = np.linalg.norm(np.cross(axes, plane.normal), axis=1)
    angles = np.arctan2(across, axes @ plane.normal)
    worst = int(np.argmax(angles))
    if angles[worst] > np.pi - APART:
        yield (
            say(
                "half a turn of the bones about themselves, as at frame {frame}: the chain bends "
                "them to the other side as they are",
                frame=frames[worst],
            )
        )
    elif angles[worst] > APART:
        yield (
            say(
                "turns out of its plane, by up to {angle:.1f}° at frame {frame}: the chain stays in it",
                angle=np.degrees(angles[worst]),
                frame=frames[worst],
            )
        )


def _is_keyed(bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone has keys of its rotation."""
    paths = (bone.path_from_id(name) for name in ("rotation_quaternion", "rotation_euler"))
    return any(curve_of(bone.id_data, path) for path in paths)


def _is_turned(bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone is turned from rest."""
    return bool(bone.matrix_basis.to_quaternion().angle > APART)


def _is_driven(bone: bpy.types.PoseBone) -> bool:
    animation = bone.id_data.animation_data
    start = f"{bone.path_from_id()}.rotation_"
    return animation is not None and any(
        curve.data_path.startswith(start) and not curve.mute for curve in animation.drivers
    )
