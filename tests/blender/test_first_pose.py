# SPDX-License-Identifier: GPL-3.0-or-later
"""The first pose sticks: the drag keys the target, and the panel shows the chain that is clicked."""

import re

import bpy
import pytest
from rigs import add_armature, add_chain, add_target, animation_of, evaluated_place, evaluated_tip

from ik2d_addon.bake import bake
from ik2d_addon.features.drag.drag import Drag, visible_tips
from ik2d_addon.rig.animation.versions import select_bone
from ik2d_addon.ui.context import active_chain, shown_chain
from ik2d_addon.ui.keymaps import SHORTCUTS

REACH = 2.1
SIDES = (("L", 1.0), ("R", -1.0))


@pytest.fixture
def walker():
    """A body with two legs, in Pose Mode."""
    bones = {"body": ((0, 0, 2.4), (0, 0, 2), "", 0.0)}
    for side, x in SIDES:
        bones[f"thigh.{side}"] = ((x, 0, 2), (x, 0.2, 1), "body", 0.0)
        bones[f"shin.{side}"] = ((x, 0.2, 1), (x, 0, 0), f"thigh.{side}", 0.0)
    armature = add_armature(bones)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    return armature


def click(armature, bone):
    """Make a bone the active one, the only one that is selected, as a click does."""
    armature.data.bones.active = armature.data.bones[bone]
    for other in armature.pose.bones:
        select_bone(other, other.name == bone)
    armature.update_tag()
    bpy.context.view_layer.update()


def with_legs(armature):
    """Add both legs' chains as a person does, and return their targets."""
    targets = []
    for side, _ in SIDES:
        click(armature, f"shin.{side}")
        assert bpy.ops.ik2d.chain_add() == {'FINISHED'}
        targets.append(active_chain(armature).target)
    bpy.context.view_layer.update()
    return targets


def as_blender_comes(auto=True):
    """Set Auto Keying, with Only Insert Available and Only Insert Needed, as in 5.2's factory settings."""
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
    bpy.context.preferences.edit.use_keyframe_insert_available = True
    bpy.context.preferences.edit.use_auto_keyframe_insert_needed = True


def frames_of(target):
    """Return the frames of a target's keys, by channel."""
    return {index: [int(key[0]) for key in keys] for (_, index), keys in animation_of(target).items()}


# --- The target gets the key -------------------------------------------------


def posed_and_baked(armature, targets, **options):
    """Drag the left tip on three frames, bake, and see that it is where it was dragged."""
    scene, places = bpy.context.scene, {}
    for frame, offset in ((1, (0.1, 0.5)), (20, (-0.3, 0.2)), (41, (0.2, 0.3))):
        scene.frame_set(frame)
        assert bpy.ops.ik2d.drag(chain="shin.L", offset=offset, **options) == {'FINISHED'}
        places[frame] = evaluated_tip(armature, "shin.L")
    for frame, place in places.items():
        scene.frame_set(frame)
        assert (evaluated_place(targets[0]) - place).length < 1e-5 * REACH
        assert (evaluated_tip(armature, "shin.L") - place).length < 1e-5 * REACH
    report = bake(armature, ["shin.L"], frame_start=1, frame_end=41)
    assert report.is_good, report.sentence()
    for frame, place in places.items():
        scene.frame_set(frame)
        assert (evaluated_tip(armature, "shin.L") - place).length < 1e-4 * REACH
    # the first two poses differ by more than their keys' rounding
    assert (places[1] - places[20]).length > 0.1 * REACH


def test_with_auto_keying_as_blender_comes_a_drag_keys_the_target(walker):
    targets = with_legs(walker)
    as_blender_comes()
    posed_and_baked(walker, targets)
    assert frames_of(targets[0])[2] == [1, 20, 41] and not animation_of(targets[1])


def test_keys_asked_for_in_the_drag_are_set_without_auto_keying(walker):
    targets = with_legs(walker)
    as_blender_comes(auto=False)
    posed_and_baked(walker, targets, insert_keys=True)
    assert frames_of(targets[0]) == dict.fromkeys(range(3), [1, 20, 41])


