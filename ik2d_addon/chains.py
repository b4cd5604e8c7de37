# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions for scripts on the chains and mechanisms of an armature, as the sidebar's buttons do it.

    from ik2d_addon.chains import add_chain, make_native

`armature` is an armature object, `chain` one of `armature.ik2d.chains`, `mechanism` one of
`armature.ik2d.mechanisms`. What cannot be done raises IK2DError, whose sentence says why; nothing is changed
then.
"""

from .features.adopt.adopt import adopt, release
from .features.baking.before import show_before
from .features.foot.add import add_foot, remove_foot
from .features.match.clearing import clear_snaps
from .features.match.match import snap_fk, target_to_tip
from .features.mechanism.editing import (
    add_gear,
    add_mechanism,
    add_pin,
    add_ram,
    add_slide,
    drive,
    remove_mechanism,
)
from .features.mechanism.mirroring import mirror_mechanism
from .features.mechanism.proposals import propose_joints
from .features.mechanism.rest_pose import close_rest_pose
from .features.native import make_native, remove_native
from .features.plant.plant import find_contacts, plant_feet, unplant_feet
from .features.pole.pole import add_pole, fit_pole_angle
from .features.posed.plane import Hold, hold_pose
from .features.setup.copying import mirror_chain
from .features.setup.operators import remove_chain
from .features.two_targets.second import add_second_target, remove_second_target
from .features.two_targets.switch import switch_parent
from .ui.settings.chain_list import add_chain, flip

__all__ = [
    "Hold",
    "add_chain",
    "add_foot",
    "add_gear",
    "add_mechanism",
    "add_pin",
    "add_pole",
    "add_ram",
    "add_second_target",
    "add_slide",
    "adopt",
    "clear_snaps",
    "close_rest_pose",
    "drive",
    "find_contacts",
    "fit_pole_angle",
    "flip",
    "hold_pose",
    "make_native",
    "mirror_chain",
    "mirror_mechanism",
    "plant_feet",
    "propose_joints",
    "release",
    "remove_chain",
    "remove_foot",
    "remove_mechanism",
    "remove_native",
    "remove_second_target",
    "show_before",
    "snap_fk",
    "switch_parent",
    "target_to_tip",
    "unplant_feet",
]
