# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's handlers for a new frame or a move: live chains follow their targets, and nothing is keyed."""

from contextlib import suppress

import bpy
from bpy.app.handlers import persistent

from ..core import IK2DError
from ..core.words import say
from ..rig.chain.paths.follow import followed
from ..rig.chain.readable import in_words
from ..rig.scene import live_pause
from ..rig.scene.bone_constraints import is_joint_limit, sentences
from .kept.cache import Kept, frame_of
from .limits import acting
from .mechanism import Live, LiveMechanism
from .registry import RIGS, live_settings, settings_of
from .turns import LiveTurn
from .writing import PoseWrites

# Seconds between two turns in idle time.
_IDLE = 0.02


def follow(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    *,
    frame_changed: bool,
    concerned: set[Live] | None = None,
) -> None:
    """Pose live chains as a depsgraph shows their targets now, each after the chains that it hangs on.

    concerned: those that may have moved; None for all.
    """
    if live_pause.pauses:
        live_pause.skipped = True
        return
    # Chains that are left as they are: shown as they were kept, or of no concern to an update.
    left = _shown_as_kept(scene, depsgraph) if frame_changed else set()
    if left and len(left) == len(RIGS.chains) and not RIGS.is_marked:
        return
    read = RIGS.chains
    for _ in range(2):  # again where some must be read again
        if not RIGS.settle():
            return
        if concerned is not None:
            keys = {chain.key for chain in concerned}  # some were read again
            others = {chain for key, chain in RIGS.chains.items() if not (key in keys or chain.is_fresh)}
            left = others if RIGS.chains is read else set()
        if _follow_all(scene, depsgraph, frame_changed, left):
            break
        left, concerned = set(), None
    if frame_changed and not RIGS.is_marked:
        try:
            _keep(scene, depsgraph, left)
        except Exception:  # without it, each frame is followed
            RIGS.kept = None


