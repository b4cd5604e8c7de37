# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input: a sentence that names the thing and the way out, and nothing changed."""

import math

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_leg, add_target, animation_of, leg_with_target

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import IK2DError


def assert_refused(armature, words, **arguments):
    before = animation_of(armature)
    actions, objects = len(bpy.data.actions), len(bpy.data.objects)
    with pytest.raises(IK2DError, match=words) as caught:
        bake(armature, **{"frame_start": 1, "frame_end": 3, **arguments})
    assert animation_of(armature) == before
    assert (len(bpy.data.actions), len(bpy.data.objects)) == (actions, objects)
    return str(caught.value)


def test_not_an_armature():
    target = add_target({1: (0, 0, 0)})
    with pytest.raises(IK2DError, match="'Target' is not an armature"):
        bake(target)
    with pytest.raises(IK2DError, match="not an armature"):
        bake(None)


def test_no_enabled_chain():
    armature, _ = leg_with_target()
    armature.ik2d.chains[0].enabled = False
    assert_refused(armature, "no enabled chain")


def test_unknown_chain():
    armature, _ = leg_with_target()
    assert_refused(armature, "no chain 'arm'; its chains are: 'shin'", chains=["arm"])


def test_no_tip_and_unknown_tip():
    armature, target = leg_with_target()
    armature.ik2d.chains[0].tip = ""
    assert_refused(armature, "no tip bone")
    armature.ik2d.chains[0].tip = "toe"
    assert_refused(armature, "no bone 'toe'")


def test_no_target_and_unknown_target_bone():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.subtarget = "hand"
    assert_refused(armature, "'Target' has no bone 'hand'")
    chain.subtarget, chain.target = "", None
    assert_refused(armature, "no target")


@pytest.mark.parametrize(("tip", "count"), [("body", 1), ("shin", 3), ("shin", 0), ("shin", 1)])
def test_two_bone_takes_two_bones(tip, count):
    armature = add_leg()
    add_chain(armature, tip, add_target({1: (0, 0, 0)}), bone_count=count, solver='TWO_BONE')
    assert_refused(armature, "Two-Bone solver takes two")


def test_more_bones_than_the_hierarchy_has():
    armature = add_leg()
    add_chain(armature, "shin", add_target({1: (0, 0, 0)}), bone_count=4)
    assert_refused(armature, "asks for 4 bones, but 'shin' and those above it are only 3")


def test_a_target_of_the_chain_itself_or_below_it():
    armature = add_armature(
        {
            "a": ((0, 0, 0), (0, 0, 1), "", 0),
            "b": ((0, 0, 1), (0, 0.1, 2), "a", 0),
            "toe": ((0, 0.1, 2), (0, 0.3, 2), "b", 0),
        }
    )
    chain = add_chain(armature, "b", armature)
    for bone in ("a", "b", "toe"):
        chain.subtarget = bone
        assert_refused(armature, f"bone '{bone}' is moved by the chain itself")
    held, deeper = add_target({1: (0, 0, 0)}, "Held"), add_target({1: (0, 0, 0)}, "Deeper")
    held.parent, held.parent_type, held.parent_bone = armature, 'BONE', "toe"
    deeper.parent = held
    chain.target, chain.subtarget = deeper, ""
    assert_refused(armature, "'Deeper' is moved by the chain itself: it depends on bone 'b'")


def leg_with_pole(**settings):
    """Add the leg with a target aside and a pole in front; return armature, chain and pole."""
    armature, target = leg_with_target(plane='POLE', **settings)
    target.animation_data_clear()
    target.location = 0.5, -0.3, 0.9
    chain = armature.ik2d.chains[0]
    chain.pole = add_target({}, "Pole")
    chain.pole.location = 0.2, -2.0, 1.0
    bpy.context.view_layer.update()
    return armature, chain, chain.pole


def unlink(ob):
    """Delete an object as a user does, while a chain still names it."""
    bpy.context.scene.collection.objects.unlink(ob)


BAD_POLES = {
    "none": (lambda armature, chain, pole: setattr(chain, "pole", None), "has no pole; choose the object"),
    "removed": (
        lambda armature, chain, pole: bpy.data.objects.remove(pole),
        "has no pole; choose the object",
    ),
    "deleted": (lambda armature, chain, pole: unlink(pole), "its pole 'Pole' is in no scene: it was deleted"),
    "no such bone": (
        lambda armature, chain, pole: (
            setattr(chain, "pole", armature),
            setattr(chain, "pole_subtarget", "x"),
        ),
        "its pole 'Rig' has no bone 'x'; choose another bone or none",
    ),
    "own bone": (
        lambda armature, chain, pole: (
            setattr(chain, "pole", armature),
            setattr(chain, "pole_subtarget", "shin"),
        ),
        "its pole bone 'shin' is moved by the chain itself",
    ),
    "on its bone": (
        lambda armature, chain, pole: (
            setattr(pole, "parent", armature),
            setattr(pole, "parent_type", 'BONE'),
            setattr(pole, "parent_bone", "shin"),
        ),
        "depends on bone 'shin'; choose a pole that does not",
    ),
    "held to its bone": (
        lambda armature, chain, pole: hold(pole, armature, "shin"),
        "depends on bone 'shin'; choose a pole that does not",
    ),
}


