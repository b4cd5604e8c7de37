# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of tests/core/machines.py as armatures, with keys on what drives them; and their openings."""

import bpy
import numpy as np
from machines import Machine
from mathutils import Matrix, Vector
from openings import evaluated_openings as evaluated_openings
from openings import normal_of
from rigs import add_armature

from ik2d_addon.chains import add_gear, add_mechanism, add_pin, add_ram, add_slide, drive

MODES = ('QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE')
# Tilted out of all axes.
TILT = Matrix.Rotation(0.7, 4, (1, 2, 3))


def add_machine(
    machine: Machine,
    frames: int = 25,
    mode: str = 'XYZ',
    tilt: Matrix | None = None,
    scale: float = 1.0,
    depth: float = 0.0,
    base: bool = False,
    roll: float | None = None,
):
    """Add a machine's bones, its mechanism, and a key on each frame from 1 on; return both.

    tilt: of the plane, in the armature's space. depth: from one bone to the next, in sizes. base: whether a
    bone carries it all. roll: of all bones that do not drive; without one
    their Z is along the normal.
    """
    core = machine.mechanism
    names, rams = core.bodies, [one for one in core.joints if one.kind.name == "RAM"]
    pins = [one for one in core.joints if one.kind.name == "PIN"]
    slides = [one for one in core.joints if one.kind.name in ("SLIDE", "GUIDE")]
    heads: dict[int, tuple[int, complex]] = {}
    for joint in [one for one in pins if 0 in (one.a, one.b)]:
        heads[joint.other(0)] = 0, joint.end(joint.other(0))
    while len(heads) < len(names) - 1:
        for joint in pins:
            a, b = joint.a, joint.b
            if (a in heads) != (b in heads) and 0 not in (a, b):
                new = b if a in heads else a
                heads[new] = joint.other(new), joint.end(new)
    tails: dict[int, complex] = {}
    later = []
    for joint in [*slides, *pins]:
        if joint in slides:
            end, other = joint.b, joint.a
            if abs(heads[end][1] - joint.at_b) > 1e-9:
                tails[end] = joint.at_b
            if other:
                tails[other] = heads[other][1] + joint.along
        elif not any(heads.get(x) == (joint.other(x), joint.end(x)) for x in (joint.a, joint.b)):
            end = joint.a if joint.a not in tails else joint.b
            assert end not in tails, (names[joint.a], names[joint.b])
            tails[end], other = joint.end(end), joint.other(end)
        else:
            continue
        later.append((joint, end, other))
    for body, (_, head) in heads.items():
        looked = complex(*machine.place) if names[body] == machine.body else head
        tails.setdefault(
            body, looked if abs(looked - head) > 1e-6 else head + core.size * (0.2 + 0.1j * body)
        )
    turned = tilt or Matrix.Identity(4)
    bones: dict[str, tuple] = {}

    def place(at: complex) -> tuple:
        away = -depth * core.size * len(bones)
        return tuple(turned @ Vector((at.real * scale, away * scale, at.imag * scale)))

    root = ""
    if base:
        bones["base"] = (place(-0.3 - 0.2j), place(-0.1 + 0.4j), "", 0.0)
        root = "base"
    if any(one.a == 0 for one in slides):
        bones["track"] = (place(0j), place(complex(slides[0].along)), root, 0.0)
    for body in sorted(heads, key=lambda body: depth_of(heads, body)):
        parent, head = heads[body]
        bones[names[body]] = (place(head), place(tails[body]), names[parent] or root, 0.0)
    for one in rams:
        for name, (body, at, to) in (
            (one.name, (one.a, one.at_a, one.at_b)),
            (f"{one.name} rod", (one.b, one.at_b, one.at_a)),
        ):
            bones[name] = (place(at), place(at + (to - at) * 0.62), names[body] or root, 0.0)
    armature = add_armature({name: (*one[:3], roll or 0.0) for name, one in bones.items()})
    driving = {one.name for one in core.drivers}
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in armature.data.edit_bones:
        if roll is None or bone.name in driving:
            bone.align_roll(turned @ Vector((0, -1, 0)))
    bpy.ops.object.mode_set(mode='OBJECT')
    armature["normal"] = turned @ Vector((0, -1, 0))
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    mechanism = add_mechanism(armature, [name for name in bones if name not in ("base", "track")], "machine")
    for joint, end, other in later:
        if joint.kind.name == "PIN":
            add_pin(mechanism, names[end], 'TAIL', names[other] or None)
        else:
            at = 'HEAD' if abs(heads[end][1] - joint.at_b) < 1e-9 else 'TAIL'
            line = names[other] or "track"
            add_slide(mechanism, names[end], at, line, keeps_angle=joint.kind.name == "GUIDE")
    for one in rams:
        add_ram(mechanism, one.name, f"{one.name} rod")
    for one in core.joints:
        if one.kind.name == "GEAR":
            add_gear(mechanism, names[one.a], names[one.b], one.ratio)
    key_drivers(mechanism, machine, heads, frames, scale)
    mechanism.dead = 'THROUGH' if machine.mechanism.bodies[1] == "front" else 'EASE'
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return armature, mechanism


