# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains whose plane follows their target or a pole, and single bones that aim."""

import json
import subprocess

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from native_rigs import contents, poses, random_limb, reach_of, two_legs
from programs import python_in_blender
from rigs import add_armature, add_chain, add_target, errors_on, leg_with_target, override_from
from snapshots import differences, everything
from snapshots import poses as channels

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import is_native, make_native, remove_native
from ik2d_addon.features.native.changes import changed_since_made
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.ui.settings.joint_list import sync_joints

FRAMES = range(1, 9)
RULES = ['SWING', 'POLE', 'ARC']
# Blender's own IK misses by 1e-4 of the reach.
EXACT = 4.6e-6


def add_pole(armature, chain, seed=1, angle=0.7) -> bpy.types.Object:
    """Add a pole that jumps about a chain's root, all round it and at other distances."""
    rng, reach = np.random.default_rng(seed), reach_of(chain)
    root = armature.matrix_world @ armature.pose.bones[read_chain(armature, chain).bones[0]].head
    places = {f: root[:] + 2.0 * reach * rng.normal(size=3) for f in FRAMES}
    chain.pole, chain.pole_angle = add_target(places, "Pole"), angle
    return chain.pole


def swung_limb(seed, rule, count=2, **settings):
    """Add a limb at random with targets all round it in space, and a pole."""
    rng = np.random.default_rng(seed)
    reach = (0.05, 0.75) if count > 1 else (0.3, 1.0)
    armature, chain = random_limb(rng, reach=reach, off=0.6, count=count)
    add_pole(armature, chain, seed)
    chain.plane = rule
    chain.solver = 'ARC' if count > 2 else 'AUTO'
    for name, value in settings.items():
        setattr(chain, name, value)
    return armature, chain


