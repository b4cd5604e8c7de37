# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d plant` of one file: feet are planted, or given their motion back, and the file is saved."""

import argparse
from collections.abc import Iterator

import bpy

from ...bake.request import chosen_options
from ...core import IK2DError
from ...core.words import number_of
from ...features.plant.before import is_planted
from ...features.plant.plant import find_contacts, plant_feet, unplant_feet
from ..console import complain, say
from ..exit_codes import DONE, NOT_HELD
from ..files import scene
from ..signals import stop_if_asked
from .one_file import Line, armatures_of, ended, names_wanted, opened, print_lines, refuse_empty, save


def plant_file(options: argparse.Namespace) -> int:
    """Plant feet, or undo that, save the file, and return the exit code.

    Raises IK2DError, with nothing saved, where one armature cannot be planted; Interrupted as a bake does.
    """
    refuse_empty("--output", options.output)
    if options.frames[2] != 1:
        raise IK2DError("feet are planted on every frame; give --frames without a step")
    with opened(options) as output:
        stop_if_asked()
        lines, good = _done(options)
        save(output)
        return ended(output, lambda: _told(lines, good or not options.strict))


def _told(lines: list[Line], good: bool) -> int:
    print_lines(lines)
    return DONE if good else NOT_HELD


def _done(options: argparse.Namespace) -> tuple[list[Line], bool]:
    """Do what is asked for; return the lines to print after saving, and whether no foot slides."""
    armatures = armatures_of(options)
    if options.clear:
        armatures = [ob for ob in armatures if any(map(is_planted, ob.ik2d.chains))]
        if not armatures:
            raise IK2DError("no feet are planted; leave --clear out, or name another file")
    scene.leave_edit_mode(armatures)
    lines: list[Line] = []
    good = True
    for armature in armatures:
        names = names_wanted(armature, options)
        if options.clear:
            lines += [(complain, f"ik2d: warning: {gone}") for gone in unplant_feet(armature, names)]
            lines.append((say, f"ik2d: {armature.name}: its feet move as before"))
        elif options.contacts:
            lines += _found(armature, names, options)
        else:
            report = plant_feet(
                armature,
                names,
                *options.frames[:2],
                ground_velocity=options.ground_velocity,
                options=chosen_options(armature.ik2d),
                progress=lambda *_: stop_if_asked(),
            )
            good = good and not any(True for _ in report.faults())
            lines.append((say, f"ik2d: {armature.name}: {report.sentence()}"))
            lines += [(complain, f"ik2d: warning: {warning}") for warning in report.warnings]
    return lines, good


def _found(
    armature: bpy.types.Object, names: list[str] | None, options: argparse.Namespace
) -> Iterator[Line]:
    """Find contacts; yield a line for each chain."""
    contacts = find_contacts(armature, names, *options.frames[:2], ground_velocity=options.ground_velocity)
    for name, count in contacts.items():
        yield say, f"ik2d: {armature.name}:   {name}: {number_of(count, 'contact')}"
