# SPDX-License-Identifier: GPL-3.0-or-later
"""A post in a report: its angles, and warnings where it is at a limit, near its target, or turns fast."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.post import LIMITED, NEAREST
from ...core.words import number_of, say
from ..keys.keying import KeyedChain, KeyPlan
from .chain_result import PostTurned

# A post that turns by more than this in a frame, radians, is worth a warning.
FAST = np.radians(20.0)


def post_turned(keyed: KeyedChain, plan: KeyPlan) -> PostTurned | None:
    """Return how the post of a chain turned on the frames of a plan; None without one."""
    post = keyed.post
    if post is None:
        return None
    rows = plan.rows
    angles = post.angles[rows]
    steps = np.abs(np.diff(angles, prepend=angles[:1]))
    return PostTurned(
        post.rotation.bone, angles, post.solved.status[rows], post.solved.near_axis[rows], steps
    )


def post_notes(
    name: str, post: PostTurned | None, frames: Sequence[float], fk: NDArray[np.bool_]
) -> Iterator[str]:
    """Yield sentences on the post of a chain. fk: (frames,) where its IK Blend is 0."""
    if post is None:
        return
    for status, words in (
        (
            LIMITED,
            "Chain '{chain}': a limit stops its post '{post}' on {frames} (the first is {frame:g}), and its "
            "target leaves the plane there; widen the limits, or turn on Reach Over",
        ),
        (
            NEAREST,
            "Chain '{chain}': its target is nearer the axis of its post '{post}' than the chain's plane "
            "comes, on {frames} (the first is {frame:g}); move the target outwards",
        ),
    ):
        there = np.flatnonzero((post.status == status) & ~fk)
        if len(there):
            yield say(
                words,
                chain=name,
                post=post.bone,
                frames=number_of(len(there), "frame"),
                frame=frames[there[0]],
            )
    fast = (post.steps > FAST) & ~fk
    if fast.any():
        worst = int(np.argmax(np.where(fast, post.steps, 0.0)))
        near = (post.near_axis | np.roll(post.near_axis, 1))[worst]
        yield say(
            "Chain '{chain}': its post '{post}' turns by {angle:.0f} degrees from frame {frame:g} to "
            "{frame_2:g}{others}{near}",
            chain=name,
            post=post.bone,
            angle=np.degrees(post.steps[worst]),
            frame=frames[max(worst - 1, 0)],
            frame_2=frames[worst],
            others=say(", the most of {count} such turns", count=int(fast.sum())) if fast.sum() > 1 else "",
            near=say("; its target passes near the axis there: lead it round") if near else "",
        )
