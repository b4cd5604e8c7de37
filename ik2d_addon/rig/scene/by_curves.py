# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices of objects and bones at many times, computed from their F-Curves without setting a frame."""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import ceil
from types import MappingProxyType
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...core.affine import affine
from ...core.inputs import Floats
from ..animation import versions
from ..animation.bone_channels import rotation_property, rotations
from ..animation.fcurves import KnownKeys, Reader, Singles, Times
from ..chain.dependencies import Node, parents, walk
from ..rest import rest_bone
from .bone_constraints import is_idle

# The channels that an object, or a bone, is placed by.
_BONE = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
_OBJECT = (*_BONE, "delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")
# Properties of an object that do not move it: its looks, and custom properties. Settings of chains are read
# elsewhere.
_ELSE = ("hide_", "color", "show_", "display_", "empty_display_", "pass_index", "modifiers[", "ik2d.", '["')
_OF_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\](.*)', re.DOTALL)
_OF_DATA = re.compile(r'bones\["((?:[^"\\]|\\.)*)"\]\.(.*)', re.DOTALL)
# Greater numbers may overflow Blender's 32 bits, on the way if not at the end.
_GREATEST = 1e15


class Affine(NamedTuple):
    """Matrices in two parts, each at all times, (frames, ..), or once where all are the same."""

    linear: Floats  # (.., 3, 3)
    place: Floats  # (.., 3)

    def then(self, inner: "Affine") -> "Affine":
        """Return these matrices times others."""
        if self.linear.ndim == 2:
            moved = inner.place @ self.linear.T
        elif inner.place.ndim == 1:
            moved = (self.linear.reshape(-1, 3) @ inner.place).reshape(-1, 3)
        else:
            moved = (self.linear @ inner.place[..., None])[..., 0]
        if inner.linear.ndim == 2:  # as one matrix of many rows
            linear = (self.linear.reshape(-1, 3) @ inner.linear).reshape(self.linear.shape)
        else:
            linear = self.linear @ inner.linear
        return Affine(linear, moved + self.place)

    @property
    def matrices(self) -> Floats:
        """(frames, 4, 4), or (4, 4)."""
        return affine(self.linear, self.place)

    @classmethod
    def of(cls, matrix: Matrix) -> "Affine":
        """Return a matrix of Blender's in two parts."""
        numbers = np.array(matrix, np.float64)
        return cls(numbers[:3, :3], numbers[:3, 3])


@dataclass(frozen=True, eq=False)
class Placed:
    """Matrices at all times, (frames, 4, 4) each, or (4, 4) where all are the same."""

    world: Floats  # the armature object's
    targets: list[Affine]  # in the world
    _poses: dict[str, Affine]
    _bases: dict[str, Affine]

    @cached_property
    def poses(self) -> dict[str, Floats]:
        """Those of the armature's bones."""
        return _matrices(self._poses)

    @cached_property
    def bases(self) -> dict[str, Floats]:
        """The bones' own location, rotation and scale."""
        return _matrices(self._bases)


def hindrance(armature: bpy.types.Object, bones: Iterable[str], targets: Iterable[Node]) -> str:
    """Return the causes of motion of the bones or targets other than their F-Curves; "" for none.

    Anything counts that is not known to be computed exactly as by Blender.
    """
    for ob, on_way in bones_by_object(nodes_on_way(armature, bones, targets)).items():
        for reason in (*_object_hindrances(ob), *_bone_hindrances(ob, on_way), *_animated(ob, on_way)):
            return f"'{ob.name}' {reason}"
    return ""


def turned_by_more(armature: bpy.types.Object, bones: set[str]) -> str:
    """Return the causes that turn bones besides their F-Curves and the bones above them; "" for none."""
    causes = (*_bone_hindrances(armature, bones, follow=False), *_animated(armature, bones))
    return next(iter(causes), "")


