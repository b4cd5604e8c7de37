# SPDX-License-Identifier: GPL-3.0-or-later
"""Bend: Positive is the side of the rest pose with every solver; files of earlier versions keep their poses.

tools/save_sides.py wrote the files, one with the code of each version.
"""

import json
from pathlib import Path

import bpy
import pytest

from ik2d_addon.bake import bake, clear
from ik2d_addon.chains import make_native, remove_native
from ik2d_addon.features.baking.results import bake_is_stale
from ik2d_addon.rig.chain.chain import read_chain
from tools.save_sides import ARMS, FRAMES, add_arm, elbow

SAVED = Path(__file__).resolve().parents[1] / "data" / "saved_sides"
FILES = sorted(path.stem for path in SAVED.glob("*.blend"))
WITHIN = 1e-5  # meters; the arms are 2 long
# A driver reads its bend, so that it keeps its earlier meaning.
KEPT = "read", "L"


def opened(name):
    """Open a saved file; return where its elbows were, by armature and frame."""
    bpy.ops.wm.open_mainfile(filepath=str(SAVED / f"{name}.blend"))
    return json.loads((SAVED / f"{name}.json").read_text(encoding="utf-8"))


def off(arm, elbows):
    """Return how far an arm's elbow is from where it was, at most, on all frames."""
    return max(
        sum((a - b) ** 2 for a, b in zip(elbow(arm, frame), elbows[str(frame)], strict=True)) ** 0.5
        for frame in FRAMES
    )


def rest_side(arm):
    """Return the side of the line from shoulder to hand that the elbow is on at rest, about the world's Y."""
    (x1, _, z1), (x2, _, z2), (x3, _, z3) = (
        arm.data.bones["upper"].head_local,
        arm.data.bones["upper"].tail_local,
        arm.data.bones["fore"].tail_local,
    )
    return 1.0 if (x3 - x1) * (z2 - z1) - (z3 - z1) * (x2 - x1) > 0.0 else -1.0


def side(arm):
    """Return the side that the evaluated elbow is on, as `rest_side` does."""
    shown = arm.evaluated_get(bpy.context.evaluated_depsgraph_get())
    root, joint, tip = (
        shown.pose.bones["upper"].head,
        shown.pose.bones["fore"].head,
        shown.pose.bones["fore"].tail,
    )
    out, along = joint - root, tip - root
    return 1.0 if along.x * out.z - along.z * out.x > 0.0 else -1.0


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("arm", [f"{arm}.{side}" for arm in ARMS for side in "LR"])
def test_no_arm_changes_its_pose(name, arm):
    elbows = opened(name)[arm]
    armature = bpy.data.objects[arm]
    if arm.startswith("baked"):
        assert off(armature, elbows) < WITHIN
        assert bake_is_stale(armature, bpy.context.scene) == ""
        clear(armature)
    bake(armature, None, FRAMES[0], FRAMES[-1])
    assert off(armature, elbows) < WITHIN


@pytest.mark.parametrize("name", FILES)
def test_what_can_be_changed_counts_from_rest(name):
    opened(name)
    for arm in ARMS:
        for end in "LR":
            chain = bpy.data.objects[f"{arm}.{end}"].ik2d.chains[0]
            assert chain.sides_from_rest == ((arm, end) != KEPT), (arm, end)
    # About the plane's axis the left arms bend to the negative side, in its own plane the right one.
    turned = {"two_bone.L": 'NEGATIVE', "circle.L": 'POSITIVE', "own_plane.R": 'NEGATIVE'}
    same = {"two_bone.R": 'POSITIVE', "circle.R": 'NEGATIVE', "own_plane.L": 'POSITIVE'}
    same |= {"smooth.L": 'POSITIVE', "smooth.R": 'POSITIVE', "automatic.L": 'NEGATIVE', "read.L": 'POSITIVE'}
    for arm, bend in {**turned, **same}.items():
        assert bpy.data.objects[arm].ik2d.chains[0].bend == bend, arm


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_saved_file_is_changed_once(name, tmp_path):
    elbows = opened(name)
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "again.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "again.blend"))
    for arm in ("two_bone.L", "circle.L", "keyed.L", "driven.L", "read.L"):
        armature = bpy.data.objects[arm]
        bake(armature, None, FRAMES[0], FRAMES[-1])
        assert off(armature, elbows[arm]) < WITHIN, arm


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("arm", ["two_bone.L", "circle.L", "own_plane.R"])
def test_a_linked_arm_keeps_the_meaning_of_its_version(name, arm):
    elbows = opened(name)[arm]
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(SAVED / f"{name}.blend"), link=True) as (_, wanted):
        wanted.objects = [arm, f"{arm} target"]
    for ob in wanted.objects:
        bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.update()
    assert not wanted.objects[0].ik2d.chains[0].sides_from_rest
    armature = wanted.objects[0].override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    bake(armature, None, FRAMES[0], FRAMES[-1])
    assert off(armature, elbows) < WITHIN


@pytest.mark.parametrize("solver", ['TWO_BONE', 'EVEN', 'ARC', 'CCD'])
@pytest.mark.parametrize("plane", ['AUTO', 'Y', 'CUSTOM', 'SWING'])
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_positive_is_the_side_of_the_rest_pose(solver, plane, bend, sign):
    arm, chain = new_arm(sign)
    chain.solver, chain.bend, chain.plane_normal = solver, bend, (0.0, 1.0, 0.0)
    chain.plane = plane
    bake(arm, None, 5, 5)
    bpy.context.scene.frame_set(5)
    assert side(arm) == rest_side(arm) * (1.0 if bend == 'POSITIVE' else -1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_live_a_conversion_and_its_way_back_bend_alike(sign):
    arm, chain = new_arm(sign)
    chain.plane, chain.solver = 'Y', 'TWO_BONE'
    chain.live = True
    bpy.context.scene.frame_set(5)
    assert side(arm) == rest_side(arm)
    make_native(arm, chain)
    bpy.context.scene.frame_set(10)
    bpy.context.scene.frame_set(5)
    assert side(arm) == rest_side(arm)
    chain.native_stand["bend"] = -1.0
    chain.native_stand.update_tag()
    bpy.context.scene.frame_set(10)
    bpy.context.scene.frame_set(5)
    assert side(arm) == -rest_side(arm)
    assert read_chain(arm, chain).settings.bend == sign
    remove_native(arm, chain)
    bpy.context.scene.frame_set(5)
    assert side(arm) == rest_side(arm)


def new_arm(sign):
    """Return an arm of two bones in XZ, to the left or mirrored, and its chain."""
    bpy.ops.wm.read_homefile(use_empty=True)
    arm = add_arm("arm", sign, 0.0)
    chain = arm.ik2d.chains.add()
    chain.tip, chain.bone_count, chain.target = "fore", 2, bpy.data.objects["arm target"]
    bpy.context.view_layer.update()
    return arm, chain
