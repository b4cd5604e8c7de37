# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours that are readable on a background, whatever the theme. Colours are sRGB, 0..1. No Blender here."""

from collections.abc import Sequence

RGB = tuple[float, float, float]

# The contrast that lines and signs need with their background (WCAG 2.1, 1.4.11).
CONTRAST = 3.0
# The contrast that words need (1.4.3).
WORDS = 4.5
# Steps from a colour to white or black.
_STEPS = 20


def luminance(color: Sequence[float]) -> float:
    """Return the relative luminance of a colour, 0..1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the contrast of two colours, 1 (none) to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable(color: Sequence[float], background: Sequence[float], wanted: float = CONTRAST) -> RGB:
    """Return the colour nearest to one, on the way to white or to black, that has the wanted contrast.

    If neither end has it, the end with more contrast.
    """
    end = farther_end(background)
    for step in range(_STEPS + 1):
        share = step / _STEPS
        mixed = tuple((1.0 - share) * c + share * end for c in color[:3])
        if contrast(mixed, background) >= wanted:
            break
    return mixed


def backdrop(ink: Sequence[float]) -> RGB:
    """Return the grey behind signs of a colour: dark behind light ones, light behind dark ones."""
    return (0.1 + 0.75 * farther_end(ink),) * 3


def farther_end(background: Sequence[float]) -> float:
    """Return 1.0 where white is further from the background than black is, else 0.0."""
    return 1.0 if contrast((1.0,) * 3, background) >= contrast((0.0,) * 3, background) else 0.0
