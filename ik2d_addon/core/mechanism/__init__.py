# SPDX-License-Identifier: GPL-3.0-or-later
"""Planar mechanisms: bodies with pins, slides, gears and rams, whose closed loops are solved exactly.

A body's motion is a turn from the rest pose, in which all places are given, and a shift:

    place in the world = c place at rest + t,   c = exp(i turn)

A plan places the bodies one after the other (`plan`, `steps`), most of them by triangles: groups of Assur's
class II. Newton's method does what is left (`newton`). `drivers` keeps them where all loops close.
"""

from .mechanism import Mechanism
from .mobility import Mobility
from .solution import MechanismSolution, MechanismStatus

__all__ = ["Mechanism", "MechanismSolution", "MechanismStatus", "Mobility"]
