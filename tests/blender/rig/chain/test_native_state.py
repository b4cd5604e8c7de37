# SPDX-License-Identifier: GPL-3.0-or-later
"""Which chains are native, and what belongs to them."""

import pytest
from native_rigs import two_legs
from rigs import leg_with_target

from ik2d_addon.features.native import make_native
from ik2d_addon.rig.chain import native_state
from ik2d_addon.rig.chain.native_state import (
    acts,
    constraints_of,
    controls_of,
    is_native,
    natives_muted,
    own_constraints,
    sampled_controls,
)


def test_asking_a_chain_that_is_not_native_leaves_no_mark():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    assert not is_native(chain) and not acts(chain) and controls_of(chain) is None
    assert list(constraints_of(chain)) == [] and own_constraints(armature) == set()
    assert not chain.is_property_set("native_constraint")


def test_a_native_chain_knows_its_parts():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    made = make_native(armature, chain)
    assert is_native(chain) and acts(chain) and controls_of(chain) == made.controls
    assert [bone.name for bone, _ in constraints_of(chain)] == ["thigh", "shin"]
    assert own_constraints(armature) == {"IK 2D shin"}
    for _, constraint in constraints_of(chain):
        constraint.mute = True
    assert is_native(chain) and not acts(chain)


def test_controls_are_read_as_a_bake_reads_the_settings():
    armature, _ = leg_with_target(softness=0.25, influence=0.5)
    controls = make_native(armature, armature.ik2d.chains[0]).controls
    assert sampled_controls(controls, 1.0) == (0.25, 1.0, 0.5, 0.0)
    controls["bend"], controls["turn_over"] = -0.5, 0.25
    assert sampled_controls(controls, 1.0) == (0.25, -0.5, 0.5, 0.0)
    del controls["influence"]
    assert sampled_controls(controls, 1.0)[2] == 1.0


def muted(armature):
    return [one.mute for bone in armature.pose.bones for one in bone.constraints]


def two():
    armature = two_legs()
    for chain in armature.ik2d.chains:
        make_native(armature, chain)
    return armature


def test_those_named_stay_muted():
    armature = two()
    with natives_muted(armature, ["left"], for_good=True):
        assert muted(armature) == [True, True, False, False]
    assert sum(muted(armature)) == 2


def test_they_act_again_where_it_fails():
    armature = two()
    armature.pose.bones["right shin"].constraints[0].mute = True
    with pytest.raises(KeyError), natives_muted(armature, ["left", "right"], for_good=True):
        raise KeyError
    assert muted(armature) == [False, False, False, True]


def test_asked_among_some_bones_it_looks_at_no_others(monkeypatch):
    armature = two_legs()
    chains = armature.ik2d.chains
    for chain in chains:
        make_native(armature, chain)
    looked_at = []
    monkeypatch.setattr(native_state, "_is_of", lambda *given: looked_at.append(given[1].name) or True)
    own = [bone.name for bone, _ in constraints_of(chains[0])]
    assert len(looked_at) == len(own) >= 4
    looked_at.clear()
    (one,) = constraints_of(chains[0], own[:1])
    assert one[0].name == own[0] and len(looked_at) == 1
    assert list(constraints_of(chains[0], ["gone"])) == []
