# SPDX-License-Identifier: GPL-3.0-or-later
"""Switch Parent: the pose stays at the frame, and nothing moves more between frames than without it."""

import bpy
import numpy as np
import pytest
from pole_rigs import leg
from rigs import add_armature, every_bit_of_animation, settings_of
from snapshots import data_blocks, differences
from two_target_rigs import (
    EIGHTHS,
    FRAMES,
    REACH,
    add_arm,
    add_empty,
    apart,
    furthest,
    off_a_constant_turn,
    shown,
    steps,
)

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.setup.operators import remove_chain
from ik2d_addon.features.two_targets.second import add_second_target, remove_second_target
from ik2d_addon.features.two_targets.switch import switch_parent

KEPT, TURNED = 2e-7, 2e-6  # places are up to 1.6 m from the origin: a step of 32 bits is 1.2e-7


def switch(chain, frame, parent):
    """Switch the parent at a frame."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    return switch_parent(bpy.context.scene, chain, parent)


def goes_with(chain, parent, frames):
    """Return how far the target moves against a parent over some frames."""
    spots = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        world, held = (ob.evaluated_get(depsgraph).matrix_world for ob in (chain.target, parent))
        spots.append(np.array(held.inverted() @ world.translation))
    return float(np.ptp(spots, axis=0).max())


def test_the_pose_stays_at_the_frame_and_the_target_goes_with_its_parent_from_there():
    chain, first, _, wheel = add_arm()
    _, _, places, turns = shown(chain, FRAMES)
    keys = every_bit_of_animation(first)
    assert switch(chain, 20, (wheel, "")) is None
    _, _, after, turned = shown(chain, FRAMES)
    assert np.abs(after - places)[:20].max() < KEPT and furthest(turned[:20], turns[:20]) < TURNED
    assert goes_with(chain, wheel, range(20, 41)) < 1e-6
    assert every_bit_of_animation(first) == keys


def test_nothing_jumps_in_eighths_of_a_frame():
    chain, _, _, wheel = add_arm()
    _, _, before, _ = shown(chain, EIGHTHS)
    switch(chain, 20, (wheel, ""))
    _, _, after, _ = shown(chain, EIGHTHS)
    ridden = add_empty("ridden", parent=wheel)
    bpy.context.scene.frame_set(20)
    bpy.context.view_layer.update()
    ridden.matrix_world = chain.target.matrix_world.copy()
    _, _, as_ridden, _ = shown(chain, EIGHTHS, ridden)
    assert steps(after) <= max(steps(before), steps(as_ridden)) + 1e-6


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_the_chain_follows_live_and_baked(size):
    chain, _, hip, wheel = add_arm(size)
    wheel.scale = (1, 2, 0.5)
    switch(chain, 12, (wheel, ""))
    switch(chain, 25, None)
    switch(chain, 33, (hip, ""))
    chain.live = True
    tips, hands, places, turns = shown(chain, FRAMES)
    assert np.abs(tips - places).max() < 1e-6 * REACH * size
    assert off_a_constant_turn(hands, turns) < TURNED
    chain.live = False
    assert bake(chain.id_data, None, 1, 40).all_reached
    baked, keyed, *_ = shown(chain, FRAMES)
    assert np.abs(baked - tips).max() < 1e-6 * REACH * size and furthest(hands, keyed) < TURNED


def test_one_after_the_other_and_back_to_an_earlier_parent():
    chain, _, hip, wheel = add_arm()
    for frame, parent in ((10, (wheel, "")), (20, None), (30, (hip, ""))):
        _, _, places, turns = shown(chain, FRAMES)
        assert switch(chain, frame, parent) is None
        _, _, after, turned = shown(chain, FRAMES)
        assert np.abs(after - places)[:frame].max() < KEPT
        assert furthest(turned[:frame], turns[:frame]) < TURNED
    assert goes_with(chain, wheel, range(10, 20)) < 1e-6
    assert np.ptp(shown(chain, range(20, 30))[2], axis=0).max() == 0.0
    assert goes_with(chain, hip, range(30, 41)) < 1e-6


@pytest.mark.parametrize("frame", [1, 40, 20.5, -3])
def test_at_the_ends_and_between_frames(frame):
    chain, _, _, wheel = add_arm()
    times = sorted({frame - 1, frame - 0.125, frame, *FRAMES})
    _, _, places, _ = shown(chain, times)
    switch(chain, frame, (wheel, ""))
    _, _, after, _ = shown(chain, times)
    until = times.index(frame) + 1
    assert np.abs(after - places)[:until].max() < KEPT


def test_before_another_switch_it_goes_to_where_that_takes_over():
    chain, _, hip, wheel = add_arm()
    switch(chain, 30, None)
    _, _, places, turns = shown(chain, EIGHTHS)
    assert switch(chain, 10, (wheel, "")) == 30.0
    _, _, after, turned = shown(chain, EIGHTHS)
    outside = [i for i, time in enumerate(EIGHTHS) if not 10 < time < 30]
    assert np.abs(after - places)[outside].max() < KEPT
    assert max(apart(turned[i], turns[i]) for i in outside) < TURNED
    assert steps(after) < 0.02  # of 0.6: no jump
    switch(chain, 35, (hip, ""))
    _, _, last, _ = shown(chain, EIGHTHS)
    assert np.abs(last - after)[: EIGHTHS.index(35) + 1].max() < KEPT


def test_twice_at_one_frame_the_last_one_counts():
    chain, _, hip, wheel = add_arm()
    _, _, places, _ = shown(chain, FRAMES)
    switch(chain, 20, (wheel, ""))
    switch(chain, 20, (hip, ""))
    _, _, after, _ = shown(chain, FRAMES)
    assert np.abs(after - places)[:20].max() < KEPT and goes_with(chain, hip, range(20, 41)) < 1e-6


def test_a_bone_carries_it_too():
    chain, *_ = add_arm()
    horse = add_armature({"back": ((0, 0, 0), (0.1, 0.3, 0.2), "", 0.3)}, "Horse")
    horse.scale = (1, 2, 0.7)
    bone = horse.pose.bones["back"]
    for frame, turn in ((1, 0.0), (40, 0.8)):
        bone.rotation_quaternion = (1, turn, 0, 0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    _, _, places, _ = shown(chain, FRAMES)
    switch(chain, 20, (horse, "back"))
    _, _, after, _ = shown(chain, FRAMES)
    assert np.abs(after - places)[:20].max() < KEPT
    assert np.linalg.norm(after[-1] - after[19]) > 0.05


def test_the_hand_stays_when_its_target_is_a_bone():
    chain, _, _, wheel = add_arm()
    control = add_armature({"ctl": ((0.45, -0.2, 1.3), (0.5, -0.1, 1.4), "", 0.7)}, "Control")
    chain.target, chain.subtarget = control, "ctl"
    chain.live = True
    _, hands, *_ = shown(chain, FRAMES)
    switch(chain, 20, (wheel, ""))
    _, after, *_ = shown(chain, FRAMES)
    assert furthest(hands[:20], after[:20]) < 3e-6


def test_the_pole_goes_with_the_same_parent():
    armature, chain = leg()
    wheel = add_empty("wheel", keys={1: ((0, 0, 1), (0, 0, 0)), 12: ((0.2, 0, 1), (0, 0.6, 0.3))})
    chain.live = True
    pole, angle = chain.pole, chain.pole_angle
    before = {frame: _knee(armature, frame) for frame in range(1, 13)}
    bpy.context.scene.frame_set(6)
    switch_parent(bpy.context.scene, chain, (wheel, ""))
    assert chain.pole != pole and chain.pole_angle == angle
    after = {frame: _knee(armature, frame) for frame in range(1, 13)}
    assert max((before[frame] - after[frame]).length for frame in range(1, 7)) < 1e-5
    poles = []
    for frame in range(6, 13):
        bpy.context.scene.frame_set(frame)
        poles.append(np.array(wheel.matrix_world.inverted() @ chain.pole.matrix_world.translation))
    assert np.ptp(poles, axis=0).max() < 1e-5
    remove_second_target(chain)
    assert (chain.pole, chain.pole_angle) == (pole, angle)
    switch_parent(bpy.context.scene, chain, (wheel, ""), with_pole=False)
    assert chain.pole == pole


def _knee(armature, frame):
    bpy.context.scene.frame_set(frame)
    shown_rig = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return (shown_rig.matrix_world @ shown_rig.pose.bones["shin"].head).copy()


def test_where_time_is_remapped():
    chain, _, _, wheel = add_arm()
    bpy.context.scene.render.frame_map_new = 200
    _, _, places, _ = shown(chain, FRAMES)
    switch(chain, 20, (wheel, ""))
    _, _, after, _ = shown(chain, FRAMES)
    assert np.abs(after - places)[:20].max() < KEPT and goes_with(chain, wheel, range(20, 41)) < 1e-6
    assert switch(chain, 10, None) == 20.0
    _, _, last, _ = shown(chain, FRAMES)
    assert np.abs(last - after)[[*range(10), *range(19, 40)]].max() < KEPT


def test_mirrored_parents():
    chain, first, hip, wheel = add_arm()
    hip.scale, wheel.scale = (-1, 1, 1), (1, 1, -2)
    bpy.context.view_layer.update()
    chain.live = True
    before, hands, places, _ = shown(chain, FRAMES)
    switch(chain, 20, (wheel, ""))
    tips, after, now, _ = shown(chain, FRAMES)
    assert np.abs(now - places)[:20].max() < KEPT and furthest(hands[:20], after[:20]) < 3e-6


def test_a_target_that_is_moved_by_hand_is_followed_live():
    chain, _, _, wheel = add_arm()
    chain.live = True
    switch(chain, 20, (wheel, ""))
    space = chain.target.constraints[-1].target
    for ob in (space, wheel):
        ob.location.x += 0.02
        bpy.context.view_layer.update()
        rig = chain.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
        tip = rig.matrix_world @ rig.pose.bones["fore"].tail
        assert (tip - chain.target.matrix_world.translation).length < 1e-6


def test_removing_it_leaves_nothing():
    chain, _, hip, wheel = add_arm()
    before = data_blocks(), settings_of(chain), chain.hand_offset[:]
    animation = {ob.name: every_bit_of_animation(ob) for ob in bpy.data.objects}
    for frame, parent in ((10, (wheel, "")), (20, None), (15, (hip, ""))):
        switch(chain, frame, parent)
    add_second_target(chain)
    remove_second_target(chain)
    assert differences(before, (data_blocks(), settings_of(chain), chain.hand_offset[:])) == []
    assert {ob.name: every_bit_of_animation(ob) for ob in bpy.data.objects} == animation
    switch(chain, 10, (wheel, ""))
    remove_chain(chain.id_data, chain)
    assert not [ob.name for ob in bpy.data.objects if "fore" in ob.name]
    assert data_blocks()["actions"] == before[0]["actions"]


def test_a_second_target_and_a_switch_go_together():
    chain, _, _, wheel = add_arm()
    second = add_empty("B", (0.3, -0.2, 1.2))
    add_second_target(chain, (second, ""))
    blend = chain.target.constraints[1]
    blend.influence = 0.5
    _, _, places, _ = shown(chain, FRAMES)
    switch(chain, 20, (wheel, ""))
    _, _, after, _ = shown(chain, FRAMES)
    assert np.abs(after - places)[:20].max() < KEPT and goes_with(chain, wheel, range(20, 41)) < 1e-6


def test_parents_that_cannot_carry_it_are_refused_with_nothing_changed():
    chain, first, *_ = add_arm()
    flat = add_empty("flat")
    flat.scale = (1, 0, 1)
    before = data_blocks()
    for parent, words in (
        ((chain.id_data, "hand"), "carried by chain 'fore' itself"),
        ((chain.id_data, "upper"), "carried by chain"),
        ((chain.id_data, "tail"), "no bone 'tail'"),
        ((flat, ""), "scaled to no size"),
    ):
        with pytest.raises(IK2DError, match=words):
            switch(chain, 10, parent)
        assert chain.target == first and data_blocks() == before
    switch(chain, 10, None)
    with pytest.raises(IK2DError, match="in a circle"):
        switch(chain, 20, (chain.target, ""))
