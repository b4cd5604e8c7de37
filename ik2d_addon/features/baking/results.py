# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that are stored on the rig, whether they are out of date, and operators on missed frames."""

import re
from collections.abc import Callable, Iterator

import bpy
from bpy.types import Context, Object, Operator, PropertyGroup, Scene

from ...bake import BakeReport, ChainReport
from ...bake.keys.clearing import forget_bakes
from ...bake.request import FRAMES
from ...core import IK2DError
from ...core.contacts.runs import runs
from ...core.words import number_of, say
from ...rig.chain.chain import FAR_OFF_PLANE, problem_of
from ...ui.context import active_armature, named_chain, shown_chain
from ...ui.kept import kept
from ...ui.operator import ChainOperator, chain_name
from ...ui.registration import registration
from ...ui.settings.joint_list import joints_wanted
from .staleness import AnimatedPaths, bake_fingerprint, changed_since, options_fingerprint, solve_fingerprint

# Blender keeps 63 bytes of a marker's name; the chain's name gets these.
_NAME_BYTES = 50
# A run of missed frames as text.
_RUN = re.compile(r"(-?\d{1,9})(?:\.\.(-?\d{1,9}))?")


# --- Keeping the report ------------------------------------------------------


def store_solve(armature: Object, report: BakeReport, scene: Scene | None = None) -> None:
    """Store the results of a solve on the rig and its chains, for the sidebar."""
    settings, scene = _owned(armature), scene or bpy.context.scene
    settings.last_solve = _text(report)
    settings.last_solve_alert = bool(report.warnings) or not report.all_reached
    for chain in settings.chains:
        chain.last_solve = chain.solve_mark = ""
    animated = AnimatedPaths.of(armature)
    for result, chain in _chains_of(armature, report):
        chain.last_solve = _text(result)
        _store_plane(chain, result)
        chain.solve_mark = solve_fingerprint(chain, scene, animated)


def _text(report: BakeReport | ChainReport) -> str:
    return "\n".join([report.sentence(), *report.warnings])


def _store_plane(chain: PropertyGroup, result: ChainReport) -> None:
    chain.plane_taken = result.plane if chain.plane == 'AUTO' else ""
    chain.is_off_plane = bool(result.off_plane.max() > FAR_OFF_PLANE * result.reach)


def store_bake(armature: Object, report: BakeReport, scene: Scene | None = None) -> None:
    """Store the results of a bake, with the missed frames, on the rig and its chains."""
    settings, scene = _owned(armature), scene or bpy.context.scene
    settings.last_bake = _text(report)
    settings.last_bake_alert = bool(report.warnings) or not report.all_reached
    settings.bake_mark = options_fingerprint(settings, scene)
    if report.left_out:  # their earlier results no longer hold
        forget_bakes(
            armature,
            [chain for chain in settings.chains if chain.enabled and problem_of(armature, chain)],
        )
    animated = AnimatedPaths.of(armature)
    for result, chain in _chains_of(armature, report):
        chain.last_bake = _text(result)
        chain.bake_reached = result.reached
        _store_plane(chain, result)
        runs = missed_runs(result)
        chain.missed_frames = " ".join(f"{a}..{b}" if b > a else f"{a}" for a, b in runs)
        chain.worst_frame = int(result.frames[result.worst_missed]) if runs else -1
        chain.bake_mark = bake_fingerprint(chain, animated)


# --- Whose results they are --------------------------------------------------


def has_results(armature: Object) -> bool:
    """Return whether the results on a rig are its own; those on a duplicate are the original's."""
    return armature.ik2d.owner == _identity(armature)


def _owned(armature: Object) -> PropertyGroup:
    """Return the settings of a rig, ready for its own results: a duplicate's are dropped."""
    if not has_results(armature):
        forget_all(armature)
    armature.ik2d.owner = _identity(armature)
    return armature.ik2d


def forget_all(armature: Object) -> None:
    """Remove all results from a rig."""
    forget_bakes(armature, armature.ik2d.chains)
    for chain in armature.ik2d.chains:
        chain.property_unset("last_solve")
        chain.property_unset("solve_mark")
    for name in ("last_solve", "last_solve_alert", "owner"):
        armature.ik2d.property_unset(name)


def keep_results(armature: Object) -> None:
    """Make the results on a rig that was read from a file its own: objects get a new identity each session.

    A library override with its library's results still has none of its own.
    """
    settings = armature.ik2d
    if settings.owner and not _inherited(armature):
        settings.owner = _identity(armature)


def drop_copied(armature: Object) -> None:
    """Remove the results that a duplicate has from its original, before they are saved."""
    if armature.ik2d.owner and not has_results(armature) and not _inherited(armature):
        forget_all(armature)


def _inherited(armature: Object) -> bool:
    """Return whether the results on a rig come from its library."""
    reference = armature.override_library.reference if armature.override_library else None
    return reference is not None and reference.ik2d.owner == armature.ik2d.owner


def _identity(armature: Object) -> str:
    return str(armature.session_uid)


# --- Whether they still hold -------------------------------------------------


def bake_is_stale(armature: Object, scene: Scene) -> str:
    """Return the first change since the last bake, in words; "" without any."""
    settings = armature.ik2d
    changed = _first_change(armature, "bake_mark", bake_fingerprint)
    return changed or changed_since(settings.bake_mark, options_fingerprint(settings, scene))


