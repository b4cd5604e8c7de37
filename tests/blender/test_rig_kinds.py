# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of rig kinds: whatever the rig, the tip that Blender evaluates is on its target."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import add_armature, add_chain, add_target, animation_of, evaluated_tip, played_back_errors

from ik2d_addon.bake import BakeOptions, bake

MODES = ['QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE']
SCALE_MODES = ['FULL', 'FIX_SHEAR', 'ALIGNED', 'AVERAGE', 'NONE', 'NONE_LEGACY']
PLAYED_BACK = 1e-5  # of reach
LAST = 12
EVERY_FRAME = range(1, LAST + 1)

# name: (bones, tip, bone count), all of them in the plane x = 0. "body" is above the chain.
SHAPES = {
    "connected": (
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
        },
        "shin",
        2,
    ),
    "offset": (
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0.1, 1.9), (0, -0.1, 1.2), "body", 1.4),
            "shin": ((0, -0.2, 1.0), (0, 0, 0.1), "thigh", -0.7),
        },
        "shin",
        2,
    ),
    "short shin": (
        {
            "body": ((0, 0, 2.0), (0, 0.3, 2.6), "", 0.9),
            "thigh": ((0, 0, 2.0), (0, -0.1, 0.4), "body", 0.0),
            "shin": ((0, -0.1, 0.4), (0, 0.0, 0.3), "thigh", 0.0),
        },
        "shin",
        2,
    ),
    "straight": (
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, 0, 1.0), "body", 0.0),
            "shin": ((0, 0, 1.0), (0, 0, 0.1), "thigh", 0.0),
        },
        "shin",
        2,
    ),
    "three bones": (
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "coxa": ((0, 0, 2.0), (0, -0.4, 2.1), "body", 0.7),
            "thigh": ((0, -0.5, 2.0), (0, -0.9, 1.0), "coxa", -1.3),
            "shin": ((0, -0.9, 1.0), (0, -0.6, 0.1), "thigh", 2.8),
        },
        "shin",
        3,
    ),
    "straight tentacle": (
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            **{
                f"t{i}": ((0, 0, 2.0 - 0.3 * i), (0, 0, 1.7 - 0.3 * i), f"t{i - 1}" if i else "body", 0.0)
                for i in range(6)
            },
        },
        "t5",
        6,
    ),
}
# Where the tip goes: frames, angles from straight down, and distances as parts of what the chain reaches.
PATH = (1, 5, 9, LAST), (0.3, -0.8, -0.3, 0.9), (0.6, 0.5, 0.7, 0.6)


def build(shape="connected", rolls=None, **settings):
    """Add an armature with a chain, and a target that hangs on the armature object, in its plane."""
    bones, tip, count = SHAPES[shape]
    if rolls is not None:
        bones = {name: (*bone[:3], rolls[i % len(rolls)]) for i, (name, bone) in enumerate(bones.items())}
    armature = add_armature(bones)
    joints = [head for name, (head, *_) in bones.items() if name != "body"] + [bones[tip][1]]
    lengths = [math.dist(a, b) for a, b in zip(joints, joints[1:], strict=False)]
    inner, outer = max(0.0, 2 * max(lengths) - sum(lengths)), sum(lengths)
    places = {}
    for frame in EVERY_FRAME:
        angle, part = np.interp(frame, PATH[0], PATH[1]), np.interp(frame, PATH[0], PATH[2])
        distance = inner + part * (outer - inner)
        _, y, z = joints[0]
        places[frame] = (0.0, y + distance * math.sin(angle), z - distance * math.cos(angle))
    target = add_target(places)
    target.parent = armature
    return armature, add_chain(armature, tip, target, bone_count=count, **settings)


def hang_on_body(armature, chain):
    """Let the target hang on the bone above the chain, with coordinates as in the rest pose."""
    target, body = chain.target, armature.data.bones["body"]
    target.parent_type, target.parent_bone = 'BONE', "body"
    tail = body.matrix_local @ Matrix.Translation((0, body.length, 0))
    target.matrix_parent_inverse = tail.inverted()


def animate(owner, **channels):
    """Key channels of an object or bone: name=(value at frame 1, value at the last frame)."""
    for name, values in channels.items():
        for frame, value in zip((1, LAST), values, strict=True):
            setattr(owner, name, value)
            owner.keyframe_insert(name, frame=frame)