def leaning_limb(rule):
    """Add a limb of three bones that do not lie in one plane, so that its tip is off the plane's line."""
    bones = {
        "body": ((0, 0, 2.6), (0, 0, 2.0), "", 0.0),
        "bone0": ((0, 0, 2.0), (0.1, -0.5, 1.2), "body", 0.3),
        "bone1": ((0.1, -0.5, 1.2), (-0.2, -0.1, 0.5), "bone0", -1.0),
        "bone2": ((-0.2, -0.1, 0.5), (0.2, 0.4, 0.2), "bone1", 0.5),
    }
    armature = add_armature(bones)
    rng = np.random.default_rng(3)
    ways = rng.normal(size=(8, 3))
    ways *= rng.uniform(0.8, 1.7, (8, 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
    target = add_target({f: (0, 0, 2.0) + way for f, way in zip(FRAMES, ways, strict=True)})
    chain = add_chain(armature, "bone2", target, 3)
    add_pole(armature, chain)
    chain.plane = rule
    return armature, chain


def as_baked(armature, chain, joints=1e-5, turned=3e-5):
    """Assert that a native chain has the poses of its bake, tips within parts of its reach."""
    names = read_chain(armature, chain).bones
    make_native(armature, chain)
    native = poses(armature, FRAMES, names)
    bake(armature, frame_start=1, frame_end=8)
    baked = poses(armature, FRAMES, names)
    ends = np.array([(0.0, armature.data.bones[name].length, 0.0, 1.0) for name in names])
    tails = [np.einsum("fnij,nj->fni", found, ends) for found in (native, baked)]
    assert np.abs(native[..., :3, :3] - baked[..., :3, :3]).max() < turned
    assert np.abs(tails[0] - tails[1]).max() < joints * reach_of(chain)


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("limb", [(5, 2), (6, 1), (7, 4), "leaning"], ids=str)
def test_a_plane_that_is_turned_on_is_as_baked(limb, rule, keyed):
    armature, chain = leaning_limb(rule) if limb == "leaning" else swung_limb(limb[0], rule, limb[1])
    for frame, turn in ((1, 0.4), (5, -1.1), (8, 2.0))[: 3 if keyed else 1]:
        chain.plane_turn = turn
        if keyed:
            chain.keyframe_insert("plane_turn", frame=frame)
    as_baked(armature, chain)


def test_a_turn_and_a_limit_on_the_first_bone_do_not_convert_together():
    armature, chain = swung_limb(8, 'SWING')
    sync_joints(chain)
    joint = chain.joints[0]
    joint.use_limit, chain.plane_turn = True, 0.3
    with pytest.raises(IK2DError, match="Plane Turn"):
        make_native(armature, chain)
    chain.plane_turn = 0.0
    make_native(armature, chain)


# --- Exact -------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed, count", [(1, 2), (2, 2), (3, 3), (4, 5)])
def test_tips_are_on_targets_anywhere_in_space(seed, count, rule):
    armature, chain = swung_limb(seed, rule, count)
    make_native(armature, chain)
    assert errors_on(FRAMES, armature, chain).max() < EXACT * reach_of(chain)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed, count", [(5, 1), (6, 2), (7, 3), (8, 4)])
def test_all_bones_are_where_a_bake_has_them(seed, count, rule):
    as_baked(*swung_limb(seed, rule, count))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_tip_off_the_plane_is_on_its_target(rule):
    armature, chain = leaning_limb(rule)
    rig = read_chain(armature, chain)
    assert rig.remarks.off_plane > 0.01
    as_baked(armature, chain)
    make_native(armature, chain)
    assert errors_on(FRAMES, armature, chain).max() < EXACT * reach_of(chain)


@pytest.mark.parametrize("rule", RULES)
def test_one_bone_points_at_its_target(rule):
    armature, chain = swung_limb(9, rule, 1)
    make_native(armature, chain)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bone, way = shown.pose.bones["bone0"], chain.target.matrix_world.translation
        line = (way - shown.matrix_world @ bone.head).normalized()
        along = (shown.matrix_world.to_3x3() @ bone.vector).normalized()
        assert (line - along).length < 1.5e-6


def test_the_knee_faces_the_pole_that_it_faced_at_rest():
    armature, chain = swung_limb(16, 'POLE')
    root, knee = (armature.data.bones[name].matrix_local for name in ("bone0", "bone1"))
    line = (armature.data.bones["bone1"].tail_local - root.translation).normalized()
    aside = root.to_3x3().inverted() @ (knee.translation - root.translation).cross(line).cross(line)
    chain.pole_angle = np.arctan2(-aside.z, -aside.x)
    make_native(armature, chain)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        first, second = (shown.pose.bones[name] for name in ("bone0", "bone1"))
        at = shown.matrix_world.inverted() @ chain.pole.matrix_world.translation - first.head
        along = (second.tail - first.head).normalized()
        towards = (at - at.dot(along) * along).normalized()
        elbow = second.head - first.head
        assert abs(elbow.dot(along.cross(towards))) < 1e-5 * reach_of(chain)
        assert elbow.dot(towards) > 0.0


@pytest.mark.parametrize("scale", [(0.1, 0.1, 0.1), (30.0, 30.0, 30.0)], ids=str)
def test_an_object_of_any_even_scale_is_as_exact(scale):
    armature, chain = swung_limb(10, 'POLE')
    moved = Matrix.Diagonal((*scale, 1.0))
    for ob in (armature, chain.target, chain.pole):
        ob.parent = bpy.data.objects.get("Scaled") or add_target({}, "Scaled")
    bpy.data.objects["Scaled"].matrix_world = moved
    bpy.context.view_layer.update()
    make_native(armature, chain)
    assert errors_on(FRAMES, armature, chain).max() < EXACT * reach_of(chain) * scale[0]


# --- Settings ----------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "settings",
    [
        {"bend": 'NEGATIVE'},
        {"turn_over": 0.3},
        {"softness": 0.2},
        {"influence": 0.4},
        {"stretch": 1.3, "compress": 0.6, "softness": 0.1},
    ],
    ids=str,
)
def test_settings_do_what_they_do_in_a_bake(settings, rule):
    armature, chain = swung_limb(11, rule)
    armature.data.bones["bone1"].inherit_scale = 'ALIGNED'
    for name, value in settings.items():
        setattr(chain, name, value)
    as_baked(armature, chain)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [1, 2])
