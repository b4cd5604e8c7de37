# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that several enabled chains have: one of these cannot be solved."""

from collections.abc import Collection

import bpy

from ...rig.chain.checks.found_post import bones_turned_now
from ...rig.chain.renames import bones_of
from ...ui.kept import kept


def shared_bones(chain: bpy.types.PropertyGroup) -> dict[str, str]:
    """Return the bones that a chain shares with other enabled chains: {bone: name of that chain}."""
    armature = chain.id_data
    count = len(armature.ik2d.chains)
    return shared_with(chain, kept(armature, "users", count, lambda: users_of(armature), with_targets=False))


def shared_with(chain: bpy.types.PropertyGroup, users: dict[str, list[str]]) -> dict[str, str]:
    """Return the bones that a chain shares, by the `users_of` its armature; {} for one that is disabled."""
    if not chain.enabled:
        return {}
    bones = bones_turned_now(chain)
    shared = {bone: [name for name in users.get(bone, ()) if name != chain.name] for bone in bones}
    return {bone: names[-1] for bone, names in shared.items() if names}


def users_of(armature: bpy.types.Object) -> dict[str, list[str]]:
    """Return the names of the enabled chains of each bone."""
    users: dict[str, list[str]] = {}
    for chain in armature.ik2d.chains:
        if chain.enabled:
            for bone in bones_turned_now(chain):
                users.setdefault(bone, []).append(chain.name)
    return users


def bones_below(chain: bpy.types.PropertyGroup, shared: Collection[str]) -> list[str]:
    """Return the bones of a chain below the lowest that it shares; [] where its last bone is shared."""
    names = bones_of(chain.id_data.data, chain.tip, chain.bone_count)
    last = max((i for i, bone in enumerate(names) if bone in shared), default=-1)
    return names[last + 1 :]
