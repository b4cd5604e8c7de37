# SPDX-License-Identifier: GPL-3.0-or-later
"""A misspelt setting in a script raises, as Blender's own structs do, and is not taken without a word."""

import bpy
import pytest
from rigs import add_target, leg_with_target


def group_classes():
    """Return our classes of settings that are registered."""
    return [
        cls
        for cls in bpy.types.PropertyGroup.__subclasses__()
        if cls.__name__.startswith("IK2D_PG_") and cls.is_registered
    ]


def test_there_are_all_kinds_of_settings():
    names = {cls.__name__ for cls in group_classes()}
    assert {"IK2D_PG_settings", "IK2D_PG_chain", "IK2D_PG_joint", "IK2D_PG_overlay"} <= names
    assert len(names) >= 14


def test_every_class_of_settings_and_its_mix_ins_take_no_other_attributes():
    assert {
        base.__name__
        for cls in group_classes()
        for base in cls.__mro__
        if base.__module__.startswith("ik2d_addon") and base.__dict__.get("__slots__") != ()
    } == set()


def every_group():
    """Return one of each kind of the settings of a rig with all parts."""
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.planted.channels.add().owner = target
    chain.planted.settings.add().name = "plane"
    adopted = chain.adopted
    taken = adopted.constraints.add()
    return [
        *(armature.ik2d, chain, chain.joints[0], chain.joints[0].place, chain.foot, chain.ccd_walk),
        *(chain.planted, chain.planted.channels[0], chain.subtarget_place),
        *(adopted, adopted.bones.add(), taken, taken.actions.add()),
        bpy.context.window_manager.ik2d_overlay,
    ]


def test_a_misspelt_setting_raises():
    for group in every_group():
        for name in ("use_limits", "solvr", "influense"):
            with pytest.raises(AttributeError, match=name):
                setattr(group, name, True)
        assert not hasattr(group, "__dict__")


def test_settings_custom_properties_and_defaults_work_as_before():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.influence, chain.pole, chain.tip_angle_offset = 0.5, add_target({}), 0.25
    assert (chain.influence, chain.tip_angle_offset) == (0.5, 0.25) and chain.pole is not None
    chain.property_unset("influence")
    assert chain.influence == 1.0
    chain.joints["shin"].use_limit = True
    assert chain.joints[1].use_limit
    chain["mine"] = 3
    assert chain["mine"] == 3
