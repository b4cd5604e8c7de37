# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d native` of one file: chains become drivers, or drivers are removed, and the file is saved."""

import argparse
from collections.abc import Sequence

import bpy

from ...core import IK2DError
from ...features.native import make_native, remove_native
from ...features.native.changes import acts_as_set
from ...rig.chain.native_state import is_native
from ...rig.chain.renames import needed_chain
from ..files import scene
from ..signals import stop_if_asked
from .one_file import Done, Line, armatures_of, names_wanted, written

_Settings = bpy.types.bpy_struct


def native_file(options: argparse.Namespace) -> int:
    """Make chains native, or remove that, save the file, and return the exit code.

    All chains that the options name, or none: then it raises IK2DError with all reasons. Raises Interrupted
    as a bake does.
    """
    return written(options, lambda *_: Done(tuple(_done(_armatures(options), options))))


def _armatures(options: argparse.Namespace) -> list[bpy.types.Object]:
    armatures = armatures_of(options)
    if options.remove and options.all:
        armatures = [ob for ob in armatures if any(map(is_native, ob.ik2d.chains))]
        if not armatures:
            raise IK2DError("no chain is on drivers; leave --remove out, or name another file")
    scene.leave_edit_mode(armatures)
    return armatures


def _done(armatures: Sequence[bpy.types.Object], options: argparse.Namespace) -> list[Line]:
    """Make the armatures' chains native or remove that; return the lines to print after saving."""
    lines: list[Line] = []
    refused: list[str] = []
    for armature in armatures:
        chains = _chains(armature, options)
        lines += _remove(armature, chains) if options.remove else _make(armature, chains, refused)
    if refused:
        raise IK2DError("; ".join(refused))
    return lines


def _chains(armature: bpy.types.Object, options: argparse.Namespace) -> list[_Settings]:
    names = names_wanted(armature, options)
    if names is None:
        return [chain for chain in armature.ik2d.chains if (is_native if options.remove else _to_make)(chain)]
    return [needed_chain(armature, name) for name in dict.fromkeys(names)]


def _to_make(chain: _Settings) -> bool:
    return bool(chain.enabled) and not acts_as_set(chain)


def _make(armature: bpy.types.Object, chains: Sequence[_Settings], refused: list[str]) -> list[Line]:
    """Make chains native, and add the reasons for those that cannot be to `refused`."""
    if not chains:
        return [Line('RESULT', f"{armature.name}: all enabled chains are on drivers already")]
    told: list[Line] = []
    for chain in chains:
        stop_if_asked()
        try:
            native = make_native(armature, chain)
        except IK2DError as error:
            refused.append(str(error))
            continue
        bones = ", ".join(dict.fromkeys(bone for bone, _ in native.constraints))
        told.append(Line('CHAIN', f"{chain.name} ({bones}): follows '{chain.target.name}'"))
        told += [Line('WARNING', warning) for warning in native.warnings]
    return [Line('RESULT', f"{armature.name}: {_counted(chains)} on drivers now"), *told]


def _remove(armature: bpy.types.Object, chains: Sequence[_Settings]) -> list[Line]:
    for chain in chains:
        if not is_native(chain):
            raise IK2DError(f"the chain '{chain.name}' is not on drivers; leave it out")
    for chain in chains:
        remove_native(armature, chain)
    return [Line('RESULT', f"{armature.name}: {_counted(chains)} on drivers no more")]


def _counted(chains: Sequence[_Settings]) -> str:
    return "1 chain is" if len(chains) == 1 else f"{len(chains)} chains are"
