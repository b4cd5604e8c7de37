# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of a report on the rig, whether it still holds, and the way to the missed frames."""

import re
from collections.abc import Iterator

import bpy
import numpy as np
from bpy.types import Context, Object, Operator, PropertyGroup, Scene

from ...bake import BakeReport, ChainReport
from ...bake.keys.clearing import forget_bake
from ...bake.request import FRAMES
from ...core import IK2DError
from ...rig.chain.chain import FAR_OFF_PLANE, problem_of
from ...ui.context import active_armature, named_chain, shown_chain
from ...ui.operator import ChainOperator, chain_name
from ...ui.registration import registration
from ...ui.settings.joint_list import joints_wanted
from .staleness import AnimatedPaths, bake_fingerprint, changed_since, options_fingerprint, solve_fingerprint

# Blender keeps 63 bytes of a marker's name; the chain's part of it leaves room for ours.
_NAME_BYTES = 50
# A run of missed frames, as it is stored.
_RUN = re.compile(r"(-?\d{1,9})(?:\.\.(-?\d{1,9}))?")


# --- Keeping the report ------------------------------------------------------


def store_solve(armature: Object, report: BakeReport, scene: Scene | None = None) -> None:
    """Note on the rig and on each of its chains what came of a solve, for the sidebar to show."""
    settings, scene = _owned(armature), scene or bpy.context.scene
    settings.last_solve = "\n".join([report.sentence(), *report.warnings])
    settings.last_solve_alert = bool(report.warnings) or not report.all_reached
    for chain in settings.chains:
        chain.last_solve = chain.solve_mark = ""
    animated = AnimatedPaths.of(armature)
    for result, chain in _chains_of(armature, report):
        chain.last_solve = "\n".join([result.sentence(), *result.warnings])
        _store_plane(chain, result)
        chain.solve_mark = solve_fingerprint(chain, scene, animated)


def _store_plane(chain: PropertyGroup, result: ChainReport) -> None:
    chain.plane_taken = result.plane if chain.plane == 'AUTO' else ""
    chain.is_off_plane = bool(result.off_plane.max() > FAR_OFF_PLANE * result.reach)


def store_bake(armature: Object, report: BakeReport, scene: Scene | None = None) -> None:
    """Note on the rig and on each of its chains what came of a bake, and which frames it missed."""
    settings, scene = _owned(armature), scene or bpy.context.scene
    settings.last_bake = "\n".join([report.sentence(), *report.warnings])
    settings.last_bake_alert = bool(report.warnings) or not report.all_reached
    settings.bake_mark = options_fingerprint(settings, scene)
    if report.left_out:  # what came of these before is not theirs any more
        for chain in settings.chains:
            if chain.enabled and problem_of(armature, chain):
                forget_bake(chain)
    animated = AnimatedPaths.of(armature)
    for result, chain in _chains_of(armature, report):
        chain.last_bake = "\n".join([result.sentence(), *result.warnings])
        chain.bake_reached = result.reached
        _store_plane(chain, result)
        runs = missed_runs(result)
        chain.missed_frames = " ".join(f"{a}..{b}" if b > a else f"{a}" for a, b in runs)
        chain.worst_frame = int(result.frames[result.worst_missed]) if runs else -1
        chain.bake_mark = bake_fingerprint(chain, animated)


def forget_solve(chain: PropertyGroup) -> None:
    """Do the same for its last solve."""
    chain.property_unset("last_solve")
    chain.property_unset("solve_mark")
    settings = chain.id_data.ik2d
    if not any(other.last_solve for other in settings.chains):
        settings.property_unset("last_solve")
        settings.property_unset("last_solve_alert")


# --- Whose results they are --------------------------------------------------


def has_results(armature: Object) -> bool:
    """Return whether what is noted on a rig came of its own solves and bakes: a copy's did not."""
    return armature.ik2d.owner == _identity(armature)


