# SPDX-License-Identifier: GPL-3.0-or-later
"""The angle of a last bone that follows its target's rotation in a plane that follows the target."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
from bpy.types import Object

from ....core import IK2DError
from ....rig.chain.joints import normal_in_bone
from ..compare import last_bones_turn, posed_by
from ..plan import AdoptPlan
from ..poses import FEW_FRAMES, Watched

# The angle of a last bone that cannot have it on all frames is fitted in so many rounds, or until it changes
# by less than this (radians).
_ROUNDS, _SAME_ANGLE = 6, 1e-4


def fit_last_bones(armature: Object, plans: Mapping[str, AdoptPlan], seen: Watched) -> None:
    """Fit the angle of last bones to the IK's pose, where they follow the target in a plane that follows it.

    plans: by the names of the chains that were made. How the target is turned to the plane at rest says
    nothing then.
    """
    left = {name: plan for name, plan in plans.items() if plan.tip_offset is not None and plan.plane.moves}
    if not left:
        return
    few = seen.thinned(FEW_FRAMES)
    with suppress(IK2DError):  # the comparison will say why
        for _ in range(_ROUNDS):
            after = posed_by(armature, {name: plan.limb.bones for name, plan in left.items()}, few)
            for name, plan in [*left.items()]:
                axis = normal_in_bone(plan.plane.plane, armature.pose.bones[plan.name])
                turn = last_bones_turn(plan.name, axis, few, after)
                if np.isfinite(turn):
                    armature.ik2d.chains[name].tip_angle_offset += turn
                if not abs(turn) > _SAME_ANGLE:
                    del left[name]
            if not left:
                return
