# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted feet do not slide, by Blender's evaluated pose; Clear and errors give everything back."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from recorded_motion import CLIPS
from recorded_walkers import recorded_walker
from rigs import every_bit_of_animation
from walkers import FRAMES, HALVES, STEP, STRIDE, slides, walker

from ik2d_addon.bake import bake
from ik2d_addon.bake.keys.clearing import clear
from ik2d_addon.chains import find_contacts, make_native, plant_feet, unplant_feet
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale
from ik2d_addon.features.plant.before import has_planted_motion, is_planted
from ik2d_addon.features.plant.contacts import is_loop
from ik2d_addon.features.plant.plant import plant_steps
from ik2d_addon.rig.animation.versions import existing_fcurves

SAMPLE = Path(__file__).resolve().parents[4] / "sample_scenes" / "08_cutout.blend"
ON_FRAMES, SWINGING, HALF_WAY = 1e-5, 2e-5, 2e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        {"feet": True},
        {"feet": False},
        {"feet": True, "seed": 1, "scale": 0.01},
        {"feet": True, "seed": 3, "scale": 100.0},
        {"feet": False, "seed": 4},
        {"feet": True, "controls": True},
        {"feet": True, "controls": True, "seed": 6},
    ],
    ids=str,
)
def test_feet_of_keyed_bones_do_not_slide(kind):
    made = walker(**kind)
    report = plant_feet(made.armature)
    assert not any("slides" in warning for warning in report.warnings)
    assert all(chain.slide < HALF_WAY * made.reach for chain in report.chains)
    assert min(chain.slide_before for chain in report.chains) > 0.03 * made.reach
    assert slides(made, report) < ON_FRAMES and slides(made, report, HALVES) < HALF_WAY
    assert all(chain.knee <= 1.5 * chain.knee_before for chain in report.chains)
    assert all(len(spans) >= 3 for chain in report.chains for spans in chain.contacts.values())


@pytest.mark.slow
@pytest.mark.parametrize("feet", [True, False])
def test_captured_legs_that_leave_their_plane_get_a_pole_that_follows_the_knee(feet):
    made = walker(feet, aside=15.0)
    knees = [made.path(f"shin.{side}", made.armature.data.bones[f"shin.{side}"].head_local) for side in "LR"]
    report = plant_feet(made.armature)
    assert slides(made, report) < SWINGING and slides(made, report, HALVES) < HALF_WAY
    for side, before in zip("LR", knees, strict=True):
        chain = made.armature.ik2d.chains[f"shin.{side}"]
        assert chain.plane == 'POLE' and chain.pole is not None
        now = made.path(f"shin.{side}", made.armature.data.bones[f"shin.{side}"].head_local)
        assert np.linalg.norm(now - before, axis=1).max() < 0.05 * made.reach
    poles = [chain.pole.name for chain in made.armature.ik2d.chains]
    unplant_feet(made.armature)
    assert not any(name in bpy.data.objects for name in poles)
    assert {chain.plane for chain in made.armature.ik2d.chains} == {'AUTO'}


@pytest.mark.slow
def test_keyed_targets_are_replaced_and_given_back():
    made = walker()
    clear(made.armature)
    for chain in made.armature.ik2d.chains:
        chain.live = True
        for curve in existing_fcurves(chain.target):
            if curve.array_index == 1 and curve.data_path == "location":
                for key in curve.keyframe_points:
                    key.co.y *= 0.9
                curve.update()
    keys = [every_bit_of_animation(chain.target) for chain in made.armature.ik2d.chains]
    before = made.pose()
    report = plant_feet(made.armature)
    assert slides(made, report) < ON_FRAMES
    assert not any(chain.live for chain in made.armature.ik2d.chains)
    unplant_feet(made.armature)
    assert all(chain.live for chain in made.armature.ik2d.chains)
    assert [every_bit_of_animation(chain.target) for chain in made.armature.ik2d.chains] == keys
    assert np.abs(made.pose() - before).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [{}, {"feet": False, "seed": 2}, {"aside": 15.0}, {"controls": True, "seed": 6}], ids=str
)
def test_clear_gives_back_the_motion_of_before(kind):
    made = walker(**kind)
    before, bits = made.pose(), every_bit_of_animation(made.armature)
    plant_feet(made.armature)
    assert np.abs(made.pose() - before).max() > 0.01
    assert unplant_feet(made.armature) == []
    assert np.abs(made.pose() - before).max() < 1e-6
    assert sorted(bits) == sorted(every_bit_of_animation(made.armature))
    with pytest.raises(IK2DError, match="No feet of 'Rig' are planted"):
        unplant_feet(made.armature)


