# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that bring bones to places through the controls that move them, whatever is between both."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Matrix

from ...core.inputs import Floats
from ...rig.animation.bone_channels import locked_channels, rotation_property
from ...rig.animation.remembered import set_values, values_now
from ...rig.animation.value_keys import ValueKeys, values_on
from ...rig.chain.chain import RigChain
from ...rig.pose.channels import channels_of, is_locked
from ...rig.pose.hand_rotations import angles_between
from ...rig.pose.measures import rest_reach
from ...ui.auto_keying import Moved
from .targets import MatchView, on_frames

# A bone is where it is wanted within these: radians, and a part of the limb's length.
NEAR_TURN, NEAR_PLACE = 1e-5, 1e-6
# A bone turns by less to bring its tail where it is wanted, in radians.
SWUNG = 5e-5
# Locations (parts of the length) and scales that are off by less are left alone: a rest matrix is not quite a
# rotation, and two bones at one place differ by 2.4e-5.
_STILL, _SAME_SCALE = 3e-6, 3e-5
# Rounds in which what is between a control and its bone is measured anew.
_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Wish:
    """Where a bone is wanted, and the control that brings it there; in the armature's pose space."""

    control: str
    bone: str
    axes: Floats | None  # (frames, 3, 3) its rotation; None where it may turn
    places: Floats | None = None  # (frames, 3) of its head; None where that may be anywhere
    whole: Floats | None = None  # (frames, 3, 3) its rotation and scale; None where it keeps its scale
    placed: str = ""  # the bone whose head is wanted there, where that is another one
    tails: Floats | None = None  # (frames, 3) of its tail, for the last of its turn; None where it follows


@dataclass(frozen=True, eq=False)
class Reached:
    """Keys of controls, and how far they leave the bones off where these are wanted."""

    wishes: list[Wish]
    keys: list[ValueKeys]
    turns: Floats  # (frames, wishes) radians
    places: Floats  # (frames, wishes) in the armature's units
    wanted: dict[str, dict[str, Floats]]  # of each control: what location, rotation, scale it would need


def reach(view: MatchView, rig: RigChain, wishes: Sequence[Wish]) -> Reached:
    """Return the keys with which controls bring bones of a chain's armature where they are wanted.

    The effect of a control is measured: constraints, parents and mechanisms all count.
    """
    bones, length = rig.armature.pose.bones, rest_reach(rig)
    wishes = sorted(wishes, key=lambda wish: len(bones[wish.control].parent_recursive))
    controls = {wish.control: _Channels.of(view, bones[wish.control]) for wish in wishes}
    names = [*controls, *(wish.bone for wish in wishes), *(wish.placed for wish in wishes if wish.placed)]
    names += [parent.name for parent in (bones[name].parent for name in controls) if parent]
    names = list(dict.fromkeys(names))
    wanted: dict[str, dict[str, Floats]] = {}
    swings: dict[str, Floats] = {}
    for turn in range(_ROUNDS):
        keys = [one for channels in controls.values() for one in channels.keys(view.times)]
        with view.shown(keys):
            poses = view.poses(rig, names)
        turns, places = _off(rig, wishes, poses)
        near = turns.max() < (SWUNG if swings else NEAR_TURN) and places.max() < NEAR_PLACE * length
        if near or turn == _ROUNDS - 1:
            break
        moved: dict[str, Floats] = {}
        for wish in wishes:
            channels = controls[wish.control]
            if wish.tails is not None and wish.axes is not None:
                swing = _swing(wish.tails, poses[wish.bone])
                swings[wish.bone] = swing @ swings.get(wish.bone, np.eye(3))
                wish = replace(wish, axes=swings[wish.bone] @ wish.axes)
            moved[wish.control] = _aimed(wish, poses, moved.get(wish.control), turns=turn == 0)
            parents = _parents(channels.bone, poses, moved)
            wanted[wish.control] = channels.take(moved[wish.control], parents, wish, length)
    return Reached(wishes, keys, turns, places, wanted)


