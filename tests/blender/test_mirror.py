# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain mirrored to the other side follows the mirrored target with the mirrored pose."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, evaluated_tip, settings_of

from ik2d_addon.bake import solve
from ik2d_addon.chains import add_foot, mirror_chain
from ik2d_addon.features.native import is_native, make_native
from ik2d_addon.features.setup.copying import copy_settings

MIRROR = np.array([-1.0, 1.0, 1.0])
HIP, KNEE = (0, 0, 2), (0, -0.1, 1)


def legs(front: bool, straight: bool = False, roll: float = 0.0) -> bpy.types.Object:
    """Add two legs, bent forward, or to the outside where they are seen from the front."""
    bones = {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        out = 0.0 if straight else 0.2
        knee = (sign * (0.5 + out), 0.0, 1.0) if front else (sign * 0.5, -out, 1.0)
        foot = (sign * 0.5, 0.0, 0.1)
        bones[f"thigh.{side}"] = ((sign * 0.5, 0.0, 2.0), knee, "", sign * roll)
        bones[f"shin.{side}"] = (knee, foot, f"thigh.{side}", sign * roll)
    return add_armature(bones)


def joints(armature, side) -> np.ndarray:
    """Return the evaluated heads and the tip of a leg (3, 3)."""
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    points = [bones[f"thigh.{side}"].head, bones[f"shin.{side}"].head, bones[f"shin.{side}"].tail]
    return np.array([tuple(armature.matrix_world @ point) for point in points])


@pytest.mark.parametrize("plane", ['AUTO', 'X', 'Y', 'CUSTOM'])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_the_mirrored_chain_stands_in_the_mirrored_pose(plane, limited, bend):
    front = plane != 'X'
    armature = legs(front, roll=0.3)
    place = (0.7, 0.0, 0.5) if front else (0.5, -0.3, 0.6)
    chain = add_chain(armature, "shin.L", add_target({}, "Foot.L"), plane=plane, bend=bend, softness=0.1)
    chain.target.location = place
    if plane == 'CUSTOM':
        chain.plane_normal = (0.0, -1.0, 0.0)
    if limited:
        joint = chain.joints[1]
        joint.use_limit, joint.limit_min, joint.limit_max = True, -0.3, 0.5
        chain.joints[0].weight = 0.5
    bpy.context.view_layer.update()
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    chain, other = armature.ik2d.chains
    assert (other.tip, other.bone_count, other.target.name) == ("shin.R", 2, "Foot.R")
    assert np.allclose(other.target.location, MIRROR * place, atol=1e-6)
    assert other.softness == chain.softness and other.joints[0].weight == chain.joints[0].weight
    bpy.context.view_layer.update()
    solve(armature)
    assert np.abs(joints(armature, "R") - MIRROR * joints(armature, "L")).max() < 1e-5
    assert np.abs(joints(armature, "L")[2] - place).max() < 0.1 or limited


def arms(count: int, straight: bool) -> bpy.types.Object:
    """Add two arms of so many bones in the plane y = 0."""
    places = [(1.0, 3.0), (2.0, 3.3), (3.0, 3.2), (3.7, 2.8), (4.2, 2.2)]
    if straight:
        places = [(1.0 + 0.9 * i, 3.0) for i in range(5)]
    bones = {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for i in range(count):
            ends = [(sign * x, 0.0, z) for x, z in places[i : i + 2]]
            bones[f"b{i}.{side}"] = (*ends, f"b{i - 1}.{side}" if i else "", 0.0)
    return add_armature(bones)


@pytest.mark.parametrize("plane", ['AUTO', 'Y', 'CUSTOM'])
@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
@pytest.mark.parametrize(
    "count, solver",
    [(2, 'AUTO'), (2, 'EVEN'), (2, 'CCD'), (3, 'EVEN'), (3, 'ARC'), (3, 'CCD'), (4, 'AUTO'), (4, 'CCD')],
)
def test_a_mirrored_arm_bends_to_its_own_side_whatever_solves_it(count, solver, bend, straight, plane):
    armature = arms(count, straight)
    target = add_target({}, "Hand.L")
    target.location = (1.8, 0.0, 2.2)
    bpy.context.view_layer.update()
    chain = add_chain(armature, f"b{count - 1}.L", target, count, bend=bend, solver=solver)
    chain.plane, chain.plane_normal = plane, (0.0, -1.0, 0.0)
    mirror_chain(armature, chain)
    bpy.context.view_layer.update()
    solve(armature)
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    tails = [np.array([posed[f"b{i}.{side}"].tail for i in range(count)]) for side in "LR"]
    assert np.abs(tails[1] - MIRROR * tails[0]).max() < 1e-3 * count
    assert np.abs(tails[0][0] - tails[0][-1]).max() > 0.1 or count == 2


@pytest.mark.parametrize("plane", ['AUTO', 'Y', 'CUSTOM'])
def test_a_last_bone_that_has_an_angle_has_the_mirrored_one(plane):
    armature = arms(3, straight=False)
    place = (1.8, 0.0, 2.2)
    target = add_target({}, "Hand.L")
    target.location = place
    bpy.context.view_layer.update()
    chain = add_chain(armature, "b2.L", target, 3, tip_rotation='WORLD', tip_angle_offset=0.4)
    chain.plane, chain.plane_normal = plane, (0.0, -1.0, 0.0)
    mirror_chain(armature, chain)
    bpy.context.view_layer.update()
    assert solve(armature).all_reached
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    tails = [np.array([posed[f"b{i}.{side}"].tail for i in range(3)]) for side in "LR"]
    assert np.abs(tails[1] - MIRROR * tails[0]).max() < 1e-5
    assert np.abs(tails[0][2] - place).max() < 1e-5


@pytest.mark.parametrize("plane", ['SWING', 'POLE', 'ARC'])
@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_a_plane_that_follows_is_mirrored_whatever_the_bones_rolls(plane, straight, bend):
    bones = {}
    for side, sign, roll in (("L", 1.0, 0.3), ("R", -1.0, 1.7)):
        knee = (sign * 0.5, -0.1 if not straight else 0.0, 1.0)
        bones[f"thigh.{side}"] = ((sign * 0.5, 0.0, 2.0), knee, "", roll)
        bones[f"shin.{side}"] = (knee, (sign * 0.5, 0.0, 0.1), f"thigh.{side}", -roll)
    armature = add_armature(bones)
    chain = add_chain(armature, "shin.L", add_target({}, "Foot.L"), plane=plane, bend=bend)
    chain.target.location = place = (0.9, -0.4, 0.7)
    chain.pole, chain.pole_angle = add_target({}, "Knee.L"), 0.8
    chain.pole.location = pole = (1.4, -2.0, 1.2)
    chain.plane_normal = (1.0, 0.2, 0.1)
    bpy.context.view_layer.update()
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    chain, other = armature.ik2d.chains
    if plane == 'POLE':
        assert other.pole.name == "Knee.R" and np.allclose(other.pole.location, MIRROR * pole, atol=1e-6)
    bpy.context.view_layer.update()
    solve(armature)
    assert np.abs(joints(armature, "L")[2] - place).max() < 1e-5
    assert np.abs(joints(armature, "R") - MIRROR * joints(armature, "L")).max() < 1e-5


def test_settings_are_copied_but_not_the_plane_towards_a_pole_to_a_chain_without_one():
    armature = legs(front=False)
    chain = add_chain(armature, "shin.L", add_target({}, "Foot.L"), plane='POLE', softness=0.2)
    chain.pole = add_target({}, "Knee")
    other = add_chain(armature, "shin.R", add_target({}, "Foot.R"))
    armature.ik2d.active_index = 0
    for plane in ('AUTO', 'POLE'):
        assert bpy.ops.ik2d.copy_settings() == {'FINISHED'}
        assert (other.plane, round(other.softness, 2)) == (plane, 0.2)
        other.pole = chain.pole


def test_mirrored_again_nothing_is_added_and_the_settings_follow():
    armature = legs(front=False)
    add_chain(armature, "shin.L", add_target({}, "Foot.L"), plane='X')
    bpy.ops.ik2d.mirror()
    first, second = armature.ik2d.chains
    armature.ik2d.active_index, first.softness = 0, 0.25
    own = bpy.data.objects.new("Own", None)
    second.target = own
    objects = len(bpy.data.objects)
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    assert len(armature.ik2d.chains) == 2 and len(bpy.data.objects) == objects
    assert armature.ik2d.chains[1].softness == pytest.approx(0.25) and second.target == own


def test_of_native_chains_the_controls_are_mirrored_and_copied():
    armature = legs(front=False)
    place = (0.5, -0.3, 0.6)
    add_chain(armature, "shin.L", add_target({}, "Foot.L"), plane='X').target.location = place
    bpy.context.view_layer.update()
    controls = make_native(armature, armature.ik2d.chains[0]).controls
    controls["bend"], controls["softness"], controls["influence"] = -1.0, 0.1, 0.5
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    chain, other = armature.ik2d.chains
    assert not is_native(other) and (other.softness, other.influence) == (pytest.approx(0.1), 0.5)
    make_native(armature, other)
    bpy.context.view_layer.update()
    assert np.abs(joints(armature, "R") - MIRROR * joints(armature, "L")).max() < 1e-5
    controls["bend"], controls["softness"], controls["influence"], armature.ik2d.active_index = (
        1.0,
        0.0,
        1.0,
        0,
    )
    assert bpy.ops.ik2d.mirror() == {'FINISHED'}
    controls.update_tag()
    bpy.context.view_layer.update()
    assert np.abs(joints(armature, "R") - MIRROR * joints(armature, "L")).max() < 1e-5
    assert np.abs(joints(armature, "R")[2] - MIRROR * place).max() < 1e-5


def test_all_enabled_chains_are_mirrored_once():
    armature = legs(front=False)
    add_chain(armature, "shin.L", add_target({}, "Foot.L"), plane='X', softness=0.2)
    add_chain(armature, "shin.R", add_target({}, "Foot.R"), plane='X', softness=0.4)
    assert bpy.ops.ik2d.mirror(all=True) == {'FINISHED'}
    assert [round(chain.softness, 2) for chain in armature.ik2d.chains] == [0.2, 0.2]


def test_all_of_many_chains_are_mirrored_and_named(capfd):
    """More than the list holds before it moves in memory."""
    bones = {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for i in range(12):
            knee = (sign * 0.5, float(i) - 0.2, 1.0)
            bones[f"a{i}.{side}"] = ((sign * 0.5, float(i), 2.0), knee, "", 0.0)
            bones[f"b{i}.{side}"] = (knee, (sign * 0.5, float(i), 0.1), f"a{i}.{side}", 0.0)
    armature = add_armature(bones)
    for i in range(12):
        add_chain(armature, f"b{i}.L", add_target({}, f"Foot {i}.L"), plane='X')
    assert bpy.ops.ik2d.mirror(all=True) == {'FINISHED'}
    chains = armature.ik2d.chains
    assert [chain.tip for chain in chains[12:]] == [f"b{i}.R" for i in range(12)]
    told = ", ".join(f"'{chain.name}'" for chain in chains[12:22])
    assert f"Mirrored to {told}" in capfd.readouterr().out


def test_a_target_bone_has_its_counterpart():
    armature = legs(front=False)
    control = add_armature(
        {"foot.L": ((0.5, 0, 0.2), (0.5, 0, 0), "", 0), "foot.R": ((-0.5, 0, 0.2), (-0.5, 0, 0), "", 0)},
        "Controls",
    )
    bpy.context.view_layer.objects.active = armature
    chain = add_chain(armature, "shin.L", control, plane='X')
    chain.subtarget = "foot.L"
    bpy.ops.ik2d.mirror()
    other = armature.ik2d.chains[1]
    assert (other.target, other.subtarget) == (control, "foot.R")
    bpy.context.view_layer.update()
    solve(armature)
    assert (evaluated_tip(armature, "shin.R") - control.pose.bones["foot.R"].head).length < 1e-5


@pytest.mark.parametrize(
    "bones, words",
    [
        (
            {"leg": ((0, 0, 2), (0, -0.1, 1), "", 0), "foot": ((0, -0.1, 1), (0, 0, 0), "leg", 0)},
            "names no side",
        ),
        (
            {"leg.L": ((0, 0, 2), (0, -0.1, 1), "", 0), "foot.L": ((0, -0.1, 1), (0, 0, 0), "leg.L", 0)},
            "foot.R",
        ),
        (
            {
                "leg.L": ((1, 0, 2), (1, -0.1, 1), "", 0),
                "foot.L": ((1, -0.1, 1), (1, 0, 0), "leg.L", 0),
                "bone": ((-1, 0, 2), (-1, -0.1, 1), "", 0),
                "foot.R": ((-1, -0.1, 1), (-1, 0, 0), "bone", 0),
            },
            "'bone'",
        ),
    ],
)
def test_bones_without_counterparts_are_named_and_nothing_changes(bones, words):
    armature = add_armature(bones)
    tip = "foot" if "foot" in bones else "foot.L"
    chain = add_chain(armature, tip, add_target({}, "Foot.L"), plane='X')
    before, objects = settings_of(chain), len(bpy.data.objects)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.ik2d.mirror()
    assert len(armature.ik2d.chains) == 1 and len(bpy.data.objects) == objects
    assert settings_of(armature.ik2d.chains[0]) == before


def test_a_chain_can_be_named_and_one_that_is_not_there_is_refused():
    armature = legs(front=False)
    add_chain(armature, "shin.L", add_target({}, "Foot.L"), plane='X')
    name = armature.ik2d.chains[0].name
    with pytest.raises(RuntimeError, match="no chain 'none'"):
        bpy.ops.ik2d.mirror(chain="none")
    assert bpy.ops.ik2d.mirror(chain=name) == {'FINISHED'}
    assert [chain.tip for chain in armature.ik2d.chains] == ["shin.L", "shin.R"]


@pytest.mark.parametrize("turned", [(0.0, 0.0, 0.0), (0.3, -0.4, 0.5)])
@pytest.mark.parametrize("again", [False, True])
def test_a_foot_is_mirrored_with_its_roll_and_its_turn(again, turned):
    bones = {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        x = 0.2 * sign
        bones[f"thigh.{side}"] = ((x, 0, 1.0), (x, -0.08, 0.55), "", 0.3 * sign)
        bones[f"shin.{side}"] = ((x, -0.08, 0.55), (x, 0.02, 0.1), f"thigh.{side}", 0.2 * sign)
        bones[f"foot.{side}"] = ((x, 0.02, 0.1), (x + 0.02 * sign, -0.13, 0.03), f"shin.{side}", 0.7 * sign)
        end = (x + 0.03 * sign, -0.2, 0.02)
        bones[f"toes.{side}"] = ((x + 0.02 * sign, -0.13, 0.03), end, f"foot.{side}", 0.0)
    armature = add_armature(bones)
    target = add_target({}, "Foot.L")
    target.location, target.rotation_euler = (0.2, -0.1, 0.2), (0.1, 0.2, 0.1)
    bpy.context.view_layer.update()
    chain = add_chain(armature, "shin.L", target, bone_count=2)
    add_foot(armature, chain)
    chain.foot.roll, chain.foot.toe = 0.9, 0.2
    target.rotation_euler = np.add(target.rotation_euler, turned)
    bpy.context.view_layer.update()
    other = mirror_chain(armature, armature.ik2d.chains[0])
    if again:
        armature.ik2d.chains[0].foot.roll = 0.4
        other = mirror_chain(armature, armature.ik2d.chains[0])
    assert other.foot.roll == armature.ik2d.chains[0].foot.roll
    bpy.context.view_layer.update()
    solve(armature)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    for name in ("foot", "toes"):
        left, right = (np.array(shown[f"{name}.{side}"].tail) for side in "LR")
        assert right == pytest.approx(MIRROR * left, abs=2e-6)


def test_only_settings_are_copied_to_another_foot():
    armature = legs(False)
    chains = [add_chain(armature, f"shin.{side}", add_target({}), bone_count=2) for side in "LR"]
    chain, other = armature.ik2d.chains
    chain.foot.is_added, chain.foot.break_angle, chain.foot.roll = True, 0.5, 0.3
    copy_settings(chain, [other])
    assert not other.foot.is_added and len(chains) == 2
    other.foot.is_added = True
    copy_settings(chain, [other])
    assert other.foot.break_angle == pytest.approx(0.5) and other.foot.roll == 0.0
