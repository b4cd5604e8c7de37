# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys for what was moved by hand: in any case, or as Auto Keying's settings ask for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..core.words import refusal
from ..rig.animation.kept.keeping import mark_key
from ..rig.animation.kept.marks import SNAP
from ..rig.animation.times import action_time
from ..rig.animation.value_keys import ValueKeys, check_values, curve_of, refuse_tweak_mode
from ..rig.animation.versions import existing_channels, played_action


@dataclass(frozen=True, eq=False)
class Moved:
    """A property that was moved: of an object, a pose bone, or settings."""

    holder: Any
    name: str
    indices: Sequence[int] | None = None  # of its channels; None: it is one value
    generated: bool = False  # whether its keys are made from other keys, as a bake's
    is_target: bool = False  # what chains and mechanisms follow is keyed though it has no F-Curves yet

    @property
    def owner(self) -> bpy.types.Object:
        """The object whose action gets the keys."""
        return self.holder.id_data

    @property
    def path(self) -> str:
        """The property's path from the owner."""
        if self.name.startswith("["):  # a custom property of the owner
            return self.name
        return str(self.holder.path_from_id(self.name))

    @property
    def channels(self) -> Sequence[int]:
        """The indices as Blender counts them: -1 for one value."""
        return (-1,) if self.indices is None else self.indices

    @property
    def group(self) -> str:
        """The channel group that Blender keys it into."""
        if isinstance(self.holder, bpy.types.PoseBone):
            return str(self.holder.name)
        return "Object Transforms" if isinstance(self.holder, bpy.types.Object) else ""


def auto_key(context: bpy.types.Context, moved: Sequence[Moved]) -> int:
    """Key moved properties on the current frame if Auto Keying is on; return the number of channels keyed.

    With Only Active Keying Set, only those in the set. Raises IK2DError, with no key set, for a target that
    cannot take keys.
    """
    tools = context.scene.tool_settings
    if not tools.use_keyframe_insert_auto:
        return 0
    chosen = context.scene.keying_sets_all.active if tools.use_keyframe_insert_keyingset else None
    options = _options(context, chosen)
    wanted = [change for change in moved if chosen is None or _is_in(context, chosen, change)]
    _refuse_unkeyable([change for change in wanted if change.is_target])
    return sum(_key(context.scene, change, options, tools.keyframe_type) for change in wanted)


def key_now(scene: bpy.types.Scene, moved: Sequence[Moved]) -> int:
    """Key properties on the current frame, whether Auto Keying is on or not; return the number of channels.

    Raises IK2DError, with no key set, for one that cannot take keys.
    """
    _refuse_unkeyable(moved)
    tools = scene.tool_settings
    options = {'INSERTKEY_CYCLE_AWARE'} if tools.use_keyframe_cycle_aware else set()
    return sum(_key(scene, change, options, tools.keyframe_type) for change in moved)


def _refuse_unkeyable(moved: Sequence[Moved]) -> None:
    """Raise IK2DError for a property that cannot take keys now, or whose keys would not play."""
    refuse_uneditable(dict.fromkeys(change.owner for change in moved))
    check_values(
        [
            ValueKeys(change.owner, change.path, max(index, 0), (), np.empty(0), change.group)
            for change in moved
            for index in change.channels
        ]
    )


def refuse_uneditable(owners: Iterable[bpy.types.Object]) -> None:
    """Raise IK2DError for an object whose keys would be lost, or would not play."""
    for owner in owners:
        action = played_action(owner)
        if not owner.is_editable:
            raise refusal(
                "'{owner}' is linked from another file, so that its keys would be lost", owner=owner.name
            )
        refuse_tweak_mode(owner)
        if action is not None and not action.is_editable:
            raise refusal(
                "Action '{action}' of '{owner}' is linked from another file; make it local first",
                action=action.name,
                owner=owner.name,
            )


def _options(context: bpy.types.Context, chosen: bpy.types.KeyingSet | None) -> set[str]:
    """Return the options of keyframe_insert by the scene's and the user's settings."""
    tools, edit = context.scene.tool_settings, context.preferences.edit
    asked = {
        'INSERTKEY_NEEDED': edit.use_auto_keyframe_insert_needed
        or (chosen is not None and chosen.use_insertkey_needed),
        'INSERTKEY_AVAILABLE': edit.use_keyframe_insert_available and chosen is None,
        'INSERTKEY_REPLACE': tools.auto_keying_mode == 'REPLACE_KEYS',
        'INSERTKEY_CYCLE_AWARE': tools.use_keyframe_cycle_aware,
    }
    return {option for option, wanted in asked.items() if wanted}


def _is_in(context: bpy.types.Context, chosen: bpy.types.KeyingSet, moved: Moved) -> bool:
    """Return whether a keying set, with the moved object or bone selected, has its property."""
    owner, path = moved.owner, moved.path
    if not chosen.is_path_absolute:
        bones = [moved.holder] if isinstance(moved.holder, bpy.types.PoseBone) else []
        objects = [owner] if not bones else []
        with context.temp_override(
            **_view(context),
            active_object=owner,
            selected_pose_bones=bones,
            selected_objects=objects,
            selected_editable_objects=objects,
        ):
            try:
                chosen.refresh()
            except RuntimeError:  # how Blender says that the set has nothing of what is selected
                return False
    return any(one.id == owner and one.data_path == path for one in chosen.paths)


def _view(context: bpy.types.Context) -> dict[str, Any]:
    """Return a 3D View for Blender's own keying sets; nothing where the context has an area."""
    if context.area is not None:
        return {}
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == 'VIEW_3D':
                return {"window": window, "area": area}
    return {}


def _key(scene: bpy.types.Scene, moved: Moved, options: set[str], kind: str) -> int:
    """Insert the keys of a property; return how many."""
    done = 0
    owner, path = moved.owner, moved.path
    if moved.is_target:
        options = options - {'INSERTKEY_AVAILABLE'}
    channels = existing_channels(owner) if 'INSERTKEY_AVAILABLE' in options else None
    for index in moved.channels:
        # Blender would print a warning for each one.
        if 'INSERTKEY_AVAILABLE' in options and not (
            channels and channels.fcurves.find(path, index=max(index, 0))
        ):
            continue
        done += moved.holder.keyframe_insert(
            moved.name,
            index=index,
            frame=scene.frame_current_final,  # with subframes and remapped time, as Blender's own keys
            group=moved.group,
            options=options,
            keytype='GENERATED' if moved.generated else kind,
        )
        if moved.generated and (curve := curve_of(owner, path, max(index, 0))) is not None:
            mark_key(owner, curve, action_time(owner, scene, scene.frame_float), SNAP)
    return done
