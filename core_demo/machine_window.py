# SPDX-License-Identifier: GPL-3.0-or-later
"""The window of the demo's four-bar: the machine on the left, its settings on the right. Needs matplotlib."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backend_bases import MouseButton, MouseEvent
from matplotlib.widgets import RadioButtons, Slider

from .machine import DEAD, GROUND, LENGTHS, LONGEST, SHORTEST, DemoMachine

LEFT, WIDTH = 0.70, 0.19  # of the column of settings, in parts of the window
LINK, PLACE, CURVE, FILL = "#37474f", "#e91e63", "#1565c0", "#b3d9f2"
TURNS = 2  # to each side, that the crank's slider has


class MachineWindow:
    """The figure, and what happens when something in it is dragged or pressed."""

    def __init__(self) -> None:
        self.machine = DemoMachine()
        self.is_dragging = False
        self.figure = plt.figure("ik2d_core: a four-bar", figsize=(10.0, 6.4))
        self.axes = self.figure.add_axes((0.05, 0.13, 0.56, 0.80))
        self.axes.set(xlim=(-3.0, GROUND + 3.0), ylim=(-4.0, 5.0), aspect="equal")
        self.axes.set_title("Turn the crank, or drag the red ring", loc="left", fontsize=11)
        (self.curve,) = self.axes.plot([], [], color=CURVE, linewidth=1.0)
        (self.coupler,) = self.axes.fill([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], color=FILL)
        (self.links,) = self.axes.plot([], [], "o-", color=LINK, linewidth=5, markersize=11, mec="white")
        (self.place,) = self.axes.plot([], [], "o", mfc="none", mec=PLACE, mew=3, markersize=15)
        self.words = self.axes.annotate(
            "", (0.0, 0.0), (0.0, -28.0), "axes fraction", "offset points", va="top", annotation_clip=False
        )
        self._add_settings()
        for name, work in (
            ("button_press_event", self._press),
            ("motion_notify_event", self._drag),
            ("button_release_event", self._release),
        ):
            self.figure.canvas.mpl_connect(name, work)
        self.draw_curve()
        self.draw()

    def _add_settings(self) -> None:
        """Add the column of settings, from the top down."""
        most = 360 * TURNS
        self.crank = Slider(self._row(0.90), "Crank ", -most, most, valinit=0, valfmt="%d°", initcolor="none")
        self.crank.on_changed(self._turn)
        self.lengths: dict[str, Slider] = {}
        for count, (body, length) in enumerate(LENGTHS.items()):
            row = self._row(0.78 - 0.065 * count)
            if count == 0:
                row.set_title("Lengths", loc="left", fontsize=10)
            slider = Slider(row, f"{body.title()} ", SHORTEST, LONGEST, valinit=length, initcolor="none")
            slider.on_changed(lambda length, body=body: self._set_length(body, length))
            self.lengths[body] = slider
        box = self.figure.add_axes((LEFT, 0.40, 0.25, 0.15))
        box.set_title("At dead points", loc="left", fontsize=10)
        self.dead = RadioButtons(box, list(DEAD))
        self.dead.on_clicked(self._set_dead)

    def _row(self, bottom: float) -> Any:
        return self.figure.add_axes((LEFT, bottom, WIDTH, 0.03))

    def _turn(self, degrees: float) -> None:
        self.machine.turn(float(np.radians(degrees)))
        self.draw()

    def _set_length(self, body: str, length: float) -> None:
        if not self.machine.set_length(body, float(length)):
            self._set_quietly(self.lengths[body], self.machine.lengths[body])
        self.draw_curve()
        self.draw()

    def _set_dead(self, name: str | None) -> None:
        if name:
            self.machine.set_dead(name)
            self.draw_curve()
            self.draw()

    def _set_quietly(self, slider: Slider, value: float) -> None:
        slider.eventson = False
        slider.set_val(value)
        slider.eventson = True

    def _press(self, event: MouseEvent) -> None:
        self.is_dragging = event.inaxes is self.axes and event.button == MouseButton.LEFT
        self._drag(event)

    def _drag(self, event: MouseEvent) -> None:
        x, y = event.xdata, event.ydata
        if self.is_dragging and event.inaxes is self.axes and x is not None and y is not None:
            self.machine.drag(x, y)
            self._set_quietly(self.crank, float(np.degrees(self.machine.turned)))
            self.draw()

    def _release(self, _event: MouseEvent) -> None:
        self.is_dragging = False

    def draw_curve(self) -> None:
        """Draw the curve of the coupler's place."""
        self.curve.set_data(*self.machine.curve().T)

    def draw(self) -> None:
        """Draw the machine and the result."""
        coupler = self.machine.coupler()
        self.coupler.set_xy(coupler)
        self.place.set_data(*coupler[1:2].T)
        self.links.set_data(*self.machine.joints().T)
        self.words.set_text(f"{self.machine.result}.\nOpen by {self.machine.pose.open[0]:.1e}")
        self.figure.canvas.draw_idle()
