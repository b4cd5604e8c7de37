# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of a chain's target over the frames, calculated on request and kept until a file is loaded."""

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Object, Operator, PropertyGroup, Scene

from ...bake.keys.keying import KeyPlan
from ...bake.keys.posts import keyed_posts, on_posts
from ...bake.now import solve_samples
from ...bake.request import chosen_range
from ...core.solution import drained
from ...core.words import say
from ...rig.chain.chain import read_chain
from ...rig.pose.keyed_pose import NeighborPoses
from ...rig.pose.target_plane import facing_target
from ...rig.scene.lengths.slide_locations import without_slides
from ...rig.scene.live_pause import live_paused
from ...rig.scene.sampler import sample_steps
from ...ui.context import active_armature, shown_chain
from ...ui.operator import ChainOperator
from ...ui.parts import entry
from ...ui.registration import registration
from .figure import TargetPath
from .settings import listeners, overlay_settings

# The most frames of a path: of more, it takes every second or third.
FRAMES = 1000
# Calculated paths, by the armatures' session UIDs and the chains' names.
_paths: dict[tuple[int, str], TargetPath] = {}


def path_of(chain: PropertyGroup) -> TargetPath | None:
    """Return the calculated path of a chain; None without one."""
    return _paths.get((chain.id_data.session_uid, chain.name))


@live_paused()
def find_path(armature: Object, chain: PropertyGroup, scene: Scene) -> TargetPath:
    """Return the path of a chain's target on the frames of its range, and the frames that it misses.

    The scene is on the same frame afterwards. Raises IK2DError as a bake does.
    """
    first, last, step = chosen_range(armature, scene)
    step = max(step, -(-(last - first + 1) // FRAMES))
    frames = np.arange(first, last + 1, step)
    rig, times = read_chain(armature, chain), frames.astype(float).tolist()
    plan = KeyPlan.every(times)
    with on_posts(scene, plan, drained(keyed_posts(scene, [rig], plan, None, fully=True))):
        (shown,) = drained(sample_steps(scene, [rig], times)).chains
    rig = facing_target(rig, without_slides(scene, rig, shown, times))
    solved = solve_samples(scene, rig, shown, times, NeighborPoses(), fully=True)
    missed = ~solved.solution.arrived | (solved.miss.off_plane > solved.tolerance)
    return TargetPath(frames, shown.targets, missed)


class IK2D_OT_target_path(ChainOperator, Operator):
    """Draw where the active chain's target goes over the frames, and where the chain cannot follow it"""

    bl_idname = "ik2d.target_path"
    bl_label = "Calculate Path"
    bl_options = {'REGISTER'}  # nothing of the file changes

    def work(self, context):
        armature, chain = active_armature(context), shown_chain(context)
        path = _paths[armature.session_uid, chain.name] = find_path(armature, chain, context.scene)
        settings = overlay_settings()
        for name in ("path", "show"):
            if not getattr(settings, name):
                setattr(settings, name, True)
        for listener in listeners:
            listener()
        missed = int(path.missed.sum())
        if not missed:
            return say(
                "Chain '{chain}' can follow its target on all {count} frames",
                chain=chain.name,
                count=len(path.frames),
            )
        return say(
            "Chain '{chain}' cannot follow its target on {missed} of {count} frames",
            chain=chain.name,
            missed=missed,
            count=len(path.frames),
        )


@persistent
def _forget_paths(*_arguments) -> None:
    """Forget the paths of the file before: its objects are gone."""
    _paths.clear()


HEADINGS = {"targets-path": "target_path"}
MENU = {"bake": [entry("ik2d.target_path", 'ANIM')]}
classes = (IK2D_OT_target_path,)
_register_classes, _unregister_classes = registration(classes)


def register() -> None:
    """Register the operator."""
    _register_classes()
    bpy.app.handlers.load_post.append(_forget_paths)


def unregister() -> None:
    """Unregister it, and forget the paths."""
    bpy.app.handlers.load_post.remove(_forget_paths)
    _unregister_classes()
    _paths.clear()
