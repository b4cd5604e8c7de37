# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded rigs of any build, with targets and poles all round them, for the tests of planes that follow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, radians, sin

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip

from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.swings import flips
from ik2d_addon.rig.scene.sampler import sample_now

RULES = ('SWING', 'POLE', 'ARC')
MODES = ('QUATERNION', 'AXIS_ANGLE', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX')
SCALES = ((0.01,) * 3, (1.0,) * 3, (100.0,) * 3, (1.5, 0.7, 1.2))
# Targets and poles of smooth paths keep this far from where the rule leaves the plane open.
AWAY = radians(15.0)
LAST = 12


@dataclass(frozen=True)
class Limb:
    """A random armature with bones "b0", "b1" .. on a parent "p", in their rest pose."""

    armature: bpy.types.Object
    bones: tuple[str, ...]
    rng: np.random.Generator

    @property
    def first(self) -> bpy.types.PoseBone:
        """The chain's first bone."""
        return self.armature.pose.bones[self.bones[0]]

    @property
    def joints(self) -> np.ndarray:
        """(n + 1, 3) in the armature's pose space, as evaluated now."""
        bones = [evaluated(self.armature).pose.bones[name] for name in self.bones]
        return np.array([*(bone.head for bone in bones), bones[-1].tail])

    @property
    def reach(self) -> float:
        """The length of the chain in the armature's pose space, joint to joint."""
        return float(np.linalg.norm(np.diff(self.joints, axis=0), axis=1).sum())

    @property
    def size(self) -> float:
        """The length of the chain in the world, where that is the same in all directions; else its most."""
        return self.reach * max(abs(factor) for factor in self.armature.matrix_world.to_scale())

    def span(self) -> tuple[float, float]:
        """Return the least and the greatest distance from the root that are well within reach."""
        lengths = np.linalg.norm(np.diff(self.joints, axis=0), axis=1)
        least, most = max(0.0, 2.0 * lengths.max() - lengths.sum()), lengths.sum()
        return least + 0.25 * (most - least), least + 0.85 * (most - least)

    def in_world(self, place: Sequence[float]) -> Vector:
        """Return the place in the world of one from the chain's root, in pose space."""
        return self.armature.matrix_world @ Vector(self.joints[0] + np.asarray(place))


def evaluated(ob: bpy.types.Object) -> bpy.types.Object:
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get())


def random_limb(
    seed: int,
    count: int = 0,
    *,
    bend: tuple[float, float] = (0.2, 0.7),
    flat: bool = False,
    gaps: bool = True,
    uneven: bool = True,
    inherits: bool = False,
    mode: str = "",
) -> Limb:
    """Add a limb whose joints bend by `bend` radians each, on a parent that is posed and scaled.

    count: of bones; 0 for 2 to 6. flat: joints are in a plane, else a third of the limbs leave it. gaps:
    a fifth of the bones is off its parent's tail. uneven: a quarter of the objects is scaled unevenly.
    inherits: all take their parents' rotation, else a quarter of the first bones does not. mode: of all
    bones' rotations, else any.
    """
    rng = np.random.default_rng(seed)
    count = count or int(rng.integers(2, 7))
    turn = Quaternion(rng.normal(size=4)).normalized().to_matrix()
    off_plane = not flat and rng.random() < 0.35
    head = Vector(rng.normal(size=3))
    bones = {"p": (tuple(head), tuple(head + Vector(rng.normal(size=3))), "", rng.uniform(-3.0, 3.0))}
    place = Vector(bones["p"][1]) + Vector(rng.normal(0.0, 0.3, 3)) * (rng.random() < 0.5)
    heading, names = rng.uniform(-1.0, 1.0), []
    for i in range(count):
        aside = rng.uniform(-0.2, 0.2) if off_plane else 0.0
        tail = place + turn @ Vector((cos(heading), sin(heading), aside)) * rng.uniform(0.6, 1.4)
        bones[f"b{i}"] = (tuple(place), tuple(tail), names[-1] if names else "p", rng.uniform(-3.0, 3.0))
        gap = turn @ Vector((*rng.uniform(-0.1, 0.1, 2), 0.0)) * (rng.random() < 0.2 * gaps)
        place, heading = tail + gap, heading + rng.uniform(*bend)
        names.append(f"b{i}")
    armature = add_armature(bones)
    scales = SCALES if uneven else SCALES[:3]
    armature.matrix_world = Matrix.LocRotScale(
        Vector(rng.normal(size=3)), Euler(rng.normal(size=3)), Vector(scales[rng.integers(len(scales))])
    )
    for bone in armature.pose.bones:
        bone.rotation_mode = mode or MODES[rng.integers(len(MODES))]
    limb = Limb(armature, tuple(names), rng)
    rest = limb.first.bone
    rest.use_inherit_rotation = inherits or rng.random() < 0.75
    rest.inherit_scale = ('FULL', 'NONE', 'AVERAGE')[rng.integers(3)]
    parent = armature.pose.bones["p"]
    parent.matrix_basis = Matrix.LocRotScale(
        Vector(rng.normal(0.0, 0.3, 3)), Euler(rng.normal(0.0, 0.5, 3)), Vector((rng.uniform(0.6, 1.6),) * 3)
    )
    bpy.context.view_layer.update()
    return limb


