# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains show the frames that are kept as those that are not, and drop them at any edit."""

import bpy
import numpy as np
import pytest
from rigs import add_target, evaluated_place
from test_live import (
    KINDS,
    SAME,
    add_arm,
    add_chain,
    arm_with_target,
    axis_angles,
    eulers,
    far,
    half_influence,
    hinges_askew,
    influence_over_keys,
    keyed_bend,
    keyed_softness,
    limited,
    loose_bones,
    missed,
    moving_armature,
    poses,
    root_counts,
    sliding,
    stretched,
    tips,
)

from ik2d_addon.bake import bake
from ik2d_addon.live.chain import LiveChain
from ik2d_addon.live.kept import cache
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.animation.versions import existing_fcurves

# On which they are kept, and looked at; those between whole frames are kept where they were shown.
LAST = 41
FRAMES = [float(frame) for frame in range(3, 40, 4)]
BETWEEN = [7.25, 30.5, 12.75]


@pytest.fixture
def followed(monkeypatch) -> list:
    """Return a list that gets the name of each chain that is posed after an evaluation."""
    names, follow = [], LiveChain.follow

    def noted(chain, *arguments):
        names.append(chain.name)
        return follow(chain, *arguments)

    monkeypatch.setattr(LiveChain, "follow", noted)
    return names


def go(frame: float) -> None:
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)


def soft(chain) -> None:
    chain.softness = 0.2


def flipped(chain) -> None:
    chain.bend = 'NEGATIVE'


def remapped(_chain) -> None:
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 130


def bone_target(chain) -> None:
    """Have the chain follow a bone under another that moves, of an armature that moves too."""
    other = add_arm(2)
    for ob, name, value in (
        (other, "location", (0.3, 0.1, 0.0)),
        (other.pose.bones["b0"], "rotation_quaternion", (0.9, 0.2, 0.0, 0.1)),
        (other.pose.bones["b1"], "location", (0.0, 0.0, 0.0)),
    ):
        for frame in (1, 40):
            setattr(ob, name, value if frame == 40 else getattr(ob, name))
            ob.keyframe_insert(name, frame=frame)
    chain.target, chain.subtarget = other, "b1"


def parented_target(chain) -> None:
    holder = add_target({1: (0.0, 0.0, 0.1), 40: (0.2, 0.3, -0.2)}, "Holder")
    holder.rotation_euler = (0.1, 0.2, 0.3)
    chain.target.parent = holder


def scaled_target(chain) -> None:
    for frame, scale in ((1, 1.0), (40, 2.0)):
        chain.target.scale = (scale, 1.0, -1.0)
        chain.target.keyframe_insert("scale", frame=frame)


def noisy(chain) -> None:
    for curve in existing_fcurves(chain.target):
        curve.modifiers.new('NOISE').strength = 0.2


def circle(chain) -> None:
    chain.solver = 'ARC'


def tip_angle(chain) -> None:
    chain.tip_rotation, chain.solver = 'TARGET', 'EVEN'


def play(last: int = LAST) -> None:
    """Go through the frames twice, so that all of them are kept."""
    for _ in range(2):
        for frame in range(1, last + 1):
            go(frame)


def afterwards(armature: bpy.types.Object, frames: list[float]) -> dict:
    """Return the joints on frames that are not kept, each posed after its evaluation."""
    found = {}
    for frame in frames:
        RIGS.mark()
        found |= poses(armature, [frame])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("bones", [1, 2, 5])
@pytest.mark.parametrize(
    "kind",
    [
        soft,
        flipped,
        limited,
        eulers,
        axis_angles,
        moving_armature,
        remapped,
        bone_target,
        parented_target,
        scaled_target,
        noisy,
        keyed_bend,
        half_influence,
        circle,
    ],
)
def test_blender_evaluates_kept_frames_once_and_shows_what_a_bake_keys(bones, kind, followed):
    if bones == 1 and kind in (moving_armature, bone_target, parented_target, noisy):
        pytest.skip("a straight chain turns its plane to its target, which a bake does once")
    if bones == 1 and kind in (circle, keyed_bend):
        pytest.skip("for more bones")
    armature, _, chain = arm_with_target(bones, middle=2.0 if kind == soft else 1.4)
    bpy.context.scene.frame_end = LAST
    kind(chain)
    chain.live = True
    play()
    followed.clear()
    shown = poses(armature, FRAMES)
    assert not RIGS.problems and not RIGS.failures
    assert followed == []
    shown |= poses(armature, BETWEEN)
    goes_on = bones == 5 and kind == limited
    own = afterwards(armature, BETWEEN if goes_on else [*FRAMES, *BETWEEN])
    assert len(followed) >= len(own)
    assert far({frame: shown[frame] for frame in own}, own) <= SAME
    play()
    assert far(shown, poses(armature, [*FRAMES, *BETWEEN][::-1])) <= SAME
    bake(armature, frame_start=1, frame_end=LAST)
    baked = poses(armature, FRAMES)
    assert far(baked, shown) <= 3.0 * SAME