def test_without_both_there_are_none(walker):
    targets = with_legs(walker)
    as_blender_comes(auto=False)
    bpy.ops.ik2d.drag(chain="shin.L", offset=(0.1, 0.1))
    assert not animation_of(targets[0]) and not animation_of(walker)


def test_snapping_the_target_keys_it_too(walker):
    targets = with_legs(walker)
    as_blender_comes()
    walker.ik2d.chains["shin.L"].live = False
    walker.pose.bones["thigh.L"].rotation_quaternion = (0.95, 0.3, 0, 0)
    bpy.context.view_layer.update()
    assert bpy.ops.ik2d.target_to_tip(chain="shin.L") == {'FINISHED'}
    assert set(frames_of(targets[0])) == {0, 1, 2}


@pytest.mark.parametrize("auto", [True, False])
@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda ob: ob.driver_add("location", 0), "The target is not keyed: the location of .* has a driver"),
        (lambda ob: setattr(ob, "lock_location", (True,) * 3), "The target is not keyed: .* is locked"),
        (lambda ob: lock_curves(ob), "Not keyed: .* is locked, or its group is; unlock it first"),
    ],
)
def test_a_target_that_takes_no_keys_gets_a_sentence_with_the_drag(walker, spoil, words, auto, capfd):
    (target, _) = with_legs(walker)
    as_blender_comes(auto)
    spoil(target)
    bpy.context.view_layer.update()
    before = animation_of(target)
    assert bpy.ops.ik2d.drag(chain="shin.L", offset=(0.1, 0.1), insert_keys=not auto) == {'FINISHED'}
    assert animation_of(target) == before
    assert re.search(words, capfd.readouterr().out)


def lock_curves(target):
    """Key a target, and lock its curves."""
    target.keyframe_insert("location", frame=1)
    action = target.animation_data.action
    layered = hasattr(action, "layers") and len(action.layers)
    curves = action.layers[0].strips[0].channelbags[0].fcurves if layered else action.fcurves
    for curve in curves:
        curve.lock = True


# --- The chain that is shown -------------------------------------------------


def shown_name():
    """Return the chain that the panel shows, which is the one in the list too."""
    chain = shown_chain(bpy.context)
    assert chain == active_chain(chain.id_data)
    return chain.name


def test_the_panel_follows_the_clicked_bone(walker):
    with_legs(walker)
    for bone, name in (
        ("thigh.L", "shin.L"),
        ("shin.R", "shin.R"),
        ("body", "shin.R"),  # in no chain: nothing shifts
        ("shin.L", "shin.L"),
        ("body", "shin.L"),
        ("thigh.R", "shin.R"),
    ):
        click(walker, bone)
        assert shown_name() == name, bone


def test_the_panel_follows_a_target_in_object_mode_and_a_target_bone_in_pose_mode(walker):
    targets = with_legs(walker)
    bpy.ops.object.mode_set(mode='OBJECT')
    for target, name in zip(targets, ("shin.L", "shin.R"), strict=True):
        bpy.context.view_layer.objects.active = target
        target.update_tag()
        bpy.context.view_layer.update()
        assert shown_name() == name
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode='POSE')
    walker.ik2d.chains["shin.L"].target, walker.ik2d.chains["shin.L"].subtarget = walker, "body"
    click(walker, "shin.R")
    click(walker, "body")
    assert shown_name() == "shin.L"


def test_a_chain_that_is_chosen_in_the_list_stays(walker):
    with_legs(walker)
    click(walker, "shin.L")
    walker.ik2d.active_index = 1
    walker.update_tag()
    bpy.context.view_layer.update()
    assert shown_name() == "shin.R"
    # a script that chooses both gets both
    walker.data.bones.active = walker.data.bones["thigh.R"]
    walker.ik2d.active_index = 0
    walker.update_tag()
    bpy.context.view_layer.update()
    assert shown_name() == "shin.L"


