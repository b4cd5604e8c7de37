# SPDX-License-Identifier: GPL-3.0-or-later
"""Which live chains an update of the depsgraph concerns: those that follow what moved, and no others."""

from collections.abc import Collection, Iterable
from typing import Any

import bpy

from ..rig.animation.bone_channels import ROTATIONS, channel_values
from ..rig.animation.value_keys import existing_drivers
from .chain import LiveChain

# What an armature's chains hang on, and their own pose, as one update of ours leaves it.
State = tuple[Any, ...]
_CHANNELS = (*ROTATIONS, "location", "scale")


class Updates:
    """The live chains by what moves them, and the armatures as our own writing left them."""

    def __init__(self, chains: Iterable[LiveChain] = (), waiting: Collection[bpy.types.ID] = ()) -> None:
        """Take all chains that are solved. waiting: what chains depend on that cannot be solved."""
        self._by_armature: dict[bpy.types.ID, list[LiveChain]] = {}
        self._by_node: dict[bpy.types.ID, list[LiveChain]] = {}
        self._waiting = set(waiting)
        self._left: dict[bpy.types.ID, State] = {}
        for chain in chains:
            self._by_armature.setdefault(chain.armature, []).append(chain)
            for node, _ in chain.followed:
                self._by_node.setdefault(node, []).append(chain)
        self._data = {armature.data for armature in self._by_armature}
        # All that an update may name which concerns a chain.
        self.known = self._waiting | self._data | self._by_armature.keys() | self._by_node.keys()
        self.known.update(node.data for node in self._by_node if node.type == 'ARMATURE')

    def concerned(self, depsgraph: bpy.types.Depsgraph) -> tuple[set[LiveChain], set[LiveChain]] | None:
        """Return the chains that an update moves, and those of them whose targets it may have changed.

        None where any chain may be another one: bones, constraints or a chain that waits were edited.
        """
        updates = ((update.id.original, update) for update in depsgraph.updates)
        updated = {block: update for block, update in updates if block in self.known}
        if not updated.keys().isdisjoint(self._waiting):
            return None
        moved: set[LiveChain] = set()
        changed: set[LiveChain] = set()
        for block, update in updated.items():
            if block in self._data and update.is_updated_geometry:
                return None
            if _is_selected_alone(block, update, updated):
                continue
            if block in self._by_armature and not (
                update.is_updated_transform and self._is_as_left(block, depsgraph)
            ):
                moved.update(self._by_armature[block])
            if block in self._by_node:
                moved.update(self._by_node[block])
                changed.update(self._by_node[block])
        return moved, changed

    def note(self, chains: Iterable[LiveChain], depsgraph: bpy.types.Depsgraph) -> None:
        """Note armatures as chains of theirs were posed and written."""
        for armature in {chain.armature for chain in chains}:
            self._left[armature] = self._state(armature, depsgraph)

    def _is_as_left(self, armature: bpy.types.ID, depsgraph: bpy.types.Depsgraph) -> bool:
        """Return whether an armature was updated by our own writing alone."""
        its = self._by_armature[armature]
        if armature not in self._left or existing_drivers(armature):
            return False
        if any(chain.has_controls for chain in its):
            return False
        return self._state(armature, depsgraph) == self._left[armature]

    def _state(self, armature: bpy.types.ID, depsgraph: bpy.types.Depsgraph) -> State:
        shown = armature.evaluated_get(depsgraph)
        above = {chain.above for chain in self._by_armature[armature] if chain.above}
        bones = shown.pose.bones
        held = [tuple(map(tuple, bones[name].matrix)) for name in sorted(above)]
        own = [channel_values(armature.pose.bones, name).tobytes() for name in _CHANNELS]
        return tuple(map(tuple, shown.matrix_world)), held, own


def _is_selected_alone(block: bpy.types.ID, update: Any, updated: dict[bpy.types.ID, Any]) -> bool:
    """Return whether nothing but the selection of an armature's bones has changed."""
    data = getattr(block, "data", None)
    if update.is_updated_transform or not isinstance(data, bpy.types.Armature) or data not in updated:
        return False
    return not updated[data].is_updated_geometry
