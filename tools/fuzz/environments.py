# SPDX-License-Identifier: GPL-3.0-or-later
"""Surroundings that a pipeline may have: lost streams, full disks, odd names, missing folders."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from . import judge
from .case import Case, Outcome, Result
from .options import make_null
from .program import Ended, ended, surroundings
from .values import ARMATURE_NAMES

SAMPLE = "05_deadlock"


@dataclass
class Trial:
    """One run in odd surroundings.

    codes: that are right. written: the files that may change, others may not. lost: whether what it says
    cannot be read. before: called in the new process. after: judges more.
    """

    what: str
    words: list[str | bytes | Path]
    codes: Iterable[int] = (0,)
    env: dict[str, str | None] = field(default_factory=dict)
    streams: dict[str, object] = field(default_factory=dict)
    before: list[Callable[[], object]] = field(default_factory=list)
    after: Callable[[Ended], list[str]] = lambda _: []
    written: tuple[str, ...] = ("scene.blend", "scene.blend1")
    lost: bool = False
    skipped: str = ""


# Blender's own folders of thumbnails, in a HOME that is relative.
_THUMBNAILS = {
    os.fsencode(os.path.join("relative", *parts))
    for parts in (
        (),
        (".cache",),
        (".cache", "thumbnails"),
        *((".cache", "thumbnails", size) for size in ("normal", "large", "fail")),
        (".cache", "thumbnails", "fail", "blender"),
    )
}


def run(case: Case) -> Result:
    """Run the program in the surroundings of the case."""
    made = SURROUNDINGS[case.number % len(SURROUNDINGS)](case)
    what = f"{SURROUNDINGS[case.number % len(SURROUNDINGS)].__name__.strip('_')}: {made.what}"
    if made.skipped:
        return case.result(f"{what} ({made.skipped})", Outcome.SKIPPED, [])
    before = judge.files(case.place)
    ran = _run(case, made)
    if ran.code not in (0, 1, 2) and _is_pythons_own(case, made):
        return case.result(f"{what}: Python cannot start", Outcome.SKIPPED, [])
    complaints = judge.manners(ran, made.codes)
    if made.lost:
        complaints = [complaint for complaint in complaints if "sentences" not in complaint]
    after = {name: c for name, c in judge.files(case.place).items() if name not in _THUMBNAILS}
    allowed = {os.fsencode(name) for name in made.written} if ran.code in (0, 1) else set()
    others = {name: content for name, content in before.items() if name not in allowed}
    complaints += judge.changes(others, {n: c for n, c in after.items() if n not in allowed})
    if ran.code in (0, 1):
        complaints += _baked(case, made)
    complaints += judge.empty(case.temporary) + made.after(ran)
    return case.of_code(what, complaints, ran)


def _run(case: Case, made: Trial) -> Ended:
    env = {"TMPDIR": str(case.temporary)} | made.env

    def prepare() -> None:
        os.chdir(case.place)
        for step in made.before:
            step()

    process = case.program.start(made.words, env=env, before=prepare, **made.streams)
    return ended(process)


def _is_pythons_own(case: Case, made: Trial) -> bool:
    """Return whether bpy alone does not start there either."""

    def prepare() -> None:
        os.chdir(case.place)
        for step in made.before:
            step()

    command = [sys.executable, "-c", "import bpy, numpy, os; os._exit(0)"]
    return (
        subprocess.run(
            command, env=surroundings(made.env), preexec_fn=prepare, capture_output=True, timeout=60
        ).returncode
        != 0
    )


def _baked(case: Case, made: Trial) -> list[str]:
    """Judge the scene that was saved; the first of the files that may be written."""
    scene = case.place / made.written[0]
    found = case.blender.look(scene) if scene.is_file() else None
    return [] if found and found["baked"] else [f"{made.written[0]} is not the baked scene"]


def _bake(case: Case, *options: str | bytes, sample: str = SAMPLE, name: str = "scene.blend") -> list:
    return ["bake", case.scene(sample, name), *options]


# --- The surroundings: each takes a case and returns its trial ---------------


def _ascii(case: Case) -> Trial:
    name = f"armature {case.random.randrange(len(ARMATURE_NAMES))}"
    encoding = case.random.choice(("ascii", "ascii:strict", "latin-1", "cp1252", "utf-16", "utf-8:strict"))
    return Trial(f"{encoding}, {name}", _bake(case, sample=name), env={"PYTHONIOENCODING": encoding})


def _locale(case: Case) -> Trial:
    name = f"armature {case.random.randrange(len(ARMATURE_NAMES))}"
    locale = {"LC_ALL": case.random.choice(("C", "POSIX", "de_DE", "xx_YY.UTF-8", "")), "LANG": None}
    utf8 = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} if case.random.random() < 0.6 else {}
    words = _bake(case, "--report", "größe.json", sample=name)
    written = ("scene.blend", "scene.blend1", "größe.json")
    return Trial(f"{locale} {utf8}, {name}", words, env=locale | utf8, written=written)


def _names(case: Case) -> Trial:
    """Names that a terminal or a spreadsheet would act on."""
    number = case.random.randrange(len(ARMATURE_NAMES))
    report = case.random.choice(("r.csv", "r.json", "-"))

    def harmless(ran: Ended) -> list[str]:
        lines = [line for line in ran.text.split("\n") if "ik2d: " in line]
        bad = {c for line in lines for c in line if not c.isprintable()}
        complaints = [f"prints {sorted(map(repr, bad))} unescaped"] if bad else []
        table = case.place / "r.csv"
        if table.exists() and (cells := _formulas(table)):
            complaints.append(f"has formulas in the table: {cells[:2]}")
        return complaints

    words = _bake(case, "--report", report, sample=f"armature {number}")
    written = ("scene.blend", "scene.blend1", report)
    return Trial(f"{ARMATURE_NAMES[number]!r}, {report}", words, after=harmless, written=written)


def _formulas(table: Path) -> list[str]:
    """Return the cells of a table that a spreadsheet would work out."""
    import csv

    with table.open(newline="", encoding="utf-8") as file:
        cells = {
            cell for row in csv.reader(file) for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r")
        }
    return sorted(cell for cell in cells if not _is_number(cell))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _closed_streams(case: Case) -> Trial:
    numbers = case.random.choice(((1,), (2,), (1, 2), (0,), (0, 1), (0, 2), (0, 1, 2)))
    report = case.random.choice(((), ("--report", "r.json"), ("--report", "-")))
    steps = [lambda: [os.close(number) for number in numbers]]
    words = _bake(case, *report, sample=case.random.choice((SAMPLE, "armature 0")))
    written = ("scene.blend", "scene.blend1", *report[1:])
    return Trial(f"{numbers} {report}", words, before=steps, written=written, lost=True)


def _full_streams(case: Case) -> Trial:
    streams = case.random.choice((("stdout",), ("stderr",), ("stdout", "stderr")))
    full = open("/dev/full", "wb")  # the process is given it
    report = case.random.choice(((), ("--report", "-"), ("--report", "r.json")))
    words = _bake(case, *report, sample=case.random.choice((SAMPLE, "armature 0")))
    written = ("scene.blend", "scene.blend1", *report[1:])
    return Trial(
        f"{streams} {report}", words, streams=dict.fromkeys(streams, full), written=written, lost=True
    )


def _no_reader(case: Case) -> Trial:
    """As in `ik2d ... | head -1`, at its worst: the reader is gone from the start."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = case.random.choice((("stdout",), ("stderr",), ("stdout", "stderr")))
    report = case.random.choice(((), ("--report", "-"), ("--report", "r.json")))
    words = _bake(case, *report)
    close = [lambda: None]

    def done(_: Ended) -> list[str]:
        os.close(writer)
        return []

    written = ("scene.blend", "scene.blend1", *report[1:])
    trial = Trial(
        f"{streams} {report}", words, streams=dict.fromkeys(streams, writer), written=written, lost=True
    )
    trial.before, trial.after = close, done
    return trial


