# SPDX-License-Identifier: GPL-3.0-or-later
"""Each public function and class of the solvers has an example in its docstring, and it runs."""

import doctest
import inspect

import numpy as np
import pytest

from ik2d_addon import core
from ik2d_addon.core.ccd.step import ccd_joint
from ik2d_addon.core.contacts import find_contacts, held
from ik2d_addon.core.pops import pop_bands

PUBLIC = {
    name: thing for name, thing in vars(core).items() if inspect.isclass(thing) or inspect.isfunction(thing)
}
ALL = {
    **PUBLIC,
    "ccd_joint": ccd_joint,
    "find_contacts": find_contacts,
    "held": held,
    "pop_bands": pop_bands,
    "Solution.at": core.Solution.at,
}


@pytest.mark.parametrize("name", ALL)
def test_each_public_docstring_has_an_example_that_runs(name):
    (test,) = doctest.DocTestFinder(recurse=False).find(ALL[name], name, globs={**ALL, "np": np})
    assert test.examples
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    said: list[str] = []
    assert doctest.DocTestRunner(optionflags=flags).run(test, out=said.append).failed == 0, "".join(said)


def test_all_that_the_core_offers_is_public():
    assert set(core.__all__) < PUBLIC.keys()
