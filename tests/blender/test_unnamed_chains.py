# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that a script made and never named work in every feature."""

import bpy
import pytest
from rigs import add_leg, add_target, errors_on

from ik2d_addon.bake import bake, clear
from ik2d_addon.chains import make_native, release, remove_native, target_to_tip
from ik2d_addon.core import IK2DError
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.live.registry import RIGS

PATH = {1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8)}


def unnamed_leg():
    """Return an active leg whose chain shows the default name, which before 5.2 no look-up by key finds."""
    armature = add_leg()
    armature.data.bones.active = armature.data.bones["shin"]
    chain = unnamed_chain(armature)
    bpy.context.view_layer.objects.active = armature
    assert chain.name == "Chain" and ("Chain" in armature.ik2d.chains) == (bpy.app.version >= (5, 2, 0))
    return armature, chain


def unnamed_chain(armature, name="Target"):
    chain = armature.ik2d.chains.add()
    chain.tip, chain.bone_count, chain.target = "shin", 2, add_target(PATH, name)
    return chain


def test_it_goes_live():
    armature, chain = unnamed_leg()
    chain.live = True
    assert errors_on((1, 10, 20), armature, chain).max() < 1e-5
    assert not RIGS.problems and not RIGS.failures and chain.live


def test_two_of_them_are_live_each_on_its_own():
    armature, chain = unnamed_leg()
    other = unnamed_leg()[0].ik2d.chains[0]
    second = unnamed_chain(armature, "Other")
    for one in (chain, other, second):
        one.live = True
    bpy.context.scene.frame_set(10)
    assert len({(one.id_data, one.name) for one in (chain, other, second)}) == 3
    assert "Chain.001" in chain.live_status + second.live_status  # both have the same bones


def test_its_live_failure_turns_it_off(monkeypatch):
    from ik2d_addon.live.chain import LiveChain

    armature, chain = unnamed_leg()

    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(LiveChain, "follow", fail)
    monkeypatch.setattr(RIGS, "failures", {})
    chain.live = True
    bpy.context.scene.frame_set(3)
    assert not chain.live and "ZeroDivisionError" in chain.live_status


@pytest.mark.parametrize("operator", ["solve", "bake", "clear_bake", "flip"])
def test_operators_find_it_by_its_name(operator):
    armature, chain = unnamed_leg()
    if operator == "clear_bake":
        bake(armature, None, 1, 2)
        chain.property_unset("name")  # a bake stores it
    assert getattr(bpy.ops.ik2d, operator)('EXEC_DEFAULT', chain="Chain") == {'FINISHED'}


def test_it_is_mirrored_by_its_name():
    armature, _chain = unnamed_leg()
    for bone in armature.data.bones[1:]:
        bone.name = f"{bone.name}.L"
    armature.ik2d.chains[0].tip = "shin.L"
    with pytest.raises(RuntimeError, match=r"no bone 'shin\.R'"):
        bpy.ops.ik2d.mirror(chain="Chain")


def test_functions_find_it_by_its_name():
    armature, chain = unnamed_leg()
    take_hold(bpy.context.scene, armature, "Chain").put_back()
    bake(armature, ["Chain"], 1, 2)
    chain.property_unset("name")
    assert clear(armature, "Chain") == 2 * 8
    target_to_tip(armature, ["Chain"], frame_start=1, frame_end=2)
    chain.property_unset("name")
    make_native(armature, chain)
    remove_native(armature, chain)
    chain.property_unset("name")
    assert release(armature, "Chain") == []
    with pytest.raises(IK2DError, match="has no chain 'Other'"):
        release(armature, "Other")
