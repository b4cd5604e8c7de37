# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files at once: processes that hang, parents and children that are killed, and odd names."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from . import judge
from .case import Case, Outcome, Result
from .program import LIMIT, Ended, ended, pause

SAMPLES = ("05_deadlock", "02_excavator", "04_out_of_reach packed")
ASKED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}
# Two seconds at most on a machine with nothing else to do.
ENDS_WITHIN = 10.0
NAMES = (
    *(b"...blend", b".blend", b"....blend", b"-.blend", b"-y.blend", b"--output.blend", b"--jobs=9.blend"),
    *(b" .blend", b"{name}.blend", b"a\nb.blend", b"a\xff.blend", b"%s.blend", b"\x1b[31m.blend", b"x.BLEND"),
    *("größe日本.blend".encode(), b".. .blend", b"--.blend", b"'\".blend", b"~.blend", b"$HOME.blend"),
)
PLACES = (
    *(None, "{name}_2.blend", "out/{name}.blend", "out/{name}/x.blend", "out/{name}{name}.blend", "{name}"),
    *("out/.{name}", "out/{name}/../x.blend"),
)


def run(case: Case) -> Result:
    """Try one of the kinds."""
    return KINDS[case.number % len(KINDS)](case)


class Run:
    """A bake of some scenes that is under way, and the processes that it has started."""

    def __init__(self, case: Case, options: Iterable[str | bytes | Path], scenes: list[Path]) -> None:
        self.case, self.scenes = case, scenes
        self.before = judge.files(case.place)
        self.at_once = case.random.randint(1, len(scenes))
        # Options first: Program takes a file that comes first for one that Blender opens.
        words = ["bake", "--jobs", str(self.at_once), *options, *(scene.name for scene in scenes)]
        env, before = {"TMPDIR": str(case.temporary)}, lambda: os.chdir(case.place)
        self.process = case.program.start(words, env=env, before=before)
        self.children: dict[int, Path] = {}  # by their ids, the scenes

    def wait_for_children(self, number: int) -> None:
        """Wait until so many processes were started, or all has ended."""
        end = time.monotonic() + LIMIT
        while len(self.children) < number and self.process.poll() is None and time.monotonic() < end:
            self._look()
            time.sleep(0.002)

    def ended(self) -> Ended:
        """Wait for the end; note all processes that are started until then."""
        end = time.monotonic() + LIMIT
        while True:
            self._look()
            try:
                out, err = self.process.communicate(timeout=0.05)
            except subprocess.TimeoutExpired:
                if time.monotonic() < end:
                    continue
                self.kill_children()
                return ended(self.process, 0.0)
            texts = (text.decode("utf-8", "replace") for text in (out, err))
            return Ended(self.process.returncode, *texts)

    def kill_children(self) -> list[str]:
        """End the processes that are left, each a complaint."""
        end = time.monotonic() + ENDS_WITHIN
        while (left := [pid for pid in self.children if _is_there(pid)]) and time.monotonic() < end:
            time.sleep(0.02)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [f"{len(left)} of its processes outlive it"] if left else []

    def changed(self) -> list[Path]:
        """Return the scenes that are no longer as they were."""
        now = judge.files(self.case.place)
        names = [os.fsencode(scene.name) for scene in self.scenes]
        return [s for s, name in zip(self.scenes, names, strict=True) if now.get(name) != self.before[name]]

    def complaints(self, others: Iterable[str] = ()) -> list[str]:
        """Judge the processes, the files, and what is left. others: names that may be there too."""
        found = self.kill_children()
        for scene in self.changed():
            look = self.case.blender.look(scene) if scene.is_file() else None
            if not look or not look["baked"]:
                found.append(f"{scene.name} is neither the old scene nor a baked one")
        own = {os.fsencode(f"{scene.name}{more}") for scene in self.scenes for more in ("", "1")}
        known = {*own, *map(os.fsencode, others)}
        now = judge.files(self.case.place)
        found += judge.changes(
            *({n: c for n, c in each.items() if n not in known} for each in (self.before, now))
        )
        return found + judge.empty(self.case.temporary)

    def _look(self) -> None:
        own = self.process.pid
        with suppress(OSError):
            for pid in Path(f"/proc/{own}/task/{own}/children").read_text().split():
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if words[-3:-2] == [b"--"]:  # else it is another program, or this one still
                    self.children[int(pid)] = self.case.place / os.fsdecode(words[-2])