def placed(
    armature: bpy.types.Object,
    bones: Sequence[str],
    targets: Sequence[Node],
    times: Times,
    known: KnownKeys = MappingProxyType({}),
) -> Generator[int, None, Placed | None]:
    """Compute the matrices of the armature's bones and of the targets at times (frames,) of their actions.

    Only without a `hindrance`. known: where keys of the armature are, as far as that is known without reading
    them. Yields the number of times done; returns None where numbers get too great.
    """
    nodes = nodes_on_way(armature, bones, targets)
    places = _Places(nodes, len(times))
    steps = _quiet(chain(places.read(times, armature, known), map(places.matrix, nodes)))
    for done, _ in enumerate(steps, 1):
        yield ceil(len(times) * done / (len(places.curves) + len(nodes)))
    with np.errstate(all="ignore"):
        world, stood = places.matrix((armature, "")), [places.matrix(target) for target in targets]
        poses = {bone: places.pose(armature, bone) for bone in bones}
        bases = {bone: places.shown_basis(armature, bone) for bone in bones}
        if not _are_small((world, *stood, *poses.values(), *bases.values())):
            return None
        return Placed(world.matrices, stood, poses, bases)


def _are_small(placed: Iterable[Affine]) -> bool:
    """Return whether all numbers of the matrices are there, and none of them is too great."""
    parts = [matrix for motion in placed for matrix in motion]
    few = [matrix.ravel() for matrix in parts if matrix.size <= 9]  # at once, which is faster
    # A comparison with NaN is false.
    checked = (np.concatenate([np.empty(0), *few]), *(matrix for matrix in parts if matrix.size > 9))
    return all((np.abs(matrix) < _GREATEST).all() for matrix in checked)


def _matrices(placed: Mapping[str, Affine]) -> dict[str, Floats]:
    """Return matrices by name, (frames, 4, 4) each, or (4, 4): those that do not change made at once."""
    still = {
        name: motion for name, motion in placed.items() if motion.linear.ndim == 2 and motion.place.ndim == 1
    }
    made = affine(*map(np.array, zip(*still.values(), strict=True))) if still else ()
    others = {name: motion.matrices for name, motion in placed.items() if name not in still}
    return others | dict(zip(still, made, strict=True))


def _quiet(steps: Iterator[object]) -> Iterator[None]:
    """Run a generator with numpy's warnings off inside it only."""
    while True:
        with np.errstate(all="ignore"):
            try:
                next(steps)
            except StopIteration:
                return
        yield


def nodes_on_way(armature: bpy.types.Object, bones: Iterable[str], targets: Iterable[Node]) -> list[Node]:
    """Return the armature, bones and targets with all their parents."""
    return walk([(armature, ""), *((armature, bone) for bone in bones), *targets], parents)


def bones_by_object(nodes: Iterable[Node]) -> dict[bpy.types.Object, set[str]]:
    """Return the objects among nodes, each with the names of its bones there."""
    bones: dict[bpy.types.Object, set[str]] = {}
    for ob, bone in nodes:
        bones.setdefault(ob, set()).update([bone] if bone else ())
    return bones


# --- Hindrances ---------------------------------------------------------------------------------


def _object_hindrances(ob: bpy.types.Object) -> Iterator[str]:
    """Yield the causes of an object's motion other than its channels and a simple parent, in words."""
    if not all(is_idle(ob, constraint) for constraint in ob.constraints):
        yield "has a constraint"
    if ob.parent is None:
        return
    if ob.parent_type not in ('OBJECT', 'BONE') or ob.parent.type == 'CURVE':
        yield "has a parent of another kind"
    elif ob.parent_type == 'BONE':
        bone = rest_bone(ob.parent, ob.parent_bone)
        if bone is None or bone.use_relative_parent:
            yield "is parented to a bone in another way"


def _bone_hindrances(ob: bpy.types.Object, names: set[str], follow: bool = True) -> Iterator[str]:
    """Yield the causes of motion of some bones other than their channels and parents, in words.

    follow: whether a bone that does not take all of its parent's transforms counts too.
    """
    if not names:
        return
    if ob.type != 'ARMATURE' or ob.data.pose_position != 'POSE' or ob.data.is_editmode:
        yield "is not posed"
        return
    if _has_animation(ob.data, names):
        yield "has animation of its armature data"
    for name in names:
        bone = ob.pose.bones.get(name)
        if bone is None:
            yield f"has no bone '{name}'"
        elif not all(is_idle(ob, constraint) for constraint in bone.constraints):
            yield f"has a constraint on bone '{name}'"
        elif follow and not _follows(bone.bone):
            yield f"has a bone '{name}' that does not take all of its parent's transforms"
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            if constraint.type in ('IK', 'SPLINE_IK') and not is_idle(ob, constraint):
                reached = {bone.name, *(above.name for above in bone.parent_recursive)}
                if not reached.isdisjoint(names):
                    yield f"has a constraint on bone '{bone.name}'"


