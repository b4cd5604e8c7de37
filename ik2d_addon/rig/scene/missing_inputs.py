# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs that are not there or do not run: blocked drivers, lost libraries, deleted targets."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import bpy

from ...core import IK2DError
from ...core.words import say
from ..chain.chain import RigChain
from ..chain.dependencies import Movers, Node, walk

# The properties of an object or a bone that move it.
_PLACE = re.compile(r"(delta_)?(location|rotation|scale)|constraints\[|matrix")
# A driver, and what it drives.
_Driver = tuple[bpy.types.ID, bpy.types.FCurve]


def with_inputs_checked(
    rig: RigChain,
    force: bool = False,
    in_scenes: Collection[bpy.types.Object] | None = None,
    movers: Movers | None = None,
) -> RigChain:
    """Return a chain with a warning where its target is in no scene, only in a collection or a library.

    in_scenes, movers: the objects of all scenes, and known movers, where many chains are checked. Raises
    IK2DError for a deleted target, and for a missing library or a driver that does not run among all that
    moves target and chain; with `force` these two are noted in its remarks instead.
    """
    movers = movers or Movers()
    needed = _needed(rig, movers)
    rig = _noted(rig, (*_lost(rig, needed), *_failed_drivers(rig, needed, movers)), force)
    for role, (target, _) in rig.roles.items():
        if not (target.users_scene if in_scenes is None else target in in_scenes):
            rig = rig.with_remarks(notes=(*rig.remarks.notes, _in_no_scene(rig, target, role)))
    return rig


def is_nowhere(ob: bpy.types.Object) -> bool:
    """Return whether an object is in no scene and no collection: deleted, or appended along with others."""
    return not ob.users_collection and not ob.library and not ob.users_scene


def nowhere_words(rig: RigChain, ob: bpy.types.Object, role: str) -> str:
    """Say that a target, or a pole, is nowhere, and what to do: Blender does not tell why it is."""
    return say(
        "Chain '{chain}': its {role} '{target}' is in no scene: it was deleted, or came along with a rig "
        "that was appended; link it to the scene, or choose another {role}",
        chain=rig.name,
        role=role,
        target=ob.name,
    )


def _in_no_scene(rig: RigChain, target: bpy.types.Object, role: str) -> str:
    """Say that a target, or a pole, is in no scene; raise IK2DError where no collection has it either."""
    if is_nowhere(target):
        raise IK2DError(nowhere_words(rig, target, role))
    if target.users_collection:
        where = say("the collection '{collection}'", collection=target.users_collection[0].name)
    else:  # it came along with what was linked
        where = say("the library '{path}'", path=target.library.filepath)
    return say(
        "Chain '{chain}': its {role} '{target}' is in no scene, only in {where}: it is "
        "followed, but not seen; link it to the scene",
        chain=rig.name,
        role=role,
        target=target.name,
        where=where,
    )


def with_drivers_checked(rigs: Sequence[RigChain], force: bool = False) -> list[RigChain]:
    """Check the drivers again after sampling: Blender evaluates hidden objects only then."""
    movers = Movers()
    return [_noted(rig, _failed_drivers(rig, _needed(rig, movers), movers), force) for rig in rigs]


def _noted(rig: RigChain, problems: Iterable[str], force: bool) -> RigChain:
    """Return the chain with the problems noted as forced, each once; without `force` raise the first."""
    for problem in problems:
        if not force:
            raise IK2DError(problem)
        if problem not in rig.remarks.forced:
            rig = rig.with_remarks(forced=(*rig.remarks.forced, problem))
    return rig


def _failed_drivers(rig: RigChain, needed: Sequence[Node], movers: Movers) -> Iterator[str]:
    """Yield a sentence for each driver that did not run."""
    for owner, curve in _drivers(needed, movers):
        if curve.driver.is_valid:
            continue
        what = say(
            "Chain '{chain}': the driver of '{owner}' ({channel})",
            chain=rig.name,
            owner=owner.name,
            channel=curve.data_path,
        )
        if bpy.app.autoexec_fail and not curve.driver.is_simple_expression:
            yield say(
                "{what} is blocked: Blender does not run its Python, since the file is not trusted; "
                "open it as Trusted Source, on the command line with --enable-autoexec",
                what=what,
            )
        else:
            yield say("{what} does not work; mend its expression or its variables, or remove it", what=what)


def _needed(rig: RigChain, movers: Movers) -> list[Node]:
    """Return all nodes that move a chain's target, and its armature or the bone above it."""
    above = rig.pose_bones[0].parent
    return walk([(rig.armature, above.name if above else ""), *rig.followed], movers)


def _lost(rig: RigChain, needed: Sequence[Node]) -> Iterator[str]:
    """Yield a sentence for each data block, or object's data, that Blender could not find in its library."""
    for block, _ in needed:
        for lost in (block, getattr(block, "data", None)):
            if lost is not None and lost.is_missing:
                path = lost.library.filepath if lost.library else say("its library")
                yield say(
                    "Chain '{chain}': it needs '{block}' from the library '{channel}', which is missing; "
                    "put the file back, or relocate the library (File > External Data)",
                    chain=rig.name,
                    block=block.name,
                    channel=path,
                )
                break


def _drivers(nodes: Sequence[Node], movers: Movers) -> Iterator[_Driver]:
    """Yield the drivers that move objects and bones, and those of the properties that these read."""
    waiting: list[tuple[bpy.types.ID, str]] = []
    for ob, bone in nodes:
        holder = ob.pose.bones[bone] if bone and bone in ob.pose.bones else None
        start = len(f"{holder.path_from_id()}.") if holder else 0
        for curve in movers.drivers_on(ob, bone if holder else ""):
            if _PLACE.match(curve.data_path[start:]):
                waiting.append((ob, curve.data_path))
    done = set()
    while waiting:
        owner, path = waiting.pop()
        if (owner, path) in done:
            continue
        done.add((owner, path))
        for curve in movers.drivers_of(owner, path):
            if not curve.mute:
                yield owner, curve
                waiting += _read_by(curve.driver)


def _read_by(driver: bpy.types.Driver) -> Iterator[tuple[bpy.types.ID, str]]:
    """Yield (data block, path) of each property that a driver reads."""
    for variable in driver.variables:
        for source in variable.targets if variable.type == 'SINGLE_PROP' else ():
            if source.id is not None:
                yield source.id, source.data_path
