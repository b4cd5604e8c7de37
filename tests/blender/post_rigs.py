# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded rigs with a post, of any build, and targets all round them; a robot arm on a turntable."""

from collections.abc import Sequence
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
    """A random armature with a target: "post", perhaps on "mover", "mid0" .. and a chain of "arm0" ..

    Of a gimbal "arm0" is the post, and the bone "post" only holds it.
    """

    armature: bpy.types.Object
    axis: int
    bones: tuple[str, ...]
    between: int
    rng: np.random.Generator
    target: bpy.types.Object | None = None
    turns: list[float] = field(default_factory=list)  # of the post, that made the target's places
    name: str = "post"  # of the post
    normal: tuple[float, ...] | None = None  # of the plane of one bone
    hinge: int | None = None  # the own axis (0..2) that a gimbal's first bone bends about; None: it is none

    @property
    def post(self) -> bpy.types.PoseBone:
        """The post's pose bone."""
        return self.armature.pose.bones[self.name]

    @property
    def reach(self) -> float:
        """The length of the chain in the world."""
        lengths = sum(self.armature.data.bones[name].length for name in self.bones)
        return lengths * self.armature.matrix_world.to_scale()[0] * self.armature.pose.bones["post"].scale[0]

    def add_chain(self) -> bpy.types.PropertyGroup:
        """Add the chain."""
        count = len(self.bones)
        axis = "XYZ"[self.axis]
        chain = add_post_chain(self.armature, self.bones[-1], count, self.target, self.name, axis)
        if self.normal is not None:
            chain.plane_normal = self.normal
        return chain

    def miss(self, *times: float) -> float:
        """Return the largest distance from tip to target at some times, as a part of the reach."""
        worst = 0.0
        for time in times:
            bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
            tip = evaluated_tip(self.armature, self.bones[-1])
            worst = max(worst, (tip - evaluated_place(self.target)).length)
        return worst / self.reach

    def matrices(self, frames: Sequence[int] = FRAMES) -> np.ndarray:
        """Return the pose matrices (frames, n, 4, 4) of the chain's bones, as evaluated frame by frame."""
        found = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            shown = self.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
            found.append([np.array(shown[name].matrix, np.float64) for name in self.bones])
        return np.array(found)

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


def gimbal(seed: int, rate: float | None = None, count: int = 0, exact: bool | None = None) -> Turret:
    """Return a chain of 1 to 4 bones whose first one is the post, with a target at tips that it can take.

    rate: as of a turret. count: of its bones; 0 for a random one. exact: whether the first bone bends about
    an own axis, and then its rotation mode turns about that before the post's; None for either.
    """
    rng = np.random.default_rng(seed)
    made = _build(rng, "")
    count = count or int(rng.integers(1, 5))
    exact = bool(rng.integers(0, 2)) if exact is None else exact
    made.bones, made.name = made.bones[:count], "arm0"
    armature, first = made.armature, made.armature.data.bones["arm0"]
    upper, lower = (
        np.array(bone.tail_local - bone.head_local) for bone in (first, armature.data.bones["arm1"])
    )
    normal = _unit(np.cross(upper, lower))
    if exact:
        made.hinge = int(rng.choice([0, 2]))
        _roll(armature, first.name, normal, made.hinge)
    made.axis = int(rng.choice([axis for axis in range(3) if axis != made.hinge]))
    rest = armature.data.bones["arm0"].matrix_local  # the one before edit mode is gone
    aside = np.cross(np.array(rest)[:3, made.axis], normal)
    if np.linalg.norm(aside) < 0.5:
        made.axis = 1
    if count == 1:
        made.normal = tuple(normal.tolist())
    if exact:
        made.post.rotation_mode = str(rng.choice(hinge_first(made.hinge, made.axis)))
    _place_target(made, float(rng.uniform(0.05, 0.4)) if rate is None else rate)
    return made


def turntable(seed: int, **limits: float) -> tuple[Turret, bpy.types.PropertyGroup, np.ndarray]:
    """Return one bone that locks leave one axis, with its chain, and its matrices by Blender's Locked Track.

    Its target moves all round it. limits: settings of the chain.
    """
    rng = np.random.default_rng(seed)
    made = _build(rng, "")
    made.bones, made.axis = ("post",), int(rng.integers(0, 3))
    armature, bone, own = made.armature, made.post, np.eye(3)[made.axis]
    bone.rotation_euler, bone.rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    bone.rotation_axis_angle = (0.0, *own)
    bone.lock_rotation = (own == 0.0).tolist()
    made.target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(made.target)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        head = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["post"].head
        made.target.location = armature.matrix_world @ (head + Vector(rng.normal(size=3)))
        made.target.keyframe_insert("location", frame=frame)
    track = bone.constraints.new('LOCKED_TRACK')
    track.target, track.lock_axis = made.target, f"LOCK_{'XYZ'[made.axis]}"
    track.track_axis = 'TRACK_Z' if made.axis == 1 else 'TRACK_Y'
    tracked = made.matrices()
    bone.constraints.remove(track)
    chain = made.add_chain()
    for name, value in limits.items():
        setattr(chain, name, value)
    return made, chain, tracked


def hinge_first(hinge: int, post: int) -> list[str]:
    """Return the rotation modes that turn about one own axis (0..2) before another."""
    return [mode for mode in MODES[2:] if mode.index("XYZ"[hinge]) < mode.index("XYZ"[post])]


def _roll(armature: bpy.types.Object, name: str, normal: np.ndarray, axis: int) -> None:
    """Roll a bone so that its X (0) or Z (2) is a normal (3,)."""
    bpy.ops.object.mode_set(mode='EDIT')
    bone = armature.data.edit_bones[name]
    bone.align_roll(normal)
    if axis == 0:
        bone.roll -= np.pi / 2.0
    bpy.ops.object.mode_set(mode='OBJECT')


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
    if len(base) == 1:
        base += 0.9 * np.sign(base)  # away from the axis of a bone that turns about itself
    bones = [armature.pose.bones[name] for name in made.bones]
    modes = [bone.rotation_mode for bone in bones]
    for bone in bones:
        bone.rotation_mode = 'QUATERNION'
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        made.turns.append(first + rate * (frame - 1) * (1 if made.axis else -1))
        if made.post not in bones:
            made.turn_post(made.turns[-1])
        for i, bone in enumerate(bones):
            bent = Quaternion(axes[i], base[i] + swings[i] * np.sin(0.3 * frame + i))
            own = Quaternion(np.eye(3)[made.axis], made.turns[-1]) if bone == made.post else Quaternion()
            bone.rotation_quaternion = own @ bent
        bpy.context.view_layer.update()
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        made.target.location = armature.matrix_world @ shown.pose.bones[made.bones[-1]].tail
        made.target.keyframe_insert("location", frame=frame)
    for bone, mode in zip(bones, modes, strict=True):
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
        bone.rotation_mode = mode
    if made.post not in bones:
        made.turn_post(0.0)
