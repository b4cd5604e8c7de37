# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm gets a pole by a button; its hand is dragged, then its pole: the hand stays, the elbow follows."""

import math
import os
import sys

import bpy
from mathutils import Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, ui
from rig_steps import build, click_bone, drag_with_j, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
ARM = {
    "chest": ((0, 0, 1.6), (0, 0, 2.0), ""),
    "upper": ((0, 0, 2.0), (0.9, 0.35, 1.9), "chest"),
    "fore": ((0.9, 0.35, 1.9), (1.7, 0, 1.8), "upper"),
}
REACH = 1.85
# Where the tip may be off its target, of the reach, and the elbow off its side, in radians.
ON_TARGET, ON_SIDE = 1e-5, 1e-3


def joints():
    """Return where Blender has shoulder, elbow and wrist."""
    upper, fore = posed("upper"), posed("fore")
    return [Vector(point) for point in (upper.head, fore.head, fore.tail)]


def place(name):
    """Return where Blender has an object."""
    graph = bpy.context.evaluated_depsgraph_get()
    return bpy.data.objects[name].evaluated_get(graph).matrix_world.translation.copy()


def aside():
    """Return the angle, about the line to the wrist, from the side of the pole to that of the elbow."""
    shoulder, elbow, wrist = joints()
    line = (wrist - shoulder).normalized()
    pole, side = place("fore Pole") - shoulder, elbow - shoulder
    pole, side = pole - pole.dot(line) * line, side - side.dot(line) * line
    return math.atan2(line.dot(pole.cross(side)), pole.dot(side))


def check(where, angle):
    """The wrist is on the hand, and the elbow as far from the pole's side as it was."""
    wrist = joints()[2]
    assert (wrist - place("fore Target")).length < ON_TARGET * REACH, (where, wrist, place("fore Target"))
    assert abs(aside() - angle) < ON_SIDE, (where, aside(), angle)


def add_pole(area, sidebar):
    """Add the chain, have it bend towards a pole, and add that by its button: nothing moves."""
    before = joints()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    chain = rig().ik2d.chains[0]
    chain.plane = 'POLE'
    sidebar.tag_redraw()
    yield 0.6
    yield from ui.shot(f"{SHOTS}/pole_1_none.png")  # and says that there is none
    yield from ui.click_button(area, sidebar, "ik2d.pole_add")
    yield from ui.wait_until(lambda: chain.pole is not None, "the pole")
    yield 0.5
    assert chain.live and (chain.pole.name, chain.target.name) == ("fore Pole", "fore Target")
    for one, other in zip(before, joints(), strict=True):
        assert (one - other).length < ON_TARGET * REACH, (before, joints())
    yield from ui.find_button(area, sidebar, "].pole_angle")
    yield from ui.shot(f"{SHOTS}/pole_2_added.png")


def drag_object(name, to, angle, steps=6):
    """Click an object, press G and move it to a place as seen; yields at each step."""
    shown = bpy.data.objects[name].empty_display_size
    x, y = at(place(name) + Vector((shown, 0, 0)))
    yield from ui.click(x, y)
    yield from ui.wait_until(lambda: bpy.context.object == bpy.data.objects[name], f"the object {name}")
    x, y = at(place(name))
    to_x, to_y = at(to)
    yield from ui.move(x, y)
    yield from ui.key('G')
    yield 0.3
    for step in range(1, steps + 1):
        yield from ui.move(x + (to_x - x) * step / steps, y + (to_y - y) * step / steps)
        yield 0.2
        check(f"step {step} of {name}", angle)  # live, while it is dragged
    yield from ui.click(to_x, to_y)
    yield from ui.wait_until(lambda: not ui.window().modal_operators, "the end of the move")
    yield 0.3


def test():
    """Add a pole, drag the hand, drag the pole, undo."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(ARM)
    yield from look('NUMPAD_7')
    yield from click_bone("fore")
    yield from add_pole(area, sidebar)
    yield from look('NUMPAD_7')  # with the pole in sight
    angle = aside()
    assert abs(angle) < ON_SIDE, angle

    # The hand, from above: out of the plane that it was in.
    yield from drag_with_j("fore", (0.9, -0.9, 1.8))
    check("the hand", angle)
    elbow = joints()[1]
    yield from ui.shot(f"{SHOTS}/pole_3_hand.png")

    # The pole, in Object Mode, from above: the elbow goes to its side, and the hand stays.
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: rig().mode == 'OBJECT', "Object Mode")
    hand = place("fore Target")
    yield from drag_object("fore Pole", (-1.0, -1.6, 1.9), angle)
    check("the pole", angle)
    assert (place("fore Target") - hand).length == 0.0 and (joints()[1] - elbow).length > 0.2
    yield from look('NUMPAD_1')
    area, sidebar = yield from ui.sidebar("IK 2D")  # it shows the chain of the pole
    yield from ui.find_button(area, sidebar, "].pole_angle")
    yield from ui.shot(f"{SHOTS}/pole_4_pole.png")

    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: (joints()[1] - elbow).length < ON_SIDE * REACH, "the undo")
    check("undone", angle)


if __name__ == "__main__":
    ui.run(test)
