# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopting and releasing in all the ways there are: by selection, beside other chains, undone, refused."""

import bpy
import ik_rigs
import pytest
from ik_rigs import PATH, add_ik, from_the_tip, leg_with_foot
from rigs import add_chain, add_target, evaluated_tip, override_from, played_back_errors
from snapshots import differences
from whole_rig import whole_rig

from ik2d_addon.features.adopt import adopt
from ik2d_addon.rig.animation.versions import existing_fcurves, select_bone
from ik2d_addon.rig.chain.native_state import acts


def built(make=from_the_tip) -> bpy.types.Object:
    """Return the rig as it stands evaluated on the first frame, with nothing selected."""
    armature = make()
    bpy.context.view_layer.objects.active = armature
    for bone in armature.pose.bones:
        select_bone(bone, False)
    bpy.context.scene.frame_set(1)
    return armature


def two_legs() -> bpy.types.Object:
    """Return a rig with a leg on each side."""
    armature = leg_with_foot()
    bpy.ops.object.mode_set(mode='EDIT')
    for name in ("thigh", "shin"):
        old = armature.data.edit_bones[name]
        new = armature.data.edit_bones.new(f"{name}.R")
        new.head, new.tail = old.head + old.head * 0, old.tail
        new.head.x = new.tail.x = 0.5
        new.parent = armature.data.edit_bones["body" if name == "thigh" else "thigh.R"]
    bpy.ops.object.mode_set(mode='OBJECT')
    add_ik(armature, "shin", add_target(PATH, "Left"), 2)
    right = add_target({frame: (0.5, y, z) for frame, (_, y, z) in PATH.items()}, "Right")
    add_ik(armature, "shin.R", right, 2)
    return armature


@pytest.mark.slow
@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_the_selected_bones_say_which_limb(mode):
    armature = built(two_legs)
    select_bone(armature.pose.bones["thigh.R"], True)
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.ik2d.adopt() == {'FINISHED'}
    (chain,) = armature.ik2d.chains
    assert chain.tip == "shin.R" and not armature.pose.bones["shin"].constraints[0].mute
    select_bone(armature.pose.bones["shin"], True)
    assert bpy.ops.ik2d.adopt() == {'FINISHED'}
    assert [chain.tip for chain in armature.ik2d.chains] == ["shin.R", "shin"]
    assert bpy.ops.ik2d.release(all=True) == {'FINISHED'}
    assert len(armature.ik2d.chains) == 0


@pytest.mark.slow
def test_hidden_bones_that_are_selected_count_where_no_other_is():
    armature = built(two_legs)
    for name in ("thigh.R", "shin"):
        select_bone(armature.pose.bones[name], True)
    hidden = armature.data.collections.new("Hidden")
    hidden.assign(armature.data.bones["shin"])
    hidden.is_visible = False
    bpy.ops.ik2d.adopt()
    assert [chain.tip for chain in armature.ik2d.chains] == ["shin.R"]
    select_bone(armature.pose.bones["thigh.R"], False)
    bpy.ops.ik2d.adopt()
    assert [chain.tip for chain in armature.ik2d.chains] == ["shin.R", "shin"]


@pytest.mark.parametrize(
    "bone, words", [(None, "Select a bone of the limb"), ("body", "No IK constraint that acts moves 'body'")]
)
def test_without_a_limb_it_says_what_to_select(bone, words):
    armature = built()
    if bone:
        select_bone(armature.pose.bones[bone], True)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.ik2d.adopt()
    assert len(armature.ik2d.chains) == 0


def test_a_rig_without_acting_ik_says_so_and_counts():
    armature = built()
    armature.pose.bones["shin"].constraints[0].mute = True
    with pytest.raises(RuntimeError, match="no IK constraint that acts, only 1 IK constraint that"):
        bpy.ops.ik2d.adopt(all=True)


def test_what_is_left_alone_is_counted(capfd):
    armature = built()
    add_ik(armature, "foot", None, 3)
    bpy.ops.ik2d.adopt(all=True)
    assert "Left alone: 1 IK constraint that is muted, or without a target" in capfd.readouterr().out


