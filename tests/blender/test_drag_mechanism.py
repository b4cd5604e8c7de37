# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a point of a mechanism: where it goes, its driver and its keys; Escape restores all."""

import bpy
import numpy as np
import pytest
from machine_rigs import MODES, TILT, add_machine, evaluated_openings
from machines import excavator, four_bar, jansen_leg, landing_gear, pantograph, slider_crank, toggle_clamp
from mathutils import Matrix, Vector
from rigs import add_chain, add_target, animation_of, evaluated_place, evaluated_tip
from test_drag import everything, key_everything

from ik2d_addon.bake import bake, solve
from ik2d_addon.chains import drive
from ik2d_addon.core import IK2DError
from ik2d_addon.features.drag.drag import take_hold, why_not_drag
from ik2d_addon.rig.mechanism.read import read_mechanism

OPEN, NEAR = 2e-6, 1e-6
# Machines of one freedom, and a bone whose tail or head is dragged.
ONE = [
    (four_bar, "rocker", ""),
    (four_bar, "coupler", 'TAIL'),
    (four_bar, "coupler", 'HEAD'),
    (jansen_leg, "foot", 'TAIL'),
    (slider_crank, "rod", 'TAIL'),
    (slider_crank, "crank", 'TAIL'),
    (toggle_clamp, "arm", 'TAIL'),
    (landing_gear, "strut", 'TAIL'),
    (landing_gear, "lower", 'HEAD'),
]
NAMES = [f"{make.__name__} {bone} {end}" for make, bone, end in ONE]


def machine(make, unkeyed=True, dead='EASE', **options):
    """Return a machine in Pose Mode, without keys; and its mechanism."""
    armature, mechanism = add_machine(make(), frames=9, **options)
    mechanism.dead = dead
    if unkeyed:
        armature.animation_data_clear()
        for bone in armature.pose.bones:
            bone.matrix_basis = Matrix.Identity(4)
        rest(mechanism)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    bpy.context.view_layer.update()
    return armature, mechanism


def rest(mechanism):
    """Set the rams that drive to their lengths at rest."""
    bones = mechanism.id_data.data.bones
    for driver in mechanism.drivers:
        ram = next((one for one in mechanism.joints if one.kind == 'RAM' and one.bone == driver.bone), None)
        if ram is not None:
            length = (bones[ram.other].head_local - bones[ram.bone].head_local).length
            driver.length = (length - ram.stroke[0]) / (ram.stroke[1] - ram.stroke[0])


def hold(armature, bone, end=""):
    return take_hold(bpy.context.scene, armature, bone=bone, end=end)


def seen(armature, drag):
    """Return where Blender shows the end that is held."""
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[drag.bone]
    return np.array(armature.matrix_world @ (shown.tail if drag.end == 'TAIL' else shown.head))


def matrices(armature):
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([bone.matrix for bone in shown.pose.bones])


def all_of(armature, mechanism, target=None):
    """Return all that Escape must leave as it was, to the last bit."""
    return everything(armature, target), [driver.length.hex() for driver in mechanism.drivers]


def opened(mechanism):
    return evaluated_openings(mechanism, [bpy.context.scene.frame_current])[0]


def table(drag, begin):
    """Return places (n, 2) of the held point by a dense table of its driver, and the row to begin at.

    By the core's `solve`, as far as its loops close and the ram's stroke goes.
    """
    rig, driver = drag.rig, drag.rig.drivers[0]
    low, high = driver.stroke if driver.kind == 'RAM' else (begin - np.pi, begin + np.pi)
    ends = rig.core.feasible(driver.body, low, high)
    low, high = next((a, b) for a, b in ends if a - 1e-9 <= begin <= b + 1e-9)
    values = np.linspace(low, high, 40_001)
    places = rig.core.solve({driver.body: values}).places(drag._body, rig.flat(drag._place))
    return places, int(np.abs(values - begin).argmin())


