# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet roll over the pivot that stands, in Solve, Live and Bake, by Blender's evaluated pose."""

import math
from pathlib import Path

import bpy
import numpy as np
import pytest
from foot_rigs import KINDS, Leg, lift_control, plain_leg, random_leg, turned
from mathutils import Vector
from rigs import add_target

from ik2d_addon.bake import bake, solve
from ik2d_addon.chains import add_foot, remove_foot, target_to_tip
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.foot.pivots import measured_pivots
from ik2d_addon.features.overlay.chain_view import samples_now
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.rounding import rounding
from ik2d_addon.rig.scene.sampler import sample_now

# Of the leg's reach, besides what 32 bits hold in the world.
EXACT, SWINGING, HALF_WAY = 1e-6, 2e-5, 2e-4
ROLLS = (-1.2, -0.4, -1e-3, 0.0, 1e-3, 0.3, math.pi / 4, math.pi / 4 + 1e-3, 1.1, 1.5)
PLANES = ('AUTO', 'SWING', 'POLE')


def stands(roll: float, has_toes: bool) -> str:
    """Return the pivot that stands at a roll."""
    if roll < 0.0:
        return "heel"
    return "ball" if has_toes and roll <= math.pi / 4 else "toe_tip"


def leg_in(plane: str, seed: int):
    """Return a random leg whose plane follows such a rule, with its control near enough."""
    settings = {}
    if plane == 'POLE':
        settings["pole"] = add_target({}, "Pole")
        settings["pole"].location = (0.3, -50.0, 2.0)
    leg = random_leg(seed, plane=plane, **settings)
    lift_control(leg, 0.25)
    return leg


def allowed(leg, plane: str) -> float:
    """Return how far a pivot may be off, in the world."""
    size = max(map(abs, (*leg.armature.matrix_world.translation, *leg.control.matrix_world.translation)))
    return (EXACT if plane == 'AUTO' else SWINGING) * leg.reach + 4.0 * float(rounding(np.array([size]))[0])


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("way", ["solve", "live"])
@pytest.mark.parametrize("seed", range(10))
def test_the_pivot_that_stands_keeps_its_place(seed, way, plane):
    leg = leg_in(plane, seed)
    leg.chain.live = way == "live"
    places, reached = {}, []
    for roll in ROLLS:
        leg.chain.foot.roll = roll
        bpy.context.view_layer.update()
        if way == "solve":
            is_reached = solve(leg.armature).chains[0].reached
        else:
            is_reached = leg.chain.live_reached
            assert is_reached or "out of reach" in leg.chain.live_status
        reached += [roll] * is_reached
        for name, place in leg.pivots().items():
            places.setdefault(name, {})[roll] = place
    assert len(reached) >= 8
    has_toes = "toes" in leg.bones
    for name in ("heel", "ball", "toe_tip"):
        standing = [
            roll for roll in reached if stands(roll, has_toes) == name or (roll, name) == (0.0, "heel")
        ]
        if name == "toe_tip":  # it has stood while the ball did
            standing += [roll for roll in reached if 0.0 <= roll <= math.pi / 4]
        found = np.array([places[name][roll] for roll in standing])
        if len(found):
            assert np.abs(found - found[0]).max() <= allowed(leg, plane), name


@pytest.mark.parametrize("way", ["solve", "live"])
def test_a_roll_is_continuous_through_nothing_and_the_break_angle(way):
    leg = plain_leg()
    lift_control(leg, 0.2)
    leg.chain.live = way == "live"
    step = 1e-3
    for around in (0.0, math.pi / 4):
        before = None
        for roll in np.arange(around - 3 * step, around + 3 * step, step):
            leg.chain.foot.roll = roll
            bpy.context.view_layer.update()
            if way == "solve":
                solve(leg.armature)
            place = np.array(list(leg.pivots().values()))
            if before is not None:
                assert np.abs(place - before).max() < 2.0 * step * leg.reach
            before = place


