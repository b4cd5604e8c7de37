# SPDX-License-Identifier: GPL-3.0-or-later
"""A mechanism solved over frames, as keys that keep its joints closed between them, too.

From key to key each channel is a cubic through the solved poses at both thirds. Where joints would open
between by more than a bound, the gap gets keys on subframes: the error of such a cubic falls with the fourth
power of the gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import changed
from ...core.inputs import Floats
from ...core.mechanism import MechanismSolution, MechanismStatus
from ...rig.animation.bone_channels import BoneRotation
from ...rig.animation.times import pace_of
from ...rig.mechanism.aiming import aimed, fixed_bones
from ...rig.mechanism.posing import (
    Motions,
    channels_at,
    local_turns,
    openings,
    rotation_matrices,
    solution_of,
    turning_matrices,
    written_bones,
)
from ...rig.mechanism.read import RigMechanism
from ...rig.mechanism.values import askew_drivers, driver_values, target_places

# Where a mechanism is solved from a key on: at sixths. The curve goes through the thirds and is compared at
# the others, where a cubic is furthest off.
_PARTS = 6
_THIRDS, _LOOKS = (2, 4), (1, 3, 5)
# A gap is parted into so many at most, so often, and to no less than this (frames): two nearer keys are one.
_MOST_PARTS, _ROUNDS, _LEAST = 8, 3, 0.0625
# Of the bound, since a joint may be open a little more where it is not looked at.
_MARGIN = 0.5
_ROUND = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class KeyedMechanism:
    """A mechanism as it was solved, and the rotations to key."""

    rig: RigMechanism
    frames: Sequence[int]
    solution: MechanismSolution  # on the frames
    rotations: list[BoneRotation]
    keys: Floats  # (k,) the scene's times of the keys
    by_chain: tuple[str, ...]  # drivers that chains turn, and that are not as the loops ask


class _Solver:
    """Solves a mechanism at times; places of its target are read once for each."""

    def __init__(self, scene: bpy.types.Scene, rig: RigMechanism) -> None:
        self._scene, self._rig = scene, rig
        self._places: dict[float, Floats] = {}

    def solution(self, times: Floats) -> MechanismSolution:
        """Return the solution at ascending times."""
        rig, given = self._rig, driver_values(self._scene, self._rig, times.tolist())
        goal = next((one for one in rig.drivers if one.target is not None), None)
        if goal is None or goal.target is None:
            return solution_of(rig, given)
        new = [time for time in times.tolist() if time not in self._places]
        if new:
            found = target_places(self._scene, rig, goal.target, new)
            self._places |= zip(new, found, strict=True)
        places = np.array([self._places[time] for time in times.tolist()])
        return solution_of(rig, given, places)


def key_mechanism(
    scene: bpy.types.Scene, rig: RigMechanism, frames: Sequence[int], single_axis: bool
) -> KeyedMechanism:
    """Solve a mechanism on frames, and between them as far as its keys need it. Keys nothing."""
    solver, on_frames = _Solver(scene, rig), np.array(frames, np.float64)
    solution, keys = solver.solution(on_frames), on_frames
    looked = np.union1d(on_frames, (on_frames[:-1] + on_frames[1:]) / 2.0).tolist()
    written, by_chain = written_bones(rig, solution, askew_drivers(scene, rig, looked))
    bound = _MARGIN * rig.open_between * rig.size
    for left in reversed(range(_ROUNDS)):
        rotations, opened = _shaped(rig, solver, keys, written, single_axis)
        parts = _parts(keys, opened, bound)
        if not left or (parts == 1).all():
            break
        keys = _parted(keys, parts)
    times = pace_of(scene) * keys
    return KeyedMechanism(
        rig, frames, solution, [changed(one, frames=times) for one in rotations], keys, by_chain
    )


def _shaped(
    rig: RigMechanism, solver: _Solver, keys: Floats, written: Sequence[str], single_axis: bool
) -> tuple[list[BoneRotation], Floats]:
    """Return the rotations with handles for keys (k,), and how far joints are open in each gap (k - 1,)."""
    shares = np.arange(_PARTS) / _PARTS
    times = np.append((keys[:-1, None] + np.diff(keys)[:, None] * shares).ravel(), keys[-1:])
    solution = solver.solution(times)
    driving = fixed_bones(rig)
    turns = aimed(rig, local_turns(rig, solution), driving)
    for bone in written:
        if bone not in driving:
            turns[bone] = turns[bone] - _ROUND * np.rint(turns[bone][0] / _ROUND)
    channels = channels_at(rig, {bone: turns[bone] for bone in written}, single_axis)
    looked = (np.arange(len(keys) - 1)[:, None] * _PARTS + np.array(_LOOKS)).ravel()
    rotations, played = [], {}
    for bone, rotation in channels.items():
        at_keys, handles = _handles(rotation.values)
        rotations.append(changed(rotation, values=at_keys, handles=handles if len(keys) > 1 else None))
        played[bone] = rotation_matrices(rig, rotation, _between(at_keys, handles))
    for bone in rig.bones:
        if bone not in played:
            played[bone] = turning_matrices(rig, bone, turns[bone][looked])
    if len(keys) < 2:
        return rotations, np.zeros(0)
    opened = openings(rig, Motions.of_rotations(rig, played)).reshape(-1, len(_LOOKS)).max(axis=1)
    torn = solution.status[looked].reshape(-1, len(_LOOKS)) == MechanismStatus.OPEN
    return rotations, np.where(torn.any(axis=1), 0.0, opened)  # more keys would not close them


def _handles(values: Floats) -> tuple[Floats, Floats]:
    """Return the values at keys (k, c) of those at sixths, and handles (2, k, c) through the thirds."""
    at_keys = values[::_PARTS]
    start, end = at_keys[:-1], at_keys[1:]
    first, second = (values[third::_PARTS] for third in _THIRDS)
    handles = np.stack((at_keys, at_keys))
    handles[1, :-1] = (-5.0 * start + 18.0 * first - 9.0 * second + 2.0 * end) / 6.0
    handles[0, 1:] = (2.0 * start - 9.0 * first + 18.0 * second - 5.0 * end) / 6.0
    return at_keys, handles


def _between(at_keys: Floats, handles: Floats) -> Floats:
    """Return the values (looks, c) that keys with handles play where they are compared."""
    u = (np.array(_LOOKS) / _PARTS)[None, :, None]
    a, b = at_keys[:-1, None], handles[1, :-1, None]
    c, d = handles[0, 1:, None], at_keys[1:, None]
    v = 1.0 - u
    played: Floats = a * v**3 + 3.0 * b * v * v * u + 3.0 * c * v * u * u + d * u**3
    return played.reshape(-1, at_keys.shape[1])


def _parts(keys: Floats, opened: Floats, bound: float) -> NDArray[np.intp]:
    """Return into how many parts each gap is to be parted."""
    wanted: Floats = np.ceil(1.05 * (opened / bound) ** 0.25).clip(1, _MOST_PARTS)
    room = np.maximum(1.0, np.floor(np.diff(keys) / _LEAST))
    parts: NDArray[np.intp] = np.minimum(wanted, room).astype(np.intp)
    return parts


def _parted(keys: Floats, parts: NDArray[np.intp]) -> Floats:
    """Return the keys (k,) with those that part each gap."""
    each = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(keys[:-1], keys[1:], parts, strict=True)]
    return np.concatenate([*each, keys[-1:]])