def test_a_target_off_a_hinges_plane_is_said_by_how_much_and_where(capfd):
    armature = from_the_tip({f: (0.25 if f == 10 else 0, y, z) for f, (_, y, z) in PATH.items()})
    built(lambda: ik_rigs.with_hinged_hip(armature))
    bpy.ops.ik2d.adopt(all=True)
    assert "leaves the plane, by up to 0.25 m at frame 10" in capfd.readouterr().out.replace(
        "25 cm", "0.25 m"
    )


def test_chains_that_were_there_stay_as_they_are():
    armature = built(two_legs)
    own = add_chain(armature, "body", add_target({}, "Own"), bone_count=1, name="Own", softness=0.1)
    assert own.name == "Own"
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    assert armature.ik2d.active_index == 1
    bpy.ops.ik2d.release(all=True)
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_a_chain_that_has_the_bones_takes_the_constraint_and_stays():
    armature = built()
    chain = add_chain(armature, "shin", add_target({1: (0, 0.4, 0.5)}, "Own"), softness=0.1)
    before = whole_rig(armature)
    assert bpy.ops.ik2d.adopt(chain=chain.name) == {'FINISHED'}
    (chain,) = armature.ik2d.chains
    assert chain.target.name == "Own" and armature.pose.bones["shin"].constraints[0].mute
    bpy.ops.ik2d.release()
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_adopted_twice_is_refused():
    armature = built()
    bpy.ops.ik2d.adopt(all=True)
    with pytest.raises(RuntimeError, match="that acts, only 1 IK constraint that"):
        bpy.ops.ik2d.adopt(all=True)
    assert len(armature.ik2d.chains) == 1


def test_one_undo_takes_it_away():
    armature = built()
    before = whole_rig(armature)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ik2d.adopt('EXEC_DEFAULT', True, all=True)
    assert len(bpy.data.objects["Rig"].ik2d.chains) == 1
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert not differences(before, whole_rig(armature))


def test_removing_the_chain_gives_the_constraint_back():
    armature = built(ik_rigs.driven_mute)
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    bpy.ops.ik2d.chain_remove()
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_a_renamed_chain_is_released_with_its_keys():
    armature = built(ik_rigs.pole_goes_behind)
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    armature.ik2d.chains[0].name = "Leg"
    bpy.ops.ik2d.release()
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_renamed_bones_get_all_back():
    armature = built(ik_rigs.hinges)
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    for name in ("thigh", "shin"):
        armature.data.bones[name].name = f"{name}.L"
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    for name in ("thigh", "shin"):
        armature.data.bones[f"{name}.L"].name = name
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(armature))


def test_of_a_constraint_removed_since_it_says_so_and_gives_back_the_rest(capfd):
    armature = built(ik_rigs.hinges)
    locks = tuple(armature.pose.bones["thigh"].lock_rotation)
    bpy.ops.ik2d.adopt(all=True)
    bone = armature.pose.bones["shin"]
    bone.constraints.remove(bone.constraints[0])
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    assert "'IK' of bone 'shin' is gone" in capfd.readouterr().out
    assert tuple(armature.pose.bones["thigh"].lock_rotation) == locks
    assert len(armature.ik2d.chains) == 0


@pytest.mark.slow
def test_keys_of_a_bake_stay_and_it_says_so(capfd):
    armature = built()
    bpy.ops.ik2d.adopt(all=True)
    bpy.ops.ik2d.bake()
    bpy.ops.ik2d.release()
    assert "undo, then Clear Bake first" in capfd.readouterr().out
    assert len(existing_fcurves(armature)) == 8


def test_baked_and_cleared_it_is_the_same_to_the_bit():
    armature = built(ik_rigs.stretching)
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    bpy.ops.ik2d.bake()
    bpy.ops.ik2d.clear_bake()
    bpy.ops.ik2d.release()
    assert armature.animation_data is None  # the bake's action went with its last key
    after = whole_rig(armature)
    found = [line.split(":")[0] for line in differences(before, after)]
    assert found in ([], ["/ik2d/owner"])  # whose result that was


def test_a_chain_that_was_not_adopted_is_not_released():
    armature = built()
    add_chain(armature, "body", add_target({}, "Own"), bone_count=1, name="Own")
    assert not bpy.ops.ik2d.release.poll()
    bpy.ops.ik2d.adopt(all=True)
    armature.ik2d.active_index = 0
    with pytest.raises(RuntimeError, match="'Own' was not adopted"):
        bpy.ops.ik2d.release()
    assert len(armature.ik2d.chains) == 2


