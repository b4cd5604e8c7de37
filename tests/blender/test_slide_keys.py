# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of bones that slide: on which channels, on which frames, and how they go again."""

import csv
import json

import bpy
import numpy as np
import pytest
from rigs import (
    SLIDES,
    TELESCOPE,
    add_target,
    connect,
    crane_with_target,
    every_bit_of_animation,
    leg_with_target,
    override_from,
    played_back_errors,
    set_slide,
    stored_settings,
)

from ik2d_addon.bake import BakeOptions, bake, bake_steps, clear
from ik2d_addon.cli.program import run
from ik2d_addon.features.baking.results import bake_is_stale, solve_is_stale
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, 25)
CLOSE = 1e-5 * 6.25


def bake_here(armature, first=1, last=24, **options):
    return bake(armature, frame_start=first, frame_end=last, options=BakeOptions(**options))


def worst(armature, chain, frames=FRAMES):
    """Return how far Blender has the tip off its target, at most."""
    return max(error for _, error in played_back_errors(armature, chain, frames))


def keyed(armature, channel="location"):
    """Return which channels of which bones have keys."""
    paths = {bone.path_from_id(channel): bone.name for bone in armature.pose.bones}
    curves = existing_fcurves(armature)
    return {(paths[c.data_path], c.array_index) for c in curves if c.data_path in paths}


def locations(armature):
    return [[x.hex() for x in bone.location] for bone in armature.pose.bones]


# --- What is keyed --------------------------------------------------------------------------------


def test_only_channels_that_slides_need_are_keyed():
    armature, _ = crane_with_target()
    bake_here(armature)
    assert keyed(armature) == {("inner", 1), ("outer", 1)}


@pytest.mark.slow
def test_a_bent_rest_and_an_own_slide_take_two_channels():
    armature, _ = crane_with_target({"boom": (0.0, 1.0), "outer": (0.0, 1.0)}, drop=0.4)
    bake_here(armature)
    assert keyed(armature) == {("inner", 1), ("inner", 2), ("outer", 1), ("outer", 2)}


@pytest.mark.slow
def test_a_location_that_the_bone_has_is_added_to():
    armature, chain = crane_with_target({"boom": (0.0, 1.0)})
    armature.pose.bones["inner"].location = (0.0, 0.2, -0.1)
    report = bake_here(armature)
    assert report.all_reached and worst(armature, chain) < CLOSE
    bpy.context.scene.frame_set(9)
    place = armature.pose.bones["inner"].location
    assert place.y == pytest.approx(0.2 + report.chains[0].joints.slides[8, 0], abs=1e-6)
    assert place.z == np.float32(-0.1)


@pytest.mark.slow
def test_a_second_bake_gives_the_same_keys():
    armature, _ = crane_with_target(SLIDES)
    armature.pose.bones["inner"].location = (0.0, 0.1, 0.0)
    bake_here(armature)
    first = every_bit_of_animation(armature)
    bpy.context.scene.frame_set(13)
    bake_here(armature)
    assert every_bit_of_animation(armature) == first


@pytest.mark.slow
def test_slides_turned_off_and_baked_again_leave_no_keys():
    armature, chain = crane_with_target()
    before = locations(armature)
    bake_here(armature)
    for name in TELESCOPE:
        chain.joints[name].use_slide = False
    bake_here(armature)
    assert keyed(armature) == set()
    assert locations(armature) == before and worst(armature, chain, [1, 24]) < CLOSE
    bake_here(armature)
    assert locations(armature) == before


@pytest.mark.parametrize("bound", [0.001, 0.02])
def test_few_keys_keep_the_tip_within_the_bound(bound):
    armature, chain = crane_with_target(SLIDES)
    report = bake_here(armature, reduce=bound, verify='ALL')
    assert report.chains[0].played.keys < len(FRAMES) - 4
    assert worst(armature, chain) < bound + CLOSE
    result = report.chains[0]
    half_way = (
        result.played.between_times % 1.0 == 0.5
    )  # at quarters a fast slide may be further off: it is told
    assert result.played.between[half_way].max() < bound + CLOSE
    assert result.max_error < bound + CLOSE or "between" in report.sentence()


