# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain takes over from an IK constraint, and what it cannot, in words.

What it cannot is known of the plan. What it has taken over is read from the chain that was made, and its
limits from the pose that it gives.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...bake.lengths import Units, length_text
from ...core.swing import POLE, SHORTEST_WAY, SWING
from ...core.words import listed, noted, number_of, say
from ...rig.animation.value_keys import curve_of, driven_paths
from ...rig.chain.bone_limits import has_limits, limits_elsewhere
from ...rig.chain.chain import reading
from ...rig.chain.dependencies import SWITCHES
from ...rig.chain.joints import normal_in_bone, turning_axis
from ...rig.scene.bone_constraints import is_active
from .animation import animation_of
from .compare import Past
from .limbs import ik_locks
from .plan import AdoptPlan
from .planes import APART

# Constraints that a chain takes as limits, or that neither turn nor move a bone.
_CARRIED = ('LIMIT_ROTATION', 'LIMIT_SCALE', 'MAINTAIN_VOLUME')

# So many IK locks leave a bone one axis.
_HINGE = 2
# So many bones share a bend by their flexibility.
_SHARING = 3


def in_words(plan: AdoptPlan) -> AdoptPlan:
    """Return a plan with its lines on what is not carried over."""
    post = plan.plane.post
    names = plan.bones if post is None else (post.bone, *plan.bones)
    bones = [plan.limb.armature.pose.bones[name] for name in names]
    lost = [*_lost_settings(plan, bones, plan.course.frames), *_lost_limits(plan, bones)]
    if not plan.plane.follows:
        lost += _turned_out(plan)
    return replace(plan, lost=tuple(lost))


def of_bones(constraints: Iterable[tuple[str, str]]) -> str:
    """Return constraints, each a bone and a name, in words: "'IK' of 'shin.L', 'Copy' of 'thigh.L'"."""
    return ", ".join(
        say("'{constraint}' of '{bone}'", constraint=name, bone=bone) for bone, name in constraints
    )


def carried_over(plan: AdoptPlan, chain: bpy.types.PropertyGroup, measured: Sequence[str]) -> Iterator[str]:
    """Yield a line for each thing that the chain of a plan has taken over.

    measured: the lines on its limits and its stiffness.
    """
    limb, main = plan.limb, plan.limb.main
    follows = chain.subtarget or chain.target.name
    yield say(
        "{count} ({bones}) to '{target}'",
        count=number_of(len(plan.bones), "bone"),
        bones=", ".join(plan.bones),
        target=follows,
    )
    if limb.cut:
        yield say("it begins below '{cut}', which another chain moves", cut=limb.cut)
    if plan.plane.post is not None:
        yield say(
            "its plane turns about the {axis} axis of '{post}', which IK locks leave it",
            axis=plan.plane.post.axis,
            post=plan.plane.post.bone,
        )
    elif chain.plane == SWING:
        yield say("its plane swings with the target")
    elif chain.plane == SHORTEST_WAY:
        yield say("it turns the shortest way to its target")
    elif main.pole_target is not None:
        yield from _pole(chain, main)
    if chain.plane_turn or curve_of(chain.id_data, f"{chain.path_from_id()}.plane_turn"):
        yield say("turns of '{bone}' below the IK, which turn its plane, as Plane Turn", bone=plan.bones[0])
    if len(plan.sides) > 1:
        yield say(
            "the side that it bends to, keyed: it changes {times}",
            times=number_of(len(plan.sides) - 1, "time"),
        )
    yield from measured
    if chain.tip_rotation == 'TARGET':
        yield say("its target's rotation in the plane as the angle of the last bone")
    kind = animation_of(limb, "influence")
    if "strips" not in kind and not plan.always_acts and (kind or chain.influence < 1.0):
        yield say(
            "the influence{part}", part=say(", {kind}", kind=kind) if kind else f" {chain.influence:.3g}"
        )
    if blended := _blended(plan):
        yield say("turns of {names} besides the IK, where its influence is below 1", names=listed(blended))
    if chain.stretch > 1.0:
        yield say(
            "stretch, as far as it takes{part}",
            part=say(", by the last bone alone") if chain.stretch_bones == 'LAST' else "",
        )
    if plan.stretch.aligned:
        yield say(
            "Inherit Scale of {bones}, which is Aligned until the IK is restored",
            bones=listed(plan.stretch.aligned),
        )
    if limb.idle:
        constraints = of_bones(limb.idle)
        yield say(
            "it also mutes {own}: IK of bones that this limb shares, which it overrides", own=constraints
        )
    turning = plan.turning
    if turning.muted:
        constraints = of_bones(turning.muted)
        yield say("it also mutes {own}, which acted before the IK", own=constraints)
    if turning.given:
        yield say(
            "the switch to FK: {own} get 1 minus the influence of the IK, {kind}",
            own=of_bones(turning.given),
            kind=say(kind),
        )
    if turning.kept:
        yield say("the switch to FK: {own} stay as they are", own=of_bones(turning.kept))


