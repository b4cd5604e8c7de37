# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains of 3 to 12 bones: Blender's own drivers give the pose that Solve gives, on every frame."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, override_from

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import make_native, remove_native

# Of the reach: how far a tip is from its target, and a joint from where Solve has it.
TIP, JOINT = 2e-6, 2e-5
FRAMES = 16


def chain_of(lengths, bends=0.0, turned=0.4, roll=0.3, **settings):
    """Return an armature, turned and scaled, its chain below a body, and the chain's target without keys."""
    count = len(lengths)
    headings = 0.3 + np.concatenate(([0.0], np.cumsum(np.broadcast_to(bends, count - 1))))
    steps = np.array(lengths)[:, None] * np.stack((np.sin(headings), np.cos(headings)), axis=1)
    points = np.vstack((np.zeros(2), np.cumsum(steps, axis=0))) + (0.0, 0.5)
    places = [(0.0, float(y), float(z)) for y, z in points]
    bones = {"body": ((0, 0, 0), (0, 0, 0.5), "", 0.0)}
    for i in range(count):
        bones[f"b{i}"] = (places[i], places[i + 1], f"b{i - 1}" if i else "body", roll * i)
    armature = add_armature(bones)
    armature.rotation_euler, armature.location = (turned, -turned, 2.0 * turned), (0.3, -0.2, 0.1)
    target = add_target({})
    settings = ({"plane": 'X'} if not np.any(bends) else {}) | settings
    add_chain(armature, f"b{count - 1}", target, count, **settings)
    chain = armature.ik2d.chains[0]
    for i in range(count):
        chain.joints.add().name = f"b{i}"
    bpy.context.view_layer.update()
    return armature, chain, target


def key_targets(armature, target, lengths, seed: int, least=0.02, most=0.995, frames=FRAMES) -> None:
    """Key a target on random places within the chain's annulus, on and off its plane."""
    rng = np.random.default_rng(seed)
    outer = sum(lengths)
    inner = max(0.0, 2.0 * max(lengths) - outer)
    into = np.array(armature.matrix_world)
    root = np.array(armature.pose.bones["b0"].bone.head_local)
    for frame in range(1, frames + 1):
        distance = inner + (outer - inner) * rng.uniform(least, most)
        angle = rng.uniform(-np.pi, np.pi)
        place = root + (rng.uniform(-0.2, 0.2), distance * np.sin(angle), distance * np.cos(angle))
        target.location = into[:3, :3] @ place + into[:3, 3]
        target.keyframe_insert("location", frame=frame)


def joints(armature) -> np.ndarray:
    """Return where the chain's joints are as posed (n + 1, 3), in the armature."""
    bones = [bone for bone in armature.pose.bones if bone.name != "body"]
    return np.array([*(bone.head for bone in bones), bones[-1].tail], np.float64)


def missed(armature, target) -> float:
    """Return how far the tip is from its target as seen along the plane's normal."""
    tip = joints(armature)[-1]
    goal = armature.matrix_world.inverted() @ target.matrix_world.translation
    return float(np.hypot(tip[1] - goal[1], tip[2] - goal[2]))


def played(armature, target=None, frames=FRAMES):
    """Return joints (frames, n + 1, 3) as Blender plays them, and with a target how far tips miss it."""
    poses, errors = [], []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        poses.append(joints(armature))
        errors.append(missed(armature, target) if target else 0.0)
    return np.array(poses), np.array(errors)


def solved(armature, frames=FRAMES) -> np.ndarray:
    """Return joints (frames, n + 1, 3) as Solve leaves them."""
    poses = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        solve(armature)
        bpy.context.view_layer.update()
        poses.append(joints(armature))
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    return np.array(poses)


