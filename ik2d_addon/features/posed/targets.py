# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that were made for a chain: they go with it, unless something uses them."""

import bpy

from ...rig.chain.paths.uses import is_used


def remove_target(target: bpy.types.Object) -> bool:
    """Remove a target that nothing uses and that was given nothing; return whether it went.

    It stays if it has animation, constraints, a parent or data of its own: somebody worked on it.
    """
    if target.library is not None or target.override_library is not None:
        return False
    if _is_worked_on(target) or is_used(target):
        return False
    bpy.data.objects.remove(target)
    return True


# Custom properties that say nothing of a person's work.
_OURS = {"ik2d", "cycles"}


def _is_worked_on(target: bpy.types.Object) -> bool:
    parts = (target.parent, target.data, target.instance_collection)
    has_field = target.field is not None and target.field.type != 'NONE'
    keys_of_others = set(target.keys()) - _OURS
    return bool(target.animation_data or len(target.constraints) or any(parts) or has_field or keys_of_others)
