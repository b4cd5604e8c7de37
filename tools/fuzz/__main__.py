# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tools.fuzz [options]`: hurt the command line, and bake random limbs and mechanisms.

Cases are drawn by a seed and a number; how many there are is a matter of time, or of --rounds. A failing
one is repeated with --case.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from . import results
from .results import BUILD

# The part of the time that each gets.
SHARES = {
    "damaged": 5,
    "options": 5,
    "environments": 4,
    "kills": 4,
    "two_at_once": 2,
    "settings": 3,
    "sequences": 6,
    "many": 4,
    "bakes": 12,
    "machines": 8,
}


def main() -> int:
    """Do what the command line asks for; return the exit code."""
    options = _parser().parse_args()
    if options.write:
        results.write(results.read(SHARES))
        return 0
    found = []
    try:
        for result in _results(options):
            found.append(result)
            if options.case or options.verbose or result.complaints:
                print(results.failure(result) if options.case else result, flush=True)
            if len(found) % 100 == 0:
                print(f"{len(found)} cases, {len(results.failures(found))} failed", flush=True)
    except KeyboardInterrupt:
        print("broken off")
    finally:
        if not options.case:
            results.save(found)
    failed = results.failures(found)
    print(f"\n{results.summary(found)}")
    if failed and not options.case:
        print(f"\nFailures: {BUILD}/*-failures.txt")
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    add = parser.add_argument
    add("--seed", type=int, default=1, metavar="N", help="which cases are drawn (1)")
    add("--minutes", type=float, default=5.0, metavar="M", help="how long, all parts together (5)")
    add("--short", action="store_const", const=1.0, dest="minutes", help="one minute")
    add("--rounds", type=int, metavar="N", help="so many cases of each part instead, however long it takes")
    add("--first", type=int, default=0, metavar="N", help="number of the first case (0)")
    add("--part", action="append", choices=SHARES, help="this part alone, repeatable (all)")
    add("--case", metavar="PART:N", help="this case alone, with what it printed; its files stay")
    add(
        "--blender",
        metavar="PATH",
        help="try this Blender's `--command ik2d` where a process of its own is run",
    )
    add(
        "--write",
        action="store_true",
        help="write the last results into docs/reliability.md, and run nothing",
    )
    add("--verbose", "-v", action="store_true", help="print each case, not the failures alone")
    return parser


def _results(options: argparse.Namespace) -> Iterator[results.Result]:
    """Run the cases that are asked for."""
    from importlib import import_module

    from . import forked, samples
    from .case import Case
    from .program import Program

    part, _, number = (options.case or "").partition(":")
    work = BUILD / (f"case-{part}-{number}" if options.case else f"work-{'-'.join(options.part or ['all'])}")
    forks = forked.Forks(work / "spool")
    files = samples.made(work / "samples", forks)
    program = Program((options.blender,), blender=True) if options.blender else Program()
    parts = [part] if options.case else options.part or list(SHARES)
    for name in parts:
        run = import_module(f".{name}", __package__).run
        made = partial(Case, name, options.seed, samples=files, program=program, blender=forks)
        numbers = [int(number)] if options.case else _numbers(name, parts, options)
        for i in numbers:
            case = made(i, work / name)
            result = run(case)
            if result.complaints:
                _keep(case.folder, BUILD / "failed" / f"{name}-{options.seed}-{i}")
            yield result


def _numbers(name: str, parts: list[str], options: argparse.Namespace) -> Iterator[int]:
    """Yield the numbers of a part's cases, as long as there is time."""
    if options.rounds is not None:
        yield from range(options.first, options.first + options.rounds)
        return
    share = SHARES[name] / sum(SHARES[part] for part in parts)
    end = time.monotonic() + 60.0 * options.minutes * share
    for number in count(options.first):
        if time.monotonic() > end:
            return
        yield number


def _keep(folder: Path, place: Path) -> None:
    """Keep the files of a failed case, to look at."""
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copytree(
            folder, place, symlinks=True, ignore=lambda folder, names: _special(Path(folder), names)
        )
    except shutil.Error:
        pass  # names that are too long, and the like


def _special(folder: Path, names: list[str]) -> set[str]:
    """Return the names that cannot be copied: pipes, devices and sockets."""
    paths = {name: folder / name for name in names}
    return {
        name for name, path in paths.items() if not (path.is_symlink() or path.is_file() or path.is_dir())
    }


@contextmanager
def _own_temporary_directory() -> Iterator[None]:
    """Let what Blender leaves behind lie in a folder of ours; before bpy is imported."""
    with tempfile.TemporaryDirectory(prefix="ik2d-fuzz-", ignore_cleanup_errors=True) as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        yield


if __name__ == "__main__":
    with _own_temporary_directory():
        code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The bpy module's own end can crash or hang.
    os._exit(code)
