# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain stores on what makes it native.

Not in a group of their own: Blender cannot override a group that the library's chain has not.
"""

import bpy
from bpy.props import PointerProperty, StringProperty

_OVERRIDABLE, _HIDDEN = {'LIBRARY_OVERRIDABLE'}, {'HIDDEN'}

NATIVE_STAND = PointerProperty(
    name="Stand",
    description="Empty in the plane of a native chain that carries its controls",
    type=bpy.types.Object,
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_PROBE = PointerProperty(
    name="Probe",
    description="Empty that is where the target of a native chain is",
    type=bpy.types.Object,
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_CONSTRAINT = StringProperty(
    name="Native Constraint",
    description="Name of the constraints that turn the bones of a native chain; empty for another",
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_PRINT = StringProperty(
    name="Made From",
    description="What a native chain was made from, to see whether it still does what its settings say",
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
NATIVE_BEFORE = StringProperty(
    name="Before Native",
    description="What is to be put back when the chain is native no more",
    override=_OVERRIDABLE,
    options=_HIDDEN,
)
