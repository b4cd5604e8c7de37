# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of a chain without changing the scene, so that a panel may ask for them while it is drawn."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.affine import changed
from ...core.solution import drained
from ...rig.chain.chain import RigChain
from ...rig.scene.feet.deforming import Surfaces
from ...rig.scene.probes import view_layer_of
from ...rig.scene.record import Record, Target, record_by_curves, samples_of
from ...rig.scene.samples import ChainSamples, solvable
from ...rig.scene.stepping import record_stepping


class _Shown:
    """A target as it is shown, to be read as the probe on it."""

    def __init__(self, target: Target) -> None:
        """Take an object, and its bone or ""."""
        self._object, self._bone = target

    def evaluated_get(self, depsgraph: bpy.types.Depsgraph) -> Any:
        """Return the probe itself, which shows its object as a depsgraph has evaluated it."""
        self._evaluated = self._object.evaluated_get(depsgraph)
        return self

    @property
    def matrix_world(self) -> Matrix:
        """The world matrix of the target."""
        world = self._evaluated.matrix_world
        return world @ self._evaluated.pose.bones[self._bone].matrix if self._bone else world


def samples_as_shown(
    scene: bpy.types.Scene, chains: Sequence[RigChain], times: Sequence[float]
) -> list[ChainSamples]:
    """Return samples of versions of one chain at the times, by F-Curves.

    Where more than these places the chain, at the current frame alone, as it is shown. Without the frames
    that cannot be solved.
    """
    targets = list(dict.fromkeys(node for chain in chains for node in chain.followed))
    record = drained(record_by_curves(scene, chains, targets, times))
    if record is None:
        record = _shown(scene, chains, targets)
    else:
        surfaces = Surfaces(chains, 1)
        surfaces.read(0, view_layer_of(scene).depsgraph, record.settings)
        still = [np.full(len(times), sampled[0], object) for sampled in surfaces.found]
        record = changed(record, surfaces=still)
    sampled = samples_of(chains, record, targets, times)
    good = np.logical_and.reduce(
        [solvable(chain, samples) for chain, samples in zip(chains, sampled, strict=True)]
    )
    return [samples.at(np.flatnonzero(good)) for samples in sampled]


def _shown(scene: bpy.types.Scene, chains: Sequence[RigChain], targets: Sequence[Target]) -> Record:
    """Return the record of the current frame as it is shown."""
    probes: list[Any] = [_Shown(target) for target in targets]
    (record,) = drained(record_stepping(scene, [(chains, probes)], [scene.frame_float], lambda _: None))
    return record