def _off(rig: RigChain, wishes: Sequence[Wish], poses: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Return how far bones are off where they are wanted: radians and lengths (frames, wishes)."""
    count = len(next(iter(poses.values())))
    turns, places = np.zeros((count, len(wishes))), np.zeros((count, len(wishes)))
    for k, wish in enumerate(wishes):
        if wish.axes is not None:
            turns[:, k] = angles_between(straight(poses[wish.bone]), wish.axes)
        if wish.places is not None:
            heads = poses[wish.placed or wish.bone][:, :3, 3]
            places[:, k] = np.linalg.norm(heads - wish.places, axis=1)
        if wish.tails is not None:
            places[:, k] = np.linalg.norm(tails_of(rig, wish.bone, poses[wish.bone]) - wish.tails, axis=1)
    return turns, places


def tails_of(rig: RigChain, bone: str, poses: Floats) -> Floats:
    """Return the places (frames, 3) of a bone's tail for its pose matrices (frames, 4, 4)."""
    length = rig.armature.data.bones[bone].length
    tails: Floats = poses[:, :3, 3] + length * poses[:, :3, 1]
    return tails


def _swing(tails: Floats, poses: Floats) -> Floats:
    """Return the rotations (frames, 3, 3) by which a bone's tail comes to places, where these are small.

    A rest matrix that is not quite a rotation puts the tail of a bone with the right axes that far off.
    """
    heads = poses[:, :3, 3]
    now, wanted = poses[:, :3, 1], tails - heads
    now, wanted = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (now, wanted))
    turns = np.cross(now, wanted)
    turns[np.linalg.norm(turns, axis=1) > SWUNG] = 0.0
    x, y, z = turns.T
    swings = np.tile(np.eye(3), (len(turns), 1, 1))
    swings[:, 2, 1], swings[:, 0, 2], swings[:, 1, 0] = x, y, z
    swings[:, 1, 2], swings[:, 2, 0], swings[:, 0, 1] = -x, -y, -z
    return swings


def straight(matrices: Floats) -> Floats:
    """Return the rotations (frames, 3, 3) of matrices (frames, 4, 4), without their scale and shear."""
    left, _, right = np.linalg.svd(matrices[..., :3, :3])
    rotations: Floats = left @ right
    return rotations


def _aimed(wish: Wish, poses: dict[str, Floats], before: Floats | None, *, turns: bool) -> Floats:
    """Return the pose matrices (frames, 4, 4) of a control that bring its bone where it is wanted.

    before: those of another wish. turns: whether it turns as it is asked to, rather than as it has until now.
    """
    now = poses[wish.control] if before is None else before
    aimed, bone = now.copy(), poses[wish.bone]
    if wish.whole is not None:
        aimed[:, :3, :3] = wish.whole @ np.linalg.solve(bone[:, :3, :3], now[:, :3, :3])
    elif wish.axes is not None:
        aimed[:, :3, :3] = wish.axes @ np.swapaxes(straight(bone), 1, 2) @ now[:, :3, :3]
    if wish.places is not None:
        head = poses[wish.placed or wish.bone][:, :3, 3:]
        if not turns:  # locks and limits may have left it so
            aimed[:, :3, 3] = poses[wish.control][:, :3, 3] + wish.places - head[..., 0]
            return aimed
        inside = np.linalg.solve(poses[wish.control][:, :3, :3], head - poses[wish.control][:, :3, 3:])
        aimed[:, :3, 3] = wish.places - (aimed[:, :3, :3] @ inside)[..., 0]
    return aimed


def _parents(bone: bpy.types.PoseBone, poses: dict[str, Floats], moved: dict[str, Floats]) -> Floats | None:
    """Return the pose matrices (frames, 4, 4) of a bone's parent, as moved controls above carry it."""
    if bone.parent is None:
        return None
    parent = poses[bone.parent.name]
    above = next((each.name for each in bone.parent_recursive if each.name in moved), "")
    return moved[above] @ np.linalg.inv(poses[above]) @ parent if above else parent