def hold(ob, armature, bone):
    """Hold an object to a bone by a constraint."""
    constraint = ob.constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = armature, bone


@pytest.mark.parametrize("fault", BAD_POLES)
def test_a_bad_pole_is_refused_in_a_sentence(fault):
    spoil, words = BAD_POLES[fault]
    armature, chain, pole = leg_with_pole()
    spoil(armature, chain, pole)
    bpy.context.view_layer.update()
    assert_refused(armature, words)


@pytest.mark.parametrize("along", [2.0, 1.0, -1.0])
def test_a_pole_on_the_line_to_the_target_leaves_the_rests_side(along):
    armature, chain, pole = leg_with_pole()
    root, target = np.array((0.0, 0.0, 2.0)), np.array(chain.target.location)
    pole.location = root + along * (target - root)
    knees = []
    for plane in ('POLE', 'ARC'):
        chain.plane = plane
        bpy.context.view_layer.update()
        assert solve(armature).chains[0].reached
        knees.append(np.array(armature.pose.bones["shin"].head))
    assert np.abs(knees[0] - knees[1]).max() < 2e-5


def test_a_target_that_is_not_a_number_is_refused_with_the_frame():
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location.y = math.nan
    assert_refused(armature, "'Target' has no finite position at frame 1")


def test_a_target_that_goes_to_infinity_is_refused_with_the_frame():
    armature, target = leg_with_target()
    holder = add_target({1: (0, 0, 0)}, "Holder")
    target.parent = holder
    for frame, scale in ((2, 1.0), (3, 1e38)):
        holder.scale = (scale, scale, scale)
        holder.keyframe_insert("scale", frame=frame)
    target.animation_data_clear()
    target.location = (0, -1e3, 1e3)
    assert_refused(armature, "'Target' has no finite position at frame 3")


@pytest.mark.parametrize("arguments", [{"frame_start": 9, "frame_end": 3}, {"step": 0}, {"step": -2}])
def test_an_empty_or_reversed_range(arguments):
    armature, _ = leg_with_target()
    assert_refused(armature, "reversed|step", **arguments)


def test_rest_position_and_edit_mode():
    armature, _ = leg_with_target()
    armature.data.pose_position = 'REST'
    assert_refused(armature, "rest position")
    armature.data.pose_position = 'POSE'
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    assert_refused(armature, "Edit Mode")


def test_two_chains_that_share_a_bone_or_hang_on_one_another():
    armature, target = leg_with_target()
    add_chain(armature, "thigh", target, bone_count=1)
    assert_refused(armature, "share the bone 'thigh'", chains=["shin", "thigh"])


def test_an_armature_scaled_to_nothing():
    armature, _ = leg_with_target()
    armature.scale = (0, 0, 0)
    assert_refused(armature, "scaled to nothing")


def test_a_locked_channel():
    armature, _ = leg_with_target()
    bone = armature.pose.bones["shin"]
    bone.keyframe_insert("rotation_quaternion", frame=1)
    from ik2d_addon.rig.animation.versions import existing_fcurves

    list(existing_fcurves(armature))[0].lock = True
    assert_refused(armature, "locked")


def test_linked_rigs_are_refused_and_overrides_are_baked(tmp_path):
    armature, target = leg_with_target()
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(library, link=True) as (source, wanted):
        wanted.objects = [name for name in source.objects if name in ("Rig", "Target")]
    for linked in wanted.objects:
        bpy.context.scene.collection.objects.link(linked)
    rig = bpy.data.objects["Rig"]
    assert_refused(rig, "linked from another file.*library override")
    local = rig.override_create(remap_local_usages=True)
    report = bake(local, frame_start=1, frame_end=10)
    assert report.all_reached
    assert local.animation_data.action.is_editable


def test_joints_far_off_one_plane_bake_with_a_warning():
    armature = add_armature(
        {
            "a": ((0, 0, 0), (0.3, 0, 1), "", 0),
            "b": ((0.3, 0, 1), (-0.3, 0.2, 2), "a", 0),
            "c": ((-0.3, 0.2, 2), (0.4, 0.5, 3), "b", 0),
            "d": ((0.4, 0.5, 3), (0.0, 1.2, 3.4), "c", 0),
        }
    )
    add_chain(armature, "d", add_target({1: (0, 1, 2)}), bone_count=0)
    report = bake(armature, frame_start=1, frame_end=2)
    joints = [w for w in report.warnings if "joints are up to" in w and "off one plane" in w]
    assert len(joints) == 1


def test_a_target_off_the_plane_bakes_with_a_warning_that_gives_the_distance():
    armature = add_leg()
    add_chain(armature, "shin", add_target({1: (0.25, 0, 0.5)}))
    report = bake(armature, frame_start=1, frame_end=2)
    assert any("target is up to 25 cm off" in warning for warning in report.warnings)
