# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that are dead straight at rest: adopted, they bend as the IK does, else as by Add Chain."""

from math import radians

import bpy
import numpy as np
import pytest
from ik_rigs import add_ik
from mathutils import Vector
from rigs import add_target, evaluated_tip

from ik2d_addon.features.adopt.adopt import adopt
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.ui.settings.chain_list import add_chain

FRONT, BACK = (0, -1, 0), (0, 1, 0)
# The world's axis that each bone's Z is rolled to; None: Blender's own roll.
ROLLS = (None, (1, 0, 0), (0, 1, 0), (0, -1, 0))
EIGHT = [(side, roll) for side in (FRONT, BACK) for roll in ROLLS]
LAST = 30
HIP, KNEE, ANKLE = Vector((0.1, 0, 1)), Vector((0.1, 0, 0.5)), Vector((0.1, 0, 0.08))
CLEAR = 0.05  # a knee is on a side from here on


def add_straight(bones: dict[str, tuple], roll) -> bpy.types.Object:
    """Add an armature of {name: (head, tail, parent)}, all rolled alike; frames 1 to LAST."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name, (head, tail, parent) in bones.items():
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, armature.data.edit_bones.get(parent)
        if roll is not None and abs((bone.tail - bone.head).normalized().dot(roll)) < 0.9:
            bone.align_roll(roll)
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature


def leg(toes, roll, count: int = 2) -> bpy.types.Object:
    """Return a leg of so many bones that hangs straight down, with a foot towards the toes."""
    joints = [HIP.lerp(ANKLE, i / count) for i in range(count + 1)]
    bones = {"hip": (HIP, HIP + Vector((0, 0, 0.2)), "")}
    above = "hip"
    for i, name in enumerate(("thigh", "shin", "hock")[:count]):
        bones[name] = (joints[i], joints[i + 1], above)
        above = name
    toe = ANKLE + 0.15 * Vector(toes) - Vector((0, 0, 0.07))
    bones["foot"] = (ANKLE, toe, above)
    bones["toe"] = (toe, toe + 0.07 * Vector(toes), "foot")
    return add_straight(bones, roll)


def arm(front, roll) -> bpy.types.Object:
    """Return an arm straight out to the side, with a hand bent to its front."""
    points = [Vector((0.2 + 0.3 * i, 0, 1.4)) for i in range(3)]
    hand = points[2] + Vector((0.15, 0, 0)) + 0.03 * Vector(front)
    return add_straight(
        {
            "chest": ((0, 0, 1.2), (0, 0, 1.5), ""),
            "upper": (points[0], points[1], "chest"),
            "lower": (points[1], points[2], "upper"),
            "hand": (points[2], hand, "lower"),
        },
        roll,
    )


def up_to(place, start=ANKLE) -> bpy.types.Object:
    """Return a target that goes from a place, the ankle's, to another one."""
    return add_target({1: start, LAST: place})


def knee_side(armature: bpy.types.Object, bone: str, frame: int = 20) -> float:
    """Return by how much the tail of a bone is off its head along Y, as evaluated."""
    bpy.context.scene.frame_set(frame)
    head = armature.matrix_world @ armature.data.bones[bone].head_local
    return float((evaluated_tip(armature, bone) - head).y)


def adopted(armature: bpy.types.Object):
    """Adopt all, follow the targets live, and return the first chain."""
    bpy.context.scene.frame_set(1)
    names = adopt(armature)
    for name in names:
        armature.ik2d.chains[name].live = True
    return armature.ik2d.chains[names[0]]


# --- As Add Chain -------------------------------------------------------------


@pytest.mark.parametrize("toes, roll", EIGHT)
def test_a_straight_knee_goes_to_the_toes_with_any_roll(toes, roll):
    armature = leg(toes, roll)
    add_ik(armature, "shin", up_to((0.1, 0, 0.45)), 2)
    assert abs(knee_side(armature, "thigh")) < 1e-3  # Blender's does not bend
    adopted(armature)
    assert knee_side(armature, "thigh") * toes[1] > CLEAR