@pytest.mark.parametrize("kind", KINDS)
def test_a_bake_keys_a_roll_that_blender_plays(kind):
    leg = plain_leg(kind)
    lift_control(leg, 0.2)
    turned(leg, 0.2)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 30
    has_toes = "toes" in leg.bones
    frames = range(1, 31)
    for frame, roll in ((1, -0.5), (10, 0.0), (20, 0.7), (30, 1.2)):
        leg.chain.foot.roll = roll
        leg.chain.foot.keyframe_insert("roll", frame=frame)
    report = bake(leg.armature)
    (told,) = report.chains
    places = {}
    for time in (*frames, *(frame + 0.5 for frame in frames[:-1])):
        scene.frame_set(int(time), subframe=time % 1)
        roll = leg.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).ik2d.chains[0].foot.roll
        places[time] = roll, leg.pivots()
    still = places[10][1]  # roll 0: all stand
    worst = {False: 0.0, True: 0.0}
    for time, (roll, pivots) in places.items():
        name = stands(roll, has_toes)
        off = float(np.abs(pivots[name] - still[name]).max()) / leg.reach
        worst[time % 1 > 0] = max(worst[time % 1 > 0], off)
    assert worst[False] <= 2.0 * EXACT
    assert worst[True] <= HALF_WAY
    assert told.reached


def test_toes_bend_alone_and_stay_on_the_ground_up_to_the_break_angle():
    leg = plain_leg()
    lift_control(leg, 0.2)
    solve(leg.armature)
    before = leg.carried("foot", leg.armature.data.bones["foot"].tail_local), leg.pivots()
    leg.chain.foot.toe = 0.4
    solve(leg.armature)
    foot, pivots = leg.carried("foot", leg.armature.data.bones["foot"].tail_local), leg.pivots()
    assert np.abs(foot - before[0]).max() <= EXACT
    assert pivots["toe_tip"][2] > before[1]["toe_tip"][2] + 0.02  # up
    assert np.abs(pivots["ball"] - before[1]["ball"]).max() <= EXACT


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_adding_a_foot_moves_nothing(seed, live):
    leg = random_leg(seed)
    remove_foot(leg.armature, leg.chain)
    lift_control(leg, 0.2)
    solve(leg.armature)
    leg.chain.live = live
    bpy.context.view_layer.update()
    foot = leg.armature.data.bones["foot"]
    places = [foot.head_local, foot.tail_local, foot.tail_local + Vector((0.01, 0.0, 0.0))]
    before = np.array([leg.carried("foot", place) for place in places])
    add_foot(leg.armature, leg.chain)
    bpy.context.view_layer.update()
    if not live:
        solve(leg.armature)
    now = np.array([leg.carried("foot", place) for place in places])
    assert np.abs(now - before).max() <= allowed(leg, 'AUTO')


def test_removing_a_foot_gives_its_bones_back():
    leg = plain_leg()
    lift_control(leg, 0.2)
    leg.chain.foot.roll = 0.5
    solve(leg.armature)
    remove_foot(leg.armature, leg.chain)
    for name in leg.bones:
        assert tuple(leg.armature.pose.bones[name].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    solve(leg.armature)
    tip = leg.carried("shin", leg.armature.data.bones["shin"].tail_local)
    assert np.abs(tip - np.array(leg.control.matrix_world.translation)).max() <= EXACT


# --- The ground --------------------------------------------------------------


def lowest(leg) -> float:
    """Return the least height of a foot's sole now."""
    foot = leg.chain.foot
    ankle = leg.armature.data.bones["shin"].tail_local
    heel, tip = Vector(foot.heel), Vector(foot.toe_tip)
    ball = heel + (tip - heel) * ((foot.ball[1] - heel.y) / (tip.y - heel.y))
    ends = [("foot", heel), ("foot", ball), ("toes", ball), ("toes", tip)]
    return min(float(leg.carried(bone, ankle + place)[2]) for bone, place in ends)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["solve", "live"])
