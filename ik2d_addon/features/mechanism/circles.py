# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that depend on one another in a circle, as a mechanism of their bones."""

from typing import Any

from bpy.types import Object

from ...core.words import refusal
from ...rig.chain.renames import bones_of
from ..doctor.circles import circle_of
from .editing import add_mechanism, add_pin, with_carriers
from .making import refuse_taken
from .proposals import propose_drivers, propose_joints


def mechanism_of_circle(armature: Object) -> tuple[Any, list[str]]:
    """Make a mechanism of chains that form a circle, and disable these; return it and their names.

    A chain's tip is pinned to the bone of another one that it follows. Raises IK2DError where there is no
    circle, and for bones of another mechanism.
    """
    names = circle_of(armature)
    if not names:
        raise refusal("No chains of '{armature}' depend on one another in a circle", armature=armature.name)
    chains = [armature.ik2d.chains[name] for name in names]
    bones = [bone for chain in chains for bone in bones_of(armature.data, chain.tip, chain.bone_count)]
    refuse_taken(armature, with_carriers(armature, bones))
    mechanism = add_mechanism(armature, bones, chains[0].name)
    propose_joints(mechanism)
    pinned = {frozenset((one.bone, one.other)) for one in mechanism.joints}
    for chain in chains:
        other = armature.data.bones.get(chain.subtarget) if chain.target == armature else None
        while other is not None and other.name not in mechanism.bones:
            other = other.parent
        if other is None or frozenset((chain.tip, other.name)) in pinned:
            continue
        add_pin(mechanism, chain.tip, 'TAIL', other.name)
        pinned.add(frozenset((chain.tip, other.name)))
    for chain in chains:
        chain.live = chain.enabled = False
    propose_drivers(mechanism)
    return mechanism, names
