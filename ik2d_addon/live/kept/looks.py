# SPDX-License-Identifier: GPL-3.0-or-later
"""What is looked at where a kept frame is shown: targets, joints and settings, as numbers of one row."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import Node
from ...rig.chain.foot.foot import foot_values
from ...rig.chain.planes import bend_of
from ...rig.mechanism.read import RAM
from ..chain import LiveChain
from ..mechanism import Live, LiveMechanism
from ..shown import SAME, largest_scale, shown_axes, shown_place
from .rows import Row

# Where a joint or a target is further than this from where it was kept, as a part of the reach, the pose is
# another.
NEAR = 2e-6
# From so many bones on, up to so many times as many, all of an armature's are read; up to so many numbers
# are compared one by one.
_MANY, _FEW = 8, 40


class Looks:
    """The numbers that are looked at of the live chains of one armature, and how near they have to be.

    They are the places in the world of all that the chains follow, (3,) each, two axes of the targets whose
    rotation counts, (6,) each, all of grounds whose surface does, (9,) each, the tails in the world of the
    chains' bones, (3,) each, of their hands the tails and, in the armature's space, the x axes, (6,) each,
    and of each chain the settings that are read on each frame. Then of each mechanism the places of what it
    follows and of its bones, and the lengths of the rams that drive.
    """

    def __init__(self, armature: bpy.types.Object, chains: Sequence[Live]) -> None:
        self._armature = armature
        rigs, machines = chain_rigs(chains), [one.rig for one in chains if isinstance(one, LiveMechanism)]
        size = largest_scale(armature.matrix_world)
        reaches = [size * sum(bone.length for bone in rig.pose_bones) for rig in rigs]
        places: dict[Node, float] = {}
        for rig, reach in zip(rigs, reaches, strict=True):
            for node in rig.followed:
                places[node] = min(reach, places.get(node, reach))
        for machine in machines:
            for node in [one.target for one in machine.drivers if one.target is not None]:
                places[node] = min(size * machine.size, places.get(node, size * machine.size))
        self.nodes = list(places)
        self.turning = list(
            dict.fromkeys((rig.target, rig.subtarget) for rig in rigs if rig.follows_rotation)
        )
        surfaces = [rig.foot.ground for rig in rigs if rig.foot is not None and rig.foot.has_surface]
        self.surfaces = list(dict.fromkeys(surfaces))
        self._bones = [name for rig in rigs for name in rig.bones]
        self.hands = [name for rig in rigs if rig.hands is not None for name in rig.hands.bones]
        near = [NEAR * reach for reach in places.values() for _ in range(3)]
        near += [SAME] * (6 * len(self.turning))
        for ground in self.surfaces:
            near += [SAME * max(1.0, largest_scale(ground.matrix_world))] * 9
        for rig, reach in zip(rigs, reaches, strict=True):
            near += [NEAR * reach] * (3 * len(rig.bones))
        for rig, reach in zip(rigs, reaches, strict=True):
            hands = len(rig.hands.bones) if rig.hands is not None else 0
            near += [NEAR * reach, NEAR * reach, NEAR * reach, SAME, SAME, SAME] * hands
        self._joints = [name for machine in machines for name in machine.bones]
        for machine in machines:
            near += [NEAR * size * machine.size] * (3 * len(machine.bones))
        self._placed = len(near)  # the numbers before the settings
        near += [SAME for rig in rigs for _ in rig.values]
        self._lengths = [one.path for machine in machines for one in machine.drivers if one.kind == RAM]
        near += [SAME] * len(self._lengths)
        self._near, self._nears = np.array(near), near
        names = armature.pose.bones.keys()
        self._size = len(names)
        # Where most of an armature's bones are looked at, all of them are read in one call.
        rows = {name: row for row, name in enumerate(names)}
        self._rows = np.array([rows[name] for name in self._bones])
        self._reads_all = len(self._bones) >= _MANY and len(names) <= _MANY * len(self._bones)
        self._tails = np.empty((len(names), 3), np.float32) if self._reads_all else None
        self._settings = [
            (chain.index, chain.rig.settings.side, chain.rig.swing is not None, chain.rig.foot)
            for chain in chains
            if isinstance(chain, LiveChain)
        ]

    @property
    def width(self) -> int:
        """How many numbers there are."""
        return len(self._near)

    def read(self, depsgraph: bpy.types.Depsgraph) -> list[float] | None:
        """Return the numbers (width,) as a depsgraph shows them; None where it does not show the armature."""
        shown = self._armature.evaluated_get(depsgraph)
        if not shown.is_evaluated:
            return None
        found: list[float] = []
        for node in self.nodes:
            found.extend(shown_place(*node, depsgraph))
        for node in self.turning:
            axes = shown_axes(*node, depsgraph)
            found.extend((*axes.col[0], *axes.col[1]))
        for ground in self.surfaces:
            axes = shown_axes(ground, "", depsgraph)
            found.extend((*axes.col[0], *axes.col[1], *axes.col[2]))
        world, bones = shown.matrix_world, shown.pose.bones
        if self._tails is None or len(bones) != self._size:
            for name in self._bones:
                found.extend(world @ bones[name].tail)
        else:
            bones.foreach_get("tail", self._tails.ravel())
            matrix = np.array(world, np.float32)
            found.extend((self._tails[self._rows] @ matrix[:3, :3].T + matrix[:3, 3]).ravel().tolist())
        for name in self.hands:
            found.extend((*(world @ bones[name].tail), *bones[name].x_axis))
        for name in self._joints:
            found.extend(world @ bones[name].tail)
        settings = shown.ik2d.chains
        for index, side, swings, foot in self._settings:
            its = settings[index]
            turn = its.plane_turn if swings else 0.0
            found.extend((its.softness, side * bend_of(its), its.influence, turn))
            if foot is not None:
                found.extend(foot_values(its.foot))
        found.extend(shown.path_resolve(path) for path in self._lengths)
        return found

    def are_same(self, shown: Sequence[float], kept: Row) -> bool:
        """Return whether numbers (width,) are as they were kept, of which NaN are not known."""
        if len(shown) <= _FEW:
            for value, expected, near in zip(shown, kept.tolist(), self._nears, strict=True):
                if not abs(value - expected) <= near:
                    break
            else:
                return True
        seen, nears = np.array(shown), self._near
        off = np.abs(seen - kept)
        if (off <= nears).all():
            return True
        # Far from the origin 32 bits hold no more.
        far = SAME * float(np.nanmax(np.abs(kept[: self._placed]), initial=0.0))
        return bool(((off <= nears + far) | np.isnan(kept)).all() and np.isfinite(seen).all())


def chain_rigs(chains: Sequence[Live]) -> list[RigChain]:
    """Return the chains as they were read, without mechanisms."""
    return [chain.rig for chain in chains if isinstance(chain, LiveChain)]
