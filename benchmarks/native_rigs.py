# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs for native chains and IK constraints: many chains on one armature, each below a bone of its own."""

from collections.abc import Callable
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from .problems import Floats

Drive = Callable[[bpy.types.Object], None]


@dataclass(frozen=True, eq=False)
class Shape:
    """A chain to make: bones of some length, bent so at rest, somewhere in space."""

    lengths: Floats  # (n,)
    rest: Floats  # (n,) turns from bone to bone at rest, radians
    place: Matrix  # of the chain's plane: x, y, normal and origin
    rolls: Floats  # (n,) radians off a Z axis along the plane's normal


@dataclass(frozen=True, eq=False)
class Rig:
    """An armature of its own scene with a chain for each shape, and a target for each."""

    scene: bpy.types.Scene
    armature: bpy.types.Object
    targets: list[bpy.types.Object]
    shapes: list[Shape]

    def update(self) -> None:
        """Have Blender evaluate the scene."""
        self.scene.view_layers[0].update()

    def planes(self) -> list[Matrix]:
        """Return the chains' planes in the world, carried by the bones above as Blender evaluates them."""
        evaluated = self._evaluated()
        return [
            evaluated.matrix_world
            @ evaluated.pose.bones[above(k)].matrix
            @ self.armature.data.bones[above(k)].matrix_local.inverted()
            @ shape.place
            for k, shape in enumerate(self.shapes)
        ]

    def joints(self, k: int) -> Floats:
        """Return where the joints of a chain are in the world, root to tip, (n + 1, 3)."""
        evaluated = self._evaluated()
        bones = [evaluated.pose.bones[name(k, i)] for i in range(len(self.shapes[k].lengths))]
        points = [bone.head for bone in bones] + [bones[-1].tail]
        return np.array([evaluated.matrix_world @ point for point in points])

    def _evaluated(self) -> bpy.types.Object:
        return self.armature.evaluated_get(self.scene.view_layers[0].depsgraph)


def name(k: int, i: int) -> str:
    """Return the name of a chain's bone."""
    return f"chain {k} bone {i}"


def above(k: int) -> str:
    """Return the name of the bone above a chain."""
    return f"chain {k} above"


def random_shapes(count: int, seed: int) -> list[Shape]:
    """Return two-bone chains of any shape, bent at rest, near the origin."""
    rng = np.random.default_rng([seed, count])
    shapes = []
    for _ in range(count):
        lengths = rng.uniform(1.0, 4.0, 2)
        rest = np.array([0.0, rng.uniform(0.2, 2.6) * rng.choice((-1.0, 1.0))])
        turned = Quaternion(rng.normal(size=4).tolist()).normalized().to_matrix().to_4x4()
        place = Matrix.Translation(rng.uniform(-1.0, 1.0, 3).tolist()) @ turned
        shapes.append(Shape(lengths / lengths.sum(), rest, place, rng.uniform(-3.1, 3.1, 2)))
    return shapes


def alike(count: int, bones: int) -> list[Shape]:
    """Return chains of equal bones, slightly bent at rest, side by side."""
    rest = np.array([0.0, *[0.6 / bones] * (bones - 1)])
    lengths = np.full(bones, 1.0 / bones)
    zeros = np.zeros(bones)
    askew = Euler((0.3, -0.5, 0.7)).to_matrix().to_4x4()
    return [
        Shape(lengths, rest, Matrix.Translation((0.2 * k, 0.0, 0.0)) @ askew, zeros) for k in range(count)
    ]


def build(shapes: list[Shape], drive: Drive) -> Rig:
    """Make a scene with the chains, their bones above turned a little, and what drives them."""
    scene = bpy.data.scenes.new("Native")
    bpy.context.window.scene = scene
    armature = _armature(scene, shapes)
    targets = [_target(scene, armature, k, shape) for k, shape in enumerate(shapes)]
    scene.view_layers[0].update()
    drive(armature)
    scene.view_layers[0].update()
    return Rig(scene, armature, targets, shapes)


def remove(rig: Rig) -> None:
    """Take a rig and its scene away again."""
    objects = list(rig.scene.collection.all_objects)
    data = rig.armature.data
    bpy.data.batch_remove([*objects, data])
    bpy.data.scenes.remove(rig.scene)


def _armature(scene: bpy.types.Scene, shapes: list[Shape]) -> bpy.types.Object:
    data = bpy.data.armatures.new("Chains")
    armature = bpy.data.objects.new("Chains", data)
    scene.collection.objects.link(armature)
    scene.view_layers[0].objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for k, shape in enumerate(shapes):
        _add_bones(data, k, shape)
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    for k in range(len(shapes)):
        armature.pose.bones[above(k)].rotation_euler = (0.2, -0.1 * (k % 7), 0.3)
    return armature


def _add_bones(data: bpy.types.Armature, k: int, shape: Shape) -> None:
    normal = shape.place.to_3x3().col[2]
    parent = data.edit_bones.new(above(k))
    parent.head = shape.place @ Vector((-0.5, 0.1, 0.0))
    parent.tail = shape.place.translation
    head, heading = shape.place.translation.copy(), 0.0
    for i, (length, turn, roll) in enumerate(zip(shape.lengths, shape.rest, shape.rolls, strict=True)):
        heading += turn
        bone = data.edit_bones.new(name(k, i))
        bone.head = head
        bone.tail = head + shape.place.to_3x3() @ Vector((np.cos(heading), np.sin(heading), 0.0)) * length
        bone.align_roll(normal)
        bone.roll += roll
        bone.parent, bone.use_connect = parent, i > 0
        head, parent = bone.tail.copy(), bone


def _target(scene: bpy.types.Scene, armature: bpy.types.Object, k: int, shape: Shape) -> bpy.types.Object:
    """Add a target at the tip, and the settings of a chain that follows it."""
    target = bpy.data.objects.new(f"Target {k}", None)
    scene.collection.objects.link(target)
    target.location = armature.data.bones[name(k, len(shape.lengths) - 1)].tail_local
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip = f"Chain {k}", name(k, len(shape.lengths) - 1)
    chain.bone_count, chain.target = len(shape.lengths), target
    return target
