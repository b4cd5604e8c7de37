# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether anything uses an object that was made for a chain."""

from collections.abc import Iterator

import bpy

from ...animation.value_keys import existing_drivers
from ..dependencies import influences

# Data that shows or holds every object, and needs none.
_HOLDERS = (
    bpy.types.Collection,
    bpy.types.Scene,
    bpy.types.Screen,
    bpy.types.WindowManager,
    bpy.types.WorkSpace,
)
_SETTINGS = "ik2d"


def is_used(ob: bpy.types.Object) -> bool:
    """Return whether a data block needs an object, rather than holding it or naming it in old settings.

    A file of 4.2 that is opened in 5.x has all settings a second time, where they name objects for ever: so
    Blender's own number of users does not tell.
    """
    if any(scene.camera == ob for scene in bpy.data.scenes):
        return True
    return any(_uses(user, ob) for user in bpy.data.user_map(subset={ob})[ob])


def _uses(user: bpy.types.ID, ob: bpy.types.Object) -> bool:
    if isinstance(user, _HOLDERS):
        sets = [path.id for keys in getattr(user, "keying_sets", ()) for path in keys.paths]
        return ob in sets or any(_names(curve, ob) for curve in existing_drivers(user))
    if not isinstance(user, bpy.types.Object) or _SETTINGS not in user.keys() and not len(user.ik2d.chains):
        return True
    return ob in _used_by(user)


def _names(curve: bpy.types.FCurve, ob: bpy.types.Object) -> bool:
    return any(target.id == ob for variable in curve.driver.variables for target in variable.targets)


def _used_by(user: bpy.types.Object) -> Iterator[bpy.types.ID | None]:
    """Yield what an object with chains uses, each part of it once or more."""
    for source, _ in influences((user, "")):
        yield source
    for chain in user.ik2d.chains:
        yield from (chain.target, chain.pole, chain.foot.ground, chain.native_stand, chain.native_probe)
    holders = [user, *(user.pose.bones if user.pose is not None else ())]
    for holder in holders:
        yield from (holder[name] for name in holder.keys() if name != _SETTINGS)
        yield from (getattr(constraint, "space_object", None) for constraint in holder.constraints)
    for bone in holders[1:]:
        yield bone.custom_shape
