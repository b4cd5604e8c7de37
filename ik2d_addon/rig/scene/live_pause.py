# SPDX-License-Identifier: GPL-3.0-or-later
"""Pause live chains, as while a bake samples the scene."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy

# The add-on's own name, wherever this file stands in it; an installed extension's begins with "bl_ext.".
_ADDON = f"{__package__[: __package__.rindex('ik2d_addon') + len('ik2d_addon')]}."
# The number of pauses that are on. Handlers read it directly on every frame.
pauses = 0
# Whether a handler had to leave the chains as they were meanwhile, and what is then called at the end.
skipped = False
ended: list[Callable[[], None]] = []
# What is called when a pause begins: it is not while frames are looked at.
begun: list[Callable[[], None]] = []


@contextmanager
def live_paused() -> Iterator[None]:
    """Pause live chains, so that frames can be stepped through without them."""
    global pauses, skipped
    if not pauses:
        for function in begun:
            function()
    pauses += 1
    try:
        yield
    finally:
        pauses -= 1
        if not pauses and skipped:
            skipped = False
            for function in ended:
                function()


@contextmanager
def left_alone() -> Iterator[None]:
    """Within a pause, take our functions out of Blender's frame handlers while frames are stepped through."""
    global skipped
    if not pauses:
        yield
        return
    skipped = True
    handlers = bpy.app.handlers
    lists = handlers.frame_change_pre, handlers.frame_change_post
    before = [list(functions) for functions in lists]
    for functions in lists:
        functions[:] = [function for function in functions if not is_ours(function)]
    try:
        yield
    finally:
        for functions, all_before in zip(lists, before, strict=True):
            for i in reversed(range(len(all_before))):
                if is_ours(all_before[i]):  # before the next one that is still there, or behind the last
                    behind = next((f for f in all_before[i + 1 :] if f in functions), None)
                    last = next((f for f in reversed(all_before[:i]) if f in functions), None)
                    place = 0 if last is None else functions.index(last) + 1
                    functions.insert(place if behind is None else functions.index(behind), all_before[i])


def is_ours(function: Callable[..., object]) -> bool:
    """Return whether a function that Blender calls is the add-on's."""
    return (function.__module__ or "").startswith(_ADDON)
