# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures, what hangs on their bones, keys, and the IK 2D chains."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from ik2d_addon import chains

from . import shapes


class Bone(NamedTuple):
    """A bone to make: joints in x, y, z."""

    name: str
    head: Sequence[float]
    tail: Sequence[float]
    parent: str = ""
    keeps_heading: bool = False  # does not turn with its parent
    slides: bool = False  # has a location of its own, though it begins where its parent ends
    axis: Sequence[float] = (0.0, -1.0, 0.0)  # its X axis, which it bends about


def armature(name: str, bones: Iterable[Bone]) -> bpy.types.Object:
    """Make an armature whose bones bend about their own X axis: -Y, at the viewer, if not said otherwise.

    Seen from there a positive turn is anticlockwise. A bone along +X gets the roll 0, hence a matrix
    without rounding, which the deadlock needs.
    """
    data = bpy.data.armatures.new(name)
    data.display_type = 'WIRE'
    ob = shapes.link(bpy.data.objects.new(name, data), "Rig")
    ob.show_in_front = True
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in bones:
        _add_bone(data, bone)
    bpy.ops.object.mode_set(mode='OBJECT')
    for pose_bone in ob.pose.bones:
        pose_bone.rotation_mode = 'XYZ'
    return ob


def _add_bone(data: bpy.types.Armature, bone: Bone) -> None:
    made = data.edit_bones.new(bone.name)
    made.head, made.tail = bone.head, bone.tail
    made.align_roll(Vector(bone.axis).cross(made.tail - made.head))
    if bone.parent:
        made.parent = data.edit_bones[bone.parent]
        made.use_connect = not bone.slides and (made.parent.tail - made.head).length < 1e-6
    made.use_inherit_rotation = not bone.keeps_heading


def attach(ob: bpy.types.Object, rig: bpy.types.Object, bone: str) -> bpy.types.Object:
    """Hang an object on a bone, so that in the rest pose it stays where it is."""
    rest = rig.data.bones[bone]
    tail = rig.matrix_world @ rest.matrix_local @ Matrix.Translation((0.0, rest.length, 0.0))
    ob.parent, ob.parent_type, ob.parent_bone = rig, 'BONE', bone
    ob.matrix_parent_inverse = tail.inverted()
    return ob


def attach_all(obs: Iterable[bpy.types.Object], rig: bpy.types.Object, bone: str) -> None:
    """Hang several objects on one bone."""
    for ob in obs:
        attach(ob, rig, bone)


class Ram(NamedTuple):
    """A hydraulic ram between two bones, each given with a point (x, z) of the rest pose."""

    name: str
    low: tuple[str, shapes.Point]  # where its cylinder is mounted
    high: tuple[str, shapes.Point]  # where its rod is
    size: float  # the cylinder's radius
    depths: Sequence[float] = (0.0,)  # of as many cylinders side by side
    # Lengths of the cylinder and the rod, in parts of the way between the mounts at rest: the rod must not
    # leave the cylinder, nor either of them be longer than the ram is at its shortest.
    shares: tuple[float, float] = (0.62, 0.75)

    @property
    def bones(self) -> tuple[Bone, Bone]:
        """The cylinder's bone and the rod's, each at its mount and towards the other's."""
        low, high = (Vector((point[0], 0.0, point[1])) for _, point in (self.low, self.high))
        cylinder, rod = self.shares
        return (
            Bone(f"{self.name} cylinder", low, low.lerp(high, cylinder), self.low[0], slides=True),
            Bone(f"{self.name} rod", high, high.lerp(low, rod), self.high[0], slides=True),
        )


def dress_ram(rig: bpy.types.Object, ram: Ram) -> None:
    """Put a ram's cylinders and rods on its bones."""
    dark = shapes.material("Cylinder", (0.08, 0.08, 0.09), roughness=0.4)
    steel = shapes.material("Steel", (0.75, 0.77, 0.8), roughness=0.2, metallic=1.0)
    for bone, look, radius in zip(ram.bones, (dark, steel), (ram.size, ram.size * 0.5), strict=True):
        for y in ram.depths:
            aside = Vector((0.0, y, 0.0))
            head, tail = Vector(bone.head) + aside, Vector(bone.tail) + aside
            parts = [
                shapes.tube(bone.name.capitalize(), head, tail, (radius, radius), look, steps=16),
                shapes.pin("Eye", (head.x, head.z), ram.size * 0.95, ram.size * 1.5, dark, y=y),
            ]
            if look == dark:
                end = tail - (tail - head).normalized() * ram.size * 0.7
                parts.append(shapes.tube("Gland", end, tail, (ram.size * 1.15,) * 2, dark, steps=16))
            attach_all(parts, rig, bone.name)


