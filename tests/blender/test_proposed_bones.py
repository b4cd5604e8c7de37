# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Chain proposes bones that no other chain has, and leaves the body to a leg of one bone."""

from math import cos, sin

import bpy
import pytest
from rigs import add_armature
from test_add_chain import LEG, select_bone
from test_add_chain import select as select_in_object_mode

from ik2d_addon.features.doctor.findings import findings
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.features.doctor.sharing import shared_bones
from ik2d_addon.features.setup import selection
from ik2d_addon.rig.chain.chain import reading


def spider(legs=4, lower=False):
    """Return an armature with legs of one bone around a body; lower: of two."""
    bones = {"body": ((0, 0, 0), (0, 0, 0.5), "", 0.0)}
    for i in range(legs):
        knee = (cos(i), sin(i), -0.3)
        bones[f"leg{i}"] = ((0.2 * cos(i), 0.2 * sin(i), 0.2), knee, "body", 0.0)
        if lower:
            bones[f"foot{i}"] = (knee, (1.5 * cos(i), 1.5 * sin(i), -1.0), f"leg{i}", 0.0)
    return add_armature(bones)


def select(armature, tip):
    """Select a bone alone, in Pose Mode."""
    bpy.ops.object.mode_set(mode='OBJECT')
    select_in_object_mode(armature, tip=tip)


def added(armature, *bones):
    """Add a chain of selected bones, the first one active; return its bones."""
    select(armature, tip=bones[0])
    for name in bones[1:]:
        select_bone(armature, name)
    bpy.ops.ik2d.chain_add()
    return [joint.name for joint in armature.ik2d.chains[-1].joints]


def test_a_leg_of_one_bone_leaves_the_body_alone():
    armature = spider()
    for name in ("leg0", "leg1", "leg2"):
        assert added(armature, name) == [name]
    assert not any(chain.live_status and "share" in chain.live_status for chain in armature.ik2d.chains)


def test_the_lower_bone_of_two_takes_the_upper_one():
    armature = spider(lower=True)
    assert added(armature, "foot2") == ["leg2", "foot2"]


@pytest.mark.parametrize("tip, wanted", [("shin", ["thigh", "shin"]), ("foot", ["shin", "foot"])])
def test_helpers_beside_a_bone_make_no_branch(tip, wanted):
    helper = {
        "twist": ((0, -0.1, 1), (0, -0.1, 0.7), "thigh", 0.0),
        "off": ((0, 0.3, 1), (0, 0.3, 0.8), "shin", 0.0),
    }
    assert added(add_armature({**LEG, **helper}), tip) == wanted


def test_the_parent_in_another_chain_is_not_taken():
    armature = add_armature(LEG)
    assert added(armature, "shin") == ["thigh", "shin"]
    assert added(armature, "foot") == ["foot"]
    armature.ik2d.chains.remove(1)
    armature.ik2d.chains[0].enabled = False
    assert added(armature, "foot") == ["shin", "foot"]


def test_selected_bones_end_where_another_chain_begins():
    armature = add_armature(LEG)
    assert added(armature, "shin") == ["thigh", "shin"]
    assert added(armature, "foot", "shin", "thigh") == ["foot"]
    assert added(armature, "hip", "thigh", "shin") == ["hip"]


def test_the_whole_limb_ends_where_another_chain_begins():
    armature = add_armature(LEG)
    added(armature, "shin")
    select(armature, tip="foot")
    assert selection.chosen_bones(bpy.context, whole_branch=True) == ["foot"]


def crossing(first, second):
    """Return an armature with two chains, each (tip, count), the second one, and its first finding."""
    armature = add_armature(LEG)
    for tip, count in (first, second):
        select(armature, tip=tip)
        bpy.ops.ik2d.chain_add(bone_count=count)
    chain = armature.ik2d.chains[1]
    found = next(one for one in findings(armature, chain, reading(armature, chain), 1, 24))
    return armature, chain, found


def test_shorten_leaves_the_shared_bones_to_the_other_chain():
    armature, chain, found = crossing(("thigh", 1), ("foot", 3))
    assert [fix.label for fix in found.fixes] == ["Shorten", "Disable This One"]
    assert "'thigh'" in found.sentence and "shorten" in found.sentence
    said = mend("SHORTEN", armature, chain)
    assert "'shin'" in said and [joint.name for joint in chain.joints] == ["shin", "foot"]
    assert not shared_bones(chain) and not shared_bones(armature.ik2d.chains[0])


def test_a_chain_whose_last_bone_is_shared_cannot_be_shortened():
    _armature, _chain, found = crossing(("foot", 3), ("shin", 2))
    assert [fix.label for fix in found.fixes] == ["Disable This One"]
