# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's animatable settings as numbers: its own properties, or a native chain's controls."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.inputs import Floats
from ...core.words import noted, refusal
from ...rig.animation.remembered import value_of
from ...rig.animation.value_keys import ValueKeys, curve_of, driver_of, values_on
from ...rig.chain.chain import RigChain

_GROUP = "IK 2D"
_SIDES = ('POSITIVE', 'NEGATIVE')  # their places are their values in an F-Curve
# Numbers nearer than this are the same setting.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class ChainValue:
    """One setting of a chain: bend, turn_over, softness, influence or plane_turn."""

    rig: RigChain
    name: str
    owner: bpy.types.Object  # whose action has its keys
    path: str

    @classmethod
    def of(cls, rig: RigChain, name: str) -> "ChainValue":
        """Return a setting of a chain."""
        if rig.settings.native is not None:
            return cls(rig, name, rig.settings.native, f'["{name}"]')
        return cls(rig, name, rig.armature, f"{rig.settings.path}.{name}")

    @property
    def holder(self) -> Any:
        """The data that has the property."""
        return self.rig.settings.native or self.rig.armature.path_resolve(self.rig.settings.path)

    @property
    def is_animated(self) -> bool:
        """Whether it has keys."""
        return curve_of(self.owner, self.path) is not None

    @property
    def steps(self) -> bool:
        """Whether it is an enum, whose value holds until the next key."""
        return self.name == "bend"

    def sides(self, sides: Floats) -> Floats:
        """Return the bend's numbers (frames,) for sides of the solver, +1 or -1."""
        as_stored = self.rig.settings.side * sides
        return as_stored if self.rig.settings.native is not None else np.where(as_stored < 0.0, 1.0, 0.0)

    @property
    def number(self) -> float:
        """Its current value, as an F-Curve's number."""
        value = value_of(self.owner, self.path)
        return float(_SIDES.index(value)) if isinstance(value, str) else float(value)

    def set(self, number: float) -> None:
        """Set it to an F-Curve's number."""
        if self.rig.settings.native is not None:
            self.rig.settings.native[self.name] = float(number)
            self.rig.settings.native.update_tag()
        else:
            setattr(self.holder, self.name, _SIDES[round(number)] if self.steps else number)

    def values(self, scene: bpy.types.Scene, frames: Sequence[float]) -> Floats:
        """Return its values (frames,) by its keys, else the current one."""
        return values_on(scene, self.owner, self.path, frames, np.array([self.number]))[:, 0]

    def refuse_driver(self) -> None:
        """Raise IK2DError if it has a driver."""
        if driver_of(self.owner, self.path) is not None:
            settings = self.rig.armature.path_resolve(self.rig.settings.path)
            label = noted(settings.bl_rna.properties[self.name].name)
            raise refusal(
                "Chain '{chain}': its {label} has a driver; remove it first",
                chain=self.rig.name,
                label=label,
            )

    def keys(self, frames: Sequence[float], values: Floats) -> ValueKeys:
        """Return its keys on frames; those of bend and influence hold until the next one."""
        stepped = self.steps or self.name == "influence"
        return ValueKeys(self.owner, self.path, 0, frames, values, _GROUP, stepped)

    def keys_over(
        self, scene: bpy.types.Scene, frames: Sequence[int], values: Floats, on: bool
    ) -> ValueKeys | None:
        """Return keys that give it values (frames,) on frames, and keep the values just before and after.

        None if it has these values already. on: keep the last value after the frames instead.
        """
        around = [frames[0] - 1, *frames, frames[-1] + 1]
        shown = self.values(scene, around)
        if (np.abs(shown[1:-1] - values) < _SAME).all():
            return None
        wanted = np.array([shown[0], *values, shown[-1]])
        changes = np.append(True, np.abs(np.diff(wanted)) > _SAME)
        changes[[1, -2, -1]] = True  # the first and the last of the frames, and the one after
        changes[-1] = not on
        return self.keys(np.array(around, np.float64)[changes].tolist(), wanted[changes])


def wanted_values(
    rig: RigChain, sides: Floats, plane_turns: Floats | None = None
) -> dict[ChainValue, Floats]:
    """Return the values (frames,) of the settings with which a chain solves to a pose with these sides.

    plane_turns: (frames,) radians; None for those that it has.
    """
    bend = ChainValue.of(rig, "bend")
    off = {ChainValue.of(rig, name): np.zeros(len(sides)) for name in ("softness", "turn_over")}
    turned = {} if plane_turns is None else {ChainValue.of(rig, "plane_turn"): plane_turns}
    return {bend: bend.sides(sides), **off, **turned}


def setting_keys(
    scene: bpy.types.Scene,
    frames: Sequence[int],
    wanted: dict[ChainValue, Floats],
    switch: bool,
    undo: ExitStack,
) -> list[ValueKeys]:
    """Return the keys of settings that are animated or have to be (frames,); set the others at once."""
    keyed_settings = []
    for value, numbers in wanted.items():
        value.refuse_driver()
        if value.is_animated or np.ptp(numbers) or (switch and value.steps):
            keyed_settings.append(value.keys_over(scene, frames, numbers, on=switch))
        else:
            set_number(value, float(numbers[0]), undo)
    return [keyed for keyed in keyed_settings if keyed is not None]


def influence_keys(
    rig: RigChain, frames: Sequence[int], to: float, scene: bpy.types.Scene | None = None
) -> list[ValueKeys]:
    """Return the influence keys that switch a chain to IK (1) or FK (0) at the second of the frames.

    scene: keep a keyed value on the first of them.
    """
    influence = ChainValue.of(rig, "influence")
    influence.refuse_driver()
    before = 1.0 - to
    if scene is not None and influence.is_animated:
        (before,) = influence.values(scene, frames[:1])
    return [influence.keys(frames[:2], np.array([before, to]))]


def set_number(value: ChainValue, number: float, undo: ExitStack) -> bool:
    """Set a setting; return whether that changed it."""
    before = value.number
    if before == number:
        return False
    undo.callback(value.set, before)
    value.set(number)
    return True
