# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers that several threads call, as while a frame is rendered: one after the other, each in turn."""

import threading
import time

import bpy
import numpy as np
import pytest
from rigs import evaluated_tip, leg_with_target

from ik2d_addon.live import handlers, turns
from ik2d_addon.live.turns import LiveTurn

LONG = 60.0  # seconds that no test comes near


@pytest.fixture
def in_thread():
    """Return a function that starts another one in a thread; all are joined at the end."""
    started = []

    def start(function) -> threading.Thread:
        started.append(threading.Thread(target=function))
        started[-1].start()
        return started[-1]

    yield start
    for thread in started:
        thread.join(LONG)
        assert not thread.is_alive()


def test_a_turn_within_a_turn_is_none_and_costs_no_wait():
    began = time.monotonic()
    with LiveTurn() as first:
        with LiveTurn() as second:
            assert first and not second
        with LiveTurn() as third:
            assert not third
    assert time.monotonic() - began < turns._LONGEST / 2
    with LiveTurn() as again:
        assert again


def test_a_turn_that_fails_is_given_back():
    with pytest.raises(ValueError), LiveTurn():
        raise ValueError
    with LiveTurn() as is_ours:
        assert is_ours


def test_threads_take_turns_and_each_gets_one(in_thread, monkeypatch):
    monkeypatch.setattr(turns, "_LONGEST", LONG)
    inside, most, got = [], [], []

    def work():
        for _ in range(20):
            with LiveTurn() as is_ours:
                inside.append(1)
                time.sleep(0.0005)  # where evaluating lets other threads go on
                most.append(len(inside))
                inside.pop()
                got.append(is_ours)

    threads = [in_thread(work) for _ in range(4)]
    for thread in threads:
        thread.join(LONG)
    assert got == [True] * 80 and max(most) == 1


def test_a_thread_that_never_gives_its_turn_back_stops_no_other(in_thread, monkeypatch):
    monkeypatch.setattr(turns, "_LONGEST", 0.05)
    has, may_go = threading.Event(), threading.Event()

    def keep():
        with LiveTurn():
            has.set()
            may_go.wait(LONG)

    in_thread(keep)
    assert has.wait(LONG)
    with LiveTurn() as is_ours:
        assert not is_ours
    may_go.set()


def test_a_frame_that_another_thread_shows_meanwhile_is_posed_too(in_thread, monkeypatch):
    """As a render's thread does it, while the main one is in the middle of posing the frame before."""
    monkeypatch.setattr(turns, "_LONGEST", LONG)
    _, target = leg_with_target(live=True)
    scene = bpy.context.scene
    scene.frame_set(1)
    graph = bpy.context.evaluated_depsgraph_get()
    follow_all, main = handlers._follow_all, threading.get_ident()
    calls, rendering = [], threading.Event()

    def follow_slowly(*arguments):
        calls.append(threading.get_ident())
        if calls == [main]:
            in_thread(render)
            assert rendering.wait(LONG)
            time.sleep(0.05)
            assert calls == [main]  # it waits
        return follow_all(*arguments)

    def render():
        rendering.set()
        handlers._frame_changed(scene, graph)

    monkeypatch.setattr(handlers, "_follow_all", follow_slowly)
    handlers._frame_changed(scene, graph)
    end = time.monotonic() + LONG
    while len(calls) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(calls) == 2 and calls[1] != main
    monkeypatch.undo()
    scene.frame_set(9)
    armature = bpy.data.objects["Rig"]
    assert np.linalg.norm(np.array(evaluated_tip(armature, "shin")) - target.matrix_world.translation) < 1e-5