def _owned(armature: Object) -> PropertyGroup:
    """Return the settings of a rig that gets results: without those that it has as a copy."""
    if not has_results(armature):
        forget_all(armature)
    armature.ik2d.owner = _identity(armature)
    return armature.ik2d


def forget_all(armature: Object) -> None:
    """Forget all results on a rig."""
    for chain in armature.ik2d.chains:
        forget_bake(chain)
        forget_solve(chain)
    armature.ik2d.property_unset("owner")


def keep_results(armature: Object) -> None:
    """Note on a rig that was just read from a file that its results are its own.

    Objects have another identity in each session. A library override that shows its library's results
    keeps on having none.
    """
    settings = armature.ik2d
    if settings.owner and not _inherited(armature):
        settings.owner = _identity(armature)


def drop_copied(armature: Object) -> None:
    """Forget results that a rig has as a copy of another, before they are saved with it."""
    if armature.ik2d.owner and not has_results(armature) and not _inherited(armature):
        forget_all(armature)


def _inherited(armature: Object) -> bool:
    """Return whether the results on a rig are those of its library."""
    reference = armature.override_library.reference if armature.override_library else None
    return reference is not None and reference.ik2d.owner == armature.ik2d.owner


def _identity(armature: Object) -> str:
    return str(armature.session_uid)


# --- Whether they still hold -------------------------------------------------


def bake_is_stale(armature: Object, scene: Scene) -> str:
    """Return what has changed since the last bake, in words; "" where nothing has."""
    settings, animated = armature.ik2d, AnimatedPaths.of(armature)
    for chain in settings.chains:
        if chain.bake_mark and (what := changed_since(chain.bake_mark, bake_fingerprint(chain, animated))):
            return f"{what} of '{chain.name}'" if len(settings.chains) > 1 else what
    return changed_since(settings.bake_mark, options_fingerprint(settings, scene))


def solve_is_stale(armature: Object, scene: Scene) -> str:
    """Return what has changed since the last solve, in words; "" where nothing has."""
    settings, animated = armature.ik2d, AnimatedPaths.of(armature)
    for chain in settings.chains:
        if chain.solve_mark and (
            what := changed_since(chain.solve_mark, solve_fingerprint(chain, scene, animated))
        ):
            return f"{what} of '{chain.name}'" if len(settings.chains) > 1 else what
    return ""


def _chains_of(armature: Object, report: BakeReport) -> Iterator[tuple[ChainReport, PropertyGroup]]:
    """Yield each result with its chain, under whatever name it goes by now; none whose chain is gone.

    A bake in the window leaves time to rename chains: so one with the result's bones and target is
    its chain, first of all the one that still has its name.
    """
    results, chains = list(report.chains), list(armature.ik2d.chains)
    for renamed in (False, True):
        for result in list(results):
            for chain in chains:
                if _is_about(result, chain) and (chain.enabled if renamed else chain.name == result.name):
                    yield result, chain
                    results.remove(result)
                    chains.remove(chain)
                    break


def _is_about(result: ChainReport, chain: PropertyGroup) -> bool:
    """Return whether a chain has the bones and the target that a result speaks of."""
    return (tuple(joints_wanted(chain)), _target_name(chain)) == (result.bones, result.target)


def _target_name(chain: PropertyGroup) -> str:
    """Return a chain's target as reports name it."""
    if chain.target is None:
        return ""
    return f"{chain.target.name}/{chain.subtarget}" if chain.subtarget else chain.target.name


