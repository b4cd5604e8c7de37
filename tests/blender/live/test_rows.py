# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of numbers by frame stay within their bound, and those that were used last stay longest."""

import numpy as np
import pytest

from ik2d_addon.live.kept.rows import BLOCK, KeptRows

WIDTH = 5


def block(first: int, count: int) -> tuple[list[tuple[int, float]], np.ndarray]:
    frames = [(1, float(first + number)) for number in range(count)]
    return frames, np.array([[frame] * WIDTH for _, frame in frames])


def test_rows_are_found_as_they_were_added():
    rows = KeptRows(WIDTH, 1 << 20)
    rows.add_block(*block(0, 3 * BLOCK))
    for number in range(3 * BLOCK):
        rows.add((2, float(number)), [-float(number)] * WIDTH)
    for number in range(3 * BLOCK):
        assert (rows.find((1, float(number))) == number).all()
        assert (rows.find((2, float(number))) == -number).all()
    assert rows.find((1, -1.0)) is None and (3, 0.0) not in rows


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_the_blocks_used_least_lately_go_first(blocks):
    rows = KeptRows(WIDTH, blocks * BLOCK * WIDTH * 4)
    assert rows.most == blocks * BLOCK
    for number in range(blocks):
        rows.add_block(*block(BLOCK * number, BLOCK))
    assert rows.find((1, 0.0)) is not None  # so that the first one was used last
    rows.add_block(*block(BLOCK * blocks, BLOCK))
    assert ((1, 0.0) in rows) == (blocks > 1)
    assert ((1, float(BLOCK)) in rows) == (blocks == 1)
    assert (1, float(BLOCK * blocks)) in rows
    assert sum(each.nbytes for each in rows._blocks.values()) <= blocks * BLOCK * WIDTH * 4


def test_a_frame_that_is_added_again_has_its_new_row_and_outlives_the_old_block():
    rows = KeptRows(WIDTH, 2 * BLOCK * WIDTH * 4)
    rows.add_block(*block(0, BLOCK))
    rows.add((1, 3.0), [7.0] * WIDTH)
    rows.add_block(*block(BLOCK, BLOCK))  # the first block goes
    assert (rows.find((1, 3.0)) == 7.0).all() and (1, 4.0) not in rows


def test_nothing_is_left_once_it_is_cleared():
    rows = KeptRows(WIDTH, 1 << 20)
    rows.add((1, 1.0), [1.0] * WIDTH)
    rows.clear()
    assert (1, 1.0) not in rows
    rows.add((1, 2.0), [2.0] * WIDTH)
    assert (rows.find((1, 2.0)) == 2.0).all()
