# SPDX-License-Identifier: GPL-3.0-or-later
"""Invalid input is an IK2DError at once, which names the value."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, ccd_step, solve_ccd, solve_ccd_path, solve_two_bone

TWO = Chain([1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Chain([]), "one or more"),
        (lambda: Chain([1.0, -2.0]), "-2.0"),
        (lambda: Chain([1.0, np.nan]), "nan"),
        (lambda: Chain([[1.0]]), "shape"),
        (lambda: Chain([1.0], limits=[[1.0, 0.5]]), "1.0 to 0.5"),
        (lambda: Chain([1.0], limits=[[0.0, 1.0]] * 2), "shape"),
        (lambda: Chain([1.0], weights=[1.5]), "1.5"),
        (lambda: Chain([1.0], weights=[np.nan]), "nan"),
        (lambda: Chain([1.0], weights=[1.0, 1.0]), "shape"),
        (lambda: solve_two_bone(TWO, [np.inf, 0.0]), "inf"),
        (lambda: solve_two_bone(TWO, [1.0, 0.0, 0.0]), "shape"),
        (lambda: solve_two_bone(TWO, [1.0, 0.0], bend=0), "bend"),
        (lambda: solve_two_bone(TWO, [1.0, 0.0], softness=-0.1), "softness"),
        (lambda: solve_two_bone(Chain([1.0]), [1.0, 0.0]), "two bones"),
        (lambda: solve_ccd(TWO, [1.0, 0.0], start=[0.0]), "start"),
        (lambda: solve_ccd(TWO, [1.0, 0.0], start=[0.0, np.nan]), "start"),
        (lambda: solve_ccd(TWO, [1.0, 0.0], start=[0.0, 0.0], tolerance=0.0), "tolerance"),
        (lambda: solve_ccd(TWO, [1.0, 0.0], start=[0.0, 0.0], tolerance=-1.0), "tolerance"),
        (lambda: solve_ccd(TWO, [1.0, 0.0], start=[0.0, 0.0], max_iterations=0), "max_iterations"),
        (lambda: solve_ccd(TWO, [1.0, 0.0], start=[0.0, 0.0], bend=2), "bend"),
        (lambda: solve_ccd_path(TWO, [1.0, 0.0], start=[0.0, 0.0]), "path"),
        (lambda: ccd_step(TWO, [[0.0, 0.0]], [1.0, 0.0], tolerance=0.1), "one chain"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(IK2DError, match=words):
        call()


def test_no_numpy_warning_escapes():
    with np.errstate(all="raise", under="ignore"):
        for lengths in (
            [0.0, 0.0],
            [1.0, 0.0],
            [1.0, 1.0],
            [1e-200, 1e-200],
            [1e200, 1e200],
            [2.0, 1.0, 0.5],
        ):
            chain = Chain(lengths)
            outer = chain.reach[1]
            targets = np.array([[0.0, 0.0], [0.3, 0.4], [1.0, 0.0], [-2.0, 0.0], [0.0, 1e9]]) * (outer or 1.0)
            targets = np.tile(targets, (5, 1))
            zeros = np.zeros(len(lengths))
            assert np.isfinite(solve_ccd(chain, targets, start=zeros).angles).all()
            assert np.isfinite(solve_ccd_path(chain, targets, start=zeros).angles).all()
            if len(lengths) == 2:
                assert np.isfinite(solve_two_bone(chain, targets).angles).all()
                limited = Chain(lengths, limits=[[-1.0, np.nan], [0.1, 1.0]])
                assert np.isfinite(solve_two_bone(limited, targets).angles).all()
