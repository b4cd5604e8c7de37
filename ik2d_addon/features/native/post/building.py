# SPDX-License-Identifier: GPL-3.0-or-later
"""The empties and the constraint of a post above a native chain.

The controls are in the post's own space before its turn. One child of theirs has the target's place there,
which gives the angle; another, the table, turns by it, with the chain's plane. So the chain is solved in the
full plane, whatever its influence. The post itself has a Limit Rotation, as bones of a chain have: its own
channels and keys stay.
"""

from collections.abc import Callable

import bpy
from mathutils import Matrix

from ....rig.chain.dependencies import Node
from ....rig.chain.native_state import MARK
from ..drivers import Empties, PostEmpties, drive, drive_step
from ..expressions import num
from .angle import TURN, steps
from .turning import PostTurn

# The mark of the empty that turns as the post.
_TABLE = "table"


def add_post_empties(
    turn: PostTurn,
    controls: bpy.types.Object,
    target_copy: bpy.types.Object,
    target: Node,
    add: Callable[[str], bpy.types.Object],
) -> PostEmpties:
    """Add the empties of a post to a chain's controls. add: makes one, by a word for its name."""
    probe, table, plane = add("post probe"), add(_TABLE), add("plane")
    probe.parent = table.parent = controls
    follow = probe.constraints.new('COPY_LOCATION')
    follow.target, follow.subtarget = target
    plane.parent = table
    plane.matrix_parent_inverse = Matrix(turn.plane.tolist())  # which holds all digits
    return PostEmpties(controls, target_copy, probe, table, plane)


def turns_on_post(controls: bpy.types.Object) -> bool:
    """Return whether a native chain's controls were made for one with a post."""
    return any(child.get(MARK) == _TABLE for child in controls.children)


def build_post(turn: PostTurn, empties: Empties, constraint: bpy.types.Constraint) -> None:
    """Add the steps to a post's angle, and drive its table and the Limit Rotation that turns it."""
    assert isinstance(empties, PostEmpties)
    axis = turn.rule.axis
    for name, expression in steps(turn.rule, turn.normal, turn.distance, turn.reach):
        drive_step(empties, name, expression)
    drive(empties.table, "rotation_euler", TURN, empties, index=axis)
    constraint.euler_order = turn.order
    for i, letter in enumerate("xyz"):
        if i == axis:
            offset = f"+{num(turn.angles[i])}" if turn.angles[i] else ""
            drive(turn.bone.id_data, f"{constraint.path_from_id()}.min_{letter}", f"{TURN}{offset}", empties)
        else:
            setattr(constraint, f"min_{letter}", turn.angles[i])
