# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains next to Blender's IK constraint: how exact they are, and what a frame costs.

`make bench` measures this in its Blender, and keeps the rows that docs/benchmarks.md has of others. They
come from `python -m benchmarks.native` with the module bpy of their version, or in Blender itself:

    blender --background --factory-startup --python-expr \
        "import sys; sys.path.insert(0, '.'); from benchmarks.native import main; main([])"
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

import ik2d_addon
from ik2d_addon.features.native import make_native
from ik2d_addon.ui.settings.joint_list import sync_joints

from .native_rigs import Rig, Shape, alike, build, name, random_shapes, remove
from .problems import LIMIT, Floats
from .table import Table, percent, ratio, small
from .timing import say, time_of
from .versions import write

STILL, MOVING, IK, NATIVE = "nothing moves", "targets alone", "IK constraint", "native"
WITHIN = ", within limits"
# The sine of a bend to the other side that is more than rounding.
_FLIPPED = 0.002


@dataclass(frozen=True)
class Sizes:
    """How much to measure."""

    rigs: int = 400
    targets: int = 20
    chains: tuple[int, ...] = (1, 10, 50)
    longer: tuple[int, ...] = (8,)  # bones
    frames: int = 100
    rounds: int = 20


TOY = Sizes(rigs=4, targets=2, chains=(1, 2), longer=(3,), frames=4, rounds=1)


def measure(sizes: Sizes) -> list[Table]:
    """Measure in this Blender; return a table of exactness and one of cost."""
    return [exactness(sizes), cost(sizes)]


@dataclass(frozen=True, eq=False)
class Aims:
    """Targets for the chains of a rig, in their planes' frames: (rounds, chains, 3), z off the plane."""

    kind: str
    points: Floats


@dataclass(frozen=True, eq=False)
class Answers:
    """What came of aims: the distance of each tip from its target, and which chains bent the other way."""

    misses: Floats
    flipped: Floats

    def cells(self) -> list[str]:
        """Return them as cells of the table."""
        rms = float(np.sqrt((self.misses**2).mean()))
        worst, middle = float(self.misses.max()), float(np.median(self.misses))
        return [small(worst), small(rms), small(middle), percent(float(self.flipped.mean()))]


def exactness(sizes: Sizes) -> Table:
    """Return how far evaluated tips are from their targets."""
    shapes = random_shapes(sizes.rigs, seed=12)
    all_aims = list(_aims(shapes, sizes.targets))
    cells: dict[str, list[str]] = {aims.kind: [] for aims in all_aims}
    for kind, drive in ((NATIVE, _drive), (IK, constrain)):
        say(f"native: exactness of {kind}, {len(shapes)} chains")
        rig = build(shapes, drive)
        for aims in all_aims:
            leaves_plane = kind == IK and "plane" in aims.kind
            cells[aims.kind] += ["-"] * 4 if leaves_plane else _answers(rig, aims).cells()
        remove(rig)
    columns = ("worst", "rms", "median", "other side")
    header = ["Blender", "targets", *(f"{kind}: {column}" for kind in (NATIVE, IK) for column in columns)]
    rows = [[bpy.app.version_string, kind, *row] for kind, row in cells.items()]
    note = _EXACTNESS.format(rigs=sizes.rigs, targets=sizes.targets)
    return Table("Native: exactness", note, header, rows)


def _aims(shapes: Sequence[Shape], rounds: int) -> Iterator[Aims]:
    """Yield targets of each kind for chains whose reach is 1."""
    rng = np.random.default_rng(8)
    size = (rounds, len(shapes))
    inner = np.array([abs(shape.lengths[0] - shape.lengths[1]) for shape in shapes])
    near = 10.0 ** rng.uniform(-6.0, -2.0, size)
    anywhere = np.sqrt(rng.uniform(inner**2, 1.0, size))
    for kind, radius, off in (
        ("in reach", anywhere, 0.0),
        ("near full reach", 1.0 - near, 0.0),
        ("near the inner reach", inner + near * (1.0 - inner), 0.0),
        ("off the plane", anywhere, rng.uniform(-0.5, 0.5, size)),
    ):
        angle = rng.uniform(-np.pi, np.pi, size)
        points = [radius * np.cos(angle), radius * np.sin(angle), np.broadcast_to(off, size)]
        yield Aims(kind, np.stack(points, axis=-1))


def _answers(rig: Rig, aims: Aims) -> Answers:
    """Have the tips follow; the distance is that to the point of the plane that is nearest to the target."""
    misses, flipped = [], []
    for points in aims.points:
        planes = rig.planes()
        for target, plane, point in zip(rig.targets, planes, points, strict=True):
            target.location = plane @ Vector(point)
        rig.update()
        for k, (plane, (x, y, _)) in enumerate(zip(planes, points, strict=True)):
            joints = rig.joints(k)
            misses.append(np.linalg.norm(joints[-1] - np.array(plane @ Vector((x, y, 0.0)))))
            flipped.append(_is_flipped(rig.shapes[k], joints, np.array(plane.col[2].xyz)))
    return Answers(np.array(misses), np.array(flipped, np.float64))


def _is_flipped(shape: Shape, joints: Floats, normal: Floats) -> bool:
    """Return whether a chain bends to the other side than at rest."""
    first, second = (bone / np.linalg.norm(bone) for bone in np.diff(joints, axis=0))
    sine = np.dot(np.cross(first, second), normal) * np.sign(shape.rest[1])
    return bool(sine < -_FLIPPED)


