# SPDX-License-Identifier: GPL-3.0-or-later
"""Rewrite the data paths of chains in actions, drivers, driver variables and keying sets."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import bpy

from ....core.words import listed, say
from ...animation import actions, versions
from ...animation.kept.record import has_record, rewrite_paths
from ...animation.value_keys import existing_drivers
from .moves import PathMoves, escaped
from .owners import Claim, Owners

_SAME = 1e-6  # two values of a setting
# An F-Curve's path and index.
Channel = tuple[str, int]


def rewrite(armature: bpy.types.Object, moves: PathMoves) -> list[str]:
    """Rewrite all paths to an armature's chains after they were moved.

    F-Curves and drivers of removed chains go. Variables that read one keep its name, and so are broken.
    Returns a sentence for each action whose paths stay as they are.
    """
    sentences = _rewrite_actions(armature, moves)
    _rewrite_drivers(armature, moves)
    _rewrite_variables(armature, moves)
    _rewrite_keying_sets(armature, moves)
    armature.update_tag()
    return sentences


def stuck(armature: bpy.types.Object, moves: PathMoves) -> list[str]:
    """Return a sentence for each action that the armature plays and whose paths could not follow moves."""
    owners, wanted = Owners(armature), _channels(armature, moves)
    users = [
        _why_left(action, holder, owners.claim(holder, slot), owners)
        for action in bpy.data.actions
        for holder, slot in versions.holders_of(action)
        if owners.plays(versions.place_of(holder)) and any(_misled(holder, wanted, moves))
    ]
    return [sentence for sentence in dict.fromkeys(users) if sentence]


# --- Actions -----------------------------------------------------------------


def _rewrite_actions(armature: bpy.types.Object, moves: PathMoves) -> list[str]:
    owners, wanted = Owners(armature), _channels(armature, moves)
    left: dict[str, None] = {}
    for action in bpy.data.actions:
        changed = False
        for holder, slot in versions.holders_of(action):
            curves = list(_found(holder, wanted))
            keeps = has_record(action)
            if not curves and not keeps:
                continue
            claim = owners.claim(holder, slot)
            if keeps and claim is Claim.OWN and action.is_editable:
                rewrite_paths(versions.place_of(holder), moves.path)
            if not curves:
                continue
            if sentence := _why_left(action, holder, claim, owners):
                if any(_misled(holder, wanted, moves)):
                    left[sentence] = None
            elif claim is Claim.OWN:
                played = _shown_by(armature, curves) if owners.plays(versions.place_of(holder)) else []
                _rewrite_curves(holder, curves, moves)
                for path in played:
                    if holder.fcurves.find(path) is None:
                        _take_from_library(armature, path)
                changed = True
        if changed:
            action.update_tag()
    return list(left)


def _rewrite_curves(holder: versions.Channels, curves: Iterable[bpy.types.FCurve], moves: PathMoves) -> None:
    place = versions.place_of(holder)
    new = [(curve, moves.path(curve.data_path)) for curve in curves]
    for curve, path in new:
        if path is not None:
            curve.data_path = path
    for curve, path in new:
        if path is None:
            group = curve.group.name if curve.group else ""
            holder.fcurves.remove(curve)
            actions.remove_empty_group(place, group)


def _shown_by(armature: bpy.types.Object, curves: Iterable[bpy.types.FCurve]) -> list[str]:
    """Return the paths of F-Curves that a library override has played, by their values now; else none.

    Blender plays them while it opens the file, before the paths can be rewritten.
    """
    if not armature.override_library:
        return []
    frame, played = bpy.context.scene.frame_current_final, []
    for curve in curves:
        with suppress(ValueError):  # there is no such chain any more
            value = armature.path_resolve(curve.data_path)
            if isinstance(value, str) or abs(value - curve.evaluate(frame)) < _SAME:
                played.append(curve.data_path)
    return played


def _take_from_library(armature: bpy.types.Object, path: str) -> None:
    """Give a chain's setting on a library override the value that it has in the library."""
    named = re.fullmatch(r"ik2d\.chains\[(\d+)\]\.(?:(\w+)\.)?(\w+)", path)
    own = armature.ik2d.chains[int(named[1])] if named else None
    its = armature.override_library.reference.ik2d.chains.get(own.name) if own is not None else None
    if named and its is not None:
        own, its = (getattr(each, named[2]) if named[2] else each for each in (own, its))
        setattr(own, named[3], getattr(its, named[3]))


