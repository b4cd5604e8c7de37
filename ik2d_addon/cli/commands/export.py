# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d export` of one file: its rigs and their clips for an engine; the scene itself stays as it is."""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext

from ...bake import BakeOptions
from ...core import IK2DError
from ...features.export.exporting import export_open_file
from ...features.export.formats import format_of
from ...features.export.report import ExportReport
from ..console import complain, say, stdout_unheard
from ..exit_codes import DONE, NOT_HELD
from ..files import files, reports, scene
from ..signals import asked_to_end, stop_if_asked
from .bake import pairs_of
from .one_file import Line, ProgressLine, armatures_of, print_lines, refuse_empty
from .outcomes import outcome_line

_PROGRESS_AFTER = 1.0  # seconds


def export_file(options: argparse.Namespace) -> int:
    """Export as the options say, and return the exit code.

    Raises IK2DError and Interrupted, with nothing written.
    """
    for option, value in (("--output", options.output), ("--report", options.report)):
        refuse_empty(option, value)
    with reports.stdout_of(options.report) as stdout, ExitStack() as held:
        output = files.target_of(options.output)
        format_of(output)
        files.check_can_write(output)
        held.enter_context(files.locked(output))
        scene.open_scene(options.scene, trusted=options.enable_autoexec, forced=options.force)
        scene.check_no_library(output)
        report = options.report and reports.file_of(options.report, output)
        if report:
            held.enter_context(files.locked(report))
        stop_if_asked()
        done, written = _exported(options, output, held)
        saving: AbstractContextManager[None] = nullcontext()
        if options.report is not None:
            text = json.dumps(done.to_dict(), indent=1) + "\n"
            saving = reports.report_written(options.report, report, text, output, stdout)
        with saving:
            _put_in_place(written, output, done.files)
        return _tell(done, output, options)


def _exported(options: argparse.Namespace, output: str, held: ExitStack) -> tuple[ExportReport, str]:
    """Export the open file to a folder next to the output; return the report, and that folder."""
    names = dict.fromkeys(options.armature or [None])
    asked = (argparse.Namespace(armature=name, chains=None) for name in names)
    armatures = list(dict.fromkeys(ob for one in asked for ob in armatures_of(one, machines_too=True)))
    scene.leave_edit_mode(armatures)
    folder = held.enter_context(files.temporary_folder(output))
    with stdout_unheard():  # exporters print what they do
        done = export_open_file(
            armatures,
            folder,
            os.path.basename(output),
            deform_only=options.deform_only,
            options=BakeOptions(ease_flips=any(ob.ik2d.ease_flips for ob in armatures), force=options.force),
            pairs=pairs_of(options),
            progress=ProgressLine("exporting", complain, _PROGRESS_AFTER),
        )
    stop_if_asked()
    return done, folder


def _put_in_place(folder: str, output: str, names: Sequence[str]) -> None:
    """Put the files of a folder next to the output: the one asked for last, which names the others."""
    place = os.path.dirname(output)
    for name in names:
        if not os.path.dirname(name):
            files.check_can_write(os.path.join(place, name))
    for name in reversed(names):
        path = os.path.join(place, name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            files.put_in_place(os.path.join(folder, name), path)
        except OSError as error:
            raise IK2DError(
                f"'{path}' could not be written ({error.strerror}); choose another place"
            ) from None


def _tell(done: ExportReport, output: str, options: argparse.Namespace) -> int:
    """Print the result; return the exit code."""
    unheld = list(_not_held(done, options))
    for name in done.files:
        say(f"ik2d: saved '{os.path.join(os.path.dirname(output), name)}'")
    print_lines([Line('RESULT', done.sentence()), *(Line('CHAIN', line) for line in done.lines())])
    print_lines([Line('WARNING', warning) for warning in done.warnings] + unheld)
    code, words = (NOT_HELD, unheld[-1].text) if unheld else (DONE, done.sentence())
    if interrupted := asked_to_end():
        code, words = interrupted.exit_code, f"interrupted when '{output}' was saved already"
        complain(f"ik2d: {words}")
    if options.outcome:
        say(outcome_line(words))
    return code


def _not_held(done: ExportReport, options: argparse.Namespace) -> Iterator[Line]:
    """Yield why --max-error and --strict do not hold."""
    allowed = options.max_error
    if allowed is not None and done.max_difference > allowed:
        yield Line(
            'NOT_HELD',
            f"the largest distance of a joint as read back, {done.max_difference:.6g} units, is over"
            f" --max-error {allowed:g}",
        )
    for sentence in done.misses if options.strict else ():
        yield Line('NOT_HELD', f"--strict does not hold: {sentence}")
