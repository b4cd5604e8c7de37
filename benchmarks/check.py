# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.check [--short] [--write] [NAME ...]`: has anything become slower than it was?

Each speed is a ratio of two things that are done in turns in this process, ours first: a slower machine, or
one with other work to do, gives about the same. Of five rounds the median is held against the ratio in
docs/benchmarks.json; what has lost more than its bound is measured up to four times more, and if it has each
time, that is the exit code. --short: each round takes either side once, not the best of three. --write:
renews the file.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import bpy
from numpy.core._multiarray_umath import __cpu_features__

from ik2d_addon.core import Chain, solve_ccd, solve_ccd_path, solve_even, solve_two_bone

from . import c_port, clips, frames, linkages, plain_ccd, pose_tasks, scenes, walker
from .bakers import bake_ours, nla_bake
from .bakes import ALIKE
from .contestants import TOLERANCE, chain_of
from .problems import Problems, free, limited, paths
from .registration import registered
from .table import Table, ratio
from .timing import Task, processor_time_of

# numpy has a fast tangent with AVX-512 alone: without it arrays take up to twice their time, next to C.
_KIND = "" if __cpu_features__.get("AVX512_SKX") else "_avx2"
FILE = Path(__file__).resolve().parent.parent / "docs" / f"benchmarks{_KIND}.json"
ROUNDS, BEST_OF, AGAIN = 5, 3, 4
# How many times as much as committed a ratio may be. Ten short runs next to other work were at most 10 % off
# their median, but for single ones of 20 to 30 %.
BOUND = 1.25
# Frames of a bake; of one of many chains; and those that nla.bake does of the first next to heavy meshes.
FRAMES, FEW_FRAMES, HEAVY_FRAMES = 1000, 20, 4
# That of frames of a fraction of a millisecond, in which threads wait for one another.
FRAMES_BOUND = 1.5
# Rounds in 1,000 frames of targets with keys more often than usual.
FAST = 8.0
# Meshes that make a scene heavy: a bake that left its own scene would take several times as long.
MESHES = 10


@dataclass(frozen=True)
class Ratio:
    """Two things to do in turns: how much longer ours takes than theirs."""

    name: str
    make: Callable[[], tuple[Task, Task] | None]  # ours and theirs; None where one cannot be done here
    bound: float = BOUND
    per: float = 1.0  # how many times as many targets ours has: the ratio is that of one


@dataclass(frozen=True)
class Found:
    """A ratio as it was measured and as it is committed, None where it is not in the file."""

    name: str
    now: float
    before: float | None
    bound: float

    @property
    def has_lost(self) -> bool:
        """Whether it has become more than its bound allows, or has nothing to be held against."""
        return self.before is None or self.now > self.bound * self.before

    def row(self) -> list[str]:
        """Return its line of the table."""
        before = "-" if self.before is None else ratio(self.before)
        change = "-" if self.before is None else f"{100.0 * (self.now / self.before - 1.0):+.0f} %"
        allowed = f"{100.0 * (self.bound - 1.0):+.0f} %"
        return [self.name, before, ratio(self.now), change, allowed, "LOST" if self.has_lost else ""]


