# SPDX-License-Identifier: GPL-3.0-or-later
"""The words for inputs that are not there, and which drivers count as those of a place."""

import os

import bpy
import pytest
from rigs import add_chain, add_leg, add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.missing_inputs import with_drivers_checked, with_inputs_checked


def leg():
    """Add a leg whose target stands still; return its chain as it is read, and the target."""
    armature, target = add_leg(), add_target({})
    target.location = (0, -0.5, 0.6)
    chain = add_chain(armature, "shin", target)
    return read_chain(armature, chain), target


def break_driver(owner, path="location", index=1):
    """Drive a channel by a variable of nothing, which works nowhere; return the driver's curve."""
    curve = owner.driver_add(path, index)
    curve.driver.variables.new().targets[0].data_path = "location.x"
    curve.driver.expression = "var + 1"
    bpy.context.view_layer.update()
    assert not curve.driver.is_valid
    return curve


def refused(rig):
    """Return what the chain is refused with; "" for nothing."""
    bpy.context.view_layer.update()
    try:
        with_drivers_checked([rig])
    except IK2DError as error:
        return str(error)
    return ""


# --- Drivers --------------------------------------------------------------------------------------


def test_a_driver_that_does_not_work_is_told_by_owner_and_channel():
    rig, target = leg()
    assert refused(rig) == "" and with_inputs_checked(rig) is rig
    break_driver(target)
    words = (
        "Chain 'shin': the driver of 'Target' (location) does not work; mend its expression or its"
        " variables, or remove it"
    )
    assert refused(rig) == words
    with pytest.raises(IK2DError) as caught:
        with_inputs_checked(rig)
    assert str(caught.value) == words


def test_the_chains_are_gone_through_one_by_one():
    rig, target = leg()
    other = add_leg("Other")
    second = read_chain(other, add_chain(other, "shin", add_target({}, "Second"), name="second"))
    break_driver(second.target)
    assert refused(rig) == ""
    with pytest.raises(IK2DError, match="^Chain 'second': the driver of 'Second'"):
        with_drivers_checked([rig, second])


def test_python_that_is_blocked_is_told_with_the_way_out():
    assert not bpy.context.preferences.filepaths.use_scripts_auto_execute
    rig, target = leg()
    curve = target.driver_add("location", 1)
    curve.driver.expression = "__import__('math').sin(frame / 10)"
    assert refused(rig) == (
        "Chain 'shin': the driver of 'Target' (location) is blocked: Blender does not run its Python, since"
        " the file is not trusted; open it as Trusted Source, on the command line with --enable-autoexec"
    )


def test_drivers_of_places_count_and_those_of_looks_do_not():
    rig, target = leg()
    for path, index, counts in (
        ("location", 0, True),
        ("delta_location", 0, True),
        ("rotation_euler", 0, True),
        ("rotation_quaternion", 0, True),
        ("delta_rotation_euler", 0, True),
        ("scale", 0, True),
        ("delta_scale", 0, True),
        ("color", 0, False),
        ("empty_display_size", -1, False),
        ("hide_viewport", -1, False),  # last: what is hidden Blender does not evaluate
    ):
        break_driver(target, path, index)
        assert bool(refused(rig)) == counts, path
        target.driver_remove(path, index)


def test_drivers_of_constraints_count():
    rig, target = leg()
    constraint = target.constraints.new('COPY_LOCATION')
    constraint.target = add_target({}, "Guide")
    break_driver(constraint, "influence", -1)
    assert "the driver of 'Target' (constraints[" in refused(rig)


def test_a_muted_driver_does_not_count():
    rig, target = leg()
    curve = break_driver(target)
    curve.mute = True
    assert refused(rig) == ""


@pytest.mark.parametrize("bone, counts", [("body", True), ("thigh", False), ("shin", False)])
def test_of_the_armatures_bones_those_above_the_chain_count(bone, counts):
    rig, _ = leg()
    break_driver(rig.armature.pose.bones[bone])
    assert bool(refused(rig)) == counts


def test_drivers_of_a_targets_bone_count_and_those_of_its_other_bones_do_not():
    armature, other = add_leg(), add_leg("Other")
    rig = read_chain(armature, add_chain(armature, "shin", other, subtarget="thigh"))
    break_driver(other.pose.bones["shin"])
    assert refused(rig) == ""
    break_driver(other.pose.bones["thigh"])
    assert "the driver of 'Other' (pose.bones[\"thigh\"].location)" in refused(rig)


def read_property(owner, path, holder, held):
    """Drive a channel of one thing by a property of another."""
    curve = owner.driver_add(path, 0)
    variable = curve.driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = holder, held
    curve.driver.expression = "var"
    return variable


def test_drivers_of_what_drivers_read_count_in_turn():
    rig, target = leg()
    other, third = add_target({}, "Other"), add_target({}, "Third")
    other["height"] = third["height"] = 1.0
    variable = read_property(target, "location", other, '["height"]')
    curve = other.driver_add('["height"]')
    new = curve.driver.variables.new()
    new.targets[0].id, new.targets[0].data_path = third, '["height"]'
    curve.driver.expression = "var"
    assert refused(rig) == ""
    break_driver(third, '["height"]', -1)
    assert "the driver of 'Third' ([\"height\"]) does not work" in refused(rig)
    variable.targets[0].data_path = "location.x"
    assert refused(rig) == ""


