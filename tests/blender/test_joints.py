# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of a chain: one for each bone, whatever becomes of them, and limits from Blender's own."""

from math import pi, radians

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector
from rigs import add_armature, add_chain, add_leg, leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.core import IK2DError, Status
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.features.setup.limits import take_limits
from ik2d_addon.rig.chain.bone_limits import limits_of_bones
from ik2d_addon.ui.settings.joint_list import joints_missing, sync_joints


def names(chain):
    """Return the bones of a chain's joints."""
    return [joint.name for joint in chain.joints]


def activate(armature):
    """Make an armature the active object."""
    bpy.context.view_layer.objects.active = armature


# --- In step with the bones --------------------------------------------------


def test_tip_and_bone_count_make_the_joints_root_to_tip():
    chain = add_leg().ik2d.chains.add()
    assert names(chain) == []
    chain.tip = "shin"
    assert names(chain) == ["body", "thigh", "shin"]
    chain.bone_count = 2
    assert names(chain) == ["thigh", "shin"]
    chain.tip, chain.bone_count = "thigh", 0
    assert names(chain) == ["body", "thigh"]


def test_a_bone_that_stays_in_the_chain_keeps_its_settings():
    chain = add_chain(add_leg(), "shin", None, bone_count=2)
    thigh = chain.joints["thigh"]
    thigh.use_limit, thigh.limit_min, thigh.limit_max, thigh.weight = True, 0.25, 2.5, 0.5
    chain.bone_count = 3
    assert names(chain) == ["body", "thigh", "shin"]
    chain.tip = "thigh"
    chain.bone_count = 2
    assert names(chain) == ["body", "thigh"]
    kept = chain.joints["thigh"]
    assert (kept.use_limit, kept.limit_min, kept.limit_max, kept.weight) == (True, 0.25, 2.5, 0.5)
    fresh = chain.joints["body"]
    assert (fresh.use_limit, fresh.weight) == (False, 1.0)
    assert (fresh.limit_min, fresh.limit_max) == pytest.approx((-pi, pi))


@pytest.mark.parametrize("slip", [{"tip": "foot"}, {"tip": ""}, {"bone_count": 9}])
def test_a_chain_without_such_bones_keeps_its_joints(slip):
    chain = add_chain(add_leg(), "shin", None)
    chain.joints["shin"].weight = 0.5
    for key, value in slip.items():
        setattr(chain, key, value)
    assert names(chain) == ["thigh", "shin"] and chain.joints["shin"].weight == 0.5


def test_an_armature_that_no_scene_has_shown_takes_a_chain():
    armature = bpy.data.objects.new("New", bpy.data.armatures.new("New"))
    chain = armature.ik2d.chains.add()
    chain.tip = "shin"
    sync_joints(chain)
    assert chain.tip == "shin" and names(chain) == []


def test_update_joints_mends_what_edited_bones_left_behind():
    armature = add_leg()
    chain = add_chain(armature, "shin", None)
    chain.joints["shin"].weight = 0.5
    armature.data.bones["thigh"].name = "femur"
    assert joints_missing(chain) == ["femur"]
    assert mend('UPDATE_JOINTS', armature, chain) == "Chain 'shin' has 2 joints"
    assert names(chain) == ["femur", "shin"]
    assert chain.joints["shin"].weight == 0.5


def test_a_chain_of_an_older_file_gets_its_joints():
    chain = add_chain(add_leg(), "shin", None)
    chain.joints.clear()
    assert joints_missing(chain) == ["thigh", "shin"]
    sync_joints(chain)
    assert names(chain) == ["thigh", "shin"]


@pytest.mark.parametrize("order", ["min first", "max first"])
@pytest.mark.parametrize("low, high", [(0.2, 2.6), (-3.0, -1.0), (4.0, 5.0), (-5.0, -4.0)])
def test_any_range_can_be_set_in_either_order(order, low, high):
    joint = add_chain(add_leg(), "shin", None).joints["shin"]
    if order == "min first":
        joint.limit_min = low
        assert joint.limit_min <= joint.limit_max
        joint.limit_max = high
    else:
        joint.limit_max = high
        assert joint.limit_min <= joint.limit_max
        joint.limit_min = low
    assert (joint.limit_min, joint.limit_max) == pytest.approx((low, high))


def test_a_limit_stops_at_two_turns_and_its_chain_is_solved():
    armature, _ = leg_with_target()
    for joint in armature.ik2d.chains[0].joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, -99.0, 99.0
        assert (joint.limit_min, joint.limit_max) == pytest.approx((-4.0 * pi, 4.0 * pi))
    assert solve(armature).chains[0].status == [Status.REACHED]


