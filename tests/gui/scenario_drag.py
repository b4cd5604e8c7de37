# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a tip by J: in all views, confirmed, undone, redone, cancelled."""

import os
import sys

from mathutils import Euler

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from drag_steps import CLOSE, bits, confirmed, dragging, follow, places, seen, take_hold, ui, with_chain

SHOTS = os.environ["IK2D_SHOTS"]


def turn_view(key, perspective=False):
    """Look from another side."""
    area, view = ui.region()
    yield from ui.move(*ui.center(view))
    yield from ui.key(key)
    yield 1.2
    data = area.spaces.active.region_3d
    if perspective:
        data.view_perspective, data.view_rotation = 'PERSP', Euler((1.1, 0.0, 0.6)).to_quaternion()
        data.view_distance = 14.0
        yield 0.5


def in_all_views():
    """In front, aside from the edge of the plane, and askew in perspective the tip follows the mouse."""
    x, y = yield from take_hold()
    yield from follow(x, y, -80, -60)
    yield from ui.shot(f"{SHOTS}/drag_1_front.png")
    yield from confirmed()
    yield from turn_view('NUMPAD_3')
    x, y = yield from take_hold()
    before = places()[0]
    yield from ui.move(x + 70, y - 50)
    yield 0.3
    tip = places()[0]
    assert abs(tip.x - before.x) < CLOSE and tip.z < before.z - 0.1, (tip, before)
    assert abs(seen(tip).y - (y - 50)) < 2.0
    yield from ui.shot(f"{SHOTS}/drag_2_side.png")
    yield from confirmed('ESC')
    yield from turn_view('NUMPAD_1', perspective=True)
    x, y = yield from take_hold()
    yield from follow(x, y, 60, -40)
    yield from ui.shot(f"{SHOTS}/drag_3_perspective.png")
    yield from confirmed('ESC')
    yield from turn_view('NUMPAD_1')


def undo_and_redo():
    """A drag is one step, named."""
    tip = places()[0]
    x, y = yield from take_hold()
    yield from follow(x, y, 40, 50)
    yield from confirmed()
    moved = places()[0]
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: (places()[0] - tip).length < CLOSE, "the undo")
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: (places()[0] - moved).length < CLOSE, "the redo")


def cancelled_to_the_bit():
    """Escape and the right button put all back, after flips too."""
    for cancel in ('ESC', 'RIGHTMOUSE'):
        before = bits()
        x, y = yield from take_hold()
        yield from follow(x, y, -50, 30)
        yield from ui.key('F')
        yield 0.2
        assert bits() != before
        if cancel == 'ESC':
            yield from confirmed('ESC')
        else:
            yield from ui.click(x - 50, y + 30, 'RIGHTMOUSE')
            yield from ui.wait_until(lambda: not dragging(), "the end of the drag")
        assert bits() == before, (bits(), before)


def test():
    """All of it."""
    yield from with_chain()
    yield from in_all_views()
    yield from undo_and_redo()
    yield from cancelled_to_the_bit()


ui.run(test)
