# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scenarios of mechanisms share: clicks that are counted, the panel, keys by hand."""

import bpy
from arm_steps import at, shift_click, ui
from rig_steps import click_bone, posed, rig

CLICKS = []
# The header of Mechanism is so far below Add Chain, in pixels at scale 1.
HEADER = 34
_click = ui.click


def _counted(*place, **more):
    CLICKS.append(place)
    yield from _click(*place, **more)


ui.click = _counted


def select(first, *others):
    """Click a bone, and others with Shift; the last is the active one."""
    yield from click_bone(first)
    for name in others:
        bone = rig().pose.bones[name]
        yield from shift_click(*at((bone.head + bone.tail) / 2))
        yield from ui.wait_until(lambda name=name: rig().data.bones.active.name == name, name)


def new_mechanism(area, sidebar):
    """Open the panel and press its button."""
    yield from open_mechanism(area, sidebar)
    yield from ui.click_button(area, sidebar, "ik2d.mechanism_new")
    yield from ui.wait_until(lambda: len(rig().ik2d.mechanisms), "the mechanism")
    yield 0.8


def open_mechanism(area, sidebar):
    """Open the panel Mechanism by a click on its header, which is below Add Chain."""
    _x, y = yield from ui.find_button(area, sidebar, "ik2d.chain_add")
    yield from ui.click(sidebar.x + 60, y - int(HEADER * bpy.context.preferences.system.ui_scale))
    yield 0.8


def turn_and_key(frame, degrees):
    """Go to a frame, turn the selected bone by typed degrees in the view's plane, and key it."""
    bpy.context.scene.frame_set(frame)
    yield 0.2
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('R')
    yield 0.2
    yield from ui.text(str(degrees))
    yield from ui.key('RET')
    yield 0.3
    yield from ui.key('I')
    yield 0.3


def bake(area, sidebar):
    """Press Bake and wait for its result."""
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: rig().ik2d.last_bake, "the bake", 30)
    yield 0.5


def apart(one, other):
    """Return how far two places of evaluated bones, pairs of a name and "head" or "tail", are apart."""
    first, second = (getattr(posed(name), end) for name, end in (one, other))
    return (first - second).length