def test_one_part_of_a_vector_is_driven_by_the_vectors_driver():
    rig, target = leg()
    other = add_target({}, "Other")
    read_property(target, "location", other, "color[1]")
    assert refused(rig) == ""
    break_driver(other, "color", 1)
    assert "the driver of 'Other' (color)" in refused(rig)


def test_drivers_that_read_one_another_come_to_an_end():
    rig, target = leg()
    other = add_target({}, "Other")
    other["height"] = target["height"] = 1.0
    read_property(target, "location", other, '["height"]')
    for owner, holder in ((other, target), (target, other)):
        curve = owner.driver_add('["height"]')
        variable = curve.driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = holder, '["height"]'
        curve.driver.expression = "var"
    assert refused(rig) == ""


# --- Targets --------------------------------------------------------------------------------------


def leg_with_pole():
    """Add a leg with a pole, the target in sight; return its chain as it is read, and the pole."""
    rig, _ = leg()
    pole = add_target({}, "Pole")
    chain = rig.armature.ik2d.chains[0]
    chain.plane, chain.pole = 'POLE', pole
    return read_chain(rig.armature, chain), pole


def test_a_pole_of_no_scene_and_no_collection_is_refused():
    rig, pole = leg_with_pole()
    assert with_inputs_checked(rig) is rig
    bpy.context.scene.collection.objects.unlink(pole)
    with pytest.raises(IK2DError) as caught:
        with_inputs_checked(rig)
    assert str(caught.value) == (
        "Chain 'shin': its pole 'Pole' is in no scene: it was deleted, or came along with a rig that was"
        " appended; link it to the scene, or choose another pole"
    )
    bpy.data.collections.new("Elsewhere").objects.link(pole)
    assert with_inputs_checked(rig).remarks.notes == (
        "Chain 'shin': its pole 'Pole' is in no scene, only in the collection 'Elsewhere': it is followed,"
        " but not seen; link it to the scene",
    )


def test_drivers_of_a_pole_count():
    rig, pole = leg_with_pole()
    break_driver(pole)
    assert "the driver of 'Pole' (location) does not work" in refused(rig)


def test_a_target_of_no_scene_and_no_collection_is_refused():
    rig, target = leg()
    bpy.context.scene.collection.objects.unlink(target)
    with pytest.raises(IK2DError) as caught:
        with_inputs_checked(rig)
    assert str(caught.value) == (
        "Chain 'shin': its target 'Target' is in no scene: it was deleted, or came along with a rig that was"
        " appended; link it to the scene, or choose another target"
    )


def test_a_target_that_is_in_a_collection_alone_is_told_after_all_other_notes():
    rig, target = leg()
    bpy.data.collections.new("Elsewhere").objects.link(target)
    assert with_inputs_checked(rig) is rig
    bpy.context.scene.collection.objects.unlink(target)
    warning = (
        "Chain 'shin': its target 'Target' is in no scene, only in the collection 'Elsewhere': it is"
        " followed, but not seen; link it to the scene"
    )
    checked = with_inputs_checked(rig)
    assert (
        checked.remarks.notes
        == with_inputs_checked(rig, in_scenes={rig.armature}).remarks.notes
        == (warning,)
    )
    assert with_inputs_checked(rig, in_scenes={rig.armature, target}) is rig
    assert with_inputs_checked(checked).remarks.notes == (warning, warning)


def link(tmp_path, *names):
    """Write objects to a library and read them from it as linked ones."""
    path = str(tmp_path / "props.blend")
    bpy.data.libraries.write(path, {bpy.data.objects[name] for name in names})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_there, wanted):
        wanted.objects = list(names)
    return path, wanted.objects


def test_a_target_that_came_along_with_a_library_is_told(tmp_path):
    add_target({}, "Prop")
    path, (prop,) = link(tmp_path, "Prop")
    armature = add_leg()
    chain = add_chain(armature, "shin", None)
    chain.target = prop
    rig = read_chain(armature, chain)
    (warning,) = with_inputs_checked(rig).remarks.notes
    assert f"'Prop' is in no scene, only in the library '{path}'" in warning


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["object", "data"])
def test_what_is_missing_is_told_with_its_library(tmp_path, lost):
    add_leg("Prop")
    path, (prop,) = link(tmp_path, "Prop")
    if lost == "data":
        data, prop = prop.data, bpy.data.objects.new("Local", prop.data)
        assert data.library
    bpy.context.scene.collection.objects.link(prop)
    target = add_target({})
    target.parent = prop
    add_chain(add_leg(), "shin", target)
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    os.remove(path)
    try:
        bpy.ops.wm.open_mainfile(filepath=shot)
    except RuntimeError:
        pass  # Blender says so too
    armature = bpy.data.objects["Rig"]
    rig = read_chain(armature, armature.ik2d.chains[0])
    with pytest.raises(IK2DError) as caught:
        with_inputs_checked(rig)
    words = str(caught.value)
    assert words.startswith(
        f"Chain 'shin': it needs '{'Prop' if lost == 'object' else 'Local'}' from the library '"
    )
    assert words.endswith(
        "props.blend', which is missing; put the file back, or relocate the library (File > External Data)"
    )