def test_limits_of_the_first_bone_hold_in_the_rest_plane(count, rule):
    armature, chain = swung_limb(12, rule, count)
    joint = chain.joints[0]
    joint.use_limit, joint.limit_max, joint.limit_min = True, 0.6, 0.2
    as_baked(armature, chain)


@pytest.mark.parametrize("limits", [None, (-0.4, 0.5), (0.2, 3.0)], ids=str)
def test_one_bone_in_a_fixed_plane_aims_within_limits(limits):
    armature, chain = random_limb(np.random.default_rng(13), count=1, off=0.3)
    chain.plane, chain.plane_normal = 'CUSTOM', read_chain(armature, chain).plane.normal
    if limits is not None:
        joint = chain.joints[0]
        joint.use_limit, joint.limit_max, joint.limit_min = True, limits[1], limits[0]
    as_baked(armature, chain)


@pytest.mark.parametrize("rule", [*RULES, 'CUSTOM'])
def test_one_bone_stretches_to_its_target(rule):
    armature, chain = swung_limb(15, rule, 1, stretch=1.3, compress=0.5)
    chain.plane_normal = read_chain(armature, chain).plane.normal
    as_baked(armature, chain)


# --- Their parts -------------------------------------------------------------


def posed_leg(rule='POLE'):
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.pole, chain.plane = add_target({1: (0.5, -2.0, 1.0), 40: (-1.0, -2.0, 1.0)}, "Pole"), rule
    return armature, chain


@pytest.mark.parametrize("rule", RULES)
def test_removing_leaves_no_trace(rule):
    armature, chain = posed_leg(rule)

    def stored():
        return everything(), channels(), contents(armature)

    before = stored()
    make_native(armature, chain)
    bpy.context.scene.frame_set(9)
    bpy.context.scene.frame_set(1)
    assert stored() != before
    remove_native(armature, chain)
    bpy.context.view_layer.update()
    assert differences(before, stored()) == []


@pytest.mark.parametrize("part", ["stand", "probe", "swing", "turn", "constraint"])
def test_what_was_taken_away_by_hand_is_told_and_no_hindrance(part):
    armature, chain = posed_leg()
    make_native(armature, chain)
    thigh = armature.pose.bones["thigh"]
    if part == "constraint":
        thigh.constraints.remove(thigh.constraints[0])
    else:
        bpy.data.objects.remove(bpy.data.objects[f"Rig shin {part}"])
    assert changed_since_made(chain) == "parts of it are gone"
    remove_native(armature, chain)
    assert not any(len(bone.constraints) for bone in armature.pose.bones)
    assert sorted(ob.name for ob in bpy.data.objects) == ["Pole", "Rig", "Target"]
    assert armature.animation_data is None


def test_another_pole_or_pole_angle_is_told():
    armature, chain = posed_leg()
    make_native(armature, chain)
    assert not changed_since_made(chain)
    pole, chain.pole = chain.pole, add_target({}, "Other")
    assert changed_since_made(chain) == "its pole is another one"
    chain.pole, chain.pole_angle = pole, 0.3
    assert changed_since_made(chain) == "its settings are others"


def test_several_chains_keep_their_own_parts():
    armature = two_legs()
    for chain, rule in zip(armature.ik2d.chains, ('SWING', 'ARC'), strict=True):
        chain.plane = rule
        make_native(armature, chain)
    left, right = armature.ik2d.chains
    assert max(errors_on([1, 10, 20], armature, chain).max() for chain in (left, right)) < 1e-5
    remove_native(armature, left)
    assert is_native(right) and errors_on([1, 10, 20], armature, right).max() < 1e-5
    assert not armature.pose.bones["left thigh"].constraints
    assert sum("left" in ob.name for ob in bpy.data.objects) == 0


