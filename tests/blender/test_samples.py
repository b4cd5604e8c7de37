# SPDX-License-Identifier: GPL-3.0-or-later
"""Every sample scene, baked, against Blender's evaluated pose."""

import math
import sys
from pathlib import Path

import bpy
import check_samples
import pytest
from openings import evaluated_openings
from rigs import evaluated_place, evaluated_tip

from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.checks.bones import chain_bones
from ik2d_addon.rig.chain.post import turned_bones_of

sys.path.append(str(check_samples.ROOT / "sample_scenes"))
from scenes import tab

NOT_NATIVE = [path for path in check_samples.SAMPLES if path.stem != "07_native"]
each_sample = pytest.mark.parametrize("scene", check_samples.SAMPLES, ids=lambda path: path.stem)


def statuses(reports: list[dict]) -> set[str]:
    """Return every status that occurs in the reports."""
    return {status for report in reports for chain in report["chains"] for status in chain["status"]}


def test_all_samples_are_there() -> None:
    numbers = [scene.stem.partition("_")[0] for scene in check_samples.SAMPLES]
    assert numbers == [f"{number:02}" for number in range(1, 12)]


@pytest.mark.slow
@each_sample
def test_evaluated_tip_is_where_the_report_says(scene: Path) -> None:
    reports = check_samples.bake_sample(scene)
    assert check_samples.failures(reports) == []


@pytest.mark.slow
@each_sample
def test_check_notices_a_target_that_moves_after_the_bake(scene: Path) -> None:
    """The check itself must be able to fail."""
    reports = check_samples.bake_sample(scene)
    if not reports[0]["chains"]:
        mechanism = bpy.data.objects[reports[0]["armature"]].ik2d.mechanisms[0]
        joint = mechanism.id_data.pose.bones[mechanism.joints[0].bone]
        joint.constraints.new('LIMIT_ROTATION').use_limit_x = True
        assert len(check_samples.failures(reports)) >= bpy.context.scene.frame_end
        return
    chain = reports[0]["chains"][0]
    bpy.data.objects[chain["target"].partition("/")[0]].delta_location.x += 0.001 * chain["reach"]
    assert len(check_samples.failures(reports)) >= len(chain["frames"]) // 2


