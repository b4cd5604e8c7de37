# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains in planes that follow a target or a pole show what a bake keys, however one gets to a frame."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import add_armature, add_target, leg_with_target
from swing_rigs import LAST, RULES, Limb, follow, joints_on, misses, move_about, random_limb
from test_live import SAME, missed, sliding

from ik2d_addon.bake import bake, solve
from ik2d_addon.live import rig_state
from ik2d_addon.live.chain import LiveChain
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.animation.bone_channels import rotation_property
from ik2d_addon.ui.settings.joint_list import sync_joints

FRAMES = range(1, LAST + 1)


def moving(seed: int, rule: str, count: int = 0, **limb) -> tuple[Limb, bpy.types.PropertyGroup]:
    """Add a random limb with a chain whose target and pole move."""
    made = random_limb(seed, count, **limb)
    chain = follow(made, rule, pole_angle=made.rng.uniform(-np.pi, np.pi))
    move_about(made, chain)
    return made, chain


def shown_live(limb: Limb, chain, frames=FRAMES) -> np.ndarray:
    """Return the joints as live shows them on some frames, one after another."""
    chain.live = True
    found = joints_on(limb, frames)
    assert chain.live and not RIGS.failures and not RIGS.problems
    return found


def assert_as_baked(limb: Limb, chain, near: float = 3.0 * SAME) -> None:
    shown = shown_live(limb, chain)
    bake(limb.armature)
    assert not chain.live
    assert np.abs(joints_on(limb, FRAMES) - shown).max() <= near


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_plain_numbers_are_enough_and_those_of_a_bake_in_any_order(rule, some, monkeypatch):
    for seed in range(400, 400 + some(80)):
        limb, chain = moving(seed, rule, seed % 7)
        with monkeypatch.context() as alone:
            alone.setattr(rig_state, "solve_chain", None)
            shown = shown_live(limb, chain)
            if len(limb.bones) > 1:
                assert misses(limb, chain, FRAMES).max() <= 3.0 * SAME, seed
            assert chain.live_reached, (seed, chain.live_status)
            order = limb.rng.permutation(list(FRAMES))
            assert np.abs(joints_on(limb, order.tolist()) - shown[order - 1]).max() <= 3.0 * SAME, seed
        bake(limb.armature)
        assert np.abs(joints_on(limb, FRAMES) - shown).max() <= 3.0 * SAME, seed


# --- Whatever else the chain has ---------------------------------------------------------------


def soft(chain) -> None:
    chain.softness = 0.3


def flipped(chain) -> None:
    chain.bend = 'NEGATIVE'


def limited(chain) -> None:
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, radians(-15), radians(20)


def stretched(chain) -> None:
    for bone in chain.id_data.data.bones:
        bone.inherit_scale = 'ALIGNED'
    chain.stretch, chain.compress = 1.6, 0.7


def half_influence(chain) -> None:
    chain.influence = 0.5


def over_keys(chain) -> None:
    chain.influence = 0.7
    bone = chain.id_data.pose.bones["b0"]
    bone.rotation_mode = 'QUATERNION'
    for frame, turn in ((1, 0.1), (12, 0.8)):
        bone.rotation_quaternion = Quaternion((0.3, 0.5, 0.2), turn)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def turning_over(chain) -> None:
    chain.turn_over = 0.0
    chain.keyframe_insert("turn_over", frame=1)
    chain.turn_over = 1.0
    chain.keyframe_insert("turn_over", frame=12)


def from_rest(chain) -> None:
    chain.solver, chain.start_from = 'CCD', 'REST'


def on_an_arc(chain) -> None:
    chain.solver = 'ARC'


def with_an_angle(chain) -> None:
    chain.tip_rotation, chain.start_from = 'WORLD', 'REST'


