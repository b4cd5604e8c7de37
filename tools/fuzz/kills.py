# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes in place that are killed: the old file is there or the new one, and no litter for long."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from . import judge
from .case import Case, Outcome, Result
from .program import LIMIT, Ended, Program, ended, pause

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
# What a run may end with that was asked to end: as if it had not been, in order, or at once where it came
# before or after all that is ours.
CODES = {
    signal.SIGINT: {0, 130, -signal.SIGINT},
    signal.SIGTERM: {0, 143, -signal.SIGTERM},
    signal.SIGKILL: {0, -signal.SIGKILL},
}
SAMPLES = ("05_deadlock", "02_excavator", "04_out_of_reach packed", "05_deadlock plain")
HOOKED = (sys.executable, "-m", "tools.fuzz.interrupted")


@dataclass(frozen=True)
class Bake:
    """How an undisturbed bake goes: all times in seconds."""

    whole: float
    saving: float  # from the first file that is written, but for the lock, to the end
    steps: int  # on files, of Python's


def run(case: Case) -> Result:
    """Kill one bake, judge the files, bake again without a kill and judge the folder."""
    random = case.random
    number = SIGNALS[case.number % len(SIGNALS)]
    sample = random.choice(SAMPLES)
    scene = case.scene(sample)
    backup = scene.with_name("scene.blend1")
    if random.random() < 0.5:
        backup.write_bytes(case.samples["04_out_of_reach"].read_bytes())
    report = ["--report", "r.json"] if random.random() < 0.5 else []
    usual = _usual(case, sample, tuple(report))
    before = judge.files(case.place)
    what, process = _start(case, number, usual, ["bake", scene, *report])
    in_time = _is_old(case, before)  # the signal was sent before the scene was saved
    killed = ended(process)
    note = case.folder / "note.txt"
    if case.program.blender and "its start" in what:
        in_time = False  # Blender itself takes Ctrl-C before it has loaded the extension, and goes on
    if " step " in what:
        in_time = note.exists() and not note.read_text()
    what = f"{sample}{' with a report' if report else ''}: {number.name} {what}"
    complaints = _of_the_end(killed, number, in_time) + _of_files(case, before, killed)
    outcome = Outcome.OLD if _is_old(case, before) else Outcome.NEW
    again = case.program.run(
        ["bake", scene, *report], env={"TMPDIR": str(case.temporary)}, before=lambda: os.chdir(case.place)
    )
    complaints += [f"the run after it: {complaint}" for complaint in _of_the_next(case, again, report)]
    printed = Ended(killed.code, killed.text + "\n--- the run after it ---\n" + again.text)
    return case.result(f"{what}: {killed.words()}", outcome, complaints, printed)


def _start(case: Case, number: signal.Signals, usual: Bake, words: list) -> tuple[str, subprocess.Popen]:
    """Start a bake, signal it at the moment that is drawn, and return words for that and the process."""
    random = case.random
    kind = random.choice(("time", "saving", "step", "step") if usual.steps else ("time", "saving"))
    options = {"env": {"TMPDIR": str(case.temporary)}, "before": lambda: os.chdir(case.place)}
    if kind == "step":
        step = random.randint(1, usual.steps)
        hooked = replace(case.program, command=(*HOOKED, str(step), number.name, case.folder / "note.txt"))
        return f"at step {step} of {usual.steps}", hooked.start(words, **options)
    delay = random.uniform(0.0, 1.05 * usual.whole if kind == "time" else 1.2 * usual.saving)
    names = set(os.listdir(case.place))
    process = case.program.start(words, **options)
    if kind == "saving":
        _wait_for_writing(case.place, names, process)
    pause(delay)
    if process.poll() is None:
        process.send_signal(number)
    return f"{delay:.3f} s after " + ("its start" if kind == "time" else "the first writing"), process


def _wait_for_writing(place: Path, names: set[str], process: subprocess.Popen) -> None:
    """Wait until a file appears, but for a lock, or the process ends."""
    end = time.monotonic() + LIMIT
    while process.poll() is None and time.monotonic() < end:
        if any(not name.endswith(".lock") for name in os.listdir(place) if name not in names):
            return
        time.sleep(0.0005)


