# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs on a chain's tip keeps its orientation, follows the target's rotation, or stays as it is."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from rigs import add_armature, add_chain, add_target, animation_of, plays_back_worse

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.foot.operators import IK2D_OT_foot_add
from ik2d_addon.features.setup.chain_presets import VALUES
from ik2d_addon.features.setup.copying import copy_settings, mirror_chain
from ik2d_addon.live.registry import RIGS, key_of
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, 25)
# What a pose in 32 bits may turn a bone by, in radians, with matrices 1e-6 off.
NOISE = 1e-5
MODES = ('QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE')
STEPS = {1: (0, 0.4, 0.1), 8: (0, -0.5, 0.1), 12: (0, -0.1, 0.55), 17: (0, 0.5, 0.3), 24: (0, 0.4, 0.1)}


def add_walker(foot_roll: float = 0.7, **settings):
    """Add a leg with a foot, whose body nods from frame 1 to 24; return it, its target and the chain."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "foot": ((0, 0, 0.1), (0.05, -0.3, 0), "shin", foot_roll),
            "toes": ((0.05, -0.3, 0), (0.05, -0.4, 0), "foot", 0.0),
            "twist": ((0, -0.1, 1.0), (0, -0.05, 0.55), "shin", 0.0),
            "control": ((0, 0, 0.1), (0, 0.3, 0.1), "", 0.3),
        }
    )
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame, turned in ((1, (0.1, 0, 0)), (12, (-0.15, 0.2, 0.1)), (24, (0.1, 0, 0))):
        body.rotation_euler = turned
        body.keyframe_insert("rotation_euler", frame=frame)
    target = add_target(STEPS)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(1)
    return armature, target, add_chain(armature, "shin", target, **settings)


def axes_of(matrix: Matrix) -> np.ndarray:
    """Return the axes (3, 3) of a matrix: its Y, and X as near to its own as a right angle lets it be."""
    x, y, z = np.array(matrix, np.float64)[:3, :3].T
    y = y / np.linalg.norm(y)
    x = x - (x @ y) * y
    x /= np.linalg.norm(x)
    return np.column_stack((x, y, np.cross(x, y) * np.sign(np.cross(x, y) @ z)))


def turn_of(ob, bone: str = "") -> np.ndarray:
    """Return the axes (3, 3) that Blender has of an object or bone now, in the world."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world @ (evaluated.pose.bones[bone].matrix if bone else Matrix())
    return axes_of(matrix)


