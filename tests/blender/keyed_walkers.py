# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters whose legs, feet and toes have keys that no bake has made, with feet that slide."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector
from rigs import add_armature, add_chain
from walkers import path_of

from ik2d_addon.chains import add_foot
from ik2d_addon.rig.animation.bone_channels import rotation_property
from ik2d_addon.rig.animation.versions import existing_fcurves

MODES = ('QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE')
STRIDE, STANDS = 0.6, 0.6  # metres of a step of one foot; the part of it that the foot is down
SLIDES = 0.15  # by this part of the body's way
ANKLE, LEG = 0.1, (0.46, 0.45)
# Degrees that the foot's tip and the toes' tip point up, at parts of a step.
PARTS = (0.0, 0.1, 0.38, 0.6, 0.75, 1.0)
PITCHES, TOES = (18.0, 0.0, 0.0, -32.0, -15.0, 18.0), (0.0, 0.0, 0.0, 32.0, 0.0, 0.0)
# The bones of a leg (head, tail, parent), in metres ahead and up.
BONES = {
    "thigh": ((0.0, 1.0), (0.03, 0.55), "body"),
    "shin": ((0.03, 0.55), (-0.02, ANKLE), "thigh"),
    "foot": ((-0.02, ANKLE), (0.12, 0.02), "shin"),
    "toes": ((0.12, 0.02), (0.2, 0.02), "foot"),
}


