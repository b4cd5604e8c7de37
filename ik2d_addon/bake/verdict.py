# SPDX-License-Identifier: GPL-3.0-or-later
"""From what was solved and what was played back: the report, with a warning for each thing to know."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ..rig.armature import FAR_OFF_PLANE
from .keying import KeyedChain, KeyPlan
from .playback import Played, not_played
from .report import PLAYED_BACK, BakeReport, ChainReport, length_text


def report_of(
    armature: bpy.types.Object,
    scene: bpy.types.Scene,
    solved: Sequence[KeyedChain],
    plan: KeyPlan,
    verb: str,
    played: Sequence[Played] | None = None,
    full_scene: str = "",
    warnings: Sequence[str] = (),
) -> BakeReport:
    units = scene.unit_settings.system
    played = played or [not_played(len(plan.frames))] * len(solved)
    chains = [_chain_report(chain, plan, result, units) for chain, result in zip(solved, played, strict=True)]
    return BakeReport(armature.name, tuple(chains), verb, full_scene, tuple(warnings))


def _chain_report(keyed: KeyedChain, plan: KeyPlan, played: Played, units: str) -> ChainReport:
    chain, frames = keyed.solved.at(plan.rows), plan.frames
    rig, solution = chain.rig, chain.solution
    return ChainReport(
        name=rig.name,
        armature=rig.armature.name,
        bones=rig.bones,
        solver=rig.solver,
        target=f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name,
        frames=np.array(frames),
        status=solution.status,
        residual=chain.residual,
        off_plane=chain.off_plane,
        iterations=solution.iterations,
        limited=solution.limited,
        joint_speed=chain.joint_speed / np.diff(frames, prepend=frames[0] - 1),
        played_back=played.errors,
        between_times=played.between_times,
        between=played.between,
        reach=chain.reach,
        unit_system=units,
        warnings=tuple(_chain_warnings(keyed, plan, played, units)),
        keys=keyed.keys,
        plays_back_worse_by=max(0.0, _worst_excess(keyed, plan, played)[0]),
    )


def _chain_warnings(keyed: KeyedChain, plan: KeyPlan, played: Played, units: str) -> Iterator[str]:
    chain, frames = keyed.solved.at(plan.rows), plan.frames
    rig, reach = chain.rig, chain.reach
    yield from rig.warnings
    if chain.joints_off_plane > FAR_OFF_PLANE * reach:
        yield (
            f"Chain '{rig.name}': its joints are up to {length_text(chain.joints_off_plane, units)} off one"
            " plane; it is solved as seen along the plane's normal"
        )
    worst = int(np.argmax(chain.off_plane))
    if chain.off_plane[worst] > FAR_OFF_PLANE * reach:
        yield (
            f"Chain '{rig.name}': its target is up to {length_text(chain.off_plane[worst], units)} off the"
            f" chain's plane (frame {frames[worst]}); the tip follows it within the plane"
        )
    if chain.uneven_scale:
        yield (
            f"Chain '{rig.name}': {chain.uneven_scale} is scaled unevenly, so the bones change their length"
            " as they turn; apply the scale to get exact results"
        )
    excess, time = _worst_excess(keyed, plan, played)
    if excess > PLAYED_BACK * reach:
        promised = "promised" if plan.bound else "solved"
        yield (
            f"Chain '{rig.name}': Blender plays it back up to {length_text(excess, units)} worse than"
            f" {promised} (frame {time:g}); look for constraints, drivers or other animation on its bones"
        )


def _worst_excess(keyed: KeyedChain, plan: KeyPlan, played: Played) -> tuple[float, float]:
    """Return by how much a tip was further off than promised, at most, and when. Lengths are the world's."""
    promised = np.hypot(keyed.solved.residual, keyed.solved.off_plane) + plan.allowed(keyed.solved.rig.name)
    times, errors = np.array(plan.times), np.concatenate((played.errors, played.between))
    looked_at = np.concatenate((plan.frames, played.between_times))
    rows = np.searchsorted(times, looked_at).clip(max=len(times) - 1)
    told = (times[rows] == looked_at) & ~np.isnan(errors)
    excess = np.where(told, errors - promised[rows], -np.inf)
    worst = int(np.argmax(excess))
    return float(excess[worst]), float(looked_at[worst])