def _report_on_stdout(case: Case) -> Trial:
    (case.place / "stdout").symlink_to("/proc/self/fd/1")

    def is_json(ran: Ended) -> list[str]:
        try:
            json.loads(ran.out)
        except ValueError:
            return ["stdout is not the report alone"]
        return []

    report = case.random.choice(("-", "stdout"))
    return Trial(report, _bake(case, "--report", report), after=is_json if report == "-" else lambda _: [])


def _homeless(case: Case) -> Trial:
    names = case.random.sample(("HOME", "PATH", "USER", "LANG", "TERM", "XDG_CONFIG_HOME", "TMPDIR"), 3)
    if "TMPDIR" in names:
        names.remove("TMPDIR")
    home = case.random.choice(
        (None, "", "/nonexistent", "relative", str(case.place / "scene.blend"), "/dev/null/x")
    )
    env = dict.fromkeys(names) | {"HOME": home}
    return Trial(f"{env}", _bake(case), env=env)


def _no_temporary_directory(case: Case) -> Trial:
    kind = case.random.choice(("missing", "a file", "empty", "relative", "not UTF-8", "long"))
    path = {
        "missing": str(case.folder / "missing"),
        "a file": str(case.place / "scene.blend"),
        "empty": "",
        "relative": "tmp-there",
        "not UTF-8": os.fsdecode(os.fsencode(case.folder) + b"/t\xff"),
        "long": str(case.folder / "/".join(["t" * 200] * 6)),
    }[kind]
    if kind in ("not UTF-8", "long"):
        os.makedirs(path, exist_ok=True)
    return Trial(kind, _bake(case), env={"TMPDIR": path}, codes=(0, 2))


