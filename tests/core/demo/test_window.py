# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's window, by events of the mouse, without a screen."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib.backend_bases import MouseEvent  # noqa: E402

from core_demo.arm import ARC, EVEN, SOLVERS, STEPS, TWO_BONE  # noqa: E402
from core_demo.window import Window  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture
def window():
    made = Window(3)
    for slider in made.limits:
        slider.set_val((-180, 180))
    made.figure.canvas.draw()
    yield made
    matplotlib.pyplot.close(made.figure)


def mouse(window, kind, axes, x, y):
    """Send an event of the mouse at a place of some axes, in their data."""
    at = axes.transData.transform((x, y))
    canvas = window.figure.canvas
    canvas.callbacks.process(kind, MouseEvent(kind, canvas, *at, button=1))


def click(window, axes):
    """Press and release in the middle of some axes."""
    x, y = axes.transAxes.transform((0.5, 0.5))
    canvas = window.figure.canvas
    for kind in ("button_press_event", "button_release_event"):
        canvas.callbacks.process(kind, MouseEvent(kind, canvas, x, y, button=1))


def drawn_tip(window):
    """Return the last joint as drawn."""
    return np.array(window.bones.get_data())[:, -1]


def test_it_opens_with_limits_and_a_target_in_their_region():
    opened = Window(3)
    assert opened.arm.chain.is_limited and "Target reached" in opened.words.get_text()
    assert opened.axes.collections and np.allclose(drawn_tip(opened), opened.arm.target, atol=1e-6)
    matplotlib.pyplot.close(opened.figure)


def test_dragging_moves_target_and_tip(window):
    mouse(window, "button_press_event", window.axes, 0.3, 0.3)
    for x, y in ((0.1, 0.5), (-0.4, 0.6)):
        mouse(window, "motion_notify_event", window.axes, x, y)
        assert np.allclose(drawn_tip(window), (x, y), atol=1e-5)
    assert "Target reached" in window.words.get_text()
    mouse(window, "button_release_event", window.axes, -0.4, 0.6)
    mouse(window, "motion_notify_event", window.axes, 0.5, 0.0)
    assert np.allclose(drawn_tip(window), (-0.4, 0.6), atol=1e-5)


def test_solvers_are_switched_and_refused_with_a_sentence(window):
    window.solvers.set_active(SOLVERS.index(ARC))
    assert window.arm.solver == ARC
    window.solvers.set_active(SOLVERS.index(TWO_BONE))
    assert window.arm.solver == ARC and window.solvers.value_selected == ARC
    assert "two bones" in window.words.get_text()
    window.count.set_val(2)
    window.solvers.set_active(SOLVERS.index(TWO_BONE))
    assert window.arm.solver == TWO_BONE and len(window.limits) == 2


def test_a_click_steps_ccd(window):
    mouse(window, "button_press_event", window.axes, -0.5, 0.5)
    mouse(window, "button_release_event", window.axes, -0.5, 0.5)
    window.solvers.set_active(SOLVERS.index(STEPS))
    mouse(window, "button_press_event", window.axes, 0.4, -0.5)
    mouse(window, "button_release_event", window.axes, 0.4, -0.5)
    before = window.arm.distance()
    assert before > 0.5
    click(window, window.step.ax)
    assert window.arm.distance() < before and "(step 1)" in window.words.get_text()


def test_other_buttons_move_nothing_and_a_drag_draws_as_a_whole_picture_does(window):
    before, canvas = window.arm.target, window.figure.canvas
    at = window.axes.transData.transform((-0.4, 0.6))
    for name, button in (("button_press_event", 3), ("motion_notify_event", 3), ("button_release_event", 3)):
        canvas.callbacks.process(name, MouseEvent(name, canvas, *at, button=button))
    assert window.arm.target is before
    mouse(window, "button_press_event", window.axes, 0.3, 0.3)
    mouse(window, "motion_notify_event", window.axes, -0.4, 0.6)
    dragged = np.asarray(canvas.buffer_rgba()).copy()
    canvas.draw()
    assert np.array_equal(dragged, np.asarray(canvas.buffer_rgba()))


def test_limits_change_the_region_that_is_drawn(window):
    def area():
        window.figure.canvas.draw()
        picture = np.asarray(window.figure.canvas.buffer_rgba())[..., :3].astype(int)
        return int((np.abs(picture - (179, 217, 242)).max(axis=-1) < 3).sum())

    whole = area()
    for slider in window.limits:
        slider.set_val((0, 60))
    assert [slider.valtext.get_text() for slider in window.limits] == ["0 to 60"] * 3
    some = area()
    assert 0 < some < 0.7 * whole and np.isfinite(window.arm.chain.limits).all()
    click(window, window.shown.ax)
    assert area() == 0 and window.arm.solver == EVEN


def test_flip_bends_to_the_other_side(window):
    angles = window.arm.angles
    click(window, window.flip.ax)
    assert np.allclose(window.arm.angles[1:], -angles[1:])
