# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains whose keys shall be seen."""

import pytest
from native_rigs import two_legs

from ik2d_addon.features.native import make_native
from ik2d_addon.rig.chain.native_state import natives_muted


def muted(armature):
    return [one.mute for bone in armature.pose.bones for one in bone.constraints]


def two():
    armature = two_legs()
    for chain in armature.ik2d.chains:
        make_native(armature, chain)
    return armature


def test_those_named_stay_muted():
    armature = two()
    with natives_muted(armature, ["left"]):
        assert muted(armature) == [True, True, False, False]
    assert sum(muted(armature)) == 2


def test_they_act_again_where_it_fails():
    armature = two()
    armature.pose.bones["right shin"].constraints[0].mute = True
    with pytest.raises(KeyError), natives_muted(armature, ["left", "right"]):
        raise KeyError
    assert muted(armature) == [False, False, False, True]
