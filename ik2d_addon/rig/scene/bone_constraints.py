# SPDX-License-Identifier: GPL-3.0-or-later
"""Other controls of a chain's bones: constraints on them, and IK from bones below."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import bpy
import numpy as np

from ...core.words import listed, say
from ..animation import versions
from ..animation.fcurves import BEZIER, CONSTANT, LINEAR, column
from ..animation.times import animation_times
from ..animation.value_keys import acting_driver, curve_of
from ..chain.chain import RigChain
from ..chain.dependencies import SWITCHES, is_animated
from ..chain.joints import ALIGNED, own_axis
from ..chain.native_state import own_constraints
from .lengths.slide_locations import location_without_slides
from .own_scene import scene_showing

# A constraint, and the bone that has it.
Held: TypeAlias = tuple[bpy.types.PoseBone, bpy.types.Constraint]
# Constraints that reach up the hierarchy from the bone that has them.
_REACHING = ('IK', 'SPLINE_IK')
# Constraints that set a bone's place whatever its rotation, and those that carry it as a parent would.
_PLACING = ('COPY_LOCATION', 'LIMIT_LOCATION', 'LIMIT_DISTANCE', 'FLOOR', 'CLAMP_TO')
_CARRYING = (*_PLACING, 'TRANSFORM', 'CHILD_OF', 'ARMATURE', 'FOLLOW_PATH')
# Constraints that leave a bone's rotation and the place of its tail as they are.
_HARMLESS = ('LIMIT_SCALE', 'MAINTAIN_VOLUME')
# Angles (radians) within this are the same.
_SAME_ANGLE = 1e-5
# The rounding of a slide and of the limit that it was taken from, as a part of the slide.
_SAME_LENGTH = 1e-6
# Of many bones in a warning, this many are named.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class OtherControl:
    """A constraint that acts on bones of a chain, on top of their keys or in place of them."""

    kind: str  # Constraint.type
    label: str  # Blender's name of that
    owner: str  # the bone that has it
    constraint: str
    bones: tuple[str, ...]  # those of the chain that it moves, root to tip
    below: bool  # whether the owner is not of the chain itself
    driven: bool  # whether a driver sets its influence, so that no key can
    carries: bool = False  # whether it moves the chain by its first bone, as a parent would
    blends: bool = False  # whether it blends the chain's pose with FK bones: see `fk_copies`


def other_controls(
    rig: RigChain,
    first: float,
    last: float,
    reaching: Sequence[Held] | None = None,
    *,
    carrying: bool = False,
) -> list[OtherControl]:
    """Return the constraints that move a chain's bones on the frames from `first` to `last`.

    Without those that are muted or have no influence or target, and limits that cannot stop a turn in
    the plane. reaching: those of the armature that reach up, where they are known. carrying: also those
    that a solve follows (see `is_carried`), which native chains do not.
    """
    controls = _acting_controls(rig, first, last, reaching)
    return controls if carrying else not_followed(rig, controls)


def is_carried(rig: RigChain, first: float, last: float) -> bool:
    """Return whether constraints carry a chain by its first bone, and no others move that bone.

    What they do to its pose is the same for any rotation of the bone, so a solve can start from there.
    """
    if not any(constraint.type in _CARRYING for constraint in rig.pose_bones[0].constraints):
        return False
    return carry(rig, _acting_controls(rig, first, last))


def carry(rig: RigChain, acting: Sequence[OtherControl]) -> bool:
    """Return whether acting controls carry a chain by its first bone: see `is_carried`."""
    carries = [control.carries for control in acting if rig.bones[0] in control.bones]
    return bool(carries) and all(carries)


def not_followed(rig: RigChain, acting: Sequence[OtherControl]) -> list[OtherControl]:
    """Return the acting controls that a solve does not follow, and that do not blend its pose either."""
    carried = carry(rig, acting)
    return [control for control in acting if not (control.blends or carried and control.carries)]


def _acting_controls(
    rig: RigChain, first: float, last: float, reaching: Sequence[Held] | None = None
) -> list[OtherControl]:
    """Return the constraints that act on a chain's bones from `first` to `last`."""
    times = animation_times(scene_showing(rig.armature) or bpy.context.scene, (first, last))
    bones = rig.armature.pose.bones
    return [
        control
        for control in possible_controls(rig, reaching)
        if is_active(rig.armature, bones[control.owner].constraints[control.constraint], times)
    ]


