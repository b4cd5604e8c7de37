# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators that solve and bake; from the window a bake runs in slices, and Escape cancels it."""

from collections.abc import Generator
from time import perf_counter

from bpy.props import IntProperty
from bpy.types import Context, Object, Operator, Scene

from ..bake import BakeReport, bake_steps, solve
from ..bake.request import chosen_options, chosen_range
from ..core import IK2DError
from .chains import active_armature, allowed, why_not_solve
from .registration import register_classes, unregister_classes
from .results import store_bake, store_solve

# Seconds of work between two looks at the keyboard: as many as Blender took to draw in between, so
# that a view that is slow to draw makes a bake last no more than twice as long; but within bounds.
SHORTEST_SLICE, LONGEST_SLICE = 0.03, 0.2


def chosen_bake(
    armature: Object, start: int, end: int, step: int
) -> Generator[tuple[int, int], None, BakeReport]:
    """Bake all enabled chains, as `bake_steps` does, with the options that the sidebar shows."""
    options = chosen_options(armature.ik2d)
    return (yield from bake_steps(armature, None, start, end, step, options=options))


class IK2D_OT_solve(Operator):
    """Pose all enabled chains at the current frame, without keys"""

    bl_idname = "ik2d.solve"
    bl_label = "Solve"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_not_solve(context))

    def execute(self, context):
        armature = active_armature(context)
        try:
            report = solve(armature)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        store_solve(armature, report)
        _tell(self, report)
        return {'FINISHED'}


class IK2D_OT_bake(Operator):
    """Key the rotations of all enabled chains over a range of frames"""

    bl_idname = "ik2d.bake"
    bl_label = "Bake"
    bl_options = {'REGISTER', 'UNDO'}

    # Kept from one run to the next, a range would win over the panel's: hence SKIP_SAVE.
    frame_start: IntProperty(
        name="Start", description="First frame to bake", default=1, options={'SKIP_SAVE'}
    )
    frame_end: IntProperty(name="End", description="Last frame to bake", default=250, options={'SKIP_SAVE'})
    step: IntProperty(
        name="Step",
        description="Frames from one key to the next",
        default=1,
        min=1,
        soft_max=10,
        options={'SKIP_SAVE'},
    )

    _timer = None
    _paused = 0.0  # when the last slice ended

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_not_solve(context))

    def execute(self, context):
        self._start(context)
        return self._work(context, until=float("inf"))

    def invoke(self, context, _event):
        self._start(context)
        result = self._work(context, until=perf_counter() + SHORTEST_SLICE)
        if result == {'RUNNING_MODAL'}:  # it takes longer than anybody notices
            wm = context.window_manager
            self._timer = wm.event_timer_add(0.01, window=context.window)
            wm.modal_handler_add(self)
        return result

    def modal(self, context, event):
        if event.type == 'ESC' and event.value == 'PRESS':
            self.cancel(context)
            self.report({'INFO'}, "Bake cancelled; nothing has changed")
            return {'CANCELLED'}
        if self._timer is None:  # an error of our own stopped it: Blender would keep it for ever
            return {'CANCELLED'}
        # All other events end here too: nobody changes the rig while it is read.
        if event.type != 'TIMER':
            return {'RUNNING_MODAL'}
        now = perf_counter()
        return self._work(context, now + min(max(now - self._paused, SHORTEST_SLICE), LONGEST_SLICE))

    def cancel(self, context):
        """Stop; keys are written at the very end only, so nothing has changed."""
        self._steps.close()
        self._stop(context)

    def _start(self, context: Context) -> None:
        self._armature = active_armature(context)
        self._name = self._armature.name
        self._fill_in_range(self._armature, context.scene)
        self._steps = chosen_bake(self._armature, self.frame_start, self.frame_end, self.step)
        context.window_manager.progress_begin(0, 100)

    def _work(self, context: Context, until: float) -> set[str]:
        """Go on with the bake until some moment; return what an operator returns."""
        running = False
        try:
            while not running:
                done, total = next(self._steps)
                running = perf_counter() > until
            self._show_progress(context, done, total)
            self._paused = perf_counter()
            return {'RUNNING_MODAL'}
        except StopIteration as finished:
            store_bake(self._armature, finished.value)
            _tell(self, finished.value)
            return {'FINISHED'}
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        except ReferenceError:  # by a script: a bake keeps all that a person does waiting
            self.report({'ERROR'}, f"'{self._name}', or something it follows, was deleted during the bake")
            return {'CANCELLED'}
        finally:
            if not running:
                self._stop(context)

    def _show_progress(self, context: Context, done: int, total: int) -> None:
        part = done / max(total, 1)
        context.window_manager.progress_update(100 * part)
        context.workspace.status_text_set(
            f"Baking '{self._name}': {part:.0%}, {done} of {total} frames.  Esc: Cancel"
        )

    def _stop(self, context: Context) -> None:
        """Take away what shows that it runs."""
        wm = context.window_manager
        wm.progress_end()
        if self._timer is not None:
            wm.event_timer_remove(self._timer)
            self._timer = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    def _fill_in_range(self, armature: Object, scene: Scene) -> None:
        """Take what the caller left out from the rig's or the scene's range; the redo panel then shows it."""
        names = ("frame_start", "frame_end", "step")
        for name, value in zip(names, chosen_range(armature, scene), strict=True):
            if not self.properties.is_property_set(name):
                setattr(self, name, value)


def _tell(operator: Operator, report: BakeReport) -> None:
    """Report what came of it: every warning for itself, the sentence last, where the status bar shows it."""
    for warning in report.warnings:
        operator.report({'WARNING'}, warning)
    level = 'INFO' if report.all_reached and not report.warnings else 'WARNING'
    operator.report({level}, report.sentence())


classes = (IK2D_OT_solve, IK2D_OT_bake)


def register() -> None:
    """Register the operators."""
    register_classes(classes)


def unregister() -> None:
    """Unregister the operators."""
    unregister_classes(classes)
