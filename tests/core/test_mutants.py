# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make mutants` changes in the code, and that it is the same every time."""

import ast

import pytest

from tools.mutants.mutant import diff, mutants_of, mutated
from tools.mutants.operators import Surroundings, changes
from tools.mutants.sample import AREAS, all_mutants, sample

SNIPPET = '''
"""A docstring with 1 < 2 in it."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    HIDDEN = 1 + 1
__all__ = ["turn" * 2]
LIMIT: "float | None" = 2.5


def turn(angle: float, least=-1.0, flag: bool = True) -> bool:
    """Return whether 3 > 2."""
    total = 0
    for i in range(4):
        total += angle * i if not flag else max(angle, least)
    if angle <= LIMIT and (flag or total == 3) and i in (1, 2):
        raise ValueError("more than %d" % 7)
    print(f"{total - 1:.2f} turns {total if ~total else 0}")
    return np.any(total)
'''


def replaced(expression: str) -> set[str]:
    """Return what an expression is changed into, where nothing inside it is."""
    node = ast.parse(expression, mode="eval").body
    return {ast.unparse(new) for _, new in changes(node, Surroundings())}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a <= b < c", {"a < b < c", "a > b < c", "a <= b <= c", "a <= b >= c"}),
        ("a is None", {"a is not None"}),
        ("a + b", {"a - b"}),
        ("-a", {"a"}),
        ("not a", {"a"}),
        ("a and b and c", {"a or b or c", "b and c", "a and c", "a and b"}),
        ("3", {"4", "0"}),
        ("0", {"1"}),
        ("0.0", {"1.0"}),
        ("2.5", {"5.0", "0.0"}),
        ("True", {"False"}),
        ("'text'", set()),
        ("lib.minimum(a, b)", {"lib.maximum(a, b)"}),
        ("max(a, key=b)", {"min(a, key=b)"}),
        ("a @ b", set()),
    ],
)
def test_each_operator_changes_what_it_is_for(before, after):
    assert replaced(before) == after


@pytest.mark.slow
def test_every_mutant_compiles_and_differs_from_the_source():
    mutants = mutants_of("snippet.py", SNIPPET)
    original = ast.dump(ast.parse(SNIPPET))
    for mutant in mutants:
        tree = mutated(mutant, SNIPPET)
        compile(tree, "snippet.py", "exec")
        assert ast.dump(tree) != original, mutant
        assert diff(mutant, SNIPPET), mutant
    kinds = {mutant.operator for mutant in mutants}
    assert kinds == {
        *("border", "opposite", "arithmetic", "augmented", "minus", "not", "invert", "logic", "part"),
        *("constant", "condition", "twin", "statement", "return"),
    }


def test_conditions_statements_and_returns_are_changed():
    lines = {(mutant.line, mutant.after) for mutant in mutants_of("snippet.py", SNIPPET)}
    first = SNIPPET.splitlines().index("    total = 0") + 1
    assert {(first + 3, "True"), (first + 3, "False"), (first + 2, "True")} <= lines
    assert {(first + 5, "pass"), (first + 6, "return False"), (first + 6, "return total")} <= lines


def test_what_has_no_behaviour_is_left_alone():
    source = SNIPPET.splitlines()
    changed = {source[mutant.line - 1].strip().partition(" ")[0] for mutant in mutants_of("s.py", SNIPPET)}
    assert not changed & {'"""A', '"""Return', "HIDDEN", "__all__", "raise", "import", "from"}


def test_only_what_no_function_does_is_at_import():
    at_import = {mutant.before for mutant in mutants_of("snippet.py", SNIPPET) if mutant.at_import}
    assert at_import == {"2.5", "-1.0", "1.0", "True"}


def test_names_tell_mutants_apart_and_stay_the_same():
    names = [mutant.name for mutant in mutants_of("snippet.py", SNIPPET)]
    assert len(set(names)) == len(names)
    assert names == [mutant.name for mutant in mutants_of("snippet.py", SNIPPET)]


@pytest.mark.slow
def test_a_seed_gives_the_same_sample_again():
    mutants = all_mutants()
    for area, folders in AREAS.items():
        some = sample(mutants, area, 30, 1)
        assert some == sample(mutants, area, 30, 1) != sample(mutants, area, 30, 2)
        assert len(set(some)) == 30
        assert all(mutant.path.startswith(folders) for mutant in some)
