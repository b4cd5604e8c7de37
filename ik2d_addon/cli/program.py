# SPDX-License-Identifier: GPL-3.0-or-later
"""The program: it runs a command; each way to end has an exit code and one sentence."""

import argparse
import traceback
from collections.abc import Sequence

import bpy

from ..core import IK2DError
from ..rig.chain.readable import in_words
from .commands import check, export, gather, list_chains, native, plant
from .commands.bake import bake_file
from .commands.outcomes import outcome_line
from .commands.several_files import bake_each
from .console import complain, say, streams_open
from .exit_codes import BAD_INPUT, UNEXPECTED
from .files import reports
from .files.outputs import jobs_for, named_after
from .parser import EACH_WRITTEN, TELL_OUTCOME, parsed
from .signals import Interrupted, heeded


def run(arguments: Sequence[str], *, opens_scene: bool = False) -> int:
    """Run the command that the arguments name; return the exit code. Errors are one line on stderr.

    opens_scene: whether the arguments must name the .blend; if not, Blender may have opened it.
    """
    with heeded(), streams_open():
        trace = ""
        try:
            return _do(parsed(arguments, opens_scene), opens_scene)
        except IK2DError as error:
            code, words = BAD_INPUT, f"error: {error}"
        except UnicodeDecodeError as error:
            code, words = BAD_INPUT, f"error: {in_words(error)}"
        except Interrupted as interrupted:
            code, words = interrupted.exit_code, "interrupted; nothing is changed"
        except Exception as error:
            code, trace = UNEXPECTED, traceback.format_exc() if "--debug" in arguments else ""
            words = (
                f"error: unexpected: {type(error).__name__}: {error};"
                " please report it, with the file if you can (--debug shows where it happened)"
            )
        complain(f"ik2d: {words}")
        for line in trace.splitlines():
            complain(line)
        if TELL_OUTCOME in arguments:
            say(outcome_line(words))
        return code


def _do(options: argparse.Namespace, opens_scene: bool) -> int:
    if options.command in EACH_WRITTEN:
        return _write(options, opens_scene)
    commands = {"list": list_chains.list_files, "check": check.check_files, "gather": gather.gather}
    return commands[options.command](options)


def _write(options: argparse.Namespace, opens_scene: bool) -> int:
    if len(options.scenes) > 1 or options.timeout is not None:
        if not options.scenes:
            raise IK2DError(f"--timeout is for files that are named; name them after {options.command}")
        if len(options.scenes) == 1 and reports.goes_to_stdout(options.report):
            raise IK2DError("with --timeout no report goes to stdout; give --report the name of a file")
        jobs = jobs_for(options.scenes, options.output, options.report)
        arguments = [options.command, *options.alike]
        return bake_each(jobs, arguments, options.jobs, opens_scene, options.timeout)
    options.scene = options.scenes[0] if options.scenes else None
    name = options.scene or bpy.data.filepath
    options.output = named_after(name, options.output)
    options.report = named_after(name, options.report)
    commands = {
        "bake": bake_file,
        "native": native.native_file,
        "plant": plant.plant_file,
        "export": export.export_file,
    }
    return commands[options.command](options)
