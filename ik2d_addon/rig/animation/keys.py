# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: replace the keys of a range, in bulk."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError
from ...core.inputs import Floats
from ..pose.rotations import ROTATIONS, BoneChannels, BoneRotation, channels_kept, rotation_property, set_mode
from . import actions as made
from . import nla, versions
from .actions import KnownChannels
from .fcurves import Singles, column

# Everything that the keys of an F-Curve hold, each column (keys, width).
Columns = dict[str, NDArray[Any]]

# Everything that a key holds, with its width and type; a round trip through these is lossless. Bytes are what
# Blender keeps itself: it takes and gives them whole, nine times as fast as other numbers.
_COLUMNS = (
    ("co", 2, "f4"),
    ("handle_left", 2, "f4"),
    ("handle_right", 2, "f4"),
    ("handle_left_type", 1, "u1"),
    ("handle_right_type", 1, "u1"),
    ("interpolation", 1, "u1"),
    ("easing", 1, "u1"),
    ("type", 1, "u1"),
    ("amplitude", 1, "f4"),
    ("period", 1, "f4"),
    ("back", 1, "f4"),
    ("select_control_point", 1, "?"),
    ("select_left_handle", 1, "?"),
    ("select_right_handle", 1, "?"),
)
# Blender's numbers for these, the same in all versions; bulk access takes no names.
_BEZIER, _FREE, _ALIGNED, _AUTO_CLAMPED, _GENERATED = 2, 0, 3, 4, 5
_CONSTANT, _BY_HAND = 0, 0
# What keys have when they are added: such columns need no writing, each of which costs as much as update().
_ADDED = {
    "handle_left_type": _AUTO_CLAMPED,
    "handle_right_type": _AUTO_CLAMPED,
    "interpolation": _BEZIER,
    "easing": 0,
    "select_control_point": True,
    "select_left_handle": True,
    "select_right_handle": True,
}
# Two keys nearer than this many frames are one to Blender: of the two, update() keeps the later one's value.
SAME_FRAME = 1e-2


@dataclass(frozen=True)
class Fault:
    """What keeps keys from being written, or from playing as written."""

    kind: str  # LOCKED, SAMPLES, MUTED, MODIFIED, SHARED, DRIVEN, MIXED, MODE or SILENT
    sentence: str
    blocks: bool = False  # whether no key can be written


def check_writable(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], frames: Sequence[float] | Floats
) -> list[str]:
    """Return a sentence for each thing that will keep keys from playing as written, or that they end.

    frames: as in `written`, in order. Raises IK2DError where a channel cannot take keys; nothing has been
    written then.
    """
    warnings = []
    holder = versions.existing_channels(armature)
    known = KnownChannels(holder) if holder is not None else None
    for fault in faults(armature, rotations, known):
        if fault.blocks:
            raise IK2DError(fault.sentence)
        warnings.append(fault.sentence)
    paths = {_path(armature, rotation): rotation.bone for rotation in rotations}
    return warnings + list(nla.frozen_motion(armature, paths, float(frames[0]), float(frames[-1])))


def faults(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None = None
) -> Iterator[Fault]:
    """Yield what keeps keys of some channels from being written or from playing, what blocks them first.

    known: the armature's, where many are asked for. Looks at no keys, so that a panel may ask.
    """
    late = []
    for fault in (*_curve_faults(armature, rotations, known), *_group_faults(armature, rotations, known)):
        if fault.blocks:
            yield fault
        else:
            late.append(fault)
    yield from late
    for ob in versions.sharing_channels(armature):
        if any(_moves(ob, rotation) for rotation in rotations):
            yield Fault(
                'SHARED',
                f"'{armature.name}': '{ob.name}' plays the same action and gets these keys too;"
                " give it a copy",
            )
    for sentence in _silenced(armature, rotations):
        yield Fault('MODE', sentence)
    if reason := nla.why_silent(armature):
        yield Fault('SILENT', reason)
    animation = armature.animation_data
    if animation is None:
        return
    driven = {rotation.bone for rotation in rotations if any(drivers_of(armature, rotation))}
    for bone in sorted(driven):
        yield Fault('DRIVEN', f"'{armature.name}': bone '{bone}' is driven; drivers win over keys")
    if animation.action_influence < 1.0 or animation.action_blend_type != 'REPLACE':
        yield Fault(
            'MIXED',
            f"'{armature.name}': its action is mixed with NLA strips; set it to Replace, influence 1",
        )


