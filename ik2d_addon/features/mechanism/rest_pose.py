# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest poses whose loops are closed: ends that a pin holds together are moved to one place."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from mathutils import Vector

from ...core.inputs import Floats
from ...core.words import refusal, say
from ...rig.mechanism.placing import RestBone
from ...rig.mechanism.read import PIN, RigMechanism, read_mechanism
from ..doctor.rest_fixes import edit_bones, refuse_shared_data
from .proposals import End, ends_of

# Ends that are apart by less than the first part of the size are together; by more than the second part of
# the shorter bone, they are meant to be apart.
_TOGETHER, _MEANT = 1e-6, 0.1
# A ram's bone whose tail is off the line by more than this part of its length is meant to point elsewhere.
_AIMED = 0.35


def apart_at_rest(rig: RigMechanism) -> list[tuple[str, str, float]]:
    """Return the bones whose pinned ends are a little apart at rest, and those of rams that point past each
    other, each with the other and the gap.
    """
    pins = [(end.bone, other.bone, abs(end.at - other.at)) for end, other in _gaps(rig)]
    return pins + [(bone, other, float(np.linalg.norm(move))) for bone, other, move in _turns(rig)]


def _gaps(rig: RigMechanism) -> Iterator[tuple[End, End]]:
    """Yield the pinned ends that are meant to meet ends of the other bone, and do not."""
    ends = ends_of(list(rig.placed.values()), rig.plane)
    for joint in rig.joints:
        if joint.kind != PIN or not joint.other:
            continue
        at = complex(*rig.flat(joint.place))
        end = min((one for one in ends if one.bone == joint.bone), key=lambda one: abs(one.at - at))
        other = min((one for one in ends if one.bone == joint.other), key=lambda one: abs(one.at - at))
        shorter = min(_length(rig.placed[name]) for name in (joint.bone, joint.other))
        if _TOGETHER * rig.size < abs(end.at - other.at) < _MEANT * shorter:
            yield end, other


def _turns(rig: RigMechanism) -> Iterator[tuple[str, str, Floats]]:
    """Yield the bones of rams that point a little past each other, with the other and its tail's move."""
    for ram in rig.rams:
        for bone, other, way in ((ram.bone, ram.other, ram.along), (ram.other, ram.bone, -ram.along)):
            arm = rig.placed[bone].tail - rig.placed[bone].head
            flat = arm - (arm @ rig.plane.normal) * rig.plane.normal
            move = way * (np.linalg.norm(flat) / np.linalg.norm(way)) - flat
            if _TOGETHER * rig.size < np.linalg.norm(move) < _AIMED * _length(rig.placed[bone]):
                yield bone, other, move


def _length(bone: RestBone) -> float:
    return float(np.linalg.norm(bone.tail - bone.head))


def close_rest_pose(mechanism: Any) -> str:
    """Move ends that are pinned and a little apart at rest to their middle, in the mechanism's plane.

    Heads that are at such an end go along; bones of rams turn to point at each other. Returns in words how
    far ends moved. Raises IK2DError, with nothing changed, where none are apart, for linked bones, and for
    bones that other objects have too.
    """
    armature = mechanism.id_data
    rig = read_mechanism(armature, mechanism, moves=False)
    refuse_shared_data(armature)
    moves = _moves(rig)
    if not moves:
        raise refusal("Mechanism '{name}': no ends are apart at rest", name=mechanism.name)
    with edit_bones(armature) as bones:
        ups = {bone.name: bone.z_axis.copy() for bone in bones}
        moved = {(name, which.lower()): Vector(move) for (name, which), move in moves.items()}
        for bone in bones:  # what is connected follows
            if bone.use_connect and (bone.parent.name, "tail") in moved:
                moved[bone.name, "head"] = moved[bone.parent.name, "tail"]
        places = {key: getattr(bones[key[0]], key[1]) + move for key, move in moved.items()}
        for (name, which), place in places.items():
            setattr(bones[name], which, place)
        for name in {name for name, _ in places}:
            bones[name].align_roll(ups[name])
    furthest = max(float(np.linalg.norm(move)) for move in moves.values())
    return say(
        "Mechanism '{name}' is closed at rest: ends have moved by up to {part:.2g} % of its size",
        name=mechanism.name,
        part=100.0 * furthest / rig.size,
    )


def _moves(rig: RigMechanism) -> dict[tuple[str, str], Floats]:
    """Return by how much each end is to move, (3,) in the plane: to the middle of those that are to meet."""
    places: list[list[End]] = []
    for pair in _gaps(rig):
        met = [place for place in places if not set(pair).isdisjoint(place)]
        places = [place for place in places if place not in met]
        places.append(list(dict.fromkeys([*pair, *(end for place in met for end in place)])))
    ends, near = ends_of(list(rig.placed.values()), rig.plane), _TOGETHER * rig.size
    moves = {(bone, 'TAIL'): move for bone, _, move in _turns(rig)}
    for place in places:
        whole = [end for end in ends if any(abs(end.at - one.at) <= near for one in place)]
        middle = sum(end.at for end in whole) / len(whole)
        for end in whole:
            way = middle - end.at
            moves[end.bone, end.which] = way.real * rig.plane.x + way.imag * rig.plane.y
    return moves
