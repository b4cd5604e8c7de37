# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys, as made by hand, on single values: of a target's location, of a chain's settings."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.inputs import Floats
from ...core.words import refusal, say
from . import actions, nla, versions
from .fcurves import Curves, values_by
from .kept.keeping import Keeping, Replaced
from .key_columns import BEZIER, BY_HAND, CONSTANT, Columns, new_keys
from .remembered import Channel, set_values, values_now
from .replacing import replace_keys
from .times import animation_times, strip_times


@dataclass(frozen=True, eq=False)
class ValueKeys:
    """The keys of one channel of an object, of one of its bones, or of its settings."""

    owner: bpy.types.Object
    path: str  # of the property, from the owner
    index: int
    frames: Sequence[float]  # the scene's, in order
    values: Floats  # (frames,)
    group: str
    stepped: bool = False  # whether each value holds until the next one
    # (2, frames) values of the handles on each side, at thirds of the gaps; NaN for automatic ones
    handles: Floats | None = None

    @property
    def channel(self) -> Channel:
        """The channel that they are of."""
        return self.owner, self.path, self.index

    @property
    def name(self) -> str:
        """The channel's name in messages."""
        return say("'{owner}': channel {channel}", owner=self.owner.name, channel=self.path)


def curve_of(owner: bpy.types.Object, path: str, index: int = 0) -> bpy.types.FCurve | None:
    """Return the F-Curve that the owner's own action has for a channel."""
    holder = versions.existing_channels(owner)
    return holder.fcurves.find(path, index=index) if holder is not None else None


def curves_of(owner: bpy.types.Object, path: str) -> Curves:
    """Return the F-Curves that the owner's own action has for a property, by path and index."""
    found = {(path, index): curve_of(owner, path, index) for index in range(4)}
    return {place: curve for place, curve in found.items() if curve is not None}


def values_on(
    scene: bpy.types.Scene, owner: bpy.types.Object, path: str, frames: Sequence[float], others: Floats
) -> Floats:
    """Return the values (frames, c) of a property on the scene's frames by its keys, else `others` (c,)."""
    times = strip_times(owner, animation_times(scene, frames))
    return values_by(curves_of(owner, path), path, times, others)


def existing_drivers(block: bpy.types.ID) -> Sequence[bpy.types.FCurve]:
    """Return the drivers of a data block; none where it cannot have any."""
    animation = getattr(block, "animation_data", None)
    return animation.drivers if animation is not None else ()


def driven_paths(block: bpy.types.ID) -> set[str]:
    """Return the paths of a data block's properties that drivers set, muted ones aside."""
    return {driver.data_path for driver in existing_drivers(block) if not driver.mute}


def driver_of(owner: bpy.types.Object, path: str, index: int = 0) -> bpy.types.FCurve | None:
    """Return the driver of a channel."""
    animation = owner.animation_data
    return animation.drivers.find(path, index=index) if animation is not None else None


def is_broken(owner: bpy.types.Object, curve: bpy.types.FCurve) -> bool:
    """Return whether the property that an F-Curve or a driver is of is gone."""
    try:
        owner.path_resolve(curve.data_path)
    except ValueError:
        return True
    return False


def acting_driver(owner: bpy.types.Object, path: str, index: int = 0) -> bpy.types.FCurve | None:
    """Return the driver of a channel, unless it is muted."""
    driver = driver_of(owner, path, index)
    return driver if driver is not None and not driver.mute else None


def refuse_tweak_mode(owner: bpy.types.Object) -> None:
    """Raise IK2DError for an object in the NLA's tweak mode."""
    if owner.animation_data and owner.animation_data.use_tweak_mode:
        raise refusal(
            "'{owner}' is in the NLA's tweak mode; leave it first (Tab in the NLA editor)",
            owner=owner.name,
        )


def check_values(channels: Sequence[ValueKeys]) -> list[str]:
    """Return a sentence for each fault that keeps keys of some channels from playing as written.

    Raises IK2DError where a channel cannot take keys.
    """
    faults: dict[str, None] = {}
    for keyed in channels:
        if acting_driver(*keyed.channel) is not None:
            raise refusal("{one} has a driver, which overrides keys; remove it first", one=keyed.name)
        curve = curve_of(*keyed.channel)
        holder = versions.existing_channels(keyed.owner)
        group = curve.group if curve is not None else actions.group_for(holder, keyed.group)
        if (curve is not None and curve.lock) or (group is not None and group.lock):
            raise refusal("{one} is locked, or its group is; unlock it first", one=keyed.name)
        if curve is None:
            continue
        if len(curve.sampled_points):
            raise refusal("{one} holds samples; turn them into keys first", one=keyed.name)
        if not versions.plays(keyed.owner, curve):
            raise refusal("{one} is muted, so that its keys would not play; unmute it first", one=keyed.name)
        if any(not modifier.mute for modifier in curve.modifiers):
            faults[
                say("{one} has F-Curve modifiers, which act on top of the keys; mute them", one=keyed.name)
            ] = None
    for owner in dict.fromkeys(keyed.owner for keyed in channels):
        if reason := nla.why_silent(owner):
            faults[reason] = None
        for ob in versions.sharing_channels(owner):
            faults[
                say(
                    "'{owner}': '{object}' plays the same action and gets these keys too; give it a copy",
                    owner=owner.name,
                    object=ob.name,
                )
            ] = None
    return list(faults)


@contextmanager
def values_keyed(scene: bpy.types.Scene, channels: Sequence[ValueKeys], purpose: int) -> Iterator[Replaced]:
    """Key some channels, each in place of all its keys from the first frame to the last; these are kept.

    purpose: what the keys are for. Yields the keys made by hand that they replace. If it fails, or the code
    inside, everything is restored.
    """
    with ExitStack() as undo:
        _remember_values(channels, undo)
        keepings: dict[versions.Place, Keeping] = {}
        for keyed_value in channels:
            place = versions.place_of(actions.channels(keyed_value.owner, undo))
            if place not in keepings:
                keepings[place] = Keeping(keyed_value.owner, place, purpose, undo)
            curve, new = _new_keys(scene, keyed_value, undo)
            keepings[place].replace([curve], [new])
        yield Replaced.joined([keeping.replaced for keeping in keepings.values()])
        undo.pop_all()


@contextmanager
def values_previewed(scene: bpy.types.Scene, channels: Sequence[ValueKeys]) -> Iterator[None]:
    """Key some channels for a while, then restore everything exactly."""
    with ExitStack() as undo:
        _remember_values(channels, undo)
        for keyed in channels:
            curve, new = _new_keys(scene, keyed, undo)
            replace_keys([curve], [new], versions.place_of(actions.channels(keyed.owner, undo)), undo)
        yield


def _remember_values(channels: Sequence[ValueKeys], undo: ExitStack) -> None:
    undo.callback(set_values, values_now(keyed.channel for keyed in channels))


def _new_keys(scene: bpy.types.Scene, keyed: ValueKeys, undo: ExitStack) -> tuple[bpy.types.FCurve, Columns]:
    """Return the F-Curve of a channel, made where missing, and its new keys."""
    holder = actions.channels(keyed.owner, undo)
    curve = actions.fcurve(holder, keyed.path, keyed.index, keyed.group, undo)
    times = strip_times(keyed.owner, animation_times(scene, keyed.frames))
    interpolation = CONSTANT if keyed.stepped else BEZIER
    handles = None if keyed.handles is None else keyed.handles[..., None]
    (new,) = new_keys(times, np.asarray(keyed.values)[:, None], handles, BY_HAND, interpolation)
    return curve, new
