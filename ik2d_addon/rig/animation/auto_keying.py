# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Keying: keys for what was moved by hand, as the scene's and the user's settings ask for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from .versions import existing_channels


@dataclass(frozen=True, eq=False)
class Moved:
    """A property that was moved: of an object, a pose bone, or settings."""

    holder: Any
    name: str
    indices: Sequence[int] | None = None  # of its channels; None: it is one value
    generated: bool = False  # whether its keys are made from other keys, as a bake's

    @property
    def group(self) -> str:
        """The channel group that Blender keys it into."""
        if isinstance(self.holder, bpy.types.PoseBone):
            return str(self.holder.name)
        return "Object Transforms" if isinstance(self.holder, bpy.types.Object) else ""


def auto_key(context: bpy.types.Context, moved: Sequence[Moved]) -> int:
    """Key moved properties on the current frame if Auto Keying is on; return the number of channels keyed.

    With Only Active Keying Set, only those in the set.
    """
    tools = context.scene.tool_settings
    if not tools.use_keyframe_insert_auto:
        return 0
    chosen = context.scene.keying_sets_all.active if tools.use_keyframe_insert_keyingset else None
    options = _options(context, chosen)
    wanted = [one for one in moved if chosen is None or _is_in(context, chosen, one)]
    return sum(_key(one, options, tools.keyframe_type) for one in wanted)


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
    owner, path = moved.holder.id_data, moved.holder.path_from_id(moved.name)
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


def _key(moved: Moved, options: set[str], kind: str) -> int:
    """Insert the keys of a property; return how many."""
    done = 0
    channels = existing_channels(moved.holder.id_data) if 'INSERTKEY_AVAILABLE' in options else None
    path = moved.holder.path_from_id(moved.name)
    for index in (-1,) if moved.indices is None else moved.indices:
        # Blender would print a warning for each one.
        if 'INSERTKEY_AVAILABLE' in options and not (
            channels and channels.fcurves.find(path, index=max(index, 0))
        ):
            continue
        done += moved.holder.keyframe_insert(
            moved.name,
            index=index,
            group=moved.group,
            options=options,
            keytype='GENERATED' if moved.generated else kind,
        )
    return done
