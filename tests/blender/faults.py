# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs with one fault each, for what finds faults and what mends them."""

from collections.abc import Callable
from dataclasses import dataclass
from math import radians

import bpy
import faulty_posts
from rigs import add_armature, add_chain, add_target, leg_with_target, stored_settings

from ik2d_addon.features.doctor.findings import Finding, findings, target_off_plane
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain, reading


@dataclass(frozen=True)
class Fault:
    """A fault, what it is called, and the way that mends it."""

    name: str
    build: Callable[[], tuple[bpy.types.Object, bpy.types.PropertyGroup]]
    kind: str
    way: str
    words: str  # of the sentence
    blocks: bool = False
    solvable: bool = True  # whether the tip is on its target once it is mended


def examine(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, first: float, last: float
) -> list[Finding]:
    """Return the findings of a chain on the frames from `first` to `last`, the gravest first."""
    rig = reading(armature, settings)
    off = target_off_plane(bpy.context.scene, settings, rig, first, last)
    return findings(armature, settings, rig, first, last, off)


def leg(**settings):
    """Add a leg with a target that is always in reach."""
    armature, _ = leg_with_target(**settings)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    return armature, armature.ik2d.chains[0]


def keyed_leg():
    """Add a leg with keys on its bones."""
    armature, chain = leg()
    for name in ("thigh", "shin"):
        for frame in (1, 40):
            armature.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame, group=name)
    return armature, chain


def curves(armature, bone="shin"):
    """Return the F-Curves of a bone's rotation."""
    path = f'pose.bones["{bone}"].rotation_quaternion'
    return [curve for curve in existing_fcurves(armature) if curve.data_path == path]


def zigzag(off=0.15):
    """Add an arm of four bones whose joints are off one plane, with a hand on it."""
    places = [(0, 0, 0), (off, 0.5, 1.0), (-off, 1.4, 1.3), (off, 2.0, 0.6), (0, 2.6, 0.0), (0, 3.0, 0.0)]
    names = ["b0", "b1", "b2", "b3", "hand"]
    bones = {
        name: (places[i], places[i + 1], names[i - 1] if i else "", 0.3 * i) for i, name in enumerate(names)
    }
    armature = add_armature(bones)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    chain = add_chain(armature, "b3", armature, 4)
    chain.target = add_target({})
    plane = read_chain(armature, chain).plane
    for frame, place in ((1, (1.5, 0.5)), (20, (2.2, -1.0)), (40, (1.2, 1.4))):
        chain.target.location = plane.lift(place)
        chain.target.keyframe_insert("location", frame=frame)
    for curve in existing_fcurves(chain.target):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'  # eased, each axis for itself, it would leave the plane
    return armature, chain


def uneven():
    """Add a leg that is scaled more along one axis than along the others."""
    armature, chain = leg()
    armature.scale = (1.0, 1.4, 0.9)
    bpy.context.view_layer.update()
    return armature, chain


def uneven_bone():
    """Add a leg whose shin is scaled along itself."""
    armature, chain = leg()
    armature.pose.bones["shin"].scale = (1.0, 1.3, 1.0)
    bpy.context.view_layer.update()
    return armature, chain


def uneven_body():
    """Add a leg that hangs on a bone that is scaled along itself."""
    armature, chain = leg()
    armature.pose.bones["body"].scale = (1.0, 1.0, 0.8)
    bpy.context.view_layer.update()
    return armature, chain


def other_controls():
    """Add a leg with an IK constraint."""
    armature, chain = leg()
    constraint = armature.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = add_target({1: (0, -0.5, 0.5)}, "Other"), 2
    return armature, chain


def driven():
    """Add a leg with a driver on its shin."""
    armature, chain = leg()
    armature.pose.bones["shin"].driver_add("rotation_quaternion", 1).driver.expression = "0.2"
    return armature, chain


def locked_curve():
    """Add a leg with a locked F-Curve."""
    armature, chain = keyed_leg()
    curves(armature)[1].lock = True
    return armature, chain


def locked_group():
    """Add a leg with a locked channel group."""
    armature, chain = keyed_leg()
    curves(armature)[0].group.lock = True
    return armature, chain


def muted_curves():
    """Add a leg with muted F-Curves."""
    armature, chain = keyed_leg()
    for curve in curves(armature) + curves(armature, "thigh"):
        curve.mute = True
    return armature, chain


def modified():
    """Add a leg with noise on an F-Curve."""
    armature, chain = keyed_leg()
    curves(armature)[1].modifiers.new('NOISE').strength = 0.5
    return armature, chain


def shared_action():
    """Add a leg whose action another leg plays."""
    armature, chain = keyed_leg()
    other = armature.copy()
    other.name = "Other"
    bpy.context.scene.collection.objects.link(other)
    other.animation_data_clear()
    other.animation_data_create().action = armature.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = armature.animation_data.action_slot
    return armature, chain


