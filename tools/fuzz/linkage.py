# SPDX-License-Identifier: GPL-3.0-or-later
"""Random mechanisms of 1 to 8 groups: dyads, slides, rams and gears on any bones, in any plane."""

from cmath import exp
from dataclasses import dataclass, field
from math import pi
from random import Random

import bpy
from mathutils import Euler, Matrix, Vector

from . import moves
from .limbs import MODES

GROUPS = ("RRR", "RRR", "RRP", "line", "own line", "ram", "driven ram", "gear")
RATIOS = (-2.0, -1.0, 1.0, 2.0, 3.0)


@dataclass
class Linkage:
    """An armature with a mechanism: the rest is read from Blender's evaluated pose."""

    armature: bpy.types.Object
    mechanism: bpy.types.PropertyGroup | None = None
    normal: Vector = field(default_factory=Vector)  # of its plane, in the armature's space
    size: float = 1.0  # of its joints, in the armature's space
    locked: bool = False  # whether a bone that it turns may not turn


@dataclass
class _Plan:
    """Bones and joints that are still to be made, in the plane."""

    bones: dict[str, tuple[complex, complex, str]] = field(default_factory=dict)  # head, tail, parent
    joints: list[tuple] = field(default_factory=list)
    drivers: list[str] = field(default_factory=list)