def _curve_faults(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None
) -> Iterator[Fault]:
    holder = known or versions.existing_channels(armature)
    if holder is None:
        return
    for rotation in rotations:
        mode = armature.pose.bones[rotation.bone].path_from_id("rotation_mode")
        if holder.fcurves.find(mode) is not None:
            yield Fault(
                'MODE',
                f"'{armature.name}': the rotation mode of bone '{rotation.bone}' is animated;"
                " delete its keys to bake",
                blocks=True,
            )
    for rotation in rotations:
        for curve in curves_of(armature, rotation, known):
            name = f"'{armature.name}': channel {curve.data_path}"
            if curve.lock or (curve.group and curve.group.lock):
                yield Fault('LOCKED', f"{name} is locked; unlock it to bake", blocks=True)
            if len(curve.sampled_points):
                yield Fault('SAMPLES', f"{name} holds samples; turn them into keys to bake", blocks=True)
            if curve.mute:
                yield Fault('MUTED', f"{name} is muted: its keys do not play; unmute it")
            if any(not modifier.mute for modifier in curve.modifiers):
                yield Fault(
                    'MODIFIED', f"{name} has F-Curve modifiers, which act on top of the keys; mute them"
                )


def _written(rotation: BoneRotation) -> Sequence[int]:
    """Return which channels of a property count: of a location or scale, those to be written alone."""
    if isinstance(rotation, BoneChannels):
        return rotation.channels
    return range(rotation.values.shape[1])


def curves_of(
    armature: bpy.types.Object, rotation: BoneRotation, known: KnownChannels | None = None
) -> list[bpy.types.FCurve]:
    """Return the F-Curves that a bone's channels have by now. known: the armature's, as in `faults`."""
    holder = known or versions.existing_channels(armature)
    if holder is None:
        return []
    path = _path(armature, rotation)
    found = (holder.fcurves.find(path, index=index) for index in _written(rotation))
    return [curve for curve in found if curve is not None]


def drivers_of(armature: bpy.types.Object, rotation: BoneRotation) -> list[bpy.types.FCurve]:
    """Return the drivers of a bone's channels that act."""
    animation = armature.animation_data
    if animation is None or not len(animation.drivers):
        return []
    path = _path(armature, rotation)
    found = (animation.drivers.find(path, index=index) for index in _written(rotation))
    return [curve for curve in found if curve is not None and not curve.mute]


def notes_before(armature: bpy.types.Object, bones: Iterable[str], frames: Sequence[float]) -> list[str]:
    """Return a sentence for each thing that a bake of these bones will change outside its frames.

    frames: in order; the first and the last will do. Looks at no keys, so that a panel may ask.
    """
    posed = [bone for bone in map(armature.pose.bones.get, bones) if bone is not None]
    paths = {bone.path_from_id(rotation_property(bone.rotation_mode)): bone.name for bone in posed}
    return list(nla.frozen_motion(armature, paths, float(frames[0]), float(frames[-1])))


def _group_faults(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None
) -> Iterator[Fault]:
    """Yield what is wrong with each group that keys go into."""
    for name, group in groups_of(armature, rotations, known).items():
        if group.lock:
            yield Fault(
                'LOCKED',
                f"'{armature.name}': channel group '{name}' is locked; unlock it to bake",
                blocks=True,
            )
        elif group.mute and versions.heeds_muted_groups(armature):
            yield Fault(
                'MUTED',
                f"'{armature.name}': channel group '{name}' is muted: its keys do not play; unmute it",
            )
        elif group.mute:
            yield Fault(
                'MUTED',
                f"'{armature.name}': channel group '{name}' is muted, which Blender heeds in NLA strips only:"
                " its keys play until the action becomes one; unmute it",
            )


def groups_of(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None = None
) -> dict[str, bpy.types.ActionGroup]:
    """Return the channel groups that keys go into, by name. known: the armature's, as in `faults`."""
    holder = known or versions.existing_channels(armature)
    groups: dict[str, bpy.types.ActionGroup] = {}
    if holder is None:
        return groups
    for rotation in rotations:
        path = _path(armature, rotation)
        for index in rotation.unlocked(armature):
            curve = holder.fcurves.find(path, index=index)
            if curve is not None:
                group = curve.group
            else:
                group = made.group_for(holder, rotation.bone) if rotation.keys(index) else None
            if group is not None:
                groups[group.name] = group
    return groups


