# SPDX-License-Identifier: GPL-3.0-or-later
"""Every public function answers any value with a result, or with an IK2DError in one sentence."""

import warnings

import numpy as np
import pytest
from nonsense import CALLS, NUMBERS, THINGS, nonsense, numbers_in

from ik2d_addon import core
from ik2d_addon.core import IK2DError
from ik2d_addon.core.inputs import brief


def fault(function, given):
    """Return in words what is wrong with an answer; "" for a result, "refused" for an IK2DError."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = function(**given)
        except IK2DError as error:
            said = str(error)
            return "refused" if said and "\n" not in said and len(said) < 300 else f"not one sentence: {said}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "" if all(np.isfinite(array).all() for array in numbers_in(result)) else "not a number"


def faults(name, changes):
    """Return the faults of a function where each change replaces some of its arguments."""
    function, good = CALLS[name]
    found = {
        str({key: brief(value) for key, value in change.items()}): fault(function, {**good, **change})
        for change in changes
    }
    return {change: words for change, words in found.items() if words not in ("", "refused")}


@pytest.mark.parametrize("name", CALLS)
def test_the_good_arguments_give_a_result(name):
    function, good = CALLS[name]
    assert fault(function, good) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_any_value_for_one_argument_is_answered_or_refused_in_a_sentence(name):
    changes = [{argument: value} for argument in CALLS[name][1] for value in (*NUMBERS, *THINGS)]
    assert faults(name, changes) == {}


@pytest.mark.parametrize("name", CALLS)
def test_any_values_for_several_arguments_are_answered_or_refused_in_a_sentence(name, some):
    rng = np.random.default_rng([22, list(CALLS).index(name)])
    arguments = list(CALLS[name][1])
    changes = [
        {argument: nonsense(rng) for argument in arguments if rng.random() < 0.5} for _ in range(some(1000))
    ]
    assert faults(name, changes) == {}


def test_no_public_function_is_left_out():
    functions = {name for name, thing in vars(core).items() if type(thing) is type(fault)}
    assert functions <= {name.split(" ")[0] for name in CALLS}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("solve_even", {"chain": [1, 1, 1]}, r"chain must be a Chain, not \[1, 1, 1\]"),
        ("solve_arc", {"chain": [1, 1, 1]}, r"chain must be a Chain, not \[1, 1, 1\]"),
        (
            "solve_ccd with slides",
            {"max_iterations": 1.5},
            "max_iterations must be a whole number .* not 1.5",
        ),
        ("solve_ccd with slides", {"max_iterations": np.nan}, "max_iterations must be a whole .* not nan"),
        ("solve_ccd with slides", {"max_iterations": "x"}, "max_iterations must be a whole .* not 'x'"),
        ("solve_ccd with slides", {"tolerance": [0.1]}, r"tolerance must be one number, not \[0.1\]"),
        ("solve_ccd with slides", {"tolerance": 10**400}, r"tolerance must not exceed 1e\+300; .*"),
        ("solve_even", {"target": [1j, 0]}, r"target must be numbers, .*, not \[1j, 0\]"),
        ("solve_even", {"bend": [1, 1, -1]}, r".*target for \(2,\), bend for \(3,\)"),
        ("Plane", {"x": [1.0, 0.0]}, r"x must be three numbers, x, y and z, not of shape \(2,\)"),
        ("lift", {"points": [1.0, 0.0, 0.0]}, r"points must be 2 numbers each, not of shape \(3,\)"),
        ("stretched", {"distance": np.ones(3), "softness": np.ones(2)}, ".*distance for .*, softness for .*"),
        ("Region", {"low": np.full(3, np.nan)}, "low, high, least and most must be numbers, .*"),
        (
            "Chain",
            {"limits": [[-90, 90], [0, 45]]},
            "limits are radians, and joint 0 has -90, .*numpy.radians.*",
        ),
        ("at", {"rows": 2}, "choose rows of 0 to 1, by number, list or mask, not 2"),
    ],
)
def test_each_refusal_names_the_value(name, change, words):
    function, good = CALLS[name]
    with pytest.raises(IK2DError, match=f"^{words}$"):
        function(**{**good, **change})
