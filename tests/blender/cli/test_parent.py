# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that was started for one of several files ends with the one that started it."""

import os
import signal
import subprocess
import sys
import time

import pytest
from programs import ROOT, is_there

from ik2d_addon.cli import parent, signals

LONG = 60.0  # seconds
CHILD = """
import os, signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
from ik2d_addon.cli.parent import end_with_parent
end_with_parent()
print(os.getpid(), flush=True)
time.sleep(600)
"""
PARENT = f"""
import subprocess, sys
from ik2d_addon.cli.parent import environment_of_children
words = [sys.executable, "-c", {CHILD!r}]
subprocess.Popen(words, env=environment_of_children(), start_new_session=True).wait()
"""


@pytest.fixture
def no_parent(monkeypatch):
    """Have the parent that is noted forgotten afterwards."""
    monkeypatch.setattr(parent, "_parent", None)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a process with its parent")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_that_heeds_no_signal_goes_with_its_parent(number):
    own = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    child = int(own.stdout.readline())
    assert is_there(child)
    own.send_signal(number)
    own.wait(LONG)
    end = time.monotonic() + LONG
    while is_there(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_there(child)
    own.stdout.close()


def test_one_whose_parent_has_ended_before_it_began_ends_at_once(no_parent, monkeypatch):
    left = []
    monkeypatch.setattr(parent.os, "_exit", left.append)
    monkeypatch.setattr(parent.sys, "platform", "other")
    monkeypatch.setenv("IK2D_PARENT", str(os.getppid()))
    parent.end_with_parent()
    assert left == [] and "IK2D_PARENT" not in os.environ
    monkeypatch.setenv("IK2D_PARENT", str(os.getpid()))
    parent.end_with_parent()
    assert left == [143]


def test_elsewhere_it_is_asked_to_end_where_a_bake_can_stop(no_parent, monkeypatch):
    monkeypatch.setattr(parent.sys, "platform", "darwin")
    monkeypatch.setenv("IK2D_PARENT", str(os.getppid()))
    parent.end_with_parent()
    assert signals.asked_to_end() is None
    monkeypatch.setattr(parent.os, "getppid", lambda: 1)
    assert signals.asked_to_end().exit_code == 143


def test_a_process_of_its_own_has_no_parent_to_end_with(no_parent, monkeypatch):
    monkeypatch.delenv("IK2D_PARENT", raising=False)
    parent.end_with_parent()
    monkeypatch.setattr(parent.os, "getppid", lambda: 1)
    assert not parent.is_orphan()


def test_one_that_was_asked_to_end_before_its_parent_ended_says_so(monkeypatch):
    monkeypatch.setattr(signals, "is_orphan", lambda: True)
    with signals.heeded():
        assert signals.asked_to_end().exit_code == 128 + signal.SIGTERM
        signal.raise_signal(signal.SIGINT)
        assert signals.asked_to_end().exit_code == 128 + signal.SIGINT