def assert_on_target(armature, chain, report=None, frames=EVERY_FRAME, planar=True):
    """Bake, and hold Blender's evaluated tip to the bound; planar: the target is in the plane."""
    report = report or bake(armature, frame_start=1, frame_end=LAST)
    (result,) = report.chains
    assert report.all_reached, report.sentence()
    assert not report.full_scene
    if planar:
        assert result.off_plane.max() <= PLAYED_BACK * result.standard.reach
    for frame, error in played_back_errors(armature, chain, frames):
        assert abs(error - result.off_plane[frame - 1]) <= PLAYED_BACK * result.standard.reach, (frame, error)
    played = result.played.on_frames[np.isfinite(result.played.on_frames)]
    assert len(played) and np.abs(played - result.off_plane).max() <= PLAYED_BACK * result.standard.reach
    return report


def warnings_of(report):
    return " / ".join(report.warnings)


# --- The bones themselves -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "rolls", [(0.0,), (math.pi / 2, -math.pi / 2), (0.3, 2.2, -1.1), (math.pi, 3.0)], ids=str
)
def test_every_rotation_mode_with_any_roll(mode, rolls):
    armature, chain = build("offset", rolls=rolls)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    report = assert_on_target(armature, chain)
    assert not report.warnings
    assert {bone.rotation_mode for bone in armature.pose.bones} == {mode}


def test_bones_of_one_chain_may_have_different_rotation_modes():
    armature, chain = build("straight tentacle")
    for bone, mode in zip(armature.pose.bones, MODES, strict=False):
        bone.rotation_mode = mode
    assert_on_target(armature, chain)


@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape(shape, bend):
    armature, chain = build(shape, bend=bend)
    assert_on_target(armature, chain)


def test_a_chain_without_a_bone_above_it():
    armature = add_armature({"a": ((0, 0, 0), (1, 0, 0.2), "", 0.5), "b": ((1, 0, 0.2), (2, 0, 0), "a", 1.0)})
    chain = add_chain(armature, "b", add_target({1: (1.5, 0, 0.5), LAST: (-0.5, 0, 1.2)}))
    assert_on_target(armature, chain)


def test_a_chain_in_a_tilted_plane():
    turned = Matrix.Rotation(0.7, 3, 'X') @ Matrix.Rotation(-1.1, 3, 'Z')
    points = [turned @ (Matrix.Identity(3) @ p) for p in map(vector, ((0, 0, 1), (1, 0, 1.4), (2, 0, 1)))]
    armature = add_armature({"a": (points[0], points[1], "", 0.5), "b": (points[1], points[2], "a", 1.0)})
    path = {1: turned @ vector((1.5, 0, 1.5)), LAST: turned @ vector((-0.5, 0, 2.2))}
    chain = add_chain(armature, "b", add_target(path))
    assert_on_target(armature, chain)


def vector(values):
    from mathutils import Vector

    return Vector(values)


# --- The armature object --------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 0.1, 30.0, 1e3])
@pytest.mark.parametrize("shape", ["offset", "three bones"])
def test_a_rig_of_any_size(shape, scale):
    armature, chain = build(shape)
    armature.scale = (scale,) * 3
    report = assert_on_target(armature, chain)
    assert not report.warnings


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_rig_that_is_modelled_tiny_or_huge(scale):
    armature = add_armature(
        {
            "a": ((0, 0, 0), (scale, 0, 0.2 * scale), "", 0.5),
            "b": ((scale, 0, 0.2 * scale), (2 * scale, 0, 0), "a", 1.0),
            "c": ((2 * scale, 0, 0), (2.5 * scale, 0, 0.4 * scale), "b", 1.0),
        }
    )
    path = {1: (1.5 * scale, 0, 0.5 * scale), LAST: (-0.5 * scale, 0, 1.2 * scale)}
    chain = add_chain(armature, "c", add_target(path), bone_count=3)
    assert_on_target(armature, chain)


