# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of a step of CCD in the 3D View: from the joint to the tip, and from the joint to the target."""

from dataclasses import dataclass
from typing import Any

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ...core.inputs import Floats
from ..baking.staleness import solve_fingerprint

# Light lines on dark, wider ones can be read in every theme.
_TIP, _TARGET, _UNDER = (1.0, 0.62, 0.16, 1.0), (0.3, 0.75, 1.0, 1.0), (0.0, 0.0, 0.0, 0.7)
_WIDTH, _UNDER_WIDTH = 2.5, 5.0  # pixels, times the user's scale
_DASHES, _ARC = 12, 24
# The arc's radius and its head's length, as parts of the shorter line and of the radius.
_RADIUS, _HEAD = 0.4, 0.18


@dataclass(frozen=True, eq=False)
class Figure:
    """What a step turned: in the world, (3,) each."""

    joint: Floats
    tip: Floats  # where it was before
    target: Floats  # in the chain's plane
    turn: float  # radians about the normal, as far as the joint turned
    normal: Floats

    def to_tip(self) -> Floats:
        """Return the line from the joint to where the tip was, as dashes (2 m, 3): two points for each."""
        at = np.arange(2 * _DASHES) / (2 * _DASHES - 1)
        dashes: Floats = self.joint + at[:, None] * (self.tip - self.joint)
        return dashes

    def to_target(self) -> Floats:
        """Return the line from the joint to the target (2, 3)."""
        return np.array((self.joint, self.target))

    def arc(self) -> Floats:
        """Return the way of the turn with the head of an arrow at its end, as segments (2 m, 3)."""
        along, aim = self.tip - self.joint, self.target - self.joint
        radius = _RADIUS * min(float(np.linalg.norm(along)), float(np.linalg.norm(aim)))
        length = float(np.linalg.norm(along))
        if radius == 0.0 or abs(self.turn) < 1e-3:
            return np.empty((0, 3))
        x = along / length
        y = np.cross(self.normal, x)
        turns = np.linspace(0.0, self.turn, _ARC)
        points = self.joint + radius * (np.outer(np.cos(turns), x) + np.outer(np.sin(turns), y))
        head = min(_HEAD, 0.5 * abs(self.turn))
        back = self.turn - np.sign(self.turn) * head
        sides = [
            self.joint + radius * (1.0 + side) * (np.cos(back) * x + np.sin(back) * y)
            for side in (-0.5 * head, 0.5 * head)
        ]
        segments = np.repeat(points, 2, axis=0)[1:-1]
        return np.vstack((segments, points[-1], sides[0], points[-1], sides[1]))


@dataclass(frozen=True, eq=False)
class _Shown:
    """What is drawn, and as long as what stands."""

    figure: Figure
    armature: str
    chain: str
    mark: str

    def holds(self) -> bool:
        """Return whether pose, target and frame are still those of the step."""
        armature = bpy.data.objects.get(self.armature)
        chain = armature.ik2d.chains.get(self.chain) if armature is not None else None
        return chain is not None and solve_fingerprint(chain, bpy.context.scene) == self.mark


_shown: _Shown | None = None
_handler: Any = None


def show(figure: Figure, armature: str, chain: str, mark: str) -> None:
    """Draw a figure until pose, target or frame are others than the chain's mark says."""
    global _shown, _handler
    _shown = _Shown(figure, armature, chain, mark)
    if _handler is None and not bpy.app.background:
        _handler = bpy.types.SpaceView3D.draw_handler_add(_draw, (), 'WINDOW', 'POST_VIEW')


def is_shown() -> bool:
    """Return whether a figure is drawn that still holds."""
    return _shown is not None and _shown.holds()


def hide() -> None:
    """Draw no more."""
    global _shown, _handler
    _shown = None
    if _handler is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handler, 'WINDOW')
        _handler = None


def _hide_if_over() -> None:
    """Take the handler away, out of the drawing, where nothing was shown since."""
    if not is_shown():
        hide()


def _draw() -> None:
    if _shown is None:
        return
    if not _shown.holds():
        bpy.app.timers.register(_hide_if_over)
        return
    figure, scale = _shown.figure, bpy.context.preferences.system.ui_scale
    lines = ((figure.to_tip(), _TIP), (figure.to_target(), _TARGET), (figure.arc(), _TIP))
    shader = gpu.shader.from_builtin('POLYLINE_UNIFORM_COLOR')
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    gpu.state.blend_set('ALPHA')
    for width, under in ((_UNDER_WIDTH, True), (_WIDTH, False)):
        shader.uniform_float("lineWidth", width * scale)
        for points, color in lines:
            if len(points):
                shader.uniform_float("color", _UNDER if under else color)
                batch_for_shader(shader, 'LINES', {"pos": points.astype(np.float32)}).draw(shader)
    gpu.state.blend_set('NONE')


def register() -> None:
    """Nothing is drawn until a step is made."""


def unregister() -> None:
    """Draw no more."""
    hide()
