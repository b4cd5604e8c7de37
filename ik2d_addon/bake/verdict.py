# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake, from the solved and played-back chains, with warnings."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import Status
from ..core.contacts.runs import runs
from ..core.inputs import Floats
from ..core.pops import POP
from ..core.words import noted, number_of, quoted, say
from ..rig.animation.kept.keeping import Replaced
from ..rig.chain.chain import FAR_OFF_PLANE
from ..rig.chain.planes import HINGES
from ..rig.pose.joint_angles import rest_directions
from ..rig.pose.measures import askew_words, off_plane_words, uneven_words
from .chain_report import ChainReport
from .chain_result import HAND_OFF, Circumstances, HandErrors, JointsSolved, KeysPlayed, PlaneAngles, Standard
from .keys.keying import KeyedChain, KeyPlan
from .lengths import Units, length_text
from .playback import Played
from .report import BakeReport
from .solving.angles import nearest_turns
from .solving.frames import SolvedChain
from .swing_notes import flip_notes, stray_note

# A joint that turns by more than this many degrees in a frame is worth a warning; or by more than the second
# number, where it is so many times what the target moves, in radians of the reach.
JUMP, FAR_TURN, TURNS_A_WAY = 90.0, 20.0, 3.0
# Targets so near to the root, as in `pop_bands`, and to full reach, turn joints fast (in reaches).
NEAR_ROOT, NEAR_FULL_REACH = 0.01 / math.radians(POP), 0.98


def report_of(
    armature: bpy.types.Object,
    scene: bpy.types.Scene,
    solved: Sequence[KeyedChain],
    plan: KeyPlan,
    played: Sequence[Played],
    *,
    verb: str,
    verified: str,
    full_scene: str = "",
    stepped: str = "",
    warnings: Sequence[str] = (),
    left_out: Sequence[str] = (),
    replaced: Replaced | None = None,
    unmoved: Collection[str] = (),
    advice: Mapping[str, str] | None = None,
) -> BakeReport:
    """Return the report on chains of one armature.

    verb: what was done to them. warnings: on the armature, besides those on its chains. unmoved: the names
    of those that nothing moves. advice: by their names, on targets off their planes. The others: as in
    BakeReport and ChainReport.
    """
    units = Units.of(scene)
    chains = [
        _chain_report(
            chain,
            plan,
            result,
            verified,
            units,
            chain.solved.rig.name in unmoved,
            (advice or {}).get(chain.solved.rig.name, ""),
        )
        for chain, result in zip(solved, played, strict=True)
    ]
    replaced = replaced or Replaced()
    return BakeReport(
        armature.name,
        tuple(chains),
        verb,
        full_scene,
        (*warnings, *replaced.dropped),
        tuple(left_out),
        stepped,
        replaced=replaced,
    )


def _chain_report(
    keyed: KeyedChain,
    plan: KeyPlan,
    played: Played,
    verified: str,
    units: Units,
    unmoved: bool,
    advice: str,
) -> ChainReport:
    chain, frames = plan.reported(keyed.solved), plan.frame_array
    rig, solution = chain.rig, chain.solution
    played_back = np.full(len(frames), np.nan)
    rows, on_frames = _rows_of(played.times, frames)
    played_back[rows[on_frames]] = played.distance[on_frames]
    excess = _worst_excess(keyed.solved, plan, played)
    foot, hands_off = rig.foot, _hands_off(keyed, plan, played)
    return ChainReport(
        name=rig.name,
        armature=rig.armature.name,
        bones=rig.bones,
        solver=rig.solver,
        target=f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name,
        frames=frames,
        status=solution.status,
        residual=chain.miss.residual,
        off_plane=chain.miss.off_plane,
        distance=chain.miss.distance,
        warnings=tuple(_chain_warnings(keyed, chain, plan, played, excess, units, advice)),
        standard=Standard(
            reach=chain.reach,
            tolerance=chain.tolerance,
            units=units,
            bound=plan.bound,
            verified=verified,
            other_controls=rig.other_controls,
            forced=rig.forced,
        ),
        played=KeysPlayed(
            keyed=plan.reported_keyed(rig.name),
            on_frames=played_back,
            between_times=played.times[~on_frames],
            between=played.distance[~on_frames],
            keys=keyed.keys,
            worse_by=max(0.0, excess[0]),
            hands=None
            if rig.hands is None or hands_off is None
            else HandErrors(
                rig.hands.bones,
                hands_off,
                None if played.hands_off is None else np.degrees(played.hands_off[~on_frames]),
            ),
        ),
        joints=JointsSolved(
            iterations=solution.iterations,
            limited=solution.limited,
            speed=chain.joint_speed / np.diff(frames, prepend=frames[0] - 1),
            stretch=None if chain.factors is None else chain.factors[:, -1],
            slides=chain.noticed.slides,
            locked=rig.joints.fixed,
            angle_error=chain.noticed.angle_errors,
            angles=PlaneAngles(
                np.array((rig.plane.x, rig.plane.y)),
                rest_directions(rig),
                _angles(keyed, plan, played, not rig.other_controls and excess[0] <= chain.tolerance),
            ),
        ),
        circumstances=Circumstances(
            plane=rig.plane_taken,
            influence=chain.influence,
            turning=chain.noticed.turning,
            parted=solution.parted,
            lifted=chain.noticed.lifts,
            ground=foot.ground.name if foot is not None and foot.ground is not None else "",
            uneven=bool(chain.noticed.uneven_scale),
            unmoved=unmoved,
        ),
    )


