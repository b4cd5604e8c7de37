# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory that a bake needs, and what the machine has."""

import os
from collections.abc import Sequence

from ..core.words import refusal
from ..rig.chain.chain import RigChain

# The memory that a bake takes for each frame, and for each of the chains' bones on it, rounded up. The
# growth of the process's peak was 2.6 kB a frame for 2 bones on 100,000 frames and on 200,000, and 4.2 where
# all were played back; 7.2 for 4 chains of 2 bones, 8.7 for one of 10, 27 for 4 of 10. Blender 5.0.
BYTES_A_FRAME, BYTES_A_BONE = 3000, 1000


def refuse_too_long(rigs: Sequence[RigChain], frames: Sequence[int], halves: bool) -> None:
    """Raise IK2DError where a bake of the chains would need more memory than the machine has.

    frames: the first and the last one count. halves: whether it is solved half-way between them, too.
    """
    solved = (frames[-1] - frames[0] + 1) * (2 if halves else 1)
    bones = sum(len(rig.bones) for rig in rigs)
    needed, there = solved * (BYTES_A_FRAME + BYTES_A_BONE * bones), physical_memory()
    if there is not None and needed > there:
        raise refusal(
            "The frames {frame} to {frame_2} of {bones} bones would need some {needed:.1f} GB of "
            "memory, and this machine has {there:.1f}; bake fewer frames or fewer chains at a "
            "time",
            frame=frames[0],
            frame_2=frames[-1],
            bones=bones,
            needed=needed / 1000000000.0,
            there=there / 1000000000.0,
        )


def physical_memory() -> int | None:
    """Return the machine's memory in bytes; None where the system does not tell."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no such function, others not these names
        return None
    return pages * size if pages > 0 and size > 0 else None
