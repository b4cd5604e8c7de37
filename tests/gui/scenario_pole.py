# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm with a pole is adopted; its hand is dragged, then its pole: the hand stays, the elbow follows."""

import math
import os
import sys

import bpy
from mathutils import Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, ui
from rig_steps import build, click_bone, drag_with_j, in_window, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
ARM = {
    "chest": ((0, 0, 1.6), (0, 0, 2.0), ""),
    "upper": ((0, 0, 2.0), (0.9, 0.35, 1.9), "chest"),
    "fore": ((0.9, 0.35, 1.9), (1.7, 0, 1.8), "upper"),
}
REACH = 1.85
# Where the tip may be off its target, of the reach, and the elbow off its side, in radians.
ON_TARGET, ON_SIDE = 1e-5, 1e-3


def add_empty(name, place, display):
    """Add an empty at a place."""
    made = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(made)
    made.location, made.empty_display_type, made.empty_display_size = place, display, 0.12
    return made


def add_ik():
    """Give the arm an IK constraint with a pole behind the elbow, as its rest pose has it."""
    hand, pole = add_empty("Hand", (1.7, 0, 1.8), 'SPHERE'), add_empty("Pole", (0.9, 2.0, 1.9), 'CUBE')
    in_window(bpy.ops.object.mode_set, mode='EDIT')
    rig().data.edit_bones["upper"].align_roll((0, 1, 0))  # Z to the elbow's side: a quarter turn from X
    in_window(bpy.ops.object.mode_set, mode='POSE')
    constraint = rig().pose.bones["fore"].constraints.new('IK')
    constraint.target, constraint.pole_target, constraint.chain_count = hand, pole, 2
    constraint.pole_angle = math.pi / 2
    in_window(bpy.ops.ed.undo_push, message="The IK")


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
    pole, side = place("Pole") - shoulder, elbow - shoulder
    pole, side = pole - pole.dot(line) * line, side - side.dot(line) * line
    return math.atan2(line.dot(pole.cross(side)), pole.dot(side))


def check(where, angle):
    """The wrist is on the hand, and the elbow as far from the pole's side as it was."""
    wrist = joints()[2]
    assert (wrist - place("Hand")).length < ON_TARGET * REACH, (where, wrist, place("Hand"))
    assert abs(aside() - angle) < ON_SIDE, (where, aside(), angle)


def adopt(area, sidebar):
    """Adopt the IK of the bone that is active by the main button."""
    before = joints()
    yield from ui.shot(f"{SHOTS}/pole_1_before.png")
    yield from ui.click_button(area, sidebar, "ik2d.adopt")
    yield 1.0
    yield from ui.shot(f"{SHOTS}/pole_2_dialog.png")
    yield from ui.key('RET')
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    yield 0.5
    chain = rig().ik2d.chains[0]
    assert (chain.plane, chain.pole.name, chain.target.name) == ('POLE', "Pole", "Hand")
    assert chain.live and rig().pose.bones["fore"].constraints[0].mute
    for one, other in zip(before, joints(), strict=True):
        assert (one - other).length < ON_SIDE * REACH, (before, joints())
    yield from ui.find_button(area, sidebar, "].pole_angle")
    yield from ui.shot(f"{SHOTS}/pole_3_adopted.png")


def drag_object(name, to, angle, steps=6):
    """Click an object, press G and move it to a place as seen; yields at each step."""
    x, y = at(place(name) + Vector((0.12, 0, 0)))
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
    """Adopt, drag the hand, drag the pole, undo."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(ARM)
    add_ik()
    yield from look('NUMPAD_7')
    yield from click_bone("fore")
    yield from adopt(area, sidebar)
    angle = aside()
    assert abs(angle) < math.radians(3.0), angle  # as the rig had it

    # The hand, from above: out of the plane that it was in.
    yield from drag_with_j("fore", (0.9, -0.9, 1.8))
    check("the hand", angle)
    elbow = joints()[1]
    yield from ui.shot(f"{SHOTS}/pole_4_hand.png")

    # The pole, in Object Mode, from above: the elbow goes to its side, and the hand stays.
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: rig().mode == 'OBJECT', "Object Mode")
    hand = place("Hand")
    yield from drag_object("Pole", (-1.0, -1.6, 1.9), angle)
    check("the pole", angle)
    assert (place("Hand") - hand).length == 0.0 and (joints()[1] - elbow).length > 0.2
    yield from look('NUMPAD_1')
    area, sidebar = yield from ui.sidebar("IK 2D")  # it shows the chain of the pole
    yield from ui.find_button(area, sidebar, "].pole_angle")
    yield from ui.shot(f"{SHOTS}/pole_5_pole.png")

    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: (joints()[1] - elbow).length < ON_SIDE * REACH, "the undo")
    check("undone", angle)


if __name__ == "__main__":
    ui.run(test)