def mixed():
    """Add a leg whose action is mixed with what lies below it."""
    armature, chain = keyed_leg()
    armature.animation_data.action_influence = 0.5
    return armature, chain


def locked_bone():
    """Add a leg whose shin may not turn."""
    armature, chain = leg()
    armature.pose.bones["shin"].lock_rotation = (True, True, True)
    return armature, chain


def backwards():
    """Add a leg with a range that a script has turned round."""
    armature, chain = leg()
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -1.0, 2.5
    stored = stored_settings(armature)["chains"][0]["joints"][1]
    stored["limit_min"], stored["limit_max"] = 2.5, -1.0
    return armature, chain


def stuck():
    """Add a leg whose thigh may not turn, and must."""
    armature, chain = leg()
    joint = chain.joints["thigh"]
    joint.use_limit, joint.limit_min, joint.limit_max, joint.weight = True, 0.2, 1.0, 0.0
    return armature, chain


def other_side():
    """Add a leg whose knee may bend to the other side alone."""
    armature, chain = leg()
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -2.8, -0.4
    return armature, chain


def own_target():
    """Add a leg that follows its own shin."""
    armature, chain = leg()
    chain.target, chain.subtarget = armature, "shin"
    return armature, chain


def lost_tip():
    """Add a leg whose tip was renamed and moved."""
    armature, chain = leg()
    bpy.ops.object.mode_set(mode='EDIT')
    bone = armature.data.edit_bones["shin"]
    bone.name, bone.tail = "shin_new", (0, 0.1, 0.2)
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature, chain


def lost_joint():
    """Add a leg with a bone that has no joint."""
    armature, chain = leg()
    bpy.context.view_layer.update()  # else what follows edits would give it back
    chain.joints.remove(0)
    return armature, chain


