# SPDX-License-Identifier: GPL-3.0-or-later
"""Random limbs with targets: all planes, one bone to six, feet on the ground, aims, angles of the tip."""

from dataclasses import dataclass
from math import cos, pi, sin
from random import Random

import bpy
from mathutils import Euler, Matrix, Vector

MODES = ('QUATERNION', 'QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE')
KINDS = ("limb", "limb", "limb", "aim", "foot")


@dataclass(frozen=True, eq=False)
class Limb:
    """A limb with a chain: the rest is read from Blender's evaluated pose."""

    kind: str
    armature: bpy.types.Object
    chain: bpy.types.PropertyGroup
    bones: tuple[str, ...]  # the chain's, root to tip
    target: bpy.types.Object
    plane: Matrix  # from the plane's (along, across, normal) to the armature's space
    size: float  # the chain's length in rest space
    ground: bpy.types.Object | None = None

    def in_world(self, along: float, across: float, off: float = 0.0) -> Vector:
        """Return a place in the world, given in lengths of the limb from its root at rest, in its plane."""
        root = self.armature.data.bones[self.bones[0]].head_local
        return self.armature.matrix_world @ (root + self.size * (self.plane @ Vector((along, across, off))))


def random_limb(random: Random) -> Limb:
    """Empty the file and add a limb with a chain whose target nothing moves yet."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    kind = random.choice(KINDS)
    count = {"aim": 1, "foot": 2}.get(kind, random.choice((2, 2, 2, 3, 3, 4, 6)))
    plane = Euler([random.choice((0.0, pi / 2, -pi / 2, pi)) for _ in range(3)]).to_matrix()
    if random.random() < 0.5:
        plane = Euler([random.uniform(-pi, pi) for _ in range(3)]).to_matrix()
    unit = random.choice((0.01, 1.0, 1.0, 1.0, 30.0))
    flat, angle = [Vector((0.0, 0.0, 0.0))], random.uniform(-0.4, 0.4)
    for _ in range(count):
        angle += random.uniform(0.15, 0.8)
        step = unit * random.uniform(0.3, 1.0) * Vector((cos(angle), sin(angle), 0.0))
        flat.append(flat[-1] + step)
    size = sum((end - start).length for start, end in zip(flat, flat[1:], strict=False))
    names = tuple(f"bone{i}" for i in range(count))
    bones = {"body": (Vector((-0.4 * unit, 0.1 * unit, 0.0)), flat[0], "")}
    for name, start, end, above in zip(names, flat, flat[1:], ("body", *names), strict=False):
        bones[name] = (start, end, above)
    if kind == "foot":
        ball = flat[-1] + unit * Vector((0.1, 0.25, 0.0))
        bones["foot"] = (flat[-1], ball, names[-1])
        bones["toes"] = (ball, ball + unit * Vector((0.02, 0.12, 0.0)), "foot")
    elif random.random() < 0.4:
        bones["hand"] = (flat[-1], flat[-1] + 0.3 * unit * Vector((1.0, 0.3, 0.2)), names[-1])
    bones["other"] = (unit * Vector((0.3, 0.5, 0.4)), unit * Vector((0.5, 0.5, 0.4)), "")
    armature = _armature(random, {name: (plane @ a, plane @ b, up) for name, (a, b, up) in bones.items()})
    if random.random() < 0.6:
        armature.location = [unit * random.uniform(-3, 3) for _ in range(3)]
        armature.rotation_euler = [random.uniform(-pi, pi) for _ in range(3)]
        armature.scale = (random.choice((0.5, 1.0, 2.0)),) * 3
    bpy.context.view_layer.update()
    target = empty("target")
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count, chain.target = "limb", names[-1], count, target
    limb = Limb(kind, armature, chain, names, target, plane, size)
    target.location = armature.matrix_world @ armature.pose.bones[names[-1]].tail
    bpy.context.view_layer.update()
    if kind != "foot" and random.random() < 0.6:
        stage = empty("stage")
        stage.matrix_world = armature.matrix_world @ Matrix.LocRotScale(plane @ flat[0], plane, None)
        target.parent = stage
    return _with_foot(random, limb) if kind == "foot" else _set_anything(random, limb)


def empty(name: str, place: Vector | None = None) -> bpy.types.Object:
    """Add an empty."""
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    ob.location = place or (0.0, 0.0, 0.0)
    return ob


def _armature(random: Random, bones: dict[str, tuple]) -> bpy.types.Object:
    data = bpy.data.armatures.new("rig")
    armature = bpy.data.objects.new("rig", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    connected = random.random() < 0.7
    for name, (head, tail, above) in bones.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, random.uniform(-pi, pi)
        bone.parent = data.edit_bones.get(above)
        bone.use_connect = bool(above) and connected
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in armature.pose.bones:
        bone.rotation_mode = random.choice(MODES)
    return armature


def _set_anything(random: Random, limb: Limb) -> Limb:
    """Give a chain some of the settings that chains may have."""
    chain = limb.chain
    if random.random() < 0.2:
        chain.softness = random.uniform(0.0, 0.3)
    if random.random() < 0.2:
        chain.bend = 'NEGATIVE'
    if limb.kind == "aim":
        chain.plane = random.choice(('AUTO', 'SWING', 'ARC'))
        return limb
    if random.random() < 0.25:
        chain.plane = random.choice(('SWING', 'ARC', 'POLE'))
        if chain.plane == 'POLE':
            chain.pole = empty("pole", limb.in_world(0.5, 1.5, random.uniform(-0.4, 0.4)))
    if len(limb.bones) > 2 and random.random() < 0.5:
        chain.solver = random.choice(('EVEN', 'CCD', 'ARC'))
    if len(limb.bones) > 2 and random.random() < 0.3:
        chain.tip_rotation = random.choice(('TARGET', 'WORLD'))
    elif random.random() < 0.15:
        for bone in limb.bones:
            limb.armature.data.bones[bone].inherit_scale = 'ALIGNED'
        chain.stretch = random.uniform(1.1, 1.6)
    if random.random() < 0.2:
        for joint in chain.joints:
            if random.random() < 0.5:
                joint.use_limit, joint.limit_max = True, random.uniform(0.3, 2.0)
                joint.limit_min = -random.uniform(0.3, 2.0)
    elif random.random() < 0.1 and chain.tip_rotation == 'FREE' and chain.plane == 'AUTO':
        last = limb.armature.data.bones[limb.bones[-1]]
        if not last.use_connect and chain.stretch == 1.0:
            joint = chain.joints[limb.bones[-1]]
            joint.use_slide, joint.slide_max = True, random.uniform(0.1, 0.4) * limb.size
    if "hand" in limb.armature.data.bones and random.random() < 0.5:
        chain.hand_rotation = random.choice(('WORLD', 'TARGET'))
    return limb


def _with_foot(random: Random, limb: Limb) -> Limb:
    """Add a foot to a leg, often with a ground that it does not go below."""
    from ik2d_addon.chains import add_foot

    add_foot(limb.armature, limb.chain)
    if random.random() < 0.5:
        for frame in range(1, 60, 9):
            limb.chain.foot.roll = random.uniform(-0.4, 0.6)
            limb.chain.foot.keyframe_insert("roll", frame=frame)
    if random.random() > 0.4:
        return limb
    ground = empty("ground")
    ground.location.z = (limb.target.matrix_world.translation.z) - 0.6 * limb.size
    limb.chain.foot.ground, limb.chain.foot.use_ground = ground, True
    bpy.context.view_layer.update()
    return Limb(*(getattr(limb, name) for name in Limb.__dataclass_fields__ if name != "ground"), ground)
