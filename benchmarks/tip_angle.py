# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks.tip_angle [--short]`: tips with angles, along paths, one at a time, and baked.

Paths that a chain's own smooth poses made can be followed without a jump: how many frames are met, and how
many joints pop. With --short a tenth of them. Blender's module bpy bakes the last ones.
"""

import os
import sys
from collections.abc import Iterable
from functools import partial
from math import atan2
from statistics import median

import bpy
import numpy as np

from ik2d_addon.bake import bake
from ik2d_addon.core import Solution, Status, forward, solve_pose, solve_pose_path
from ik2d_addon.core.inputs import Floats, wrapped

from .pose_paths import KINDS, POP, PosePath, baked, eighty, others, posed, turns
from .registration import registered
from .scenes import posed_chain
from .table import Table
from .timing import processor_time_of, say

# Conditions that are off by less (reach is 1, radians) are met; played back, angles of 32 bits.
MET, PLAYED = 1e-8, 1e-4
# Poses of a chain for one call at a time.
POSES = 250


def along(paths: Iterable[PosePath]) -> list[str]:
    """Return cells: paths, those with a frame not met, those with a pop, ms a frame, the worst path's."""
    times, missed, popped = [], 0, 0
    for path in paths:
        chain, (tips, headings) = path.chain, path.goals
        found = []
        took = processor_time_of(lambda: found.append(solve_pose_path(chain, tips, headings)))  # noqa: B023
        angles = found[0].angles
        off = np.abs(forward(chain, angles)[:, -1] - tips).max()
        turned = np.abs(wrapped(angles.sum(axis=1) - headings)).max()
        low, high = chain.ranges.T
        inside = bool(((angles >= low) & (angles <= high)).all())
        missed += max(off, turned) > MET or not inside
        popped += bool((turns(angles) > POP).any())
        times.append(1e3 * took / len(angles))
    return [str(len(times)), str(missed), str(popped), f"{np.mean(times):.2f}", f"{max(times):.1f}"]


def paths(every: int) -> Table:
    """Return the table of paths, of which every so manieth is measured."""
    rows = []
    for name, lot in (("80", eighty()), *((f"others, {seed}", others(seed)) for seed in range(1, 6))):
        say(f"paths: {name}")
        rows.append([name, *along(path for k, path in enumerate(lot) if k % every == 0)])
    header = ["paths", "number", "not met", "with a pop", "ms a frame", "worst path"]
    note = f"Paths of 200 frames, met within {MET:g}; a pop: a joint turns by more than {POP:g} degrees."
    return Table("Tips with angles along paths", note, header, rows)


def poses(every: int) -> Table:
    """Return the table of single poses, each of which exists."""
    rows = []
    for kind in KINDS:
        say(f"poses: {kind}")
        times, lost = [], 0
        solve = partial(solve_pose, root_weight=1.0) if kind == KINDS[-1] else solve_pose
        for chain, goals in posed(kind, POSES // every):
            for goal in goals:
                found: list[Solution] = []
                took = processor_time_of(lambda: found.append(solve(chain, *goal)))  # noqa: B023
                lost += int(found[0].status) != Status.REACHED
                times.append(1e3 * took)
        rows.append([kind, str(len(times)), str(lost), f"{median(times):.2f}", f"{max(times):.0f}"])
    header = ["4 to 12 bones", "poses", "lost", "ms, median", "ms, worst"]
    note = "Tip and angle of a random pose, one call each; a chain's first call makes its tables."
    return Table("Tips with angles, one at a time", note, header, rows)


def bakes(every: int) -> Table:
    """Return the table of bakes, judged by the evaluated pose."""
    say("bakes")
    popped = missed = frames = count = 0
    for k, path in enumerate(baked()):
        if k % every == 0:
            armature = posed_chain(path)
            report = bake(armature).chains[0]
            shown = shown_angles(armature, len(path.chain))
            off = np.abs(wrapped(shown.sum(axis=1) - path.goals[1])).max()
            popped += int((turns(shown) > POP).sum())
            missed += not report.reached or off > PLAYED
            frames, count = frames + len(shown), count + 1
    row = [str(count), str(frames), str(missed), str(popped)]
    header = ["bakes", "frames", "bakes with a frame not met", "frames with a pop"]
    return Table(
        "Tips with angles, baked", "Chains of 3 to 7 bones, as Blender evaluates them.", header, [row]
    )


def shown_angles(armature: bpy.types.Object, n: int) -> Floats:
    """Return each bone's angle to the one before (frames, n), as Blender evaluates them."""
    scene, rows = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        ways = [shown[f"b{i}"].y_axis for i in range(n)]
        rows.append(np.diff([0.0, *(atan2(way.z, way.y) for way in ways)]))
    return np.array(rows)


def main() -> int:
    """Print the tables; return the exit code: 1 where a frame is not met, or a joint pops."""
    every = 10 if "--short" in sys.argv[1:] else 1
    with registered():
        tables = paths(every), poses(every), bakes(every)
    for table in tables:
        print(table.markdown(), flush=True)
    (*lots, single, baked_row) = (*tables[0].rows, tables[1].rows, tables[2].rows[0])
    failed = [row for row in lots if row[2:4] != ["0", "0"]] + [row for row in single if row[2] != "0"]
    return 1 if failed or list(baked_row)[2:] != ["0", "0"] else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Python's own exit hangs or crashes in some bpy versions once property groups are registered.
    os._exit(code)