def _pole(chain: bpy.types.PropertyGroup, main: bpy.types.KinematicConstraint) -> Iterator[str]:
    pole = main.pole_subtarget or main.pole_target.name
    if chain.plane != POLE:
        yield say("the pole '{pole}' as the side that it bends to", pole=pole)
    elif chain.pole_angle == main.pole_angle:
        yield say("the pole '{pole}' with its angle", pole=pole)
    else:
        degrees = np.degrees(chain.pole_angle)
        yield say(
            "the pole '{pole}', at an angle of {angle:.1f}°, as the bones' own turns have it",
            pole=pole,
            angle=degrees,
        )


def stiffness_in_words(plan: AdoptPlan, chain: bpy.types.PropertyGroup) -> tuple[list[str], list[str]]:
    """Return the line on the stiffness that a chain has taken over, and that on what it has not, if any.

    Of two bones it says nothing: the plane leaves them no choice, in Blender's IK as well.
    """
    weighed = _weighed(chain)
    kept = [name for name in plan.joints.weights if name in weighed]
    lost = [name for name in plan.joints.weights if weighed and name not in weighed]
    return (
        [say("stiffness of {names} as flexibility", names=listed(kept))] if kept else [],
        [say("stiffness of {names}, which turns freely", names=listed(lost))] if lost else [],
    )


def _weighed(chain: bpy.types.PropertyGroup) -> Sequence[str]:
    """Return the bones of a chain whose flexibility its solver takes into account."""
    rig = reading(chain.id_data, chain)
    if isinstance(rig, str):
        return ()
    bending = rig.bones if rig.settings.tip_angle is None else rig.bones[:-1]
    if len(bending) < _SHARING or rig.settings.solver not in ('EVEN', 'CCD'):
        return ()
    return bending[1:] if rig.settings.solver == 'EVEN' and rig.settings.root_turns_freely else bending


