# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains posed before Blender evaluates a frame show what they show posed after it."""

import bpy
import numpy as np
import pytest
from rigs import add_target, evaluated_place
from test_live import (
    SAME,
    add_arm,
    add_chain,
    arm_with_target,
    axis_angles,
    eulers,
    far,
    half_influence,
    hinges_askew,
    keyed_bend,
    keyed_softness,
    limited,
    missed,
    moving_armature,
    poses,
    stretched,
)

from ik2d_addon.bake import bake
from ik2d_addon.live.chain import LiveChain
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = [float(frame) for frame in range(3, 40, 4)] + [7.25, 30.5, 12.75]


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
    ],
)
def test_blender_evaluates_once_what_a_bake_keys(bones, kind, followed):
    if bones == 1 and kind in (moving_armature, bone_target, parented_target, noisy):
        pytest.skip("a straight chain turns its plane to its target, which a bake does once")
    armature, _, chain = arm_with_target(bones, middle=2.0 if kind == soft else 1.4)
    kind(chain)
    chain.live = True
    go(2.0)
    followed.clear()
    shown = poses(armature, FRAMES)
    assert not RIGS.problems and not RIGS.failures
    # Where limits stop five bones the arrays decide; all else is ready before the evaluation.
    assert followed == [] or bones == 5 and kind == limited
    afterwards = {}
    for frame in FRAMES:
        RIGS.ahead = None
        afterwards |= poses(armature, [frame])
    assert far(shown, afterwards) <= SAME and len(followed) >= len(FRAMES)
    assert far(shown, poses(armature, FRAMES[::-1])) <= SAME
    bake(armature, frame_start=1, frame_end=41)
    baked = poses(armature, [frame for frame in FRAMES if frame % 1 == 0])
    assert far(baked, shown) <= 3.0 * SAME


@pytest.mark.parametrize("kind", [half_influence, keyed_bend, keyed_softness, hinges_askew, stretched])
def test_what_more_than_f_curves_or_rotations_decide_waits_for_the_evaluation(kind, followed):
    armature, _, chain = arm_with_target(3)
    kind(chain)
    chain.live = True
    go(2.0)
    followed.clear()
    for frame in FRAMES[:5]:
        go(frame)
    assert len(followed) >= 5 and not RIGS.problems


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


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_counts_on_the_very_next_frame(edit):
    armature, _, chain = arm_with_target(2, live=True)
    for frame in (2.0, 3.0, 4.0):
        go(frame)
    edit(armature, chain)
    for frame in (9.0, 10.5, 20.0):
        shown = poses(armature, [frame])
        assert not RIGS.problems and not RIGS.failures
        RIGS.drop()  # all is read anew
        assert far(shown, poses(armature, [frame])) <= SAME, frame


def test_an_edit_of_the_rest_pose_counts_on_the_very_next_frame():
    armature, _, chain = arm_with_target(3, live=True)
    for frame in (2.0, 3.0):
        go(frame)
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
    go(2.0)
    go(3.0)
    followed.clear()
    for frame in (9.0, 10.5, 20.0):
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
    for frame in (2.0, 3.0, 9.0):
        go(frame)
    assert tuple(armature.pose.bones["other"].rotation_quaternion) == kept
    assert tuple(armature.pose.bones["b1"].rotation_euler) == (0.0, 0.0, 0.0)


def test_a_chain_that_is_elsewhere_again_and_again_is_left_alone(followed):
    armature, _, chain = arm_with_target(2, live=True)
    go(2.0)
    turned = []

    def turn_back(_scene, _depsgraph=None):
        armature.pose.bones["b0"].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
        turned.append(1)

    bpy.app.handlers.frame_change_pre.append(turn_back)
    try:
        for frame in range(3, 12):
            go(float(frame))
            assert missed(armature, chain) < 3.0 * SAME
        (live,) = RIGS.chains.values()
        assert live.missed_ahead == 3 and len(followed) >= 9 and len(turned) == 9
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
