# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad posts: a sentence that names the bone and the way out, and nothing changed."""

import re

import bpy
import pytest
from faulty_posts import (
    a_chain_that_bends_the_post,
    arm_on_a_plate,
    backwards,
    below,
    below_the_post,
    bone_of_the_post,
    by_a_constraint,
    by_a_constraint_through_an_object,
    by_a_driver,
    child_of,
    hang,
    inherits_none,
    is_the_tip,
    limited_in_the_world,
    locked_axis,
    no_axis,
    none,
    not_a_number,
    of_another_armature,
    on_the_post,
    the_post_itself,
    through_an_object,
    track,
    two_axes,
    two_chains,
)
from post_rigs import ARM_PATH, FRAMES, robot_arm
from rigs import add_target, evaluated_place, evaluated_tip
from whole_rig import whole_rig

from ik2d_addon.bake import bake, check, solve
from ik2d_addon.cli.program import run
from ik2d_addon.core import IK2DError

REACH = 2.1


FAULTS = {
    none: "it has no post; choose the bone that its plane turns about, or set Bends In to another plane",
    of_another_armature: "its armature has no bone 'turntable' for its post; choose another one",
    below: "its post 'lower' does not carry its first bone 'upper'; choose a bone above that",
    is_the_tip: "its post 'lower' does not carry its first bone 'upper'; choose a bone above that",
    no_axis: "locks keep its post 'base' from turning; unlock its rotation about one axis, or choose",
    two_axes: "its post 'base' may turn about 'X' and 'Y', and a post turns about one; set Post Axis",
    locked_axis: "locks keep its post 'base' from turning about its X axis; unlock it, or choose another",
    on_the_post: "its target 'Target' is carried by its post 'base', .* give it another parent",
    below_the_post: "its target 'Target' is carried by its post 'base'",
    bone_of_the_post: "its target bone 'stick' is carried by its post 'base'",
    the_post_itself: "its target bone 'base' is carried by its post 'base'",
    through_an_object: "its target 'Target' is carried by its post 'base'",
    by_a_constraint: "its target 'Target' is carried by its post 'base'",
    by_a_constraint_through_an_object: "its target 'Target' is carried by its post 'base'",
    by_a_driver: "its target 'Target' is carried by its post 'base'",
    inherits_none("upper"): "'upper' inherits no rotation, so it does not turn with its post 'base'; turn I",
    inherits_none("plate"): "'plate' inherits no rotation, so it does not turn with its post 'base'; turn I",
    inherits_none("lower"): "'lower' inherits no rotation, so it does not turn with its post 'base'; turn I",
    track("plate"): "'Damped Track' on 'plate' keeps it from turning with its post 'base'; disable",
    track("upper"): "'Damped Track' on 'upper' keeps it from turning with its post 'base'; disable",
    child_of: "'Child Of' on 'plate' carries it besides its parents, so it does not turn as its post",
    limited_in_the_world: "'Limit Rotation' on 'plate' keeps it from turning with its post",
    backwards: "the limits of its post 'base' run backwards; set Min below Max",
    not_a_number: "post_limit_min|Min",
}
NAMES = [fault.__qualname__.replace(".<locals>.spoil", f"-{i}") for i, fault in enumerate(FAULTS)]