def scaled(chain) -> None:
    bone = chain.id_data.pose.bones["b1"]
    for frame, scale in ((1, 1.0), (12, 1.3)):
        bone.scale = (scale, scale, scale)
        bone.keyframe_insert("scale", frame=frame)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize(
    "kind",
    [
        soft,
        flipped,
        limited,
        stretched,
        half_influence,
        over_keys,
        turning_over,
        from_rest,
        on_an_arc,
        scaled,
        sliding,
        with_an_angle,
    ],
    ids=lambda kind: kind.__name__,
)
def test_live_shows_what_a_bake_keys_whatever_else_the_chain_has(kind, count, rule):
    # Scales that are uneven once the bones stretch are another matter.
    limb, chain = moving(500 + count, rule, count, flat=True, uneven=kind != stretched, inherits=True)
    sync_joints(chain)
    kind(chain)
    # A chain that stretches to its target lies on a line: joints move by the root of what the tip does.
    assert_as_baked(limb, chain, 1e-3 if kind == stretched else 3.0 * SAME)


@pytest.mark.parametrize("kind", [half_influence, soft])
def test_live_shows_what_solve_poses(kind):
    limb, chain = moving(520, 'POLE', 3)
    kind(chain)
    bpy.context.scene.frame_set(5)
    solve(limb.armature)
    solved = limb.joints
    for bone in limb.armature.pose.bones[1:]:
        bone.matrix_basis.identity()
    chain.live = True
    bpy.context.view_layer.update()
    assert np.abs(limb.joints - solved).max() <= 3.0 * SAME * limb.reach


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_hands_turn_as_in_a_bake(rule):
    armature, target = leg_with_target()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    shin, foot = armature.data.edit_bones["shin"], armature.data.edit_bones.new("foot")
    foot.head, foot.tail, foot.parent = shin.tail, shin.tail + Vector((0.1, -0.3, 0.0)), shin
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = armature.ik2d.chains[0]
    chain.plane, chain.pole, chain.hand_rotation = (
        rule,
        add_target({1: (0.4, -2, 1), 24: (-1, -2, 1.5)}),
        'WORLD',
    )
    target.location.x = 0.0
    for frame, x in ((1, -0.4), (24, 0.5)):
        target.location.x = x
        target.keyframe_insert("location", index=0, frame=frame)
    chain.live = True

    def feet() -> np.ndarray:
        found = []
        for frame in range(1, 25, 4):
            bpy.context.scene.frame_set(frame)
            shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found.append(np.array(shown.pose.bones["foot"].matrix))
        return np.array(found)

    shown = feet()
    assert not RIGS.problems
    assert np.abs(shown[:, :3, :3] - shown[0, :3, :3]).max() < 1e-5  # it stays as it is in the world
    bake(armature)
    assert np.abs(feet() - shown).max() < 1e-5


@pytest.mark.parametrize("parent", [{"use_inherit_rotation": False}, {"inherit_scale": 'NONE'}])
def test_a_root_that_takes_less_than_all_of_its_parent_is_followed_in_any_plane(parent):
    armature, _ = leg_with_target()
    for name, value in parent.items():
        setattr(armature.data.bones["thigh"], name, value)
    body = armature.pose.bones["body"]
    body.rotation_quaternion, body.scale = Quaternion((1.0, 0.0, 0.0), 0.3), (1.2, 1.2, 1.2)
    chain = armature.ik2d.chains[0]
    chain.live = True
    for plane in ('AUTO', 'SWING', 'ARC'):
        chain.plane = plane
        bpy.context.scene.frame_set(5)
        bpy.context.scene.frame_set(6)
        assert missed(armature, chain) < 3.0 * SAME


# --- The pole -------------------------------------------------------------------------------------


