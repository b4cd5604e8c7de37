# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls of a native chain: an empty's custom properties, which may have keys and drivers."""

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from math import pi

import bpy

from ...core.words import refusal
from ...rig.animation import actions, curve_copies, versions
from ...rig.animation.value_keys import existing_drivers
from .drivers import path_of
from .expressions import checked, without_comments


@dataclass(frozen=True)
class Control:
    """One control: its name, the same as of the chain's setting, and its range."""

    name: str
    least: float
    most: float
    description: str
    group: str = ""  # of the chain's settings that it is in, if it is in one

    @property
    def setting(self) -> str:
        """The path of the setting, from the chain."""
        return f"{self.group}.{self.name}" if self.group else self.name

    def owner(self, settings: bpy.types.PropertyGroup) -> bpy.types.PropertyGroup:
        """Return the settings that it is one of."""
        return getattr(settings, self.group) if self.group else settings


BEND = Control(
    "bend", -1.0, 1.0, "Side that the chain bends to: the rest pose's for 0 and more, the other below"
)
CONTROLS = (
    BEND,
    Control("turn_over", 0.0, 1.0, "How far the chain is turned over to its other side"),
    Control("softness", 0.0, 1.0, "Part of the reach over which the tip eases into the stretched chain"),
    Control("influence", 0.0, 1.0, "How far the chain turns its bones from their own keys to its pose"),
)
# Of a plane that was turned, or whose turn is animated, when it was converted.
TURN = (
    Control("plane_turn", -4.0 * pi, 4.0 * pi, "Turns the plane about the line to the target, in radians"),
)
STRETCH = (
    Control("stretch", 1.0, 100.0, "How many times as long the bones may get; 1 is off"),
    Control("compress", 0.01, 100.0, "To which part of their length the bones may shorten; 1 is off"),
)
FOOT = (
    Control("roll", -pi / 2.0, pi / 2.0, "Rolls the foot, in radians: below 0 over the heel", "foot"),
    Control("toe", -pi / 2.0, pi / 2.0, "Bends the toes alone, in radians, up or down", "foot"),
    Control("break_angle", 0.0, pi / 2.0, "Roll, in radians, from which on the toes roll too", "foot"),
)
NAMES = tuple(control.name for control in (*CONTROLS, *TURN, *STRETCH, *FOOT))


def add_controls(
    owner: bpy.types.Object, settings: bpy.types.PropertyGroup, controls: tuple[Control, ...]
) -> None:
    """Add the controls to an empty, with the values, keys and drivers of the chain's settings."""
    for control in controls:
        if control is BEND:
            value, default = 1.0 if settings.bend == 'POSITIVE' else -1.0, 1.0
        else:
            source = control.owner(settings)
            value = float(getattr(source, control.name))
            default = float(source.bl_rna.properties[control.name].default)
        add_control(owner, control, value, default)
    with ExitStack() as undo:
        for control in controls:
            _carry_keys(owner, settings, control, undo)
            _carry_driver(owner, settings, control)
        undo.pop_all()


def add_control(owner: bpy.types.Object, control: Control, value: float, default: float) -> None:
    """Add a control to an empty."""
    owner[control.name] = value
    owner.id_properties_ui(control.name).update(
        min=control.least,
        max=control.most,
        soft_min=control.least,
        soft_max=control.most,
        default=default,
        description=control.description,
    )


def refuse_unreadable(settings: bpy.types.PropertyGroup) -> None:
    """Raise IK2DError for keys or drivers of the chain's settings that a control cannot have."""
    armature, name = settings.id_data, settings.name
    paths = {path for control in (*CONTROLS, *TURN, *FOOT) for path in _paths(settings, control)}
    animation = armature.animation_data
    for strip in versions.playing_strips(animation) if animation else ():
        holder = versions.strip_channels(strip)
        if any(curve.data_path in paths for curve in (holder.fcurves if holder else ())):
            raise refusal(
                "Chain '{chain}': its settings have keys in the NLA strip '{strip}', which do not come "
                "along; bring them into the object's own action, or delete them",
                chain=name,
                strip=strip.name,
            )
    driver = _driver(settings, BEND)
    if driver is not None and driver.driver.type != 'SCRIPTED':
        raise refusal(
            "Chain '{chain}': the driver of its bend is not an expression; make it a Scripted "
            "Expression, or remove it",
            chain=name,
        )


def _paths(settings: bpy.types.PropertyGroup, control: Control) -> tuple[str, str]:
    """Return a setting's possible paths in an animation: by the chain's name, or its index."""
    place = list(settings.id_data.ik2d.chains).index(settings)
    name = bpy.utils.escape_identifier(settings.name)
    return f'ik2d.chains["{name}"].{control.setting}', f"ik2d.chains[{place}].{control.setting}"


def _driver(settings: bpy.types.PropertyGroup, control: Control) -> bpy.types.FCurve | None:
    paths, drivers = _paths(settings, control), existing_drivers(settings.id_data)
    return next((curve for curve in drivers if curve.data_path in paths and not curve.mute), None)


def _carry_keys(
    owner: bpy.types.Object, settings: bpy.types.PropertyGroup, control: Control, undo: ExitStack
) -> None:
    """Copy the keys of a chain's setting to its control."""
    curve = carry_keys(owner, control.name, settings.id_data, _paths(settings, control), undo)
    if curve is None:
        return
    for key in curve.keyframe_points if control is BEND else ():
        key.interpolation = 'CONSTANT'  # an enum, whose value holds until the next key
        for point in (key.co, key.handle_left, key.handle_right):
            point.y = 1.0 - 2.0 * point.y  # 0 and 1 become 1 and -1
    curve.update()


def carry_keys(
    owner: bpy.types.Object,
    name: str,
    armature: bpy.types.Object,
    paths: Collection[str],
    undo: ExitStack,
) -> bpy.types.FCurve | None:
    """Copy the keys of an armature's setting, at one of some paths, to a property of an empty.

    Returns the new curve; None where the setting has no keys.
    """
    curves = versions.existing_fcurves(armature)
    source = next((curve for curve in curves if curve.data_path in paths), None)
    if source is None or not len(source.keyframe_points):
        return None
    curve = actions.fcurve(actions.channels(owner, undo), path_of(name), 0, "Native", undo)
    curve.mute = source.mute
    curve_copies.copy_curve(source, curve)
    return curve


def _carry_driver(owner: bpy.types.Object, settings: bpy.types.PropertyGroup, control: Control) -> None:
    """Copy the driver of a chain's setting to its control."""
    source = _driver(settings, control)
    if source is None:
        return
    animation = owner.animation_data or owner.animation_data_create()
    curve = animation.drivers.from_existing(src_driver=source)
    curve.data_path = path_of(control.name)
    if control is BEND:
        curve.driver.expression = checked(f"1-2*({without_comments(curve.driver.expression)})")
