# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs with FK controls of their own, built as Auto-Rig Pro's and Mixamo's are: for the tests of switches."""

import bpy
import numpy as np
from mathutils import Euler, Quaternion, Vector
from rigs import add_armature, add_chain

from ik2d_addon.rig.animation.bone_channels import rotation_property

LAST = 12
HIP, KNEE, ANKLE, TOE = (0, 0, 1.0), (0, -0.05, 0.5), (0, 0, 0.05), (0, -0.2, 0.0)
HEEL, FRONT = (0, 0.1, 0.0), (0, -1.0, 0.5)
REACH = 0.9553
# The names of a limb's bones in each kind of rig: shown, FK controls, IK bones, and the controls of the IK.
ARP = {
    "shown": ("thigh", "leg", "foot"),
    "fk": ("c_thigh_fk", "c_leg_fk", "c_foot_fk"),
    "ik": ("thigh_ik", "leg_ik", "foot_ik_target"),
    "control": "c_foot_ik",
    "pole": "c_leg_pole",
}
MIXAMO = {
    "shown": ("mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot"),
    "fk": ("Ctrl_UpLeg_FK_Left", "Ctrl_Leg_FK_Left", "Ctrl_Foot_FK_Left"),
    "ik": ("UpLeg_IK_Left", "Leg_IK_Left", "Ctrl_Foot_IK_Left"),
    "control": "Ctrl_Foot_IK_Left",
    "pole": "Ctrl_LegPole_IK_Left",
}
TWO_SETS = {**ARP, "ik": ("thigh", "leg", "c_foot_ik")}
_X = Vector((1.0, 0.0, 0.0))
SWITCH = "ik_fk_switch"  # 0 is IK, 1 is FK


def arp(copy: str = 'COPY_TRANSFORMS', mode: str = 'XYZ'):
    """Add Auto-Rig Pro's kind of leg: three sets of bones, mechanism below FK controls, a heel that rolls."""
    names = ARP
    bones = _three_sets(names, roll=0.3)
    bones["thigh_fk"] = (HIP, KNEE, "c_thigh_fk", 0.3)  # mechanism that hangs on its control
    bones["c_leg_fk"] = (KNEE, ANKLE, "thigh_fk", -0.3)
    bones["foot_fk"] = (ANKLE, TOE, "c_leg_fk", 0.1)  # mechanism that copies its control
    bones["heel_roll"] = (HEEL, (0, 0.1, 0.1), "c_foot_ik", 0.0)
    bones["foot_ik_target"] = (ANKLE, TOE, "heel_roll", 0.1)
    armature = add_armature(_parents_first(bones))
    _switched(armature, names, ("thigh_fk", "c_leg_fk", "foot_fk"), copy)
    turned = armature.pose.bones["foot_fk"].constraints.new('COPY_ROTATION')
    turned.target, turned.subtarget = armature, "c_foot_fk"
    return armature, _finished(armature, names, mode)


def mixamo(copy: str = 'COPY_ROTATION', mode: str = 'QUATERNION'):
    """Add Mixamo's kind of leg with a control rig: its own bones copy FK controls and IK bones."""
    armature = add_armature(_three_sets(MIXAMO, roll=0.0))
    _switched(armature, MIXAMO, MIXAMO["fk"], copy)
    return armature, _finished(armature, MIXAMO, mode)


def two_sets(copy: str = 'COPY_ROTATION', mode: str = 'XYZ'):
    """Add a leg whose bones are the chain's, and copy FK controls as the switch says."""
    names = TWO_SETS
    bones = _three_sets(names, roll=0.3)
    armature = add_armature(bones)
    _switched(armature, names, names["fk"], copy)
    return armature, _finished(armature, names, mode)


RIGS = {"arp": (arp, ARP), "mixamo": (mixamo, MIXAMO), "two sets": (two_sets, TWO_SETS)}


def _three_sets(names: dict, roll: float) -> dict:
    places = (HIP, KNEE, ANKLE, TOE)
    rolls = (roll, -roll, 0.1)
    bones = {"root": ((0, 0.5, 0), (0, 0.5, 0.3), "", 0.0), "hip": (HIP, (0, 0, 1.3), "root", 0.0)}
    for kind in ("shown", "fk", "ik"):
        above = "hip"
        for i, name in enumerate(names[kind]):
            if name not in bones and name != names["control"]:
                bones[name] = (places[i], places[i + 1], above, rolls[i])
            above = name
    bones[names["control"]] = (ANKLE, TOE, "root", 0.1)
    bones[names["pole"]] = (FRONT, (0, -1.1, 0.5), "root", 0.0)
    return bones


def _parents_first(bones: dict) -> dict:
    ordered: dict = {}
    while len(ordered) < len(bones):
        ordered |= {name: bone for name, bone in bones.items() if not bone[2] or bone[2] in ordered}
    return ordered


