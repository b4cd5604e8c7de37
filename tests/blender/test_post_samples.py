# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples with a post: the excavator slews to its target, the robot arm picks a part and places it."""

import math
from collections.abc import Iterator
from itertools import product

import bpy
import check_samples
import pytest
from mathutils import Matrix, Vector

from ik2d_addon.rig.animation.versions import existing_fcurves

EXCAVATOR, ROBOT = (
    check_samples.ROOT / "sample_scenes" / f"{name}.blend" for name in ("02_excavator", "10_robot_arm")
)
# Frame and degrees: the keys of the empty that carries the excavator's target round.
HOUSE_KEYS = [(1, 0), (60, 0), (80, 62), (102, 62), (120, 0)]
LAST = 130
HELD = range(37, 97)
TABLE, TRAY, RACK, FOOT = 0.84, 0.025, 0.15, 0.115
live_and_baked = pytest.mark.parametrize("baked", [False, True], ids=["live", "baked"])


def opened(scene, baked: bool) -> None:
    """Open a sample, live or baked."""
    if baked:
        check_samples.bake_sample(scene)
    else:
        bpy.ops.wm.open_mainfile(filepath=str(scene))


def frames() -> Iterator[int]:
    """Yield the frames of the scene, each as it is shown."""
    scene = bpy.context.scene
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        yield frame


def posed(rig: str, bone: str) -> bpy.types.PoseBone:
    """Return an evaluated pose bone."""
    return check_samples.evaluated_object(rig).pose.bones[bone]


def corners(name: str) -> list[Vector]:
    """Return the vertices of an object and its children in the world."""
    found = []
    for ob in (bpy.data.objects[name], *bpy.data.objects[name].children):
        evaluated = check_samples.evaluated_object(ob.name)
        found += [evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices]
    return found


def part_at(frame: float) -> Matrix:
    """Return where the robot's part is at a time."""
    bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
    return check_samples.evaluated_object("Part").matrix_world.copy()


def apart(one: Matrix, other: Matrix) -> float:
    """Return the largest difference of two matrices' entries."""
    return max(abs(one[i][j] - other[i][j]) for i, j in product(range(4), repeat=2))


@pytest.mark.slow
@live_and_baked
def test_the_excavators_house_turns_as_its_target_is_carried_round(baked) -> None:
    opened(EXCAVATOR, baked)
    centre = bpy.data.objects["Swing Centre"]
    (curve,) = existing_fcurves(centre)
    keys = [(point.co[0], point.co[1]) for point in curve.keyframe_points]
    assert [frame for frame, _ in keys] == [frame for frame, _ in HOUSE_KEYS]
    assert [turn for _, turn in keys] == pytest.approx([math.radians(turn) for _, turn in HOUSE_KEYS])
    assert bpy.data.objects["Teeth Target"].parent == centre and centre.parent is None
    for frame in frames():
        x, y, z = posed("Excavator", "house").rotation_euler
        wanted = check_samples.evaluated_object("Swing Centre").rotation_euler.z
        # One step of 32 bits is 7e-6 degrees there.
        assert abs(y - wanted) <= math.radians(8e-6) and x == z == 0.0, frame


@pytest.mark.slow
@live_and_baked
def test_the_excavator_slews_to_a_target_that_was_carried_round(baked) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(EXCAVATOR))
    rig, round_ = bpy.data.objects["Excavator"], 1.9
    bpy.data.objects["Swing Centre"].delta_rotation_euler.z = round_
    bpy.context.view_layer.update()
    if baked:
        bpy.context.view_layer.objects.active = rig
        bpy.ops.ik2d.bake()
    for frame in frames():
        wanted = check_samples.evaluated_object("Swing Centre").rotation_euler.z + round_
        assert posed("Excavator", "house").rotation_euler.y == pytest.approx(wanted, abs=2e-6), frame
        teeth = rig.matrix_world @ posed("Excavator", "bucket").tail
        assert (teeth - check_samples.target_position("Teeth Target")).length <= 1e-5 * 9.4, frame


@pytest.mark.slow
@pytest.mark.parametrize("scene, rig", [(EXCAVATOR, "Excavator"), (ROBOT, "Robot Arm")], ids=["02", "10"])
def test_the_samples_with_a_post_bake_it_without_a_warning(scene, rig) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    bpy.context.view_layer.objects.active = armature = bpy.data.objects[rig]
    bpy.ops.ik2d.bake()
    sentence, *warnings = armature.ik2d.last_bake.splitlines()
    assert "every target reached" in sentence
    assert not warnings and not armature.ik2d.last_bake_alert
    (post,) = {chain.post for chain in armature.ik2d.chains if chain.plane == 'POST'}
    keyed = {curve.data_path for curve in existing_fcurves(armature)}
    assert f'pose.bones["{post}"].rotation_euler' in keyed