def test_undo_shows_the_chain_of_the_bone_that_it_brings_back(walker):
    with_legs(walker)
    click(walker, "shin.L")
    bpy.ops.ed.undo_push(message="Left")
    click(walker, "shin.R")
    bpy.ops.ed.undo_push(message="Right")
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    armature = bpy.data.objects["Rig"]
    assert armature.data.bones.active.name == "shin.L" and active_chain(armature).name == "shin.L"


def test_a_drag_makes_its_chain_the_active_one(walker):
    with_legs(walker)
    click(walker, "shin.R")
    bpy.ops.ik2d.drag(chain="shin.L", offset=(0.1, 0.1))
    bpy.context.view_layer.update()
    assert shown_name() == "shin.L"


def test_a_drag_that_is_put_back_leaves_the_active_chain(walker):
    with_legs(walker)
    click(walker, "shin.R")
    drag = Drag(bpy.context.scene, walker, walker.ik2d.chains["shin.L"])
    drag.to((0.1, 0.1))
    drag.put_back()
    assert shown_name() == "shin.R"


# --- The new target ----------------------------------------------------------


def test_the_new_target_is_a_cross_of_the_limbs_size_and_selected(walker):
    left, right = with_legs(walker)
    for target in (left, right):
        assert target.empty_display_type == 'PLAIN_AXES' and target.show_in_front
        assert 0.1 * REACH < 2.0 * target.empty_display_size < 0.5 * REACH
    assert right.select_get() and not left.select_get() and bpy.context.object == walker
    assert right != left and walker.mode == 'POSE'


def test_a_long_limb_of_short_bones_has_a_small_cross_and_a_large_rig_a_large_one():
    joints = [(0, 0.02 * i * i, 0.2 * i) for i in range(6)]
    bones = {f"b{i}": (joints[i], joints[i + 1], f"b{i - 1}" if i else "", 0.0) for i in range(5)}
    sizes = []
    for scale in (1.0, 10.0):
        armature = add_armature(bones, name=f"Tail {scale}")
        armature.scale = (scale,) * 3
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode='POSE')
        click(armature, "b4")
        bpy.ops.ik2d.chain_add(bone_count=5)
        sizes.append(active_chain(armature).target.empty_display_size)
        bpy.ops.object.mode_set(mode='OBJECT')
        bpy.ops.object.select_all(action='DESELECT')
    assert 0.02 < sizes[0] < 0.2 and sizes[1] == pytest.approx(10.0 * sizes[0], rel=1e-3)


def test_a_selected_object_that_no_chain_follows_is_still_taken(walker):
    with_legs(walker)
    walker.ik2d.chains.clear()
    other = add_target({}, name="Other")
    add_chain(walker, "shin.R", bpy.data.objects["shin.R Target"])
    bpy.data.objects["shin.R Target"].select_set(True)
    other.select_set(True)
    click(walker, "shin.L")
    bpy.ops.ik2d.chain_add()
    assert active_chain(walker).target == other


# --- The tip under the mouse -------------------------------------------------


def test_j_can_be_pressed_over_a_tip_that_is_shown_while_the_active_bones_is_hidden(walker):
    with_legs(walker)
    click(walker, "shin.L")
    hide(walker, "shin.L")
    assert bpy.ops.ik2d.drag.poll()
    assert [chain.name for chain, _ in visible_tips(walker)] == ["shin.R"]
    assert bpy.ops.ik2d.drag(chain="shin.R", offset=(0.1, 0.1)) == {'FINISHED'}
    click(walker, "thigh.L")
    with pytest.raises(RuntimeError, match="Bone 'shin.L' is hidden"):
        bpy.ops.ik2d.drag(offset=(0.1, 0.1))
    hide(walker, "shin.R")
    assert not bpy.ops.ik2d.drag.poll()


def hide(armature, name):
    """Hide a bone, wherever this Blender keeps that."""
    bone = armature.pose.bones[name]
    (bone if hasattr(bone, "hide") else bone.bone).hide = True


def test_j_is_set_to_take_the_tip_under_the_mouse():
    (drag,) = [one for one in SHORTCUTS if one.operator == "ik2d.drag"]
    assert drag.at_mouse
