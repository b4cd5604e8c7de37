# SPDX-License-Identifier: GPL-3.0-or-later
"""Which chains are native, and what belongs to them."""

from rigs import leg_with_target

from ik2d_addon.features.native import make_native
from ik2d_addon.rig.chain.native_state import (
    acts,
    constraints_of,
    is_native,
    own_constraints,
    sampled_controls,
    stand_of,
)


def test_asking_a_chain_that_is_not_native_leaves_no_mark():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    assert not is_native(chain) and not acts(chain) and stand_of(chain) is None
    assert list(constraints_of(chain)) == [] and own_constraints(armature) == set()
    assert not chain.is_property_set("native_constraint")


def test_a_native_chain_knows_its_parts():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    made = make_native(armature, chain)
    assert is_native(chain) and acts(chain) and stand_of(chain) == made.stand
    assert [bone.name for bone, _ in constraints_of(chain)] == ["thigh", "shin"]
    assert own_constraints(armature) == {"IK 2D shin", "IK 2D shin Scale"}
    for _, constraint in constraints_of(chain):
        constraint.mute = True
    assert is_native(chain) and not acts(chain)


def test_controls_are_read_as_a_bake_reads_the_settings():
    armature, _ = leg_with_target(softness=0.25, influence=0.5)
    stand = make_native(armature, armature.ik2d.chains[0]).stand
    assert sampled_controls(stand) == (0.25, 1.0, 0.5)
    stand["bend"], stand["turn_over"] = -0.5, 0.25
    assert sampled_controls(stand) == (0.25, -0.5, 0.5)
    del stand["influence"]
    assert sampled_controls(stand)[2] == 1.0
