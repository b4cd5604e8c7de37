# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for one bone, as plain numbers."""

import numpy as np
import pytest
from native_rigs import worked_out

from ik2d_addon.core import Stretch
from ik2d_addon.features.native.limited import single as plan
from ik2d_addon.features.native.plan import Shape


def shape(heading=0.4, limits=(np.nan, np.nan), **more):
    return Shape(np.array([1.3]), np.array([heading]), np.array([heading]), np.array([limits]), **more)


def test_it_turns_from_rest_to_the_target_without_a_step():
    found = plan(shape(0.4))
    assert not found.steps and not found.factors
    for angle in (-3.0, -1.0, 0.0, 2.5):
        turn = worked_out(found, x=2.0 * np.cos(angle), y=2.0 * np.sin(angle))["turn0"]
        assert np.exp(1j * (turn + 0.4)) == pytest.approx(np.exp(1j * angle), abs=1e-9)


def test_a_target_on_the_root_divides_by_nothing():
    assert worked_out(plan(shape(0.0)), x=0.0, y=0.0)["turn0"] == 0.0


@pytest.mark.parametrize("angle", [-3.1, -1.0, 0.1, 1.0, 2.0, 3.1])
def test_out_of_its_limits_it_takes_the_nearer_end_all_the_way_round(angle):
    low, high = -0.5, 0.9
    turn = worked_out(plan(shape(0.4, (low, high))), x=np.cos(angle), y=np.sin(angle))["turn0"]
    own = np.angle(np.exp(1j * (angle - 0.4)))
    ends = [abs(np.angle(np.exp(1j * (own - end)))) for end in (low, high)]
    assert turn == pytest.approx(own if low <= own <= high else (low, high)[int(np.argmin(ends))], abs=1e-9)


@pytest.mark.parametrize("last", [True, False])
def test_it_stretches_as_the_core_has_it(last):
    own = shape(0.4, stretch=Stretch(1.6, 0.5, last_only=last))
    for distance in (0.2, 0.9, 1.3, 1.8, 4.0):
        factor = worked_out(plan(own), x=distance, y=0.0, stretch=1.6, compress=0.5)["k"]
        assert factor == pytest.approx(np.clip(distance / 1.3, 0.5, 1.6), abs=1e-9)
