# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands and options of the command line. Needs neither Blender nor numpy, so that --help is quick."""

import argparse
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from . import values
from .bake_options import add_actions, add_checks, add_keys, add_limits, with_each_action
from .export_options import add_export_options

_BELOW_ZERO = re.compile(r"-[0-9]")
_DASHED = re.compile(r"-[^=]*\.blend", re.IGNORECASE | re.DOTALL)
# The commands that write each of the files that they name.
EACH_WRITTEN = ("bake", "native", "plant", "export")
_OF_EACH = ("--output", "--report", "--jobs", "--timeout")
# What one process of several files is told, so that it tells its outcome to the one that started it.
TELL_OUTCOME = "--tell-outcome"
EXIT_CODES = (
    "Exit code 0: all done. 1: done, but --max-error or --strict does not hold. 2: bad input. 3: an error of"
    " IK 2D itself. 130, 143: interrupted."
)


class _Given(str):
    """Word of the command line; two equal words are different objects."""


class _Parser(argparse.ArgumentParser):
    """Parser whose errors are IK2DErrors: one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        _refuse(" ".join(message.splitlines()))


def _refuse(words: str) -> NoReturn:
    from ..core import IK2DError  # which needs numpy

    raise IK2DError(f"{words}; --help lists the options")


def parsed(arguments: Sequence[str], opens_scene: bool) -> argparse.Namespace:
    """Return the parsed options; raise IK2DError for arguments that make no sense.

    opens_scene: whether they must name the .blend; if not, Blender may have opened it. `alike` is added for
    commands that write each file: the arguments that all of several files share.
    """
    joined: list[str] = []
    for argument in with_each_action(arguments):
        # argparse takes numbers below zero that are no plain ones, such as -5:5, for an option.
        if joined and joined[-1] in ("--frames", "--ground-velocity") and _BELOW_ZERO.match(argument):
            joined[-1] += f"={argument}"
        elif (
            _DASHED.fullmatch(argument) and "--" not in joined
        ):  # a file, which argparse would take for an option
            joined.append(os.path.join(os.curdir, argument))
        else:
            joined.append(argument)
    for argument in joined:
        if argument.endswith("=--"):  # argparse of Python 3.11 fails on it
            _refuse(f"{argument[:-3]} is given without a value")
    given: list[str] = [_Given(argument) for argument in joined]
    options = _parser(opens_scene).parse_args(given)
    if options.command == "native" and bool(options.chains or options.mechanisms) == options.all:
        _refuse("native takes --all, or names: --chain NAME, --mechanism NAME")
    if options.command in EACH_WRITTEN:
        options.alike = _alike(given[given.index(options.command) + 1 :], options.scenes)
    return options


def _alike(given: Sequence[str], scenes: Sequence[str]) -> list[str]:
    """Return the arguments without the files and without the options that differ for each file."""
    left: list[str] = []
    words = iter(given)
    for word in words:
        if word == "--" or any(word is scene for scene in scenes):
            continue
        if word in _OF_EACH:
            next(words)  # its value
        elif word.partition("=")[0] not in _OF_EACH:
            left.append(str(word))
    return left


@dataclass(frozen=True)
class _Command:
    """A command that works on files, and what adds its options."""

    help: str
    description: str
    options: Sequence[Callable[[argparse.ArgumentParser], None]]

    def add(self, commands: "argparse._SubParsersAction[_Parser]", name: str, opens_scene: bool) -> None:
        """Add it; one that writes each of its files has its exit codes and its processes too."""
        writes = name in EACH_WRITTEN
        parser = commands.add_parser(
            name,
            help=self.help,
            description=self.description + " Of several files each gets a process of its own." * writes,
            epilog=EXIT_CODES if writes else None,
            allow_abbrev=False,
        )
        _add_scenes(parser, opens_scene)
        for add_options in (_add_trust, *self.options, *([_add_jobs] if writes else [])):
            add_options(parser)


def _parser(opens_scene: bool) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m ik2d_addon" if opens_scene else "blender SCENE.blend --command ik2d",
        description="Drive planar bone chains and machines with exact 2D inverse kinematics.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in _commands().items():
        command.add(commands, name, opens_scene)
    _add_gather(commands)
    return parser


def _commands() -> dict[str, _Command]:
    """Return the commands that work on files, by their names."""
    of_bakes = (_add_choices, _add_files, add_actions, add_keys, add_checks)
    return {
        "bake": _Command(
            "key the bone rotations that follow the targets",
            "Key the bone rotations that bring each chain's tip to its target, and save the files.",
            of_bakes,
        ),
        "list": _Command(
            "list armatures, chains, mechanisms, targets, frames and problems",
            "List what there is to bake in each file, and what is wrong with it. Writes nothing.",
            [_add_json],
        ),
        "check": _Command(
            "say what would stop a bake",
            "Do all that a bake with these options does, but write neither scene nor report, and print its"
            " result: exit code 2, with a sentence for each thing that would stop it or have it leave out a"
            " chain or a mechanism.",
            of_bakes,
        ),
        "native": _Command(
            "convert chains and mechanisms to drivers, which need no extension",
            "Turn chains and mechanisms into drivers in Blender's simple expressions, which need neither this"
            " extension nor permission to run scripts, and save the files.",
            [_add_native],
        ),
        "plant": _Command(
            "hold feet where they stand, so that none slides",
            "Find the frames on which feet stand, hold them there, key the targets and bake, and save the"
            " files.",
            [_add_plant],
        ),
        "export": _Command(
            "write rigs with all their clips for an engine",
            "Bake all actions, leave the rigs' controls out, and write glTF, FBX or USD by Blender's own"
            " exporters; then read the file back and say how near the joints are. The scenes stay as they"
            " are.",
            [add_export_options],
        ),
    }


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, with nothing else on stdout")


def _add_native(parser: argparse.ArgumentParser) -> None:
    _add_armature(parser)
    _add_chain(parser, "chain to convert, repeatable")
    _add_chain(parser, "mechanism to convert, repeatable", "mechanism")
    parser.add_argument("--all", action="store_true", help="all enabled chains and mechanisms")
    parser.add_argument("--remove", action="store_true", help="remove their drivers again, without a trace")
    _add_output(parser)
    parser.set_defaults(report=None)


def _add_plant(parser: argparse.ArgumentParser) -> None:
    _add_armature(parser)
    _add_chain(parser, "chain to plant, repeatable (default: all with a foot, or without any all enabled)")
    _add_frames(parser, "A:B", "frames to look at, both ends included (default: the scene's range)")
    parser.add_argument(
        "--ground-velocity",
        metavar="X,Y,Z",
        type=values.vector,
        default=(0.0, 0.0, 0.0),
        help="speed of the ground in Blender units a second, for a walk in place",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--contacts", action="store_true", help="find and key the contacts alone; nothing moves")
    how.add_argument("--clear", action="store_true", help="give planted feet the motion back that they had")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 if a foot still slides, or a knee turns much faster than before",
    )
    _add_output(parser)
    parser.set_defaults(report=None)


def _add_gather(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = commands.add_parser(
        "gather",
        help="put the reports of many bakes together",
        description="Put the reports of many bakes together, as the last step on a farm does. Exit code 1:"
        " --max-error or --strict does not hold. 2: a report is missing or broken.",
        allow_abbrev=False,
    )
    parser.add_argument("reports", metavar="REPORT.json", nargs="+", help="what bake --report has written")
    add_limits(parser)
    parser.add_argument("--report", metavar="OUT.json", help="write all of it as one file; -: on stdout")
    _add_debug(parser)


def _add_scenes(parser: argparse.ArgumentParser, opens_scene: bool) -> None:
    parser.add_argument(
        "scenes",
        metavar="SCENE.blend",
        nargs="+" if opens_scene else "*",
        help="the files" if opens_scene else "the files (default: the one that is open)",
    )


def _add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--enable-autoexec",
        "-y",
        action="store_true",
        help="trust the files: run the Python in their drivers",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="go on with warnings: a newer Blender saved the file, a driver is blocked, a library is missing",
    )
    _add_debug(parser)


def _add_debug(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--debug", action="store_true", help="show where in the code an error happened")


def _add_choices(parser: argparse.ArgumentParser) -> None:
    _add_armature(parser)
    _add_chain(parser, "chain to bake, repeatable (default: all enabled)")
    machines = "mechanism to bake, repeatable (default: all enabled, or none where chains are named)"
    _add_chain(parser, machines, "mechanism")
    _add_frames(parser, "A:B[:STEP]", "frames to bake, both ends included (default: the scene's range)")


def _add_frames(parser: argparse.ArgumentParser, form: str, words: str) -> None:
    parser.add_argument("--frames", metavar=form, type=values.frames, default=(None, None, 1), help=words)


def _add_armature(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--armature",
        metavar="NAME",
        type=values.name,
        help="armature whose chains they are (default: all that have enabled chains)",
    )


def _add_chain(parser: argparse._ActionsContainer, words: str, kind: str = "chain") -> None:
    parser.add_argument(
        f"--{kind}", metavar="NAME", type=values.name, action="append", dest=f"{kind}s", help=words
    )


def _add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=values.jobs,
        default=1,
        help="of several files, work on this many at once (default: 1)",
    )
    parser.add_argument(TELL_OUTCOME, action="store_true", dest="outcome", help=argparse.SUPPRESS)
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=values.seconds,
        help="end the work on a file that takes longer; it counts as failed, and the others go on",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        metavar="OUT.blend",
        help="file to save, {name} being the scene's name (default: over the scene itself)",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    _add_output(parser)
    parser.add_argument(
        "--report",
        metavar="OUT.json",
        help="also write each frame's result, {name} being the scene's name: a table if it ends in .csv,"
        " else JSON; -: on stdout",
    )