def measured(ratios: Sequence[Ratio], best_of: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median ratios of some rounds; those that cannot be measured here are left out."""
    found = {}
    for one in ratios:
        tasks = one.make()
        if tasks is not None:
            found[one.name] = median(_round(*tasks, best_of) for _ in range(rounds)) / one.per
    return found


def _round(ours: Task, theirs: Task, best_of: int) -> float:
    """Return the ratio of the shortest times, in turns."""
    times = [(processor_time_of(ours), processor_time_of(theirs)) for _ in range(best_of)]
    return min(mine for mine, _ in times) / min(others for _, others in times)


def compared(ratios: Sequence[Ratio], now: Mapping[str, float], before: Mapping[str, float]) -> list[Found]:
    """Return what was measured next to what is committed."""
    return [Found(r.name, now[r.name], before.get(r.name), r.bound) for r in ratios if r.name in now]


def checked(ratios: Sequence[Ratio], before: Mapping[str, float], best_of: int) -> list[Found]:
    """Measure, and measure up to four times more, and longer, what has lost: the lowest counts."""
    now = measured(ratios, best_of)
    for _ in range(AGAIN):
        lost = {found.name for found in compared(ratios, now, before) if found.has_lost}
        for name, again in measured([one for one in ratios if one.name in lost], BEST_OF).items():
            now[name] = min(now[name], again)
    return compared(ratios, now, before)


def table(found: Sequence[Found]) -> Table:
    """Return what was found as a table."""
    note = "How long ours takes, theirs being 1: lower is better."
    header = ["ours : theirs", "committed", "now", "change", "allowed", ""]
    return Table("Speed against docs/benchmarks.json", note, header, [one.row() for one in found])


# --- What is compared ---------------------------------------------------------


def _two_bone() -> tuple[Task, Task] | None:
    problems, compiled = free(2, 200_000), c_port.load()
    if compiled is None:
        return None
    chain = Chain(problems.lengths)
    return lambda: solve_two_bone(chain, problems.targets), lambda: compiled(
        problems.lengths, problems.targets
    )


def _batch(count: int) -> tuple[Task, Task]:
    problems = free(10, count)
    chain = Chain(problems.lengths)
    return lambda: solve_ccd(chain, problems.targets, start=problems.starts), _plain(free(10, 100))


def _even() -> tuple[Task, Task]:
    problems = free(10, 5_000)
    chain = Chain(problems.lengths)
    return lambda: solve_even(chain, problems.targets), _plain(free(10, 100))


def _plain(problems: Problems) -> Task:
    """Return plain CCD on independent targets."""
    lengths, rows = problems.lengths.tolist(), (problems.starts.tolist(), problems.targets.tolist())
    return lambda: [plain_ccd.solve(lengths, *row, TOLERANCE, 100) for row in zip(*rows, strict=True)]


def _path() -> tuple[Task, Task]:
    path = paths(10, 400)[1]
    chain, lengths = Chain(path.lengths), path.lengths.tolist()

    def plain() -> None:
        pose = path.starts[0].tolist()
        for target in path.targets.tolist():
            pose = plain_ccd.solve(lengths, pose, target, TOLERANCE, 100)

    return lambda: solve_ccd_path(chain, path.targets, start=path.starts[0]), plain


def _one_call() -> tuple[Task, Task]:
    problems = free(10, 100)
    chain, rows = Chain(problems.lengths), list(zip(problems.targets, problems.starts, strict=True))
    return lambda: [solve_ccd(chain, target, start=start) for target, start in rows], _plain(problems)


def _one_call_within() -> tuple[Task, Task]:
    problems = limited(6, 100)
    chain, lengths = chain_of(problems), problems.lengths.tolist()
    limits = [(-problems.limit, problems.limit)] * len(lengths)
    rows = list(zip(problems.starts.tolist(), problems.targets.tolist(), strict=True))

    def plain() -> None:
        for start, target in rows:
            plain_ccd.solve(lengths, start, target, TOLERANCE, 100, limits)

    solve_even(chain, problems.targets)  # what is kept of a chain
    return lambda: [solve_even(chain, target) for target in problems.targets], plain


def _growth(many: int, few: int) -> tuple[Task, Task]:
    long, short = free(200, few), free(10, many)
    chains = Chain(long.lengths), Chain(short.lengths)
    return (
        lambda: solve_ccd(chains[0], long.targets, start=long.starts),
        lambda: solve_ccd(chains[1], short.targets, start=short.starts),
    )


def _growth_of_even() -> tuple[Task, Task]:
    long, short = free(200, 1_000), free(10, 20_000)
    chains = Chain(long.lengths), Chain(short.lengths)
    return lambda: solve_even(chains[0], long.targets), lambda: solve_even(chains[1], short.targets)


def _bake(
    count: int,
    bones: int,
    frames: int = FRAMES,
    theirs: int | None = None,
    meshes: int = 0,
    every: int = scenes.KEY_EVERY,
) -> tuple[Task, Task]:
    """Return a bake by either side. theirs: the frames that nla.bake does; None: as many.

    every: frames from one key of a target to the next; with other than usual, these move faster, too.
    """
    armature = scenes.chains(count, bones, frames, every, 1.0 if every == scenes.KEY_EVERY else FAST)
    if meshes:
        scenes.add_meshes(meshes, frames)

    def bake() -> None:
        bake_ours(armature, frames)
        scenes.clear_animation(armature)

    def nla() -> None:
        with scenes.ik_constraints(armature):
            nla_bake(theirs or frames, ALIKE)
        scenes.clear_animation(armature)

    return bake, nla


def _human(frames: int) -> tuple[Task, Task]:
    """Return a bake of the four limbs of Rigify's human, adopted, and of those with their own constraints."""
    ours, theirs = scenes.humans(frames)
    own = theirs.animation_data.action

    def bake() -> None:
        with scenes.alone(ours):
            bpy.ops.ik2d.bake(frame_start=1, frame_end=frames)
            assert ours.ik2d.last_bake.startswith(f"Baked {frames} frames on 4 chains"), ours.ik2d.last_bake
            bpy.ops.ik2d.clear_bake()

    def nla() -> None:
        with scenes.alone(theirs, limbs=True):
            nla_bake(frames, ALIKE)
        made = theirs.animation_data.action
        theirs.animation_data.action = own
        bpy.data.actions.remove(made)

    return bake, nla


def _crowd(count: int, limbs: int, frames: int) -> tuple[Task, Task]:
    """Return a bake of many selected armatures by either side."""
    armatures = scenes.crowd(count, limbs, frames)

    def bake() -> None:
        bake_ours(armatures[0], frames, all_selected=True)
        assert all(armature.ik2d.last_bake for armature in armatures)
        scenes.clear_animation(*armatures)

    def nla() -> None:
        with scenes.ik_constraints(*armatures):
            nla_bake(frames, ALIKE)
        scenes.clear_animation(*armatures)

    return bake, nla


def _constrained(count: int, frames: int) -> tuple[Task, Task]:
    """Return a bake of limbs whose bones have constraints, so that Blender plays all of it back."""
    armature = scenes.constrained(count, frames)

    def bake() -> None:
        bake_ours(armature, frames)
        assert "reached" in armature.ik2d.last_bake, armature.ik2d.last_bake
        scenes.clear_animation(armature)

    def nla() -> None:
        with scenes.ik_constraints(armature):
            nla_bake(frames, ALIKE)
        scenes.clear_animation(armature)

    return bake, nla


RATIOS = (
    # By up to 40 % more where other work uses the memory, which arrays of this size wait for and C does not.
    Ratio("two bones, 200,000 targets : the article's function in C", _two_bone, 1.5),
    Ratio("ten bones, CCD, a target of 1,000 : one of plain CCD", lambda: _batch(1_000), per=10.0),
    Ratio("ten bones, Even, 5,000 targets : plain CCD, 100 targets", _even),
    Ratio("ten bones, CCD, a path of 400 frames : plain CCD", _path),
    Ratio("ten bones, CCD, one call a target : plain CCD", _one_call),
    *(
        Ratio(f"tips with angles, {kind}, one call each : version 1.0.0", partial(pose_tasks.single, kind))
        for kind in pose_tasks.KINDS
    ),
    Ratio("tips with angles, a path of 8 bones within limits : of tips alone", pose_tasks.along),
    Ratio("six bones within limits, Even, one call a target : plain CCD", _one_call_within),
    Ratio("200 bones, CCD, 400 targets : 10 bones, 8,000 targets", lambda: _growth(8_000, 400)),
    # From 0.5 to 0.8, by what has used the process's memory before.
    Ratio("200 bones, Even, 1,000 targets : 10 bones, 20,000 targets", _growth_of_even, 1.5),
    Ratio("ten links, 1,000 frames : pylinkage", linkages.against_pylinkage, FRAMES_BOUND),
    Ratio("ten links, 1,000 frames : two bones, 1,000 targets", linkages.against_two_bones, FRAMES_BOUND),
    Ratio("bake of ten chains of two bones : nla.bake", lambda: _bake(10, 2)),
    Ratio("bake of ten chains of two bones, keys every 10 frames : nla.bake", lambda: _bake(10, 2, every=10)),
    Ratio("bake of ten chains of two bones, keys on each frame : nla.bake", lambda: _bake(10, 2, every=1)),
    Ratio("bake of a Rigify human's four limbs, 200 frames : nla.bake", lambda: _human(200)),
    Ratio("bake of one chain of ten bones : nla.bake", lambda: _bake(1, 10)),
    Ratio("bake of 200 chains of two bones, 20 frames : nla.bake", lambda: _bake(200, 2, FEW_FRAMES)),
    Ratio("bake of 20 armatures of four chains, 100 frames : nla.bake", lambda: _crowd(20, 4, 100)),
    Ratio("bake of 100 actions of two chains, 60 frames : each by itself", lambda: clips.clips(100, 2, 60)),
    Ratio("bake of four limbs with constraints, 300 frames : nla.bake", lambda: _constrained(4, 300)),
    Ratio("bake of a walker of six Jansen legs, 250 frames : nla.bake of 18 chains", walker.tasks),
    Ratio("bake of 8 bones within limits and an angle, 20 frames : nla.bake", pose_tasks.baked),
    Ratio(
        "bake next to 10 heavy meshes : nla.bake of 4 frames",
        lambda: _bake(1, 2, theirs=HEAVY_FRAMES, meshes=MESHES),
    ),
    *(
        Ratio(f"live frames of {what} : IK", partial(frames.live, *given), FRAMES_BOUND)
        for what, given in (
            ("a chain of one bone", (1, 1)),
            ("a chain of two bones", (1, 2)),
            ("10 chains of two bones", (10, 2)),
            ("50 chains of two bones", (50, 2)),
            ("a chain of two bones within limits", (1, 2, True)),
            ("10 chains of two bones within limits", (10, 2, True)),
            ("a chain of ten bones", (1, 10)),
            ("10 chains of ten bones", (10, 10)),
            ("a chain of ten bones within limits", (1, 10, True)),
            ("10 chains of ten bones within limits", (10, 10, True)),
            ("a chain of two bones with a pole", (1, 2, False, True)),
            ("50 chains of two bones with poles", (50, 2, False, True)),
            ("50 chains of one bone", (50, 1)),
        )
    ),
    *(
        Ratio(
            f"live frames of {what}, nothing kept : IK",
            partial(frames.live, *given, first=True),
            FRAMES_BOUND,
        )
        for what, given in (
            ("a chain of two bones", (1, 2)),
            ("10 chains of two bones", (10, 2)),
            ("50 chains of two bones", (50, 2)),
            ("a chain of ten bones", (1, 10)),
            ("a chain of ten bones within limits", (1, 10, True)),
        )
    ),
    Ratio("live frames of ten straight bones, moving : IK", frames.live_straight, FRAMES_BOUND),
    Ratio(
        "live frames of ten straight bones, moving, nothing kept : IK",
        partial(frames.live_straight, first=True),
        FRAMES_BOUND,
    ),
    Ratio(
        "one target moved among 50 live chains : among 50 of IK", partial(frames.live_moved, 50), FRAMES_BOUND
    ),
    Ratio(
        "one target moved among 200 live chains : among 200 of IK",
        partial(frames.live_moved, 200),
        FRAMES_BOUND,
    ),
    *(
        Ratio(f"live frames of {what} : the same without", partial(frames.live_feet, *given), FRAMES_BOUND)
        for what, given in (
            ("a leg with a foot", (1,)),
            ("10 legs with feet", (10,)),
            ("10 legs with feet on a ground", (10, True)),
        )
    ),
    Ratio("live frames of a Rigify human, four adopted limbs : its own IK", frames.live_human, FRAMES_BOUND),
    *(
        Ratio(f"native frames of {what} : IK", partial(frames.native, *given), FRAMES_BOUND)
        for what, given in (
            ("a chain of two bones", (1, 2)),
            ("10 chains of two bones", (10, 2)),
            ("50 chains of two bones", (50, 2)),
            ("a chain of two bones within limits", (1, 2, True)),
            ("10 chains of two bones within limits", (10, 2, True)),
            ("50 chains of two bones within limits", (50, 2, True)),
            ("10 chains of eight bones", (10, 8)),
            ("10 chains of two bones with poles", (10, 2, False, True)),
            ("50 chains of two bones with poles", (50, 2, False, True)),
        )
    ),
    Ratio("a drag of two bones : IK's target moved", partial(frames.drag, 2, 'AUTO'), FRAMES_BOUND),
    Ratio(
        "a drag of ten bones within limits, CCD : IK's target moved",
        partial(frames.drag, 10, 'CCD', True),
        FRAMES_BOUND,
    ),
)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--short", action="store_true", help="each round takes either side once")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.json")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of the names to measure; all")
    given = parser.parse_args(words)
    ratios = [one for one in RATIOS if not given.names or any(name in one.name for name in given.names)]
    before = json.loads(FILE.read_text()) if FILE.exists() else {}
    with registered():
        if given.write:
            now = measured(ratios, BEST_OF)
            rounded = {name: float(f"{value:.3g}") for name, value in now.items()}
            before = {one.name: before[one.name] for one in RATIOS if one.name in before} | rounded
            FILE.write_text(json.dumps(before, indent=2) + "\n")
            found = compared(ratios, now, before)
        else:
            found = checked(ratios, before, 1 if given.short else BEST_OF)
    print(table(found).markdown(), flush=True)
    lost = [one.name for one in found if one.has_lost]
    for name in lost:
        print(f"Slower than it was: {name}", flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Python's own exit hangs or crashes in some bpy versions once property groups are registered.
    os._exit(code)
