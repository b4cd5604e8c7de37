# SPDX-License-Identifier: GPL-3.0-or-later
"""The limb whose IK can be adopted by the active bone: for the main button."""

from bpy.types import Context

from ...rig.chain.readable import unreadable
from ...ui.context import active_armature
from ...ui.kept import kept
from .limbs import Limb, limbs_meant, limbs_of


def limb_here(context: Context) -> Limb | None:
    """Return the limb of the active bone that an IK constraint moves now, in Pose Mode; None without one."""
    armature = active_armature(context)
    if context.mode != 'POSE' or armature is None or unreadable(armature):
        return None
    active = armature.data.bones.active
    if active is None:
        return None
    times = [context.scene.frame_current_final]
    limbs: tuple[Limb, ...] = kept(
        armature, "limbs", times[0], lambda: limbs_of(armature, times).limbs, with_targets=False
    )
    return next(iter(limbs_meant(limbs, [active.name])), None) if limbs else None
