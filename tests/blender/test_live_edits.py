# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits by scripts that Blender has not told of before the next frame: kept frames do not hide them."""

import bpy
import numpy as np
import pytest
from foot_rigs import lift_control, plain_leg
from rigs import add_armature, add_chain, add_target, stretching_arm
from test_live import SAME, arm_with_target, far, poses
from test_live_feet import apart, posed, stand, walk
from test_live_kept import go, play

from ik2d_addon.live import handlers
from ik2d_addon.live.chain import LiveChain
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.animation.versions import existing_fcurves

ON = (9.0, 10.0, 20.0)


def fresh(armature, frame):
    """Return the joints on a frame of which nothing is known."""
    RIGS.drop()
    return poses(armature, [frame])


# --- Locks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_bone_that_a_script_locks_stays_as_it_is_and_the_status_says_so(is_kept, evaluated):
    armature, _, chain = arm_with_target(2, live=True)
    if is_kept:
        play()
    else:
        go(41)
    assert (RIGS.kept is not None) is is_kept
    bone = armature.pose.bones["b1"]
    before = tuple(bone.rotation_quaternion)
    bone.lock_rotation, bone.lock_rotation_w = (True, True, True), True
    if evaluated:
        bpy.context.view_layer.update()
    for frame in ON:
        go(frame)
        assert tuple(bone.rotation_quaternion) == before
        assert chain.live_status.endswith("held by locks")


# --- Settings that call nothing when they are reset ------------------------------------------------


@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("name, value", [("softness", 0.3), ("bend", 'NEGATIVE'), ("turn_over", 1.0)])
def test_a_setting_that_a_script_resets_counts_on_the_next_frame(name, value, evaluated):
    armature, _, chain = arm_with_target(3, live=True)
    setattr(chain, name, value)
    play()
    chain.property_unset(name)
    if evaluated:
        bpy.context.view_layer.update()
    for frame in ON:
        shown = poses(armature, [frame])
        assert far(shown, fresh(armature, frame)) <= 3.0 * SAME


def test_settings_that_a_script_sets_in_bulk_count_on_the_next_frame():
    armature, _, chain = arm_with_target(3, live=True)
    play()
    armature.ik2d.chains.foreach_set("softness", [0.3])
    bpy.context.view_layer.update()
    for frame in ON:
        shown, status = poses(armature, [frame]), chain.live_status
        assert far(shown, fresh(armature, frame)) <= 3.0 * SAME and status == chain.live_status


# --- Grounds ----------------------------------------------------------------------------------------


def turns(ground):
    ground.rotation_euler.x = 0.1


def scales(ground):
    ground.scale.z = 3.0


def moves_a_vertex(ground):
    for vertex in ground.data.vertices:
        vertex.co.z += 0.05


def displaces(ground):
    ground.modifiers["Displace"].strength = 0.06


def hooks(_ground):
    bpy.data.objects["Hook"].location.z = 0.06


def shapes(ground):
    ground.shape_key_add(name="Basis")
    ground.shape_key_add(name="Up").value = 1.0
    for point in ground.data.shape_keys.key_blocks["Up"].data:
        point.co.z += 0.05


def swaps(ground):
    ground.data = ground.data.copy()
    for vertex in ground.data.vertices:
        vertex.co.z += 0.05


@pytest.mark.slow
@pytest.mark.parametrize("edit", [turns, scales, moves_a_vertex, displaces, hooks, shapes, swaps])
def test_a_foot_is_on_a_surface_that_a_script_has_changed(edit):
    leg = plain_leg()
    lift_control(leg, 0.3)
    stand(leg, "mesh")
    ground = leg.chain.foot.ground
    displace = ground.modifiers.new("Displace", 'DISPLACE')
    displace.strength, displace.mid_level = 0.01, 0.0
    hook = ground.modifiers.new("Hook", 'HOOK')
    hook.object = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook.object)
    hook.vertex_indices_set(range(len(ground.data.vertices)))
    walk(leg, np.random.default_rng(3))
    leg.chain.live = True
    play(24)
    edit(ground)
    for frame in ON:
        shown, status = posed(leg.armature, [frame]), leg.chain.live_status
        RIGS.drop()
        assert apart(shown, posed(leg.armature, [frame])) <= 3.0 * SAME
        assert status == leg.chain.live_status


# --- Without an edit --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_kept_frame_says_by_how_much_the_last_bone_is_off_its_angle():
    _, _, chain = arm_with_target(3)
    chain.tip_rotation, chain.solver = 'WORLD', 'EVEN'
    joint = chain.joints[0]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -0.3, 0.3
    chain.live = True
    for frame in (9, 10, 30):
        play()
        go(frame)
        status = chain.live_status
        RIGS.drop()
        go(frame)
        assert status == chain.live_status and "degrees off its angle" in status


@pytest.mark.slow
@pytest.mark.parametrize("bones", [2, 3, 4])
def test_bones_that_shear_those_after_them_are_posed_as_a_bake_poses_them(bones):
    armature, _, chain = arm_with_target(bones)
    armature.pose.bones["b0" if bones == 2 else "b1"].scale = (1.0, 1.3, 1.0)
    chain.live = True
    play()
    for frame in ON:
        shown, status = poses(armature, [frame]), chain.live_status
        assert far(shown, fresh(armature, frame)) <= 3.0 * SAME and status == chain.live_status
        assert status.endswith("held back by uneven scale")
        play()


# --- What was written for a frame is taken back -----------------------------------------------------


def locks(armature):
    armature.pose.bones["b1"].lock_rotation = (True, True, True)
    armature.pose.bones["b1"].lock_rotation_w = True


