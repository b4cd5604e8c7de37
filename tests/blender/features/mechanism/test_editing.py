# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms made by scripts."""

import bpy
import pytest
from machine_rigs import add_machine
from machines import excavator, four_bar, landing_gear

from ik2d_addon.bake import bake
from ik2d_addon.chains import (
    add_gear,
    add_mechanism,
    add_pin,
    add_ram,
    add_slide,
    drive,
    make_native,
    remove_mechanism,
)
from ik2d_addon.core import IK2DError
from ik2d_addon.features.mechanism.editing import remove_driver, take_in
from ik2d_addon.rig.animation.versions import existing_fcurves


def test_it_is_named_after_its_first_bone_and_no_two_alike():
    armature, _ = add_machine(four_bar())
    bones = ["crank", "coupler", "rocker"]
    assert [add_mechanism(armature, bones).name for _ in range(2)] == ["crank", "crank.001"]
    assert add_mechanism(armature, bones, "machine").name == "machine.001"


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda m: add_mechanism(m.id_data, "crank"), "takes a list of two bones or more"),
        (lambda m: add_mechanism(m.id_data, ["crank", "arm"]), "has no bone 'arm'"),
        (lambda m: add_pin(m, "arm", 'TAIL', None), "'arm' is no bone of the mechanism 'machine'"),
        (lambda m: add_pin(m, "crank", 'MIDDLE', None), "'HEAD' or 'TAIL', not 'MIDDLE'"),
        (lambda m: add_pin(m, "crank", 'HEAD', None), "'crank' cannot be pinned to 'Rig'"),
        (lambda m: add_pin(m, "crank", 'TAIL', "crank"), "'crank' cannot be pinned to 'crank'"),
        (lambda m: add_slide(m, "crank", 'TAIL', "arm"), "'arm' is no bone of the mechanism"),
        (lambda m: add_ram(m, "crank", "arm"), "'arm' is no bone of the mechanism"),
        (lambda m: add_gear(m, "crank", "arm", 2.0), "'arm' is no bone of the mechanism"),
        (lambda m: drive(m, "arm"), "'arm' is no bone of the mechanism"),
    ],
)
def test_what_cannot_be_is_refused_with_nothing_changed(wrong, words):
    armature, mechanism = add_machine(four_bar())
    with pytest.raises(IK2DError, match=words):
        wrong(mechanism)
    assert len(armature.ik2d.mechanisms) == 1 and len(mechanism.joints) == 1 and len(mechanism.drivers) == 1


def test_a_ram_has_the_stroke_of_its_bones_and_its_length_at_rest():
    armature, mechanism = add_machine(landing_gear())
    mechanism.joints.remove(1)
    mechanism.drivers.clear()
    joint = add_ram(mechanism, "ram", "ram rod")
    driver = drive(mechanism, "ram rod")
    rest = (armature.data.bones["ram rod"].head_local - armature.data.bones["ram"].head_local).length
    least, most = joint.stroke
    assert (least, most) == pytest.approx((0.62 * rest, 1.24 * rest), rel=1e-5) and driver.bone == "ram"
    assert least + driver.length * (most - least) == pytest.approx(rest)
    armature.animation_data_clear()
    assert bake(armature).all_reached


def test_removing_one_takes_its_keyed_lengths_along_and_others_follow():
    armature, mechanism = add_machine(excavator())
    first = add_mechanism(armature, ["boom", "stick"], "first")
    armature.ik2d.mechanisms.move(1, 0)
    for curve in existing_fcurves(armature):
        curve.data_path = curve.data_path.replace("mechanisms[0]", "mechanisms[1]")
    first = armature.ik2d.mechanisms[0]
    assert remove_mechanism(first) == "first"
    paths = {curve.data_path for curve in existing_fcurves(armature)}
    assert paths == {f"ik2d.mechanisms[0].drivers[{i}].length" for i in range(3)}
    assert bake(armature).all_reached
    remove_mechanism(armature.ik2d.mechanisms[0])
    assert not any(curve.data_path.startswith("ik2d") for curve in existing_fcurves(armature))
    assert bpy.context.scene is not None and not len(armature.ik2d.mechanisms)


def test_drivers_of_lengths_follow_as_keys_do():
    armature, mechanism = add_machine(excavator())
    armature.animation_data_clear()
    for number, driver in enumerate(mechanism.drivers):
        driver.driver_add("length").driver.expression = f"0.{number + 1}"
    mechanism.joints.remove(0)
    remove_driver(mechanism, 1)
    drivers = {curve.data_path: curve.driver.expression for curve in armature.animation_data.drivers}
    assert drivers == {f"ik2d.mechanisms[0].drivers[{i}].length": f"0.{2 * i + 1}" for i in range(2)}
    remove_mechanism(mechanism)
    assert not len(armature.animation_data.drivers)


def test_bones_that_a_script_has_renamed_are_known_by_their_new_names():
    armature, mechanism = add_machine(four_bar())
    for name in ("crank", "coupler", "rocker"):
        armature.data.bones[name].name = f"new {name}"
    mechanism.joints.clear()
    mechanism.drivers.clear()
    add_pin(mechanism, "new coupler", 'TAIL', "new rocker")
    armature.data.bones["new crank"].name = "crank"
    assert drive(mechanism, "crank").bone == "crank"
    armature.data.bones["crank"].name = "third"
    assert take_in(mechanism, ["third"]) == [] and len(mechanism.bones) == 3
    assert bake(armature).all_reached


def test_a_copy_is_edited_without_the_original():
    armature, mechanism = add_machine(excavator())
    lengths = {curve.data_path for curve in existing_fcurves(armature)}
    copies = [armature.copy() for _ in range(2)]
    remove_mechanism(copies[0].ik2d.mechanisms[0])
    remove_driver(copies[1].ik2d.mechanisms[0], 0)
    assert not len(existing_fcurves(copies[0])) and len(existing_fcurves(copies[1])) == 2
    assert {curve.data_path for curve in existing_fcurves(armature)} == lengths
    assert len(mechanism.drivers) == len(lengths) == 3 and bake(armature).all_reached


def test_a_linked_one_is_refused_in_words_with_nothing_changed(tmp_path):
    armature, _ = add_machine(excavator())
    path, name = str(tmp_path / "library.blend"), armature.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, to):
        to.objects = [name]
    (mechanism,) = bpy.data.objects[name].ik2d.mechanisms
    counts = [len(items) for items in (mechanism.bones, mechanism.joints, mechanism.drivers)]
    for edit in (
        remove_mechanism,
        lambda m: drive(m, "boom"),
        lambda m: add_pin(m, "boom", 'TAIL', None),
        lambda m: take_in(m, ["boom"]),
        lambda m: add_mechanism(m.id_data, ["boom", "stick"]),
        lambda m: make_native(m.id_data, m),
    ):
        with pytest.raises(IK2DError, match="is linked from another file"):
            edit(mechanism)
    assert len(bpy.data.objects[name].ik2d.mechanisms) == 1
    assert [len(items) for items in (mechanism.bones, mechanism.joints, mechanism.drivers)] == counts
