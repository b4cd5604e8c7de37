# SPDX-License-Identifier: GPL-3.0-or-later
"""The last bone has an angle of its own: it follows the target's rotation, or keeps its own in the world."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import add_armature, add_chain, add_target, plays_back_worse

from benchmarks.pose_paths import path_of
from benchmarks.scenes import posed_chain
from benchmarks.tip_angle import shown_angles
from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.core import IK2DError, Status
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.features.baking.results import bake_is_stale
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.native import make_native
from ik2d_addon.features.overlay.chain_view import view_chain
from ik2d_addon.features.overlay.figure import BOLD, Figure, draw_heading
from ik2d_addon.features.setup.copying import copy_settings
from ik2d_addon.live.registry import RIGS, key_of
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain

FRAMES = range(1, 25)
# Radians that 32 bits may be off.
NOISE = 1e-4
PATH = {1: (0, 1.6, 0.9), 8: (0, 1.9, 0.6), 16: (0, 1.5, 1.0), 24: (0, 1.7, 0.8)}
TURNS = {1: 0.0, 8: 0.4, 16: -0.3, 24: 0.2}


def add_digger(bones: int = 3, path=PATH, **settings):
    """Add an arm in the plane x = 0 on a house that nods, and a target that moves and turns about X."""
    joints = [(0, 0, 0.5), (0, 0.9, 1.6), (0, 1.9, 1.4), (0, 2.3, 0.9), (0, 2.5, 0.5), (0, 2.9, 0.2)]
    names = ["boom", "stick", "bucket", "claw", "tooth"][:bones]
    arm = {
        name: (joints[i], joints[i + 1], names[i - 1] if i else "house", 0.3 * i)
        for i, name in enumerate(names)
    }
    armature = add_armature({"house": ((0, 0, 0), (0, 0, 0.5), "", 0.0), **arm})
    house = armature.pose.bones["house"]
    house.rotation_mode = 'XYZ'
    for frame, turned in ((1, 0.0), (12, 0.25), (24, -0.1)):
        house.rotation_euler = (turned, 0, 0)
        house.keyframe_insert("rotation_euler", frame=frame)
    target = add_target(path)
    for frame, turned in TURNS.items():
        target.rotation_euler = (turned, 0, 0)
        target.keyframe_insert("rotation_euler", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(1)
    chain = add_chain(armature, names[-1], target, bone_count=bones)
    for name, value in settings.items():
        setattr(chain, name, value)
    return armature, target, chain


def heading_of(armature, bone: str) -> float:
    """Return the direction of a bone in the plane x = 0 of the armature, as Blender evaluates it."""
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    along = evaluated.pose.bones[bone].matrix.col[1]
    return math.atan2(along[2], along[1])


def rest_heading(armature, bone: str) -> float:
    along = armature.data.bones[bone].matrix_local.col[1]
    return math.atan2(along[2], along[1])


def offset_of(armature, chain) -> float:
    """Return the chain's offset about the X axis, as limits count: about the normal of its plane."""
    return chain.tip_angle_offset * float(np.sign(read_chain(armature, chain).plane.normal[0]))


def turn_of(target) -> float:
    """Return how far an object is turned about the world's X axis."""
    evaluated = target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world.to_euler().x


