# SPDX-License-Identifier: GPL-3.0-or-later
"""Many short actions of one rig, as games have them: baked in one go, and one by one."""

import bpy

from ik2d_addon.bake import bake
from ik2d_addon.rig.animation.versions import HAS_SLOTS, assign_action

from . import scenes
from .timing import Task

_NAME = "Clip {}"


def clips(count: int, chains: int, frames: int) -> tuple[Task, Task]:
    """Return a bake of all actions of an armature, and the bakes of each, assigned by a script."""
    armature = scenes.chains(chains, 2, frames)
    targets = [chain.target for chain in armature.ik2d.chains]
    plays = []
    for number in range(count):
        own = bpy.data.actions.new(_NAME.format(number))
        own.use_frame_range, own.frame_start, own.frame_end = True, 1, frames
        assigned = [(armature, own)]
        if HAS_SLOTS:
            own.slots.new(id_type='OBJECT', name=armature.name)
        for target in targets:
            action = target.animation_data.action.copy()
            action.name = f"{own.name} {target.name}"
            assigned.append((target, action))
        plays.append(assigned)
    for ob in (armature, *targets):
        ob.animation_data_create().action = None
    names = [assigned[0][1].name for assigned in plays]

    def together() -> None:
        assert len(bake(armature, actions=names).by_action) == count

    def one_by_one() -> None:
        for assigned in plays:
            _assign(assigned)
            bake(armature, frame_start=1, frame_end=frames)
        for ob, _ in plays[0]:
            ob.animation_data.action = None

    return together, one_by_one


def _assign(assigned: list[tuple[bpy.types.Object, bpy.types.Action]]) -> None:
    for ob, action in assigned:
        assign_action(ob.animation_data, action, f"OB{ob.name}")
    bpy.context.view_layer.update()