def lengths_of(count: int, kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng([count, seed])
    lengths = np.ones(count) if kind == "equal" else rng.uniform(0.3, 1.0, count)
    if kind == "one long":
        lengths[rng.integers(count)] = 1.2 * lengths.sum()
    return lengths * 3.0 / lengths.sum()


CASES = [
    (3, "equal", 0.0, 'POSITIVE'),
    (3, "one long", 0.2, 'NEGATIVE'),
    (4, "any", 0.2, 'POSITIVE'),
    (5, "one long", 0.0, 'POSITIVE'),
    (7, "any", -0.15, 'NEGATIVE'),
    (8, "equal", 0.1, 'POSITIVE'),
    (12, "any", 0.0, 'NEGATIVE'),
    (12, "equal", 0.1, 'POSITIVE'),
]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ['ARC', 'EVEN'])
@pytest.mark.parametrize("count, kind, bends, bend", CASES)
def test_tips_are_on_targets_and_joints_where_solve_has_them(count, kind, bends, bend, solver):
    lengths = lengths_of(count, kind, 1)
    armature, chain, target = chain_of(lengths, bends, solver=solver, bend=bend)
    key_targets(armature, target, lengths, seed=count)
    wanted = solved(armature)
    make_native(armature, chain)
    poses, errors = played(armature, target)
    assert errors.max() < TIP * sum(lengths)
    assert np.abs(poses - wanted).max() < JOINT * sum(lengths)


@pytest.mark.slow
def test_a_rest_that_bends_to_both_sides_keeps_its_shape():
    lengths = lengths_of(6, "any", 2)
    for bend in ('POSITIVE', 'NEGATIVE'):
        bends = np.array([0.3, -0.2, -0.3, 0.25, 0.1])
        armature, chain, target = chain_of(lengths, bends, bend=bend)
        key_targets(armature, target, lengths, seed=3)
        wanted = solved(armature)
        make_native(armature, chain)
        poses, errors = played(armature, target)
        assert errors.max() < TIP * sum(lengths)
        assert np.abs(poses - wanted).max() < JOINT * sum(lengths)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ['ARC', 'EVEN'])
@pytest.mark.parametrize("least, most", [(1e-6, 1e-4), (0.9999, 0.999999)])
def test_tips_next_to_the_borders_of_reach_are_on_their_targets(solver, least, most):
    lengths = lengths_of(5, "one long", 3)
    armature, chain, target = chain_of(lengths, 0.1, solver=solver)
    key_targets(armature, target, lengths, 4, least, most)
    make_native(armature, chain)
    assert played(armature, target)[1].max() < TIP * sum(lengths)


@pytest.mark.slow
def test_targets_out_of_reach_get_the_nearest_pose():
    lengths = np.array([0.4, 2.0, 0.3, 0.3])
    armature, chain, target = chain_of(lengths, 0.1)
    outer, inner = 3.0, 1.0
    for least, most, wanted in ((1.02, 2.0, outer), (-0.49, -0.01, inner)):
        key_targets(armature, target, lengths, 5, least, most, frames=6)
        if wanted == outer:
            make_native(armature, chain)
        for pose, _ in zip(*played(armature, target, 6), strict=True):
            assert np.linalg.norm(pose[-1] - pose[0]) == pytest.approx(wanted, abs=TIP * outer)


@pytest.mark.slow
def test_softness_and_a_keyed_bend_are_as_solve_has_them():
    lengths = lengths_of(4, "any", 6)
    armature, chain, target = chain_of(lengths, 0.2, softness=0.2)
    key_targets(armature, target, lengths, 7, 0.3, 1.2)
    for frame, side in ((1, 'POSITIVE'), (6, 'NEGATIVE'), (12, 'POSITIVE')):
        chain.bend = side
        chain.keyframe_insert("bend", frame=frame)
    wanted = solved(armature)
    make_native(armature, chain)
    assert np.abs(played(armature)[0] - wanted).max() < JOINT * sum(lengths)


@pytest.mark.slow
def test_bones_that_stretch_evenly_are_as_solve_has_them():
    lengths = lengths_of(4, "any", 8)
    armature, chain, target = chain_of(lengths, 0.2, stretch=1.4, softness=0.1)
    for bone in armature.data.bones:
        if bone.name not in ("body", "b0"):
            bone.inherit_scale = 'ALIGNED'
    key_targets(armature, target, lengths, 9, 0.2, 1.3)
    make_native(armature, chain)
    assert played(armature, target)[1].max() < 2.0 * TIP * sum(lengths)


