# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain on a post copied to others, and mirrored: it stands in the mirrored pose, on a post of its own."""

from math import radians

import bpy
import numpy as np
import pytest
from post_rigs import add_post_chain
from rigs import add_armature, add_target

from ik2d_addon.bake import solve
from ik2d_addon.chains import mirror_chain
from ik2d_addon.features.setup.copying import copy_settings
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.posts import chain_of_post, post_space, solved_post
from ik2d_addon.rig.scene.sampler import sample_now

MIRROR = np.array([-1.0, 1.0, 1.0])
BONES = ("base", "upper", "lower")


def arms(shape="bent", leaning=0.0, rolls=(0.4, 1.3), shared=False) -> bpy.types.Object:
    """Add an arm on a base to either side, whose rolls are no mirror images.

    shape: "bent", "straight", or "upright" where the arms are straight on their bases' axes. leaning: of the
    bases to the outside. shared: whether both are on one base in the middle.
    """
    bones = {"body": ((0, 0, 0), (0, 0, 0.3), "", 0.0)}
    for side, sign, roll in (("L", 1.0, rolls[0]), ("R", -1.0, rolls[1])):
        base, x = ("body" if shared else f"base.{side}"), sign * 0.6
        if not shared:
            bones[base] = ((x, 0, 0.3), (x + sign * leaning, 0, 0.6), "body", roll)
        knee, hand = (x + sign * 0.1, 0.2, 1.3), (x + sign * 0.3, 0.8, 1.1)
        shoulder = (x, 0.1, 0.5)
        if shape == "upright":
            shoulder, knee = (x, 0, 0.5), (x, 0, 1.3)
        if shape != "bent":
            hand = tuple(2.0 * np.array(knee) - shoulder)
        bones[f"upper.{side}"] = (shoulder, knee, base, roll)
        bones[f"lower.{side}"] = (knee, hand, f"upper.{side}", -roll)
    armature = add_armature(bones)
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    return armature


def arm(armature, side="L", post="base.L", axis='Y', place=(1.1, -0.5, 0.9)):
    """Add the chain of a side, with a target in a place."""
    bpy.context.view_layer.objects.active = armature
    target = add_target({}, f"Hand.{side}")
    target.location = place
    bpy.context.view_layer.update()
    chain = add_post_chain(armature, f"lower.{side}", 2, target, post, axis)
    chain.name = f"arm.{side}"
    return chain


def posed(armature, chain):
    """Turn the post of a chain for its target now, and pose all chains; return whether its tip is there."""
    bpy.context.view_layer.update()
    rig, scene = read_chain(armature, chain), bpy.context.scene
    own = sample_now(scene, [chain_of_post(rig)]).chains[0]
    space = post_space(scene, rig, own, [scene.frame_float])
    (angle,) = solved_post(rig, sample_now(scene, [rig]).chains[0], space).angles
    armature.pose.bones[rig.post.bone].rotation_euler[rig.post.rule.axis] = angle
    bpy.context.view_layer.update()
    solve(armature, [chain.name])
    bpy.context.view_layer.update()
    return (tails(armature, chain.name[-1])[-1] - chain.target.matrix_world.translation).length < 1e-5


def tails(armature, side, names=("upper", "lower")):
    """Return the evaluated tails of bones of a side in the world."""
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return [armature.matrix_world @ shown[f"{name}.{side}"].tail for name in names]


@pytest.mark.parametrize("shape", ["bent", "straight", "upright"])
@pytest.mark.parametrize("side, bend", [('POSITIVE', 'POSITIVE'), ('NEGATIVE', 'NEGATIVE')])
@pytest.mark.parametrize("axis, leaning", [('Y', 0.0), ('Y', 0.1), ('X', 0.0), ('Z', 0.0)])
def test_the_mirrored_chain_turns_about_its_own_post_into_the_mirrored_pose(shape, side, bend, axis, leaning):
    armature = arms(shape, leaning, rolls=(0.0, 0.0) if axis != 'Y' else (0.4, 1.3))
    chain = arm(armature, axis=axis)
    chain.post_side, chain.bend = side, bend
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    chain, other = armature.ik2d.chains
    assert (other.plane, other.post, other.post_axis) == ('POST', "base.R", axis)
    assert other.target.name == "Hand.R"
    reached = [posed(armature, each) for each in (chain, other)]
    assert reached == [axis == 'Y' or reached[0]] * 2
    assert np.abs(np.array(tails(armature, "R")) - MIRROR * tails(armature, "L")).max() < 1e-5


@pytest.mark.parametrize(
    "axis, rolls",
    [
        *(("Y", rolls) for rolls in ((0.0, 0.0), (0.4, 1.3))),
        *((axis, (0.0, roll)) for axis in "XZ" for roll in (0.0, radians(180))),
    ],
)
def test_the_limits_of_the_post_are_mirrored(rolls, axis):
    armature = arms(rolls=rolls)
    chain = arm(armature, axis=axis)
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -0.2, 0.5
    other = mirror_chain(armature, chain)
    limits = other.post_limit_min, other.post_limit_max
    assert limits == pytest.approx((-0.2, 0.5)) or limits == pytest.approx((-0.5, 0.2))
    at_end = limits[0] if limits[1] == pytest.approx(0.2) else limits[1]
    for side, angle in (("L", 0.5), ("R", at_end)):
        armature.pose.bones[f"base.{side}"].rotation_euler["XYZ".index(axis)] = angle
    bpy.context.view_layer.update()
    assert np.abs(np.array(tails(armature, "R")) - MIRROR * tails(armature, "L")).max() < 1e-5


