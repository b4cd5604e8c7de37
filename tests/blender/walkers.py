# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters whose legs have a walk as keys of their bones, with feet that slide."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Quaternion, Vector
from rigs import add_armature, add_chain

from ik2d_addon.bake import bake
from ik2d_addon.chains import add_foot
from ik2d_addon.rig.animation.bone_channels import rotation_property
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, 73)
HALVES = np.arange(2 * len(FRAMES) - 1) / 2.0 + FRAMES[0]
STEP, STRIDE = 24, 0.7  # frames of a whole step of one foot, and how far it takes the body
STANDS = 15  # frames on which a foot is down
REACH = 1.0
MODES = ('QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE')


@dataclass
class Walker:
    """A walker, with the names of its two chains."""

    armature: bpy.types.Object
    chains: tuple[str, str]
    scale: float

    @property
    def reach(self) -> float:
        """The length of a leg in the world."""
        return REACH * self.scale

    def path(self, bone: str, rest, times=FRAMES) -> np.ndarray:
        """Return where (m, 3) a bone carries a place of the rest pose at some times, as Blender shows it."""
        return path_of(self.armature, bone, rest, times)

    def pose(self) -> np.ndarray:
        """Return the evaluated matrices (frames, bones, 4, 4) of all bones."""
        found = []
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            seen = self.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found.append([np.array(bone.matrix) for bone in seen.pose.bones])
        return np.array(found)