def turns_on(frames, armature, bone: str = "foot") -> np.ndarray:
    """Return the axes (frames, 3, 3) of a bone in the world, as Blender evaluates them."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        found.append(turn_of(armature, bone))
    return np.array(found)


def apart(one, other) -> float:
    """Return the largest angle, in radians, between axes (.., 3, 3)."""
    sines = np.linalg.norm(one - other, axis=(-2, -1)) / np.sqrt(8.0)
    return float(2.0 * np.arcsin(sines.clip(max=1.0)).max())


def at_rest(armature, bone: str = "foot") -> np.ndarray:
    """Return the axes (3, 3) of a bone in rest, in the world."""
    return axes_of(armature.matrix_world @ armature.data.bones[bone].matrix_local)


def nod(target, keys: dict[int, float], axis: int = 0) -> None:
    """Key turns of a target about one of its axes."""
    for frame, angle in keys.items():
        target.rotation_euler[axis] = angle
        target.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)


# --- Kept as in rest ---------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_foot_stays_flat_while_the_leg_walks(mode):
    armature, _, _ = add_walker(hand_rotation='WORLD')
    armature.pose.bones["foot"].rotation_mode = mode
    report = bake(armature)
    assert apart(turns_on(FRAMES, armature), at_rest(armature)) < NOISE
    assert apart(turns_on(FRAMES, armature, "toes"), at_rest(armature, "toes")) < NOISE  # it goes along
    assert np.nanmax(report.chains[0].played.hands.off) < math.degrees(NOISE)
    assert report.chains[0].played.hands.bones == ("foot",)


def test_it_stays_as_it_is_unless_it_is_asked_for():
    armature, _, _ = add_walker()
    bake(armature)
    assert apart(turns_on(FRAMES, armature), at_rest(armature)) > 0.3
    assert not any("foot" in curve.data_path for curve in existing_fcurves(armature))


def test_the_armature_object_turns_it():
    armature, _, _ = add_walker(hand_rotation='WORLD')
    armature.matrix_world = Matrix.LocRotScale((1, 2, 3), Euler((0.3, -0.8, 2.0)), (1.7, 1.7, 1.7))
    bpy.context.view_layer.update()
    bake(armature)
    assert apart(turns_on(FRAMES, armature), at_rest(armature)) < NOISE


@pytest.mark.parametrize("mode", ['QUATERNION', 'YZX'])
def test_keys_made_by_hand_tilt_it(mode):
    armature, _, _ = add_walker(hand_rotation='WORLD')
    foot = armature.pose.bones["foot"]
    foot.rotation_mode = mode
    wanted = {1: Euler((0.0, 0.0, 0.0)), 12: Euler((0.5, -0.2, 0.1)), 24: Euler((0.0, 0.0, 0.0))}
    for frame, turned in wanted.items():
        foot.matrix_basis = turned.to_matrix().to_4x4()
        foot.keyframe_insert("rotation_quaternion" if mode == 'QUATERNION' else "rotation_euler", frame=frame)
    report = bake(armature)
    for frame, turned in wanted.items():
        expected = at_rest(armature) @ np.array(turned.to_matrix())
        assert apart(turns_on([frame], armature), expected) < NOISE
    count = 12 if mode == 'QUATERNION' else 9
    assert f"replaced {count} keys made by hand on 1 bone" in report.sentence()
    assert not any("by hand" in warning for warning in report.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("inherit", ['FULL', 'FIX_SHEAR', 'ALIGNED', 'AVERAGE', 'NONE', 'NONE_LEGACY'])
@pytest.mark.parametrize("stretch", [1.0, 1.5])
def test_whatever_scale_it_inherits(inherit, stretch):
    armature, target, chain = add_walker(hand_rotation='WORLD', stretch=stretch)
    armature.pose.bones["body"].scale = (1.2, 1.2, 1.2)
    for name in ("shin", "foot"):
        armature.data.bones[name].inherit_scale = 'ALIGNED' if name == "shin" else inherit
    target.keyframe_insert("location", frame=20)
    target.location = (0, -0.3, -0.5)
    target.keyframe_insert("location", frame=12)
    report = bake(armature)
    # Of a bone that is sheared its own direction counts.
    along = turns_on(FRAMES, armature)[..., 1] - at_rest(armature)[:, 1]
    assert np.linalg.norm(along, axis=1).max() < NOISE
    assert np.nanmax(report.chains[0].played.hands.off) < math.degrees(NOISE)
    if inherit != 'FULL' or stretch == 1.0:
        assert apart(turns_on(FRAMES, armature), at_rest(armature)) < NOISE
    assert chain.hands_posed == "foot"


# --- Following the target ----------------------------------------------------


def test_it_follows_the_rotation_of_an_object():
    armature, target, chain = add_walker()
    armature.matrix_world = Matrix.LocRotScale((0.1, 0, 0), Euler((0.0, 0.0, 0.4)), (-1.2, 1.2, 1.2))
    target.rotation_euler = (0.4, 0.3, -1.0)
    bpy.context.view_layer.update()
    rest, neutral = at_rest(armature), turn_of(target)
    chain.hand_rotation = 'TARGET'
    nod(target, {1: 0.4, 10: 1.2, 24: -0.6})
    bake(armature)
    for frame in FRAMES:
        expected = turns_on([frame], target, "") @ neutral.T @ rest
        assert apart(turns_on([frame], armature), expected) < NOISE


@pytest.mark.parametrize("order", ["setting first", "target first"])
def test_it_is_at_rest_where_the_target_stands_when_it_is_chosen(order):
    armature, target, chain = add_walker()
    chain.target = None
    target.rotation_euler = (0.2, 0.1, 0.5)
    if order == "setting first":
        chain.hand_rotation = 'TARGET'
        chain.target = target
    else:
        chain.target = target
        chain.hand_rotation = 'TARGET'
    bake(armature)
    assert apart(turns_on(FRAMES, armature), at_rest(armature)) < NOISE


@pytest.mark.parametrize("posed", [False, True])
def test_it_turns_as_a_bone_has_turned_from_rest(posed):
    armature, _, chain = add_walker()
    control = armature.pose.bones["control"]
    control.rotation_mode = 'XYZ'
    if posed:
        control.rotation_euler = (0.5, 0.5, 0.5)
    chain.target, chain.subtarget, chain.hand_rotation = armature, "control", 'TARGET'
    for frame, turned in ((1, (0, 0, 0)), (10, (-0.9, 0.3, 0)), (24, (0.4, 0, 0.8))):
        control.rotation_euler = turned
        control.keyframe_insert("rotation_euler", frame=frame)
    armature.rotation_euler = (0.2, 0.0, 1.0)
    bake(armature)
    for frame in FRAMES:
        turned = turns_on([frame], armature, "control")[0] @ at_rest(armature, "control").T
        assert apart(turns_on([frame], armature), turned @ at_rest(armature)) < NOISE


def test_a_target_that_the_armature_carries_turns_it_once():
    armature, target, chain = add_walker()
    target.parent = armature
    chain.hand_rotation = 'TARGET'
    armature.rotation_euler = (0.0, 0.0, 1.0)
    bake(armature)
    assert apart(turns_on(FRAMES, armature), at_rest(armature)) < NOISE


# --- Which bones -------------------------------------------------------------


def test_twist_bones_and_those_that_do_not_turn_along_are_left_alone():
    armature, _, chain = add_walker(hand_rotation='WORLD')
    armature.data.bones["foot"].use_inherit_rotation = False
    report = bake(armature)
    assert any("no bone hangs on the end of 'shin'" in warning for warning in report.warnings)
    assert not any("foot" in curve.data_path for curve in existing_fcurves(armature))


@pytest.mark.slow
def test_what_others_turn_is_left_alone_in_words():
    armature, target, _ = add_walker(hand_rotation='WORLD')
    constraint = armature.pose.bones["foot"].constraints.new('COPY_ROTATION')
    constraint.target = target
    words = "'foot' on its tip is left as it is: its constraint 'Copy Rotation' turns it"
    assert any(words in warning for warning in bake(armature).warnings)
    constraint.mute = True
    assert not any("left as it is" in warning for warning in bake(armature).warnings)
    add_chain(armature, "toes", add_target({1: (0, -0.4, 0.1)}, "Toes"), 2, name="ball")
    words = "'foot' on its tip is left as it is: it is of the chain 'ball'"
    assert any(words in warning for warning in bake(armature, ["shin"]).warnings)
    armature.ik2d.chains["ball"].enabled = False
    driver = armature.pose.bones["foot"].driver_add("rotation_quaternion", 1)
    assert any("drivers turn it" in warning for warning in bake(armature).warnings)
    assert driver.is_valid


# --- Locks -------------------------------------------------------------------


def best_off(armature, foot, free) -> float:
    """Return the least angle off rest, in the pose that is shown, over all turns about free axes (<= 2)."""
    held = turn_of(armature, "foot") @ np.array(foot.matrix_basis.to_quaternion().to_matrix()).T
    best, least = (0.0, 0.0), math.inf
    for width in (np.pi, 0.2, 0.02):  # each time round the best, more closely
        steps = np.linspace(-width, width, 37)
        for first in best[0] + steps:
            for second in best[1] + steps if len(free) > 1 else (0.0,):
                turned = Euler((0, 0, 0), foot.rotation_mode)
                for axis, angle in zip(free, (first, second), strict=False):
                    turned[axis] = angle
                off = apart(held @ np.array(turned.to_matrix()), at_rest(armature))
                if off < least:
                    found, least = (first, second), off
        best = found
    return least


@pytest.mark.slow
@pytest.mark.parametrize("free", [(0,), (2,), (0, 2)])
def test_locked_channels_stay_and_the_rest_does_its_best(free):
    armature, _, _ = add_walker(hand_rotation='WORLD', foot_roll=0.1)
    foot = armature.pose.bones["foot"]
    foot.rotation_mode = 'XYZ'
    foot.lock_rotation = [axis not in free for axis in range(3)]
    report = bake(armature)
    off = report.chains[0].played.hands.off
    assert any("'foot' is up to" in warning and "locks" in warning for warning in report.warnings)
    bpy.context.scene.frame_set(12)
    assert math.radians(off[11]) == pytest.approx(
        apart(turn_of(armature, "foot"), at_rest(armature)), abs=NOISE
    )
    assert math.radians(off[11]) < best_off(armature, foot, free) + 1e-3
    keyed = {c.array_index for c in existing_fcurves(armature) if '"foot"' in c.data_path}
    assert keyed == set(free)


def test_locked_axes_of_quaternions_and_a_hand_that_is_held():
    armature, _, _ = add_walker(hand_rotation='WORLD')
    foot = armature.pose.bones["foot"]
    foot.lock_rotation = (False, True, False)
    off = np.nanmax(bake(armature).chains[0].played.hands.off)
    assert 0.1 < off < 60.0
    keyed = {c.array_index for c in existing_fcurves(armature) if '"foot"' in c.data_path}
    assert keyed == {0, 1, 3}
    bpy.ops.ik2d.clear_bake()
    foot.lock_rotation = (True, True, True)
    report = bake(armature)
    assert np.nanmax(report.chains[0].played.hands.off) > off
    assert not any('"foot"' in curve.data_path for curve in existing_fcurves(armature))


# --- Keys --------------------------------------------------------------------


def keys_of(armature, bone: str) -> list[float]:
    """Return the frames of a bone's keys."""
    (frames,) = {
        tuple(point.co[0] for point in curve.keyframe_points)
        for curve in existing_fcurves(armature)
        if f'"{bone}"' in curve.data_path
    }
    return list(frames)


