# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs everything, and writes docs/benchmarks.md with its plots."""

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from . import (
    accuracy,
    adopting,
    bake_parts,
    bakes,
    bends,
    even,
    live,
    native,
    plots,
    region,
    smoothness,
    speed,
)
from .table import Table
from .versions import with_rows_of_others

# The tolerance that the plot of solved targets shows: what Blender's solver is content with.
PLOTTED_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Sizes:
    """How much of everything to measure."""

    bones: tuple[int, ...] = (2, 5, 10, 20, 50)
    targets: int = 400
    circle: int = 800
    two_bone_targets: int = 200_000
    path_frames: int = 1000
    rounds: int = 5
    growth_bones: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200)
    growth_frames: tuple[int, ...] = (100, 300, 1000, 3000, 10_000)
    many_bones: tuple[int, ...] = (3, 10, 50, 200)
    bends: int = 400
    starts: int = 50
    chains: int = 40
    paths: int = 400
    poses: int = 2000
    live_bones: tuple[int, ...] = (2, 10, 20)
    live_rounds: int = 4
    bake: bakes.Sizes = field(default_factory=bakes.Sizes)
    natively: native.Sizes = field(default_factory=native.Sizes)
    adopted: adopting.Sizes = field(default_factory=adopting.Sizes)


TOY = Sizes(
    bones=(2, 5),
    targets=5,
    circle=20,
    two_bone_targets=100,
    path_frames=20,
    rounds=1,
    growth_bones=(2, 10),
    growth_frames=(20, 40),
    many_bones=(3,),
    bends=5,
    starts=2,
    chains=5,
    paths=2,
    poses=20,
    live_bones=(2, 3, 4),
    live_rounds=1,
    bake=bakes.Sizes(
        frames=20,
        meshes=1,
        heavy_frames=2,
        rounds=1,
        many_frames=(20, 40),
        many_chains=(1, 2),
        many_of_both=((2, 30),),
        few_frames=(3, 5),
        crowd=(2, 2, 8),
        many_bakes=(1, 3),
    ),
    natively=native.TOY,
    adopted=adopting.TOY,
)


def run(sizes: Sizes, folder: Path) -> None:
    """Measure everything and write it into a folder: benchmarks.md and four plots."""
    document = folder / "benchmarks.md"
    before = document.read_text() if document.exists() else ""
    text = [_head()]
    for section in _sections(sizes, folder):
        text.append(section.markdown() if isinstance(section, Table) else section)
    text += [with_rows_of_others(table, before).markdown() for table in native.measure(sizes.natively)]
    document.write_text("\n".join(text))


def _sections(sizes: Sizes, folder: Path) -> Iterator[Table | str]:
    # The bakes first: later Blender's heap is in pieces, which costs both sides time.
    baked, speedups = bakes.against_blender(sizes.bake)
    bake_growth, bake_curves = bakes.growth(sizes.bake)
    baked_again = bakes.again(sizes.bake)
    parts = [
        bake_parts.measure(count, bones, sizes.bake.frames, sizes.bake.rounds)
        for count, bones in ((10, 2), (1, 10))
    ]
    plots.bakes(speedups, bake_curves, folder / "bakes.png")
    live_frames = live.measure(sizes.live_bones, min(sizes.circle, 100), sizes.live_rounds)
    results = accuracy.measure(sizes.bones, sizes.targets)
    plots.solved(results, sizes.bones, PLOTTED_TOLERANCE, folder / "solved.png")
    yield "![Share of targets reached, by number of bones](solved.png)\n"
    yield from (accuracy.table(result, sizes.bones, sizes.targets) for result in results)
    jumps, curves = smoothness.measure(sizes.bones, sizes.circle)
    plots.smooth(curves, folder / "smooth.png")
    yield jumps
    yield "![Turn of the joints from frame to frame](smooth.png)\n"
    yield from _of_even(sizes)
    yield from _of_limits(sizes)
    yield speed.two_bone(sizes.two_bone_targets, sizes.rounds)
    ten, unit = speed.chain_of_ten(sizes.path_frames, sizes.rounds)
    yield ten
    grown, growth = speed.growth(sizes.growth_bones, sizes.growth_frames, unit, sizes.rounds)
    plots.growth(growth, folder / "growth.png")
    yield grown
    yield "![Time over bones and frames](growth.png)\n"
    yield baked
    yield "![How many times faster than nla.bake](bakes.png)\n"
    yield bake_growth
    yield baked_again
    yield from parts
    yield bake_parts.LIMITS
    yield live_frames
    yield adopting.measure(sizes.adopted)


def _of_even(sizes: Sizes) -> Iterator[Table]:
    several = tuple(n for n in sizes.bones if n > 2)
    yield even.paths(sizes.bones, sizes.paths, max(sizes.circle // 2, 10))
    yield bends.measure(several, sizes.bends)
    yield even.energy(several, sizes.starts)
    yield even.turns(several, sizes.chains)
    yield even.times(sizes.many_bones, sizes.rounds)


def _of_limits(sizes: Sizes) -> Iterator[Table]:
    several = tuple(n for n in sizes.bones if n > 2)
    yield region.completeness((*sizes.bones, *sizes.many_bones[-1:]), sizes.chains // 4, sizes.chains)
    yield region.claims(sizes.chains, sizes.poses)
    yield region.paths(several, max(sizes.chains // 4, 1), sizes.circle)
    yield region.cost(sizes.many_bones, sizes.rounds)


def _head() -> str:
    return (
        "# Benchmarks\n\nWritten by `make bench`; `benchmarks/` is the code. All contestants get the same"
        f" seeded problems in one process (bpy {bpy.app.version_string}, Python {platform.python_version()},"
        f" {os.cpu_count()} processors). Times are ratios: those of a table come from the same run,"
        " contestants taking turns.\n\n- **IK 2D**: this extension. *all at once*: all targets in one call;"
        " *path*: each frame starts from the one before.\n- **plain CCD**: Cyclic Coordinate Descent as in"
        " Ryan Juckett's article, in pure Python (`benchmarks/plain_ccd.py`).\n- **C port**: the article's"
        " two-bone function in C (`benchmarks/two_bone.c`).\n- **IK constraint**: Blender's own, on a chain"
        " of bones whose plane stands askew in space, with its default settings; *locked to the plane*:"
        " with Lock IK X and Y on each bone, so that only turns about the plane's normal are left.\n"
    )
