# SPDX-License-Identifier: GPL-3.0-or-later
"""What is worked out from F-Curves is what Blender evaluates; whatever else moves something is left to it."""

import random
import re

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from random_keys import MODES, animate, vary
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene import by_curves
from ik2d_addon.rig.scene.record import record_by_curves, samples_of
from ik2d_addon.rig.scene.sampler import CURVES, STEP, sample_steps

TIMES = [-7.0, 1.0, 2.25, 4.5, 8.0, 9.75, 15.0, 31.0, 47.5]
FIELDS = ("targets", "world", "parent", "bases", "tips", "settings")
SAME = 1e-6  # of a reach of two units
CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
DELTAS = ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")


def animate_object(rng, ob, scaled=True):
    """Give an object a rotation mode and keys on its channels and deltas."""
    ob.rotation_mode = rng.choice(MODES)
    names = [name for name in (*CHANNELS, *DELTAS) if scaled or "scale" not in name]
    animate(rng, ob, names, often=0.5)


def random_rig(seed):
    """Add an armature under a parent, with bones above a chain and a target under objects or bones."""
    rng = random.Random(seed)
    armature = add_armature(
        {
            "root": ((0, 0, 0.3), (0, 0.2, 1.5), "", 0.3),
            "body": ((0, 0.2, 1.5), (0, 0.1, 2.2), "root", -0.8),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "arm": ((0.3, 0, 2.0), (0.9, -0.1, 2.1), "body", 0.4),
        }
    )
    for bone in armature.pose.bones:
        bone.rotation_mode = rng.choice(MODES)
        animate(rng, bone, CHANNELS)
    holder, target = add_target({}, "Holder"), add_target({})
    for ob in (holder, target):
        animate_object(rng, ob)
    animate_object(rng, armature, scaled=False)
    if rng.random() < 0.5:
        armature.parent, armature.parent_type = holder, 'OBJECT'
        armature.matrix_parent_inverse = Matrix.LocRotScale((1, 2, 3), Euler((0.1, 0.2, 0.3)), (1, 1.5, 1))
    place = rng.choice(("free", "object", "bone", "tip"))
    if place == "object":
        target.parent = holder
    elif place == "bone":
        target.parent, target.parent_type, target.parent_bone = armature, 'BONE', "arm"
        target.matrix_parent_inverse = Matrix.LocRotScale((1, 0, 3), Euler((0.5, 0.2, 0)), (1, 1, 0.5))
    for ob in (armature, holder, target):
        vary(rng, ob)
    if place == "tip":
        chain = add_chain(armature, "shin", armature, subtarget="arm")
    else:
        chain = add_chain(armature, "shin", target)
    bpy.context.view_layer.update()
    return read_chain(armature, chain)


def sampled(rig, way, times=TIMES):
    return drained(sample_steps(bpy.context.scene, [rig], times, checked=False, way=way))


def hindrance(rig):
    return by_curves.hindrance(rig.armature, list(rig.bones), [(rig.target, rig.subtarget)])


def worked_out(rig, times=TIMES):
    return drained(record_by_curves(bpy.context.scene, [rig], [(rig.target, rig.subtarget)], times))


@pytest.mark.parametrize("seed", range(60))
def test_curves_place_everything_where_blender_has_it(seed):
    rig = random_rig(seed)
    assert hindrance(rig) == ""
    seen, found = sampled(rig, STEP).chains[0], worked_out(rig)
    of_chain = samples_of([rig], found, rig.followed, TIMES)[0]
    for name in FIELDS:
        one, other = getattr(of_chain, name), getattr(seen, name)
        # Beyond their keys curves may lead far away: there 32 bits hold no more than this.
        extent = np.abs(other).max(initial=2.0)
        assert one == pytest.approx(other, abs=SAME * extent), name


