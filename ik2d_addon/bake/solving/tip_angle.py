# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose last bone has an angle, over its frames: as a path, or each frame by itself."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...core import Chain, Solution
from ...core.inputs import Floats, wrapped
from ...core.solution import Steps
from ...core.tip_angle import PoseRequest, alone, pose_path_steps
from ...core.tip_angle.request import ANGLE_TOLERANCE
from ...rig.chain.chain import RigChain
from .solvers import StartPose, root_weight_of

# So many angles from one yield to the next.
_ANGLES = 2048
# Poses that differ by more (radians) are others than those of each frame by itself.
_SAME = 1e-3


@dataclass(frozen=True, eq=False)
class AngleFrames:
    """Some frames of a chain whose last bone has an angle, and its targets there."""

    rig: RigChain
    chains: Callable[[int], Chain]  # the chain at a frame
    rests: Floats  # (all frames, n) its angles at rest
    frames: NDArray[np.intp] | None  # (m,) None where the chain of the first frame is that of all
    targets: Floats  # (m, 2)
    wanted: Floats  # (m,) headings of the last bone
    bend: Floats  # (m,)
    softness: Floats  # (m,)

    def _request(self, frame: int, rows: slice) -> PoseRequest:
        rig, chain = self.rig, self.chains(frame)
        assert rig.settings.tip_angle is not None
        return PoseRequest.checked(
            chain,
            self.targets[rows],
            self.wanted[rows],
            bend=self.bend[rows],
            rest=self.rests[frame],
            root_weight=root_weight_of(rig, chain),
            tolerance=rig.settings.tolerance,
            softness=self.softness[rows],
            angle_first=rig.settings.tip_angle.first,
        )

    def _requests(self, block: int) -> list[PoseRequest]:
        """Return the poses to ask for, of so many frames each, or of one where the chain changes."""
        if self.frames is not None:
            return [self._request(int(frame), slice(k, k + 1)) for k, frame in enumerate(self.frames)]
        firsts = range(0, max(len(self.targets), 1), block)
        return [self._request(0, slice(first, first + block)) for first in firsts]

    def at(self, rows: NDArray[np.intp]) -> "AngleFrames":
        """Return some of the frames."""
        frames = None if self.frames is None else self.frames[rows]
        asked = (own[rows] for own in (self.targets, self.wanted, self.bend, self.softness))
        return AngleFrames(self.rig, self.chains, self.rests, frames, *asked)

    def alone(self) -> Steps[Solution]:
        """Return the poses of all frames by themselves; yield the number of frames done."""
        parts: list[Solution] = []
        done = 0
        for asked in self._requests(max(1, _ANGLES // len(self.rig.bones))):
            parts.append(alone(asked))
            done += len(asked.points)
            yield done
        return Solution.joined(parts)

    def along(self, start: StartPose | None) -> Steps[Solution]:
        """Return the poses of a path, `parted` where a frame with both by itself has another pose.

        start: the pose before the first frame, or one for each; None for none.
        """
        starts = None if start is None else start.angles
        path = yield from pose_path_steps(self._requests(max(1, len(self.targets))), starts)
        if starts is not None and starts.ndim == 2:
            return replace(path, parted=None)
        met = np.flatnonzero(path.reached & (np.asarray(path.angle_error) <= ANGLE_TOLERANCE))
        if not met.size:
            return replace(path, parted=None)
        least, parted = (yield from self.at(met).alone()), np.zeros(len(self.targets), np.bool_)
        parted[met] = np.abs(wrapped(path.angles[met] - least.angles)).max(axis=1) > _SAME
        return replace(path, parted=parted if parted.any() else None)

    def solved(self, start: StartPose | None) -> Steps[Solution]:
        """Return the poses of all frames; each by itself where the chain does not go on."""
        return self.along(start) if self.rig.goes_on and len(self.targets) else self.alone()