def errors(armature, target, bone: str, wanted) -> np.ndarray:
    """Return the angles of the last bone off its own, and the tip's distances, (frames, 2), played back."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        tip = shown.matrix_world @ shown.pose.bones[bone].tail
        place = target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        off = wrapped(np.array(heading_of(armature, bone) - wanted()))
        found.append((abs(float(off)), (tip - place).length))
    return np.array(found)


def limited(chain) -> None:
    for joint, (low, high) in zip(
        chain.joints, ((-90, 90), (-100, 110), (-140, 140), (-90, 90)), strict=False
    ):
        joint.use_limit, joint.limit_min, joint.limit_max = True, math.radians(low), math.radians(high)


@pytest.mark.parametrize(("bones", "limits"), [(3, False), (3, True), (4, False), (4, True)])
def test_last_bone_follows_the_targets_rotation_and_the_tip_its_place(bones, limits):
    armature, target, chain = add_digger(bones, tip_rotation='TARGET', tip_angle_offset=0.3)
    if limits:
        limited(chain)
    report = bake(armature).chains[0]
    bone, offset = chain.tip, offset_of(armature, chain)
    assert report.reached and (report.status == Status.REACHED).all()
    found = errors(armature, target, bone, lambda: rest_heading(armature, bone) + turn_of(target) + offset)
    assert found[:, 0].max() <= NOISE and found[:, 1].max() <= 1e-4
    assert report.joints.angle_error.max() <= NOISE


@pytest.mark.parametrize("bones", [3, 5])
def test_last_bone_keeps_its_angle_while_what_is_above_the_chain_turns(bones):
    armature, target, chain = add_digger(bones, tip_rotation='WORLD')
    assert bake(armature).chains[0].reached
    bone = chain.tip
    found = errors(armature, target, bone, lambda: rest_heading(armature, bone))
    assert found[:, 0].max() <= NOISE and found[:, 1].max() <= 1e-4
    house = armature.pose.bones["house"]
    bpy.context.scene.frame_set(12)
    assert abs(house.rotation_euler.x) > 0.2


def test_armature_object_turns_the_angle_that_is_kept():
    armature, target, chain = add_digger(3, tip_rotation='WORLD')
    armature.rotation_euler = (0.2, 0.3, -0.8)
    target.parent = armature
    assert bake(armature).chains[0].reached
    found = errors(armature, target, "bucket", lambda: rest_heading(armature, "bucket"))
    assert found[:, 0].max() <= NOISE and found[:, 1].max() <= 1e-4


def test_mirrored_armature_sees_its_target_turn_as_its_mirror_image_does():
    armature, target, chain = add_digger(3, tip_rotation='TARGET')
    armature.scale = (-1, 1, 1)
    bake(armature)
    found = errors(armature, target, "bucket", lambda: rest_heading(armature, "bucket") + turn_of(target))
    assert found[:, 0].max() <= NOISE and found[:, 1].max() <= 1e-4


def test_target_bone_counts_from_its_rest_pose():
    armature, target, chain = add_digger(3)
    handle = add_armature({"handle": ((0, 1.6, 1.2), (0, 1.9, 1.6), "", 0.7)}, "Controls")
    pose = handle.pose.bones["handle"]
    chain.target, chain.subtarget, chain.tip_rotation = handle, "handle", 'TARGET'
    bpy.context.view_layer.update()
    solve(armature)
    assert abs(heading_of(armature, "bucket") - rest_heading(armature, "bucket")) <= NOISE
    turned = pose.bone.matrix_local.to_3x3().inverted() @ _about_x(0.4) @ pose.bone.matrix_local.to_3x3()
    pose.rotation_mode = 'QUATERNION'
    pose.rotation_quaternion = turned.to_quaternion()
    bpy.context.view_layer.update()
    solve(armature)
    off = heading_of(armature, "bucket") - rest_heading(armature, "bucket") - 0.4
    assert abs(float(wrapped(np.array(off)))) <= NOISE


def _about_x(angle: float) -> Matrix:
    return Matrix.Rotation(angle, 3, 'X')


def test_two_bones_take_the_side_whose_last_bone_is_nearer_and_say_how_far_it_is_off():
    armature, target, chain = add_digger(2, tip_rotation='WORLD')
    report = bake(armature).chains[0]
    assert report.reached and report.to_dict()["reached"]
    assert set(report.status) <= {Status.REACHED, Status.ANGLE}
    assert (report.status == Status.ANGLE).any()
    found = errors(armature, target, "stick", lambda: rest_heading(armature, "stick"))
    assert found[:, 1].max() <= 1e-4
    assert np.abs(found[:, 0] - report.joints.angle_error).max() <= NOISE
    assert [w for w in report.warnings if "degrees off its angle (frame" in w and "Angle First" in w]
    row = next(iter(report.rows()))
    assert row["angle_error_degrees"] == pytest.approx(math.degrees(report.joints.angle_error[0]), abs=1e-4)
    assert report.to_dict()["angle_error"][0] == pytest.approx(report.joints.angle_error[0], abs=1e-6)


def test_chain_whose_last_bone_is_free_says_nothing_of_an_angle():
    armature, _target, _chain = add_digger(3)
    report = bake(armature).chains[0]
    assert report.joints.angle_error is None and "angle_error" not in report.to_dict()
    assert "angle_error_degrees" not in next(iter(report.rows()))


def test_tip_comes_first_unless_the_angle_is_to():
    path = {1: (0, 2.9, 0.7)}
    armature, target, chain = add_digger(3, path, tip_rotation='WORLD', tip_angle_offset=math.pi)
    first = solve(armature).chains[0]
    assert first.status[0] == Status.ANGLE and first.distance[0] <= 1e-4 and first.joints.angle_error[0] > 0.1
    chain.tip_angle_first = True
    then = solve(armature).chains[0]
    assert then.joints.angle_error[0] <= NOISE and then.distance[0] > 0.1
    assert then.status[0] == Status.LIMITED and not then.reached


@pytest.mark.parametrize("bones", [3, 4])
def test_live_shows_what_a_bake_keys(bones):
    armature, target, chain = add_digger(bones, tip_rotation='TARGET', tip_angle_offset=-0.2)
    chain.live = True
    live = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        assert not RIGS.failures.get(key_of(chain)), RIGS.failures
        live.append(heading_of(armature, chain.tip))
        wanted = rest_heading(armature, chain.tip) + turn_of(target) + offset_of(armature, chain)
        assert abs(float(wrapped(np.array(live[-1] - wanted)))) <= NOISE
    assert chain.live_status == "On its target" and chain.live_reached
    bake(armature)
    for frame, heading in zip(FRAMES, live, strict=True):
        bpy.context.scene.frame_set(frame)
        assert abs(heading_of(armature, chain.tip) - heading) <= NOISE


def test_live_says_how_far_the_last_bone_is_off_its_angle():
    armature, target, chain = add_digger(2, tip_rotation='WORLD')
    chain.live = True
    bpy.context.scene.frame_set(8)
    bpy.context.view_layer.update()
    off = abs(heading_of(armature, "stick") - rest_heading(armature, "stick"))
    assert chain.live_reached
    assert chain.live_status == f"On its target, {math.degrees(off):.3g} degrees off its angle"


def test_drag_keeps_the_angle():
    armature, target, chain = add_digger(3, tip_rotation='TARGET')
    drag = take_hold(bpy.context.scene, armature, chain.name)
    drag.to((0.1, -0.2))
    assert drag.outcome() == "reached"
    wanted = rest_heading(armature, "bucket") + turn_of(target)
    assert abs(heading_of(armature, "bucket") - wanted) <= NOISE


def test_drag_without_a_target_keeps_the_angle_that_the_last_bone_has():
    armature, target, chain = add_digger(3, tip_rotation='TARGET', tip_angle_offset=0.5)
    solve(armature)
    chain.target, chain.tip_angle_offset = None, 0.1
    bpy.context.view_layer.update()
    before = heading_of(armature, "bucket")
    drag = take_hold(bpy.context.scene, armature, chain.name)
    drag.to((-0.1, -0.1))
    assert drag.solved.solution.status[0] == Status.REACHED
    assert abs(heading_of(armature, "bucket") - before) <= NOISE


def test_reduced_keys_keep_their_promise_about_the_tip():
    armature, _target, _chain = add_digger(3, tip_rotation='TARGET')
    report = bake(armature, options=BakeOptions(reduce=0.01)).chains[0]
    assert report.reached and not plays_back_worse(report)


def test_influence_takes_its_part_of_the_angle():
    armature, target, chain = add_digger(3, tip_rotation='WORLD', influence=0.5)
    report = bake(armature).chains[0]
    assert report.joints.angle_error.max() > 1e-3
    found = errors(armature, target, "bucket", lambda: rest_heading(armature, "bucket"))
    assert np.abs(found[:, 0] - report.joints.angle_error).max() <= NOISE


def turned_by_seeded_poses(bones: int, limits: bool):
    """Add a chain along y whose target's place and rotation are those of its own smooth poses."""
    armature = posed_chain(path_of(np.random.default_rng(100 * bones), bones, limits, 100))
    return armature, bpy.data.objects["Target"], armature.ik2d.chains[0]


