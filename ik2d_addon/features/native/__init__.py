# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains: Blender's own drivers pose them, also in files without this add-on."""

from ...rig.chain.native_state import is_native as is_native
from .build import Native as Native
from .build import make_native as make_native
from .empties import remove_native as remove_native
