# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of a limb over the watched frames, as the space that holds its first bone sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core import Plane
from ...core.affine import inverse, norms, orientations, turned
from ...core.inputs import Floats
from ...core.swing.swing import units
from ...rig.animation.bone_channels import matrices, rotation_property
from ...rig.animation.fcurves import values_by
from ...rig.animation.times import animation_times, strip_times
from ...rig.animation.value_keys import curves_of
from ...rig.rest import rest_bone, rest_matrix
from ...rig.scene.record import Target
from .limbs import Limb
from .poses import Watched

# A limb is straight if it and the line to its tip enclose less than this part of the reach's square.
STRAIGHT = 1e-3


@dataclass(frozen=True, eq=False)
class Course:
    """A limb's joints, target and pole over the frames, in rest space as its parent carries that."""

    frames: tuple[int, ...]
    from_world: Floats  # (frames, 4, 4) to rest space
    joints: Floats  # (frames, n + 1, 3)
    targets: Floats  # (frames, 3)
    poles: Floats | None  # (frames, 3); None without a pole
    first: Floats  # (frames, 3, 3) axes of the first bone

    @property
    def lines(self) -> Floats:
        """(frames, 3) from root to tip."""
        lines: Floats = self.joints[:, -1] - self.joints[:, 0]
        return lines

    def spans(self, bones: int | None = None) -> Floats:
        """Return the spans (frames, 3) of the limb, or of its first bones: see `span`."""
        return span(self.joints if bones is None else self.joints[:, : bones + 1])


def span(joints: Floats) -> Floats:
    """Return the spans (.., 3) of joints (.., n + 1, 3).

    A span's direction is the axis about which a limb bends, its length twice the area between the limb
    and the line to its tip.
    """
    spokes = joints[..., 1:, :] - joints[..., :1, :]
    spans: Floats = np.cross(spokes[..., :-1, :], spokes[..., 1:, :]).sum(axis=-2)
    return spans


def read_course(limb: Limb, watched: Watched) -> Course:
    """Return the course of a limb over the watched frames."""
    armature, names = limb.armature, limb.bones
    joints = watched.joints(armature, names)
    root = armature.pose.bones[names[0]]
    to_rest = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    if root.parent is not None:
        rest = rest_matrix(root.parent.bone)
        to_rest = rest @ inverse(watched.poses[root.parent.name])
    from_world = to_rest @ inverse(watched.world)
    pole = pole_of(limb)
    return Course(
        frames=watched.frames,
        from_world=from_world,
        joints=(to_rest[:, None, :3, :3] @ joints[..., None])[..., 0] + to_rest[:, None, :3, 3],
        targets=_moved(from_world, watched.targets[target_of(limb)]),
        poles=None if pole is None else _moved(from_world, watched.targets[pole]),
        first=orientations((to_rest @ watched.poses[root.name])[:, :3, :3]),
    )


def _moved(matrices: Floats, places: Floats) -> Floats:
    moved: Floats = turned(matrices[:, :3, :3], places) + matrices[:, :3, 3]
    return moved


def target_of(limb: Limb) -> Target:
    """Return a limb's target and its bone."""
    main = limb.main
    return main.target, bone_in(main.target, main.subtarget)


def pole_of(limb: Limb) -> Target | None:
    """Return a limb's pole and its bone; None without one."""
    main = limb.main
    if main.pole_target is None:
        return None
    return main.pole_target, bone_in(main.pole_target, main.pole_subtarget)


def targets_of(limbs: Sequence[Limb]) -> list[Target]:
    """Return the targets and poles of limbs, each once."""
    targets: dict[Target, None] = {}
    for limb in limbs:
        targets |= dict.fromkeys(each for each in (target_of(limb), pole_of(limb)) if each is not None)
    return list(targets)


def bone_in(target: bpy.types.Object, subtarget: str) -> str:
    """Return the name of a target's bone; "" where it has none of that name."""
    return subtarget if rest_bone(target, subtarget) is not None else ""


def own_pose(bones: Sequence[bpy.types.PoseBone]) -> tuple[Floats, Floats]:
    """Return the joints (n + 1, 3) and the first bone's axes (3, 3) as the bones' own channels pose them.

    In rest space. Blender's IK starts from this pose.
    """
    pose, joints, above = np.eye(4), [], np.eye(4)
    first = np.eye(3)
    for i, bone in enumerate(bones):
        rest, basis = rest_matrix(bone.bone), np.array(bone.matrix_basis, np.float64)
        if bone.bone.use_connect and bone.parent is not None:
            basis[:3, 3] = 0.0
        pose, above = pose @ inverse(above) @ rest @ basis, rest
        if i == 0:
            first = orientations(pose[:3, :3])
        joints.append(pose[:3, 3])
    tail = pose @ (0.0, bones[-1].bone.length, 0.0, 1.0)
    return np.array([*joints, tail[:3]]), first


def own_times(bone: bpy.types.PoseBone) -> list[float]:
    """Return the times of an action at which a bone's own rotation has keys."""
    curves = curves_of(bone.id_data, bone.path_from_id(rotation_property(bone.rotation_mode)))
    return sorted({float(key.co[0]) for curve in curves.values() for key in curve.keyframe_points})


def turns_aside(bone: bpy.types.PoseBone, axis: Floats, frames: Sequence[float], apart: float) -> bool:
    """Return whether a bone's own channels turn an axis (3,) of it by more than `apart`, radians.

    By its keys, at these and on some frames; else as it is now.
    """
    scene, name = bpy.context.scene, rotation_property(bone.rotation_mode)
    times = [*own_times(bone), *strip_times(bone.id_data, animation_times(scene, frames)).tolist()]
    path, now = bone.path_from_id(name), np.array(getattr(bone, name), np.float64)
    values = values_by(curves_of(bone.id_data, path), path, times, now)
    turned_axes = matrices(bone.rotation_mode, values) @ axis
    across = norms(np.cross(turned_axes, axis))
    return bool((np.arctan2(across, turned_axes @ axis) > apart).any())


def along_of(rest: Floats, plane: Plane) -> Floats:
    """Return the direction (3,) in a plane from the root of rest joints (n + 1, 3) to their tip."""
    line = rest[-1] - rest[0]
    line = line - (line @ plane.normal) * plane.normal
    size = float(np.linalg.norm(line))
    along: Floats = line / size if size > 0.0 else plane.x
    return along


def spins(lines: Floats, sides: Floats, spans: Floats) -> tuple[Floats, Floats]:
    """Return the angles (m,), radians about lines (m, 3), from sides (m, 3) to spans, and their weights (m,).

    The weights are zero where side or span say nothing: the side's sine to the line, times the span's part
    of the line's square.
    """
    along = units(lines, np.zeros(3))
    across = sides - (sides * along).sum(axis=1, keepdims=True) * along
    square = spans - (spans * along).sum(axis=1, keepdims=True) * along
    angles: Floats = np.arctan2((along * np.cross(across, square)).sum(axis=1), (across * square).sum(axis=1))
    sines = norms(across) / np.maximum(norms(sides), np.finfo(float).tiny)
    return angles, sines * norms(square)