def _moves(ob: bpy.types.Object, rotation: BoneRotation) -> bool:
    """Return whether keys of a bone move a bone of another object too."""
    bone = ob.pose.bones.get(rotation.bone) if ob.pose else None
    if bone is None:
        return False
    return isinstance(rotation, BoneChannels) or rotation_property(bone.rotation_mode) == rotation.property


def _silenced(armature: bpy.types.Object, rotations: Sequence[BoneRotation]) -> Iterator[str]:
    """Yield a sentence for each bone whose keys in its former rotation mode no longer play."""
    changed = [rotation for rotation in rotations if rotation.mode]
    if not changed:
        return
    keyed = {curve.data_path for curve in versions.existing_fcurves(armature)} | nla.strip_paths(armature)
    for rotation in changed:
        bone = armature.pose.bones[rotation.bone]
        old = [bone.path_from_id(name) for name in ROTATIONS if name != rotation.property]
        if keyed.intersection(old):
            yield (
                f"'{armature.name}': bone '{rotation.bone}' has keys in another rotation mode; they stay, but"
                f" do not play, not outside the baked frames either, in {rotation.mode} Euler"
            )


def write(armature: bpy.types.Object, frames: Sequence[float], rotations: Sequence[BoneRotation]) -> None:
    """Do what `written` does, with nothing to follow."""
    with written(armature, frames, rotations):
        pass


@contextmanager
def written(
    armature: bpy.types.Object, frames: Sequence[float] | Floats, rotations: Sequence[BoneRotation]
) -> Iterator[None]:
    """Key the rotations at the frames, in place of all keys from the first frame to the last.

    Sets the bones to the rotation modes that the rotations need. If that fails, or what is done
    inside, all is put back as it was.
    """
    if not rotations:
        yield
        return
    others = versions.sharing_channels(armature)
    with channels_kept(armature, rotations, only_on_error=True, others=others), ExitStack() as undo:
        holder, times = made.channels(armature, undo), strip_times(armature, frames)
        known = KnownChannels(holder)
        for rotation in rotations:
            _write_bone(armature, holder, known, rotation, times, undo)
        yield
        undo.pop_all()


def _write_bone(
    armature: bpy.types.Object,
    holder: versions.Channels,
    known: KnownChannels,
    rotation: BoneRotation,
    times: Singles,
    undo: ExitStack,
) -> None:
    """Key one bone's channels: all that are not locked, or the one that turns.

    known: what there is of F-Curves. times: as the action counts them, where the bone has none of its own.
    """
    if rotation.frames is not None:
        times = strip_times(armature, rotation.frames)
    set_mode(armature, rotation)
    path, handles = _path(armature, rotation), rotation.handles
    for index in rotation.unlocked(armature):
        old = known.fcurves.find(path, index=index)
        if old is not None:
            undo.callback(
                made.unless_gone, _put_keys_back, versions.place_of(holder), path, index, _columns(old)
            )
        if not rotation.keys(index):
            _rest(armature, old, rotation, index, np.unique(times[[0, -1]]))
            continue
        curve = made.fcurve(holder, path, index, rotation.bone, undo, known)
        own_handles = handles if handles is None else handles[:, :, index]
        kind = _GENERATED if rotation.generated else _BY_HAND
        _replace_keys(curve, times, rotation.values[:, index], own_handles, kind)


def _rest(
    armature: bpy.types.Object,
    curve: bpy.types.FCurve | None,
    rotation: BoneRotation,
    index: int,
    times: Singles,
) -> None:
    """Have a channel stand at 0: with two keys where it has a curve, else without any."""
    if curve is None:
        getattr(armature.pose.bones[rotation.bone], rotation.property)[index] = 0.0
    else:
        _replace_keys(curve, times, np.zeros(len(times)))


def _put_keys_back(place: versions.Place, path: str, index: int, columns: Columns) -> None:
    """Give an F-Curve its former keys, where it still is."""
    curve = versions.curve_at(place, path, index)
    if curve is not None:
        _fill(curve, columns, np.ones((len(columns["co"]), 2), np.bool_))


