# SPDX-License-Identifier: GPL-3.0-or-later
"""What is noted of a scene at each time: bones, armature, targets and settings."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.inputs import Floats
from ..animation import versions
from ..animation.times import evaluated_times
from ..chain.chain import RigChain, bend_of
from ..chain.native_state import sampled_controls
from .by_curves import hindrance, placed

Target = tuple[bpy.types.Object, str]  # an object, and the name of its bone or ""


@dataclass(frozen=True, eq=False)
class Record:
    """Blender's evaluated matrices of one armature and some targets at all times."""

    world: Floats  # (frames, 4, 4) the armature object
    places: Floats  # (frames, targets, 3) in the world
    aims: Floats  # (frames, targets, 3, 3) the axes of the targets there
    bones: dict[str, int]  # where a bone's numbers are in the following
    poses: NDArray[np.float32]  # (frames, bones, 4, 4)
    bases: NDArray[np.float32]  # (frames, bones, 4, 4) their own location, rotation and scale
    settings: list[Floats]  # (frames, 3) softness, bend and influence of each chain
    stepped: str = ""  # as in Sampling

    def at(self, rows: Sequence[int]) -> "Record":
        """Return the record of some of the times alone."""
        picked = {name: getattr(self, name)[rows] for name in ("world", "places", "aims", "poses", "bases")}
        return replace(self, **picked, settings=[own[rows] for own in self.settings])


def record_by_curves(
    scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target], times: Sequence[float]
) -> Generator[int, None, Record | None]:
    """Work out from F-Curves what `record_stepping` reads; return None where that is not all of it."""
    armature, names = chains[0].armature, needed_bones(chains)
    if settings_animated(armature) or any(chain.native is not None for chain in chains):
        return None
    if hindrance(armature, names, targets):
        return None
    shown = evaluated_times(scene, times)
    found = yield from placed(armature, names, targets, shown)
    if found is None:
        return None
    frames = len(times)
    stood = found.targets
    places, axes = np.empty((frames, len(stood), 3)), np.empty((frames, len(stood) * _turning(chains), 3, 3))
    for k, target in enumerate(stood):
        places[:, k] = target.place.astype("f4")  # as Blender hands them over
        if axes.size:
            axes[:, k] = target.linear.astype("f4")
    poses, bases = (_of_bones([each[name] for name in names], frames) for each in (found.poses, found.bases))
    world = np.broadcast_to(found.world.astype("f4").astype(np.float64), (frames, 4, 4))
    numbers = {name: row for row, name in enumerate(names)}
    return Record(world, places, axes, numbers, poses, bases, _settings_of(chains, frames))


def _of_bones(matrices: Sequence[Floats], frames: int) -> NDArray[np.float32]:
    """Return matrices side by side (frames, bones, 4, 4), thin where none of them changes."""
    if all(one.ndim == 2 for one in matrices):
        return np.broadcast_to(np.array(matrices, "f4"), (frames, len(matrices), 4, 4))
    found = np.empty((frames, len(matrices), 4, 4), "f4")
    for row, one in enumerate(matrices):
        found[:, row] = one
    return found


# The 4x4 matrices that are read of each pose bone.
_POSE_CHANNELS = ("matrix", "matrix_basis")


def record_stepping(
    scene: bpy.types.Scene,
    chains: Sequence[RigChain],
    probes: Sequence[bpy.types.Object],
    times: Sequence[float],
    show: Callable[[float], None] | None = None,
) -> Generator[int, None, Record]:
    """Step through the times and read what the scene's depsgraph has then.

    show: what brings the scene to a time; None: setting its frame.
    """
    armature, layer = chains[0].armature, view_layer_of(scene)
    show = show or (lambda time: scene.frame_set(int(time // 1), subframe=float(time % 1)))
    frames, names = len(times), needed_bones(chains)
    order = {name: row for row, name in enumerate(armature.pose.bones.keys())}
    rows = np.array([order[name] for name in names])
    world, found, aims = np.empty((frames, 4, 4)), [], []
    turning = _turning(chains)
    read = np.empty((len(armature.pose.bones), 16), "f4")
    kept = {name: np.empty((frames, len(rows), 16), "f4") for name in _POSE_CHANNELS}
    settings = _settings_of(chains, frames)
    animated = settings_animated(armature)
    for i in range(frames):
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
            found.extend(matrix.translation)
            if turning:
                aims.append(matrix.to_3x3())
        for chain, own in zip(chains, settings, strict=True):
            if chain.native is not None:
                own[i] = sampled_controls(chain.native.evaluated_get(depsgraph))
            elif animated and chain.path:  # not bones that are no chain
                shown = evaluated.path_resolve(chain.path)
                own[i] = shown.softness, bend_of(shown), shown.influence
        yield i + 1
    places = np.array(found, np.float64).reshape(frames, len(probes), 3)
    axes = np.array(aims, np.float64).reshape(frames, len(probes) if turning else 0, 3, 3)
    # Blender hands them over column by column.
    poses, bases = (kept[name].reshape(frames, -1, 4, 4).swapaxes(2, 3) for name in _POSE_CHANNELS)
    numbers = {name: row for row, name in enumerate(names)}
    return Record(world, places, axes, numbers, poses, bases, settings)


def _turning(chains: Sequence[RigChain]) -> bool:
    """Return whether the axes of targets count, too."""
    return any(chain.hands is not None and chain.hands.follow for chain in chains)


def _settings_of(chains: Sequence[RigChain], frames: int) -> list[Floats]:
    """Return the settings (frames, 3) of each chain that nothing animates."""
    return [
        np.tile(np.array((chain.softness, chain.bend, chain.influence), np.float64), (frames, 1))
        for chain in chains
    ]


def _leave_out_rotations(
    evaluated: bpy.types.Object, names: Sequence[str], bases: NDArray[np.float32]
) -> None:
    """Give bones whose matrices (bones, 16) are no numbers those of their location and scale alone.

    A rotation, which the bake replaces, may be no number: it must not take the scale along.
    """
    for row in np.flatnonzero(~np.isfinite(bases).all(axis=1)):
        bone = evaluated.pose.bones[names[row]]
        bases[row] = np.array(Matrix.LocRotScale(bone.location, None, bone.scale).transposed()).ravel()


def settings_animated(armature: bpy.types.Object) -> bool:
    """Return whether anything animates the settings of an armature's chains."""
    animation = armature.animation_data
    if animation is None:
        return False
    curves = (*versions.existing_fcurves(armature), *animation.drivers)
    return bool(len(animation.nla_tracks)) or any(curve.data_path.startswith("ik2d.") for curve in curves)


def needed_bones(chains: Sequence[RigChain]) -> list[str]:
    """Return the names of the chains' bones, and of those above them."""
    names = dict.fromkeys(name for chain in chains for name in chain.bones)
    above = (chain.pose_bones[0].parent for chain in chains)
    hands = (name for chain in chains if chain.hands is not None for name in chain.hands.bones)
    return list(names | dict.fromkeys(bone.name for bone in above if bone) | dict.fromkeys(hands))


def view_layer_of(scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    """Return the view layer that is shown, of a scene that is not shown its first."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