@pytest.mark.parametrize("mirror", [(-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1), (-2, 2, -2)], ids=str)
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_a_mirrored_rig(mirror, bend):
    armature, chain = build("offset", bend=bend)
    armature.scale = mirror
    armature.rotation_euler = (0.3, 0.5, -0.2)
    report = assert_on_target(armature, chain)
    assert not report.warnings


def test_a_mirrored_rig_bends_as_its_mirror_image():
    knees = []
    for mirror in ((1, 1, 1), (1, -1, 1)):
        armature, chain = build("connected")
        armature.scale = mirror
        bake(armature, frame_start=1, frame_end=LAST)
        bpy.context.scene.frame_set(5)
        knees.append(evaluated_tip(armature, "thigh"))
    assert (knees[0] - vector((1, -1, 1)) * knees[1]).length < 1e-5


@pytest.mark.parametrize("mirror", [1, -1])
def test_a_rig_that_is_moved_turned_scaled_and_parented_over_time(mirror):
    armature, chain = build("offset")
    holder, held_chain = (bpy.data.objects.new(name, None) for name in ("Holder", "HeldChain"))
    for ob in (holder, held_chain):
        bpy.context.scene.collection.objects.link(ob)
    armature.parent, held_chain.parent = held_chain, holder
    held_chain.location, held_chain.rotation_euler, held_chain.scale = (
        (1, -2, 3),
        (0.2, 0, 1.0),
        (mirror * 0.5, 0.5, 0.5),
    )
    animate(holder, location=((0, 0, 0), (4, 1, -2)), rotation_euler=((0, 0, 0), (1.0, -2.0, 3.0)))
    animate(holder, scale=((1, 1, 1), (3, 3, 3)))
    animate(armature, rotation_euler=((0, 0.4, 0), (0, -0.4, 0.9)), location=((0, 0, 1), (0, 2, 0)))
    assert_on_target(armature, chain)


def test_an_armature_on_a_bone_of_another():
    crane = add_armature({"boom": ((0, 0, 0), (0, 2, 1), "", 0.3)}, "Crane")
    animate(crane.pose.bones["boom"], rotation_quaternion=((1, 0, 0, 0), (0.9, 0.3, 0.1, 0.2)))
    armature, chain = build("offset")
    armature.parent, armature.parent_type, armature.parent_bone = crane, 'BONE', "boom"
    assert_on_target(armature, chain)


def test_an_armature_that_a_constraint_and_a_driver_move():
    guide = add_target({1: (0, 0, 0), LAST: (2, 3, 1)}, "Guide")
    armature, chain = build("offset")
    armature.constraints.new('COPY_LOCATION').target = guide
    driver = armature.driver_add("rotation_euler", 2).driver
    driver.expression = "frame / 10"
    assert_on_target(armature, chain)


@pytest.mark.parametrize("how", ["object", "collection"])
def test_a_hidden_armature(how):
    armature, chain = build("offset")
    animate(armature.pose.bones["body"], location=((0, 0, 0), (0, 0.3, 0.2)))
    hang_on_body(armature, chain)
    if how == "object":
        armature.hide_viewport = True
    else:
        collection = bpy.data.collections.new("Hidden")
        bpy.context.scene.collection.children.link(collection)
        collection.objects.link(armature)
        bpy.context.scene.collection.objects.unlink(armature)
        collection.hide_viewport = True
    report = bake(armature, frame_start=1, frame_end=LAST)
    armature.hide_viewport = False
    if how == "collection":
        collection.hide_viewport = False
    assert not report.warnings
    assert_on_target(armature, chain, report)


# --- The bones above the chain --------------------------------------------------------------------

TURNED = ((1, 0, 0, 0), (0.8, 0.3, 0.2, -0.4))


@pytest.mark.parametrize("shape", ["connected", "offset", "three bones"])
def test_a_chain_on_a_bone_that_moves_turns_and_grows(shape):
    armature, chain = build(shape)
    hang_on_body(armature, chain)
    body = armature.pose.bones["body"]
    animate(body, location=((0, 0, 0), (1, 2, 3)), rotation_quaternion=TURNED)
    animate(body, scale=((1, 1, 1), (2.5, 2.5, 2.5)))
    report = assert_on_target(armature, chain)
    assert not report.warnings


