# SPDX-License-Identifier: GPL-3.0-or-later
"""Random legs with feet, and where Blender's evaluated pose has the feet's pivots."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector
from rigs import add_armature, add_chain

from ik2d_addon.chains import add_foot

MODES = ('QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE')
# The bones beyond the ankle, (name, end, parent) each, in a leg whose foot points along -Y.
KINDS = {
    "foot and toes": (("foot", (-0.15, 0.03), "shin"), ("toes", (-0.24, 0.02), "foot")),
    "two toe bones in a row": (
        ("foot", (-0.15, 0.03), "shin"),
        ("toes", (-0.2, 0.02), "foot"),
        ("nails", (-0.24, 0.015), "toes"),
    ),
    "two toes side by side": (
        ("foot", (-0.15, 0.03), "shin"),
        ("toes", (-0.24, 0.02), "foot"),
        ("thumb", (-0.22, 0.02), "foot"),
    ),
    "three parts": (
        ("foot", (-0.07, 0.075), "shin"),
        ("instep", (-0.15, 0.03), "foot"),
        ("toes", (-0.24, 0.02), "instep"),
    ),
    "no toes": (("foot", (-0.2, 0.02), "shin"),),
}
TOES = "toes"


@dataclass(frozen=True, eq=False)
class Leg:
    """A leg with a foot."""

    armature: bpy.types.Object
    chain: bpy.types.PropertyGroup
    control: bpy.types.Object
    bones: tuple[str, ...]  # the foot's, root to tip

    @property
    def reach(self) -> float:
        """The leg's length in the world."""
        armature = shown(self.armature)
        return sum(
            (
                armature.matrix_world.to_3x3()
                @ (armature.pose.bones[name].tail - armature.pose.bones[name].head)
            ).length
            for name in ("thigh", "shin")
        )

    def pivots(self) -> dict[str, np.ndarray]:
        """Return heel, ball and toe tip (3,) in the world as Blender's evaluated pose has them now."""
        ankle = self.armature.data.bones["shin"].tail_local
        foot, last = self.bones[0], TOES if TOES in self.bones else self.bones[0]
        at = {"heel": foot, "ball": last, "toe_tip": last}
        own = self.chain.foot
        return {name: self.carried(bone, ankle + Vector(getattr(own, name))) for name, bone in at.items()}

    def carried(self, bone: str, place) -> np.ndarray:
        """Return a place of the rest pose in the world, as a bone carries it now."""
        armature = shown(self.armature)
        posed = armature.pose.bones[bone]
        return np.array(armature.matrix_world @ posed.matrix @ posed.bone.matrix_local.inverted() @ place)


def shown(ob: bpy.types.Object) -> bpy.types.Object:
    """Return the evaluated object."""
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get())


def plain_leg(kind: str = "foot and toes", **settings) -> Leg:
    """Add an upright leg in the armature's YZ plane whose control is an empty at its ankle."""
    return _leg(kind, np.random.default_rng(0), 1.0, False, settings)


def random_leg(seed: int, **settings) -> Leg:
    """Add a leg of any kind, size and rolls, turned and placed anyhow, on a posed and scaled body."""
    rng = np.random.default_rng(seed)
    kinds = list(KINDS)
    return _leg(kinds[seed % len(kinds)], rng, float(rng.choice((0.01, 1.0, 100.0))), True, settings)


def _leg(kind: str, rng: np.random.Generator, scale: float, anyhow: bool, settings: dict) -> Leg:
    roll = (lambda: float(rng.uniform(-3.0, 3.0))) if anyhow else (lambda: 0.0)
    bones = {
        "body": ((0, 0, 1.0), (0, 0, 1.4), "", roll()),
        "thigh": ((0, 0, 1.0), (0, -0.08, 0.55), "body", roll()),
        "shin": ((0, -0.08, 0.55), (0, 0.02, 0.1), "thigh", roll()),
    }
    ends = {"shin": (0.02, 0.1)}
    for name, end, parent in KINDS[kind]:
        bones[name] = ((0, *ends[parent]), (0, *end), parent, roll())
        ends[name] = end
    armature = add_armature(bones)
    control = bpy.data.objects.new("control", None)
    bpy.context.scene.collection.objects.link(control)
    if anyhow:
        for bone in armature.pose.bones:
            bone.rotation_mode = str(rng.choice(MODES))
        armature.scale = (scale,) * 3
        armature.rotation_euler = rng.uniform(-3.0, 3.0, 3)
        armature.location = scale * rng.normal(size=3)
        body = armature.pose.bones["body"]
        body.rotation_mode = 'XYZ'
        body.rotation_euler, body.location = rng.uniform(-0.5, 0.5, 3), rng.normal(0.0, 0.2, 3)
        body.scale = (float(rng.uniform(0.7, 1.4)),) * 3
    bpy.context.view_layer.update()
    chain = add_chain(armature, "shin", control, bone_count=2, **settings)
    tip = shown(armature).pose.bones["shin"]
    control.matrix_world = (
        armature.matrix_world.normalized()
        @ Euler(rng.uniform(-1.0, 1.0, 3) if anyhow else (0, 0, 0)).to_matrix().to_4x4()
    )
    control.matrix_world.translation = armature.matrix_world @ tip.tail
    bpy.context.view_layer.update()
    add_foot(armature, chain)
    return Leg(armature, chain, control, tuple(name for name, _, _ in KINDS[kind]))


def lift_control(leg: Leg, part: float) -> None:
    """Move the control towards the hip by a part of the reach, so that the leg reaches it as it rolls."""
    armature = shown(leg.armature)
    hip = armature.matrix_world @ armature.pose.bones["thigh"].head
    matrix = leg.control.matrix_world.copy()
    way = hip - matrix.translation
    matrix.translation += way.normalized() * part * leg.reach
    leg.control.matrix_world = matrix
    bpy.context.view_layer.update()


def turned(leg: Leg, angle: float) -> Matrix:
    """Turn the control by an angle about the foot's axis in the world; return its matrix before."""
    before = leg.control.matrix_world.copy()
    armature = shown(leg.armature)
    hip, knee, ankle = (
        armature.matrix_world @ place
        for place in (
            armature.pose.bones["thigh"].head,
            armature.pose.bones["shin"].head,
            armature.pose.bones["shin"].tail,
        )
    )
    axis = (knee - hip).cross(ankle - knee).normalized()
    rotation = Matrix.Rotation(angle, 4, axis)
    matrix = rotation @ before
    matrix.translation = before.translation
    leg.control.matrix_world = matrix
    bpy.context.view_layer.update()
    return before
