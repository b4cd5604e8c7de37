# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn of the post above a live chain on one frame, in plain numbers.

The pose of a post is  G R(theta) B S : its turn about its axis in the space G, which holds all that turns
it after that, then the Euler angles before it (B) and its scale (S). W is from the chain's rest space to
the pose with the post unturned.
"""

from collections.abc import Sequence
from math import atan2, pi
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

from ...core.inputs import Floats
from ...core.swing.plain import Quaternion as Whole
from ...core.swing.plain import multiplied, quaternion_about, rotated
from ...rig.chain.chain import RigChain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.planes import reach_of
from ...rig.pose.bone_matrices import rest_to_pose, takes_all
from ...rig.pose.kinematics import read_linkage
from ...rig.rest import rest_matrix
from ...rig.scene.samples import ChainSamples
from ..writing import BoneWriter, Turn
from .matrices import Affine, affine, inverse, moved, numbers_of, product, spun
from .space import Space

# Quaternions whose parts differ by no more than this are the same rotation: 32 bits leave as much.
_SAME_SWING = 2e-6
# A post that is read from its own pose keeps an angle that is off by no more, in radians: rounding of that
# pose would have it turn for ever.
_SAME_ANGLE = 5e-7
_ONE: Affine = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
_NO_TURN: Whole = (1.0, 0.0, 0.0, 0.0)


class PostWriter(BoneWriter):
    """Rotation channels that the angle of a post is written to; all else that turns it stays."""

    def __init__(self, bone: bpy.types.PoseBone, axis: int) -> None:
        super().__init__(bone, np.eye(3)[axis])
        self.number = axis
        self.is_euler = self.property == "rotation_euler"
        # The rotation after the turn: kept as long as the channels show it, so that rounding does not grow.
        self.swing: Whole = _NO_TURN
        if self.is_euler:
            self.unlocked, self.all_unlocked = [axis], False

    def values(self, turn: Turn, shown: Sequence[float]) -> Sequence[float]:
        """Return the numbers of the channels for an angle, nearest to those shown."""
        assert not isinstance(turn, tuple)
        if not self.is_euler:
            return self._whole(multiplied(self.swing, quaternion_about(self.axis, turn)), shown)
        angles = [*shown]
        angles[self.number] = turn
        return angles

    def rotation(self, turn: float, bone: bpy.types.PoseBone) -> Matrix:
        """Return the rotation (3x3) from rest by the channels of an evaluated bone, with another angle."""
        values = self.channels(turn, tuple(getattr(bone, self.property)))
        if self.mode == 'AXIS_ANGLE':
            return Matrix.Rotation(values[0], 3, Vector(values[1:]))
        return values.to_matrix()

    def read(self, bone: bpy.types.PoseBone) -> float:
        """Return the angle that the channels of an evaluated bone show, and keep what else turns it."""
        if self.is_euler:
            return float(bone.rotation_euler[self.number])
        if self.mode == 'QUATERNION':
            w, x, y, z = bone.rotation_quaternion
        else:
            turn, *axis = bone.rotation_axis_angle
            w, x, y, z = quaternion_about(tuple(Vector(axis).normalized()), turn)
        angle = 2.0 * atan2((x, y, z)[self.number], w)
        swing = multiplied((w, x, y, z), quaternion_about(self.axis, -angle))
        size = sum(part * part for part in swing) ** 0.5
        if size > 0.0:
            a, b, c, d = (part / size for part in swing)
            known = (each for each in (self.swing, _NO_TURN) if _are_same((a, b, c, d), each))
            self.swing = next(known, (a, b, c, d))
        return angle


def _are_same(one: Whole, other: Whole) -> bool:
    a, b, c, d = one
    w, x, y, z = other
    sign = 1.0 if a * w + b * x + c * y + d * z >= 0.0 else -1.0
    return max(abs(a - sign * w), abs(b - sign * x), abs(c - sign * y), abs(d - sign * z)) <= _SAME_SWING


class TurnedPost(NamedTuple):
    """The turn of a post on one frame."""

    bone: bpy.types.PoseBone  # evaluated
    angle: float  # radians about its axis, which bring the plane through the target
    status: int  # of `core.post`


class PlainPost:
    """The post above a chain, as the locations and scales of the chain's bones hold it."""

    def __init__(self, rig: RigChain, alone: ChainSamples, writer: PostWriter) -> None:
        """Read it. alone: samples of one frame, the bone above the chain at the armature's origin."""
        assert rig.post is not None
        post, first, plane = rig.armature.pose.bones[rig.post.bone], rig.pose_bones[0], rig.plane
        self.writer, self._rule, self._name = writer, rig.post.rule, post.name
        self._normal, self._origin = tuple(plane.normal.tolist()), tuple(plane.origin.tolist())
        self._height = float(np.ravel(read_linkage(rig, alone).heights)[0])
        self._reach = reach_of(rest_joints(rig.pose_bones))
        # What is above the post tells the space that it turns in, where that is all that holds it: whatever
        # its own pose is rounded to.
        rest = rest_matrix(post.bone)
        self._above = post.parent.name if post.parent is not None else ""
        self._rest: Affine | None = None
        self._is_limited = (
            len(post.constraints) > 0
        )  # so that it shows another angle than its channels, perhaps
        only_limited = all(each.type == 'LIMIT_ROTATION' for each in post.constraints)
        if takes_all(post, np.ones(3)) and only_limited:
            above = np.eye(4) if post.parent is None else rest_matrix(post.parent.bone)
            self._rest = numbers_of(np.linalg.inv(above) @ rest)
        self._is_connected = post.bone.use_connect and post.parent is not None
        self._is_between = bool(rig.post.between)
        self._is_by_pose = self._rest is None or self._is_between
        self._hold = numbers_of(rest_to_pose(rig, alone)[0])
        apart = not takes_all(first, alone.bases[0, 0, :3, 3])
        self._space = Space(rig, alone, np.eye(4)) if apart else None
        self._own: tuple[tuple[float, ...], Affine, Affine] | None = None  # key, what turns it after, B S
        self._plane: tuple[Affine, tuple[float, ...], float, float] | None = None  # of B S

    def holds(self, bones: bpy.types.bpy_prop_collection) -> bool:
        """Return whether the evaluated post has the rotation mode that it was read with."""
        return bool(bones[self._name].rotation_mode == self.writer.mode)

    def turn(
        self,
        bones: bpy.types.bpy_prop_collection,
        world: Matrix,
        base: Matrix,
        target: Sequence[float],
        carried: Floats | None = None,
    ) -> tuple[TurnedPost, Matrix, Floats | None] | None:
        """Return the turn, and the pose matrix of the bone above the chain with it; None for a flat bone.

        bones: evaluated, of an armature at `world`. base: that pose matrix as shown. carried: (1, 4, 4) as
        ChainSamples.carried, which is returned as it is turned too.
        """
        bone = bones[self._name]
        shown, axis = self.writer.read(bone), self.writer.number
        after, own = self._channels(bone)
        space = self._space_of(bone, bones, shown, after, own)
        into = space and inverse(product(affine(world), space))
        if not (space and into):
            return None
        back: Affine = _ONE
        if self._is_by_pose or self._is_limited or carried is not None:
            back = inverse(space) or _ONE
        if self._is_limited and self._rest is not None:
            shown = _turn_in(product(product(back, affine(bone.matrix)), inverse(own) or _ONE), axis)
        if self._is_between:  # as the bones between carry it, unturned
            own = product(spun(_ONE, axis, -shown), product(back, affine(base)))
        moving = None
        if carried is not None:
            moving = _turned_about(numbers_of(carried[0]), product(spun(space, axis, -shown), back))
        plane = self._plane_of(space, own, world, moving)
        if plane is None:
            return None
        normal, distance, reach = plane
        angle, status = self._rule.angle(moved(into, *target), normal, distance, reach)
        if self._is_by_pose and abs((angle - shown + pi) % (2.0 * pi) - pi) <= _SAME_ANGLE:
            return TurnedPost(bone, shown, status), base, carried
        turned = spun(space, axis, angle)
        if moving is not None:
            carried = np.array([_matrix(_turned_about(moving, product(turned, back)))], np.float64)
        return TurnedPost(bone, angle, status), _matrix(product(turned, own)), carried

    def _channels(self, bone: bpy.types.PoseBone) -> tuple[Affine, Affine]:
        """Return the matrices of the post's own channels: those after its turn, and B S before it."""
        writer, axis = self.writer, self.writer.number
        others: tuple[float, ...] = tuple(bone.rotation_euler) if writer.is_euler else writer.swing
        kept = (*others[:axis], *others[axis + 1 :]) if writer.is_euler else others
        key = *kept, *bone.scale
        if self._own is None or self._own[0] != key:
            after, before = _ONE, _ONE
            if writer.is_euler:
                earlier, _, later = writer.mode.partition("XYZ"[axis])
                after, before = (_eulers(others, writer.mode, letters) for letters in (later, earlier))
            elif others != _NO_TURN:
                columns = [rotated(writer.swing, *each) for each in np.eye(3).tolist()]
                after = tuple(number for row in zip(*columns, (0.0, 0.0, 0.0), strict=True) for number in row)
            x, y, z = bone.scale
            sized = product(before, (x, 0.0, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 0.0, z, 0.0))
            self._own, self._plane = (key, after, sized), None
        return self._own[1:]

    def _space_of(
        self,
        bone: bpy.types.PoseBone,
        bones: bpy.types.bpy_prop_collection,
        shown: float,
        after: Affine,
        before: Affine,
    ) -> Affine | None:
        """Return the space G that the post turns in: by what is above it, else by its own pose."""
        if self._rest is None:
            back = inverse(product(spun(_ONE, self.writer.number, shown), before))
            return None if back is None else product(affine(bone.matrix), back)
        space = self._rest
        if not self._is_connected and any(place := bone.location):
            x, y, z = place
            space = product(space, (1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z))
        if self._above:
            space = product(affine(bones[self._above].matrix), space)
        return space if after is _ONE else product(space, after)

    def _plane_of(
        self, space: Affine, own: Affine, world: Matrix, moving: Affine | None
    ) -> tuple[tuple[float, ...], float, float] | None:
        """Return the plane in the post's own space, m . q = d, and the chain's reach there.

        own: from the bone above the chain to that space. moving: what carries the first bone besides.
        """
        is_held = self._space is None and moving is None  # by the bone above the chain alone
        if is_held:
            if self._plane is not None and self._plane[0] == own:
                return self._plane[1:]
            held = product(own, self._hold)
        else:
            above = product(space, own)
            if self._space is None:
                held = product(above, self._hold)
            elif self._space.settle(world, _matrix(above)):
                held = self._space.to_pose
            else:
                return None
            back = inverse(space)
            assert back is not None
            held = product(back, held if moving is None else product(moving, held))
        to_rest = inverse(held)
        if to_rest is None:
            return None
        a, b, c, x, d, e, f, y, g, h, i, z = to_rest
        (p, q, r), (ox, oy, oz) = self._normal, self._origin
        normal = p * a + q * d + r * g, p * b + q * e + r * h, p * c + q * f + r * i
        distance = self._height - (p * (x - ox) + q * (y - oy) + r * (z - oz))
        size = abs(a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)) ** (1.0 / 3.0)
        plane = normal, distance, self._reach / size
        if is_held:
            self._plane = own, *plane
        return plane


def _eulers(angles: Sequence[float], order: str, letters: str) -> Affine:
    """Return the rotation by some of a bone's Euler angles."""
    some = [angles[axis] if letter in letters else 0.0 for axis, letter in enumerate("XYZ")]
    return affine(Euler(some, order).to_matrix().to_4x4()) if any(some) else _ONE


def _turn_in(rotation: Affine, axis: int) -> float:
    """Return the angle of a rotation about one of the own axes."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    return atan2(rotation[4 * v + u] - rotation[4 * u + v], rotation[5 * u] + rotation[5 * v])


def _turned_about(matrix: Affine, turn: Affine) -> Affine:
    """Return a motion of pose space as it is where all of that is turned."""
    back = inverse(turn)
    assert back is not None
    return product(product(turn, matrix), back)


def _matrix(numbers: Affine) -> Matrix:
    return Matrix((numbers[:4], numbers[4:8], numbers[8:], (0.0, 0.0, 0.0, 1.0)))