@each_sample
def test_sample_comes_unbaked(scene: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    for armature in (ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE'):
        keyed = {curve.data_path for curve in existing_fcurves(armature)}
        for mechanism in armature.ik2d.mechanisms:
            driving = {driver.bone for driver in mechanism.drivers}
            bones = [bone.name for bone in mechanism.bones if bone.name not in driving]
            paths = tuple(armature.pose.bones[name].path_from_id() for name in bones)
            assert not [curve for curve in keyed if curve.startswith(paths)]
        for chain in armature.ik2d.chains:
            if f"{chain.path_from_id()}.influence" in keyed:
                continue  # its bones have keys made by hand, too
            paths = [armature.pose.bones[name].path_from_id() for name in turned_bones_of(chain)]
            assert not [curve for curve in keyed if curve.startswith(tuple(paths))]


@each_sample
def test_sample_says_in_a_text_what_to_press(scene: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    texts = [text.as_string() for text in bpy.data.texts]
    assert any("Press" in text or "press" in text for text in texts)
    assert all("IK 2D" in text for text in texts)


@pytest.mark.slow
@each_sample
def test_sample_opens_with_the_tab_in_front(scene: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(scene), load_ui=True)
    sidebars = [
        (area.spaces.active, region)
        for area in bpy.context.window.screen.areas
        if area.type == 'VIEW_3D'
        for region in area.regions
        if region.type == 'UI'
    ]
    assert sidebars
    for space, region in sidebars:
        assert space.show_region_ui and tab.stored(region) == "IK 2D"
        is_machine = scene.stem == "11_walker"  # the others have chains
        assert tab.panels(region).get("IK2D_PT_mechanism", False) == is_machine


def framed(space, region_width: float) -> tuple[float, float]:
    """Return where the camera's picture begins and ends in a view that is wider than high, in its pixels."""
    share = (math.sqrt(2.0) + space.region_3d.view_camera_zoom / 50.0) ** 2 / 4.0
    middle = 0.5 - 2.0 * share * space.region_3d.view_camera_offset[0]
    return (middle - share / 2.0) * region_width, (middle + share / 2.0) * region_width


@each_sample
def test_sample_opens_with_its_whole_picture_in_sight_and_nothing_over_it(scene: Path) -> None:
    """In a window of 1280 x 800, whose view is 1052 pixels wide: 46 of toolbar, 240 of sidebar."""
    bpy.ops.wm.open_mainfile(filepath=str(scene), load_ui=True)
    spaces = [area.spaces.active for area in bpy.context.window.screen.areas if area.type == 'VIEW_3D']
    assert spaces
    for space in spaces:
        left, right = framed(space, 1052.0)
        assert space.region_3d.view_perspective == 'CAMERA' and 46 < left and right < 1052 - 240
        assert space.shading.background_type == 'WORLD' and not space.overlay.show_text
    assert not [ob for ob in bpy.context.view_layer.objects if ob.select_get()]
    assert bpy.context.view_layer.objects.active.type == 'ARMATURE'


@pytest.mark.slow
def test_cut_out_sample_bakes_without_a_warning() -> None:
    """Its near arm is FK on purpose from frame 42 on."""
    (scene,) = (path for path in check_samples.SAMPLES if "cutout" in path.stem)
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    bpy.context.view_layer.objects.active = fox = bpy.data.objects["Fox"]
    bpy.ops.ik2d.bake()
    sentence, *warnings = fox.ik2d.last_bake.splitlines()
    assert not warnings and not fox.ik2d.last_bake_alert, fox.ik2d.last_bake
    assert "107 of 148 frames of 'Arm.near' are FK" in sentence
    assert fox.ik2d.last_bake_lines.splitlines()[0].endswith(": all on target; FK on 107 frames")
    assert not any(chain.missed_frames for chain in fox.ik2d.chains)


def test_out_of_reach_sample_says_so() -> None:
    (scene,) = (path for path in check_samples.SAMPLES if "out_of_reach" in path.stem)
    found = statuses(check_samples.bake_sample(scene))
    assert "REACHED" in found
    assert found & {"TOO_FAR", "TOO_CLOSE"}


@pytest.mark.slow
def test_bucket_of_the_excavator_keeps_its_angle_while_it_lifts() -> None:
    reports = check_samples.bake_sample(check_samples.ROOT / "sample_scenes" / "02_excavator.blend")
    assert statuses(reports) == {"REACHED"}
    rig, seen = bpy.data.objects["Excavator"], []
    for frame in range(52, 81):
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        turned = bones["house"].matrix.inverted() @ bones["bucket"].matrix
        seen.append(turned.col[1].xyz.normalized())
    assert max((one - seen[0]).length for one in seen) <= 1e-4


@pytest.mark.parametrize("scene", NOT_NATIVE, ids=lambda path: path.stem)
def test_all_but_the_native_one_open_live_with_their_tips_on_the_targets(scene: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    bpy.context.view_layer.update()
    rigs = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE']
    chains = [chain for rig in rigs for chain in rig.ik2d.chains]
    mechanisms = [mechanism for rig in rigs for mechanism in rig.ik2d.mechanisms]
    assert chains + mechanisms and all(one.live for one in chains + mechanisms)
    for mechanism in mechanisms:
        opening = evaluated_openings(mechanism, [bpy.context.scene.frame_current]).max()
        assert opening <= check_samples.CLOSED, mechanism.name
    for chain in chains:
        armature = chain.id_data
        bones = [bone.name for bone in chain_bones(armature, chain.tip, chain.bone_count)]
        points = check_samples.joints(armature.name, bones)
        told = {"armature": armature.name, "name": chain.name, "target": chain.target.name}
        off = check_samples.goal_position(told, points) - points[-1]
        reach = sum(armature.data.bones[bone].length for bone in bones)
        assert off.length <= 1e-5 * reach, chain.name


@pytest.mark.slow
@pytest.mark.parametrize("baked", [False, True], ids=["live", "baked"])
@pytest.mark.parametrize(
    "sample, rig, rams", [("02_excavator", "Excavator", 3), ("06_crane", "Crane", 1)], ids=["02", "06"]
)
def test_both_ends_of_a_ram_point_at_one_another_and_its_rod_slides(sample, rig, rams, baked) -> None:
    scene = check_samples.ROOT / "sample_scenes" / f"{sample}.blend"
    if baked:
        check_samples.bake_sample(scene)
    else:
        bpy.ops.wm.open_mainfile(filepath=str(scene))
    bones = bpy.data.objects[rig].data.bones
    names = [bone.name.removesuffix(" rod") for bone in bones if bone.name.endswith(" rod")]
    assert len(names) == rams
    lengths: dict[str, list[float]] = {name: [] for name in names}
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        bones = check_samples.evaluated_object(rig).pose.bones
        for name in names:
            cylinder, rod = bones[f"{name} cylinder"], bones[f"{name} rod"]
            between = rod.head - cylinder.head
            for bone, way in ((cylinder, between), (rod, -between)):
                assert (bone.y_axis - way.normalized()).length <= 1e-4, (name, frame)
            assert max(cylinder.length, rod.length) < between.length < cylinder.length + rod.length
            lengths[name].append(between.length)
    assert all(max(seen) > 1.1 * min(seen) for seen in lengths.values())


@pytest.mark.slow
def test_the_rams_and_the_bucket_linkage_of_the_excavator_are_one_mechanism_behind_its_chain() -> None:
    (report,) = check_samples.bake_sample(check_samples.ROOT / "sample_scenes" / "02_excavator.blend")
    assert [chain["name"] for chain in report["chains"]] == ["Arm"] and not report["warnings"]
    (machine,) = report["mechanisms"]
    assert len(machine["bones"]) == 11 and machine["closed"]
    kinds = [joint.kind for joint in bpy.data.objects["Excavator"].ik2d.mechanisms[0].joints]
    assert kinds == ['PIN', 'RAM', 'RAM', 'RAM']


@pytest.mark.slow
def test_the_samples_show_limits_softness_stretch_feet_poles_and_posts() -> None:
    shown = set()
    for scene in NOT_NATIVE:
        bpy.ops.wm.open_mainfile(filepath=str(scene))
        for chain in (chain for ob in bpy.data.objects if ob.type == 'ARMATURE' for chain in ob.ik2d.chains):
            shown |= {"limits"} if any(joint.use_limit for joint in chain.joints) else set()
            shown |= {"softness"} if chain.softness else set()
            shown |= {"stretch"} if chain.stretch > 1.0 else set()
            shown |= {"feet"} if chain.hand_rotation != 'NONE' else set()
            shown |= {"poles"} if chain.plane == 'POLE' and chain.pole else set()
            shown |= {"posts"} if chain.plane == 'POST' else set()
    assert shown == {"limits", "softness", "stretch", "feet", "poles", "posts"}


@pytest.mark.slow
@pytest.mark.parametrize("baked", [False, True], ids=["live", "baked"])
def test_elbows_and_knees_of_the_thrower_point_at_their_poles(baked) -> None:
    (scene,) = (path for path in check_samples.SAMPLES if "thrower" in path.stem)
    if baked:
        check_samples.bake_sample(scene)
    else:
        bpy.ops.wm.open_mainfile(filepath=str(scene))
    rig, normals = bpy.data.objects["Robot"], []
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        for chain in rig.ik2d.chains:
            bones = [bone.name for bone in chain_bones(rig, chain.tip, chain.bone_count)]
            root, middle, tip = check_samples.joints("Robot", bones)
            line = (tip - root).normalized()
            aside = [place - root for place in (middle, check_samples.target_position(chain.pole.name))]
            aside = [(way - way.dot(line) * line).normalized() for way in aside]
            assert (aside[0] - aside[1]).length < 1e-3, (chain.name, frame)
            if chain.name == "Arm.R":
                chest = check_samples.evaluated_object("Robot").pose.bones["chest"].matrix.to_3x3()
                normals.append(chest.inverted() @ line.cross(aside[0]))
    assert max(one.angle(normals[0]) for one in normals) > 1.5  # radians: no plane of the chest would do


@pytest.mark.slow
@pytest.mark.parametrize("frame", [1, 15, 30, 45, 60])
def test_limits_lock_plain_ccd_where_the_solver_reaches(frame: int) -> None:
    (scene,) = (path for path in check_samples.SAMPLES if "deadlock" in path.stem)
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    rig = bpy.data.objects["Limited"]
    bpy.context.view_layer.objects.active = rig
    (chain,) = rig.ik2d.chains
    chain.live = False
    bpy.context.scene.frame_set(frame)
    for bone in rig.pose.bones:
        bone.rotation_euler = (0, 0, 0)

    def off() -> float:
        return (evaluated_tip(rig, chain.tip) - evaluated_place(chain.target)).length

    for _ in range(100):
        bpy.ops.ik2d.ccd_step(whole=True)
    assert off() > 0.5
    before = off()
    bpy.ops.ik2d.ccd_step(whole=True)
    assert abs(off() - before) < 1e-4
    chain.live = True
    bpy.context.view_layer.update()
    assert off() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("baked", [False, True], ids=["live", "baked"])
def test_toes_of_the_fox_stay_while_its_boots_roll_over_the_ball(baked) -> None:
    (scene,) = (path for path in check_samples.SAMPLES if "cutout" in path.stem)
    if baked:
        check_samples.bake_sample(scene)
    else:
        bpy.ops.wm.open_mainfile(filepath=str(scene))
    looked = 0
    for side in ("near", "far"):
        before, control = None, bpy.data.objects[f"Foot Target {side}"]
        for frame in range(1, bpy.context.scene.frame_end + 1):
            bpy.context.scene.frame_set(frame)
            fox = check_samples.evaluated_object("Fox")
            foot = fox.ik2d.chains[f"Leg.{side}"].foot
            now = control.location.copy(), foot.roll, fox.pose.bones[f"toes.{side}"].matrix.copy()
            if before is not None and now[0] == before[0] and min(now[1], before[1]) >= 0.0:
                apart = max(
                    (one - other).length for one, other in zip(now[2].col, before[2].col, strict=True)
                )
                assert apart <= 3e-6, (side, frame)
                looked += 1
            before = now
    assert looked > 60


@pytest.mark.slow
def test_boots_of_the_fox_stand_on_the_path_and_the_stair() -> None:
    (scene,) = (path for path in check_samples.SAMPLES if "cutout" in path.stem)
    check_samples.bake_sample(scene)
    corners = [vertex.co for vertex in bpy.data.objects["Ground"].data.vertices]
    steps = sorted({(round(spot.x, 4), round(spot.z, 4)) for spot in corners})
    for side in ("near", "far"):
        bones, stood = (f"foot.{side}", f"toes.{side}"), 0
        boots = [ob.name for ob in bpy.data.objects if ob.parent_bone in bones]
        for frame in range(1, bpy.context.scene.frame_end + 1):
            bpy.context.scene.frame_set(frame)
            lowest = 1.0
            for boot in map(check_samples.evaluated_object, boots):
                for spot in (boot.matrix_world @ vertex.co for vertex in boot.data.vertices):
                    floor = max(z for x, z in steps if x <= spot.x)
                    lowest = min(lowest, spot.z - floor)
            assert lowest > -0.004, (side, frame)
            stood += lowest < 0.001
        assert stood > 100, side