@pytest.mark.parametrize(("bones", "limits"), [(3, True), (4, False), (5, True), (7, True)])
def test_a_bake_of_a_smooth_motion_meets_all_frames_without_a_pop(bones, limits):
    armature, target, _chain = turned_by_seeded_poses(bones, limits)
    report = bake(armature).chains[0]
    assert report.reached and report.joints.angle_error.max() <= NOISE
    turns = wrapped(np.diff(shown_angles(armature, bones), axis=0))
    assert np.degrees(np.abs(turns)).max() <= 15.0
    assert not [warning for warning in report.warnings if "turns by" in warning]
    for frame in (1, 37, 100):
        bpy.context.scene.frame_set(frame)
        off = heading_of(armature, f"b{bones - 1}") - turn_of(target)
        assert abs(float(wrapped(np.array(off)))) <= NOISE


def test_a_part_baked_anew_goes_on_from_the_pose_before_it():
    armature, _target, _chain = turned_by_seeded_poses(5, True)
    bake(armature)
    bake(armature, frame_start=40, frame_end=70)
    turns = wrapped(np.diff(shown_angles(armature, 5), axis=0))
    assert np.degrees(np.abs(turns)).max() <= 15.0


def test_rest_pose_gives_each_frames_least_as_live_shows_it_and_the_report_says_where_they_differ():
    armature, _target, chain = turned_by_seeded_poses(5, True)
    chain.live = True
    live = shown_angles(armature, 5)[::9]
    chain.live = False
    alone = bake(armature, frame_start=1, frame_end=100)
    assert "by each frame alone" not in alone.sentence()
    path = bake(armature).chains[0]
    along = shown_angles(armature, 5)
    chain.start_from = 'REST'
    assert bake(armature).chains[0].reached
    each = shown_angles(armature, 5)
    assert np.abs(wrapped(each[::9] - live)).max() <= NOISE
    differ = np.abs(wrapped(along - each)).max(axis=1) > 0.01
    assert (path.circumstances.parted == differ).mean() > 0.98


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bone_count": 1}, "takes two bones or more; set Chain Length to 2 or more"),
        ({"solver": 'CCD'}, "is not possible with the CCD solver; set the solver to Automatic"),
        ({"solver": 'ARC'}, "is not possible with the Circle solver"),
        ({"stretch": 1.5, "stretch_bones": 'LAST'}, "set Stretch and Shortest Length to 1"),
    ],
)
def test_settings_that_an_angle_is_not_to_be_had_with_are_refused(change, words):
    armature, _target, chain = add_digger(4, tip_rotation='WORLD')
    for name, value in change.items():
        setattr(chain, name, value)
    with pytest.raises(IK2DError, match=words):
        bake(armature)