def add_ram(rig: bpy.types.Object, ram: Ram) -> None:
    """Have each of a ram's bones aim at the other's mount by a chain of one bone, live, and dress it."""
    mounts = []
    for bone in ram.bones:
        mount = shapes.link(bpy.data.objects.new(f"{bone.name} mount", None), "Pivots")
        mount.location, mount.empty_display_size = bone.head, ram.size
        mounts.append(attach(mount, rig, bone.parent))
    bpy.data.collections["Pivots"].hide_render = True
    dress_ram(rig, ram)
    for bone, goal in zip(ram.bones, reversed(mounts), strict=True):
        chain(rig, bone.name.capitalize(), bone.name, 1, goal)


def mechanism(
    rig: bpy.types.Object,
    name: str,
    bones: Iterable[Bone | str],
    pins: Iterable[tuple[str, str]],
    drivers: Iterable[str],
    rams: Iterable[Ram] = (),
) -> None:
    """Set up a mechanism on the armature, live. pins: a bone whose tail is pinned, and the other bone."""
    made = chains.add_mechanism(rig, [bone if isinstance(bone, str) else bone.name for bone in bones], name)
    for bone, other in pins:
        chains.add_pin(made, bone, 'TAIL', other)
    for ram in rams:
        chains.add_ram(made, *(bone.name for bone in ram.bones))
    for bone in drivers:
        chains.drive(made, bone)
    made.live = True


def keys(
    owner,
    channel: str,
    index: int,
    points: Iterable[tuple[float, float]],
    interpolation: str = 'BEZIER',
    handles: str = 'AUTO_CLAMPED',
) -> None:
    """Key one channel of an object or pose bone at (frame, value)."""
    values = getattr(owner, channel)
    for frame, value in points:
        values[index] = value
        owner.keyframe_insert(channel, index=index, frame=frame)
    full = owner.path_from_id(channel) if isinstance(owner, bpy.types.PoseBone) else channel
    curve = owner.id_data.animation_data.action.fcurves.find(full, index=index)
    for point in curve.keyframe_points:
        point.interpolation = interpolation
        point.handle_left_type = point.handle_right_type = handles
    curve.update()


def path(owner, points: Iterable[tuple[float, float, float]], y: float = 0.0, **how: str) -> None:
    """Key the location of an object through (frame, x, z), at depth `y`; `how` as in `keys`."""
    points = list(points)
    owner.location[1] = y
    keys(owner, "location", 0, [(frame, x) for frame, x, _ in points], **how)
    keys(owner, "location", 2, [(frame, z) for frame, _, z in points], **how)


def chain(
    rig: bpy.types.Object,
    name: str,
    tip: str,
    bone_count: int,
    target: bpy.types.Object,
    solver: str = 'AUTO',
    root_turns_freely: bool = True,
    slides: Mapping[str, tuple[float, float]] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    **settings,
) -> None:
    """Set up an IK 2D chain on the armature, live.

    slides: least and greatest added length of bones that slide; what they carry does not turn by itself.
    limits: least and greatest turn of joints from rest, in degrees. settings: others of the chain.
    """
    made = rig.ik2d.chains.add()
    made.name, made.tip, made.bone_count, made.target, made.solver = name, tip, bone_count, target, solver
    made.root_turns_freely, made.live = root_turns_freely, True
    for setting, value in settings.items():
        setattr(made, setting, value)
    for i, joint in enumerate(made.joints):
        if joint.name in (slides or {}):
            joint.use_slide, (joint.slide_min, joint.slide_max) = True, slides[joint.name]
            made.joints[i + 1].weight = 0.0
        if joint.name in (limits or {}):
            joint.use_limit = True
            joint.limit_min, joint.limit_max = map(math.radians, limits[joint.name])
