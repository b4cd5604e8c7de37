# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of a chain's own first bone as its post: by its locks and its rotation mode."""

import bpy
import numpy as np

from ....core.inputs import Floats
from ....core.words import listed, refusal
from ..joints import HINGE, axes_left, is_held

_EULER = ('XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX')


def refuse_held(bone: bpy.types.PoseBone) -> None:
    """Raise IK2DError for a first bone with locked rotation channels off their rest: all of it is written."""
    if is_held(bone):
        raise refusal(
            "locks hold rotation channels of its post '{bone}' off their rest, where the chain's own first "
            "bone cannot turn about one axis; clear these channels, or unlock them",
            bone=bone.name,
        )


def refuse_mode(bone: bpy.types.PoseBone, axis: int, normal: Floats) -> None:
    """Raise IK2DError for a first bone whose locks and rotation mode turn no hinge before the post.

    axis: the post's, 0..2. normal: (3,) of the plane in the bone's own space.
    """
    others = [index for index in axes_left(bone) if index != axis]
    if len(others) != 1 or abs(normal[others[0]]) < np.cos(HINGE):
        return
    hinge, mode = "XYZ"[others[0]], bone.rotation_mode
    if mode in _EULER and mode.index(hinge) < mode.index("XYZ"[axis]):
        return
    raise refusal(
        "locks leave its post '{bone}' {axes}, which its rotation mode {mode} does not turn one after the "
        "other; set that to {modes}, or unlock its rotation",
        bone=bone.name,
        axes=listed(["XYZ"[axis], hinge]),
        mode=bone.bl_rna.properties["rotation_mode"].enum_items[mode].name,
        modes=listed([each for each in _EULER if each.index(hinge) < each.index("XYZ"[axis])]),
    )