def test_what_nothing_animates_is_as_it_stands():
    rig = random_rig(1)
    for ob in bpy.data.objects:
        ob.animation_data_clear()
    found, seen = worked_out(rig), sampled(rig, STEP).chains[0]
    assert (found.world == found.world[0]).all()
    assert found.world == pytest.approx(seen.world, abs=SAME)
    assert found.places[:, 0] == pytest.approx(seen.targets, abs=10 * SAME)


@pytest.mark.parametrize("seed", range(8))
def test_bones_that_do_not_move_have_blenders_own_matrix(seed):
    """To the last bit, so that a chain's bones are the same however they were sampled."""
    rig = random_rig(seed)
    rig.armature.animation_data_clear()
    rng = random.Random(seed)
    for bone in rig.pose_bones:
        bone.rotation_mode = rng.choice(MODES)
        for name in CHANNELS:
            setattr(bone, name, [rng.uniform(0.5, 1.5) for _ in getattr(bone, name)])
    found, seen = worked_out(rig), sampled(rig, STEP).chains[0]
    rows = [found.bones[name] for name in rig.bones]
    assert (found.bases[:, rows] == seen.bases).all()


def test_time_remapping_is_followed():
    rig = moving_leg()
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 250
    assert worked_out(rig).places[:, 0] == pytest.approx(sampled(rig, STEP).chains[0].targets, abs=SAME)


def test_under_remapping_what_jumps_at_a_key_jumps_on_the_same_frame():
    """Blender counts in 32 bits: late in an action their last bit is more than it allows around a key."""
    rig, render = moving_leg(), bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 24
    for time in (1600, 1625, 1700):
        rig.target.location.y = 0.5 if time == 1625 else -0.5
        rig.target.keyframe_insert("location", frame=time)
    for curve in existing_fcurves(rig.target):
        for point in curve.keyframe_points:
            point.interpolation = 'CONSTANT'
    times = [float(frame) for frame in range(250, 451)]
    seen = sampled(rig, STEP, times).chains[0].targets
    assert worked_out(rig, times).places[:, 0] == pytest.approx(seen, abs=SAME)
    assert seen[141, 1] != seen[140, 1]  # after frame 390, which is 1625 but for the last bit


def test_whoever_runs_between_two_steps_has_his_own_warnings_of_numpy():
    rig, before = moving_leg(), np.geterr()
    steps = record_by_curves(bpy.context.scene, [rig], [(rig.target, rig.subtarget)], TIMES)
    assert [np.geterr() for _ in steps].count(before) > 1
    steps = record_by_curves(bpy.context.scene, [rig], [(rig.target, rig.subtarget)], TIMES)
    assert all(np.geterr() == before for _ in steps)


def test_of_two_slots_an_object_plays_its_own():
    rig = moving_leg()
    action = rig.target.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("Blender has had slots since 4.4")
    rig.armature.animation_data_clear()
    rig.armature.animation_data_create().action = action
    rig.armature.animation_data.action_slot = action.slots.new(id_type='OBJECT', name="Own")
    for frame in (1, 40):
        rig.armature.location.x = frame
        rig.armature.keyframe_insert("location", frame=frame)
    assert len(action.slots) == 2 and rig.armature.animation_data.action == action
    seen, found = sampled(rig, STEP).chains[0], worked_out(rig)
    assert found.world == pytest.approx(seen.world, abs=10 * SAME)
    assert found.places[:, 0] == pytest.approx(seen.targets, abs=SAME)
    rig.armature.animation_data.action_slot = None
    seen, found = sampled(rig, STEP).chains[0], worked_out(rig)
    assert found.world == pytest.approx(seen.world, abs=10 * SAME)


def moving_leg():
    """Add a leg whose body moves and turns, and a target that moves; return its chain."""
    armature = add_leg()
    body = armature.pose.bones["body"]
    for frame, turn in ((1, 0.1), (30, -0.4)):
        body.rotation_quaternion = (1.0, turn, 0.2, 0.0)
        body.keyframe_insert("rotation_quaternion", frame=frame)
    target = add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 45: (0.0, -0.3, 0.5)})
    return read_chain(armature, add_chain(armature, "shin", target))