def downhill(ways, row):
    """Return the least distance that is reached from a row of a table without going up."""
    while True:
        best = min((max(row - 1, 0), row, min(row + 1, len(ways) - 1)), key=lambda one: ways[one])
        if best == row:
            return ways[row]
        row = best


# --- Where the point goes ----------------------------------------------------


@pytest.mark.parametrize(("make", "bone", "end"), ONE, ids=NAMES)
def test_the_point_is_nearest_to_the_mouse_and_all_joints_stay_closed(make, bone, end):
    armature, mechanism = machine(make, dead='STOP', tilt=TILT, mode='QUATERNION')
    drag = hold(armature, bone, end)
    size, rng = drag.rig.size, np.random.default_rng(3)
    offset = np.zeros(2)
    for _ in range(8):
        offset = offset + rng.normal(size=2) * 0.06 * size
        places, row = table(drag, drag._used[drag.rig.drivers[0].body])
        drag.to(offset)
        point = np.linalg.inv(np.array(armature.matrix_world)) @ np.append(drag.plane.at(offset), 1.0)
        ways = np.linalg.norm(places - drag.rig.flat(point[:3]), axis=1)
        off = np.linalg.norm(seen(armature, drag) - drag.plane.at(offset))
        assert off <= downhill(ways, row) + NEAR * size
        assert off >= ways.min() - NEAR * size
        assert opened(mechanism) <= OPEN


@pytest.mark.parametrize(("make", "bone", "end"), ONE, ids=NAMES)
def test_nothing_moves_where_a_drag_begins(make, bone, end):
    armature, _ = machine(make)
    before = matrices(armature)
    drag = hold(armature, bone, end)
    place = seen(armature, drag)
    drag.to((0.0, 0.0))
    assert np.abs(matrices(armature) - before).max() <= 5e-6 * drag.rig.size
    assert np.linalg.norm(drag.plane.point - place) <= OPEN * drag.rig.size
    assert drag.outcome() == "reached"


@pytest.mark.parametrize(("make", "bone"), [(jansen_leg, "crank"), (four_bar, "crank")])
def test_a_point_on_its_own_way_is_reached_all_around(make, bone):
    armature, mechanism = machine(make, tilt=TILT)
    drag = hold(armature, bone, 'TAIL')
    turns = np.linspace(0.0, 4.0 * np.pi, 81)
    places = drag.rig.core.solve({"crank": turns}).places(bone, drag.rig.flat(drag._place))
    for turn, place in zip(turns, places, strict=True):
        at = drag.rig.plane.lift(place) + drag._place - drag.rig.plane.lift(drag.rig.flat(drag._place))
        at = np.array(armature.matrix_world @ Vector(at)) - drag.plane.point
        drag.to((at @ drag.plane.x, at @ drag.plane.y))
        assert drag.has_reached and opened(mechanism) <= OPEN
        assert abs(drag._used["crank"] - turn) <= 1e-4  # whole turns count, and nothing jumps


@pytest.mark.parametrize("dead", ['STOP', 'EASE'])
def test_at_its_dead_point_a_toggle_is_held_and_comes_back_the_way_it_went(dead):
    armature, mechanism = machine(toggle_clamp, dead=dead)
    drag = hold(armature, "handle", 'TAIL')
    (low, high), *_ = drag.rig.core.feasible("handle", -3.0, 3.0)
    there = []
    offsets = [np.array((0.1 * step, -0.1 * step)) * drag.rig.size for step in (*range(8), *range(7, -1, -1))]
    for offset in offsets:
        drag.to(offset)
        assert low - 1e-9 <= drag._used["handle"] <= high + 1e-9 and opened(mechanism) <= OPEN
        there.append(matrices(armature))
    for one, other in zip(there, there[::-1], strict=True):
        assert np.abs(one - other).max() <= 1e-4
    assert drag.has_reached


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_rocker_at_the_end_of_its_swing_comes_back_the_way_it_went(side):
    """Two turns of the crank are equally near there: it does not go over."""
    armature, _ = machine(four_bar)
    drag = hold(armature, "rocker")
    turned = []
    for step in (*range(12), *range(10, -1, -1)):
        drag.to((side * 0.25 * step, 0.1 * step))
        turned.append(drag._used["crank"])
    assert np.abs(np.array(turned[:12]) - turned[:10:-1]).max() <= 1e-4
    assert np.abs(np.diff(turned)).max() <= 1.0 and np.ptp(turned) > 0.9