def random_linkage(random: Random, last: int) -> tuple[Linkage, list[str]]:
    """Empty the file, add a mechanism with keys on what drives it, and say what it is."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    plan, kinds = _planned(random)
    scale = 10.0 ** random.uniform(-2.0, 2.0) if random.random() < 0.5 else 1.0
    plane = Euler([random.uniform(-pi, pi) for _ in range(3)]).to_matrix() if random.random() < 0.6 else None
    linkage = _made(random, plan, scale, plane or Matrix.Rotation(pi / 2, 3, 'X'))
    return linkage, [*kinds, *_keyed(random, linkage, plan, last)]


def _planned(random: Random) -> tuple[_Plan, list[str]]:
    """Return a crank and groups of bones that hang on any bodies before them."""

    def place(size: float = 1.0) -> complex:
        return complex(random.gauss(0.0, size), random.gauss(0.0, size))

    plan = _Plan({"crank": ((at := place(0.3)), at + exp(1j * random.uniform(0.0, 6.0)), "")})
    bodies, kinds = ["", "crank"], random.choices(GROUPS, k=random.randint(1, 8))
    plan.drivers.append("crank")
    for k, kind in enumerate(kinds):
        x, y = f"x{k}", f"y{k}"
        a, b = random.sample(bodies, 2)
        p, q, far = place(), place(), place(3.0)
        if kind == "own line" and not b:
            a, b = b, a
        if kind == "gear" and not b:
            b = "crank"
        if kind in ("RRR", "RRP"):
            plan.bones[x] = p, far if kind == "RRR" else q, a
        if kind == "RRR":
            plan.bones[y] = q, far + place(0.5), b
            plan.joints.append(("pin", x, 'TAIL', y))
        elif kind == "RRP":
            plan.bones[y] = q, q + place(), x
            plan.joints.append(("slide", y, 'HEAD', b, True))
        elif kind == "line":
            plan.bones[x] = p, q, a
            plan.joints.append(("slide", x, 'TAIL', b, False))
        elif kind == "own line":
            plan.bones[x] = p, p + place(), a
            plan.joints.append(("slide", b, 'TAIL', x, False))
        elif kind == "gear":
            plan.bones[x] = p, p + place(), a
            plan.joints.append(("gear", b, x, random.choice(RATIOS)))
        else:  # a rocker, and a ram from the other body to it; one that follows needs a loop of its own
            plan.bones[x] = p, far, a
            barrel, rod = f"barrel{k}", f"rod{k}"
            end = far if kind == "driven ram" else place()
            plan.bones[barrel] = q, q + 0.6 * (end - q), b
            plan.bones[rod] = end, end + 0.6 * (q - end), x
            plan.joints.append(("ram", barrel, rod))
            if kind == "driven ram":
                plan.drivers.append(barrel)
            else:
                plan.bones[y] = q + place(0.3), far, b
                plan.joints.append(("pin", x, 'TAIL', y))
        bodies += [name for name in (x, y) if name in plan.bones]
    return plan, kinds


def _made(random: Random, plan: _Plan, scale: float, plane: Matrix) -> Linkage:
    """Add the armature and the mechanism of a plan."""
    from ik2d_addon.chains import add_gear, add_mechanism, add_pin, add_ram, add_slide, drive

    data = bpy.data.armatures.new("rig")
    armature = bpy.data.objects.new("rig", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    base, depth, normal = random.random() < 0.4, random.choice((0.0, 0.0, 0.1)), plane @ Vector((0, 0, 1))
    bones = {"base": (-1.0 - 0.5j, -0.5 + 0.2j, ""), "prop": (2 + 0j, 2 + 1j, "")} | plan.bones
    for number, (name, (head, tail, above)) in enumerate(bones.items()):
        bone, away = data.edit_bones.new(name), depth * number
        bone.head, bone.tail = (scale * (plane @ Vector((at.real, at.imag, away))) for at in (head, tail))
        bone.parent = data.edit_bones.get(above or ("base" if base and name != "base" else ""))
        bone.roll = random.uniform(-pi, pi)
        if name in plan.drivers or random.random() < 0.5:
            bone.align_roll(random.choice((1.0, -1.0)) * normal)
            bone.roll += random.choice((0.0, 0.0, pi / 2))  # its own Z or X along the normal
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in armature.pose.bones:
        bone.rotation_mode = random.choice(MODES)
    if random.random() < 0.5:
        armature.location = [random.uniform(-3, 3) for _ in range(3)]
        armature.rotation_euler = [random.uniform(-pi, pi) for _ in range(3)]
        armature.scale = (random.choice((0.1, 0.5, 3.0)),) * 3
        if random.random() < 0.4:
            armature.scale.x *= -1.0
    mechanism = add_mechanism(armature, list(plan.bones), "machine")
    for kind, *words in plan.joints:
        if kind == "pin":
            add_pin(mechanism, *words)
        elif kind == "slide":
            add_slide(mechanism, words[0], words[1], words[2] or None, words[3])
        elif kind == "ram":
            add_ram(mechanism, *words).stroke = 0.0, 0.0
        else:
            add_gear(mechanism, *words)
    for name in plan.drivers:
        ram = next((one for one in mechanism.joints if one.kind == 'RAM' and one.bone == name), None)
        if ram is not None:
            rest = (data.bones[ram.other].head_local - data.bones[name].head_local).length
            ram.stroke = 0.4 * rest, 1.7 * rest
        drive(mechanism, name)
    mechanism.dead = random.choice(('EASE', 'EASE', 'STOP'))
    heads = [data.bones[name].head_local for name in plan.bones]
    tails = [data.bones[one.bone].tail_local for one in mechanism.joints]
    size = max((a - b).length for a in heads + tails for b in heads + tails)
    return Linkage(armature, mechanism, normal, size)


def _keyed(random: Random, linkage: Linkage, plan: _Plan, last: int) -> list[str]:
    """Key what drives, and other bones too; return what was done."""
    armature, done = linkage.armature, []
    for driver in linkage.mechanism.drivers:
        if driver.kind == 'RAM':
            middle, far = driver.length, random.uniform(0.05, 0.6)
            value = _wave(random, far)
            path = driver.path_from_id("length")

            def length(frame: int, middle=middle, value=value) -> float:
                return min(1.0, max(0.0, middle + value(frame)))

            done.append(_key_property(random, driver, "length", path, last, length))
            continue
        bone, far = armature.pose.bones[driver.bone], random.choice((0.2, 0.6, 1.5, 6.0))
        axis = bone.bone.matrix_local.to_3x3().transposed() @ linkage.normal
        turn, mode = _wave(random, far), bone.rotation_mode
        path = moves.PATHS.get(mode, "rotation_euler")

        def turned(frame: int, axis=axis, turn=turn, mode=mode) -> list[float]:
            return _channels(mode, axis, turn(frame))

        done.append(f"turn {far}: " + moves.key(random, bone, path, last, turned))
        if random.random() < 0.15:
            curve = random.choice([c for c in moves.curves_of(armature) if c.data_path.endswith(path)])
            curve.mute = True
            done.append(f"{driver.bone} {curve.array_index} muted")
        if random.random() < 0.1:
            bone.lock_rotation = [random.random() < 0.5 for _ in range(3)]
            bone.lock_rotations_4d = random.random() < 0.5
            linkage.locked |= any(bone.lock_rotation)
            done.append("locks on the driver")
    others = [name for name in plan.bones if name not in plan.drivers]
    if random.random() < 0.3:  # keys that the bake replaces
        bone = armature.pose.bones[random.choice(others)]
        path = moves.PATHS.get(bone.rotation_mode, "rotation_euler")
        width = len(getattr(bone, path))
        moves.key(random, bone, path, last, lambda frame: [0.3 * random.random() + 0.1 for _ in range(width)])
        done.append("keys on a follower")
    if random.random() < 0.1:
        bone = armature.pose.bones[random.choice(others)]
        bone.lock_rotation[random.randrange(3)] = True
        linkage.locked = True
        done.append("locks on a follower")
    for name in ("base", "prop"):
        if random.random() < 0.5:
            bone = armature.pose.bones[name]
            bone.rotation_mode = 'XYZ'
            value = _wave(random, 0.5)
            moves.key(random, bone, "rotation_euler", last, lambda f, value=value: [value(f), 0.2, -value(f)])
    for action in bpy.data.actions:  # what a script changes in F-Curves Blender does not notice by itself
        action.update_tag()
    bpy.context.view_layer.update()
    return done


def _wave(random: Random, far: float):
    """Return a function of frames that swings, or goes on, from 0."""
    speed, phase = random.choice((0.05, 0.2, 0.4)), random.uniform(0.0, 1.0)
    if random.random() < 0.4:
        return lambda frame: far * (frame - 1) / 30.0
    return lambda frame: far * float((exp(1j * (speed * frame + phase))).imag)


def _channels(mode: str, axis: Vector, turn: float) -> list[float]:
    """Return the values of a bone's rotation channels for a turn about one of its own axes."""
    if mode == 'AXIS_ANGLE':
        return [turn, *axis]
    if mode == 'QUATERNION':
        half = exp(0.5j * turn)
        return [half.real, *(half.imag * axis)]
    nearest = max(range(3), key=lambda index: abs(axis[index]))
    return [turn * axis[nearest] if index == nearest else 0.0 for index in range(3)]


def _key_property(random: Random, owner: object, name: str, path: str, last: int, value) -> str:
    """Key a property of the mechanism's settings on some frames, on subframes too."""
    every = random.choice((1, 3, 7, 12))
    kind = random.choice(('BEZIER', 'LINEAR', 'CONSTANT'))
    for frame in range(1, last + every, every):
        setattr(owner, name, value(frame))
        shift = random.choice((0.0, 0.0, 0.37))
        owner.id_data.keyframe_insert(path, frame=frame + shift)
    for curve in moves.curves_of(owner.id_data):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.interpolation = kind
    return f"{kind} keys every {every} on {name}"
