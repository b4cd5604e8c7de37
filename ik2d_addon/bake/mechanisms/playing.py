# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms played back: how far joints are open in Blender's evaluated pose, and the report of it."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.solution import drained
from ...core.words import number_of, quoted, say
from ...rig.animation.bone_channels import BoneRotation, locked_channels
from ...rig.animation.fcurves import KnownKeys
from ...rig.animation.times import evaluated_times
from ...rig.mechanism.posing import Motions, Poses, openings, pose_of, poses_of
from ...rig.mechanism.read import RigMechanism
from ...rig.mechanism.values import stepping
from ...rig.scene.by_curves import hindrance, placed
from ...rig.scene.rounding import rounding
from ..arithmetic import AGREE, LOOKS
from ..playback import VERIFY_NOTHING, VERIFY_SAMPLE
from ..reporting.mechanism_report import MechanismReport
from .keying import KeyedMechanism

# A ram leaves its stroke by more than this part of the size; frames are named up to so many.
_OVER, _NAMED = 1e-5, 3


def reports_of(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    machines: Sequence[KeyedMechanism],
    verify: str,
    known: KnownKeys = MappingProxyType({}),
) -> tuple[MechanismReport, ...]:
    """Return the reports on the mechanisms of an armature, by its evaluated pose with the new keys.

    known: where its keys are, as far as that is known without reading them.
    """
    if not machines:
        return ()
    frames = machines[0].frames
    half_way = (frames[:-1] + frames[1:]) / 2.0
    times = np.unique(np.concatenate((frames, half_way, *(machine.open_times for machine in machines))))
    if verify == VERIFY_NOTHING:
        opened = [np.full(len(times), np.nan)] * len(machines)
    else:
        opened = _played(scene, armature, machines, times, verify, known)
    on, gaps = np.searchsorted(times, frames), np.searchsorted(frames, times, side="right") - 1
    aside, reports = ~np.isin(times, frames), []
    for machine, its in zip(machines, opened, strict=True):
        between = np.full(len(frames), -np.inf)
        with np.errstate(invalid="ignore"):  # NaN where nothing is played back
            np.maximum.at(between, gaps[aside], its[aside])
        reports.append(_report(machine, its[on], between[:-1]))
    return tuple(reports)


def _played(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    machines: Sequence[KeyedMechanism],
    times: Floats,
    verify: str,
    known: KnownKeys,
) -> list[Floats]:
    """Return how far joints of each mechanism are open (m,) at times, as Blender evaluates them."""
    by_curves = _by_curves(scene, armature, machines, times, known) if verify == VERIFY_SAMPLE else None
    if by_curves is not None:
        return by_curves
    return _opened(machines, _stepped(scene, armature, machines, times), len(times))


def _opened(machines: Sequence[KeyedMechanism], poses: Sequence[Poses], count: int) -> list[Floats]:
    """Return how far joints of each mechanism are open (count,) in its poses."""
    each = zip(machines, poses, strict=True)
    return [
        np.broadcast_to(openings(machine.rig, Motions.of_pose(machine.rig, its)), count)
        for machine, its in each
    ]


def _by_curves(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    machines: Sequence[KeyedMechanism],
    times: Floats,
    known: KnownKeys,
) -> list[Floats] | None:
    """Return how far joints are open (m,) at times by the F-Curves of bones, as Blender holds them.

    None where more than these may move them, or where Blender shows other poses at a few of the times.
    """
    bones = [bone for machine in machines for bone in (*machine.rig.bones, machine.rig.frame) if bone]
    if hindrance(armature, bones, ()):
        return None
    found = drained(placed(armature, bones, (), evaluated_times(scene, times.tolist()), known))
    if found is None:
        return None
    there = [poses_of(machine.rig, found.poses) for machine in machines]
    opened = _opened(machines, there, len(times))
    spread = np.linspace(0, len(times) - 1, LOOKS).round().astype(np.intp)
    rows = np.unique([*spread, *(its.argmax() for its in opened)])
    seen = _stepped(scene, armature, machines, times[rows])
    each = zip(machines, there, seen, strict=True)
    return opened if all(_agree(machine.rig, ours, its, rows) for machine, ours, its in each) else None


def _agree(rig: RigMechanism, expected: Poses, seen: Poses, rows: NDArray[np.intp]) -> bool:
    """Return whether the ends of bones in poses at some rows of times are where Blender shows them."""
    for name, shown in seen.items():
        ends = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, rig.size, 0.0, 1.0]]).T
        ours = expected[name] if expected[name].ndim == 2 else expected[name][rows]
        near = AGREE * rig.size + rounding(np.abs(shown[:, :3, 3]).max() + rig.size)
        if not (np.abs(ours @ ends - shown @ ends) <= near).all():
            return False
    return True