def test_between_frames_handles_keep_the_tip_on_its_way():
    steps = {1: (0, 3.4, 2.0), 5: (0, 3.4, 2.0), 7: (0, 5.6, 2.2), 9: (0, 5.6, 2.2), 24: (0, 3.4, 2.0)}
    armature, chain = crane_with_target(path=steps)
    for curve in existing_fcurves(chain.target):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'
    report = bake_here(armature, last=12, verify='ALL')
    assert report.chains[0].max_between < 2e-3 * report.chains[0].standard.reach


@pytest.mark.slow
def test_influence_blends_slides_too():
    armature, chain = crane_with_target()
    whole = bake_here(armature).chains[0].joints.slides
    chain.influence = 0.25
    assert bake_here(armature).chains[0].joints.slides == pytest.approx(0.25 * whole, abs=1e-9)
    chain.influence = 0.0
    bake_here(armature)
    bpy.context.scene.frame_set(9)
    assert all(bone.location.length < 1e-6 for bone in armature.pose.bones)


@pytest.mark.slow
def test_ccd_goes_on_from_the_slides_before_the_range():
    armature, chain = crane_with_target(solver='CCD')
    whole = bake_here(armature).chains[0].joints.slides
    clear(armature)
    bake_here(armature, 1, 12)
    assert bake_here(armature, 13, 24).chains[0].joints.slides == pytest.approx(whole[12:], abs=1e-5)


@pytest.mark.slow
def test_ccd_from_rest_starts_each_frame_from_no_slide():
    armature, chain = crane_with_target(solver='CCD')
    chain.start_from = 'REST'
    slides = bake_here(armature).chains[0].joints.slides
    assert bake_here(armature, 13, 24).chains[0].joints.slides == pytest.approx(slides[12:], abs=1e-9)


@pytest.mark.slow
def test_a_chain_that_hangs_on_one_that_slides():
    armature, chain = crane_with_target(path={1: (0, 3.4, 2.0), 24: (0, 2.5, 3.6)})
    chain.bone_count, chain.tip = 2, "inner"
    set_slide(chain, "boom", 0.0, 1.0)
    hung = armature.ik2d.chains.add()
    hung.name, hung.tip, hung.bone_count = "hung", "outer", 1
    hung.target = add_target({1: (0, 4.0, 3.0), 24: (0, 6.0, 1.0)})
    set_slide(hung, "outer", -0.9, 4.0)
    assert bake_here(armature).all_reached
    assert worst(armature, chain) < CLOSE and worst(armature, hung) < CLOSE


# --- Taking it back -------------------------------------------------------------------------------


@pytest.mark.slow
def test_clear_bake_puts_all_back_to_the_last_bit():
    armature, _ = crane_with_target(SLIDES, drop=0.3)
    armature.pose.bones["inner"].location = (0.1, 0.2, 0.3)
    armature.pose.bones["outer"].location = (0.0, -0.1, 0.0)
    before = locations(armature)
    bake_here(armature)
    bpy.context.scene.frame_set(9)
    assert clear(armature) > 0
    assert locations(armature) == before
    assert existing_fcurves(armature) == [] or not list(existing_fcurves(armature))


@pytest.mark.slow
def test_clear_bake_leaves_keys_made_by_hand():
    armature, _ = crane_with_target()
    inner = armature.pose.bones["inner"]
    for frame in (40, 50):
        inner.location.y = frame / 100.0
        inner.keyframe_insert("location", index=1, frame=frame)
    before = every_bit_of_animation(armature)["curves"]
    bake_here(armature)
    clear(armature)
    assert every_bit_of_animation(armature)["curves"].keys() == before.keys()
    assert [key.co.x for key in existing_fcurves(armature)[0].keyframe_points] == [40, 50]


def test_clear_bake_leaves_locations_that_no_slide_has_written():
    armature, _ = crane_with_target({"boom": (0.0, 1.0)})
    outer = armature.pose.bones["outer"]
    outer.keyframe_insert("location", index=0, frame=3)
    (curve,) = existing_fcurves(armature)
    curve.keyframe_points[0].type = 'GENERATED'  # by another tool
    bake_here(armature)
    clear(armature)
    assert keyed(armature) == {("outer", 0)}


