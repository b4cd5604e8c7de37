# SPDX-License-Identifier: GPL-3.0-or-later
"""IK 2D, the extension's root: what Blender enables and disables."""


def register() -> None:
    """Register the add-on with Blender."""
    from . import ik2d_addon

    ik2d_addon.register()


def unregister() -> None:
    """Take the add-on out of Blender again."""
    from . import ik2d_addon

    ik2d_addon.unregister()
