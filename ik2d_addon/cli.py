# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, one parser for both of its doors.

`blender --background SCENE.blend --command ik2d bake` where the extension is installed, and
`python -m ik2d_addon bake SCENE.blend` with the bpy module.
"""

import argparse
import csv
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import NoReturn, TextIO

import bpy

from .bake import BakeOptions, BakeReport, bake
from .bake.playback import VERIFY_ALL, VERIFY_NOTHING, VERIFY_SAMPLE
from .bake.request import read_rigs
from .core import IK2DError
from .rig.order import armatures_in_order

EXIT_DONE, EXIT_OVER_MAX_ERROR, EXIT_BAD_INPUT = 0, 1, 2
# A bake quicker than this needs no progress line.
_PROGRESS_AFTER, _PROGRESS_EVERY = 2.0, 1.0  # seconds
_UNFINISHED = ".part"  # ends the name of a report that is not whole yet
_BLEND = re.compile(r"\.blend\d*$", re.IGNORECASE)  # a scene, or one of Blender's backups of it
_BELOW_ZERO = re.compile(r"-\d")

_command = None  # what Blender gave for the registered command


def register() -> None:
    """Add `--command ik2d` to Blender's command line."""
    global _command
    _command = bpy.utils.register_cli_command("ik2d", run)


def unregister() -> None:
    """Take `--command ik2d` away again."""
    bpy.utils.unregister_cli_command(_command)


def run(arguments: Sequence[str], *, opens_scene: bool = False) -> int:
    """Do what the arguments say and return the exit code; errors are one line on stderr.

    opens_scene: whether the arguments name the .blend; if not, Blender has opened it.
    """
    try:
        return _bake(_parsed(arguments, opens_scene))
    except IK2DError as error:
        print(f"ik2d: error: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others: one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        raise IK2DError(f"{' '.join(message.splitlines())}; --help lists the options")


def _parsed(arguments: Sequence[str], opens_scene: bool) -> argparse.Namespace:
    joined: list[str] = []
    for argument in arguments:
        # argparse takes a range that begins below zero, such as -5:5, for an option.
        if joined and joined[-1] == "--frames" and _BELOW_ZERO.match(argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return _parser(opens_scene).parse_args(joined)


def _parser(opens_scene: bool) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m ik2d_addon" if opens_scene else "blender SCENE.blend --command ik2d",
        description="Drive planar bone chains with exact 2D inverse kinematics.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    bake_parser = commands.add_parser(
        "bake",
        help="key the bone rotations that follow the targets",
        description="Key the bone rotations that bring each chain's tip to its target, and save the file.",
        epilog="Exit code 0: all done. 1: done, but a tip is further off than --max-error. 2: bad input.",
        allow_abbrev=False,
    )
    if opens_scene:
        bake_parser.add_argument("scene", metavar="SCENE.blend", help="the file to bake")
        bake_parser.add_argument(
            "--enable-autoexec",
            "-y",
            action="store_true",
            help="trust the file: run the Python in its drivers",
        )
    for add_options in (_add_choices, _add_files, _add_keys, _add_checks):
        add_options(bake_parser)
    return parser


def _add_choices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--armature", metavar="NAME", help="armature to bake (default: all that have enabled chains)"
    )
    parser.add_argument(
        "--chain",
        metavar="NAME",
        action="append",
        dest="chains",
        help="chain to bake, repeatable (default: all enabled)",
    )
    parser.add_argument(
        "--frames",
        metavar="A:B[:STEP]",
        type=_frames,
        default=(None, None, 1),
        help="frames to bake, both ends included (default: the scene's range)",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="OUT.blend", help="file to save (default: over the scene itself)")
    parser.add_argument(
        "--report",
        metavar="OUT.json",
        help="also write what came of each frame: a table if it ends in .csv, else JSON",
    )


def _add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reduce",
        metavar="LENGTH",
        type=_length,
        default=0.0,
        help="leave out keys as long as the tip strays no further than this for it",
    )
    parser.add_argument(
        "--target-keys", action="store_true", help="key only the frames on which the target has keys"
    )
    parser.add_argument(
        "--single-axis",
        action="store_true",
        help="give each bone one Euler angle curve where possible; changes rotation modes",
    )


def _add_checks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--verify",
        metavar="SAMPLE|ALL|NONE",
        type=str.upper,
        choices=(VERIFY_SAMPLE, VERIFY_ALL, VERIFY_NOTHING),
        default=VERIFY_SAMPLE,
        help="play back a sample of the frames and measure them, all, or none (default: SAMPLE)",
    )
    parser.add_argument(
        "--max-error",
        metavar="LENGTH",
        type=_length,
        help="exit with 1 if a tip, as solved or as played back, is further than this from its target",
    )


