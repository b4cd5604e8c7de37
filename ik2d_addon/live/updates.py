# SPDX-License-Identifier: GPL-3.0-or-later
"""Which live chains an update of the depsgraph concerns: those that follow what moved, and no others."""

from collections.abc import Callable, Collection, Iterable
from itertools import zip_longest
from operator import attrgetter
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..rig.animation.bone_channels import ROTATIONS, channel_values
from ..rig.animation.value_keys import existing_drivers
from ..rig.chain.fingerprint import settings_of
from .mechanism import Live
from .refusals import states

# What an armature's chains hang on, and their own pose, as one update of ours leaves it.
State = tuple[Any, ...]
_CHANNELS = (*ROTATIONS, "location", "scale")
# Properties of bones, each with how many numbers it has.
_OF_BONES = (
    ("matrix_local", 16),
    ("length", 1),
    ("use_connect", 1),
    ("use_inherit_rotation", 1),
    ("use_local_location", 1),
    ("inherit_scale", 1),
)
_OF_POSED = (
    ("lock_rotation_w", 1),
    ("lock_rotation", 3),
    ("lock_rotations_4d", 1),
    ("lock_location", 3),
    ("lock_scale", 3),
)
_of_joint = attrgetter("use_limit", "limit_min", "limit_max", "weight", "use_slide", "slide_min", "slide_max")


_of_chain = attrgetter("enabled", "live", "tip", "post", "target", "subtarget", "pole", "pole_subtarget")


class Updates:
    """The live chains by what moves them, and the armatures as our own writing left them."""

    def __init__(self, chains: Iterable[Live] = (), waiting: Collection[bpy.types.ID] = ()) -> None:
        """Take all chains that are solved. waiting: what chains depend on that cannot be solved."""
        self._by_armature: dict[bpy.types.ID, list[Live]] = {}
        self._by_node: dict[bpy.types.ID, list[Live]] = {}
        self._data: set[bpy.types.ID] = set()
        self._waiting = set(waiting)
        self._left: dict[bpy.types.ID, State] = {}
        self.known = set(waiting)  # all that an update may name which concerns a chain
        for chain in chains:
            self.take(chain)

    @property
    def in_scenes(self) -> set[bpy.types.ID]:
        """Those of the known data blocks that are objects of a scene."""
        return {ob for scene in bpy.data.scenes for ob in scene.objects if ob in self.known}

    def take(self, chain: Live, before: Live | None = None) -> None:
        """Take a chain that is solved; before: the one that it replaces, which depends on the same."""
        nodes = [node for node, _ in chain.followed]
        its = [self._by_armature.setdefault(chain.armature, [])]
        its += [self._by_node.setdefault(node, []) for node in nodes]
        for chains in its:
            if before is not None:
                chains.remove(before)
            chains.append(chain)
        self._data.add(chain.armature.data)
        self.known.update((chain.armature, chain.armature.data, *nodes))
        self.known.update(node.data for node in nodes if node.type == 'ARMATURE')

    def concerned(
        self, depsgraph: bpy.types.Depsgraph, is_explained: Callable[[bpy.types.ID], bool]
    ) -> tuple[set[Live], set[Live]] | None:
        """Return the chains that an update moves, and those of them whose targets it may have changed.

        None where any chain may be another one: bones, constraints or a chain that waits were edited.
        is_explained: whether armature data counts as updated for another reason.
        """
        updates = ((update.id.original, update) for update in depsgraph.updates)
        updated = {block: update for block, update in updates if block in self.known}
        if not updated.keys().isdisjoint(self._waiting):
            return None
        moved: set[Live] = set()
        changed: set[Live] = set()
        for block, update in updated.items():
            if block in self._data and update.is_updated_geometry and not is_explained(block):
                return None
            if _is_selected_alone(block, update, updated):
                continue
            moves = update.is_updated_transform or update.is_updated_geometry
            may_be_ours = update.is_updated_transform or not moves
            if block in self._by_armature and not (may_be_ours and self._is_as_left(block, depsgraph)):
                moved.update(self._by_armature[block])
            if block in self._by_node:
                if moves:
                    moved.update(self._by_node[block])
                changed.update(self._by_node[block])  # something else may move it from now on
        return moved, changed

    def note(self, chains: Iterable[Live], depsgraph: bpy.types.Depsgraph) -> None:
        """Note armatures as chains of theirs were posed and written."""
        for armature in {chain.armature for chain in chains}:
            self._left[armature] = self._state(armature, depsgraph)

    def _is_as_left(self, armature: bpy.types.ID, depsgraph: bpy.types.Depsgraph) -> bool:
        """Return whether an armature was updated by our own writing alone."""
        its = self._by_armature[armature]
        if armature not in self._left or existing_drivers(armature):
            return False
        try:
            has_controls = any(chain.has_controls for chain in its)
            return not has_controls and self._state(armature, depsgraph) == self._left[armature]
        except KeyError:  # a bone has another name, or is gone
            return False

    def _state(self, armature: bpy.types.ID, depsgraph: bpy.types.Depsgraph) -> State:
        shown = armature.evaluated_get(depsgraph)
        above = {chain.held_by for chain in self._by_armature[armature] if chain.held_by}
        bones = shown.pose.bones
        held = [tuple(map(tuple, bones[name].matrix)) for name in sorted(above)]
        own = [channel_values(armature.pose.bones, name).tobytes() for name in _CHANNELS]
        return tuple(map(tuple, shown.matrix_world)), held, own


