# SPDX-License-Identifier: GPL-3.0-or-later
"""When a target or a pole has keys of its own."""

from collections.abc import Sequence
from itertools import pairwise

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.words import refusal
from ...rig.animation import versions
from ...rig.animation.fcurves import column
from ...rig.animation.value_keys import curve_of
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import Node, copied_by, copies_of, leaders, parents, walk
from ...rig.scene.by_curves import bones_by_object, hindrance, is_placing

# A target is a point: of its own channels only these move it. Of what it hangs on all channels do.
_PLACE = ("location", "delta_location")
_TRANSFORM = (*_PLACE, "rotation_", "delta_rotation_", "scale", "delta_scale")
_TURNED = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
_TURNS = (*_TURNED, *(f"delta_{name}" for name in _TURNED))
# The parts of a gap between two keys at which a curve is looked at: that it stays in between.
_LOOKS = np.array((0.001, 0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98, 0.999))
# Nearer than this, in frames, two times are one.
_SAME_TIME = 1e-3


def target_key_frames(rig: RigChain, first: float, last: float, pace: float = 1.0) -> list[float]:
    """Return the frames from `first` to `last` on which a chain's target or pole has keys, and these two.

    One without keys takes those of its parents, a blend those of what it copies. pace: how fast time goes
    in actions, where the scene's is remapped. Raises IK2DError where there are no keys at all.
    """
    shown = key_frames_of(rig.followed, pace)
    if not shown:
        name = f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name
        raise refusal(
            "Chain '{chain}': its target '{name}' has no keys in its action, nor has what it is "
            "parented to; key the target, or turn off Only on Target's Keys",
            chain=rig.name,
            name=name,
        )
    return sorted({first, last} | {frame for frame in shown if first <= frame <= last})


def key_frames_of(nodes: Sequence[Node], pace: float = 1.0) -> set[float]:
    """Return the frames on which what moves objects or bones has keys."""
    frames = {frame for node in nodes for frame in _moving_frames(node)}
    return {round(frame / pace, 3) for frame in frames}  # 32 bits: nearer than this, two keys are one


def held_keys(rig: RigChain, frames: Sequence[float], pace: float) -> NDArray[np.bool_]:
    """Return a mask of frames at which a chain's target and pole step: they stay up to the next frame.

    By their F-Curves and those of what they are parented to; where more than these moves them, none do.
    frames: as of `target_key_frames`, with the same pace.
    """
    held = np.zeros(len(frames), np.bool_)
    if hindrance(rig.armature, (), rig.followed):
        return held
    curves = _moving_curves(rig)
    times = np.array(frames) * pace
    for i, (first, last) in enumerate(pairwise(times.tolist())):
        looks = first + (last - first) * _LOOKS
        stays = all(np.ptp([curve.evaluate(time) for time in looks]) == 0.0 for curve in curves)
        held[i] = stays and any(_steps(curve, first) for curve in curves)
    return held


def _moving_curves(rig: RigChain) -> list[bpy.types.FCurve]:
    """Return the F-Curves that move what a chain follows, where only its place counts without its turns."""
    nodes = walk(rig.followed, parents)
    above = {above for node in nodes for above in parents(node)}
    points = () if rig.follows_rotation else [node for node in rig.followed if node not in above]
    aside = {(ob, _prefix(ob, bone) + name) for ob, bone in points for name in _TURNS}
    return [
        curve
        for ob, bones in bones_by_object(nodes).items()
        for curve in versions.existing_fcurves(ob)
        if is_placing(ob, curve, bones) and (ob, curve.data_path) not in aside
    ]


def _prefix(ob: bpy.types.Object, bone: str) -> str:
    """Return the beginning of the paths of an object's or a bone's channels."""
    return f"{ob.pose.bones[bone].path_from_id()}." if bone else ""


def _steps(curve: bpy.types.FCurve, time: float) -> bool:
    """Return whether the key at a time, or before it, holds its value up to the next one."""
    before = np.flatnonzero(column(curve, "co")[:, 0] <= time + _SAME_TIME)
    return len(before) > 0 and curve.keyframe_points[int(before[-1])].interpolation == 'CONSTANT'


def _moving_frames(holder: Node) -> set[float]:
    """Return the frames of the keys that move an object or bone: its own, else those of its parents.

    Of a blend those that change it, and those of what it copies with its parents.
    """
    if copied := list(copied_by(holder)):
        above = (_key_frames(node, _TRANSFORM) for node in walk(copied, leaders))
        return _influence_times(holder[0]).union(*above)
    frames = _key_frames(holder, _PLACE)
    if frames:
        return frames
    return {frame for above in walk([holder], parents)[1:] for frame in _key_frames(above, _TRANSFORM)}


def _influence_times(ob: bpy.types.Object) -> set[float]:
    """Return the times of the keys that change a blend, in its action."""
    curves = [curve_of(ob, each.path_from_id("influence")) for each in copies_of((ob, ""))]
    playing = [curve for curve in curves if curve is not None and not curve.mute]
    return {time for curve in playing for time in column(curve, "co")[:, 0].tolist()}


def _key_frames(holder: Node, properties: tuple[str, ...]) -> set[float]:
    """Return the frames of all keys of an object's or bone's channels whose names begin so."""
    ob, bone = holder
    paths = tuple(_prefix(ob, bone) + name for name in properties)
    frames: set[float] = set()
    for curve in versions.existing_fcurves(ob):
        if curve.data_path.startswith(paths) and not curve.mute:
            frames |= set(column(curve, "co")[:, 0].tolist())
    return frames