@pytest.mark.slow
@pytest.mark.parametrize("bones", [2, 4])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__ if kind else "plain")
def test_all_kinds_of_chains_are_kept(bones, kind, followed):
    if bones == 2 and kind in (loose_bones, root_counts):
        pytest.skip("for more bones")
    armature, _, chain = arm_with_target(bones, middle=2.0)  # out of reach on some frames
    bpy.context.scene.frame_end = LAST
    if kind:
        kind(chain)
    chain.live = True
    play()
    assert not RIGS.problems and not RIGS.failures
    followed.clear()
    shown = poses(armature, FRAMES)
    # Keys on the bones would overwrite what is posed before they are evaluated.
    assert (followed != []) == (kind == influence_over_keys) and chain.live
    bake(armature, frame_start=1, frame_end=LAST)
    assert far(tips(shown), tips(poses(armature, FRAMES))) <= 3.0 * SAME


def ccd(chain) -> None:
    chain.solver = 'CCD'


@pytest.mark.slow
@pytest.mark.parametrize("kind", [limited, tip_angle, sliding, root_counts, ccd])
@pytest.mark.parametrize("seed", range(3))
def test_what_goes_on_from_frame_to_frame_is_shown_as_a_bake_of_the_range_keys_it(kind, seed):
    rng = np.random.default_rng(seed)
    armature, target, chain = arm_with_target(5)
    bpy.context.scene.frame_end = LAST
    for frame in range(1, LAST + 1, 4):  # far enough to be stopped, and across the root
        target.location = (*rng.uniform(-2.0, 2.0, 1), 0.0, *rng.uniform(-2.0, 2.5, 1))
        target.rotation_euler.y = rng.uniform(-1.0, 1.0)
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    kind(chain)
    chain.live = True
    play()
    shown = poses(armature, [float(frame) for frame in range(1, LAST + 1)])
    assert not RIGS.problems and not RIGS.failures
    bake(armature, frame_start=1, frame_end=LAST)
    assert far(shown, poses(armature, list(shown))) <= 3e-5


@pytest.mark.parametrize("kind", [keyed_bend, keyed_softness, hinges_askew, stretched])
def test_kept_frames_are_those_that_are_followed(kind, followed):
    armature, _, chain = arm_with_target(3)
    kind(chain)
    chain.live = True
    play()
    followed.clear()
    shown = poses(armature, FRAMES)
    assert followed == [] and not RIGS.problems
    # A chain that stretches to its target lies on a line: joints move by the root of what the tip does.
    assert far(shown, afterwards(armature, FRAMES)) <= (1e-3 if kind == stretched else SAME)


def test_frames_that_constraints_lead_are_kept_once_they_were_shown(followed):
    armature, target, chain = arm_with_target(2)
    follower = add_target({}, "Follower")
    follower.constraints.new('COPY_LOCATION').target = target
    chain.target, chain.live = follower, True
    play()
    followed.clear()
    shown = poses(armature, FRAMES)
    assert followed == [] and far(shown, afterwards(armature, FRAMES)) <= SAME


def test_frames_far_apart_are_solved_one_by_one(followed):
    _, _, chain = arm_with_target(2, live=True)
    for frame in (1, 40, 2, 39, 3, 38):
        go(frame)
    assert followed == [chain.name] * 6


# --- Edits that Blender has not evaluated yet ----------------------------------------------


def moves_the_root(armature, _chain):
    armature.pose.bones["b0"].location = (0.1, 0.2, 0.0)


def moves_the_armature(armature, _chain):
    armature.location = (0.1, 0.2, 0.0)


def moves_a_key(_armature, chain):
    for curve in existing_fcurves(chain.target):
        for key in curve.keyframe_points:
            key.co.y += 0.2