def test_a_chain_under_two_moving_bones():
    bones, tip, count = SHAPES["offset"]
    armature = add_armature({"world": ((0, 1, 0), (0, 2, 0), "", 0.4), **bones})
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["body"].parent = armature.data.edit_bones["world"]
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = add_chain(armature, tip, add_target({1: (0, 0.4, 0.6), LAST: (0, -0.7, 0.8)}))
    chain.target.parent = armature
    hang_on_body(armature, chain)
    for name in ("world", "body"):
        animate(armature.pose.bones[name], rotation_quaternion=TURNED, location=((0, 0, 0), (0.3, 0.2, 0)))
    assert_on_target(armature, chain)


def test_constraints_and_drivers_on_the_bone_above_the_chain_are_followed():
    guide = add_target({1: (0, 0, 0), LAST: (0.5, 1.0, 0.4)}, "Guide")
    armature, chain = build("offset")
    hang_on_body(armature, chain)
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    constraint = body.constraints.new('COPY_LOCATION')
    constraint.target, constraint.use_offset = guide, True
    body.driver_add("rotation_euler", 0).driver.expression = "frame / 20"
    report = assert_on_target(armature, chain)
    assert not report.warnings


@pytest.mark.parametrize("holder", ["steady", "moved", "scaled"])
@pytest.mark.parametrize("mode", SCALE_MODES)
@pytest.mark.parametrize("shape", ["connected", "three bones"])
def test_every_way_to_inherit_scale(shape, mode, holder):
    """Uniform scale only: with an uneven one a bone's length depends on where it points."""
    armature, chain = build(shape)
    hang_on_body(armature, chain)
    chain.target.parent_type, chain.target.parent = 'OBJECT', None
    chain.target.matrix_parent_inverse = Matrix()
    for bone in armature.data.bones:
        bone.inherit_scale = mode
    body = armature.pose.bones["body"]
    if holder == "moved":
        animate(body, location=((0, 0, 0), (0, 0.2, 0)))
    if holder == "scaled":
        animate(body, scale=((1, 1, 1), (1.3, 1.3, 1.3)))
    armature.pose.bones["shin"].scale = (1.2, 1.2, 1.2)
    armature.pose.bones["thigh"].scale = (0.9, 0.9, 0.9)
    report = assert_on_target(armature, chain)
    assert not report.warnings


@pytest.mark.slow
@pytest.mark.parametrize("without", [("thigh",), ("shin",), ("coxa",), ("coxa", "thigh", "shin")], ids=str)
@pytest.mark.parametrize("mode", ['FULL', 'NONE', 'ALIGNED', 'AVERAGE'])
def test_bones_that_inherit_no_rotation(mode, without):
    """The body turns within the plane: turned out of it, these bones and the others share no plane."""
    armature, chain = build("three bones")
    for name in without:
        armature.data.bones[name].use_inherit_rotation = False
        armature.data.bones[name].inherit_scale = mode
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    animate(body, rotation_euler=((0, 0, 0), (0.4, 0, 0)), scale=((1, 1, 1), (1.2, 1.2, 1.2)))
    assert abs(body.bone.matrix_local.col[0].x) > 0.999
    report = assert_on_target(armature, chain)
    assert not report.warnings


def test_a_chain_without_inherited_rotation_stays_in_its_plane_whatever_its_parent_does():
    armature, chain = build("connected")
    armature.data.bones["thigh"].use_inherit_rotation = False
    chain.target.parent = armature
    animate(armature.pose.bones["body"], rotation_quaternion=TURNED)
    assert_on_target(armature, chain)


def test_bones_that_share_no_plane_are_not_promised_to_reach():
    armature, chain = build("connected")
    armature.data.bones["shin"].use_inherit_rotation = False
    animate(armature.pose.bones["body"], rotation_quaternion=TURNED)
    report = bake(armature, frame_start=1, frame_end=LAST, options=BakeOptions(verify='ALL'))
    errors = [error for _, error in played_back_errors(armature, chain, EVERY_FRAME)]
    assert report.chains[0].played.on_frames == pytest.approx(errors, abs=1e-5)
    assert max(errors) > 0.01
    assert "plays it back up to" in warnings_of(report) or "off the chain's plane" in warnings_of(report)


