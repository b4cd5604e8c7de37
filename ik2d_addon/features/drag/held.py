# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drag holds: a point in a plane of the world, that goes where the mouse has it."""

from collections.abc import Iterator, Sequence

import numpy as np
from bpy.types import Context, Object, PropertyGroup, Scene

from ...bake.lengths import Units, length_text
from ...core.inputs import Floats
from ...ui.auto_keying import Moved, auto_key, key_now
from .pointing import DragPlane


class HeldPoint:
    """A point that is held. Offsets (2,) are along the plane's x and y, in the world's units."""

    scene: Scene
    armature: Object
    plane: DragPlane
    # Whether its plane may be turned to face the view.
    turns_with_view = False
    # Whether it bends to the other side than before.
    is_flipped = False
    # The settings of the chain that is held, if it is one.
    chain: PropertyGroup | None = None
    # Number of bones that are held; 0 where it cannot be chosen.
    bone_count = 0
    has_reached = False

    def __init__(self, scene: Scene, armature: Object) -> None:
        self.scene, self.armature = scene, armature
        self.offset: Floats = np.zeros(2)
        self.why_fixed = ""  # why the target stays where it is, in words
        self.warnings: list[str] = []

    def face(self, normal: Sequence[float]) -> None:
        """Move the point in the plane of a normal (3,) of the world, where that may turn."""

    def flip(self) -> None:
        """Bend to the other side, where there is one."""

    def take_bones(self, bone_count: int) -> None:
        """Hold so many bones instead, where that can be chosen."""

    def key(self, context: Context, in_any_case: bool = False) -> int:
        """Key what was moved, if Auto Keying is on; return how many channels.

        in_any_case: whether it is on or not. Raises IK2DError, with no key set, for what cannot take keys.
        """
        moved = list(self.moved())
        return key_now(context.scene, moved) if in_any_case else auto_key(context, moved)

    def moved(self) -> Iterator[Moved]:
        """Yield the properties that it has moved, those that others follow first."""
        raise NotImplementedError

    def moved_in_words(self) -> str:
        """Return the distance dragged, in words: "0.5 m (0.3 m, 0.4 m)"."""
        units = Units.of(self.scene)
        along = ", ".join(length_text(length + 0.0, units) for length in self.offset)  # no -0
        return f"{length_text(float(np.hypot(*self.offset)), units)} ({along})"
