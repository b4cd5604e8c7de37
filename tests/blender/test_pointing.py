# SPDX-License-Identifier: GPL-3.0-or-later
"""From the mouse to a place in the plane: every view, snapping, precision, axes, typed numbers."""

import numpy as np
import pytest

from ik2d_addon.features.drag.pointing import DragPlane, Pointer, step_length
from ik2d_addon.features.drag.typed import Typed

FRONT = np.array((0.0, -1.0, 0.0))


class Eye:
    """A view from a place in some direction, 100 pixels to a unit at its middle."""

    def __init__(self, place, towards, perspective):
        self.place, self.perspective = np.array(place, float), perspective
        self.ahead = np.array(towards, float) - self.place
        self.distance = np.linalg.norm(self.ahead)
        self.ahead /= self.distance
        aside = np.cross(self.ahead, (0, 0, 1) if abs(self.ahead[2]) < 0.9 else (0, 1, 0))
        self.right = aside / np.linalg.norm(aside)
        self.up = np.cross(self.right, self.ahead)

    def line_of_sight(self, pixel):
        """Return start and direction."""
        x, y = pixel[0] / 100.0, pixel[1] / 100.0
        if not self.perspective:
            return self.place + x * self.right + y * self.up, self.ahead
        direction = self.distance * self.ahead + x * self.right + y * self.up
        return self.place, direction / np.linalg.norm(direction)

    def pixel(self, point):
        """Return where it is seen."""
        offset = point - self.place
        depth = offset @ self.ahead
        if depth <= 0.0:
            return None
        scale = 100.0 * (self.distance / depth if self.perspective else 1.0)
        return offset @ self.right * scale, offset @ self.up * scale


def plane_at(point=(0.3, 0.2, 0.1), normal=FRONT):
    """Return a plane through a point."""
    return DragPlane.of(np.array(point), np.array(normal, float) / np.linalg.norm(normal))


VIEWS = {
    "front": Eye((0, -10, 0), (0, 0, 0), False),
    "behind": Eye((0, 10, 0), (0, 0, 0), False),
    "front in perspective": Eye((1, -10, 2), (0, 0, 0), True),
    "askew in perspective": Eye((7, -6, 5), (0, 0, 0), True),
    "askew": Eye((7, -6, 5), (0, 0, 0), False),
}


@pytest.mark.parametrize("name", VIEWS)
def test_the_point_stays_under_the_mouse(name):
    view, plane = VIEWS[name], plane_at()
    pointer = Pointer(plane)
    start = view.pixel(plane.point)
    for pixels in ((30, 10), (-70, 40), (5, -90)):
        pointer.move(pixels, precise=False)
        offset = pointer.look(view)
        seen = view.pixel(plane.at(offset))
        expected = np.array(start) + pointer.moved
        assert np.abs(np.array(seen) - expected).max() < 1e-6


@pytest.mark.parametrize("perspective", [False, True])
def test_seen_from_its_edge_the_point_follows_along_it(perspective):
    plane, view = plane_at(), Eye((10, 0.2, 0.1), (0.3, 0.2, 0.1), perspective)
    pointer = Pointer(plane)
    pointer.move((55, 200), precise=False)
    offset = pointer.look(view)
    assert offset[1] == pytest.approx(2.0) and offset[0] == pytest.approx(0.0, abs=1e-9)


def test_a_line_of_sight_that_misses_the_plane_leaves_the_point():
    plane, view = plane_at((0, 0, 0), (0, 0, 1)), Eye((0, -10, 3), (0, 0, 0), True)
    pointer = Pointer(plane)
    pointer.move((0, 100), precise=False)
    before = pointer.look(view).copy()
    pointer.move((0, 5000), precise=False)  # over the horizon
    assert (pointer.look(view) == before).all()


def test_what_is_behind_the_view_leaves_the_point():
    pointer = Pointer(plane_at((0, -20, 0)))
    pointer.move((10, 10), precise=False)
    assert (pointer.look(VIEWS["front in perspective"]) == 0.0).all()


def test_axes_lie_along_the_worlds():
    plane = plane_at(normal=(0.1, -1.0, 0.05))
    assert plane.x[0] > 0.9 and plane.y[2] > 0.9
    assert abs(plane.x @ plane.y) < 1e-12 and abs(plane.x @ plane.normal) < 1e-12


@pytest.mark.parametrize("axis", [0, 1])
def test_an_axis_is_kept_to_and_let_go(axis):
    pointer, view = Pointer(plane_at()), VIEWS["front"]
    pointer.keep_to(axis)
    pointer.move((30, 40), precise=False)
    expected = (0.3, 0.0) if axis == 0 else (0.0, 0.4)
    assert pointer.look(view) == pytest.approx(expected)
    pointer.keep_to(axis)
    assert pointer.look(view) == pytest.approx((0.3, 0.4))


def test_an_axis_seen_end_on_leaves_the_point():
    pointer = Pointer(plane_at())
    pointer.keep_to(0)
    pointer.move((30, 40), precise=False)
    assert (pointer.look(Eye((10, 0.2, 0.1), (0.3, 0.2, 0.1), False)) == 0.0).all()


def test_precision_counts_a_tenth():
    pointer = Pointer(plane_at())
    pointer.move((30, 40), precise=True)
    assert pointer.look(VIEWS["front"]) == pytest.approx((0.03, 0.04))


def test_snapping_goes_by_steps_that_follow_the_zoom():
    plane, view = plane_at(), VIEWS["front"]
    assert step_length(view, plane.point, view.pixel(plane.point)) == pytest.approx(1.0)
    pointer = Pointer(plane)
    pointer.move((160, -240), precise=False)
    assert pointer.look(view, snap=True) == pytest.approx((2.0, -2.0))
    assert pointer.look(view, snap=True, precise=True) == pytest.approx((1.6, -2.4))


def typed(*keys, several=True):
    """Return what some keys come to."""
    numbers = Typed()
    for key in keys:
        assert numbers.take(key, several)
    return numbers


@pytest.mark.parametrize(
    "keys, values",
    [
        (("ONE", "PERIOD", "FIVE"), [1.5, 0.0]),
        (("NUMPAD_2", "MINUS"), [-2.0, 0.0]),
        (("MINUS", "TWO", "MINUS"), [2.0, 0.0]),
        (("ONE", "TAB", "THREE", "NUMPAD_PERIOD", "PERIOD", "TWO"), [1.0, 3.2]),
        (("ONE", "TAB", "THREE", "TAB", "FOUR"), [14.0, 3.0]),
        (("ONE", "TWO", "BACK_SPACE"), [1.0, 0.0]),
        (("MINUS",), [0.0, 0.0]),
        (("PERIOD", "FIVE"), [0.5, 0.0]),
    ],
)
def test_numbers_are_typed_as_in_blenders_transforms(keys, values):
    assert typed(*keys).values(float) == values


def test_what_is_typed_away_gives_the_mouse_its_say_again():
    numbers = typed("ONE", "TAB", "TWO")
    assert not numbers.is_empty
    for key in ("BACK_SPACE", "TAB", "BACK_SPACE"):
        numbers.take(key, True)
    assert numbers.is_empty and not numbers.take("BACK_SPACE", True)


def test_along_an_axis_there_is_one_number():
    assert typed("ONE", "TAB", "TWO", several=False).values(float) == [12.0, 0.0]


def test_other_keys_are_left_alone():
    assert not Typed().take("Q", True)
    assert "[1|]" in typed("ONE").in_words(("dX", "dY"))
