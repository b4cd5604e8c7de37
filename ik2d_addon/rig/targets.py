# SPDX-License-Identifier: GPL-3.0-or-later
"""Where targets and the chains' roots are, at every frame, as Blender evaluates them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ..core import IK2DError
from ..core.chain import Floats
from .armature import RigChain, rest_to_pose

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Samples:
    """What one chain needs to know of the scene, over the frames."""

    targets: Floats  # (frames, 3) in the chain's rest space
    to_world: Floats  # (frames, 3, 3) the linear part of rest space -> world


def sample(
    scene: bpy.types.Scene,
    chains: Sequence[RigChain],
    frames: Sequence[int] | None,
    progress: Progress | None = None,
) -> list[Samples]:
    """Return the samples of each chain at each of the frames; None: as the scene stands.

    The scene's frame is as before when this returns. Raises IK2DError for a target or a rig that
    has no finite place at some frame.
    """
    targets, rests = [], []
    with _probes(scene, chains) as probes, _frame_kept(scene):
        layer = _view_layer(scene)
        for i, frame in enumerate([scene.frame_current] if frames is None else frames):
            if frames is None:
                layer.update()
            else:
                scene.frame_set(frame)
            depsgraph = layer.depsgraph
            targets.append([probe.evaluated_get(depsgraph).matrix_world.translation[:] for probe in probes])
            rests.append([_rest_to_world(chain, depsgraph) for chain in chains])
            if progress and i % 16 == 15:
                progress(i + 1, len(frames))
    shown = [scene.frame_current] if frames is None else frames
    return [
        _samples(chain, shown, np.array(targets)[:, k], np.array(rests)[:, k])
        for k, chain in enumerate(chains)
    ]


def _samples(chain: RigChain, frames: Sequence[int], targets: Floats, rests: Floats) -> Samples:
    """Bring targets (frames, 3) of the world through rests (frames, 4, 4) into rest space."""
    _check(
        chain,
        frames,
        np.isfinite(targets).all(axis=1),
        f"target '{chain.target.name}' has no finite position",
    )
    _check(
        chain, frames, np.abs(np.linalg.det(np.nan_to_num(rests))) > 0.0,
        f"armature '{chain.armature.name}', or a bone above the chain, is scaled to nothing",
    )  # fmt: skip
    points = np.linalg.solve(rests, np.concatenate((targets, np.ones((len(targets), 1))), axis=1)[..., None])
    return Samples(targets=points[:, :3, 0], to_world=rests[:, :3, :3])


def _check(chain: RigChain, frames: Sequence[int], good: np.ndarray, problem: str) -> None:
    if not good.all():
        frame = frames[int(np.argmin(good))]
        raise IK2DError(f"Chain '{chain.name}': {problem} at frame {frame}; mend its animation there")


def _rest_to_world(chain: RigChain, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    evaluated = chain.armature.evaluated_get(depsgraph)
    return np.array(evaluated.matrix_world @ rest_to_pose(evaluated.pose.bones[chain.bones[0]]), np.float64)


@contextmanager
def _probes(scene: bpy.types.Scene, chains: Sequence[RigChain]) -> Iterator[list[bpy.types.Object]]:
    """Put an empty on each target for a while: Blender then evaluates also what is hidden."""
    made = []
    try:
        for chain in chains:
            probe = bpy.data.objects.new("ik2d probe", None)
            made.append(probe)
            constraint = probe.constraints.new('COPY_TRANSFORMS')
            constraint.target = chain.target
            constraint.subtarget = chain.subtarget
            scene.collection.objects.link(probe)
        yield made
    finally:
        bpy.data.batch_remove(made)


@contextmanager
def _frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
            scene.frame_set(frame, subframe=subframe)


def _view_layer(scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    """Return the view layer that is shown, of a scene that is not shown its first."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
