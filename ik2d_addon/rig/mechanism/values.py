# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of a mechanism's drivers over times: turns by keys, keyed lengths of rams, places of targets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.inputs import Floats
from ...core.mechanism.joints import Body
from ...core.words import refusal
from ..animation import versions
from ..animation.bone_channels import matrices, rotation_property
from ..animation.fcurves import Curves, Reader, Singles, column, playing_curves
from ..animation.kept.giving_back import by_hand_alone
from ..animation.kept.marks import generated
from ..animation.times import animation_times, strip_times
from ..chain.joints import CLOSE, own_axis
from ..chain.post import turned_bones_of
from ..pose.keyed_pose import channel_turns, resting_channels, shown_at
from ..scene import own_scene
from ..scene.live_pause import left_alone
from ..scene.probes import probes_on, view_layer_of
from .read import RAM, TURN, RigDriver, RigMechanism, outside

_ROUND = 2.0 * np.pi
# Of a driver that other controls turn, times are halved so often where it turns further from one to the next.
_HALVINGS, _FAR = 4, 0.5 * np.pi
# Keys that turn a driver further out of the plane than the first (radians) are written anew, about its
# normal; further than the second, they are refused.
_ASKEW, _TOO_FAR = 1e-6, np.radians(5.0)


def turning_axis(rig: RigMechanism, bone: str) -> Floats:
    """Return the axis (3,) about which a mechanism turns a bone, in the bone's own space."""
    axis: Floats = rig.placed[bone].axes.T @ rig.plane.normal
    return axis


def driver_values(scene: bpy.types.Scene, rig: RigMechanism, times: Sequence[float]) -> dict[Body, ArrayLike]:
    """Return the values of `Drivers.values` at ascending times of the scene."""
    with drivers_read(scene, rig) as drivers:
        return drivers.values(times)


@contextmanager
def drivers_read(scene: bpy.types.Scene, rig: RigMechanism) -> Iterator["Drivers"]:
    """Yield a mechanism's drivers, by their F-Curves as they are now."""
    with _driving_curves(rig) as curves:
        yield Drivers(scene, rig, curves)


