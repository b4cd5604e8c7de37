# SPDX-License-Identifier: GPL-3.0-or-later
"""Straight chains: the plane through the chain and its target's path, else an axis of the first bone."""

from math import cos, sin

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import add_armature, add_chain, add_target, but_jumps, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain

FRAMES = 20


def straight(count=3, roll=0.0, **settings):
    """Return a straight chain that hangs down from (0, 0, 3), below a body, and its settings."""
    bones = {"body": ((0, 0, 3), (0, 0, 4), "", 0.0)}
    parent = "body"
    for i in range(count):
        bones[f"b{i}"] = ((0, 0, 3 - i), (0, 0, 2 - i), parent, roll)
        parent = f"b{i}"
    armature = add_armature(bones)
    return armature, add_chain(armature, parent, None, bone_count=count, **settings)


def swinging(direction, off=0.0, seed=1):
    """Return a target that swings within reach in the plane of the chain's line and a direction."""
    random = np.random.default_rng(seed)
    side, across = Vector(direction).normalized(), Vector(direction).cross((0, 0, 1)).normalized()
    keys = {}
    for frame in range(1, FRAMES + 1):
        angle, radius = float(random.uniform(-1.5, 1.5)), float(random.uniform(1.0, 2.8))
        place = Vector((0, 0, 3)) + radius * (sin(angle) * side - cos(angle) * Vector((0, 0, 1)))
        keys[frame] = place + off * across
    return add_target(keys)


def measured(armature, chain):
    """Return the evaluated distances on all frames."""
    found = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        found.append((evaluated_tip(armature, chain.tip) - chain.target.matrix_world.translation).length)
    return np.array(found)


def bake_all(armature, **options):
    return bake(armature, frame_start=1, frame_end=FRAMES, options=BakeOptions(verify='ALL', **options))


# --- Through the target's path ----------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("degrees", [0, 20, 45, 90, 135, 250])
def test_a_straight_chain_follows_a_target_in_any_plane_through_it(count, degrees):
    armature, chain = straight(count, roll=0.3)
    turn = Quaternion((0, 0, 1), np.radians(degrees))
    chain.target = swinging(turn @ Vector((1, 0, 0)))
    chain.target.location *= count / 3
    scale_path(chain.target, count / 3)
    report = bake_all(armature)
    on_circle = count == 1  # one bone reaches a circle alone
    assert on_circle or (report.all_reached and not but_jumps(report.warnings))
    assert on_circle or measured(armature, chain).max() <= 1e-5 * report.chains[0].standard.reach
    assert report.chains[0].off_plane.max() <= 1e-5 * report.chains[0].standard.reach


def scale_path(target, factor):
    """Scale a target's path about the chain's root."""
    from ik2d_addon.rig.animation.versions import existing_fcurves

    for curve in existing_fcurves(target):
        base = 3.0 if curve.array_index == 2 else 0.0
        for key in curve.keyframe_points:
            key.co.y = base + factor * (key.co.y - base)
        curve.update()


def test_it_follows_also_below_a_body_that_turns_and_moves():
    armature, chain = straight()
    chain.target = swinging((1, 1, 0))
    chain.target.parent = armature
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame, angle in ((1, 0.0), (FRAMES, 0.4)):
        body.rotation_euler = (0.0, angle, 0.0)  # about the chain's line: the plane turns along
        body.keyframe_insert("rotation_euler", frame=frame)
    armature.rotation_euler = (0.3, 0.5, 0.7)
    report = bake_all(armature)
    expected = np.hypot(report.chains[0].residual, report.chains[0].off_plane)
    assert np.abs(measured(armature, chain) - expected).max() <= 1e-5 * report.chains[0].standard.reach
    assert report.chains[0].circumstances.plane == "through the target's path"


@pytest.mark.slow
def test_a_path_somewhat_off_every_plane_takes_the_nearest_one():
    armature, chain = straight()
    chain.target = swinging((1, 1, 0), off=0.1)
    report = bake_all(armature)
    assert report.chains[0].off_plane.max() <= 0.2
    plane_of_x = bake_with(armature, chain, 'X')
    assert report.chains[0].off_plane.max() < 0.3 * plane_of_x.chains[0].off_plane.max()


def bake_with(armature, chain, plane):
    chain.plane = plane
    return bake_all(armature)


def test_solve_takes_the_plane_through_the_target_as_it_stands():
    armature, chain = straight()
    chain.target = swinging((1, 2, 0))
    bpy.context.scene.frame_set(7)
    report = solve(armature)
    assert report.all_reached and report.chains[0].circumstances.plane == "through the target's path"
    bpy.context.view_layer.update()
    tip = evaluated_tip(armature, chain.tip)
    assert (tip - chain.target.matrix_world.translation).length < 2e-5


