# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake, from the solved and played-back chains, with warnings."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

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
from .chain_report import ChainReport
from .chain_result import Circumstances, HandErrors, JointsSolved, KeysPlayed, PlaneAngles, Standard
from .mechanism_report import MechanismReport
from .post_notes import post_notes, post_turned
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
    mechanisms: Sequence[MechanismReport] = (),
) -> BakeReport:
    """Return the report on chains of one armature.

    verb: what was done to them. warnings: on the armature, besides those on its chains. unmoved: the names
    of those that nothing moves. advice: by their names, on targets off their planes. The others: as in
    BakeReport and ChainReport.
    """
    verdict, replaced = _Verdict(plan, Units.of(scene), verified), replaced or Replaced()
    chains = []
    for chain, result in zip(solved, played, strict=True):
        name = chain.solved.rig.name
        chains.append(verdict.on(chain, result, name in unmoved, (advice or {}).get(name, "")))
    return BakeReport(
        armature.name,
        tuple(chains),
        verb,
        full_scene,
        (*warnings, *replaced.dropped),
        tuple(left_out),
        stepped,
        replaced=replaced,
        mechanisms=tuple(mechanisms),
    )


class _PlayedAt:
    """Where the times (m,) that a chain was played at are among those of a plan."""

    def __init__(self, times: Floats, plan: KeyPlan) -> None:
        self.times, frames = times, plan.frame_array
        rows = np.searchsorted(frames, times).clip(max=len(frames) - 1)
        self.on_frames = frames[rows] == times
        self.frames = rows[self.on_frames]
        self.between = times[~self.on_frames]
        # Rows among all times that were solved, and a mask of the times that were.
        self.rows = np.searchsorted(plan.time_array, times).clip(max=len(plan.times) - 1)
        self.solved = plan.time_array[self.rows] == times


