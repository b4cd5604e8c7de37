# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether anything uses an object, by what Blender lets use it."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.rig.chain.paths.uses import is_used


@pytest.fixture
def target() -> bpy.types.Object:
    """A target that a chain of an armature "Rig" followed, which is gone."""
    armature, target = (
        add_armature({"b0": ((0, 0, 0), (1, 0, 0), "", 0.0), "b1": ((1, 0, 0), (2, 0, 0), "b0", 0.0)}),
        add_target({}),
    )
    add_chain(armature, "b1", target)
    armature.ik2d.chains.clear()
    return target


def parented(target):
    child = add_target({}, "Child")
    child.parent = target


def constrained(target):
    add_target({}, "Other").constraints.new('COPY_LOCATION').target = target


def on_a_bone(target):
    bone = bpy.data.objects["Rig"].pose.bones["b0"]
    bone.constraints.new('DAMPED_TRACK').target = target
    bone.constraints[0].mute = True


def of_another_chain(target):
    add_chain(bpy.data.objects["Rig"], "b1", target)


def of_another_rig(target):
    other = add_armature({"c0": ((0, 0, 0), (1, 0, 0), "", 0.0)}, "Other Rig")
    add_chain(other, "c0", target, 1)


def driven(target):
    variable = bpy.data.objects["Rig"].driver_add("location", 0).driver.variables.new()
    variable.type = 'TRANSFORMS'
    variable.targets[0].id = target


def as_camera(target):
    bpy.context.scene.camera = target


def by_property(target):
    bpy.data.objects["Rig"]["aim"] = target


def as_shape(target):
    bpy.data.objects["Rig"].pose.bones["b0"].custom_shape = target


def as_pole(target):
    add_chain(bpy.data.objects["Rig"], "b1", None, pole=target)


def as_space(target):
    constraint = bpy.data.objects["Rig"].pose.bones["b0"].constraints.new('COPY_ROTATION')
    constraint.target_space, constraint.space_object = 'CUSTOM', target


def in_a_keying_set(target):
    bpy.context.scene.keying_sets.new(name="Mine").paths.add(target, "location")


def test_an_object_that_only_its_collection_holds_is_not_used(target):
    assert not is_used(target)


@pytest.mark.parametrize(
    "use",
    [
        parented,
        constrained,
        on_a_bone,
        of_another_chain,
        of_another_rig,
        driven,
        as_camera,
        by_property,
        as_shape,
        as_pole,
        as_space,
        in_a_keying_set,
    ],
)
def test_an_object_that_something_needs_is_used(target, use):
    use(target)
    assert is_used(target)


def test_old_settings_use_nothing(target):
    """A file of 4.2 that is opened in 5.x has the settings a second time, which count as users."""
    armature = bpy.data.objects["Rig"]
    if "ik2d" not in armature:  # in 4.2 these are the settings themselves
        armature["ik2d"] = {"chains": [{"target": target}]}
    assert not is_used(target)