def _folder_that_is_gone(case: Case) -> Trial:
    gone = case.folder / "gone"
    gone.mkdir()
    relative = case.random.random() < 0.5
    words = _bake(case)
    if relative:
        words[1] = "scene.blend"
    steps = [lambda: os.chdir(gone), lambda: os.rmdir(gone)]
    return Trial(
        "relative" if relative else "absolute", words, before=steps, codes=(2,) if relative else (0,)
    )


def _full_disk(case: Case) -> Trial:
    limit = case.random.choice(
        (0, 1, 100, 4096, case.random.randrange(50_000, 200_000), case.random.randrange(400_000))
    )
    report = case.random.choice(((), ("--report", "r.json"), ("--output", "out.blend")))
    words = _bake(case, *report)
    steps = [lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))]
    written = ("scene.blend", "scene.blend1", "r.json") if "--output" not in report else ("out.blend",)

    def says(ran: Ended) -> list[str]:
        text = [line for line in ran.err.splitlines() if judge.ERROR in line]
        return (
            [f"does not name the file: {text[0]}"] if text and not any(n in text[0] for n in written) else []
        )

    return Trial(
        f"{limit} bytes a file {report}", words, before=steps, codes=(0, 2), after=says, written=written
    )


def _few_files(case: Case) -> Trial:
    limit = case.random.randrange(5, 40)
    steps = [lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))]
    return Trial(f"{limit} open files", _bake(case), before=steps, codes=(0, 2))