def _rows_of(times: Floats, among: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the rows of times (m,) among sorted others (k,), and a mask (m,) of those found there."""
    rows = np.searchsorted(among, times).clip(max=len(among) - 1)
    return rows, among[rows] == times


def _chain_warnings(
    keyed: KeyedChain,
    chain: SolvedChain,
    plan: KeyPlan,
    played: Played,
    worst_excess: tuple[float, float],
    units: Units,
    advice: str,
) -> Iterator[str]:
    """Yield a chain's warnings. chain: as it is reported. worst_excess: by `_worst_excess`."""
    chain, frames, rig, reach = _without_fk(chain), plan.frames, chain.rig, chain.reach
    yield from rig.warnings
    missed = bool((chain.miss.distance > chain.tolerance).any())
    if missed and chain.noticed.joints_off_plane > FAR_OFF_PLANE * reach and rig.plane_taken != HINGES:
        ending = advice if (chain.miss.off_plane <= FAR_OFF_PLANE * reach).all() else ""
        yield off_plane_words(rig.name, length_text(chain.noticed.joints_off_plane, units)) + ending
    worst = int(np.argmax(chain.miss.off_plane))
    if chain.miss.off_plane[worst] > FAR_OFF_PLANE * reach:
        far = length_text(chain.miss.off_plane[worst], units)
        yield (
            say(
                "Chain '{chain}': its tip leaves its target by up to {far} across the chain's plane "
                "(frame {frame}): {cause}",
                chain=rig.name,
                far=far,
                frame=frames[worst],
                cause=askew_words(rig),
            )
            if rig.joints.askew
            else say(
                "Chain '{chain}': its target is up to {far} off the chain's plane (frame {frame}); "
                "the tip follows it within the plane{advice}",
                chain=rig.name,
                far=far,
                frame=frames[worst],
                advice=advice,
            )
        )
    if chain.noticed.uneven_scale:
        yield uneven_words(rig.name, chain.noticed.uneven_scale)
    yield from _used_up(chain, frames)
    yield from _turnings(chain, frames, units)
    yield from _off_angle(chain, frames)
    yield from _jumps(chain, frames)
    yield from flip_notes(chain, frames)
    yield from stray_note(keyed, plan.times, units)
    yield from _missing_hands(keyed, played)
    excess, time = worst_excess
    if excess > chain.tolerance:
        if rig.other_controls:
            way_out = say("mute constraints, drivers or other animation on its bones")
        else:
            way_out = say("look for constraints, drivers or other animation on its bones")
        yield say(
            "Chain '{chain}': Blender plays it back up to {length} worse than {promised} (frame {time:g}); "
            "{way_out}",
            chain=rig.name,
            length=length_text(excess, units),
            promised=noted("promised") if plan.bound else noted("solved"),
            time=time,
            way_out=way_out,
        )


def _without_fk(chain: SolvedChain) -> SolvedChain:
    """Return a chain with numbers that give no warning on FK frames, on which its IK Blend is 0."""
    fk = chain.influence <= 0.0
    if not fk.any():
        return chain
    within = fk & np.roll(fk, 1)  # FK as the frame before
    within[0] = fk[0]
    noticed, turns = chain.noticed, chain.plane_turns
    return replace(
        chain,
        miss=replace(
            chain.miss,
            distance=np.where(fk, 0.0, chain.miss.distance),
            off_plane=np.where(fk, 0.0, chain.miss.off_plane),
        ),
        noticed=replace(
            noticed,
            turning=None if noticed.turning is None else noticed.turning & ~fk,
            angle_errors=None if noticed.angle_errors is None else np.where(fk, -1.0, noticed.angle_errors),
        ),
        plane_turns=turns
        and replace(
            turns, openness=np.where(fk, np.inf, turns.openness), steps=np.where(within, 0.0, turns.steps)
        ),
    )


def _hands_off(keyed: KeyedChain, plan: KeyPlan, played: Played) -> Floats | None:
    """Return the hands' errors (frames,) in degrees, as played back where measured, else as keyed.

    NaN on frames without keys of theirs.
    """
    if keyed.hands is None:
        return None
    frames = plan.frame_array
    off = np.full(len(frames), np.nan)
    there = keyed.hands.keyed
    _, rows, own = np.intersect1d(frames, keyed.hands.times[there], return_indices=True)
    off[rows] = keyed.hands.turned.off[there].max(axis=1)[own]
    if played.hands_off is not None:
        _, rows, own = np.intersect1d(frames, played.times, return_indices=True)
        off[rows] = np.where(np.isnan(played.hands_off[own]), off[rows], played.hands_off[own])
    degrees: Floats = np.degrees(off)
    return degrees


def _angles(keyed: KeyedChain, plan: KeyPlan, played: Played, certain: bool) -> Floats | None:
    """Return the joints' angles (frames, n) as played back where measured, else as solved.

    NaN on frames that were not measured and have no key, and on all that were not measured unless it is
    certain that keys alone move the bones.
    """
    if keyed.angles is None:
        return None
    solved, known = keyed.angles[plan.rows], plan.reported_keyed(keyed.solved.rig.name) & certain
    for channels in keyed.rotations:
        if channels.frames is not None:
            known = known & np.isin(plan.pace * plan.frame_array, channels.frames)
    angles = np.where(known[:, None], solved, np.nan)
    if played.angles is not None:
        rows, on_frames = _rows_of(played.times, plan.frame_array)
        rows = rows[on_frames]
        angles[rows] = nearest_turns(played.angles[on_frames], solved[rows])
    return angles


def _missing_hands(keyed: KeyedChain, played: Played) -> Iterator[str]:
    """Yield a sentence for each hand held by locks, and for hands turned by something else than keys."""
    hands, rig = keyed.hands, keyed.solved.rig
    if hands is None or rig.hands is None:
        return
    off, times = hands.turned.off[hands.keyed], hands.times[hands.keyed]
    for k, bone in enumerate(rig.hands.bones):
        worst = int(np.argmax(off[:, k]))
        if off[worst, k] > HAND_OFF:
            yield say(
                "Chain '{chain}': '{bone}' is up to {angle:.2g} degrees off the rotation that it "
                "must have (frame {time:g}), as its locks hold it; unlock its rotation",
                chain=rig.name,
                bone=bone,
                angle=np.degrees(off[worst, k]),
                time=times[worst],
            )
    if played.hands_moved is not None and not np.isnan(played.hands_moved).all():
        worst = int(np.nanargmax(played.hands_moved))
        moved = float(played.hands_moved[worst])
        if moved > HAND_OFF + hands.bound:
            yield say(
                "Chain '{chain}': Blender plays {names} back up to {angle:.2g} degrees off what was "
                "keyed (frame {time:g}); look for constraints, drivers or other animation there",
                chain=rig.name,
                names=quoted(rig.hands.bones),
                angle=np.degrees(moved),
                time=played.times[worst],
            )


def _off_angle(chain: SolvedChain, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where the last bone cannot have its angle while its tip is on its target."""
    if chain.noticed.angle_errors is None:
        return
    off = (chain.solution.status == Status.ANGLE) & (chain.noticed.angle_errors >= 0.0)
    if not off.any():
        return
    worst = int(np.argmax(np.where(off, chain.noticed.angle_errors, -1.0)))
    degrees = np.degrees(chain.noticed.angle_errors[worst])
    yield say(
        "Chain '{chain}': its last bone, '{bone}', is up to {angle:.3g} degrees off its "
        "angle (frame {frame:g}), which it cannot have with its tip on the target, on "
        "{frames}; Angle First keeps the angle instead",
        chain=chain.rig.name,
        bone=chain.rig.bones[-1],
        angle=degrees,
        frame=frames[worst],
        frames=number_of(int(off.sum()), "frame"),
    )


def _turnings(chain: SolvedChain, frames: Sequence[float], units: Units) -> Iterator[str]:
    """Yield a sentence for each time that a chain turns over to its other side."""
    if chain.noticed.turning is None:
        return
    for first, end in runs(chain.noticed.turning):
        worst = first + int(np.argmax(chain.miss.distance[first:end]))
        last = say(" to {frame:g}", frame=frames[end - 1]) if end - first > 1 else ""
        yield say(
            "Chain '{chain}': it turns over to its other side on frame {frame:g}{last}; its tip "
            "leaves its target there by up to {length} (frame {frame_2:g})",
            chain=chain.rig.name,
            frame=frames[first],
            last=last,
            length=length_text(chain.miss.distance[worst], units),
            frame_2=frames[worst],
        )


def _used_up(chain: SolvedChain, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence where a chain is as long, or as short, as its bones may get."""
    if chain.factors is None or chain.rig.stretching is None:
        return
    limits, factors = chain.rig.stretching.limits, chain.factors[:, -1]
    for factor, there, word in (
        (limits.most, factors >= limits.most, say("stretched to its most")),
        (limits.least, factors <= limits.least, say("compressed to its least")),
    ):
        if factor != 1.0 and there.any():
            count, first = int(there.sum()), frames[int(np.argmax(there))]
            at = say("at frame {frame:g}", frame=first)
            if count > 1:
                at = say("on {frames}, first {at}", frames=number_of(count, "frame"), at=at)
            yield say(
                "Chain '{chain}': {word}, {factor:.3g} times, {at}",
                chain=chain.rig.name,
                word=word,
                factor=factor,
                at=at,
            )


def _jumps(chain: SolvedChain, frames: Sequence[float]) -> Iterator[str]:
    """Yield a sentence for each kind of place where a joint turns suspiciously far in a frame."""
    turns, fk = np.degrees(chain.steps[1:]), chain.influence <= 0.0
    turns[fk[:-1] & fk[1:]] = 0.0
    furthest = turns.max(axis=1, initial=0.0)
    if not (furthest > FAR_TURN).any():
        return
    ways = np.degrees(np.hypot(*np.diff(chain.noticed.aims, axis=0).T))
    jumps = np.flatnonzero((furthest > JUMP) | (furthest > np.maximum(FAR_TURN, TURNS_A_WAY * ways)))
    by_cure: dict[str, list[int]] = {}
    for jump in jumps.tolist():
        by_cure.setdefault(_cure(chain, jump), []).append(jump)
    for cure, found in by_cure.items():
        worst = max(found, key=furthest.__getitem__)
        bone = chain.rig.bones[int(np.argmax(turns[worst]))]
        others = (
            say(
                ", the furthest of {count} such turns from frame {frame:g} to {frame_2:g}",
                count=len(found),
                frame=frames[found[0]],
                frame_2=frames[found[-1] + 1],
            )
            if len(found) > 1
            else ""
        )
        yield say(
            "Chain '{chain}': bone '{bone}' turns by {angle:.0f} degrees from frame {frame:g} to "
            "{frame_2:g}{others}; {cure}",
            chain=chain.rig.name,
            bone=bone,
            angle=furthest[worst],
            frame=frames[worst],
            frame_2=frames[worst + 1],
            others=others,
            cure=cure,
        )


def _cure(chain: SolvedChain, frame: int) -> str:
    """Return in words what helps against a joint that turns far from a frame to the next one."""
    start, end = chain.noticed.aims[frame : frame + 2]
    if (chain.influence[frame : frame + 2] <= 0.0).any():
        return say("IK Blend switches there: Switch to IK and Switch to FK key it so that nothing jumps")
    far, way = max(np.hypot(*start), np.hypot(*end)), end - start
    passed = start + way * np.clip(-(start @ way) / max(way @ way, 1e-300), 0.0, 1.0)
    if np.hypot(*passed) < NEAR_ROOT:
        other = "" if chain.rig.solver == 'CCD' else say(", or let CCD follow it")
        return say("its target passes close to the chain's root: move it around the root{other}", other=other)
    if far > NEAR_FULL_REACH and not chain.softness[frame]:
        return say("its target comes to full reach: Softness turns the joints more slowly there")
    if chain.rig.solver == 'EVEN' and np.isfinite(chain.rig.joints.limits).any():
        return say(
            "two poses bend alike there: move the target another way, widen the limits, or let CCD go on"
        )
    return say("look there, and move the target another way if it should not")


def _worst_excess(solved: SolvedChain, plan: KeyPlan, played: Played) -> tuple[float, float]:
    """Return the largest excess of a played-back miss over the promised one, in the world, and its time.

    In the plane and off it count separately, so that neither hides the other; but a plane that follows
    the target, or is sheared by an uneven scale, has no such parts when it is played back.
    """
    rows, told = _rows_of(played.times, plan.time_array)
    told &= plan.keyed(solved.rig.name)[rows]
    if not told.any():
        return 0.0, float(plan.times[0])
    if solved.swings is not None or solved.noticed.uneven_scale:
        missed = played.distance - solved.miss.distance[rows]
    else:
        in_plane = played.in_plane - solved.miss.residual[rows]
        missed = np.maximum(in_plane, played.off_plane - solved.miss.off_plane[rows])
    excess = np.where(told, missed - plan.bound, -np.inf)
    worst = int(np.argmax(excess))
    return float(excess[worst]), float(played.times[worst])