@pytest.mark.slow
def test_clear_gives_back_curves_that_go_on_beyond_their_keys():
    made = walker()
    for holder in (made.armature, *(chain.target for chain in made.armature.ik2d.chains)):
        for curve in existing_fcurves(holder):
            curve.extrapolation = 'LINEAR'
    before = [every_bit_of_animation(chain.target)["curves"] for chain in made.armature.ik2d.chains]
    plant_feet(made.armature)
    unplant_feet(made.armature)
    assert [every_bit_of_animation(chain.target)["curves"] for chain in made.armature.ik2d.chains] == before


@pytest.mark.slow
def test_clear_of_a_foot_that_is_not_planted_names_it_and_leaves_the_others():
    made = walker()
    plant_feet(made.armature, ["shin.L"])
    planted = every_bit_of_animation(made.armature)
    with pytest.raises(IK2DError, match=r"^The feet of 'shin\.R' are not planted"):
        unplant_feet(made.armature, ["shin.R"])
    assert every_bit_of_animation(made.armature) == planted
    assert unplant_feet(made.armature, ["shin.L", "shin.R"]) == []


def move_first_end(chain, by):
    """Move the end of a chain's first toe contact by some frames; return where it was."""
    path = f"{chain.path_from_id()}.foot.contact_toe"
    (curve,) = [one for one in existing_fcurves(chain.id_data) if one.data_path == path]
    assert all(key.interpolation == 'CONSTANT' for key in curve.keyframe_points)
    end = next(key for key in curve.keyframe_points if key.co.y == 0.0 and key.co.x > 5)
    before = end.co.x
    end.co.x += by
    curve.update()
    return before


@pytest.mark.slow
def test_a_contact_whose_end_was_moved_is_held_to_there():
    made = walker()
    plant_feet(made.armature)
    before, chain = made.pose(), made.armature.ik2d.chains[0]
    end = move_first_end(chain, -3)
    report = plant_feet(made.armature)
    assert report.chains[0].contacts["contact_toe"][0][1] == end - 4
    assert slides(made, report) < ON_FRAMES
    assert np.abs(made.pose() - before).max() > 1e-3
    move_first_end(chain, 3)
    plant_feet(made.armature)
    assert np.abs(made.pose() - before).max() < 1e-5


@pytest.mark.slow
def test_contacts_are_found_alone_without_moving_anything():
    made = walker()
    before = made.pose()
    found = find_contacts(made.armature)
    assert found == {"shin.L": 6, "shin.R": 7}
    assert np.abs(made.pose() - before).max() == 0.0
    assert not any(map(has_planted_motion, made.armature.ik2d.chains))
    assert unplant_feet(made.armature) == []  # takes the found contacts away
    assert not any(map(is_planted, made.armature.ik2d.chains))


def in_place(made):
    """Take the way of a walker's body away, as walks in place have it."""
    for curve in existing_fcurves(made.armature):
        values = [key.co.y for key in curve.keyframe_points]
        if curve.data_path.endswith('["body"].location') and np.ptp(values) > 0.1:
            for key in curve.keyframe_points:
                key.co.y = key.handle_left.y = key.handle_right.y = 0.0
            curve.update()


@pytest.mark.slow
def test_a_walk_in_place_stands_on_ground_that_moves():
    made = walker(slide=1.0)
    in_place(made)
    fps = bpy.context.scene.render.fps
    speed = (0.0, 0.9 * STRIDE / STEP * fps, 0.0)  # so that feet slide by a tenth
    report = plant_feet(made.armature, ground_velocity=speed)
    assert report.chains[0].slide_before > 0.02
    assert slides(made, report, FRAMES, speed) < ON_FRAMES
    assert slides(made, report, HALVES, speed) < HALF_WAY