@pytest.mark.parametrize("mesh", [False, True])
def test_no_point_of_the_sole_goes_below_the_ground(way, mesh):
    leg = plain_leg()
    lift_control(leg, 0.3)
    turned(leg, 0.3)
    if mesh:
        bpy.ops.mesh.primitive_grid_add(size=4.0, x_subdivisions=7, y_subdivisions=9)
        floor = bpy.context.object
    else:
        floor = add_target({}, "Floor")
    height = float(leg.control.matrix_world.translation.z) - 0.04
    floor.location = (0.0, 0.0, height)
    leg.chain.foot.ground, leg.chain.foot.use_ground = floor, True
    leg.chain.live = way == "live"
    for roll in ROLLS:
        leg.chain.foot.roll = roll
        bpy.context.view_layer.update()
        if way == "solve":
            solve(leg.armature)
        # Lifted no further than needed: the foot sinks at any roll without.
        assert lowest(leg) == pytest.approx(height, abs=2e-6)


def test_a_foot_above_the_ground_is_not_lifted():
    leg = plain_leg()
    lift_control(leg, 0.2)
    leg.chain.foot.roll = 0.4
    solve(leg.armature)
    before = leg.pivots()
    leg.chain.foot.ground, leg.chain.foot.use_ground = add_target({}, "Floor"), True
    leg.chain.foot.ground.location.z = -5.0
    solve(leg.armature)
    assert all(np.abs(leg.pivots()[name] - place).max() <= EXACT for name, place in before.items())


@pytest.mark.slow
def test_a_bake_over_stairs_keeps_the_sole_above_them_and_says_so():
    leg = plain_leg()
    lift_control(leg, 0.35)
    mesh = bpy.data.meshes.new("Stairs")
    ends = [(1.0, 0.0), (0.05, 0.0), (0.05, 0.1), (-0.1, 0.1), (-0.1, 0.2), (-1.0, 0.2)]
    corners = [(x, y, z) for y, z in ends for x in (-1.0, 1.0)]
    mesh.from_pydata(corners, [], [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(ends) - 1)])
    stairs = bpy.data.objects.new("Stairs", mesh)
    bpy.context.scene.collection.objects.link(stairs)
    leg.chain.foot.ground, leg.chain.foot.use_ground = stairs, True
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    place = leg.control.location.copy()
    for frame, (y, z) in ((1, (0.2, 0.12)), (10, (0.0, 0.16)), (20, (-0.15, 0.22))):
        leg.control.location = (place.x, y, z)
        leg.control.keyframe_insert("location", frame=frame)
    (told,) = bake(leg.armature).chains
    assert told.circumstances.lifted is not None and (told.circumstances.lifted > 0.01).sum() > 3
    assert "lifted" in told.sentence() and "'Stairs'" in told.sentence()
    for frame in range(1, 21):
        scene.frame_set(frame)
        for y in np.linspace(float(leg.pivots()["toe_tip"][1]), float(leg.pivots()["heel"][1]), 60):
            hit, spot, *_ = stairs.ray_cast((0.0, y, 5.0), (0.0, 0.0, -1.0))
            pivots = leg.pivots()
            ahead = (y - pivots["heel"][1]) / (pivots["toe_tip"][1] - pivots["heel"][1])
            sole = pivots["heel"][2] + ahead * (pivots["toe_tip"][2] - pivots["heel"][2])
            assert not hit or sole >= spot.z - 1e-5 * leg.reach, frame


# --- Bad input ---------------------------------------------------------------


def refused(leg, match: str) -> None:
    with pytest.raises(IK2DError, match=match):
        solve(leg.armature)


def test_a_foot_without_bones_is_refused():
    leg = plain_leg()
    remove_foot(leg.armature, leg.chain)
    chain = leg.armature.ik2d.chains[0]
    chain.tip, chain.bone_count = "toes", 2
    with pytest.raises(IK2DError, match="no bone hangs on the end of 'toes'"):
        add_foot(leg.armature, chain)
    assert not chain.foot.is_added


