# SPDX-License-Identifier: GPL-3.0-or-later
"""A foot that rolls over heel, ball and toe tip, and stays on the ground."""

from .axes import FootAxes
from .ground import lifts, section
from .roll import FootShape

__all__ = ["FootAxes", "FootShape", "lifts", "section"]