def test_a_ram_is_dragged_within_its_stroke():
    armature, mechanism = machine(landing_gear)
    drag = hold(armature, "strut")
    for offset in ((9.0, 9.0), (-9.0, 9.0), (0.0, -9.0), (9.0, 0.0)):
        drag.to(offset)
        assert 0.0 <= mechanism.drivers[0].length <= 1.0 and opened(mechanism) <= OPEN
    assert not drag.has_reached and "off by" in drag.outcome()


def test_two_freedoms_reach_the_mouse_by_both_drivers():
    armature, mechanism = machine(pantograph)
    drag = hold(armature, "forearm", 'TAIL')
    for offset in ((0.1, 0.1), (0.2, 0.0), (-0.2, -0.3)):
        drag.to(offset)
        assert drag.has_reached and opened(mechanism) <= OPEN
        assert np.linalg.norm(seen(armature, drag) - drag.plane.at(drag.offset)) <= OPEN * drag.rig.size
    assert all(drag._given[one] != drag._begun[one] for one in ("arm", "forearm"))


def test_three_rams_bring_the_bucket_to_the_mouse():
    armature, mechanism = machine(excavator)
    drag = hold(armature, "bucket", 'TAIL')
    for offset in ((0.3, 0.1), (0.0, 0.5), (-0.3, 0.2)):
        drag.to(offset)
        assert drag.has_reached and opened(mechanism) <= OPEN


@pytest.mark.parametrize(("make", "bone", "end"), ONE, ids=NAMES)
def test_a_live_mechanism_is_dragged_as_one_that_is_not(make, bone, end):
    found = []
    for live in (False, True):
        armature, mechanism = machine(make, dead='STOP', tilt=TILT)
        mechanism.live = live
        bpy.context.view_layer.update()
        before = all_of(armature, mechanism)
        drag = hold(armature, bone, end)
        for part in (0.05, 0.1, 0.2):
            drag.to((part * drag.rig.size, 0.5 * part * drag.rig.size))
        bpy.context.view_layer.update()
        assert opened(mechanism) <= OPEN
        found.append(matrices(armature))
        drag.put_back()
        assert all_of(armature, mechanism) == before
        bpy.ops.object.mode_set(mode='OBJECT')
        bpy.data.objects.remove(armature)
    assert np.abs(found[0] - found[1]).max() <= 1e-5 * drag.rig.size


# --- Targets and chains ------------------------------------------------------


