# SPDX-License-Identifier: GPL-3.0-or-later
"""The window of the demo: the arm on the left, its settings on the right. Needs matplotlib."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backend_bases import MouseEvent
from matplotlib.collections import LineCollection
from matplotlib.widgets import Button, CheckButtons, RadioButtons, RangeSlider, Slider

from .arm import HALF_TURN, LIMITS, MOST_BONES, SOLVERS, DemoArm

VIEW = 1.25  # what is seen to each side of the root, in reaches
GRID = 240  # points across, for the area of the region
LEFT, WIDTH, ROW = 0.72, 0.20, 0.045  # of the column of settings, in parts of the window
BONE, TARGET, AREA, EDGE = "#37474f", "#e91e63", "#b3d9f2", "#1565c0"


class Window:
    """The figure, and what happens when something in it is dragged or pressed."""

    def __init__(self, bones: int = 3) -> None:
        self.arm = DemoArm(bones)
        self.is_dragging = False
        self.figure = plt.figure("ik2d_core", figsize=(11.0, 7.0))
        self.axes = self.figure.add_axes((0.05, 0.10, 0.56, 0.86))
        self.axes.set(xlim=(-VIEW, VIEW), ylim=(-VIEW, VIEW), aspect="equal")
        self.axes.set_title("Drag the target", loc="left", fontsize=11)
        self.area: Any = None
        self.edge = self.axes.add_collection(LineCollection([], colors=EDGE, linewidths=1.0))
        (self.bones,) = self.axes.plot([], [], "o-", color=BONE, linewidth=6, markersize=11, mec="white")
        (self.target,) = self.axes.plot([], [], "o", mfc="none", mec=TARGET, mew=3, markersize=17)
        self.words = self.figure.text(0.05, 0.035, "", fontsize=11)
        self._add_settings()
        for name, work in (
            ("button_press_event", self._press),
            ("motion_notify_event", self._drag),
            ("button_release_event", self._release),
        ):
            self.figure.canvas.mpl_connect(name, work)
        for slider, ends in zip(self.limits, LIMITS, strict=False):
            slider.set_val(ends)
        self.draw_region()
        self.draw()

    def _add_settings(self) -> None:
        """Add the column of settings, from the top down."""
        bones = len(self.arm.chain)
        self.count = Slider(
            self._row(0.93), "Bones ", 1, MOST_BONES, valinit=bones, valstep=1, valfmt="%d", initcolor="none"
        )
        self.count.on_changed(self._set_bones)
        box = self._row(0.68, height=0.20, width=0.25)
        box.set_title("Solver", loc="left", fontsize=10)
        self.solvers = RadioButtons(box, SOLVERS, active=SOLVERS.index(self.arm.solver))
        self.solvers.on_clicked(self._set_solver)
        self.step = Button(self._row(0.60, height=0.05, width=0.12), "CCD Step")
        self.step.on_clicked(lambda _: self._do(self.arm.step))
        self.flip = Button(self._row(0.60, height=0.05, width=0.12, right=0.13), "Flip")
        self.flip.on_clicked(lambda _: self._do(self.arm.flip))
        self.shown = CheckButtons(self._row(0.525, height=0.05, width=0.25), ["Show the region"], [True])
        self.shown.on_clicked(lambda _: self._do(self.draw_region))
        self.limits: list[RangeSlider] = []
        self._add_limits()

    def _row(self, bottom: float, height: float = 0.03, width: float = WIDTH, right: float = 0.0) -> Any:
        """Add and return the axes of a setting."""
        return self.figure.add_axes((LEFT + right, bottom, width, height))

    def _add_limits(self) -> None:
        """Add a row for each joint's limits, in place of those that are there."""
        for slider in self.limits:
            slider.disconnect_events()
            slider.ax.remove()
        self.limits = []
        for joint in range(len(self.arm.chain)):
            row = self._row(0.42 - 1.4 * ROW * joint)
            if joint == 0:
                row.set_title("Limits, in degrees", loc="left", fontsize=10)
            slider = RangeSlider(
                row,
                f"Joint {joint + 1} ",
                -HALF_TURN,
                HALF_TURN,
                valinit=(-HALF_TURN, HALF_TURN),
                valstep=5,
                valfmt="%d",
            )
            slider.on_changed(lambda ends, joint=joint: self._set_limits(joint, *ends))
            self.limits.append(slider)

    def _set_bones(self, bones: float) -> None:
        if int(bones) != len(self.arm.chain):
            self.arm.set_bones(int(bones))
            self._add_limits()
            self.draw_region()
            self.draw()

    def _set_limits(self, joint: int, low: float, high: float) -> None:
        self.arm.set_limits(joint, float(low), float(high))
        self.draw_region()
        self.draw()

    def _set_solver(self, solver: str | None) -> None:
        if solver and solver != self.arm.solver and not self.arm.set_solver(solver):
            self.draw()
            needed = "two bones" if solver == SOLVERS[0] else "joints without limits"
            self.words.set_text(f"The solver {solver} takes {needed}.")
            return
        self.draw()

    def _do(self, work: Any) -> None:
        work()
        self.draw()

    def _is_on_arm(self, event: MouseEvent) -> bool:
        return event.inaxes is self.axes and event.xdata is not None

    def _press(self, event: MouseEvent) -> None:
        self.is_dragging = self._is_on_arm(event)
        self._drag(event)

    def _drag(self, event: MouseEvent) -> None:
        if (
            self.is_dragging
            and self._is_on_arm(event)
            and event.xdata is not None
            and event.ydata is not None
        ):
            self.arm.aim(event.xdata, event.ydata)
            self.draw()

    def _release(self, _event: MouseEvent) -> None:
        self.is_dragging = False

    def draw_region(self) -> None:
        """Draw what the tip reaches, if that is to be shown."""
        if self.area is not None:
            self.area.remove()
            self.area = None
        is_shown = self.shown.get_status()[0]
        self.edge.set_visible(is_shown)
        if not is_shown:
            return
        region, across = self.arm.region(), np.linspace(-VIEW, VIEW, GRID)
        inside = region.contains(np.stack(np.meshgrid(across, across), axis=-1))
        self.area = self.axes.contourf(across, across, inside, levels=[0.5, 1.5], colors=[AREA], zorder=0)
        self.edge.set_segments(region.outline())

    def draw(self) -> None:
        """Draw the arm, its target, and the result."""
        self.bones.set_data(*self.arm.joints().T)
        self.target.set_data(*self.arm.target[:, np.newaxis])
        if self.solvers.value_selected != self.arm.solver:
            self.solvers.eventson = False
            self.solvers.set_active(SOLVERS.index(self.arm.solver))
            self.solvers.eventson = True
        angles = "  ".join(f"{angle:.1f}°" for angle in np.degrees(self.arm.angles))
        self.words.set_text(f"{self.arm.result}.  Distance {self.arm.distance():.6f}.  Angles {angles}")
        self.figure.canvas.draw_idle()