class Drivers:
    """The drivers of a mechanism over times of the scene: what was read of a bone last is kept."""

    def __init__(self, scene: bpy.types.Scene, rig: RigMechanism, curves: Curves) -> None:
        """curves: those that drive."""
        self._scene, self._rig, self._curves = scene, rig, curves
        self._stepped = SteppedTurns(scene, rig)
        # Of a bone the times, its rotation channels (m, c) by its keys, and a mask of those that are numbers.
        self._read: dict[str, tuple[Floats, Floats, NDArray[np.bool_]]] = {}

    def values(self, times: Sequence[float]) -> dict[Body, ArrayLike]:
        """Return the turn or length (m,) of each body or ram that drives, at ascending times.

        Turns are those of the F-Curves about the plane's normal, whole turns count; of a bone that other
        controls turn, those of its evaluated pose. Raises IK2DError for a bone that is turned out of the
        plane, and for values that are no numbers.
        """
        turned, given = self._stepped.at(times), dict[Body, Floats]()
        for one in self._rig.drivers:
            if one.kind == TURN:
                by_keys = one.bone not in turned
                given[one.body] = self._turns(one.bone, times) if by_keys else turned[one.bone]
            elif one.kind == RAM:
                given[one.body] = ram_lengths(one, self.shares(one, times))
        refuse_endless(self._rig, given, times)
        return dict(given)

    def shares(self, driver: RigDriver, times: Sequence[float]) -> Floats:
        """Return the parts (m,) of its stroke, 0 to 1, that a ram is drawn out by its keys at times."""
        now = np.array([self._rig.armature.path_resolve(driver.path)])
        return _read(self._curves, driver.path, 1, self._shown(times), now)[:, 0]

    def key_times(self) -> list[float]:
        """Return the times of the keys that drive: of bones' turns, and of rams' lengths."""
        armature, times = self._rig.armature, set[float]()
        bones = [armature.pose.bones[one.bone] for one in self._rig.drivers if one.kind == TURN]
        paths = {bone.path_from_id(rotation_property(bone.rotation_mode)) for bone in bones}
        paths |= {one.path for one in self._rig.drivers if one.kind == RAM}
        for (path, _), curve in self._curves.items():
            if path in paths:
                times.update(column(curve, "co")[:, 0].tolist())
        return [round(time, 3) for time in shown_at(self._scene, armature, list(times))]

    def askew(self, times: Sequence[float]) -> list[str]:
        """Return the bones that their keys turn a little out of the plane at some of the times.

        As Euler angles do between keys, where none of them is about the plane's normal. Raises IK2DError
        where it is much.
        """
        rig, askew = self._rig, []
        for one in rig.drivers:
            if one.kind == TURN and one.bone not in rig.controlled:
                mode = rig.armature.pose.bones[one.bone].rotation_mode
                if is_askew(rig, one.bone, matrices(mode, self._channels(one.bone, times)[0])):
                    askew.append(one.bone)
        return askew

    def _turns(self, name: str, times: Sequence[float]) -> Floats:
        """Return the turns (m,) of a bone by its keys; NaN where they have no numbers."""
        bone, axis = self._rig.armature.pose.bones[name], turning_axis(self._rig, name)
        values, good = self._channels(name, times)
        turns = channel_turns(bone, axis, values)
        if bone.rotation_mode == 'QUATERNION':
            turns = np.unwrap(turns, period=2.0 * _ROUND)
        elif bone.rotation_mode != 'AXIS_ANGLE' and own_axis(axis, CLOSE) is None:
            turns = np.unwrap(turns, period=_ROUND)
        return np.where(good, turns, np.nan)

    def _channels(self, name: str, times: Sequence[float]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the rotation channels (m, c) of a bone by its keys, and a mask of those that are numbers."""
        wanted = np.array(times, np.float64)
        if name in self._read:
            known, values, good = self._read[name]
            rows = np.searchsorted(known, wanted).clip(max=len(known) - 1)
            if (known[rows] == wanted).all():
                return values[rows], good[rows]
        bone = self._rig.armature.pose.bones[name]
        prop = rotation_property(bone.rotation_mode)
        now = np.array(getattr(bone, prop), np.float64)
        values = _read(self._curves, bone.path_from_id(prop), len(now), self._shown(times), now)
        good = np.isfinite(values).all(axis=1)
        values = np.where(good[:, None], values, resting_channels(bone))
        self._read[name] = wanted, values, good
        return values, good

    def _shown(self, times: Sequence[float]) -> Singles:
        """Return the times in the action."""
        return strip_times(self._rig.armature, animation_times(self._scene, times))


def ram_lengths(driver: RigDriver, shares: Floats) -> Floats:
    """Return the lengths (m,) of a ram for parts of its stroke, 0 to 1."""
    lengths: Floats = driver.stroke[0] + np.clip(shares, 0.0, 1.0) * (driver.stroke[1] - driver.stroke[0])
    return lengths


def refuse_endless(rig: RigMechanism, given: Mapping[Body, Floats], times: Sequence[float]) -> None:
    """Raise IK2DError for drivers' values (m,) that are no numbers: on a frame, if on any."""
    for bone, values in given.items():
        lost = ~np.isfinite(values)
        if lost.any():
            on_frames = lost & (np.mod(times, 1.0) == 0.0)
            raise refusal(
                "Mechanism '{name}': '{bone}' has no finite value at frame {frame:g}; mend its keys",
                name=rig.name,
                bone=bone,
                frame=times[int(np.argmax(on_frames if on_frames.any() else lost))],
            )


@contextmanager
def _driving_curves(rig: RigMechanism) -> Iterator[Curves]:
    """Yield the F-Curves that drive: of bones that only bakes of mechanisms have keyed, those before."""
    armature = rig.armature
    curves = playing_curves(armature, versions.existing_fcurves(armature))
    chained = {bone for chain in armature.ik2d.chains for bone in turned_bones_of(chain)}
    chained |= rig.controlled
    driving = [one.bone for one in rig.drivers if one.kind == TURN and one.bone not in chained]
    bones = [armature.pose.bones[name] for name in driving]
    paths = {bone.path_from_id(rotation_property(bone.rotation_mode)) for bone in bones}
    baked = {place for place, curve in curves.items() if place[0] in paths and generated(curve).any()}
    if not baked:
        yield curves
        return
    with by_hand_alone(armature, lambda path, index: (path, index) in baked) as holder:
        before = playing_curves(armature, holder.fcurves if holder else ())
        kept = {place: before[place] for place in baked if place in before}
        yield {**curves, **{place: curve for place, curve in kept.items() if len(curve.keyframe_points)}}


def _read(curves: Curves, path: str, width: int, shown: Singles, others: Floats) -> Floats:
    """Return the values (m, width) of a property by its curves; others: (width,) where it has none."""
    values = np.tile(others.astype(np.float64), (len(shown), 1))
    its = {index: curves[path, index] for index in range(width) if (path, index) in curves}
    for number, found in Reader(shown).values(list(its.values())):
        values[:, list(its)[number]] = found
    return values


def is_askew(rig: RigMechanism, bone: str, rotations: Floats) -> bool:
    """Return whether rotations (m, 3, 3) turn a bone out of the plane; raise IK2DError where it is much."""
    axis = turning_axis(rig, bone)
    turned = rotations @ axis
    off = np.arctan2(np.linalg.norm(np.cross(turned, axis), axis=1), turned @ axis).max()
    if off > _TOO_FAR:
        raise refusal(
            "Mechanism '{name}': the keys of '{bone}' turn it {angle:.2f}\N{DEGREE SIGN} out of the "
            "mechanism's plane; key it about one axis",
            name=rig.name,
            bone=bone,
            angle=float(np.degrees(off)),
        )
    return bool(off > _ASKEW)


class SteppedTurns:
    """Turns of drivers that other controls turn, by their evaluated poses; each time is stepped to once."""

    def __init__(self, scene: bpy.types.Scene, rig: RigMechanism) -> None:
        self._scene, self._rig = scene, rig
        self._bones = [one.bone for one in rig.drivers if one.kind == TURN and one.bone in rig.controlled]
        self._read: dict[float, Floats] = {}

    def at(self, times: Sequence[float]) -> dict[str, Floats]:
        """Return the turns (m,) of each such bone at ascending times, whole turns counted from the first.

        Between times, so many more are stepped to that none turns far. Raises IK2DError for a bone that is
        turned out of the plane.
        """
        if not self._bones:
            return {}
        self._step(np.arange(np.ceil(times[0]), times[-1]).tolist())  # first: a fault names its frame
        self._step(times)
        for _ in range(_HALVINGS):
            known = np.array(sorted(self._read))
            turns = np.array([self._read[time] for time in known.tolist()])
            apart = np.diff(turns, axis=0)
            far = (np.abs(apart - _ROUND * np.rint(apart / _ROUND)) > _FAR).any(axis=1)
            if not far.any():
                break
            self._step(((known[:-1] + known[1:]) / 2.0)[far].tolist())
        known = np.array(sorted(self._read))
        turns = np.unwrap([self._read[time] for time in known.tolist()], axis=0)
        rows = np.searchsorted(known, times)
        return {bone: turns[rows, number] for number, bone in enumerate(self._bones)}

    def _step(self, times: Sequence[float]) -> None:
        new = sorted({time for time in times if time not in self._read})
        if not new:
            return
        with stepping(self._scene, self._rig.armature) as (show, _):
            for time in new:
                evaluated = show(time)
                self._read[time] = np.array([self._turn(bone, evaluated, time) for bone in self._bones])

    def _turn(self, bone: str, evaluated: bpy.types.Object, time: float) -> float:
        """Return the turn of a bone against what carries it, in the plane."""
        plane, carrier = self._rig.plane, self._rig.placed[bone].parent or self._rig.frame
        motion = _motion(evaluated, bone)
        if carrier:
            motion = np.linalg.inv(_motion(evaluated, carrier)) @ motion
        x, normal = motion @ plane.x, motion @ plane.normal
        off = np.arctan2(np.linalg.norm(np.cross(normal, plane.normal)), normal @ plane.normal)
        if not off <= _TOO_FAR:
            raise refusal(
                "Mechanism '{name}': a constraint, a driver or an NLA strip turns '{bone}' {angle:.2f}"
                "\N{DEGREE SIGN} out of the mechanism's plane at frame {frame:g}; turn it about one axis",
                name=self._rig.name,
                bone=bone,
                angle=float(np.degrees(off)),
                frame=time,
            )
        return float(np.arctan2(x @ plane.y, x @ plane.x))


def _motion(evaluated: bpy.types.Object, bone: str) -> Floats:
    """Return the rotation (3, 3) of a bone from its rest pose, in the armature's space."""
    posed = evaluated.pose.bones[bone]
    motion: Floats = np.array(posed.matrix.to_3x3() @ posed.bone.matrix_local.to_3x3().inverted())
    return motion


def target_places(
    scene: bpy.types.Scene, rig: RigMechanism, target: tuple[bpy.types.Object, str], times: Sequence[float]
) -> Floats:
    """Return where a target is in the plane (m, 2) at times, as Blender evaluates it."""
    places, worlds, frames = [], [], []
    with stepping(scene, rig.armature, [target]) as (show, probes):
        for time in times:
            evaluated, (place,) = show(time), probes()
            places.append(place)
            worlds.append(np.array(evaluated.matrix_world))
            if rig.frame:
                frames.append(np.array(evaluated.pose.bones[rig.frame].matrix))
    at = np.array(places)
    refuse_lost(rig, at, times)
    return outside(rig, at, np.array(worlds), np.array(frames) if frames else None)


def refuse_lost(rig: RigMechanism, at: Floats, times: Sequence[float]) -> None:
    """Raise IK2DError for places (m, 3) of a target in the world that are no numbers."""
    if not np.isfinite(at).all():
        raise refusal(
            "Mechanism '{name}': the target has no finite place at frame {frame:g}",
            name=rig.name,
            frame=times[int(np.argmin(np.isfinite(at).all(axis=1)))],
        )


@contextmanager
def stepping(
    scene: bpy.types.Scene, armature: bpy.types.Object, targets: Sequence[tuple[bpy.types.Object, str]] = ()
) -> Iterator[tuple[Callable[[float], bpy.types.Object], Callable[[], list[Floats]]]]:
    """Yield a function that shows a time and returns the evaluated armature, and one for targets' places.

    In a scene of our own where that evaluates alike; else in the user's, whose frame is restored.
    """
    first = armature.pose.bones[0].name
    with ExitStack() as left:
        shown = scene
        if not own_scene.doubt(armature, [ob for ob, _ in targets]):
            shown = left.enter_context(own_scene.isolated(scene, armature))
        else:
            left.callback(scene.frame_set, scene.frame_current, subframe=scene.frame_subframe)
        # That of a bone has Blender evaluate an armature that is hidden.
        probes = left.enter_context(probes_on(shown, [*targets, (armature, first)]))
        left.enter_context(left_alone())
        layer = view_layer_of(shown)

        def show(time: float) -> bpy.types.Object:
            shown.frame_set(int(time // 1), subframe=float(time % 1))
            return armature.evaluated_get(layer.depsgraph)

        def places() -> list[Floats]:
            return [
                np.array(probe.evaluated_get(layer.depsgraph).matrix_world.translation)
                for probe in probes[: len(targets)]
            ]

        yield show, places
