# SPDX-License-Identifier: GPL-3.0-or-later
"""The ends at which two bones are joined by a pin or a slide: those that are nearest at rest."""

from typing import Any

import numpy as np
from bpy.types import Object

from ...core.inputs import Floats
from ...rig.mechanism.placing import common_plane
from .editing import rest_bones

# Two bones are along each other within this sine.
_ALONG = 1e-3


def end_to_pin(mechanism: Any, first: str, last: str) -> tuple[str, str, str]:
    """Return the bone whose end is nearest to another, that end, and the other: of two bones.

    A head is a pin already, on its parent or the frame: it counts only where it lies on the other bone, and
    that is not its parent. Of two tails that meet the first bone's counts.
    """
    armature = mechanism.id_data
    plane = common_plane(mechanism.name, rest_bones(armature, [bone.name for bone in mechanism.bones]))
    lines = {
        bone.name: [plane.project(bone.end(which)) for which in ('HEAD', 'TAIL')]
        for bone in rest_bones(armature, [first, last])
    }
    found = []
    for bone, other in ((first, last), (last, first)):
        parent = armature.data.bones[bone].parent
        for which, at in zip(('TAIL', 'HEAD'), lines[bone][::-1], strict=True):
            if which == 'TAIL' or parent is None or parent.name != other:
                found.append((_distance(at, *lines[other]), bone, which, other))
    near = 1e-6 * max(np.ptp(np.concatenate(list(lines.values())), axis=0))
    found = [one for one in found if one[0] <= near or one[2] == 'TAIL']
    least = min(one[0] for one in found)
    _, bone, which, other = next(one for one in found if one[0] <= least + near)
    return bone, which, other


def _distance(at: Floats, start: Floats, end: Floats) -> float:
    """Return the distance of a place from a segment, all (2,)."""
    way = end - start
    share = np.clip((at - start) @ way / (way @ way), 0.0, 1.0)
    return float(np.linalg.norm(at - start - share * way))


def end_to_slide(mechanism: Any, bone: str, line: str | None) -> str:
    """Return the end of a bone that is nearer to the line along another; its tail where both are on it."""
    if line is None:
        return 'HEAD'
    slider, along = rest_bones(mechanism.id_data, [bone, line])
    way = along.axes[:, 1]
    head, tail = (np.linalg.norm(np.cross(end - along.head, way)) for end in (slider.head, slider.tail))
    return 'TAIL' if tail <= head + 1e-6 * mechanism.id_data.data.bones[bone].length else 'HEAD'


def is_along(armature: Object, bone: str, line: str) -> bool:
    """Return whether two bones are parallel at rest, as a piston and its cylinder are."""
    one, other = (rest.axes[:, 1] for rest in rest_bones(armature, [bone, line]))
    return bool(np.linalg.norm(np.cross(one, other)) < _ALONG)


def frame_bones(mechanism: Any) -> set[str]:
    """Return the bones outside of a mechanism that are one with its frame, along which bones may slide."""
    data = mechanism.id_data.data.bones
    inside = {bone.name for bone in mechanism.bones if bone.name in data}
    parents = {data[name].parent for name in inside} - {data[name] for name in inside}
    return {
        bone.name for bone in data if bone.name not in inside and (bone in parents or bone.parent in parents)
    }
