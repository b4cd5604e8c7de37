# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains: their state, controls and constraints."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..animation.value_keys import existing_drivers
from .foot.foot import FOOT_NAMES
from .post import POST
from .renames import bones_of

# The settings that make a chain native; and the words in native_before: it was live, its armature had no
# animation.
SETTINGS = ("native_stand", "native_probe", "native_constraint", "native_before", "native_print")
LIVE, BARE = "live", "bare"
# What is made carries a mark: the empties this custom property, the constraints this start of their names.
MARK, PREFIX = "ik2d_native", "IK 2D "
# The kinds of the constraints, first those that turn bones, and the properties of one that may have drivers.
TURNING = ('LIMIT_ROTATION', 'COPY_TRANSFORMS')
_KINDS = (*TURNING, 'LIMIT_SCALE')
_DRIVEN = ("influence", "min_x", "min_y", "min_z")


def is_native(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether a chain is native: Blender's own drivers turn its bones, unless parts were removed."""
    return bool(settings.native_constraint)


def controls_of(settings: bpy.types.PropertyGroup) -> bpy.types.Object | None:
    """Return the empty with a native chain's controls; None for another chain, or where it was deleted.

    An armature that was duplicated without its empties shares that of the original.
    """
    controls = settings.native_stand if is_native(settings) else None
    return controls if is_own_empty(controls) else None


def is_own_empty(ob: bpy.types.Object | None) -> bool:
    """Return whether an object is an empty that was made for a native chain: a file may name another."""
    if ob is None or ob.type != 'EMPTY':
        return False
    return MARK in ob or _has_controls(ob) or _has_controls(ob.parent)


def _has_controls(ob: bpy.types.Object | None) -> bool:
    """Return whether an object is an empty with controls and no mark, as in the first files."""
    return ob is not None and MARK not in ob and all(name in ob for name, _ in _DEFAULTS)


def stand_of(empty: bpy.types.Object) -> bpy.types.Object:
    """Return the empty made for a native chain that another one of them hangs on in the end, or itself."""
    while is_own_empty(empty.parent):
        empty = empty.parent
    return empty


def shown(settings: bpy.types.PropertyGroup, name: str) -> Any:
    """Return the value of a chain's setting: of a native chain its control; not for the bend."""
    controls = controls_of(settings)
    return controls[name] if controls is not None and name in controls else getattr(settings, name)


def give(settings: bpy.types.PropertyGroup, name: str, value: Any) -> None:
    """Set one of a chain's settings, and a native chain's control of that name."""
    setattr(settings, name, value)
    controls = controls_of(settings)
    if controls is not None and name in controls:
        controls[name] = float(value)
        controls.update_tag()


def own_constraints(armature: bpy.types.Object) -> set[str]:
    """Return the names of the constraints that turn the bones of native chains and mechanisms."""
    return {constraint.name for one in _all_of(armature) for _, constraint in constraints_of(one)}


def _all_of(armature: bpy.types.Object) -> list[bpy.types.PropertyGroup]:
    """Return the chains and the mechanisms of an armature."""
    return [*armature.ik2d.chains, *armature.ik2d.mechanisms]


def is_mechanism(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether settings are those of a mechanism, and not of a chain."""
    return hasattr(settings, "drivers")


def _own_bones(settings: bpy.types.PropertyGroup) -> list[str]:
    """Return the names of the bones that a chain, with its post, or a mechanism may turn."""
    if is_mechanism(settings):
        return [bone.name for bone in settings.bones]
    names = bones_of(settings.id_data.data, settings.tip, settings.bone_count)
    return [*names, settings.post] if settings.plane == POST else names


def constraints_of(
    settings: bpy.types.PropertyGroup, among: Collection[str] | None = None
) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """Yield the constraints of a native chain or mechanism, each with its bone, on any bone of the armature.

    They are those whose drivers read the chain's controls, or that copy an empty which hangs on these,
    whatever their names. Where there are no such drivers, the names count; of controls that two chains name,
    only constraints on the chain's own bones. among: the bones to look at, by name; None takes all.
    """
    armature = settings.id_data
    if armature.pose is None or not is_native(settings):
        return
    bones = armature.pose.bones
    looked_at = bones if among is None else [bones[name] for name in among if name in bones]
    constraints = [
        (bone, constraint)
        for bone in looked_at
        for constraint in bone.constraints
        if constraint.type in _KINDS
    ]
    if not constraints:
        return
    names = _own_bones(settings)
    others = {one.native_stand for one in _all_of(armature) if one != settings}
    # By their paths: to find each by itself takes their number squared.
    drivers = {curve.data_path: curve for curve in existing_drivers(armature) if curve.array_index == 0}
    for bone, constraint in constraints:
        if _is_of(settings, constraint, bone.name in names, others, drivers):
            yield bone, constraint


def _is_of(
    settings: bpy.types.PropertyGroup,
    constraint: bpy.types.Constraint,
    on_own_bone: bool,
    others: set[bpy.types.Object | None],
    drivers_by_path: dict[str, bpy.types.FCurve],
) -> bool:
    """Return whether a constraint is a native chain's. others: controls of the armature's other chains."""
    path = constraint.path_from_id()
    curves = [drivers_by_path.get(f"{path}.{name}") for name in _DRIVEN]
    drivers = [driver for driver in curves if driver is not None]
    read = {ob for driver in drivers for ob in objects_read(driver)}
    controls, name = controls_of(settings), settings.native_constraint
    copied = constraint.target if constraint.type == 'COPY_TRANSFORMS' else None
    if copied is not None:
        if not is_own_empty(copied):
            return False
        read.add(stand_of(copied))
    if controls is not None and controls in read and (copied is not None or len(drivers) > 1):
        return on_own_bone or controls not in others
    if not (on_own_bone or constraint.name in (name, scale_name(name))):
        return False
    unclaimed = all(ob is None or (is_own_empty(ob) and others.isdisjoint((ob, ob.parent))) for ob in read)
    return unclaimed and constraint.name.startswith(PREFIX)


def objects_read(driver: bpy.types.FCurve) -> set[bpy.types.ID | None]:
    """Return the objects that a driver reads; among them None for those that are gone."""
    return {target.id for variable in driver.driver.variables for target in variable.targets}


def scale_name(name: str) -> str:
    """Return the name of the constraint that changes a bone's length, for that of the one that turns it."""
    return f"{name} Scale"


def acts(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether a native chain's constraints turn its bones now: a bake mutes them."""
    return is_native(settings) and any(not constraint.mute for _, constraint in constraints_of(settings))


def is_flipped(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether a chain bends to the side that its rest pose does not."""
    controls = controls_of(settings)
    return bool(controls.get("bend", 1.0) < 0.0) if controls is not None else settings.bend == 'NEGATIVE'


def sampled_controls(controls: bpy.types.Object, side: float) -> tuple[float, float, float, float]:
    """Return softness, bend (-1..+1), influence and plane turn of an empty with controls, evaluated or not.

    side: the `solver_side` of its chain.
    """
    softness, bend, over, influence, turn = (
        float(controls.get(name, default)) for name, default in _DEFAULTS
    )
    return softness, side * (1.0 if bend >= 0.0 else -1.0) * (1.0 - 2.0 * over), influence, turn


def with_foot_controls(controls: bpy.types.Object, values: tuple[float, ...]) -> tuple[float, ...]:
    """Return the values of a foot, as `foot_values` has them, as an empty with controls sets them."""
    return tuple(float(controls.get(name, value)) for name, value in zip(FOOT_NAMES, values, strict=True))


_DEFAULTS = (("softness", 0.0), ("bend", 1.0), ("turn_over", 0.0), ("influence", 1.0), ("plane_turn", 0.0))


@contextmanager
def natives_muted(
    armature: bpy.types.Object,
    chains: Collection[str],
    mechanisms: Collection[str] = (),
    for_good: bool = False,
) -> Iterator[None]:
    """Mute the constraints of the named chains and mechanisms that are native.

    for_good: afterwards too, unless it fails.
    """
    named = [chain for chain in armature.ik2d.chains if chain.name in chains]
    named += [mechanism for mechanism in armature.ik2d.mechanisms if mechanism.name in mechanisms]
    muted, stays = _acting(named), False
    _set(armature, muted, True)
    try:
        yield
        stays = for_good
    finally:
        if not stays:
            _set(armature, muted, False)


def _acting(natives: list[bpy.types.PropertyGroup]) -> list[tuple[str, str]]:
    """Return the constraints that act, each as the names of its bone and its own."""
    return [
        (bone.name, constraint.name)
        for settings in natives
        for bone, constraint in constraints_of(settings)
        if not constraint.mute
    ]


def _set(armature: bpy.types.Object, constraints: list[tuple[str, str]], mute: bool) -> None:
    for bone, name in constraints:
        constraint = armature.pose.bones[bone].constraints.get(name) if bone in armature.pose.bones else None
        if constraint is not None:
            constraint.mute = mute
