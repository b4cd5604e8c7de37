# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves and channel groups, looked through once: to find one, Blender goes through all of them."""

import bpy

from . import versions


class KnownCurves(dict[tuple[str, int], bpy.types.FCurve]):
    """F-Curves by path and index."""

    def find(self, path: str, index: int = 0) -> bpy.types.FCurve | None:
        """Return the F-Curve of a channel, as Blender's own collections do; None where there is none."""
        return self.get((path, index))


class KnownChannels:
    """The F-Curves and groups that something holds, to be asked for as it would be itself.

    What is made meanwhile is known where it is added here, too; nothing may be removed.
    """

    def __init__(self, holder: versions.Channels) -> None:
        # From the last to the first, which counts where a damaged file has two of a kind.
        curves, groups = list(holder.fcurves)[::-1], list(holder.groups)[::-1]
        self.fcurves = KnownCurves(((curve.data_path, curve.array_index), curve) for curve in curves)
        self.groups = {group.name: group for group in groups}
