# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d bake` of one file: all is solved, then saved, then reported."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from typing import TextIO

from ...bake import BakeOptions, BakeReport, bake
from ...bake.actions.arguments import ALL
from ...core import IK2DError
from ...core.words import number_of
from ..console import say
from ..files import files, reports, scene
from ..signals import stop_if_asked
from .one_file import Done, Line, ProgressLine, armatures_of, refuse_empty, written
from .outcomes import FileOutcome

_PROGRESS_AFTER = 2.0  # seconds; a bake quicker than this needs no progress line


def bake_file(options: argparse.Namespace) -> int:
    """Bake as the options say, save, and return the exit code. Raises IK2DError, Interrupted."""
    refuse_empty("--report", options.report)
    with reports.stdout_of(options.report) as stdout:
        return written(options, lambda output, held: _done(options, output, held, stdout))


def _done(options: argparse.Namespace, output: str, held: ExitStack, stdout: TextIO | None) -> Done:
    """Bake the open file, with its report locked and ready to be written."""
    report = options.report and reports.file_of(options.report, output)
    if report:
        held.enter_context(files.locked(report))
        stop_if_asked()
    done = baked(options)
    unheld = tuple(not_held(done, options))
    lines = tuple(line for each in done for line in lines_of(each))
    saving = nullcontext()
    if options.report is not None:
        text = reports.report_text(options.report, output, done)
        saving = reports.report_written(options.report, report, text, output, stdout)
    return Done((*lines, *unheld), not unheld, FileOutcome.of(done), saving)


def baked(options: argparse.Namespace) -> Sequence[BakeReport]:
    """Bake the open file as the options say, save nothing, and return the report of each armature."""
    if options.pairs and options.actions is None:
        raise IK2DError("--pair goes with --actions; add --actions all, or their names")
    armatures = armatures_of(options)
    scene.leave_edit_mode(armatures)
    name = armatures[0].name if len(armatures) == 1 else f"{len(armatures)} armatures"
    report = bake(
        armatures,
        options.chains,
        *options.frames,
        options=bake_options(options),
        progress=ProgressLine(name, say, _PROGRESS_AFTER),
        actions=actions_wanted(options),
        pairs=pairs_of(options),
        mechanisms=options.mechanisms,
    )
    return report.by_armature


def actions_wanted(options: argparse.Namespace) -> str | list[str] | None:
    """Return the actions to bake as a bake takes them; None for what is assigned."""
    names: list[str] | None = options.actions
    return ALL if names is not None and [name.upper() for name in names] == [ALL] else names


def pairs_of(options: argparse.Namespace) -> dict[str, list[str]]:
    """Return the pairs given as a bake takes them."""
    pairs: dict[str, list[str]] = {}
    for name, other in options.pairs:
        pairs.setdefault(name, []).append(other)
    return pairs


def lines_of(report: BakeReport) -> Iterator[Line]:
    """Yield the results of an armature's chains, or of its actions, and its warnings."""
    copied = report.action and report.source_action not in ("", report.action)
    into = f"; its keys are in '{report.action}'" if copied else ""
    yield Line('RESULT', f"{report.armature}: {report.sentence()}{into}")
    for clip in report.actions:
        copied = f" (of {clip.source_action})" if clip.source_action not in ("", clip.action) else ""
        first, last = (*clip.chains, *clip.mechanisms)[0].frames[[0, -1]]
        yield Line('CHAIN', f"{clip.action}{copied}, {first:g} to {last:g}: {clip.sentence()}")
    for chain in () if report.actions else report.chains:
        bones = number_of(len(chain.bones), "bone")
        yield Line('CHAIN', f"{chain.name} ({chain.solver}, {bones}): {chain.sentence()}")
    for one in () if report.actions else report.mechanisms:
        bones = number_of(len(one.bones), "bone")
        yield Line('CHAIN', f"{one.name} (mechanism, {bones}): {one.sentence()}")
    for warning in report.warnings:
        yield Line('WARNING', warning)


def not_held(done: Sequence[BakeReport], options: argparse.Namespace) -> Iterator[Line]:
    """Yield why --max-error and --strict do not hold for a bake."""
    if options.max_error is not None:
        for words in _over_max_error(done, options.max_error):
            yield Line('NOT_HELD', words)
    for report in done:
        if options.strict and not report.all_reached:
            yield Line('NOT_HELD', f"--strict does not hold: {report.armature}: {report.sentence()}")


def _over_max_error(done: Sequence[BakeReport], allowed: float) -> Iterator[str]:
    """Yield why --max-error does not hold."""
    if left_out := sum(len(report.left_out) for report in done):
        yield f"{left_out} left out as faulty, so --max-error does not hold"
    if forced := sum(len(report.forced) for report in done):
        yield f"{forced} thing(s) that chains need do not run or are missing, so --max-error does not hold"
    for chain in (chain for report in done for chain in report.chains if chain.is_off):
        yield f"{chain.armature}: '{chain.name}': {chain.fk_words()}; so --max-error does not hold"
    joints = "opening of a joint, or miss of a mechanism's target,"
    for kind, what in (("chains", "distance from a tip to its target,"), ("mechanisms", joints)):
        worst = max((one.max_error for report in done for one in getattr(report, kind)), default=0.0)
        if worst > allowed:
            yield f"the largest {what} {worst:.6g} units, is over --max-error {allowed:g}"


def bake_options(options: argparse.Namespace) -> BakeOptions:
    """Return the options as a bake takes them; raise IK2DError for those that do not go together."""
    return BakeOptions(
        verify=options.verify,
        reduce=options.reduce,
        on_target_keys=options.target_keys,
        single_axis=options.single_axis,
        ease_flips=options.ease_flips,
        force=options.force,
        into=options.into,
        assign_baked=True if options.assign_baked else None,
    )
