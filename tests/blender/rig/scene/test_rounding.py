# SPDX-License-Identifier: GPL-3.0-or-later
"""The rounding of Blender's 32-bit floats where a chain is."""

import numpy as np
import pytest

from ik2d_addon.rig.scene.rounding import PLAYED_BACK, reached_within, rounding

HERE = np.eye(4)[None]


def test_a_rounding_is_a_few_spacings_of_floats():
    sizes = np.array([0.01, 5.0, 1000.0])
    spacings = np.spacing(sizes.astype("f4"))
    assert (spacings < rounding(sizes)).all() and (rounding(sizes) < 16 * spacings).all()


def test_near_the_origin_a_part_of_the_reach_counts_as_reached():
    at_origin = reached_within(1e-6, 2.0, HERE, np.zeros((1, 3)))
    assert at_origin == pytest.approx(PLAYED_BACK * 2.0, rel=0.1)


def test_a_coarser_tolerance_counts_as_it_is():
    assert reached_within(0.1, 2.0, HERE, np.zeros((1, 3))) == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize("moved", ["the object", "the bones"])
def test_a_chain_far_off_counts_as_reached_within_what_floats_hold_there(moved):
    world, roots = HERE.copy(), np.array([[0.0, 300.0, 400.0]])
    if moved == "the object":
        world[0, :3, 3] = roots
    within = reached_within(1e-8, 0.01, world, roots)
    assert 2 * np.spacing(np.float32(500.0)) < within < 20 * np.spacing(np.float32(500.0))


def test_the_frame_furthest_off_decides():
    roots = np.array([[0.0, 0.0, 0.0], [0.0, 1000.0, 0.0]])
    worlds = np.repeat(HERE, 2, axis=0)
    assert reached_within(0.0, 1.0, worlds, roots) == reached_within(0.0, 1.0, HERE, roots[1:])


@pytest.mark.parametrize("far", [1e9, 1e20, 3e38])
def test_a_rounding_larger_than_the_reach_does_not_count_as_reached(far):
    assert reached_within(0.0, 2.0, HERE, np.array([[far, 0.0, 0.0]])) == pytest.approx(2.0, rel=1e-4)