# --- What is left to Blender ----------------------------------------------------------------------


def driven(owner, path, index=-1):
    curve = owner.driver_add(path, index)
    (curve[0] if isinstance(curve, list) else curve).driver.expression = "frame / 40"


def strip_of(ob):
    """Push an object's action down into an NLA strip."""
    animation = ob.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
    if slot is not None:
        strip.action_slot = slot


def under_a_constraint(rig):
    rig.target.parent = add_target({1: (0, 0, 0), 9: (1, 2, 0)}, "Holder")
    constrained(rig.target.parent)


def on_a_vertex(rig):
    mesh = bpy.data.meshes.new("Mesh")
    mesh.from_pydata([(0, 0, 1), (0, 1, 0), (1, 0, 0)], [], [(0, 1, 2)])
    rig.target.parent = bpy.data.objects.new("Mesh", mesh)
    bpy.context.scene.collection.objects.link(rig.target.parent)
    rig.target.parent_type = 'VERTEX'


def on_a_curve(rig):
    curve = bpy.data.objects.new("Way", bpy.data.curves.new("Way", 'CURVE'))
    bpy.context.scene.collection.objects.link(curve)
    rig.target.parent = curve


def on_a_bone(rig, relative):
    rig.target.parent, rig.target.parent_type = rig.armature, 'BONE'
    rig.target.parent_bone = "body" if relative else "gone"
    rig.armature.data.bones["body"].use_relative_parent = relative


def constrained(holder, kind='COPY_LOCATION', **settings):
    constraint = holder.constraints.new(kind)
    constraint.target = add_target({}, "Leader")
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def keyed(owner, name, *values):
    for frame, value in enumerate(values):
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=10 * frame)


def bone_of(rig, name="body"):
    return rig.armature.pose.bones[name]


def hung_on_posed(rig):
    other = add_leg("Other")
    other.data.pose_position = 'REST'
    rig.target.parent, rig.target.parent_type, rig.target.parent_bone = other, 'BONE', "shin"


LEFT = {
    "constraint": (lambda rig: constrained(rig.target), "has a constraint"),
    "of the parent": (under_a_constraint, "'Holder' has a constraint"),
    "on a bone": (lambda rig: constrained(bone_of(rig)), "constraint on bone 'body'"),
    "on a bone of the chain": (lambda rig: constrained(bone_of(rig, "shin")), "constraint on bone 'shin'"),
    "muted now": (
        lambda rig: keyed(constrained(bone_of(rig)), "mute", False, True),
        "constraint on bone 'body'",
    ),
    "driver": (lambda rig: driven(rig.target, "location", 1), "'Target' has a driver on location"),
    "driver of a bone": (lambda rig: driven(bone_of(rig), "location", 1), "has a driver on pose"),
    "strip": (lambda rig: strip_of(rig.target), "'Target' has NLA strips"),
    "armature's strip": (lambda rig: strip_of(rig.armature), "'Rig' has NLA strips"),
    "rotation mode": (
        lambda rig: keyed(rig.target, "rotation_mode", 'XYZ', 'QUATERNION'),
        "F-Curve on rotation_mode",
    ),
    "rotation mode of a bone": (
        lambda rig: keyed(bone_of(rig), "rotation_mode", 'XYZ', 'QUATERNION'),
        "F-Curve on pose",
    ),
    "vertex parent": (on_a_vertex, "a parent of another kind"),
    "curve parent": (on_a_curve, "a parent of another kind"),
    "relative bone parent": (lambda rig: on_a_bone(rig, True), "parented to a bone in another way"),
    "bone that is gone": (lambda rig: on_a_bone(rig, False), "parented to a bone in another way"),
    "rest position": (hung_on_posed, "'Other' is not posed"),
    "rotation not inherited": (
        lambda rig: setattr(bone_of(rig, "thigh").bone, "use_inherit_rotation", False),
        "'thigh' that does not take",
    ),
    "scale not inherited": (
        lambda rig: setattr(bone_of(rig, "thigh").bone, "inherit_scale", 'AVERAGE'),
        "'thigh' that does not take",
    ),
    "location of the parent's": (
        lambda rig: setattr(bone_of(rig).bone, "use_local_location", False),
        "'body' that does not take",
    ),
    "armature data": (
        lambda rig: keyed(rig.armature.data, "display_type", 'OCTAHEDRAL', 'STICK'),
        "its armature data",
    ),
    "modifier alone": (
        lambda rig: (
            [curve.keyframe_points.clear() for curve in existing_fcurves(rig.target)],
            [curve.modifiers.new('GENERATOR') for curve in existing_fcurves(rig.target)],
        ),
        "F-Curve on location",
    ),
}