def test_a_constraint_of_the_users_that_copies_a_rotation_stays():
    armature, chain = posed_leg()
    mine = armature.pose.bones["body"].constraints.new('COPY_TRANSFORMS')
    mine.name, mine.target = "IK 2D shin", chain.target
    make_native(armature, chain)
    remove_native(armature, chain)
    assert [one.name for one in armature.pose.bones["body"].constraints] == ["IK 2D shin"]


def test_a_copy_with_its_empties_is_told_apart_and_goes_alone():
    armature, chain = posed_leg()
    make_native(armature, chain)
    copy = armature.copy()
    bpy.context.scene.collection.objects.link(copy)
    assert changed_since_made(copy.ik2d.chains[0]) == "its empties are those of another armature"
    remove_native(copy, copy.ik2d.chains[0])
    assert not any(len(bone.constraints) for bone in copy.pose.bones)
    assert is_native(chain) and errors_on([1, 20], armature, chain).max() < 1e-5


@pytest.mark.parametrize("rule", RULES)
def test_a_copy_with_its_empties_of_a_chain_without_a_bone_above_has_its_own(rule):
    bones = {"a": ((0, 0, 2.0), (0, -0.1, 1.0), "", 0.3), "b": ((0, -0.1, 1.0), (0, 0, 0.1), "a", 0.1)}
    armature = add_armature(bones)
    armature.rotation_euler, armature.location = (0.3, 0.2, 1.0), (1.0, 2.0, 3.0)
    bpy.context.view_layer.update()
    ways = np.random.default_rng(2).normal(size=(8, 3)) * 0.5
    places = {
        f: (armature.matrix_world @ Vector((0, 0, 2) + way))[:] for f, way in zip(FRAMES, ways, strict=True)
    }
    chain = add_chain(armature, "b", add_target(places), 2)
    add_pole(armature, chain)
    chain.plane = rule
    make_native(armature, chain)
    assert errors_on(FRAMES, armature, chain).max() < EXACT * 2.0
    for ob in bpy.data.objects:
        ob.hide_viewport = False
        ob.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.duplicate()
    copy = bpy.context.view_layer.objects.active
    own = copy.ik2d.chains[0]
    assert own.native_stand != chain.native_stand and not changed_since_made(own)
    own.target.animation_data_clear()
    own.target.location = armature.matrix_world @ Vector((0.3, 0.2, 1.2))
    assert errors_on([1], copy, own)[0] < EXACT * 2.0
    remove_native(copy, own)
    assert not copy.pose.bones["a"].constraints
    assert is_native(chain) and errors_on(FRAMES, armature, chain).max() < EXACT * 2.0


def test_renamed_bones_and_chains_stay_native_and_are_removed():
    armature, chain = posed_leg()
    make_native(armature, chain)
    armature.data.bones["thigh"].name, chain.name = "upper", "leg"
    armature.pose.bones["upper"].constraints[0].name = "mine now"
    bpy.context.view_layer.update()
    assert errors_on([1, 20], armature, chain).max() < 1e-5 and not changed_since_made(chain)
    remove_native(armature, chain)
    assert not any(len(bone.constraints) for bone in armature.pose.bones)
    assert sorted(ob.name for ob in bpy.data.objects) == ["Pole", "Rig", "Target"]


def test_a_target_and_a_pole_that_are_bones_of_the_same_armature_are_followed():
    bones = {
        "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
        "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.3),
        "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", 0.3),
        "foot": ((0.4, 0.3, 0.4), (0.4, 0.0, 0.4), "", 0.0),
        "knee": ((1.0, -2.0, 1.0), (1.0, -2.5, 1.0), "", 0.0),
    }
    armature = add_armature(bones)
    chain = add_chain(armature, "shin", armature)
    chain.subtarget, chain.pole, chain.pole_subtarget, chain.plane = "foot", armature, "knee", 'POLE'
    make_native(armature, chain)
    for place in ((0.0, 0.0, 0.0), (0.3, 0.2, -0.1), (-0.5, 0.1, 0.4)):
        armature.pose.bones["foot"].location = place
        armature.pose.bones["knee"].location = place[::-1]
        bpy.context.view_layer.update()
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        foot, tip, root = (shown.pose.bones[name] for name in ("foot", "shin", "thigh"))
        assert (foot.head - tip.tail).length < 2e-5
        across = (foot.head - root.head).cross(shown.pose.bones["knee"].head - root.head)
        assert armature.data.bones["thigh"].matrix_local.col[0].xyz.cross((0, 0, 1)).length > 0.1
        assert across.length > 0.1


