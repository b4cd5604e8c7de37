# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded rigs with a post, of any build, and targets all round them; a robot arm on a turntable."""

from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector
from rigs import add_armature, add_target, evaluated_place, evaluated_tip
from swing_rigs import MODES

FRAMES = tuple(range(1, 25))
# The robot arm's target, all round it and within reach.
ARM_PATH = {1: (0.9, 0.0, 1.0), 12: (0.3, 0.8, 0.8), 24: (-0.7, 0.5, 0.6)}


def robot_arm(
    path: dict[int, tuple[float, float, float]] = ARM_PATH, locked: bool = True
) -> tuple[bpy.types.Object, bpy.types.PropertyGroup]:
    """Add a base that yaws about its Y axis, with shoulder and elbow that are hinges about Z; and a chain.

    locked: whether rotation locks and IK locks leave each bone its one axis.
    """
    armature = add_armature(
        {
            "base": ((0, 0, 0), (0, 0, 0.3), "", 0.0),
            "upper": ((0, 0, 0.3), (0.1, 0, 1.3), "base", 0.0),
            "lower": ((0.1, 0, 1.3), (0.9, 0, 1.0), "upper", 0.0),
        }
    )
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in armature.data.edit_bones:
        bone.align_roll((0, 1, 0))
    bpy.ops.object.mode_set(mode='OBJECT')
    for name, free in (("base", 1), ("upper", 2), ("lower", 2)) if locked else ():
        bone = armature.pose.bones[name]
        for axis, letter in enumerate("xyz"):
            bone.lock_rotation[axis] = axis != free
            setattr(bone, f"lock_ik_{letter}", axis != free)
    return armature, add_post_chain(armature, "lower", 2, add_target(path), "base", 'Y')


def add_post_chain(
    armature: bpy.types.Object, tip: str, count: int, target: bpy.types.Object, post: str, axis: str
) -> bpy.types.PropertyGroup:
    """Add a chain whose plane turns about a post."""
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count, chain.target = "arm", tip, count, target
    chain.plane, chain.post, chain.post_axis = 'POST', post, axis
    return chain


@dataclass
class Turret:
    """A random armature with a target: "post", perhaps on "mover", "mid0" .. and a chain of "arm0" .."""

    armature: bpy.types.Object
    axis: int
    bones: tuple[str, ...]
    between: int
    rng: np.random.Generator
    target: bpy.types.Object | None = None
    turns: list[float] = field(default_factory=list)  # of the post, that made the target's places

    @property
    def post(self) -> bpy.types.PoseBone:
        """The post's pose bone."""
        return self.armature.pose.bones["post"]

    @property
    def reach(self) -> float:
        """The length of the chain in the world."""
        lengths = sum(self.armature.data.bones[name].length for name in self.bones)
        return lengths * self.armature.matrix_world.to_scale()[0] * self.post.scale[0]

    def add_chain(self) -> bpy.types.PropertyGroup:
        """Add the chain."""
        count = len(self.bones)
        axis = "XYZ"[self.axis]
        return add_post_chain(self.armature, self.bones[-1], count, self.target, "post", axis)

    def miss(self, *times: float) -> float:
        """Return the largest distance from tip to target at some times, as a part of the reach."""
        worst = 0.0
        for time in times:
            bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
            tip = evaluated_tip(self.armature, self.bones[-1])
            worst = max(worst, (tip - evaluated_place(self.target)).length)
        return worst / self.reach

    def swing_of_post(self) -> Quaternion:
        """Return the rotation of the post by its quaternion without its turn about the axis."""
        return self.post.rotation_quaternion @ _twist(self.post.rotation_quaternion, self.axis).inverted()

    def turn_post(self, angle: float) -> None:
        """Turn the post to an angle about its axis; what else turns it stays."""
        post, axis = self.post, Vector(np.eye(3)[self.axis])
        if post.rotation_mode == 'QUATERNION':
            post.rotation_quaternion = self.swing_of_post() @ Quaternion(axis, angle)
        elif post.rotation_mode == 'AXIS_ANGLE':
            post.rotation_axis_angle = (angle, *axis)
        else:
            post.rotation_euler[self.axis] = angle


def turret(seed: int, rate: float | None = None, mode: str = "", still: bool = False) -> Turret:
    """Return a turret with a target at tips of poses that it can take, at `rate` radians of the post a frame.

    rate: None for a random one. mode: the rotation mode of all its bones; "" for random ones. still: whether
    the bones between are posed, but without keys.
    """
    rng = np.random.default_rng(seed)
    made = _build(rng, mode)
    if still:
        _still_bones_between(made.armature)
    rate = float(rng.uniform(0.1, 0.9)) if rate is None else rate
    _place_target(made, rate)
    return made


def _twist(rotation: Quaternion, axis: int) -> Quaternion:
    return Quaternion((rotation.w, *(rotation[1 + axis] * np.eye(3)[axis]))).normalized()


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector, float) / np.linalg.norm(vector)