def mutes_a_curve(_armature, chain):
    existing_fcurves(chain.target)[0].mute = True


def removes_a_curve(_armature, chain):
    curves = existing_fcurves(chain.target)
    curves.remove(curves[0])


def takes_the_action(_armature, chain):
    chain.target.animation_data_clear()
    chain.target.location = (1.0, 0.0, 1.5)


def constrains_the_target(_armature, chain):
    limit = chain.target.constraints.new('LIMIT_LOCATION')
    limit.use_max_x, limit.max_x = True, 0.9


def drives_the_target(_armature, chain):
    chain.target.driver_add("location", 1).driver.expression = "0.1"


def gives_another_target(armature, chain):
    chain.target = add_target({1: (1.0, 0.1, 1.0), 40: (1.4, 0.0, 0.4)}, "Other")


def keys_the_bones(armature, _chain):
    armature.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=1)


def changes_the_bend(_armature, chain):
    chain.bend = 'NEGATIVE'


def softens(_armature, chain):
    chain.softness = 0.3


def drives_the_softness(_armature, chain):
    chain.driver_add("softness").driver.expression = "0.2 + 0.001 * frame"


def keys_the_bend(_armature, chain):
    keyed_bend(chain)


def turns_a_rotation_mode(armature, _chain):
    armature.pose.bones["b1"].rotation_mode = 'XYZ'


def parents_the_target(_armature, chain):
    chain.target.parent = add_target({1: (0.0, 0.0, 0.0), 40: (0.4, 0.0, 0.0)}, "Holder")


EDITS = [
    moves_the_root,
    moves_the_armature,
    moves_a_key,
    mutes_a_curve,
    removes_a_curve,
    takes_the_action,
    constrains_the_target,
    drives_the_target,
    gives_another_target,
    keys_the_bones,
    changes_the_bend,
    softens,
    drives_the_softness,
    keys_the_bend,
    turns_a_rotation_mode,
    parents_the_target,
]


def turns_the_armature(armature, _chain):
    armature.rotation_euler.z = 0.5


def parents_the_armature(armature, _chain):
    armature.parent = add_target({1: (0.0, 0.0, 0.0), 40: (0.4, 0.1, 0.0)}, "Holder")


def limits_a_joint(_armature, chain):
    chain.joints[1].use_limit, chain.joints[1].limit_min, chain.joints[1].limit_max = True, 0.0, 0.2


def gives_a_pole(_armature, chain):
    chain.plane, chain.pole = 'POLE', add_target({1: (1.0, 2.0, 1.0), 40: (-1.0, 2.0, 0.0)}, "Pole")


def gives_another_action(_armature, chain):
    other = add_target({1: (1.0, 0.0, 1.4), 40: (1.5, 0.0, 0.2)}, "Other")
    chain.target.animation_data.action = other.animation_data.action
    if hasattr(chain.target.animation_data, "action_slot"):
        chain.target.animation_data.action_slot = other.animation_data.action.slots[0]


def pushes_the_action_down(_armature, chain):
    animation = chain.target.animation_data
    strip = animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
    strip.scale = 1.7
    if hasattr(strip, "action_slot"):
        strip.action_slot = animation.action_slot
    animation.action = None


def remaps_the_time(_armature, chain):
    remapped(chain)


def blends(_armature, chain):
    chain.influence = 0.5


def turns_the_rest_pose(armature, _chain):
    armature.data.bones["b1"].use_inherit_rotation = False


def constrains_a_bone(armature, _chain):
    limit = armature.pose.bones["b1"].constraints.new('LIMIT_ROTATION')
    limit.use_limit_x, limit.owner_space = True, 'LOCAL'


def scales_a_bone(armature, _chain):
    armature.pose.bones["b0"].scale = (1.2, 1.2, 1.2)


def changes_the_interpolation(_armature, chain):
    for curve in existing_fcurves(chain.target):
        for key in curve.keyframe_points:
            key.interpolation = 'CONSTANT'


def turns_live_off(_armature, chain):
    chain.live = False


EDITS += [
    turns_the_armature,
    parents_the_armature,
    limits_a_joint,
    gives_a_pole,
    gives_another_action,
    pushes_the_action_down,
    remaps_the_time,
    blends,
    turns_the_rest_pose,
    constrains_a_bone,
    scales_a_bone,
    changes_the_interpolation,
]