def depth_of(heads, body):
    """Return how many bodies a body hangs on."""
    return 0 if heads[body][0] == 0 else 1 + depth_of(heads, heads[body][0])


def key_drivers(mechanism, machine, heads, frames, scale):
    """Key what drives a machine on each frame from 1 on, with straight lines between."""
    values, core, armature = machine.run(frames), machine.mechanism, mechanism.id_data
    for one in core.drivers:
        driver = drive(mechanism, one.name)
        if one.ram >= 0:
            ram = next(joint for joint in mechanism.joints if joint.bone == one.name)
            given = values[one.name] * scale
            ram.stroke = 0.9 * given.min(), 1.1 * given.max()
            for frame, value in enumerate(given):
                driver.length = (value - ram.stroke[0]) / (ram.stroke[1] - ram.stroke[0])
                armature.keyframe_insert(driver.path_from_id("length"), frame=frame + 1)
        else:
            parent = heads[one.body][0]
            turns = values[one.name] - (values[core.bodies[parent]] if parent else 0.0)
            key_turns(armature, one.name, turns)
    make_linear(armature)


def key_turns(armature, name, turns, first=1):
    """Key the turns of a bone about the normal of the plane XZ, or of that it is tilted to."""
    bone = armature.pose.bones[name]
    axis = np.array(bone.bone.matrix_local.to_3x3().transposed() @ normal_of(armature))
    for number, turn in enumerate(turns):
        set_turn(bone, axis, float(turn))
        property_ = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
        bone.keyframe_insert(property_.get(bone.rotation_mode, "rotation_euler"), frame=first + number)


def set_turn(bone, axis, turn):
    """Turn a bone about an axis of its own, in its rotation mode."""
    if bone.rotation_mode == 'QUATERNION':
        bone.rotation_quaternion = (np.cos(turn / 2.0), *(axis * np.sin(turn / 2.0)))
    elif bone.rotation_mode == 'AXIS_ANGLE':
        bone.rotation_axis_angle = (turn, *axis)
    else:
        nearest = int(np.argmax(np.abs(axis)))
        if abs(axis[nearest]) > 0.999999:
            euler = [0.0, 0.0, 0.0]
            euler[nearest] = turn * np.sign(axis[nearest])
            bone.rotation_euler = euler
        else:
            bone.rotation_euler = Matrix.Rotation(turn, 3, axis).to_euler(
                bone.rotation_mode, bone.rotation_euler
            )


def make_linear(armature):
    """Draw straight lines between all keys of an armature's action."""
    from ik2d_addon.rig.animation.versions import existing_fcurves

    for curve in existing_fcurves(armature):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR'