class AsRead(NamedTuple):
    """An armature's bones and the settings of its chains as they were read: all at once, as arrays."""

    bones: State  # rest poses, locks and what these hold, constraints and drivers
    chains: list[State]  # the settings of each, what it names, its joints and its foot

    @classmethod
    def of(cls, armature: bpy.types.Object) -> "AsRead":
        """Read an armature."""
        data, posed = armature.data.bones, armature.pose.bones
        rests = [_column(data, *named).tobytes() for named in _OF_BONES]
        locks = [_column(posed, *named) for named in _OF_POSED]
        locked = np.column_stack(locks[:2]) != 0.0
        held = [channel_values(posed, name).reshape(len(posed), -1) for name in ROTATIONS if locked.any()]
        held_at = [values[locked[:, -values.shape[1] :]].tobytes() for values in held]
        names = [(bone.name, above.name if (above := bone.parent) is not None else "") for bone in data]
        modes = [bone.rotation_mode for bone in posed]
        held_by = [(bone, constraint) for bone in posed for constraint in bone.constraints]
        acting = [constraint.influence > 0.0 for _, constraint in held_by]
        drivers = [(driver.data_path, driver.mute) for driver in existing_drivers(armature)]
        others = states(held_by), acting, drivers
        bones = rests, [lock.tobytes() for lock in locks], held_at, names, modes, others
        return cls(bones, _settings(armature.ik2d.chains))

    def agrees(self, other: "AsRead", but: Collection[int]) -> bool:
        """Return whether another reading has the same, but for the settings of chains at some indices."""
        if self.bones != other.bones or len(self.chains) < len(other.chains):
            return False
        pairs = zip_longest(self.chains, other.chains)  # new ones come last
        return all(one == another or index in but for index, (one, another) in enumerate(pairs))


def _settings(chains: bpy.types.bpy_prop_collection) -> list[State]:
    """Return the name and the settings of each chain, what it names, its joints and its foot."""
    if not len(chains):
        return []
    columns = [
        _column(chains, name, len(value) if isinstance(value, tuple) else 1)
        for name, value in settings_of(chains[0])
    ]
    rows = np.concatenate(columns, axis=1)
    return [
        (
            chain.name,
            _of_chain(chain),
            chain.foot.ground,
            row.tobytes(),
            [(joint.name, *_of_joint(joint)) for joint in chain.joints],
            settings_of(chain.foot) if chain.foot.is_added else None,
        )
        for row, chain in zip(rows, chains, strict=True)
    ]


def _column(owners: bpy.types.bpy_prop_collection, name: str, width: int) -> NDArray[np.float32]:
    """Return the numbers (k, width) of a property of all bones or chains."""
    values = np.empty((len(owners), width), np.float32)
    owners.foreach_get(name, values.ravel())
    return values


def _is_selected_alone(block: bpy.types.ID, update: Any, updated: dict[bpy.types.ID, Any]) -> bool:
    """Return whether nothing but the selection of an armature's bones has changed."""
    data = getattr(block, "data", None)
    if update.is_updated_transform or not isinstance(data, bpy.types.Armature) or data not in updated:
        return False
    return not updated[data].is_updated_geometry