def cost(sizes: Sizes) -> Table:
    """Return what scene.frame_set takes with some chains."""
    rows = [_row(f"{count} of 2 bones", _contestants(alike(count, 2), True), sizes) for count in sizes.chains]
    rows += [_row(f"1 of {n} bones", _contestants(alike(1, n), False), sizes) for n in sizes.longer]
    header = ["Blender", "chains", STILL, MOVING, f"{IK} = 1", NATIVE, IK + WITHIN, NATIVE + WITHIN]
    note = _COST.format(frames=sizes.frames, rounds=sizes.rounds)
    return Table("Native: a frame", note, header, rows)


def _contestants(shapes: list[Shape], limited: bool) -> dict[str, Rig]:
    """Return a rig of each kind, in a scene of its own."""
    rigs = {kind: build(shapes, drive) for kind, drive in _DRIVES.items()}
    if limited:
        rigs |= {kind + WITHIN: build(shapes, within) for kind, within in _WITHIN.items()}
    return rigs


def _row(chains: str, rigs: dict[str, Rig], sizes: Sizes) -> list[str]:
    say(f"native: frames with {chains}")
    for kind, rig in rigs.items():
        if kind != STILL:
            walk(rig, sizes.frames)
    best = {kind: np.full(sizes.frames, np.inf) for kind in rigs}
    for _ in range(sizes.rounds):
        for kind, rig in rigs.items():
            best[kind] = np.minimum(best[kind], [_frame_time(rig, frame) for frame in range(sizes.frames)])
    medians = {kind: float(np.median(seconds)) for kind, seconds in best.items()}
    for rig in rigs.values():
        remove(rig)
    kinds = (STILL, MOVING, IK, NATIVE, IK + WITHIN, NATIVE + WITHIN)
    cells = [_cell(medians[kind], medians[IK]) if kind in medians else "-" for kind in kinds]
    return [bpy.app.version_string, chains, *cells]


def _frame_time(rig: Rig, frame: int) -> float:
    return time_of(lambda: rig.scene.frame_set(frame))


def _cell(seconds: float, unit: float) -> str:
    return f"{ratio(seconds / unit)} ({1e3 * seconds:.2g} ms)"


def walk(rig: Rig, frames: int) -> None:
    """Key the targets' way once round a circle, between 0.2 and 0.9 of the reach."""
    turn = np.linspace(0.0, 2.0 * np.pi, frames + 1)
    for target, plane in zip(rig.targets, rig.planes(), strict=True):
        for frame, angle in enumerate(turn.tolist()):
            target.location = plane @ Vector((0.55 + 0.35 * np.cos(angle), 0.35 * np.sin(angle), 0.0))
            target.keyframe_insert("location", frame=frame)


def constrain(armature: bpy.types.Object, limited: bool = False) -> None:
    """Give each chain an IK constraint, limited: with limits."""
    for k, chain in enumerate(armature.ik2d.chains):
        constraint = armature.pose.bones[chain.tip].constraints.new('IK')
        constraint.target, constraint.chain_count = chain.target, chain.bone_count
        for i in range(chain.bone_count if limited else 0):
            bone = armature.pose.bones[name(k, i)]
            bone.use_ik_limit_z, bone.ik_min_z, bone.ik_max_z = True, -LIMIT, LIMIT


def _drive(armature: bpy.types.Object) -> None:
    for chain in armature.ik2d.chains:
        sync_joints(chain)
        make_native(armature, chain)


def _drive_within(armature: bpy.types.Object) -> None:
    for chain in armature.ik2d.chains:
        sync_joints(chain)
        for joint in chain.joints:
            joint.use_limit, joint.limit_min, joint.limit_max = True, -LIMIT, LIMIT
        make_native(armature, chain)


def _leave(_: bpy.types.Object) -> None:
    """Drive nothing."""


_DRIVES: dict[str, Callable[[bpy.types.Object], None]] = {
    STILL: _leave,
    MOVING: _leave,
    IK: constrain,
    NATIVE: _drive,
}
_WITHIN: dict[str, Callable[[bpy.types.Object], None]] = {
    IK: partial(constrain, limited=True),
    NATIVE: _drive_within,
}
_EXACTNESS = (
    "{rigs:,} two-bone chains, one bone up to four times as long as the other, with any bend at rest and any"
    " roll, within a reach or so of the origin, each on a bone that is turned; {targets} targets of each kind"
    " for each chain. Distances are parts of the reach, from the tip that Blender evaluates to the target, or"
    " to the point of the plane that is nearest to it. *near*: by a hundredth to a millionth of the reach."
    " *other side*: how often a chain bends to the other side than at rest."
)
_COST = (
    "scene.frame_set in scenes that hold the chains and their targets alone, which walk a circle of {frames}"
    " frames in 0.2 to 0.9 of the reach: of each frame the shortest time of {rounds} rounds, in turns, and of"
    " these the median. The IK constraint is 1. Where the processors have other"
    " work to do, as they had, the times of fifty chains within limits vary severalfold."
    " *targets alone*: they move, and nothing follows. Limits: 60 degrees to both sides of each joint."
)


def main(arguments: Sequence[str]) -> int:
    """Measure in this Blender, and put the rows into the document; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.native", description=__doc__)
    docs = Path(__file__).resolve().parent.parent / "docs"
    parser.add_argument("--output", type=Path, default=docs / "benchmarks.md", help="the document")
    parser.add_argument("--toy", action="store_true", help="a few numbers only, to see that all of it runs")
    options = parser.parse_args(arguments)
    ik2d_addon.register(ik2d_addon.SETTINGS)
    write(measure(TOY if options.toy else Sizes()), options.output)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
    sys.stdout.flush()
    # Python's own exit hangs or crashes in some bpy versions once property groups are registered.
    os._exit(code)
