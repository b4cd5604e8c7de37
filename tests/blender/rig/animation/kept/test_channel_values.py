# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of channels as numbers: read, set, and compared with defaults."""

import pytest
from rigs import leg_with_target

from ik2d_addon.rig.animation.kept.channel_values import default_of, number_in, set_number


@pytest.mark.parametrize(
    "path, index, default, other",
    [
        ("location", 1, 0.0, 0.25),
        ("scale", 2, 1.0, 0.5),
        ('pose.bones["shin"].rotation_quaternion', 0, 1.0, 0.75),
        ("ik2d.chains[0].influence", 0, 1.0, 0.5),
        ("ik2d.chains[0].foot.contact", 0, 0.0, 1.0),
        ("hide_render", 0, 0.0, 1.0),
    ],
)
def test_a_value_is_read_set_and_compared_with_its_default(path, index, default, other):
    armature, _target = leg_with_target()
    assert number_in(armature, path, index) == default_of(armature, path, index) == default
    set_number(armature, path, index, other)
    assert number_in(armature, path, index) == other


def test_a_choice_is_its_number():
    armature, _target = leg_with_target()
    path = 'pose.bones["shin"].rotation_mode'
    armature.pose.bones["shin"].rotation_mode = 'ZYX'
    number = number_in(armature, path, 0)
    armature.pose.bones["shin"].rotation_mode = 'XYZ'
    set_number(armature, path, 0, number)
    assert armature.pose.bones["shin"].rotation_mode == 'ZYX'


@pytest.mark.parametrize("path", ['pose.bones["gone"].location', "no.such", "data"])
def test_what_is_no_channel_has_no_value_and_takes_none(path):
    armature, _target = leg_with_target()
    assert number_in(armature, path, 0) is None and default_of(armature, path, 0) is None
    set_number(armature, path, 0, 1.0)


def test_a_custom_property_has_no_default():
    armature, _target = leg_with_target()
    armature["own"] = 2.5
    assert number_in(armature, '["own"]', 0) == 2.5 and default_of(armature, '["own"]', 0) is None
    set_number(armature, '["own"]', 0, 3.0)
    assert armature["own"] == 3.0