def straight():
    """Add a leg that is straight at rest."""
    armature = add_armature(
        {"thigh": ((0, 0, 2.0), (0, 0, 1.0), "", 0.4), "shin": ((0, 0, 1.0), (0, 0, 0.1), "thigh", 0.4)}
    )
    target = add_target({1: (0.1, 0.2, 0.3), 20: (-0.45, -0.9, 0.8), 40: (0.4, 0.8, 0.6)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    return armature, add_chain(armature, "shin", target)


def hinge(rolls=(0.0, 6.0), locked=("shin",)):
    """Add a leg with hinges that are rolled off the plane's normal by degrees."""
    thigh, shin = (radians(roll) for roll in rolls)
    armature = add_armature(
        {
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "", thigh),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", shin),
        }
    )
    for name in locked:
        armature.pose.bones[name].lock_rotation = (False, True, True)
    target = add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    return armature, add_chain(armature, "shin", target)


def shared_bone():
    """Add a leg whose shin is in another chain, too."""
    armature, chain = leg()
    add_chain(armature, "shin", chain.target, 1, name="other")
    return armature, armature.ik2d.chains[0]


def nowhere():
    """Add a leg whose target is in no scene."""
    armature, chain = leg()
    bpy.context.scene.collection.objects.unlink(chain.target)
    return armature, chain


def rest_position():
    """Add a leg that shows its rest position."""
    armature, chain = leg()
    armature.data.pose_position = 'REST'
    return armature, chain


def locked_plane():
    """Add a leg whose plane would swing with its target, but for locks that make a hinge of its thigh."""
    armature, chain = leg(plane='SWING')
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["thigh"].align_roll((0, -1, 0))  # X across the leg's plane
    bpy.ops.object.mode_set(mode='OBJECT')
    thigh = armature.pose.bones["thigh"]
    thigh.rotation_mode, thigh.lock_rotation = 'XYZ', (False, True, True)
    return armature, chain


def aside(**settings):
    """Add a leg in the plane of its rest pose whose target leaves it."""
    armature, chain = leg(**settings)
    chain.target.location = 0.6, -0.4, 0.7
    for frame in (1, 20, 40):
        chain.target.keyframe_insert("location", frame=frame)
    return armature, chain


def loose_shin():
    """Add a leg whose plane swings, but whose shin does not inherit the thigh's rotation."""
    armature, chain = leg(plane='SWING')
    armature.data.bones["shin"].use_inherit_rotation = False
    return armature, chain


def no_pole():
    """Add a leg that goes towards a pole that it does not have."""
    return leg(plane='POLE')


def own_pole():
    """Add a leg whose pole is a bone of its own."""
    armature, chain = leg(plane='POLE')
    chain.pole, chain.pole_subtarget = armature, "shin"
    return armature, chain


def on_a_post(spoil, which="arm"):
    """Return a function that adds a robot arm on a turntable, spoils its post, and returns one chain."""

    def build():
        armature, chain = faulty_posts.arm_on_a_plate()
        bpy.context.scene.frame_end = 40
        spoil(armature, chain)
        bpy.context.view_layer.update()
        return armature, armature.ik2d.chains[which]

    return build


FAULTS = (
    Fault("no post", on_a_post(faulty_posts.none), 'PROBLEM', 'POST', "has no post", True),
    Fault(
        "carried by its post",
        on_a_post(faulty_posts.on_the_post),
        'PROBLEM',
        'FREE_TARGET',
        "carried by its post 'base'",
        True,
        False,
    ),
    Fault(
        "loose on its post",
        on_a_post(faulty_posts.inherits_none("plate")),
        'PROBLEM',
        'INHERIT_FROM_POST',
        "inherits no rotation",
        True,
    ),
    Fault(
        "held on its post",
        on_a_post(faulty_posts.track("plate")),
        'PROBLEM',
        'MUTE_HOLDING',
        "keeps it from turning with its post",
        True,
    ),
    Fault(
        "post backwards",
        on_a_post(faulty_posts.backwards),
        'PROBLEM',
        'TURN_POST_LIMITS',
        "limits of its post 'base' run backwards",
        True,
        False,
    ),
    Fault(
        "post of two",
        on_a_post(faulty_posts.two_chains, "second"),
        'SHARED_BONES',
        'PLANE_STAYS',
        "turns its post 'base' too",
        True,
        False,
    ),
    Fault("own target", own_target, 'PROBLEM', 'CLEAR_TARGET', "moved by the chain itself", True, False),
    Fault("backwards", backwards, 'PROBLEM', 'TURN_RANGES', "run backwards", True),
    Fault("shared bone", shared_bone, 'SHARED_BONES', 'DISABLE', "shares the bone 'shin'", True, False),
    Fault("nowhere", nowhere, 'NOWHERE', 'LINK_TO_SCENE', "is in no scene", True),
    Fault("rest position", rest_position, 'REST_POSITION', 'SHOW_POSE', "rest position", True),
    Fault("locked curve", locked_curve, 'LOCKED', 'UNLOCK_CHANNELS', "is locked; unlock it to bake", True),
    Fault("locked group", locked_group, 'LOCKED', 'UNLOCK_CHANNELS', "is locked; unlock it to bake", True),
    Fault(
        "other_controls",
        other_controls,
        'OTHER_CONTROLS',
        'MUTE_CONSTRAINTS',
        "moved by the IK constraint 'IK'",
    ),
    Fault("muted", muted_curves, 'MUTED', 'UNMUTE_CHANNELS', "do not play; unmute it, and 1 more like it"),
    Fault("modified", modified, 'MODIFIED', 'MUTE_MODIFIERS', "F-Curve modifiers"),
    Fault("shared action", shared_action, 'SHARED', 'SINGLE_USER', "'Other' plays the same action"),
    Fault("driven", driven, 'DRIVEN', 'MUTE_DRIVERS', "bone 'shin' is driven"),
    Fault("mixed", mixed, 'MIXED', 'REPLACE', "mixed with NLA strips"),
    Fault("uneven scale", uneven, 'UNEVEN_SCALE', 'APPLY_SCALE', "armature 'Rig' is scaled unevenly"),
    Fault("uneven bone", uneven_bone, 'UNEVEN_SCALE', 'CLEAR_SCALE', "bone 'shin' is scaled unevenly"),
    Fault("uneven body", uneven_body, 'UNEVEN_SCALE', 'CLEAR_SCALE', "bone 'body' is scaled unevenly"),
    Fault("hinge", hinge, 'HINGE_ASKEW', 'UNLOCK_HINGES', "turn about an axis 6 degrees off"),
    Fault("off plane", zigzag, 'OFF_PLANE', 'FLATTEN', "off one plane"),
    Fault(
        "stuck",
        stuck,
        'RANGE',
        'WIDEN',
        "leaves out the pose in which its flexibility of 0 holds it",
        False,
        False,
    ),
    Fault("other side", other_side, 'OTHER_SIDE', 'FLIP', "only the other side than Bend"),
    Fault("lost joint", lost_joint, 'JOINTS', 'UPDATE_JOINTS', "joints do not match its bones"),
    Fault("locked bone", locked_bone, 'HELD', 'UNLOCK', "locks hold 'shin'"),
    Fault("locked plane", locked_plane, 'LOCKED_PLANE', 'UNLOCK_FIRST', "keep its plane as it is in rest"),
    Fault("target aside", aside, 'TARGET_OFF_PLANE', 'SWING', "off the chain's plane"),
    Fault("loose shin", loose_shin, 'PROBLEM', 'INHERIT_ROTATION', "'shin' inherits no rotation", True),
    Fault("no pole", no_pole, 'PROBLEM', 'SWING', "has no pole; choose", True),
    Fault("own pole", own_pole, 'PROBLEM', 'SWING', "its pole bone 'shin' is moved by the chain", True),
    Fault("straight", straight, 'STRAIGHT', 'KEEP_PLANE', "straight at rest"),
)
