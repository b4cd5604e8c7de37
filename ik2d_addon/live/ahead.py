# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses written before Blender evaluates a new frame, so that it evaluates them once.

For chains whose armature and target move by F-Curves alone: these say where both will be. Afterwards
each chain is looked at where Blender shows it; one that is elsewhere is posed again, as all others are.
"""

from collections.abc import Iterable, Iterator
from math import pi
from typing import Any

import bpy

from ..rig.animation.value_keys import existing_drivers
from ..rig.animation.versions import existing_fcurves
from ..rig.chain.dependencies import Node
from ..rig.chain.foot.foot import FOOT_NAMES, FootValues, foot_values
from ..rig.chain.hands import note_posed
from ..rig.scene.at_time import PlacesAtTime
from ..rig.scene.by_curves import hindrance, nodes_on_way
from .chain import LiveChain
from .shown import Foreseen
from .writing import PoseWriter, Written

# A chain that was found elsewhere as often as this is left alone until something is edited.
_MISSES = 3
# The least and the greatest value that Blender gives each of FOOT_NAMES.
_RANGES = ((-pi / 2.0, pi / 2.0), (-pi / 2.0, pi / 2.0), (0.0, pi / 2.0), (0.0, 1.0))


class Ahead:
    """The chains of a scene that are posed before Blender evaluates a frame."""

    def __init__(
        self, chains: Iterable[LiveChain], scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
    ) -> None:
        """Keep those chains that F-Curves alone move. depsgraph: shows those that stand still."""
        self._scene = scene.session_uid
        by_armature: dict[bpy.types.Object, list[LiveChain]] = {}
        for chain in chains:
            if chain.missed_ahead < _MISSES and chain.is_light:
                by_armature.setdefault(chain.armature, []).append(chain)
        ready = {ob: list(_led_by_curves(ob, chains_of_it)) for ob, chains_of_it in by_armature.items()}
        self._rigs = [_Rig(ob, chains_of_it) for ob, chains_of_it in ready.items() if chains_of_it]
        nodes: dict[Node, None] = {}
        for rig in self._rigs:
            nodes |= dict.fromkeys(nodes_on_way(rig.armature, rig.above, rig.targets))
        self._places = PlacesAtTime(list(nodes), depsgraph)
        self._waits = False  # whether chains were posed for a frame that is not evaluated yet

    def pose(self, scene: bpy.types.Scene) -> bool:
        """Pose the chains for the frame that a scene goes to; return False if they must be read again."""
        self._waits = scene.session_uid == self._scene and bool(self._rigs)
        if not self._waits:
            return True
        if not self._places.go_to(scene.frame_current_final) or not all(rig.holds for rig in self._rigs):
            return False
        for rig in self._rigs:
            rig.pose(self._scene, self._places)
        return True

    def shown(self, depsgraph: bpy.types.Depsgraph) -> tuple[set[LiveChain], bool]:
        """Return the chains that a depsgraph shows as they were posed ahead, and whether all are."""
        chains: set[LiveChain] = set()
        whole = True
        for rig in self._rigs if self._waits else ():
            whole &= rig.add_shown(depsgraph, chains)
        self._waits = False
        return chains, whole


class _Rig:
    """An armature with its chains that are posed ahead."""

    def __init__(self, armature: bpy.types.Object, chains: list[LiveChain]) -> None:
        self.armature, self._chains = armature, chains
        self.above = [chain.above for chain in chains if chain.above]
        self.targets = [node for chain in chains for node in chain.rig.followed]
        self._drivers = len(existing_drivers(armature))
        self._writer = PoseWriter(armature, [chain.writers for chain in chains])
        self._with_hands = [chain for chain in chains if chain.rig.hands is not None]
        self._feet: dict[int, _FootValues] = {}
        for number, chain in enumerate(chains):
            if chain.rig.foot is not None:
                self._feet[number] = _FootValues(armature, chain.rig.settings.path)
            if chain.rig.hands is not None:
                note_posed(armature.path_resolve(chain.rig.settings.path), chain.rig.hands.bones)
        self._posed: dict[int, list[Written]] = {}  # the turns of those that were posed, by their numbers

    @property
    def holds(self) -> bool:
        """Whether the chains' hands still have the settings that the writers are for."""
        bones = self.armature.pose.bones
        return all(chain.holds_hands(bones) for chain in self._with_hands)

    def pose(self, scene: int, places: PlacesAtTime) -> None:
        """Pose the chains at the places of a time. scene: its session UID."""
        armature, data = self.armature, self.armature.data
        self._posed.clear()
        if (
            data.is_editmode
            or data.pose_position == 'REST'
            or len(existing_drivers(armature)) != self._drivers
        ):
            return
        world, settings = places.world(armature), armature.ik2d.chains
        for number, chain in enumerate(self._chains):
            rig, its_settings, foot = chain.rig, settings[chain.index], self._feet.get(number)
            to_come = Foreseen(
                world,
                places.pose(armature, chain.above) if chain.above else None,
                [places.place(*node) for node in chain.followed],
                places.axes(rig.target, rig.subtarget) if rig.follows_rotation else None,
                foot.values(places, its_settings) if foot is not None else None,
                foot is not None and foot.is_animated,
            )
            written = chain.foreseen(scene, its_settings, to_come)
            if written is not None:
                self._posed[number] = written
        self._writer.write(self._posed)

    def add_shown(self, depsgraph: bpy.types.Depsgraph, chains: set[LiveChain]) -> bool:
        """Add the chains that a depsgraph shows as they were posed; return whether all are."""
        shown = self.armature.evaluated_get(depsgraph)
        if not shown.is_evaluated:
            return not self._posed
        whole, world, bones = True, shown.matrix_world, shown.pose.bones
        for number in self._posed:
            chain = self._chains[number]
            if chain.is_shown_as_foreseen(world, bones, depsgraph):
                chains.add(chain)
            else:
                chain.missed_ahead += 1
                whole = False
        return whole


