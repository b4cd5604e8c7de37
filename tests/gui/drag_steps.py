# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scenarios share that drag the arm's tip."""

import bpy
from arm_steps import at, select_target_then_tip, ui
from mathutils import Vector

REACH = 3.07
CLOSE = 1e-4 * REACH


def arm():
    """Return the arm; undo makes it anew."""
    return bpy.data.objects["Arm"]


def places():
    """Return where Blender has tip, elbow and target now."""
    graph = bpy.context.evaluated_depsgraph_get()
    posed, target = arm().evaluated_get(graph), bpy.data.objects["Target"].evaluated_get(graph)
    fore = posed.pose.bones["fore"]
    return (
        posed.matrix_world @ fore.tail,
        posed.matrix_world @ fore.head,
        target.matrix_world.translation.copy(),
    )


def bits():
    """Return all that Escape must put back, to the last bit."""
    found = [x.hex() for x in bpy.data.objects["Target"].location]
    for bone in arm().pose.bones:
        found += [x.hex() for x in (*bone.rotation_quaternion, *bone.location, *bone.scale)]
    return found, arm().ik2d.chains[0].bend


def dragging():
    """Whether a drag runs in the window."""
    return any(operator.bl_idname == "IK2D_OT_drag" for operator in ui.window().modal_operators)


def seen(point):
    """Return the pixel of the window at which a point is seen."""
    return Vector(at(point))


def take_hold():
    """Put the mouse on the tip and press J; return where the mouse is."""
    x, y = map(int, seen(places()[0]))
    yield from ui.move(x, y)
    yield from ui.key('J')
    yield from ui.wait_until(dragging, "the drag")
    return x, y


def follow(x, y, dx, dy):
    """Move the mouse in steps; the tip follows it to the pixel."""
    start = seen(places()[0])
    for step in range(1, 6):
        yield from ui.move(x + dx * step / 5, y + dy * step / 5)
    yield 0.2
    off = (seen(places()[0]) - start - Vector((dx, dy))).length
    assert off < 2.0, (off, start, seen(places()[0]), (dx, dy))
    tip, _, target = places()
    assert (tip - target).length < CLOSE and abs(tip.y) < CLOSE, (tip, target)


def confirmed(key='RET'):
    """Press a key that ends it."""
    yield from ui.key(key)
    yield from ui.wait_until(lambda: not dragging(), "the end of the drag")
    yield 0.2


def with_chain():
    """Add the chain with the mouse, turn Live off, and solve it."""
    yield from select_target_then_tip()
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm().ik2d.chains) == 1, "the chain")
    arm().ik2d.chains[0].live = False
    bpy.ops.ik2d.solve('EXEC_DEFAULT')
    yield from ui.wait_until(lambda: arm().ik2d.last_solve, "the solve")
    bpy.context.scene.frame_set(4)
