# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves are read as Blender evaluates them, to the bit."""

import numpy as np
from rigs import add_target

from ik2d_addon.rig.compat import existing_fcurves
from ik2d_addon.rig.curves import values_at


def test_values_are_what_blender_evaluates():
    target = add_target({1: (0, 0.2, 0.3), 10: (0, -0.9, 0.8)})
    times = np.linspace(-5.0, 15.0, 41, dtype="f4")
    for curve in existing_fcurves(target):
        values = values_at(curve, times)
        assert values.dtype == np.float32 and values.tolist() == [curve.evaluate(time) for time in times]
