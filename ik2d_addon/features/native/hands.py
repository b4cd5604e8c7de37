# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet of native chains: empties that are turned as they are to be, which their bones copy.

The first empty has the target's rotation, or the armature's, and the size of the bone above the chain. Its
children have the pivots of a foot: heel, toe tip and ball, each the next one's parent, as in a reverse foot
rig. Their axes are ahead, up and across. Each bone copies a last child with its rest orientation, which is
where the bone's parent carries it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...core.foot.roll import Point
from ...core.inputs import Floats
from ...core.words import say
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import Node
from ...rig.chain.foot.bones import FOOT, TOES
from ...rig.chain.hands import Hands
from ...rig.pose.channels import is_locked
from ...rig.rest import rest_axes
from .drivers import Empties, drive

_Add = Callable[[str], bpy.types.Object]


@dataclass(frozen=True, eq=False)
class HandEmpties:
    """The empties that turn what hangs on a chain's tip."""

    bones: dict[str, bpy.types.Object]  # those that bones copy
    goal: Node  # that the tip follows
    pivots: tuple[bpy.types.Object, ...]  # of a foot: heel, toe tip, ball, and the joint of the toes


def add_hand_empties(rig: RigChain, controls: bpy.types.Object, add: _Add) -> HandEmpties:
    """Add the empties of a chain with hands to its controls. add: makes one, by a word for its name."""
    hands, foot = rig.hands, rig.foot
    assert hands is not None
    root, axes = _root(rig, hands, controls, add), np.eye(3)
    if foot is None:
        frames: dict[int, bpy.types.Object] = {FOOT: _child(root, add("hand"), hands.offset)}
        goal: Node = (rig.target, rig.subtarget)
        pivots: tuple[bpy.types.Object, ...] = ()
    else:
        axes, shape = np.column_stack((foot.ahead, foot.up, -foot.axis)), foot.shape
        frame = _child(root, add("foot"), hands.offset @ axes)
        heel = _pivot(frame, add("heel"), shape.heel)
        tip = _pivot(heel, add("toe tip"), np.subtract(shape.tip, shape.heel))
        ball, joint = (
            _pivot(tip, add(name), np.subtract(shape.ball, shape.tip)) for name in ("ball", "toes")
        )
        ankle = _pivot(ball, add("ankle"), np.negative(shape.ball))
        frames, pivots = {FOOT: ball, TOES: joint}, (heel, tip, ball, joint)
        goal = (_above_ground(rig, controls, ankle, ball, joint, add), "")
    bones = {}
    for name, kind in zip(hands.bones, hands.parts, strict=True):
        bone = rig.armature.pose.bones[name]
        if not is_locked(bone):
            rest = rest_axes(bone.bone)
            bones[name] = _child(frames[kind], add(name), axes.T @ rest)
            _locate(bones[name], _carried(rig, bone, add))
    return HandEmpties(bones, goal, pivots)


def drive_foot(hands: HandEmpties, empties: Empties) -> None:
    """Drive the pivots of a foot by the controls: no roll turns more than one of the first three."""
    if not hands.pivots:
        return
    turns = ("-min(roll,0)", "-max(roll-break_angle,0)", "-clamp(roll,0,break_angle)", "toe")
    for pivot, turn in zip(hands.pivots, turns, strict=True):
        drive(pivot, "rotation_euler", turn, empties, index=2)


def hand_problems(rig: RigChain) -> Iterator[str]:
    """Yield the reasons why the hands of a chain cannot be native, without the chain's name."""
    for name in rig.hands.bones if rig.hands is not None else ():
        bone = rig.armature.pose.bones[name]
        if bone.bone.inherit_scale not in ('FULL', 'ALIGNED'):
            yield say(
                "the bone '{name}' on its tip does not inherit scale; set its Inherit Scale to Full",
                name=name,
            )
        if tuple(bone.scale) != (1.0, 1.0, 1.0):
            yield say("the bone '{name}' on its tip is scaled; clear its scale (Alt-S)", name=name)
    if rig.foot is not None and rig.foot.has_surface:
        assert rig.foot.ground is not None
        yield say(
            "its foot stands on the mesh '{ground}', and drivers only know the height of an "
            "object; choose an empty for its Ground, or bake it instead",
            ground=rig.foot.ground.name,
        )


def _root(rig: RigChain, hands: Hands, controls: bpy.types.Object, add: _Add) -> bpy.types.Object:
    """Add the empty that is turned as the target, or else as the armature."""
    root = add("control")
    root.parent = controls
    turned = root.constraints.new('COPY_TRANSFORMS')
    turned.target = rig.target if hands.follow else rig.armature
    turned.subtarget = rig.subtarget if hands.follow else ""
    root.constraints.new('COPY_SCALE').target = controls
    return root


def _child(parent: bpy.types.Object, empty: bpy.types.Object, axes: Floats) -> bpy.types.Object:
    empty.parent, empty.rotation_mode = parent, 'QUATERNION'  # which Euler angles would round
    empty.rotation_quaternion = Matrix(np.asarray(axes).tolist()).to_quaternion()
    return empty


def _pivot(parent: bpy.types.Object, empty: bpy.types.Object, place: Floats | Point) -> bpy.types.Object:
    """Put an empty at a place (2,), ahead and up, of its parent."""
    empty.parent = parent
    empty.location = (float(place[0]), float(place[1]), 0.0)
    return empty


def _carried(rig: RigChain, bone: bpy.types.PoseBone, add: _Add) -> bpy.types.Object:
    """Add the empty that is at a bone's head as the bone's parent carries it."""
    place, above = add("head"), bone.parent.bone
    place.parent, place.parent_type, place.parent_bone = rig.armature, 'BONE', above.name
    tail = above.matrix_local @ Matrix.Translation((0.0, above.length, 0.0))
    place.matrix_parent_inverse = tail.inverted()
    place.location = bone.bone.head_local
    return place


def _locate(empty: bpy.types.Object, place: bpy.types.Object) -> None:
    empty.constraints.new('COPY_LOCATION').target = place


def _above_ground(
    rig: RigChain,
    controls: bpy.types.Object,
    ankle: bpy.types.Object,
    ball: bpy.types.Object,
    joint: bpy.types.Object,
    add: _Add,
) -> bpy.types.Object:
    """Return the ankle, or one lifted so that no point of the sole is below the ground."""
    foot = rig.foot
    assert foot is not None
    if foot.ground is None or not foot.values[3]:
        return ankle
    shape, goal = foot.shape, add("goal")
    goal.parent = controls
    _locate(goal, ankle)
    limit = goal.constraints.new('LIMIT_LOCATION')
    limit.use_min_z = True
    points = [(ball, shape.heel), (ball, shape.under_ball), (joint, shape.under_ball), (joint, shape.tip)]
    sole = [_pivot(frame, add("sole"), np.subtract(point, shape.ball)) for frame, point in points]
    curve = goal.driver_add(f"{limit.path_from_id()}.min_z")
    while len(curve.modifiers):
        curve.modifiers.remove(curve.modifiers[0])
    curve.keyframe_points.clear()
    for name, source in zip("kabcdg", (ankle, *sole, foot.ground), strict=True):
        variable = curve.driver.variables.new()
        variable.name, variable.type = name, 'TRANSFORMS'
        variable.targets[0].id, variable.targets[0].transform_type = source, 'LOC_Z'
    curve.driver.type, curve.driver.expression = 'SCRIPTED', "k+max(0,g-min(min(a,b),min(c,d)))"
    return goal