@pytest.mark.slow
def test_influence_leads_from_the_bones_own_keys_to_the_pose():
    lengths = lengths_of(3, "any", 10)
    armature, chain, target = chain_of(lengths, 0.1)
    key_targets(armature, target, lengths, 11, frames=3)
    rest, _ = played(armature, frames=3)
    native = make_native(armature, chain)
    full, _ = played(armature, frames=3)
    native.controls["influence"] = 0.0
    native.controls.update_tag()
    assert np.abs(played(armature, frames=3)[0] - rest).max() < 1e-6
    native.controls["influence"] = 1.0
    native.controls.update_tag()
    assert np.array_equal(played(armature, frames=3)[0], full)


def test_a_turn_over_leads_through_the_stretched_chain():
    lengths = lengths_of(5, "any", 12)
    armature, chain, target = chain_of(lengths, 0.0)
    key_targets(armature, target, lengths, 13, 0.4, 0.5, frames=1)
    bpy.context.scene.frame_set(1)
    native, spans = make_native(armature, chain), []
    for over in (0.0, 0.25, 0.5, 0.75, 1.0):
        native.controls["turn_over"] = over
        native.controls.update_tag()
        bpy.context.view_layer.update()
        pose = joints(armature)
        spans.append(np.linalg.norm(pose[-1] - pose[0]))
    assert spans[2] == pytest.approx(3.0, abs=1e-5) and spans[0] == pytest.approx(spans[4], abs=1e-5)
    assert spans[0] < spans[1] < spans[2] > spans[3] > spans[4]


@pytest.mark.slow
def test_a_saved_file_plays_the_same(tmp_path):
    lengths = lengths_of(6, "any", 14)
    armature, chain, target = chain_of(lengths, 0.2)
    key_targets(armature, target, lengths, 15)
    make_native(armature, chain)
    before, _ = played(armature)
    name = armature.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "native.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "native.blend"))
    assert np.array_equal(played(bpy.data.objects[name])[0], before)


@pytest.mark.slow
def test_a_copy_with_its_empties_follows_its_own_target():
    lengths = lengths_of(4, "any", 16)
    armature, chain, target = chain_of(lengths, 0.2)
    key_targets(armature, target, lengths, 17, frames=5)
    native = make_native(armature, chain)
    for ob in (armature, target, native.controls, native.target_copy):
        ob.hide_viewport = False
        ob.select_set(True)
    bpy.ops.object.duplicate()
    copy = next(ob for ob in bpy.context.selected_objects if ob.type == 'ARMATURE')
    assert copy != armature
    remove_native(armature, chain)
    own = copy.ik2d.chains[0].target
    assert own != target and played(copy, own, 5)[1].max() < TIP * sum(lengths)


@pytest.mark.slow
def test_the_number_of_drivers_is_small():
    lengths = lengths_of(12, "any", 18)
    armature, chain, target = chain_of(lengths, 0.1, roll=0.0)
    key_targets(armature, target, lengths, 19, frames=2)
    # Two of softness, the place, and the root's curve; for each joint an angle and an influence.
    assert make_native(armature, chain).drivers == 4 + 2 * 12


@pytest.mark.parametrize(
    "settings, words",
    [
        (
            {"solver": 'CCD'},
            "Chain 'b3' cannot be converted to drivers: CCD's poses .*; set Solver to Automatic or Circle",
        ),
        (
            {"root_turns_freely": False, "solver": 'EVEN'},
            "cannot be converted to drivers: .*turn First Bone Turns Freely on",
        ),
        (
            {"stretch": 1.5, "stretch_bones": 'LAST'},
            "cannot be converted to drivers: .*set Stretched Bones to All",
        ),
    ],
)
def test_what_has_no_native_form_is_refused_with_a_way_out(settings, words):
    armature, chain, _ = chain_of([0.5, 0.6, 0.7, 0.5], 0.1, **settings)
    for bone in armature.data.bones:
        bone.inherit_scale = 'ALIGNED' if bone.name not in ("body", "b0") else 'FULL'
    objects = len(bpy.data.objects)
    with pytest.raises(IK2DError, match=words):
        make_native(armature, chain)
    assert len(bpy.data.objects) == objects and not chain.native_constraint