@pytest.mark.parametrize("size", [1.0, 10.0])
@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ'])
def test_reduced_keys_keep_it_within_the_bound(mode, size):
    armature, target, _ = add_walker(hand_rotation='WORLD')
    armature.pose.bones["foot"].rotation_mode = mode
    target.parent, armature.scale, bound = armature, (size, size, size), 0.005 * size
    bpy.context.view_layer.update()
    bake(armature, options=BakeOptions(reduce=bound, verify='ALL'))
    assert len(keys_of(armature, "foot")) < len(FRAMES) / 2
    halves = np.arange(2 * FRAMES[0], 2 * FRAMES[-1] + 1) / 2.0
    off = apart(turns_on(halves, armature), at_rest(armature))
    assert 0.1 * bound < off * size * armature.data.bones["foot"].length < bound


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_half_way_between_frames_it_stays_nearly_flat(mode):
    armature, _, _ = add_walker(hand_rotation='WORLD')
    armature.pose.bones["foot"].rotation_mode = mode
    bake(armature)
    halves = np.arange(FRAMES[0], FRAMES[-1]) + 0.5
    assert apart(turns_on(halves, armature), at_rest(armature)) < 0.01  # 0.02 to 0.05 with automatic handles


@pytest.mark.parametrize("frames", [(1, 24), (-12, -1), (-6, 6)])
def test_half_way_between_frames_its_rotation_is_measured(frames):
    armature, _target, _chain = add_walker(hand_rotation='WORLD')
    report = bake(armature, frame_start=frames[0], frame_end=frames[1])
    assert not any("off what was keyed" in warning for warning in report.warnings)
    told = report.chains[0].to_dict()
    known = [off for off in told["hands_between"] if off is not None]
    assert len(known) >= frames[1] - frames[0] and max(known) == pytest.approx(told["max_hands_off"], abs=0.1)