# --- The bones' own location and scale ------------------------------------------------------------


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("moved", ["constant", "animated"])
def test_bones_with_a_location_of_their_own(moved, local):
    armature, chain = build("offset")
    shin, thigh = armature.pose.bones["shin"], armature.pose.bones["thigh"]
    for bone in (shin, thigh):
        bone.bone.use_local_location = local
        # A displacement within the plane x = 0, in the axes that the location is given in: the
        # bone's own, or else its parent's.
        axes = (bone if local else bone.parent).bone.matrix_local.to_3x3()
        place = axes.transposed() @ vector((0, 0.1, -0.05))
        bone.location = place
        if moved == "animated":
            animate(bone, location=((0, 0, 0), place))
    assert_on_target(armature, chain)


def test_connected_bones_ignore_their_location():
    armature, chain = build("connected")
    armature.pose.bones["shin"].location = (0.5, 0.5, 0.5)
    assert_on_target(armature, chain)


@pytest.mark.slow
@pytest.mark.parametrize("scaled", ["constant", "animated"])
@pytest.mark.parametrize("shape", ["offset", "three bones"])
def test_bones_with_an_even_scale_of_their_own(shape, scaled):
    armature, chain = build(shape)
    for name, scale in (("shin", 1.3), ("thigh", 0.8)):
        bone = armature.pose.bones[name]
        bone.scale = (scale,) * 3
        if scaled == "animated":
            animate(bone, scale=((1, 1, 1), (scale,) * 3))
    report = assert_on_target(armature, chain)
    assert not report.warnings


def test_a_bone_that_is_scaled_by_a_negative_factor():
    armature, chain = build("connected")
    armature.pose.bones["shin"].scale = (-1, -1, -1)
    assert_on_target(armature, chain)


def test_scale_above_a_scaled_chain_multiplies():
    armature, chain = build("offset")
    hang_on_body(armature, chain)
    armature.scale = (0.02,) * 3
    armature.pose.bones["body"].scale = (3, 3, 3)
    armature.pose.bones["thigh"].scale = (1.1, 1.1, 1.1)
    report = assert_on_target(armature, chain)
    assert report.chains[0].standard.reach == pytest.approx(0.06 * chain_length(armature, 1.1), rel=1e-3)


def chain_length(armature, scale):
    """Return the length of the offset chain whose thigh is scaled, and the shin with it."""
    thigh, shin = armature.data.bones["thigh"], armature.data.bones["shin"]
    return scale * ((shin.head_local - thigh.head_local).length + shin.length)


# --- What cannot be exact is said -----------------------------------------------------------------


def assert_truth(report, armature, chain):
    """Hold the report's played-back errors to Blender's own word on every frame."""
    errors = [error for _, error in played_back_errors(armature, chain, EVERY_FRAME)]
    result = report.chains[0]
    assert result.played.on_frames == pytest.approx(errors, abs=PLAYED_BACK * result.standard.reach)
    return max(errors)


def bake_all(armature):
    return bake(armature, frame_start=1, frame_end=LAST, options=BakeOptions(verify='ALL'))


@pytest.mark.parametrize("what", ["armature 'Rig'", "bone 'body'", "bone 'thigh'", "bone 'shin'"])
def test_uneven_scale_is_named_and_the_truth_is_reported(what):
    armature, chain = build("offset")
    name = what.split("'")[1]
    (armature if name == "Rig" else armature.pose.bones[name]).scale = (1.0, 1.4, 0.7)
    report = bake_all(armature)
    assert f"{what} is scaled unevenly" in warnings_of(report)
    assert_truth(report, armature, chain)


