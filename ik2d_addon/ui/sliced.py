# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators whose work is done in steps: in a window in slices, with progress, and Escape cancels it."""

from collections.abc import Generator
from time import perf_counter
from typing import Any

from bpy.types import Context

from ..core import IK2DError
from ..core.words import noted, say
from .operator import ChainOperator

# Bounds of the seconds of work between two looks at the keyboard: within them, as long as Blender took to
# draw in between, so that a view that is slow to draw no more than doubles the time of the work.
SHORTEST_SLICE, LONGEST_SLICE = 0.03, 0.2


class SlicedOperator(ChainOperator):
    """An operator that works in steps, which yield (frames done, frames in all).

    A subclass has `begin`, which returns the steps, the names of what they work on, and `finish`, which
    tells about their result. Steps that are closed must leave everything as it was.
    """

    doing, done_noun = (
        noted("Working on"),
        noted("Work"),
    )  # in its words: "Baking 'Rig': 40 %", "Bake cancelled"

    _timer = None
    _steps: Generator[tuple[int, int], None, Any] | None = None
    _paused = 0.0  # the time at which the last slice ended

    def begin(self, context: Context) -> tuple[Generator[tuple[int, int], None, Any], str]:
        """Return the steps, and the names of what they work on."""
        raise NotImplementedError

    def finish(self, context: Context, result: Any) -> None:
        """Tell about the result."""
        raise NotImplementedError

    def execute(self, context):
        self._start(context)
        return self._work(context, until=float("inf"))

    def invoke(self, context, _event):
        self._start(context)
        result = self._work(context, until=perf_counter() + SHORTEST_SLICE)
        if result == {'RUNNING_MODAL'}:  # it takes longer than one slice
            wm = context.window_manager
            self._timer = wm.event_timer_add(0.01, window=context.window)
            wm.modal_handler_add(self)
        return result

    def modal(self, context, event):
        if event.type == 'ESC' and event.value == 'PRESS':
            self.cancel(context)
            self.report({'INFO'}, say("{done_noun} cancelled; nothing has changed", done_noun=self.done_noun))
            return {'CANCELLED'}
        if self._timer is None:  # an error stopped it: Blender would keep the operator for ever
            return {'CANCELLED'}
        # All other events end here too: the rig must not change meanwhile.
        if event.type != 'TIMER':
            return {'RUNNING_MODAL'}
        now = perf_counter()
        return self._work(context, now + min(max(now - self._paused, SHORTEST_SLICE), LONGEST_SLICE))

    def cancel(self, context):
        """Stop the work, which leaves everything as it was."""
        if self._steps is not None:  # a dialog may be cancelled before any work
            self._steps.close()
        self._stop(context)

    def _start(self, context: Context) -> None:
        self.begin_work(context)
        self._steps, self._names = self.begin(context)
        context.window_manager.progress_begin(0, 100)

    def _work(self, context: Context, until: float) -> set[str]:
        """Continue until a time; return an operator's result."""
        running = False
        try:
            while not running:
                assert self._steps is not None
                done, total = next(self._steps)
                running = perf_counter() > until
            self._show_progress(context, done, total)
            self._paused = perf_counter()
            return {'RUNNING_MODAL'}
        except StopIteration as finished:
            self.finish(context, finished.value)
            return {'FINISHED'}
        except IK2DError as error:
            return self.ask(error)
        except ReferenceError:  # only a script can do this: `modal` keeps a user's events waiting
            return self.refuse(say("{names}, or something it follows, was deleted", names=self._names))
        finally:
            if not running:
                self._stop(context)

    def _show_progress(self, context: Context, done: int, total: int) -> None:
        share = done / max(total, 1)
        context.window_manager.progress_update(100 * share)
        context.workspace.status_text_set(
            say(
                "{doing} {names}: {part:.0%}, {done} of {total} frames.  Esc: Cancel",
                doing=self.doing,
                names=self._names,
                part=share,
                done=done,
                total=total,
            )
        )

    def _stop(self, context: Context) -> None:
        """Remove the timer and the signs of progress."""
        wm = context.window_manager
        wm.progress_end()
        if self._timer is not None:
            wm.event_timer_remove(self._timer)
            self._timer = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)
