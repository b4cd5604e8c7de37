# SPDX-License-Identifier: GPL-3.0-or-later
"""One exception root, for invalid input alone."""

import ast
from pathlib import Path

import pytest

import ik2d_addon.core
from ik2d_addon.core import Chain, IK2DError, Status, solve_ccd, solve_two_bone

CORE = Path(ik2d_addon.core.__file__).parent


def test_the_root_is_a_value_error_so_that_scripts_can_catch_either():
    assert issubclass(IK2DError, ValueError)
    with pytest.raises(ValueError, match="lengths"):
        Chain([])


@pytest.mark.slow
def test_core_raises_nothing_else():
    raised = {
        ast.unparse(node.exc.func)
        for path in CORE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    }
    assert raised == {"IK2DError", "refusal"}  # which makes one


def test_a_target_out_of_reach_is_no_error():
    chain = Chain([1.0, 1.0])
    assert solve_two_bone(chain, [3.0, 0.0]).status == Status.TOO_FAR
    assert solve_ccd(chain, [3.0, 0.0], start=[0.0, 0.0]).status == Status.TOO_FAR
