# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers that follow renamed bones and undo, keep results with their rig and prepare library overrides."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import bpy
from bpy.app.handlers import persistent

from ...core import IK2DError
from ...rig.chain.fingerprint import followed_by
from ...rig.chain.renames import straighten, with_settings
from ...ui.context import active_chain, followers, follows
from ..baking.results import drop_copied, keep_results

# The session_uid of the last active object, to notice another one.
_last_active = 0


def rigs() -> Iterator[bpy.types.Object]:
    """Yield the editable armatures that have chains."""
    for armature in with_settings(bpy.data.objects):
        if armature.is_editable and len(armature.ik2d.chains):
            yield armature


def _for_all_rigs(work: Callable[[bpy.types.Object], object]) -> Callable[..., None]:
    """Return a handler that calls a function with each rig."""

    @persistent
    def handler(*_arguments) -> None:
        for rig in list(rigs()):
            with suppress(IK2DError, UnicodeDecodeError):  # the panel says it
                work(rig)

    return handler


@persistent
def _show_chain_of_target(scene, _depsgraph) -> None:
    """Make a chain the active one in the list when its target or pole becomes the active object."""
    global _last_active
    active = getattr(bpy.context, "active_object", None)
    identity = active.session_uid if active is not None else 0
    if identity == _last_active:
        return
    _last_active = identity
    if active is None or active.type == 'ARMATURE':
        return
    for rig in followers(scene, active):
        if rig.is_editable and not follows(active_chain(rig), active):
            chains = rig.ik2d.chains
            rig.ik2d.active_index = next(i for i, chain in enumerate(chains) if follows(chain, active))


@persistent
def _prepare_overrides(*_arguments) -> None:
    """Have Blender compare each override with its library setting by setting when it saves.

    If the library's object has no settings, Blender 5.0 stores that all were replaced at once, and fails
    to do so on loading. One setting there with its default value, in memory only, is enough.
    """
    for rig in rigs():
        reference = rig.override_library.reference if rig.override_library else None
        if reference is not None and not reference.is_property_set("ik2d"):
            reference.ik2d.active_index = 0


@persistent
def _follow_edits(_scene, depsgraph) -> None:
    """Follow edited bones after any change; the cheap test comes first."""
    if not depsgraph.id_type_updated('ARMATURE'):
        return
    edited = {update.id.original for update in depsgraph.updates if isinstance(update.id, bpy.types.Armature)}
    for rig in list(rigs()):
        nodes = [node for chain in rig.ik2d.chains for node in followed_by(chain)]
        needed = {rig.data, *(ob.data for ob, _ in nodes if ob is not None)}
        if needed & edited:
            with suppress(IK2DError):
                straighten(rig)


def _renew_pose(rig: bpy.types.Object) -> None:
    """Have Blender make a pose anew whose bones point at freed ones: undo leaves hidden armatures so."""
    bones = rig.data.bones
    if rig.pose and any(posed.bone != bones.get(posed.name) for posed in rig.pose.bones):
        rig.data = rig.data


_renew_poses = _for_all_rigs(_renew_pose)
_straighten_all = _for_all_rigs(straighten)
_HANDLERS = {
    "save_pre": (_for_all_rigs(drop_copied), _prepare_overrides),
    "load_post": (_straighten_all, _for_all_rigs(keep_results)),
    "undo_post": (_renew_poses, _straighten_all),
    "redo_post": (_renew_poses, _straighten_all),
    "depsgraph_update_post": (_follow_edits, _show_chain_of_target),
}


def register() -> None:
    """Add the handlers to Blender's lists."""
    for name, functions in _HANDLERS.items():
        getattr(bpy.app.handlers, name).extend(functions)


def unregister() -> None:
    """Remove the handlers from Blender's lists."""
    for name, functions in _HANDLERS.items():
        for function in functions:
            getattr(bpy.app.handlers, name).remove(function)