def refuse_tweak_mode(armature: bpy.types.Object) -> None:
    """Raise IK2DError for an armature in the NLA's tweak mode, where keys cannot be previewed."""
    if armature.animation_data and armature.animation_data.use_tweak_mode:
        raise IK2DError(
            f"'{armature.name}' is in the NLA's tweak mode, where chains that hang on one another cannot be"
            " baked together; leave it (Tab in the NLA editor), or bake them one by one"
        )


@contextmanager
def previewed(
    armature: bpy.types.Object, frames: Sequence[float], rotations: Sequence[BoneRotation]
) -> Iterator[None]:
    """Have the rotations keyed for a while, in a copy of the action that then goes again."""
    refuse_tweak_mode(armature)
    with made.action_copied(armature), channels_kept(armature, rotations):
        write(armature, frames, rotations)
        yield


def pace_of(scene: bpy.types.Scene) -> float:
    """Return how fast time goes in the scene's actions: 1, but under time remapping."""
    return float(scene.render.frame_map_old / scene.render.frame_map_new)


def animation_times(scene: bpy.types.Scene, frames: Sequence[float]) -> list[float]:
    """Return when the scene's frames take place in its actions."""
    pace = pace_of(scene)
    return [frame * pace for frame in frames]


def evaluated_times(scene: bpy.types.Scene, frames: Sequence[float]) -> Singles:
    """Return the same to the last bit as Blender has it, which counts in 32 bits: at a key that matters."""
    pace = np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new)
    times: Singles = np.asarray(frames, "f4") * pace
    return times


def action_time(armature: bpy.types.Object, scene: bpy.types.Scene, frame: float) -> float:
    """Return when one of the scene's frames is in the armature's action."""
    return float(strip_times(armature, animation_times(scene, [frame]))[0])


def strip_times(armature: bpy.types.Object, frames: Sequence[float] | Floats) -> Singles:
    """Return the frames as the action counts them: another time while an NLA strip is tweaked."""
    animation = armature.animation_data
    if not (animation and animation.use_tweak_mode):
        return np.asarray(frames, "f4")
    return np.array([animation.nla_tweak_strip_time_to_scene(f, invert=True) for f in frames], "f4")


def made_by_hand(curve: bpy.types.FCurve) -> NDArray[np.bool_]:
    """Return which of an F-Curve's keys (m,) no bake has made."""
    made: NDArray[np.bool_] = column(curve, "type", 1, "u1")[:, 0] != _GENERATED
    return made


def keep_hand_made(curve: bpy.types.FCurve) -> bool:
    """Take from an F-Curve the keys that a bake has made; return whether any are left."""
    columns = _columns(curve)
    kept = columns["type"][:, 0] != _GENERATED
    if kept.any() and not kept.all():
        types = np.column_stack((columns["handle_left_type"], columns["handle_right_type"]))
        _fill(
            curve,
            {name: column[kept] for name, column in columns.items()},
            np.isin(types[kept], (_FREE, _ALIGNED)),
        )
    return bool(kept.any())


def _path(armature: bpy.types.Object, rotation: BoneRotation) -> str:
    return str(armature.pose.bones[rotation.bone].path_from_id(rotation.property))


def _replace_keys(
    curve: bpy.types.FCurve,
    frames: Singles,
    values: Floats,
    handles: Floats | None = None,
    kind: int = _GENERATED,
    interpolation: int = _BEZIER,
) -> None:
    """Put keys at frames (m,) in order, up or down; keys before the first and after the last stay.

    handles: (2, m) values of the handles before and after each key, at thirds of the gaps; NaN, or None
    for all, for automatic ones. kind and interpolation: of the keys, as Blender numbers them.
    """
    if frames[0] > frames[-1]:  # an NLA strip that plays backwards
        frames, values = frames[::-1], values[::-1]
        handles = None if handles is None else handles[::-1, ::-1]
    x = column(curve, "co", 2, "f4")[:, 0]
    kept = (x < frames[0] - SAME_FRAME) | (x > frames[-1] + SAME_FRAME)
    stays = len(x) > 0 and bool(kept.any())
    if handles is None and interpolation == _BEZIER and len(frames) > 1 and not stays:
        _fill_plainly(curve, frames, values, kind)
        return
    new = _new_keys(frames, values)
    new["type"][:], new["interpolation"][:] = kind, interpolation
    if handles is not None:
        _shape(new, handles)
    if not stays:
        _fill(curve, new)
        return
    old = _columns(curve)
    order = np.argsort(np.concatenate((x[kept], frames)), kind="stable")
    columns = {name: np.concatenate((old[name][kept], new[name]))[order] for name in old}
    # Blender aligns aligned handles anew, which moves them by their last bits.
    types = np.column_stack((columns["handle_left_type"], columns["handle_right_type"]))
    _fill(curve, columns, (order < kept.sum())[:, None] & np.isin(types, (_FREE, _ALIGNED)))


