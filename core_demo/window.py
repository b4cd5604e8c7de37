# SPDX-License-Identifier: GPL-3.0-or-later
"""The window of the demo: the arm on the left, its settings on the right. Needs matplotlib."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backend_bases import MouseButton, MouseEvent
from matplotlib.collections import LineCollection
from matplotlib.widgets import Button, CheckButtons, RadioButtons, RangeSlider, Slider

from .arm import HALF_TURN, MOST_BONES, SOLVERS, DemoArm

VIEW = 1.25  # what is seen to each side of the root, in reaches
GRID, COARSE = 240, 80  # points across, for the area of the region; and while a limit is dragged
LEFT, WIDTH = 0.70, 0.19  # of the column of settings, in parts of the window
BONE, TARGET, AREA, EDGE = "#37474f", "#e91e63", "#b3d9f2", "#1565c0"


class Window:
    """The figure, and what happens when something in it is dragged or pressed."""

    def __init__(self, bones: int = 3) -> None:
        self.arm = DemoArm(bones)
        self.is_dragging = False
        self.figure = plt.figure("ik2d_core", figsize=(10.0, 6.4))
        self.axes = self.figure.add_axes((0.05, 0.13, 0.56, 0.80))
        self.axes.set(xlim=(-VIEW, VIEW), ylim=(-VIEW, VIEW), aspect="equal")
        self.axes.set_title("Drag the target, the red ring", loc="left", fontsize=11)
        self.area: Any = None
        self.edge = self.axes.add_collection(LineCollection([], colors=EDGE, linewidths=1.0))
        (self.bones,) = self.axes.plot([], [], "o-", color=BONE, linewidth=6, markersize=11, mec="white")
        (self.target,) = self.axes.plot([], [], "o", mfc="none", mec=TARGET, mew=3, markersize=17)
        self.words = self.axes.annotate(
            "", (0.0, 0.0), (0.0, -28.0), "axes fraction", "offset points", va="top", annotation_clip=False
        )
        self.moving = (self.bones, self.target, self.words)
        for artist in self.moving:
            artist.set_animated(True)  # drawn by `_draw_moving` alone: all the rest takes far longer
        self.still: Any = None
        self._add_settings()
        for name, work in (
            ("button_press_event", self._press),
            ("motion_notify_event", self._drag),
            ("button_release_event", self._release),
            ("draw_event", self._keep_still),
        ):
            self.figure.canvas.mpl_connect(name, work)
        self.draw_region()
        self.draw()

    def _add_settings(self) -> None:
        """Add the column of settings, from the top down."""
        bones = len(self.arm.chain)
        self.count = Slider(
            self._row(0.92), "Bones ", 1, MOST_BONES, valinit=bones, valstep=1, valfmt="%d", initcolor="none"
        )
        self.count.valtext.set_x(1.08)
        self.count.on_changed(self._set_bones)
        box = self._row(0.66, height=0.20, width=0.25)
        box.set_title("Solver", loc="left", fontsize=10)
        self.solvers = RadioButtons(box, SOLVERS, active=SOLVERS.index(self.arm.solver))
        self.solvers.on_clicked(self._set_solver)
        self.step = Button(self._row(0.58, height=0.055, width=0.12), "CCD Step")
        self.step.on_clicked(lambda _: self._do(self.arm.step))
        self.flip = Button(self._row(0.58, height=0.055, width=0.12, right=0.13), "Flip")
        self.flip.on_clicked(lambda _: self._do(self.arm.flip))
        self.shown = CheckButtons(self._row(0.50, height=0.055, width=0.25), ["Show the region"], [True])
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
        ranges = np.clip(np.degrees(self.arm.chain.ranges), -HALF_TURN, HALF_TURN)
        for joint, ends in enumerate(ranges.tolist()):
            row = self._row(0.40 - 0.065 * joint)
            if joint == 0:
                row.set_title("Limits, in degrees", loc="left", fontsize=10)
            slider = RangeSlider(
                row, f"Joint {joint + 1} ", -HALF_TURN, HALF_TURN, valinit=tuple(ends), valstep=5
            )
            slider.valtext.set_x(1.08)
            slider.valtext.set_text(in_words(*ends))
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
        self.limits[joint].valtext.set_text(in_words(low, high))
        self.draw_region(COARSE)
        self.draw()

    def _set_solver(self, solver: str | None) -> None:
        if solver and solver != self.arm.solver:
            self.arm.set_solver(solver)
            self.draw()

    def _do(self, work: Callable[[], object]) -> None:
        work()
        self.draw()

    def _is_on_arm(self, event: MouseEvent) -> bool:
        return event.inaxes is self.axes and event.xdata is not None

    def _press(self, event: MouseEvent) -> None:
        self.is_dragging = self._is_on_arm(event) and event.button == MouseButton.LEFT
        self._drag(event)

    def _drag(self, event: MouseEvent) -> None:
        x, y = event.xdata, event.ydata
        if self.is_dragging and self._is_on_arm(event) and x is not None and y is not None:
            self.arm.aim(x, y)
            self._show()
            self._draw_moving()

    def _release(self, event: MouseEvent) -> None:
        self.is_dragging = False
        if event.inaxes in [slider.ax for slider in self.limits]:
            self.draw_region()
            self.figure.canvas.draw_idle()

    def draw_region(self, grid: int = GRID) -> None:
        """Draw what the tip reaches, if that is to be shown, by a grid of so many points across."""
        if self.area is not None:
            self.area.remove()
            self.area = None
        is_shown = self.shown.get_status()[0]
        self.edge.set_visible(is_shown)
        if not is_shown:
            return
        region, across = self.arm.region(), np.linspace(-VIEW, VIEW, grid)
        inside = region.contains(np.stack(np.meshgrid(across, across), axis=-1))
        self.area = self.axes.contourf(across, across, inside, levels=[0.5, 1.5], colors=[AREA], zorder=0)
        self.edge.set_segments(region.outline())

    def draw(self) -> None:
        """Draw the settings, the arm, its target, and the result."""
        if self.solvers.value_selected != self.arm.solver:
            self.solvers.eventson = False
            self.solvers.set_active(SOLVERS.index(self.arm.solver))
            self.solvers.eventson = True
        for label, solver in zip(self.solvers.labels, SOLVERS, strict=True):
            label.set_alpha(1.0 if self.arm.offers(solver) else 0.35)
        self._show()
        self.figure.canvas.draw_idle()

    def _show(self) -> None:
        """Put the arm's pose, its target and the result into what is drawn."""
        self.bones.set_data(*self.arm.joints().T)
        self.target.set_data(*self.arm.target[:, np.newaxis])
        angles = "  ".join(f"{angle:.1f}°" for angle in np.degrees(self.arm.angles))
        self.words.set_text(
            f"{self.arm.result}.\nDistance to the target {self.arm.distance():.6f}, angles {angles}"
        )

    def _keep_still(self, _event: object) -> None:
        """Keep a picture of all that does not move, and draw what does on top of it."""
        canvas: Any = self.figure.canvas
        if not canvas.is_saving():
            self.still = canvas.copy_from_bbox(self.figure.bbox) if canvas.supports_blit else None
            for artist in self.moving:
                self.axes.draw_artist(artist)

    def _draw_moving(self) -> None:
        """Draw what moves alone, on top of the picture of the rest."""
        canvas: Any = self.figure.canvas
        if self.still is None:
            canvas.draw_idle()
            return
        canvas.restore_region(self.still)
        for artist in self.moving:
            self.axes.draw_artist(artist)
        canvas.blit(self.figure.bbox)


def in_words(low: float, high: float) -> str:
    """Return a joint's limits, in degrees, as the window shows them."""
    return "free" if low <= -HALF_TURN and high >= HALF_TURN else f"{low:.0f} to {high:.0f}"