class _Channels:
    """The channels of a control over the times, and which of them are to be keyed."""

    def __init__(self, bone: bpy.types.PoseBone, values: dict[str, Floats]) -> None:
        self.bone, self._rotation = bone, rotation_property(bone.rotation_mode)
        self._own, self._values = values, dict(values)
        self._changed: set[str] = set()

    @classmethod
    def of(cls, view: MatchView, bone: bpy.types.PoseBone) -> "_Channels":
        """Read a control's channels on the times of a view."""
        names = (rotation_property(bone.rotation_mode), "location", "scale")
        return cls(bone, {name: channel_values(view, bone, name) for name in names})

    def take(self, aimed: Floats, parents: Floats | None, wish: Wish, length: float) -> dict[str, Floats]:
        """Take the pose matrices (frames, 4, 4) on, as locks let it; return the values without locks."""
        bases = np.array(list(_bases(self.bone, aimed, parents)))
        wanted: dict[str, Floats] = {}
        if wish.axes is not None:
            turned, own = straight(bases), self._own[self._rotation]
            wanted[self._rotation] = turned
            self._values[self._rotation] = channels_of(self.bone, turned, own, own[0])
            if not is_locked(self.bone):
                self._changed.add(self._rotation)
        if wish.places is not None and not self.bone.bone.use_connect:
            wanted["location"] = bases[:, :3, 3]
            self._take("location", bases[:, :3, 3], self.bone.lock_location, _STILL * length)
        if wish.whole is not None:
            wanted["scale"] = np.linalg.norm(bases[:, :3, :3], axis=1)
            self._take("scale", wanted["scale"], self.bone.lock_scale, _SAME_SCALE)
        return wanted

    def _take(self, name: str, values: Floats, locks: Sequence[bool], still: float) -> None:
        if name in self._changed or np.abs(values - self._own[name]).max() > still:
            self._changed.add(name)
            self._values[name] = np.where(np.array(locks, bool), self._own[name], values)

    def keys(self, times: Sequence[float]) -> Iterator[ValueKeys]:
        """Yield the keys of the channels that are changed."""
        for name in self._changed:
            values, path = self._values[name], self.bone.path_from_id(name)
            locks = {"location": self.bone.lock_location, "scale": self.bone.lock_scale}.get(
                name, locked_channels(self.bone)
            )
            for index in range(values.shape[1]):
                if not locks[index]:
                    yield ValueKeys(self.bone.id_data, path, index, times, values[:, index], self.bone.name)


def channel_values(view: MatchView, bone: bpy.types.PoseBone, name: str) -> Floats:
    """Return the values (frames, channels) of a bone's property by its F-Curves, else its own."""
    now = np.array(getattr(bone, name)[:], np.float64)
    if not view.keyed:
        return np.tile(now, (len(view.times), 1))
    return values_on(view.scene, bone.id_data, bone.path_from_id(name), view.times, now)


def _bases(bone: bpy.types.PoseBone, aimed: Floats, parents: Floats | None) -> Iterator[Matrix]:
    """Yield a bone's own transform for its pose matrix and its parent's on each frame."""
    rest = bone.bone.matrix_local
    for row, matrix in enumerate(aimed):
        above = {}
        if parents is not None:
            above["parent_matrix"] = Matrix(parents[row].tolist())
            above["parent_matrix_local"] = bone.bone.parent.matrix_local
        yield bone.bone.convert_local_to_pose(Matrix(matrix.tolist()), rest, invert=True, **above)


def switch_keys(scene: bpy.types.Scene, keys: Sequence[ValueKeys], before: float) -> list[ValueKeys]:
    """Return keys, and on the frame before them one that holds the value that each channel has there."""
    (view,) = [on_frames(scene, [before])]
    held_keys = []
    for one in keys:
        above, _, name = one.path.rpartition(".")
        (values,) = channel_values(view, one.owner.path_resolve(above), name)
        first = replace(one, frames=[before], values=values[one.index : one.index + 1], stepped=True)
        held_keys += [first, one]
    return held_keys


def moved_by(keys: Sequence[ValueKeys], undo: ExitStack) -> tuple[Moved, ...]:
    """Set channels to their first values, without keys; return what was moved."""
    undo.callback(set_values, values_now(one.channel for one in keys))
    set_values([(*one.channel, float(one.values[0])) for one in keys])
    moved: dict[str, Moved] = {}
    for one in keys:
        above, _, name = one.path.rpartition(".")
        before = moved[one.path].indices if one.path in moved else ()
        moved[one.path] = Moved(one.owner.path_resolve(above), name, [*(before or ()), one.index])
    bpy.context.view_layer.update()
    return tuple(moved.values())