@dataclass(frozen=True, eq=False)
class KeyedWalker:
    """A walker, and what was asked of it."""

    armature: bpy.types.Object
    reach: float  # in the world
    frames: range
    speed: float  # units a second of the ground under it, where it walks in place

    def shown(self, frame: float) -> dict[str, np.ndarray]:
        """Return the world's matrices of all bones by their names, as Blender evaluates a time."""
        bpy.context.scene.frame_set(int(frame // 1), subframe=float(frame % 1))
        seen = self.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return {bone.name: np.array(seen.matrix_world @ bone.matrix) for bone in seen.pose.bones}

    def path(self, bone: str, rest, times) -> np.ndarray:
        """Return where (m, 3) a bone carries a place of the rest pose at some times, as Blender shows it."""
        return path_of(self.armature, bone, rest, times)

    def tilts(self, side: str, times) -> np.ndarray:
        """Return the degrees (m,) that a sole is off the level that it has at rest."""
        rest = np.linalg.inv(np.array(self.armature.data.bones[f"foot.{side}"].matrix_local))
        up = [(self.shown(time)[f"foot.{side}"] @ rest)[:3, 2] for time in times]
        return np.degrees([np.arccos(np.clip(z[2] / np.linalg.norm(z), -1.0, 1.0)) for z in up])


def keyed_walker(
    modes=('QUATERNION',),
    size: float = 1.0,
    fps: int = 24,
    every: int = 1,
    steps: int = 3,
    way: str = "straight",
    aside: float = 0.0,
    feet: bool = True,
) -> KeyedWalker:
    """Add a walker with keys on thighs, shins, feet and toes, none of them made by a bake.

    modes: of its bones, in turn. size: units of a metre. every: frames from key to key. way: straight, in
    place or along a path, which a constraint follows. aside: degrees that feet point outwards and tilt.
    """
    scene = bpy.context.scene
    scene.render.fps, scene.unit_settings.scale_length = fps, 1.0 / size
    bones = {"body": ((0, 0, size), (0, 0, 1.4 * size), "", 0.0)}
    for side, x in (("L", 0.1), ("R", -0.1)):
        for name, (head, tail, parent) in BONES.items():
            ends = [(x * size, -y * size, z * size) for y, z in (head, tail)]
            bones[f"{name}.{side}"] = (*ends, parent if parent == "body" else f"{parent}.{side}", 0.3)
    armature = add_armature(bones)
    for number, bone in enumerate(armature.pose.bones):
        bone.rotation_mode = modes[number % len(modes)]
    length = round(fps * 1.0)  # frames of a step
    frames = range(1, steps * length + 2)
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    last: dict[str, object] = {}
    for frame in [*frames[::every], *([frames[-1]] if (len(frames) - 1) % every else [])]:
        share = (frame - frames[0]) / length
        _key_body(armature, size, frame, share, way)
        for number, side in enumerate("LR"):
            _key_leg(armature, side, size, frame, (share + 0.5 * number) % 1.0, aside, last)
    if way == "along a path":
        _follow_path(armature, size, frames, steps)
    scene.frame_set(frames[0])
    for side in "LR":
        control = bpy.data.objects.new(f"control.{side}", None)
        scene.collection.objects.link(control)
        control.location = armature.data.bones[f"shin.{side}"].tail_local
        bpy.context.view_layer.update()
        chain = add_chain(armature, f"shin.{side}", control, bone_count=2)
        chain.live = False
        if feet:
            add_foot(armature, chain)
    ground = STRIDE / STANDS * (1.0 - SLIDES) * size * fps / length
    return KeyedWalker(armature, sum(LEG) * size, frames, ground if way == "in place" else 0.0)


def _key_body(armature, size: float, frame: int, share: float, way: str) -> None:
    """Key the body: it falls behind by a part of the way that its steps are made for."""
    body = armature.pose.bones["body"]
    ahead = STRIDE / STANDS * (1.0 - SLIDES) * share if way == "straight" else 0.0
    height = 0.008 * np.cos(4.0 * np.pi * share) - 0.13
    body.location = body.bone.matrix_local.to_3x3().inverted() @ (Vector((0.0, -ahead * size, height * size)))
    body.keyframe_insert("location", frame=frame)


def _key_leg(armature, side: str, size: float, frame: int, share: float, aside: float, last: dict) -> None:
    """Key the bones of a leg at a part of its step, by the angles of its bones in its plane."""
    ahead, up = _ankle(share)
    height = 0.008 * np.cos(4.0 * np.pi * share) - 0.13 + 1.0
    a, b = (float(np.hypot(*np.subtract(BONES[name][1], BONES[name][0]))) for name in ("thigh", "shin"))
    down, far = height - up, float(np.hypot(ahead, height - up))
    bend = np.arccos(np.clip((a * a + far * far - b * b) / (2.0 * a * far), -1.0, 1.0))
    thigh = np.arctan2(-down, ahead) + bend
    knee = a * np.cos(thigh), a * np.sin(thigh)
    shin = np.arctan2(-down - knee[1], ahead - knee[0])
    rests = {n: np.arctan2(t[1] - h[1], t[0] - h[0]) for n, (h, t, _) in BONES.items()}
    pitch, toes = (np.radians(np.interp(share, PARTS, each)) for each in (PITCHES, TOES))
    turns = {
        "thigh": thigh - rests["thigh"],
        "shin": shin - rests["shin"],
        "foot": pitch,
        "toes": pitch + toes,
    }
    sign, parent = (1.0 if side == "L" else -1.0), np.eye(3)
    out = Matrix.Rotation(sign * np.radians(aside), 3, 'Z') @ Matrix.Rotation(np.radians(0.3 * aside), 3, 'Y')
    for name, turn in turns.items():
        bone = armature.pose.bones[f"{name}.{side}"]
        rest = np.array(bone.bone.matrix_local.to_3x3())
        # Ahead is -Y, so that the tips of bones rise about -X.
        whole = np.array(Matrix.Rotation(-turn, 3, 'X'))
        if name in ("foot", "toes"):
            whole = np.array(out) @ whole
        local = Matrix((rest.T @ parent.T @ whole @ rest).tolist())
        parent = whole
        _set_rotation(bone, local, last)
        bone.keyframe_insert(rotation_property(bone.rotation_mode), frame=frame)


def _ankle(share: float) -> tuple[float, float]:
    """Return the ankle's place ahead of the hip, and its height, at a part of a step."""
    pitch = np.radians(np.interp(share, PARTS, PITCHES))
    if share < STANDS:
        place = np.array((STRIDE * (0.5 - share / STANDS), 0.0))
    else:
        swing = (share - STANDS) / (1.0 - STANDS)
        eased = swing * swing * (3.0 - 2.0 * swing)
        place = np.array((STRIDE * (eased - 0.5), 0.1 * np.sin(np.pi * swing)))
    # A foot that points up stands on its heel, one that points down on its ball.
    pivot = np.array((-0.06, 0.0)) if pitch > 0.0 else np.array((0.12, 0.02))
    offset = np.array((-0.02, ANKLE)) - pivot
    turned = np.array(((np.cos(pitch), -np.sin(pitch)), (np.sin(pitch), np.cos(pitch)))) @ offset
    ahead, up = place + pivot + turned
    return float(ahead), float(up)


def _set_rotation(bone, local: Matrix, last: dict) -> None:
    """Set a bone's rotation in its own mode, near to that before."""
    mode = bone.rotation_mode
    if mode in ('QUATERNION', 'AXIS_ANGLE'):
        turn = local.to_quaternion()
        if bone.name in last:
            turn.make_compatible(last[bone.name])
        last[bone.name] = turn.copy()
        if mode == 'QUATERNION':
            bone.rotation_quaternion = turn
        else:
            axis, angle = turn.to_axis_angle()
            flip = -1.0 if axis.x < 0.0 else 1.0
            bone.rotation_axis_angle = (flip * angle, *(flip * axis))
        return
    turn = local.to_euler(mode, last[bone.name]) if bone.name in last else local.to_euler(mode)
    last[bone.name] = turn.copy()
    bone.rotation_euler = turn


def _follow_path(armature, size: float, frames: range, steps: int) -> None:
    """Have the armature follow a bend of a curve by a constraint."""
    data = bpy.data.curves.new("path", 'CURVE')
    data.dimensions = '3D'
    spline = data.splines.new('POLY')
    count = 200
    length = STRIDE / STANDS * (1.0 - SLIDES) * steps * size
    angles = np.linspace(0.0, 0.6, count + 1)
    radius = length / angles[-1]
    spline.points.add(count)
    for point, angle in zip(spline.points, angles, strict=True):
        point.co = (radius * (np.cos(angle) - 1.0), -radius * np.sin(angle), 0.0, 1.0)
    path = bpy.data.objects.new("path", data)
    bpy.context.scene.collection.objects.link(path)
    follow = armature.constraints.new('FOLLOW_PATH')
    follow.target, follow.use_fixed_location, follow.use_curve_follow = path, True, True
    follow.forward_axis = 'TRACK_NEGATIVE_Y'
    for frame, offset in ((frames[0], 0.0), (frames[-1], 1.0)):
        follow.offset_factor = offset
        follow.keyframe_insert("offset_factor", frame=frame)
    for curve in existing_fcurves(armature):
        if curve.data_path.endswith("offset_factor"):
            for key in curve.keyframe_points:
                key.interpolation = 'LINEAR'
