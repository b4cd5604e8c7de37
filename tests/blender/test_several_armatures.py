# SPDX-License-Identifier: GPL-3.0-or-later
"""One bake of several armatures: their order, their report, all or nothing, and who bakes them so."""

import bpy
import pytest
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    evaluated_place,
    evaluated_tip,
    every_bit_of_animation,
    leg_with_target,
)

from ik2d_addon.bake import BakeOptions, bake, bake_steps
from ik2d_addon.cli.program import run
from ik2d_addon.core import IK2DError

FRAMES = 12
PLAYED_BACK = 3e-5  # of two units' reach
PATH = {1: (0, 0.2, 0.3), 6: (0, -0.9, 0.8), 12: (0, 0.8, 0.6)}


def add_leader(name="Leader"):
    """Add a leg with a target on a path, and a foot on its tip."""
    leader = add_armature(
        {
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "foot": ((0, 0, 0.1), (0, -0.3, 0.0), "shin", 0.0),
        },
        name,
    )
    add_chain(leader, "shin", add_target(PATH, f"{name}'s"))
    return leader


def add_pair():
    """Return a leg that follows the foot of another, and that other."""
    leader, follower = add_leader(), add_leg("Follower")
    add_chain(follower, "shin", leader, subtarget="foot")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    return follower, leader


def worst(*armatures):
    """Return how far the furthest evaluated tip is from its target on any frame."""
    found = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        for armature in armatures:
            for chain in armature.ik2d.chains:
                place = evaluated_place(chain.target, chain.subtarget)
                found.append((evaluated_tip(armature, chain.tip) - place).length)
    return max(found)


def everything(*armatures):
    """Return all that a bake might change."""
    kinds = (bpy.data.scenes, bpy.data.objects, bpy.data.actions)
    poses = [
        [(tuple(bone.rotation_quaternion), tuple(bone.location), tuple(bone.scale)) for bone in ob.pose.bones]
        for ob in armatures
    ]
    live = [chain.live for ob in armatures for chain in ob.ik2d.chains]
    return [every_bit_of_animation(ob) for ob in armatures], poses, live, [len(kind) for kind in kinds]


# --- Order and report -----------------------------------------------------------------------------


@pytest.mark.parametrize("verify", ['SAMPLE', 'ALL', 'NONE'])
@pytest.mark.parametrize("turned", [False, True])
def test_an_armature_that_follows_anothers_tip_is_baked_after_it(turned, verify):
    pair = add_pair()[:: -1 if turned else 1]
    report = bake(pair, options=BakeOptions(verify=verify))
    assert worst(*pair) < PLAYED_BACK
    assert [chain.armature for chain in report.chains] == [ob.name for ob in pair]
    assert [part.armature for part in report.by_armature] == [ob.name for ob in pair]
    assert report.all_reached and report.sentence().startswith("Baked 12 frames on 2 chains of 2 armatures; ")


def test_the_part_of_each_armature_is_the_report_of_a_bake_of_it_alone():
    first, second = add_leader("First"), add_leader("Second")
    second.ik2d.chains[0].target.location.x = 0.1
    together = bake([first, second], frame_start=1, frame_end=FRAMES)
    keys = [every_bit_of_animation(armature)["curves"] for armature in (first, second)]
    for armature, part in zip((first, second), together.by_armature, strict=True):
        armature.animation_data_clear()
        alone = bake(armature, frame_start=1, frame_end=FRAMES)
        assert part.to_dict() == alone.to_dict() and alone.by_armature == (alone,)
        assert part.warnings == alone.warnings
    assert [every_bit_of_animation(armature)["curves"] for armature in (first, second)] == keys


def test_warnings_and_chains_left_out_name_their_armature():
    first, second = add_leader("First"), add_leader("Second")
    add_chain(second, "foot", None, 1)
    second.ik2d.chains["shin"].target.animation_data_clear()
    second.ik2d.chains["shin"].target.location = (0, 0, -9)
    report = bake([first, second], frame_start=1, frame_end=FRAMES)
    (fault,) = report.left_out
    assert fault.startswith("Second: Left out: Chain 'foot'") and fault in report.warnings
    assert all(one.startswith(("First: ", "Second: ")) for one in report.warnings)
    assert " of 'shin' on 'Second'; 1 left out as faulty" in report.sentence()
    told = report.to_dict()
    assert told["armature"] == "First, Second" and told["left_out"] == [fault]
    assert [chain["armature"] for chain in told["chains"]] == ["First", "Second"]


