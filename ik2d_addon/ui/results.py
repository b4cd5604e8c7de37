# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of a bake's report on the rig, and the operators that lead to the frames that it missed."""

from collections.abc import Iterator

import numpy as np
from bpy.props import StringProperty
from bpy.types import Context, Object, Operator, PropertyGroup, Scene

from ..bake import BakeReport, ChainReport
from ..core import IK2DError
from ..rig.armature import FAR_OFF_PLANE
from .chains import active_armature, active_chain, allowed
from .properties import joints_wanted
from .registration import register_classes, unregister_classes

# Blender keeps 63 bytes of a marker's name; the chain's part of it leaves room for ours.
_NAME_BYTES = 50


# --- Keeping the report ------------------------------------------------------


def store_solve(armature: Object, report: BakeReport) -> None:
    """Note on each chain what came of it, for the sidebar to show."""
    for result, chain in _chains_of(armature, report):
        chain.last_result = "\n".join([result.sentence(), *result.warnings])
        chain.plane_taken = result.plane if chain.plane == 'AUTO' else ""
        chain.is_off_plane = bool(result.off_plane.max() > FAR_OFF_PLANE * result.reach)


def store_bake(armature: Object, report: BakeReport) -> None:
    """Note on the rig and on each of its chains what came of a bake, and which frames it missed."""
    store_solve(armature, report)
    armature.ik2d.last_bake = "\n".join([report.sentence(), *report.warnings])
    armature.ik2d.last_bake_alert = bool(report.warnings) or not report.all_reached
    for result, chain in _chains_of(armature, report):
        runs = missed_runs(result)
        chain.missed_frames = " ".join(f"{a}..{b}" if b > a else f"{a}" for a, b in runs)
        chain.worst_frame = worst_missed_frame(result) if runs else -1


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


def worst_missed_frame(result: ChainReport) -> int:
    """Return the frame furthest from its target, of those that missed it."""
    return int(result.frames[np.argmax(np.where(result.missed, result.errors, -1.0))])


def stored_runs(chain: PropertyGroup) -> Iterator[tuple[int, int]]:
    """Yield the first and last frame of each run that the chain's last bake missed."""
    for run in chain.missed_frames.split():
        first, _, last = run.partition("..")
        yield int(first), int(last or first)


# --- Markers -----------------------------------------------------------------


def mark_frames(chain: PropertyGroup, scene: Scene) -> int:
    """Put markers on the first and the last frame of each run that the chain's last bake missed.

    They replace those that it put for the chain before. Returns the number of runs.
    """
    stem = chain.name.encode()[:_NAME_BYTES].decode(errors="ignore")
    first_name, last_name = f"{stem} missed", f"{stem} missed, end"
    for marker in list(scene.timeline_markers):
        if marker.name in (first_name, last_name):
            scene.timeline_markers.remove(marker)
    runs = list(stored_runs(chain))
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
    if any(chain.missed_frames for chain in armature.ik2d.chains):
        return ""
    return "The last bake missed no frame" if armature.ik2d.last_bake else "Bake first"


def _missed_chain(armature: Object, name: str) -> PropertyGroup:
    """Return the chain of that name; for "" the active one, or the first that missed where it did not.

    Raises IK2DError where there is no such chain, or its last bake missed nothing.
    """
    chains = armature.ik2d.chains
    if name and name not in chains:
        raise IK2DError(f"Armature '{armature.name}' has no chain '{name}'")
    wanted = [chains[name]] if name else [active_chain(armature), *chains]
    for chain in wanted:
        if chain is not None and chain.missed_frames:
            return chain
    raise IK2DError(f"The last bake of chain '{name}' missed no frame")


class _MissedFrames:
    """What the operators on missed frames share."""

    chain: StringProperty(
        name="Chain",
        description="Chain to look at; empty for the active one",
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        return allowed(cls, _why_nothing_missed(context))

    def execute(self, context):
        try:
            chain = _missed_chain(active_armature(context), self.chain)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        self.report({'INFO'}, self.go(context, chain))
        return {'FINISHED'}


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
        context.scene.frame_set(chain.worst_frame)
        return f"Chain '{chain.name}' is furthest from its target at frame {chain.worst_frame}"


class IK2D_OT_mark_frames(_MissedFrames, Operator):
    """Put timeline markers where the frames that the last bake missed begin and end"""

    bl_idname = "ik2d.mark_frames"
    bl_label = "Mark Missed Frames"
    bl_options = {'REGISTER', 'UNDO'}

    @staticmethod
    def go(context: Context, chain: PropertyGroup) -> str:
        """Mark them; return a sentence."""
        runs = mark_frames(chain, context.scene)
        return f"Marked {runs} {'run' if runs == 1 else 'runs'} of frames that chain '{chain.name}' missed"


classes = (IK2D_OT_worst_frame, IK2D_OT_mark_frames)


def register() -> None:
    """Register the operators."""
    register_classes(classes)


def unregister() -> None:
    """Unregister the operators."""
    unregister_classes(classes)
