# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains keep still while somebody wants the scene without them."""

import bpy
import pytest

from ik2d_addon.rig.scene import live_pause
from ik2d_addon.rig.scene.live_pause import left_alone, live_paused


def test_pauses_may_lie_within_one_another():
    assert not live_pause.pauses
    with live_paused():
        with live_paused():
            assert live_pause.pauses
        assert live_pause.pauses
    assert not live_pause.pauses


def test_a_failure_ends_the_pause():
    with pytest.raises(ZeroDivisionError), live_paused():
        raise ZeroDivisionError
    assert not live_pause.pauses


@pytest.mark.parametrize("skipped", (False, True))
def test_what_was_left_out_meanwhile_is_made_up_for_at_the_end_alone(monkeypatch, skipped):
    calls = []
    monkeypatch.setattr(live_pause, "ended", [lambda: calls.append(live_pause.pauses)])
    with live_paused():
        with live_paused():
            live_pause.skipped = skipped
        assert calls == []
    assert calls == [0] * skipped and not live_pause.skipped


# --- Frames that a bake looks at ------------------------------------------------------------------


@pytest.fixture
def handlers():
    """Return both lists of functions on frame changes, as they are when the test begins."""
    lists = bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post
    before = [list(functions) for functions in lists]
    yield lists
    for functions, all_before in zip(lists, before, strict=True):
        functions[:] = all_before


def somebody_s(*_arguments):
    """Stand in for the function of a script."""


def test_within_a_pause_none_of_ours_is_called_and_all_others_are(handlers):
    before = []
    for functions in handlers:
        functions.insert(1, somebody_s)
        assert len(functions) > 1
        before.append(list(functions))
    with live_paused(), left_alone():
        assert [list(functions) for functions in handlers] == [[somebody_s]] * 2
    assert [list(functions) for functions in handlers] == before


def test_out_of_a_pause_all_are_called(handlers):
    before = [list(functions) for functions in handlers]
    with left_alone():
        assert [list(functions) for functions in handlers] == before
    assert not live_pause.skipped


def test_what_comes_or_goes_meanwhile_does_so_and_a_failure_puts_ours_back(handlers):
    (pre, post), before = handlers, list(handlers[1])
    pre.append(somebody_s)
    expected = [function for function in pre if function is not somebody_s]
    with pytest.raises(ZeroDivisionError), live_paused(), left_alone():
        pre.remove(somebody_s)
        post.append(somebody_s)
        raise ZeroDivisionError
    assert list(pre) == expected and list(post) == [*before, somebody_s]


def test_what_is_put_first_meanwhile_stays_first(handlers):
    post = handlers[1]
    post.append(_another)
    before = list(post)
    with live_paused(), left_alone():
        post.insert(0, somebody_s)
        post.append(_another)
    assert list(post) == [somebody_s, *before, _another]
    with live_paused(), left_alone():
        post.remove(_another)
    assert list(post) == [somebody_s, *before]


def _another(*_arguments):
    """Stand in for the function of another script."""


def test_an_installed_extensions_functions_are_ours_too():
    assert live_pause._ADDON == "ik2d_addon."
    assert live_pause.is_ours(live_paused) and not live_pause.is_ours(somebody_s)