def _of_the_end(killed: Ended, number: signal.Signals, in_time: bool) -> list[str]:
    complaints = []
    if number == signal.SIGINT and "Fatal Python error: init" in killed.text:
        return []  # Python itself has not started yet
    if killed.hung or killed.code not in CODES[number]:
        complaints.append(f"{number.name} ends it with {killed.words()}")
    if judge.TRACEBACK in killed.text and "ik2d_addon" in killed.text.partition(judge.TRACEBACK)[2]:
        complaints.append(f"{number.name} ends it with a traceback")
    if killed.code == 0 and in_time:
        complaints.append(f"{number.name} came before the scene was saved, and it went on")
    return complaints


def _is_old(case: Case, before: dict[bytes, str]) -> bool:
    return judge.content(os.fsencode(case.place / "scene.blend")) == before[b"scene.blend"]


def _of_files(case: Case, before: dict[bytes, str], killed: Ended) -> list[str]:
    """Judge what is there after a kill."""
    complaints, after = [], judge.files(case.place)
    scene, backup = case.place / "scene.blend", case.place / "scene.blend1"
    changed = [name for name in (b"scene.blend", b"r.json") if after.get(name) != before.get(name)]
    if b"scene.blend" in changed:
        found = case.blender.look(scene) if scene.is_file() else None
        if not found or not found["baked"]:
            complaints.append("scene.blend " + ("has no keys" if found else "does not open or is gone"))
    if killed.code in (130, 143) and changed and "saved" not in killed.text:
        complaints.append(f"{b', '.join(changed).decode()} written, and it does not say so")
    if killed.code in (130, 143) and changed == [b"r.json"]:
        complaints.append("the report is written, the scene is not")
    sane = {before[b"scene.blend"], before.get(b"scene.blend1")}
    if backup.exists() and after[b"scene.blend1"] not in sane:
        complaints.append("scene.blend1 is neither the old one nor the old scene")
    if before.get(b"scene.blend1") and not backup.exists():
        complaints.append("scene.blend1 is gone")
    return complaints + _of_report(case.place / "r.json")


def _of_report(path: Path) -> list[str]:
    try:
        json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return []
    except ValueError:
        return ["the report is not whole"]
    return []


def _of_the_next(case: Case, again: Ended, report: list[str]) -> list[str]:
    """Judge an undisturbed run after a killed one."""
    expected = {"scene.blend", "scene.blend1", *report[1:]}
    left = sorted(set(os.listdir(case.place)) - expected)
    complaints = judge.manners(again, {0}) + ([f"leaves {', '.join(left)}"] if left else [])
    complaints += [f"{name} is missing" for name in sorted(expected - set(os.listdir(case.place)))]
    complaints += judge.whole([case.place / "scene.blend", case.place / "scene.blend1"], case.blender.look)
    if not case.program.blender:  # Blender's own temporary folder stays where it is killed
        complaints += judge.empty(case.temporary)
    return complaints


_known: dict[tuple, Bake] = {}


def _usual(case: Case, sample: str, report: tuple[str, ...]) -> Bake:
    """Measure undisturbed bakes of a sample, once."""
    key = case.program, sample, report
    if key not in _known:
        own = Case(case.part, 0, 0, case.folder / "usual", case.samples, case.program, case.blender)
        _known[key] = _measured(own, sample, report)
    return _known[key]


def _measured(case: Case, sample: str, report: tuple[str, ...]) -> Bake:
    whole, saving = [], []
    options = {"env": {"TMPDIR": str(case.temporary)}, "before": lambda: os.chdir(case.place)}
    for _ in range(2):
        scene = case.scene(sample)
        (case.place / "scene.blend1").unlink(missing_ok=True)
        began, names = time.monotonic(), set(os.listdir(case.place))
        process = case.program.start(["bake", scene, *report], **options)
        _wait_for_writing(case.place, names, process)
        writing = time.monotonic()
        ended(process)
        whole.append(time.monotonic() - began)
        saving.append(time.monotonic() - writing)
    return Bake(statistics.median(whole), statistics.median(saving), _steps(case, sample, report, options))


def _steps(case: Case, sample: str, report: tuple[str, ...], options: dict) -> int:
    """Count the steps of a bake; 0 where the program is not Python's."""
    if case.program != Program():
        return 0
    note = case.folder / "note.txt"
    words = ["bake", case.scene(sample), *report]
    replace(case.program, command=(*HOOKED, "0", "SIGTERM", note)).run(words, **options)
    return int(note.read_text())