def possible_controls(rig: RigChain, reaching: Sequence[Held] | None = None) -> list[OtherControl]:
    """Return the constraints that move a chain's bones where they act, whether they do at any time or not."""
    reaching = reaching_of(rig.armature) if reaching is None else reaching
    return [
        OtherControl(
            kind=constraint.type,
            label=_label(constraint),
            owner=bone.name,
            constraint=constraint.name,
            bones=bones,
            below=bone.name not in rig.bones,
            driven=acting_driver(rig.armature, constraint.path_from_id("influence")) is not None,
            carries=bone.name == rig.bones[0] and _carries(rig, constraint),
            blends=(bone.name, constraint.name) in rig.remarks.copies,
        )
        for bone, constraint, bones in _candidates(rig, reaching)
        if _has_targets(constraint)
    ]


def is_joint_limit(rig: RigChain, control: OtherControl) -> bool:
    """Return whether a control is a Limit Rotation of a bone's own channels, as limits of a joint are."""
    if control.kind != 'LIMIT_ROTATION':
        return False
    constraint = rig.armature.pose.bones[control.owner].constraints[control.constraint]
    return bool(constraint.owner_space == 'LOCAL')


def with_other_controls(
    rig: RigChain, first: float, last: float, reaching: Sequence[Held] | None = None
) -> RigChain:
    """Return a chain with a warning for each other control on some frames; see `other_controls`."""
    lines = sentences(rig.name, other_controls(rig, first, last, reaching))
    return rig.with_remarks(notes=(*rig.remarks.notes, *lines), other_controls=bool(lines))


def sentences(chain_name: str, controls: Sequence[OtherControl]) -> list[str]:
    """Return one line for each cause: bones with the same kind of constraint of their own share one."""
    lines = []
    by_kind: dict[tuple[str, bool], list[OtherControl]] = {}
    for control in controls:
        if control.kind in _REACHING:
            kind = "IK" if control.label == "Inverse Kinematics" else control.label
            names = {"kind": kind, "constraint": control.constraint, "bone": control.owner}
            if control.below:
                what = say("the {kind} constraint '{constraint}' of bone '{bone}' below it", **names)
            else:
                what = say("the {kind} constraint '{constraint}' of bone '{bone}'", **names)
            lines.append(_sentence(chain_name, control.bones, what, control.driven, 1))
        else:
            by_kind.setdefault((control.label, control.driven), []).append(control)
    for (label, driven), alike in by_kind.items():
        bones = list(dict.fromkeys(control.owner for control in alike))
        what = say("its own constraint '{constraint}'", constraint=alike[0].constraint)
        if len(alike) > 1:
            if len(bones) > 1:
                what = say("{kind} constraints of their own", kind=label)
            else:
                what = say("{kind} constraints of its own", kind=label)
        lines.append(_sentence(chain_name, bones, what, driven, len(alike)))
    return lines


def _sentence(chain_name: str, bones: Sequence[str], what: str, driven: bool, count: int) -> str:
    if driven and count == 1:
        way_out = say("its influence is driven: mute it, or disable the driver")
    elif driven:
        way_out = say("their influences are driven: mute them, or disable the drivers")
    elif count == 1:
        way_out = say("mute it for these frames, or disable it")
    else:
        way_out = say("mute them for these frames, or disable them")
    places = {"chain": chain_name, "what": what, "way_out": way_out}
    if len(bones) == 1:
        return say("Chain '{chain}': bone '{bone}' is moved by {what}; {way_out}", bone=bones[0], **places)
    named = listed(bones, _NAMED)
    return say("Chain '{chain}': bones {bones} are moved by {what}; {way_out}", bones=named, **places)