def limits_in_words(
    plan: AdoptPlan, chain: bpy.types.PropertyGroup, before: dict[str, Past], after: dict[str, Past]
) -> tuple[list[str], list[str]]:
    """Return a line for each kind of limit that a chain keeps, and for each bone whose limits it does not.

    before, after: how far the IK, and the chain, turn bones past their limits.
    """
    limited, held, hinges, lost = list[str](), list[str](), list[str](), list[str]()
    post = plan.plane.post
    for bone in (plan.limb.armature.pose.bones[name] for name in plan.limb.bones):
        locks, name = sum(ik_locks(bone)), bone.name
        if name not in plan.bones:
            if post is not None and name == post.bone and chain.use_post_limit:
                past = after.get(name)
                if past is None or past.angle <= APART:
                    limited.append(name)
                elif before[name].angle <= APART:
                    lost.append(_past_in_words(plan, bone, past))
            continue
        stays = turning_axis(bone, normal_in_bone(plan.plane.plane, bone)) is None
        if locks == _HINGE and stays:
            lost.append(say("turns of '{bone}' about the axis that its IK locks leave", bone=name))
            continue
        is_limited = has_limits(bone) and chain.joints[name].use_limit
        is_held = locks > _HINGE or not has_limits(bone) and chain.joints[name].use_limit
        past = after.get(name)
        if past is None or past.angle <= APART:
            for mask, names in ((is_limited, limited), (is_held, held), (locks == _HINGE, hinges)):
                names += [name] if mask else []
        elif is_limited or is_held or locks == _HINGE or before[name].angle <= APART:
            if name not in plan.joints.slanted:
                lost.append(_past_in_words(plan, bone, past))
    lines = (
        (limited, noted("limits of {names}")),
        (held, noted("IK locks that hold {names}")),
        (hinges, noted("IK locks of {names} as hinges")),
    )
    return [say(words, names=listed(names)) for names, words in lines if names], lost


def _past_in_words(plan: AdoptPlan, bone: bpy.types.PoseBone, past: Past) -> str:
    what = noted("limits of '{bone}'") if has_limits(bone) else noted("IK locks of '{bone}'")
    why = noted("it turns further")
    if plan.plane.follows and bone.name == plan.limb.bones[0]:
        why = noted("it turns with its plane, so they hold in the plane alone")
    return say(
        "{what}, by up to {angle:.1f}° at frame {frame}: {why}",
        what=say(what, bone=bone.name),
        angle=np.degrees(past.angle),
        frame=past.frame,
        why=why,
    )


def _lost_settings(
    plan: AdoptPlan, bones: Sequence[bpy.types.PoseBone], times: Sequence[float]
) -> Iterator[str]:
    """Yield a line for each setting of an IK constraint, or of its bones, that a chain cannot take over."""
    main = plan.limb.main
    if plan.pole is not None and animation_of(plan.limb, "pole_angle"):
        yield say("the animation of its pole angle")
    if main.pole_target is not None and plan.plane.choice in (SWING, SHORTEST_WAY):
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
    post = plan.plane.post
    if post is not None and getattr(
        plan.limb.armature.pose.bones[post.bone], f"ik_stiffness_{post.axis.lower()}"
    ):
        yield say("stiffness of '{post}', which turns as far as the plane needs", post=post.bone)
    if plan.stretch.most > 1.0:
        yield say("the little that Blender's IK stretches within reach, where the chain keeps its length")
    if plan.stretch.most > 1.0 and plan.stretch.last_only:
        yield say("stretch of the other bones, which inherit scale: they would shear")
    if plan.turning.is_stuck:
        yield say(
            "the FK bones that it copies: modifiers, samples or the driver of its influence cannot be turned "
            "round for them"
        )
    if "strips" in animation_of(plan.limb, "influence"):
        yield say("its influence as NLA strips have it")
    # Of several, as of Rigify's limbs, another acts where one is muted.
    if len(plan.limb.ik_constraints) == 1 and any(animation_of(plan.limb, name) for name in SWITCHES):
        yield say(
            "the mute of '{constraint}', which is animated: the chain acts on all frames; key IK Blend",
            constraint=main.name,
        )
    # The angle of a pole is fitted to turns that stay, and a post keeps those about its other axes.
    own = {bone for bone in bones if plan.pole is None and bone.name in plan.bones}
    turned = [bone.name for bone in bones if _is_keyed(bone) or bone in own and _is_turned(bone)]
    carried = [*_blended(plan), *(plan.bones[:1] if plan.plane.is_turned else ())]
    turned = [name for name in turned if name not in carried]
    if turned:
        yield say("turns of {names} besides the IK, which a bake replaces", names=listed(turned))
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
    if len({(constraint.target, constraint.subtarget) for constraint in plan.limb.ik_constraints}) > 1:
        yield say("the other targets that its bones have IK constraints to")