# --- Else the first bone's X, or Z ------------------------------------------------------------------


def test_a_target_on_the_chains_line_takes_the_first_bones_x_as_do_paths_in_its_plane():
    for side in ((0, 0, 0), (0, 1, 0)):
        armature, chain = straight()
        root = armature.data.bones["b0"].matrix_local.col[0].xyz
        assert abs(root.x) > 1 - 1e-6
        place = Vector((0, 0, 1.5)) + 0.5 * Vector(side)
        chain.target = add_target({1: place, FRAMES: place})
        report = bake_all(armature)
        assert report.all_reached
        assert report.chains[0].circumstances.plane == "first bone's X"


def test_where_x_points_along_the_chain_z_is_taken():
    """Bones side by side along their own X, as the teeth of a comb: an error without a way out before."""
    armature = add_armature(
        {
            "a": ((0, 0, 0), (0, 1, 0), "", 0.0),
            "b": ((1, 0, 0), (1, 1, 0), "a", 0.0),
            "c": ((2, 0, 0), (2.5, 0, 0), "b", 0.0),
        }
    )
    assert abs(armature.data.bones["a"].matrix_local.col[0].x) > 1 - 1e-6
    chain = add_chain(armature, "c", add_target({1: (2.0, 0, 0)}), bone_count=3)
    rig = read_chain(armature, chain)
    assert abs(rig.plane.normal[2]) > 1 - 1e-6
    report = bake_all(armature)
    assert report.chains[0].circumstances.plane == "first bone's Z" and report.all_reached
    assert measured(armature, chain).max() <= 1e-5 * report.chains[0].standard.reach


def test_a_bent_chain_keeps_the_plane_of_its_bend():
    armature, _target = leg_with_target()
    assert bake(armature, frame_start=1, frame_end=5).chains[0].circumstances.plane == "rest pose's bend"


# --- Shown and stored -------------------------------------------------------------------------------


def test_what_was_taken_is_stored_on_the_chain_until_the_plane_is_changed():
    armature, chain = straight()
    chain.target = swinging((1, 1, 0))
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_end = FRAMES
    bpy.ops.ik2d.bake()
    assert chain.plane_taken == "through the target's path"
    assert not type(chain).bl_rna.properties["plane_taken"].is_animatable
    chain.plane = 'X'
    assert chain.plane_taken == ""


# --- A target off the plane: one click --------------------------------------------------------------


def off_plane(armature):
    return bake_all(armature).chains[0].off_plane.max()


@pytest.mark.slow
@pytest.mark.parametrize(
    "direction, expected", [((0, 1, 0), 'AUTO'), ((1, 0, 0), 'Y'), ((1, 1, 0), 'CUSTOM')]
)
def test_the_plane_is_turned_to_where_the_target_is(direction, expected):
    """A leg that bends to the front, and a target that goes elsewhere."""
    armature = add_armature(
        {
            "b0": ((0, 0, 3), (0, 0.02, 2), "", 0.0),
            "b1": ((0, 0.02, 2), (0, 0, 1), "b0", 0.0),
        }
    )
    chain = add_chain(armature, "b1", swinging(direction), plane='Z' if expected == 'AUTO' else 'AUTO')
    scale_path(chain.target, 0.6)
    before = off_plane(armature)
    assert before > 0.1
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_end = FRAMES
    bpy.context.scene.frame_set(3)
    assert bpy.ops.ik2d.mend(way='PLANE_TO_TARGET') == {'FINISHED'}
    assert chain.plane == expected
    assert bpy.context.scene.frame_current == 3
    assert off_plane(armature) < 0.02 * before
    assert not [w for w in bake_all(armature).warnings if "off the" in w]


def test_the_custom_plane_holds_after_saving(tmp_path):
    armature, chain = straight(2)
    chain.target = swinging((1, 1, 0))
    chain.plane, chain.plane_normal = 'CUSTOM', (1, 2, 0)
    path = str(tmp_path / "custom.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Rig"]
    normal = read_chain(armature, armature.ik2d.chains[0]).plane.normal
    assert np.abs(normal - np.array((1, 2, 0)) / 5**0.5).max() < 1e-6
    armature.ik2d.chains[0].plane_normal = (0, 0, 0)
    with pytest.raises(IK2DError, match="normal"):
        read_chain(armature, armature.ik2d.chains[0])
