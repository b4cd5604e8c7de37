# SPDX-License-Identifier: GPL-3.0-or-later
"""The cause of a miss that a bake reports is the real one."""

import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target, errors_on, leg_with_target

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import Status
from ik2d_addon.features.doctor.findings import findings
from ik2d_addon.rig.chain.chain import reading

FRAMES = range(1, 41)
ALL = BakeOptions(verify='ALL')


def causes(told) -> set[str]:
    """Return the causes that a chain's report names."""
    return {told._cause(int(i)) for i in np.flatnonzero(told.missed)}


def test_locks_and_not_limits_hold_a_locked_bone():
    armature, _ = leg_with_target()
    armature.pose.bones["shin"].lock_rotation = (True, True, True)
    report = bake(armature, None, 1, 40)
    told = report.chains[0]
    assert told.missed.any() and causes(told) == {"held by locks"}
    assert "stopped by limits" not in report.sentence()
    chain = armature.ik2d.chains[0]
    (held,) = (f for f in findings(armature, chain, reading(armature, chain), 1, 40) if f.kind == 'HELD')
    assert [fix.label for fix in held.fixes] == ["Unlock Rotation"]


def test_uneven_scale_and_not_softness_holds_a_chain_of_scaled_bones_back():
    armature, _ = leg_with_target()
    armature.pose.bones["thigh"].scale = (1.0, 1.0, 3.0)
    told = bake(armature, None, 1, 40, options=ALL).chains[0]
    assert errors_on(FRAMES, armature, armature.ik2d.chains[0]).min() > 0.1
    assert told.missed.all() and not told.reached
    assert causes(told) == {"held back by uneven scale"}
    assert "REACHED" not in told.to_dict()["status"]


def test_softness_is_the_cause_where_it_leaves_the_tip_behind():
    armature = add_leg()
    add_chain(armature, "shin", add_target({1: (0, 0.2, 0.5), 40: (0, -1.0, 0.43)}), softness=0.1)
    told = bake(armature, None, 1, 40, options=ALL).chains[0]
    errors = errors_on(FRAMES, armature, armature.ik2d.chains[0])
    assert causes(told) == {"held back by softness"}
    assert ((told.status == Status.EASED) == (errors > told.standard.tolerance)).all()


def test_softness_of_a_chain_that_stretches_is_told_too():
    armature = add_leg()
    armature.data.bones["shin"].inherit_scale = 'NONE'
    target = add_target({1: (0, 0.2, 0.5), 40: (0, -1.0, 0.43)})
    add_chain(armature, "shin", target, softness=0.1, stretch=1.05)
    told = bake(armature, None, 1, 40, options=ALL).chains[0]
    errors = errors_on(FRAMES, armature, armature.ik2d.chains[0])
    assert ((told.status == Status.REACHED) == (errors <= told.standard.tolerance)).all()


def test_what_reducing_keys_cost_is_told_as_that():
    armature = add_leg()
    add_chain(armature, "shin", add_target({1: (0, 0.2, 0.3), 20: (0, -1.0, 0.43), 40: (0, 0.8, 0.6)}))
    armature.ik2d.chains[0].softness = 0.1
    told = bake(armature, None, 1, 40, options=BakeOptions(verify='ALL', reduce=0.1)).chains[0]
    assert "off by reducing keys" in causes(told)
    assert not any("something else" in cause or "reach" in cause for cause in causes(told))


@pytest.mark.parametrize("verify, reached", [('NONE', False), ('ALL', True)])
def test_with_other_controls_nothing_is_reached_until_it_is_played_back(verify, reached):
    armature, _ = leg_with_target()
    constraint = armature.pose.bones["shin"].constraints.new('LIMIT_ROTATION')
    constraint.use_limit_x, constraint.min_x, constraint.max_x = True, -3.1, 3.1
    constraint.owner_space = 'LOCAL'
    report = bake(armature, None, 1, 40, options=BakeOptions(verify=verify))
    assert report.chains[0].standard.other_controls and report.all_reached == reached
    assert ("not verified" in report.sentence()) != reached
