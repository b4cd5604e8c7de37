# SPDX-License-Identifier: GPL-3.0-or-later
"""Make mechanisms of an armature's bones: their joints, and what drives them."""

from collections.abc import Sequence
from typing import Any

from bpy.types import Object

from ...bake.keys.left import leave_keys
from ...core import IK2DError
from ...core.words import refusal
from ...rig.animation import versions
from ...rig.animation.value_keys import existing_drivers
from ...rig.chain.checks.bones import pose_bones_of
from ...rig.chain.renames import refuse_linked, straighten
from ...rig.mechanism.placing import RestBone, common_plane
from ..native.empties import remove_native

_ENDS = ('HEAD', 'TAIL')
# The beginning of the paths of mechanisms' settings, before their number.
_PATH = "ik2d.mechanisms["


def add_mechanism(armature: Object, bones: Sequence[str], name: str = "") -> Any:
    """Add a mechanism of some bones and return it: each head is a pin on its parent, or on the frame.

    The frame is the bone that carries all of them, or the armature; bones between it and them are taken in.
    name: without one that of the first bone. Raises IK2DError, with nothing changed, for bones that are not
    there, or in no common plane.
    """
    if isinstance(bones, str) or len(set(bones)) < 2:
        raise IK2DError(f"a mechanism takes a list of two bones or more, not {bones!r}")
    refuse_linked(armature)
    names = with_carriers(armature, bones)
    common_plane(name or names[0], rest_bones(armature, names))
    mechanism = armature.ik2d.mechanisms.add()
    mechanism.name = name or names[0]  # or the next free name
    _take(mechanism, names)
    return mechanism


def take_in(mechanism: Any, bones: Sequence[str]) -> list[str]:
    """Take more bones into a mechanism, with those between them and its frame; return which are new.

    Raises IK2DError, with nothing changed, as `add_mechanism` does.
    """
    armature = mechanism.id_data
    refuse_linked(armature)
    straighten(armature)
    known = [bone.name for bone in mechanism.bones]
    names = with_carriers(armature, [*known, *bones])
    common_plane(mechanism.name, rest_bones(armature, names))
    new = [name for name in names if name not in known]
    _take(mechanism, new)
    return new


def _take(mechanism: Any, names: Sequence[str]) -> None:
    for name in names:
        mechanism.bones.add().name = name
    straighten(mechanism.id_data)


def with_carriers(armature: Object, bones: Sequence[str]) -> list[str]:
    """Return bones, and those between them and the nearest bone above that carries all of them.

    Raises IK2DError for one that is not there.
    """
    posed, names = pose_bones_of(armature), list(dict.fromkeys(bones))
    for bone in names:
        if bone not in posed:
            raise refusal("the armature '{armature}' has no bone '{bone}'", armature=armature.name, bone=bone)
    above = [[one.name for one in posed[name].parent_recursive] for name in names]
    shared = set(above[0]).intersection(*above[1:])
    between = [name for line in above for name in line if name not in shared]
    return list(dict.fromkeys([*names, *between]))


def rest_bones(armature: Object, names: Sequence[str]) -> list[RestBone]:
    """Return bones at rest, each with its parent if that is one of them."""
    bones = [armature.data.bones[name] for name in names]
    parents = [bone.parent.name if bone.parent and bone.parent.name in names else "" for bone in bones]
    return RestBone.each_of(bones, parents)


def remove_mechanism(mechanism: Any) -> str:
    """Remove a mechanism, with its drivers and keyed lengths, and return its name; baked keys stay.

    Keyed lengths of the mechanisms after it follow them.
    """
    armature, name = mechanism.id_data, str(mechanism.name)
    refuse_linked(armature)
    stored = armature.ik2d.mechanisms
    place = [each.name for each in stored].index(name)
    remove_native(armature, mechanism)
    leave_keys(stored[place])
    try:
        stored.remove(place)
    except TypeError as error:  # how Blender refuses it for an override
        raise refusal(
            "Mechanism '{name}' comes from the linked library: disable it instead", name=name
        ) from error
    _follow_removed(armature, _PATH, place)
    settings = armature.ik2d
    settings.active_mechanism = min(settings.active_mechanism, max(0, len(stored) - 1))
    return name


def remove_driver(mechanism: Any, place: int) -> None:
    """Remove the driver at a place of a mechanism, with its keyed length; keys of those after it follow."""
    path = f"{mechanism.path_from_id()}.drivers["
    mechanism.drivers.remove(place)
    _follow_removed(mechanism.id_data, path, place)


def remove_joint(mechanism: Any, place: int) -> None:
    """Remove the joint at a place of a mechanism; a ram's with its driver and the bones that it alone has."""
    joint = mechanism.joints[place]
    kind, bones = joint.kind, (joint.bone, joint.other)
    mechanism.joints.remove(place)
    if kind != 'RAM':
        return
    for number in reversed(range(len(mechanism.drivers))):
        if mechanism.drivers[number].bone == bones[0] and mechanism.drivers[number].kind == 'RAM':
            remove_driver(mechanism, number)
    for name in bones:
        _drop_unused(mechanism, name)


def _drop_unused(mechanism: Any, name: str) -> None:
    """Take a bone out of a mechanism that hangs on nothing of it but its parent."""
    data = mechanism.id_data.data.bones.get(name)
    below = data.children if data is not None else ()
    used = {one.bone for one in (*mechanism.joints, *mechanism.drivers)}
    used |= {one.other for one in mechanism.joints}
    if name not in used and not any(child.name in mechanism.bones for child in below):
        mechanism.bones.remove(mechanism.bones.find(name))


