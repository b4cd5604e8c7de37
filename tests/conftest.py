# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that all tests share."""

from collections.abc import Callable
from importlib.util import find_spec

import pytest

if find_spec("hypothesis"):  # not in a real Blender, where the tests that need it are not run
    import hypothesis

    # The same examples in every run, and no time limit for one of them: a failure is never a matter of luck.
    hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
    hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run be thorough: pytest --thorough."""
    parser.addoption("--thorough", action="store_true", help="run what is marked thorough, and all cases")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are marked thorough, unless they are wanted."""
    if not config.getoption("--thorough"):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


@pytest.fixture(scope="session")
def some(request: pytest.FixtureRequest) -> Callable[..., int]:
    """Return a function that says how many cases to take of so many: a tenth, or all with --thorough."""
    thorough = request.config.getoption("--thorough")
    return lambda count, part=10: count if thorough else max(count // part, 1)
