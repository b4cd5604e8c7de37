# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that people build, baked: all joints are closed in Blender's evaluated pose."""

import dataclasses
import json
from itertools import pairwise
from math import radians

import bpy
import numpy as np
import pytest
from machine_rigs import MODES, TILT, add_machine, evaluated_openings, key_turns, make_linear, normal_of
from machines import MACHINES, excavator, four_bar, jansen_leg, toggle_clamp
from mathutils import Matrix, Quaternion, Vector
from rigs import add_chain, add_target

from ik2d_addon.bake import BakeOptions, bake, bake_steps, check, clear
from ik2d_addon.chains import add_gear, add_mechanism, add_pin, drive
from ik2d_addon.cli.program import run
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale, store_bake
from ik2d_addon.rig.animation.versions import existing_fcurves

ON_FRAMES, BETWEEN = 2e-6, 1e-4


def animation(armature):
    """Return all keys of an armature, with their handles."""
    return [
        (curve.data_path, curve.array_index, [(*key.co, *key.handle_left) for key in curve.keyframe_points])
        for curve in existing_fcurves(armature)
    ]


def assert_closed(mechanism, frames=25):
    """Assert that joints are closed on frames, and between them."""
    assert evaluated_openings(mechanism, range(1, frames + 1)).max() < ON_FRAMES
    assert evaluated_openings(mechanism, np.arange(1, frames, 0.25)).max() < BETWEEN


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_joints_are_closed_on_frames_and_between(make):
    armature, mechanism = add_machine(make())
    report = bake(armature)
    assert report.all_reached and not report.warnings and "closed on 25 frames" in report.sentence()
    assert_closed(mechanism)
    assert report.mechanisms[0].max_open < ON_FRAMES


@pytest.mark.slow
@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("case", [*MODES, "tilted", "small", "large", "depths", "all"])
def test_they_are_in_all_rotation_modes_tilted_scaled_and_in_parallel_planes(make, case):
    rng = np.random.default_rng([60, MACHINES.index(make)])
    ways = {
        "tilted": {"tilt": TILT, "mode": 'XYZ', "roll": 0.4},
        "small": {"scale": 0.01},
        "large": {"scale": 100.0},
        "depths": {"depth": 0.02, "base": True},
        "all": {
            "mode": str(rng.choice(MODES)),
            "tilt": TILT,
            "scale": float(10 ** rng.uniform(-2, 2)),
            "depth": 0.02,
            "roll": float(rng.uniform(-3, 3)),
            "base": True,
        },
    }
    armature, mechanism = add_machine(make(), **ways.get(case, {"mode": case}))
    assert not bake(armature).warnings
    assert_closed(mechanism)


def test_a_moved_and_scaled_armature_with_a_turned_frame_stays_closed():
    armature, mechanism = add_machine(jansen_leg(), base=True)
    armature.matrix_world = TILT
    armature.scale = 2.5, 2.5, 2.5
    base = armature.pose.bones["base"]
    base.rotation_euler = 0.3, 0.2, 0.1
    base.keyframe_insert("rotation_euler", frame=1)
    base.rotation_euler = -0.3, 0.9, 1.1
    base.keyframe_insert("rotation_euler", frame=25)
    assert bake(armature).all_reached
    assert_closed(mechanism)


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION', 'AXIS_ANGLE'])
def test_whole_turns_of_the_driver_count(mode):
    armature, mechanism = add_machine(four_bar(), mode=mode)
    armature.animation_data_clear()
    key_turns(armature, "crank", np.linspace(0.0, 6.0 * np.pi, 25))
    make_linear(armature)
    report = bake(armature)
    assert report.all_reached and report.mechanisms[0].keys > 25  # between frames, too
    assert_closed(mechanism)
    turned = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["coupler"]
    bpy.context.scene.frame_set(25)
    assert turned.id_data is not None


