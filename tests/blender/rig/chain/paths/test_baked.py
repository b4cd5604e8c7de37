# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of baked bones follow those of the bones."""

from rigs import add_chain, add_leg

from ik2d_addon.rig.chain.paths.baked import baked_bones, follow_baked
from ik2d_addon.rig.chain.renames import straighten


def test_names_are_kept_in_order_and_follow_renames():
    armature = add_leg()
    chain = add_chain(armature, "shin", None, 2)
    assert baked_bones(chain) == []
    chain.bones_baked = "thigh\nshin\nfoot"
    follow_baked(chain, {"thigh": "shin", "shin": "thigh", "other": "foot"})
    assert baked_bones(chain) == ["shin", "thigh", "foot"]


def test_a_bone_that_has_left_the_chain_is_followed_if_it_was_baked():
    for baked in (True, False):
        armature = add_leg()
        chain = add_chain(armature, "shin", None, 3)
        straighten(armature)
        chain.bones_baked = "body\nthigh\nshin" if baked else ""
        chain.bone_count = 2
        armature.data.bones["body"].name = "pelvis"
        armature.data.bones["shin"].name = "calf"
        straighten(armature)
        assert baked_bones(chain) == (["pelvis", "thigh", "calf"] if baked else [])
        assert chain.dormant.keys() == (["pelvis"] if baked else [])


def test_a_renamed_post_is_followed():
    armature = add_leg()
    chain = add_chain(armature, "shin", None, 2, plane='POST', post="body")
    straighten(armature)
    chain.bones_baked = "body\nthigh\nshin"
    armature.data.bones["body"].name = "pelvis"
    straighten(armature)
    assert (chain.post, baked_bones(chain)) == ("pelvis", ["pelvis", "thigh", "shin"])