def _stepped(
    scene: bpy.types.Scene, armature: bpy.types.Object, machines: Sequence[KeyedMechanism], times: Floats
) -> list[Poses]:
    """Return the poses of each mechanism at times (m,), as Blender evaluates them."""
    seen: list[list[Mapping[str, Floats]]] = [[] for _ in machines]
    with stepping(scene, armature) as (show, _):
        for time in times.tolist():
            evaluated = show(time)
            for machine, its in zip(machines, seen, strict=True):
                its.append(pose_of(machine.rig, evaluated))
    return [{name: np.array([pose[name] for pose in its]) for name in its[0]} for its in seen]


def _report(machine: KeyedMechanism, opened: Floats, between: Floats) -> MechanismReport:
    rig, solution, frames = machine.rig, machine.solution, machine.frames
    return MechanismReport(
        name=rig.name,
        armature=rig.armature.name,
        bones=rig.bones,
        frames=frames,
        size=rig.size,
        open=opened,
        open_between=between,
        bound=machine.bound,
        keys=len(machine.keys),
        held=np.broadcast_to(solution.is_held, len(frames)),
        dead_points=_dead_points(machine),
        missed=np.broadcast_to(solution.residual, len(frames)),
        remarks=(*solution.remarks(frames.tolist()), *_remarks(machine)),
        unit=rig.unit,
        unkeyed=frozenset(np.setdiff1d(frames, machine.keys).tolist()),
    )


def _remarks(machine: KeyedMechanism) -> Iterator[str]:
    """Yield sentences on what others turn too far, on jumps, and on rams that are drawn too far."""
    rig, frames = machine.rig, machine.frames
    if chained := [bone for bone in machine.unkeyed if bone in rig.chained]:
        yield say(
            "a chain turns {bones} to where its loops tear; keep the chain's target nearer",
            bones=quoted(chained),
        )
    if others := [bone for bone in machine.unkeyed if bone not in rig.chained]:
        yield say(
            "a constraint, a driver or an NLA strip turns {bones} to where its loops tear, and no key can "
            "hold it; have it turn less far",
            bones=quoted(others),
        )
    if locked := [one.bone for one in machine.rotations if _is_held(rig.armature.pose.bones[one.bone], one)]:
        yield say("locked rotation channels keep {bones} from turning; unlock them", bones=quoted(locked))
    if len(machine.jumps):
        yield say(
            "it jumps to another pose, which is nearer to the target, on {frames}; set Target's Way to Go On "
            "to keep to one",
            frames=_named(machine.jumps),
        )
    driving = {one.bone for one in rig.drivers}
    for ram in rig.rams:
        least, most = ram.stroke
        lengths = machine.solution.length(ram.bone)
        over = np.maximum(least - lengths, lengths - most)
        if most > 0.0 and ram.bone not in driving and (over > _OVER * rig.size).any():
            worst = int(over.argmax())
            yield say(
                "the ram '{bone}' leaves its stroke of {least:.3g} to {most:.3g} on {frames}: it is "
                "{length:.3g} long on frame {frame}",
                bone=ram.bone,
                least=least,
                most=most,
                frames=_named(frames[over > _OVER * rig.size]),
                length=float(lengths[worst]),
                frame=int(frames[worst]),
            )


def _is_held(bone: bpy.types.PoseBone, rotation: BoneRotation) -> bool:
    """Return whether locks keep a bone from values that it is to have."""
    now = np.array(getattr(bone, rotation.property))
    off = np.abs(rotation.values - now).max(axis=0) > _OVER
    return bool((off & locked_channels(bone)).any())


def _named(frames: NDArray[np.intp]) -> str:
    """Return frames in words: their number, where there are many, and the first."""
    if len(frames) <= _NAMED:
        return say("frame {frames}", frames=", ".join(map(str, frames.tolist())))
    return say("{frames}, the first {frame}", frames=number_of(len(frames), "frame"), frame=int(frames[0]))


def _dead_points(machine: KeyedMechanism) -> dict[str, tuple[float, ...]]:
    """Return the dead points of each driver that are within its values as given."""
    found = {}
    for driver, given in machine.solution.given.items():
        least, most = float(given.min()), float(given.max())
        if most - least < 1e-9:
            continue
        try:
            ends = machine.rig.core.feasible(driver, least, most).ravel()
        except IK2DError:  # a range of more turns than are looked at
            continue
        inside = ends[(ends > least) & (ends < most)]
        if len(inside):
            found[str(driver)] = tuple(np.unique(inside).tolist())
    return found