@pytest.mark.slow
@live_and_baked
def test_the_robot_arm_is_on_its_target_within_its_limits_and_points_down(baked) -> None:
    opened(ROBOT, baked)
    (chain,) = bpy.data.objects["Robot Arm"].ik2d.chains
    (turns, *_) = curves = existing_fcurves(bpy.data.objects["Gripper Target"])
    assert len(curves) == 3 and len(turns.keyframe_points) < 12
    assert all(joint.use_limit for joint in chain.joints) and chain.use_post_limit
    headings = []
    for frame in frames():
        gripper, base = posed("Robot Arm", "gripper"), posed("Robot Arm", "base")
        assert (gripper.tail - check_samples.target_position("Gripper Target")).length <= 3e-6, frame
        assert (gripper.y_axis - Vector((0, 0, -1))).length <= 3e-6, frame
        x, heading, z = base.rotation_euler
        assert x == z == 0.0 and chain.post_limit_min <= heading <= chain.post_limit_max
        headings.append(heading)
        for joint in chain.joints:
            turned, *others = posed("Robot Arm", joint.name).rotation_euler
            assert others == [0.0, 0.0]
            # Limits count the way the arm bends, which is against the bones' X.
            assert joint.limit_min <= -turned <= joint.limit_max, (frame, joint.name)
    assert math.degrees(max(headings) - min(headings)) > 100.0
    assert max(abs(b - a) for a, b in zip(headings, headings[1:], strict=False)) < math.radians(9)


@pytest.mark.slow
@live_and_baked
def test_the_part_follows_the_gripper_and_stays_where_it_is_put(baked) -> None:
    opened(ROBOT, baked)
    places, hands = [], []
    for _ in frames():
        places.append(check_samples.evaluated_object("Part").matrix_world.copy())
        hands.append(posed("Robot Arm", "gripper").matrix.copy())
    first, last = HELD.start - 1, HELD.stop - 1  # rows
    assert max(apart(places[0], place) for place in places[:first]) == 0.0
    assert max(apart(places[last], place) for place in places[last:]) == 0.0
    pairs = zip(hands[first:last], places[first:last], strict=True)
    held = [hand.inverted() @ place for hand, place in pairs]
    assert max(apart(held[0], one) for one in held) <= 2e-6
    assert (places[0].translation - places[-1].translation).length > 1.0
    feet = [place.translation.z - FOOT - TABLE for place in (places[0], places[-1])]
    assert feet == pytest.approx([TRAY, RACK], abs=1e-6)
    for change in (HELD.start, HELD.stop):
        around = [part_at(change + step) for step in (-0.5, -0.001, 0.0, 0.001, 0.5)]
        assert max(apart(around[2], one) for one in around) <= 2e-6, change


@pytest.mark.slow
@live_and_baked
def test_the_jaws_close_on_the_part_and_nothing_passes_through_anything(baked) -> None:
    opened(ROBOT, baked)
    jaws = [ob.name for ob in bpy.data.objects if ob.name.startswith("Jaw")]
    arm = [ob.name for ob in bpy.data.objects if ob.parent_type == 'BONE' and ob.parent_bone != "base"]
    stands = [(bpy.data.objects[name].matrix_world.inverted(), name) for name in ("Tray", "Rack")]
    boxes = {name: [vertex.co for vertex in bpy.data.objects[name].data.vertices] for _, name in stands}
    others = [ob.matrix_world.translation for ob in bpy.data.objects if ob.name.startswith("Other part")]
    assert len(jaws) == 2 and len(others) == 4

    def floor_below(spot: Vector) -> float:
        for to_stand, name in stands:
            inside = to_stand @ spot
            low, high = (Vector(map(pick, zip(*boxes[name], strict=True))) for pick in (min, max))
            if all(low[i] <= inside[i] <= high[i] for i in (0, 1)):
                return high.z
        return TABLE

    for frame in frames():
        to_part = check_samples.evaluated_object("Part").matrix_world.inverted()
        for name in jaws:
            gap = min(abs((to_part @ spot).y) for spot in corners(name)) - 0.03
            if frame in HELD:
                assert abs(gap) <= 1e-6, (frame, name)
        for spot in (spot for name in (*arm, "Part") for spot in corners(name)):
            assert spot.z >= floor_below(spot) - 1e-5, frame
            for other in others:
                near = math.hypot(spot.x - other.x, spot.y - other.y) < 0.075
                assert not (near and abs(spot.z - other.z) < 0.03), frame
