# SPDX-License-Identifier: GPL-3.0-or-later
"""What live chains and mechanisms share: which scene poses them, where targets are, what was kept."""

from collections.abc import Sequence
from typing import Any

import bpy
from mathutils import Vector

from ..rig.chain.dependencies import Node
from ..rig.chain.native_state import is_mechanism
from .shown import is_shown_in_window, is_unseen, place_by_curves, shown_place


class LiveItem:
    """Cached reading of what follows, live: a chain or a mechanism of an armature."""

    followed: list[Node]  # the objects and bones that it follows
    held_by = ""  # the bone that carries it
    _rest: list[Any]  # of the bones, as they were read

    def __init__(self, armature: bpy.types.Object, settings: bpy.types.PropertyGroup, index: int) -> None:
        """Keep where the settings are: their index is that in their list."""
        self.armature, self.name, self.index = armature, settings.name, index
        self.key = key_of(settings)
        self.is_fresh = True  # not solved yet
        self.is_as_baked = False  # whether a frame shows it as a bake of the scene's range keys it
        self._is_kept = False  # whether the frame shows a pose that was kept
        self.followed_on: tuple[int, float] | None = None  # a scene's session UID, and its frame
        self.outcome: Any = None  # of the frame that was followed last
        self._unseen: dict[tuple[Any, ...], bool] = {}  # by what hides it: kind, scene and view layer
        self._owner = 0  # the scene that posed it last
        self._poses_in: dict[int, Sequence[Any]] = {}  # by scene

    def kept_in(self, frame: tuple[int, float], as_baked: bool) -> None:
        """Note that a scene, by its session UID, shows it as it was kept for a frame.

        as_baked: whether that is the pose that a bake of the scene's range keys.
        """
        self._owner, self.outcome, self._is_kept, self.followed_on = frame[0], None, True, None
        self.is_as_baked = as_baked

    def named(self, role: str) -> str:
        """Return a target or pole in words, as "Chain 'Leg': its target"."""
        raise NotImplementedError

    def _rest_now(self) -> list[Any]:
        """Armature data that it is solved from, in the order in which `_rest` has it."""
        raise NotImplementedError

    def rest_changed(self) -> bool:
        """Return whether armature data is no longer as it was read, as far as it goes."""
        try:
            return self._rest_now() != self._rest
        except (ReferenceError, LookupError, AttributeError):  # something of it is gone
            return True

    def place_of(
        self, node: Node, role: str, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
    ) -> Vector:
        """Return the place of a target or pole as a depsgraph shows it, or by its F-Curves if hidden."""
        if self.is_unseen(node[0], depsgraph):
            return place_by_curves(node, self.named(role), scene, depsgraph)
        return shown_place(*node, depsgraph)

    def is_unseen(self, target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
        """Return the cached `is_unseen` of a target or pole: whether a depsgraph may not move it."""
        if not target.evaluated_get(depsgraph).is_evaluated:
            return True
        layer = depsgraph.scene.session_uid, depsgraph.view_layer.name
        key = target.session_uid, target.hide_viewport, target.hide_render, depsgraph.mode, *layer
        if key not in self._unseen:
            self._unseen[key] = is_unseen(target, depsgraph)
        return self._unseen[key]

    @property
    def depends_on_unseen(self) -> bool:
        """Whether it follows what a depsgraph does not move, and so does not say when that has changed."""
        return any(self._unseen.values())

    def unseen_changed(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Return whether a depsgraph may move other targets than it did; what others move is forgotten."""
        before, self._unseen = self._unseen, {}
        for node, _ in self.followed:
            self.is_unseen(node, depsgraph)
        return not self._unseen.items() <= before.items()

    def forget_unseen(self) -> None:
        """Forget which targets may not move: collections have changed."""
        self._unseen.clear()

    def may_pose(self, scene: bpy.types.Scene, pose: Sequence[Any], frame_changed: bool) -> bool:
        """Return whether a scene may write a pose: of several that show it, the one where it moved last.

        Otherwise each would pose it again after another, for ever. One that no window shows does not count.
        """
        this_scene = scene.session_uid
        same = self._poses_in.get(this_scene) == pose
        self._poses_in[this_scene] = pose
        if (
            same
            and not frame_changed
            and self._owner not in (0, this_scene)
            and is_shown_in_window(self._owner)
        ):
            return False
        self._owner = this_scene
        return True


# Of a chain or a mechanism: the session UID of its armature, its name, and whether it is a mechanism.
Key = tuple[int, str, bool]


def key_of(settings: bpy.types.PropertyGroup) -> Key:
    """Return the key of a chain or a mechanism."""
    return settings.id_data.session_uid, settings.name, is_mechanism(settings)