@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_counts_on_the_very_next_frame_though_it_was_kept(edit, evaluated):
    """Fails for each edit that leaves the frames kept; evaluated: as in the interface, before the frame."""
    armature, _, chain = arm_with_target(2, live=True)
    play()
    edit(armature, chain)
    if evaluated:
        bpy.context.view_layer.update()
    for frame in (9, 10, 20):
        shown = poses(armature, [frame])
        problems = dict(RIGS.problems)
        assert not RIGS.failures
        RIGS.drop()  # all is read anew
        assert far(shown, poses(armature, [frame])) <= SAME, frame
        assert problems == RIGS.problems


def test_a_driver_of_a_setting_counts_though_the_frame_was_kept():
    armature, _, chain = arm_with_target(2, live=True)
    driver = chain.driver_add("turn_over").driver
    variable = driver.variables.new()
    variable.type, variable.name = 'SINGLE_PROP', "switch"
    switch = add_target({}, "Switch")
    variable.targets[0].id, variable.targets[0].data_path = switch, '["side"]'
    switch["side"] = 0.0
    driver.expression = "switch"
    play()
    before = poses(armature, [9])
    switch["side"] = 1.0
    switch.update_tag()
    shown = poses(armature, [9])
    assert far(before, shown) > 0.1
    RIGS.drop()
    assert far(shown, poses(armature, [9])) <= SAME


def test_undo_drops_what_was_kept():
    armature, target, _ = arm_with_target(2, live=True)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="before")
    play()
    assert RIGS.kept is not None
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert RIGS.kept is None


def test_a_bake_leaves_nothing_kept():
    armature, _, chain = arm_with_target(2, live=True)
    play()
    bake(armature, frame_start=1, frame_end=10)
    keyed = poses(armature, [5.0])
    bone = armature.pose.bones["b0"]
    for curve in existing_fcurves(armature):
        curve.mute = True
    bone.rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    assert far(keyed, poses(armature, [5.0])) > 0.1  # the bones are free again: nothing poses them


def test_each_scene_has_frames_of_its_own():
    armature, target, _ = arm_with_target(2, live=True)
    scene, other = bpy.context.scene, bpy.data.scenes.new("Other")
    other.render.frame_map_old, other.render.frame_map_new = 100, 200
    for ob in (armature, target):
        other.collection.objects.link(ob)
    shown = {}
    for where in (scene, other, scene, other):
        bpy.context.window.scene = where
        play(12)
        shown.setdefault(where, []).append(poses(armature, [float(frame) for frame in range(1, 13)]))
    for found in shown.values():
        assert far(*found) <= SAME
    RIGS.drop()
    assert far(shown[other][0], poses(armature, list(shown[other][0]))) <= SAME


def test_many_frames_stay_within_their_memory(monkeypatch, followed):
    monkeypatch.setattr(cache, "MOST", 40_000)  # some 500 rows of a chain of two bones
    armature, _, chain = arm_with_target(2, live=True)
    for frame in range(1, 1500):
        go(frame)
    (kept,) = RIGS.kept._poses.values()
    rows = kept._rows
    assert sum(block.nbytes for block in rows._blocks.values()) <= 40_000
    assert len(rows._places) <= sum(len(block) for block in rows._blocks.values())
    assert missed(armature, chain) < SAME
    go(1)
    assert missed(armature, chain) < SAME


def test_an_edit_of_the_rest_pose_counts_on_the_very_next_frame():
    armature, _, chain = arm_with_target(3, live=True)
    play(10)
    armature.data.bones["b1"].use_inherit_rotation = False
    go(9.0)
    assert not RIGS.problems and missed(armature, chain) < 3.0 * SAME


# --- What hangs on the bones ------------------------------------------------------------------


