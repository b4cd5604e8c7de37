# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake of several files: a process for each, a line for each, and the worst exit code."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import bpy
import pytest
from programs import is_there
from rigs import add_leg, animation_of, leg_with_target

from ik2d_addon.cli.commands import several_files
from ik2d_addon.cli.files.outputs import Job
from ik2d_addon.cli.parser import parsed
from ik2d_addon.cli.program import run
from ik2d_addon.cli.signals import Interrupted

ROOT = Path(__file__).resolve().parents[4]
# Stands in for a process that bakes: its last argument is the scene, whose name says what it does.
STAND_IN = """
import json, os, signal, sys, time
from pathlib import Path
scene = Path(sys.argv[-1])
here, name = scene.parent, scene.stem

def wait_for(pattern, number):
    for _ in range(1200):
        if len(list(here.glob(pattern))) >= number:
            return
        time.sleep(0.05)
    sys.exit("waited in vain")

def tell(words, bake=None):
    print("ik2d: outcome:", json.dumps({"words": words, "bake": bake}))

if name.startswith("good"):
    print("ik2d: these words are for people")
    tell("Rig: Baked 2 frames", {"reached": True, "misses": False, "distance": 0.0, "in_words": "0 m"})
elif name.startswith("silent"):
    print(f"ik2d: saved '{scene}'")
elif name.startswith("half"):
    print('ik2d: outcome: {"words": "Rig: Ba')
elif name.startswith("killed"):
    os.kill(os.getpid(), signal.SIGKILL)
elif name.startswith("bad"):
    tell("error: bad on purpose")
    sys.exit(2)
elif name.startswith("together"):
    (here / f"{name}.begun").touch()
    wait_for("*.begun", 2)
    tell("together")
elif name.startswith("alone"):
    with open(here / "running", "x"):
        time.sleep(0.1)
    os.remove(here / "running")
    tell("alone")
elif name.startswith("asked"):
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    (here / f"{name}.begun").touch()
    while not asked:
        time.sleep(0.02)
    tell("interrupted; nothing is changed")
    sys.exit(143)
elif name.startswith("hanging"):
    import subprocess
    from ik2d_addon.cli.files import files
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    own = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with files.locked(str(scene)), files.temporary(str(scene), ".blend") as written:
        Path(written).write_bytes(b"half")
        if "saved" in name:
            os.replace(written, scene)
        (here / f"{name}.pids").write_text(f"{os.getpid()} {own.pid}")
        (here / f"{name}.pids").rename(here / f"{name}.begun")
        if "stopped" in name:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(600)
"""
LONG = 100.0  # seconds, of those that hang for 600


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """Return a function that bakes files by these names with the stand-in."""
    monkeypatch.setattr(several_files, "_door", lambda opens_scene: [sys.executable, "-c", STAND_IN])
    monkeypatch.setattr(several_files, "_TO_DIE", LONG)

    def bake(*names: str, at_once: int = 1, timeout: float | None = None) -> int:
        jobs = [Job(str(tmp_path / f"{name}.blend"), None, None) for name in names]
        return several_files.bake_each(jobs, [], at_once, opens_scene=True, timeout=timeout)

    return bake


