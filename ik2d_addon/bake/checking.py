# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a bake before it begins."""

from collections.abc import Callable, Iterator, Sequence

import bpy

from ..core import IK2DError
from ..rig.animation import key_faults
from ..rig.chain.chain import RigChain
from ..rig.chain.order import TurningBones, in_order
from ..rig.chain.renames import needed_mechanism
from ..rig.mechanism.posing import channels_of_rest
from ..rig.mechanism.read import RigMechanism
from ..rig.pose.rotations import channels_at_rest
from .actions.arguments import Pairs, Wanted
from .actions.planning import ActionsAsked, clips_of
from .asked import Names, ReadChains, has_no_chains, refuse_other_modes
from .keys.keying import plan_keys
from .mechanisms.request import read_mechanisms
from .memory import refuse_too_long
from .request import BakeOptions, checked_options, frame_range, read_solvable, scene_of


def check(
    armature: bpy.types.Object,
    names: Sequence[str] | None = None,
    frames: tuple[int | None, int | None, int] = (None, None, 1),
    options: BakeOptions | None = None,
    *,
    actions: Wanted | None = None,
    pairs: Pairs | None = None,
    mechanisms: Sequence[str] | None = None,
) -> list[str]:
    """Return a sentence for each thing that would stop a bake, or have it leave something out; [] if none.

    names: of the chains; mechanisms: of these, as in `bake`. frames: first, last and step; options, actions
    and pairs as in `bake`. Finds only what needs no sampling: not a target without a finite place. Keys and
    poses stay; as on loading, chains follow bones that were renamed, and get unique names.
    """
    try:
        options = checked_options(options)
        scene = scene_of(armature)
        asked = ActionsAsked.of(actions, pairs, frames[:2], frames[2], options.into)
        ends = frames[:2] if asked is None else asked.limits(scene)
        chosen = frame_range(scene, *ends, frames[2])
        wanted, rigs, problems = Names.of(names, mechanisms), list[RigChain](), list[str]()
        for name in wanted.mechanisms or ():
            needed_mechanism(armature, name)
        if not has_no_chains(armature, wanted):
            rigs, problems = read_solvable(armature, wanted.chains, options.force)
        machines, left_out = read_mechanisms(armature, wanted.mechanisms, rigs)
        problems += left_out
        if actions is None:
            refuse_too_long(rigs, chosen, halves=options.reduce > 0.0)
    except IK2DError as error:
        return [str(error)]
    of_actions = [lambda: clips_of(scene, {armature: rigs}, asked)] if asked is not None and rigs else []
    refusals = _refusals(armature, scene, rigs, machines, chosen, options, as_played=actions is None)
    for look in (*of_actions, *refusals):
        try:
            look()
        except IK2DError as error:
            problems.append(str(error))
    return problems


def _refusals(
    armature: bpy.types.Object,
    scene: bpy.types.Scene,
    rigs: Sequence[RigChain],
    machines: Sequence[RigMechanism],
    frames: list[int],
    options: BakeOptions,
    as_played: bool,
) -> Iterator[Callable[[], object]]:
    """Yield checks that raise IK2DError. as_played: whether the armature is baked with what it plays now."""
    yield lambda: _check_order(armature, [*rigs, *machines])
    yield lambda: refuse_other_modes([ReadChains([*rigs], [], [*machines])], options)
    if as_played:
        yield lambda: plan_keys(scene, rigs, frames, options.reduce, options.on_target_keys)
        channels = [channels for rig in rigs for channels in channels_at_rest(rig, options.single_axis)]
        channels += [channels for one in machines for channels in channels_of_rest(one, options.single_axis)]
        yield lambda: key_faults.check_writable(armature, channels, [0.0])


def _check_order(armature: bpy.types.Object, items: Sequence[TurningBones]) -> None:
    """Raise IK2DError for chains that cannot be baked one after the other."""
    if len(in_order(items)) > 1 or any(one.post_above for one in items):
        key_faults.refuse_tweak_mode(armature)
