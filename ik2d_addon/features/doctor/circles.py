# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that depend on one another in a circle: none of them can be solved."""

from bpy.types import Object

from ...rig.chain.chain import RigChain, reading
from ...rig.chain.order import circle_among
from ...ui.kept import kept


def circle_of(armature: Object) -> list[str]:
    """Return the names of the enabled chains of an armature that form a circle."""
    version = [(chain.name, chain.enabled, chain.tip, chain.bone_count) for chain in armature.ik2d.chains]
    return list(kept(armature, "circle", version, lambda: _circle(armature), with_targets=True))


def _circle(armature: Object) -> list[str]:
    enabled = [chain for chain in armature.ik2d.chains if chain.enabled]
    read = [reading(armature, chain) for chain in enabled] if len(enabled) > 1 else []
    return [rig.name for rig in circle_among([rig for rig in read if isinstance(rig, RigChain)])]