@pytest.fixture
def followed(monkeypatch) -> list:
    """Return a list that gets the name of each chain that is posed after an evaluation."""
    names, original = [], LiveChain.follow
    monkeypatch.setattr(
        LiveChain, "follow", lambda chain, *given: (names.append(chain.name), original(chain, *given))[1]
    )
    return names


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_frames_where_f_curves_move_target_and_pole_are_kept(count, rule, followed):
    limb, chain = moving(540 + count, rule, count)
    chain.live = True
    for frame in (*range(1, 13), *range(1, 13)):
        bpy.context.scene.frame_set(frame)
    followed.clear()
    shown = joints_on(limb, FRAMES)
    assert followed == [] and not RIGS.problems and not RIGS.failures
    afterwards = []
    for frame in FRAMES:
        RIGS.mark()
        afterwards.append(joints_on(limb, [frame])[0])
    assert len(followed) >= len(FRAMES)
    assert np.abs(shown - afterwards).max() <= 3.0 * SAME


def test_a_pole_that_is_edited_counts_on_the_very_next_frame():
    limb, chain = moving(550, 'POLE', 2)
    chain.live = True
    for frame in (*range(1, 13), *range(1, 13)):
        bpy.context.scene.frame_set(frame)
    for edit in ("animation_data_clear", "parent"):
        if edit == "parent":
            chain.pole.parent = add_target({1: (0, 0, 0), 12: tuple(limb.reach * np.ones(3))}, "Holder")
        else:
            chain.pole.animation_data_clear()
            chain.pole.location += Vector(limb.reach * np.ones(3))
        shown = joints_on(limb, [7])
        RIGS.drop()  # all is read anew
        assert np.abs(joints_on(limb, [7]) - shown).max() <= SAME
        assert not RIGS.problems and not RIGS.failures


def test_the_plane_follows_a_pole_that_is_moved_by_hand():
    limb, chain = moving(551, 'POLE', 2)
    chain.pole.animation_data_clear()
    chain.live = True
    knees = []
    for place in np.eye(3):
        chain.pole.location = limb.in_world(2.0 * limb.reach * place)
        bpy.context.view_layer.update()
        knees.append(limb.joints[1])
        solve(limb.armature)
        assert np.abs(limb.joints[1] - knees[-1]).max() <= 3.0 * SAME * limb.reach
    assert np.abs(knees[0] - knees[1]).max() > 0.05 * limb.reach


@pytest.mark.parametrize("of", ["its own armature", "another armature"])
def test_a_pole_can_be_a_bone(of):
    limb, chain = moving(552, 'POLE', 3)
    if of == "another armature":
        holder, name = add_armature({"aim": ((0, 0.1, 0), (0, 0.1, 1), "", 0.0)}, "Other"), "aim"
        holder.scale = (limb.size,) * 3
    else:
        holder, name = limb.armature, "aim"
        bpy.context.view_layer.objects.active = holder
        bpy.ops.object.mode_set(mode='EDIT')
        bone = holder.data.edit_bones.new(name)
        bone.head, bone.tail = (2.0, 1.0, 3.0), (2.0, 1.0, 4.0)
        bpy.ops.object.mode_set(mode='OBJECT')
    bone = holder.pose.bones[name]
    for frame, place in ((1, (0.0, 0.0, 0.0)), (12, (2.0, -1.0, 1.5))):
        bone.location = place
        bone.keyframe_insert("location", frame=frame)
    chain.pole, chain.pole_subtarget = holder, name
    assert_as_baked(limb, chain)


@pytest.mark.parametrize("where", ["object", "collection"])
def test_a_disabled_pole_is_followed_by_its_own_curves(where):
    limb, chain = moving(553, 'POLE', 2)
    expected = shown_live(limb, chain)
    if where == "object":
        chain.pole.hide_viewport = True
    else:
        bpy.context.scene.collection.objects.unlink(chain.pole)
        collection = bpy.data.collections.new("Poles")
        bpy.context.scene.collection.children.link(collection)
        collection.objects.link(chain.pole)
        bpy.context.view_layer.layer_collection.children["Poles"].exclude = True
    assert np.abs(joints_on(limb, FRAMES) - expected).max() <= 3.0 * SAME
    chain.pole.constraints.new('LIMIT_LOCATION')
    bpy.context.scene.frame_set(3)
    assert "its pole" in chain.live_status and "disabled" in chain.live_status


