# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d check`: what would stop a bake, or else its result. It bakes, and saves nothing."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace

import bpy

from ...bake import BakeReport, check
from ...bake.actions.arguments import INTO_NEW
from ...core import IK2DError
from ..console import complain
from ..exit_codes import BAD_INPUT, DONE, NOT_HELD
from ..files import files, reports, scene
from ..files.outputs import Job, jobs_for, named_after
from .bake import bake_options, baked, lines_of, not_held
from .one_file import armatures_of, mechanisms_wanted, names_wanted, print_lines

_VERB = "Nothing would stop a bake of"
_LEFT_OUT = "Left out: "


def check_files(options: argparse.Namespace) -> int:
    """Tell of each file what would stop its bake, or else its result; return the exit code."""
    return max([_checked(job, options) for job in _jobs(options)])


def _checked(job: Job, options: argparse.Namespace) -> int:
    """Print what would stop the bake of a file, or else its result; return the exit code."""
    done: list[BakeReport] = []
    problems = list(dict.fromkeys(_problems(job, options, done)))
    for problem in problems:
        complain(f"ik2d: error: {job.scene}: {problem}")
    if problems:
        return BAD_INPUT
    unheld = list(not_held(done, options))
    print_lines((line for report in done for line in lines_of(report)), job.scene)
    print_lines(unheld)
    return NOT_HELD if unheld else DONE


def _jobs(options: argparse.Namespace) -> list[Job]:
    if len(options.scenes) > 1:
        return jobs_for(options.scenes, options.output, options.report)
    name = options.scenes[0] if options.scenes else bpy.data.filepath
    if not name:
        raise IK2DError("no .blend file is open; name existing ones")
    return [Job(name, named_after(name, options.output), named_after(name, options.report))]


def _problems(job: Job, options: argparse.Namespace, done: list[BakeReport]) -> Iterator[str]:
    """Yield the problems of a file; add the reports of its bake to `done`."""
    path = job.scene if options.scenes else None
    try:
        scene.open_scene(path, trusted=options.enable_autoexec, forced=options.force)
    except IK2DError as error:
        yield str(error)
        return
    yield from _problems_of_places(job)
    problems = list(_problems_of_chains(options))
    yield from problems
    if not problems:
        yield from _problems_of_bake(options, done)


def _problems_of_places(job: Job) -> Iterator[str]:
    """Yield the problems of the paths that the bake and its report are written to."""
    try:
        output = files.target_of(job.output or job.scene)
    except IK2DError as error:
        yield str(error)
        return
    yield from _refusals(files.check_can_write, output)
    yield from _refusals(files.check_free, output)
    yield from _refusals(scene.check_no_library, output)
    if job.report is not None:
        yield from _refusals(_check_report, job.report, output)


def _check_report(report: str, output: str) -> None:
    path = reports.file_of(report, output)
    if path:
        files.check_free(path)


def _problems_of_chains(options: argparse.Namespace) -> Iterator[str]:
    """Yield the problems of the chains that are known without solving them."""
    try:
        armatures = armatures_of(options)
        scene.leave_edit_mode(armatures)
        chosen = bake_options(options)
    except IK2DError as error:
        yield str(error)
        return
    if chosen.into == INTO_NEW or options.actions is not None:
        return  # others than what is assigned: the bake says what would stop it
    for armature in armatures:
        names, mechanisms = names_wanted(armature, options), mechanisms_wanted(armature, options)
        yield from check(armature, names, options.frames, chosen, mechanisms=mechanisms)


def _problems_of_bake(options: argparse.Namespace, done: list[BakeReport]) -> Iterator[str]:
    """Yield the problems that a bake finds only as it samples, solves and keys; add its reports to `done`."""
    try:
        done += [_as_checked(report) for report in baked(options)]
    except IK2DError as error:
        yield str(error)
    for report in done:
        yield from (fault.removeprefix(_LEFT_OUT) for fault in report.left_out)


def _as_checked(report: BakeReport) -> BakeReport:
    """Return a report in the words of a check."""
    return replace(report, verb=_VERB, actions=tuple(map(_as_checked, report.actions)))


def _refusals(checked: Callable[..., object], *arguments: str) -> Iterator[str]:
    try:
        checked(*arguments)
    except IK2DError as error:
        yield str(error)