@pytest.mark.slow
def test_a_ground_that_is_an_object_moves_as_it_does():
    made = walker(slide=1.0)
    in_place(made)
    belt = bpy.data.objects.new("Belt", None)
    bpy.context.scene.collection.objects.link(belt)
    belt.location.z = -10.0
    for frame in (FRAMES[0], FRAMES[-1]):
        belt.location.y = STRIDE / STEP * (frame - FRAMES[0])
        belt.keyframe_insert("location", frame=frame)
    for curve in existing_fcurves(belt):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'
    for chain in made.armature.ik2d.chains:
        chain.foot.ground = belt
    report = plant_feet(made.armature)
    speed = (0.0, STRIDE / STEP * bpy.context.scene.render.fps, 0.0)
    assert slides(made, report, FRAMES, speed) < ON_FRAMES


@pytest.mark.slow
def test_a_loop_stays_one():
    made = walker(slide=1.0)
    in_place(made)
    whole = slice(0, 2 * STEP + 1)
    before = made.pose()[whole]
    assert np.abs(before[-1] - before[0]).max() < 1e-5
    speed = (0.0, 0.9 * STRIDE / STEP * bpy.context.scene.render.fps, 0.0)
    plant_feet(made.armature, frame_end=2 * STEP + 1, ground_velocity=speed)
    after = made.pose()[whole]
    assert np.abs(after - before).max() > 0.01
    assert np.abs(after[-1] - after[0]).max() < 1e-5


def test_a_range_whose_ends_differ_only_in_a_joint_is_no_loop():
    ends = {"tips": np.zeros((3, 3)), "roots": np.zeros((3, 3)), "points": np.zeros((3, 1, 3)), "reach": 1.0}
    bent = np.array([[0.4, -0.2], [0.1, 0.0], [0.4, -0.2]])
    assert is_loop([SimpleNamespace(**ends, bends=bent)])
    bent[-1, 1] += 0.01
    assert not is_loop([SimpleNamespace(**ends, bends=bent)])


@pytest.mark.slow
def test_a_fox_on_a_stair_does_not_slide():
    bpy.ops.wm.open_mainfile(filepath=str(SAMPLE))
    fox = bpy.data.objects["Fox"]
    bake(fox, ["Leg.near", "Leg.far"])
    for curve in existing_fcurves(fox):
        if curve.data_path.endswith('["hips"].location') and curve.array_index == 2:
            for key in curve.keyframe_points:
                for co in (key.co, key.handle_left, key.handle_right):
                    co.y *= 0.9
            curve.update()
    report = plant_feet(fox)
    assert sum(len(spans) for chain in report.chains for spans in chain.contacts.values()) >= 14
    for chain in report.chains:
        assert chain.slide_before > 0.01 * chain.reach
        assert chain.slide_on_frames < ON_FRAMES * chain.reach and chain.slide < HALF_WAY * chain.reach