def _odd_folder(case: Case) -> Trial:
    """A folder or file whose name is not UTF-8, or has a newline in it, or a percent sign."""
    odd = case.random.choice(
        (b"a\xff", b"a\nb", b"\x1b[31m", b"%s %(x)s", b" ", "größe日本".encode(), b"-x", b"#", b"'\"")
    )
    as_file = case.random.random() < 0.5
    if as_file:
        path = os.path.join(os.fsencode(case.place), odd + b".blend")
        written = (odd + b".blend", odd + b".blend1")
    else:
        os.mkdir(os.path.join(os.fsencode(case.place), odd))
        path = os.path.join(os.fsencode(case.place), odd, b"scene.blend")
        written = (odd + b"/scene.blend", odd + b"/scene.blend1")
    shutil.copy(case.samples[SAMPLE], path)
    # UTF-8 or not, it is baked or refused with a sentence; and nothing is written beside it.
    names = tuple(os.fsdecode(name) for name in written)
    trial = Trial(f"{odd!r} {'file' if as_file else 'folder'}", ["bake", path], codes=(0, 2), written=names)
    return trial


def _links(case: Case) -> Trial:
    """What links point to is written, and the links stay."""
    case.scene(SAMPLE, "real.blend")
    kind = case.random.choice(("scene", "output", "dangling output", "report", "folder"))
    link = case.place / "link"
    if kind == "scene":
        link = case.place / "link.blend"
        link.symlink_to("real.blend")
        return Trial(kind, ["bake", link], written=("real.blend", "real.blend1"))
    if kind == "folder":
        link.symlink_to(".")
        return Trial(kind, ["bake", link / "real.blend"], written=("real.blend", "real.blend1"))
    link.symlink_to({"output": "real.blend", "dangling output": "new.blend", "report": "r.json"}[kind])
    if kind == "report":
        written = ("scene.blend", "scene.blend1", "r.json")
        return Trial(kind, _bake(case, "--report", "link"), written=written)
    written = ("real.blend", "real.blend1") if kind == "output" else ("new.blend",)
    return Trial(kind, _bake(case, "--output", "link"), written=written)


def _hard_link(case: Case) -> Trial:
    words = _bake(case)
    os.link(words[1], case.place / "twin.blend")
    return Trial("", words)  # the twin keeps the old content, as with Blender's own saving


def _no_regular_file(case: Case) -> Trial:
    place = case.place
    kind = case.random.choice(("null", "fifo", "folder", "socket"))
    option = case.random.choice(("--output", "--report", "scene"))
    if kind == "null" and not make_null(place / kind):
        return Trial(kind, [], skipped="devices cannot be made")
    if kind == "fifo":
        os.mkfifo(place / kind)
    if kind == "folder":
        (place / kind).mkdir()
    if kind == "socket":
        import socket

        os.chdir(place)  # the path of a socket must be short
        socket.socket(socket.AF_UNIX).bind(kind)
    words = ["bake", place / kind] if option == "scene" else _bake(case, option, kind)
    streams = option == "--report" and kind in ("null", "fifo", "socket")
    return Trial(f"{option} {kind}", words, codes=(0, 2) if streams else (2,))


def _strangers_files(case: Case) -> Trial:
    """Files that look like ours or Blender's unfinished ones, but are somebody's."""
    words = _bake(case, "--report", "r.json")
    strangers = (
        "r.json.part",
        "scene.blend@",
        "scene.blend.part",
        ".ik2d",
        ".ik2d-notes",
        ".ik2d.lock",
        "r.json.tmp",
    )
    for name in strangers:
        (case.place / name).write_text("somebody's")
    return Trial("", words, written=("scene.blend", "scene.blend1", "r.json"))


def _folder_that_is_read_only(case: Case) -> Trial:
    words = _bake(case)
    if os.geteuid() == 0:
        return Trial("", words, skipped="root writes everywhere")
    case.place.chmod(0o500)

    def restored(_: Ended) -> list[str]:
        case.place.chmod(0o700)
        return []

    return Trial("", words, codes=(2,), after=restored)


SURROUNDINGS = (
    *(_ascii, _closed_streams, _full_streams, _no_reader, _full_disk, _odd_folder, _names, _links),
    *(_no_temporary_directory, _homeless, _folder_that_is_gone, _few_files, _locale, _report_on_stdout),
    *(_no_regular_file, _strangers_files, _hard_link, _folder_that_is_read_only),
)
