# SPDX-License-Identifier: GPL-3.0-or-later
"""A post in a report: its angles, and warnings where it is at a limit, near its target, or turns fast."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.post import LIMITED, NEAREST
from ...core.words import noted, number_of, say
from ...rig.pose.swings import post_turns
from ..keys.keying import KeyedChain, KeyPlan
from .chain_result import PostTurned

# A post that turns by more than this in a frame, radians, is worth a warning.
FAST = np.radians(20.0)


def post_turned(keyed: KeyedChain, plan: KeyPlan) -> PostTurned | None:
    """Return how the post of a chain turned on the frames of a plan; None without one."""
    post, own, rows = keyed.post, _own_post(keyed, plan), plan.rows
    if post is None:
        return own
    angles = post.angles[rows]
    steps = np.abs(np.diff(angles, prepend=angles[:1]))
    return PostTurned(
        post.rotation.bone,
        angles,
        post.solved.status[rows],
        post.solved.near_axis[rows],
        steps,
        may_reach_over=not _reaches_over(keyed),
    )


def _own_post(keyed: KeyedChain, plan: KeyPlan) -> PostTurned | None:
    """Return how a chain's own first bone turned as its post; None where it is none."""
    chain = keyed.solved
    rig, turns = chain.rig, chain.noticed.plane_turns
    if rig.swing is None or turns is None or turns.post is None or chain.swings is None:
        return None
    angles, solved = post_turns(rig, chain.swings)[plan.rows], turns.post.at(plan.rows)
    steps = np.abs(np.diff(angles, prepend=angles[:1]))
    may_reach_over = not rig.swing.turns_alone and not _reaches_over(keyed)
    return PostTurned(rig.bones[0], angles, solved.status, solved.near_axis, steps, may_reach_over)


def _reaches_over(keyed: KeyedChain) -> bool:
    """Return whether Reach Over is on for a chain's post."""
    post = keyed.solved.rig.post
    return post is not None and post.rule.reaches_over


def post_notes(
    name: str, post: PostTurned | None, frames: Sequence[float], fk: NDArray[np.bool_]
) -> Iterator[str]:
    """Yield sentences on the post of a chain. fk: (frames,) where its IK Blend is 0."""
    if post is None:
        return
    over = say(", or turn on Reach Over") if post.may_reach_over else ""
    for status, words in (
        (
            LIMITED,
            noted(
                "Chain '{chain}': a limit stops its post '{post}' on {frames} (the first is {frame:g}), and "
                "its target leaves the plane there; widen the limits{over}"
            ),
        ),
        (
            NEAREST,
            noted(
                "Chain '{chain}': its target is nearer the axis of its post '{post}' than the chain's plane "
                "comes, on {frames} (the first is {frame:g}); move the target outwards"
            ),
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
                **({"over": over} if status == LIMITED else {}),
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
