# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d bake` of one file: all is solved, then saved, then reported."""

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from typing import TextIO

import bpy

from ...bake import BakeOptions, BakeReport, bake
from ...core.words import number_of
from ..console import complain, say, stdout_to_stderr
from ..exit_codes import DONE, NOT_HELD
from ..files import files, reports, scene
from ..signals import stop_if_asked
from .one_file import armatures_of, ended, opened, refuse_empty, save
from .outcomes import FileOutcome

# A bake quicker than this needs no progress line.
_PROGRESS_AFTER, _PROGRESS_EVERY = 2.0, 1.0  # seconds


def bake_file(options: argparse.Namespace) -> int:
    """Bake as the options say, save, and return the exit code. Raises IK2DError, Interrupted."""
    refuse_empty("--output", options.output)
    refuse_empty("--report", options.report)
    with ExitStack() as open_ones:
        stdout = None
        if reports.goes_to_stdout(options.report):
            stdout = open_ones.enter_context(stdout_to_stderr())
        output = open_ones.enter_context(opened(options))
        report = options.report and reports.file_of(options.report, output)
        if report:
            open_ones.enter_context(files.locked(report))
        stop_if_asked()
        done = baked(options)
        _save(options, output, report, done, stdout)
        return ended(output, lambda: _told(done, options))


def baked(options: argparse.Namespace) -> Sequence[BakeReport]:
    """Bake the open file as the options say, save nothing, and return the report of each armature."""
    armatures = armatures_of(options)
    scene.leave_edit_mode(armatures)
    report = bake(
        armatures,
        options.chains,
        *options.frames,
        options=bake_options(options),
        progress=_ProgressLine(armatures),
    )
    return report.by_armature


def _save(
    options: argparse.Namespace,
    output: str,
    report: str | None,
    done: Sequence[BakeReport],
    stdout: TextIO | None,
) -> None:
    """Save both scene and report, or neither."""
    reporting = nullcontext()
    if options.report is not None:
        text = reports.report_text(options.report, output, done)
        reporting = reports.report_written(options.report, report, text, output, stdout)
    with reporting:
        save(output)


def _told(done: Sequence[BakeReport], options: argparse.Namespace) -> int:
    """Print the results of a file's bake; return its exit code."""
    for report in done:
        tell(report)
    if options.outcome:
        say(FileOutcome.of(done).line())
    return exit_code(done, options)


def tell(report: BakeReport, file: str = "") -> None:
    """Print the results of an armature's chains and its warnings, each line after the file's name."""
    before = f"ik2d: {file}: " if file else "ik2d: "
    say(f"{before}{report.armature}: {report.sentence()}")
    for chain in report.chains:
        bones = number_of(len(chain.bones), "bone")
        say(f"{before}  {chain.name} ({chain.solver}, {bones}): {chain.sentence()}")
    for warning in report.warnings:
        complain(f"ik2d: warning: {file}: {warning}" if file else f"ik2d: warning: {warning}")


def exit_code(done: Sequence[BakeReport], options: argparse.Namespace) -> int:
    """Return the exit code of a bake by --max-error and --strict; print why where they do not hold."""
    broken = [] if options.max_error is None else list(_over_max_error(done, options.max_error))
    if options.strict:
        missing = [report for report in done if not report.all_reached]
        broken += [f"--strict does not hold: {report.armature}: {report.sentence()}" for report in missing]
    for words in broken:
        complain(f"ik2d: {words}")
    return NOT_HELD if broken else DONE


def _over_max_error(done: Sequence[BakeReport], allowed: float) -> Iterator[str]:
    """Yield why --max-error does not hold."""
    if left_out := sum(len(report.left_out) for report in done):
        yield f"{left_out} faulty chain(s) left out, so --max-error does not hold"
    if forced := sum(len(report.forced) for report in done):
        yield f"{forced} thing(s) that chains need do not run or are missing, so --max-error does not hold"
    for chain in (chain for report in done for chain in report.chains if chain.is_off):
        yield f"{chain.armature}: '{chain.name}': {chain.fk_words()}; so --max-error does not hold"
    worst = max(report.max_error for report in done)
    if worst > allowed:
        yield (
            f"the largest distance from a tip to its target, {worst:.6g} units, is over --max-error"
            f" {allowed:g}"
        )


def bake_options(options: argparse.Namespace) -> BakeOptions:
    """Return the options as a bake takes them; raise IK2DError for those that do not go together."""
    return BakeOptions(
        verify=options.verify,
        reduce=options.reduce,
        on_target_keys=options.target_keys,
        single_axis=options.single_axis,
        ease_flips=options.ease_flips,
        force=options.force,
    )


class _ProgressLine:
    """Progress line of a long bake, printed now and then; stops the bake if the process was asked to end."""

    def __init__(self, armatures: Sequence[bpy.types.Object]) -> None:
        self._name = armatures[0].name if len(armatures) == 1 else f"{len(armatures)} armatures"
        self._next = time.monotonic() + _PROGRESS_AFTER

    def __call__(self, done: int, total: int) -> None:
        stop_if_asked()
        if time.monotonic() >= self._next:
            say(f"ik2d: {self._name}: {done} of {total} frames")
            self._next = time.monotonic() + _PROGRESS_EVERY
