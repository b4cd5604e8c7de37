# SPDX-License-Identifier: GPL-3.0-or-later
"""Muting other controls of a chain's bones on some frames."""

from collections.abc import Sequence
from contextlib import ExitStack

import bpy
import numpy as np

from ...bake.request import chosen_range
from ...core import IK2DError
from ...core.words import number_of, refusal, say
from ...rig.animation import actions
from ...rig.animation.fcurves import cut_at
from ...rig.animation.times import animation_times
from ...rig.animation.value_keys import curve_of, refuse_tweak_mode
from ...rig.chain.chain import read_chain
from ...rig.chain.native_state import acts
from ...rig.chain.renames import Settings
from ...rig.pose.posts import all_controls
from ...rig.scene.bone_constraints import OtherControl
from .fixes import fix, refuse_nothing

_CONSTANT = 'CONSTANT'
# Two keys nearer than this many frames are one.
_SAME_TIME = 1e-3


@fix("Mute Constraints in Range")
def mute_constraints(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the constraints that override this chain, in the baked range."""
    scene = bpy.context.scene
    first, last, _step = chosen_range(armature, scene)
    controls = all_controls(read_chain(armature, settings), first, last, carrying=acts(settings))
    refuse_nothing(settings, controls, say("constraint overrides its bones on these frames"))
    muted, driven = mute_on_frames(armature, controls, scene, first, last)
    names = [
        say("'{constraint}' of bone '{owner}'", constraint=control.constraint, owner=control.owner)
        for control in driven
    ]
    left = say(
        "The influence of {names} is driven: mute the constraint, or disable its driver",
        names=", ".join(names),
    )
    if not muted:
        raise IK2DError(left)
    count = number_of(len(muted), "constraint")
    done = say("Muted {count} from frame {first} to {last}", count=count, first=first, last=last)
    return f"{done}. {left}" if driven else done


def mute_on_frames(
    armature: bpy.types.Object,
    controls: Sequence[OtherControl],
    scene: bpy.types.Scene,
    first: int,
    last: int,
) -> tuple[list[OtherControl], list[OtherControl]]:
    """Keep constraints from acting on the frames from `first` to `last`.

    Where these are all of the scene's frames, they are muted; else their influence is keyed to 0 there
    only. Returns those muted, and those whose driven influence stays. Raises IK2DError, with nothing
    changed, where an influence cannot be keyed.
    """
    whole = first <= scene.frame_start and scene.frame_end <= last
    driven = [control for control in controls if control.driven and not whole]
    free = [control for control in controls if whole or not control.driven]
    constraints = [armature.pose.bones[control.owner].constraints[control.constraint] for control in free]
    if whole:
        for constraint in constraints:
            constraint.mute = True
        return free, driven
    _check_can_key(armature, constraints)
    for constraint, control in zip(constraints, free, strict=True):
        _key_out(
            armature, constraint, control.owner, animation_times(scene, (first - 1, first, last, last + 1))
        )
    bpy.context.view_layer.update()
    return free, driven


def _check_can_key(armature: bpy.types.Object, constraints: Sequence[bpy.types.Constraint]) -> None:
    if constraints:
        refuse_tweak_mode(armature)
    for constraint in constraints:
        curve = curve_of(armature, constraint.path_from_id("influence"))
        if curve and (curve.lock or (curve.group and curve.group.lock)):
            raise refusal(
                "'{armature}': channel {channel} is locked; unlock it to mute it",
                armature=armature.name,
                channel=curve.data_path,
            )
        if curve and len(curve.sampled_points):
            raise refusal(
                "'{armature}': channel {channel} holds samples; turn them into keys",
                armature=armature.name,
                channel=curve.data_path,
            )


def _key_out(
    armature: bpy.types.Object, constraint: bpy.types.Constraint, group: str, times: Sequence[float]
) -> None:
    """Key a constraint's influence: as it is before the second time and from the last on, 0 between."""
    path, now = constraint.path_from_id("influence"), constraint.influence
    with ExitStack() as undo:
        curve = actions.fcurve(actions.channels(armature, undo), path, 0, group, undo)
        undo.pop_all()
    points = curve.keyframe_points
    before, first, last, after = times
    if not len(points):
        for time in (before, after):
            points.insert(time, now)
    for time in (before, after):
        _split(curve, time)
    for point in [point for point in points if before < point.co.x < after][::-1]:
        points.remove(point, fast=True)
    for time in (first, last):
        points.insert(time, 0.0, options={'FAST'})
    for point in points:
        if before <= point.co.x < after:
            point.interpolation = _CONSTANT
    curve.update()


def _split(curve: bpy.types.FCurve, time: float) -> None:
    """Put a key on a curve, which keeps its shape on both sides of it."""
    value, points = curve.evaluate(time), curve.keyframe_points
    left = max((point for point in points if point.co.x <= time), key=lambda point: point.co.x, default=None)
    right = min((point for point in points if point.co.x >= time), key=lambda point: point.co.x, default=None)
    parts = None
    if left and right and left.co.x < time < right.co.x and left.interpolation == 'BEZIER':
        corners = (left.co, left.handle_right, right.handle_left, right.co)
        parts = cut_at(np.array(corners, np.float64), time)
    kind, ends = left.interpolation if left else None, [point and point.co.x for point in (left, right)]
    new = points.insert(time, value, options={'FAST'})
    new.interpolation = kind or new.interpolation
    if parts is None:
        curve.update()
        return
    # FREE handles alone stay where they are put; the outer ones stay as they are.
    left, right = ([point for point in points if point.co.x == end][0] for end in ends)
    new = [point for point in points if abs(point.co.x - time) < _SAME_TIME][0]
    for point, side, place in (
        (left, "right", parts[0][1]),
        (new, "left", parts[0][2]),
        (new, "right", parts[1][1]),
        (right, "left", parts[1][2]),
    ):
        if getattr(point, f"handle_{side}_type") != 'FREE':
            point.handle_left_type = point.handle_right_type = 'FREE'
        setattr(point, f"handle_{side}", place)
    curve.update()
