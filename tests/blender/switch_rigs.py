# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs that switch between FK and IK by the IK's influence, as Auto-Rig Pro's and hand-made rigs do."""

from dataclasses import dataclass

import bpy
import numpy as np
from ik_rigs import add_ik
from numpy.typing import NDArray
from rigs import add_armature, add_target

from ik2d_addon.rig.animation.value_keys import curve_of

FIRST, LAST = 1, 40
# How much the IK acts, by frame: FK, then IK, and back with a key half-way.
SWITCH = {1: 0.0, 10: 0.0, 20: 1.0, 30: 1.0, 34: 0.5, 40: 0.0}
FK_TURNS = {1: -0.6, 20: 0.6, 40: -0.3}
FRAMES = (1, 5, 10, 13, 15, 17, 20, 25, 30, 32, 34, 37, 40)
REACH = 0.95
LIMB = ("thigh", "shin")


def _bones(roll: float, *sets: str) -> dict[str, tuple]:
    bones = {"hip": ((0, 0, 1.2), (0, 0, 1.5), "", 0.0)}
    for name in sets:
        bones[f"thigh{name}"] = ((0, 0, 1), (0, -0.05, 0.5), "hip", roll)
        bones[f"shin{name}"] = ((0, -0.05, 0.5), (0, 0, 0.05), f"thigh{name}", -roll)
    return bones


def _turned(armature: bpy.types.Object, bones: tuple[str, ...], twist: float = 0.2) -> None:
    """Key bones as by hand; twist: what the last one turns off its hinge, in parts of its bend."""
    for frame, angle in FK_TURNS.items():
        for name in bones:
            bone = armature.pose.bones[name]
            bone.rotation_mode = 'XYZ'
            bone.rotation_euler = (angle, twist * angle, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)


def drive(armature: bpy.types.Object, constraint: bpy.types.Constraint, expression: str = "") -> None:
    """Drive a constraint's influence by the switch; expression: of `ik`, "" for that itself."""
    driver = constraint.driver_add("influence").driver
    driver.type = 'SCRIPTED' if expression else 'AVERAGE'
    variable = driver.variables.new()
    variable.name = "ik"
    variable.targets[0].id, variable.targets[0].data_path = armature, '["ik"]'
    if expression:
        driver.expression = expression


def _switched(armature: bpy.types.Object, by: str, *constraints: bpy.types.Constraint) -> None:
    """Key the switch, and have it drive constraints; or key their influence. by: "driver" or "keys"."""
    armature["ik"] = 0.0
    for frame, value in SWITCH.items():
        armature["ik"] = value
        if by == "driver":
            armature.keyframe_insert('["ik"]', frame=frame)
        for constraint in constraints if by == "keys" else ():
            constraint.influence = value
            constraint.keyframe_insert("influence", frame=frame)
    for constraint in constraints if by == "driver" else ():
        drive(armature, constraint)


def _ready(armature: bpy.types.Object, frame: int = FIRST) -> bpy.types.Object:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    scene.frame_set(frame)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    bpy.context.view_layer.update()
    return armature


def _with_ik(armature: bpy.types.Object, bone: str, pole: bool) -> bpy.types.KinematicConstraint:
    target = add_target({1: (0, 0.3, 0.3), 20: (0.15, 0.2, 0.35), 40: (0, -0.2, 0.25)})
    constraint = add_ik(armature, bone, target, 2, iterations=500)
    if pole:
        at = bpy.data.objects.new("Pole", None)
        bpy.context.scene.collection.objects.link(at)
        at.location = (0.2, -2, 0.6)
        constraint.pole_target, constraint.pole_angle = at, -np.pi / 2 + 0.2
    return constraint


def copying(
    kind: str = 'COPY_ROTATION',
    by: str = "driver",
    pole: bool = False,
    frame: int = FIRST,
    other_leg: str = "",
) -> bpy.types.Object:
    """Return a rig whose leg copies FK bones; its IK's influence has a driver, or keys.

    other_leg: what the names of another leg end with, that IK alone moves.
    """
    armature = add_armature(_bones(0.3, "", "_fk", *filter(None, [other_leg])))
    if other_leg:
        _with_ik(armature, f"shin{other_leg}", pole)
    for name in LIMB:
        copy = armature.pose.bones[name].constraints.new(kind)
        copy.target, copy.subtarget = armature, f"{name}_fk"
    _switched(armature, by, _with_ik(armature, "shin", pole))
    _turned(armature, ("thigh_fk", "shin_fk"))
    return _ready(armature, frame)


def never_acting(**settings) -> bpy.types.Object:
    """Return that rig with a switch that is FK on all frames."""
    armature = copying(**settings)
    curve = curve_of(armature, '["ik"]')
    for point in curve.keyframe_points:
        point.co.y = 0.0
    curve.update()
    return _ready(armature)


def copying_switched(kind: str) -> bpy.types.Object:
    """Return that rig, whose maker drives the copies too: by 1 - the switch."""
    armature = copying(kind)
    for name in LIMB:
        drive(armature, armature.pose.bones[name].constraints[0], "1 - ik")
    return _ready(armature)


def own_keys(
    twist: float = 0.0, pole: bool = False, frame: int = FIRST, roll: float = 0.0
) -> bpy.types.Object:
    """Return a leg with FK keys of its own under an IK whose influence is driven."""
    armature = add_armature(_bones(roll, ""))
    _switched(armature, "driver", _with_ik(armature, "shin", pole))
    _turned(armature, ("thigh",), 0.0 if not pole else twist)
    _turned(armature, ("shin",), twist)
    return _ready(armature, frame)


def three_sets() -> bpy.types.Object:
    """Return a rig whose leg copies FK bones, and above these, by a driven influence, IK bones."""
    armature = add_armature(_bones(0.3, "", "_fk", "_ik"))
    _with_ik(armature, "shin_ik", pole=False)
    above = []
    for name in LIMB:
        for which in ("_fk", "_ik"):
            copy = armature.pose.bones[name].constraints.new('COPY_TRANSFORMS')
            copy.target, copy.subtarget = armature, name + which
        above.append(copy)
    _switched(armature, "driver", *above)
    _turned(armature, ("thigh_fk", "shin_fk"))
    return _ready(armature)


@dataclass(frozen=True)
class Off:
    """The furthest that a pose is off another on frames of FK, of IK and between, in parts of the leg."""

    fk: float
    ik: float
    between: float


def path(armature: bpy.types.Object, joint: str = "tail") -> NDArray[np.float64]:
    """Return where Blender shows the tip, or the knee ("head"), on all frames (frames, 3)."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(tuple(getattr(shown.pose.bones["shin"], joint)))
    return np.array(found)


def off(before: NDArray[np.float64], now: NDArray[np.float64]) -> Off:
    """Return how far two paths are apart."""
    apart = np.linalg.norm(now - before, axis=1) / REACH
    ik = np.interp(FRAMES, list(SWITCH), list(SWITCH.values()))
    return Off(*(float(apart[rows].max()) for rows in (ik == 0.0, ik == 1.0, (ik > 0.0) & (ik < 1.0))))
