# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains: Blender's own drivers pose them, also in files without this add-on.

Making them is loaded when it is first used.
"""

from typing import TYPE_CHECKING, Any

from ...rig.chain.native_state import is_native as is_native
from .empties import remove_native as remove_native

if TYPE_CHECKING:
    from .build import make_native as make_native
    from .empties import Native as Native


def __getattr__(name: str) -> Any:
    if name not in ("Native", "make_native"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import build

    return getattr(build, name)