@pytest.mark.slow
def test_limits_are_refused_and_weights_that_even_counts_are_not():
    armature, chain, target = chain_of([0.5, 0.6, 0.7, 0.5], 0.1)
    chain.joints["b1"].use_limit, chain.joints["b1"].limit_max = True, 1.0
    with pytest.raises(IK2DError, match="its joints have limits, .*; turn Limit off"):
        make_native(armature, chain)
    chain.joints["b1"].use_limit = False
    chain.joints["b1"].weight = 0.2
    key_targets(armature, target, [0.5, 0.6, 0.7, 0.5], 20, frames=6)
    wanted = solved(armature, 6)
    make_native(armature, chain)
    assert np.abs(played(armature, frames=6)[0] - wanted).max() < JOINT * 2.3


@pytest.mark.slow
@pytest.mark.parametrize("solver", ['ARC', 'EVEN'])
def test_a_bake_of_a_native_chain_keys_the_pose_that_it_had(solver):
    lengths = lengths_of(5, "any", 21)
    armature, chain, target = chain_of(lengths, 0.2, solver=solver)
    key_targets(armature, target, lengths, 22, frames=8)
    make_native(armature, chain)
    native, _ = played(armature, frames=8)
    (report,) = bake(armature, frame_start=1, frame_end=8).chains
    assert report.solver == solver
    baked, _ = played(armature, frames=8)
    assert np.abs(baked - native).max() < JOINT * sum(lengths)
    remove_native(armature, chain)
    assert np.abs(played(armature, frames=8)[0] - baked).max() < 1e-6


@pytest.mark.slow
def test_on_a_library_override_the_curves_outlive_saving_and_loading(tmp_path):
    lengths = lengths_of(4, "any", 23)
    armature, chain, _ = chain_of(lengths, 0.2)
    armature.ik2d.chains.clear()
    library, name = str(tmp_path / "library.blend"), armature.name
    bpy.ops.wm.save_as_mainfile(filepath=library)
    linked = override_from(library, name)
    target = add_target({}, "Own")
    key_targets(linked, target, lengths, 24, frames=6)
    add_chain(linked, "b3", target, 4)
    bpy.context.view_layer.update()
    make_native(linked, linked.ik2d.chains[0])
    before, errors = played(linked, target, 6)
    assert errors.max() < TIP * sum(lengths)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    linked = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == 'ARMATURE')
    assert np.array_equal(played(linked, frames=6)[0], before)


# Nearly along -Y of what carries them Blender's rest matrices are off the most.
ROOT_OFF, FOLDED_OFF = (0.104, 0.106, 0.108, 0.11, 0.112), (-2.0, -1.7, 1.337, 1.5, 1.8)


@pytest.mark.slow
@pytest.mark.parametrize("solver, headings", [('ARC', ROOT_OFF), ('EVEN', ROOT_OFF), ('ARC', FOLDED_OFF)])
def test_rest_matrices_that_are_not_quite_orthonormal_are_made_up_for(solver, headings):
    steps = np.stack((np.zeros(5), -np.cos(headings), -np.sin(headings)), axis=1)
    points = [tuple(map(float, point)) for point in np.vstack((np.zeros(3), np.cumsum(steps, axis=0)))]
    bones = {f"b{i}": (points[i], points[i + 1], f"b{i - 1}" if i else "", 0.0) for i in range(5)}
    armature = add_armature(bones)
    target = add_target({})
    add_chain(armature, "b4", target, 5, solver=solver)
    rest = [np.array(bone.matrix_local)[:3, :3] for bone in armature.data.bones]
    assert max(np.abs(matrix.T @ matrix - np.eye(3)).max() for matrix in rest) > 3e-5
    rng, outer = np.random.default_rng(25), 5.0
    make_native(armature, armature.ik2d.chains[0])
    for _ in range(30):
        angle, distance = rng.uniform(-np.pi, np.pi), outer * rng.uniform(0.1, 0.95)
        target.location = (0.0, distance * np.cos(angle), distance * np.sin(angle))
        bpy.context.view_layer.update()
        assert missed(armature, target) < 1e-6 * outer