def test_a_pole_in_the_armature_that_hangs_on_the_chain_is_refused():
    armature, chain = posed_leg()
    chain.pole.parent, chain.pole.parent_type, chain.pole.parent_bone = armature, 'BONE', "shin"
    with pytest.raises(Exception, match="its pole 'Pole'"):
        make_native(armature, chain)
    assert not is_native(chain)


def test_a_target_in_line_with_the_pole_is_told():
    armature, chain = posed_leg()
    assert not make_native(armature, chain).warnings
    remove_native(armature, chain)
    chain.pole.animation_data_clear()
    chain.pole.constraints.new('COPY_LOCATION').target = chain.target
    (warning,) = make_native(armature, chain).warnings
    assert "its target is in line with its pole within 5 degrees on 50 frames" in warning


def test_undo_and_redo_take_one_step_each():
    armature, chain = posed_leg()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ed.undo_push(message="before")
    objects = bpy.data.objects.keys()
    assert bpy.ops.ik2d.make_native('EXEC_DEFAULT', True) == {'FINISHED'}
    bpy.ops.ed.undo()
    assert not is_native(bpy.data.objects["Rig"].ik2d.chains[0]) and bpy.data.objects.keys() == objects
    bpy.ops.ed.redo()
    armature = bpy.data.objects["Rig"]
    assert errors_on([1, 20, 40], armature, armature.ik2d.chains[0]).max() < 1e-5


# --- Other files -------------------------------------------------------------

WITHOUT = """
import bpy, json, sys
sys.stdout.flush()
armature = bpy.data.objects["Rig"]
found = []
for frame in range(1, 9):
    bpy.context.scene.frame_set(frame)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found.append([[list(row) for row in shown.pose.bones[name].matrix] for name in ("bone0", "bone1")])
assert not hasattr(bpy.types.Object, "ik2d") and not bpy.app.autoexec_fail
print("FOUND", json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_file_plays_without_the_add_on_and_without_scripts(rule, tmp_path):
    armature, chain = swung_limb(14, rule)
    make_native(armature, chain)
    here, path = poses(armature, FRAMES), str(tmp_path / "native.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    opened = f"import bpy; bpy.ops.wm.open_mainfile(filepath={path!r}, use_scripts=False)\n"
    run = subprocess.run(python_in_blender(opened + WITHOUT), capture_output=True, text=True, timeout=120)
    line = next(line for line in run.stdout.splitlines() if line.startswith("FOUND"))
    assert np.abs(np.array(json.loads(line.removeprefix("FOUND"))) - here).max() < 1e-6, run.stderr


@pytest.mark.slow
def test_an_override_is_native_and_stays_it_when_saved(tmp_path):
    armature, chain = posed_leg()
    library, shot = str(tmp_path / "library.blend"), str(tmp_path / "shot.blend")
    bpy.data.libraries.write(library, {armature, chain.target, chain.pole, bpy.context.scene})
    override = override_from(library, "Rig", "Target", "Pole")
    make_native(override, override.ik2d.chains[0])
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    override = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == 'ARMATURE')
    chain = override.ik2d.chains[0]
    assert is_native(chain) and not changed_since_made(chain)
    assert errors_on([1, 20, 40], override, chain).max() < 1e-5
    remove_native(override, chain)
    assert not any(len(bone.constraints) for bone in override.pose.bones)
    assert not [ob for ob in bpy.data.objects if ob.type == 'EMPTY' and ob.name.startswith("Rig")]
