# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: read at many times at once."""

from typing import TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

# Times of an action, in the 32 bits that Blender counts them in.
Times: TypeAlias = NDArray[np.float32]


def values_at(curve: bpy.types.FCurve, times: Times) -> NDArray[np.float32]:
    """Return what an F-Curve is at times (frames,) of its action, to the bit as Blender evaluates it."""
    return np.fromiter(map(curve.evaluate, times.tolist()), np.float32, len(times))