def _frames(text: str) -> tuple[int, int, int]:
    parts = text.split(":")
    try:
        numbers = [int(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3):
        raise argparse.ArgumentTypeError(f"'{text}' is not A:B or A:B:STEP, such as 1:250 or 1:250:2")
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 1


def _length(text: str) -> float:
    try:
        length = float(text)
    except ValueError:
        length = -1.0
    if not 0.0 <= length < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a length of zero or more")
    return length


def _bake(options: argparse.Namespace) -> int:
    _refuse_empty("--output", options.output)
    _refuse_empty("--report", options.report)
    if "scene" in options:
        _open(options.scene, options.enable_autoexec)
    elif not bpy.data.filepath:
        raise IK2DError("no .blend file is open; name an existing one before --command")
    output = os.path.abspath(bpy.data.filepath if options.output is None else options.output)
    _check_can_write(output)
    if options.report is not None:
        _check_can_write(os.path.abspath(options.report))
        _check_report(options.report, output)
    armatures = _armatures(options)
    _leave_edit_mode(armatures)
    reports = [_bake_armature(armature, options) for armature in _in_order(armatures, options)]
    for report in reports:
        _print(report)
    with nullcontext() if options.report is None else _report_written(options.report, output, reports):
        _save(output)
    left_out = sum(len(report.left_out) for report in reports)
    return _exit_code(max(report.max_error for report in reports), left_out, options.max_error)


def _print(report: BakeReport) -> None:
    print(f"ik2d: {report.armature}: {report.sentence()}")
    for chain in report.chains:
        print(f"ik2d:   {chain.name} ({chain.solver}, {len(chain.bones)} bones): {chain.sentence()}")
    for warning in report.warnings:
        print(f"ik2d: warning: {warning}", file=sys.stderr)


def _exit_code(worst: float, left_out: int, allowed: float | None) -> int:
    if allowed is None or (worst <= allowed and not left_out):
        return EXIT_DONE
    if left_out:
        print(f"ik2d: {left_out} faulty chain(s) left out, so --max-error does not hold", file=sys.stderr)
        return EXIT_OVER_MAX_ERROR
    print(
        f"ik2d: the largest distance from a tip to its target, {worst:.6g}, is over --max-error {allowed:g}",
        file=sys.stderr,
    )
    return EXIT_OVER_MAX_ERROR


def _refuse_empty(option: str, path: str | None) -> None:
    # As a script writes it whose variable is not set; it must not mean "over the scene itself".
    if path == "":
        raise IK2DError(f"{option} is given without a name; name a file, or leave {option} out")


def _open(path: str, trusted: bool) -> None:
    if not os.path.isfile(path):
        raise IK2DError(f"there is no file '{path}'; name an existing .blend file")
    trust = {"use_scripts": True} if trusted else {}  # else as the preferences have it
    with _noted_loads() as loaded:
        try:
            bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path), load_ui=False, **trust)
        except RuntimeError as error:
            words = " ".join(str(error).removeprefix("Error: ").split())
            if not loaded:
                raise IK2DError(
                    f"'{path}' cannot be opened as a .blend file ({words}); name another one"
                ) from None
            # Blender has opened and mended it, and calls that an error all the same.
            print(f"ik2d: warning: '{path}': {words}", file=sys.stderr)


@contextmanager
def _noted_loads() -> Iterator[list[str]]:
    """Yield a list that gets the name of each file that is opened meanwhile."""
    loaded: list[str] = []

    @bpy.app.handlers.persistent
    def note(*_: object) -> None:
        loaded.append(bpy.data.filepath)

    bpy.app.handlers.load_post.append(note)
    try:
        yield loaded
    finally:
        bpy.app.handlers.load_post.remove(note)


def _leave_edit_mode(armatures: Sequence[bpy.types.Object]) -> None:
    """Leave Edit Mode, as Blender does with its edits written back, where armatures were saved in it."""
    objects = bpy.context.view_layer.objects
    active = objects.active
    for armature in armatures:
        if armature.type != 'ARMATURE' or not armature.data.is_editmode:
            continue
        for ob in [ob for ob in objects if ob.data == armature.data and ob.mode == 'EDIT']:
            objects.active = ob
            bpy.ops.object.mode_set(mode='OBJECT')
            print(f"ik2d: '{ob.name}' was in Edit Mode; it is in Object Mode now")
    objects.active = active


def _check_can_write(path: str) -> None:
    """Raise IK2DError before any work is done, rather than after."""
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        raise IK2DError(f"'{path}' is a folder; name a file to write")
    if not os.path.isdir(folder):
        raise IK2DError(
            f"there is no folder '{folder}' to write '{os.path.basename(path)}' to; make it first"
        )
    if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        raise IK2DError(f"'{path}' cannot be written; choose another place, or mend its permissions")


def _check_report(report: str, output: str) -> None:
    """Raise IK2DError for a report that would take the place of a .blend."""
    blends = bpy.data.filepath, output
    written = report, f"{report}{_UNFINISHED}"
    if any(_same_file(path, blend) for path in written for blend in blends):
        raise IK2DError(f"--report '{report}' would overwrite the .blend; choose another name for it")
    if _BLEND.search(os.path.realpath(report)):
        raise IK2DError(
            f"--report '{report}' has the name of a .blend; choose one that ends in .json or .csv"
        )


