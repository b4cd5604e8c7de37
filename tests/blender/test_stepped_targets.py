# SPDX-License-Identifier: GPL-3.0-or-later
"""Only on Target's Keys where the target steps, as in blocking: the baked keys step too."""

import bpy
import pytest
from foot_rigs import plain_leg
from rigs import add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.rig.animation.versions import existing_fcurves

HALVES = [half / 2 for half in range(2, 50)]
PLACES = {1: (0, -0.25, 0.4), 7: (0, -0.1, 0.6), 13: (0, 0.15, 0.5), 19: (0, 0.25, 0.4), 25: (0, -0.25, 0.45)}


def stepping(target, kind='CONSTANT', frames=range(1, 26), axes=(0, 1, 2)):
    """Set how some of a target's keys lead to the next."""
    for curve in existing_fcurves(target):
        for key in curve.keyframe_points:
            if key.co[0] in frames and curve.array_index in axes:
                key.interpolation = kind
    return target


def leg(*, places=PLACES, **settings):
    """Return a leg that follows a target with keys at the places."""
    armature, target = leg_with_target(**settings)
    target.animation_data_clear()
    for frame, place in places.items():
        target.location = place
        target.keyframe_insert("location", frame=frame)
    return armature, target


def kinds(armature, bone="shin"):
    """Return the interpolations of each curve of a bone."""
    return {
        tuple(key.interpolation for key in curve.keyframe_points)
        for curve in existing_fcurves(armature)
        if f'"{bone}"' in curve.data_path
    }


def bake_on_keys(armature):
    return bake(armature, frame_start=1, frame_end=25, options=BakeOptions(on_target_keys=True))


def off(armature, frames):
    """Return the largest distance from the evaluated tip to the evaluated target at some times."""
    chain, found = armature.ik2d.chains[0], []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        found.append((evaluated_tip(armature, chain.tip) - evaluated_place(chain.target)).length)
    return max(found)


@pytest.mark.parametrize("new", [100, 200])
def test_where_the_target_steps_the_keys_hold_and_the_tip_stays_on_it(new):
    armature, target = leg()
    stepping(target)
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, new
    report = bake(
        armature, frame_start=1, frame_end=24 * new // 100 + 1, options=BakeOptions(on_target_keys=True)
    )
    assert report.all_reached
    frames = [half / 2 for half in range(2, 2 * 24 * new // 100)]
    assert off(armature, frames) < 1e-5 * 1.91


def test_between_keys_that_glide_the_bones_glide():
    armature, target = leg()
    stepping(target, frames=(7, 13))
    bake_on_keys(armature)
    assert kinds(armature) == {('BEZIER', 'CONSTANT', 'CONSTANT', 'BEZIER', 'BEZIER')}
    assert off(armature, [half / 2 for half in range(14, 38)]) < 1e-5 * 1.91


def test_a_target_that_steps_along_one_axis_alone_glides():
    armature, target = leg()
    stepping(target, axes=(1,))
    bake_on_keys(armature)
    assert all('CONSTANT' not in each for each in kinds(armature))


def test_a_turn_of_a_target_that_is_a_point_does_not_count():
    armature, target = leg()
    stepping(target)
    for frame, turn in ((1, 0.0), (25, 3.0)):
        target.rotation_euler.x = turn
        target.keyframe_insert("rotation_euler", frame=frame)
    bake_on_keys(armature)
    assert off(armature, HALVES) < 1e-5 * 1.91


def test_a_parent_that_glides_counts():
    armature, target = leg()
    stepping(target)
    target.parent = holder = add_target({1: (0, 0, 0), 25: (0, 0, 0.2)}, "Holder")
    bake_on_keys(armature)
    assert all('CONSTANT' not in each for each in kinds(armature))
    stepping(holder)
    bake_on_keys(armature)
    assert off(armature, HALVES) < 1e-5 * 1.91


def test_a_constraint_of_the_target_counts():
    armature, target = leg()
    stepping(target)
    target.constraints.new('LIMIT_LOCATION')
    bake_on_keys(armature)
    assert all('CONSTANT' not in each for each in kinds(armature))


def test_a_target_without_constant_keys_gets_the_keys_that_it_got():
    armature, _target = leg(places={1: (0, 0.1, 0.5), 12: (0, 0.1, 0.5), 25: (0, 0.1, 0.5)})
    bake_on_keys(armature)
    assert kinds(armature) == {('BEZIER',) * 3}


def test_a_foot_steps_with_its_leg():
    limb = plain_leg()
    start = limb.control.location.copy()
    for frame, (y, turn) in {1: (0.0, 0.0), 9: (-0.1, 0.3), 25: (0.05, -0.2)}.items():
        limb.control.location = start + start.__class__((0, y, 0.1))
        limb.control.rotation_euler.x = turn
        limb.control.keyframe_insert("location", frame=frame)
        limb.control.keyframe_insert("rotation_euler", frame=frame)
    stepping(limb.control)
    bake_on_keys(limb.armature)
    scene = bpy.context.scene
    for first, last in ((1, 8.5), (9, 24.5)):
        scene.frame_set(first)
        before = limb.pivots()
        scene.frame_set(int(last), subframe=last % 1)
        assert all(abs(place - before[name]).max() < 1e-5 for name, place in limb.pivots().items())
    assert off(limb.armature, HALVES) < 1e-5
