# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake that runs in slices: time goes on with it, Escape ends it, and everything else waits."""

from types import SimpleNamespace

import bpy
import pytest
from clip_rigs import add_clips
from clip_rigs import everything as everything_of_clips
from rigs import add_chain, add_target, every_bit_of_animation, leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.operators import IK2D_OT_bake
from ik2d_addon.rig.scene import sampler
from ik2d_addon.ui import sliced
from ik2d_addon.ui.sliced import SlicedOperator

FRAMES = 40


class Bake(SlicedOperator):
    """The operator's own functions, without the window that Blender would need to run it."""

    locals().update(
        {
            name: value
            for name, value in vars(IK2D_OT_bake).items()
            if callable(value) and not name.startswith("__")
        }
    )
    all_selected = False
    doing, done_noun = IK2D_OT_bake.doing, IK2D_OT_bake.done_noun

    def __init__(self, chain=""):
        self.reports, self.chain = [], chain
        self.properties = SimpleNamespace(is_property_set=lambda name: False)

    def report(self, level, text):
        self.reports.append((*level, text))


class Window:
    """A context with a window manager and a status bar that note what they are told."""

    def __init__(self, armature):
        self.object, self.scene, self.window = armature, bpy.context.scene, "window"
        self.timers, self.handlers, self.progress, self.text = [], [], [], None
        self.window_manager = self.workspace = self

    def event_timer_add(self, step, window):
        assert step == 0.01 and window == self.window
        self.timers.append(object())
        return self.timers[-1]

    def event_timer_remove(self, timer):
        self.timers.remove(timer)

    def modal_handler_add(self, operator):
        self.handlers.append(operator)

    def progress_begin(self, first, last):
        self.progress = [(first, last)]

    def progress_update(self, part):
        self.progress.append(part)

    def progress_end(self):
        self.progress.append("end")

    def status_text_set(self, text):
        self.text = text


def event(kind, value='PRESS'):
    return SimpleNamespace(type=kind, value=value)


TIMER = event('TIMER', 'NOTHING')


@pytest.fixture
def running(monkeypatch):
    """A bake of forty frames that has begun, a slice of which is one step; and its window."""
    monkeypatch.setattr(sliced, "SHORTEST_SLICE", 0.0)
    monkeypatch.setattr(sliced, "LONGEST_SLICE", 0.0)
    monkeypatch.setattr(sampler, "WAY", sampler.STEP)  # each frame a step
    armature, _ = leg_with_target()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    operator, window = Bake(), Window(armature)
    assert operator.invoke(window, None) == {'RUNNING_MODAL'}
    begun = operator._steps
    yield operator, window
    begun.close()


def test_a_bake_that_takes_longer_waits_for_a_timer_and_shows_how_far_it_is(running):
    operator, window = running
    assert len(window.timers) == 1 and window.handlers == [operator]
    assert window.progress[0] == (0, 100) and 0.0 < window.progress[-1] < 100.0
    assert window.text == "Baking 'Rig': 2%, 1 of 40 frames.  Esc: Cancel"
    assert operator.reports == []


def test_each_tick_goes_on_until_it_is_finished(running):
    operator, window = running
    parts, result = [], {'RUNNING_MODAL'}
    while result == {'RUNNING_MODAL'}:
        parts.append(window.progress[-1])
        assert len(parts) < 1000 and len(window.timers) == 1
        result = operator.modal(window, TIMER)
    assert result == {'FINISHED'}
    assert len(parts) > FRAMES and max(parts) == pytest.approx(100.0)
    assert window.timers == [] and window.progress[-1] == "end" and window.text is None
    settings = window.object.ik2d
    assert settings.last_bake.startswith("Baked 40 frames on 1 chain; every target reached, up to ")
    assert settings.last_bake.endswith(" off between frames")
    assert not settings.last_bake_alert and settings.chains[0].bake_reached
    assert operator.reports == [('INFO', settings.last_bake)]
    keys = every_bit_of_animation(window.object)["curves"].values()
    assert {len(curve[-1]) for curve in keys} == {FRAMES}


def everything(armature):
    kinds = (bpy.data.scenes, bpy.data.objects, bpy.data.actions)
    pose = [tuple(bone.rotation_quaternion) for bone in armature.pose.bones]
    return every_bit_of_animation(armature), pose, [len(kind) for kind in kinds], armature.ik2d.last_bake