def _shown_as_kept(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> set[Live]:
    """Return the chains that a depsgraph shows as they were kept."""
    if RIGS.kept is None:
        return set()
    try:
        chains = RIGS.kept.shown(scene, depsgraph)
    except Exception:  # something of them is gone
        chains, RIGS.kept = set(), None
    if RIGS.problems:
        for chain in chains:
            RIGS.problems.pop(chain.key, None)
    return chains


def _keep(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, shown: set[Live]) -> None:
    """Keep the frame that is shown. shown: the chains that were kept already."""
    RIGS.frames += 1
    if RIGS.kept is None and RIGS.frames > 1:  # frames follow one another, without edits in between
        RIGS.kept = Kept(RIGS.rounds)
    if RIGS.kept is not None and len(shown) < len(RIGS.chains):
        frame = frame_of(scene)
        followed = {
            chain
            for key, chain in RIGS.chains.items()
            if chain.followed_on == frame and key not in RIGS.problems
        }
        RIGS.kept.note(scene, depsgraph, followed)
    if RIGS.kept is not None and not bpy.app.background and not bpy.app.timers.is_registered(_fill):
        bpy.app.timers.register(_fill, first_interval=_IDLE)


def _follow_all(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, frame_changed: bool, shown: set[Live]
) -> bool:
    """Pose all live chains but those that are shown as they are, round by round.

    Returns False if some must be read again.
    """
    settled = True
    for number, ready in enumerate(RIGS.rounds):
        followed = [chain for chain in ready if chain not in shown]
        writes = {chain.armature: PoseWrites(chain.armature) for chain in followed}
        changed = False
        for chain in followed:
            try:
                changed |= _follow(chain, scene, depsgraph, frame_changed, writes[chain.armature])
            except IK2DError as error:
                RIGS.problems[chain.key] = str(error)
            except UnicodeDecodeError as error:  # a name that is no text
                RIGS.problems[chain.key] = in_words(error)
            except (ReferenceError, LookupError, AttributeError) as error:
                if chain.is_fresh:
                    _turn_off(chain, scene, error)
                else:  # a bone, the target, or the armature itself is gone
                    RIGS.read_again(chain)
                    settled = False
            except Exception as error:  # it would come again on every frame
                _turn_off(chain, scene, error)
        for each in writes.values():
            with suppress(ReferenceError, LookupError, AttributeError):
                each.write()
        if changed and number < len(RIGS.rounds) - 1:  # for the chains that hang on these
            _evaluate_again(scene, depsgraph)
            shown = set()
        if settled and not frame_changed:
            RIGS.updates.note(followed, depsgraph)
    return settled


def _evaluate_again(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Evaluate the written channels, inside a handler."""
    # After an object was hidden or shown Blender 5.0 crashes here: it has copied the scene and forgets to
    # list the copy's objects, which it does for a scene that is tagged.
    if depsgraph.id_type_updated('COLLECTION'):
        scene.update_tag()
    depsgraph.update()


def _follow(
    chain: Live,
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    frame_changed: bool,
    writes: PoseWrites,
) -> bool:
    """Pose one chain; return whether it had to be turned."""
    data = chain.armature.data
    if data.is_editmode or data.pose_position == 'REST':
        shown = say("is in Edit Mode") if data.is_editmode else say("is in Rest Position")
        RIGS.problems[chain.key] = say(
            "'{armature}' {shown}, where it shows its rest pose", armature=chain.armature.name, shown=shown
        )
        return False
    if isinstance(chain, LiveMechanism):
        now = chain.follow(scene, depsgraph, frame_changed)
        chain.is_fresh = False
        RIGS.problems.pop(chain.key, None)
        if now is None or not chain.may_pose(scene, list(now.turns.values()), frame_changed):
            return False
        return chain.write(now, depsgraph, frame_changed, writes)
    controls = chain.other_controls(depsgraph)
    limits = [control for control in controls if is_joint_limit(chain.rig, control)]
    if len(limits) < len(controls):
        RIGS.problems[chain.key] = " ".join(sentences(chain.name, controls))
        return chain.pause(depsgraph, writes)
    turns = chain.follow(scene, depsgraph)
    chain.is_fresh = False
    if RIGS.problems:
        RIGS.problems.pop(chain.key, None)
    if turns is not None and limits:
        bones = chain.armature.evaluated_get(depsgraph).pose.bones
        if acting_limits := acting(chain.rig, limits, bones, turns, chain.post_rotation):
            RIGS.problems[chain.key] = " ".join(sentences(chain.name, acting_limits))
    if turns is None or not chain.may_pose(scene, chain.pose_of(turns), frame_changed):
        return False
    return chain.write(turns, writes)


def _turn_off(chain: Live, scene: bpy.types.Scene, error: Exception) -> None:
    """Turn Live off for a chain that fails, and say so once."""
    with suppress(ReferenceError):  # the armature is gone too
        settings = settings_of(chain)
        if settings is not None:
            settings.live = False
    RIGS.failures[chain.key] = say(
        "Live was turned off on frame {frame:g}: it failed with {kind}: {error}. Pose This "
        "Frame and Bake may tell more; please report it",
        frame=scene.frame_current_final,
        kind=type(error).__name__,
        error=error,
    )
    RIGS.mark()


# --- Called by Blender -------------------------------------------------------


@persistent
def _frame_changes(scene, _depsgraph=None) -> None:
    if RIGS.kept is None or live_pause.pauses:
        return
    with LiveTurn() as is_ours:
        if not is_ours or RIGS.kept is None:
            return
        try:
            RIGS.kept.pose(scene)
        except Exception:  # after the evaluation it comes again, where it is said
            RIGS.kept = None


def _fill() -> float | None:
    """Solve frames to come in idle time; return when to go on, in seconds, or None at the end."""
    if live_pause.pauses:
        return _IDLE
    with LiveTurn() as is_ours:
        try:
            if not is_ours or RIGS.kept is None or RIGS.is_marked:
                return None
            scene, goes_on = bpy.context.scene, RIGS.kept.fill(bpy.context.scene)
            depsgraph = bpy.context.view_layer.depsgraph
            if depsgraph is not None and (posed := RIGS.kept.show(scene)):
                RIGS.updates.note(posed, depsgraph)
            return _IDLE if goes_on else None
        except Exception:  # where the frame is shown it comes again, and is said
            RIGS.kept = None
            return None


@persistent
def _frame_changed(scene, depsgraph=None) -> None:
    if depsgraph is None:
        return
    if live_pause.pauses:  # one of the frames that a bake looks at
        live_pause.skipped = True
        return
    with LiveTurn() as is_ours:
        if not is_ours:
            return
        if depsgraph.id_type_updated('COLLECTION'):  # objects came or went, or are shown elsewhere
            _take_back(scene, depsgraph)
            RIGS.mark_collections()
        elif RIGS.rounds and depsgraph.id_type_updated('ARMATURE'):
            if RIGS.rest_changed():
                _take_back(scene, depsgraph)
                RIGS.mark()
            elif RIGS.kept is not None:
                RIGS.kept.forget_edited(depsgraph)
        if RIGS.kept is not None:
            RIGS.kept.forget_grounds(depsgraph)
        follow(scene, depsgraph, frame_changed=True)
        tell_windows()


def _take_back(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Take back what was written for a frame before an edit was known, and show the frame without it."""
    if RIGS.kept is not None and RIGS.kept.take_back():
        _evaluate_again(scene, depsgraph)


@persistent
def _updated(scene, depsgraph=None) -> None:
    if depsgraph is None:
        return
    with LiveTurn() as is_ours:
        if not is_ours:
            return
        if depsgraph.id_type_updated('COLLECTION'):
            RIGS.mark_collections(depsgraph)
        concerned = RIGS.concerned(depsgraph)
        follow(scene, depsgraph, frame_changed=False, concerned=concerned)
        tell_windows()


@persistent
def _everything_changed(*_arguments) -> None:
    """Forget all readings after loading, undo and redo: what they refer to may be gone."""
    RIGS.drop()


@persistent
def _loaded(*_arguments) -> None:
    """Show the frame again: after loading, Blender plays all keys and calls no handler."""
    RIGS.drop()
    scene = bpy.context.scene
    if scene is not None and next(live_settings(), None) is not None:
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def _pause_ended() -> None:
    """Have the armatures of live chains evaluated: a pause left their own pose, whatever else it changed."""
    RIGS.mark_collections()
    for armature, _index, _chain in live_settings():
        armature.update_tag()


def _list_followed() -> None:
    """Read the live chains again after some were moved in their list: they know their indices and paths."""
    RIGS.mark()


_HANDLERS = {
    "frame_change_pre": _frame_changes,
    "frame_change_post": _frame_changed,
    "depsgraph_update_post": _updated,
    "load_pre": _everything_changed,
    "load_post": _loaded,
    "undo_pre": _everything_changed,
    "undo_post": _everything_changed,
    "redo_pre": _everything_changed,
    "redo_post": _everything_changed,
}


def register() -> None:
    """Add the handlers to Blender's."""
    RIGS.drop()
    live_pause.ended.append(_pause_ended)
    followed.append(_list_followed)
    for name, function in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(function)


def unregister() -> None:
    """Remove them."""
    for name, function in _HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(function)
    if bpy.app.timers.is_registered(_fill):
        bpy.app.timers.unregister(_fill)
    live_pause.ended.remove(_pause_ended)
    followed.remove(_list_followed)
    RIGS.drop()


_TAB = "IK 2D"
_told: list[object] = []


def tell_windows() -> None:
    """Redraw the sidebars with the tab if live chains say something new; not while playing."""
    if bpy.app.background or not (RIGS.chains or RIGS.problems or RIGS.failures or _told):
        return
    says: list[object] = [*RIGS.problems.items(), *RIGS.failures.items()]
    for chain in RIGS.chains.values():
        outcome = chain.outcome
        says.append(outcome and (outcome.status, *(f"{length:.4g}" for length in outcome.measures)))
    if says == _told:
        return
    for window in bpy.context.window_manager.windows:
        if not window.screen.is_animation_playing:
            for area in window.screen.areas:
                for region in area.regions if area.type == 'VIEW_3D' else ():
                    if region.type == 'UI' and getattr(region, "active_panel_category", _TAB) == _TAB:
                        region.tag_redraw()
    _told[:] = says
