# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints and drivers that a mechanism's bones suggest by where they are at rest, and by who turns them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object

from ...core import IK2DError, Plane
from ...rig.animation import versions
from ...rig.animation.bone_channels import rotation_property
from ...rig.animation.kept.marks import generated
from ...rig.chain.checks.found_post import chains_turning
from ...rig.mechanism.placing import RestBone, common_plane
from ...rig.mechanism.read import PIN, RAM, TURN, RigMechanism, read_mechanism
from .editing import add_pin, add_ram, drive, rest_bones

# Ends that are nearer to each other than this part of the extent of all are at one place.
NEAR = 1e-3
# Two bones point at each other within this sine.
_AIMED = 0.02


class Proposal(NamedTuple):
    """A joint that is proposed: a pin of an end of a bone, or a ram."""

    kind: str
    bone: str
    end: str
    other: str  # "" for the frame


class End(NamedTuple):
    """An end of a bone in the plane; of the bone "", the frame."""

    bone: str
    which: str  # 'HEAD' or 'TAIL'
    at: complex


def propose_joints(mechanism: Any) -> list[Any]:
    """Add the joints that a mechanism's bones suggest, and return them.

    A pin wherever an end lies on another bone's end, or on one of the frame's, and the two are not joined
    there already; a ram for two bones that point at each other. Depths apart do not count.
    """
    known = [Proposal(one.kind, one.bone, one.end, one.other) for one in mechanism.joints]
    bones = rest_bones(mechanism.id_data, [bone.name for bone in mechanism.bones])
    return [_added(mechanism, one) for one in proposed(mechanism.id_data, bones, known)]


def _added(mechanism: Any, one: Proposal) -> Any:
    if one.kind == RAM:
        return add_ram(mechanism, one.bone, one.other)
    return add_pin(mechanism, one.bone, one.end, one.other or None)


def proposed(
    armature: Object, bones: Sequence[RestBone], known: Sequence[Proposal] = ()
) -> Iterator[Proposal]:
    """Yield the joints that bones of a mechanism suggest, but those that are known."""
    plane = common_plane(bones[0].name, bones)
    rams = list(_rams(bones, plane, {name for one in known for name in (one.bone, one.other)}))
    yield from rams
    left_out = {name for one in [*known, *rams] if one.kind == RAM for name in (one.bone, one.other)}
    yield from _pins(armature, [bone for bone in bones if bone.name not in left_out], plane, known)


def ends_of(bones: Sequence[RestBone], plane: Plane) -> list[End]:
    """Return the ends of bones in a plane."""
    return [
        End(bone.name, which, complex(*plane.project(bone.end(which))))
        for bone in bones
        for which in ('HEAD', 'TAIL')
    ]


def clusters(ends: Sequence[End], near: float) -> list[list[End]]:
    """Return ends by the places at which they are, those of one place within a distance of its first."""
    found: list[list[End]] = []
    for end in ends:
        place = next((place for place in found if abs(place[0].at - end.at) <= near), None)
        if place is None:
            found.append([end])
        else:
            place.append(end)
    return found


def extent(ends: Sequence[End]) -> float:
    """Return the largest distance of two ends, within a factor of the square root of 2."""
    at = np.array([end.at for end in ends])
    return float(np.hypot(np.ptp(at.real), np.ptp(at.imag)))


def _rams(bones: Sequence[RestBone], plane: Plane, taken: Collection[str]) -> Iterator[Proposal]:
    """Yield a ram for each two bones that point at each other, from different bones, and do not meet."""
    ends = {(end.bone, end.which): end.at for end in ends_of(bones, plane)}
    near, used = NEAR * extent(list(map(_end, ends.items()))), set(taken)
    for number, one in enumerate(bones):
        for other in bones[number + 1 :]:
            if one.parent == other.parent or {one.name, other.name} & {one.parent, other.parent, *used}:
                continue
            way = ends[other.name, 'HEAD'] - ends[one.name, 'HEAD']
            if abs(way) <= near or abs(ends[one.name, 'TAIL'] - ends[other.name, 'TAIL']) <= near:
                continue
            arms = [ends[bone.name, 'TAIL'] - ends[bone.name, 'HEAD'] for bone in (one, other)]
            ahead = arms[0] / way, -arms[1] / way
            if all(part.real > 0.0 and abs(part.imag) < _AIMED * abs(part) for part in ahead):
                used |= {one.name, other.name}
                yield Proposal(RAM, one.name, 'HEAD', other.name)


def _end(item: tuple[tuple[str, str], complex]) -> End:
    return End(*item[0], item[1])


