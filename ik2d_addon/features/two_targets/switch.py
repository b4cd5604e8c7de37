# SPDX-License-Identifier: GPL-3.0-or-later
"""Another parent for a chain's target from a frame on: an empty below it takes over where the target is."""

from contextlib import ExitStack

import bpy
import numpy as np
from bpy.types import Constraint, FCurve, Object, PropertyGroup, Scene
from mathutils import Matrix, Quaternion

from ...core.affine import orientations
from ...core.swing import POLE
from ...core.words import refusal
from ...rig.animation import actions
from ...rig.animation.fcurves import column
from ...rig.animation.times import action_time, pace_of
from ...rig.animation.value_keys import curve_of
from ...rig.chain.checks.bones import pose_bones_of
from ...rig.chain.dependencies import Node
from ...rig.scene.live_pause import left_alone, live_paused
from ...rig.scene.own_scene import isolated
from ...rig.scene.probes import view_layer_of
from .blend import (
    POLE_OF,
    TARGET,
    Role,
    copy_onto,
    hang,
    make_blend,
    new_empty,
    note_copied,
    refuse_blend,
    refuse_circle,
    shown_matrix,
    spaces_of,
)

# Times nearer than this, in frames, are one.
_SAME_TIME = 1e-3


@live_paused()
def switch_parent(
    scene: Scene, chain: PropertyGroup, parent: Node | None = None, with_pole: bool = True
) -> float | None:
    """Have a chain's target go with another parent from the scene's current frame on; None is the world.

    An empty of that parent is put where the target is, and keyed; it is blended in at once, so that the
    pose stays. Where another switch comes later, the target goes back to where it was until then: return
    that frame, else None. with_pole: have the pole go with that parent too, if the chain has one. Raises
    IK2DError, with nothing changed, for a chain without a target or on drivers, and for a parent that the
    chain moves or that has no size.
    """
    refuse_blend(chain)
    if parent is not None:
        if parent[1] and parent[1] not in pose_bones_of(parent[0]):
            raise refusal(
                "'{object}' has no bone '{bone}'; choose another parent",
                object=parent[0].name,
                bone=parent[1],
            )
        refuse_circle(chain, parent)
    bpy.context.view_layer.update()
    roles = [TARGET, POLE_OF] if with_pole and chain.plane == POLE and chain.pole is not None else [TARGET]
    later = None
    with ExitStack() as undo:
        for role in roles:
            space = _new_space(chain, role, parent, undo)
            then = _take_over(scene, chain, role, space, undo)
            later = then if later is None else later
        undo.pop_all()
    bpy.context.view_layer.update()
    return later


def _new_space(chain: PropertyGroup, role: Role, parent: Node | None, undo: ExitStack) -> Object:
    """Return a new empty with a parent, in the place of a chain's target or pole."""
    place = shown_matrix(role.node(chain))
    where = "World" if parent is None else parent[1] or parent[0].name
    space = new_empty(chain, f"{chain.tip} {role.word} in {where}")
    undo.callback(actions.unless_gone, bpy.data.objects.remove, space)
    if parent is not None:
        hang(space, parent)
        space.matrix_parent_inverse, space.matrix_basis = Matrix(), Matrix()
        held = shown_matrix((space, ""))
        if abs(np.linalg.det(np.array(held, np.float64)[:3, :3])) < np.finfo("f4").tiny:
            raise refusal("'{parent}' is scaled to no size, so that nothing can go with it", parent=where)
        space.matrix_parent_inverse = held.inverted()
    turned = Matrix(orientations(np.array(place, np.float64)[:3, :3]).tolist()).to_4x4()
    _, rotation, signs = turned.decompose()
    space.location, space.rotation_quaternion = place.translation, rotation
    space.scale = [size * sign for size, sign in zip(_sizes(place), signs, strict=True)]
    return space


def _sizes(place: Matrix) -> list[float]:
    """Return the lengths of a matrix' axes; 1 for none."""
    return [place.col[i].to_3d().length or 1.0 for i in range(3)]


def _take_over(
    scene: Scene, chain: PropertyGroup, role: Role, space: Object, undo: ExitStack
) -> float | None:
    """Have a space act from the current frame up to the next switch; return the frame of that."""
    empty = make_blend(chain, role, undo)
    before = spaces_of(chain, role)
    now = action_time(empty, scene, scene.frame_float)
    later = next_switch([curve_of(empty, each.path_from_id("influence")) for each in before], now)
    constraint = copy_onto(empty, (space, ""), space.name)
    undo.callback(actions.unless_gone, empty.constraints.remove, constraint)
    _key_influence(
        empty, constraint, [(now - 1.0, 0.0), (now, 1.0), *([] if later is None else [(later, 0.0)])]
    )
    _key_place(scene, space, now)
    note_copied(chain, role, space)
    if later is None:
        return None
    frame = later / pace_of(scene)
    _key_on_way_back(scene, empty, space, frame, later)
    return frame


def next_switch(curves: list[FCurve | None], now: float) -> float | None:
    """Return the time of the first key after `now` at which an influence changes; None for none."""
    times = [
        float(time)
        for curve in curves
        if curve is not None
        for time in column(curve, "co")[:, 0]
        if time > now + _SAME_TIME and curve.evaluate(time) != curve.evaluate(time - _SAME_TIME)
    ]
    return min(times, default=None)


def _key_influence(empty: Object, constraint: Constraint, keys: list[tuple[float, float]]) -> None:
    """Key how far a space acts, each value up to the next key."""
    constraint.influence = 1.0
    with ExitStack() as kept:
        holder = actions.channels(empty, kept)
        curve = actions.fcurve(holder, constraint.path_from_id("influence"), 0, "Constraints", kept)
        kept.pop_all()
    for time, value in keys:
        curve.keyframe_points.insert(time, value).interpolation = 'CONSTANT'
    curve.update()


def _key_on_way_back(scene: Scene, empty: Object, space: Object, frame: float, time: float) -> None:
    """Key a space where the blend is when the next switch comes, so that nothing jumps there."""
    with isolated(scene, empty, space) as own, left_alone():
        own.frame_set(int(frame // 1), subframe=frame % 1)
        depsgraph = view_layer_of(own).depsgraph
        there, held = (ob.evaluated_get(depsgraph).matrix_world.copy() for ob in (empty, space))
    before = space.location.copy(), space.rotation_quaternion.copy()
    basis = Matrix.LocRotScale(*before, space.scale)
    place = basis @ held.inverted_safe() @ there
    turn = Quaternion(place.to_quaternion())
    turn.make_compatible(before[1])
    space.location, space.rotation_quaternion = place.translation, turn
    _key_place(scene, space, time)
    space.location, space.rotation_quaternion = before


def _key_place(scene: Scene, space: Object, time: float) -> None:
    """Key a space where it is, at a time of its action: by itself Blender ignores that time is remapped."""
    kind = scene.tool_settings.keyframe_type
    for name in ("location", "rotation_quaternion"):
        space.keyframe_insert(name, frame=time, group="Object Transforms", keytype=kind)
