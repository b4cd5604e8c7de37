# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tools.mutants [options]`: change the code in one small place, and see whether a test notices.

Runs a seeded sample of such mutants, each in a process of its own, on the tests that run the changed line.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# Forked processes share the processor; before numpy is imported anywhere.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from . import results
from .mutant import ROOT, Mutant, diff
from .results import BUILD, Result
from .sample import AREAS, NUMBERS, all_mutants, sample


def main() -> int:
    """Do what the command line asks for; return the exit code."""
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # ends the tests that run, too
    if options.markdown:
        print(results.markdown(results.read(BUILD / "results.json")))
        return 0
    mutants = _chosen(options)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.name}  {mutant.before} -> {mutant.after}")
        return 0
    if options.mutant:
        print(diff(mutants[0], _source(mutants[0])), flush=True)
    found = _run(mutants, options)
    if not options.mutant:
        results.save(found)
        print(f"\n{results.summary(found)}\n\nSurvivors: {BUILD / 'survivors.txt'}")
    return int(options.fail_under is not None and results.score(found) < options.fail_under)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    add = parser.add_argument
    for area, number in NUMBERS.items():
        folders = ", ".join(AREAS[area])
        add(f"--{area}", type=int, default=number, metavar="N", help=f"mutants of {folders} ({number})")
    add("--seed", type=int, default=1, metavar="S", help="which of all mutants are taken (1)")
    add("--jobs", type=int, default=os.cpu_count(), metavar="J", help="processes at a time (all cores)")
    add("--only", type=Path, default=ROOT, metavar="PATH", help="take mutants of this file or folder alone")
    add(
        "--again",
        nargs="?",
        type=Path,
        const=BUILD / "survivors.json",
        metavar="FILE",
        help="run those in FILE instead (the last run's survivors)",
    )
    add("--mutant", metavar="NAME", help="run this one alone, and show its diff and what the tests say")
    add("--list", action="store_true", help="name the mutants, and run nothing")
    add("--markdown", action="store_true", help="print the last run's results as Markdown, and run nothing")
    add("--fail-under", type=float, metavar="P", help="exit with 1 if less than P percent are killed")
    return parser


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    """Return the mutants that the options ask for."""
    everything = {mutant.name: mutant for mutant in all_mutants(options.only.resolve())}
    if options.mutant:
        if options.mutant not in everything:
            sys.exit(f"no mutant {options.mutant}; --list names those of a sample")
        return [everything[options.mutant]]
    if options.again:
        names = [result.mutant.name for result in results.read(options.again)]
        if gone := [name for name in names if name not in everything]:
            print(f"{len(gone)} are not in the source any more: {', '.join(gone)}")
        return [everything[name] for name in names if name in everything]
    samples = [sample(everything.values(), area, getattr(options, area), options.seed) for area in AREAS]
    return [mutant for own in samples for mutant in own]


def _source(mutant: Mutant) -> str:
    return (ROOT / mutant.path).read_text(encoding="utf-8")


def _run(mutants: Sequence[Mutant], options: argparse.Namespace) -> list[Result]:
    """Run the mutants and say what comes of each; return it, in their order.

    A sample that was broken off goes on where it was.
    """
    from . import covering, run

    os.chdir(ROOT)
    began, tests = time.monotonic(), covering.load(options.jobs)
    key = covering.fingerprint("covering.py", "plugins.py", "mutant.py", "operators.py")[:16]
    found = {} if options.again or options.mutant else results.kept(key)
    found = {mutant.name: found[mutant.name] for mutant in mutants if mutant.name in found}
    print(
        f"{len(mutants)} mutants" + (f", {len(found)} of them known from before" if found else ""), flush=True
    )
    left = [mutant for mutant in mutants if mutant.name not in found]
    for result in run.outcomes(left, tests, options.jobs, show=bool(options.mutant)):
        found[result.mutant.name] = result
        results.keep(result, key)
        print(f"[{len(found):3}/{len(mutants)}] {result}", flush=True)
    print(f"{len(left)} mutants run in {time.monotonic() - began:.0f} s")
    return [found[mutant.name] for mutant in mutants]


if __name__ == "__main__":
    sys.exit(main())