def test_a_driver_is_held_at_its_dead_point_and_told_again_by_the_next_bake():
    armature, mechanism = add_machine(toggle_clamp(), 40)
    armature.animation_data_clear()
    key_turns(armature, "handle", np.linspace(0.2, 1.6, 40))
    before = animation(armature)
    for _ in range(2):
        report = bake(armature)
        machine = report.mechanisms[0]
        assert machine.held_frames == tuple(range(3, 41))
        assert machine.dead_points["handle"] == pytest.approx([np.radians(13.576)], abs=1e-4)
        assert "'handle' is held at 13.6\N{DEGREE SIGN} on 38 of 40 frames" in machine.warnings[0]
        assert_closed(mechanism, 40)
    clear(armature)
    assert animation(armature) == before


def test_rams_and_linkage_follow_an_arm_that_a_chain_turns():
    machine = excavator(("boom", ("stick", "boom"), ("bucket", "stick")))
    still = dataclasses.replace(
        machine, run=lambda frames: dict.fromkeys(("boom", "stick", "bucket"), np.zeros(frames))
    )
    armature, mechanism = add_machine(still)
    armature.animation_data_clear()
    x, _, z = armature.data.bones["bucket"].tail_local
    path = {1: (x, 0, z), 12: (x - 0.5, 0, z - 0.6), 25: (x - 0.9, 0, z + 0.5)}
    chain = add_chain(armature, "bucket", add_target(path), bone_count=3)
    for bone, (low, high) in (("boom", (-25, 25)), ("stick", (-60, 30)), ("bucket", (-25, 40))):
        joint = chain.joints[bone]
        joint.use_limit, joint.limit_min, joint.limit_max = True, radians(low), radians(high)
    before = animation(armature)
    report = bake(armature)
    assert report.all_reached and report.chains and "1 chain and 1 mechanism" in report.sentence()
    assert_closed(mechanism)
    assert clear(armature, mechanism="machine") and evaluated_openings(mechanism, [12]).max() > 0.01
    assert clear(armature, chain.name)
    assert animation(armature) == before


def test_a_chain_that_turns_a_driver_too_far_is_told():
    armature, mechanism = add_machine(toggle_clamp(), 20)
    armature.animation_data_clear()
    handle = armature.data.bones["handle"]
    way = handle.tail_local - handle.head_local
    turned = handle.head_local + Matrix.Rotation(-1.2, 3, 'Y') @ way
    chain = add_chain(armature, "handle", add_target({1: tuple(handle.tail_local), 20: tuple(turned)}), 1)
    report = bake(armature)
    assert not report.all_reached and not report.mechanisms[0].is_closed
    assert "a chain turns 'handle' to where its loops tear" in report.mechanisms[0].warnings[-1]
    assert clear(armature, chain.name) > 0