def _is_there(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def _scenes(case: Case) -> list[Path]:
    number = case.random.choice((2, 2, 3))
    return [case.scene(case.random.choice(SAMPLES), f"scene{i}.blend") for i in range(number)]


def _no_traceback(ran: Ended) -> list[str]:
    return ["printed a traceback"] if judge.TRACEBACK in ran.text else []


def _hung(case: Case, scenes: list[Path]) -> tuple[list[str], Callable[[Run], list[Path]], str]:
    """Return options, what has a process hang (it returns the scenes of those), and words for it.

    A scene hangs in a driver, which heeds no signal; or a process is stopped at some moment.
    """
    if case.random.random() < 0.3:
        hanging = case.random.choice(scenes)
        hanging.write_bytes(case.samples["endless"].read_bytes())
        return ["--enable-autoexec"], lambda run: [hanging], "an endless driver"
    number, delay = case.random.randint(1, len(scenes)), case.random.uniform(0.0, 2.0)

    def stop(run: Run) -> list[Path]:
        run.wait_for_children(number)
        pause(delay)
        now = [pid for pid in run.children if _is_there(pid)]
        stopped = case.random.sample(now, min(len(now), 1))
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        return [run.children[pid] for pid in stopped]

    return [], stop, f"the {number}. process stopped after {delay:.2f} s"


# --- The kinds: each takes a case and returns its result ------------------------


def _timeouts(case: Case) -> Result:
    scenes = _scenes(case)
    seconds = case.random.uniform(0.2, 4.0)
    options, hang, how = _hung(case, scenes)
    run = Run(case, ["--timeout", f"{seconds:.2f}", *options], scenes)
    hanging = hang(run)
    ran = run.ended()
    complaints = judge.manners(ran, (0, 3), several=True) + _no_traceback(ran)
    changed = run.changed()
    for scene in scenes:
        line = next((line for line in ran.out.splitlines() if f"ik2d: {scene.name}: " in line), "")
        is_ended = "longer than --timeout" in line
        if is_ended and ("before the file was saved" in line) == (scene in changed):
            complaints.append(f"says of {scene.name} what is not so: {line}")
        if not is_ended and "exit code 0" not in line:
            complaints.append(f"{scene.name} has no line, or another one: {line}")
        if scene in hanging and not is_ended and scene not in changed:
            complaints.append(f"{scene.name} hung, and is not named")
    what = f"--timeout {seconds:.2f}, {len(scenes)} files, {run.at_once} at once, {how}"
    return case.result(what, Outcome.DONE, complaints + run.complaints(), ran)


def _interrupts(case: Case) -> Result:
    scenes = _scenes(case)
    number = case.random.choice(list(ASKED))
    options, hang, how = _hung(case, scenes) if case.random.random() < 0.7 else ([], lambda run: [], "")
    run = Run(case, options, scenes)
    hang(run)
    run.wait_for_children(case.random.randint(1, len(scenes)) if "endless" not in how else 1)
    pause(case.random.uniform(0.0, 2.0))
    is_in_time = run.process.poll() is None
    if is_in_time:
        run.process.send_signal(number)
    began = time.monotonic()
    ran = run.ended()
    took = time.monotonic() - began
    complaints = _no_traceback(ran)
    if ran.hung or took > ENDS_WITHIN:
        complaints.append(f"{number.name} ends it after {took:.1f} s")
    if ran.code not in {ASKED[number], 0}:
        complaints.append(f"{number.name} ends it with {ran.words()}")
    what = f"{number.name}, {len(scenes)} files, {run.at_once} at once, {how or 'none hangs'}: {took:.2f} s"
    changed = run.changed()
    if ran.code and any(f"{s.name}: interrupted; nothing is changed" in ran.out for s in changed):
        complaints.append("says that nothing is changed of what it saved")
    outcome = Outcome.NEW if changed else Outcome.OLD
    return case.result(what, outcome, complaints + run.complaints(), ran)


def _killed_parents(case: Case) -> Result:
    scenes = _scenes(case)
    options, hang, how = _hung(case, scenes) if case.random.random() < 0.4 else ([], lambda run: [], "")
    run = Run(case, options, scenes)
    hang(run)
    run.wait_for_children(case.random.randint(1, len(scenes)) if "endless" not in how else 1)
    pause(case.random.uniform(0.0, 2.0))
    run.process.kill()
    run.process.wait(LIMIT)
    changed = run.changed()
    complaints = run.kill_children()
    ran = run.ended()
    pause(0.3)
    if changed != run.changed():
        complaints.append("a file is written after the parent has ended")
    outcome = Outcome.NEW if changed else Outcome.OLD
    baked = [scene for scene in scenes if scene.read_bytes() != case.samples["endless"].read_bytes()]
    again = Run(case, (), baked)
    after = again.ended()
    next_one = [*judge.manners(after, {0}, several=True), *again.complaints()]
    next_one += judge.litter(case.place) if len(baked) == len(scenes) else []
    complaints += [f"the run after it: {complaint}" for complaint in next_one if "is gone" not in complaint]
    what = f"SIGKILL, {len(scenes)} files, {run.at_once} at once, {how or 'none hangs'}"
    printed = Ended(ran.code, f"{ran.text}\n--- the run after it ---\n{after.text}")
    return case.result(what, outcome, complaints, printed)


def _killed_children(case: Case) -> Result:
    scenes = _scenes(case)
    run = Run(case, (), scenes)
    run.wait_for_children(case.random.randint(1, len(scenes)))
    pause(case.random.uniform(0.0, 2.0))
    now = [pid for pid in run.children if _is_there(pid)]
    with suppress(ProcessLookupError):
        for pid in case.random.sample(now, min(len(now), 1)):
            os.kill(pid, signal.SIGKILL)
    ran = run.ended()
    complaints = judge.manners(ran, (0, 3), several=True) + run.complaints()
    if (ran.code == 3) != ("died of SIGKILL" in ran.out):
        complaints.append(f"a process was killed, and it ends with {ran.words()}")
    changed = run.changed()
    for line in ran.out.splitlines():
        name = line.removeprefix("ik2d: ").partition(":")[0]
        if "SIGKILL before the file was saved" in line and any(scene.name == name for scene in changed):
            complaints.append(f"says of {name} what is not so")
    return case.result(f"a child of {len(scenes)} files is killed", Outcome.DONE, complaints, ran)


def _names(case: Case) -> Result:
    names = case.random.sample(NAMES, case.random.randint(1, 2))
    for name in names:
        with open(os.path.join(os.fsencode(case.place), name), "wb") as file:
            file.write(case.samples["05_deadlock"].read_bytes())
    (case.place / "out").mkdir()
    place, dashes = case.random.choice(PLACES), case.random.choice(([], ["--"]))
    link, lock = case.random.random() < 0.25, ""
    if link:
        lock = f".ik2d-{sha256(names[0]).hexdigest()[:12]}.lock"
        (case.place / lock).symlink_to("nowhere")
    before = judge.files(case.folder)
    words = ["bake", "--jobs", "2", *([f"--output={place}"] if place else []), *dashes, *names]
    env = {"TMPDIR": str(case.temporary)}
    ran = case.program.run(words, env=env, before=lambda: os.chdir(case.place))
    complaints = judge.manners(ran, (0, 2), several=True) + _no_traceback(ran)
    after = judge.files(case.folder)
    for name in {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}:
        if not name.startswith(b"place/"):
            complaints.append(f"{name!r} is written, outside of its folder")
        elif place and place.startswith("out/") and not name.startswith(b"place/out/"):
            complaints.append(f"{name!r} is written, outside of 'out'")
        elif ran.code == 2 and len(names) == 1:
            complaints.append(f"{name!r} is written though nothing should be")
        elif not name.endswith(b"1"):
            found = case.blender.look(Path(os.fsdecode(os.path.join(os.fsencode(case.folder), name))))
            complaints += [] if found and found["baked"] else [f"{name!r} is not a baked scene"]
    if link and (not (case.place / lock).is_symlink() or (place is None and ran.code == 0)):
        complaints.append("a link at the name of a lock was followed or removed")
    complaints += judge.litter(case.place, [os.fsencode(lock)])
    what = f"{names} to {place}{' after --' if dashes else ''}{', a link for a lock' if link else ''}"
    return case.of_code(what, complaints + judge.empty(case.temporary), ran)


KINDS = (_timeouts, _interrupts, _killed_parents, _killed_children, _names)
