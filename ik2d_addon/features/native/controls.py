# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls of a native chain: properties of an empty, which may be keyed and driven like any other."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import bpy

from ...core import IK2DError
from ...rig.animation import actions, versions
from .drivers import path_of


@dataclass(frozen=True)
class Control:
    """One control: what it is called on the stand, as in the chain's own settings, and its range."""

    name: str
    least: float
    most: float
    description: str


BEND = Control(
    "bend", -1.0, 1.0, "Side that the chain bends to: the rest pose's for 0 and more, the other below"
)
CONTROLS = (
    BEND,
    Control("turn_over", 0.0, 1.0, "How far the chain is turned over to its other side"),
    Control("softness", 0.0, 1.0, "Part of the reach over which the tip eases into the stretched chain"),
    Control("influence", 0.0, 1.0, "How far the chain turns its bones from their own keys to its pose"),
)
STRETCH = (
    Control("stretch", 1.0, 100.0, "How many times as long the bones may get; 1 is off"),
    Control("compress", 0.01, 100.0, "To which part of their length the bones may shorten; 1 is off"),
)
NAMES = tuple(control.name for control in (*CONTROLS, *STRETCH))


def add_controls(
    owner: bpy.types.Object, settings: bpy.types.PropertyGroup, controls: tuple[Control, ...]
) -> None:
    """Give an empty the controls as the chain is set, with the keys and drivers that the settings have."""
    for control in controls:
        owner[control.name] = _value(settings, control)
        owner.id_properties_ui(control.name).update(
            min=control.least,
            max=control.most,
            soft_min=control.least,
            soft_max=control.most,
            default=_default(settings, control),
            description=control.description,
        )
    with ExitStack() as undo:
        for control in controls:
            _carry_keys(owner, settings, control, undo)
            _carry_driver(owner, settings, control)
        undo.pop_all()


def refuse_unreadable(settings: bpy.types.PropertyGroup) -> None:
    """Raise IK2DError for keys or drivers of the chain's settings that no control can be given."""
    armature, name = settings.id_data, settings.name
    paths = {path for control in CONTROLS for path in _paths(settings, control)}
    animation = armature.animation_data
    for strip in versions.playing_strips(animation) if animation else ():
        holder = versions.strip_channels(strip)
        if any(curve.data_path in paths for curve in (holder.fcurves if holder else ())):
            raise IK2DError(
                f"Chain '{name}': its settings have keys in the NLA strip '{strip.name}', which do not come"
                " along; bring them into the object's own action, or delete them"
            )
    driver = _driver(settings, BEND)
    if driver is not None and driver.driver.type != 'SCRIPTED':
        raise IK2DError(
            f"Chain '{name}': the driver of its bend is no expression; make it one (Scripted Expression), or"
            " remove it"
        )


def _value(settings: bpy.types.PropertyGroup, control: Control) -> float:
    if control is BEND:
        return 1.0 if settings.bend == 'POSITIVE' else -1.0
    return float(getattr(settings, control.name))


def _default(settings: bpy.types.PropertyGroup, control: Control) -> float:
    return 1.0 if control is BEND else float(settings.bl_rna.properties[control.name].default)


def _paths(settings: bpy.types.PropertyGroup, control: Control) -> tuple[str, str]:
    """Return the paths by which an animation may know a setting: by the chain's name, or its place."""
    place = list(settings.id_data.ik2d.chains).index(settings)
    name = bpy.utils.escape_identifier(settings.name)
    return f'ik2d.chains["{name}"].{control.name}', f"ik2d.chains[{place}].{control.name}"


def _curve(settings: bpy.types.PropertyGroup, control: Control) -> bpy.types.FCurve | None:
    paths = _paths(settings, control)
    curves = versions.existing_fcurves(settings.id_data)
    return next((curve for curve in curves if curve.data_path in paths), None)


def _driver(settings: bpy.types.PropertyGroup, control: Control) -> bpy.types.FCurve | None:
    animation = settings.id_data.animation_data
    paths = _paths(settings, control)
    drivers = animation.drivers if animation else ()
    return next((curve for curve in drivers if curve.data_path in paths and not curve.mute), None)


def _as_control(control: Control) -> Callable[[float], float]:
    """Return what makes a setting's values the control's: the bend is 0 and 1 there, 1 and -1 here."""
    return (lambda value: 1.0 - 2.0 * value) if control is BEND else (lambda value: value)


def _carry_keys(
    owner: bpy.types.Object, settings: bpy.types.PropertyGroup, control: Control, undo: ExitStack
) -> None:
    """Give a control the keys that the chain's setting has."""
    source = _curve(settings, control)
    if source is None or not len(source.keyframe_points):
        return
    curve = actions.fcurve(actions.channels(owner, undo), path_of(control.name), 0, "Native", undo)
    curve.extrapolation, curve.mute = source.extrapolation, source.mute
    changed, points = _as_control(control), curve.keyframe_points
    points.add(len(source.keyframe_points))
    for old, new in zip(source.keyframe_points, points, strict=True):
        for name in ("handle_left_type", "handle_right_type", "interpolation", "easing", "type"):
            setattr(new, name, getattr(old, name))
        for name in ("amplitude", "period", "back"):
            setattr(new, name, getattr(old, name))
        for name in ("co", "handle_left", "handle_right"):
            frame, value = getattr(old, name)
            setattr(new, name, (frame, changed(value)))
        if control is BEND:  # a choice, which holds until the next key
            new.interpolation = 'CONSTANT'
    for modifier in source.modifiers:
        _copy_modifier(modifier, curve.modifiers.new(modifier.type))
    curve.update()


def _copy_modifier(source: bpy.types.FModifier, copy: bpy.types.FModifier) -> None:
    for found in source.bl_rna.properties:
        if not found.is_readonly and found.type in ('BOOLEAN', 'ENUM', 'FLOAT', 'INT'):
            setattr(copy, found.identifier, getattr(source, found.identifier))


def _carry_driver(owner: bpy.types.Object, settings: bpy.types.PropertyGroup, control: Control) -> None:
    """Give a control the driver that the chain's setting has."""
    source = _driver(settings, control)
    if source is None:
        return
    animation = owner.animation_data or owner.animation_data_create()
    curve = animation.drivers.from_existing(src_driver=source)
    curve.data_path = path_of(control.name)
    if control is BEND:
        curve.driver.expression = f"1-2*({curve.driver.expression})"
