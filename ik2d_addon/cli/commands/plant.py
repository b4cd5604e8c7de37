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
from ..files import scene
from ..signals import stop_if_asked
from .one_file import Done, Line, armatures_of, names_wanted, written


def plant_file(options: argparse.Namespace) -> int:
    """Plant feet, or undo that, save the file, and return the exit code.

    Raises IK2DError, with nothing saved, where one armature cannot be planted; Interrupted as a bake does.
    """
    if options.frames[2] != 1:
        raise IK2DError("feet are planted on every frame; give --frames without a step")
    return written(options, lambda *_: _done(options))


def _done(options: argparse.Namespace) -> Done:
    """Do what is asked for."""
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
            lines += [Line('WARNING', gone) for gone in unplant_feet(armature, names)]
            lines.append(Line('RESULT', f"{armature.name}: its feet move as before"))
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
            lines.append(Line('RESULT', f"{armature.name}: {report.sentence()}"))
            lines += [Line('WARNING', warning) for warning in report.warnings]
    return Done(tuple(lines), good or not options.strict)


def _found(
    armature: bpy.types.Object, names: list[str] | None, options: argparse.Namespace
) -> Iterator[Line]:
    """Find contacts; yield a line for each chain."""
    contacts = find_contacts(armature, names, *options.frames[:2], ground_velocity=options.ground_velocity)
    for name, count in contacts.items():
        yield Line('RESULT', f"{armature.name}:   {name}: {number_of(count, 'contact')}")