def _blended(plan: AdoptPlan) -> list[str]:
    """Return the names of bones whose own keys the chain's influence blends with, as the IK's did."""
    kind = animation_of(plan.limb, "influence")
    if not kind or "strips" in kind or plan.always_acts:
        return []
    bones = plan.limb.armature.pose.bones
    return [name for name in plan.limb.bones if _is_keyed(bones[name])]


def _others(plan: AdoptPlan, bones: Sequence[bpy.types.PoseBone], times: Sequence[float]) -> list[str]:
    """Return the other constraints that act on the bones, without limits: "'Child Of' of 'thigh'"."""
    return [
        say("'{constraint}' of '{bone}'", constraint=constraint.name, bone=bone.name)
        for bone in bones
        for constraint in bone.constraints
        if constraint.type not in _CARRIED
        and (bone.name, constraint.name) not in (*plan.muted, *plan.turning.copies)
        and is_active(plan.limb.armature, constraint, [times[0], times[-1]])
    ]


def _lost_limits(plan: AdoptPlan, bones: Sequence[bpy.types.PoseBone]) -> Iterator[str]:
    """Yield a line for limits that a chain cannot take over."""
    if plan.joints.slanted:
        yield say(
            "limits of {names}, which turn about none of their own axes in the plane",
            names=listed(plan.joints.slanted),
        )
    elsewhere = limits_elsewhere(bones)
    if elsewhere:
        yield say("the Limit Rotation of {names}, which is not in Local Space", names=listed(elsewhere))


def _turned_out(plan: AdoptPlan) -> Iterator[str]:
    """Yield a line if the IK turned the limb out of the chain's plane."""
    plane, frames = plan.plane.plane, plan.course.frames
    root = plan.limb.armature.pose.bones[plan.bones[0]]
    axes = plan.course.first @ normal_in_bone(plane, root)
    across = np.linalg.norm(np.cross(axes, plane.normal), axis=1)
    angles = np.arctan2(across, axes @ plane.normal)
    worst = int(np.argmax(angles))
    if angles[worst] > np.pi - APART:
        yield say(
            "half a turn of the bones about themselves, as at frame {frame}: the chain bends "
            "them to the other side as they are",
            frame=frames[worst],
        )
    elif angles[worst] > APART:
        yield say(
            "turns out of its plane, by up to {angle:.1f}° at frame {frame}: the chain stays in it",
            angle=np.degrees(angles[worst]),
            frame=frames[worst],
        )


def _is_keyed(bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone has keys of its rotation."""
    paths = (bone.path_from_id(name) for name in ("rotation_quaternion", "rotation_euler"))
    return any(curve_of(bone.id_data, path) for path in paths)


def _is_turned(bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone is turned from rest."""
    return bool(bone.matrix_basis.to_quaternion().angle > APART)


def _is_driven(bone: bpy.types.PoseBone) -> bool:
    start = f"{bone.path_from_id()}.rotation_"
    return any(path.startswith(start) for path in driven_paths(bone.id_data))


def taken_in_words(plan: AdoptPlan) -> str:
    """Say that the plan's bones are a chain already, which takes its constraints."""
    constraints = of_bones(plan.limb.constraints)
    return say("is a chain already, and stays as it is; mutes {own}", own=constraints)


def lost_in_words(plan: AdoptPlan, lost: Sequence[str], units: Units) -> list[str]:
    """Return a line for each thing that a plan's chain has not taken over, and for a target off its plane."""
    lines = [say("Not carried over: {line}", line=line) for line in lost]
    length, frame = plan.off_plane
    if length > 0.0:
        off = length_text(length, units)
        lines.insert(
            0, say("The target leaves the plane, by up to {off} at frame {frame}", off=off, frame=frame)
        )
    return lines
