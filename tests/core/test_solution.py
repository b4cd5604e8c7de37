# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solver answers: arrays of one shape, an honest status and the true residual."""

import cmath

import numpy as np
import pytest

from ik2d_addon.core import (
    Chain,
    IK2DError,
    Status,
    forward,
    solve_ccd,
    solve_ccd_path,
    solve_even,
    solve_two_bone,
)
from ik2d_addon.core.solution import annulus_status, distances_to, drained, mapped

SOLVERS = {
    "two bones": lambda chain, targets, **options: solve_two_bone(chain, targets, **options),
    "ccd": lambda chain, targets, **options: solve_ccd(chain, targets, start=np.zeros(2), **options),
    "path": lambda chain, targets, **options: solve_ccd_path(chain, targets, start=np.zeros(2), **options),
}


def test_the_numbers_of_the_statuses_are_fixed():
    """Scripts and saved reports hold them."""
    assert {status.name: int(status) for status in Status} == {
        "REACHED": 0,
        "TOO_FAR": 1,
        "TOO_CLOSE": 2,
        "LIMITED": 3,
        "STALLED": 4,
        "EASED": 5,
        "ANGLE": 6,
    }


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("limits", (None, [[-1.0, 1.0], [0.2, 1.0]]))
def test_a_solution_holds_arrays_of_the_targets_shape(solver, limits):
    chain = Chain([1.0, 0.6], limits)
    targets = np.random.default_rng(0).uniform(-2.0, 2.0, (20, 2))
    solution = solver(chain, targets)
    assert solution.angles.shape == solution.limited.shape == (20, 2)
    assert solution.status.shape == solution.residual.shape == solution.iterations.shape == (20,)
    assert solution.angles.dtype == solution.residual.dtype == np.float64
    assert solution.status.dtype == np.int8
    assert solution.iterations.dtype == np.int32
    assert solution.limited.dtype == np.bool_
    tips = forward(chain, solution.angles)[:, -1]
    assert np.allclose(solution.residual, np.hypot(*(tips - targets).T), rtol=0.0, atol=1e-14)
    assert solution.reached.tolist() == (solution.status == 0).tolist()
    assert 0 < solution.reached.sum() < 20


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_no_targets_give_an_empty_solution(solver):
    for limits in (None, [[-1.0, 1.0], [0.2, 1.0]]):
        solution = solver(Chain([1.0, 0.6], limits), np.empty((0, 2)))
        assert solution.angles.shape == (0, 2)
        assert solution.status.shape == (0,)


def test_distances_are_from_the_tip():
    rng = np.random.default_rng(1)
    lengths, angles, targets = [1.0, 0.5, 0.7], rng.uniform(-3.0, 3.0, (4, 5, 3)), rng.normal(size=(4, 5, 2))
    found = distances_to(Chain(lengths), angles, targets)
    for place in np.ndindex(4, 5):
        headings = np.cumsum(angles[place])
        tip = sum(cmath.rect(length, a) for length, a in zip(lengths, headings, strict=True))
        assert found[place] == pytest.approx(abs(tip - complex(*targets[place])), abs=1e-14)


def test_status_of_the_annulus_with_the_tolerance_on_both_borders():
    chain = Chain([4.0, 1.0])  # 3..5
    radius = [0.0, 2.7, 2.75, 3.0, 4.0, 5.0, 5.25, 5.3, 1e9]
    for turn in (0.0, 2.5):
        targets = np.multiply.outer(radius, [np.cos(turn), np.sin(turn)])
        status = annulus_status(chain, targets, 0.25 + 1e-12)
        assert status.dtype == np.int8
        assert status.tolist() == [Status.TOO_CLOSE] * 2 + [Status.REACHED] * 5 + [Status.TOO_FAR] * 2
    # On the border of the tolerance itself a target counts as within.
    on_the_border = annulus_status(chain, np.array([[2.75, 0.0], [5.25, 0.0]]), 0.25)
    assert on_the_border.tolist() == [Status.REACHED] * 2


# --- Some of the targets ------------------------------------------------------------------------------


def test_one_target_of_many_and_a_single_one_are_had_alike():
    chain = Chain([1.0, 1.0, 0.5])
    targets = np.array([[1.0, 0.5], [0.2, -1.0], [5.0, 0.0]])
    many = solve_even(chain, targets)
    for row, target in enumerate(targets):
        single = solve_even(chain, target)
        for one in (many.at(row), single, single.at(0), single.at(-1)):
            assert one.angles.shape == (3,) and one.status.shape == () == one.residual.shape
            assert np.array_equal(one.angles, many.angles[row]) and one.status == many.status[row]
        for some in (many.at([row]), single.at([0]), single.at([True]), single.at(slice(None))):
            assert some.angles.shape == (1, 3) and np.array_equal(some.angles[0], many.angles[row])
    assert np.array_equal(many.at([2, 0]).status, many.status[[2, 0]])
    assert many.at(slice(1, None)).angles.shape == (2, 3)


@pytest.mark.parametrize("rows", [3, -4, [0, 3], "x", None, 0.5, [[0]], [True, False], 10**400])
def test_rows_that_there_are_not_are_refused(rows):
    solution = solve_even(Chain([1.0, 1.0]), [[1.0, 0.5], [0.2, -1.0], [5.0, 0.0]])
    with pytest.raises(IK2DError, match="^choose rows of 0 to 2, by number, list or mask, not "):
        solution.at(rows)


def test_zeros_of_rigid_bones_and_of_formulas_take_no_memory_and_are_read_only():
    solution = solve_two_bone(Chain([1.0, 1.0]), np.ones((1000, 2)))
    for zeros, shape in ((solution.slides, (1000, 2)), (solution.iterations, (1000,))):
        assert zeros.shape == shape and not zeros.any() and zeros.base.nbytes <= 8
        with pytest.raises(ValueError, match="read-only"):
            zeros[0] = 1
    assert solution.at(slice(2)).slides.shape == (2, 2)


# --- Work in steps ------------------------------------------------------------------------------------


def counting():
    """Yield 1 and 2 and return "done"."""
    yield 1
    yield 2
    return "done"


def test_steps_are_run_to_their_end():
    told = []
    assert drained(counting()) == drained(counting(), told.append) == "done"
    assert told == [1, 2]


def test_mapped_steps_tell_something_else_and_have_the_same_result():
    told = []
    assert drained(mapped(counting(), lambda done: (done, 2)), told.append) == "done"
    assert told == [(1, 2), (2, 2)]


def test_closed_mapped_steps_close_those_that_they_map():
    closed = []

    def undoing():
        try:
            yield 1
        finally:
            closed.append(True)

    steps = mapped(undoing(), str)
    assert next(steps) == "1"
    steps.close()
    assert closed == [True]


def test_mapped_steps_that_are_closed_undo_the_inner_ones_first():
    undone = []

    def inner():
        try:
            yield 1
        finally:
            undone.append("inner")

    def outer():
        steps = inner()  # which is still referred to while the rest is undone
        try:
            yield from mapped(steps, str)
        finally:
            undone.append("outer")

    steps = outer()
    assert next(steps) == "1"
    steps.close()
    assert undone == ["inner", "outer"]
