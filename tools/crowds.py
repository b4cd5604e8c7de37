# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures of many unlike chains, at random, for `compare_bakes.py`: there alone mixed up chains show."""

import random
from collections.abc import Callable
from math import cos, pi, sin
from typing import Any, NamedTuple

import bpy
from mathutils import Euler, Vector

# So often a bone inherits otherwise, or is a hinge.
_RARELY = 0.05
Settings = Callable[[random.Random, Any, bool], None]
Target = Callable[[random.Random, list], Any]


class _Limb(NamedTuple):
    """The bones of one chain."""

    joints: list[Vector]  # (n + 1,)
    slides: bool

    @property
    def count(self) -> int:
        return len(self.joints) - 1


def random_crowd(rng: random.Random, target_of: Target, set_up: Settings) -> bpy.types.Object:
    """Add an armature with chains side by side, some of them on the tips of others; return it.

    In three of ten all chains are alike, but for their places. target_of: adds a target for joints; set_up:
    sets a chain, which may slide.
    """
    alike = rng.random() < 0.3
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    limbs, ends = _limbs(rng, alike)
    _add_bones(rng, armature, ends, alike, any(limb.slides for limb in limbs))
    _move_body(rng, armature)
    for number, limb in enumerate(limbs):
        chain = armature.ik2d.chains.add()
        chain.name, chain.tip, chain.bone_count = (
            f"Chain {number}",
            f"c{number}b{limb.count - 1}",
            limb.count,
        )
        chain.target = target_of(rng, limb.joints)
        if alike:
            continue
        set_up(rng, chain, limb.slides)
        if rng.random() < 0.25:
            chain.plane = rng.choice(('SWING', 'POLE', 'ARC'))
            if chain.plane == 'POLE':
                chain.pole = target_of(rng, [joint + Vector((0.0, 0.0, 1.0)) for joint in limb.joints])
        if rng.random() < 0.15 and limb.count > 1:
            chain.tip_rotation = rng.choice(('WORLD', 'TARGET'))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, rng.choice((12, 24, 40))
    bpy.context.view_layer.update()
    return armature


def _limbs(rng: random.Random, alike: bool) -> tuple[list[_Limb], dict[str, tuple[Vector, Vector, str]]]:
    """Return the limbs, and the head, the tail and the parent of each bone by its name."""
    limbs: list[_Limb] = []
    ends = {"body": (Vector((0.0, 0.0, 0.0)), Vector((0.0, 0.0, 1.0)), "")}
    for number in range(rng.choice((3, 6, 10))):
        count = 2 if alike else rng.choice((1, 2, 2, 2, 3, 3, 4, 6))
        slides = not alike and rng.random() < 0.15
        turn = (0.0, 0.0, rng.uniform(-pi, pi)) if alike else [rng.uniform(-pi, pi) for _ in range(3)]
        space = Euler(turn).to_matrix()
        start, above = Vector((2.0 * number, 0.3, 0.2)), "body" if rng.random() < 0.6 else ""
        if not alike and limbs and rng.random() < 0.15:  # on the tip of the one before: in another round
            above = f"c{number - 1}b{limbs[-1].count - 1}"
            start = ends[above][1]
        joints, heading = [start], rng.uniform(-pi, pi)
        for _ in range(count):
            heading += 0.5 if alike else rng.choice((0.0, 0.3, -0.3)) + rng.uniform(-0.6, 0.6)
            long = 1.0 if alike else rng.uniform(0.5, 1.5)
            joints.append(joints[-1] + space @ Vector((cos(heading), 0.0, sin(heading))) * long)
        for i in range(count):
            parent = f"c{number}b{i - 1}" if i else above
            ends[f"c{number}b{i}"] = (joints[i], joints[i + 1], parent)
        across = (joints[-1] - joints[-2]).orthogonal() * 0.3
        ends[f"c{number}foot"] = (joints[-1], joints[-1] + across, f"c{number}b{count - 1}")
        limbs.append(_Limb(joints, slides))
    return limbs, ends


def _add_bones(
    rng: random.Random,
    armature: bpy.types.Object,
    ends: dict[str, tuple[Vector, Vector, str]],
    alike: bool,
    slide: bool,
) -> None:
    """Add the bones; of unlike ones the rolls, modes, locks and what they inherit are at random."""
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    for name, (head, tail, above) in ends.items():
        bone = bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, 0.0 if alike else rng.uniform(-pi, pi)
        bone.parent = bones.get(above)
        touches = bone.parent is not None and (bone.parent.tail - bone.head).length < 1e-6
        if touches and not name.endswith("b0") and rng.random() < 0.7:
            bone.use_connect = not slide
        if not alike and rng.random() < _RARELY:
            bone.use_inherit_rotation = False
        if not alike and rng.random() < _RARELY:
            bone.inherit_scale = rng.choice(('ALIGNED', 'NONE', 'FULL'))
    bpy.ops.object.mode_set(mode='OBJECT')
    for posed in armature.pose.bones:
        modes = ('QUATERNION', 'QUATERNION', 'XYZ', 'ZXY', 'AXIS_ANGLE')
        posed.rotation_mode = 'QUATERNION' if alike else rng.choice(modes)
        if not alike and rng.random() < _RARELY and posed.name != "body":
            posed.lock_rotation = (True, True, False)


def _move_body(rng: random.Random, armature: bpy.types.Object) -> None:
    """Have the body stand still, or move by its keys, by those of the object, or by a constraint."""
    body, moves = armature.pose.bones["body"], rng.choice(("still", "keys", "object", "constraint"))
    if moves == "still":
        return
    if moves == "keys":
        body.rotation_mode = 'XYZ'
        owner, channel = body, "rotation_euler"
    elif moves == "object":
        owner, channel = armature, "location"
    else:
        leader = bpy.data.objects.new("Leader", None)
        bpy.context.scene.collection.objects.link(leader)
        body.constraints.new('COPY_ROTATION').target = leader
        owner, channel = leader, "rotation_euler"
    for frame in (1, 15):
        setattr(owner, channel, [rng.uniform(-0.3, 0.3) for _ in range(3)])
        owner.keyframe_insert(channel, frame=frame)