def test_it_is_keyed_where_its_chain_is():
    armature, _, _ = add_walker(hand_rotation='WORLD')
    bake(armature, step=5)
    assert keys_of(armature, "foot") == keys_of(armature, "shin") == [1, 6, 11, 16, 21, 24]
    assert apart(turns_on([1, 6, 11, 16, 21, 24], armature), at_rest(armature)) < NOISE
    bpy.ops.ik2d.clear_bake()
    bake(armature, options=BakeOptions(on_target_keys=True))
    assert keys_of(armature, "foot") == keys_of(armature, "shin") == [*STEPS]


def test_a_part_that_is_baked_again_goes_on_from_the_keys_before_it():
    armature, target, chain = add_walker()
    armature.pose.bones["foot"].rotation_mode = 'XYZ'
    chain.hand_rotation = 'TARGET'
    nod(target, {1: 0.0, 24: 9.0})
    bake(armature)
    before = animation_of(armature)
    bake(armature, frame_start=14, frame_end=20)
    after = animation_of(armature)
    for place, keys in before.items():
        there = [[key[1] for key in found] for found in (keys, after[place])]
        assert there[0] == pytest.approx(there[1], abs=1e-5)


def test_clear_bake_and_as_it_is_take_it_all_back():
    armature, _, chain = add_walker(hand_rotation='WORLD')
    rig = animation_of(armature)
    bake(armature)
    bpy.ops.ik2d.clear_bake()
    assert animation_of(armature) == rig
    bake(armature)
    chain.hand_rotation = 'NONE'
    bake(armature)
    assert not any("foot" in curve.data_path for curve in existing_fcurves(armature))
    assert tuple(armature.pose.bones["foot"].rotation_quaternion) == (1, 0, 0, 0)
    assert chain.hands_posed == ""


