# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours that are readable on any background."""

import bpy
import numpy as np
import pytest

from ik2d_addon.features.overlay.colors import CONTRAST, backdrop, contrast, farther_end, readable
from ik2d_addon.features.overlay.settings import COLORS, overlay_settings

# The viewports of Blender's dark and light themes, white, black, and the grey that is worst for both.
BACKGROUNDS = [(0.24, 0.24, 0.24), (0.42, 0.42, 0.42), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.5, 0.5, 0.5)]

# Linear RGB as seen without one kind of cones (Machado, Oliveira and Fernandes 2009), and without any.
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
    "achromatopsia": [[0.213, 0.715, 0.072]] * 3,
}
# From linear RGB to CIE XYZ (IEC 61966-2-1).
TO_XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def lab(color, sight) -> np.ndarray:
    """Return CIE L*a*b* of a colour as somebody with a kind of sight sees it."""
    srgb = np.array(color)
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    parts = TO_XYZ @ np.clip(SIGHTS[sight] @ linear, 0.0, 1.0) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(parts > 216 / 24389, np.cbrt(parts), (24389 / 27 * parts + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_planes_grid_and_the_bends_arrow_differ_for_every_kind_of_sight(sight) -> None:
    settings = overlay_settings()
    plane, bend = tuple(settings.plane_color), tuple(settings.bend_color)
    pairs = [(plane, bend)]
    if sight != "achromatopsia":  # greys that are readable on grey differ too little
        pairs += [(readable(plane, behind), readable(bend, behind)) for behind in BACKGROUNDS[:4]]
    for one, other in pairs:
        assert np.linalg.norm(lab(one, sight) - lab(other, sight)) >= 20.0  # CIE76


@pytest.mark.parametrize("ink", [(0.9, 0.9, 0.9), (0.0, 0.0, 0.0)])  # of the dark and the light theme
def test_a_buttons_icon_stands_out_from_its_backdrop(ink) -> None:
    assert contrast(ink, backdrop(ink)) > 7.0


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