def test_meshes_and_children_of_the_bones_are_there_on_the_same_frame(followed):
    armature, _, chain = arm_with_target(2, live=True)
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([tuple(armature.data.bones["b1"].tail_local)], [], [])
    skin, child = bpy.data.objects.new("Skin", mesh), bpy.data.objects.new("Child", None)
    for ob in (skin, child):
        bpy.context.scene.collection.objects.link(ob)
    skin.vertex_groups.new(name="b1").add([0], 1.0, 'REPLACE')
    skin.modifiers.new("Armature", 'ARMATURE').object = armature
    child.parent, child.parent_type, child.parent_bone = armature, 'BONE', "b1"
    play()
    followed.clear()
    for frame in (9.0, 10.0, 20.0):
        go(frame)
        place = evaluated_place(chain.target)
        graph = bpy.context.evaluated_depsgraph_get()
        shown = skin.evaluated_get(graph)
        corner = shown.matrix_world @ shown.data.vertices[0].co
        assert (corner - place).length < 3e-6
        assert (child.evaluated_get(graph).matrix_world.translation - place).length < 3e-6
    assert followed == []


def test_only_the_bones_of_live_chains_are_written():
    armature = add_arm(2)
    target = add_target({1: (1.2, 0.0, 0.8), 40: (0.7, 0.0, 1.9)})
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    other = armature.data.edit_bones.new("other")
    other.head, other.tail = (3.0, 0.0, 0.0), (3.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.pose.bones["other"].rotation_quaternion = (0.5, 0.5, 0.1, 0.2)
    kept = tuple(armature.pose.bones["other"].rotation_quaternion)
    add_chain(armature, "b1", target, 2, live=True)
    play(9)
    bone = armature.pose.bones["other"]
    bone.rotation_quaternion = kept = (0.1, 0.7, 0.1, 0.6)  # by a script, which Blender is not told
    kept = tuple(bone.rotation_quaternion)
    go(5)
    assert tuple(armature.pose.bones["other"].rotation_quaternion) == kept
    assert tuple(armature.pose.bones["b1"].rotation_euler) == (0.0, 0.0, 0.0)


def test_a_chain_that_is_elsewhere_again_and_again_is_left_alone(followed):
    armature, _, chain = arm_with_target(2, live=True)
    play(9)
    turned = []

    def turn_back(_scene, _depsgraph=None):
        armature.pose.bones["b0"].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
        turned.append(1)

    bpy.app.handlers.frame_change_pre.append(turn_back)
    try:
        for frame in [*range(1, 10)] * 2:
            go(float(frame))
            assert missed(armature, chain) < 3.0 * SAME
        (kept,) = RIGS.kept._poses.values()
        assert not kept.is_useful and len(turned) == 18
    finally:
        bpy.app.handlers.frame_change_pre.remove(turn_back)


def test_the_frame_before_is_never_what_counts():
    armature, target, chain = arm_with_target(2, live=True)
    for frame in (2.0, 3.0, 40.0, 1.0, 25.5):
        go(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        shown = np.array(target.evaluated_get(graph).matrix_world.translation)
        values = [curve.evaluate(frame) for curve in existing_fcurves(target)]
        assert np.allclose(shown, values, rtol=0.0, atol=1e-6)
        assert missed(armature, chain) < SAME


@pytest.mark.slow
def test_frames_outside_the_range_are_by_themselves_and_another_range_is_solved_anew(monkeypatch):
    armature, _, chain = arm_with_target(4)
    limited(chain)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, chain.live = 5, 20, True
    solved, original = [], cache.solved_rows
    monkeypatch.setattr(
        cache, "solved_rows", lambda *given: (solved.append(len(given[2])), original(*given))[1]
    )
    for frame in (*range(1, 31), *range(1, 31)):
        go(frame)
    assert solved == [16]  # once, and only the range
    scene.frame_end = 30
    play(30)
    assert solved == [16, 26]
    shown = poses(armature, [float(frame) for frame in range(5, 31)])
    bake(armature, frame_start=5, frame_end=30)
    assert far(shown, poses(armature, list(shown))) <= 3e-5


def test_a_scene_without_the_rig_leaves_it_alone():
    armature, _, _ = arm_with_target(2, live=True)
    play()
    before = tuple(armature.pose.bones["b0"].rotation_quaternion)
    other = bpy.data.scenes.new("Other")
    for frame in range(1, 20):
        other.frame_set(frame)
    assert tuple(armature.pose.bones["b0"].rotation_quaternion) == before


def test_a_chain_whose_target_is_hidden_is_followed_by_its_keys(followed):
    armature, target, chain = arm_with_target(2, live=True)
    target.hide_viewport = True
    play()
    followed.clear()
    shown = poses(armature, FRAMES)
    assert len(followed) >= len(FRAMES)
    target.hide_viewport = False
    assert far(shown, poses(armature, FRAMES)) <= SAME
