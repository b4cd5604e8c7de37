# SPDX-License-Identifier: GPL-3.0-or-later
"""Slides of a chain's bones along themselves, and the locations that carry them.

A bone's slide is the location of the next bone of the chain; the last bone's is its own. Blender adds a
location in the bone's rest axes, before the bone turns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Vector

from ...core.affine import rotations_about
from ...core.inputs import Floats
from ...core.words import refusal, say
from ..animation.value_keys import acting_driver
from ..rest import rest_matrix

# Parts of a direction below this are rounding of 32-bit rest matrices.
_NOISE = 1e-5
_ALONG = np.array((0.0, 1.0, 0.0))  # a bone, in its own space


@dataclass(frozen=True, eq=False)
class Slides:
    """The slides of a chain of n bones, in the units of their locations: lengths in the armature's rest.

    Also of a chain that is rigid now, but whose locations a solve or bake has moved: these are restored.
    """

    ranges: Floats  # (n, 2) least and greatest added length; zeros where bones are rigid
    directions: Floats  # (n, 3) of each slide in the location that carries it; of the last bone unturned
    axis: Floats  # (3,) the last bone's axis, in its own space
    still: bool  # whether the last bone does not turn
    channels: Mapping[int, tuple[int, ...]]  # of each bone that carries slides: those of its location

    @property
    def any(self) -> bool:
        """Whether any bone may slide now."""
        return bool(self.ranges.any())

    def carries(self, bone: int) -> bool:
        """Return whether a bone carries a slide now."""
        return self._is_carried_by(bone - 1, bone) or self._is_carried_by(bone, bone)

    def about(self, axis: Floats) -> "Slides":
        """Return the same slides where the last bone turns about another axis (3,)."""
        last = len(self.ranges) - 1
        if not self._is_carried_by(last, last):
            return self
        return _directed(self.ranges, self.directions, axis, self.still, self.channels)

    def offsets(self, turns: Floats, slides: Floats) -> dict[int, Floats]:
        """Return the offsets {bone: (frames, 3)} of locations for slides (frames, n) and turns (frames, n).

        The last bone's own slide turns with it.
        """
        last = len(self.ranges) - 1
        offsets = {carrier: np.zeros((len(slides), 3)) for carrier in self.channels}
        for i in np.flatnonzero(self.ranges.any(axis=1)).tolist():
            direction = self.directions[i]
            if i == last:
                direction = self._turned(turns[:, last])
            offsets[min(i + 1, last)] += slides[:, i : i + 1] * direction
        for carrier, channels in self.channels.items():
            offsets[carrier][:, [c for c in range(3) if c not in channels]] = 0.0
        return offsets

    def slides_of(self, turns: Floats, offsets: Mapping[int, Floats]) -> Floats:
        """Return the slides (n,) nearest to offsets {bone: (3,)}, for local turns (n,)."""
        last, slides = len(self.ranges) - 1, np.zeros(len(self.ranges))
        for carrier, offset in offsets.items():
            carried = [i for i in (carrier - 1, carrier) if self._is_carried_by(i, carrier)]
            rows = [self._turned(turns[last:])[0] if i == last else self.directions[i] for i in carried]
            slides[carried] = np.linalg.lstsq(np.column_stack(rows), offset, rcond=None)[0]
        return slides

    def span(self, bone: int) -> tuple[Floats, Floats]:
        """Return the least and the greatest offset, (3,) each, of a bone's location."""
        low, high = np.zeros(3), np.zeros(3)
        for i in (bone - 1, bone):
            if not self._is_carried_by(i, bone):
                continue
            if i == bone:  # the last one, which turns
                furthest = np.abs(self.ranges[i]).max() * np.isin(np.arange(3), self.channels[bone])
                low, high = low - furthest, high + furthest
            else:
                ends = np.outer(self.ranges[i], self.directions[i])
                low, high = low + ends.min(axis=0), high + ends.max(axis=0)
        return low, high

    def _is_carried_by(self, i: int, carrier: int) -> bool:
        return i >= 0 and bool(self.ranges[i].any()) and min(i + 1, len(self.ranges) - 1) == carrier

    def _turned(self, turns: Floats) -> Floats:
        """Return the direction (frames, 3) of the last bone's slide, turned about its axis."""
        direction = self.directions[-1]
        if self.still:
            return np.tile(direction, (len(turns), 1))
        turned: Floats = rotations_about(self.axis, turns) @ direction
        return turned