class _FootValues:
    """The values of a chain's foot, some of which F-Curves set."""

    def __init__(self, armature: bpy.types.Object, path: str) -> None:
        """Keep the F-Curves. path: of the chain."""
        self._armature = armature
        numbers = {curve.data_path: number for number, curve in enumerate(existing_fcurves(armature))}
        paths = (f"{path}.foot.{name}" for name in FOOT_NAMES)
        self._animated = [
            (i, numbers[path_of_value]) for i, path_of_value in enumerate(paths) if path_of_value in numbers
        ]

    @property
    def is_animated(self) -> bool:
        """Whether F-Curves set any of them."""
        return bool(self._animated)

    def values(self, places: PlacesAtTime, settings: Any) -> FootValues:
        """Return the values at the time of the places: those of `foot_values`."""
        values = [*foot_values(settings.foot)]
        for i, number in self._animated:
            least, most = _RANGES[i]
            values[i] = min(max(places.value(self._armature, number), least), most)
        return FootValues(*values)


def _is_of_foot(path: str) -> bool:
    """Return whether an F-Curve sets a value of a foot, which can be read ahead."""
    group, _, name = path.rpartition(".")
    return group.endswith(".foot") and name in FOOT_NAMES


def _led_by_curves(armature: bpy.types.Object, chains: list[LiveChain]) -> Iterator[LiveChain]:
    """Yield the chains of an armature whose places F-Curves alone decide, and neither pose nor settings."""
    paths = [curve.data_path for curve in existing_fcurves(armature)]
    paths = [path for path in paths if not _is_of_foot(path)]
    paths += [driver.data_path for driver in existing_drivers(armature)]
    if any(path.startswith("ik2d.") for path in paths):
        return
    for chain in chains:
        rig, posed = chain.rig, armature.pose.bones
        hands = [posed[name] for name in rig.hands.bones] if rig.hands is not None else []
        prefixes = tuple(f"{bone.path_from_id()}." for bone in (*rig.pose_bones, *hands))
        if any(path.startswith(prefixes) for path in paths):
            continue
        above = [chain.above] if chain.above else []
        is_flat = rig.foot is None or not rig.foot.has_surface
        if is_flat and not hindrance(armature, above, rig.followed):
            yield chain