def _switched(armature, names: dict, fk_sources, copy: str) -> None:
    """Have the shown bones copy FK and IK bones, as the switch on the foot's control says."""
    control = armature.pose.bones[names["control"]]
    control[SWITCH] = 0.0
    for shown, fk, ik in zip(names["shown"], fk_sources, names["ik"], strict=True):
        bone = armature.pose.bones[shown]
        for source, expression in ((fk, "s"), (ik, "1 - s")):
            if source == shown:
                continue
            constraint = bone.constraints.new(copy)
            constraint.target, constraint.subtarget = armature, source
            constraint.name = f"{'FK' if source == fk else 'IK'} {copy}"
            drive(armature, constraint, f'pose.bones["{control.name}"]["{SWITCH}"]', expression)


def drive(armature, constraint, path: str, expression: str) -> None:
    """Drive a constraint's influence by a property s of the armature."""
    driver = constraint.driver_add("influence").driver
    driver.type, driver.expression = 'SCRIPTED', expression
    variable = driver.variables.new()
    variable.name = "s"
    variable.targets[0].id, variable.targets[0].data_path = armature, path


def _finished(armature, names: dict, mode: str):
    """Give controls a shape and their mode, and make the chain with a pole."""
    shape = bpy.data.objects.new("shape", None)
    for name in (*names["fk"], names["control"], names["pole"], "root"):
        armature.pose.bones[name].custom_shape = shape
        armature.pose.bones[name].rotation_mode = mode
    for name in ("heel_roll", "foot_ik_target"):
        if name in armature.pose.bones:
            bone = armature.pose.bones[name]
            bone.lock_location = bone.lock_rotation = (True,) * 3
            bone.lock_rotation_w = True
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    chain = add_chain(armature, names["ik"][1], armature, name="leg", hand_rotation='NONE')
    chain.subtarget = names["ik"][2]
    chain.pole, chain.pole_subtarget = armature, names["pole"]
    chain.plane = 'POLE'
    bpy.context.view_layer.objects.active = armature
    return chain


def key_ik(armature, names: dict, frames=(1, 5, 9, LAST), seed: int = 0) -> None:
    """Key the foot's control and the pole: within reach, the knee out of the rest plane."""
    rng = np.random.default_rng(seed)
    control, pole = armature.pose.bones[names["control"]], armature.pose.bones[names["pole"]]
    for frame in frames:
        turn(control, rng.uniform(-0.5, 0.5, 3))
        moved = Vector(rng.uniform((-0.1, -0.25, 0.1), (0.1, 0.1, 0.3)))
        control.location = control.bone.matrix_local.to_3x3().transposed() @ moved
        pole.location = rng.uniform(-0.4, 0.4, 3)
        control.keyframe_insert("location", frame=frame)
        pole.keyframe_insert("location", frame=frame)
        control.keyframe_insert(rotation_property(control.rotation_mode), frame=frame)


def key_fk(armature, names: dict, frames=range(1, LAST + 1), seed: int = 0, knee: float = 1.0) -> None:
    """Key the FK controls on each frame: the knee as a hinge, hip and foot about all axes.

    knee: times its bend; below 0 the other way.
    """
    rng = np.random.default_rng(seed)
    ways = rng.uniform(-0.4, 0.4, (3, 3, 3))
    ways[1] = rng.uniform(0.3, 1.2, (3, 3))
    for frame in frames:
        for name, way in zip(names["fk"], ways, strict=True):
            bone = armature.pose.bones[name]
            angles = [float(np.interp(frame, (1, LAST / 2, LAST), each)) for each in way]
            if name == names["fk"][1]:  # about the rest pose's hinge, whatever the roll
                axis = armature.data.bones[name].matrix_local.to_3x3().transposed() @ _X
                turn_about(bone, axis, knee * angles[0])
            else:
                turn(bone, angles)
            bone.keyframe_insert(rotation_property(bone.rotation_mode), frame=frame)


def turn(bone, angles) -> None:
    """Turn a bone by Euler angles in whatever mode it has."""
    _set(bone, Euler(angles).to_quaternion())


def turn_about(bone, axis, angle: float) -> None:
    """Turn a bone about one axis of its own."""
    _set(bone, Quaternion(axis, angle))


def _set(bone, quaternion) -> None:
    if bone.rotation_mode == 'QUATERNION':
        bone.rotation_quaternion = quaternion
    elif bone.rotation_mode == 'AXIS_ANGLE':
        axis, angle = quaternion.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = quaternion.to_euler(bone.rotation_mode)


def show(armature, names: dict, fk: float) -> None:
    """Set the rig's switch."""
    armature.pose.bones[names["control"]][SWITCH] = fk
    armature.update_tag()
    bpy.context.view_layer.update()


def shown(armature, names, frames=range(1, LAST + 1)):
    """Return evaluated world matrices (frames, bones, 4, 4) of bones after frame_set."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(seen.matrix_world @ seen.pose.bones[name].matrix) for name in names])
    return np.array(found)


def off(one, other) -> tuple[float, float]:
    """Return the largest angle in radians and the largest distance between matrices."""
    axes = [
        each[..., :3, :3] / np.linalg.norm(each[..., :3, :3], axis=-2, keepdims=True) for each in (one, other)
    ]
    half = np.linalg.norm(axes[0] - axes[1], axis=(-1, -2)) / np.sqrt(8.0)
    turned = 2.0 * np.arcsin(np.clip(half, 0.0, 1.0))
    return float(turned.max()), float(np.linalg.norm(one[..., :3, 3] - other[..., :3, 3], axis=-1).max())
