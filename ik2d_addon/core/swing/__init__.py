# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that follow the target: one more rotation of the first bone on each frame."""

from .ease import eased as eased
from .swing import POLE as POLE
from .swing import POST as POST
from .swing import SHORTEST_WAY as SHORTEST_WAY
from .swing import SWING as SWING
from .swing import OwnPost as OwnPost
from .swing import Swing as Swing