@pytest.mark.parametrize("into", ['THIS', 'NEW'])
@pytest.mark.parametrize("ticks", [0, 12, 30, 44])
def test_escape_leaves_all_actions_as_they_were(monkeypatch, ticks, into):
    monkeypatch.setattr(sliced, "SHORTEST_SLICE", 0.0)
    monkeypatch.setattr(sliced, "LONGEST_SLICE", 0.0)
    monkeypatch.setattr(sampler, "WAY", sampler.STEP)
    armature, _ = add_clips()
    armature.ik2d.actions_to_bake, armature.ik2d.bake_into = 'ALL', into
    before = everything_of_clips()
    operator, window = Bake(), Window(armature)
    assert operator.invoke(window, None) == {'RUNNING_MODAL'}
    for _ in range(ticks):
        assert operator.modal(window, TIMER) == {'RUNNING_MODAL'}
    assert " of 38 frames" in window.text
    assert operator.modal(window, event('ESC')) == {'CANCELLED'}
    assert everything_of_clips() == before and armature.ik2d.last_bake == ""


@pytest.mark.parametrize("ticks", [0, 1, FRAMES - 2, FRAMES + 3])
def test_escape_cancels_and_leaves_nothing(running, ticks):
    operator, window = running
    for _ in range(ticks):
        assert operator.modal(window, TIMER) == {'RUNNING_MODAL'}
    assert operator.modal(window, event('ESC')) == {'CANCELLED'}
    assert operator.reports == [('INFO', "Bake cancelled; nothing has changed")]
    assert window.timers == [] and window.progress[-1] == "end" and window.text is None
    assert window.object.animation_data is None and not [a for a in bpy.data.actions if "Rig" in a.name]
    assert window.object.ik2d.last_bake == "" and len(bpy.data.scenes) == 1
    assert next(operator._steps, "closed") == "closed"


@pytest.mark.parametrize(
    "other",
    [event('ESC', 'RELEASE'), event('A'), event('LEFTMOUSE'), event('MOUSEMOVE', 'NOTHING'), event('RET')],
    ids=lambda other: other.type,
)
def test_all_other_events_end_here_and_do_no_work(running, other):
    operator, window = running
    before = list(window.progress), window.text
    for _ in range(3):
        assert operator.modal(window, other) == {'RUNNING_MODAL'}
    assert (window.progress, window.text) == before and len(window.timers) == 1


def test_an_error_on_the_way_is_told_and_ends_it(running):
    operator, window = running

    def failing():
        yield 2, FRAMES
        raise IK2DError("The target is nowhere")

    operator._steps = failing()
    assert operator.modal(window, TIMER) == {'RUNNING_MODAL'}
    assert operator.modal(window, TIMER) == {'CANCELLED'}
    assert operator.reports == [('ERROR', "The target is nowhere")]
    assert window.timers == [] and window.progress[-1] == "end" and window.text is None
    assert window.object.ik2d.last_bake == ""


def test_an_error_of_our_own_does_not_keep_the_window_for_ever(running):
    operator, window = running

    def failing():
        raise ZeroDivisionError
        yield

    operator._steps = failing()
    with pytest.raises(ZeroDivisionError):
        operator.modal(window, TIMER)
    assert window.timers == []
    assert operator.modal(window, TIMER) == {'CANCELLED'}


def test_a_bake_that_misses_is_a_warning(running):
    operator, window = running
    operator.cancel(window)
    chain = window.object.ik2d.chains[0]
    chain.target = add_target({1: (0, 0, -3)}, "Far")
    operator = Bake()
    result = operator.invoke(window, None)
    while result == {'RUNNING_MODAL'}:
        result = operator.modal(window, TIMER)
    ((level, text),) = operator.reports
    assert level == 'WARNING' and "40 of 40 frames out of reach" in text
    assert window.object.ik2d.last_bake_alert and chain.missed_frames == "1..40"


def test_a_short_bake_is_done_at_once():
    armature, _ = leg_with_target()
    bpy.context.scene.frame_start = bpy.context.scene.frame_end = 3
    operator, window = Bake(), Window(armature)
    result = operator.execute(window)
    assert result == {'FINISHED'} and operator.reports[0][0] == 'INFO'
    assert window.timers == window.handlers == [] and window.progress == [(0, 100), "end"]


def test_one_chain_is_baked_alone_where_it_is_named():
    armature, target = leg_with_target()
    add_chain(armature, "body", target, bone_count=1)
    bpy.context.scene.frame_start = bpy.context.scene.frame_end = 3
    for name, said in (("", "Baked 1 frame on 2 chains; "), ("shin", "Baked 1 frame on 1 chain; ")):
        operator = Bake(name)
        assert operator.execute(Window(armature)) == {'FINISHED'}
        assert operator.reports[-1][1].startswith(said)


@pytest.mark.parametrize("drawn, work", [(0.0, 0.03), (0.01, 0.03), (0.1, 0.1), (5.0, 0.2)])
def test_work_lasts_as_long_as_drawing_did_within_bounds(monkeypatch, drawn, work):
    operator = Bake()
    operator._timer, operator._paused = object(), 100.0
    monkeypatch.setattr(sliced, "perf_counter", lambda: 100.0 + drawn)
    operator._work = lambda context, until: {until}
    (until,) = operator.modal(None, TIMER)
    assert until == pytest.approx(100.0 + drawn + work)
