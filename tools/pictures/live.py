# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: a live tentacle follows its target, which the mouse drags round."""

import math
import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import at, calm, in_front, look_at, named, picture, ui

FRAMES = 56
CENTRE, RADII = (0.35, 2.05), (2.15, 0.85)


def target_at(step):
    """Return where the target is on a closed curve of FRAMES steps, in the plane Y = 0."""
    turn = 2 * math.pi * step / FRAMES
    x, z = CENTRE[0] + RADII[0] * math.cos(turn), CENTRE[1] + RADII[1] * math.sin(2 * turn + 0.6)
    return x, 0.0, z - 0.25 * abs(x - CENTRE[0])


def test():
    """Live on, Object Mode, G, and round."""
    area, sidebar = yield from in_front("IK 2D")
    calm()
    x, y = yield from ui.find_button(area, sidebar, "ik2d.chains[0].live")
    while not named("objects", "Tentacle").ik2d.chains[0].live:  # the first click takes the tooltip away
        yield from ui.click(x, y)
        yield 0.5
    named("objects", "Target").animation_data_clear()
    named("objects", "Target").location = target_at(0)
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name == "Target")
    bpy.context.view_layer.objects.active = named("objects", "Target")
    look_at(1.35, 2.0, 6.0)
    yield 1.0
    view = ui.region()[1]
    yield from ui.move(*at(target_at(0)))
    yield from ui.key('G')
    for step in range(FRAMES):
        yield from ui.move(*at(target_at(step)))
        yield from picture(f"live_{step:03}", view, still=False)
    yield from ui.key('RET')


ui.run(test)
