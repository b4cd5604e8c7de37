# SPDX-License-Identifier: GPL-3.0-or-later
"""The animation of an IK constraint: copied to its chain, turned round for FK copies, and removed again."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack

import bpy

from ...core.words import noted
from ...rig.animation import actions, curve_copies, key_columns, versions
from ...rig.animation.times import action_time
from ...rig.animation.value_keys import acting_driver, curve_of
from .limbs import Limb

# The levels of data that hold F-Curves, from the outside in.
LEVELS = ("DATA", "ACTION", "SLOT", "LAYER", "STRIP", "BAG")
# Modifiers that do the same to keys that are turned round.
_ALIKE = ('CYCLES', 'STEPPED')


def animation_of(limb: Limb, name: str) -> str:
    """Return the animation of a main constraint's property: "keyed", "driven", "in NLA strips", ""."""
    animation = limb.armature.animation_data
    if animation is None:
        return ""
    path = limb.main.path_from_id(name)
    if acting_driver(limb.armature, path) is not None:
        return noted("driven")
    curve = curve_of(limb.armature, path)
    if curve is not None and versions.plays(limb.armature, curve):
        return noted("keyed")
    holders = map(versions.strip_channels, versions.playing_strips(animation))
    return noted("in NLA strips") if any(holder and holder.fcurves.find(path) for holder in holders) else ""


def takes_keys(armature: bpy.types.Object) -> bool:
    """Return whether an armature's own action can hold more keys: a linked one would be copied."""
    action = armature.animation_data.action if armature.animation_data is not None else None
    return action is None or action.is_editable


def levels_of(armature: bpy.types.Object) -> set[str]:
    """Return the LEVELS that exist of an armature's animation."""
    animation = armature.animation_data
    if animation is None:
        return set()
    action = animation.action
    if action is None:
        return {"DATA"}
    if not versions.HAS_SLOTS:
        return {"DATA", "ACTION"}
    levels = {"DATA", "ACTION"}
    if animation.action_slot is not None:
        levels.add("SLOT")
    if len(action.layers):
        levels.add("LAYER")
        if len(action.layers[0].strips):
            levels.add("STRIP")
    return levels | ({"BAG"} if versions.existing_channels(armature) is not None else set())


def key_steps(
    armature: bpy.types.Object,
    path: str,
    group: str,
    steps: Iterable[tuple[int, float]],
    scene: bpy.types.Scene,
) -> None:
    """Key a property at some frames with constant interpolation."""
    with ExitStack() as undo:
        curve = actions.fcurve(actions.channels(armature, undo), path, 0, group, undo)
        for frame, value in steps:
            time = action_time(armature, scene, frame)
            curve.keyframe_points.insert(time, value).interpolation = 'CONSTANT'
        curve.update()
        undo.pop_all()


def copy_animation(armature: bpy.types.Object, source: str, path: str, group: str) -> None:
    """Copy the driver or the F-Curve of the property at `source` to the one at `path`."""
    driver = acting_driver(armature, source)
    if driver is not None:
        armature.animation_data.drivers.from_existing(src_driver=driver).data_path = path
        return
    if curve_of(armature, source) is None:
        return
    with ExitStack() as undo:
        holder = actions.channels(armature, undo)
        new = actions.fcurve(holder, path, 0, group, undo)
        curve_copies.copy_curve(holder.fcurves.find(source), new)
        undo.pop_all()


# --- Turned round ------------------------------------------------------------


def turns_round(armature: bpy.types.Object, path: str) -> bool:
    """Return whether the driver or the F-Curve of a property can be turned round: see `turn_round`."""
    driver = acting_driver(armature, path)
    curve = driver if driver is not None else curve_of(armature, path)
    if curve is None or len(curve.sampled_points) or driver is not None and driver.driver.use_self:
        return False
    return all(each.mute or each.type in _ALIKE or _is_plain(each) for each in curve.modifiers)


def _is_plain(modifier: bpy.types.FModifier) -> bool:
    """Return whether a modifier is the polynomial in place of keys that drivers have."""
    if modifier.type != 'GENERATOR' or modifier.mode != 'POLYNOMIAL' or modifier.use_additive:
        return False
    return not (modifier.use_restricted_range or modifier.use_influence)


def turn_round(armature: bpy.types.Object, source: str, path: str, part: float, group: str) -> None:
    """Give the property at `path` part * (1 - x), where x is the animated one at `source`.

    A driver has the same variables and expression, and a curve that falls: one that reads the constraint
    itself would be a dependency cycle.
    """
    copy_animation(armature, source, path, group)
    curve = acting_driver(armature, path)
    if curve is None:
        curve = curve_of(armature, path)
    assert curve is not None
    plain = [each for each in curve.modifiers if not each.mute and _is_plain(each)]
    for modifier in plain:
        first, *others = (part * -each for each in modifier.coefficients)
        modifier.coefficients = (part + first, *others)
    if len(curve.keyframe_points) and curve.driver is not None:
        for point in curve.keyframe_points:  # one by one, which library overrides need
            for name in ("co", "handle_left", "handle_right"):
                time, value = getattr(point, name)
                setattr(point, name, (time, part * (1.0 - value)))
        curve.update()
    elif len(curve.keyframe_points):
        columns = key_columns.columns_of(curve)
        for name in ("co", "handle_left", "handle_right"):
            columns[name][:, 1] = part * (1.0 - columns[name][:, 1])
        key_columns.fill(curve, columns, exact=True)
    elif not plain:
        curve.modifiers.new('GENERATOR').coefficients = (part, -part)


# --- Removed -----------------------------------------------------------------


def take_away(armature: bpy.types.Object, prefix: str, group: str, levels: Sequence[str], last: str) -> None:
    """Remove all animation of properties whose paths begin with `prefix`, and what was made to hold it.

    group: the channel group to remove if empty. levels: those of LEVELS that were made, to remove if empty.
    last: the value of `last_slot_identifier` before.
    """
    animation = armature.animation_data
    if animation is None:
        return
    for driver in [driver for driver in animation.drivers if driver.data_path.startswith(prefix)]:
        animation.drivers.remove(driver)
    holder = versions.existing_channels(armature)
    if holder is not None:
        for curve in [curve for curve in holder.fcurves if curve.data_path.startswith(prefix)]:
            holder.fcurves.remove(curve)
        if group:
            actions.remove_empty_group(versions.place_of(holder), group)
    action = animation.action
    if action is not None and levels and not versions.has_curves(action):
        _remove_levels(armature, action, levels, last)
    if "DATA" in levels:
        actions.remove_empty_animation_data(armature)


def _remove_levels(
    armature: bpy.types.Object, action: bpy.types.Action, levels: Sequence[str], last: str
) -> None:
    """Remove the levels that were made and are empty, from the inside out; or the whole action."""
    animation = armature.animation_data
    if "ACTION" in levels and action.users < 2:
        animation.action = None
        if versions.HAS_SLOTS:
            animation.last_slot_identifier = last
        bpy.data.actions.remove(action)
        return
    handle = versions.slot_handle(animation)
    if "BAG" in levels:
        actions.remove_empty_bag(action, handle)
    if "STRIP" in levels:
        actions.remove_empty_strip(action)
    if "LAYER" in levels:
        actions.remove_empty_layer(action)
    if "SLOT" in levels:
        actions.leave_empty_slot(armature, action, handle, last)
        actions.remove_empty_slot(action, handle)