def test_first_bone_whose_turn_counts_turns_less_and_the_angle_is_had():
    armature, target, chain = add_digger(4, tip_rotation='TARGET')
    turned = []
    for freely in (True, False):
        chain.root_turns_freely = freely
        assert bake(armature).chains[0].reached
        found = errors(
            armature, target, chain.tip, lambda: rest_heading(armature, chain.tip) + turn_of(target)
        )
        assert found[:, 0].max() <= NOISE and found[:, 1].max() <= 1e-4
        turned.append(abs(heading_of(armature, "boom") - rest_heading(armature, "boom")))
    assert turned[1] < turned[0]


def test_native_and_plain_steps_of_ccd_refuse_an_angle():
    armature, _target, chain = add_digger(3, tip_rotation='WORLD')
    with pytest.raises(
        IK2DError, match="its last bone has an angle of its own; set Last Bone's Angle to Free"
    ):
        make_native(armature, chain)
    with pytest.raises(RuntimeError, match="plain CCD gives the last bone no angle"):
        bpy.ops.ik2d.ccd_step()


def test_bake_is_out_of_date_once_the_target_turns_or_a_setting_changes():
    armature, target, chain = add_digger(3, tip_rotation='TARGET')
    bpy.ops.ik2d.bake()
    chain, scene = armature.ik2d.chains[0], bpy.context.scene
    assert not bake_is_stale(armature, scene)
    chain.tip_angle_offset = 0.1
    assert bake_is_stale(armature, scene)
    chain.tip_angle_offset = 0.0
    assert not bake_is_stale(armature, scene)
    existing_fcurves(target)[-1].keyframe_points[0].co[1] += 0.1
    assert bake_is_stale(armature, scene)


def test_copied_settings_have_the_angle():
    armature, _target, chain = add_digger(3, tip_rotation='WORLD', tip_angle_offset=0.4, tip_angle_first=True)
    other = add_chain(armature, "stick", None, bone_count=2, name="Other")
    chain = armature.ik2d.chains[0]
    copy_settings(chain, [other])
    assert (other.tip_rotation, other.tip_angle_first) == ('WORLD', True)
    assert other.tip_angle_offset == pytest.approx(0.4)


@pytest.mark.parametrize("rotation", ['TARGET', 'WORLD'])
def test_overlay_shows_the_angle_that_the_last_bone_is_off(rotation):
    armature, _target, chain = add_digger(3, tip_rotation=rotation, tip_angle_offset=0.2)
    bpy.context.scene.frame_set(12)
    solve(armature)
    bpy.context.view_layer.update()
    rig = read_chain(armature, chain)
    view, figure = view_chain(rig, chain), Figure()
    assert view.heading_off <= NOISE
    draw_heading(figure, view, (1.0, 0.0, 0.0))
    assert not figure.labels and not figure.lines[BOLD]
    chain.tip_angle_offset = 0.7
    view = view_chain(read_chain(armature, chain), chain)
    assert view.heading_off == pytest.approx(0.5, abs=NOISE)
    draw_heading(figure, view, (1.0, 0.0, 0.0))
    assert [words for _, words, _ in figure.labels] == ["28.6° off its angle"] and figure.lines[BOLD]