def _label(constraint: bpy.types.Constraint) -> str:
    return str(constraint.bl_rna.properties['type'].enum_items[constraint.type].name)


# --- Constraints that may act ------------------------------------------------


def reaching_of(armature: bpy.types.Object) -> list[Held]:
    """Return an armature's constraints that reach up the hierarchy, each with the bone that has it."""
    # In one expression: of 700 bones with two constraints each it takes under a millisecond.
    return [(b, c) for b in armature.pose.bones for c in b.constraints if c.type in _REACHING]


def _candidates(
    rig: RigChain, reaching: Sequence[Held]
) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint, tuple[str, ...]]]:
    """Yield (bone, constraint, the chain's bones that it moves if it acts), the chain's own first."""
    held = [(i, bone, constraint) for i, bone in enumerate(rig.pose_bones) for constraint in bone.constraints]
    native = own_constraints(rig.armature) if held else ()
    for i, bone, constraint in held:
        if constraint.name in native:
            continue
        if constraint.type in _REACHING:
            moved = _reached(rig, bone, constraint)
        else:
            moved = (bone.name,) if _can_act(rig, i, constraint) else ()
        if moved:
            yield bone, constraint, moved
    for bone, constraint in reaching:
        moved = () if bone.name in rig.bones else _reached(rig, bone, constraint)
        if moved:
            yield bone, constraint, moved