def _follows(bone: bpy.types.Bone) -> bool:
    """Return whether a bone moves as part of its parent, and by its location along its own axes."""
    return bool(bone.use_inherit_rotation and bone.inherit_scale == 'FULL' and bone.use_local_location)


def _has_animation(data: bpy.types.Armature, names: set[str]) -> bool:
    """Return whether animation of an armature's data may move some of its bones."""
    animation = data.animation_data
    if animation is None:
        return False
    curves = (*versions.existing_fcurves(data), *animation.drivers)
    return len(animation.nla_tracks) > 0 or any(_may_move(curve.data_path, names) for curve in curves)


def _may_move(path: str, names: set[str]) -> bool:
    """Return whether a channel of an armature's data may move some bones: not by how other bones look."""
    named = _OF_DATA.fullmatch(path)
    if not named:
        return not path.startswith("collections")
    aside = named[2].startswith(("bbone_", "hide", "color"))
    return not aside and bpy.utils.unescape_identifier(named[1]) in names


def _animated(ob: bpy.types.Object, bones: set[str]) -> Iterator[str]:
    """Yield the animation of an object or its bones outside its own action, in words."""
    animation = ob.animation_data
    if animation is None:
        return
    if len(animation.nla_tracks) or animation.use_tweak_mode:
        yield "has NLA strips"
    if not versions.is_plain(animation.action):
        yield "has an action with layers"
    holders = [ob, *(bone for bone in map(ob.pose.bones.get, bones) if bone)] if ob.pose else [ob]
    idle = tuple(
        constraint.path_from_id()
        for holder in holders
        for constraint in holder.constraints
        if is_idle(ob, constraint)
    )
    for driver in animation.drivers:
        if not (driver.mute or driver.data_path.startswith(idle) or _kind(driver.data_path, bones) == _ASIDE):
            yield f"has a driver on {driver.data_path}"
    for curve in versions.existing_fcurves(ob):
        kind = _ASIDE if curve.data_path.startswith(idle) else _kind(curve.data_path, bones)
        if kind == _UNKNOWN or kind == _PLACES and not (curve.is_valid and _is_known(curve)):
            yield f"has an F-Curve on {curve.data_path}"


def _is_known(curve: bpy.types.FCurve) -> bool:
    """Return whether an F-Curve has keys, or nothing at all."""
    return len(curve.keyframe_points) > 0 or not (len(curve.modifiers) or len(curve.sampled_points))


_PLACES, _ASIDE, _UNKNOWN = "places", "aside", "unknown"


def _kind(path: str, bones: set[str]) -> str:
    """Return the kind of a channel: whether it moves an object or some of its bones."""
    named = _OF_BONE.fullmatch(path)
    if not named:
        return _PLACES if path in _OBJECT else _ASIDE if path.startswith(_ELSE) else _UNKNOWN
    if bpy.utils.unescape_identifier(named[1]) not in bones or named[2].startswith('["'):
        return _ASIDE
    return _PLACES if named[2].removeprefix(".") in _BONE else _UNKNOWN


def is_placing(ob: bpy.types.Object, curve: bpy.types.FCurve, bones: set[str]) -> bool:
    """Return whether an F-Curve plays and moves an object or some of its bones."""
    if _kind(curve.data_path, bones) != _PLACES:
        return False
    return len(curve.keyframe_points) > 0 and versions.plays(ob, curve)


# --- Matrices -----------------------------------------------------------------------------------