def test_clear_bake_finds_a_foot_that_was_renamed():
    armature, _, _ = add_walker(hand_rotation='WORLD')
    bake(armature)
    armature.data.bones["foot"].name = "paw"
    bpy.ops.ik2d.clear_bake()
    assert not any("paw" in curve.data_path for curve in existing_fcurves(armature))


def test_as_it_is_puts_back_what_a_solve_has_turned():
    armature, _, chain = add_walker(hand_rotation='WORLD')
    solve(armature)
    assert tuple(armature.pose.bones["foot"].rotation_quaternion) != (1, 0, 0, 0)
    chain.hand_rotation = 'NONE'
    assert tuple(armature.pose.bones["foot"].rotation_quaternion) == (1, 0, 0, 0)


def test_a_bake_that_fails_changes_nothing():
    armature, _, chain = add_walker(hand_rotation='WORLD')
    foot = armature.pose.bones["foot"]
    foot.keyframe_insert("rotation_quaternion", frame=3)
    curve = next(c for c in existing_fcurves(armature) if "foot" in c.data_path)
    curve.lock = True
    before = animation_of(armature)
    with pytest.raises(IK2DError, match="foot.*is locked"):
        bake(armature)
    assert animation_of(armature) == before
    assert chain.hands_posed == ""


def test_what_turns_it_beside_the_keys_is_told():
    armature, target, _ = add_walker(hand_rotation='WORLD')
    constraint = armature.pose.bones["foot"].constraints.new('COPY_ROTATION')
    constraint.target = target
    for frame, influence in ((1, 0.0), (10, 0.0), (11, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    report = bake(armature)
    assert any("Blender plays 'foot' back up to" in warning for warning in report.warnings)
    assert np.nanmax(report.chains[0].played.hands.off) > 1.0


# --- The same in all ways ----------------------------------------------------


def test_influence_blends_with_its_own_rotation():
    armature, _, chain = add_walker(hand_rotation='WORLD')
    chain.influence = 0.0
    bake(armature)
    bpy.context.scene.frame_set(12)
    assert apart(np.array(armature.pose.bones["foot"].matrix_basis.to_3x3()), np.eye(3)) < NOISE
    bpy.ops.ik2d.clear_bake()
    chain.influence = 0.5
    bake(armature)
    bpy.context.scene.frame_set(12)
    half = armature.pose.bones["foot"].matrix_basis.to_quaternion()
    held = turn_of(armature, "foot") @ np.array(half.to_matrix()).T
    whole = np.array((half @ half).to_matrix())
    assert apart(held @ whole, at_rest(armature)) < NOISE


@pytest.mark.parametrize("setting", ['WORLD', 'TARGET'])
@pytest.mark.parametrize("solver", ['AUTO', 'CCD'])
def test_solve_live_and_drag_show_what_a_bake_keys(setting, solver):
    armature, target, chain = add_walker(solver=solver, start_from='REST', hand_rotation=setting)
    nod(target, {1: 0.0, 24: 1.0}, axis=1)
    chain.live = True
    live = turns_on(FRAMES, armature)
    chain.live = False
    bpy.context.scene.frame_set(9)
    solve(armature)
    solved = turn_of(armature, "foot")
    drag = take_hold(bpy.context.scene, armature, chain.name)
    drag.to((0.0, 0.0))
    dragged = turn_of(armature, "foot")
    armature.pose.bones["foot"].rotation_quaternion = (1, 0, 0, 0)
    bake(armature)
    baked = turns_on(FRAMES, armature)
    assert apart(live, baked) < NOISE
    assert apart(solved, baked[8]) < NOISE
    assert apart(dragged, baked[8]) < NOISE


def test_a_chain_that_hangs_on_the_foot_comes_after_it():
    armature, _, chain = add_walker(hand_rotation='WORLD')
    toes = add_chain(armature, "toes", add_target({1: (0.05, -0.8, 0.2), 24: (0.05, -0.6, -0.4)}, "Toes"), 1)
    toes.plane = 'X'
    chain.live = toes.live = True
    live = turns_on(FRAMES, armature, "toes")
    report = bake(armature)
    assert not any(plays_back_worse(chain) for chain in report.chains)
    assert apart(turns_on(FRAMES, armature), at_rest(armature)) < NOISE
    assert apart(turns_on(FRAMES, armature, "toes"), live) < NOISE
    assert apart(live, live[0]) > 0.3


def test_live_follows_a_target_that_only_turns():
    armature, target, chain = add_walker()
    target.animation_data_clear()
    target.location = STEPS[1]
    chain.hand_rotation, chain.live = 'TARGET', True
    bpy.context.view_layer.update()
    before = turn_of(armature, "foot")
    target.rotation_euler = (0.7, 0.0, 0.0)
    bpy.context.view_layer.update()
    expected = np.array(Euler((0.7, 0, 0)).to_matrix()) @ before
    assert apart(turn_of(armature, "foot"), expected) < NOISE
    chain.hand_rotation = 'WORLD'
    bpy.context.view_layer.update()
    assert apart(turn_of(armature, "foot"), at_rest(armature)) < NOISE


def test_a_live_chain_follows_a_disabled_target():
    armature, target, chain = add_walker(hand_rotation='TARGET', live=True)
    nod(target, {1: 0.0, 24: 1.0}, axis=1)
    shown = turns_on(FRAMES, armature)
    target.hide_viewport = True
    assert apart(turns_on(FRAMES, armature), shown) < NOISE
    assert not chain.live_status.startswith("Live was")


def test_a_drag_that_is_cancelled_puts_it_back():
    armature, _, chain = add_walker(hand_rotation='WORLD')
    foot = armature.pose.bones["foot"]
    foot.rotation_quaternion = (0.6, 0.8, 0, 0)
    drag = take_hold(bpy.context.scene, armature, chain.name)
    drag.to((0.2, 0.1))
    assert tuple(foot.rotation_quaternion) != pytest.approx((0.6, 0.8, 0, 0))
    assert chain.hands_posed == "foot"
    drag.put_back()
    assert tuple(foot.rotation_quaternion) == pytest.approx((0.6, 0.8, 0, 0))
    assert chain.hands_posed == ""


# --- The setting -------------------------------------------------------------


def test_it_is_copied_mirrored_and_in_presets():
    armature, target, chain = add_walker(hand_rotation='TARGET')
    other = add_chain(armature, "twist", target, 1)
    copy_settings(chain, [other])
    assert other.hand_rotation == 'TARGET' and "hand_rotation" in VALUES
    arm = add_armature(
        {
            f"{name}.{side}": (
                (x * a, 0, 0),
                (x * b, 0.1 * (name == "upper"), 0),
                parent and f"{parent}.{side}",
                0,
            )
            for side, x in (("L", 1), ("R", -1))
            for name, a, b, parent in (("upper", 0, 1, ""), ("fore", 1, 2, "upper"), ("hand", 2, 2.3, "fore"))
        },
        "Arms",
    )
    left = add_chain(arm, "fore.L", add_target({1: (1.5, 0.3, 0)}, "Aim.L"), 2, hand_rotation='WORLD')
    assert mirror_chain(arm, left).hand_rotation == 'WORLD'
    bake(arm, frame_start=1, frame_end=2)
    assert apart(turns_on([1], arm, "hand.R"), at_rest(arm, "hand.R")) < NOISE


def test_add_foot_is_greyed_with_a_reason_where_nothing_hangs_on_the_tip():
    armature, target, chain = add_walker()
    add_chain(armature, "twist", target, 1)
    why_not = IK2D_OT_foot_add.why_not
    armature.ik2d.active_index = 1
    assert why_not(bpy.context) == "No bone hangs on the end of 'twist' that could be a foot"
    armature.ik2d.active_index = 0
    assert why_not(bpy.context) == "" and bpy.ops.ik2d.foot_add() == {'FINISHED'}
    assert chain.foot.is_added and why_not(bpy.context) == f"Chain '{chain.name}' has a foot already"


@pytest.mark.parametrize("change", ["setting", "key", "target's turn"])
def test_a_bake_knows_that_it_is_stale(change):
    armature, target, chain = add_walker(hand_rotation='TARGET')
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.bake()
    assert bake_is_stale(armature, bpy.context.scene) == ""
    if change == "setting":
        chain.hand_rotation = 'WORLD'
    elif change == "key":
        curve = next(c for c in existing_fcurves(armature) if "foot" in c.data_path)
        curve.keyframe_points[3].co[1] += 0.1
    else:
        nod(target, {1: 0.3})
    assert bake_is_stale(armature, bpy.context.scene) != ""


@pytest.mark.slow
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_live_is_right_in_plain_matrices_and_by_the_bakes_way(mode, plain):
    armature, target, chain = add_walker()
    foot = armature.pose.bones["foot"]
    foot.rotation_mode = mode
    if not plain:
        armature.data.bones["foot"].inherit_scale = 'AVERAGE'
    armature.matrix_world = Matrix.LocRotScale((1, 0, 0), Euler((0.2, 0.1, 0.9)), (-1.4, 1.4, 1.4))
    bpy.context.view_layer.update()
    chain.hand_rotation = 'TARGET'
    nod(target, {1: 0.0, 24: 1.3})
    chain.live = True
    live = turns_on(FRAMES, armature)
    assert (RIGS.chains[key_of(chain)]._held.plain_hands is not None) == plain
    bake(armature)
    assert apart(turns_on(FRAMES, armature), live) < NOISE


@pytest.mark.parametrize("what", ["uneven scale", "keys made by hand", "influence"])
def test_live_leaves_plain_matrices_where_these_do_not_do(what):
    armature, _, chain = add_walker(hand_rotation='WORLD', live=True)
    foot = armature.pose.bones["foot"]
    if what == "uneven scale":
        armature.pose.bones["shin"].scale = (1.0, 1.5, 1.0)
    elif what == "influence":
        chain.influence = 0.6
    else:
        for frame, angle in ((1, 0.0), (24, 0.8)):
            foot.rotation_quaternion = Euler((angle, 0, 0)).to_quaternion()
            foot.keyframe_insert("rotation_quaternion", frame=frame)
    live = turns_on(FRAMES, armature)
    bake(armature)
    assert apart(turns_on(FRAMES, armature), live) < NOISE
