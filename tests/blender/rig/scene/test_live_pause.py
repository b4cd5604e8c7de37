# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains keep still while somebody wants the scene without them."""

import pytest

from ik2d_addon.rig.scene import live_pause
from ik2d_addon.rig.scene.live_pause import live_paused


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
