# SPDX-License-Identifier: GPL-3.0-or-later
"""J over bones of a four-bar: its crank turns so that the point follows; keyed, undone, cancelled."""

import os
import sys
from importlib import import_module

import bpy
from mathutils import Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, ui
from drag_steps import confirmed, dragging
from rig_steps import build, in_window, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
ADDON = "bl_ext.user_default.ik2d.ik2d_addon"
SIZE, OPEN, CLOSE = 3.6, 2e-6, 1e-4
B = (1.9, 0.0, 1.6703)
FOUR_BAR = {
    "crank": ((0, 0, 0), (0, 0, 1), ""),
    "coupler": ((0, 0, 1), B, "crank"),
    "rocker": ((3, 0, 0), B, ""),
}


def bits():
    """Return all that Escape must put back, to the last bit."""
    return [x.hex() for bone in rig().pose.bones for x in (*bone.rotation_quaternion, *bone.location)]


def is_closed():
    """Whether the coupler's tail is on the rocker's, as Blender evaluates them."""
    return (posed("coupler").tail - posed("rocker").tail).length <= OPEN * SIZE


def grab(place):
    """Put the mouse over a place and press J; return where the mouse is."""
    x, y = map(int, at(place))
    yield from ui.move(x, y)
    yield from ui.key('J')
    yield from ui.wait_until(dragging, "the drag")
    return x, y


def crank_follows():
    """The tail of the crank, held by the part of the bone that is near it, turns the crank."""
    crank = posed("crank")
    x, y = yield from grab(crank.head.lerp(crank.tail, 0.8))
    before = Vector(at(crank.tail))
    for step in range(1, 11):
        yield from ui.move(x + 8 * step, y - 2 * step)
    yield 0.3
    assert is_closed(), posed("coupler").tail - posed("rocker").tail
    wanted = before + Vector((80, -20))
    hub = Vector(at(posed("crank").head))
    seen = Vector(at(posed("crank").tail)) - hub
    assert abs(seen.angle(wanted - hub)) < 0.01, (seen, wanted - hub)
    yield from ui.shot(f"{SHOTS}/mechanism_1_crank.png")
    yield from confirmed()
    assert is_closed()


def rocker_drives_the_crank():
    """A follower is held: the crank turns so that its end is nearest to the mouse; Escape puts all back."""
    before, turned = bits(), posed("crank").matrix.copy()
    rocker = posed("rocker")
    start = rocker.tail.copy()
    x, y = yield from grab(rocker.head.lerp(rocker.tail, 0.7))
    for step in range(1, 9):
        yield from ui.move(x - 6 * step, y)
    yield 0.3
    assert is_closed() and (posed("rocker").tail - start).length > 0.05
    assert posed("crank").matrix != turned
    yield from ui.shot(f"{SHOTS}/mechanism_2_rocker.png")
    yield from confirmed('ESC')
    assert bits() == before


def keyed_and_undone():
    """I confirms and keys the crank alone; one undo takes pose and keys back."""
    start, before = posed("rocker").tail.copy(), bits()
    x, y = yield from grab(start)
    for step in range(1, 9):
        yield from ui.move(x + 4 * step, y)
    yield 0.2
    yield from confirmed('I')
    curves = import_module(f"{ADDON}.rig.animation.versions").existing_fcurves(rig())
    assert {curve.data_path for curve in curves} == {'pose.bones["crank"].rotation_quaternion'}
    assert is_closed() and rig().ik2d.active_mechanism == 0
    yield from ui.shot(f"{SHOTS}/mechanism_3_keyed.png")
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: (posed("rocker").tail - start).length < CLOSE, "the undo")
    assert bits() == before
    assert rig().animation_data is None or rig().animation_data.action is None


def test():
    """All of it, with Live off and on."""
    build(FOUR_BAR)
    chains = import_module(f"{ADDON}.chains")
    mechanism = chains.add_mechanism(rig(), list(FOUR_BAR))
    chains.add_pin(mechanism, "coupler", 'TAIL', "rocker")
    chains.drive(mechanism, "crank")
    in_window(bpy.ops.ed.undo_push, message="The mechanism")
    yield from look('NUMPAD_1')
    yield from ui.shot(f"{SHOTS}/mechanism_0.png")
    for live in (False, True):
        rig().ik2d.mechanisms[0].live = live
        in_window(bpy.ops.ed.undo_push, message="Live")
        yield from crank_follows()
        yield from rocker_drives_the_crank()
        yield from keyed_and_undone()


ui.run(test)