def test_a_foot_across_the_plane_is_refused():
    leg = plain_leg()
    leg.chain.plane = 'Y'
    refused(leg, "lies across the plane")
    remove_foot(leg.armature, leg.chain)
    with pytest.raises(IK2DError, match="points out of the plane"):
        add_foot(leg.armature, leg.chain)
    assert not leg.chain.foot.is_added


def test_a_ground_above_the_hip_is_refused():
    leg = plain_leg()
    leg.chain.foot.ground, leg.chain.foot.use_ground = add_target({}, "Roof"), True
    leg.chain.foot.ground.location.z = 3.0
    bpy.context.view_layer.update()
    refused(leg, "'Roof' is above the chain's root")


@pytest.mark.parametrize("mesh", [False, True])
@pytest.mark.parametrize("way", ["solve", "live", "bake"])
def test_the_hip_is_where_the_body_has_it(way, mesh):
    leg = plain_leg()
    body, climb = leg.armature.pose.bones["body"], 5.0
    if mesh:
        bpy.ops.mesh.primitive_grid_add(size=4.0, x_subdivisions=7, y_subdivisions=9)
        leg.chain.foot.ground = bpy.context.object
    else:
        leg.chain.foot.ground = add_target({}, "Floor")
    leg.chain.foot.use_ground, leg.chain.foot.roll = True, 0.3
    lift_control(leg, 0.3)
    height = float(leg.control.matrix_world.translation.z) + climb - 0.04
    leg.chain.foot.ground.location.z = height
    leg.control.location.z += climb
    body.location = body.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, climb))
    leg.chain.live = way == "live"
    bpy.context.view_layer.update()
    if way == "bake":
        bake(leg.armature, frame_start=1, frame_end=2)
        bpy.context.scene.frame_set(2)
    elif way == "solve":
        solve(leg.armature)
    assert lowest(leg) == pytest.approx(height, abs=1e-5)


@pytest.mark.parametrize("climb", [0.0, 5.0])
def test_the_overlay_has_the_ankle_on_the_floor_rather_than_on_the_roof(climb):
    leg, floors = plain_leg(), bpy.data.meshes.new("Floors")
    lift_control(leg, 0.3)
    body = leg.armature.pose.bones["body"]
    body.location = body.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, climb))
    leg.control.location.z += climb
    bpy.context.view_layer.update()
    floor = float(leg.control.matrix_world.translation.z) - 0.04
    corners = [(x, y, z) for z in (floor, floor + 4.0) for x, y in ((-2, -2), (2, -2), (2, 2), (-2, 2))]
    floors.from_pydata(corners, [], [(0, 1, 2, 3), (4, 5, 6, 7)])
    leg.chain.foot.ground, leg.chain.foot.use_ground = bpy.data.objects.new("Floors", floors), True
    bpy.context.scene.collection.objects.link(leg.chain.foot.ground)
    bpy.context.view_layer.update()
    rig = read_chain(leg.armature, leg.chain)
    solved = sample_now(bpy.context.scene, [rig]).chains[0]
    assert 0.0 < solved.lifts[0] < 0.2
    assert samples_now(rig, leg.chain).lifts == pytest.approx(solved.lifts, abs=EXACT)


def test_a_ground_on_the_leg_is_refused():
    leg = plain_leg()
    ground = add_target({}, "Ground")
    ground.parent, ground.parent_type, ground.parent_bone = leg.armature, 'BONE', "shin"
    leg.chain.foot.ground = ground
    refused(leg, "its ground 'Ground' is moved by the chain itself")


def test_pivots_that_are_no_numbers_are_refused():
    leg = plain_leg()
    leg.chain.foot.heel = (0.0, float("nan"), 0.0)
    refused(leg, "hold no finite numbers")
    leg.chain.foot.heel = leg.chain.foot.toe_tip
    refused(leg, "has no length")


