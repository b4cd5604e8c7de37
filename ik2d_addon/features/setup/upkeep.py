# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept straight behind the scenes: bones that are renamed, and chains on library overrides."""

from collections.abc import Iterator

import bpy
from bpy.app.handlers import persistent

from ...rig.chain.renames import straighten
from ...ui.context import active_chain, followers, follows
from ..baking.results import drop_copied, keep_results

# The active object when last looked at, to notice another.
_last_active = 0


def rigs() -> Iterator[bpy.types.Object]:
    """Yield the armatures that have chains and can be changed."""
    for ob in bpy.data.objects:
        # Reading the settings of an object that has none makes some: hence the look at whether it has.
        if ob.type == 'ARMATURE' and ob.is_property_set("ik2d") and ob.is_editable and len(ob.ik2d.chains):
            yield ob


@persistent
def _straighten_all(*_arguments) -> None:
    """After loading, undo and redo."""
    for rig in list(rigs()):
        straighten(rig)


@persistent
def _keep_results(*_arguments) -> None:
    """After loading."""
    for rig in list(rigs()):
        keep_results(rig)


@persistent
def _drop_copied_results(*_arguments) -> None:
    """Before saving."""
    for rig in list(rigs()):
        drop_copied(rig)


@persistent
def _show_chain_of_target(scene, _depsgraph) -> None:
    """When a chain's target becomes the active object, highlight that chain in the list."""
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
            rig.ik2d.active_index = next(i for i, chain in enumerate(chains) if chain.target == active)


@persistent
def _prepare_overrides(*_arguments) -> None:
    """Before saving: let Blender compare each override with its library, setting by setting.

    Blender 5.0 notes that all settings were replaced at once where the library's object has none, which
    it cannot do again on loading. A setting that has its default there, in memory alone, is enough.
    """
    for rig in rigs():
        reference = rig.override_library.reference if rig.override_library else None
        if reference is not None and not reference.is_property_set("ik2d"):
            reference.ik2d.active_index = 0


@persistent
def _follow_edits(_scene, depsgraph) -> None:
    """After any change: where it was one of bones, follow it. What costs time comes after the cheap test."""
    if not depsgraph.id_type_updated('ARMATURE'):
        return
    edited = {update.id.original for update in depsgraph.updates if isinstance(update.id, bpy.types.Armature)}
    for rig in list(rigs()):
        needed = {rig.data, *(chain.target.data for chain in rig.ik2d.chains if chain.target is not None)}
        if needed & edited:
            straighten(rig)


_HANDLERS = {
    "save_pre": (_drop_copied_results, _prepare_overrides),
    "load_post": (_straighten_all, _keep_results),
    "undo_post": (_straighten_all,),
    "redo_post": (_straighten_all,),
    "depsgraph_update_post": (_follow_edits, _show_chain_of_target),
}


def register() -> None:
    """Add the handlers to Blender's."""
    for name, functions in _HANDLERS.items():
        getattr(bpy.app.handlers, name).extend(functions)


def unregister() -> None:
    """Take them away again."""
    for name, functions in _HANDLERS.items():
        for function in functions:
            getattr(bpy.app.handlers, name).remove(function)