def refused(work, *arguments):
    with pytest.raises(IK2DError) as caught:
        work(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(("spoil", "words"), FAULTS.items(), ids=NAMES)
def test_a_bad_post_is_refused_in_a_sentence_and_nothing_is_written(spoil, words, tmp_path, capfd):
    armature, chain = arm_on_a_plate()
    spoil(armature, chain)
    bpy.context.view_layer.update()
    before = whole_rig(armature)
    said = [
        refused(bake, armature, None, 1, 24),
        refused(solve, armature),
        *check(armature, None, (1, 24, 1)),
    ]
    assert whole_rig(armature) == before
    for sentence in said:
        assert re.search(words, sentence), sentence
        assert sentence.startswith("Chain")
    path = str(tmp_path / "bad.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    capfd.readouterr()
    assert run(["check", path], opens_scene=True) == 2
    assert re.search(words, capfd.readouterr().err)


@pytest.mark.parametrize("spoil", [two_chains, a_chain_that_bends_the_post])
def test_one_post_of_two_chains_turns_about_one_of_them(spoil):
    armature, chain = arm_on_a_plate()
    spoil(armature, chain)
    bpy.context.view_layer.update()
    before, words = (
        whole_rig(armature),
        "Chains 'arm' and 'second' both turn 'base', which is a post; set Bends In",
    )
    both = ["arm", "second"]
    assert words in refused(bake, armature, both, 1, 24) and words in refused(solve, armature, both)
    assert any(words in problem for problem in check(armature, both, (1, 24, 1)))
    assert whole_rig(armature) == before
    report = bake(armature, None, 1, 24)
    assert [each.name for each in report.chains] == ["arm"] and "'base'" in report.left_out[0]
    assert worst(armature, chain) < 2e-6


def worst(armature, chain):
    """Return the largest distance from tip to target, as a part of the reach."""
    off = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        off.append((evaluated_tip(armature, chain.tip) - evaluated_place(chain.target)).length)
    return max(off) / REACH


@pytest.mark.parametrize("kind", ["tracks a bone on the turret", "tracks an object on the turret", "limited"])
def test_a_bone_between_that_turns_along_is_taken_as_it_is(kind):
    armature, chain = arm_on_a_plate()
    plate = armature.pose.bones["plate"]
    if kind == "limited":
        plate.rotation_euler, plate.rotation_mode = (0.1, 0.2, -0.3), 'XYZ'
        plate.constraints.new('LIMIT_ROTATION').owner_space = 'LOCAL'
        plate.constraints[0].use_limit_y = True
    else:
        track = plate.constraints.new('DAMPED_TRACK')
        track.target, track.subtarget = armature, "stick"
        if "object" in kind:
            track.target, track.subtarget = add_target({}, "Mark"), ""
            hang(track.target, armature, "base")
            track.target.location = 0.3, 0.2, 0.4
    bpy.context.view_layer.update()
    assert bake(armature, None, 1, 24).all_reached
    assert worst(armature, chain) < 2e-6


def test_a_target_that_hangs_on_what_carries_the_post_is_no_circle():
    armature, chain = arm_on_a_plate()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    bones.new("ground").tail = (0, 0, 0.1)
    bones["base"].parent = bones["ground"]
    bpy.ops.object.mode_set(mode='OBJECT')
    hang(chain.target, armature, "ground")
    chain.target.matrix_parent_inverse = armature.data.bones["ground"].matrix_local.inverted()
    assert bake(armature, None, 1, 24).all_reached
    assert worst(armature, chain) < 2e-6


def test_a_post_that_is_deleted_and_a_chain_in_edit_mode():
    armature, chain = arm_on_a_plate()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    assert "Edit Mode" in refused(bake, armature, None, 1, 24)
    armature.data.edit_bones.remove(armature.data.edit_bones["base"])
    bpy.ops.object.mode_set(mode='OBJECT')
    assert "no bone 'base' for its post" in refused(bake, armature, None, 1, 24)
    assert not (armature.animation_data and armature.animation_data.action)


@pytest.mark.parametrize("mode", ['XYZ', 'ZXY', 'QUATERNION'])
def test_locks_on_a_posts_other_axes_hold_what_they_have(mode):
    armature, chain = robot_arm(ARM_PATH)
    base = armature.pose.bones["base"]
    base.rotation_mode = 'XYZ'
    base.rotation_euler = (0.1, 0.0, -0.2)
    base.rotation_mode = mode
    chain.post_axis = 'AUTO'
    if mode == 'QUATERNION':  # whose other channels change with the turn
        assert "locks keep its post 'base' from turning" in refused(bake, armature, None, 1, 24)
        return
    tilt = [base.rotation_euler[i] for i in (0, 2)]
    assert bake(armature, None, 1, 24).all_reached
    assert worst(armature, chain) < 2e-6
    assert [base.rotation_euler[i] for i in (0, 2)] == tilt
