# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the time of a bake goes, part by part, beside the least that Blender itself takes for it."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from time import process_time
from typing import Any
from unittest.mock import patch

import bpy
import numpy as np

from ik2d_addon.bake import pipeline, rounds
from ik2d_addon.bake.arithmetic import LOOKS as PLAYED
from ik2d_addon.features.baking import operators
from ik2d_addon.rig.animation import keys
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.scene import own_scene
from ik2d_addon.rig.scene.sampler import LOOKS

from . import scenes
from .bakers import bake_ours
from .table import Table, percent
from .timing import say

# What a bake calls for each part of it, and whether that goes on bit by bit.
_PARTS: tuple[tuple[str, Any, str, bool], ...] = (
    ("read the chains", pipeline, "read_all", False),
    ("sample targets and rig", rounds, "sample_steps", True),
    ("sample targets and rig", rounds, "sampled_between", True),  # the same, of many frames
    ("solve", rounds, "solve_chains", True),
    ("turn into channels, look half-way", rounds, "_keyed", True),
    ("write keys", keys, "_write", False),
    ("play back", pipeline, "play_back", True),
    ("report", pipeline, "report_of", False),
    ("keep the report for the sidebar", operators, "store_bake", False),
)
_REST = "all else"


class Clock:
    """Shares out the processor's time among parts, the inner ones' not counted to the outer ones."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._running: list[str] = []
        self._since = process_time()

    @contextmanager
    def running(self, part: str) -> Iterator[None]:
        """Count what is done inside to a part."""
        self._settle()
        self._running.append(part)
        try:
            yield
        finally:
            self._settle()
            self._running.pop()

    def _settle(self) -> None:
        now = process_time()
        if self._running:
            part = self._running[-1]
            self.spent[part] = self.spent.get(part, 0.0) + now - self._since
        self._since = now

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that counts to a part."""

        def counted(*arguments: Any, **named: Any) -> Any:
            with self.running(part):
                return function(*arguments, **named)

        return counted

    def stepped(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a generator function whose steps count to a part."""

        def counted(*arguments: Any, **named: Any) -> Generator[Any, None, Any]:
            steps = function(*arguments, **named)
            while True:
                with self.running(part):
                    try:
                        done = next(steps)
                    except StopIteration as finished:
                        return finished.value
                yield done

        return counted


def measure(count: int, bones: int, frames: int, rounds: int) -> Table:
    """Bake so many chains, and return the best round's parts."""
    say(f"parts of a bake: {count} x {bones} bones, {frames:,} frames")
    armature = scenes.chains(count, bones, frames)
    found = []
    for _ in range(rounds):
        sampled = _played(armature, frames, LOOKS)
        spent = _parts(armature, frames)
        spent["Blender samples"] = sampled
        spent["Blender evaluates"] = _evaluated(armature)
        spent["Blender plays back"] = _played(armature, frames, PLAYED + 1)
        spent["Blender writes keys"] = _written(armature)
        found.append(spent)
        scenes.clear_animation(armature)
    names = [*dict.fromkeys(part for part, *_ in _PARTS), _REST]
    best = min(found, key=lambda spent: sum(spent[name] for name in names))
    whole = sum(best[name] for name in names)
    least = {name: min(spent[f"Blender {does}"] for spent in found) for name, does in _FLOORS.items()}
    rows = [
        [name, percent(best[name] / whole), percent(least[name] / whole) if name in least else "-"]
        for name in names
    ]
    title = f"Bakes: the parts of one, {count} x {bones} bones over {frames:,} frames"
    return Table(title, _NOTE, ["part", "IK 2D", "Blender's least"], rows)


def _parts(armature: bpy.types.Object, frames: int) -> dict[str, float]:
    clock = Clock()
    with ExitStack() as patched:
        for part, module, name, by_steps in _PARTS:
            timed = (clock.stepped if by_steps else clock.timed)(part, getattr(module, name))
            patched.enter_context(patch.object(module, name, timed))
        with clock.running(_REST):
            bake_ours(armature, frames)
    return clock.spent


def _played(armature: bpy.types.Object, frames: int, times: int) -> float:
    """Return how long Blender takes to show so many times of a range, in a scene of the rig alone."""
    start = process_time()
    with own_scene.isolated(bpy.context.scene, armature) as own:
        for chain in armature.ik2d.chains:
            own.collection.objects.link(chain.target)
        for time in np.linspace(1.0, frames, times).tolist():
            own.frame_set(int(time), subframe=time % 1.0)
    return process_time() - start


def _evaluated(armature: bpy.types.Object) -> float:
    """Return how long Blender takes to evaluate the scene with the new keys, which it copies for that."""
    armature.animation_data.action.update_tag()
    start = process_time()
    bpy.context.view_layer.update()
    return process_time() - start


def _written(armature: bpy.types.Object) -> float:
    """Return how long Blender takes to hold the keys of a bake: added, placed and updated."""
    places = {}
    for curve in existing_fcurves(armature):
        places[curve] = np.empty((len(curve.keyframe_points), 2), "f4")
        curve.keyframe_points.foreach_get("co", places[curve].ravel())
    start = process_time()
    for curve, place in places.items():
        curve.keyframe_points.clear()
        curve.keyframe_points.add(len(place))
        curve.keyframe_points.foreach_set("co", place.ravel())
        curve.update()
    return process_time() - start


_FLOORS = {
    "sample targets and rig": "samples",
    "write keys": "writes keys",
    "play back": "plays back",
    _REST: "evaluates",
}
_NOTE = (
    "Shares of the processor's time of the whole bake by its operator, the best of some rounds. *Blender's"
    " least*: what it takes alone, as a share of the same: to show as many times, before and after, in a"
    " scene that holds the rig and its targets, to hold as many keys, and to evaluate the user's scene with"
    " them once at the end. The rest is numpy's, and reading from Blender."
)
# What limits the numbers of these tables, for the reader; to be looked at anew with each change of speed.
LIMITS = """\
## Bakes: what limits them

- *Ten chains, and one of ten bones*: a seventh to a fifth of what is left is Blender's own, as the \
tables above show: holding the keys at 72 bytes each, showing 26 and 6 times, and evaluating the user's \
scene once. Of the rest most is what numpy's calls cost anyway, chain by chain: pairs of bones are solved as \
one array, but read, turned into channels and measured one by one.
- *Next to heavy meshes*: the same; of the meshes nothing is evaluated.
- *A million frames*: memory. Blender holds 8 million keys in 549 MiB, and an evaluated copy of them in \
as much again.
- *A thousand chains*: reading, keying and measuring cost 4 to 9 ms a chain, by the processor, however \
few its frames. With few frames nla.bake is faster.
- *Rigs that F-Curves alone do not place* (constraints, drivers, strips, chains whose settings have \
keys): Blender steps through all frames in a scene of the rig alone, which takes longer than all else.
"""
