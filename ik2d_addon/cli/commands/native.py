# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d native` of one file: chains and mechanisms become drivers, or these are removed, and it is saved."""

import argparse
from collections.abc import Sequence

import bpy

from ...core import IK2DError
from ...core.words import number_of
from ...features.native import Native, make_native, remove_native
from ...features.native.changes import acts_as_set
from ...rig.chain.native_state import is_mechanism, is_native
from ...rig.chain.renames import needed_chain, needed_mechanism
from ..files import scene
from ..signals import stop_if_asked
from .one_file import Done, Line, armatures_of, mechanisms_wanted, names_wanted, written

_Settings = bpy.types.bpy_struct


def native_file(options: argparse.Namespace) -> int:
    """Make chains and mechanisms native, or remove that, save the file, and return the exit code.

    All that the options name, or none: then it raises IK2DError with all reasons. Raises Interrupted as a
    bake does.
    """
    return written(options, lambda *_: Done(tuple(_done(_armatures(options), options))))


def _armatures(options: argparse.Namespace) -> list[bpy.types.Object]:
    armatures = armatures_of(options)
    if options.remove and options.all:
        armatures = [ob for ob in armatures if any(map(is_native, _parts(ob)))]
        if not armatures:
            raise IK2DError("nothing is on drivers; leave --remove out, or name another file")
    scene.leave_edit_mode(armatures)
    return armatures


def _parts(armature: bpy.types.Object) -> list[_Settings]:
    return [*armature.ik2d.chains, *armature.ik2d.mechanisms]


def _done(armatures: Sequence[bpy.types.Object], options: argparse.Namespace) -> list[Line]:
    """Make what the armatures have native or remove that; return the lines to print after saving."""
    lines: list[Line] = []
    refused: list[str] = []
    for armature in armatures:
        parts = _chosen(armature, options)
        lines += _remove(armature, parts) if options.remove else _make(armature, parts, refused)
    if refused:
        raise IK2DError("; ".join(refused))
    return lines


def _chosen(armature: bpy.types.Object, options: argparse.Namespace) -> list[_Settings]:
    if options.all:
        return [part for part in _parts(armature) if (is_native if options.remove else _to_make)(part)]
    chains = dict.fromkeys(names_wanted(armature, options) or ())
    mechanisms = dict.fromkeys(mechanisms_wanted(armature, options) or ())
    return [needed_chain(armature, name) for name in chains] + [
        needed_mechanism(armature, name) for name in mechanisms
    ]


def _to_make(part: _Settings) -> bool:
    return bool(part.enabled) and not acts_as_set(part)


def _make(armature: bpy.types.Object, parts: Sequence[_Settings], refused: list[str]) -> list[Line]:
    """Make chains and mechanisms native, and add the reasons for those that cannot be to `refused`."""
    if not parts:
        return [Line('RESULT', f"{armature.name}: all that is enabled is on drivers already")]
    told: list[Line] = []
    for part in parts:
        stop_if_asked()
        try:
            native = make_native(armature, part)
        except IK2DError as error:
            refused.append(str(error))
            continue
        told.append(Line('CHAIN', _told(part, native)))
        told += [Line('WARNING', warning) for warning in native.warnings]
    return [Line('RESULT', f"{armature.name}: {_counted(parts)} on drivers now"), *told]


def _told(part: _Settings, native: Native) -> str:
    if is_mechanism(part):
        return f"{part.name} (mechanism, {number_of(len(part.bones), 'bone')}): loops closed"
    bones = ", ".join(dict.fromkeys(bone for bone, _ in native.constraints))
    return f"{part.name} ({bones}): follows '{part.target.name}'"


def _remove(armature: bpy.types.Object, parts: Sequence[_Settings]) -> list[Line]:
    for part in parts:
        if not is_native(part):
            kind = "mechanism" if is_mechanism(part) else "chain"
            raise IK2DError(f"the {kind} '{part.name}' is not on drivers; leave it out")
    for part in parts:
        remove_native(armature, part)
    return [Line('RESULT', f"{armature.name}: {_counted(parts)} on drivers no more")]


def _counted(parts: Sequence[_Settings]) -> str:
    machines = sum(map(is_mechanism, parts))
    counts = [(len(parts) - machines, "chain"), (machines, "mechanism")]
    told = " and ".join(number_of(count, noun) for count, noun in counts if count)
    return f"{told} {'is' if len(parts) == 1 else 'are'}"
