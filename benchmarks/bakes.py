# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: ours, verified as always, against an IK constraint with Blender's own nla.bake."""

import tracemalloc
from dataclasses import dataclass

import bpy
import numpy as np

from ik2d_addon.rig.animation.versions import existing_fcurves

from . import scenes
from .bakers import bake_ours, nla_bake
from .peak import resident
from .table import Table, ratio, small
from .timing import say, time_of

MIB = 1024.0 * 1024.0
# So many frames of all chains are measured in a process of their own, too.
LARGE = 100_000
# What nla.bake keys: the rotations alone, as ours, or all that it would by default.
ALIKE, DEFAULT = {'ROTATION'}, {'LOCATION', 'ROTATION', 'SCALE', 'BBONE', 'PROPS'}


@dataclass(frozen=True)
class Sizes:
    """How much to bake."""

    frames: int = 1000
    meshes: int = 40
    heavy_frames: int = (
        12  # of nla.bake next to heavy meshes; its time is taken as that many times the frames
    )
    rounds: int = 12
    many_frames: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    many_chains: tuple[int, ...] = (1, 10, 100)
    many_of_both: tuple[tuple[int, int], ...] = ((100, 10_000), (1_000, 100))  # chains and frames
    few_frames: tuple[int, int] = (200, 20)  # chains and frames
    crowd: tuple[int, int, int] = (50, 4, 100)  # armatures, their chains, and frames
    many_bakes: tuple[int, ...] = (20, 200, 2_000)  # in one process, each of so many frames:
    frames_again: int = 20


@dataclass(frozen=True)
class Speedup:
    """One comparison for the plot: how many times faster ours is."""

    name: str
    factor: float


def against_blender(sizes: Sizes) -> tuple[Table, list[Speedup]]:
    """Bake some rigs both ways."""
    (many, few), (armatures, limbs, frames) = sizes.few_frames, sizes.crowd
    cases = (
        ("ten chains of two bones", sizes.frames, lambda: [scenes.chains(10, 2, sizes.frames)]),
        ("one chain of ten bones", sizes.frames, lambda: [scenes.chains(1, 10, sizes.frames)]),
        ("one chain of two bones", sizes.frames, lambda: [scenes.chains(1, 2, sizes.frames)]),
        (f"{many} chains of two bones", few, lambda: [scenes.chains(many, 2, few)]),
        (f"{armatures} characters of {limbs} limbs", frames, lambda: scenes.crowd(armatures, limbs, frames)),
    )
    rows, speedups = [], []
    for name, count, added in cases:
        say(f"bakes: {name}")
        row, factor = _compared(f"{name}, {count:,} frames", added(), count, sizes.rounds)
        rows.append(row)
        speedups.append(Speedup(name, factor))
    row, factor = _next_to_meshes(sizes)
    rows.append(row)
    speedups.append(Speedup(f"one chain of two bones next to {sizes.meshes} meshes", factor))
    header = [
        "scene",
        "nla.bake / IK 2D",
        "with its defaults",
        "curves, keys",
        "IK 2D off by",
        "IK constraint off by",
    ]
    return Table(
        "Bakes: IK 2D against an IK constraint with nla.bake", _NOTE.format(s=sizes), header, rows
    ), speedups


def _compared(
    name: str, armatures: list[bpy.types.Object], frames: int, rounds: int
) -> tuple[list[str], float]:
    times: dict[str, list[float]] = {"ours": [], "nla": [], "nla default": []}
    for _ in range(rounds):
        times["ours"].append(time_of(lambda: bake_ours(armatures[0], frames, all_selected=True)))
        ours = _extent(armatures), max(scenes.played_back(armature, frames) for armature in armatures)
        scenes.clear_animation(*armatures)
        for key, channels in (("nla default", DEFAULT), ("nla", ALIKE)):
            with scenes.ik_constraints(*armatures):
                times[key].append(time_of(lambda channels=channels: nla_bake(frames, channels)))
            theirs = _extent(armatures), max(scenes.played_back(armature, frames) for armature in armatures)
            scenes.clear_animation(*armatures)
    assert ours[0] == theirs[0], f"not alike: {ours[0]} and {theirs[0]} curves and keys"
    factor, default = (_times_longer(times[key], times["ours"]) for key in ("nla", "nla default"))
    extent = f"{ours[0][0]}, {ours[0][1]:,}"
    return [
        name,
        ratio(factor),
        ratio(default),
        extent,
        small(ours[1]),
        small(theirs[1]),
    ], factor


def _times_longer(theirs: list[float], ours: list[float]) -> float:
    """Return the median over the rounds: both sides of a round meet the same noise."""
    return float(np.median(np.array(theirs) / np.array(ours)))


