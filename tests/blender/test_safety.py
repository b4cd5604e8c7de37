# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever ends a bake, success, an error, a cancel or a kill: nothing is touched that should not be."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import bpy
import pytest
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    animation_of,
    evaluated_tip,
    leg_with_target,
    played_back_errors,
)
from snapshots import everything

from ik2d_addon.bake import BakeOptions, bake, bake_steps, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation import actions as made
from ik2d_addon.rig.animation import key_columns, versions
from ik2d_addon.rig.animation.kept import keeping
from ik2d_addon.rig.animation.kept.record import is_kept_action
from ik2d_addon.rig.scene import own_scene

REPOSITORY = Path(__file__).parents[2]
SLOTS = hasattr(bpy.types, "ActionSlot")


# --- Comparing files ------------------------------------------------------------------------------


def as_saved(path: Path) -> dict:
    """Return what of everything comes back from a file saved now."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return everything()


# --- The situations a bake may start in -----------------------------------------------------------


def in_object_mode():
    armature, target = leg_with_target()
    bpy.context.view_layer.objects.active = target
    target.select_set(True)
    armature.select_set(False)
    return armature


def in_pose_mode():
    armature, _ = leg_with_target()
    bpy.ops.object.mode_set(mode='POSE')
    for bone in armature.pose.bones:
        if hasattr(bone, "select"):
            bone.select = bone.name == "shin"
        else:
            bone.bone.select = bone.name == "shin"
    armature.data.bones.active = armature.data.bones["body"]
    return armature


def keyed():
    armature = in_pose_mode()
    for i, frame in enumerate((-3, 1.5, 4, 9.25, 30)):
        for name in ("thigh", "body"):
            bone = armature.pose.bones[name]
            bone.rotation_quaternion = (1, 0.1 * i, 0.2, -0.1)
            bone.keyframe_insert("rotation_quaternion", frame=frame, group="Hand-made")
    for i, curve in enumerate(versions.existing_fcurves(armature)):
        for key in curve.keyframe_points:
            key.handle_left_type = key.handle_right_type = ('FREE', 'ALIGNED', 'AUTO', 'VECTOR')[i % 4]
            key.handle_left = (key.co.x - 0.77, key.co.y - 0.123)
            key.handle_right = (key.co.x + 1.3, key.co.y + 0.3)
        curve.update()
    return armature


def with_animation_data_alone():
    armature = in_object_mode()
    armature.animation_data_create()
    return armature


def with_drivers_alone():
    armature = in_object_mode()
    armature.driver_add("location", 0).driver.expression = "0.001 * frame"
    return armature


def with_an_empty_action():
    armature = in_object_mode()
    armature.animation_data_create().action = bpy.data.actions.new("Empty")
    return armature


def with_a_slot_that_was_not_chosen():
    armature = with_an_empty_action()
    if SLOTS:
        action = armature.animation_data.action
        action.slots.new(id_type='OBJECT', name="Somebody")
        armature.animation_data.action_slot = None
    return armature


def with_strips():
    armature = keyed()
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Walk", 1, action)
    if SLOTS:
        strip.action_slot = slot
    return armature


def in_tweak_mode():
    armature = with_strips()
    track = armature.animation_data.nla_tracks[0]
    armature.animation_data.nla_tracks.active = track
    track.strips[0].select = True
    armature.animation_data.use_tweak_mode = True
    assert armature.animation_data.use_tweak_mode
    return armature


def with_a_chain_on_a_chain():
    armature = add_armature(
        {
            "boom": ((0, 0, 0), (0, 1, 1), "", 0.4),
            "jib": ((0, 1, 1), (0, 2.2, 0.8), "boom", 0.0),
            "upper": ((0, 2.2, 0.8), (0, 2.4, 0.2), "jib", 0.2),
            "lower": ((0, 2.4, 0.2), (0, 2.2, -0.4), "upper", -0.3),
        }
    )
    add_chain(armature, "jib", add_target({1: (0, 2.0, 0.8), 10: (0, 1.2, 1.8)}, "Crane's target"))
    add_chain(armature, "lower", add_target({1: (0, 2.2, -0.2), 10: (0, 1.4, 0.9)}, "Arm's target"))
    armature.pose.bones["upper"].keyframe_insert("rotation_quaternion", frame=4)
    return armature


SITUATIONS = [
    in_object_mode,
    in_pose_mode,
    keyed,
    with_animation_data_alone,
    with_drivers_alone,
    with_an_empty_action,
    with_a_slot_that_was_not_chosen,
    with_strips,
    in_tweak_mode,
    with_a_chain_on_a_chain,
]
situations = pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.__name__)
LAST = 10


def start(situation, frame=3, subframe=0.25):
    """Set a situation up, at a frame between frames; return the armature."""
    armature = situation()
    scene = bpy.context.scene
    scene.tool_settings.use_keyframe_insert_auto = True
    scene.frame_set(frame, subframe=subframe)
    return armature


@pytest.fixture(params=["own scene", "full scene"])
def sampled_in(request, monkeypatch):
    """Have the samples taken in a scene of our own, or in the user's."""
    if request.param == "full scene":
        monkeypatch.setattr(own_scene, "doubt", lambda *_: "because the test says so")
    return request.param