@pytest.mark.parametrize("toes, roll", EIGHT)
def test_it_is_the_plane_and_the_side_of_add_chain(toes, roll):
    armature = leg(toes, roll)
    target = up_to((0.1, 0, 0.45))
    add_ik(armature, "shin", target, 2)
    chain = adopted(armature)
    found = chain.plane, chain.bend, np.round(chain.plane_normal, 5).tolist()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = leg(toes, roll)
    own = add_chain(armature, "shin", 2, up_to((0.1, 0, 0.45)))
    assert found == (own.plane, own.bend, np.round(own.plane_normal, 5).tolist())


@pytest.mark.parametrize("front, roll", EIGHT)
def test_a_straight_elbow_goes_away_from_the_hands_front(front, roll):
    armature = arm(front, roll)
    add_ik(armature, "lower", up_to((0.4, 0, 1.4), (0.8, 0, 1.4)), 2)
    adopted(armature)
    assert knee_side(armature, "upper") * front[1] < -CLEAR


@pytest.mark.parametrize("toes, roll", EIGHT)
def test_three_straight_bones_bend_to_the_toes(toes, roll):
    armature = leg(toes, roll, 3)
    add_ik(armature, "hock", up_to((0.1, 0, 0.45)), 3)
    adopted(armature)
    assert knee_side(armature, "thigh") * toes[1] > CLEAR


# With a roll to the side Blender's knee bends to the side, which no plane of the foot holds.
@pytest.mark.parametrize("toes, roll", [each for each in EIGHT if each[1] != (1, 0, 0)])
def test_above_a_foot_that_turns_with_the_target_too(toes, roll):
    armature = leg(toes, roll)
    tail = armature.data.bones["foot"].tail_local
    target = up_to(tail + Vector((0, 0, 0.37)), tail)
    target.rotation_euler.x = np.arctan2(-0.07, 0.15) if toes == BACK else np.pi - np.arctan2(-0.07, 0.15)
    constraint = add_ik(armature, "foot", target, 3)
    constraint.use_rotation = True
    chain = adopted(armature)
    assert chain.tip_rotation == 'TARGET'
    assert knee_side(armature, "thigh") * toes[1] > CLEAR


@pytest.mark.parametrize("roll", ROLLS)
def test_both_arms_without_hands_bend_as_mirror_images(roll):
    bones = {"chest": ((0, 0, 1.2), (0, 0, 1.5), "")}
    for side, x in ((".L", 1.0), (".R", -1.0)):
        bones["upper" + side] = ((0.2 * x, 0, 1.4), (0.5 * x, 0, 1.4), "chest")
        bones["lower" + side] = ((0.5 * x, 0, 1.4), (0.8 * x, 0, 1.4), "upper" + side)
    armature = add_straight(bones, roll)
    for side, x in ((".L", 1.0), (".R", -1.0)):
        add_ik(armature, "lower" + side, up_to((0.4 * x, 0, 1.4), (0.8 * x, 0, 1.4)), 2)
    adopted(armature)
    bpy.context.scene.frame_set(20)
    left, right = (evaluated_tip(armature, f"upper.{side}") for side in "LR")
    assert (left * Vector((-1, 1, 1)) - right).length < 1e-4
    assert Vector((left.y, left.z - 1.4)).length > CLEAR


# --- Limits and hinges ----------------------------------------------------------


@pytest.mark.parametrize("toes, roll", EIGHT)
@pytest.mark.parametrize("forwards", [True, False])
def test_limits_that_allow_one_side_say_which(toes, roll, forwards):
    armature = leg(toes, roll)
    shin = armature.pose.bones["shin"]
    # The shin's turn about the world's X that moves the knee forwards takes its own end backwards.
    axes = shin.bone.matrix_local.to_3x3()
    letter = "xz"[int(abs(axes.col[2].x) > 0.5)]
    along = axes.col["xyz".index(letter)].x
    knee = -1.0 if forwards else 1.0
    ends = (radians(150), 0.0) if knee * along > 0.0 else (0.0, -radians(150))
    setattr(shin, f"use_ik_limit_{letter}", True)
    setattr(shin, f"ik_max_{letter}", ends[0])
    setattr(shin, f"ik_min_{letter}", ends[1])
    add_ik(armature, "shin", up_to((0.1, 0, 0.45)), 2)
    if abs(knee_side(armature, "thigh")) > CLEAR:
        pytest.skip("Blender's IK bends it")
    adopted(armature)
    side = knee_side(armature, "thigh")
    assert abs(side) > CLEAR
    turned = shin_turn(armature, letter)
    assert ends[1] - 1e-3 <= turned <= ends[0] + 1e-3