def test_all_baked_chains_are_live_no_more():
    pair = add_pair()
    for armature in pair:
        armature.ik2d.chains[0].live = True
    bake(pair)
    assert not any(armature.ik2d.chains[0].live for armature in pair)


# --- Names of chains, and bad input ---------------------------------------------------------------


def test_each_armature_takes_the_names_that_it_has():
    first, second = add_leader("First"), add_leader("Second")
    second.ik2d.chains[0].name = "leg"
    add_chain(first, "foot", add_target({1: (0, 0, -9)}), 1)
    report = bake([first, second], ["leg", "shin"], 1, 3)
    assert [(chain.armature, chain.name) for chain in report.chains] == [("First", "shin"), ("Second", "leg")]


def test_names_that_an_armature_or_all_have_not_are_told():
    first, second = add_leader("First"), add_leader("Second")
    second.ik2d.chains[0].name = "leg"
    with pytest.raises(IK2DError, match="^'Second' has no chain 'shin'; its chains are: 'leg'$"):
        bake([first, second], ["shin"])
    with pytest.raises(IK2DError, match="^None of the armatures 'First', 'Second' has a chain 'arm'$"):
        bake([first, second], ["shin", "leg", "arm"])
    with pytest.raises(IK2DError, match=r"write \['shin'\]"):
        bake([first, second], "shin")
    for names in (3, [3], [], [[]]):
        with pytest.raises(IK2DError):
            bake([first, second], names)


def test_armatures_that_cannot_be_baked_together_are_told():
    first, second = add_leader("First"), add_leader("Second")
    bare, cube = add_leg("Bare"), bpy.data.objects.new("Cube", None)
    elsewhere = add_leader("Elsewhere")
    bpy.context.scene.collection.objects.unlink(elsewhere)
    bpy.data.scenes.new("Other").collection.objects.link(elsewhere)
    for given, words in (
        ([], "^No armature is given"),
        ([first, second, first], "^'First' is given twice"),
        ([first, bare], "^'Bare' has no enabled chain"),
        ([first, cube], "^'Cube' is not an armature"),
        ([first, None], "^'None' is not an armature"),
        ("First", "^'First' is not an armature"),
        (["First"], "^'First' is not an armature"),
        ([first, elsewhere], "^'First' is in the scene 'Scene' and 'Elsewhere' in 'Other'; bake"),
    ):
        with pytest.raises(IK2DError, match=words):
            bake(given)
    assert first.animation_data is None and second.animation_data is None


def test_armatures_that_play_the_same_action_are_told():
    first, second = add_leader("First"), add_leader("Second")
    bake(first, frame_start=1, frame_end=2)
    second.animation_data_create().action = first.animation_data.action
    if hasattr(second.animation_data, "action_slot"):
        second.animation_data.action_slot = first.animation_data.action_slot
    with pytest.raises(IK2DError, match="^'First' and 'Second' play the same action, so each would"):
        bake([first, second], frame_start=1, frame_end=2)
    second.animation_data.action = second.animation_data.action.copy()
    assert bake([first, second], frame_start=1, frame_end=2).all_reached


def test_armatures_that_move_one_another_are_told():
    first, second = add_leader("First"), add_leader("Second")
    for armature, other in ((first, second), (second, first)):
        armature.ik2d.chains[0].target, armature.ik2d.chains[0].subtarget = other, "foot"
    with pytest.raises(IK2DError, match="'First', 'Second' depend on one another in a circle; disable"):
        bake([first, second])
    assert first.animation_data is None and second.animation_data is None


# --- All or nothing -------------------------------------------------------------------------------


def baked_before():
    """Return a pair with keys of an earlier bake, the leader's target elsewhere since."""
    follower, leader = add_pair()
    bake([follower, leader])
    leader.ik2d.chains[0].bend = follower.ik2d.chains[0].bend = 'NEGATIVE'
    leader.ik2d.chains[0].live = True
    bpy.context.scene.frame_set(5)
    return follower, leader