def _build(rng: np.random.Generator, mode: str) -> Turret:
    count, between, above = int(rng.integers(2, 5)), int(rng.integers(0, 3)), bool(rng.integers(0, 2))
    axis = int(rng.choice([0, 1, 1, 2]))
    data = bpy.data.armatures.new("Turret")
    armature = bpy.data.objects.new("Turret", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    edit = data.edit_bones
    if above:
        mover = edit.new("mover")
        mover.head, mover.tail, mover.roll = rng.normal(size=3), rng.normal(size=3), rng.uniform(-3, 3)
    post = edit.new("post")
    post.head = rng.normal(size=3)
    post.tail = post.head + Vector(_unit(rng.normal(size=3)) * rng.uniform(0.2, 0.5))
    post.roll, post.parent = rng.uniform(-3, 3), edit["mover"] if above else None
    along = np.array(post.matrix.col[axis].xyz, float)
    aside = _unit(np.cross(along, rng.normal(size=3)))
    across = np.cross(along, aside)
    place, last = np.array(post.tail if rng.random() < 0.5 else post.head, float), post
    off_axis = float(rng.random() < 0.7)
    for number in range(between):
        bone = edit.new(f"mid{number}")
        bone.head = place
        place = place + 0.3 * _unit(along + 0.5 * aside + 0.3 * off_axis * across)
        bone.tail, bone.roll, bone.parent = place, rng.uniform(-3, 3), last
        last = bone
    lean = 0.0 if rng.random() < 0.3 else rng.uniform(-0.5, 0.5)  # of the plane's normal to the axis
    normal = _unit(across + np.tan(lean) * along)
    x, y = aside, np.cross(normal, aside)
    place = place + rng.uniform(-0.25, 0.25) * off_axis * across + rng.uniform(0.05, 0.3) * aside
    heading, names = rng.uniform(0.4, 1.2), []
    for number in range(count):
        bone = edit.new(f"arm{number}")
        bone.head = place
        place = place + rng.uniform(0.5, 1.0) * (np.cos(heading) * x + np.sin(heading) * y)
        bone.tail, bone.roll, bone.parent = place, rng.uniform(-3, 3), last
        heading -= rng.uniform(0.3, 0.9)
        last = bone
        names.append(bone.name)
    bpy.ops.object.mode_set(mode='OBJECT')
    size = float(rng.choice([0.01, 1.0, 100.0]))
    place, turned = Vector(rng.normal(size=3)) * size, Euler(rng.uniform(-3, 3, 3))
    armature.matrix_world = Matrix.LocRotScale(place, turned, Vector((size,) * 3))
    made = Turret(armature, axis, tuple(names), between, rng)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode or str(rng.choice(MODES))
    for bone in armature.pose.bones:
        if bone.name == "mover" or bone.name.startswith("mid"):
            _key_carrier(bone, rng)
    made.post.scale = (float(rng.uniform(0.5, 2.0)),) * 3
    tilt = rng.uniform(-0.4, 0.4, 3) * (rng.random() < 0.4)
    tilt[axis] = 0.0
    if made.post.rotation_mode == 'QUATERNION':
        made.post.rotation_quaternion = Quaternion((1.0, *tilt)).normalized()
    elif made.post.rotation_mode != 'AXIS_ANGLE':
        made.post.rotation_euler = tilt
    return made


def _still_bones_between(armature: bpy.types.Object) -> None:
    from ik2d_addon.rig.animation.versions import existing_channels

    held = existing_channels(armature)
    for curve in [curve for curve in held.fcurves if '"mid' in curve.data_path] if held else []:
        held.fcurves.remove(curve)


def _key_carrier(bone: bpy.types.PoseBone, rng: np.random.Generator) -> None:
    """Key a bone that carries the chain, posed and moving."""
    for frame in (FRAMES[0], FRAMES[-1]):
        angles = rng.uniform(-0.25, 0.25, 3) + rng.uniform(-1.5, 1.5, 3) * (bone.name == "mover")
        turned = Euler(angles).to_quaternion()
        if bone.rotation_mode == 'QUATERNION':
            bone.rotation_quaternion = turned
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        elif bone.rotation_mode == 'AXIS_ANGLE':
            axis, angle = turned.to_axis_angle()
            bone.rotation_axis_angle = (angle, *axis)
            bone.keyframe_insert("rotation_axis_angle", frame=frame)
        else:
            bone.rotation_euler = turned.to_euler(bone.rotation_mode)
            bone.keyframe_insert("rotation_euler", frame=frame)
    if bone.name == "mover":
        bone.location = rng.normal(size=3)


def _place_target(made: Turret, rate: float) -> None:
    """Key a target at tips of poses that the rig can take, all round it."""
    from ik2d_addon.rig.chain.chain import read_chain

    armature, rng = made.armature, made.rng
    made.target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(made.target)
    chain = made.add_chain()
    axes = read_chain(armature, chain).joints.axes
    armature.ik2d.chains.clear()
    first, base = rng.uniform(-1, 1), rng.uniform(-0.4, 0.4, len(made.bones))
    swings = rng.uniform(-0.5, 0.5, len(made.bones))
    bones = [armature.pose.bones[name] for name in made.bones]
    modes = [bone.rotation_mode for bone in bones]
    for bone in bones:
        bone.rotation_mode = 'QUATERNION'
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        made.turns.append(first + rate * (frame - 1) * (1 if made.axis else -1))
        made.turn_post(made.turns[-1])
        for i, bone in enumerate(bones):
            bone.rotation_quaternion = Quaternion(axes[i], base[i] + swings[i] * np.sin(0.3 * frame + i))
        bpy.context.view_layer.update()
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        made.target.location = armature.matrix_world @ shown.pose.bones[made.bones[-1]].tail
        made.target.keyframe_insert("location", frame=frame)
    for bone, mode in zip(bones, modes, strict=True):
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
        bone.rotation_mode = mode
    made.turn_post(0.0)
