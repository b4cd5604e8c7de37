# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline, top to bottom: read chains, sample targets, solve, lift, key, report."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from .core import IK2DError, Solution, solve_ccd, solve_ccd_path, solve_two_bone
from .core.chain import Floats
from .report import BakeReport, ChainReport, length_text
from .rig import keys
from .rig.armature import FAR_OFF_PLANE, RigChain, bones_below, read_chain
from .rig.pose import BoneRotation, bone_rotations, local_turns, set_pose, tips
from .rig.targets import Progress, sample

# Each round shortens what is left of the miss by some 1e-4; two leave nothing that 32 bits can hold.
CORRECTIONS = 2

__all__ = ["BakeReport", "ChainReport", "bake", "solve"]


@dataclass(frozen=True, eq=False)
class Solved:
    """All that is to be written for one armature, and the report of it."""

    rotations: list[BoneRotation]
    report: BakeReport


def bake(
    armature_object: bpy.types.Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    step: int = 1,
    *,
    progress: Progress | None = None,
) -> BakeReport:
    """Key the rotations that bring each chain's tip to its target, frame by frame.

    armature_object: an armature with chains in `Object.ik2d`. chains: names; None takes all that
    are enabled. frame_start, frame_end: inclusive; None takes the scene's. step: frames from one
    key to the next. progress(done, total) is called now and then.
    All keys of the chains' rotation channels from the first frame to the last are replaced; all
    else stays. Returns a BakeReport. Raises IK2DError for bad input; nothing has changed then.
    """
    scene = _scene_of(armature_object)
    frames = frame_range(scene, frame_start, frame_end, step)
    solved = _solve_frames(armature_object, chains, scene, frames, progress)
    keys.check_writable(armature_object, solved.rotations)
    keys.write(armature_object, frames, solved.rotations)
    bpy.context.view_layer.update()
    return solved.report


def solve(armature_object: bpy.types.Object, chains: Sequence[str] | None = None) -> BakeReport:
    """Pose each chain so that its tip is on its target at the current frame; key nothing.

    Arguments, result and errors as in `bake`.
    """
    solved = _solve_frames(armature_object, chains, _scene_of(armature_object), None, None)
    set_pose(armature_object, solved.rotations)
    bpy.context.view_layer.update()
    return solved.report


def frame_range(scene: bpy.types.Scene, start: int | None, end: int | None, step: int) -> list[int]:
    """Return the frames from `start` to `end`, inclusive; None takes the scene's.

    Raises IK2DError for a range that is reversed, or a step below one.
    """
    start = scene.frame_start if start is None else start
    end = scene.frame_end if end is None else end
    if end < start:
        raise IK2DError(f"The frame range {start} to {end} is reversed; give the first frame before the last")
    if step < 1:
        raise IK2DError(f"The step from frame to frame must be 1 or more, not {step}")
    return list(range(start, end + 1, step))


def _solve_frames(
    armature: bpy.types.Object,
    names: Sequence[str] | None,
    scene: bpy.types.Scene,
    frames: list[int] | None,
    progress: Progress | None,
) -> Solved:
    """Do everything but write. frames None: the scene as it stands."""
    rigs = [read_chain(armature, settings) for settings in _chosen(armature, names)]
    _refuse_entangled(rigs)
    samples = sample(scene, rigs, frames, progress)
    shown = np.array([scene.frame_current] if frames is None else frames)
    rotations, reports = [], []
    for rig, sampled in zip(rigs, samples, strict=True):
        solution, turns = _solve_chain(rig, rig.plane.project(sampled.targets))
        rotations += bone_rotations(rig, turns)
        miss = sampled.targets - tips(rig, turns)
        reports.append(_report(rig, sampled.to_world, miss, solution, shown, scene.unit_settings.system))
    report = BakeReport(armature.name, tuple(reports), verb="Solved" if frames is None else "Baked")
    return Solved(rotations, report)


def _solve_chain(rig: RigChain, targets: Floats) -> tuple[Solution, Floats]:
    """Solve targets (frames, 2), from the rest pose on; return also the local turns (frames, n).

    Then aim again at what Blender's own forward kinematics misses by: next to nothing, but more
    than our tolerance.
    """
    solution = _solve_path(rig, targets)
    turns = local_turns(rig, solution.angles)
    aims, reached = targets, solution.reached[:, None]
    for _ in range(CORRECTIONS):
        aims = aims + np.where(reached, targets - rig.plane.project(tips(rig, turns)), 0.0)
        turns = local_turns(rig, _solve_each(rig, aims, solution.angles).angles)
    return solution, turns


def _solve_path(rig: RigChain, targets: Floats) -> Solution:
    """Run the chain's solver along targets (frames, 2), each frame from the one before."""
    if rig.solver == 'TWO_BONE':
        return _solve_each(rig, targets, rig.rest_angles)
    return solve_ccd_path(
        rig.chain, targets, start=rig.rest_angles, tolerance=rig.tolerance, max_iterations=rig.iterations
    )


