# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says of a post."""

import numpy as np

from ik2d_addon.bake.reporting.chain_result import PostTurned
from ik2d_addon.bake.reporting.post_notes import post_notes
from ik2d_addon.core.post import HELD, LIMITED, NEAREST

FRAMES = [10, 11, 12, 13]
NO_FK = np.zeros(4, bool)


def turned(**changes) -> PostTurned:
    fields = {
        "bone": "base",
        "angles": np.zeros(4),
        "status": np.full(4, HELD, np.int8),
        "near_axis": np.zeros(4, bool),
        "steps": np.zeros(4),
    }
    return PostTurned(**fields | changes)


def test_a_post_that_holds_its_targets_is_no_news():
    assert list(post_notes("arm", turned(), FRAMES, NO_FK)) == []
    assert list(post_notes("arm", None, FRAMES, NO_FK)) == []


def test_limits_and_targets_near_the_axis_are_told_with_the_way_out():
    status = np.array((HELD, LIMITED, LIMITED, NEAREST), np.int8)
    limited, near = post_notes("arm", turned(status=status), FRAMES, NO_FK)
    assert "'base' on 2 frames (the first is 11)" in limited and "Reach Over" in limited
    assert "on 1 frame (the first is 13)" in near and "outwards" in near
    limited, _ = post_notes("arm", turned(status=status, may_reach_over=False), FRAMES, NO_FK)
    assert limited.endswith("widen the limits")


def test_fast_turns_are_told_and_whether_the_axis_is_near():
    steps, near = np.radians((0, 25, 5, 70)), np.array((0, 0, 1, 0), bool)
    (fast,) = post_notes("arm", turned(steps=steps, near_axis=near), FRAMES, NO_FK)
    assert "by 70 degrees from frame 12 to 13, the most of 2 such turns" in fast and "lead it round" in fast
    (other,) = post_notes("arm", turned(steps=np.radians((0, 25, 0, 0))), FRAMES, NO_FK)
    assert other.endswith("from frame 10 to 11")


def test_frames_on_which_the_chain_is_off_do_not_count():
    status = np.full(4, LIMITED, np.int8)
    assert not list(post_notes("arm", turned(status=status, steps=np.full(4, 1.0)), FRAMES, ~NO_FK))
