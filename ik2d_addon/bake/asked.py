# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and mechanisms that a bake takes of each armature, and the order of the armatures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import bpy

from ..core import IK2DError
from ..core.words import quoted, refusal, say
from ..rig.animation.bone_channels import rotation_property
from ..rig.chain.chain import RigChain
from ..rig.chain.order import TurningBones, armatures_in_rounds
from ..rig.chain.renames import needed_mechanism
from ..rig.mechanism.posing import channels_of_rest
from ..rig.mechanism.read import RigMechanism
from ..rig.pose.rotations import channels_at_rest
from ..rig.scene.sampler import is_by_curves
from .actions.arguments import INTO_NEW
from .arithmetic import turned_by_keys
from .mechanisms.request import checked_mechanisms, read_mechanisms, takes_mechanisms
from .memory import refuse_too_long
from .request import BakeOptions, read_rigs

# So many frames of chains, of several armatures, are baked at once.
_TOGETHER = 1 << 15


class Names(NamedTuple):
    """The chains and the mechanisms that are asked for by name; None for all that are enabled."""

    chains: Sequence[str] | None
    mechanisms: Sequence[str] | None

    @classmethod
    def of(cls, chains: Sequence[str] | None, mechanisms: Sequence[str] | None) -> "Names":
        """Return the names that a caller gives: with names of one kind, none of the other are taken."""
        checked = checked_mechanisms(mechanisms, chains)
        return cls([] if chains is None and mechanisms is not None else chains, checked)

    @property
    def no_chains(self) -> bool:
        """Whether mechanisms alone are asked for."""
        return bool(self.mechanisms) and self.chains is not None and not len(self.chains)


class ReadChains(NamedTuple):
    """The chains and mechanisms of an armature that can be baked, and the faults of those left out."""

    rigs: list[RigChain]
    faults: list[str]
    machines: list[RigMechanism]

    @property
    def all(self) -> list[TurningBones]:
        """The chains, and the mechanisms."""
        return [*self.rigs, *self.machines]


def read_all(
    armatures: Sequence[bpy.types.Object], names: Names, frames: Sequence[int], options: BakeOptions
) -> dict[bpy.types.Object, ReadChains]:
    """Read the chains and mechanisms of all armatures, each those of the names that it has.

    Raises IK2DError for a name that none has, and where the machine has too little memory, too.
    """
    wanted = [names.chains] * len(armatures)
    if len(armatures) > 1 and names.chains:
        wanted = list(_shared_out(armatures, names.chains))
    for name in names.mechanisms or ():
        if not any(takes_mechanisms(armature, [name]) for armature in armatures):
            needed_mechanism(armatures[0], name)
    return {
        armature: read_of(armature, Names(its, names.mechanisms), frames, options)
        for armature, its in zip(armatures, wanted, strict=True)
    }


def read_of(
    armature: bpy.types.Object, names: Names, frames: Sequence[int], options: BakeOptions
) -> ReadChains:
    """Read the chains and mechanisms of an armature, as `read_rigs` does."""
    rigs: list[RigChain] = []
    faults: list[str] = []
    if not has_no_chains(armature, names):
        rigs, faults = read_rigs(armature, names.chains, frames, options.force)
    machines, left_out = read_mechanisms(armature, names.mechanisms, rigs)
    if left_out and not rigs and not machines:
        raise IK2DError(left_out[0])
    refuse_too_long(rigs, frames, halves=options.reduce > 0.0)
    return ReadChains(
        rigs, [*faults, *(say("Left out: {fault}", fault=fault) for fault in left_out)], machines
    )


def has_no_chains(armature: bpy.types.Object, names: Names) -> bool:
    """Return whether a bake takes mechanisms alone of an armature."""
    if not takes_mechanisms(armature, names.mechanisms):
        return False
    return names.no_chains or names.chains is None and not any(one.enabled for one in armature.ik2d.chains)


def _shared_out(armatures: Sequence[bpy.types.Object], names: Sequence[str]) -> list[Sequence[str]]:
    """Return for each armature those of the names that it has, or all of them where it has none."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        return [names] * len(armatures)
    names, known = list(names), [armature.ik2d.chains.keys() for armature in armatures]
    for name in names:
        if not any(name in chains for chains in known):
            raise IK2DError(
                f"None of the armatures {quoted(ob.name for ob in armatures)} has a chain {name!r}"
            )
    return [[name for name in names if name in chains] or names for chains in known]


def baking_order(
    asked: Mapping[bpy.types.Object, ReadChains], frames: Sequence[int], options: BakeOptions
) -> list[list[bpy.types.Object]]:
    """Return the armatures in the order in which to bake them, those in one list together.

    Each comes after those that move what its chains need. Together are those alone that F-Curves place and
    turn, up to a bound for the memory. Raises IK2DError where they need one another in a circle.
    """
    if len(asked) == 1:  # its chains may form a circle without it
        return [list(asked)]
    batches: list[list[bpy.types.Object]] = []
    solved = frames[-1] - frames[0] + 1
    for ready in armatures_in_rounds([item for its in asked.values() for item in its.all]):
        joined: list[bpy.types.Object] = []
        rows = 0
        for armature in ready:
            rigs, _, machines = asked[armature]
            if options.on_target_keys or machines or not (is_by_curves(rigs) and turned_by_keys(rigs)):
                batches.append([armature])
                continue
            rows += solved * len(rigs)
            if not joined or rows > _TOGETHER:
                joined, rows = [], solved * len(rigs)
                batches.append(joined)
            joined.append(armature)
    return batches


def refuse_other_modes(asked: Iterable[ReadChains], options: BakeOptions) -> None:
    """Raise IK2DError where Single Axis would change the rotation mode that originals of copies play in."""
    if not options.single_axis or options.into != INTO_NEW:
        return
    for rigs, _, machines in asked:
        channels = [channels for rig in rigs for channels in channels_at_rest(rig, True)]
        channels += [channels for machine in machines for channels in channels_of_rest(machine, True)]
        posts = [rig.armature.pose.bones[rig.post_above.bone] for rig in rigs if rig.post_above is not None]
        bones = [post.name for post in posts if rotation_property(post.rotation_mode) != "rotation_euler"]
        if bones := [*bones, *(one.bone for one in channels if one.mode)]:
            raise refusal(
                "Single Axis sets the rotation mode of '{bone}', in which the original action would play "
                "otherwise: turn off Single Axis, or bake into this action",
                bone=bones[0],
            )
