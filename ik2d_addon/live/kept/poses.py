# SPDX-License-Identifier: GPL-3.0-or-later
"""The kept frames of one armature: its live chains' channels, and what is seen where they are shown."""

from collections.abc import Iterator, Sequence, Sized
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...rig.animation.bone_channels import width_of
from ...rig.animation.value_keys import existing_drivers
from ...rig.animation.versions import existing_fcurves
from ...rig.mechanism.posing import channels_of_rest
from ...rig.pose.rotations import channels_at_rest
from ...rig.scene.lengths.stretch_scales import note_posed_scales, scale_channels, scales_back
from ..mechanism import Live, LiveMechanism
from .looks import Looks, chain_rigs
from .rows import Frame, KeptRows, RangeKey, Row

# Of a channel: bone, property and index.
Channel = tuple[str, str, int]

# Frames that were found elsewhere so often are no longer kept until something is edited.
_MISSES = 3


class _Part(NamedTuple):
    """The channels of one property: all of the armature's bones', and which of them are kept."""

    property: str
    buffer: NDArray[np.float32]
    places: NDArray[np.intp]  # in the buffer
    columns: slice  # in a row


class KeptPoses:
    """Frames of the live chains of one armature."""

    def __init__(self, armature: bpy.types.Object, chains: Sequence[Live], most: int) -> None:
        """Take all live chains of an armature. most: bytes of memory."""
        self.armature, self.chains = armature, chains
        self.looks = Looks(armature, chains)
        self.channels = _channels(armature, chains)
        self._size, self._width = len(armature.pose.bones), len(self.channels)
        self._data = armature.data.session_uid
        self._parts = list(_parts(armature, self.channels))
        self._rows = KeptRows(len(self.channels) + self.looks.width, most)
        self._shown: Row | None = None  # that of the frame that Blender is about to show, or shows
        self._before: list[tuple[_Part, NDArray[np.float32]]] = []  # what the channels were before it
        self._noted: list[NDArray[np.float32]] | None = None  # channels of a frame that was followed
        self._stretching = [rig for rig in chain_rigs(chains) if rig.stretching is not None]
        self._misses = 0
        # Whether a frame's pose depends on those before it, as a bake of the scene's range has it.
        self.goes_on = any(chain.goes_on for chain in chains)
        # Frames that were solved one from the other, of which range.
        self._as_baked: frozenset[Frame] = frozenset()
        self._range: RangeKey | None = None

    @property
    def is_useful(self) -> bool:
        """Whether frames are kept: not where they are found elsewhere again and again."""
        return self._misses < _MISSES

    @property
    def are_keyed(self) -> bool:
        """Whether F-Curves or drivers set what the chains write, after it is written."""
        armature = self.armature
        written = {armature.pose.bones[bone].path_from_id(prop) for bone, prop, _ in self.channels}
        animated = (*existing_fcurves(armature), *existing_drivers(armature))
        return any(curve.data_path in written for curve in animated)

    def __contains__(self, frame: Frame) -> bool:
        return frame in self._rows

    def forget(self) -> None:
        """Forget all frames."""
        self._rows.clear()
        self._shown = self._noted = self._range = None
        self._as_baked = frozenset()

    def miss(self) -> None:
        """Forget all frames: they show another pose, or may."""
        self._misses += 1
        self.forget()

    @property
    def most(self) -> int:
        """How many frames there is room for."""
        return self._rows.most

    def add_block(self, frames: Sequence[Frame], rows: NDArray[np.float64], key: RangeKey) -> None:
        """Keep solved frames: rows (frames, channels and looks), NaN for what is not known.

        key: of the scene's range, which is what the frames are if poses go on from frame to frame.
        """
        if self.goes_on:
            self.forget()  # frames of another range, and those that were solved by themselves
            self._as_baked, self._range = frozenset(frames), key
        self._rows.add_block(frames, rows)

    def has_range(self, key: RangeKey) -> bool:
        """Return whether the frames of a range were solved one from the other."""
        return self._range == key

    def is_as_baked(self, frame: Frame) -> bool:
        """Return whether a kept frame has the pose that a bake of the scene's range keys."""
        return not self.goes_on or frame in self._as_baked

    def write(self, frame: Frame) -> None:
        """Pose the chains as they were kept for a frame, if they were."""
        self._shown, self._before = None, []
        armature, row = self.armature, self._rows.find(frame)
        bones, data = armature.pose.bones, armature.data
        if row is None or data.is_editmode or data.pose_position == 'REST' or not self._are_same(bones):
            return
        for part in self._parts:
            bones.foreach_get(part.property, part.buffer)  # others may have changed meanwhile
            wanted, before = row[part.columns], part.buffer.take(part.places)
            if before.tobytes() != wanted.tobytes():
                part.buffer[part.places] = wanted
                bones.foreach_set(part.property, part.buffer)
                self._before.append((part, before))
        if self._before:
            self._note_written()
        self._shown = row

    def take_back(self) -> bool:
        """Give the bones the channels that they had before this frame was written; return whether any was."""
        bones, is_any = self.armature.pose.bones, bool(self._before)
        for part, values in self._before if self._are_same(bones) else ():
            bones.foreach_get(part.property, part.buffer)
            part.buffer[part.places] = values
            bones.foreach_set(part.property, part.buffer)
        if is_any:
            self._note_written()
        self._before = []
        return is_any

    def _note_written(self) -> None:
        """Note what was written, and have it evaluated."""
        for rig in self._stretching:
            note_posed_scales(rig)
        # The bones follow their object. A tag of its data would read as an edit of the rest pose.
        self.armature.update_tag(refresh={'OBJECT'})

    def _are_same(self, bones: Sized) -> bool:
        """Return whether an armature's pose bones are those that were read: of the same data, and as many."""
        return self.armature.data.session_uid == self._data and len(bones) == self._size

    def is_shown(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Return whether a depsgraph shows the chains as they were written; if not, forget all frames."""
        row, self._shown = self._shown, None
        if row is None:
            return False
        kept = row[self._width :]
        seen = self.looks.read(depsgraph)
        if seen is None or not self.looks.are_same(seen, kept):
            self.miss()
            return False
        if self.looks.hands and np.isnan(kept).any():  # those are not known at first
            kept[:] = seen
        return True

    def note(self) -> None:
        """Note the channels of a frame that was followed."""
        bones = self.armature.pose.bones
        self._noted = None
        if not self._are_same(bones):
            return
        noted = []
        for prop, buffer, places, _ in self._parts:
            bones.foreach_get(prop, buffer)
            noted.append(buffer.take(places))
        self._noted = noted

    def remember(self, frame: Frame, depsgraph: bpy.types.Depsgraph) -> None:
        """Keep a frame whose channels were noted, as a depsgraph shows it now."""
        noted, self._noted = self._noted, None
        # One that was solved in its range, and had to make room, is no longer as baked if followed by itself.
        if noted is None or frame in self._rows or frame in self._as_baked:
            return
        seen = self.looks.read(depsgraph)
        if seen is not None:
            self._rows.add(frame, np.concatenate((*noted, seen)))


def _channels(armature: bpy.types.Object, chains: Sequence[Live]) -> list[Channel]:
    """Return the channels that live chains write, those of a property side by side."""
    found: dict[str, list[Channel]] = {}
    machines = [chain.rig for chain in chains if isinstance(chain, LiveMechanism)]
    written = [channels for rig in machines for channels in channels_of_rest(rig, single_axis=False)]
    for rig in chain_rigs(chains):
        scales = [*scale_channels(rig, np.ones((1, len(rig.bones)))), *scales_back(rig, keyed=False)]
        written += [*channels_at_rest(rig), *scales]
    for channels in written:
        found.setdefault(channels.property, []).extend(
            (channels.bone, channels.property, index) for index in channels.unlocked(armature)
        )
    return [channel for of_property in found.values() for channel in dict.fromkeys(of_property)]


def _parts(armature: bpy.types.Object, channels: Sequence[Channel]) -> Iterator[_Part]:
    """Yield the parts of a row by property."""
    rows = {name: row for row, name in enumerate(armature.pose.bones.keys())}
    for prop in dict.fromkeys(prop for _, prop, _ in channels):
        columns = [column for column, channel in enumerate(channels) if channel[1] == prop]
        width = width_of(prop)
        places = [width * rows[channels[column][0]] + channels[column][2] for column in columns]
        yield _Part(
            prop,
            np.empty(width * len(rows), np.float32),
            np.array(places, np.intp),
            slice(columns[0], columns[-1] + 1),
        )
