# SPDX-License-Identifier: GPL-3.0-or-later
"""Step through a scene's times and record what Blender evaluates there."""

from collections.abc import Callable, Generator, Sequence
from time import perf_counter

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..chain.chain import RigChain, values_of
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
    chains: Sequence[RigChain],
    probes: Sequence[bpy.types.Object],
    times: Sequence[float],
    show: Callable[[float], None] | None = None,
) -> Generator[int, None, Record]:
    """Step through the times and read the scene's depsgraph; show: sets the time, None for the frame.

    Yields the number of times done now and then. While live chains pause, our own functions are not called.
    """
    armature, layer = chains[0].armature, view_layer_of(scene)
    show = show or (lambda time: scene.frame_set(int(time // 1), subframe=float(time % 1)))
    frames, names = len(times), needed_bones(chains)
    order = {name: row for row, name in enumerate(armature.pose.bones.keys())}
    rows = np.array([order[name] for name in names])
    world, places_read, aims = np.empty((frames, 4, 4)), [], []
    turning = has_turning_targets(chains)
    read = np.empty((len(armature.pose.bones), 16), "f4")
    kept = {name: np.empty((frames, len(rows), 16), "f4") for name in _POSE_CHANNELS}
    settings = settings_of(chains, frames)
    animated = settings_animated(armature)
    surfaces = Surfaces(chains, frames)
    has_grounds = surfaces.are_any

    def look(i: int) -> None:
        show(times[i])
        depsgraph = layer.depsgraph
        evaluated = armature.evaluated_get(depsgraph)
        world[i] = evaluated.matrix_world
        for name in _POSE_CHANNELS:
            evaluated.pose.bones.foreach_get(name, read.ravel())
            np.take(read, rows, axis=0, out=kept[name][i], mode="clip")  # clip: without a buffer
        if not np.isfinite(kept["matrix_basis"][i]).all():
            _leave_out_rotations(evaluated, names, kept["matrix_basis"][i])
        for probe in probes:
            matrix = probe.evaluated_get(depsgraph).matrix_world
            places_read.extend(matrix.translation)
            if turning:
                aims.append(matrix.to_3x3())
        for chain, values in zip(chains, settings, strict=True):
            if chain.settings.native is not None:
                controls = chain.settings.native.evaluated_get(depsgraph)
                foot = () if chain.foot is None else with_foot_controls(controls, chain.foot.values)
                values[i] = *sampled_controls(controls, chain.settings.side), *foot
            elif animated and chain.settings.path:  # a chain, not just bones
                settled = evaluated.path_resolve(chain.settings.path)
                values[i] = values_of(settled, chain.settings.side, with_foot=chain.foot is not None)
        if has_grounds:
            surfaces.read(i, depsgraph, settings)

    done = 0
    while done < frames:
        due = perf_counter() + TURN
        with left_alone():
            look(done)
            done += 1
            while done < frames and perf_counter() < due:
                look(done)
                done += 1
        yield done
    places = np.array(places_read, np.float64).reshape(frames, len(probes), 3)
    axes = np.array(aims, np.float64).reshape(frames, len(probes) if turning else 0, 3, 3)
    # Blender hands them over column by column.
    poses, bases = (kept[name].reshape(frames, -1, 4, 4).swapaxes(2, 3) for name in _POSE_CHANNELS)
    numbers = {name: row for row, name in enumerate(names)}
    return Record(world, places, axes, numbers, poses, bases, settings, surfaces.found)


def _leave_out_rotations(
    evaluated: bpy.types.Object, names: Sequence[str], bases: NDArray[np.float32]
) -> None:
    """Replace matrices (bones, 16) that are not finite by those of the bones' location and scale alone.

    A rotation, which the bake replaces, may be NaN: the scale still counts.
    """
    for row in np.flatnonzero(~np.isfinite(bases).all(axis=1)):
        bone = evaluated.pose.bones[names[row]]
        bases[row] = np.array(Matrix.LocRotScale(bone.location, None, bone.scale).transposed()).ravel()
