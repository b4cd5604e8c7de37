# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers in simple expressions, which Blender evaluates without Python and without asking for it."""

from dataclasses import dataclass

import bpy

from ...core import IK2DError
from ...core.inputs import Floats
from .curves import write_keys
from .expressions import checked, names_in

_PLACES = {"x": 'LOC_X', "y": 'LOC_Y'}


@dataclass(frozen=True)
class Empties:
    """The two empties of a native chain."""

    stand: bpy.types.Object  # stands in the chain's plane, at its root, and carries all properties
    probe: bpy.types.Object  # its child, which is where the target is


def path_of(name: str) -> str:
    """Return the path of a custom property."""
    return f'["{bpy.utils.escape_identifier(name)}"]'


def drive_step(empties: Empties, name: str, expression: str, keys: Floats | None = None) -> None:
    """Have the stand's property `name`, made here, be what an expression comes to.

    keys: (k, 4) of a curve that it is put through, see curves.py.
    """
    empties.stand[name] = 0.0
    drive(empties.stand, path_of(name), expression, empties, keys)


def drive(
    owner: bpy.types.Object, path: str, expression: str, empties: Empties, keys: Floats | None = None
) -> None:
    """Have a property of an object be what an expression of the stand's properties comes to.

    keys: (k, 4) of a curve that it is put through. Raises IK2DError for an expression that Blender would cut,
    or give to Python.
    """
    animation = owner.animation_data or owner.animation_data_create()
    curve = animation.drivers.new(path)
    curve.keyframe_points.clear()  # two keys from (0, 0) to (1, 1) would round what is between
    while len(curve.modifiers):
        curve.modifiers.remove(curve.modifiers[0])
    driver = curve.driver
    driver.type = 'SCRIPTED'
    for name in names_in(expression):
        variable = driver.variables.new()
        variable.name = name
        if name in _PLACES:
            variable.type = 'TRANSFORMS'
            source = variable.targets[0]
            source.id, source.transform_type = empties.probe, _PLACES[name]
            source.transform_space = 'LOCAL_SPACE'
        else:
            variable.targets[0].id = empties.stand
            variable.targets[0].data_path = path_of(name)
    driver.expression = checked(expression)
    if not driver.is_simple_expression:
        raise IK2DError(f"Blender would give the expression {expression} to Python")
    if keys is not None:
        write_keys(curve, keys)