# --- Where a rule fails, and its channels ------------------------------------------------------------


def test_where_the_plane_is_open_live_keeps_the_rest_s_side_as_a_bake_does():
    limb, chain = moving(560, 'POLE', 2, flat=True, uneven=False)
    target, pole = chain.target, chain.pole
    for ob in (target, pole):
        ob.animation_data_clear()
    chain.live = True
    for way in (1.0, -1.0):
        target.location, pole.location = (
            limb.in_world(part * limb.reach * Vector((0.6, 0.0, 0.8))) for part in (0.7, 2.0 * way)
        )
        bpy.context.view_layer.update()
        shown = limb.joints
        assert chain.live_reached and "in line with its pole" in chain.live_status
        solve(limb.armature)
        assert np.abs(limb.joints - shown).max() <= 1e-4 * limb.reach
    pole.location = limb.in_world(limb.reach * Vector((-0.8, 0.0, 0.6)))
    bpy.context.view_layer.update()
    assert chain.live_status == "On its target"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", ['QUATERNION', 'AXIS_ANGLE', 'XYZ', 'ZXY'])
def test_channels_go_on_from_frame_to_frame(mode, rule):
    limb, chain = moving(570, rule, 2, mode=mode)
    chain.live = True
    values = []
    for step in range(4 * LAST - 3):
        bpy.context.scene.frame_set(1 + step // 4, subframe=step % 4 / 4)
        values.append(np.array(getattr(limb.first, rotation_property(mode))))
    steps = np.abs(np.diff(values, axis=0)).max()
    assert 0.0 < steps < (1.5 if rotation_property(mode) == "rotation_euler" else 0.4)


# --- One bone that aims -------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_one_bone_points_at_a_target_however_far_it_is(rule):
    limb, chain = moving(580, rule, 1, uneven=False)
    chain.live = True
    for part in (0.3, 1.0, 40.0):
        chain.target.animation_data_clear()
        chain.target.location = limb.in_world(part * limb.reach * Vector((0.48, -0.6, 0.64)))
        bpy.context.view_layer.update()
        ahead = limb.joints[1] - limb.joints[0]
        assert np.allclose(ahead / np.linalg.norm(ahead), (0.48, -0.6, 0.64), atol=1e-4)
        assert chain.live_status == "Points at its target" and chain.live_distance <= 1e-5 * limb.size
    chain.aim_distance = True
    bpy.context.view_layer.update()
    assert "out of reach" in chain.live_status


def test_one_bone_in_a_fixed_plane_is_as_far_off_as_its_target_is_from_the_plane():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.bone_count, chain.plane = 1, 'X'
    target.animation_data_clear()
    target.location = (0.25, -3.0, 1.0)
    chain.live = True
    bpy.context.view_layer.update()
    assert chain.live_distance == pytest.approx(0.25, abs=1e-4)
    assert "off the plane" in chain.live_status


def test_one_bone_in_the_plane_of_its_target_turns_the_shortest_way_and_is_read_once(monkeypatch):
    limb, chain = moving(590, 'ARC', 1)
    wanted = shown_live(limb, chain)
    chain.plane = 'AUTO'
    joints_on(limb, [1])
    read, original = [], LiveChain._read
    monkeypatch.setattr(
        LiveChain, "_read", lambda one, *given: (read.append(one.name), original(one, *given))[1]
    )
    assert np.abs(joints_on(limb, FRAMES) - wanted).max() <= 3.0 * SAME
    assert read == []
    chain.influence = 0.5  # the bake's own way blends it
    half = joints_on(limb, FRAMES)
    assert read and not RIGS.problems
    solve(limb.armature)
    assert np.abs(limb.joints / limb.reach - half[-1]).max() <= 3.0 * SAME
