# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker of six Jansen legs in one armature, next to nla.bake of a two-bone chain for each triangle."""

from math import pi, sqrt

import bpy

from ik2d_addon.bake import bake
from ik2d_addon.chains import add_mechanism, add_pin, drive

from . import scenes
from .bakers import nla_bake
from .bakes import ALIKE
from .timing import Task

LEGS, TRIANGLES, FRAMES = 6, 3, 250
# Jansen's lengths.
_PIVOT, _CRANK, _UNIT = complex(-38.0, -7.8), complex(15.0, 0.0), 1.0 / 50.0


def _crossings(a: complex, far: float, b: complex, near: float) -> tuple[complex, complex]:
    """Return the two places at given distances of two others."""
    way = abs(b - a)
    along = (way * way + far * far - near * near) / (2.0 * way)
    aside = sqrt(far * far - along * along)
    direction = (b - a) / way
    return a + direction * complex(along, aside), a + direction * complex(along, -aside)


def _leg() -> dict[str, tuple[complex, complex, str]]:
    """Return the bones of a leg: head, tail and parent of each."""
    upper = max(_crossings(_CRANK, 50.0, _PIVOT, 41.5), key=lambda at: at.imag)
    lower = min(_crossings(_CRANK, 61.9, _PIVOT, 39.3), key=lambda at: at.imag)
    outer = min(_crossings(upper, 55.8, _PIVOT, 40.1), key=lambda at: at.real)
    ankle = min(_crossings(outer, 39.4, lower, 36.7), key=lambda at: at.imag + at.real)
    foot = min(_crossings(ankle, 65.7, lower, 49.0), key=lambda at: at.imag)
    return {
        "crank": (0j, _CRANK, ""),
        "j": (_CRANK, upper, "crank"),
        "upper": (_PIVOT, outer, ""),
        "k": (_CRANK, lower, "crank"),
        "c": (_PIVOT, lower, ""),
        "f": (outer, ankle, "upper"),
        "foot": (lower, foot, "c"),
    }


def add() -> bpy.types.Object:
    """Add the walker, whose cranks turn in 50 frames, each a sixth of a turn after the one before."""
    data = bpy.data.armatures.new("walker")
    armature = bpy.data.objects.new("walker", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = _leg()
    for leg in range(LEGS):
        for name, (head, tail, above) in bones.items():
            bone = data.edit_bones.new(f"{name}.{leg}")
            bone.head, bone.tail = ((at.real * _UNIT, 0.5 * leg, at.imag * _UNIT) for at in (head, tail))
            bone.parent = data.edit_bones.get(f"{above}.{leg}")
            bone.align_roll((0.0, -1.0, 0.0))
    bpy.ops.object.mode_set(mode='POSE')
    for leg in range(LEGS):
        machine = add_mechanism(armature, [f"{name}.{leg}" for name in bones], f"leg {leg}")
        for bone, other in (("j", "upper"), ("k", "c"), ("f", "foot")):
            add_pin(machine, f"{bone}.{leg}", 'TAIL', f"{other}.{leg}")
        drive(machine, f"crank.{leg}")
        crank = armature.pose.bones[f"crank.{leg}"]
        crank.rotation_mode = 'XYZ'
        for frame in range(1, FRAMES + 1):
            crank.rotation_euler.z = 2.0 * pi * (frame / 50.0 + leg / LEGS)
            crank.keyframe_insert("rotation_euler", index=2, frame=frame)
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.view_layer.update()
    return armature


def tasks() -> tuple[Task, Task]:
    """Return a bake of the walker, and Blender's own of as many two-bone chains in the same scene."""
    chains = scenes.chains(TRIANGLES * LEGS, 2, FRAMES)
    walker = add()
    turns = walker.animation_data.action

    def ours() -> None:
        made = walker.animation_data.action = turns.copy()
        with scenes.alone(walker):
            report = bake(walker, None, 1, FRAMES)
            assert report.all_reached and not report.warnings, report.warnings
        walker.animation_data.action = turns
        bpy.data.actions.remove(made)

    def nla() -> None:
        with scenes.alone(chains), scenes.ik_constraints(chains):
            nla_bake(FRAMES, ALIKE)
        scenes.clear_animation(chains)

    return ours, nla
