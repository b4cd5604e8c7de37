# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains on posts show what a bake keys, however one gets to a frame, and say what stops a post."""

from math import pi, radians

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector
from post_rigs import FRAMES, Turret, add_post_chain, robot_arm, turret
from rigs import (
    add_armature,
    add_chain,
    add_target,
    disconnect,
    errors_on,
    evaluated_place,
    evaluated_tip,
    set_slide,
)

from ik2d_addon.bake import bake, solve
from ik2d_addon.live.chain import LiveChain
from ik2d_addon.live.kept.poses import KeptPoses
from ik2d_addon.live.plain.post import PostWriter
from ik2d_addon.live.registry import RIGS
from ik2d_addon.live.writing import PoseWrites
from ik2d_addon.ui.settings.joint_list import sync_joints

# Parts of the reach that tips are off, and entries of pose matrices that differ.
ON_TARGET, SAME = 2e-5, 5e-5


def go(frame: float) -> None:
    bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)


def matrices(armature, names) -> np.ndarray:
    """Return the pose matrices of bones as evaluated now."""
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return np.array([bones[name].matrix for name in names])


def shown(armature, names, frames=FRAMES) -> np.ndarray:
    """Return the pose matrices of bones on some frames, one after another."""
    found = []
    for frame in frames:
        go(float(frame))
        found.append(matrices(armature, names))
    return np.array(found)


def live_turret(seed: int, mode: str = "", rate: float | None = None, **settings) -> tuple:
    """Return a turret with a live chain."""
    made = turret(seed, rate, mode)
    chain = made.add_chain()
    for name, value in settings.items():
        setattr(chain, name, value)
    chain.live = True
    return made, chain


def all_is_well(chain) -> bool:
    return chain.live and not RIGS.problems and not RIGS.failures


def off(made: Turret) -> float:
    return (evaluated_tip(made.armature, made.bones[-1]) - evaluated_place(made.target)).length / made.reach


@pytest.mark.parametrize("seed", range(40))
def test_tips_are_on_targets_in_any_order_and_as_a_bake_has_them(seed):
    made, chain = live_turret(seed)
    names = "post", *made.bones
    order = [int(frame) for frame in np.random.default_rng(seed).permutation(FRAMES)]
    first = dict(zip(order, shown(made.armature, names, order), strict=True))
    assert made.miss(*map(float, order)) <= ON_TARGET
    again = shown(made.armature, names)
    assert max(np.abs(first[frame] - pose).max() for frame, pose in zip(FRAMES, again, strict=True)) <= SAME
    assert made.miss(*map(float, FRAMES)) <= ON_TARGET and all_is_well(chain)
    bake(made.armature, None, 1, 24)
    assert np.abs(shown(made.armature, names) - again).max() <= SAME


def test_the_robot_arm_follows_a_target_that_is_moved_by_hand():
    armature, chain = robot_arm({})
    chain.live = True
    for place in ((0.9, 0.0, 1.0), (0.3, 0.8, 0.8), (-0.7, 0.5, 0.6), (-0.2, -0.9, 1.4)):
        chain.target.location = place
        bpy.context.view_layer.update()
        assert errors_on([1], armature, chain).max() <= 4e-6 and all_is_well(chain)
    turned = armature.pose.bones["base"].rotation_quaternion
    assert abs(turned.to_euler().y) > 1.0


def test_an_armature_that_moves_is_followed():
    armature, chain = robot_arm()
    chain.live = True
    for frame, turn in ((1, 0.0), (24, 0.7)):
        armature.rotation_euler = (0.3 * turn, 0.2, turn)
        armature.location.x = -0.2 * turn
        armature.keyframe_insert("rotation_euler", frame=frame)
        armature.keyframe_insert("location", frame=frame)
    assert errors_on(FRAMES, armature, chain).max() <= 4e-6 and all_is_well(chain)


