# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours that are readable on any background."""

import bpy
import pytest

from ik2d_addon.features.overlay.colors import CONTRAST, contrast, farther_end, readable
from ik2d_addon.ui.settings.overlay import COLORS, overlay_settings

# The viewports of Blender's dark and light themes, white, black, and the grey that is worst for both.
BACKGROUNDS = [(0.24, 0.24, 0.24), (0.42, 0.42, 0.42), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.5, 0.5, 0.5)]


def test_contrast_goes_from_one_to_twenty_one() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21.0)
    assert contrast((0.3, 0.5, 0.2), (0.3, 0.5, 0.2)) == 1.0


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("name", COLORS)
def test_every_colour_is_readable_on_every_background(name, background) -> None:
    color = tuple(getattr(overlay_settings(), name))
    assert contrast(readable(color, background), background) >= CONTRAST


def test_a_colour_that_is_readable_stays() -> None:
    assert readable((0.9, 0.6, 0.1), (0.1, 0.1, 0.1)) == (0.9, 0.6, 0.1)


def test_the_farther_end_is_white_on_dark() -> None:
    assert (farther_end((0.24,) * 3), farther_end((0.9,) * 3)) == (1.0, 0.0)


def test_what_is_shown_differs_by_colour() -> None:
    settings = overlay_settings()
    colors = [tuple(getattr(settings, name)) for name in COLORS]
    assert len(set(colors)) == len(colors) and bpy.app.background
