# SPDX-License-Identifier: GPL-3.0-or-later
"""The mechanisms that a bake takes, and why some are left out."""

from collections.abc import Sequence

import bpy

from ...core import IK2DError
from ...rig.chain.chain import RigChain
from ...rig.chain.order import refuse_shared
from ...rig.chain.renames import straighten
from ...rig.mechanism.read import RigMechanism, read_mechanism


def checked_mechanisms(mechanisms: Sequence[str] | None, chains: Sequence[str] | None) -> list[str] | None:
    """Return the names of mechanisms asked for; None for all, [] where chains alone are named."""
    if mechanisms is None:
        return None if chains is None else []
    if isinstance(mechanisms, str):
        raise IK2DError(f"mechanisms takes a list of names; write ['{mechanisms}']")
    return list(mechanisms)


def takes_mechanisms(armature: object, names: Sequence[str] | None) -> bool:
    """Return whether a bake takes mechanisms of an armature. names: as `read_mechanisms` has them."""
    stored = armature.ik2d.mechanisms if isinstance(armature, bpy.types.Object) else ()
    return any(one.enabled if names is None else one.name in names for one in stored)


def read_mechanisms(
    armature: bpy.types.Object, names: Sequence[str] | None, rigs: Sequence[RigChain]
) -> tuple[list[RigMechanism], list[str]]:
    """Read the mechanisms of an armature, and the faults of those left out.

    names: None for all that are enabled; else those of them that it has, of which a faulty one is refused.
    rigs: the chains that are baked with them.
    """
    straighten(armature)
    turned = {bone for rig in rigs for bone in rig.turned_bones}
    found: list[RigMechanism] = []
    faults: list[str] = []
    owners: dict[str, str] = {}
    for one in armature.ik2d.mechanisms:
        if not (one.enabled if names is None else one.name in names):
            continue
        try:
            rig = read_mechanism(armature, one).with_chains(turned)
            refuse_shared([rig], owners)
        except IK2DError as error:
            if names is not None:
                raise
            faults.append(str(error))
        else:
            found.append(rig)
            owners |= dict.fromkeys(rig.turned_bones, rig.name)
    return found, faults
