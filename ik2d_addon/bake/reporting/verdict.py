# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake, from the solved and played-back chains, with warnings."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from ...rig.animation.kept.keeping import Replaced
from ...rig.pose.joint_angles import rest_directions
from ..keys.keying import KeyedChain, KeyPlan
from ..lengths import Units
from ..playback import Played
from ..solving.angles import nearest_turns
from ..solving.frames import SolvedChain
from .chain_report import ChainReport
from .chain_result import Circumstances, HandErrors, JointsSolved, KeysPlayed, PlaneAngles, Standard
from .report import BakeReport
from .warnings import chain_warnings


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
        solver=rig.settings.solver,
        target=f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name,
        frames=frames,
        status=solution.status,
        residual=chain.miss.residual,
        off_plane=chain.miss.off_plane,
        distance=chain.miss.distance,
        warnings=tuple(chain_warnings(keyed, chain, plan, played, excess, units, advice)),
        standard=Standard(
            reach=chain.reach,
            tolerance=chain.tolerance,
            units=units,
            bound=plan.bound,
            verified=verified,
            other_controls=rig.remarks.other_controls,
            forced=rig.remarks.forced,
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
                _angles(keyed, plan, played, not rig.remarks.other_controls and excess[0] <= chain.tolerance),
            ),
        ),
        circumstances=Circumstances(
            plane=rig.remarks.plane,
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


def _hands_off(keyed: KeyedChain, plan: KeyPlan, played: Played) -> Floats | None:
    """Return the hands' errors (frames,) in degrees, as played back where measured, else as keyed.

    NaN on frames without keys of theirs.
    """
    if keyed.hands is None:
        return None
    frames = plan.frame_array
    off = np.full(len(frames), np.nan)
    there = keyed.hands.keyed
    _, rows, of_keys = np.intersect1d(frames, keyed.hands.times[there], return_indices=True)
    off[rows] = keyed.hands.turned.off[there].max(axis=1)[of_keys]
    if played.hands_off is not None:
        _, rows, of_keys = np.intersect1d(frames, played.times, return_indices=True)
        off[rows] = np.where(np.isnan(played.hands_off[of_keys]), off[rows], played.hands_off[of_keys])
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