def save_leg(path: Path) -> Path:
    """Save the leg, frames 1 to 10, with nothing baked."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    leg_with_target()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def refused(capsys, *arguments) -> str:
    """Run a bake that is refused before anything is begun; return its one line."""
    assert run(["bake", *map(str, arguments)], opens_scene=True) == 2
    told = capsys.readouterr()
    lines = [line for line in told.err.splitlines() if line.startswith("ik2d: ")]
    assert len(lines) == 1 and lines[0].startswith("ik2d: error: "), told
    assert "exit code" not in told.out
    return lines[0]


@pytest.mark.slow
def test_each_file_is_baked_to_a_place_of_its_name_and_has_its_line(tmp_path, capsys):
    legs = [save_leg(tmp_path / f"leg {i}.blend") for i in (1, 2)]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    add_leg()
    bare = tmp_path / "bare.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(bare))
    before = [path.read_bytes() for path in (*legs, bare)]
    (tmp_path / "out").mkdir()
    places = [
        "--output",
        str(tmp_path / "out/{name}_baked.blend"),
        "--report",
        str(tmp_path / "out/{name}.json"),
    ]
    files = list(map(str, (legs[0], bare, legs[1])))
    code = run(["bake", *files, "--jobs", "2", "--frames", "2:6", *places], opens_scene=True)
    told = capsys.readouterr()
    assert code == 2, told.err
    assert [path.read_bytes() for path in (*legs, bare)] == before
    baked = {"leg 1.json", "leg 1_baked.blend", "leg 2.json", "leg 2_baked.blend"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == baked
    sentence = "Rig: Baked 5 frames on 1 chain; every target reached"
    for leg in legs:
        assert sum(line.startswith(f"ik2d: {leg}: {sentence}") for line in told.out.splitlines()) == 1
        assert f"{leg}: ik2d: {sentence}" in told.out  # what its process told
    (line,) = [line for line in told.out.splitlines() if line.startswith(f"ik2d: {bare}: ")]
    assert "enabled chain" in line
    assert line.endswith("(exit code 2)")
    assert told.out.splitlines()[-1] == "ik2d: 3 files: 2 reached; 1 with exit code 2"
    assert f"{bare}: ik2d: error: " in told.err
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "leg 2_baked.blend"))
    assert animation_of(bpy.data.objects["Rig"])


@pytest.mark.slow
def test_one_file_too_is_saved_under_its_name(tmp_path):
    leg = save_leg(tmp_path / "leg.blend")
    places = ["--output", str(tmp_path / "{name}_2.blend"), "--report", str(tmp_path / "{name}.json")]
    assert run(["bake", str(leg), *places], opens_scene=True) == 0
    assert (tmp_path / "leg_2.blend").exists() and (tmp_path / "leg.json").exists()


def test_all_missing_files_are_named_before_anything_is_done(tmp_path, capsys):
    leg = save_leg(tmp_path / "leg.blend")
    line = refused(capsys, leg, tmp_path / "a.blend", tmp_path / "b.blend")
    assert "a.blend" in line and "b.blend" in line and "leg.blend" not in line
    assert list(tmp_path.iterdir()) == [leg]


@pytest.mark.slow
def test_two_files_never_have_one_place(tmp_path, capsys):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
    a, b = save_leg(tmp_path / "x" / "leg.blend"), save_leg(tmp_path / "y" / "leg.blend")
    link = tmp_path / "link.blend"
    link.symlink_to(a)
    one = tmp_path / "one.blend"
    assert "is one place for 2 files; put {name} in it" in refused(capsys, a, b, "--output", one)
    assert "--report '-' is one place" in refused(capsys, a, b, "--report", "-")
    assert "would both be written to" in refused(capsys, a, b, "--output", tmp_path / "{name}.blend")
    assert "would both be written to" in refused(capsys, a, b, "--report", tmp_path / "{name}.json")
    assert "are the same file" in refused(capsys, a, a)
    assert "are the same file" in refused(capsys, a, link)
    os.link(a, tmp_path / "twin.blend")
    assert "are the same file" in refused(capsys, a, tmp_path / "twin.blend")
    c = save_leg(tmp_path / "c.blend")
    d = save_leg(tmp_path / "c_2.blend")
    over = refused(capsys, c, d, "--output", tmp_path / "{name}_2.blend")
    assert "would be written over" in over and "c_2.blend" in over
    assert "there is no folder" in refused(capsys, a, c, "--output", tmp_path / "none" / "{name}.blend")
    assert "--jobs" in refused(capsys, a, c, "--jobs", "0")


@pytest.mark.slow
def test_the_worst_exit_code_counts_and_a_process_that_died_is_the_worst(stand_in, capsys):
    assert stand_in("good 1", "good 2") == 0
    assert stand_in("good", "bad", "good 2") == 2
    out = capsys.readouterr().out
    assert "good.blend: Rig: Baked 2 frames (exit code 0)" in out
    assert "bad.blend: error: bad on purpose (exit code 2)" in out
    assert stand_in("bad", "killed", "good") == 3
    out = capsys.readouterr().out
    assert "killed.blend: error: its process died of SIGKILL before the file was saved (exit code 3)" in out
    assert out.splitlines()[-1] == "ik2d: 3 files: 1 reached; 1 with exit code 2, 1 with exit code 3"


@pytest.mark.parametrize("name", ["silent", "half"])
def test_an_end_without_a_whole_outcome_is_not_taken_for_a_bake(stand_in, capsys, name):
    assert stand_in(name, "good") == 3
    assert "its process ended with exit code 0 before the file was saved" in capsys.readouterr().out


@pytest.mark.slow
def test_as_many_processes_run_as_are_asked_for(stand_in):
    assert stand_in("together 1", "together 2", at_once=2) == 0
    assert stand_in("alone 1", "alone 2", "alone 3") == 0


@pytest.mark.slow
def test_asked_to_end_it_asks_each_process_once_and_begins_no_more(stand_in, monkeypatch, tmp_path, capsys):
    sent = []
    send = subprocess.Popen.send_signal
    monkeypatch.setattr(subprocess.Popen, "send_signal", lambda p, n: (sent.append(n), send(p, n)))

    def asked():
        begun = list(tmp_path.glob("asked*.begun"))
        return Interrupted(signal.SIGTERM) if len(begun) == 2 else None

    monkeypatch.setattr(several_files, "asked_to_end", asked)
    assert stand_in("asked 1", "asked 2", "good", at_once=2) == 143
    assert sent == [signal.SIGTERM] * 2
    told = capsys.readouterr()
    assert told.out.count("interrupted; nothing is changed (exit code 143)") == 2
    assert "not begun" in told.err and "good.blend" in told.err


def litter_and_processes(folder: Path) -> tuple[list[str], list[int]]:
    """Return the hidden files of a folder, and which processes of those that hung there are left."""
    pids = [int(pid) for path in folder.glob("*.begun") for pid in path.read_text().split()]
    end = monotonic() + LONG
    while (left := [pid for pid in pids if is_there(pid)]) and monotonic() < end:
        sleep(0.01)  # a grandchild's end is its adopter's to see
    assert pids
    return [path.name for path in folder.glob(".*")], left


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hanging", "hanging stopped"])
def test_a_file_that_takes_too_long_is_ended_and_named_and_the_others_go_on(stand_in, tmp_path, capsys, name):
    began = monotonic()
    assert stand_in("good", name, "good 2", at_once=2, timeout=8.0) == 3
    assert monotonic() - began < LONG
    assert litter_and_processes(tmp_path) == ([], [])
    assert not (tmp_path / f"{name}.blend").exists()
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if f"{name}.blend: " in line]
    assert line.endswith(
        "error: it was ended before the file was saved, since it took longer than --timeout 8 s; allow it"
        " more, or bake it alone to see where it hangs (exit code 3)"
    )
    assert out.splitlines()[-1] == "ik2d: 3 files: 2 reached; 1 with exit code 3"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hanging", "hanging stopped", "hanging saved"])
def test_asked_to_end_it_waits_for_no_process_that_hangs(stand_in, monkeypatch, tmp_path, capsys, name):
    asked = []

    def asked_to_end():
        if list(tmp_path.glob("*.begun")):
            asked.append(monotonic())
            return Interrupted(signal.SIGINT)
        return None

    monkeypatch.setattr(several_files, "asked_to_end", asked_to_end)
    assert stand_in(name, "good") == 130
    assert monotonic() - asked[0] < 10.0  # 1.1 on a machine with nothing else to do
    assert litter_and_processes(tmp_path) == ([], [])
    told = capsys.readouterr()
    saved = (tmp_path / f"{name}.blend").exists()
    assert saved == (name == "hanging saved")
    words = "interrupted when it was saved already" if saved else "interrupted; nothing is changed"
    assert f"{name}.blend: {words} (exit code 130)" in told.out
    assert "not begun" in told.err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a process with its parent")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_no_process_outlives_the_one_that_started_it(tmp_path, number):
    legs = [save_leg(tmp_path / f"leg{i}.blend") for i in range(2)]
    before = {path: path.read_bytes() for path in legs}
    words = ["bake", *map(str, legs), "--jobs", "2", "--frames", "1:300000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ik2d_addon", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    end = monotonic() + LONG
    while len(list(tmp_path.glob(".ik2d-*.lock"))) < 2 and monotonic() < end:
        sleep(0.02)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 2
    process.send_signal(number)
    process.communicate(timeout=LONG)
    assert process.returncode == (-number if number == signal.SIGKILL else 143)
    end = monotonic() + LONG
    while any(is_there(int(child)) for child in children) and monotonic() < end:
        sleep(0.02)
    assert not any(is_there(int(child)) for child in children)
    assert {path: path.read_bytes() for path in legs} == before
    if number == signal.SIGHUP:
        assert sorted(tmp_path.iterdir()) == legs
    assert run(["bake", *map(str, legs), "--frames", "1:3"], opens_scene=True) == 0  # which clears
    assert not list(tmp_path.glob(".ik2d-*"))


@pytest.mark.slow
def test_one_file_too_has_its_time(tmp_path, capsys):
    leg = save_leg(tmp_path / "leg.blend")
    before = leg.read_bytes()
    assert run(["bake", str(leg), "--timeout", "0.2"], opens_scene=True) == 3
    out = capsys.readouterr().out
    assert "it was ended before the file was saved, since it took longer than --timeout 0.2 s" in out
    assert leg.read_bytes() == before and list(tmp_path.iterdir()) == [leg]
    assert (
        run(["bake", str(leg), "--timeout=500", "--output", str(tmp_path / "b.blend")], opens_scene=True) == 0
    )
    assert (tmp_path / "b.blend").exists() and leg.read_bytes() == before


def test_a_timeout_is_a_number_of_seconds_for_files_that_are_named(tmp_path, capsys):
    leg = save_leg(tmp_path / "leg.blend")
    for seconds in ("0", "-1", "nan", "inf", "x"):
        assert "is not a number of seconds above zero" in refused(capsys, leg, f"--timeout={seconds}")
    assert "no report goes to stdout" in refused(capsys, leg, "--timeout", "9", "--report", "-")
    assert run(["bake", "--timeout", "9"]) == 2
    assert "name them after bake" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["...blend", ".blend", "....blend"])
@pytest.mark.parametrize("option", ["--output", "--report"])
def test_a_name_of_dots_alone_leads_to_no_other_folder(tmp_path, capsys, name, option):
    (tmp_path / "out").mkdir()
    dots, leg = save_leg(tmp_path / name), save_leg(tmp_path / "leg.blend")
    before = sorted(tmp_path.iterdir())
    for scenes in ([dots], [dots, leg]):
        line = refused(capsys, *scenes, option, tmp_path / "out/{name}/x")
        assert "of dots alone" in line and "rename that file" in line
    assert sorted(tmp_path.iterdir()) == before and not list((tmp_path / "out").iterdir())


@pytest.mark.slow
def test_a_file_whose_name_begins_with_a_dash_is_a_file(tmp_path, monkeypatch):
    names = ["-.blend", "-y.blend", "--force.blend"]
    for name in names:
        save_leg(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert run(["bake", "--frames", "1:3", "-.blend"], opens_scene=True) == 0
    assert (
        run(["bake", "--frames", "1:3", "--output", "{name}_2.blend", "--", "-.blend"], opens_scene=True) == 0
    )
    assert run(["bake", *names, "--frames", "1:3", "--output", "{name}_3.blend"], opens_scene=True) == 0
    made = {"-.blend1", "-_2.blend", *(name.replace(".", "_3.") for name in names)}
    assert {path.name for path in tmp_path.iterdir()} == {*names, *made}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_leaves_each_file_as_it_was_or_baked_and_no_litter(tmp_path):
    legs = [save_leg(tmp_path / f"leg{i}.blend") for i in range(3)]
    before = {path: path.read_bytes() for path in legs}
    command = [sys.executable, "-m", "ik2d_addon", "bake", *map(str, legs), "--frames", "1:300000"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = monotonic() + 100
    while not list(tmp_path.glob(".ik2d-*.lock")) and monotonic() < deadline:
        sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate(timeout=100)
    assert process.returncode == 130, complained
    assert "leg2.blend" in complained.splitlines()[-1]
    assert sorted(tmp_path.iterdir()) == legs
    assert {path: path.read_bytes() for path in legs[1:]} == {path: before[path] for path in legs[1:]}


def test_what_all_files_are_baked_with_is_passed_on_as_it_was_given():
    files, more = ["b.blend", "a.blend"], ["--", "--jobs", "-c.blend"]
    given = ["--chain", "b.blend", "--frames", "-5:5", "--jobs", "4", "-y"]
    given += ["--report={name}.json", "--output", "{name}_2.blend"]
    for opens_scene in (True, False):
        for scenes, words in (
            (files, [*files, *given]),
            (files, [*given, *files]),
            (more[1:], [*given, *more]),
        ):
            options = parsed(["bake", *words], opens_scene)
            assert options.scenes == scenes
            assert options.alike == ["--chain", "b.blend", "--frames=-5:5", "-y"]
            assert options.jobs == 4


def test_blender_is_called_again_as_it_was_called(monkeypatch, tmp_path):
    own = ["blender", "--background", "--addons", "bl_ext.user_default.ik2d", "--command", "ik2d", "bake"]
    monkeypatch.setattr(sys, "argv", [*own, "a.blend", "b.blend", "--command"])
    assert several_files._door(opens_scene=False) == [bpy.app.binary_path, *own[1:-1]]
    save_leg(tmp_path / "open.blend")
    with pytest.raises(Exception, match=r"open\.blend'; to bake several files, name all of them after bake"):
        several_files._door(opens_scene=False)