@pytest.mark.parametrize("seed", (0, 4, 8, 16, 34))
def test_an_update_ends_once_the_post_is_where_it_goes(seed, monkeypatch):
    written, write = [], PoseWrites.write

    def noted(writes):
        written.append(bool(writes._values))
        write(writes)

    made, _ = live_turret(seed)
    go(7)
    made.target.animation_data_clear()
    monkeypatch.setattr(PoseWrites, "write", noted)
    made.target.location.x += 0.01 * made.reach
    for _ in range(8):
        bpy.context.view_layer.update()
    assert off(made) <= ON_TARGET
    assert len(written) <= 4 and sum(written) <= 2


# --- Limits --------------------------------------------------------------------


def test_a_limit_stops_the_post_and_the_status_says_so():
    made, chain = live_turret(1, use_post_limit=True, post_limit_min=-0.4, post_limit_max=0.3)
    names, angles, words = ("post", *made.bones), [], set()
    for frame in FRAMES:
        go(frame)
        angles.append(made.post.rotation_euler[made.axis])
        words.add(chain.live_status)
        assert chain.live_reached == (off(made) <= 1e-3)
    assert min(angles) >= -0.4 - 1e-6 and max(angles) <= 0.3 + 1e-6 and np.ptp(angles) > 0.5
    assert any("stopped by the post's limits at 17.2 degrees" in text for text in words)
    again = shown(made.armature, names)
    bake(made.armature, None, 1, 24)
    assert np.abs(shown(made.armature, names) - again).max() <= SAME


def test_a_target_nearer_the_axis_than_the_plane_comes_is_told():
    armature = add_armature(
        {
            "base": ((0, 0, 0), (0, 0, 0.3), "", 0.0),
            "upper": ((0, 0.3, 0.3), (0.1, 0.3, 1.3), "base", 0.0),
            "lower": ((0.1, 0.3, 1.3), (0.9, 0.3, 1.0), "upper", 0.0),
        }
    )
    target = add_target({})
    chain = add_post_chain(armature, "lower", 2, target, "base", 'Y')
    chain.live = True
    for place, reached in (((0.9, 0.1, 1.0), True), ((0.1, 0.05, 1.2), False)):
        target.location = place
        for _ in range(3):
            bpy.context.view_layer.update()
        assert chain.live_reached == reached, chain.live_status
    assert "too near the post's axis" in chain.live_status
    off_by = (evaluated_tip(armature, "lower") - target.location).length
    assert off_by == pytest.approx(0.3 - np.hypot(0.1, 0.05), abs=1e-5)


# --- Whatever else the chain, or the rig, has ------------------------------------


def cyclic(made, chain) -> None:
    chain.solver, chain.start_from = 'CCD', 'REST'


def soft(made, chain) -> None:
    chain.softness = 0.3


def flipped(made, chain) -> None:
    chain.bend = 'NEGATIVE'


def other_side(made, chain) -> None:
    chain.post_side = 'NEGATIVE'


def limited(made, chain) -> None:
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, radians(-60), radians(40)


def stretched(made, chain) -> None:
    for bone in chain.id_data.data.bones:
        bone.inherit_scale = 'ALIGNED'
    chain.stretch, chain.compress = 1.6, 0.7


def half_influence(made, chain) -> None:
    chain.influence = 0.5


def keyed_by_hand(made, chain) -> None:
    for frame, angle in ((1, 0.3), (24, 1.5)):
        made.turn_post(angle)
        mode = made.post.rotation_mode
        made.post.keyframe_insert("rotation_euler" if len(mode) == 3 else "rotation_quaternion", frame=frame)


def over_keys(made, chain) -> None:
    chain.influence = 0.7
    keyed_by_hand(made, chain)


def with_an_angle(made, chain) -> None:
    chain.tip_rotation, chain.start_from = 'WORLD', 'REST'


def sliding(made, chain) -> None:
    for bone in (made.bones[0], made.bones[-1]):
        set_slide(chain, bone, -0.1, 0.3)
    chain.start_from = 'REST'


def scaled_post(made, chain) -> None:
    for frame, scale in ((1, 1.0), (24, 1.4)):
        made.post.scale = (scale,) * 3
        made.post.keyframe_insert("scale", frame=frame)


def shifted_post(made, chain) -> None:
    for frame, place in ((1, 0.0), (24, 0.4)):
        made.post.location = (place, 0.1, -place)
        made.post.keyframe_insert("location", frame=frame)