# --- Success --------------------------------------------------------------------------------------


@situations
def test_after_a_bake_all_but_the_keys_is_as_before(situation, sampled_in):
    armature = start(situation)
    before = everything()
    report = bake(armature, frame_start=1, frame_end=LAST)
    after = everything()
    assert bool(report.full_scene) == (sampled_in == "full scene")
    assert after["session"] == before["session"]
    had_action = before["animation"].get(("objects", armature.name), {}).get("action")
    kept = [action for action in bpy.data.actions if is_kept_action(action)]  # what its keys replace
    new = len(kept) + (0 if had_action else 1)
    assert len(after["blocks"]["actions"]) == len(before["blocks"]["actions"]) + new
    for kind, names in before["blocks"].items():
        assert kind == "actions" or after["blocks"][kind] == names
    for owner, animation in before["animation"].items():
        if owner != ("objects", armature.name):
            assert after["animation"][owner] == animation


@situations
def test_solving_one_frame_changes_nothing_but_the_pose(situation):
    armature = start(situation)
    before = everything()
    solve(armature)
    assert everything() == before


# --- Errors and cancels ---------------------------------------------------------------------------


@pytest.mark.slow
@situations
def test_a_bake_that_is_closed_midway_leaves_everything_as_it_was(situation, sampled_in, tmp_path):
    armature = start(situation)
    before = everything()
    total = sum(1 for _ in _yields(armature))
    assert total >= LAST
    for stop in {0, 1, 2, total // 2, total // 2 + 1, total - 2, total - 1, total}:
        steps = bake_steps(armature, frame_start=1, frame_end=LAST)
        for _ in range(stop):
            next(steps)
        steps.close()
        assert everything() == before, stop
    assert as_saved(tmp_path / "after.blend") == before


def _yields(armature):
    """Yield as often as a bake does before it writes; nothing is written."""
    with _no_writing(), suppress(_Stop):
        yield from bake_steps(armature, frame_start=1, frame_end=LAST)


class _Stop(Exception):
    """The test's own error."""


@contextmanager
def _no_writing():
    """Have a bake fail where it would begin to write."""

    def stop(*_):
        raise _Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ik2d_addon.rig.animation.key_faults.check_writable", stop)
        yield


@situations
def test_an_error_before_anything_is_written(situation, sampled_in, tmp_path):
    armature = start(situation)
    before = everything()
    with _no_writing(), pytest.raises(_Stop):
        bake(armature, frame_start=1, frame_end=LAST)
    assert everything() == before
    assert as_saved(tmp_path / "after.blend") == before


def test_a_target_that_fails_at_a_late_frame(tmp_path):
    armature = start(keyed)
    target = armature.ik2d.chains[0].target
    holder = add_target({1: (0, 0, 0)}, "Holder")
    for frame, scale in ((7, 1.0), (8, 1e38)):
        holder.scale = (scale, scale, scale)
        holder.keyframe_insert("scale", frame=frame)
    target.parent = holder
    bpy.data.actions.remove(target.animation_data.action)
    target.location = (0, -1e3, 1e3)
    bpy.context.scene.frame_set(3, subframe=0.25)
    before = everything()
    with pytest.raises(IK2DError, match="no finite position at frame 8"):
        bake(armature, frame_start=1, frame_end=LAST)
    assert everything() == before
    assert as_saved(tmp_path / "after.blend") == before


@pytest.mark.parametrize(("call", "error"), [(1, RuntimeError), (5, KeyboardInterrupt), (8, MemoryError)])
@situations
def test_a_write_that_fails_midway_is_put_back(situation, call, error, monkeypatch, tmp_path):
    armature = start(situation)
    before = everything()
    real, calls = key_columns._write, []

    def failing(*arguments):
        calls.append(1)
        real(*arguments)
        if len(calls) == call + preview:
            patch.undo()
            raise error("as the test wants")

    # What is written first, into copies, is for chains that hang on others; fail in both.
    for preview in (0, 8) if situation is with_a_chain_on_a_chain else (0,):
        calls.clear()
        with monkeypatch.context() as patch:
            patch.setattr(key_columns, "_write", failing)
            with pytest.raises(error, match="as the test wants"):
                bake(armature, frame_start=1, frame_end=LAST)
        assert everything() == before, preview
    assert as_saved(tmp_path / "after.blend") == before
    assert len(calls) == call + preview


@pytest.mark.parametrize("name", ["fcurves", "channels"])
@situations
def test_a_channel_that_cannot_be_made_is_put_back(situation, name, monkeypatch):
    armature = start(situation)
    before = everything()
    real = getattr(made, name)

    def failing(*arguments):
        real(*arguments)
        raise RuntimeError("as the test wants")

    monkeypatch.setattr(made, name, failing)
    with pytest.raises(RuntimeError, match="as the test wants"):
        bake(armature, frame_start=1, frame_end=LAST)
    assert everything() == before


@pytest.mark.slow
def test_a_linked_action_is_played_again_when_writing_its_copy_fails(tmp_path, monkeypatch):
    armature = keyed()
    library = tmp_path / "library.blend"
    armature.animation_data.action.name = "Walk"
    bpy.data.libraries.write(str(library), {armature.animation_data.action})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.actions = ["Walk"]
    armature = start(in_object_mode)
    armature.animation_data_create().action = into.actions[0]
    if SLOTS:
        armature.animation_data.action_slot = into.actions[0].slots[0]
    before = everything()

    def failing(*_):
        raise RuntimeError("as the test wants")

    monkeypatch.setattr(keeping, "replace_keys", failing)
    with pytest.raises(RuntimeError, match="as the test wants"):
        bake(armature, frame_start=1, frame_end=LAST)
    assert everything() == before
    assert armature.animation_data.action.library


@pytest.mark.slow
def test_a_refused_bake_changes_nothing(tmp_path):
    armature = start(keyed)
    versions.existing_fcurves(armature)[0].lock = True
    before = everything()
    with pytest.raises(IK2DError, match="locked"):
        bake(armature, frame_start=1, frame_end=LAST)
    assert everything() == before
    assert as_saved(tmp_path / "after.blend") == before


# --- A killed process -----------------------------------------------------------------------------

BAKING = """
import os, sys
import bpy
import ik2d_addon
from ik2d_addon.bake import bake
ik2d_addon.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])

def progress(done, total):
    if done >= int(sys.argv[2]):
        print("midway", done, total, flush=True)
        sys.stdin.read()  # until killed

bake(bpy.data.objects["Rig"], frame_start=1, frame_end=2000, progress=progress)
print("done", flush=True)
os._exit(0)
"""


@pytest.mark.skipif(bool(bpy.app.binary_path), reason="starts Python with the module bpy")
@pytest.mark.parametrize("at", [1, 1000])
def test_killing_a_bake_leaves_the_file_as_it_was(at, tmp_path):
    path = tmp_path / "shot.blend"
    start(keyed)
    before = as_saved(path)
    content = path.read_bytes()
    process = subprocess.Popen(
        [sys.executable, "-c", BAKING, str(path), str(at)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        said = ""
        while not said.startswith("midway"):
            said = process.stdout.readline()
            assert said, "the bake ended before it was midway"
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    finally:
        process.kill()
        process.communicate()
    assert path.read_bytes() == content
    assert sorted(p.name for p in tmp_path.iterdir()) == ["shot.blend"]
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert everything() == before


def test_animation_survives_saving_after_a_bake(tmp_path):
    armature = start(keyed)
    bake(armature, frame_start=1, frame_end=LAST)
    before = animation_of(armature)
    name = armature.name
    as_saved(tmp_path / "after.blend")
    assert animation_of(bpy.data.objects[name]) == before


def test_a_leg_without_chains_is_refused_and_nothing_changes():
    armature = add_leg()
    before = everything()
    with pytest.raises(IK2DError, match="no enabled chain"):
        bake(armature)
    assert everything() == before


def test_a_rig_that_is_turned_inside_out_between_two_frames_is_baked_all_the_same():
    """Nothing is refused any more once the keys are written, whatever playing them back comes upon."""
    armature, target = leg_with_target()
    target.parent = armature
    for frame, scale in ((1, 1.0), (2, -1.0)):
        armature.scale = (scale,) * 3
        armature.keyframe_insert("scale", frame=frame)
    for curve in versions.existing_fcurves(armature):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'
    report = bake(armature, frame_start=1, frame_end=3)
    assert report.all_reached
    assert 1.5 in report.chains[0].played.between_times
    target.parent = None
    target.driver_add("location", 1).driver.expression = "0.1 * frame if frame != 1.5 else 1e300 * 1e300"
    report = bake(armature, frame_start=1, frame_end=3)
    assert 2.5 in report.chains[0].played.between_times


# --- What a person changed by hand -------------------------------------------


def test_a_closed_bake_keeps_what_was_moved_by_hand_and_not_keyed():
    armature, target = leg_with_target()
    body = armature.pose.bones["body"]
    body.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(10)
    body.location, target.location = (0.0, 0.0, 0.25), (0.0, 0.5, 0.5)
    bpy.context.view_layer.update()
    steps = bake_steps(armature, frame_start=1, frame_end=40)
    for _ in range(3):
        next(steps)
    steps.close()
    assert tuple(body.location) == (0.0, 0.0, 0.25)
    assert tuple(target.location) == (0.0, 0.5, 0.5)
    report = bake(armature, frame_start=1, frame_end=40)
    assert not report.full_scene  # what is not keyed is no reason to evaluate everything


def test_solve_of_chains_that_hang_on_one_another_shows_the_new_pose_over_old_keys():
    armature = add_armature(
        {
            "a": ((0, 0, 0), (0, 0, 1), "", 0.0),
            "b": ((0, 0, 1), (0, 0.1, 2), "a", 0.0),
            "c": ((0, 0.1, 2), (0, 0, 3), "b", 0.0),
            "d": ((0, 0, 3), (0, 0.2, 4), "c", 0.0),
        }
    )
    targets = [add_target({}, name) for name in ("Low", "High")]
    for tip, target, place in zip("bd", targets, ((0, 0.8, 1.5), (0, 1, 3)), strict=True):
        add_chain(armature, tip, target)
        target.location = place
    bpy.context.view_layer.update()
    bake(armature, frame_start=1, frame_end=5)
    for target, place in zip(targets, ((0, -0.8, 1.4), (0, -1.0, 2.9)), strict=True):
        target.location = place
    assert solve(armature).all_reached
    for tip, target in zip("bd", targets, strict=True):
        assert (evaluated_tip(armature, tip) - target.location).length < 4e-5


def test_an_armature_that_is_hidden_for_some_frames_is_sampled_on_all():
    armature, _ = leg_with_target()
    body = armature.pose.bones["body"]
    for frame, height in ((1, 0.0), (40, 0.3)):
        body.location = (0, height, 0)
        body.keyframe_insert("location", frame=frame)
    for frame, hidden in ((1, False), (10, True)):
        armature.hide_viewport = hidden
        armature.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    report = bake(armature, frame_start=1, frame_end=40)
    assert not report.warnings
    for curve in list(versions.existing_fcurves(armature)):
        if curve.data_path == "hide_viewport":
            curve.mute = True
    armature.hide_viewport = False
    for _, error in played_back_errors(armature, armature.ik2d.chains[0], range(1, 41)):
        assert error < 4e-5


def test_an_armature_that_is_edited_as_another_object_is_refused():
    armature, _ = leg_with_target()
    twin = bpy.data.objects.new("Twin", armature.data)
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = twin
    bpy.ops.object.mode_set(mode='EDIT')
    with pytest.raises(IK2DError, match="Edit Mode"):
        bake(armature, frame_start=1, frame_end=2)


def test_an_armature_without_a_pose_yet_is_given_one():
    armature, target = leg_with_target()
    new = bpy.data.objects.new("New", armature.data)
    bpy.context.scene.collection.objects.link(new)
    add_chain(new, "shin", target)
    assert bake(new, frame_start=1, frame_end=2).all_reached


def test_an_animated_rotation_mode_is_refused():
    armature, _ = leg_with_target()
    armature.pose.bones["shin"].keyframe_insert("rotation_mode", frame=1)
    with pytest.raises(IK2DError, match="rotation mode of bone 'shin' is animated"):
        bake(armature, frame_start=1, frame_end=2)


@pytest.mark.parametrize("arguments", [{"frame_start": 1.5}, {"frame_end": "9"}, {"step": None}])
def test_frames_that_are_no_whole_numbers_are_refused(arguments):
    armature, _ = leg_with_target()
    with pytest.raises(IK2DError, match="whole numbers"):
        bake(armature, **arguments)


def test_a_name_in_place_of_a_list_of_names_is_refused():
    armature, _ = leg_with_target()
    with pytest.raises(IK2DError, match=r"\['shin'\]"):
        bake(armature, "shin")


def test_a_bake_closed_while_it_is_played_back_puts_everything_back():
    armature, _ = leg_with_target()
    bpy.context.scene.frame_set(10)
    armature.pose.bones["shin"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    bpy.context.view_layer.update()
    pose = [tuple(bone.rotation_quaternion) for bone in armature.pose.bones]
    actions = set(bpy.data.actions)
    steps = bake_steps(armature, frame_start=1, frame_end=40, options=BakeOptions(verify='ALL'))
    while not animation_of(armature):  # until the keys are there
        next(steps)
    next(steps)
    steps.close()
    assert armature.animation_data is None
    assert set(bpy.data.actions) == actions
    assert [tuple(bone.rotation_quaternion) for bone in armature.pose.bones] == pose
    bpy.context.view_layer.update()
    assert [tuple(bone.rotation_quaternion) for bone in armature.pose.bones] == pose