def _solve_each(rig: RigChain, targets: Floats, starts: Floats) -> Solution:
    """Run the chain's solver on targets (frames, 2), each from its own start (frames, n)."""
    if rig.solver == 'TWO_BONE':
        return solve_two_bone(rig.chain, targets, bend=rig.bend, start=starts, tolerance=rig.tolerance)
    return solve_ccd(rig.chain, targets, start=starts, tolerance=rig.tolerance, max_iterations=rig.iterations)


def _report(
    rig: RigChain, to_world: Floats, miss: Floats, solution: Solution, frames: np.ndarray, unit_system: str
) -> ChainReport:
    """Judge `miss` (frames, 3), from the tip to the target in rest space."""
    plane = rig.plane
    height = (miss @ plane.normal)[:, None] * plane.normal
    residual = _world_lengths(to_world, miss - height)
    off_plane = _world_lengths(to_world, height)
    scale = float(np.linalg.norm(to_world[0] @ plane.x))
    reach = scale * rig.chain.reach[1]
    return ChainReport(
        name=rig.name,
        armature=rig.armature.name,
        bones=rig.bones,
        solver=rig.solver,
        target=f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name,
        frames=frames,
        status=solution.status,
        residual=residual,
        off_plane=off_plane,
        iterations=solution.iterations,
        reach=reach,
        unit_system=unit_system,
        warnings=tuple(_warnings(rig, scale * rig.off_plane, off_plane, frames, reach, unit_system)),
    )


def _warnings(
    rig: RigChain, joints_off: float, targets_off: Floats, frames: np.ndarray, reach: float, unit_system: str
) -> list[str]:
    warnings = []
    if joints_off > FAR_OFF_PLANE * reach:
        warnings.append(
            f"Chain '{rig.name}': its joints are up to {length_text(joints_off, unit_system)} off one plane;"
            " it is solved as seen along the plane's normal"
        )
    worst = int(np.argmax(targets_off))
    if targets_off[worst] > FAR_OFF_PLANE * reach:
        warnings.append(
            f"Chain '{rig.name}': its target is up to {length_text(targets_off[worst], unit_system)} off the"
            f" chain's plane (frame {frames[worst]}); the tip follows it within the plane"
        )
    return warnings


def _world_lengths(to_world: Floats, vectors: Floats) -> Floats:
    """Return the lengths (frames,) in the world of rest-space vectors (frames, 3)."""
    return np.linalg.norm(np.einsum("fij,fj->fi", to_world, vectors), axis=1)


def _scene_of(armature: bpy.types.Object) -> bpy.types.Scene:
    """Return the scene to bake in; raise IK2DError for an object that cannot be baked."""
    if not isinstance(armature, bpy.types.Object) or armature.type != 'ARMATURE':
        name = getattr(armature, "name", armature)
        raise IK2DError(f"'{name}' is not an armature; choose an armature object")
    if not armature.is_editable:
        raise IK2DError(
            f"'{armature.name}' is linked from another file and cannot be keyed;"
            " make a library override of it (Object > Library Override > Make)"
        )
    if armature.mode == 'EDIT':
        raise IK2DError(f"'{armature.name}' is in Edit Mode; leave it (Tab) first")
    if armature.data.pose_position == 'REST':
        raise IK2DError(f"'{armature.name}' shows its rest position; set it to Pose Position first")
    scene = bpy.context.scene
    if scene.objects.get(armature.name) == armature:
        return scene
    if not armature.users_scene:
        raise IK2DError(f"'{armature.name}' is in no scene; link it to one first")
    return armature.users_scene[0]


def _chosen(armature: bpy.types.Object, names: Sequence[str] | None) -> list:
    """Return the settings of the chains named, or of all enabled ones."""
    stored = armature.ik2d.chains
    if names is None:
        chosen = [chain for chain in stored if chain.enabled]
        if not chosen:
            raise IK2DError(
                f"'{armature.name}' has no enabled chain; add one in the IK 2D tab of the sidebar"
            )
        return chosen
    chosen = []
    for name in dict.fromkeys(names):
        if name not in stored:
            known = ", ".join(f"'{chain.name}'" for chain in stored) or "none"
            raise IK2DError(f"'{armature.name}' has no chain '{name}'; its chains are: {known}")
        chosen.append(stored[name])
    if not chosen:
        raise IK2DError("No chain is named; name one or more")
    return chosen


def _refuse_entangled(rigs: list[RigChain]) -> None:
    """Raise IK2DError where two chains share a bone or one moves what the other stands on."""
    for one in rigs:
        below = bones_below(one.armature, one.bones[0])
        for other in rigs:
            if other is one:
                continue
            if shared := set(one.bones) & set(other.bones):
                raise IK2DError(
                    f"Chains '{one.name}' and '{other.name}' share the bone '{min(shared)}';"
                    " disable one of them"
                )
            if other.bones[0] in below or (other.target == one.armature and other.subtarget in below):
                raise IK2DError(
                    f"Chain '{other.name}' depends on the bones of '{one.name}';"
                    f" bake '{one.name}' first, alone"
                )
