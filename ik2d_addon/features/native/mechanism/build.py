# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a mechanism native: one empty with its steps as driven properties, and a constraint for each bone."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np

from ....core import IK2DError
from ....core.words import listed, refusal, say
from ....rig.animation.value_keys import existing_drivers
from ....rig.chain.dependencies import acts_now
from ....rig.chain.joints import CLOSE, own_axis
from ....rig.chain.native_state import constraints_of
from ....rig.chain.renames import why_linked
from ....rig.mechanism.read import RAM, TURN, RigMechanism, read_mechanism
from ....rig.mechanism.values import driver_values, turning_axis
from ..controls import Control, add_control, carry_keys
from ..drivers import Empties, angles_of, constraint_of, drive, drive_step, turning_constraint
from ..empties import Native, note, own_empty, remove_native
from .changes import mechanism_fingerprint
from .plan import (
    LENGTH,
    QUATERNION,
    MechanismPlan,
    plan_mechanism,
    stops_of,
)
from .reasons import why_not_native

_INFLUENCE = Control(
    "influence", 0.0, 1.0, "How far the mechanism turns its bones from their own keys to its pose"
)


@dataclass(frozen=True)
class MechanismEmpties(Empties):
    """The one empty of a native mechanism, with what the variables of its drivers read."""

    rig: RigMechanism
    lengths: dict[str, str]  # of variables, the controls that are rams' lengths

    def bind(self, variable: bpy.types.DriverVariable, name: str) -> None:
        """Have a driver's variable read a property, a driving bone's rotation, or a ram's length."""
        letter, number = name.rstrip("0123456789"), name.lstrip("qwxyzl")
        if name in self.controls or letter not in QUATERNION:
            super().bind(variable, self.lengths.get(name, name))
            return
        variable.type, source = 'TRANSFORMS', variable.targets[0]
        source.id, source.bone_target = self.rig.armature, self.rig.drivers[int(number)].bone
        source.transform_type = f"ROT_{letter[1].upper()}"
        source.transform_space, source.rotation_mode = 'LOCAL_SPACE', 'QUATERNION'