def follow(limb: Limb, rule: str, **settings) -> bpy.types.PropertyGroup:
    """Add a chain of a limb, with a target and a pole that have no keys yet."""
    pole = add_target({}, "Pole") if rule == 'POLE' else None
    return add_chain(
        limb.armature,
        limb.bones[-1],
        add_target({}),
        len(limb.bones),
        **{"name": "limb", "plane": rule, "pole": pole, **settings},
    )


def circle(rng: np.random.Generator, least: float, most: float) -> Callable[[float], np.ndarray]:
    """Return a path about an axis, by the angle: its distance from the root is within two bounds."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    lean, start, wave = rng.uniform(-0.6, 0.6), rng.uniform(0.0, 6.0), rng.uniform(1.0, 3.0)

    def place(angle: float) -> np.ndarray:
        around = cos(lean) * (cos(angle + start) * axes[0] + sin(angle + start) * axes[1])
        return (least + (most - least) * (0.5 + 0.5 * sin(wave * angle))) * (around + sin(lean) * axes[2])

    return place


def move_about(
    limb: Limb, chain, speed: float = 0.0, frames: int = LAST, span: tuple[float, float] | None = None
) -> None:
    """Key target and pole along smooth paths, on frames 1 .. frames, AWAY from where the plane is open.

    speed: degrees a frame, else 2 to 6. span: the least and greatest distance of the target from the root,
    else any that is well within reach.
    """
    span = span or limb.span()
    speed = radians(speed or limb.rng.uniform(2.0, 6.0))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    for _ in range(100):
        paths = {chain.target: circle(limb.rng, *span)}
        if chain.pole:
            paths[chain.pole] = circle(limb.rng, 1.2 * limb.reach, 1.8 * limb.reach)
        if nearest(limb, chain, paths, speed, frames) > AWAY:
            break
    else:
        raise AssertionError("no path keeps away from where the plane is open")
    for ob, place in paths.items():
        key_places(ob, [limb.in_world(place(speed * frame)) for frame in range(frames)])


def nearest(limb: Limb, chain, paths: dict, speed: float, frames: int) -> float:
    """Return the least angle of any frame to where the rule leaves the plane open."""
    angles = []
    for frame in range(frames):
        for ob, place in paths.items():
            ob.location = limb.in_world(place(speed * frame))
        bpy.context.view_layer.update()
        rig = read_chain(limb.armature, chain)
        angles.append(flips(rig, sample_now(bpy.context.scene, [rig]).chains[0]).openness[0])
    return min(angles)


def key_places(ob: bpy.types.Object, places: Sequence[Vector], interpolation: str = 'BEZIER') -> None:
    """Key an object's places from frame 1 on."""
    for frame, place in enumerate(places, start=1):
        ob.location = place
        ob.keyframe_insert("location", frame=frame)
    for curve in existing_fcurves(ob):
        for key in curve.keyframe_points:
            key.interpolation = interpolation


def misses(limb: Limb, chain, times: Sequence[float]) -> np.ndarray:
    """Return how far Blender has the tip from its target at some times, as parts of the limb's length."""
    found = []
    for time in times:
        bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
        tip = evaluated_tip(limb.armature, chain.tip)
        found.append((tip - evaluated_place(chain.target, chain.subtarget)).length)
    return np.array(found) / limb.size


def joints_on(limb: Limb, frames: Sequence[int]) -> np.ndarray:
    """Return the joints (frames, n + 1, 3) in pose space, in parts of the limb's length."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append(limb.joints)
    return np.array(found) / limb.reach
