# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters whose feet move as people's were recorded, as keys of their bones."""

import bpy
import numpy as np
from mathutils import Matrix, Vector
from recorded_motion import clip
from rigs import add_armature, add_chain

from ik2d_addon.bake import bake
from ik2d_addon.chains import add_foot, fit_pole_angle

# Of the ankle: ahead of the heel as a part of the foot, and over the sole in metres.
AHEAD, OVER = 0.25, 0.08


def recorded_walker(name: str, by_hand: bool = False) -> bpy.types.Object:
    """Add a body with two legs whose feet are where a clip has heel and toe; return the armature.

    by_hand: key thighs, shins and feet by the places of their joints, rather than by a bake. Hips are over
    the middle of both ankles, knees point where the feet do: the clips have neither.
    """
    places, times = clip(name)
    feet = [places[:, :2], places[:, 2:]]
    length = float(np.median([np.linalg.norm(foot[:, 1] - foot[:, 0], axis=1) for foot in feet]))
    turns = [_turns(foot) for foot in feet]
    offset = np.array((AHEAD * length, 0.0, OVER))
    ankles = [foot[:, 0] + turned @ offset for foot, turned in zip(feet, turns, strict=True)]
    middle = 0.5 * (ankles[0] + ankles[1]) + (0.0, 0.0, 0.8)
    hips = [middle + (0.0, side, 0.0) for side in (0.1, -0.1)]
    far = max(np.linalg.norm(hip - ankle, axis=1).max() for hip, ankle in zip(hips, ankles, strict=True))
    height = 1.1 * float(far)
    armature, rest_hip = _add_rig(length, height)
    scene = bpy.context.scene
    scene.render.fps = round(1.0 / float(times[1] - times[0]))
    scene.frame_start, scene.frame_end = 1, len(times)
    body = armature.pose.bones["body"]
    ahead = turns[0][:, :, 0] + turns[1][:, :, 0]
    for frame in range(1, len(times) + 1):
        body.location = body.bone.matrix_local.to_3x3().inverted() @ (Vector(middle[frame - 1]) - rest_hip)
        body.keyframe_insert("location", frame=frame)
    for side, hip, ankle, turned in zip("LR", hips, ankles, turns, strict=True):
        control, pole = (bpy.data.objects.new(f"{kind}.{side}", None) for kind in ("control", "pole"))
        for ob in (control, pole):
            scene.collection.objects.link(ob)
        control.rotation_mode = 'QUATERNION'
        control.location = armature.data.bones[f"shin.{side}"].tail_local
        bpy.context.view_layer.update()
        chain = add_chain(armature, f"shin.{side}", control, bone_count=2, plane='POLE', pole=pole)
        fit_pole_angle(chain)
        add_foot(armature, chain)
        chain.foot.heel = (-AHEAD * length, 0.0, -OVER)
        chain.foot.ball = chain.foot.toe_tip = ((1.0 - AHEAD) * length, 0.0, -OVER)
        if by_hand:
            chain.live = False
            _key_leg(armature, side, hip, ankle, ahead, turned)
            continue
        last = None
        for frame in range(1, len(times) + 1):
            row = frame - 1
            control.location = ankle[row]
            turn = Matrix(turned[row].tolist()).to_quaternion()
            if last is not None:
                turn.make_compatible(last)
            control.rotation_quaternion = last = turn
            pole.location = hip[row] + 2.0 * ahead[row] / np.linalg.norm(ahead[row])
            for ob, what in ((control, "location"), (control, "rotation_quaternion"), (pole, "location")):
                ob.keyframe_insert(what, frame=frame)
    if not by_hand:
        bake(armature)
    return armature


def _key_leg(armature, side: str, hips, ankles, ahead, turned) -> None:
    """Key a leg (frames, 3) from hip to ankle whose knee points ahead, and its foot, about all axes."""
    bones = [armature.pose.bones[f"{name}.{side}"] for name in ("thigh", "shin", "foot")]
    lengths = [bone.bone.length for bone in bones[:2]]
    lasts = [None] * 3
    for row, (hip, ankle) in enumerate(zip(hips, ankles, strict=True)):
        along = ankle - hip
        far = float(np.linalg.norm(along))
        along = along / far
        front = ahead[row] - (ahead[row] @ along) * along
        front = front / np.linalg.norm(front)
        cosine = (lengths[0] ** 2 + far**2 - lengths[1] ** 2) / (2.0 * lengths[0] * far)
        angle = np.arccos(np.clip(cosine, -1.0, 1.0))
        knee = hip + lengths[0] * (np.cos(angle) * along + np.sin(angle) * front)
        across = np.cross(front, along)
        wholes = [
            _turn_to(bones[0], knee - hip, across),
            _turn_to(bones[1], ankle - knee, across),
            turned[row],
        ]
        above = np.eye(3)
        for number, (bone, whole) in enumerate(zip(bones, wholes, strict=True)):
            rest = np.array(bone.bone.matrix_local.to_3x3())
            turn = Matrix((rest.T @ above.T @ whole @ rest).tolist()).to_quaternion()
            if lasts[number] is not None:
                turn.make_compatible(lasts[number])
            bone.rotation_quaternion = lasts[number] = turn
            bone.keyframe_insert("rotation_quaternion", frame=row + 1)
            above = whole


def _turn_to(bone, direction, across) -> np.ndarray:
    """Return the rotation (3, 3) from rest that turns a bone and the knee's axis to two directions."""
    rest = np.array((bone.bone.tail_local - bone.bone.head_local).normalized())
    at_rest = np.stack((rest, (0.0, 1.0, 0.0), np.cross(rest, (0.0, 1.0, 0.0))), axis=1)
    own = direction / np.linalg.norm(direction)
    return np.stack((own, across, np.cross(own, across)), axis=1) @ at_rest.T


def _turns(foot: np.ndarray) -> np.ndarray:
    """Return the rotations (frames, 3, 3) of a foot (frames, 2, 3) that is level along X at rest."""
    ahead = foot[:, 1] - foot[:, 0]
    ahead = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    side = np.cross((0.0, 0.0, 1.0), ahead)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return np.stack((ahead, side, np.cross(ahead, side)), axis=2)


def _add_rig(length: float, height: float) -> tuple[bpy.types.Object, Vector]:
    """Add the armature at rest; return it and the middle of its hips."""
    x = AHEAD * length
    top = OVER + height * 0.99
    bones = {"body": ((x, 0, top), (x, 0, top + 0.4), "", 0.0)}
    for side, y in (("L", 0.1), ("R", -0.1)):
        bones[f"thigh.{side}"] = ((x, y, top), (x + 0.06, y, OVER + 0.5 * height), "body", 0.0)
        bones[f"shin.{side}"] = ((x + 0.06, y, OVER + 0.5 * height), (x, y, OVER), f"thigh.{side}", 0.0)
        bones[f"foot.{side}"] = ((x, y, OVER), (length, y, 0.0), f"shin.{side}", 0.0)
    return add_armature(bones), Vector((x, 0.0, top))