def no_scale_from_the_post(made, chain) -> None:
    for name in ("post", made.bones[0]):
        made.armature.data.bones[name].inherit_scale = 'NONE'


def carried_in_its_own_space(made, chain) -> None:
    constraint = made.armature.pose.bones[made.bones[0]].constraints.new('LIMIT_LOCATION')
    constraint.owner_space, constraint.use_min_x, constraint.min_x = 'LOCAL', True, 0.2


def tilting_post(made, chain) -> None:
    angles = [0.0] * 3
    for frame, tilt in ((1, -0.3), (24, 0.4)):
        angles[made.axis - 1], angles[made.axis - 2] = tilt, 0.5 * tilt
        if len(made.post.rotation_mode) == 3:
            made.post.rotation_euler = angles
            for index in (made.axis - 1, made.axis - 2):
                made.post.keyframe_insert("rotation_euler", index=index % 3, frame=frame)
        else:
            made.post.rotation_mode = 'QUATERNION'
            made.post.rotation_quaternion = Euler(angles).to_quaternion()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        cyclic,
        soft,
        flipped,
        other_side,
        limited,
        stretched,
        half_influence,
        keyed_by_hand,
        over_keys,
        with_an_angle,
        sliding,
        scaled_post,
        shifted_post,
        no_scale_from_the_post,
        tilting_post,
        carried_in_its_own_space,
    ],
    ids=lambda kind: kind.__name__,
)
@pytest.mark.parametrize("seed", [2, 12, 16, 34, 38])
def test_live_shows_what_a_bake_keys_on_every_frame(seed, kind):
    made = turret(seed)
    chain = made.add_chain()
    sync_joints(chain)
    kind(made, chain)
    names = "post", *made.bones
    chain.live = True
    again = shown(made.armature, names)
    assert all_is_well(chain)
    bake(made.armature, None, 1, 24)
    assert np.abs(shown(made.armature, names) - again).max() <= SAME


