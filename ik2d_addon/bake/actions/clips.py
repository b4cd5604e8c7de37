# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips: what each object plays while some armatures are baked, and on which frames."""

from dataclasses import dataclass

import bpy

from ...rig.animation import versions


@dataclass(frozen=True)
class Play:
    """An object with the action that it plays, and the slot of that; None: it gets a new action."""

    owner: bpy.types.Object
    action: bpy.types.Action | None
    slot: str = ""  # its identifier; "" for none, and before 4.4


@dataclass(frozen=True)
class Clip:
    """Armatures that are baked at one time, with the actions that they and what they follow play."""

    name: str
    armatures: tuple[Play, ...]
    others: tuple[Play, ...]
    frames: tuple[int, int]
    is_cyclic: bool = False

    @property
    def plays(self) -> tuple[Play, ...]:
        """What all objects play."""
        return (*self.armatures, *self.others)

    @property
    def plays_now(self) -> bool:
        """Whether the armatures play it now."""
        return all(play.action == versions.played_action(play.owner) for play in self.armatures)

    @property
    def others_play_now(self) -> bool:
        """Whether there are objects that the armatures follow, and all of them play it now."""
        playing = [play.action == versions.played_action(play.owner) for play in self.others]
        return bool(playing) and all(playing)

    @property
    def label(self) -> str:
        """Its name; of one of targets' actions with Blender's default names, which have none, these."""
        names = dict.fromkeys(play.action.name for play in self.others if play.action is not None)
        return self.name or ", ".join(names)

    @property
    def baked(self) -> tuple[bpy.types.Object, ...]:
        """The armatures that are baked."""
        return tuple(play.owner for play in self.armatures)

    def source(self, armature: bpy.types.Object) -> bpy.types.Action | None:
        """Return the action of an armature that is baked."""
        return next((play.action for play in self.armatures if play.owner == armature), None)