def missed_runs(result: ChainReport) -> list[tuple[int, int]]:
    """Return the first and last frame of each unbroken run of baked frames that missed the target."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], result.missed, [False]))))
    frames = result.frames
    return [(int(frames[a]), int(frames[b - 1])) for a, b in edges.reshape(-1, 2)]


def stored_runs(chain: PropertyGroup) -> Iterator[tuple[int, int]]:
    """Yield the first and last frame of each run that the chain's last bake missed.

    Raises IK2DError where what is stored is no such thing.
    """
    for run in chain.missed_frames.split():
        if not (found := _RUN.fullmatch(run)):
            raise _damaged(chain)
        first, last = int(found[1]), int(found[2] or found[1])
        if not -FRAMES <= first <= last <= FRAMES:
            raise _damaged(chain)
        yield first, last


def _damaged(chain: PropertyGroup) -> IK2DError:
    return IK2DError(f"The missed frames that are noted on chain '{chain.name}' are damaged; bake again")


# --- Markers -----------------------------------------------------------------


def mark_frames(chain: PropertyGroup, scene: Scene) -> int:
    """Put markers on the first and the last frame of each run that the chain's last bake missed.

    They replace those that it put for the chain before. Returns the number of runs. Raises IK2DError
    where what is noted on the chain is damaged.
    """
    runs = list(stored_runs(chain))
    stem = chain.name.encode()[:_NAME_BYTES].decode(errors="ignore")
    first_name, last_name = f"{stem} missed", f"{stem} missed, end"
    for marker in list(scene.timeline_markers):
        if marker.name in (first_name, last_name):
            scene.timeline_markers.remove(marker)
    for first, last in runs:
        scene.timeline_markers.new(first_name, frame=first)
        if last > first:
            scene.timeline_markers.new(last_name, frame=last)
    return len(runs)


# --- Operators ---------------------------------------------------------------


def _why_nothing_missed(context: Context) -> str:
    """Say why there is no missed frame to go to; "" where there is one."""
    armature = active_armature(context)
    if armature is None:
        return "Make an armature the active object"
    if not (has_results(armature) and armature.ik2d.last_bake):
        return "Bake first"
    missed = any(chain.missed_frames for chain in armature.ik2d.chains)
    return "" if missed else "The last bake missed no frame"


def _missed_chain(context: Context, name: str) -> PropertyGroup:
    """Return the chain of that name; for "" the active one, or the first that missed where it did not.

    Raises IK2DError where there is no such chain, or its last bake missed nothing.
    """
    chains = active_armature(context).ik2d.chains
    wanted = [named_chain(context, name)] if name else [shown_chain(context), *chains]
    for chain in wanted:
        if chain is not None and chain.missed_frames:
            return chain
    raise IK2DError(f"The last bake of chain '{name}' missed no frame")


class _MissedFrames(ChainOperator):
    """What the operators on missed frames share."""

    chain: chain_name("Chain to look at; empty for the active one")

    why_not = staticmethod(_why_nothing_missed)

    def work(self, context):
        return self.go(context, _missed_chain(context, self.chain))


class IK2D_OT_worst_frame(_MissedFrames, Operator):
    """Go to the frame on which the last bake missed the target most"""

    bl_idname = "ik2d.worst_frame"
    bl_label = "Go to Worst Frame"
    # As Blender's own jumps in time: many in a row are one step to undo.
    bl_options = {'REGISTER', 'UNDO_GROUPED'}
    bl_undo_group = "Frame Change"

    @staticmethod
    def go(context: Context, chain: PropertyGroup) -> str:
        """Show the frame; return a sentence."""
        if not -FRAMES <= chain.worst_frame <= FRAMES:
            raise _damaged(chain)
        context.scene.frame_set(chain.worst_frame)
        return f"Chain '{chain.name}' is furthest from its target at frame {chain.worst_frame}"


class IK2D_OT_mark_frames(_MissedFrames, Operator):
    """Put timeline markers where the frames that the last bake missed begin and end"""

    bl_idname = "ik2d.mark_frames"
    bl_label = "Mark Missed Frames"

    @staticmethod
    def go(context: Context, chain: PropertyGroup) -> str:
        """Mark them; return a sentence."""
        runs = mark_frames(chain, context.scene)
        return f"Marked {runs} {'run' if runs == 1 else 'runs'} of frames that chain '{chain.name}' missed"


classes = (IK2D_OT_worst_frame, IK2D_OT_mark_frames)
register, unregister = registration(classes)