def with_hand(armature) -> None:
    """Add a hand to the robot arm."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bone = armature.data.edit_bones.new("hand")
    bone.head, bone.tail, bone.parent = (0.9, 0.0, 1.0), (1.1, 0.1, 0.9), armature.data.edit_bones["lower"]
    bpy.ops.object.mode_set(mode='OBJECT')


@pytest.mark.parametrize("influence", [1.0, 0.5])
def test_a_single_bone_on_a_post_points_at_its_target_as_a_bake_has_it(influence):
    armature, chain = robot_arm()
    chain.tip, chain.bone_count, chain.influence, chain.live = "upper", 1, influence, True
    again = shown(armature, ("base", "upper"))
    assert all_is_well(chain) and chain.live_reached == (influence == 1.0)
    bake(armature, None, 1, 24)
    assert np.abs(shown(armature, ("base", "upper")) - again).max() <= SAME


@pytest.mark.parametrize("influence", [1.0, 0.5])
@pytest.mark.parametrize("rotation", ['WORLD', 'TARGET'])
def test_a_hand_keeps_its_rotation_as_the_post_turns(rotation, influence):
    armature, chain = robot_arm()
    with_hand(armature)
    chain.hand_rotation, chain.influence, chain.live = rotation, influence, True
    names = "base", "upper", "lower", "hand"
    again = shown(armature, names)
    turned = np.abs(again[:, 3, :3, :3] - again[0, 3, :3, :3]).max()
    assert all_is_well(chain) and (turned <= 1e-5 or influence < 1.0)
    bake(armature, None, 1, 24)
    assert np.abs(shown(armature, names) - again).max() <= SAME


def test_a_chain_that_hangs_on_the_post_is_solved_after_it():
    made, chain = live_turret(2)
    bpy.context.view_layer.objects.active = made.armature
    bpy.ops.object.mode_set(mode='EDIT')
    post, place = made.armature.data.edit_bones["post"], Vector((0.3, 0.1, 0.2))
    for number, end in enumerate(((0.5, 0.2, 0.9), (0.9, 0.1, 1.5))):
        bone = made.armature.data.edit_bones.new(f"side{number}")
        bone.head = place
        bone.tail = place = Vector(end)
        bone.parent = made.armature.data.edit_bones[f"side{number - 1}"] if number else post
    bpy.ops.object.mode_set(mode='OBJECT')
    carried = add_target({}, "Carried")
    carried.parent, carried.parent_type, carried.parent_bone = made.armature, 'BONE', "post"
    bpy.context.view_layer.update()
    carried.matrix_world = made.armature.matrix_world @ Matrix.Translation((0.6, 0.15, 1.1))
    second = add_chain(made.armature, "side1", carried, 2)
    second.live = True
    chain = made.armature.ik2d.chains[0]
    names = "post", *made.bones, "side0", "side1"
    again = shown(made.armature, names)
    assert all_is_well(chain) and all_is_well(second)
    assert [[one.name for one in ready] for ready in RIGS.rounds] == [[chain.name], [second.name]]
    bake(made.armature, None, 1, 24)
    assert np.abs(shown(made.armature, names) - again).max() <= SAME


def test_of_two_chains_on_one_post_the_first_is_live():
    armature, chain = robot_arm()
    second = add_post_chain(armature, "upper", 1, add_target({}, "Other"), "base", 'Y')
    second.name, chain.live, second.live = "other", True, True
    go(3)
    assert errors_on([3], armature, chain).max() <= 4e-6
    assert "both turn 'base', which is a post" in second.live_status


# --- The post's own channels ------------------------------------------------------


def test_what_else_turns_the_post_stays_however_long_it_is_live():
    made, chain = live_turret(16)  # a quaternion
    made.post.rotation_quaternion = Quaternion((0.9, 0.2, 0.0, -0.3)).normalized()
    bpy.context.view_layer.update()
    before = made.swing_of_post()
    for _ in range(20):
        for frame in FRAMES:
            go(frame)
    assert off(made) <= ON_TARGET and all_is_well(chain)
    apart = made.swing_of_post().rotation_difference(before).angle
    assert min(apart, 2.0 * pi - apart) <= 2e-6


def test_of_euler_angles_only_the_one_about_the_axis_is_written():
    made, _ = live_turret(2, 'ZXY')
    others = [index for index in range(3) if index != made.axis]
    for index, angle in zip(others, (0.2, -0.3), strict=True):
        made.post.rotation_euler[index] = angle
    kept = [made.post.rotation_euler[index] for index in others]
    for frame in FRAMES:
        go(frame)
        assert off(made) <= ON_TARGET
        assert [made.post.rotation_euler[index] for index in others] == kept


def test_a_rotation_mode_that_changes_is_heeded():
    made, chain = live_turret(2, 'XYZ')
    go(3)
    for mode in ('QUATERNION', 'ZYX', 'AXIS_ANGLE'):
        made.post.rotation_mode = mode
        go(9)
        go(4)
        assert off(made) <= ON_TARGET and all_is_well(chain)


def test_a_driver_on_the_posts_own_angle_is_refused_and_one_on_another_angle_is_not():
    made, chain = live_turret(2, 'XYZ')
    other = (made.axis + 1) % 3
    driver = made.post.driver_add("rotation_euler", other).driver
    driver.expression = "0.2"
    bpy.context.view_layer.update()
    go(5)
    assert off(made) <= ON_TARGET and all_is_well(chain)
    driver = made.post.driver_add("rotation_euler", made.axis).driver
    driver.expression = "0.2"
    go(6)
    assert "a driver moves bone 'post' in place of this chain" in chain.live_status


def test_a_constraint_that_turns_the_post_pauses_the_chain_while_it_acts():
    made, chain = live_turret(2, 'XYZ')
    constraint = made.post.constraints.new('COPY_ROTATION')
    constraint.target = add_target({}, "Other")
    go(5)
    assert "bone 'post' is moved by its own constraint 'Copy Rotation'" in chain.live_status
    constraint.mute = True
    go(6)
    assert off(made) <= ON_TARGET and all_is_well(chain)


def test_a_constraint_that_acts_at_times_finds_post_and_bones_at_rest():
    made, chain = live_turret(2, 'XYZ')
    constraint = made.post.constraints.new('COPY_ROTATION')
    constraint.target, constraint.mix_mode = add_target({}, "Other"), 'BEFORE'
    for frame, influence in ((1, 0.0), (12, 0.0), (13, 1.0), (24, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    go(6)
    assert off(made) <= ON_TARGET
    go(15)
    first = matrices(made.armature, ("post", *made.bones))
    assert made.post.rotation_euler[made.axis] == 0.0
    go(11)
    assert off(made) <= ON_TARGET
    go(15)
    assert np.abs(matrices(made.armature, ("post", *made.bones)) - first).max() <= 1e-6


@pytest.mark.parametrize("seed", (1, 2, 34))  # with a bone between, without, and by a quaternion
def test_a_limit_rotation_of_the_post_is_told_where_it_acts_and_no_hindrance_elsewhere(seed):
    made, chain = live_turret(seed, use_post_limit=True, post_limit_min=-1.2, post_limit_max=1.2)
    constraint = made.post.constraints.new('LIMIT_ROTATION')
    constraint.owner_space = 'LOCAL'
    letter, limited = "xyz"[made.axis], []
    for name, value in (("use_limit", True), ("min", -0.8), ("max", 0.8)):
        setattr(constraint, f"{name}_{letter}", value)
    order = np.random.default_rng(seed).permutation(FRAMES)
    for frame in [*order, *FRAMES]:
        go(float(frame))
        angle = float(np.angle(np.exp(1j * made.turns[frame - 1])))
        if abs(angle) < 0.79:
            assert off(made) <= ON_TARGET and all_is_well(chain), frame
        elif 0.81 < abs(angle) < 1.19:
            limited.append(frame)
            assert off(made) > ON_TARGET and "Limit Rotation" in chain.live_status
    assert limited and chain.live
    constraint.min_x = constraint.min_y = constraint.min_z = -1.2
    constraint.max_x = constraint.max_y = constraint.max_z = 1.2
    for frame in FRAMES:  # as far as its own limits
        go(frame)
        assert all_is_well(chain)


def test_a_constraint_that_carries_the_post_is_followed():
    made, chain = live_turret(2, 'XYZ')
    place = add_target({1: (0.0, 0.0, 0.0), 24: (0.3, -0.2, 0.1)}, "Place")
    constraint = made.post.constraints.new('COPY_LOCATION')
    constraint.target, constraint.use_offset = place, True
    assert made.miss(*map(float, FRAMES)) <= ON_TARGET and all_is_well(chain)


def test_a_bone_between_that_a_constraint_holds_in_the_world_is_told_where_it_does():
    made, chain = live_turret(10)
    constraint = made.armature.pose.bones["mid1"].constraints.new('DAMPED_TRACK')
    constraint.target = add_target({}, "Other")
    for frame, influence in ((1, 0.0), (12, 0.0), (13, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    go(3)
    assert off(made) <= ON_TARGET and all_is_well(chain)
    go(15)
    assert "keeps it from turning with its post 'post'" in chain.live_status


def test_edits_of_post_and_bones_between_count():
    made, chain = live_turret(10)
    go(3)
    bpy.context.view_layer.objects.active = made.armature
    for name in ("mid0", "post"):
        bpy.ops.object.mode_set(mode='EDIT')
        made.armature.data.edit_bones[name].roll += 0.7
        bpy.ops.object.mode_set(mode='OBJECT')
        go(5)
        go(4)
        assert off(made) <= ON_TARGET and all_is_well(chain)


# --- Frames that are kept ---------------------------------------------------------


@pytest.mark.parametrize("seed", (2, 4, 10, 16, 34))
def test_kept_frames_show_the_same_and_an_edit_drops_them(seed, monkeypatch):
    made, chain = live_turret(seed)
    names, followed, follow = ("post", *made.bones), [], LiveChain.follow

    def noted(*arguments):
        followed.append(1)
        return follow(*arguments)

    monkeypatch.setattr(LiveChain, "follow", noted)
    first = shown(made.armature, names)
    shown(made.armature, names)
    followed.clear()
    again = shown(made.armature, names)
    assert len(followed) <= 2 and np.abs(again - first).max() <= SAME  # shown as they were kept
    order = np.random.default_rng(seed).permutation(len(FRAMES))
    assert np.abs(shown(made.armature, names, np.array(FRAMES)[order]) - first[order]).max() <= SAME
    turned_back = matrices(made.armature, ["post"])
    made.target.delta_location = Vector((0.05, -0.04, 0.03)) * made.reach
    bpy.context.view_layer.update()
    assert np.abs(matrices(made.armature, ["post"]) - turned_back).max() > 1e-4
    assert made.miss(*map(float, FRAMES)) <= 1e-3 and all_is_well(chain)


def test_a_post_that_is_turned_by_hand_is_turned_back():
    made, chain = live_turret(2, 'XYZ')
    for frame in (3, 4, 5, 4, 3):
        go(frame)
    made.post.rotation_euler[made.axis] += 0.5
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    assert off(made) <= ON_TARGET and all_is_well(chain)


def test_the_channels_of_a_post_are_kept_with_its_chains():
    made, _ = live_turret(2, 'XYZ')
    go(3)
    (ready,) = RIGS.rounds
    kept = KeptPoses(made.armature, ready, 1 << 20)
    assert ("post", "rotation_euler", made.axis) in kept.channels
    assert not any(channel.can_be_solved_ahead for channel in ready)


# --- Several scenes ----------------------------------------------------------------


def test_of_two_scenes_that_hold_it_the_post_follows_in_the_one_that_is_shown():
    made, chain = live_turret(2, 'XYZ')
    first = bpy.context.scene
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(made.armature)
    second.collection.objects.link(made.target)
    first.frame_set(3)
    assert off(made) <= ON_TARGET
    for _ in range(3):
        first.view_layers[0].update()
        second.view_layers[0].update()
    second.frame_set(12)
    tip = made.armature.evaluated_get(second.view_layers[0].depsgraph)
    place = made.target.evaluated_get(second.view_layers[0].depsgraph).matrix_world.translation
    apart = tip.matrix_world @ tip.pose.bones[made.bones[-1]].tail - place
    assert apart.length <= ON_TARGET * made.reach and all_is_well(chain)
    first.frame_set(3)
    assert off(made) <= ON_TARGET


def test_a_first_bone_that_only_yaws_is_the_post_of_the_others():
    armature, chain = robot_arm()
    chain.bone_count, chain.live = 3, True
    assert errors_on(FRAMES, armature, chain).max() <= 4e-6 and all_is_well(chain)
    assert chain.live_reached


def test_pose_this_frame_and_live_agree():
    made, chain = live_turret(34)
    go(8)
    names = "post", *made.bones
    live = matrices(made.armature, names)
    chain.live = False
    solve(made.armature)
    assert np.abs(matrices(made.armature, names) - live).max() <= SAME


def test_a_writer_reads_the_turn_of_any_mode():
    made, _ = live_turret(2)
    for mode in ('QUATERNION', 'AXIS_ANGLE', 'XYZ', 'ZYX'):
        made.post.rotation_mode = mode
        made.turn_post(1.2)
        writer = PostWriter(made.post, made.axis)
        assert writer.read(made.post) == pytest.approx(1.2, abs=1e-6)
        values = writer.values(-2.0, tuple(getattr(made.post, writer.property)))
        setattr(made.post, writer.property, values)
        assert np.cos(writer.read(made.post) + 2.0) == pytest.approx(1.0, abs=1e-6)


def test_a_first_bone_with_a_keyed_location_is_followed_by_a_chain_with_slides():
    made, chain = live_turret(2, rate=0.1, solver='CCD')
    first = made.armature.pose.bones[made.bones[0]]
    disconnect(made.armature)
    for frame, place in ((1, (0.0, 0.0, 0.0)), (24, (0.1, -0.15, 0.1))):
        first.location = place
        first.keyframe_insert("location", frame=frame)
    set_slide(chain, made.bones[0], 0.0, 0.4)
    again = shown(made.armature, ("post", *made.bones))
    assert all_is_well(chain)
    assert made.miss(*map(float, FRAMES)) <= ON_TARGET
    bake(made.armature, None, 1, 24)
    assert np.abs(shown(made.armature, ("post", *made.bones)) - again)[:, 0].max() <= SAME
