# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of sampling share."""

import pytest

from ik2d_addon.rig.scene import own_scene


@pytest.fixture(params=["own scene", "full scene"])
def sampled_in(request, monkeypatch):
    """Make the samples come from one scene or the other; return what is told of it."""
    why = "" if request.param == "own scene" else "a test wants it"
    if why:
        monkeypatch.setattr(own_scene, "doubt", lambda *_: why)
    return why