def test_what_fails_half_way_leaves_all_as_it_was(monkeypatch):
    armature = built(two_legs)
    before = whole_rig(armature)
    done = []

    def fail(*args):
        done.append(args)
        if len(done) == 2:
            raise ValueError("not this one")

    monkeypatch.setattr(adopt, "_animate", fail)
    with pytest.raises(RuntimeError, match="not this one"):
        bpy.ops.ik2d.adopt(all=True)
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


@pytest.mark.slow
def test_a_linked_armature_is_refused_and_an_override_works(tmp_path):
    path = str(tmp_path / "library.blend")
    armature = built()
    bpy.data.libraries.write(path, {armature, bpy.context.scene})
    armature = override_from(path, "Rig", "Target")
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    bpy.ops.ik2d.bake(frame_start=1, frame_end=20)
    for frame, error in played_back_errors(armature, armature.ik2d.chains[0], (1, 7, 20)):
        assert error < 2e-5, frame
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    assert not armature.pose.bones["shin"].constraints[0].mute and len(armature.ik2d.chains) == 0


@pytest.mark.slow
def test_an_override_whose_mute_is_driven_is_adopted_and_released(tmp_path):
    path = str(tmp_path / "library.blend")
    armature = built(ik_rigs.driven_mute)
    bpy.data.libraries.write(path, {armature, bpy.context.scene})
    armature = override_from(path, "Rig", "Target")
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(7)
    before = evaluated_tip(armature, "shin")
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    armature = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == 'ARMATURE')
    assert armature.pose.bones["shin"].constraints[0].target is None
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.scene.frame_set(7)
    assert (evaluated_tip(armature, "shin") - before).length < 1e-6 and len(armature.ik2d.chains) == 0


@pytest.mark.slow
@pytest.mark.parametrize("live", [False, True], ids=["solved", "live"])
def test_a_foot_that_the_chain_has_turned_is_given_back(live):
    armature = built()
    foot = armature.pose.bones["foot"]
    foot.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    bpy.context.scene.frame_set(1)
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    chain = armature.ik2d.chains[0]
    chain.hand_rotation, chain.live = 'WORLD', live
    bpy.context.scene.frame_set(5)
    if not live:
        bpy.ops.ik2d.solve()
    assert abs(foot.rotation_quaternion.w - 0.8) > 0.01
    bpy.ops.ik2d.release()
    bpy.context.scene.frame_set(1)
    found = differences(before, whole_rig(armature))
    assert [line for line in found if not line.startswith("/ik2d/")] == []  # what a solve has told stays


def test_a_native_chain_is_released_without_a_trace():
    armature = built()
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    bpy.ops.ik2d.make_native()
    bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.view_layer.update()
    found = [line for line in differences(before, whole_rig(armature)) if "/active:" not in line]
    assert found == []  # which constraint is shown as the active one is Blender's to say


def test_a_native_chain_that_was_there_before_stays_and_it_says_so(capfd):
    armature = built()
    add_chain(armature, "shin", bpy.data.objects["Target"], 2)
    bpy.ops.ik2d.adopt(all=True)
    bpy.ops.ik2d.make_native()
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    assert "Chain 'shin' is on drivers next to the IK that is back" in capfd.readouterr().out
    assert acts(armature.ik2d.chains[0]) and not armature.pose.bones["shin"].constraints["IK"].mute


def test_in_rest_position_it_says_what_to_do():
    armature = built()
    armature.data.pose_position = 'REST'
    with pytest.raises(RuntimeError, match="set it to Pose Position"):
        bpy.ops.ik2d.adopt(all=True)


def test_a_pose_that_turns_beside_the_frames_is_kept():
    armature = built()
    bone = armature.pose.bones["thigh"]
    bone.rotation_quaternion = (0.99, 0.0, 0.14, 0.0)
    bpy.context.view_layer.update()
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    bpy.ops.ik2d.solve()
    bone.rotation_mode = 'XYZ'
    bpy.ops.ik2d.release()
    bpy.context.view_layer.update()
    found = [line.split(":")[0] for line in differences(before, whole_rig(armature))]
    assert [line for line in found if not line.startswith("/ik2d/")] == []
