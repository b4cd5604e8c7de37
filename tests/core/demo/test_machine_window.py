# SPDX-License-Identifier: GPL-3.0-or-later
"""The window of the demo's four-bar, by events of the mouse, without a screen."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib.backend_bases import MouseEvent  # noqa: E402

from core_demo.__main__ import main  # noqa: E402
from core_demo.machine_window import MachineWindow  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture
def window():
    made = MachineWindow()
    made.figure.canvas.draw()
    yield made
    matplotlib.pyplot.close(made.figure)


def mouse(window, kind, x, y, button=1):
    """Send an event of the mouse at a place of the machine's axes."""
    canvas, at = window.figure.canvas, window.axes.transData.transform((x, y))
    canvas.callbacks.process(kind, MouseEvent(kind, canvas, *at, button=button))


def test_the_slider_turns_the_crank(window):
    before = np.array(window.links.get_data())[:, 1]
    window.crank.set_val(90)
    after = np.array(window.links.get_data())[:, 1]
    assert np.allclose(after, [-before[1], before[0]], atol=1e-12)
    assert "Every loop is closed" in window.words.get_text()


def test_a_drag_brings_the_place_along_and_sets_the_slider(window):
    target = window.machine.curve()[100]
    mouse(window, "button_press_event", *target)
    mouse(window, "motion_notify_event", *target)
    assert np.allclose(np.array(window.place.get_data())[:, 0], target, atol=0.05)
    assert window.crank.val == pytest.approx(np.degrees(window.machine.turned))
    mouse(window, "button_release_event", *target)
    mouse(window, "motion_notify_event", 0.0, 0.0)
    assert np.allclose(np.array(window.place.get_data())[:, 0], target, atol=0.05)


def test_another_button_moves_nothing(window):
    before = np.array(window.links.get_data())
    mouse(window, "button_press_event", 2.0, 2.0, button=3)
    mouse(window, "motion_notify_event", 2.0, 2.5, button=3)
    assert np.array_equal(np.array(window.links.get_data()), before)


def test_lengths_and_dead_points_are_set(window):
    window.lengths["coupler"].set_val(1.5)
    window.crank.set_val(170)
    assert "held at" in window.words.get_text()
    window.dead.set_active(1)
    assert window.machine.dead == "Ease"
    window.lengths["rocker"].set_val(0.4)
    assert window.lengths["rocker"].val == window.machine.lengths["rocker"]


def test_a_picture_of_it_is_saved(tmp_path):
    assert main(["--machine", "--save", str(tmp_path / "machine.png")]) == 0
    assert (tmp_path / "machine.png").stat().st_size > 20_000
