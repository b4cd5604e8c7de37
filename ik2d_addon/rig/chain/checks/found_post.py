# SPDX-License-Identifier: GPL-3.0-or-later
"""The post that locks show: a bone that turns about one axis, with hinges below it across another one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ....core.inputs import Floats
from ...rest import rest_axes
from ..joints import HINGE
from ..post import POST, turned_bones_of, turning_axes
from ..renames import bones_of

Free = Callable[[bpy.types.PoseBone], Sequence[int]]


@dataclass(frozen=True)
class FoundPost:
    """A bone that can be a chain's post."""

    bone: str
    axis: str  # 'X', 'Y' or 'Z', its own
    first: int = 0  # the number of the first bone that bends, among those that were looked at
    owner: str = ""  # another chain that turns it already
    normal: tuple[float, ...] = ()  # of the plane that the last hinge turns in, in rest space


def post_among(bones: Sequence[bpy.types.PoseBone], free: Free = turning_axes) -> FoundPost | None:
    """Return the post among bones, root to tip, by the numbers (0..2) of the axes that each may turn about.

    It is the first that turns; the last hinge below it tells how the chain bends. None where that is about
    the same axis, where hinges have axes of three directions, and where the next bone turns freely: then
    a plane can swing.
    """
    axes = [free(bone) for bone in bones]
    turning = [number for number, left in enumerate(axes) if left]
    if len(turning) < 2 or len(axes[turning[0]]) != 1 or len(axes[turning[1]]) == 3:
        return None
    post, first = turning[:2]
    hinges = [_axis_in_rest(bones[i], axes[i][0]) for i in turning[1:] if len(axes[i]) == 1]
    about = _axis_in_rest(bones[post], axes[post][0])
    if not hinges or _alike(about, hinges[-1]) or not all(_alike(axis, hinges[-1]) for axis in hinges):
        return None
    normal = tuple(map(float, hinges[-1]))
    return FoundPost(bones[post].name, "XYZ"[axes[post][0]], first, normal=normal)


def found_post(bones: Sequence[bpy.types.PoseBone], chain: str = "") -> FoundPost | None:
    """Return the post that locks propose for a chain of bones, root to tip; None for none.

    Among them, or the next bone above them that turns, if they begin with a hinge; a single bone that
    turns about one axis alone is its own. `first` is 0 where it is above them. chain: the chain's name, if
    there is one already: other chains may turn a bone, not it.
    """
    found = post_among(bones)
    if found is None and len(turning_axes(bones[0])) == 1:
        found = _post_above(bones) or _turntable(bones)
    if found is None:
        return None
    return replace(found, owner=chains_turning(bones[0].id_data, chain).get(found.bone, ""))


def _post_above(bones: Sequence[bpy.types.PoseBone]) -> FoundPost | None:
    above = next((bone for bone in bones[0].parent_recursive if turning_axes(bone)), None)
    found = post_among([above, *bones]) if above is not None else None
    return found and replace(found, first=0)


def _turntable(bones: Sequence[bpy.types.PoseBone]) -> FoundPost | None:
    """Return a single bone that only turns."""
    bone, *below = bones
    return None if below else FoundPost(bone.name, "XYZ"[turning_axes(bone)[0]])


def chains_turning(armature: bpy.types.Object, without: str = "") -> dict[str, str]:
    """Return the enabled chain that turns each bone of an armature, as its own or as its post."""
    return {
        bone: chain.name
        for chain in armature.ik2d.chains
        if chain.enabled and chain.name != without
        for bone in bones_turned_now(chain)
    }


def bones_turned_now(chain: bpy.types.PropertyGroup) -> list[str]:
    """Return the bones that a chain turns as it is set up, without a post that it has turned before."""
    if chain.plane == POST:
        return turned_bones_of(chain)
    return bones_of(chain.id_data.data, chain.tip, chain.bone_count)


def _axis_in_rest(bone: bpy.types.PoseBone, axis: int) -> Floats:
    return rest_axes(bone.bone)[:, axis]


def _alike(one: Floats, other: Floats) -> bool:
    """Return whether two unit axes (3,) are of hinges of one plane."""
    return bool(abs(one @ other) >= np.cos(HINGE))