def _reached(rig: RigChain, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> tuple[str, ...]:
    """Return the chain's bones, root to tip, that an IK or Spline IK constraint reaches up to."""
    line = [bone, *bone.parent_recursive]
    if constraint.type == 'IK' and not constraint.use_tail:
        line = line[1:]
    reached = {above.name for above in line[: constraint.chain_count or len(line)]}
    return tuple(name for name in rig.bones if name in reached)


def _carries(rig: RigChain, constraint: bpy.types.Constraint) -> bool:
    """Return whether a constraint of the first bone does the same to it however the chain is posed."""
    if rig.slides is not None and 0 in rig.slides.channels:  # then the chain moves that bone's place too
        return False
    return constraint.type in _CARRYING and (
        constraint.type != 'TRANSFORM' or constraint.map_to == 'LOCATION'
    )


def _can_act(rig: RigChain, i: int, constraint: bpy.types.Constraint) -> bool:
    """Return whether a constraint of the i-th bone may change the bone's rotation or place."""
    if constraint.type in _HARMLESS:
        stretches = rig.stretching is not None and bool(rig.stretching.scaled[i])
        limits_scale = constraint.type == 'LIMIT_SCALE'
        return stretches and limits_scale and bool(constraint.use_max_y or constraint.use_min_y)
    if constraint.type == 'LIMIT_ROTATION':
        return _limits_turns(rig, i, constraint)
    if constraint.type == 'LIMIT_LOCATION':
        return _limits_place(rig, i, constraint)
    return True


def _limits_turns(rig: RigChain, i: int, constraint: bpy.types.Constraint) -> bool:
    """Return whether a Limit Rotation may stop a turn in the plane that the joint's own limits allow."""
    limited = [axis for axis, letter in enumerate("xyz") if getattr(constraint, f"use_limit_{letter}")]
    turning = own_axis(rig.joints.axes[i], ALIGNED)
    if not limited or constraint.owner_space != 'LOCAL' or turning is None:
        return bool(limited)
    lowest, highest = (
        rig.joints.limits[i] if rig.joints.axes[i][turning] > 0.0 else -rig.joints.limits[i][::-1]
    )
    if rig.joints.fixed[i]:
        lowest = highest = 0.0
    for axis in limited:
        ends = [getattr(constraint, f"{end}_{'xyz'[axis]}") for end in ("min", "max")]
        low, high = (lowest, highest) if axis == turning else (0.0, 0.0)
        # Written so that NaN, no limit of ours, is not within.
        if not (min(ends) - _SAME_ANGLE <= low and high <= max(ends) + _SAME_ANGLE):
            return True
    return False


def _limits_place(rig: RigChain, i: int, constraint: bpy.types.Constraint) -> bool:
    """Return whether a Limit Location may move the i-th bone, or stop a slide that it carries."""
    base, low, high = location_without_slides(rig, i), np.zeros(3), np.zeros(3)
    if rig.slides is not None:
        low, high = rig.slides.span(i)
    ends, rounding = {"min": base + low, "max": base + high}, _SAME_LENGTH * np.abs([low, high]).max()
    for axis, letter in enumerate("xyz"):
        for end, sign in (("min", 1.0), ("max", -1.0)):
            if getattr(constraint, f"use_{end}_{letter}"):
                beyond = sign * (getattr(constraint, f"{end}_{letter}") - ends[end][axis]) > rounding
                if constraint.owner_space != 'LOCAL' or beyond:
                    return True
    return False


# --- Constraints that act on some frames -------------------------------------


def is_active(armature: bpy.types.Object, constraint: bpy.types.Constraint, times: Sequence[float]) -> bool:
    """Return whether a constraint acts between two times: it has its targets, and some influence then."""
    if not _has_targets(constraint) or constraint.mute and not is_animated(armature, constraint, SWITCHES):
        return False
    path = constraint.path_from_id("influence")
    if acting_driver(armature, path):
        return True
    curve = curve_of(armature, path)
    if curve is None or not versions.plays(armature, curve):
        return bool(constraint.influence > 0.0)
    return _largest(curve, times) > 0.0


def is_idle(owner: bpy.types.Object, constraint: bpy.types.Constraint) -> bool:
    """Return whether a constraint of an object or its bone acts at no time: muted for good, or no influence.

    Or without a target that it needs, which nothing animates. Strips aside.
    """
    if not _has_targets(constraint) or constraint.mute and not is_animated(owner, constraint, SWITCHES):
        return True
    path = constraint.path_from_id("influence")
    if acting_driver(owner, path):
        return False
    curve = curve_of(owner, path)
    if curve is None or not versions.plays(owner, curve):
        return bool(constraint.influence == 0.0)
    if len(curve.modifiers) or len(curve.sampled_points):
        return False
    return not any(column(curve, name)[:, 1].any() for name in ("co", "handle_left", "handle_right"))


def _has_targets(constraint: bpy.types.Constraint) -> bool:
    """Return whether a constraint has the targets without which Blender leaves it out."""
    if constraint.type == 'ACTION' and constraint.action is None:
        return False
    if constraint.type == 'ARMATURE':
        return any(_is_target(target.target, target.subtarget, bone=True) for target in constraint.targets)
    if not hasattr(constraint, "target"):
        return True
    return _is_target(constraint.target, getattr(constraint, "subtarget", ""), bone=constraint.type == 'IK')


def _is_target(target: bpy.types.Object | None, subtarget: str, bone: bool) -> bool:
    """Return whether a target is there. bone: whether of an armature it must be a bone."""
    if target is None:
        return False
    if target.type != 'ARMATURE':
        return True
    return subtarget in target.data.bones if subtarget else not bone


def _largest(curve: bpy.types.FCurve, times: Sequence[float]) -> float:
    """Return the largest value of a curve from the first of some times to the last, or one above it."""
    places, heights = column(curve, "co").T
    within = (places >= times[0]) & (places <= times[-1])
    if len(curve.modifiers) or not np.isin(column(curve, "interpolation"), (CONSTANT, LINEAR, BEZIER)).all():
        looked = np.arange(times[0], times[-1], 0.25).tolist()
    else:  # which stays within its handles
        looked, inside = [], (places[:-1] < times[-1]) & (places[1:] > times[0])
        inside &= column(curve, "interpolation")[:-1, 0] == BEZIER
        leaving, arriving = column(curve, "handle_right")[:-1, 1], column(curve, "handle_left")[1:, 1]
        heights = np.concatenate((heights, leaving, arriving))
        within = np.concatenate((within, inside, inside))
    return float(max(heights[within].max(initial=0.0), *map(curve.evaluate, (*times, *looked))))
