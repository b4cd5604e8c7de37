# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of bakes: actions, keys and what the result is held to. Needs neither Blender nor numpy."""

import argparse
from collections.abc import Iterator, Sequence

from . import values

ACTIONS = "--actions"


def with_each_action(arguments: Sequence[str]) -> Iterator[str]:
    """Yield arguments with an --actions=NAME for each of the names after --actions.

    They end at the next option, and at the name of a .blend.
    """
    naming = named = False
    words = iter(arguments)
    for argument in words:
        if naming and not argument.startswith("-") and not argument.lower().endswith(".blend"):
            yield f"{ACTIONS}={argument}"
            named = True
            continue
        if naming and not named:
            yield f"{ACTIONS}="  # without a name: the parser says so
        naming, named = argument == ACTIONS, False
        if not naming:
            yield argument
        if argument == "--":
            yield from words  # files, whatever they are called
    if naming and not named:
        yield f"{ACTIONS}="


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add the actions that are baked, and where their keys go."""
    parser.add_argument(
        ACTIONS,
        metavar="all|NAME",
        type=_action,
        action="append",
        help="actions to bake, each with those of its targets and with its own frames, which --frames cuts:"
        " all, or names, one after the other (default: what is assigned)",
    )
    add_pairs(parser, "with --actions: ")
    parser.add_argument(
        "--into",
        metavar="this|new",
        type=str.upper,
        choices=("THIS", "NEW"),
        default="THIS",
        help="key the actions themselves, or new ones, as 'Walk baked' (default: this)",
    )
    parser.add_argument(
        "--assign-baked",
        action="store_true",
        help="with --into new: new actions take the place of those that are assigned, also with --actions",
    )


def add_pairs(parser: argparse.ArgumentParser, where: str = "") -> None:
    """Add the actions of targets that go with those of armatures. where: it applies, in words."""
    parser.add_argument(
        "--pair",
        metavar="A=B",
        type=_pair,
        action="append",
        default=[],
        dest="pairs",
        help=f"{where}A is played together with the targets' action B, repeatable, where no slot, NLA strip"
        " or name (Walk and 'Walk targets') tells",
    )


def _action(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("no name is given; write all, or names")
    return values.name(text)


def _pair(text: str) -> tuple[str, str]:
    name, equals, other = values.name(text).partition("=")
    if not (name and equals and other):
        raise argparse.ArgumentTypeError(f"'{text}' is not A=B, such as 'Walk=Target walk'")
    return name, other


def add_keys(parser: argparse.ArgumentParser) -> None:
    """Add the keys that are made."""
    parser.add_argument(
        "--reduce",
        metavar="LENGTH",
        type=values.length,
        default=0.0,
        help="leave out keys as long as the tip strays no further than this for it, in Blender units",
    )
    parser.add_argument(
        "--target-keys",
        action="store_true",
        help="key only the frames on which the target or the pole has keys",
    )
    parser.add_argument(
        "--single-axis",
        action="store_true",
        help="give each bone one Euler angle curve where possible; changes rotation modes",
    )
    parser.add_argument(
        "--ease-flips",
        action="store_true",
        help="turn planes that follow a target or a pole smoothly where they would flip",
    )


def add_checks(parser: argparse.ArgumentParser) -> None:
    """Add how the result is measured, and what it is held to."""
    parser.add_argument(
        "--verify",
        metavar="SAMPLE|ALL|NONE",
        type=str.upper,
        choices=("SAMPLE", "ALL", "NONE"),
        default="SAMPLE",
        help="measure the finished bake: all frames by their keys, or in Blender where more than keys turns"
        " the bones; all in Blender; or none (default: SAMPLE)",
    )
    add_limits(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add what the result is held to."""
    parser.add_argument(
        "--max-error",
        metavar="LENGTH",
        type=values.length,
        help="exit with 1 if a tip, as solved or as played back, is further than this from its target, or a"
        " joint of a mechanism is open by more, in Blender units; FK frames do not count, unless all are",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 if a tip misses its target on any frame or between two, or is not known to reach"
        " it, or a mechanism is open; FK frames, on which IK Blend is 0, do not count, unless all are",
    )