def test_uneven_scale_far_above_the_chain_names_the_bone():
    armature = add_armature(
        {
            "world": ((0, 1, 0), (0, 2, 0), "", 0.0),
            "hip": ((0, 0, 2), (0, 0, 2.5), "world", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "hip", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
        }
    )
    chain = add_chain(armature, "shin", add_target({1: (0, 0.4, 0.6), LAST: (0, -0.7, 0.8)}))
    armature.pose.bones["world"].scale = (1.0, 1.5, 1.0)
    report = bake_all(armature)
    assert "bone 'world' is scaled unevenly" in warnings_of(report)
    assert_truth(report, armature, chain)


@pytest.mark.parametrize("bone", ["thigh", "shin"])
def test_a_constraint_that_fights_the_keys_is_named_and_the_truth_is_reported(bone):
    armature, chain = build("offset")
    constraint = armature.pose.bones[bone].constraints.new('LIMIT_ROTATION')
    constraint.use_limit_x, constraint.max_x, constraint.owner_space = True, 0.05, 'LOCAL'
    report = bake_all(armature)
    assert f"bone '{bone}' is moved by its own constraint 'Limit Rotation'" in warnings_of(report)
    assert assert_truth(report, armature, chain) > 0.01
    assert "plays it back up to" in warnings_of(report)


def test_blenders_own_ik_on_the_chain_is_named_and_muting_it_helps():
    armature, chain = build("connected")
    constraint = armature.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = add_target({1: (0, 0.5, 0.9)}, "Old target"), 2
    report = bake_all(armature)
    assert "bones 'thigh' and 'shin' are moved by the IK constraint 'IK' of bone 'shin'" in warnings_of(
        report
    )
    assert_truth(report, armature, chain)
    constraint.mute = True
    assert not assert_on_target(armature, chain).warnings


def test_a_driven_rotation_is_named_and_the_truth_is_reported():
    armature, chain = build("connected")
    armature.pose.bones["shin"].rotation_mode = 'XYZ'
    armature.pose.bones["shin"].driver_add("rotation_euler", 0).driver.expression = "frame / 10"
    report = bake_all(armature)
    assert "bone 'shin' is driven" in warnings_of(report)
    assert assert_truth(report, armature, chain) > 0.01


# --- From frame to frame --------------------------------------------------------------------------


def goes_round(armature, tip, turns=2.3):
    """Add a target that goes round the root several times, within reach."""
    target = add_target({}, "Carousel")
    for index, expression in (
        (1, f"1.3 * cos(frame * {turns}/ 6)"),
        (2, f"2 + 1.3 * sin(frame * {turns} / 6)"),
    ):
        target.driver_add("location", index).driver.expression = expression
    return add_chain(armature, tip, target)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rolls", [(0.0,), (0.3, 2.2, -1.1), (math.pi / 2,)], ids=str)
def test_rotations_go_on_without_flips_over_many_turns(mode, rolls):
    bones = {
        name: (*bone[:3], rolls[i % len(rolls)])
        for i, (name, bone) in enumerate(SHAPES["connected"][0].items())
    }
    armature = add_armature(bones)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    chain = goes_round(armature, "shin", turns=1.0)
    report = bake(armature, frame_start=1, frame_end=90)
    assert report.all_reached
    for _, error in played_back_errors(armature, chain, range(1, 91, 7)):
        assert error <= PLAYED_BACK * report.chains[0].standard.reach
    for name in ("thigh", "shin"):
        values = channel_values(armature, name)
        if mode == 'QUATERNION':
            assert ((values[1:] * values[:-1]).sum(axis=1) > 0.9).all()
        elif mode == 'AXIS_ANGLE':
            assert np.abs(np.diff(values[:, 0])).max() < 0.5
            assert np.ptp(values[:, 1:], axis=0).max() < 1e-6
        else:
            # Near the gimbal's pole two channels swing fast against each other, but never by a turn.
            assert np.abs(np.diff(values, axis=0)).max() < math.pi


def channel_values(armature, bone):
    """Return the keyed values (keys, channels) of a bone's rotation."""
    curves = animation_of(armature)
    columns = sorted(key for key in curves if key[0].startswith(f'pose.bones["{bone}"].rotation'))
    return np.array([[k[1] for k in curves[key]] for key in columns]).T


def test_one_angle_about_a_coordinate_axis_goes_on_over_full_turns():
    armature = add_armature({"a": ((0, 0, 2), (0, 1, 2), "", 0.0), "b": ((0, 1, 2), (0, 2, 2.3), "a", 0.0)})
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    goes_round(armature, "b", turns=1.0)
    report = bake(armature, frame_start=1, frame_end=90)
    assert report.all_reached
    values = channel_values(armature, "a")
    assert abs(values[-1, 0] - values[0, 0]) > 4 * math.pi
    assert np.abs(values[:, 1:]).max() == 0.0