def _follow_removed(armature: Object, path: str, place: int) -> None:
    """Take away the curves and drivers of what was at a place of a list; those of later items follow it.

    Curves that other objects play too are copied first.
    """
    animation = armature.animation_data
    paths = [curve.data_path for curve in versions.existing_fcurves(armature)]
    if any(each.startswith(path) for each in paths):
        if versions.sharing_channels(armature) or not animation.action.is_editable:  # theirs stay
            slot = versions.slot_played(animation)
            versions.assign_action(animation, animation.action.copy(), slot)
    lists: tuple[Any, ...] = (versions.existing_fcurves(armature), existing_drivers(armature))
    for curves in lists:
        for curve in list(curves):
            if not curve.data_path.startswith(path):
                continue
            number, _, rest = curve.data_path.removeprefix(path).partition("]")
            if int(number) == place:
                curves.remove(curve)
            elif int(number) > place:
                curve.data_path = f"{path}{int(number) - 1}]{rest}"


def add_pin(mechanism: Any, bone: str, end: str, other: str | None) -> Any:
    """Keep the end of a bone, 'HEAD' or 'TAIL', where it is on another bone; return the joint.

    other: None for the frame. Raises IK2DError for a bone on itself, and for a head on its own parent.
    """
    return _joint(mechanism, 'PIN', bone, other, end)


def add_slide(mechanism: Any, bone: str, end: str, other: str | None, keeps_angle: bool = False) -> Any:
    """Keep the end of a bone on a line along another bone, through where it is; return the joint.

    other: a bone of the mechanism, or of its frame; None for a line of the frame along the bone itself.
    keeps_angle: the bone does not turn against the other, as a piston does not.
    """
    return _joint(mechanism, 'GUIDE' if keeps_angle else 'SLIDE', bone, other, end)


def add_ram(mechanism: Any, barrel: str, rod: str) -> Any:
    """Have two bones point at each other, as the barrel and the rod of a ram do; return the joint.

    Its stroke goes from the longer bone alone to both in a line, and holds the length at rest.
    """
    joint = _joint(mechanism, 'RAM', barrel, rod, 'HEAD')
    bones = mechanism.id_data.data.bones
    lengths = [bones[barrel].length, bones[rod].length]
    rest = (bones[rod].head_local - bones[barrel].head_local).length
    joint.stroke = min(max(lengths), rest), max(sum(lengths), rest)
    return joint


def add_gear(mechanism: Any, a: str, b: str, ratio: float) -> Any:
    """Turn bone b by `ratio` times what bone a turns, against the frame; return the joint."""
    joint = _joint(mechanism, 'GEAR', a, b, 'HEAD')
    joint.ratio = ratio
    return joint


def drive(mechanism: Any, bone: str, target: Object | None = None, subtarget: str = "") -> Any:
    """Have a bone drive, and return the driver: by its own keys; a ram's barrel or rod by its `length`, 0..1.

    target: an object, or its bone `subtarget`, to which the tail of the bone is dragged instead.
    Raises IK2DError for a bone that drives already.
    """
    refuse_linked(mechanism.id_data)
    straighten(mechanism.id_data)
    _needed(mechanism, bone)
    ram = ram_of(mechanism, bone)
    bone = bone if ram is None else ram.bone
    if any(one.bone == bone for one in mechanism.drivers):
        raise refusal("'{driver}' drives already", driver=bone)
    driver = mechanism.drivers.add()
    driver.bone = bone
    if target is not None:
        driver.kind, driver.target, driver.subtarget = 'TARGET', target, subtarget
    elif ram is not None:
        bones = mechanism.id_data.data.bones
        rest = (bones[ram.other].head_local - bones[ram.bone].head_local).length
        least, most = ram.stroke
        driver.kind = 'RAM'
        driver.length = (rest - least) / (most - least) if most > least else 0.0
    return driver


def ram_of(mechanism: Any, bone: str) -> Any:
    """Return the ram of which a bone is the barrel or the rod; None without one."""
    rams = (one for one in mechanism.joints if one.kind == 'RAM' and bone in (one.bone, one.other))
    return next(rams, None)


def _joint(mechanism: Any, kind: str, bone: str, other: str | None, end: str) -> Any:
    """Add a joint to a mechanism; raise IK2DError, with nothing changed, for one that cannot be."""
    refuse_linked(mechanism.id_data)
    straighten(mechanism.id_data)
    _needed(mechanism, bone)
    if end not in _ENDS:
        raise IK2DError(f"end takes 'HEAD' or 'TAIL', not {end!r}")
    if kind in ('RAM', 'GEAR'):
        _needed(mechanism, other or "")
    elif other:
        _needed(mechanism, other, anywhere=True)
    parent = mechanism.id_data.data.bones[bone].parent
    above = parent.name if parent is not None and parent.name in mechanism.bones else None
    if other == bone or kind == 'PIN' and end == 'HEAD' and (other or None) == above:
        raise refusal(
            "'{bone}' cannot be pinned to {other}: it turns about this end of its own already",
            bone=bone,
            other=f"'{other or mechanism.id_data.name}'",
        )
    joint = mechanism.joints.add()
    joint.kind, joint.bone, joint.other, joint.end = kind, bone, other or "", end
    straighten(mechanism.id_data)
    return joint


def _needed(mechanism: Any, bone: str, anywhere: bool = False) -> None:
    known = mechanism.id_data.data.bones if anywhere else mechanism.bones
    if bone not in known:
        raise refusal("'{bone}' is no bone of the mechanism '{name}'", bone=bone, name=mechanism.name)