def test_a_chain_follows_a_bone_of_a_mechanism():
    armature, mechanism = add_machine(four_bar())
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    upper, lower = (armature.data.edit_bones.new(name) for name in ("upper", "lower"))
    upper.head, upper.tail, lower.head, lower.tail = (5, 0, 0), (5.3, 0, 1.2), (5.3, 0, 1.2), (4.6, 0, 2.4)
    lower.parent = upper
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = add_chain(armature, "lower", armature, bone_count=2)
    chain.subtarget = "rocker"
    report = bake(armature)
    assert report.all_reached
    assert_closed(mechanism)
    for frame in (5, 12, 20):
        bpy.context.scene.frame_set(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        assert (bones["lower"].tail - bones["rocker"].head).length < 1e-4


def test_a_target_drags_a_point():
    armature, mechanism = add_machine(four_bar())
    armature.animation_data_clear()
    mechanism.drivers.clear()
    x, _, z = armature.data.bones["coupler"].tail_local
    target = add_target({1: (x, 0, z), 12: (x + 0.4, 0, z + 0.1), 25: (x - 0.3, 0, z)})
    drive(mechanism, "coupler", target)
    report = bake(armature)
    told = report.mechanisms[0]
    assert told.is_closed and not report.all_reached
    assert_closed(mechanism)
    assert 0.01 < told.max_missed and "off its target by" in report.sentence()
    for frame, missed in zip(told.frames.tolist(), told.missed, strict=True):
        bpy.context.scene.frame_set(frame)
        tail = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["coupler"].tail
        assert abs((tail - target.matrix_world.translation).length - missed) < 1e-5 * told.size


def test_a_bake_that_is_stopped_leaves_everything_as_it_was():
    armature, _ = add_machine(jansen_leg())
    before = animation(armature)
    for stop in (1, 2, 3):
        steps = bake_steps(armature)
        for _ in range(stop):
            next(steps)
        steps.close()
        assert animation(armature) == before


def test_options_of_the_bake_keep_the_joints_closed():
    armature, mechanism = add_machine(jansen_leg(), mode='QUATERNION')
    for options in ({"reduce": 0.01}, {"on_target_keys": True}, {"verify": 'ALL'}, {"single_axis": True}):
        assert bake(armature, options=BakeOptions(**options)).all_reached
        assert_closed(mechanism)
    report = bake(armature, step=3)
    assert report.all_reached and report.mechanisms[0].keyed[::3].all()  # and what the bound asks for
    assert_closed(mechanism)
    assert "not played back" in bake(armature, options=BakeOptions(verify='NONE')).sentence()


def test_names_choose_what_is_baked():
    armature, _ = add_machine(four_bar())
    chain = add_chain(armature, "coupler", add_target({1: (1, 0, 1)}), bone_count=1)
    with pytest.raises(IK2DError, match="a chain turns 'coupler' too"):
        bake(armature, [chain.name], mechanisms=["machine"])
    assert not bake(armature, mechanisms=["machine"]).chains
    assert not bake(armature, [chain.name]).mechanisms
    with pytest.raises(IK2DError, match="no mechanism 'loom'; its mechanisms are: 'machine'"):
        bake(armature, mechanisms=["loom"])
    report = bake(armature)
    assert report.left_out and not report.mechanisms


def test_all_actions_are_baked_and_cleared():
    armature, mechanism = add_machine(four_bar())
    first = armature.animation_data.action
    report = bake(armature, actions='ALL')
    assert report.all_reached and report.by_action[0].mechanisms
    assert_closed(mechanism)
    assert clear(armature, actions=[first.name]) > 0


def test_a_copy_a_saved_file_and_a_renamed_bone_keep_the_mechanism(tmp_path):
    armature, _ = add_machine(four_bar())
    armature.data.bones["rocker"].name = "arm"
    path = str(tmp_path / "machine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Rig"]
    assert bake(armature).all_reached
    mechanism = armature.ik2d.mechanisms[0]
    assert [bone.name for bone in mechanism.bones] == ["crank", "arm", "coupler"]
    assert mechanism.joints[0].other == "arm"
    copy = armature.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.animation_data.action = copy.animation_data.action.copy()
    assert bake(copy).all_reached and copy.ik2d.mechanisms[0].joints[0].other == "arm"


def test_the_command_line_lists_checks_and_bakes_machines(tmp_path, capsys):
    _, mechanism = add_machine(four_bar())
    path = str(tmp_path / "machine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert run(["list", path], opens_scene=True) == 0
    assert "MECHANISM machine (3 bones): 1 freedom, 1 driver, ok" in capsys.readouterr().out
    assert run(["check", path, "--mechanism", "machine", "--strict"], opens_scene=True) == 0
    assert "machine (mechanism, 3 bones): closed on 25 frames" in capsys.readouterr().out
    assert run(["bake", path, "--mechanism", "loom"], opens_scene=True) == 2
    assert "no armature of the scene has a mechanism 'loom'" in capsys.readouterr().err
    assert run(["bake", path, "--strict"], opens_scene=True) == 0
    assert_closed(bpy.data.objects["Rig"].ik2d.mechanisms[0])
    bpy.data.objects["Rig"].ik2d.mechanisms[0].drivers.clear()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert run(["list", path], opens_scene=True) == 0
    told = capsys.readouterr().out
    assert "not ok, see the problem" in told and "1 freedom left: choose what drives" in told
    assert run(["check", path], opens_scene=True) == 2


def test_what_makes_no_machine_is_told_in_a_sentence():
    armature, mechanism = add_machine(four_bar())
    mechanism.drivers.clear()
    with pytest.raises(IK2DError, match="1 freedom left: choose what drives"):
        bake(armature)
    assert check(armature) == ["Mechanism 'machine': 1 freedom left: choose what drives"]
    drive(mechanism, "crank")
    driver = drive(mechanism, "rocker")
    with pytest.raises(IK2DError, match="2 drivers for 1 freedom: take away 'crank' or 'rocker'"):
        bake(armature)
    with pytest.raises(IK2DError, match="'rocker' drives already"):
        drive(mechanism, "rocker")
    driver.bone = "gone"
    with pytest.raises(IK2DError, match="'gone' is no bone of the mechanism"):
        bake(armature)
    mechanism.drivers.remove(1)
    armature.pose.bones["coupler"].location.x = 0.2
    armature.data.bones["coupler"].use_local_location = True
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["coupler"].use_connect = False
    bpy.ops.object.mode_set(mode='OBJECT')
    with pytest.raises(IK2DError, match="'coupler' is moved or scaled in its pose"):
        bake(armature)


def test_bones_out_of_the_plane_are_named_with_their_angle():
    armature, _ = add_machine(four_bar())
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["coupler"].tail.y += 0.1
    bpy.ops.object.mode_set(mode='OBJECT')
    with pytest.raises(IK2DError, match="'coupler' is 2.29\N{DEGREE SIGN} off the plane"):
        bake(armature)
    with pytest.raises(IK2DError, match="'coupler' is 2.29\N{DEGREE SIGN} off the plane"):
        add_mechanism(armature, ["crank", "coupler", "rocker"])
    assert len(armature.ik2d.mechanisms) == 1


def test_a_pin_twice_and_a_dead_rest_pose_are_refused():
    armature, mechanism = add_machine(four_bar())
    with pytest.raises(IK2DError, match="it turns about this end of its own already"):
        add_pin(mechanism, "coupler", 'HEAD', "crank")
    add_pin(mechanism, "coupler", 'TAIL', "rocker")
    with pytest.raises(IK2DError, match="are pinned already: a loop needs three bodies or more"):
        bake(armature)


def test_keys_without_numbers_are_refused():
    armature, _ = add_machine(four_bar())
    curve = next(curve for curve in existing_fcurves(armature) if curve.array_index == 2)
    curve.keyframe_points[4].co.y = float("nan")
    with pytest.raises(IK2DError, match="'crank' has no finite value at frame 5"):
        bake(armature)


def turn_by_driver(armature):
    """Turn the crank by an expression, by more than half a turn a frame."""
    armature.animation_data_clear()
    armature.pose.bones["crank"].driver_add("rotation_euler", 2).driver.expression = "frame * 2.5"


def turn_by_constraint(armature):
    """Turn the crank as an object turns."""
    normal = normal_of(armature)
    armature.animation_data_clear()
    target, rest = add_target({1: (0, 0, 0)}), armature.data.bones["crank"].matrix_local
    target.rotation_mode = 'QUATERNION'
    for frame in range(1, 26):
        half = frame * 0.15  # not by the angle, which mathutils wraps
        turned = Quaternion((np.cos(half), *(np.array(normal) * np.sin(half))))
        target.rotation_quaternion = turned @ rest.to_quaternion()
        target.keyframe_insert("rotation_quaternion", frame=frame)
    armature.pose.bones["crank"].constraints.new('COPY_ROTATION').target = target


def turn_by_strip(armature):
    """Turn the crank by its own keys in an NLA strip."""
    animation = armature.animation_data
    track = animation.nla_tracks.new()
    track.strips.new("turn", 1, animation.action)
    animation.action = None


@pytest.mark.parametrize(
    "turn", [turn_by_driver, turn_by_constraint, turn_by_strip], ids=lambda f: f.__name__
)
def test_a_bone_that_other_controls_turn_drives_by_its_evaluated_pose(turn):
    armature, mechanism = add_machine(four_bar())
    turn(armature)
    before = animation(armature)
    report = bake(armature)
    assert report.all_reached and not report.warnings, report.warnings
    assert_closed(mechanism)
    bone = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["crank"]
    turned = []
    for frame in (1, 9, 17):
        bpy.context.scene.frame_set(frame)
        turned.append(bone.matrix.copy())
    assert turned[0] != turned[1] != turned[2]
    assert not any("crank" in curve.data_path for curve in existing_fcurves(armature))
    assert clear(armature) > 0 and animation(armature) == before


def test_a_driver_that_a_constraint_turns_too_far_is_told_and_never_keyed():
    armature, mechanism = add_machine(toggle_clamp(), 20)
    armature.animation_data_clear()
    handle = armature.pose.bones["handle"]
    handle.driver_add("rotation_euler", 2).driver.expression = "(frame - 1) * 0.05"
    report = bake(armature)
    (machine,) = report.mechanisms
    gaps = evaluated_openings(mechanism, range(1, 21))
    assert not machine.is_closed and list(machine.open_frames) == [
        frame for frame, gap in zip(range(1, 21), gaps, strict=True) if gap > 1e-5
    ]
    assert 5 < len(machine.open_frames) < 20
    assert "turns 'handle' to where its loops tear" in machine.warnings[-1]
    assert not any("handle" in curve.data_path for curve in existing_fcurves(armature))


def test_a_bone_that_a_constraint_turns_out_of_the_plane_is_refused():
    armature, _ = add_machine(four_bar())
    armature.pose.bones["crank"].driver_add("rotation_euler", 0).driver.expression = "0.1 * frame"
    with pytest.raises(
        IK2DError, match="turns 'crank' 5.73\N{DEGREE SIGN} out of the mechanism's plane at frame 1"
    ):
        bake(armature)


def swung(armature, bone, turns):
    """Return places of a bone's tail for turns about its head, on frames from 1 on."""
    data = armature.data.bones[bone]
    arm = data.tail_local - data.head_local
    turned = [Matrix.Rotation(turn, 3, 'Y') @ arm for turn in turns]
    return {frame: tuple(data.head_local + way) for frame, way in enumerate(turned, 1)}


@pytest.mark.parametrize("way", ['NEAREST', 'GO_ON'])
def test_a_target_that_two_poses_reach_alike_is_followed_in_one_of_them(way):
    armature, mechanism = add_machine(four_bar())
    armature.animation_data_clear()
    mechanism.drivers.clear()
    path = swung(armature, "rocker", 0.25 * np.sin(np.arange(25) / 4.0))
    drive(mechanism, "rocker", add_target(path))
    mechanism.way = way
    report = bake(armature)
    assert report.all_reached and not report.warnings
    assert_closed(mechanism)
    tails, turns = [], []
    for frame in range(1, 26):
        bpy.context.scene.frame_set(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        tails.append((bones["rocker"].tail - Vector(path[frame])).length)
        turns.append(bones["crank"].y_axis.copy())
    assert max(tails) < 1e-4
    assert min(a.dot(b) for a, b in pairwise(turns)) > 0.7  # the crank never jumps over to its other side
    ends = [animation(armature) for _ in (bake(armature), bake(armature))]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("way, jumps", [('NEAREST', True), ('GO_ON', False)])
def test_a_jump_to_a_pose_that_is_nearer_to_the_target_is_told(way, jumps):
    armature, mechanism = add_machine(toggle_clamp())
    armature.animation_data_clear()
    mechanism.drivers.clear()
    # The handle turns from -3.43 to 0.24: behind its pivot, nearer to one of these and then to the other.
    path = swung(armature, "handle", np.where(np.arange(25) < 10, -1.15, -1.95))
    target = add_target(path)
    make_linear(target)
    drive(mechanism, "handle", target)
    mechanism.way = way
    report = bake(armature)
    told = [sentence for sentence in report.warnings if "it jumps to another pose" in sentence]
    assert len(told) == jumps and all("frame 11;" in sentence for sentence in told)
    turned = []
    for frame in (10, 11):
        bpy.context.scene.frame_set(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        turned.append(bones["handle"].y_axis.copy())
    assert (turned[0].angle(turned[1]) > 1.0) == jumps
    assert evaluated_openings(mechanism, range(1, 26)).max() < ON_FRAMES
    assert evaluated_openings(mechanism, [*np.arange(1, 10, 0.25), *np.arange(11, 25, 0.25)]).max() < BETWEEN


def test_a_gear_that_cannot_turn_is_open_and_told_why():
    armature, mechanism = add_machine(four_bar())
    add_wheel(armature, mechanism)
    add_gear(mechanism, "crank", "wheel", 2.0)
    assert bake(armature).all_reached
    armature.pose.bones["wheel"].lock_rotation = True, True, True
    clear(armature)
    report = bake(armature)
    (machine,) = report.mechanisms
    assert not machine.is_closed and len(machine.open_frames) > 20
    assert "locked rotation channels keep 'wheel' from turning" in machine.warnings[-1]


def add_wheel(armature, mechanism):
    """Add a bone that turns on the frame to a mechanism."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    wheel = armature.data.edit_bones.new("wheel")
    wheel.head, wheel.tail = (-2, 0, 0), (-2, 0, 1)
    wheel.align_roll((0, -1, 0))
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.pose.bones["wheel"].rotation_mode = 'XYZ'
    mechanism.bones.add().name = "wheel"


def test_few_keys_are_as_near_to_the_solved_pose_as_asked_for():
    armature, mechanism = add_machine(jansen_leg(), 49)
    many = bake(armature).mechanisms[0]
    tips = foot_places(armature, 49)
    for options in (BakeOptions(reduce=0.02 * many.size), BakeOptions(on_target_keys=True)):
        few = bake(armature, options=options).mechanisms[0]
        off = np.linalg.norm(foot_places(armature, 49) - tips, axis=1).max()
        allowed = options.reduce or mechanism.open_between * many.size
        assert off < allowed and few.is_closed
        assert evaluated_openings(mechanism, np.arange(1, 49, 0.25)).max() * many.size < 1.5 * allowed
        if options.reduce:
            assert few.keys < 0.7 * many.keys and "with keys" in few.sentence()


def foot_places(armature, frames):
    """Return the evaluated tail of the leg's foot on frames from 1 on."""
    found = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append(tuple(bones["foot"].tail))
    return np.array(found)


def test_keys_of_drivers_alone_are_kept_where_they_step():
    armature, mechanism = add_machine(jansen_leg(), 25)
    armature.animation_data_clear()
    for frame, turn in ((1, 0.0), (9, 2.0), (17, 3.0)):
        key_turns(armature, "crank", [turn], first=frame)
    for curve in existing_fcurves(armature):
        for point in curve.keyframe_points:
            point.interpolation = 'CONSTANT'
    report = bake(armature, options=BakeOptions(on_target_keys=True))
    assert report.mechanisms[0].keys == 4 and report.all_reached
    assert_closed(mechanism)


def test_a_cyclic_clip_ends_in_the_pose_in_which_it_began():
    armature, mechanism = add_machine(jansen_leg(), 25)
    action = armature.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end, action.use_cyclic = True, 1, 25, True
    for curve in existing_fcurves(armature):
        curve.modifiers.new('CYCLES')
    report = bake(armature, actions=[action.name])
    assert report.all_reached and not report.warnings, report.warnings
    feet = foot_places(armature, 25)
    assert np.abs(feet[0] - feet[-1]).max() < 1e-6
    assert all(
        any(modifier.type == 'CYCLES' for modifier in curve.modifiers)
        for curve in existing_fcurves(armature)
        if "crank" in curve.data_path
    )
    key_turns(armature, "crank", [0.7], first=25)
    report = bake(armature, actions=[action.name])
    assert any("its loop is open by" in sentence for sentence in report.warnings)


def test_a_bake_into_a_new_action_leaves_the_old_one():
    armature, mechanism = add_machine(four_bar())
    before, action = animation(armature), armature.animation_data.action
    report = bake(armature, options=BakeOptions(into='NEW', assign_baked=True))
    assert report.all_reached and armature.animation_data.action != action
    assert_closed(mechanism)
    armature.animation_data.action = action
    assert animation(armature) == before


def test_a_ram_that_leaves_its_stroke_is_told_with_the_frame():
    machine = excavator(("boom", ("stick", "boom"), ("bucket", "stick")))
    still = dict.fromkeys(("boom", "stick", "bucket"), np.zeros(25))
    armature, mechanism = add_machine(dataclasses.replace(machine, run=lambda frames: still))
    ram = next(joint for joint in mechanism.joints if joint.kind == 'RAM')
    ram.stroke = 0.01, 0.02
    report = bake(armature)
    said = [sentence for sentence in report.warnings if "leaves its stroke of 0.01 to 0.02" in sentence]
    assert len(said) == 1 and "on 25 frames, the first 1" in said[0] and report.all_reached
    ram.stroke = 0.0, 1e3
    assert not any("leaves its stroke of" in one and ram.bone in one for one in bake(armature).warnings)


def test_the_bake_is_out_of_date_where_anything_of_a_mechanism_changes():
    armature, mechanism = add_machine(four_bar())
    scene = bpy.context.scene

    def stale():
        return bake_is_stale(armature, scene)

    def change(words, act, undo):
        store_bake(armature, bake(armature))
        assert not stale()
        act()
        assert stale() == words, (stale(), words)
        undo()
        assert not stale()

    crank = next(curve for curve in existing_fcurves(armature) if "crank" in curve.data_path)
    point = crank.keyframe_points[3]
    value = point.co.y
    change("the keys", lambda: setattr(point.co, "y", 7.0), lambda: setattr(point.co, "y", value))
    for name, other in (("dead", 'STOP'), ("way", 'GO_ON'), ("softness", 0.1), ("open_between", 1e-3)):
        before = getattr(mechanism, name)
        change(
            "the settings",
            lambda name=name, other=other: setattr(mechanism, name, other),
            lambda name=name, before=before: setattr(mechanism, name, before),
        )
    joint = mechanism.joints[0]
    change("the settings", lambda: setattr(joint, "other", ""), lambda: setattr(joint, "other", "rocker"))
    clear(armature)
    assert not mechanism.bake_mark


def test_max_error_and_tables_have_mechanisms(tmp_path, capsys):
    armature, _ = add_machine(four_bar())
    armature.pose.bones["rocker"].lock_rotation = True, True, True
    path = str(tmp_path / "machine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    table, report = tmp_path / "report.csv", tmp_path / "report.json"
    words = ["bake", path, "--output", str(tmp_path / "out.blend"), "--max-error", "0.001"]
    assert run([*words, "--report", str(table)], opens_scene=True) == 1
    assert "the largest opening of a joint," in capsys.readouterr().err
    header, *rows = table.read_text().splitlines()
    assert header.startswith("armature,chain,frame,distance,open,open_between,keyed,held") and len(rows) == 25
    assert float(rows[12].split(",")[4]) > 0.01
    assert run([*words, "--report", str(report)], opens_scene=True) == 1
    (told,) = json.loads(report.read_text())["armatures"][0]["mechanisms"]
    assert told["max_error"] > 0.01 and told["open_frames"] and not told["closed"]
    capsys.readouterr()
    words = ["gather", str(report), "--max-error", "0.001", "--report", str(tmp_path / "all.json")]
    assert run(words, opens_scene=False) == 1
    (gathered,) = json.loads((tmp_path / "all.json").read_text())["files"]
    assert gathered["mechanisms"] == ["machine"] and not gathered["chains"]
    assert "its target, or opening of a joint, is" in capsys.readouterr().out


def test_mechanisms_alone_are_exported_with_all_clips(tmp_path):
    add_machine(jansen_leg())
    path = str(tmp_path / "machine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    out = tmp_path / "leg.glb"
    assert run(["export", path, "--output", str(out), "--strict"], opens_scene=True) == 0
    assert out.stat().st_size > 1000