def shin_turn(armature: bpy.types.Object, letter: str) -> float:
    """Return the shin's evaluated turn about one of its own axes, radians."""
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    thigh, shin = (evaluated.pose.bones[name].matrix for name in ("thigh", "shin"))
    rest = [armature.data.bones[name].matrix_local for name in ("thigh", "shin")]
    basis = (thigh @ rest[0].inverted() @ rest[1]).inverted() @ shin
    return float(getattr(basis.to_euler(), letter))


@pytest.mark.parametrize("toes, roll", EIGHT)
def test_a_knee_with_ik_locks_goes_to_the_toes(toes, roll):
    armature = leg(toes, roll)
    shin = armature.pose.bones["shin"]
    is_z = abs(shin.bone.matrix_local.to_3x3().col[2].x) > 0.5
    shin.lock_ik_y = True
    shin.lock_ik_x, shin.lock_ik_z = is_z, not is_z
    add_ik(armature, "shin", up_to((0.1, 0, 0.45)), 2)
    if abs(knee_side(armature, "thigh")) > CLEAR:
        pytest.skip("Blender's IK bends it")
    adopted(armature)
    assert knee_side(armature, "thigh") * toes[1] > CLEAR


# --- As the IK bends --------------------------------------------------------------


@pytest.mark.parametrize("toes, roll", EIGHT)
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("keyed", [False, True], ids=["posed", "keyed"])
def test_where_blenders_knee_bends_the_chains_follows_it(toes, roll, side, keyed):
    armature = leg(toes, roll)
    bend_by_hand(armature, side, keyed)
    add_ik(armature, "shin", up_to((0.1, 0, 0.45)), 2)
    before = knee_side(armature, "thigh")
    assert before * side > CLEAR  # the bend of the bones' own channels
    adopted(armature)
    assert knee_side(armature, "thigh") == pytest.approx(before, abs=0.01)


@pytest.mark.parametrize("toes, roll", EIGHT)
def test_where_a_target_aside_has_it_bend_the_chain_follows_too(toes, roll):
    armature = leg(toes, roll)
    add_ik(armature, "shin", up_to((0.3, -0.1, 0.45)), 2)
    before = [knee_side(armature, "thigh", frame) for frame in range(1, LAST + 1)]
    adopted(armature)
    after = [knee_side(armature, "thigh", frame) for frame in range(1, LAST + 1)]
    assert max(map(abs, before)) > CLEAR and after == pytest.approx(before, abs=0.03)


def bend_by_hand(armature: bpy.types.Object, side: float, keyed: bool) -> None:
    """Turn the thigh and the shin by hand about the world's X, so that the knee goes to a side along Y."""
    for name, angle in (("thigh", 0.2), ("shin", -0.4)):
        bone = armature.pose.bones[name]
        rest = bone.bone.matrix_local.to_quaternion()
        axis = rest.inverted() @ Vector((1, 0, 0))
        bone.rotation_mode = 'AXIS_ANGLE'
        bone.rotation_axis_angle = (side * angle, *axis)
        if keyed:
            for frame in (1, LAST):
                bone.keyframe_insert("rotation_axis_angle", frame=frame)
    assert not keyed or existing_fcurves(armature)


@pytest.mark.parametrize("toes, roll", EIGHT)
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_pole_says_the_side(toes, roll, side):
    armature = leg(toes, roll)
    pole = add_target({}, "Pole")
    pole.location = (0.1, 2.0 * side, 0.5)
    constraint = add_ik(armature, "shin", up_to((0.1, 0, 0.45)), 2)
    constraint.pole_target = pole
    adopted(armature)
    assert knee_side(armature, "thigh") * side > CLEAR
