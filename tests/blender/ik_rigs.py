# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs with IK constraints as people build them, for the tests that adopt these."""

from math import pi

import bpy
import numpy as np
from rigs import add_armature, add_target, evaluated_tip

LAST = 20
HIP, KNEE, ANKLE, TOE = (0, 0, 2.0), (0, -0.1, 1.0), (0, 0, 0.1), (0, -0.3, 0.0)
# Of the target, in the plane x = 0 and within reach of the hip.
PATH = {1: (0, 0.2, 0.3), 10: (0, -0.7, 0.7), LAST: (0, 0.6, 0.6)}


def leg_with_foot(knee=KNEE, turned: float = 0.0) -> bpy.types.Object:
    """Add a body with a leg of two bones in the plane x = 0, and a foot below it; frames 1 to LAST."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    return add_armature(
        {
            "body": (HIP, (0, 0, 2.6), "", 0.0),
            "thigh": (HIP, knee, "body", turned),
            "shin": (knee, ANKLE, "thigh", turned),
            "foot": (ANKLE, TOE, "shin", 0.0),
        }
    )


def add_ik(
    armature: bpy.types.Object, bone: str, target: bpy.types.Object, count: int, **settings
) -> bpy.types.KinematicConstraint:
    """Add an IK constraint to a bone."""
    constraint = armature.pose.bones[bone].constraints.new('IK')
    constraint.target, constraint.chain_count = target, count
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def from_the_tip(path=PATH) -> bpy.types.Object:
    """Have the shin follow a target by an IK constraint of its own."""
    armature = leg_with_foot()
    add_ik(armature, "shin", add_target(path), 2)
    return armature


def from_below() -> bpy.types.Object:
    """Have the constraint on the foot, which starts at its parent."""
    armature = leg_with_foot()
    add_ik(armature, "foot", add_target(PATH), 2, use_tail=False)
    return armature


def to_the_root() -> bpy.types.Object:
    """Have a constraint that reaches up to the root, of a leg that hangs on nothing."""
    armature = add_armature({"thigh": (HIP, KNEE, "", 0.2), "shin": (KNEE, ANKLE, "thigh", 0.1)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    add_ik(armature, "shin", add_target(PATH), 0)
    return armature


def with_pole(
    path=PATH, y: dict[int, float] | None = None, knee=(0, -0.03, 1.05), turned: float = 0.0
) -> bpy.types.Object:
    """Have a pole say which way the knee of a leg points; y: {frame: its place}, -3 in front."""
    armature = leg_with_foot(knee, turned)
    pole = add_target({frame: (0, place, 1.0) for frame, place in (y or {1: -3.0}).items()}, "Pole")
    for curve in _curves(pole):
        for key in curve.keyframe_points:
            key.interpolation = 'CONSTANT'
    constraint = add_ik(armature, "shin", add_target(path), 2, pole_target=pole)
    _aim(armature, constraint)
    return armature


def _aim(armature: bpy.types.Object, constraint: bpy.types.KinematicConstraint) -> None:
    """Set the pole's angle so that the knee points to it, as riggers do by trying."""
    pole = constraint.pole_target.location
    turns = []
    for angle in np.linspace(-pi, pi, 17):
        constraint.pole_angle = angle
        bpy.context.scene.frame_set(10)
        knee = evaluated_tip(armature, "thigh")
        turns.append(((knee - pole).length, angle))
    constraint.pole_angle = min(turns)[1]
    bpy.context.scene.frame_set(1)


def _curves(ob: bpy.types.Object):
    from ik2d_addon.rig.animation.versions import existing_fcurves

    return existing_fcurves(ob)


def pole_in_front() -> bpy.types.Object:
    """Return the leg whose knee points forwards."""
    return with_pole()


def pole_behind() -> bpy.types.Object:
    """Return the leg whose knee points backwards."""
    return with_pole(y={1: 3.0})


def pole_goes_behind() -> bpy.types.Object:
    """Return the leg whose knee points forwards, and from frame 12 on backwards."""
    return with_pole(y={1: -3.0, 12: 3.0})


def hinged_goes_behind() -> bpy.types.Object:
    """Return the same leg with a hip that IK locks make a hinge."""
    return with_hinged_hip(pole_goes_behind())


def with_hinged_hip(armature: bpy.types.Object) -> bpy.types.Object:
    """Return a leg whose hip IK locks make a hinge, so that its plane stays."""
    thigh = armature.pose.bones["thigh"]
    thigh.lock_ik_y = thigh.lock_ik_z = True
    return armature


