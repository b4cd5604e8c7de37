# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d bake` of one file: all is solved, then saved, then reported."""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TextIO

import bpy

from ...bake import BakeOptions, BakeReport, bake
from ...core import IK2DError
from ..console import complain, say, stdout_to_stderr
from ..files import files, reports, scene
from ..signals import asked_to_end, stop_if_asked
from .outcomes import Outcome

EXIT_DONE, EXIT_OVER_MAX_ERROR = 0, 1
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


def ended(output: str, tell: Callable[[], int]) -> int:
    """Say that the file is saved, tell what was done, and return the exit code that this returns.

    Where the process was asked to end meanwhile, it is that signal's.
    """
    say(f"ik2d: saved '{output}'")
    code = tell()
    if interrupted := asked_to_end():
        complain(f"ik2d: interrupted when '{output}' was saved already")
        return interrupted.exit_code
    return code


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[str]:
    """Open the file that the options name; yield the path to save to, locked against other runs."""
    output = files.target_of(options.output or options.scene or _open_one())
    files.check_can_write(output)
    with files.locked(output):
        scene.open_scene(options.scene, trusted=options.enable_autoexec, forced=options.force)
        if not options.scene:
            scene.check_windows_read()
            if scene.is_over_itself(output):
                scene.check_unchanged()
        scene.check_no_library(output)
        yield output


def _open_one() -> str:
    if not bpy.data.filepath:
        raise IK2DError("no .blend file is open; name an existing one, before --command or after bake")
    return bpy.data.filepath


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


def save(output: str) -> None:
    """Save the open file in one step; raise IK2DError if that fails."""
    with scene.saved_beside(output) as written:
        stop_if_asked()
        try:
            files.put_in_place(written, output, scene.versions_kept())
        except OSError as error:
            raise IK2DError(
                f"'{output}' could not be saved ({error.strerror}), so nothing is changed;"
                " choose another place"
            ) from None


def _told(done: Sequence[BakeReport], options: argparse.Namespace) -> int:
    """Print the results of a file's bake; return its exit code."""
    for report in done:
        tell(report)
    if options.outcome:
        say(Outcome.of(done).line())
    return exit_code(done, options)


def tell(report: BakeReport, file: str = "") -> None:
    """Print the results of an armature's chains and its warnings, each line after the file's name."""
    before = f"ik2d: {file}: " if file else "ik2d: "
    say(f"{before}{report.armature}: {report.sentence()}")
    for chain in report.chains:
        say(f"{before}  {chain.name} ({chain.solver}, {len(chain.bones)} bones): {chain.sentence()}")
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
    return EXIT_OVER_MAX_ERROR if broken else EXIT_DONE


def _over_max_error(done: Sequence[BakeReport], allowed: float) -> Iterator[str]:
    """Yield why --max-error does not hold."""
    if left_out := sum(len(report.left_out) for report in done):
        yield f"{left_out} faulty chain(s) left out, so --max-error does not hold"
    if forced := sum(len(report.forced) for report in done):
        yield f"{forced} thing(s) that chains need do not run or are missing, so --max-error does not hold"
    worst = max(report.max_error for report in done)
    if worst > allowed:
        yield (
            f"the largest distance from a tip to its target, {worst:.6g} units, is over --max-error"
            f" {allowed:g}"
        )


def refuse_empty(option: str, path: str | None) -> None:
    """Raise IK2DError for an option whose value is empty."""
    # A script with an unset variable writes this; it must not mean "over the scene itself".
    if path == "":
        raise IK2DError(f"{option} is given without a name; name a file, or leave {option} out")


def armatures_of(options: argparse.Namespace) -> list[bpy.types.Object]:
    """Return the armatures that the options ask for; raise IK2DError without any."""
    if options.armature is not None:
        armature = bpy.context.scene.objects.get(options.armature) or bpy.data.objects.get(options.armature)
        if armature is None:
            known = ", ".join(f"'{o.name}'" for o in bpy.data.objects if o.type == 'ARMATURE') or "none"
            raise IK2DError(f"there is no armature '{options.armature}'; the file's armatures are: {known}")
        return [armature]
    armatures = [o for o in bpy.context.scene.objects if o.type == "ARMATURE"]
    if options.chains:
        found = [o for o in armatures if any(name in _chain_names(o) for name in options.chains)]
    else:
        found = [o for o in armatures if any(chain.enabled for chain in o.ik2d.chains)]
    if not found:
        wanted = (
            f"a chain named {' or '.join(map(repr, options.chains))}"
            if options.chains
            else "an enabled chain"
        )
        raise IK2DError(f"no armature of the scene has {wanted}; add chains in the IK 2D tab of the sidebar")
    for name in options.chains or ():
        if not any(name in _chain_names(o) for o in found):
            raise IK2DError(f"no armature of the scene has a chain '{name}'")
    return found


def names_wanted(armature: bpy.types.Object, options: argparse.Namespace) -> list[str] | None:
    """Return the names of the armature's chains to bake; None for all that are enabled."""
    if options.chains and options.armature is None:
        return [name for name in options.chains if name in _chain_names(armature)]
    return options.chains


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


def _chain_names(armature: bpy.types.Object) -> list[str]:
    return [chain.name for chain in armature.ik2d.chains]


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
