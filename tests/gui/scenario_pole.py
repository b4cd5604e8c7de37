# SPDX-License-Identifier: GPL-3.0-or-later
"""A live arm that bends towards a pole, with the overlay: its tip is dragged by J, its pole by G."""

import importlib
import os
import sys
from math import atan2

import bpy
from mathutils import Euler, Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from drag_steps import CLOSE, arm, confirmed, dragging, places, seen, take_hold, ui, with_chain

SHOTS = os.environ["IK2D_SHOTS"]
ADDON = "bl_ext.user_default.ik2d.ik2d_addon"
POLE = Vector((-2.5, -1.5, 1.2))


def look_askew():
    """Look from the side and above, in perspective."""
    area, view = ui.region()
    yield from ui.move(*ui.center(view))
    data = area.spaces.active.region_3d
    data.view_perspective, data.view_rotation = 'PERSP', Euler((0.9, 0.0, 2.7)).to_quaternion()
    data.view_distance, data.view_location = 9.0, (-0.5, -0.5, 0.8)
    yield 1.0


def give_pole(chain):
    """Add a pole, on the side of the elbow, and have the chain bend towards it."""
    pole = bpy.data.objects.new("Pole", None)
    bpy.context.collection.objects.link(pole)
    pole.empty_display_type, pole.empty_display_size, pole.location = 'CUBE', 0.12, POLE
    upper, fore = arm().data.bones["upper"], arm().data.bones["fore"]
    line = (fore.tail_local - upper.head_local).normalized()
    elbow = fore.head_local - upper.head_local
    side = upper.matrix_local.to_3x3().inverted() @ (elbow - elbow.dot(line) * line)
    chain.pole, chain.pole_angle, chain.plane = pole, atan2(side.z, side.x), 'POLE'
    chain.live = True
    return pole


def off_the_pole(pole):
    """Return how far the elbow is from the half plane of root, tip and pole, in the world's units."""
    tip, elbow, _ = places()
    line = tip.normalized()  # the root is at the origin
    place = pole.matrix_world.translation
    towards = (place - place.dot(line) * line).normalized()
    return (elbow - elbow.dot(line) * line - towards * (elbow - elbow.dot(line) * line).length).length


def assert_follows(pole):
    """The tip is on its target, and the elbow on the pole's side."""
    tip, _, target = places()
    assert (tip - target).length < CLOSE, (tip, target)
    assert off_the_pole(pole) < CLOSE, off_the_pole(pole)


def drag_tip(pole):
    """The tip goes with the mouse, in the plane of the frame; the elbow faces the pole all the time."""
    x, y = yield from take_hold()
    start = seen(places()[0])
    for step in range(1, 6):
        yield from ui.move(x - 14 * step, y + 10 * step)
        yield 0.1
        assert_follows(pole)
    assert (seen(places()[0]) - start - Vector((-70, 50))).length < 2.0
    yield from ui.shot(f"{SHOTS}/pole_2_dragged.png")
    yield from confirmed()
    assert_follows(pole)


def grab_pole(pole):
    """The pole is an empty: G moves it, and the arm swings round at once."""
    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: arm().mode == 'OBJECT', "Object Mode")
    bpy.ops.object.select_all(action='DESELECT')
    pole.select_set(True)
    bpy.context.view_layer.objects.active = pole
    x, y = map(int, seen(pole.location))
    yield from ui.move(x, y)
    yield from ui.key('G')
    elbow = places()[1]
    for step in range(1, 6):
        yield from ui.move(x - 30 * step, y - 30 * step)
        yield 0.1
        assert_follows(pole)
    yield from ui.shot(f"{SHOTS}/pole_3_pole_grabbed.png")
    yield from ui.key('RET')
    yield 0.3
    assert (places()[1] - elbow).length > 0.2 and not dragging()
    assert_follows(pole)


def test():
    """From the chain on."""
    overlay = importlib.import_module(f"{ADDON}.ui.settings.overlay").overlay_settings()
    yield from with_chain()
    chain = arm().ik2d.chains[0]
    pole = give_pole(chain)
    bpy.data.objects["Target"].animation_data_clear()
    bpy.data.objects["Target"].location = (0.9, -0.7, 0.9)
    overlay.show = True
    yield from look_askew()
    assert_follows(pole)
    assert chain.live_status == "On its target", chain.live_status
    yield from ui.shot(f"{SHOTS}/pole_1_live.png")
    yield from drag_tip(pole)
    yield from grab_pole(pole)
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: (bpy.data.objects["Pole"].location - POLE).length < CLOSE, "the undo")
    yield 0.5
    assert_follows(bpy.data.objects["Pole"])


ui.run(test)