def solve_is_stale(armature: Object, scene: Scene) -> str:
    """Return the first change since the last solve, in words; "" without any."""
    return _first_change(
        armature, "solve_mark", lambda chain, animated: solve_fingerprint(chain, scene, animated), scene
    )


def _first_change(
    armature: Object,
    mark: str,
    fingerprint: Callable[[PropertyGroup, AnimatedPaths], str],
    scene: Scene | None = None,
) -> str:
    """Return the first change since a mark, in words. scene: whose frame counts, if any does."""
    chains = armature.ik2d.chains

    def found() -> str:
        animated = AnimatedPaths.of(armature)
        for chain in chains:
            before = getattr(chain, mark)
            if before and (what := changed_since(before, fingerprint(chain, animated))):
                return say("{what} of '{chain}'", what=what, chain=chain.name) if len(chains) > 1 else what
        return ""

    frame = (scene.session_uid, scene.frame_current_final) if scene is not None else None
    version = frame, [getattr(chain, mark) for chain in chains]
    return kept(armature, mark, version, found, with_targets=True, of_the_frame=scene is not None)


def _chains_of(armature: Object, report: BakeReport) -> Iterator[tuple[ChainReport, PropertyGroup]]:
    """Yield each result with its chain, unless that was removed.

    Chains may be renamed while a bake runs in the window: then bones and target tell whose it is.
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
    """Return whether a chain has a result's bones and target."""
    return (tuple(joints_wanted(chain)), _target_name(chain)) == (result.bones, result.target)


def _target_name(chain: PropertyGroup) -> str:
    """Return the name of a chain's target in reports."""
    if chain.target is None:
        return ""
    return f"{chain.target.name}/{chain.subtarget}" if chain.subtarget else chain.target.name


def missed_runs(result: ChainReport) -> list[tuple[int, int]]:
    """Return the first and last frame of each run of baked frames that missed the target."""
    frames = result.frames
    return [(int(frames[first]), int(frames[end - 1])) for first, end in runs(result.missed)]


def stored_runs(chain: PropertyGroup) -> Iterator[tuple[int, int]]:
    """Yield the first and last frame of each run that the last bake missed; raise IK2DError if damaged."""
    for run in chain.missed_frames.split():
        if not (found := _RUN.fullmatch(run)):
            raise _damaged(chain)
        first, last = int(found[1]), int(found[2] or found[1])
        if not -FRAMES <= first <= last <= FRAMES:
            raise _damaged(chain)
        yield first, last


def _damaged(chain: PropertyGroup) -> IK2DError:
    return IK2DError(
        say("The missed frames that are noted on chain '{chain}' are damaged; bake again", chain=chain.name)
    )


# --- Markers -----------------------------------------------------------------


def mark_frames(chain: PropertyGroup, scene: Scene) -> int:
    """Put markers on the first and last frame of each run that the chain's last bake missed.

    They replace the chain's earlier ones. Returns the number of runs. Raises IK2DError if these are damaged.
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
    """Return why there is no missed frame to go to; "" if there is one."""
    armature = active_armature(context)
    if armature is None:
        return say("Make an armature the active object")
    if not (has_results(armature) and armature.ik2d.last_bake):
        return say("Bake first")
    missed = any(chain.missed_frames for chain in armature.ik2d.chains)
    return "" if missed else say("The last bake missed no frame")


def _missed_chain(context: Context, name: str) -> PropertyGroup:
    """Return the named chain, else the active one or the first that missed; raise IK2DError if none did."""
    chains = active_armature(context).ik2d.chains
    wanted = [named_chain(context, name)] if name else [shown_chain(context), *chains]
    for chain in wanted:
        if chain is not None and chain.missed_frames:
            return chain
    raise IK2DError(say("The last bake of chain '{name}' missed no frame", name=name))


class _MissedFrames(ChainOperator):
    """Base of the operators on missed frames."""

    chain: chain_name("Chain to look at; empty for the active one")

    why_not = staticmethod(_why_nothing_missed)

    def work(self, context):
        return self.go(context, _missed_chain(context, self.chain))


class IK2D_OT_worst_frame(_MissedFrames, Operator):
    """Go to the frame on which the last bake missed the target most"""

    bl_idname = "ik2d.worst_frame"
    bl_label = "Go to Worst Frame"
    # As with Blender's own frame jumps, many in a row are one undo step.
    bl_options = {'REGISTER', 'UNDO_GROUPED'}
    bl_undo_group = "Frame Change"

    @staticmethod
    def go(context: Context, chain: PropertyGroup) -> str:
        """Set the frame; return a sentence."""
        if not -FRAMES <= chain.worst_frame <= FRAMES:
            raise _damaged(chain)
        context.scene.frame_set(chain.worst_frame)
        return say(
            "Chain '{chain}' is furthest from its target at frame {frame}",
            chain=chain.name,
            frame=chain.worst_frame,
        )


class IK2D_OT_mark_frames(_MissedFrames, Operator):
    """Put timeline markers where the frames that the last bake missed begin and end"""

    bl_idname = "ik2d.mark_frames"
    bl_label = "Mark Missed Frames"

    @staticmethod
    def go(context: Context, chain: PropertyGroup) -> str:
        """Mark the frames; return a sentence."""
        runs = number_of(mark_frames(chain, context.scene), "run")
        return say("Marked {runs} of frames that chain '{chain}' missed", runs=runs, chain=chain.name)


classes = (IK2D_OT_worst_frame, IK2D_OT_mark_frames)
register, unregister = registration(classes)