# --- Drag and match ----------------------------------------------------------


@pytest.mark.parametrize("live", [False, True])
def test_a_drag_moves_the_whole_foot(live):
    leg = plain_leg()
    lift_control(leg, 0.2)
    leg.chain.foot.roll, leg.chain.live = 0.5, live
    solve(leg.armature)
    bpy.context.view_layer.update()
    before, start = leg.pivots(), np.array(leg.control.matrix_world.translation)
    take_hold(bpy.context.scene, leg.armature, leg.chain.name).to(np.array((0.03, 0.02)))
    bpy.context.view_layer.update()
    moved = np.array(leg.control.matrix_world.translation) - start
    assert np.linalg.norm(moved) == pytest.approx(np.hypot(0.03, 0.02), abs=1e-6)
    for name, place in leg.pivots().items():
        assert np.abs(place - before[name] - moved).max() <= EXACT


def test_the_target_goes_to_where_the_rolled_foot_has_the_ankle_of_the_pose():
    leg = plain_leg()
    lift_control(leg, 0.2)
    leg.chain.foot.roll = 0.5
    leg.armature.pose.bones["thigh"].rotation_quaternion = (0.98, 0.15, 0.0, 0.0)
    bpy.context.view_layer.update()
    end = leg.armature.data.bones["shin"].tail_local
    ankle = leg.carried("shin", end)
    target_to_tip(leg.armature)
    assert np.abs(np.array(leg.control.matrix_world.translation) - ankle).max() > 0.05
    solve(leg.armature)
    assert np.abs(leg.carried("shin", end) - ankle).max() <= EXACT


def test_a_bake_is_out_of_date_once_keys_of_a_roll_have_changed():
    leg = plain_leg()
    lift_control(leg, 0.2)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    for frame, roll in ((1, 0.0), (10, 0.5)):
        leg.chain.foot.roll = roll
        leg.chain.foot.keyframe_insert("roll", frame=frame)
    assert bpy.ops.ik2d.bake() == {'FINISHED'}
    assert bake_is_stale(leg.armature, scene) == ""
    leg.chain.foot.roll = 0.7
    leg.chain.foot.keyframe_insert("roll", frame=10)
    assert bake_is_stale(leg.armature, scene) == "the keys"


def test_a_live_foot_on_a_mesh_follows_in_a_file_that_was_opened(tmp_path):
    leg = plain_leg()
    lift_control(leg, 0.3)
    bpy.ops.mesh.primitive_grid_add(size=4.0, x_subdivisions=3, y_subdivisions=3)
    floor = bpy.context.object
    floor.location.z = float(leg.control.matrix_world.translation.z) - 0.04
    leg.chain.foot.ground, leg.chain.foot.use_ground, leg.chain.live = floor, True, True
    for frame, roll in ((1, -0.3), (10, 0.5)):
        leg.chain.foot.roll = roll
        leg.chain.foot.keyframe_insert("roll", frame=frame)
    path, height, name, bones = str(tmp_path / "leg.blend"), floor.location.z, leg.armature.name, leg.bones
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects[name]
    opened = Leg(armature, armature.ik2d.chains[0], bpy.data.objects["control"], bones)
    for frame in (1, 4, 10):
        bpy.context.scene.frame_set(frame)
        assert opened.chain.live_reached and lowest(opened) == pytest.approx(height, abs=2e-6)


def test_pivots_are_the_same_right_after_a_file_with_a_live_chain_was_opened():
    sample = Path(__file__).resolve().parents[2] / "sample_scenes" / "01_walking_leg.blend"
    bpy.ops.wm.open_mainfile(filepath=str(sample))
    armature = bpy.context.object
    chain = armature.ik2d.chains[0]
    opened = measured_pivots(armature, chain)
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    moved = measured_pivots(armature, chain)
    for name in ("heel", "ball", "tip"):
        assert np.abs(getattr(opened, name) - getattr(moved, name)).max() < 1e-4, name