def _columns(curve: bpy.types.FCurve) -> Columns:
    """Return all that the keys of an F-Curve hold, each column (keys, width)."""
    return {name: column(curve, name, width, kind) for name, width, kind in _COLUMNS}


def _fill_plainly(curve: bpy.types.FCurve, frames: Singles, values: Floats, kind: int) -> None:
    """Give an F-Curve plain keys at frames (m,), m > 1, instead of its own.

    All else that these hold, they have when they are added.
    """
    places = np.empty((len(frames), 2), "f4")
    places[:, 0], places[:, 1] = frames, values
    points = curve.keyframe_points
    points.clear()
    points.add(len(frames))
    points.foreach_set("co", places.ravel())
    points.foreach_set("type", np.full(len(frames), kind, "u1"))
    curve.update()


def _fill(curve: bpy.types.FCurve, columns: Columns, exact: NDArray[np.bool_] | None = None) -> None:
    """Give an F-Curve these sorted keys (m) instead of its own.

    exact: (m, 2) which left and right handles are to be as they are given, to the last bit.
    """
    points = curve.keyframe_points
    fresh = {name for name, value in _ADDED.items() if (columns[name] == value).all()}
    if fresh >= {"handle_left_type", "handle_right_type"} and len(columns["co"]) > 1:
        fresh |= {"handle_left", "handle_right"}  # update() places automatic handles
    points.clear()
    points.add(len(columns["co"]))
    for name, values in columns.items():
        if name not in fresh:
            points.foreach_set(name, np.ascontiguousarray(values).ravel())
    curve.update()
    if exact is None:
        return
    for side, given in zip(("handle_left", "handle_right"), exact.T, strict=True):
        handles = np.empty_like(columns[side])
        points.foreach_get(side, handles.ravel())
        handles[given] = columns[side][given]
        points.foreach_set(side, handles.ravel())


def _shape(keys: Columns, handles: Floats) -> None:
    """Give keys free handles with values (2, m), where these are any.

    The two that point out of the range go straight on where the key's other one is free: automatic
    ones there would turn it, to whatever keys lie outside.
    """
    third = np.diff(keys["co"][:, 0].astype(np.float64)) / 3.0
    shaped = ~np.isnan(handles)
    shaped[0, 0] = shaped[1, -1] = False
    for side, name, gaps in ((0, "handle_left", -third), (1, "handle_right", third)):
        rows = np.flatnonzero(shaped[side])
        keys[name][rows, 0] += gaps[rows - (side == 0)]
        keys[name][rows, 1] = handles[side, rows]
        keys[f"{name}_type"][rows] = _FREE
    for row, inner, outer in ((0, "handle_right", "handle_left"), (-1, "handle_left", "handle_right")):
        if keys[f"{inner}_type"][row] == _FREE:
            keys[outer][row] = 2.0 * keys["co"][row] - keys[inner][row]
            keys[f"{outer}_type"][row] = _ALIGNED


def _new_keys(frames: Singles, values: Floats) -> Columns:
    new = {name: np.zeros((len(frames), width), kind) for name, width, kind in _COLUMNS}
    new["co"][:, 0], new["co"][:, 1] = frames, values
    new["handle_left"][:] = new["handle_right"][:] = new["co"]
    new["handle_left_type"][:] = new["handle_right_type"][:] = _AUTO_CLAMPED
    new["interpolation"][:] = _BEZIER
    new["type"][:] = _GENERATED
    for name in ("select_control_point", "select_left_handle", "select_right_handle"):
        new[name][:] = True  # as keys that Blender inserts
    return new