class _Places:
    """Matrices of objects and bones at all times, each worked out once."""

    def __init__(self, nodes: Iterable[Node], frames: int) -> None:
        """Take all objects and bones that are to be placed, and how many times."""
        self._frames = frames
        self.curves = {
            (ob, curve.data_path, curve.array_index): curve
            for ob, on_way in bones_by_object(nodes).items()
            for curve in versions.existing_fcurves(ob)
            if is_placing(ob, curve, on_way)
        }
        self._animated = {(ob, path) for ob, path, _ in self.curves}
        self._values: dict[tuple[bpy.types.Object, str, int], Singles] = {}
        self._matrices: dict[Node, Affine] = {}
        self._bases: dict[Node, Affine] = {}

    def read(self, times: Times, armature: bpy.types.Object, known: KnownKeys) -> Iterator[None]:
        """Read the F-Curves, one by one. known: where keys of an armature are."""
        channels = list(self.curves)
        there = [known.get((path, index)) if ob == armature else None for ob, path, index in channels]
        for number, values in Reader(times).values(list(self.curves.values()), there):
            self._values[channels[number]] = values
            yield

    def matrix(self, node: Node) -> Affine:
        """Return the world's matrices of an object or a bone."""
        ob, bone = node
        return self._world(ob).then(self.pose(ob, bone)) if bone else self._world(ob)

    def _world(self, ob: bpy.types.Object) -> Affine:
        if (ob, "") not in self._matrices:
            local = self._local(ob)
            if ob.parent is not None:
                local = self._parent(ob).then(Affine.of(ob.matrix_parent_inverse)).then(local)
            self._matrices[ob, ""] = local
        return self._matrices[ob, ""]

    def _parent(self, ob: bpy.types.Object) -> Affine:
        """Return the matrices of an object's parent: another object, or the tail of a bone."""
        world = self._world(ob.parent)
        if ob.parent_type != 'BONE':
            return world
        tail = np.array((0.0, ob.parent.data.bones[ob.parent_bone].length, 0.0))
        return world.then(self.pose(ob.parent, ob.parent_bone)).then(Affine(np.eye(3), tail))

    def _local(self, ob: bpy.types.Object) -> Affine:
        """Return an object's matrices by its own channels, deltas and all."""
        turn = rotation_property(ob.rotation_mode)
        linear = rotations(ob.rotation_mode, self._channel(ob, ob, turn))
        if f"delta_{turn}" in _OBJECT:
            linear = rotations(ob.rotation_mode, self._channel(ob, ob, f"delta_{turn}")) @ linear
        scale = self._channel(ob, ob, "scale") * self._channel(ob, ob, "delta_scale")
        place = self._channel(ob, ob, "location") + self._channel(ob, ob, "delta_location")
        return Affine(linear * scale[..., None, :], place)

    def pose(self, ob: bpy.types.Object, name: str) -> Affine:
        """Return a bone's pose matrices."""
        if (ob, name) not in self._matrices:
            bone = ob.data.bones[name]
            held = _held(bone)
            if bone.parent:
                held = self.pose(ob, bone.parent.name).then(held)
            self._matrices[ob, name] = held.then(self.basis(ob, name))
        return self._matrices[ob, name]

    def basis(self, ob: bpy.types.Object, name: str) -> Affine:
        """Return a bone's matrices by its own channels."""
        if (ob, name) not in self._bases:
            bone = ob.pose.bones[name]
            turn = self._channel(ob, bone, rotation_property(bone.rotation_mode))
            linear = rotations(bone.rotation_mode, turn) * self._channel(ob, bone, "scale")[..., None, :]
            place = np.zeros(3) if bone.bone.use_connect else self._channel(ob, bone, "location")
            self._bases[ob, name] = Affine(linear, place)
        return self._bases[ob, name]

    def shown_basis(self, ob: bpy.types.Object, name: str) -> Affine:
        """Return a bone's matrices by its own channels, Blender's own one where these do not change."""
        basis = self.basis(ob, name)
        if basis.linear.ndim > 2 or basis.place.ndim > 1:
            return basis
        return Affine.of(ob.pose.bones[name].matrix_basis)

    def _channel(
        self, ob: bpy.types.Object, owner: bpy.types.Object | bpy.types.PoseBone, name: str
    ) -> Floats:
        """Return a channel's numbers (frames, k), or (k,) where nothing animates it."""
        shown: Floats = np.array(getattr(owner, name), np.float64)
        path = name if owner == ob else owner.path_from_id(name)
        if (ob, path) not in self._animated:
            return shown
        result = np.empty((self._frames, len(shown)))
        for index, now in enumerate(shown):
            result[:, index] = self._values.get((ob, path, index), now)
        return result


def _held(bone: bpy.types.Bone) -> Affine:
    """Return a bone's rest matrix in its parent's space."""
    if bone.parent is None:
        return Affine.of(bone.matrix_local)
    head = np.array(bone.head, np.float64)
    head[1] += bone.parent.length
    return Affine(np.array(bone.matrix, np.float64), head)