def _same_file(path: str, other: str) -> bool:
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def _armatures(options: argparse.Namespace) -> list[bpy.types.Object]:
    if options.armature is not None:
        armature = bpy.context.scene.objects.get(options.armature) or bpy.data.objects.get(options.armature)
        if armature is None:
            known = ", ".join(f"'{o.name}'" for o in bpy.data.objects if o.type == "ARMATURE") or "none"
            raise IK2DError(f"there is no armature '{options.armature}'; the file's armatures are: {known}")
        return [armature]
    armatures = [o for o in bpy.context.scene.objects if o.type == "ARMATURE"]
    if options.chains:
        found = [o for o in armatures if any(name in _chain_names(o) for name in options.chains)]
    else:
        found = [o for o in armatures if any(chain.enabled for chain in o.ik2d.chains)]
    if not found:
        wanted = (
            f"chain named {' or '.join(map(repr, options.chains))}" if options.chains else "enabled chain"
        )
        raise IK2DError(
            f"no armature of the scene has a {wanted}; add chains in the IK 2D tab of the sidebar"
        )
    return found


def _in_order(armatures: list[bpy.types.Object], options: argparse.Namespace) -> list[bpy.types.Object]:
    """Return the armatures so that each comes after those that move its targets or its roots."""
    if len(armatures) < 2:
        return armatures
    now = [bpy.context.scene.frame_float]
    return armatures_in_order(
        [rig for armature in armatures for rig in read_rigs(armature, _wanted(armature, options), now)[0]]
    )


def _wanted(armature: bpy.types.Object, options: argparse.Namespace) -> list[str] | None:
    """Return the names of the armature's chains to bake; None for all that are enabled."""
    if options.chains and options.armature is None:
        return _names_on(armature, options.chains)
    names: list[str] | None = options.chains
    return names


def _bake_armature(armature: bpy.types.Object, options: argparse.Namespace) -> BakeReport:
    start, end, step = options.frames
    return bake(
        armature,
        _wanted(armature, options),
        start,
        end,
        step,
        options=BakeOptions(
            verify=options.verify,
            reduce=options.reduce,
            on_target_keys=options.target_keys,
            single_axis=options.single_axis,
        ),
        progress=_ProgressLine(armature.name),
    )


def _names_on(armature: bpy.types.Object, names: list[str]) -> list[str]:
    """Return the names that this armature has; raise IK2DError for one that none has."""
    armatures = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
    for name in names:
        if not any(name in _chain_names(ob) for ob in armatures):
            raise IK2DError(f"no armature of the scene has a chain '{name}'")
    return [name for name in names if name in _chain_names(armature)]


def _chain_names(armature: bpy.types.Object) -> list[str]:
    return [chain.name for chain in armature.ik2d.chains]


class _ProgressLine:
    """Prints how far a long bake is, now and then."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = time.monotonic() + _PROGRESS_AFTER

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            print(f"ik2d: {self._name}: {done} of {total} frames", flush=True)
            self._next = time.monotonic() + _PROGRESS_EVERY


def _save(path: str) -> None:
    try:
        bpy.ops.wm.save_as_mainfile(filepath=path, compress=_is_compressed(bpy.data.filepath))
    except (RuntimeError, OSError) as error:
        raise IK2DError(f"'{path}' could not be saved: {str(error).strip()}") from None


def _is_compressed(path: str) -> bool:
    """Return whether the .blend that is open is compressed, so that saving keeps it so."""
    with open(path, "rb") as file:
        return not file.read(7).startswith(b"BLENDER")


@contextmanager
def _report_written(path: str, output: str, reports: list[BakeReport]) -> Iterator[None]:
    """Write the report beside its place before the scene is saved, and put it there afterwards.

    So a full disk is found before the scene is touched, and no half report is left behind.
    """
    part = f"{path}{_UNFINISHED}"
    with ExitStack() as cleaning:
        try:
            with open(part, "w", encoding="utf-8", newline="") as file:
                cleaning.callback(_remove, part)
                _write_report(file, path.lower().endswith(".csv"), output, reports)
        except OSError as error:
            raise IK2DError(
                f"the report '{path}' could not be written ({error.strerror}), so nothing is saved;"
                " choose another place"
            ) from None
        yield
        try:
            os.replace(part, path)
        except OSError as error:
            raise IK2DError(
                f"'{output}' is saved, but the report '{path}' could not be written ({error.strerror});"
                " choose another place"
            ) from None


def _remove(path: str) -> None:
    with suppress(OSError):  # it is gone where all went well
        os.remove(path)


def _write_report(file: TextIO, as_table: bool, output: str, reports: list[BakeReport]) -> None:
    if as_table:
        _write_table(file, reports)
        return
    content = {
        "file": os.path.basename(output),
        "armatures": [report.to_dict() for report in reports],
    }
    json.dump(content, file, indent=1, allow_nan=False)


def _write_table(file: TextIO, reports: list[BakeReport]) -> None:
    """Write one row a frame of each chain, under the columns' names."""
    rows = [row for report in reports for chain in report.chains for row in chain.rows()]
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