def _next_to_meshes(sizes: Sizes) -> tuple[list[str], float]:
    """Bake next to heavy meshes; Blender does fewer frames, and its time is scaled up."""
    say(f"bakes: next to {sizes.meshes} heavy meshes")
    armature = scenes.chains(1, 2, sizes.frames)
    empty = min(_timed_ours(armature, sizes.frames) for _ in range(4 * sizes.rounds))
    scenes.add_meshes(sizes.meshes, sizes.frames)
    heavy = min(_timed_ours(armature, sizes.frames) for _ in range(4 * sizes.rounds))
    with scenes.ik_constraints(armature):
        whole, part = (time_of(lambda end=end: nla_bake(end, ALIKE)) for end in (sizes.heavy_frames, 1))
    theirs = (whole - part) / (sizes.heavy_frames - 1) * sizes.frames
    scenes.clear_animation(armature)
    name = (
        f"one chain of two bones, {sizes.frames:,} frames, next to {sizes.meshes} heavy meshes"
        f" (IK 2D: {ratio(heavy / empty)} times what it takes without them)"
    )
    return [name, ratio(theirs / heavy), "-", "-", "-", "-"], theirs / heavy


def growth(sizes: Sizes) -> tuple[Table, dict[str, tuple[list[int], list[float]]]]:
    """Bake more and more frames, and more and more chains; measure time and memory."""
    rows: list[list[str]] = []
    curves: dict[str, tuple[list[int], list[float]]] = {"frames": ([], []), "chains": ([], [])}
    cases = [("frames", 1, frames) for frames in sizes.many_frames]
    cases += [("chains", count, sizes.frames) for count in sizes.many_chains]
    cases += [("", count, frames) for count, frames in sizes.many_of_both]
    unit = None
    for kind, count, frames in cases:
        say(f"bakes: {count} {'chain' if count == 1 else 'chains'}, {frames:,} frames")
        armature = scenes.chains(count, 2, frames)
        seconds = min(_timed_ours(armature, frames) for _ in range(_repeats(count * frames, sizes.rounds)))
        if kind:
            curves[kind][0].append(frames if kind == "frames" else count)
            curves[kind][1].append(seconds)
        each = seconds / (count * frames)
        unit = unit or each
        working = f"{_peak_memory(armature, frames) / MIB:,.0f} MiB"
        large = f"{resident(count, frames):,.0f} MiB" if count * frames >= LARGE else "-"
        rows.append([f"{count:,}", f"{frames:,}", ratio(each / unit), f"{seconds:.2g} s", working, large])
    header = ["chains of two bones", "frames", "time a frame and chain", "here", "working memory", "process"]
    return Table("Bakes: growth", _GROWTH_NOTE, header, rows), curves


def again(sizes: Sizes) -> Table:
    """Bake one chain over and over in one process; measure what the process then holds."""
    rows = []
    for bakes in sizes.many_bakes:
        say(f"bakes: {bakes:,} in one process")
        rows.append([f"{bakes:,}", f"{resident(1, sizes.frames_again, bakes):.1f} MiB"])
    return Table("Bakes: again and again", _AGAIN_NOTE.format(s=sizes), ["bakes", "process"], rows)


def _repeats(size: int, rounds: int) -> int:
    """Return how often to repeat a bake: long ones are less easily disturbed."""
    return max(1, min(rounds, 30_000 // size))


def _timed_ours(armature: bpy.types.Object, frames: int) -> float:
    seconds = time_of(lambda: bake_ours(armature, frames))
    scenes.clear_animation(armature)
    return seconds


def _peak_memory(armature: bpy.types.Object, frames: int) -> int:
    """Return the most bytes that Python and numpy held at once during a bake; keys are Blender's."""
    tracemalloc.start()
    try:
        bake_ours(armature, frames)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        scenes.clear_animation(armature)


def _extent(armatures: list[bpy.types.Object]) -> tuple[int, int]:
    """Return how many F-Curves and keys armatures have."""
    curves = [curve for armature in armatures for curve in existing_fcurves(armature)]
    return len(curves), sum(len(curve.keyframe_points) for curve in curves)


_NOTE = (
    "*nla.bake / IK 2D*: how many times longer Blender's bake takes than ours, each by its operator, both"
    " keying each frame's rotations of the same bones; *with its defaults* it keys"
    " location, scale and more too. Ours includes its default verification; the targets were moved by hand"
    " before. Both take turns; the numbers are medians of {s.rounds} rounds. *off by*: the largest"
    " distance from a tip to its target on twelve frames that Blender plays back, in reaches. A heavy mesh"
    " is a Suzanne with Subdivision 2 before an Armature modifier that moves it on each frame; there"
    " nla.bake bakes {s.heavy_frames} frames, and its time a frame is multiplied."
)
_GROWTH_NOTE = (
    "*time a frame and chain*: that of the first row is 1; *here*: of the whole bake, on this machine."
    " *working memory*: the most that Python and numpy held at once (tracemalloc), besides the keys, which"
    " are Blender's. *process*: what the bake added to the most that a process of its own held, with the"
    " keys and the copies of them that Blender evaluates."
)
_AGAIN_NOTE = (
    "One chain of two bones over {s.frames_again} frames, baked by the operator again and again, each time in"
    " place of the keys before. *process*: what all of these bakes together added to the most that a process"
    " of its own held."
)