def test_joints_survive_saving_and_copying_the_rig(tmp_path):
    armature = add_leg()
    joint = add_chain(armature, "shin", None).joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max, joint.weight = True, 0.25, 2.5, 0.5
    copy = armature.copy()
    assert copy.ik2d.chains[0].joints["shin"].limit_max == 2.5
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    read = bpy.data.objects["Rig"].ik2d.chains[0].joints
    assert [(joint.name, joint.use_limit, joint.weight) for joint in read] == [
        ("thigh", False, 1.0),
        ("shin", True, 0.5),
    ]


# --- On a library override ---------------------------------------------------


@pytest.fixture
def override(tmp_path):
    """A leg whose chain comes from a library, overridden in a file of its own; and that file."""
    armature, _target = leg_with_target()
    armature.ik2d.chains[0].joints["shin"].weight = 0.5
    library, path = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend")
    bpy.data.libraries.write(library, {armature, bpy.context.scene})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    with bpy.data.libraries.load(library, link=True) as (_there, wanted):
        wanted.objects = ["Rig"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    made = wanted.objects[0].override_create()
    bpy.context.scene.collection.objects.link(made)
    made.override_library.is_system_override = False
    activate(made)
    bpy.context.view_layer.update()
    return made, path


def test_an_override_changes_the_librarys_joints_and_saves_it(override):
    armature, path = override
    joint = armature.ik2d.chains[0].joints["shin"]
    assert joint.weight == 0.5
    joint.use_limit, joint.limit_min, joint.limit_max, joint.weight = True, 0.25, 2.5, 0.75
    name = armature.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    joint = (
        next(o for o in bpy.data.objects if o.name == name and o.override_library)
        .ik2d.chains[0]
        .joints["shin"]
    )
    assert (joint.use_limit, joint.limit_min, joint.limit_max, joint.weight) == (True, 0.25, 2.5, 0.75)


@pytest.mark.slow
def test_other_bones_on_an_override_raise_nothing_and_lose_nothing(override, capfd):
    armature, _path = override
    chain = armature.ik2d.chains[0]
    for count in (3, 1):
        chain.bone_count = count
        sync_joints(chain)
        assert not joints_missing(chain)
    printed = capfd.readouterr()
    assert "Traceback" not in printed.err + printed.out
    assert chain.joints["shin"].weight == 0.5


@pytest.mark.slow
def test_a_joint_that_an_override_adds_to_the_librarys_chain_is_saved(override):
    armature, path = override
    name, chain = armature.name, armature.ik2d.chains[0]
    chain.bone_count = 3
    chain.joints["body"].weight = 0.25
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    read = next(o for o in bpy.data.objects if o.name == name and o.override_library)
    weights = {joint.name: joint.weight for joint in read.ik2d.chains[0].joints}
    assert weights == {"body": 0.25, "thigh": 1.0, "shin": 0.5}


# --- Limits from Blender's own -----------------------------------------------


def bone_about(axis, sign=1, name="Rig"):
    """Return an armature of two bones along +Y that bend about their own X or Z axis, and its chain.

    The second bone's rest bend is to the side that `sign` gives: so the plane's normal is that sign
    times the bones' local axis.
    """
    bend = Matrix.Rotation(sign * 0.3, 3, axis) @ Vector((0, 1, 0))
    middle = Vector((0, 1, 0))
    armature = add_armature({"a": ((0, 0, 0), middle, "", 0.0), "b": (middle, middle + bend, "a", 0.0)}, name)
    if axis == 'Z':  # a bone in the XY plane has its local Z along the world's
        assert abs(armature.data.bones["b"].matrix_local.col[2][2]) > 0.999
    return armature, add_chain(armature, "b", None)


@pytest.mark.parametrize("axis", ['X', 'Z'])
@pytest.mark.parametrize("sign", [1, -1])
def test_ik_limits_become_ranges_about_the_planes_normal(axis, sign):
    armature, chain = bone_about(axis, sign)
    bone, letter = armature.pose.bones["b"], axis.lower()
    setattr(bone, f"use_ik_limit_{letter}", True)
    setattr(bone, f"ik_min_{letter}", radians(-20))
    setattr(bone, f"ik_max_{letter}", radians(100))
    assert take_limits(armature, chain) == 1
    joint = chain.joints["b"]
    expected = (-20, 100) if sign > 0 else (-100, 20)
    assert joint.use_limit
    assert (joint.limit_min, joint.limit_max) == pytest.approx(
        [radians(angle) for angle in expected], abs=1e-6
    )
    assert not chain.joints["a"].use_limit


@pytest.mark.parametrize("axis", ['X', 'Z'])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_range_holds_just_the_turns_that_blenders_constraint_lets_pass(axis, sign):
    """The limits' sign is measured on the evaluated pose, not derived."""
    armature, chain = bone_about(axis, sign)
    bone, letter = armature.pose.bones["b"], axis.lower()
    constraint = bone.constraints.new('LIMIT_ROTATION')
    constraint.owner_space = 'LOCAL'
    setattr(constraint, f"use_limit_{letter}", True)
    setattr(constraint, f"min_{letter}", 0.2)
    setattr(constraint, f"max_{letter}", 1.2)
    take_limits(armature, chain)
    joint = chain.joints["b"]
    normal = Vector((sign, 0, 0)) if axis == 'X' else Vector((0, 0, sign))
    for turn in (-1.0, -0.5, 0.1, 0.5, 1.0, 1.5):
        rest = bone.bone.matrix_local.to_quaternion()
        wanted = Quaternion(normal, turn) @ rest  # about the plane's normal, in the armature's space
        bone.rotation_quaternion = rest.inverted() @ wanted
        bpy.context.view_layer.update()
        posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["b"]
        passes = posed.matrix.to_quaternion().rotation_difference(wanted).angle < 1e-3
        assert passes == (joint.limit_min <= turn <= joint.limit_max), turn


def test_the_narrowest_of_several_limits_holds_and_muted_ones_do_not():
    armature, chain = bone_about('X')
    bone = armature.pose.bones["b"]
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -1.0, 1.0
    for low, high, mute in ((-0.5, 2.0, False), (0.0, 0.1, True)):
        constraint = bone.constraints.new('LIMIT_ROTATION')
        constraint.owner_space, constraint.use_limit_x, constraint.mute = 'LOCAL', True, mute
        constraint.min_x, constraint.max_x = low, high
    take_limits(armature, chain)
    assert (chain.joints["b"].limit_min, chain.joints["b"].limit_max) == pytest.approx((-0.5, 1.0))


def test_an_ik_lock_holds_the_bone_where_it_stands():
    armature, chain = bone_about('X', -1)
    bone = armature.pose.bones["b"]
    bone.lock_ik_x = True
    bone.rotation_quaternion = Quaternion((1, 0, 0), 0.4)
    bpy.context.view_layer.update()
    take_limits(armature, chain)
    joint = chain.joints["b"]
    assert joint.use_limit and (joint.limit_min, joint.limit_max) == pytest.approx((-0.4, -0.4))


def test_limits_about_other_axes_say_nothing():
    armature, chain = bone_about('X')
    bone = armature.pose.bones["b"]
    bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_z = True
    chain.joints["b"].use_limit = True  # of before: Blender's limits replace it
    assert take_limits(armature, chain) == 0
    assert not chain.joints["b"].use_limit


def test_a_bone_that_turns_about_none_of_its_axes_is_named(capfd):
    armature, chain = bone_about('X')
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["b"].roll += 0.7
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.pose.bones["a"].use_ik_limit_x = True
    armature.pose.bones["b"].use_ik_limit_x = True
    activate(armature)
    assert bpy.ops.ik2d.limits_from_bones() == {'FINISHED'}
    printed = capfd.readouterr().out
    assert "Warning: Left out 'b': in the chain's plane they turn about none of their own axes" in printed
    assert "Info: 1 of 2 joints of 'b' are limited" in printed
    assert [joint.use_limit for joint in chain.joints] == [True, False]


def test_limits_can_be_taken_before_there_is_a_target_but_not_without_bones():
    armature, chain = bone_about('X')
    assert chain.target is None and take_limits(armature, chain) == 0
    chain.tip = "foot"
    with pytest.raises(IK2DError, match="no bone 'foot'"):
        take_limits(armature, chain)
    activate(armature)
    assert not bpy.ops.ik2d.limits_from_bones.poll()
    with pytest.raises(RuntimeError, match="Choose the chain's last bone and length first"):
        bpy.ops.ik2d.limits_from_bones()


def test_the_function_below_gives_plain_numbers():
    armature, chain = bone_about('X')
    from ik2d_addon.rig.chain.chain import rest_joints
    from ik2d_addon.rig.chain.planes import bend_plane

    bones = [armature.pose.bones[name] for name in "ab"]
    bones[0].use_ik_limit_x, bones[0].ik_min_x, bones[0].ik_max_x = True, -0.5, 0.75
    ranges, slanted = limits_of_bones(bones, bend_plane(chain, bones, rest_joints(bones)))
    assert ranges["a"] == pytest.approx((-0.5, 0.75)) and list(ranges) == ["a"] and slanted == []