def may_slide(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether any bone of a chain may slide, by its settings."""
    return any(joint.use_slide and (joint.slide_min or joint.slide_max) for joint in settings.joints)


def read_slides(
    settings: bpy.types.PropertyGroup,
    bones: Sequence[bpy.types.PoseBone],
    normal: Floats,
    joints: Floats,
    fixed: bool = False,
) -> Slides | None:
    """Return the slides of the bones by `settings.joints`; None where all are rigid.

    normal: (3,) the last bone's axis, in its own space. joints: (n + 1, 3) in rest, root to tip. fixed:
    whether locks hold the last bone. Raises IK2DError where a bone cannot slide, or its carrier not move.
    """
    ranges = np.zeros((len(bones), 2))
    for i, bone in enumerate(bones):
        joint = settings.joints.get(bone.name)
        if joint is not None and joint.use_slide:
            length = float(np.linalg.norm(joints[i + 1] - joints[i]))
            ranges[i] = _checked_range(settings.name, joint, length)
    slid = {i: channels for i, bone in enumerate(bones) if (channels := _slid(settings, bone))}
    if not ranges.any() and not slid:
        return None
    last = settings.joints.get(bones[-1].name)
    if ranges.any() and not (settings.stretch == settings.compress == 1.0):
        raise refusal(
            "Chain '{chain}' has bones that slide, and bones that slide do not stretch; set "
            "Stretch and Shortest Length to 1, or turn Slide off",
            chain=settings.name,
        )
    still = fixed or (last is not None and last.weight == 0.0)
    slides = _directed(ranges, slide_directions(bones, fixed), normal, still, slid)
    for carrier, channels in slides.channels.items():
        if not slides.carries(carrier):
            continue
        if settings.joints.get(bones[carrier].name) is None:
            raise refusal(
                "Chain '{chain}' has no joint for bone '{bone}', which carries a slide; press Update Joints",
                chain=settings.name,
                bone=bones[carrier].name,
            )
        sliding = carrier if slides._is_carried_by(carrier, carrier) else carrier - 1
        _check_carrier(settings.name, bones[sliding], bones[carrier], channels)
    return slides


def _slid(settings: bpy.types.PropertyGroup, bone: bpy.types.PoseBone) -> tuple[int, ...]:
    """Return the channels of a bone's location that a solve or bake of the chain has moved."""
    joint = settings.joints.get(bone.name)
    return () if joint is None else tuple(channel for channel in range(3) if joint.slid[channel])


def _checked_range(chain: str, joint: bpy.types.PropertyGroup, length: float) -> tuple[float, float]:
    least, most = joint.slide_min, joint.slide_max
    bone = say("Chain '{chain}': the slide of bone '{joint}'", chain=chain, joint=joint.name)
    if least > most:
        raise refusal("{bone} runs backwards; set Min below Max", bone=bone)
    if length + least < 0.0:
        raise refusal(
            "{bone} would give it a negative length: it is {length:.4g} units long; set Min to "
            "{length_2:.4g} or more",
            bone=bone,
            length=length,
            length_2=-length,
        )
    return least, most


def slide_directions(bones: Sequence[bpy.types.PoseBone], fixed: bool = False) -> Floats:
    """Return the directions (n, 3) of the slides in the locations that carry them.

    The last bone's is unturned, unless it is fixed.
    """
    directions = np.tile(_ALONG, (len(bones), 1))
    if fixed:
        directions[-1] = bones[-1].matrix_basis.to_quaternion() @ Vector(_ALONG)
    for i, (above, below) in enumerate(pairwise(bones)):
        rests = [rest_matrix(bone.bone)[:3, :3] for bone in (above, below)]
        directions[i] = np.linalg.solve(rests[1], rests[0] @ _ALONG)
    directions[np.abs(directions) <= _NOISE] = 0.0
    return directions


def _directed(
    ranges: Floats, directions: Floats, normal: Floats, still: bool, slid: Mapping[int, tuple[int, ...]]
) -> Slides:
    """Return the slides with the channels that their directions need.

    still: whether the last bone, which else turns about the normal (3,), does not turn. slid: channels
    that were moved before.
    """
    last = len(ranges) - 1
    axis = np.where(np.abs(normal) <= _NOISE, 0.0, normal)
    used = {bone: set(channels) for bone, channels in slid.items()}
    for i in np.flatnonzero(ranges.any(axis=1)).tolist():
        parts = [directions[i]]
        if i == last and not still:
            parts += [np.cross(axis, _ALONG), axis * axis[1]]
        needed = np.flatnonzero((np.abs(parts) > _NOISE).any(axis=0)).tolist()
        used.setdefault(min(i + 1, last), set()).update(needed)
    return Slides(ranges, directions, axis, still, {bone: tuple(sorted(axes)) for bone, axes in used.items()})


def _check_carrier(
    chain: str, sliding: bpy.types.PoseBone, carrier: bpy.types.PoseBone, channels: Sequence[int]
) -> None:
    """Raise IK2DError where a bone's location cannot carry a slide."""
    what = say("Chain '{chain}': bone '{sliding}' cannot slide", chain=chain, sliding=sliding.name)
    data = carrier.bone
    if data.use_connect and data.parent:
        if carrier == sliding:
            raise refusal(
                "{what}: it is connected to its parent and has no location; disconnect it in Edit Mode "
                "(Alt P)",
                what=what,
            )
        raise refusal(
            "{what}: bone '{carrier}', which it carries, is connected to its parent and has no location; "
            "disconnect it in Edit Mode (Alt P)",
            what=what,
            carrier=carrier.name,
        )
    if not data.use_local_location:
        raise refusal(
            "{what}: the location of '{carrier}' is not local; turn on Local Location in its Relations",
            what=what,
            carrier=carrier.name,
        )
    if carrier == sliding and data.parent and not data.use_inherit_rotation:
        raise refusal(
            "{what}: it does not turn with its parent; turn on Inherit Rotation in its Relations",
            what=what,
        )
    for channel in channels:
        place = say("{part} Location of '{carrier}'", part='XYZ'[channel], carrier=carrier.name)
        if carrier.lock_location[channel]:
            raise refusal("{what}: {place} is locked; unlock it", what=what, place=place)
        if acting_driver(carrier.id_data, carrier.path_from_id("location"), channel):
            raise refusal(
                "{what}: {place} is driven; remove the driver, or turn Slide off", what=what, place=place
            )
