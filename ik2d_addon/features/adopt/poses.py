# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of bones and places of targets over the frames of an action, as Blender evaluates them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from math import ceil, floor
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from ...rig.animation.versions import has_curves
from ...rig.chain.chain import Remarks, RigChain, SolverSettings
from ...rig.chain.dependencies import influences, walk
from ...rig.scene.live_pause import live_paused
from ...rig.scene.record import Target
from ...rig.scene.sampler import Sampler, watch

# A longer action is sampled on some of its frames, since Rigify's human takes 3 ms for each of three looks:
# on fewest before a dialog is shown, as it opens at once; on most where a limb changes the side that it bends
# to, so that the chain does on the same frame.
FEW_FRAMES, MOST_FRAMES, EXACT_FRAMES = 20, 60, 500


@dataclass(frozen=True, eq=False)
class Watched:
    """Sampled poses of bones and places of targets."""

    frames: tuple[int, ...]
    world: Floats  # (frames, 4, 4) the armature object's matrix
    poses: dict[str, Floats]  # of each bone, and of those above the chains: (frames, 4, 4)
    targets: dict[Target, Floats]  # (frames, 3) in the world
    # (frames,) 0..1 how much a limb's IK acts, by its bone and name
    acting: dict[tuple[str, str], Floats] = field(default_factory=dict)

    def at(self, rows: NDArray[np.intp]) -> "Watched":
        """Return some of the frames alone."""
        return Watched(
            tuple(self.frames[row] for row in rows),
            self.world[rows],
            {name: poses[rows] for name, poses in self.poses.items()},
            {target: places[rows] for target, places in self.targets.items()},
            {constraint: acting[rows] for constraint, acting in self.acting.items()},
        )

    def but_between(self, switched: Sequence[tuple[str, str]]) -> "Watched":
        """Return the frames to compare poses on: none on which limbs are between FK copies and IK.

        switched: the IK of these limbs.
        """
        acting = [self.acting[constraint] for constraint in switched]
        between = np.any([(0.0 < each) & (each < 1.0) for each in acting], axis=0) if acting else np.False_
        return self.at(np.flatnonzero(~between)) if between.any() and not between.all() else self

    def thinned(self, most: int) -> "Watched":
        """Return at most so many of the frames, evenly spread."""
        count = len(self.frames)
        return self.at(np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp)))

    def joints(self, armature: bpy.types.Object, bones: Sequence[str]) -> Floats:
        """Return the joints of bones, heads and the last tail (frames, n + 1, 3), in the armature's space."""
        heads = [self.poses[name][:, :3, 3] for name in bones]
        tail = self.poses[bones[-1]] @ (0.0, armature.data.bones[bones[-1]].length, 0.0, 1.0)
        return np.stack([*heads, tail[:, :3]], axis=1)


def _unsolved(
    armature: bpy.types.Object, bones: Sequence[str], acting: Sequence[tuple[str, str]]
) -> RigChain:
    """Return a chain for sampling only: it has bones, and 0 for whatever else a chain needs.

    acting: (bone, constraint) of which to sample how much they act.
    """
    nothing: dict[str, Any] = {field.name: 0 for field in fields(RigChain) if field.default is MISSING}
    known = {"armature": armature, "bones": tuple(bones), "target": armature, "subtarget": ""}
    remarks = Remarks("", 0.0, copies=tuple(acting))
    return RigChain(**{**nothing, **known, "settings": SolverSettings('TWO_BONE'), "remarks": remarks})


def frames_of(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    targets: Iterable[bpy.types.Object],
    most: int = MOST_FRAMES,
) -> list[int]:
    """Return the frames of the actions that move an armature and its targets, or the current one.

    At most one more than `most`, evenly spread.
    """
    ends: list[float] = []
    pace = scene.render.frame_map_old / scene.render.frame_map_new
    for block, _ in walk([(armature, ""), *((target, "") for target in targets)], influences):
        animation = getattr(block, "animation_data", None)
        if animation is None:
            continue
        if animation.action is not None and has_curves(animation.action):
            ends += [end / pace for end in animation.action.frame_range]
        if len(animation.nla_tracks):
            ends += [scene.frame_start, scene.frame_end]
    if not ends:
        return [scene.frame_current]
    first, last = floor(min(ends)), ceil(max(ends))
    step = ceil((last - first + 1) / most)
    return sorted({*range(first, last + 1, step), last})


def watched(
    scene: bpy.types.Scene | Sampler,
    armature: bpy.types.Object,
    limbs: Sequence[Sequence[str]],
    targets: Sequence[Target],
    frames: Sequence[int],
    progress: Callable[[float], None] | None = None,
    acting: Sequence[tuple[str, str]] = (),
) -> Watched:
    """Return the poses of limbs, bones from root to tip, and the places of targets, on some frames.

    scene: as in `watch`. progress: called with the part that is done, 0..1. acting: the IK of each limb,
    (bone, constraint), if it is asked how much that acts.
    """
    asked = [acting[i : i + 1] for i in range(len(limbs))]
    chains = [_unsolved(armature, bones, own) for bones, own in zip(limbs, asked, strict=True)]
    with live_paused():
        world, places, poses, copied = watch(scene, chains, targets, frames, progress)
    by_target = {target: places[:, k] for k, target in enumerate(targets)}
    return Watched(tuple(frames), world, poses, by_target, dict(zip(acting, copied, strict=False)))