@pytest.mark.slow
def test_a_copy_of_the_motion_goes_with_the_file(tmp_path):
    made = walker(seed=2)
    before = made.pose()
    plant_feet(made.armature)
    path = str(tmp_path / "planted.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    made.armature = bpy.data.objects["Rig"]
    unplant_feet(made.armature)
    assert np.abs(made.pose() - before).max() < 1e-6


# --- In the sidebar ---


@pytest.mark.slow
def test_the_buttons_plant_and_clear():
    made = walker()
    bpy.context.view_layer.objects.active = made.armature
    assert not bpy.ops.ik2d.plant_clear.poll()
    assert bpy.ops.ik2d.find_contacts() == {'FINISHED'}
    assert bpy.ops.ik2d.plant_feet() == {'FINISHED'}
    assert all(chain.last_bake for chain in made.armature.ik2d.chains)
    assert bake_is_stale(made.armature, bpy.context.scene) == ""
    assert bpy.ops.ik2d.plant_clear() == {'FINISHED'}
    assert not any(chain.last_bake for chain in made.armature.ik2d.chains)


# --- Errors ------------------------------------------------------------------


def refused(made, words, **arguments):
    """Plant feet, which is refused in these words, and check that nothing has changed."""
    things = [made.armature, *(chain.target for chain in made.armature.ik2d.chains if chain.target)]
    before = [every_bit_of_animation(thing) for thing in things]
    with pytest.raises(IK2DError, match=words):
        plant_feet(made.armature, **arguments)
    assert [every_bit_of_animation(thing) for thing in things] == before
    assert not any(map(is_planted, made.armature.ik2d.chains))
    assert not any("Pole" in ob.name for ob in bpy.data.objects)


@pytest.mark.slow
def test_motion_without_contacts_is_refused():
    made = walker(feet=False)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        made.armature.location.x = frame * 3.0
        made.armature.keyframe_insert("location", frame=frame)
    refused(made, "No foot of 'Rig' stands still on frames 1 to 72")


@pytest.mark.slow
def test_frames_without_motion_are_refused():
    made = walker()
    refused(made, "Nothing moves on frames 200 to 240", frame_start=200, frame_end=240)


@pytest.mark.slow
def test_a_single_frame_is_refused():
    refused(walker(), "not on frame 3 alone", frame_start=3, frame_end=3)


@pytest.mark.slow
@pytest.mark.parametrize("aside", [0.0, 15.0])
def test_a_contact_out_of_reach_is_refused_by_frame_and_distance(aside):
    made = walker(feet=False, aside=aside)
    chain = made.armature.ik2d.chains[0]
    for frame, on in ((1, True), (72, True)):  # all the way, which no leg can do
        chain.foot.contact = on
        chain.foot.keyframe_insert("contact", frame=frame)
    refused(made, r"Chain 'shin.L': its contact at frame \d+ cannot be held: its tip stays .* off")


@pytest.mark.slow
def test_a_chain_without_a_target_is_refused():
    made = walker()
    made.armature.ik2d.chains[0].target = None
    refused(made, "Chain 'shin.L'.*target", chains=["shin.L"])


def test_a_chain_on_drivers_is_refused():
    made = walker(feet=False)
    make_native(made.armature, made.armature.ik2d.chains[0])
    with pytest.raises(IK2DError, match="Chain 'shin.L' is on drivers; remove these first"):
        plant_feet(made.armature)


@pytest.mark.slow
def test_a_chain_whose_bones_are_gone_is_refused():
    made = walker()
    made.armature.ik2d.chains[0].tip = "nothing"
    refused(made, "Chain 'shin.L'.*'nothing'")


@pytest.mark.slow
def test_bones_that_were_renamed_do_not_keep_feet_from_being_planted_again():
    made = walker()
    plant_feet(made.armature)
    made.armature.data.bones["toes.L"].name = "claws"
    report = plant_feet(made.armature)
    assert all(chain.slide_on_frames < ON_FRAMES * chain.reach for chain in report.chains)


@pytest.mark.slow
def test_a_target_that_cannot_turn_is_refused():
    made = walker()
    made.armature.ik2d.chains[0].target.lock_rotation = (True, True, True)
    refused(made, "does not turn as its rotation says")


@pytest.mark.slow
def test_a_speed_that_is_none_is_refused():
    refused(walker(), "three numbers", ground_velocity=(1.0, float("nan"), 0.0))


@pytest.mark.slow
def test_steps_that_are_closed_leave_everything_as_it_was():
    made = walker(aside=15.0)
    before = every_bit_of_animation(made.armature)
    pose = made.pose()
    steps = plant_steps(made.armature)
    for _ in range(6):
        next(steps)
    steps.close()
    assert every_bit_of_animation(made.armature) == before
    assert np.abs(made.pose() - pose).max() == 0.0
    assert not any("Pole" in ob.name for ob in bpy.data.objects)


@pytest.mark.slow
def test_bakes_of_planted_feet_stay_what_they_are():
    made = walker()
    plant_feet(made.armature)
    before = made.pose()
    bake(made.armature)
    assert np.abs(made.pose() - before).max() < 1e-5


# --- Recorded motion ---------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIPS)
def test_feet_of_recorded_people_do_not_slide(name):
    armature = recorded_walker(name)
    report = plant_feet(armature)
    assert min(chain.slide_before for chain in report.chains) > 0.015  # metres
    for chain in report.chains:
        assert chain.slide_on_frames < ON_FRAMES * chain.reach and chain.slide < HALF_WAY * chain.reach
        told = any(f"'{chain.name}': a joint turns" in warning for warning in report.warnings)
        assert told == (chain.knee > 1.5 * chain.knee_before)