def by_target(mechanism):
    """Drive a four-bar by a target that its coupler's tail is dragged to."""
    armature = mechanism.id_data
    mechanism.drivers.clear()
    target = bpy.data.objects.new("Pull", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = armature.matrix_world @ armature.data.bones["coupler"].tail_local
    target.location.y += 0.4  # over the plane
    drive(mechanism, "coupler", target)
    bpy.context.view_layer.update()
    return target


@pytest.mark.parametrize("bone", ["coupler", "rocker"])
def test_the_target_goes_with_the_point_that_it_drags(bone):
    armature, mechanism = machine(four_bar)
    target = by_target(mechanism)
    before = all_of(armature, mechanism, target)
    drag = hold(armature, bone, 'TAIL' if bone == "coupler" else "")
    drag.to((0.2, -0.1))
    assert opened(mechanism) <= OPEN
    tail = evaluated_tip(armature, "coupler")
    at = Vector(drag.plane.at(drag.offset)) if bone == "coupler" else tail
    assert ((target.location - at) - Vector((0.0, 0.4, 0.0))).length <= 2e-6 * drag.rig.size
    drag.put_back()
    assert all_of(armature, mechanism, target) == before
    drag.to((0.2, -0.1))
    drag.key(bpy.context, in_any_case=True)
    assert {place for place, _ in animation_of(target)} == {"location"} and not animation_of(armature)


def with_chain():
    """Return an excavator whose boom and stick a chain turns, by a target; and its mechanism and target."""
    armature, mechanism = machine(excavator)
    mechanism.drivers.clear()
    for bone in ("boom", "stick", "bucket"):
        drive(mechanism, bone)
    bpy.ops.object.mode_set(mode='OBJECT')
    target = add_target({})
    target.animation_data_clear()
    target.location = armature.matrix_world @ armature.data.bones["stick"].tail_local
    chain = add_chain(armature, "stick", target, bone_count=2)
    chain.live = False
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    bpy.context.view_layer.update()
    solve(armature)
    return armature, mechanism, chain, target


def test_a_mechanism_follows_the_chain_that_drives_it():
    armature, mechanism, chain, target = with_chain()
    before = all_of(armature, mechanism, target)
    drag = take_hold(bpy.context.scene, armature, chain.name)
    ram = armature.pose.bones["ram stick"].matrix_basis.copy()
    for offset in ((-0.2, 0.3), (-0.5, 0.1), (0.0, 0.4)):
        drag.to(offset)
        assert opened(mechanism) <= OPEN
        assert (evaluated_tip(armature, "stick") - evaluated_place(target)).length <= 1e-4
    assert armature.pose.bones["ram stick"].matrix_basis != ram
    drag.put_back()
    assert all_of(armature, mechanism, target) == before


def test_a_bone_of_the_tree_that_no_chain_turns_moves_by_the_other_drivers():
    armature, mechanism, _, target = with_chain()
    boom = armature.pose.bones["boom"].matrix_basis.copy()
    drag = hold(armature, "bucket", 'TAIL')
    drag.to((0.3, 0.2))
    assert opened(mechanism) <= OPEN and armature.pose.bones["boom"].matrix_basis == boom
    assert list(drag.moved())[0].holder == armature.pose.bones["bucket"]
    assert mechanism.drivers[2].bone == "bucket" and target.location.length > 0.0


def test_a_bone_that_a_chain_turns_is_dragged_by_the_chain():
    armature, _, chain, _ = with_chain()
    armature.data.bones.active = armature.data.bones["boom"]
    assert take_hold(bpy.context.scene, armature).chain == chain


# --- Escape, keys, faults ----------------------------------------------------


@pytest.mark.parametrize(("make", "bone", "end"), ONE, ids=NAMES)
@pytest.mark.parametrize("mode", MODES[::3])
def test_escape_restores_every_bit(make, bone, end, mode):
    armature, mechanism = machine(make, unkeyed=False, mode=mode)
    bpy.context.scene.frame_set(3)
    before = all_of(armature, mechanism)
    drag = hold(armature, bone, end)
    for offset in ((0.3, 0.1), (-0.4, 0.2), (50.0, 50.0)):
        drag.to(np.array(offset) * drag.rig.size / 4.0)
    assert all_of(armature, mechanism) != before
    drag.put_back()
    assert all_of(armature, mechanism) == before


@pytest.mark.parametrize(("make", "bone", "end"), ONE, ids=NAMES)
@pytest.mark.parametrize("far", [0.05, 3.0])
def test_keys_of_the_driver_alone_and_a_bake_plays_what_was_dragged(make, bone, end, far):
    armature, mechanism = machine(make)
    key_everything()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.scene.frame_set(4)
    drag = hold(armature, bone, end)
    for part in (0.3, 0.7, 1.0):
        drag.to(np.array((0.7, 0.5)) * part * far * drag.rig.size)
    dragged = matrices(armature)
    assert drag.key(bpy.context) > 0
    driver = mechanism.drivers[0]
    paths = {place for place, _ in animation_of(armature)}
    if driver.kind == 'RAM':
        assert paths == {driver.path_from_id("length")}
    else:
        assert paths == {armature.pose.bones[driver.bone].path_from_id("rotation_euler")}
    bpy.context.scene.frame_set(9)
    bake(armature, frame_start=4, frame_end=6)
    bpy.context.scene.frame_set(4)
    assert np.abs(matrices(armature) - dragged).max() <= 1e-5 * drag.rig.size
    assert opened(mechanism) <= OPEN


def test_without_auto_keying_there_are_no_keys():
    armature, _ = machine(four_bar)
    drag = hold(armature, "rocker")
    drag.to((0.2, 0.1))
    assert drag.key(bpy.context) == 0 and not animation_of(armature)


def test_the_operator_does_what_its_function_does():
    armature, mechanism = machine(four_bar)
    drag = hold(armature, "rocker")
    drag.to((0.2, 0.1))
    dragged = matrices(armature)
    drag.put_back()
    assert bpy.ops.ik2d.drag(bone="rocker", offset=(0.2, 0.1), insert_keys=True) == {'FINISHED'}
    assert np.abs(matrices(armature) - dragged).max() <= 1e-6
    assert {place for place, _ in animation_of(armature)} == {'pose.bones["crank"].rotation_euler'}
    assert armature.ik2d.active_mechanism == 0 and opened(mechanism) <= OPEN


def test_the_active_bone_of_a_mechanism_is_taken_hold_of():
    armature, _ = machine(jansen_leg)
    armature.data.bones.active = armature.data.bones["foot"]
    drag = take_hold(bpy.context.scene, armature)
    assert (drag.bone, drag.end, drag.what) == ("foot", 'TAIL', "Tail of 'foot'")
    assert not why_not_drag(bpy.context)
    armature.data.bones.active = None
    assert not why_not_drag(bpy.context)  # the mouse may be over a bone


def test_a_faulty_mechanism_is_refused_with_its_sentence_and_nothing_changes():
    armature, mechanism = machine(four_bar)
    mechanism.drivers.clear()
    before = all_of(armature, mechanism)
    with pytest.raises(IK2DError) as error:
        read_mechanism(armature, mechanism)
    with pytest.raises(RuntimeError) as told:
        bpy.ops.ik2d.drag(bone="rocker", offset=(0.2, 0.1))
    assert str(error.value) in str(told.value) and "Mechanism 'machine'" in str(error.value)
    assert all_of(armature, mechanism) == before


def test_what_cannot_be_changed_is_told():
    armature, mechanism = machine(four_bar)
    crank = armature.pose.bones["crank"]
    crank.lock_rotation = (True, True, True)
    with pytest.raises(IK2DError, match="'crank' is locked"):
        hold(armature, "rocker")
    crank.lock_rotation = (False, False, False)
    constraint = crank.constraints.new('LIMIT_ROTATION')
    with pytest.raises(IK2DError, match="'crank' has constraints"):
        hold(armature, "rocker")
    constraint.mute = True
    hold(armature, "rocker").to((0.1, 0.0))
    assert opened(mechanism) <= OPEN


def test_what_is_removed_meanwhile_ends_the_drag():
    armature, _ = machine(four_bar)
    drag = hold(armature, "rocker")
    drag.to((0.1, 0.0))
    assert drag.is_there()
    armature.ik2d.mechanisms.clear()
    assert not drag.is_there()
    drag.put_back()
    assert all(tuple(bone.rotation_euler) == (0.0, 0.0, 0.0) for bone in armature.pose.bones)