def test_a_bake_that_is_left_changes_nothing():
    armature, chain = crane_with_target()
    armature.pose.bones["inner"].location = (0.0, 0.2, 0.0)
    animation, places = every_bit_of_animation(armature), locations(armature)
    steps = bake_steps(armature, None, 1, 24)
    for _ in range(40):
        next(steps)
    steps.close()
    assert (every_bit_of_animation(armature), locations(armature)) == (animation, places)
    assert not any(any(joint.slid) for joint in chain.joints)


def test_undo_takes_slides_and_keys_away_and_redo_brings_them_back():
    armature, _ = crane_with_target()
    armature.pose.bones["inner"].location.y = 0.25
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.ik2d.bake('EXEC_DEFAULT', True, frame_start=1, frame_end=24) == {'FINISHED'}
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert not keyed(armature) and armature.pose.bones["inner"].location.y == 0.25
    assert not any(any(joint.slid) for joint in armature.ik2d.chains[0].joints)
    bpy.ops.ed.redo()
    armature = bpy.data.objects["Rig"]
    assert keyed(armature) == {("inner", 1), ("outer", 1)}
    clear(armature)
    assert armature.pose.bones["inner"].location.y == 0.25


def test_a_slide_that_is_changed_by_hand_makes_the_result_stale():
    armature, _ = crane_with_target()
    bpy.context.view_layer.objects.active = armature
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24
    assert bpy.ops.ik2d.bake() == {'FINISHED'}
    assert bake_is_stale(armature, scene) == ""
    path = armature.pose.bones["inner"].path_from_id("location")
    (curve,) = [curve for curve in existing_fcurves(armature) if curve.data_path == path]
    curve.keyframe_points[12].co[1] += 0.1
    assert bake_is_stale(armature, scene) == "the keys"
    bpy.ops.ik2d.clear_bake()
    bpy.ops.ik2d.solve()
    assert solve_is_stale(armature, scene) == ""
    armature.pose.bones["inner"].location.y += 0.1
    assert solve_is_stale(armature, scene) == "the pose"


# --- Elsewhere ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_line_bakes_it_and_reports_the_slides_by_frame(tmp_path):
    armature, _ = crane_with_target()
    armature.name = "Crane"
    leg_with_target()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    path, report, table = (str(tmp_path / name) for name in ("crane.blend", "crane.json", "crane.csv"))
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for out in (report, table):
        assert run(["bake", path, "--report", out], opens_scene=True) == 0
    with open(report, encoding="utf-8") as file:
        chains = {found["armature"]: found["chains"][0] for found in json.load(file)["armatures"]}
    assert "slides" not in chains["Rig"] and np.shape(chains["Crane"]["slides"]) == (24, 3)
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = [row["slides"] for row in rows if row["armature"] == "Crane"]
    assert found == [
        " ".join(f"{bone}={slide:.6g}" for bone, slide in zip(chains["Crane"]["bones"], slides, strict=True))
        for slides in chains["Crane"]["slides"]
    ]
    assert {row["slides"] for row in rows if row["armature"] == "Rig"} == {""}
    armature = bpy.data.objects["Crane"]
    assert worst(armature, armature.ik2d.chains[0]) < CLOSE


def test_check_names_the_bone_that_is_connected(tmp_path, capsys):
    armature, _ = crane_with_target()
    connect(armature, "inner")
    path = str(tmp_path / "crane.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert run(["check", path], opens_scene=True) == 2
    assert "'inner', which it carries, is connected to its parent" in "".join(capsys.readouterr())


@pytest.mark.slow
def test_an_override_slides_and_keeps_what_was_there_when_saved(tmp_path):
    armature, _ = crane_with_target()
    armature.pose.bones["inner"].location.y = 0.25
    library, shot = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    armature = override_from(library, "Rig", "Target")
    assert bake_here(armature).all_reached
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    armature = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == 'ARMATURE')
    assert worst(armature, armature.ik2d.chains[0]) < CLOSE
    clear(armature)
    assert armature.pose.bones["inner"].location.y == 0.25


@pytest.mark.slow
def test_a_note_that_is_no_number_counts_as_nothing():
    armature, chain = crane_with_target()
    chain.joints["inner"].slid = (False, True, False)
    stored_settings(armature)["chains"][0]["joints"][1]["slide_base"] = [0.0, np.nan, 0.0]
    assert bake_here(armature).all_reached and worst(armature, chain) < CLOSE
    clear(armature)
    assert armature.pose.bones["inner"].location.y == 0.0
