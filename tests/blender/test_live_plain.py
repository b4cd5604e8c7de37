# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains that plain numbers solve, without the arrays' solvers, show what a bake keys."""

from math import radians

import pytest
from test_live import SAME, arm_with_target, far, limited, poses

from ik2d_addon.bake import bake
from ik2d_addon.live import chain as live_chain
from ik2d_addon.live.registry import RIGS


def narrow(chain) -> None:
    """Give joints ranges that bind on most frames."""
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, radians(5), radians(35)


def limited_and_soft(chain) -> None:
    limited(chain)
    chain.softness = 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    "bones, kind", [(1, limited), (1, narrow), (2, limited), (2, narrow), (2, limited_and_soft)]
)
def test_plain_numbers_are_enough_and_those_of_a_bake(bones, kind, monkeypatch):
    armature, _, chain = arm_with_target(bones, middle=2.0)  # out of reach on some frames
    kind(chain)
    monkeypatch.setattr(live_chain, "solve_chain", None)
    chain.live = True
    shown = poses(armature)
    assert chain.live and not RIGS.failures and not RIGS.problems
    bake(armature)
    assert far(shown, poses(armature)) <= 3.0 * SAME
