# SPDX-License-Identifier: GPL-3.0-or-later
"""Tips with angles, as tasks of two sides to be compared."""

import numpy as np

from ik2d_addon.core import Chain, solve_even_path, solve_pose, solve_pose_path

from . import older, scenes
from .bakers import bake_ours, nla_bake
from .bakes import ALIKE
from .pose_paths import Ranges, others, posed
from .timing import Task

# What limits the chains of single poses; the poses of each; and the frames of a bake.
KINDS, EACH, FRAMES = ("no limits", "limits", "first joint too", "within half a radian"), 6, 20
# Bones within half a radian.
NARROW = 8


def single(kind: str) -> tuple[Task, Task] | None:
    """Return poses, one call each: today's, and those of version 1.0.0; None where that is not at hand."""
    old = older.core()
    if old is None:
        return None
    known = [
        (chain, *goal)
        for chain, goals in (narrow() if kind == KINDS[-1] else posed(kind, EACH))
        for goal in goals
    ]
    theirs = [(old.Chain(chain.lengths, chain.limits), tip, angle) for chain, tip, angle in known]
    return (
        lambda: [solve_pose(*each) for each in known],
        lambda: [old.solve_pose(*each) for each in theirs],
    )


def narrow() -> list[tuple[Chain, list[tuple[np.ndarray, float]]]]:
    """Return a chain of bones that turn by half a radian at most, with tips and headings of its poses."""
    ranges = Ranges(np.full(NARROW, 1.0 / NARROW), np.full(NARROW, -0.5), np.full(NARROW, 0.5))
    rng = np.random.default_rng(1)
    paths = (ranges.waves(np.ones(NARROW, int), rng.uniform(0.0, 6.28, NARROW), True, 3) for _ in range(EACH))
    each = [(path.chain, path.goals) for path in paths]
    return [(each[0][0], [(tips[0], float(headings[0])) for _, (tips, headings) in each])]


def along() -> tuple[Task, Task]:
    """Return a path of tips with angles within limits, and one of tips alone."""
    path = next(own for own in others(1) if len(own.chain) == 8)
    tips, headings = path.goals
    return lambda: solve_pose_path(path.chain, tips, headings), lambda: solve_even_path(path.chain, tips)


def baked() -> tuple[Task, Task]:
    """Return a bake of a chain whose last bone follows its target's rotation, and of its IK constraint."""
    ranges = Ranges.drawn(np.random.default_rng(8), 8)
    path = ranges.waves(np.ones(8, int), np.linspace(0.0, 6.0, 8), True, FRAMES)
    armature = scenes.posed_chain(path)

    def bake() -> None:
        bake_ours(armature, FRAMES)
        scenes.clear_animation(armature)

    def nla() -> None:
        with scenes.ik_constraints(armature):
            nla_bake(FRAMES, ALIKE)
        scenes.clear_animation(armature)

    return bake, nla
