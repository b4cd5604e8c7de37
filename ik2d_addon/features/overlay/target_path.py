# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a chain's target goes over the frames, worked out when asked and kept until the next file."""

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Object, Operator, PropertyGroup, Scene

from ...bake.pipeline import solve_samples
from ...bake.request import chosen_range
from ...rig.chain.chain import read_chain
from ...rig.pose.keyed_pose import NeighborPoses
from ...rig.pose.target_plane import facing_target
from ...rig.scene.live_pause import live_paused
from ...rig.scene.sampler import sample_steps
from ...rig.scene.samples import finished
from ...rig.scene.slide_locations import without_slides
from ...ui.context import active_armature, shown_chain
from ...ui.operator import ChainOperator
from ...ui.registration import register_classes, unregister_classes
from ...ui.settings.overlay import listeners, overlay_settings
from .figure import TargetPath

# More frames than these are not looked at: the path takes every second or third of more.
FRAMES = 1000
# The paths that were worked out, by the armatures' identities and the chains' names.
_paths: dict[tuple[int, str], TargetPath] = {}


def path_of(chain: PropertyGroup) -> TargetPath | None:
    """Return a chain's path that was worked out; None where none was."""
    return _paths.get((chain.id_data.session_uid, chain.name))


@live_paused()
def find_path(armature: Object, chain: PropertyGroup, scene: Scene) -> TargetPath:
    """Return where a chain's target is on the frames of its range, and where the chain cannot follow it.

    The scene shows afterwards what it showed before. Raises IK2DError as a bake does.
    """
    first, last, step = chosen_range(armature, scene)
    step = max(step, -(-(last - first + 1) // FRAMES))
    frames = np.arange(first, last + 1, step)
    rig, times = read_chain(armature, chain), frames.astype(float).tolist()
    (shown,) = finished(sample_steps(scene, [rig], times)).chains
    rig = facing_target(rig, without_slides(scene, rig, shown, times))
    solved = solve_samples(scene, rig, shown, times, NeighborPoses(), fully=True)
    missed = ~solved.solution.reached | (solved.off_plane > solved.tolerance)
    return TargetPath(frames, shown.targets, missed)


class IK2D_OT_target_path(ChainOperator, Operator):
    """Draw where the active chain's target goes over the frames, and where the chain cannot follow it"""

    bl_idname = "ik2d.target_path"
    bl_label = "Calculate Path"
    bl_options = {'REGISTER'}  # nothing of the file changes

    def work(self, context):
        armature, chain = active_armature(context), shown_chain(context)
        path = _paths[armature.session_uid, chain.name] = find_path(armature, chain, context.scene)
        show_overlay("path")
        return _sentence(chain.name, path)


def show_overlay(part: str) -> None:
    """Switch on a part of the overlay, and all of it where it is off."""
    settings = overlay_settings()
    for name in (part, "show"):
        if not getattr(settings, name):
            setattr(settings, name, True)
    for listener in listeners:
        listener()


def _sentence(name: str, path: TargetPath) -> str:
    missed = int(path.missed.sum())
    if not missed:
        return f"Chain '{name}' can follow its target on all {len(path.frames)} frames"
    return f"Chain '{name}' cannot follow its target on {missed} of {len(path.frames)} frames"


class IK2D_OT_target_path_clear(ChainOperator, Operator):
    """Draw the path of the active chain's target no more"""

    bl_idname = "ik2d.target_path_clear"
    bl_label = "Clear Path"
    bl_options = {'REGISTER'}  # nothing of the file changes

    @staticmethod
    def why_not(context):
        chain = shown_chain(context)
        if chain is None:
            return "Add a chain first"
        return "" if path_of(chain) is not None else "There is no path; calculate it first"

    def work(self, context):
        chain = shown_chain(context)
        del _paths[chain.id_data.session_uid, chain.name]
        for listener in listeners:
            listener()


@persistent
def _forget_paths(*_arguments) -> None:
    """After loading: objects have other identities."""
    _paths.clear()


classes = (IK2D_OT_target_path, IK2D_OT_target_path_clear)


def register() -> None:
    """Register the operators."""
    register_classes(classes)
    bpy.app.handlers.load_post.append(_forget_paths)


def unregister() -> None:
    """Unregister them, and forget the paths."""
    bpy.app.handlers.load_post.remove(_forget_paths)
    unregister_classes(classes)
    _paths.clear()