@pytest.mark.parametrize("kind", LEFT)
def test_what_else_places_something_is_left_to_blender(kind):
    rig = moving_leg()
    assert hindrance(rig) == ""
    change, why = LEFT[kind]
    change(rig)
    assert re.search(why, hindrance(rig)), hindrance(rig)
    assert worked_out(rig) is None
    result, seen = sampled(rig, CURVES), sampled(rig, STEP)
    assert [*result.stepped.values()] == [""]
    for name in FIELDS:
        assert (getattr(result.chains[0], name) == getattr(seen.chains[0], name)).all(), name


def test_an_ik_constraint_that_reaches_up_to_the_chain_is_left_to_blender():
    armature = add_armature(
        {
            "thigh": ((0, 0, 2), (0, -0.1, 1), "", 0.0),
            "shin": ((0, -0.1, 1), (0, 0, 0), "thigh", 0.0),
            "toe": ((0, 0, 0), (0, -0.3, 0), "shin", 0.0),
            "horn": ((0, 0, 2), (0, 0, 3), "", 0.0),
        }
    )
    rig = read_chain(armature, add_chain(armature, "shin", add_target({1: (0, 0, 0), 9: (0, 1, 0)})))
    constrained(armature.pose.bones["horn"], 'IK')
    assert hindrance(rig) == ""
    constraint = constrained(armature.pose.bones["toe"], 'IK', mute=True)
    assert hindrance(rig) == ""
    keyed(constraint, "mute", True, True)
    assert "constraint on bone 'toe'" in hindrance(rig)
    target, constraint.target = constraint.target, None  # as Adopt leaves it: it acts at no time
    assert hindrance(rig) == ""
    constraint.target = target
    armature.animation_data_clear()
    constraint.mute = False
    assert "constraint on bone 'toe'" in hindrance(rig)


def test_what_moves_nothing_is_no_hindrance():
    rig = moving_leg()
    keyed(rig.target, "hide_viewport", False, True)
    rig.target["prop"] = bone_of(rig)["prop"] = 1.0
    driven(rig.target, '["prop"]')
    driven(bone_of(rig), '["prop"]')
    constrained(rig.target, mute=True)
    assert hindrance(rig) == ""
    assert worked_out(rig).places[:, 0] == pytest.approx(sampled(rig, STEP).chains[0].targets, abs=SAME)


def test_settings_that_are_animated_are_left_to_blender():
    rig = moving_leg()
    keyed(rig.armature.ik2d.chains[0], "influence", 0.2, 0.8)
    assert worked_out(rig) is None


@pytest.mark.parametrize(
    "mode, channel", [('QUATERNION', "rotation_quaternion"), ('AXIS_ANGLE', "rotation_axis_angle")]
)
def test_a_rotation_that_is_none_is_left_to_blender(mode, channel):
    rig = moving_leg()
    assert worked_out(rig) is not None
    rig.target.rotation_mode = mode
    for values in ((0, 0, 0, 0), (1, 0, 0, 1e-18) if mode == 'AXIS_ANGLE' else (0, 0, 0, 0)):
        setattr(rig.target, channel, values)
        assert worked_out(rig) is None


def test_numbers_beyond_32_bits_are_left_to_blender():
    rig = moving_leg()
    rig.target.delta_location = (1e20, 0, 0)
    assert worked_out(rig) is None