class _Verdict:
    """Makes the reports on the chains of a bake."""

    def __init__(self, plan: KeyPlan, units: Units, verified: str) -> None:
        self.plan, self.units, self.verified = plan, units, verified
        self._gaps = np.diff(plan.frame_array, prepend=plan.frame_array[0] - 1)
        self._places = _PlayedAt(np.empty(0), plan)

    @cached_property
    def _all_keyed(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks of the plan's times, and of its frames, that have keys where a chain has no own frames."""
        return np.ones(len(self.plan.times), bool), np.ones(len(self.plan.frames), bool)

    def on(self, keyed: KeyedChain, played: Played, unmoved: bool, advice: str) -> ChainReport:
        """Return the report on one chain."""
        chain, plan = self.plan.reported(keyed.solved), self.plan
        rig, solution, steps = chain.rig, chain.solution, chain.steps
        if played.times is not self._places.times:  # most chains share theirs
            self._places = _PlayedAt(played.times, plan)
        places = self._places
        if rig.name in plan.own:
            keyed_times, keyed_frames = plan.keyed(rig.name), plan.reported_keyed(rig.name)
        else:
            keyed_times, keyed_frames = self._all_keyed
        played_back = np.full(len(plan.frames), np.nan)
        played_back[places.frames] = played.distance[places.on_frames]
        excess = self._worst_excess(keyed, played, keyed_times)
        certain = not rig.remarks.other_controls and excess[0] <= chain.tolerance
        foot, hands_off = rig.foot, self._hands_off(keyed, played)
        post = post_turned(keyed, plan)
        warned = (
            *chain_warnings(keyed, chain, steps, plan, played, excess, self.units, advice),
            *post_notes(rig.name, post, plan.frames, chain.shown <= 0.0),
        )
        return ChainReport(
            name=rig.name,
            armature=rig.armature.name,
            bones=rig.bones,
            solver=rig.settings.solver,
            target=f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name,
            frames=plan.frame_array,
            status=solution.status,
            residual=chain.miss.residual,
            off_plane=chain.miss.off_plane,
            distance=chain.miss.distance,
            warnings=warned,
            standard=Standard(
                reach=chain.reach,
                tolerance=chain.tolerance,
                units=self.units,
                bound=plan.bound,
                verified=self.verified,
                other_controls=rig.remarks.other_controls,
                forced=rig.remarks.forced,
            ),
            played=KeysPlayed(
                keyed=keyed_frames,
                on_frames=played_back,
                between_times=places.between,
                between=played.distance[~places.on_frames],
                keys=keyed.keys,
                worse_by=max(0.0, excess[0]),
                hands=None
                if rig.hands is None or hands_off is None
                else HandErrors(
                    rig.hands.bones,
                    hands_off,
                    None if played.hands_off is None else np.degrees(played.hands_off[~places.on_frames]),
                ),
            ),
            joints=JointsSolved(
                iterations=solution.iterations,
                limited=solution.limited,
                speed=np.degrees(steps.max(axis=1)) / self._gaps,
                stretch=None if chain.factors is None else chain.factors[:, -1],
                slides=chain.noticed.slides,
                locked=rig.joints.fixed,
                angle_error=chain.noticed.angle_errors,
                post=post,
                angles=PlaneAngles(
                    np.array((rig.plane.x, rig.plane.y)),
                    rest_directions(rig),
                    self._angles(keyed, played, keyed_frames & certain),
                ),
            ),
            circumstances=Circumstances(
                plane=rig.remarks.plane,
                influence=chain.shown,
                turning=chain.noticed.turning,
                parted=solution.parted,
                lifted=chain.noticed.lifts,
                ground=foot.ground.name if foot is not None and foot.ground is not None else "",
                uneven=bool(chain.noticed.uneven_scale),
                unmoved=unmoved,
            ),
        )

    def _hands_off(self, keyed: KeyedChain, played: Played) -> Floats | None:
        """Return the hands' errors (frames,) in degrees, as played back where measured, else as keyed.

        NaN on frames without keys of theirs.
        """
        if keyed.hands is None:
            return None
        frames = self.plan.frame_array
        off = np.full(len(frames), np.nan)
        there = keyed.hands.keyed
        _, rows, of_keys = np.intersect1d(frames, keyed.hands.times[there], return_indices=True)
        off[rows] = keyed.hands.turned.off[there].max(axis=1)[of_keys]
        if played.hands_off is not None:
            _, rows, of_keys = np.intersect1d(frames, played.times, return_indices=True)
            off[rows] = np.where(np.isnan(played.hands_off[of_keys]), off[rows], played.hands_off[of_keys])
        degrees: Floats = np.degrees(off)
        return degrees

    def _angles(self, keyed: KeyedChain, played: Played, known: NDArray[np.bool_]) -> Floats | None:
        """Return the joints' angles (frames, n) as played back where measured, else as solved.

        NaN on frames that were not measured and have no key. known: (frames,) those with keys, if it is
        certain that keys alone move the bones.
        """
        if keyed.angles is None:
            return None
        plan, rows = self.plan, self._places.frames
        solved = keyed.angles[plan.rows]
        for channels in keyed.rotations:
            if channels.frames is not None:
                known = known & np.isin(plan.pace * plan.frame_array, channels.frames)
        angles = np.where(known[:, None], solved, np.nan)
        if played.angles is not None:
            angles[rows] = nearest_turns(played.angles[self._places.on_frames], solved[rows])
        return angles

    def _worst_excess(
        self, chain: KeyedChain, played: Played, keyed: NDArray[np.bool_]
    ) -> tuple[float, float]:
        """Return the largest excess of a played-back miss over the promised one, in the world, and its time.

        keyed: a mask of the plan's times. In the plane and off it count separately, so that neither hides
        the other; but a plane that follows the target, or is sheared by an uneven scale, has no such parts
        when it is played back. Where the influence blends the post above a chain, nothing is promised, as the
        chain was solved on the whole turn; nor where FK copies act.
        """
        solved, rows = chain.solved, self._places.rows
        told = self._places.solved & keyed[rows]
        if chain.post is not None and chain.post.is_blended:
            told &= solved.influence[rows] == 1.0
        if solved.noticed.copied is not None:
            told &= solved.noticed.copied[rows] == 0.0
        if not told.any():
            return 0.0, float(self.plan.times[0])
        if solved.swings is not None or solved.aside is not None or solved.noticed.uneven_scale:
            missed = played.distance - solved.miss.distance[rows]
        else:
            in_plane = played.in_plane - solved.miss.residual[rows]
            missed = np.maximum(in_plane, played.off_plane - solved.miss.off_plane[rows])
        excess = np.where(told, missed - self.plan.bound, -np.inf)
        worst = int(np.argmax(excess))
        return float(excess[worst]), float(played.times[worst])
