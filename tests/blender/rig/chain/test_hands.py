# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones count as hands, what is noted of their target, and how they go back."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from rigs import add_armature, add_chain, add_target

from ik2d_addon.rig.chain.hands import (
    forget_posed,
    hands_remembered,
    hanging_bones,
    note_posed,
    posed_hands,
    put_hands_back,
    read_hands,
)


@pytest.fixture
def arm():
    """Return an arm along X with a hand, a thumb, a floating glove and bones of its twist; and its chain."""
    armature = add_armature(
        {
            "upper": ((0, 0, 0), (1, 0.1, 0), "", 0.0),
            "fore": ((1, 0.1, 0), (2, 0, 0), "upper", 0.0),
            "hand": ((2, 0, 0), (2.3, 0, 0), "fore", 0.0),
            "thumb": ((1.95, 0.05, 0), (2.1, 0.2, 0), "fore", 0.0),
            "glove": ((2.6, 0, 0), (2.8, 0, 0), "fore", 0.0),
            "twist": ((1, 0.1, 0), (1.5, 0.05, 0), "fore", 0.0),
            "twist end": ((1.72, 0.03, 0), (2, 0, 0), "fore", 0.0),
            "finger": ((2.3, 0, 0), (2.4, 0, 0), "hand", 0.0),
        }
    )
    return armature, add_chain(armature, "fore", add_target({1: (1.5, 0.5, 0)}))


def test_hands_begin_at_the_end_of_the_tip(arm):
    armature, chain = arm
    tip = armature.pose.bones["fore"]
    assert {bone.name for bone in hanging_bones(tip)} == {"hand", "thumb", "glove"}
    armature.data.bones["thumb"].use_inherit_rotation = False
    assert {bone.name for bone in hanging_bones(tip)} == {"hand", "glove"}
    chain.hand_rotation = 'WORLD'
    hands, notes = read_hands(chain, tip)
    assert set(hands.bones) == {"hand", "glove"} and not hands.follow and notes == ()


def test_there_are_none_unless_the_setting_asks(arm):
    armature, chain = arm
    assert read_hands(chain, armature.pose.bones["fore"]) == (None, ())
    chain.hand_rotation = 'WORLD'
    found, notes = read_hands(chain, armature.pose.bones["finger"])
    assert found is None and "no bone hangs on the end of 'finger'" in notes[0]


def test_the_target_is_noted_as_it_stands(arm):
    armature, chain = arm
    chain.target.rotation_euler = (0.4, 0.0, 0.0)
    armature.rotation_euler = (0.0, 0.0, 0.3)
    chain.hand_rotation = 'TARGET'
    hands, _ = read_hands(chain, armature.pose.bones["fore"])
    turned = [np.array(Euler(angles).to_matrix()) for angles in ((0.4, 0, 0), (0, 0, 0.3))]
    assert hands.follow and hands.offset == pytest.approx(turned[0].T @ turned[1], abs=1e-6)
    chain.target, chain.subtarget = armature, "hand"
    hands, _ = read_hands(chain, armature.pose.bones["fore"])
    rest = np.array(armature.data.bones["hand"].matrix_local.to_3x3())
    assert hands.offset == pytest.approx(rest.T, abs=1e-5)


def test_a_damaged_offset_counts_as_none(arm):
    armature, chain = arm
    chain.hand_rotation = 'TARGET'
    for damaged in ([0.0] * 9, [float("nan")] * 9):
        chain.hand_offset = damaged
        hands, _ = read_hands(chain, armature.pose.bones["fore"])
        assert (hands.offset == np.eye(3)).all()


def test_what_was_turned_is_noted_and_goes_back(arm):
    armature, chain = arm
    note_posed(chain, ("hand",))
    note_posed(chain, ("hand", "thumb"))
    assert posed_hands(chain) == ["hand", "thumb"]
    for name in ("hand", "thumb"):
        armature.pose.bones[name].matrix_basis = Matrix.Rotation(1.0, 4, 'X')
    armature.pose.bones["thumb"].keyframe_insert("rotation_quaternion", frame=1)
    put_hands_back(chain, ["hand", "thumb"])
    assert tuple(armature.pose.bones["hand"].rotation_quaternion) == (1, 0, 0, 0)
    assert armature.pose.bones["thumb"].rotation_quaternion.angle == pytest.approx(1.0)
    assert posed_hands(chain) == ["thumb"]
    forget_posed(chain, ["thumb"])
    assert chain.hands_posed == ""


def test_what_fails_notes_nothing(arm):
    from ik2d_addon.rig.chain.chain import read_chain

    armature, chain = arm
    chain.hand_rotation = 'WORLD'
    bpy.context.view_layer.update()
    with pytest.raises(ValueError, match="on purpose"), hands_remembered([read_chain(armature, chain)]):
        assert posed_hands(chain) == ["hand", "thumb", "glove"]
        raise ValueError("on purpose")
    assert chain.hands_posed == ""