def _pins(
    armature: Object, bones: Sequence[RestBone], plane: Plane, known: Sequence[Proposal]
) -> Iterator[Proposal]:
    """Yield pins between bones whose ends meet and that are not joined there already."""
    parents = {bone.name: bone.parent for bone in bones}
    joined = {frozenset(pair) for pair in parents.items()}
    joined |= {frozenset((one.bone, one.other)) for one in known if one.kind == PIN}
    ends = ends_of(bones, plane)
    near = NEAR * extent(ends)
    for place in clusters(ends + _ends_of_frame(armature, bones, plane), near):
        groups: list[set[str]] = []
        for end in place:
            group = {end.bone, parents[end.bone]} if end.bone and end.which == 'HEAD' else {end.bone}
            groups = _merged(groups, group)
        for one in known:
            if one.kind == PIN and any((end.bone, end.which) == (one.bone, one.end) for end in place):
                groups = _merged(groups, {one.bone, one.other})
        groups.sort(key=lambda group: "" not in group)  # the frame first: to it, if it is there
        while len(groups) > 1:
            group = groups.pop()
            pairs = (
                Proposal(PIN, end.bone, end.which, other)
                for end in sorted(place, key=lambda end: end.which == 'HEAD')
                if end.bone in group
                for other in sorted(groups[0])
                if frozenset((end.bone, other)) not in joined
            )
            pin = next(pairs, None)
            if pin is not None:
                joined.add(frozenset((pin.bone, pin.other)))
                groups[0] |= group
                yield pin


def _merged(groups: Sequence[set[str]], group: set[str]) -> list[set[str]]:
    apart = [one for one in groups if one.isdisjoint(group)]
    return [*apart, group.union(*(one for one in groups if not one.isdisjoint(group)))]


def _ends_of_frame(armature: Object, bones: Sequence[RestBone], plane: Plane) -> list[End]:
    """Return the ends, as the frame's, of the bone that carries a mechanism; [] where the armature does."""
    root = next(armature.data.bones[bone.name] for bone in bones if not bone.parent)
    if root.parent is None:
        return []
    return [end._replace(bone="") for end in ends_of([RestBone.of(root.parent, "")], plane)]


def without_frame(armature: Object, names: Sequence[str]) -> list[str]:
    """Return the bones of a mechanism without one that carries all others: it is the frame, if loops close.

    Such as a machine's base: no joint but its head holds it against the armature, so that all turns with it.
    """
    left = list(names)
    while len(left) > 2:
        bones = rest_bones(armature, left)
        joints = list(proposed(armature, bones))
        roots = [bone.name for bone in bones if not bone.parent]
        if len(roots) > 1 or not joints or any(not one.other for one in joints):
            break
        left.remove(roots[0])
    return left


def propose_drivers(mechanism: Any, carriers: Collection[str] = ()) -> list[Any]:
    """Have bones drive by their own keys, as far as freedom goes: those that chains turn, or keys by hand.

    carriers: bones that were taken in with others; they drive too.
    """
    armature, found = mechanism.id_data, list[Any]()
    chained, keyed = chains_turning(armature), keyed_by_hand(armature)
    names = [bone.name for bone in mechanism.bones]
    wanted = [name for name in names if name in chained]
    wanted += [name for name in names if name in carriers or name in keyed]
    for name in dict.fromkeys(wanted):
        if name in may_drive(mechanism):
            found.append(drive(mechanism, name))
    return found


def may_drive(mechanism: Any) -> list[str]:
    """Return the bones that may drive what is left of a mechanism's freedoms, those at the frame first."""
    try:
        return free_bones(read_mechanism(mechanism.id_data, mechanism, moves=False))
    except IK2DError:
        return []


def free_bones(rig: RigMechanism) -> list[str]:
    """Return the bones that may drive what is left of the freedoms, those at the frame first."""
    driving = {one.bone for one in rig.drivers if one.kind == TURN}
    free = [name for body in rig.core.mobility().may_drive if (name := str(body)) not in driving]
    return sorted(free, key=lambda name: bool(rig.placed[name].parent))


def keyed_by_hand(armature: Object) -> set[str]:
    """Return the bones whose rotation has keys that no bake has made."""
    paths = {
        curve.data_path
        for curve in versions.existing_fcurves(armature)
        if len(curve.keyframe_points) and not generated(curve).all()
    }
    bones = armature.pose.bones if paths else ()
    return {bone.name for bone in bones if bone.path_from_id(rotation_property(bone.rotation_mode)) in paths}