def test_where_the_second_fails_the_first_is_as_it_was():
    follower, leader = baked_before()
    add_chain(follower, "body", add_target({}, "Nowhere"), 1).target.location.y = float("nan")
    before, calls = everything(follower, leader), []
    with pytest.raises(IK2DError, match="'Nowhere' has no finite position"):
        bake([follower, leader], progress=lambda *call: calls.append(call))
    assert (FRAMES, 2 * FRAMES) in calls  # the first was keyed and played back
    assert everything(follower, leader) == before


@pytest.mark.slow
def test_closed_at_any_step_nothing_has_changed():
    pair = add_pair()
    count = len(list(bake_steps(pair)))
    for armature in pair:
        armature.ik2d.chains[0].bend = 'NEGATIVE'  # a bake now would be seen
    before = everything(*pair)
    for done in range(1, count, max(1, count // 6)):
        steps = bake_steps(pair)
        for _ in range(done):
            next(steps)
        steps.close()
        assert everything(*pair) == before, done


def test_progress_goes_on_from_one_armature_to_the_next():
    calls = []
    bake(add_pair(), progress=lambda *call: calls.append(call))
    assert {total for _, total in calls} == {2 * FRAMES} and calls[-1] == (2 * FRAMES, 2 * FRAMES)
    second = next(place for place, (done, _) in enumerate(calls) if done > FRAMES)
    assert all(done <= FRAMES for done, _ in calls[:second])
    assert all(done >= FRAMES for done, _ in calls[second:])


# --- The operator ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ticked", [False, True])
def test_the_operator_bakes_all_selected_armatures_where_it_is_ticked(ticked):
    follower, leader = add_pair()
    bare, other = add_leg("Bare"), leg_with_target()[0]
    other.select_set(False)
    bpy.context.view_layer.objects.active = follower
    follower.ik2d.bake_selected = ticked
    bpy.ops.ik2d.bake()
    assert bool(leader.ik2d.last_bake) == ticked and follower.ik2d.last_bake.startswith(
        "Baked 12 frames on 1"
    )
    assert other.animation_data is None and bare.animation_data is None
    if ticked:
        assert worst(follower, leader) < PLAYED_BACK
        assert leader.ik2d.chains[0].bake_reached and follower.ik2d.chains[0].bake_reached


def test_a_chain_by_name_is_baked_on_the_active_armature_unless_all_are_asked_for():
    follower, leader = add_pair()
    bpy.context.view_layer.objects.active = follower
    follower.ik2d.bake_selected = True
    bpy.ops.ik2d.bake(chain="shin")
    assert leader.animation_data is None
    bpy.ops.ik2d.bake(chain="shin", all_selected=True)
    assert worst(follower, leader) < PLAYED_BACK
    bpy.ops.ik2d.bake(all_selected=False, frame_start=1, frame_end=2)
    assert "12 frames" in leader.ik2d.last_bake and "2 frames" in follower.ik2d.last_bake


def test_the_tick_makes_no_bake_out_of_date():
    from ik2d_addon.features.baking.results import bake_is_stale

    _, leader = add_pair()
    bpy.context.view_layer.objects.active = leader
    bpy.ops.ik2d.bake()
    leader.ik2d.bake_selected = True
    assert bake_is_stale(leader, bpy.context.scene) == ""
    leader.ik2d.verify = 'ALL'
    assert bake_is_stale(leader, bpy.context.scene)


# --- The command line -----------------------------------------------------------------------------


def test_the_command_line_bakes_all_armatures_of_a_file_in_one_bake(tmp_path, capsys):
    add_pair()
    path = str(tmp_path / "pair.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert run(["bake", path, "--strict"]) == 0
    told = capsys.readouterr().out
    assert "ik2d: Follower: Baked 12 frames on 1 chain; " in told and "ik2d: Leader: Baked 12 frames" in told
    bpy.ops.wm.open_mainfile(filepath=path)
    pair = [bpy.data.objects[name] for name in ("Follower", "Leader")]
    assert worst(*pair) < PLAYED_BACK
    assert run(["bake", path, "--chain", "shin", "--chain", "arm"]) == 2
    assert "no armature of the scene has a chain 'arm'" in capsys.readouterr().err