def _why_left(action: bpy.types.Action, holder: versions.Channels, claim: Claim, owners: Owners) -> str:
    """Return why the paths in an action's channels stay as they are, in words; "" for no reason to say."""
    rig = owners.armature.name
    if claim is Claim.NONE:
        return ""
    if claim is Claim.UNCLEAR:
        return say(
            "Action '{action}' may belong to '{rig}' or to {others}, which have the same bones; its keys on "
            "chains stay at their places in the list. Assign it to its armature before you change the list",
            action=action.name,
            rig=rig,
            others=listed(other.name for other in owners.others),
        )
    if not action.is_editable:
        return say(
            "Action '{action}' is linked, so its keys on chains of '{rig}' cannot follow a change of the "
            "list; make it local first (Object > Relations > Make Local)",
            action=action.name,
            rig=rig,
        )
    if claim is Claim.SHARED:
        return say(
            "Action '{action}' is played by {others} too, so its keys on chains of '{rig}' cannot follow a "
            "change of the list; make it single-user first (the number next to its name)",
            action=action.name,
            others=listed(other.name for other in owners.sharing(versions.place_of(holder))),
            rig=rig,
        )
    return ""


def _misled(holder: versions.Channels, wanted: Iterable[Channel], moves: PathMoves) -> Iterator[bool]:
    """Yield for each F-Curve that would have to be rewritten whether it acts on another chain else."""
    chains = len(moves.chains.now)
    for curve in _found(holder, wanted):
        path = curve.data_path
        new = moves.path(path)
        yield new is not None or any(path.startswith(f"ik2d.chains[{i}].") for i in range(chains))


def _found(holder: versions.Channels, wanted: Iterable[Channel]) -> Iterator[bpy.types.FCurve]:
    """Yield the F-Curves of channels. To find each is much faster than to read the paths of all curves."""
    find = holder.fcurves.find
    for path, index in wanted:
        curve = find(path, index=index)
        if curve is not None:
            yield curve


def _channels(armature: bpy.types.Object, moves: PathMoves) -> list[Channel]:
    """Return the channels of chains' settings that keys can be on and whose path has changed."""
    kind: Any = armature.ik2d.bl_rna.properties["chains"]
    settings = list(_animated(kind.fixed_type))
    channels = []
    for i, name in enumerate(moves.chains.before):
        for key in (str(i), f'"{escaped(name)}"'):
            start = f"ik2d.chains[{key}]"
            if moves.path(start) != start:
                channels += [(f"{start}.{setting}", index) for setting, index in settings]
    return channels


def _animated(group: Any) -> Iterator[Channel]:
    """Yield the settings in a class of groups that can have keys, with their indices.

    Blender plays no F-Curve on another setting.
    """
    for prop in group.properties:
        if prop.type == 'POINTER':
            base = prop.fixed_type.base
            if base is not None and base.identifier == "PropertyGroup":
                for name, index in _animated(prop.fixed_type):
                    yield f"{prop.identifier}.{name}", index
        elif prop.is_animatable and prop.type != 'COLLECTION':
            for index in range(getattr(prop, "array_length", 0) or 1):
                yield prop.identifier, index


# --- Drivers and keying sets -------------------------------------------------


def _rewrite_drivers(armature: bpy.types.Object, moves: PathMoves) -> None:
    """Rewrite the paths of an armature's drivers; those that a library override has from its library stay."""
    animation = armature.animation_data
    if animation is None:
        return
    reference = armature.override_library.reference if armature.override_library else None
    kept = {(curve.data_path, curve.array_index) for curve in existing_drivers(reference)}
    drivers = [
        (curve, curve.data_path, moves.path(curve.data_path))
        for curve in animation.drivers
        if (curve.data_path, curve.array_index) not in kept
    ]
    for curve, old, new in drivers:
        if new is not None and new != old:
            curve.data_path = new
    for curve, _, new in drivers:
        if new is None:
            animation.drivers.remove(curve)


def _rewrite_variables(armature: bpy.types.Object, moves: PathMoves) -> None:
    """Rewrite the paths by which drivers of any data read an armature's chains."""
    users = bpy.data.user_map(subset=[armature])[armature] | {armature}
    for user in users:
        if not user.is_editable or (user.override_library and user != armature):
            continue
        for owner in (user, getattr(user, "node_tree", None)):
            changed = False
            for curve in existing_drivers(owner):
                changed |= _rewrite_sources(curve.driver, armature, moves)
            if changed and owner is not None:
                owner.update_tag()


def _rewrite_sources(driver: bpy.types.Driver, armature: bpy.types.Object, moves: PathMoves) -> bool:
    """Rewrite the paths by which a driver reads chains; return whether there were any."""
    changed = False
    for variable in driver.variables:
        for source in variable.targets:
            if source.id == armature and "ik2d.chains[" in source.data_path:
                path = moves.path_to_read(source.data_path)
                if path != source.data_path:
                    source.data_path, changed = path, True
    return changed


def _rewrite_keying_sets(armature: bpy.types.Object, moves: PathMoves) -> None:
    """Rewrite the paths to an armature's chains in keying sets; those of removed chains go."""
    for scene in bpy.data.scenes:
        for keying_set in scene.keying_sets if scene.is_editable else ():
            for item in [item for item in keying_set.paths if item.id == armature]:
                path = moves.path(item.data_path)
                if path is None:
                    keying_set.paths.remove(item)
                elif path != item.data_path:
                    item.data_path = path