def test_mirrored_again_the_posts_settings_follow():
    armature = arms()
    arm(armature)
    bpy.ops.ik2d.mirror()
    armature.ik2d.active_index = 0
    chain, other = armature.ik2d.chains
    chain.post_side, chain.post_reach_over = 'NEGATIVE', True
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    assert len(armature.ik2d.chains) == 2
    assert (other.post, other.post_side, other.post_reach_over) == ("base.R", 'NEGATIVE', True)


def test_of_two_arms_on_one_base_the_mirrored_one_keeps_its_plane_and_it_is_said(capfd):
    armature = arms(shared=True)
    arm(armature, post="body")
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    other = armature.ik2d.chains[1]
    assert (other.plane, other.post) == ('AUTO', "")
    words = "Bends In stays on those without a pole or post of their own: 'lower.R'"
    assert words in capfd.readouterr().out
    read_chain(armature, other)


def test_a_chain_that_has_no_post_yet_is_not_mirrored():
    armature = arms("straight")
    arm(armature, post="")
    with pytest.raises(RuntimeError, match="it has no post"):
        bpy.ops.ik2d.mirror()
    assert len(armature.ik2d.chains) == 1


def test_settings_are_copied_to_the_bone_that_carries_another_chain_in_the_same_way(capfd):
    armature = arms()
    chain = arm(armature)
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, 1.0, 2.0
    other = arm(armature, "R", "", 'AUTO')
    other.plane, other.post_limit_max = 'AUTO', 0.5
    armature.ik2d.active_index = 0
    assert bpy.ops.ik2d.copy_settings() == {'FINISHED'}
    assert (other.plane, other.post, other.post_axis) == ('POST', "base.R", 'Y')
    assert (other.use_post_limit, other.post_limit_min, other.post_limit_max) == (True, 1.0, 2.0)
    assert "Bends In" not in capfd.readouterr().out


def test_a_chain_on_the_same_post_keeps_its_plane_and_its_normal_and_it_is_said(capfd):
    armature = arms(shared=True)
    chain = arm(armature, post="body")
    chain.softness = 0.25
    other = arm(armature, "R", "", 'AUTO')
    other.plane, other.plane_normal = 'CUSTOM', (0.0, 1.0, 0.5)
    armature.ik2d.active_index = 0
    assert bpy.ops.ik2d.copy_settings() == {'FINISHED'}
    assert (other.plane, other.post, other.softness) == ('CUSTOM', "", 0.25)
    assert tuple(other.plane_normal) == (0.0, 1.0, 0.5)
    assert "Copied settings to 1 chain; Bends In stays on those" in capfd.readouterr().out


def test_a_normal_that_was_never_set_does_not_count_on_a_copy():
    armature = arms("straight")
    chain, other = arm(armature), arm(armature, "R", "base.R")
    other.plane_normal = (0.0, 0.0, 1.0)
    copy_settings(armature.ik2d.chains[0], [other])
    assert not chain.is_property_set("plane_normal") and not other.is_property_set("plane_normal")


@pytest.mark.parametrize("seed", range(12))
def test_any_arm_is_mirrored_into_the_mirrored_pose(seed):
    rng = np.random.default_rng(seed)
    foot, head = rng.normal(size=3) + (3, 0, 0), rng.normal(size=3)
    places = [foot, foot + 0.4 * head / np.linalg.norm(head)]
    across = np.cross(head, rng.normal(size=3)) + rng.uniform(-0.3, 0.3) * head  # of the plane
    x = np.cross(across, rng.normal(size=3))
    y = np.cross(across, x)
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    heading, root = rng.uniform(-3, 3), places[1] + rng.uniform(-0.3, 0.3, 3)
    places += [root]
    for _ in range(2):
        places += [places[-1] + rng.uniform(0.5, 1.0) * (np.cos(heading) * x + np.sin(heading) * y)]
        heading += rng.uniform(0.3, 0.9)
    bones = {}
    for side, sign in (("L", MIRROR * MIRROR), ("R", MIRROR)):
        ends = [tuple(sign * place) for place in places]
        bones[f"base.{side}"] = (ends[0], ends[1], "", rng.uniform(-3, 3))
        bones[f"upper.{side}"] = (ends[2], ends[3], f"base.{side}", rng.uniform(-3, 3))
        bones[f"lower.{side}"] = (ends[3], ends[4], f"upper.{side}", rng.uniform(-3, 3))
    armature = add_armature(bones)
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    chain = arm(armature, place=root + rng.normal(size=3) * 0.5)
    chain.post_side = str(rng.choice(['POSITIVE', 'NEGATIVE']))
    chain.bend = str(rng.choice(['POSITIVE', 'NEGATIVE']))
    mirror_chain(armature, chain)
    for each in armature.ik2d.chains:
        posed(armature, each)
    assert np.abs(np.array(tails(armature, "R")) - MIRROR * tails(armature, "L")).max() < 2e-5


def test_a_first_bone_that_is_the_post_too_has_its_counterpart():
    armature = arms()
    arm(armature, post="upper.L")
    other = mirror_chain(armature, armature.ik2d.chains[0])
    assert (other.plane, other.post) == ('POST', "upper.R")
    other.plane, other.post = 'AUTO', ""
    copy_settings(armature.ik2d.chains[0], [other])
    assert (other.plane, other.post) == ('POST', "upper.R")
