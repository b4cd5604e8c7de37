# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armature an action's F-Curves belong to."""

import bpy
from keyed_chains import HAS_SLOTS, holders, new_action, put_into_strip, two_legs
from rigs import add_armature

from ik2d_addon.rig.animation.versions import holders_of
from ik2d_addon.rig.chain.paths.owners import Claim, Owners, with_settings

SHIN = [('pose.bones["shin.R"].location', 0), ("ik2d.chains[0].influence", 0)]


def claim(armature, action):
    ((holder, slot),) = holders_of(action)
    return Owners(armature).claim(holder, slot)


def test_armatures_with_settings_are_those_that_were_given_some():
    armature = two_legs()
    bare = add_armature({"bone": ((0, 0, 0), (0, 0, 1), "", 0.0)}, "Bare")
    assert list(with_settings(bpy.data.objects)) == [armature]
    assert not bare.is_property_set("ik2d")


def test_who_plays_an_action_owns_it_and_two_share_it():
    armature, other = two_legs(), two_legs("Other", 3.0)
    mine, its = armature.animation_data.action, other.animation_data.action
    assert (claim(armature, mine), claim(armature, its)) == (Claim.OWN, Claim.NONE)
    put_into_strip(other, mine).mute = True
    assert claim(armature, mine) is claim(other, mine) is Claim.SHARED


def test_of_two_rigs_with_the_same_bones_neither_owns_what_nobody_plays():
    armature = two_legs()
    action = new_action("Idle", "Anyone", SHIN)
    assert claim(armature, action) is Claim.OWN
    other = two_legs("Other", 3.0)
    assert claim(armature, action) is claim(other, action) is Claim.UNCLEAR
    if HAS_SLOTS:
        named = new_action("Named", "Other", SHIN)
        assert (claim(armature, named), claim(other, named)) == (Claim.NONE, Claim.OWN)


def test_the_rig_with_more_of_the_bones_owns_what_nobody_plays():
    armature, other = two_legs(), two_legs("Other", 3.0, "other ")
    more = [*SHIN, ('pose.bones["thigh.R"].location', 0), ('pose.bones["other body"].location', 0)]
    action = new_action("Idle", "Anyone", more)
    assert (claim(armature, action), claim(other, action)) == (Claim.OWN, Claim.NONE)
    strange = new_action("Strange", "Anyone", [('pose.bones["wing"].location', 0)])
    assert claim(armature, strange) is claim(other, strange) is Claim.NONE
    assert len(list(holders(strange))) == 1
