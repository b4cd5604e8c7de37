# SPDX-License-Identifier: GPL-3.0-or-later
"""Step through a scene's times and record what Blender evaluates there."""

from collections.abc import Callable, Generator, Sequence
from time import perf_counter

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..chain.chain import RigChain, values_of
from ..chain.dependencies import strength_of
from ..chain.native_state import sampled_controls, with_foot_controls
from .feet.deforming import Surfaces
from .live_pause import left_alone
from .probes import view_layer_of
from .record import Record, has_turning_targets, needed_bones, settings_animated, settings_of

# Seconds of stepping after which others have a look at the keyboard.
TURN = 0.01
# The 4x4 matrices that are read of each pose bone.
_POSE_CHANNELS = ("matrix", "matrix_basis")


def record_stepping(
    scene: bpy.types.Scene,
    rigs: Sequence[tuple[Sequence[RigChain], Sequence[bpy.types.Object]]],
    times: Sequence[float],
    show: Callable[[float], None] | None = None,
) -> Generator[int, None, list[Record]]:
    """Step through the times once and read the scene's depsgraph, for each armature a Record.

    rigs: the chains of each armature, and the probes on their targets. show: sets the time, None for the
    frame. Yields the number of times done now and then. While live chains pause, our own functions are not
    called.
    """
    layer = view_layer_of(scene)
    show = show or (lambda time: scene.frame_set(int(time // 1), subframe=float(time % 1)))
    readings = [_Reading(chains, probes, len(times)) for chains, probes in rigs]

    def look(i: int) -> None:
        show(times[i])
        for reading in readings:
            reading.read(i, layer.depsgraph)

    done = 0
    while done < len(times):
        due = perf_counter() + TURN
        with left_alone():
            look(done)
            done += 1
            while done < len(times) and perf_counter() < due:
                look(done)
                done += 1
        yield done
    return [reading.record() for reading in readings]


class _Reading:
    """The numbers of one armature and its chains' targets, read at one time after the other."""

    def __init__(self, chains: Sequence[RigChain], probes: Sequence[bpy.types.Object], frames: int) -> None:
        self._chains, self._probes, self._armature = chains, probes, chains[0].armature
        self._names = needed_bones(chains)
        order = {name: row for row, name in enumerate(self._armature.pose.bones.keys())}
        self._rows = np.array([order[name] for name in self._names])
        self._world = np.empty((frames, 4, 4))
        self._places: list[float] = []
        self._aims: list[Matrix] = []
        self._turning = has_turning_targets(chains)
        self._read = np.empty((len(order), 16), "f4")
        self._kept = {name: np.empty((frames, len(self._rows), 16), "f4") for name in _POSE_CHANNELS}
        self._animated = settings_animated(self._armature)
        moving = [self._animated or chain.settings.native is not None for chain in chains]
        still = settings_of(chains, frames)
        self._settings = [np.array(own) if moves else own for own, moves in zip(still, moving, strict=True)]
        self._copied = [np.zeros(frames) for _ in chains]
        self._surfaces = Surfaces(chains, frames)
        self._has_grounds = self._surfaces.are_any

    def read(self, i: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Read the numbers of the i-th time."""
        evaluated, kept = self._armature.evaluated_get(depsgraph), self._kept
        self._world[i] = evaluated.matrix_world
        for name in _POSE_CHANNELS:
            evaluated.pose.bones.foreach_get(name, self._read.ravel())
            np.take(self._read, self._rows, axis=0, out=kept[name][i], mode="clip")  # clip: without a buffer
        if not np.isfinite(kept["matrix_basis"][i]).all():
            _leave_out_rotations(evaluated, self._names, kept["matrix_basis"][i])
        for probe in self._probes:
            matrix = probe.evaluated_get(depsgraph).matrix_world
            self._places.extend(matrix.translation)
            if self._turning:
                self._aims.append(matrix.to_3x3())
        for chain, copied in zip(self._chains, self._copied, strict=True):
            if chain.remarks.copies:
                copied[i] = strength_of(chain.remarks.copies, evaluated)
        for chain, values in zip(self._chains, self._settings, strict=True):
            if chain.settings.native is not None:
                controls = chain.settings.native.evaluated_get(depsgraph)
                foot = () if chain.foot is None else with_foot_controls(controls, chain.foot.values)
                values[i] = *sampled_controls(controls, chain.settings.side), *foot
            elif self._animated and chain.settings.path:  # a chain, not just bones
                settled = evaluated.path_resolve(chain.settings.path)
                values[i] = values_of(settled, chain.settings.side, with_foot=chain.foot is not None)
        if self._has_grounds:
            self._surfaces.read(i, depsgraph, self._settings)

    def record(self) -> Record:
        """Return the record of all times."""
        frames, count = len(self._world), len(self._probes)
        places = np.array(self._places, np.float64).reshape(frames, count, 3)
        axes = np.array(self._aims, np.float64).reshape(frames, count * self._turning, 3, 3)
        # Blender hands them over column by column.
        poses, bases = (self._kept[name].reshape(frames, -1, 4, 4).swapaxes(2, 3) for name in _POSE_CHANNELS)
        numbers = {name: row for row, name in enumerate(self._names)}
        settings, surfaces = self._settings, self._surfaces.found
        return Record(self._world, places, axes, numbers, poses, bases, settings, surfaces, self._copied)


def _leave_out_rotations(
    evaluated: bpy.types.Object, names: Sequence[str], bases: NDArray[np.float32]
) -> None:
    """Replace matrices (bones, 16) that are not finite by those of the bones' location and scale alone.

    A rotation, which the bake replaces, may be NaN: the scale still counts.
    """
    for row in np.flatnonzero(~np.isfinite(bases).all(axis=1)):
        bone = evaluated.pose.bones[names[row]]
        bases[row] = np.array(Matrix.LocRotScale(bone.location, None, bone.scale).transposed()).ravel()
