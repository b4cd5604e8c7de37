# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose last bone has an angle, over its frames."""

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

from ...core import Chain, Solution, solve_pose
from ...core.inputs import Floats
from ...rig.chain.chain import RigChain

# So many angles from one yield to the next.
_ANGLES = 2048


def solved_with_angle(
    rig: RigChain,
    chains: Callable[[int], Chain],
    rests: Floats,
    frames: NDArray[np.intp] | None,
    targets: Floats,
    wanted: Floats,
    bend: Floats,
    softness: Floats,
) -> Generator[int, None, Solution]:
    """Solve targets (m, 2) with headings (m,) of the last bone, in steps; yield the number of targets solved.

    chains: the chain at a frame; rests: (all frames, n) its angles at rest. frames: (m,) of the targets; None
    where the chain of the first frame is that of all. bend, softness: (m,).
    """
    assert rig.settings.tip_angle is not None
    block, parts = 1 if frames is not None else max(1, _ANGLES // len(rig.bones)), []
    for first in range(0, len(targets), block):
        rows = slice(first, first + block)
        frame = 0 if frames is None else int(frames[first])
        parts.append(
            solve_pose(
                chains(frame),
                targets[rows],
                wanted[rows],
                bend=bend[rows],
                rest=rests[frame],
                tolerance=rig.settings.tolerance,
                softness=softness[rows],
                angle_first=rig.settings.tip_angle.first,
            )
        )
        yield min(first + block, len(targets))
    return Solution.joined(parts)
