# SPDX-License-Identifier: GPL-3.0-or-later
"""What all commands that write one file share: it is opened and locked, saved in one step, then told."""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import bpy

from ...core import IK2DError
from ..console import complain, say
from ..exit_codes import DONE, NOT_HELD
from ..files import files, scene
from ..signals import asked_to_end, stop_if_asked
from .outcomes import FileOutcome, outcome_line

_PROGRESS_EVERY = 1.0  # seconds
# How lines are told: the result of an armature, that of one chain, a warning, an option that does not hold.
_BEFORE = {
    'RESULT': (say, "ik2d: {file}"),
    'CHAIN': (say, "ik2d: {file}  "),
    'WARNING': (complain, "ik2d: warning: {file}"),
    'NOT_HELD': (complain, "ik2d: "),
}


class Line(NamedTuple):
    """A line to print once the file is saved."""

    kind: str
    text: str

    def tell(self, file: str = "") -> None:
        """Print it, after the file's name where there are several."""
        tell, before = _BEFORE[self.kind]
        tell(before.format(file=f"{file}: " if file else "") + self.text)


@dataclass(frozen=True)
class Done:
    """The work on one file, which is to be saved."""

    lines: tuple[Line, ...]
    is_good: bool = True  # else the exit code says that --strict or --max-error does not hold
    outcome: FileOutcome | None = None  # of a bake
    saving: AbstractContextManager[None] = nullcontext()  # what is written together with the file


def written(options: argparse.Namespace, work: Callable[[str, ExitStack], Done]) -> int:
    """Open the file that the options name, work on it, save it, tell what was done, and return the exit code.

    work: from the path to save to, and what is to be held until all is saved. Where it raises IK2DError or
    Interrupted nothing is saved. Where the process was asked to end meanwhile, the code is that signal's.
    """
    refuse_empty("--output", options.output)
    with ExitStack() as held:
        output = held.enter_context(_opened(options))
        stop_if_asked()
        done = work(output, held)
        with done.saving:
            _save(output)
        say(f"ik2d: saved '{output}'")
        print_lines(done.lines)
        code = DONE if done.is_good else NOT_HELD
        unheld = [line.text for line in done.lines if line.kind == 'NOT_HELD']
        words = unheld[-1] if unheld else "; ".join(line.text for line in done.lines if line.kind == 'RESULT')
        if interrupted := asked_to_end():
            code, words = interrupted.exit_code, f"interrupted when '{output}' was saved already"
            complain(f"ik2d: {words}")
        if options.outcome:
            say(outcome_line(words, done.outcome))
        return code


def refuse_empty(option: str, path: str | None) -> None:
    """Raise IK2DError for an option whose value is empty."""
    # A script with an unset variable writes this; it must not mean "over the scene itself".
    if path == "":
        raise IK2DError(f"{option} is given without a name; name a file, or leave {option} out")


@contextmanager
def _opened(options: argparse.Namespace) -> Iterator[str]:
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


def armatures_of(options: argparse.Namespace, machines_too: bool = False) -> list[bpy.types.Object]:
    """Return the armatures that the options ask for; raise IK2DError without any.

    machines_too: whether one with mechanisms alone counts where no options name these.
    """
    if options.armature is not None:
        armature = bpy.context.scene.objects.get(options.armature) or bpy.data.objects.get(options.armature)
        if armature is None:
            known = ", ".join(f"'{o.name}'" for o in bpy.data.objects if o.type == 'ARMATURE') or "none"
            raise IK2DError(f"there is no armature '{options.armature}'; the file's armatures are: {known}")
        return [armature]
    armatures = [o for o in bpy.context.scene.objects if o.type == "ARMATURE"]
    machines = mechanism_names(options)
    if options.chains or machines:
        chosen = [o for o in armatures if any(name in _chain_names(o) for name in options.chains or ())]
        chosen += [o for o in armatures if o not in chosen and set(machines) & set(o.ik2d.mechanisms.keys())]
        for name in machines:
            if not any(name in o.ik2d.mechanisms for o in chosen):
                raise IK2DError(f"no armature of the scene has a mechanism '{name}'")
    else:
        takes = machines_too or hasattr(options, "mechanisms")
        chosen = [o for o in armatures if any(one.enabled for one in _parts(o, takes))]
    if not chosen and not options.chains:
        raise IK2DError(
            "no armature of the scene has an enabled chain; add chains in the IK 2D tab of the sidebar"
        )
    for name in options.chains or ():
        if not any(name in _chain_names(o) for o in chosen):
            raise IK2DError(f"no armature of the scene has a chain '{name}'; {_known_chains(armatures)}")
    return chosen


def _known_chains(armatures: Sequence[bpy.types.Object]) -> str:
    known = dict.fromkeys(f"'{name}'" for armature in armatures for name in _chain_names(armature))
    return f"the chains are: {', '.join(known) or 'none'}"


def names_wanted(armature: bpy.types.Object, options: argparse.Namespace) -> list[str] | None:
    """Return the names of the armature's chains to bake; None for all that are enabled."""
    if options.chains and options.armature is None:
        return [name for name in options.chains if name in _chain_names(armature)]
    return options.chains


def mechanism_names(options: argparse.Namespace) -> list[str]:
    """Return the names of the mechanisms that the options ask for."""
    return getattr(options, "mechanisms", None) or []


def mechanisms_wanted(armature: bpy.types.Object, options: argparse.Namespace) -> list[str] | None:
    """Return the names of the armature's mechanisms to bake; None as `bake` takes it."""
    if options.mechanisms and options.armature is None:
        return [name for name in options.mechanisms if name in armature.ik2d.mechanisms]
    return list(options.mechanisms or ()) or None


def _parts(armature: bpy.types.Object, takes_mechanisms: bool) -> list[bpy.types.PropertyGroup]:
    return [*armature.ik2d.chains, *(armature.ik2d.mechanisms if takes_mechanisms else ())]


def _chain_names(armature: bpy.types.Object) -> list[str]:
    return [chain.name for chain in armature.ik2d.chains]


def _save(output: str) -> None:
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


def print_lines(lines: Iterable[Line], file: str = "") -> None:
    """Print lines, each as its kind is told."""
    for line in lines:
        line.tell(file)


class ProgressLine:
    """Progress line of long work, printed now and then; stops it if the process was asked to end.

    tell: prints a line. after: seconds without one at the beginning.
    """

    def __init__(self, name: str, tell: Callable[[str], object], after: float) -> None:
        self._name, self._tell = name, tell
        self._next = time.monotonic() + after

    def __call__(self, done: int, total: int) -> None:
        stop_if_asked()
        if time.monotonic() >= self._next:
            self._tell(f"ik2d: {self._name}: {done} of {total} frames")
            self._next = time.monotonic() + _PROGRESS_EVERY