def moved_and_scaled() -> bpy.types.Object:
    """Return the leg with the pole that goes behind, elsewhere, turned, and twice as large."""
    armature = pole_goes_behind()
    for name in ("Target", "Pole"):
        bpy.data.objects[name].parent = armature
    armature.location, armature.rotation_euler, armature.scale = (3, 2, 1), (0.2, 0, 1.0), (2, 2, 2)
    return armature


def foot_apart() -> bpy.types.Object:
    """Have the constraint on a foot that does not join the shin: it is the shin's tail that IK leads."""
    armature = add_armature(
        {
            "thigh": (HIP, KNEE, "", 0.0),
            "shin": (KNEE, ANKLE, "thigh", 0.0),
            "foot": ((0, 0.2, 0), TOE, "shin", 0.0),
        }
    )
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    add_ik(armature, "foot", add_target(PATH), 2, use_tail=False)
    return armature


def keyed_influence() -> bpy.types.Object:
    """Have an influence that comes and goes."""
    armature = from_the_tip()
    constraint = armature.pose.bones["shin"].constraints[0]
    for frame, value in ((1, 1.0), (10, 0.25), (LAST, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    return armature


def driven_influence() -> bpy.types.Object:
    """Have a custom property switch the IK."""
    armature = from_the_tip()
    body = armature.pose.bones["body"]
    body["IK"] = 1.0
    _drive(armature, armature.pose.bones["shin"].constraints[0], "influence")
    return armature


def driven_mute() -> bpy.types.Object:
    """Have a custom property mute the IK; it does not."""
    armature = from_the_tip()
    armature.pose.bones["body"]["IK"] = 0.0
    _drive(armature, armature.pose.bones["shin"].constraints[0], "mute")
    return armature


def keyed_mute() -> bpy.types.Object:
    """Have the IK's mute keyed: off all the time."""
    armature = from_the_tip()
    armature.pose.bones["shin"].constraints[0].keyframe_insert("mute", frame=1)
    return armature


def _drive(armature: bpy.types.Object, constraint: bpy.types.Constraint, name: str) -> None:
    driver = constraint.driver_add(name).driver
    driver.type = 'AVERAGE'
    variable = driver.variables.new()
    variable.targets[0].id = armature
    variable.targets[0].data_path = 'pose.bones["body"]["IK"]'
    armature.update_tag()


def hinges(turned: float = 0.0) -> bpy.types.Object:
    """Have a knee that IK locks make a hinge, with limits, a stiff thigh, and locks of channels."""
    armature = leg_with_foot(turned=turned)
    knee, thigh = armature.pose.bones["shin"], armature.pose.bones["thigh"]
    knee.lock_ik_y = knee.lock_ik_z = True
    knee.use_ik_limit_x, knee.ik_min_x, knee.ik_max_x = True, -0.4, 2.0
    thigh.ik_stiffness_x = 0.5
    knee.lock_rotation = (True, True, True)
    thigh.lock_rotation, thigh.lock_rotations_4d = (True, False, True), True
    add_ik(armature, "shin", add_target(PATH), 2)
    return armature


def stretching() -> bpy.types.Object:
    """Have bones that stretch to a target out of reach."""
    armature = from_the_tip({1: (0, 0.2, 0.3), 10: (0, -0.7, 0.7), LAST: (0, 1.4, 0.1)})
    for name in ("thigh", "shin"):
        armature.pose.bones[name].ik_stretch = 0.1
        armature.pose.bones[name].lock_scale = (True, True, True)
        armature.data.bones[name].inherit_scale = 'ALIGNED'
    return armature


def marionette() -> bpy.types.Object:
    """Have a leg whose target hangs on a stick by a Child Of, and so does the body, by a second one."""
    armature = from_the_tip()
    constraint = armature.pose.bones["shin"].constraints[0]
    hand = add_target({1: (0, 0, 3.0), LAST: (0, 0.3, 3.2)}, "Stick")
    for holder in (constraint.target, armature.pose.bones["body"]):
        child = holder.constraints.new('CHILD_OF')
        child.target = hand
        child.inverse_matrix = hand.matrix_world.inverted()
    return armature


def hanging_limb() -> bpy.types.Object:
    """Have a leg without a parent that hangs on the body by a Child Of of the thigh's own."""
    armature = add_armature(
        {
            "body": (HIP, (0, 0, 2.6), "", 0.0),
            "thigh": (HIP, KNEE, "", 0.0),
            "shin": (KNEE, ANKLE, "thigh", 0.0),
        }
    )
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    child = armature.pose.bones["thigh"].constraints.new('CHILD_OF')
    child.target, child.subtarget = armature, "body"
    child.inverse_matrix = armature.data.bones["body"].matrix_local.inverted()
    add_ik(armature, "shin", add_target(PATH), 2)
    return armature


def tail_of_five() -> bpy.types.Object:
    """Have five bones that bend to one side."""
    bones, place, parent = {}, np.array((0.0, 0.0, 2.0)), ""
    for i in range(5):
        tail = place + 0.4 * np.array((0.0, np.sin(0.25 * i), -np.cos(0.25 * i)))
        bones[f"tail{i}"] = (tuple(place), tuple(tail), parent, 0.0)
        place, parent = tail, f"tail{i}"
    armature = add_armature(bones)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    add_ik(armature, "tail4", add_target({1: (0, 0.9, 0.6), LAST: (0, 1.2, 1.2)}), 5)
    return armature


# Rigs whose targets stay in the plane and in reach.
IN_PLANE = [
    from_the_tip,
    from_below,
    foot_apart,
    to_the_root,
    pole_in_front,
    pole_behind,
    pole_goes_behind,
    moved_and_scaled,
    driven_influence,
    driven_mute,
    keyed_mute,
    stretching,
    marionette,
    tail_of_five,
]
ALL_RIGS = [*IN_PLANE, keyed_influence, hinges, hanging_limb, hinged_goes_behind]


def turning_foot(controlled: bool) -> tuple[bpy.types.Object, tuple[bpy.types.Object, str]]:
    """Have a foot follow the rotation of a target too, an object or a bone; return armature and target."""
    armature, target = leg_with_foot(), add_target({1: (0, 0.0, 0.2), LAST: (0, -0.4, 0.5)})
    add_ik(armature, "foot", target, 3, use_rotation=True)
    for frame, turned in ((1, -2.9), (LAST, -2.3)):
        target.rotation_euler.x = turned
        target.keyframe_insert("rotation_euler", frame=frame)
    if not controlled:
        return armature, (target, "")
    handle = add_armature({"handle": ((0, 0, 0), (0, 0.1, 0.3), "", 0.4)}, "Handle")
    held = handle.pose.bones["handle"].constraints.new('COPY_TRANSFORMS')
    held.target = target
    ik = armature.pose.bones["foot"].constraints[0]
    ik.target, ik.subtarget = handle, "handle"
    return armature, (handle, "handle")


def foot_heading(armature: bpy.types.Object, frame: int) -> float:
    return heading_along_y(armature, "foot", frame)


def heading_along_y(ob: bpy.types.Object, bone: str, frame: int) -> float:
    """Return the direction of the Y axis of an object or a bone in the plane x = 0, as evaluated."""
    bpy.context.scene.frame_set(frame)
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = shown.matrix_world @ shown.pose.bones[bone].matrix if bone else shown.matrix_world
    return float(np.arctan2(matrix.col[1][2], matrix.col[1][1]))


def on_a_stuck_spine(fingers: int) -> bpy.types.Object:
    """Return a straight spine whose IK is stuck, an arm that hangs on it, and fingers that hang on that.

    The spine's target is on its line, nearer than its length: Blender's IK does not bend it.
    """
    bones = {f"spine.{i}": ((0, 0, 0.3 * i), (0, 0, 0.3 * i + 0.3), _spine(i - 1), 0.0) for i in range(3)}
    bones |= {
        "upper": ((0.1, 0, 0.9), (0.4, 0.05, 0.9), "spine.2", 0.0),
        "fore": ((0.4, 0.05, 0.9), (0.7, 0, 0.9), "upper", 0.0),
        "chest": ((0, 0, 0.75), (0, 0, 0.65), "", 0.0),
        "hand": ((0.62, 0.02, 0.9), (0.72, 0.02, 0.9), "", 0.0),
    }
    for i in range(fingers):
        y = 0.03 * i
        bones[f"finger.{i}.0"] = ((0.7, y, 0.9), (0.75, y, 0.91), "fore", 0.0)
        bones[f"finger.{i}.1"] = ((0.75, y, 0.91), (0.8, y, 0.9), f"finger.{i}.0", 0.0)
        bones[f"end.{i}"] = ((0.7, y + 0.01, 0.84), (0.75, y + 0.01, 0.84), "", 0.0)
    armature = add_armature(bones)
    ends = {f"finger.{i}.1": f"end.{i}" for i in range(fingers)}
    for bone, target in ({"spine.2": "chest", "fore": "hand"} | ends).items():
        add_ik(armature, bone, armature, 3 if bone == "spine.2" else 2, subtarget=target)
    bpy.context.scene.frame_set(1)
    return armature


def _spine(i: int) -> str:
    return f"spine.{i}" if i >= 0 else ""
