# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers that follow moved chains, renamed and edited bones, and undo.

They also keep results with their rig, and prepare library overrides.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import bpy
from bpy.app.handlers import persistent

from ...core import IK2DError
from ...rig.chain.dependencies import leading
from ...rig.chain.fingerprint import followed_by
from ...rig.chain.hands import note_target
from ...rig.chain.paths.follow import follow_changed_lists, forget_known
from ...rig.chain.paths.owners import with_settings
from ...rig.chain.renames import forget_straight, is_straight, straighten
from ...rig.scene import live_pause
from ...ui.context import active_chain, active_mechanism, followers, follows
from ...ui.settings.joint_list import joints_missing, sync_joints
from ..baking.earlier_sides import renew_sides
from ..baking.results import drop_copied, keep_results
from .chain_operators import chains_at


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


@dataclass(frozen=True)
class _Active:
    """The active object with its bone and its chain, to notice other ones."""

    identity: int = 0  # the object's session_uid
    bone: str = ""
    chain: int = 0  # its place in the list

    @classmethod
    def of(cls, active: bpy.types.Object | None) -> "_Active":
        if active is None or active.type != 'ARMATURE':
            return cls(active.session_uid if active is not None else 0)
        bone = active.data.bones.active
        chain = active.ik2d.active_index if active.is_property_set("ik2d") else 0
        return cls(active.session_uid, bone.name if bone is not None else "", chain)


_last_active = _Active()


@persistent
def _forget_active(*_arguments) -> None:
    global _last_active
    _last_active = _Active()


@persistent
def _read_chain_again(*_arguments) -> None:
    """Take the chain that undo has brought back for the one before: Blender's step came before ours."""
    global _last_active
    with suppress(UnicodeDecodeError):
        now = _Active.of(getattr(bpy.context, "active_object", None))
        if now.identity == _last_active.identity:
            _last_active = replace(_last_active, chain=now.chain)


@persistent
def _show_chain_of_active(scene, _depsgraph) -> None:
    """Make a chain the active one in the list when a bone of it, its target or its pole becomes active."""
    global _last_active
    active = getattr(bpy.context, "active_object", None)
    with suppress(UnicodeDecodeError):  # the panel says it
        before, now = _last_active, _Active.of(active)
        _last_active = now
        if active is None or now == before:
            return
        if active.type != 'ARMATURE':
            if now.identity != before.identity:
                _show_chain_of_target(scene, active)
        elif _is_bone_chosen(before, now, active.mode):
            _show_chain_of_bone(active, now.bone)


def _is_bone_chosen(before: _Active, now: _Active, mode: str) -> bool:
    """Return whether a bone was clicked, rather than an object, or a chain in the list."""
    if now.identity != before.identity:
        return bool(before.identity) and mode == 'POSE'
    return now.bone != before.bone and now.chain == before.chain


def _show_chain_of_target(scene: bpy.types.Scene, target: bpy.types.Object) -> None:
    for rig in filter(lambda rig: rig.is_editable, followers(scene, target)):
        settings = rig.ik2d
        shown = {
            "active_index": (settings.chains, active_chain(rig)),
            "active_mechanism": (settings.mechanisms, active_mechanism(rig)),
        }
        for index, (listed, active) in shown.items():
            found = (i for i, one in enumerate(listed) if follows(one, target))
            if not follows(active, target) and (i := next(found, None)) is not None:
                setattr(settings, index, i)


def _show_chain_of_bone(rig: bpy.types.Object, bone: str) -> None:
    """Make the chain of a bone, or that follows it, the active one; of several the active one stays."""
    global _last_active
    if not bone or not rig.is_editable or not rig.is_property_set("ik2d"):
        return
    here = chains_at(rig, bone)
    if here and active_chain(rig) not in here:
        rig.ik2d.active_index = list(rig.ik2d.chains).index(here[0])
        _last_active = _Active.of(rig)


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
        needed = {rig.data, *(ob.data for ob, _ in leading(nodes) if ob is not None)}
        if needed & edited:
            with suppress(IK2DError):
                if not is_straight(rig):
                    _straighten(rig)


def _straighten(rig: bpy.types.Object) -> None:
    """Straighten a rig and give its bones joints."""
    straighten(rig)
    lacking = [chain for chain in rig.ik2d.chains if len(chain.joints) and joints_missing(chain)]
    for chain in lacking:
        sync_joints(chain)
    if lacking:
        straighten(rig)


@persistent
def _follow_lists(*_arguments) -> None:
    """Have keys and drivers follow chains that were moved in their lists or removed, in any way."""
    follow_changed_lists()


@persistent
def _follow_lists_of_frame(*_arguments) -> None:
    """Follow them before another frame is shown, but for those that a bake looks at, which has done so."""
    if not live_pause.pauses:
        follow_changed_lists()


@persistent
def _forget_rigs(*_arguments) -> None:
    forget_known()
    forget_straight()


def _note_targets(rig: bpy.types.Object) -> None:
    for chain in rig.ik2d.chains:
        note_target(chain)


def _renew_pose(rig: bpy.types.Object) -> None:
    """Have Blender make a pose anew whose bones point at freed ones: undo leaves hidden armatures so."""
    bones = rig.data.bones
    if rig.pose and any(posed.bone != bones.get(posed.name) for posed in rig.pose.bones):
        rig.data = rig.data


_renew_poses = _for_all_rigs(_renew_pose)
_straighten_all = _for_all_rigs(_straighten)
_HANDLERS = {
    "save_pre": (_for_all_rigs(drop_copied), _prepare_overrides),
    "load_post": (
        # lists first: what then has no number is new
        *(_forget_rigs, _forget_active, _follow_lists, _straighten_all),
        *(_for_all_rigs(renew_sides), _for_all_rigs(keep_results), _for_all_rigs(_note_targets)),
    ),
    "undo_post": (_forget_rigs, _renew_poses, _straighten_all, _follow_lists, _read_chain_again),
    "redo_post": (_forget_rigs, _renew_poses, _straighten_all, _follow_lists, _read_chain_again),
    "frame_change_pre": (_follow_lists_of_frame,),
    "depsgraph_update_pre": (_follow_lists,),  # before keys are played on the wrong chain
    "depsgraph_update_post": (_follow_edits, _show_chain_of_active),
}


def register() -> None:
    """Add the handlers to Blender's lists."""
    live_pause.begun.append(follow_changed_lists)
    for name, functions in _HANDLERS.items():
        getattr(bpy.app.handlers, name).extend(functions)


def unregister() -> None:
    """Remove the handlers from Blender's lists."""
    live_pause.begun.remove(follow_changed_lists)
    for name, functions in _HANDLERS.items():
        for function in functions:
            getattr(bpy.app.handlers, name).remove(function)
