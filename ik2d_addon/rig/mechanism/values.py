# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of a mechanism's drivers over times: turns by keys, keyed lengths of rams, places of targets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np
from numpy.typing import ArrayLike

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


def driver_values(
    scene: bpy.types.Scene, rig: RigMechanism, times: Sequence[float], stepped: "SteppedTurns | None" = None
) -> dict[Body, ArrayLike]:
    """Return the turn or length (m,) of each body or ram that drives, at ascending times of the scene.

    Turns are those of the F-Curves about the plane's normal, whole turns count; of a bone that other controls
    turn, those of its evaluated pose. stepped: such turns that were read before. Raises IK2DError for a bone
    that is turned out of the plane, and for values that are no numbers.
    """
    shown = strip_times(rig.armature, animation_times(scene, times))
    turned = (stepped or SteppedTurns(scene, rig)).at(times)
    with _driving_curves(rig) as curves:
        return _values_of(rig, curves, shown, times, turned)


def driver_key_times(scene: bpy.types.Scene, rig: RigMechanism) -> list[float]:
    """Return the scene's times of the keys that drive: of bones' turns, and of rams' lengths."""
    armature, times = rig.armature, set[float]()
    bones = [armature.pose.bones[one.bone] for one in rig.drivers if one.kind == TURN]
    paths = {bone.path_from_id(rotation_property(bone.rotation_mode)) for bone in bones}
    paths |= {one.path for one in rig.drivers if one.kind == RAM}
    with _driving_curves(rig) as curves:
        for (path, _), curve in curves.items():
            if path in paths:
                times.update(column(curve, "co")[:, 0].tolist())
    return [round(time, 3) for time in shown_at(scene, armature, list(times))]


def _values_of(
    rig: RigMechanism,
    curves: Curves,
    shown: Singles,
    times: Sequence[float],
    turned: Mapping[str, Floats],
) -> dict[Body, ArrayLike]:
    """Return the values of `driver_values` by curves; shown: the times in the action.

    turned: the turns of bones that other controls turn.
    """
    given: dict[Body, Floats] = {}
    for one in rig.drivers:
        if one.kind == TURN:
            by_keys = one.bone not in turned
            given[one.body] = _turns(rig, one.bone, curves, shown) if by_keys else turned[one.bone]
        elif one.kind == RAM:
            given[one.body] = ram_lengths(one, _shares(rig, one, curves, shown))
    refuse_endless(rig, given, times)
    return dict(given)


def ram_shares(
    scene: bpy.types.Scene, rig: RigMechanism, driver: RigDriver, times: Sequence[float]
) -> Floats:
    """Return the parts (m,) of its stroke, 0 to 1, that a ram is drawn out by its keys at times."""
    shown = strip_times(rig.armature, animation_times(scene, times))
    with _driving_curves(rig) as curves:
        return _shares(rig, driver, curves, shown)


def _shares(rig: RigMechanism, driver: RigDriver, curves: Curves, shown: Singles) -> Floats:
    now = np.array([rig.armature.path_resolve(driver.path)])
    return _read(curves, driver.path, 1, shown, now)[:, 0]


def ram_lengths(driver: RigDriver, shares: Floats) -> Floats:
    """Return the lengths (m,) of a ram for parts of its stroke, 0 to 1."""
    lengths: Floats = driver.stroke[0] + np.clip(shares, 0.0, 1.0) * (driver.stroke[1] - driver.stroke[0])
    return lengths


def refuse_endless(rig: RigMechanism, given: Mapping[Body, Floats], times: Sequence[float]) -> None:
    """Raise IK2DError for drivers' values (m,) that are no numbers."""
    for bone, values in given.items():
        if not np.isfinite(values).all():
            raise refusal(
                "Mechanism '{name}': '{bone}' has no finite value at frame {frame:g}; mend its keys",
                name=rig.name,
                bone=bone,
                frame=times[int(np.argmin(np.isfinite(values)))],
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


def askew_drivers(scene: bpy.types.Scene, rig: RigMechanism, times: Sequence[float]) -> list[str]:
    """Return the bones that drive and that their keys turn a little out of the plane at some of the times.

    As Euler angles do between keys, where none of them is about the plane's normal. Raises IK2DError where
    it is much.
    """
    shown = strip_times(rig.armature, animation_times(scene, times))
    with _driving_curves(rig) as curves:
        return _askew(rig, curves, shown)


def _askew(rig: RigMechanism, curves: Curves, shown: Singles) -> list[str]:
    askew = []
    for one in rig.drivers:
        if one.kind != TURN or one.bone in rig.controlled:
            continue
        bone = rig.armature.pose.bones[one.bone]
        if is_askew(rig, one.bone, matrices(bone.rotation_mode, _channels(bone, curves, shown)[0])):
            askew.append(one.bone)
    return askew


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


def _channels(bone: bpy.types.PoseBone, curves: Curves, shown: Singles) -> tuple[Floats, Floats]:
    """Return the rotation channels (m, c) of a bone by its keys, and a mask of those that are numbers."""
    prop = rotation_property(bone.rotation_mode)
    now = np.array(getattr(bone, prop), np.float64)
    values = _read(curves, bone.path_from_id(prop), len(now), shown, now)
    good = np.isfinite(values).all(axis=1)
    return np.where(good[:, None], values, resting_channels(bone)), good


def _turns(rig: RigMechanism, name: str, curves: Curves, shown: Singles) -> Floats:
    """Return the turns (m,) of a bone by its keys; NaN where they have no numbers."""
    bone, axis = rig.armature.pose.bones[name], turning_axis(rig, name)
    values, good = _channels(bone, curves, shown)
    turns = channel_turns(bone, axis, values)
    if bone.rotation_mode == 'QUATERNION':
        turns = np.unwrap(turns, period=2.0 * _ROUND)
    elif bone.rotation_mode != 'AXIS_ANGLE' and own_axis(axis, CLOSE) is None:
        turns = np.unwrap(turns, period=_ROUND)
    return np.where(good, turns, np.nan)


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
        self._step([*times, *np.arange(np.ceil(times[0]), times[-1]).tolist()])
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