def make_mechanism_native(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> Native:
    """Have Blender's own drivers close a mechanism's loops, with or without this add-on.

    settings: one of `armature.ik2d.mechanisms`; if it is native, it is made anew. The bones' channels and
    keys stay; the keyed lengths of rams are copied to controls. `remove_native` removes all that is made
    here. Raises IK2DError, with nothing changed, for a mechanism that cannot be native.
    """
    scene = bpy.context.scene
    rig = read_mechanism(armature, settings)
    if reason := why_linked(armature) or why_not_native(settings):
        raise IK2DError(reason)
    try:
        plan = plan_mechanism(rig)
        _refuse_turned(rig, settings)
    except IK2DError as error:
        raise _refused(rig, error) from None
    remove_native(armature, settings)
    had_animation = armature.animation_data is not None
    with ExitStack() as undo:
        controls = own_empty(armature, rig.name, "stand", armature.data.bones[rig.bones[0]].length)
        undo.callback(remove_native, armature, settings)
        controls.parent = armature
        empties = MechanismEmpties(controls, controls, rig, _length_controls(rig))
        note(settings, empties, had_animation)
        try:
            native = _built(rig, settings, plan, empties, undo)
        except IK2DError as error:
            raise _refused(rig, error) from None
        settings.native_print = mechanism_fingerprint(settings)
        undo.pop_all()
    return Native(*native, tuple(_warnings(rig, scene)))


def _refused(rig: RigMechanism, error: IK2DError) -> IK2DError:
    return refusal("Mechanism '{name}' cannot be converted to drivers: {error}", name=rig.name, error=error)


def _refuse_turned(rig: RigMechanism, settings: bpy.types.PropertyGroup) -> None:
    """Raise IK2DError for a bone that something else turns: constraints, which come before ours."""
    own = {constraint.name for _, constraint in constraints_of(settings)}
    driving = {one.bone for one in rig.drivers}
    for bone in rig.turned_bones:
        for constraint in rig.armature.pose.bones[bone].constraints:
            if constraint.name not in own and acts_now(constraint) and bone not in driving:
                raise refusal(
                    "the constraint '{constraint}' turns '{bone}' too; mute it, or remove it",
                    constraint=constraint.name,
                    bone=bone,
                )


def _length_controls(rig: RigMechanism) -> dict[str, str]:
    """Return the names of the controls of rams' lengths, by their variables."""
    rams = [(number, one.bone) for number, one in enumerate(rig.drivers) if one.kind == RAM]
    return {f"{LENGTH}{number}": f"{bone} length" for number, bone in rams}


def _built(
    rig: RigMechanism,
    settings: bpy.types.PropertyGroup,
    plan: MechanismPlan,
    empties: MechanismEmpties,
    undo: ExitStack,
) -> tuple[bpy.types.Object, bpy.types.Object, tuple[tuple[str, str], ...], int]:
    """Add the properties, the constraints and the drivers; return the first parts of `Native`."""
    armature, controls = rig.armature, empties.controls
    add_control(controls, _INFLUENCE, 1.0, 1.0)
    for name, label in empties.lengths.items():
        one = rig.drivers[int(name.removeprefix(LENGTH))]
        control = Control(label, 0.0, 1.0, "Length of the ram, from least to greatest")
        value = float(armature.path_resolve(one.path))
        add_control(controls, control, value, value)
        carry_keys(controls, control.name, armature, {one.path}, undo)
    for name, expression in plan.steps:
        drive_step(empties, name, expression)
    made, constraint_name = [], settings.native_constraint
    for bone, limit in _limited(rig, constraint_name):
        drive(armature, f"{limit.path_from_id()}.influence", "influence", empties)
        made.append((bone, limit.name))
    for bone, turn in plan.turns.items():
        constraint = turning_constraint(armature.pose.bones[bone], constraint_name)
        made.append((bone, constraint.name))
        path = constraint.path_from_id()
        for letter, angle, _ in angles_of(turn, turning_axis(rig, bone), empties, f"turn{len(made)}"):
            drive(armature, f"{path}.min_{letter}", angle, empties)
        drive(armature, f"{path}.influence", "influence", empties)
    settings.native_constraint = made[0][1]  # as Blender has it
    count = len(existing_drivers(armature)) + len(existing_drivers(controls))
    return controls, controls, tuple(made), count


def _limited(rig: RigMechanism, name: str) -> Iterator[tuple[str, bpy.types.Constraint]]:
    """Stop driving bones at their dead points, and yield each with its constraint."""
    for number, one in enumerate(rig.drivers):
        ends = stops_of(rig, number)
        if one.kind != TURN or ends == (None, None):
            continue
        axis = turning_axis(rig, one.bone)
        own = own_axis(axis, CLOSE)
        if own is None:
            raise refusal(
                "'{bone}' drives up to a dead point, at which a constraint can stop it about one of its own "
                "axes alone; recalculate its roll, so that one is across the plane",
                bone=one.bone,
            )
        limit = constraint_of(rig.armature.pose.bones[one.bone], 'LIMIT_ROTATION', name)
        low, high = (
            sign * np.pi if end is None else end for end, sign in zip(ends, (-1.0, 1.0), strict=True)
        )
        if axis[own] < 0.0:
            low, high = -high, -low
        letter = "xyz"[own]
        setattr(limit, f"use_limit_{letter}", True)
        setattr(limit, f"min_{letter}", low)
        setattr(limit, f"max_{letter}", high)
        yield one.bone, limit


def _warnings(rig: RigMechanism, scene: bpy.types.Scene) -> Iterator[str]:
    """Yield what drivers do otherwise than a bake, on the frames of the scene."""
    turning = [number for number, one in enumerate(rig.drivers) if one.kind == TURN]
    if rig.dead == 'EASE' and rig.softness and any(stops_of(rig, n) != (None, None) for n in turning):
        yield say(
            "Mechanism '{name}': on drivers it stops at its dead points, and is not eased into them",
            name=rig.name,
        )
    if len(rig.drivers) > 1:
        times: Sequence[float] = np.arange(scene.frame_start, scene.frame_end + 1.0).tolist()
        try:
            solution = rig.core.solve(driver_values(scene, rig, times), dead=rig.dead, ease=rig.softness)
        except IK2DError:  # what drives cannot be read at these frames
            return
        held = [str(name) for name, flags in solution.held.items() if flags.any()]
        if len(held) > 1:
            yield say(
                "Mechanism '{name}': {bones} together would tear a loop on some frames; a bake holds them, "
                "and on drivers it opens",
                name=rig.name,
                bones=listed([f"'{name}'" for name in held]),
            )
