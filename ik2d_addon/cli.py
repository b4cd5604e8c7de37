# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, one parser for both of its doors.

`blender --background SCENE.blend --command ik2d bake` where the extension is installed, and
`python -m ik2d_addon bake SCENE.blend` with the bpy module.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence

import bpy

from .bake import BakeReport, bake
from .core import IK2DError

EXIT_DONE, EXIT_OVER_MAX_ERROR, EXIT_BAD_INPUT = 0, 1, 2
# A bake quicker than this needs no progress line.
_PROGRESS_AFTER, _PROGRESS_EVERY = 2.0, 1.0  # seconds

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
    options = _parser(opens_scene).parse_args(list(arguments))
    try:
        return _bake(options)
    except IK2DError as error:
        print(f"ik2d: error: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT


def _parser(opens_scene: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ik2d_addon" if opens_scene else "blender SCENE.blend --command ik2d",
        description="Drive planar bone chains with exact 2D inverse kinematics.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    bake_parser = commands.add_parser(
        "bake",
        help="key the bone rotations that follow the targets",
        description="Key the bone rotations that bring each chain's tip to its target, and save the file.",
        epilog="Exit code 0: all done. 1: done, but a residual is over --max-error. 2: bad input.",
        allow_abbrev=False,
    )
    add = bake_parser.add_argument
    if opens_scene:
        add("scene", metavar="SCENE.blend", help="the file to bake")
    add("--armature", metavar="NAME", help="armature to bake (default: all that have enabled chains)")
    add(
        "--chain",
        metavar="NAME",
        action="append",
        dest="chains",
        help="chain to bake, repeatable (default: all enabled)",
    )
    add(
        "--frames",
        metavar="A:B[:STEP]",
        type=_frames,
        default=(None, None, 1),
        help="frames to bake, both ends included (default: the scene's range)",
    )
    add("--output", metavar="OUT.blend", help="file to save (default: over the scene itself)")
    add("--report", metavar="OUT.json", help="also write what came of each frame as JSON")
    add(
        "--max-error",
        metavar="LENGTH",
        type=_length,
        help="exit with 1 if a tip is further than this from its target",
    )
    return parser


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
    if "scene" in options:
        _open(options.scene)
    elif not bpy.data.filepath:
        raise IK2DError("no .blend file is open; name an existing one before --command")
    output = os.path.abspath(options.output or bpy.data.filepath)
    for path in filter(None, (output, options.report)):
        _check_can_write(os.path.abspath(path))
    reports = [_bake_armature(armature, options) for armature in _armatures(options)]
    for report in reports:
        print(f"ik2d: {report.armature}: {report.sentence()}")
        for chain in report.chains:
            print(f"ik2d:   {chain.name} ({chain.solver}, {len(chain.bones)} bones): {chain.sentence()}")
        for warning in report.warnings:
            print(f"ik2d: warning: {warning}", file=sys.stderr)
    _save(output)
    if options.report:
        _write_json(options.report, reports)
    worst = max(report.max_residual for report in reports)
    over = options.max_error is not None and worst > options.max_error
    if over:
        print(
            f"ik2d: the largest residual, {worst:.6g}, is over --max-error {options.max_error:g}",
            file=sys.stderr,
        )
    return EXIT_OVER_MAX_ERROR if over else EXIT_DONE


def _open(path: str) -> None:
    if not os.path.isfile(path):
        raise IK2DError(f"there is no file '{path}'; name an existing .blend file")
    try:
        bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path), load_ui=False)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0].removeprefix("Error: ")
        raise IK2DError(f"'{path}' cannot be opened as a .blend file ({reason}); name another one") from None


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


def _armatures(options: argparse.Namespace) -> list[bpy.types.Object]:
    if options.armature is not None:
        armature = bpy.context.scene.objects.get(options.armature) or bpy.data.objects.get(options.armature)
        if armature is None:
            known = ", ".join(f"'{o.name}'" for o in bpy.data.objects if o.type == "ARMATURE") or "none"
            raise IK2DError(f"there is no armature '{options.armature}'; the file's armatures are: {known}")
        return [armature]
    armatures = [o for o in bpy.context.scene.objects if o.type == "ARMATURE"]
    if options.chains:
        found = [o for o in armatures if any(name in o.ik2d.chains for name in options.chains)]
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


def _bake_armature(armature: bpy.types.Object, options: argparse.Namespace) -> BakeReport:
    start, end, step = options.frames
    names = options.chains
    if names and options.armature is None:
        names = _names_on(armature, names)
    return bake(armature, names, start, end, step, progress=_ProgressLine(armature.name))


def _names_on(armature: bpy.types.Object, names: list[str]) -> list[str]:
    """Return the names that this armature has; raise IK2DError for one that none has."""
    for name in names:
        if not any(o.type == "ARMATURE" and name in o.ik2d.chains for o in bpy.context.scene.objects):
            raise IK2DError(f"no armature of the scene has a chain '{name}'")
    return [name for name in names if name in armature.ik2d.chains]


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
    except RuntimeError as error:
        raise IK2DError(f"'{path}' could not be saved: {str(error).strip()}") from None


def _is_compressed(path: str) -> bool:
    """Return whether the .blend that is open is compressed, so that saving keeps it so."""
    with open(path, "rb") as file:
        return not file.read(7).startswith(b"BLENDER")


def _write_json(path: str, reports: list[BakeReport]) -> None:
    """Write the report whole or not at all."""
    content = {
        "file": os.path.basename(bpy.data.filepath),
        "armatures": [report.to_dict() for report in reports],
    }
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1, allow_nan=False)
    os.replace(part, path)
