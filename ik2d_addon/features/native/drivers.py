# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers with simple expressions, which Blender evaluates without Python and without its permission."""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.inputs import Floats
from ...core.words import refusal
from .expressions import checked, euler_angles, names_in

# A Limit Rotation whose maximum is below its minimum sets the minimum: one driver does for both.
BELOW = -1000.0
# The target's place, from the root in the plane's axes; "x" and "y" are steps where the plane follows it.
_PLACES = {"x": 'LOC_X', "y": 'LOC_Y', "tx": 'LOC_X', "ty": 'LOC_Y', "tz": 'LOC_Z'}
# The target's place in the space that a post turns in.
_ON_POST = {"px": 'LOC_X', "py": 'LOC_Y', "pz": 'LOC_Z'}


@dataclass(frozen=True)
class Empties:
    """The two empties of a native chain."""

    controls: bpy.types.Object  # in the chain's plane, at its root; has all properties
    target_copy: bpy.types.Object  # its child, at the target's place

    def place(self, name: str) -> tuple[bpy.types.Object, str] | None:
        """Return the empty whose location a variable is, and which part of it; None for other variables."""
        return (self.target_copy, _PLACES[name]) if name in _PLACES else None

    def bind(self, variable: bpy.types.DriverVariable, name: str) -> None:
        """Have a driver's variable read what its name means: a property of the controls, or a place."""
        source = variable.targets[0]
        place = None if name in self.controls else self.place(name)
        if place is not None:
            variable.type = 'TRANSFORMS'
            source.id, source.transform_type = place
            source.transform_space = 'LOCAL_SPACE'
        else:
            source.id, source.data_path = self.controls, path_of(name)


@dataclass(frozen=True)
class SwungEmpties(Empties):
    """The four empties of a native chain whose plane follows its target, see swings.py."""

    swing: bpy.types.Object  # another child of the controls, which turns with the target
    turned: bpy.types.Object  # its child, with the first bone's rotation


@dataclass(frozen=True)
class PostEmpties(Empties):
    """The five empties of a native chain whose plane turns about a post above it, see post/building.py.

    The controls are in the space that the post turns in.
    """

    target_on_post: bpy.types.Object  # another child of the controls, at the target's place
    table: bpy.types.Object  # a third, which turns as the post
    plane: bpy.types.Object  # its child, in the chain's plane at its root; the target's copy is its child

    def place(self, name: str) -> tuple[bpy.types.Object, str] | None:
        """Return the empty whose location a variable is, and which part of it; None for other variables."""
        return (self.target_on_post, _ON_POST[name]) if name in _ON_POST else super().place(name)


def path_of(name: str) -> str:
    """Return the path of a custom property."""
    return f'["{bpy.utils.escape_identifier(name)}"]'


def drive_step(empties: Empties, name: str, expression: str, keys: Floats | None = None) -> None:
    """Add a property to the controls and drive it by an expression. keys: as in `drive`."""
    empties.controls[name] = 0.0
    drive(empties.controls, path_of(name), expression, empties, keys)


def drive(
    owner: bpy.types.Object,
    path: str,
    expression: str,
    empties: Empties,
    keys: Floats | None = None,
    index: int = 0,
) -> None:
    """Drive an object's property by an expression of the controls' properties.

    index: of the number in a property that has several. keys: (k, 4) of the driver's F-Curve, as from
    `handles`; None for the expression's own value. Raises IK2DError for an expression that Blender would
    cut, or evaluate in Python.
    """
    animation = owner.animation_data or owner.animation_data_create()
    curve = animation.drivers.new(path, index=index)
    curve.keyframe_points.clear()  # two keys from (0, 0) to (1, 1) would round the values between
    while len(curve.modifiers):
        curve.modifiers.remove(curve.modifiers[0])
    driver = curve.driver
    driver.type = 'SCRIPTED'
    for name in names_in(expression):
        variable = driver.variables.new()
        variable.name = name
        empties.bind(variable, name)
    driver.expression = checked(expression)
    if not driver.is_simple_expression:
        raise refusal("Blender would give the expression {text} to Python", text=expression)
    if keys is not None:
        write_keys(curve, keys)


def handles(places: Floats, values: Floats) -> Floats:
    """Return keys (k + 1, 4) of cubic pieces: place, value, left and right handles' values.

    places: (k + 1,) rising. values: (k, 4) at each piece's start, a third and two thirds on, and at its end.
    A handle is a third of the way to the next key, so that the place is linear along the piece.
    """
    first, third, second, last = values.T
    keys = np.empty((len(places), 4))
    keys[:, 0] = places
    keys[:-1, 1], keys[-1, 1] = first, last[-1]
    keys[1:, 2] = (2.0 * first - 9.0 * third + 18.0 * second - 5.0 * last) / 6.0
    keys[:-1, 3] = (-5.0 * first + 18.0 * third - 9.0 * second + 2.0 * last) / 6.0
    keys[0, 2], keys[-1, 3] = keys[0, 1], keys[-1, 1]
    return keys


def write_keys(curve: bpy.types.FCurve, keys: Floats) -> None:
    """Replace an F-Curve's keys by those of `handles` (k, 4), constant beyond the ends."""
    places, values, left, right = keys.T
    ways = np.diff(places, prepend=places[0], append=places[-1]) / 3.0
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys))
    for _ in range(2):  # Blender moves handles until they are free
        for name, place, value in (
            ("co", places, values),
            ("handle_left", places - ways[:-1], left),
            ("handle_right", places + ways[1:], right),
        ):
            points.foreach_set(name, np.stack((place, value), axis=1).astype(np.float32).ravel())
        for point in points:
            point.interpolation = 'BEZIER'
            point.handle_left_type = point.handle_right_type = 'FREE'
    curve.extrapolation = 'CONSTANT'


def angles_of(
    turn: str, axis: Floats, empties: Empties, name: str, keys: Floats | None = None
) -> Iterator[tuple[str, str, Floats | None]]:
    """Yield (axis letter, expression, keys or None) of each Euler angle of a bone that is not 0.

    turn, axis: of the bone. name: of the property for its turn, where it needs one.
    """
    for letter, angle in zip("xyz", euler_angles(axis, "a"), strict=True):
        if angle in ("a", "-a"):  # about one of the bone's own axes: needs no property before the constraint
            if keys is None:
                yield letter, turn if angle == "a" else f"-({turn})", None
            else:
                yield letter, turn, keys if angle == "a" else keys * (1.0, -1.0, -1.0, -1.0)
            return
    if keys is not None or names_in(turn) != [turn]:
        drive_step(empties, name, turn, keys)
        turn = name
    for letter, angle in zip("xyz", euler_angles(axis, turn), strict=True):
        if angle:
            yield letter, angle, None


def turning_constraint(bone: bpy.types.PoseBone, name: str) -> bpy.types.Constraint:
    """Add the constraint that turns a bone by its least angles."""
    constraint = constraint_of(bone, 'LIMIT_ROTATION', name)
    constraint.euler_order = 'XYZ'
    constraint.use_limit_x = constraint.use_limit_y = constraint.use_limit_z = True
    constraint.max_x = constraint.max_y = constraint.max_z = BELOW
    return constraint


def constraint_of(bone: bpy.types.PoseBone, kind: str, name: str) -> bpy.types.Constraint:
    """Add a constraint in a bone's own space; the active one stays."""
    active = bone.constraints.active
    constraint = bone.constraints.new(kind)
    bone.constraints.active = active or constraint
    constraint.name, constraint.owner_space = name, 'LOCAL'
    constraint.show_expanded = False
    return constraint