def links_an_object(_armature):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("New", None))


def constrains(armature):
    constraint = armature.pose.bones["b1"].constraints.new('COPY_ROTATION')
    constraint.target = armature.ik2d.chains[0].target


def poses_the_first(armature):
    armature.pose.bones["b0"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    "edits",
    [(locks, links_an_object), (links_an_object, locks), (poses_the_first, constrains), (constrains,)],
)
def test_edits_together_with_others_count_as_without_kept_frames(edits, monkeypatch):
    shown = {}
    for is_kept in (True, False):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        armature, _, chain = arm_with_target(2, live=True)
        play()
        if not is_kept:
            monkeypatch.setattr(handlers, "Kept", _never)
            RIGS.mark()
            go(41)
        for edit in edits:
            edit(armature)
        shown[is_kept] = []
        for frame in ON:
            channels = [tuple(bone.rotation_quaternion) for bone in armature.pose.bones]
            shown[is_kept].append((poses(armature, [frame]), channels, chain.live_status))
        monkeypatch.undo()
    for (joints, channels, status), (others, their_channels, their_status) in zip(
        shown[True], shown[False], strict=True
    ):
        assert far(joints, others) <= 3.0 * SAME and status == their_status
        assert np.allclose(channels, their_channels, rtol=0.0, atol=1e-5)


def _never(*_arguments):
    raise RuntimeError("nothing is kept")


@pytest.mark.parametrize("edit", ["lock", "mode", "inherit", "lock location"])
def test_bones_that_stretch_do_not_keep_the_stretch_of_a_frame_that_is_taken_back(edit):
    armature, chain = stretching_arm()
    chain.live = True
    play(40)
    go(20)
    bone = armature.pose.bones["bone1"]
    assert bone.scale.y > 1.5
    if edit == "lock":
        bone.lock_rotation, bone.lock_rotation_w = (True, True, True), True
    elif edit == "mode":
        bone.rotation_mode = 'XYZ'
    elif edit == "inherit":
        armature.data.bones["bone1"].use_inherit_rotation = False
    else:
        bone.lock_location = (True, True, True)
    go(9)
    go(1)
    assert [round(each.scale.y, 5) for each in armature.pose.bones] == [1.0, 1.0]
    chain.stretch = 1.0
    bpy.context.view_layer.update()
    go(20)
    assert [round(each.scale.y, 5) for each in armature.pose.bones] == [1.0, 1.0]


def test_a_bone_that_no_chain_writes_is_left_alone_by_other_data_with_bones_in_another_order():
    armature = add_armature(
        {
            "b0": ((0, 0, 0), (0.3, 0, 1), "", 0.0),
            "b1": ((0.3, 0, 1), (0, 0, 2), "b0", 0.0),
            "free": ((3, 0, 0), (3, 0, 1), "", 0.0),
        }
    )
    add_chain(armature, "b1", add_target({1: (1.0, 0.0, 1.4), 40: (0.8, 0.1, 1.7)}), 2, live=True)
    play()
    other = add_armature(
        {
            "free": ((3, 0, 0), (3, 0, 1), "", 0.0),
            "b0": ((0, 0, 0), (0.3, 0, 1), "", 0.0),
            "b1": ((0.3, 0, 1), (0, 0, 2), "b0", 0.0),
        },
        "Other",
    )
    for frame in (9, 10, 11):
        go(frame)
    armature.data = other.data
    for frame in ON:
        go(frame)
        assert tuple(armature.pose.bones["free"].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)


# --- Mirrored armatures, and cost -------------------------------------------------------------------


@pytest.mark.parametrize("scale", [(-1, 1, 1), (-1, -1, -1), (-2, 2, 2)])
def test_a_mirrored_armature_reaches_its_target_and_keeps_its_frames(scale):
    armature, _, chain = arm_with_target(2, live=True)
    armature.scale = scale
    for curve in existing_fcurves(chain.target):
        for key in curve.keyframe_points:
            key.co.y *= scale[curve.array_index]
    bpy.context.view_layer.update()
    play()
    assert RIGS.kept is not None and all(kept.is_useful for kept in RIGS.kept._poses.values())
    for frame in ON:
        go(frame)
        assert chain.live_reached and chain.live_status == "On its target"


@pytest.mark.parametrize("is_hinge", [False, True])
def test_a_script_that_writes_another_bone_on_each_frame_has_no_chain_read_again(is_hinge, monkeypatch):
    armature = add_armature(
        {
            "b0": ((0, 0, 0), (0, 0.3, 1), "", 0.0),
            "b1": ((0, 0.3, 1), (0, 0, 2), "b0", 0.0),
            "free": ((3, 0, 0), (3, 0, 1), "", 0.0),
        }
    )
    chain = add_chain(armature, "b1", add_target({1: (0.0, 1.0, 1.4), 40: (0.0, 0.8, 1.7)}), 2, live=True)
    if is_hinge:
        for name in ("b0", "b1"):
            bone = armature.pose.bones[name]
            bone.rotation_mode, bone.lock_rotation = 'XYZ', (False, True, True)

    def write(_scene, _depsgraph=None):
        armature.pose.bones["free"].rotation_quaternion.x += 0.01

    bpy.app.handlers.frame_change_pre.append(write)
    try:
        play(8)
        assert chain.live_reached
        read, init = [], LiveChain.__init__
        monkeypatch.setattr(LiveChain, "__init__", lambda *given: read.append(1) or init(*given))
        play(8)
    finally:
        bpy.app.handlers.frame_change_pre.remove(write)
    assert read == [] and chain.live_reached