def path_of(armature: bpy.types.Object, bone: str, rest, times) -> np.ndarray:
    """Return where (m, 3) a bone carries a place of the rest pose at some times, as Blender shows it."""
    found = []
    for time in times:
        bpy.context.scene.frame_set(int(time // 1), subframe=float(time % 1))
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        posed = seen.pose.bones[bone]
        found.append(seen.matrix_world @ posed.matrix @ posed.bone.matrix_local.inverted() @ rest)
    return np.array(found)


def walker(
    feet: bool = True,
    scale: float = 1.0,
    seed: int = 0,
    slide: float = 0.85,
    aside: float = 0.0,
    controls: bool = False,
) -> Walker:
    """Add a walker whose body gets only a part of the way that its steps were made for.

    slide: that part. aside: degrees by which its legs swing out of their planes and back, as captured motion.
    controls: whether bones control its feet, as in most rigs, rather than empties.
    """
    rng = np.random.default_rng(seed)
    bones = {"body": ((0, 0, 1.0), (0, 0, 1.4), "", 0.0)}
    for side, x in (("L", 0.1), ("R", -0.1)):
        bones |= {
            f"thigh.{side}": ((x, 0, 1.0), (x, -0.03, 0.55), "body", float(rng.uniform(-3, 3))),
            f"shin.{side}": ((x, -0.03, 0.55), (x, 0.02, 0.1), f"thigh.{side}", float(rng.uniform(-3, 3))),
            f"foot.{side}": ((x, 0.02, 0.1), (x, -0.12, 0.02), f"shin.{side}", float(rng.uniform(-3, 3))),
            f"toes.{side}": ((x, -0.12, 0.02), (x, -0.2, 0.0), f"foot.{side}", 0.0),
        }
        if controls:
            bones[f"control.{side}"] = ((x, 0.02, 0.1), (x, 0.2, 0.1), "", float(rng.uniform(-3, 3)))
    armature = add_armature(bones)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    for bone in armature.pose.bones:
        bone.rotation_mode = str(rng.choice(MODES)) if seed else 'QUATERNION'
    armature.scale = (scale,) * 3
    if seed:
        armature.rotation_euler = (0.0, 0.0, float(rng.uniform(-3, 3)))
        armature.location = scale * rng.normal(size=3)
    bpy.context.view_layer.update()
    chains = []
    for number, side in enumerate("LR"):
        rest = armature.data.bones[f"shin.{side}"].tail_local
        if controls:
            control = armature.pose.bones[f"control.{side}"]
            follow = {"target": armature, "subtarget": control.name}
        else:
            control = bpy.data.objects.new(f"control.{side}", None)
            scene.collection.objects.link(control)
            if seed:
                control.rotation_mode = str(rng.choice(MODES))
            control.location = armature.matrix_world @ rest
            follow = {"target": control}
        bpy.context.view_layer.update()
        chain = add_chain(armature, f"shin.{side}", bone_count=2, **follow)
        chains.append(chain.name)
        if feet:
            add_foot(armature, chain)
        for frame in range(FRAMES[0] - 1, FRAMES[-1] + 2):
            _step(armature, chain, control, rest, frame + number * STEP // 2, frame, feet)
    body = armature.pose.bones["body"]
    for frame in FRAMES:
        to_local = body.bone.matrix_local.to_3x3().inverted()
        body.location = to_local @ _body(frame)
        body.keyframe_insert("location", frame=frame)
    bake(armature)
    for curve in existing_fcurves(armature):
        if curve.data_path.endswith('["body"].location'):
            for key in curve.keyframe_points:
                for co in (key.co, key.handle_left, key.handle_right):
                    co.y *= slide
            curve.update()
    if aside:
        _swing_aside(armature, np.radians(aside))
    return Walker(armature, tuple(chains), scale)


def _body(frame):
    return Vector((0.0, -STRIDE / STEP * frame, -0.05 + 0.01 * np.cos(4 * np.pi * frame / STEP)))


def _step(armature, chain, control, rest, phase, frame, feet):
    """Key a foot that is down for a part of each step, and rolls from heel to toe."""
    whole, part = divmod(phase, STEP)
    down = part < STANDS
    share = 0.0 if down else (part - STANDS + 1) / (STEP - STANDS + 1)
    eased = share * share * (3 - 2 * share)
    # Where the body is over it in the middle of the contact.
    middle = whole * STEP + 0.5 * STANDS - (phase - frame)
    y = -STRIDE / STEP * middle - STRIDE * eased
    z = 0.12 * np.sin(np.pi * share)
    way = Vector((0.0, y, z))
    if isinstance(control, bpy.types.PoseBone):
        control.location = control.bone.matrix_local.to_3x3().inverted() @ way
    else:
        control.location = armature.matrix_world @ (rest + way)
    control.keyframe_insert("location", frame=frame)
    if feet:
        angles = np.interp(part, (0, 3, 9, STANDS - 1, STANDS + 4, STEP), (-20, 0, 0, 35, 10, -20))
        chain.foot.roll = np.radians(angles)
        chain.foot.keyframe_insert("roll", frame=frame)


def _swing_aside(armature, angle):
    """Turn each thigh about the line from hip to ankle, more and less over the frames."""
    for side in "LR":
        bone = armature.pose.bones[f"thigh.{side}"]
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            shin = armature.pose.bones[f"shin.{side}"]
            line = (shin.tail - bone.head).normalized()
            turn = Quaternion(line, angle * np.sin(2 * np.pi * frame / STEP)).to_matrix().to_4x4()
            matrix = bone.matrix.copy()
            place = matrix.translation.copy()
            wanted = turn @ matrix
            wanted.translation = place
            bone.matrix = wanted
            bone.keyframe_insert(rotation_property(bone.rotation_mode), frame=frame)


def slides(made, report, times=FRAMES, ground=(0.0, 0.0, 0.0)):
    """Return how far the planted point gets from where its contact began, as parts of the reach."""
    found = []
    for chain in report.chains:
        side, foot = chain.name[-1], made.armature.ik2d.chains[chain.name].foot
        ankle = made.armature.data.bones[f"shin.{side}"].tail_local
        for name, spans in chain.contacts.items():
            bone, own = {
                "contact": (f"shin.{side}", (0.0, 0.0, 0.0)),
                "contact_heel": (f"foot.{side}", foot.heel),
                "contact_toe": (f"foot.{side}", foot.ball),
            }[name]
            path = made.path(bone, ankle + Vector(own), times)
            path = path - np.outer(np.array(times) - FRAMES[0], ground) / bpy.context.scene.render.fps
            for first, last in spans:
                inside = (np.array(times) >= first) & (np.array(times) <= last)
                found.append(np.linalg.norm(path[inside] - path[inside][0], axis=1).max())
    return max(found) / made.reach
